//! Two doors, one reader and one check: what the compiler takes in is what a program loads, and what one refuses the other
//! refuses in the same words.

use skillgraph::core::excerpt::excerpt;
use skillgraph::core::skill_file::NotAFile;
use skillgraph::{GraphSpec, Runbook, RunbookOptions, SkillFile, skill_graph};

use crate::folders::write;

skill_graph! {
    #[allow(skillgraph::few_declared_edges)]
    graph desk {
        tools { lookup_order: dyn, refund = "issue_refund": dyn }
        skill triage { description: "Start", body: "Ask.", tools: [lookup_order] }
        skills from "examples/runbooks/";
        entry triage;
        route triage -> billing on lookup_order;
        route triage -> audit_log on lookup_order is denied;
    }
}

skill_graph! {
    graph single {
        tools { lookup_order: dyn, issue_refund: dyn }
        /// For people alone.
        #[allow(skillgraph::unreachable_skill)]
        skill audit_log from "examples/runbooks/audit-log/SKILL.md";
        skill triage { description: "Start", body: "Ask.", tools: [issue_refund] }
        entry triage;
        route triage -> audit_log on issue_refund;
    }
}

#[test]
fn both_doors_give_the_same_skills_and_edges() {
    let mut spec: GraphSpec = serde_json::from_str(
        r#"{ "name": "desk",
             "skills": [{ "id": "triage", "description": "Start", "body": "Ask.", "tools": ["lookup_order"] }],
             "entries": [{ "skill": "triage" }],
             "routes": [{ "from": "triage", "to": "billing", "on": ["lookup_order"] },
                        { "from": "triage", "to": "audit-log", "on": ["lookup_order"], "is": ["denied"] }] }"#,
    )
    .expect("a graph");
    let options = RunbookOptions { beside: Some(spec.clone()), ..RunbookOptions::default() };
    let loaded = Runbook::load_with("examples/runbooks", &["lookup_order", "issue_refund"], &options).expect("sound");
    loaded.add_to(&mut spec);
    let compiled = desk::GRAPH.spec().expect("data");
    assert_eq!(compiled, spec);
    // The identifier is the graph's, the name the model's: `refund` there, `issue_refund` in the file.
    assert_eq!(compiled.skills[2].tools, ["lookup_order", "issue_refund"]);
    assert_eq!(desk::skill::audit_log, "audit-log");
}

#[test]
fn one_file_is_one_skill_whose_description_is_the_file_s() {
    let compiled = single::GRAPH.spec().expect("data");
    assert_eq!(compiled.skills[0].id, "audit-log");
    assert_eq!(compiled.skills[0].description, "What was refused, and why");
    assert_eq!(compiled.skills[0].body, "Read the order's history. Say what was refused and when; change nothing.");
}

/// The first line of each finding, and where it is.
fn facts(text: &str) -> Vec<String> {
    let mut facts = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(fact) = line.strip_prefix("error: ") else { continue };
        let place = lines.peek().and_then(|place| place.trim().strip_prefix("--> "));
        let place = place.map(|place| place.rsplit("team/").next().unwrap_or_default());
        facts.push(format!("{fact} at {}", place.unwrap_or_default()));
    }
    facts
}

#[test]
fn both_doors_refuse_in_the_same_words() {
    let said = std::fs::read_to_string("tests/ui/skill-file/folder.stderr").expect("a text");
    let spec: GraphSpec = serde_json::from_str(
        r#"{ "name": "support",
             "baseline": ["get_invoice"],
             "skills": [{ "id": "triage", "description": "Where a conversation starts",
                          "body": "Find out what the user needs.", "tools": ["lookup_order"] }],
             "entries": [{ "skill": "triage" }],
             "routes": [{ "from": "triage", "to": "refunds", "on": ["lookup_order"] }] }"#,
    )
    .expect("a graph");
    let options = RunbookOptions { beside: Some(spec), ..RunbookOptions::default() };
    let registry = ["lookup_order", "issue_refund", "get_invoice"];
    let report = Runbook::load_with("tests/ui/skill-file/team", &registry, &options).expect_err("mistakes");
    let loaded: Vec<String> = report
        .findings
        .iter()
        .map(|finding| {
            let place = finding.at.rsplit("team/").next().unwrap_or_default();
            format!("{} [{}] at {place}", finding.message, finding.code)
        })
        .collect();
    assert_eq!(facts(&said), loaded);
    assert_eq!(loaded.len(), 7);
    // And each is drawn with its line.
    let first = std::fs::read_to_string("tests/ui/skill-file/team/audit-log/SKILL.md").expect("a file");
    let drawn = excerpt("tests/ui/skill-file/team/audit-log/SKILL.md", &first, 10..15);
    assert_eq!(report.findings[0].excerpt.as_deref(), Some(drawn.as_str()));
}

#[test]
fn skills_of_a_graph_are_written_as_files_and_load_as_they_were() {
    let spec = desk::GRAPH.spec().expect("data");
    let folder = tempfile::tempdir().expect("a folder");
    for skill in &spec.skills {
        let file = SkillFile::of(&spec, &skill.id).expect("a file can say all of it");
        write(folder.path(), &format!("{}/SKILL.md", skill.id), &file.to_skill_md());
    }
    let loaded = Runbook::load(folder.path(), &["lookup_order", "issue_refund"]).expect("sound").spec("desk");
    let sorted = |spec: &GraphSpec| {
        let mut skills: Vec<String> = spec.skills.iter().map(|skill| format!("{skill:?}")).collect();
        let mut routes: Vec<String> = spec.routes.iter().map(|route| format!("{route:?}")).collect();
        skills.sort();
        routes.sort();
        (skills, routes)
    };
    assert_eq!(sorted(&loaded), sorted(&spec));
}

#[test]
fn what_a_file_cannot_say_is_named() {
    let spec: GraphSpec = serde_json::from_str(
        r#"{ "name": "g", "skills": [{ "id": "a", "description": "A", "body": "A.", "tools": ["t"], "scope": "always" }] }"#,
    )
    .expect("a graph");
    let error = SkillFile::of(&spec, "a").expect_err("no key");
    assert_eq!(error.to_string(), "a SKILL.md has no key for `scope: always`");
    assert_eq!(SkillFile::of(&spec, "b").expect_err("no skill"), NotAFile::Unknown { skill: "b".into() });
}
