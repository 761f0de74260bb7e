//! The rules by which this system differs.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;
use skillgraph::core::text::{fold, stands_as_words};

use crate::{Seen, folder, translate::list};

/// `deviations.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviations {
    rule: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// What the rule is called.
    name: String,
    /// The section of the specification that it follows from.
    spec: String,
    /// Why this system differs.
    why: String,
    /// Which file of cases it is about; any where nothing is said.
    file: Option<String>,
    /// The fields that differ.
    fields: Vec<String>,
    /// What the difference must contain, where that matters.
    expected: Option<String>,
    /// The same of what this system says.
    ours: Option<String>,
    /// What must hold of the case.
    when: String,
}

impl Deviations {
    /// Those of the folder at hand, else our own.
    pub fn read() -> Self {
        let path = folder().join("deviations.toml");
        let text = std::fs::read_to_string(path).or_else(|_| std::fs::read_to_string("tests/vectors/deviations.toml"));
        let deviations: Deviations = toml::from_str(&text.expect("deviations.toml")).expect("rules");
        assert!(deviations.rule.iter().all(|rule| !rule.spec.is_empty() && !rule.why.is_empty()));
        deviations
    }

    /// The name of the first rule that explains a difference.
    pub fn explain(&self, file: &str, seen: &Seen<'_>) -> Option<&str> {
        let rule = self.rule.iter().find(|rule| {
            rule.file.as_ref().is_none_or(|of| of == file)
                && rule.fields.iter().any(|field| field == seen.difference.field)
                && rule.expected.as_ref().is_none_or(|text| seen.difference.expected.contains(text))
                && rule.ours.as_ref().is_none_or(|text| seen.difference.ours.contains(text))
                && holds(&rule.when, seen)
        });
        rule.map(|rule| rule.name.as_str())
    }
}

