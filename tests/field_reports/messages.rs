//! What is said of mistakes: once, and in the words of whoever reads it (F63, F64, F67, F70).

use serde_json::{Value, json};
use skillgraph::core::catalog::{Catalog, CatalogEntry, CatalogError};
use skillgraph::core::graph::Graph;
use skillgraph::{AgentBuilder, BoundTool, BuildError, GraphSpec, Report, Runbook, RunbookOptions, ScriptedModel};

/// Words of the language that mean nothing in JSON or in a file.
const LANGUAGE: [&str; 9] =
    ["entry ", "route ", "skill x", "tools {", "include_str", "~>", "as \"", "= \"…\"", "doc comment"];

fn checked(spec: Value) -> Report {
    let text = spec.to_string();
    let spec = GraphSpec::from_json(&text).unwrap_or_else(|report| panic!("{report}"));
    spec.checkup(&["find", "pay"])
}

/// Every code with its help.
fn helps(report: &Report) -> Vec<(String, String)> {
    let finding = |finding: &skillgraph::core::Finding<String>| {
        (finding.code.to_string(), finding.help.clone().unwrap_or_default())
    };
    report.findings.iter().map(finding).collect()
}

fn graph(fields: Value) -> Value {
    let mut graph = json!({
        "name": "g",
        "skills": [
            { "id": "a", "description": "A", "body": "Work.", "tools": ["find"] },
            { "id": "b", "description": "B", "body": "Work.", "tools": ["pay"] },
        ],
        "entries": [{ "skill": "a" }],
    });
    for (key, value) in fields.as_object().expect("fields") {
        graph[key] = value.clone();
    }
    graph
}

