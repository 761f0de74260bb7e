//! From the form of the cases to a graph of this system.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use skillgraph::GraphSpec;
use skillgraph::core::decl::{Branch, Condition, GraphDecl, Trigger, Word};
use skillgraph::core::graph::{Closures, RouteTest};

use crate::predicate;

/// A translated graph.
pub struct Translated {
    pub spec: GraphSpec,
    pub registry: Vec<String>,
    entries: Vec<Option<Value>>,
    routes: Vec<Option<Value>>,
    /// Of the conditions of the tree, in the order of the source.
    tree: Vec<Value>,
}

/// Why there is no translation.
#[derive(Debug, PartialEq, Eq)]
pub enum Untranslated {
    /// The language has no such construct, or not yet.
    Construct(&'static str),
    /// It is no graph in the form of the data either.
    Malformed(String),
}

/// Keys of a guard that read the call, not its result.
const HOP_KEYS: [&str; 6] = ["toolName", "result", "status", "iteration", "userMessage", "currentSkillId"];

/// Translates the graph of a case. `also` names tools that the case uses beside the graph.
pub fn translate(graph: &Value, also: &[String]) -> Result<Translated, Untranslated> {
    let classify = match graph["entry_mode"].as_str() {
        None | Some("declared") => None,
        Some("classify") => {
            let policy = &graph["policy"];
            let mut classify = json!({ "scorer": "keyword" });
            for (theirs, ours) in [("near_tie_margin", "margin"), ("menu_size", "menu"), ("floor", "floor")] {
                if let Some(value) = policy.get(theirs) {
                    classify[ours] = value.clone();
                }
            }
            Some(classify)
        }
        Some("model_read") => return Err(Untranslated::Construct("model_read")),
        Some(_) => return Err(Untranslated::Construct("scorer")),
    };
    if list(graph, "skills").iter().any(|skill| skill.get("trigger").is_some()) {
        return Err(Untranslated::Construct("trigger"));
    }
    let mut also = also.to_vec();
    // The agent has a tool of its own, so that an edge which waits for any result can fire.
    also.push("host_tool".to_owned());
    let registry = registry(graph, &also);
    let mut predicates = (Vec::new(), Vec::new());
    let entries = list(graph, "entries").iter().map(|entry| {
        predicates.0.push(entry["condition"].get("when").cloned());
        entry_spec(entry)
    });
    let entries: Vec<Value> = entries.collect::<Result<_, _>>()?;
    let routes = list(graph, "routes").iter().map(|route| {
        predicates.1.push(route.get("when").cloned());
        route_spec(route, &registry)
    });
    let routes: Vec<Value> = routes.collect::<Result<_, _>>()?;
    let mut spec = json!({
        "name": "case",
        // The reference offers every tool everywhere: those that edges wait for are offered here too.
        "baseline": baseline(graph, &also),
        "skills": list(graph, "skills").iter().map(skill_spec).collect::<Vec<_>>(),
        "entries": entries,
        "routes": routes,
    });
    let mut tree = Vec::new();
    if let Some(branch) = graph.get("tree") {
        spec["tree"] = branch_spec(branch, &mut tree);
    }
    if let Some(classify) = classify {
        spec["classify"] = classify;
    }
    if let Some(never) = graph.get("never_routes") {
        spec["never_routes"] = never.clone();
    }
    let spec = serde_json::from_value(spec).map_err(|error| Untranslated::Malformed(error.to_string()))?;
    Ok(Translated { spec, registry, entries: predicates.0, routes: predicates.1, tree })
}

impl Translated {
    /// The declaration, with the case's predicates as closures, and their code.
    pub fn declaration(&self) -> (GraphDecl<()>, Closures) {
        let mut decl = self.spec.declaration(&self.registry);
        let closure = |predicate: &Value| Word::new(predicate.to_string(), ());
        for (entry, predicate) in decl.entries.iter_mut().zip(&self.entries) {
            if let Some(predicate) = predicate {
                entry.condition = Some(Condition::Closure(closure(predicate)));
            }
        }
        for (route, predicate) in decl.routes.iter_mut().zip(&self.routes) {
            if let Some(predicate) = predicate {
                route.trigger = Trigger::Closure(closure(predicate));
            }
        }
        if let Some(tree) = &mut decl.tree {
            replace_conditions(&mut tree.root, &mut self.tree.iter());
        }
        let of = |predicates: &[Option<Value>]| predicates.iter().flatten().cloned().collect::<Vec<Value>>();
        let of_messages = of(&self.entries).into_iter().chain(self.tree.iter().cloned()).collect();
        let (entries, routes) = predicate::closures(of_messages, of(&self.routes));
        (decl, Closures { entries, routes: routes.into_iter().map(RouteTest::Result).collect(), ..Closures::default() })
    }
}

fn branch_spec(branch: &Value, predicates: &mut Vec<Value>) -> Value {
    match branch.get("if") {
        None => branch["skill"].clone(),
        Some(predicate) => {
            predicates.push(predicate.clone());
            let then = branch_spec(&branch["then"], predicates);
            let otherwise = branch_spec(&branch["else"], predicates);
            // The closure takes the condition's place later.
            json!({ "if": { "matches": "closure" }, "then": then, "else": otherwise })
        }
    }
}

fn replace_conditions<'a>(branch: &mut Branch<()>, predicates: &mut impl Iterator<Item = &'a Value>) {
    if let Branch::Fork(fork) = branch {
        let predicate = predicates.next().expect("one a condition");
        fork.condition = Condition::Closure(Word::new(predicate.to_string(), ()));
        replace_conditions(&mut fork.then, predicates);
        fork.otherwise.iter_mut().for_each(|branch| replace_conditions(branch, predicates));
    }
}