/// The predicates that rules may name.
fn holds(when: &str, seen: &Seen<'_>) -> bool {
    let graph = &seen.case["graph"];
    let (entries, routes) = (list(graph, "entries"), list(graph, "routes"));
    let unconditional = entries.iter().filter(|entry| entry.get("condition").is_none()).count();
    let guards = || routes.iter().filter_map(|route| route["guard"].as_object()).flat_map(|guard| guard.values());
    let values = || guards().filter_map(Value::as_object).flat_map(|term| term.values());
    let results = seen.step.map_or(&[][..], |step| list(&step["context"], "tool_results"));
    match when {
        "always" => true,
        "an entry has no condition" => unconditional > 0,
        "a text is not ASCII" => {
            let candidates = list(seen.case, "candidates").iter().map(Value::to_string);
            candidates.chain([seen.case["message"].to_string()]).any(|text| !text.is_ascii())
        }
        "the case has stop words of its own" => seen.case.get("stop_words").is_some(),
        "two entries have no condition" => unconditional > 1,
        "two rules are data" => {
            let is_data = |entry: &&Value| entry["condition"].as_object().is_some_and(|of| !of.contains_key("when"));
            entries.iter().filter(is_data).count() > 1
        }
        "a bare edge leads to another skill" => routes.iter().any(|route| {
            ["on_tool_return", "on_tool_status", "guard", "when"].iter().all(|key| route.get(*key).is_none())
        }),
        "a guard compares with a text" => values().any(Value::is_string),
        "a guard compares with null" => {
            values().any(|value| value.is_null() || value.as_array().is_some_and(|list| list.contains(&Value::Null)))
        }
        "a body names a tool by a plain word" => {
            let skills = list(graph, "skills");
            let is_plain = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase());
            let tools = skills.iter().flat_map(|skill| list(skill, "tools")).filter_map(Value::as_str).filter(is_plain);
            let bodies = || skills.iter().filter_map(|skill| skill["body"].as_str());
            let named = |body: &str, tool: &str| body.contains(tool) && !body.contains(&format!("`{tool}`"));
            tools.into_iter().any(|tool| bodies().any(|body| named(body, tool) && !body.contains(&format!("{tool}("))))
        }
        "never_routes holds an example" => {
            let folded = |text: &Value| fold(text.as_str().unwrap_or_default());
            let examples: Vec<String> = entries.iter().flat_map(|entry| list(entry, "examples")).map(folded).collect();
            list(graph, "never_routes").iter().any(|phrase| examples.contains(&folded(phrase)))
        }
        "a tool's name is blank" => {
            let skills = list(graph, "skills").iter().flat_map(|skill| list(skill, "tools"));
            let mut names = skills.chain(list(seen.case, "known_tools"));
            names.any(|name| name.as_str().is_none_or(|name| name.trim().is_empty()))
        }
        "the case is no audit of intents" => seen.case["kind"] != "intent_audit",
        "one message is an example of two intents" => {
            let examples = entries.iter().flat_map(|entry| list(&entry["condition"], "examples"));
            let mut seen = Vec::new();
            examples.map(|example| fold(example.as_str().unwrap_or_default())).any(|example| {
                let twice = seen.contains(&example);
                seen.push(example);
                twice
            })
        }
        "the graph is a tree" => graph["form"] == "tree",
        "a condition of a tree fails" => graph["tree"].to_string().contains("fails"),
        "a tool wants an artifact" => {
            list(graph, "skills").iter().flat_map(|skill| list(skill, "tools")).any(|tool| tool.get("wants").is_some())
        }
        "a result has another status than success or partial" => {
            results.iter().any(|result| !matches!(result["status"].as_str(), None | Some("success" | "partial")))
        }
        "an edge asks for a status and a result declares none" => {
            let asks = routes.iter().any(|route| route.get("on_tool_status").is_some());
            asks && results.iter().any(|result| result.get("status").is_none())
        }
        "a guard reads another kind, or nothing" => {
            let text = |result: &Value| result["result"].as_str().unwrap_or_default().to_owned();
            let objects = results.iter().map(|result| serde_json::from_str::<Value>(&text(result)).unwrap_or_default());
            let objects: Vec<Value> = objects.collect();
            let keys = routes.iter().filter_map(|route| route["guard"].as_object()).flatten();
            let mut compared = keys.filter_map(|(key, term)| Some((key, term.as_object()?))).flat_map(|(key, term)| {
                term.values().map(move |value| (key, value.as_array().and_then(|list| list.first()).unwrap_or(value)))
            });
            compared.any(|(key, value)| objects.iter().any(|object| kind(&object[key]) != kind(value)))
        }
        "a guard names a prototype key" => graph.to_string().contains("constructor"),
        "the witness is long" => seen.difference.expected.encode_utf16().count() > 80,
        "the turn goes on without a cursor" => seen.step.is_some_and(|step| {
            let context = &step["context"];
            let goes_on = context["iteration"] != 1 || context.get("pending_pick").is_some();
            context["current_skill"].is_null() && (goes_on || !list(context, "activated").is_empty())
        }),
        "a pick or proposal is not reachable" => seen.step.is_some_and(|step| {
            let context = &step["context"];
            let suggested = ["pending_pick", "pending_proposal"].into_iter().filter_map(|key| context.get(key));
            let reachable = list(&step["expect"], "reachable");
            suggested.into_iter().any(|id| !reachable.contains(id))
        }),
        "only what stands behind a gate is missing" => {
            let named = |text: &str| text.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>();
            let (theirs, ours) = (named(&seen.difference.expected), named(&seen.difference.ours));
            let behind = behind_a_gate(graph, None);
            ours.is_subset(&theirs) && theirs.difference(&ours).all(|skill| behind.contains(skill.as_str()))
        }
        "a pick or proposal is behind a gate" => seen.step.is_some_and(|step| {
            let context = &step["context"];
            let behind = behind_a_gate(graph, context["current_skill"].as_str());
            let suggested = ["pending_pick", "pending_proposal"].into_iter().filter_map(|key| context.get(key));
            suggested.into_iter().filter_map(Value::as_str).any(|id| behind.contains(id))
        }),
        "a pick or proposal of the runs is behind a gate" => {
            let behind = behind_a_gate(graph, None);
            let calls = list(seen.case, "runs").iter().flat_map(|run| list(run, "model"));
            let picks = calls.flat_map(|reply| list(reply, "calls")).filter(|call| call["tool"] == "read_skill");
            let tools = seen.case["tool_results"].as_object().into_iter().flat_map(|tools| tools.values());
            let proposals = tools.filter_map(Value::as_array).flatten().map(|result| &result["propose"]["target"]);
            let suggested = picks.map(|call| &call["args"]["id"]).chain(proposals);
            suggested.filter_map(Value::as_str).any(|skill| behind.contains(skill))
        }
        "a refusal names what stands behind a gate" => {
            let difference = &seen.difference;
            difference.expected.contains("rejected")
                && behind_a_gate(graph, None)
                    .iter()
                    .any(|skill| difference.expected.contains(skill) && !difference.ours.contains(skill))
        }
        "the two find different keywords" => {
            let message = seen.step.and_then(|step| step["context"]["message"].as_str()).unwrap_or_default();
            let keywords = entries.iter().flat_map(|entry| keywords(&entry["condition"]));
            keywords.into_iter().any(|keyword| found_as_ascii(&keyword, message) != found_as_words(&keyword, message))
        }
        "a predicate reads more than the message" => {
            let text = Value::from(entries.to_vec()).to_string();
            text.contains("history_longer_than") || text.contains("iteration_at_least")
        }
        "a value has a quote, or an item without a list" => {
            let files = seen.case["files"].to_string();
            files.contains("\\\"") || files.contains("\\n- ")
        }
        "an edge says status=" => seen.case["files"].to_string().contains("status="),
        "ours is a part of theirs" => {
            let theirs: Vec<&str> = seen.difference.expected.split_whitespace().collect();
            seen.difference.ours.split_whitespace().all(|part| theirs.contains(&part))
        }
        "the agent is strict" => {
            matches!(seen.case["agent"]["mount"]["strictness"].as_str(), Some("guard" | "rails"))
        }
        "the graph has one skill, and only read_skill is missing" => {
            let theirs = seen.difference.expected.split_whitespace().filter(|tool| *tool != "read_skill");
            let same = theirs.eq(seen.difference.ours.split_whitespace());
            same && list(graph, "skills").len() + list(seen.case, "skills").len() == 1
        }
        "a pick names no skill" => {
            let skills = list(graph, "skills").iter().chain(list(seen.case, "skills"));
            let ids: Vec<&Value> = skills.map(|skill| &skill["id"]).collect();
            let replies = list(seen.case, "runs").iter().flat_map(|run| list(run, "model"));
            let mut picks = replies.flat_map(|reply| list(reply, "calls")).filter(|call| call["tool"] == "read_skill");
            picks.any(|pick| !ids.contains(&&pick["args"]["id"]))
        }
        "a tool fails or says another status than success" => {
            let tools = seen.case["tool_results"].as_object().into_iter().flat_map(|tools| tools.values());
            let mut results = tools.flat_map(|results| results.as_array().into_iter().flatten());
            results.any(|result| {
                result.get("raise").is_some()
                    || !matches!(result["status"].as_str(), None | Some("success" | "partial"))
            })
        }
        "a predicate of the tree reads more than the message" => {
            let text = graph["tree"].to_string();
            ["history_longer_than", "iteration_at_least", "tool_is", "result_contains", "status_is"]
                .iter()
                .any(|kind| text.contains(kind))
        }
        "one message makes two steps" => {
            let skills = list(graph, "skills").iter().flat_map(|skill| list(skill, "steps"));
            let steps: Vec<&str> = skills.filter_map(|step| step["tool"].as_str()).chain(["skip_step"]).collect();
            let replies = list(seen.case, "runs").iter().flat_map(|run| list(run, "model"));
            let mut moves = replies.map(|reply| {
                let calls = list(reply, "calls").iter().filter_map(|call| call["tool"].as_str());
                calls.filter(|tool| steps.contains(tool)).count()
            });
            moves.any(|moves| moves > 1)
        }
        "a skill has edges out and none in" => {
            let ends = |end: &str| routes.iter().filter_map(|route| route[end].as_str()).collect::<Vec<_>>();
            let (from, to) = (ends("from"), ends("to"));
            let is_entry = |skill: &str| entries.iter().any(|entry| entry["skill"] == skill);
            from.iter().any(|skill| !to.contains(skill) && !is_entry(skill))
        }
        "an edge waits for a tool of no skill" => {
            let owned: Vec<&str> = list(graph, "skills")
                .iter()
                .flat_map(|skill| list(skill, "tools"))
                .filter_map(|tool| tool.as_str().or(tool["name"].as_str()))
                .collect();
            let mut waited = routes.iter().filter_map(|route| route["on_tool_return"].as_str());
            waited.any(|tool| !owned.contains(&tool))
        }
        "the turn ends at its cap" => {
            let cap = seen.case["agent"]["max_iterations"].as_u64().unwrap_or(8) as usize;
            list(seen.case, "runs").iter().any(|run| list(run, "model").len() >= cap)
        }
        "a tool is asked for by name" => {
            let skills = list(&seen.case["input"], "skills");
            let floor = skills.iter().any(|skill| !list(skill, "defaultBindNames").is_empty());
            floor || list(seen.case, "steps").iter().any(|step| step["tool"] == "bind_skill_tools")
        }
        "a skill is for larger models" => {
            list(&seen.case["input"], "skills").iter().any(|skill| skill["minModelTier"] == "large")
        }
        "a header has a tag" => seen.case["row"]["skills"].to_string().contains('<'),
        "the query, or what only one of them found, is not ASCII" => {
            let row = &seen.case["row"];
            let found = |text: &str| text.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>();
            let difference = &seen.difference;
            let only_one = &found(&difference.expected) ^ &found(&difference.ours);
            let of = |key: &String| list(seen.case, "catalog").iter().find(|skill| skill["key"] == key.as_str());
            let is_ascii = |value: &Value| value.to_string().is_ascii();
            !is_ascii(&row["query"])
                || (!only_one.is_empty() && only_one.iter().all(|key| of(key).is_some_and(|skill| !is_ascii(skill))))
        }
        "a probe throws" => skills(seen).iter().any(|skill| skill["available"].get("throws").is_some()),
        "a prompt or a binding throws, or a prompt is over the ceiling" => skills(seen).iter().any(|skill| {
            skill.get("bindThrows").is_some()
                || skill["promptFn"].get("throws").is_some()
                || skill["prompt"].as_str().is_some_and(|text| text.contains('*'))
        }),
        "a skill binds what nobody named" => skills(seen).iter().any(|skill| skill.get("bindAlways").is_some()),
        "a skill binds nothing where no tool is named" => {
            skills(seen).iter().any(|skill| skill["bindNoNamesEmpty"] == true)
        }
        "a skill is there at first and not later" => skills(seen).iter().any(|skill| skill["available"].is_array()),
        "a skill is hidden" => !list(&seen.case["agent"]["permissions"], "hidden_skills").is_empty(),
        "navigation is denied" => {
            list(&seen.case["agent"]["permissions"], "denied_tools").iter().any(|tool| tool == "read_skill")
        }
        other => panic!("deviations.toml: unknown predicate {other:?}"),
    }
}

