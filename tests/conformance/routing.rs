//! `routing.json`: where the cursor goes and why, step by step.

use std::collections::BTreeSet;

use serde_json::Value;
use skillgraph::core::decide::{CursorMove, Evidence, Ruling, decide};
use skillgraph::core::graph::{Graph, Hidden, SkillIx};
use skillgraph::{Status, ToolResult};

use crate::translate::{Translated, Untranslated, list, translate};
use crate::{Difference, Seen};

pub fn compare(case: &Value) -> Vec<Seen<'_>> {
    let whole = |difference| vec![Seen { case, step: None, difference }];
    let graph = match translate(&case["graph"], &tools_used(case)) {
        Err(Untranslated::Construct(construct)) => return whole(Difference::new("construct", "", construct)),
        Err(Untranslated::Malformed(error)) => return whole(Difference::new("malformed", "", error)),
        Ok(graph) => graph,
    };
    if case["graph"]["entry_mode"] == "classify" {
        // The case gives the verdict of a scorer; here the turn finds it.
        return whole(Difference::new("construct", "", "verdict"));
    }
    let (decl, closures) = graph.declaration();
    let compiled = match Graph::from_declaration(decl, closures) {
        Ok(compiled) => compiled,
        Err(error) => return whole(Difference::new("refused", "false", error)),
    };
    let steps = list(case, "steps").iter();
    steps
        .flat_map(|step| {
            step_differences(&graph, &compiled, step).into_iter().map(move |difference| Seen {
                case,
                step: Some(step),
                difference,
            })
        })
        .collect()
}

fn tools_used(case: &Value) -> Vec<String> {
    let results = list(case, "steps").iter().flat_map(|step| list(&step["context"], "tool_results"));
    let names: BTreeSet<String> = results.filter_map(|result| result["tool"].as_str().map(str::to_owned)).collect();
    names.into_iter().collect()
}

fn step_differences(translated: &Translated, graph: &Graph, step: &Value) -> Vec<Difference> {
    let (context, expect) = (&step["context"], &step["expect"]);
    let skill = |id: &Value| id.as_str().and_then(|id| graph.find_skill(id));
    let cursor = skill(&context["current_skill"]);
    let results: Vec<ToolResult> =
        list(context, "tool_results").iter().enumerate().map(|(at, result)| tool_result(graph, at, result)).collect();
    // What the gate of this system would not let through never gets to the decision.
    let admitted = |id: &Value| skill(id).filter(|target| graph.is_hop(cursor, *target));
    let (pick, proposal) = (admitted(&context["pending_pick"]), admitted(&context["pending_proposal"]));
    let message = context["message"].as_str().unwrap_or_default();
    let evidence = match context["iteration"].as_u64() {
        // The cases change the message between steps.
        _ if graph.is_tree() => Evidence::TurnStart { message, ruling: Ruling::Rules },
        Some(1) if cursor.is_none() => Evidence::TurnStart { message, ruling: Ruling::Rules },
        _ if results.is_empty() && pick.is_none() && proposal.is_none() => Evidence::Nothing,
        _ => Evidence::Batch { results: &results, proposal, pick },
    };
    let decision = decide(graph, &Hidden::NONE, cursor, evidence);
    let mut differences = Vec::new();
    let mut compare = |field, expected: String, ours: String| {
        if expected != ours {
            differences.push(Difference::new(field, expected, ours));
        }
    };
    let id = |skill: Option<SkillIx>| skill.map_or("-".to_owned(), |skill| graph.skill_id(skill).to_string());
    let expected_move = &expect["move"];
    compare("next", expect["next"].as_str().unwrap_or("-").to_owned(), id(decision.to));
    compare("by", expected_move["by"].as_str().unwrap_or_default().to_owned(), decision.by.to_string());
    compare("witness", witness(&expected_move["witness"]), our_witness(&decision));
    compare("edge", edge(expect), our_edge(&decision));
    compare("conflict", conflict(&expected_move["conflict"]), our_conflict(graph, &decision));
    compare("guards", guards(expected_move), our_guards(translated, &decision));
    compare("reachable", ids(&expect["reachable"], context["current_skill"].as_str()), hops(graph, cursor));
    compare("reachable_next", ids(&expect["reachable_next"], expect["next"].as_str()), hops(graph, decision.to));
    compare("active", ids(&expect["active"], None), decision.to.map_or(String::new(), |to| id(Some(to))));
    differences
}

