//! `skillmd.json`: folders of SKILL.md files, written to disk and loaded.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use skillgraph::core::runbook::Runbook;
use skillgraph::core::skill_file::SkillFile;
use skillgraph::{GraphSpec, Report};

use crate::translate::list;
use crate::{Difference, Seen};

pub fn compare(case: &Value) -> Vec<Seen<'_>> {
    let folder = tempfile::tempdir().expect("a folder");
    let registry: BTreeSet<String> =
        list(case, "registry").iter().filter_map(|tool| Some(tool.as_str()?.to_owned())).collect();
    let registry: Vec<String> = registry.into_iter().collect();
    let loaded = match case["directory"].as_str() {
        Some(directory) => Runbook::load(directory, &registry),
        None => {
            write(folder.path(), case);
            Runbook::load(folder.path(), &registry)
        }
    };
    let expect = &case["expect"];
    let mut differences = Vec::new();
    match (expect["refused"].as_bool().unwrap_or_default(), loaded) {
        (true, Err(report)) => {
            let line = expect["line"].as_u64();
            if line.is_some_and(|line| !lines(&report).contains(&line)) {
                differences.push(Difference::new("line", line.unwrap_or_default(), report));
            }
        }
        (true, Ok(_)) => {
            differences.push(Difference::new("refused", expect["category"].as_str().unwrap_or("?"), "loaded"))
        }
        (false, Err(report)) => differences.push(Difference::new("refused", "loaded", report)),
        (false, Ok(runbook)) => {
            let (expected, ours) = (their_skills(expect), our_skills(runbook.skills()));
            if expected != ours {
                differences.push(Difference::new("skills", expected, ours));
            }
            let (expected, ours) = (their_routes(expect), our_routes(&runbook.spec("case")));
            if expected != ours {
                differences.push(Difference::new("routes", expected, ours));
            }
        }
    }
    differences.into_iter().map(|difference| Seen { case, step: None, difference }).collect()
}

/// The files of a case. The cases give directories any name; by the standard a skill's has that of the skill.
fn write(folder: &Path, case: &Value) {
    let mut taken = BTreeSet::new();
    for (path, text) in case["files"].as_object().into_iter().flatten() {
        let text = text.as_str().expect("a text");
        let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        let named = text.lines().filter_map(|line| line.strip_prefix("name:")).next_back();
        let named = named.map(|name| name.trim().trim_matches(['"', '\'']).to_owned());
        let directory = named.filter(|name| !name.is_empty() && !name.contains('/') && taken.insert(name.clone()));
        if let (2, Some(directory)) = (parts.len(), directory) {
            parts[0] = directory;
        }
        let path = parts.iter().fold(folder.to_owned(), |path, part| path.join(part));
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
}

/// The lines at which a report finds something.
fn lines(report: &Report) -> Vec<u64> {
    report.findings.iter().filter_map(|finding| finding.at.rsplit(':').nth(1)?.parse().ok()).collect()
}

fn their_skills(expect: &Value) -> String {
    let skills = list(expect, "skills").iter().map(|skill| {
        let tools: Vec<&str> = list(skill, "tools").iter().filter_map(Value::as_str).collect();
        let steps: Vec<String> =
            list(skill, "steps").iter().map(|step| format!("{} {}", step["tool"], step["note"])).collect();
        format!(
            "{}|{}|{}|{tools:?}|{steps:?}|{}",
            skill["id"],
            skill["description"],
            skill["body"],
            on_skip(&skill["on_skip"])
        )
    });
    skills.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("\n")
}

fn on_skip(value: &Value) -> &str {
    value.as_str().filter(|word| *word != "advance").unwrap_or_default()
}

fn our_skills<'a>(skills: impl Iterator<Item = &'a SkillFile>) -> String {
    let skills = skills.map(|file| {
        let json = |text: &str| Value::from(text).to_string();
        let tools: Vec<&str> = file.tools.iter().map(|tool| tool.text.as_str()).collect();
        let steps = file.steps.iter().flat_map(|steps| &steps.list);
        let steps: Vec<String> =
            steps.map(|step| format!("{} {}", json(&step.tool.text), json(&step.note.text))).collect();
        let hold = file.on_skip.as_ref().is_some_and(|(on_skip, _)| format!("{on_skip:?}") == "Hold");
        let (name, description, body) = (json(&file.name.text), json(&file.description.text), json(&file.body.text));
        format!("{name}|{description}|{body}|{tools:?}|{steps:?}|{}", if hold { "hold" } else { "" })
    });
    skills.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("\n")
}

fn their_routes(expect: &Value) -> String {
    let routes = list(expect, "routes")
        .iter()
        .map(|route| format!("{} {} {}", route["from"], route["to"], route["on_tool_return"]));
    routes.collect::<Vec<_>>().join("\n")
}

fn our_routes(spec: &GraphSpec) -> String {
    let routes = spec.routes.iter().map(|route| {
        let on = route.on.as_ref().map_or(Value::Null, |tools| Value::from(tools[0].clone()));
        format!("{} {} {on}", Value::from(route.from.clone()), Value::from(route.to.clone()))
    });
    routes.collect::<Vec<_>>().join("\n")
}