/// The skills that an edge with a trigger leads to (out of that one, where one is given), and nothing that a pick goes by.
fn behind_a_gate<'a>(graph: &'a Value, from: Option<&str>) -> BTreeSet<&'a str> {
    let is_bare = |route: &&Value| {
        ["on_tool_return", "on_tool_status", "guard", "when"].iter().all(|key| route.get(*key).is_none())
    };
    let routes = || list(graph, "routes").iter().filter(|route| from.is_none_or(|from| route["from"] == from));
    let entries: Vec<&str> = list(graph, "entries").iter().filter_map(|entry| entry["skill"].as_str()).collect();
    let open: Vec<&str> = match from {
        Some(_) => routes().filter(is_bare).filter_map(|route| route["to"].as_str()).collect(),
        None => Vec::new(),
    };
    let behind = routes().filter(|route| !is_bare(route)).filter_map(|route| route["to"].as_str());
    behind.filter(|skill| !entries.contains(skill) && !open.contains(skill)).collect()
}

/// The skills of a case about a catalog.
fn skills<'a>(seen: &Seen<'a>) -> &'a [Value] {
    list(&seen.case["input"], "skills")
}

fn kind(value: &Value) -> std::mem::Discriminant<Value> {
    std::mem::discriminant(value)
}

/// Every keyword of a condition.
fn keywords(condition: &Value) -> Vec<String> {
    let own = list(condition, "keywords").iter().filter_map(|keyword| keyword.as_str().map(str::to_owned));
    own.chain(list(condition, "all").iter().flat_map(keywords)).collect()
}

/// As the reference finds a keyword: edges are those of ASCII words, spaces are literal.
fn found_as_ascii(keyword: &str, message: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    // Its case folding never leads from another letter to one of ASCII.
    let lower = |text: &str| {
        text.chars()
            .flat_map(|c| c.to_lowercase().map(move |low| if low.is_ascii() { c.to_ascii_lowercase() } else { low }))
            .collect::<String>()
    };
    let (keyword, message) = (lower(keyword), lower(message));
    let (starts, ends) = (is_word(keyword.chars().next()), is_word(keyword.chars().next_back()));
    message.match_indices(&keyword).any(|(at, found)| {
        let before = message[..at].chars().next_back();
        let after = message[at + found.len()..].chars().next();
        let inside_a_word = (starts && is_word(before)) || (ends && is_word(after));
        !inside_a_word
    })
}

/// As this system finds it.
fn found_as_words(keyword: &str, message: &str) -> bool {
    let (keyword, message) = (fold(keyword), fold(message));
    message.match_indices(&keyword).any(|(at, found)| stands_as_words(&message, at..at + found.len()))
}