fn tool_result(graph: &Graph, at: usize, result: &Value) -> ToolResult {
    let status = result["status"].as_str().map_or(Some(Status::Success), Status::from_word).expect("a status");
    let text = result["result"].as_str().unwrap_or_default();
    let value = serde_json::from_str::<Value>(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    let call = result["call_id"].as_str().map_or_else(|| format!("call-{at}"), str::to_owned);
    ToolResult::new(graph, result["tool"].as_str().expect("a tool"), call, status, value).expect("in the registry")
}

fn ids(list: &Value, but: Option<&str>) -> String {
    let ids = list.as_array().into_iter().flatten().filter_map(Value::as_str).filter(|id| Some(*id) != but);
    ids.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" ")
}

fn hops(graph: &Graph, cursor: Option<SkillIx>) -> String {
    let ids: BTreeSet<String> = graph.hops(cursor).into_iter().map(|hop| graph.skill_id(hop).to_string()).collect();
    ids.into_iter().collect::<Vec<_>>().join(" ")
}

fn witness(witness: &Value) -> String {
    match witness["text"].as_str() {
        Some(text) => format!("{text} ({})", witness["keyword"].as_str().unwrap_or_default()),
        None => String::new(),
    }
}

fn our_witness(decision: &CursorMove) -> String {
    decision.witness.as_ref().map_or(String::new(), |witness| {
        format!("{} ({})", witness.text, witness.keyword.as_deref().unwrap_or_default())
    })
}

fn edge(expect: &Value) -> String {
    match (expect["edge"].as_u64(), expect["result"].as_u64()) {
        (Some(edge), Some(result)) => format!("edge {edge} by result {result}"),
        _ => String::new(),
    }
}

fn our_edge(decision: &CursorMove) -> String {
    decision.fired.map_or(String::new(), |fired| format!("edge {} by result {}", fired.edge.position(), fired.result))
}

fn conflict(conflict: &Value) -> String {
    let target = |end: &Value| end["target"].as_str().unwrap_or_default().to_owned();
    if conflict.is_null() {
        return String::new();
    }
    let losers: Vec<String> = list(conflict, "losers").iter().map(target).collect();
    format!("{} over {}", target(&conflict["winner"]), losers.join(" "))
}

fn our_conflict(graph: &Graph, decision: &CursorMove) -> String {
    let target = |edge| graph.edge(edge).map_or(String::new(), |edge| graph.skill_id(edge.to).to_string());
    match decision.fired.filter(|_| !decision.losers.is_empty()) {
        None => String::new(),
        Some(fired) => {
            let losers: Vec<String> = decision.losers.iter().map(|loser| target(loser.edge)).collect();
            format!("{} over {}", target(fired.edge), losers.join(" "))
        }
    }
}

/// The verdicts of guards: whether each condition of each passed.
fn guards(expected: &Value) -> String {
    let shown = |guard: &Value| {
        let passed = list(guard, "conditions").iter().map(|condition| condition["passed"] == true);
        format!("{}:{}", guard["to"].as_str().unwrap_or_default(), bits(passed))
    };
    let own = Some(&expected["guard"]).filter(|guard| guard.is_object());
    let all: BTreeSet<String> = own.into_iter().chain(list(expected, "guards_closed")).map(shown).collect();
    all.into_iter().collect::<Vec<_>>().join(" ")
}

fn our_guards(translated: &Translated, decision: &CursorMove) -> String {
    let shown = |guard: &skillgraph::core::decide::GuardEvidence| {
        let passed = guard.terms.iter().map(|term| term.outcome == skillgraph::TermOutcome::Passed);
        format!("{}:{}", translated.spec.routes[guard.of.edge.position()].to, bits(passed))
    };
    // The reference tells of the guard that let the cursor move, and of those that held it back.
    let told = decision.guards.iter().filter(|guard| !guard.passed() || decision.fired == Some(guard.of));
    let all: BTreeSet<String> = told.map(shown).collect();
    all.into_iter().collect::<Vec<_>>().join(" ")
}

fn bits(passed: impl Iterator<Item = bool>) -> String {
    passed.map(|passed| if passed { '1' } else { '0' }).collect()
}
