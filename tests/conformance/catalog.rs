//! `cognipeer/`: what a catalog of another system opens, binds and finds.

use serde_json::{Value, json};
use skillgraph::core::catalog::{
    CatalogEntry, Disclosure, ModelTier, Opened, Reset, SEARCH_LIMIT, SkillPolicy, ToolHeader, can_open, header_block,
    search_skills,
};

use crate::translate::list;
use crate::{Difference, Seen, catalog_runs, folder};

/// Every row and every file of calls as a case of its own.
pub fn cases() -> Vec<Value> {
    let mut files: Vec<_> = std::fs::read_dir(folder().join("cognipeer"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a file");
        let file: Value = serde_json::from_str(&text).expect("JSON");
        let id = file["id"].as_str().unwrap_or_default().to_owned();
        match file["kind"].as_str() {
            // What callbacks do that fail, or give what nobody asked for: that takes a host. A skill a run, since here no two
            // skills have a tool of the same name.
            Some("meta_tool_calls") if id.starts_with("11b") || id.starts_with("13") => {
                for skill in list(&file["input"], "skills").iter().filter(|skill| skill.get("indexThrows").is_none()) {
                    let key = skill["key"].as_str().unwrap_or_default();
                    let steps = list(&file, "steps").iter().filter(|step| step["args"]["skillKey"] == key);
                    let input = json!({ "policy": file["input"]["policy"], "skills": [skill] });
                    let steps: Vec<&Value> = steps.collect();
                    cases.push(json!({ "id": format!("{id}#{key}"), "kind": "calls_of_a_host", "input": input, "steps": steps }));
                }
            }
            Some("meta_tool_calls" | "agent_run") => cases.push(file),
            None if file.get("DEFAULT_SKILL_POLICY").is_some() => cases.push(file),
            Some(
                kind @ ("searchSkills"
                | "searchSkills_pair"
                | "buildSkillHeaderBlock"
                | "appendBoundTools"
                | "canOpenSkill"),
            ) => {
                for (at, row) in list(&file, "rows").iter().enumerate() {
                    if row.get("catalog").is_some() {
                        // A field of another type does not get this far: an entry has types.
                        continue;
                    }
                    let catalog = &file["input"]["catalog"];
                    cases.push(json!({ "id": format!("{id}#{at}"), "kind": kind, "row": row, "catalog": catalog }));
                }
            }
            _ => {}
        }
    }
    cases
}

pub fn compare(case: &Value) -> Vec<Seen<'_>> {
    match case["kind"].as_str() {
        Some("agent_run") => return catalog_runs::compare(case, catalog_runs::run),
        Some("calls_of_a_host") => return catalog_runs::compare(case, catalog_runs::calls),
        _ => {}
    }
    let row = &case["row"];
    let mut differences = Vec::new();
    let mut compare = |field, expected: String, ours: String| {
        if expected != ours {
            differences.push(Difference::new(field, expected, ours));
        }
    };
    match case["kind"].as_str() {
        Some("searchSkills") => {
            let entries: Vec<CatalogEntry> = list(case, "catalog").iter().map(entry).collect();
            let limit = row["limit"].as_f64().map_or(SEARCH_LIMIT, |limit| limit.max(0.0) as usize);
            let found = search_skills(&entries, row["query"].as_str().unwrap_or_default(), limit);
            let found: Vec<&str> = found.iter().map(|at| entries[*at].key.as_str()).collect();
            compare("found", texts(&row["observed"]).join(" "), found.join(" "));
        }
        Some("searchSkills_pair") => {
            let named = |header: &str| CatalogEntry {
                key: "~".into(),
                title: "~".into(),
                header: header.into(),
                ..CatalogEntry::default()
            };
            let header = row["header"].as_str().unwrap_or_default();
            let entries = [named(header), named("")];
            let ours = match search_skills(&entries, row["query"].as_str().unwrap_or_default(), 10).len() {
                0 => "miss",
                1 => "hit",
                _ => "browse",
            };
            compare("found", row["observed"].as_str().unwrap_or_default().to_owned(), ours.to_owned());
        }
        Some("buildSkillHeaderBlock") => {
            let entries: Vec<CatalogEntry> = list(row, "skills").iter().map(entry).collect();
            let block = header_block(&entries);
            let lines: Vec<&str> = block.lines().collect();
            let observed = &row["observed"];
            let rest = lines.get(2..).unwrap_or_default().join("\n");
            compare("empty", (observed["empty"] == true).to_string(), block.is_empty().to_string());
            compare("listing", texts(&observed["rest"]).join("\n"), rest);
        }
        Some("appendBoundTools") => {
            // One skill of all the tools, with room for all: only the total counts.
            let names = |key: &str| texts(&row[key]);
            let all: Vec<String> = names("seed").into_iter().chain(names("add")).collect();
            let skill = skill_of("s", &all);
            let room = SkillPolicy { max_bound_tools_per_skill: 0, ..SkillPolicy::DEFAULT };
            let mut opened = Opened::new();
            opened.open(&skill, Some("a query"), |_, tools| tools.to_vec(), &room).expect("it opens");
            let seeding =
                SkillPolicy { max_bound_tools_per_skill: 99, max_bound_tools_total: 99, ..SkillPolicy::DEFAULT };
            opened.bind(&skill, &names("seed"), &seeding).expect("it is open");
            let total = row["maxBoundToolsTotal"].as_u64().unwrap_or_default() as usize;
            let policy = SkillPolicy { max_bound_tools_total: total, ..seeding };
            let binding = opened.bind(&skill, &names("add"), &policy).expect("it is open");
            compare("bound", texts(&row["observed"]["added"]).join(" "), binding.bound.join(" "));
            let after: Vec<&str> = opened.tools().collect();
            compare("bound after", texts(&row["observed"]["bound"]).join(" "), after.join(" "));
        }
        Some("canOpenSkill") => {
            let number = |key: &str| row[key].as_u64().unwrap_or_default() as usize;
            let policy = SkillPolicy {
                max_open_skills: number("maxOpenSkills"),
                max_bound_tools_total: number("maxBoundToolsTotal"),
                ..SkillPolicy::DEFAULT
            };
            let refusal =
                can_open(number("opened"), number("bound"), &policy).map_err(|refusal| format!("{refusal:?}"));
            let theirs = match row["observed"]["reason"].as_str() {
                None => "Ok(())".to_owned(),
                Some(reason) if reason.starts_with("max") => {
                    format!("Err(\"TooManyOpen {{ limit: {} }}\")", number("maxOpenSkills"))
                }
                Some(_) => format!("Err(\"NoToolsLeft {{ limit: {} }}\")", number("maxBoundToolsTotal")),
            };
            compare("refusal", theirs, format!("{refusal:?}"));
        }
        Some(_) => calls(case, &mut compare),
        None => {
            for (key, policy) in
                [("DEFAULT_SKILL_POLICY", SkillPolicy::DEFAULT), ("SMALL_TIER_SKILL_POLICY", SkillPolicy::SMALL)]
            {
                let SkillPolicy { max_open_skills, max_bound_tools_per_skill, max_bound_tools_total, .. } = policy;
                let mut ours = json!({
                    "maxOpenSkills": max_open_skills,
                    "maxBoundToolsPerSkill": max_bound_tools_per_skill,
                    "maxBoundToolsTotal": max_bound_tools_total,
                });
                if let Some(tier) = policy.model_tier {
                    ours["modelTier"] = serde_json::to_value(tier).expect("JSON");
                }
                compare("policy", case[key].to_string(), ours.to_string());
            }
        }
    }
    differences.into_iter().map(|difference| Seen { case, step: None, difference }).collect()
}