#[test]
fn f64_what_is_said_of_json_is_said_in_json() {
    let skill = |fields: Value| {
        let mut skill = json!({ "id": "a", "description": "A", "body": "Work.", "tools": ["find"] });
        for (key, value) in fields.as_object().expect("fields") {
            skill[key] = value.clone();
        }
        json!({ "skills": [skill] })
    };
    let cases = [
        (graph(json!({ "entries": [] })), "no-entry", r#"add `{ "skill": "a" }` to `entries`"#),
        (graph(json!({ "entries": [{ "skill": "a" }, { "skill": "b" }] })), "second-default", r#"add `"when"`"#),
        (graph(json!({})), "unreachable-skill", r#"`{ "from": "…", "to": "b", "on": ["…"] }` to `routes`"#),
        (graph(json!({ "routes": [{ "from": "a", "to": "b", "pick": true }] })), "model-edge-only", r#""on": ["…"]"#),
        (graph(skill(json!({ "id": "A b" }))), "invalid-name", r#"`"id": "a-b"`"#),
        (graph(skill(json!({ "id": "none" }))), "reserved-name", r#"`"id": "…"`"#),
        (graph(skill(json!({ "id": " " }))), "empty-text", r#"`"id": "…"`"#),
        (graph(skill(json!({ "tools": ["fnd"] }))), "unknown-tool", "a tool with a similar name exists: `find`"),
        (graph(skill(json!({ "tools": ["ship"] }))), "unknown-tool", "add it to the registry of tools"),
        (
            graph(skill(json!({ "tools": [], "steps": [{ "tool": "find", "note": "n" }] }))),
            "steps-without-tools",
            r#"add `"tools": ["find"]`"#,
        ),
        (graph(skill(json!({ "on_skip": "hold" }))), "on-skip-without-steps", r#"add `"steps": [{ "tool""#),
        (graph(skill(json!({ "steps": [] }))), "empty-list", r#"`"steps""#),
        (graph(skill(json!({ "surface": "tool_result" }))), "body-unreachable", r#"`"surface": "both"`"#),
        (graph(skill(json!({ "refresh": 2 }))), "refresh-without-result", r#"`"refresh"`"#),
        (graph(json!({ "entries": [{ "skill": "a", "label": " " }] })), "empty-text", r#"remove `"label"`"#),
        (
            graph(json!({ "entries": [{ "skill": "a", "when": { "matches": "/a\"b/i" } }] })),
            "invalid-pattern",
            r#"`{ "matches": "(?i)a\"b" }`"#,
        ),
        (
            graph(json!({ "entries": [{ "skill": "a", "when": { "intent": { "intent": "i", "examples": ["e"] } } }] })),
            "intent-without-classify",
            r#""classify""#,
        ),
        (graph(json!({ "entries": [{ "skill": "a", "examples": ["x"] }] })), "examples-on-default", r#"add `"when"`"#),
        (
            graph(json!({ "entries": [{ "skill": "a" }, { "skill": "b", "when": "picked", "never_picked": true }] })),
            "matches-nothing",
            r#""never_picked""#,
        ),
        (
            graph(json!({ "entries": [], "tree": { "if": { "matches": "x" }, "then": "a" } })),
            "tree-not-total",
            r#"`"else"`"#,
        ),
        (graph(json!({ "entries": [], "tree": "a" })), "tree-is-exclusive", r#"`"b"`"#),
        (
            graph(
                json!({ "entries": [{ "skill": "a" }, { "skill": "b", "when": { "matches": "x|^.*$|" } }, { "skill": "b", "when": { "keywords": ["k"] } }] }),
            ),
            "rule-matches-everything",
            r#"`{ "skill": "b" }`"#,
        ),
    ];
    for (graph, code, said) in cases {
        let report = checked(graph);
        let helps = helps(&report);
        assert!(helps.iter().any(|(found, help)| found == code && help.contains(said)), "{code}: {said}\n{helps:#?}");
        for (code, help) in &helps {
            assert!(!LANGUAGE.iter().any(|word| help.contains(word)), "{code}: {help}");
        }
    }
}

#[test]
fn f64_a_malformed_graph_says_where() {
    let entry =
        |when: &str| format!(r#"{{ "name": "g", "skills": [], "entries": [{{ "skill": "a", "when": {when} }}] }}"#);
    for (text, at, message, help) in [
        (entry(r#"{ "keyword": ["x"] }"#), "/entries/0/when", "unknown variant `keyword`", "did you mean `keywords`?"),
        (entry(r#"{ "keywords": "x" }"#), "/entries/0/when/keywords", "invalid type: string \"x\", expected a sequence", ""),
        (entry("3"), "/entries/0/when", "", ""),
        (entry(r#"{ "all": [{ "matches": 1 }] }"#), "/entries/0/when/all/0/matches", "invalid type: integer `1`, expected a string", ""),
        (r#"{ "name": "g", "skils": [] }"#.into(), "/skils", "unknown field `skils`", "a field with a similar name exists: `skills`"),
        (r#"{ "name": "g", "skills": [{ "id": "a" }] }"#.into(), "/skills/0", "missing field `description`", ""),
        (
            r#"{ "name": "g", "skills": [], "tree": { "if": { "matchs": "x" }, "then": "a" } }"#.into(),
            "/tree/if", "unknown variant `matchs`", "did you mean `matches`?",
        ),
        (r#"{ "name": "g", "skills": [], "tree": [] }"#.into(), "/tree", "invalid type: sequence, expected the id of a skill", ""),
        (
            r#"{ "name": "g", "skills": [], "routes": [{ "from": "a", "to": "b", "where": [{ "path": "x", "op": "==", "value": {} }] }] }"#.into(),
            "/routes/0/where", "", "",
        ),
        (r#"{ "name": "g", "skills": [] } x"#.into(), "", "trailing characters", ""),
        ("{".into(), "", "EOF while parsing an object", ""),
    ] {
        let report = GraphSpec::from_json(&text).expect_err(&text);
        let [finding] = report.findings.as_slice() else { panic!("{report}") };
        assert_eq!(finding.code.to_string(), "syntax");
        assert!(finding.at.starts_with(at) && (at.is_empty() == finding.at.is_empty()), "{text}: {}", finding.at);
        assert!(finding.message.starts_with(message) && !finding.message.contains("untagged"), "{}", finding.message);
        assert!(!finding.message.contains(" at line "), "{}", finding.message);
        assert_eq!(finding.help.as_deref().unwrap_or_default(), help, "{text}");
        assert!(finding.notes[0].text.starts_with("that is at line "), "{report}");
    }
}

/// A folder with one skill of that front matter, loaded beside a graph.
fn file(name: &str, lines: &str) -> Report {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: String| {
        std::fs::create_dir_all(folder.path().join(name)).expect("a folder");
        std::fs::write(folder.path().join(name).join("SKILL.md"), text).expect("a file");
    };
    write(name, format!("---\nname: {name}\ndescription: d\n{lines}\n---\nWork."));
    let beside = GraphSpec::from_json(&graph(json!({})).to_string()).expect("a graph");
    let options = RunbookOptions { beside: Some(beside), ..RunbookOptions::default() };
    match Runbook::load_with(folder.path(), &["find", "pay"], &options) {
        Ok(book) => book.report().clone(),
        Err(report) => report,
    }
}

#[test]
fn f63_a_mistake_of_a_file_is_said_once_and_in_its_words() {
    for (name, lines, code, help) in [
        (
            "my--skill",
            "",
            "invalid-name",
            "use 1 to 64 of `a-z`, `0-9` and `-`, without `-` at the ends and without `--`",
        ),
        ("none", "", "reserved-name", "give it another id: `name: …`"),
        ("stay", "", "reserved-name", "give it another id: `name: …`"),
        ("x", "tools: fnd", "unknown-tool", "a tool with a similar name exists: `find`"),
        (
            "x",
            "tools: ship",
            "unknown-tool",
            "add it to the registry of tools, or use a declared one: `find` and `pay`",
        ),
        ("x", "steps:\n  - find: look", "steps-without-tools", "add `tools: [find]`"),
        (
            "x",
            "tools: find\non-skip: hold",
            "on-skip-without-steps",
            "add `steps:` with lines `- tool: why`, or remove `on-skip`",
        ),
        (
            "x",
            "tools: find\nsteps: []",
            "empty-list",
            "write each step on a line of its own: `- find_order: look it up before anything else`",
        ),
        ("x", "routes:\n  - nowhere: on any", "unknown-skill", ""),
    ] {
        let report = file(name, lines);
        let helps = helps(&report);
        assert_eq!(helps.iter().filter(|(found, _)| found == code).count(), 1, "{name} {lines}: {helps:#?}");
        assert!(helps.iter().any(|(found, said)| found == code && (help.is_empty() || said == help)), "{helps:#?}");
        for (_, said) in &helps {
            assert!(!LANGUAGE.iter().any(|word| said.contains(word)), "{said}");
        }
    }
    // A name that the standard does not allow is one mistake.
    assert_eq!(file("my--skill", "").findings.len(), 1);
}

#[test]
fn f64_a_compiled_graph_says_nothing_of_json() {
    let spec = GraphSpec::from_json(&graph(json!({ "entries": [] })).to_string()).expect("a graph");
    let report = Graph::compile(&spec, &["find", "pay"]).expect_err("no entry");
    assert!(report.to_string().contains(r#"`{ "skill": "a" }` to `entries`"#), "{report}");
}

/// Builds an agent of this catalog, and says why it cannot be.
fn catalog(fields: Value, characters: Option<usize>) -> Option<CatalogError> {
    let mut skill = json!({ "key": "pdf", "header": "read PDF files", "prompt": "Read.", "tools": ["find"] });
    let mut policy = json!({});
    for (key, value) in fields.as_object().expect("fields") {
        if key.starts_with("max_") { policy[key] = value.clone() } else { skill[key] = value.clone() }
    }
    let spec = json!({ "name": "g", "skills": [], "catalog": { "policy": policy, "skills": [skill] } });
    let spec = GraphSpec::from_json(&spec.to_string()).unwrap_or_else(|report| panic!("{report}"));
    let graph = Graph::compile(&spec, &["find"]).unwrap_or_else(|report| panic!("{report}"));
    let agent = AgentBuilder::new(std::sync::Arc::new(graph), [BoundTool::dynamic(crate::common::succeeds("find"))]);
    let agent = agent.model(ScriptedModel::new([]));
    let agent = match characters {
        Some(characters) => agent.max_result_characters(characters),
        None => agent,
    };
    match agent.build() {
        Ok(_) => None,
        Err(BuildError::Catalog(error)) => Some(error),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn f67_a_catalog_that_could_never_open_is_refused_when_built() {
    assert_eq!(catalog(json!({}), None), None);
    for field in ["max_open_skills", "max_bound_tools_per_skill", "max_bound_tools_total"] {
        assert_eq!(catalog(json!({ field: 0 }), None), Some(CatalogError::NothingFits { field }));
        assert_eq!(catalog(json!({ field: 1 }), None), None);
    }
    let long = json!({ "prompt": "ü".repeat(101) });
    let error = catalog(long.clone(), Some(100)).expect("too long");
    assert_eq!(error, CatalogError::PromptTooLong { key: "pdf".into(), characters: 101, maximum: 100 });
    assert_eq!(
        error.to_string(),
        "the prompt of the catalog skill `pdf` has 101 characters, and the maximum is 100: shorten it, or raise \
         `.max_result_characters(…)`"
    );
    assert_eq!(catalog(long, Some(101)), None);
    // A skill that comes at run time has no check-up before it.
    for header in ["", " \n", "\u{200b}"] {
        let entry = CatalogEntry { key: "pdf".into(), header: header.into(), ..Default::default() };
        let error = Catalog::new(skillgraph::SkillPolicy::DEFAULT, vec![entry]).expect_err("no header");
        assert_eq!(error, CatalogError::BlankHeader { key: "pdf".into() });
    }
}