pub fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key].as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The name of a tool: a text, or an object with more about it.
pub fn tool_name(tool: &Value) -> String {
    tool.as_str().or(tool["name"].as_str()).unwrap_or_default().to_owned()
}

fn registry(graph: &Value, also: &[String]) -> Vec<String> {
    let mut names: Vec<String> = also.to_vec();
    names.extend(list(graph, "skills").iter().flat_map(|skill| list(skill, "tools")).map(tool_name));
    names.extend(list(graph, "routes").iter().filter_map(|route| route["on_tool_return"].as_str().map(str::to_owned)));
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

fn baseline(graph: &Value, also: &[String]) -> Vec<String> {
    let waited = list(graph, "routes").iter().filter_map(|route| {
        let tool = route["on_tool_return"].as_str()?;
        let source = list(graph, "skills").iter().find(|skill| skill["id"] == route["from"])?;
        (!list(source, "tools").iter().any(|own| tool_name(own) == tool)).then(|| tool.to_owned())
    });
    let names: BTreeSet<String> = waited.chain(also.iter().cloned()).collect();
    names.into_iter().collect()
}

fn skill_spec(skill: &Value) -> Value {
    let mut spec = json!({ "id": skill["id"], "description": skill["description"], "body": skill["body"] });
    if !list(skill, "tools").is_empty() {
        spec["tools"] = list(skill, "tools").iter().map(tool_name).collect();
    }
    match skill["surface_mode"].as_str() {
        Some("tool-only") => spec["surface"] = json!("tool_result"),
        Some("both") => spec["surface"] = json!("both"),
        _ => {}
    }
    for key in ["steps", "on_skip", "produces", "consumes"] {
        if let Some(value) = skill.get(key) {
            spec[key] = value.clone();
        }
    }
    spec
}

fn entry_spec(entry: &Value) -> Result<Value, Untranslated> {
    let mut spec = json!({ "skill": entry["skill"] });
    match entry.get("condition") {
        // The closure takes its place later.
        Some(condition) if condition.get("when").is_some() => spec["when"] = json!({ "matches": "closure" }),
        Some(condition) => spec["when"] = condition_spec(condition)?,
        None => {}
    }
    if let Some(examples) = entry.get("examples") {
        spec["examples"] = examples.clone();
    }
    Ok(spec)
}

fn condition_spec(condition: &Value) -> Result<Value, Untranslated> {
    if condition.get("intent").is_some() {
        return Ok(json!({ "intent": { "intent": condition["intent"], "examples": condition["examples"] } }));
    }
    if let Some(pattern) = condition["regex"].as_str() {
        return Ok(json!({ "matches": pattern_of(pattern, condition["flags"].as_str().unwrap_or_default()) }));
    }
    if let Some(parts) = condition["all"].as_array() {
        let parts = parts.iter().map(condition_spec).collect::<Result<Vec<_>, _>>()?;
        return Ok(json!({ "all": parts }));
    }
    Ok(json!({ "keywords": condition["keywords"] }))
}

/// An ECMAScript pattern for the `regex` crate: without the flag `u` its classes are those of ASCII.
fn pattern_of(pattern: &str, flags: &str) -> String {
    let kept: String = flags.chars().filter(|flag| "ims".contains(*flag)).collect();
    let ascii = pattern.replace(r"\b", r"(?-u:\b)").replace(r"\d", "[0-9]").replace(r"\w", "[0-9A-Za-z_]");
    if kept.is_empty() { ascii } else { format!("(?{kept}){ascii}") }
}

fn route_spec(route: &Value, registry: &[String]) -> Result<Value, Untranslated> {
    let mut spec = json!({ "from": route["from"], "to": route["to"] });
    if route.get("when").is_some() {
        return match ["on_tool_return", "on_tool_status", "guard"].iter().find(|key| route.get(**key).is_some()) {
            Some(key) => Err(Untranslated::Malformed(format!("a closure beside `{key}`"))),
            None => Ok(spec),
        };
    }
    match &route["on_tool_return"] {
        Value::Null => {}
        Value::String(tool) => spec["on"] = json!([tool]),
        pattern => {
            let pattern = pattern_of(&text(&pattern["regex"]), pattern["flags"].as_str().unwrap_or_default());
            let pattern = regex::Regex::new(&pattern).map_err(|error| Untranslated::Malformed(error.to_string()))?;
            spec["on"] = registry.iter().filter(|tool| pattern.is_match(tool)).cloned().collect();
        }
    }
    if let Some(statuses) = route.get("on_tool_status") {
        spec["is"] = statuses.as_str().map_or_else(|| statuses.clone(), |one| json!([one]));
    }
    if let Some(guard) = route.get("guard") {
        spec["where"] = guard_spec(guard)?;
    }
    let bare = ["on_tool_return", "on_tool_status", "guard"].iter().all(|key| route.get(*key).is_none());
    if bare {
        spec["pick"] = json!(true);
    }
    Ok(spec)
}

fn guard_spec(guard: &Value) -> Result<Value, Untranslated> {
    let keys: &Map<String, Value> = guard.as_object().ok_or_else(|| Untranslated::Malformed("a guard".into()))?;
    let mut terms = Vec::new();
    for (key, operators) in keys {
        if HOP_KEYS.contains(&key.as_str()) {
            return Err(Untranslated::Construct("hop key"));
        }
        let operators = operators.as_object().filter(|operators| !operators.is_empty());
        let operators = operators.ok_or_else(|| Untranslated::Malformed(format!("no operator for `{key}`")))?;
        for (operator, value) in operators {
            let operator = match operator.as_str() {
                "eq" => "==",
                "ne" => "!=",
                "gt" => ">",
                "gte" => ">=",
                "lt" => "<",
                "lte" => "<=",
                "in" => "in",
                "notIn" => "not in",
                other => other,
            };
            terms.push(json!({ "path": key, "op": operator, "value": value }));
        }
    }
    Ok(Value::Array(terms))
}