/// A sequence of calls of the three tools.
fn calls(case: &Value, compare: &mut impl FnMut(&'static str, String, String)) {
    let input = &case["input"];
    let policy = policy(input);
    let skills = list(input, "skills");
    let entries: Vec<CatalogEntry> = skills.iter().map(entry).collect();
    // How often each was asked whether it is there.
    let mut asked = vec![0; skills.len()];
    let mut is_there = |at: usize| {
        entries[at].is_for(policy.model_tier) && {
            let answer = match &skills[at]["available"] {
                Value::Array(answers) => answers.get(asked[at]).or(answers.last()).cloned().unwrap_or_default(),
                answer => answer.clone(),
            };
            asked[at] += 1;
            answer != json!(false)
        }
    };
    let mut opened = Opened::new();
    seed(&mut opened, input, &entries);
    for step in list(case, "steps") {
        let observed = &step["observed"];
        // As its schema reads them: repairing what a model wrote is not for a catalog.
        let args = observed["schema"].get("value").unwrap_or(&step["args"]);
        if args["limit"].as_i64().is_some_and(|limit| limit < 0) {
            // A limit is a count.
            continue;
        }
        if observed.get("schema").is_some_and(|schema| schema != "ok" && *schema != json!({ "ok": true }))
            && observed.get("result").is_none()
        {
            // Refused by the schema: it does not get this far here either.
            continue;
        }
        let key = args["skillKey"].as_str().unwrap_or_default();
        let found = entries.iter().position(|entry| entry.key == key);
        let result = &observed["result"];
        let theirs = if result.get("error").is_some() || observed.get("threw").is_some() {
            "refused".to_owned()
        } else {
            let index = texts_of(&result["toolIndex"], "name");
            format!("bound [{}] index [{}]", texts(&result["boundTools"]).join(" "), index.join(" "))
        };
        match step["tool"].as_str() {
            Some("open_skill") => {
                let ours = found.filter(|at| is_there(*at)).and_then(|at| {
                    let reversed = skills[at].get("rank").is_some();
                    let rank = |_: &str, tools: &[ToolHeader]| match reversed {
                        true => tools.iter().rev().cloned().collect(),
                        false => tools.to_vec(),
                    };
                    opened.open(&entries[at], args["query"].as_str(), rank, &policy).ok()
                });
                let ours = ours.map_or("refused".to_owned(), |opening| {
                    let index: Vec<String> = opening.index.into_iter().flatten().map(|tool| tool.name).collect();
                    format!("bound [{}] index [{}]", opening.binding.bound.join(" "), index.join(" "))
                });
                compare("open", theirs, ours);
            }
            Some("bind_skill_tools") => {
                let names = texts(&args["toolNames"]);
                let binding = found.and_then(|at| opened.bind(&entries[at], &names, &policy).ok());
                let ours = binding
                    .map_or("refused".to_owned(), |binding| format!("bound [{}] index []", binding.bound.join(" ")));
                compare("bind", theirs, ours);
            }
            _ => {
                let there: Vec<CatalogEntry> =
                    (0..entries.len()).filter(|at| is_there(*at)).map(|at| entries[at].clone()).collect();
                let limit = args["limit"]
                    .as_u64()
                    .filter(|limit| *limit > 0)
                    .map_or(SEARCH_LIMIT, |limit| limit.min(25) as usize);
                let mut found = search_skills(&there, args["query"].as_str().unwrap_or_default(), limit);
                if found.is_empty() {
                    found = (0..there.len().min(limit)).collect();
                }
                let found: Vec<&str> = found.iter().map(|at| there[*at].key.as_str()).collect();
                compare("found", texts_of(&result["skills"], "skillKey").join(" "), found.join(" "));
            }
        }
        let after = |key: &str| texts(&observed[key]).join(" ");
        compare("opened after", after("openedAfter"), opened.skills().collect::<Vec<_>>().join(" "));
        compare("bound after", after("boundAfter"), opened.tools().collect::<Vec<_>>().join(" "));
    }
}

/// What is open before the first call.
fn seed(opened: &mut Opened, input: &Value, entries: &[CatalogEntry]) {
    let room = SkillPolicy {
        max_open_skills: 99,
        max_bound_tools_per_skill: 99,
        max_bound_tools_total: 99,
        ..SkillPolicy::DEFAULT
    };
    for key in texts(&input["seedOpened"]) {
        let known = entries.iter().find(|entry| entry.key == key).cloned();
        let skill = known.unwrap_or_else(|| skill_of(&key, &texts(&input["seedBound"])));
        opened.open(&skill, None, |_, tools| tools.to_vec(), &room).expect("there is room");
    }
}

fn skill_of(key: &str, tools: &[String]) -> CatalogEntry {
    let tools = tools.iter().map(|name| ToolHeader { name: name.clone(), description: None }).collect();
    CatalogEntry { key: key.into(), tools, ..CatalogEntry::default() }
}

/// The bounds of a case; without any, those that nobody sets.
pub fn policy(input: &Value) -> SkillPolicy {
    let said = &input["policy"];
    if !said.is_object() {
        return SkillPolicy::DEFAULT;
    }
    let number = |key: &str| said[key].as_f64().unwrap_or_default().ceil() as usize;
    SkillPolicy {
        max_open_skills: number("maxOpenSkills"),
        max_bound_tools_per_skill: number("maxBoundToolsPerSkill"),
        max_bound_tools_total: number("maxBoundToolsTotal"),
        model_tier: (said["modelTier"] == "small").then_some(ModelTier::Small),
        disclosure: if said["disclosure"] == "search" { Disclosure::Search } else { Disclosure::Catalog },
        reset: Reset::Never,
    }
}

pub fn entry(skill: &Value) -> CatalogEntry {
    let text = |key: &str| skill[key].as_str().unwrap_or_default().to_owned();
    let tool = |tool: &Value| ToolHeader {
        name: tool["name"].as_str().unwrap_or_default().to_owned(),
        description: tool["description"].as_str().map(str::to_owned),
    };
    CatalogEntry {
        key: text("key"),
        title: text("title"),
        header: text("header"),
        needs_sandbox: skill["needsSandbox"] == true,
        min_model_tier: (skill["minModelTier"] == "large").then_some(ModelTier::Large),
        tools: list(skill, if skill.get("index").is_some() { "index" } else { "tools" }).iter().map(tool).collect(),
        default_bind: texts(&skill["defaultBindNames"]),
        may_be_away: false,
    }
}

fn texts(values: &Value) -> Vec<String> {
    values.as_array().into_iter().flatten().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

fn texts_of(values: &Value, key: &str) -> Vec<String> {
    let values = values.as_array().into_iter().flatten();
    values.filter_map(|value| value[key].as_str().map(str::to_owned)).collect()
}
