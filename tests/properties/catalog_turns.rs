//! A catalog in a turn (SPEC 11), over random catalogs, models and hosts: what is offered runs and nothing else does, bounds hold
//! after every step, and a turn that was stored in between is the same.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use skillgraph::core::catalog::{Catalog, CatalogEntry, Disclosure, Reset, SkillPolicy, ToolHeader};
use skillgraph::core::turn::{
    Carried, CatalogAnswer, CatalogQuestion, CatalogTool, Input, Limits, ModelReply, Output, SavedTurn, Setup,
    ToolReturn, ToolSpec, Turn,
};
use skillgraph::{Graph, GraphSpec, Status, ToolCall, ToolId};

/// Tools that the agent has itself, and tools that only a host knows.
const OWN: [&str; 4] = ["a0", "a1", "a2", "a3"];
const FOREIGN: [&str; 4] = ["b0", "b1", "b2", "b3"];
const KEYS: [&str; 4] = ["one", "two:x", "three", "gone"];

fn spec(name: &str) -> Arc<ToolSpec> {
    let parameters = json!({ "type": "object", "properties": {} });
    Arc::new(ToolSpec { name: ToolId::from(name), description: "Works.".into(), parameters })
}

/// Three skills; the last key is of none.
fn setup() -> impl Strategy<Value = Arc<Setup>> {
    let tools = || prop::sample::subsequence([&OWN[..], &FOREIGN[..]].concat(), 0..=8);
    let skill = (tools(), tools(), any::<bool>());
    let policy = (1..4usize, 1..4usize, 1..6usize, any::<bool>(), any::<bool>());
    let preopened = prop::sample::subsequence(KEYS[..3].to_vec(), 0..=2);
    (prop::array::uniform3(skill), policy, preopened).prop_map(|(skills, policy, preopened)| {
        let (max_open_skills, max_bound_tools_per_skill, max_bound_tools_total, search, reset) = policy;
        let entries = skills.into_iter().zip(KEYS).map(|((tools, default, may_be_away), key)| CatalogEntry {
            key: key.into(),
            header: format!("about {key}"),
            default_bind: default.into_iter().filter(|name| tools.contains(name)).map(str::to_owned).collect(),
            tools: tools.iter().map(|name| ToolHeader { name: (*name).into(), description: None }).collect(),
            may_be_away,
            ..CatalogEntry::default()
        });
        let policy = SkillPolicy {
            max_open_skills,
            max_bound_tools_per_skill,
            max_bound_tools_total,
            disclosure: if search { Disclosure::Search } else { Disclosure::Catalog },
            reset: if reset { Reset::Turn } else { Reset::Never },
            ..SkillPolicy::DEFAULT
        };
        let catalog = Catalog::new(policy, entries.collect()).and_then(|catalog| catalog.preopen(preopened));
        let mut graph = GraphSpec::new("random");
        graph.catalog = Some(Default::default());
        let graph = Graph::compile(&graph, &OWN).expect("a graph").with_tools(FOREIGN.map(ToolId::from));
        Arc::new(Setup {
            limits: Limits { iterations: 6, ..Limits::default() },
            catalog: Some(catalog.expect("a catalog")),
            ..Setup::new(Arc::new(graph), OWN.map(spec).into())
        })
    })
}

/// What the model does in one reply.
fn reply() -> impl Strategy<Value = Vec<(String, Value)>> {
    let names = || prop::collection::vec(select([&OWN[..], &FOREIGN[..], &["zz"]].concat()), 1..4);
    let key = || select(KEYS.to_vec());
    let call = prop_oneof![
        3 => (key(), prop::option::of(select(vec!["x", "a0 and b1"])))
            .prop_map(|(key, query)| ("open_skill".to_owned(), json!({ "key": key, "query": query }))),
        3 => (key(), names()).prop_map(|(key, tools)| ("bind_skill_tools".to_owned(), json!({ "key": key, "tools": tools }))),
        1 => select(vec!["one", "nothing", ""]).prop_map(|query| ("search_skills".to_owned(), json!({ "query": query }))),
        3 => select([&OWN[..], &FOREIGN[..], &["zz"]].concat()).prop_map(|name| (name.to_owned(), json!({}))),
    ];
    prop::collection::vec(call, 0..4)
}

#[derive(Debug, Clone)]
struct Script {
    turns: Vec<Vec<Vec<(String, Value)>>>,
    /// How the host answers, one after the other, over and over.
    answers: Vec<Index>,
}

fn script() -> impl Strategy<Value = Script> {
    let turn = prop::collection::vec(reply(), 1..5);
    (prop::collection::vec(turn, 1..4), prop::collection::vec(any::<Index>(), 1..7))
        .prop_map(|(turns, answers)| Script { turns, answers })
}

/// A host that says yes mostly, and sometimes no, something else, or nothing.
fn answer(questions: Vec<CatalogQuestion>, how: &Index) -> Vec<CatalogAnswer> {
    let tools = |names: Vec<String>| {
        let told = names.iter().map(|name| CatalogTool::new(spec(name), Vec::new()));
        told.collect::<Vec<_>>()
    };
    let keep = if how.index(7) == 0 { 0 } else { questions.len() };
    let answers = questions.into_iter().map(|question| match (how.index(9), question) {
        (0, _) => CatalogAnswer::Failed { reason: "it failed".into() },
        (1, CatalogQuestion::Available { .. }) => CatalogAnswer::Unavailable { reason: "away".into() },
        (2, _) => CatalogAnswer::Available,
        (_, CatalogQuestion::Available { .. }) => CatalogAnswer::Available,
        (3, CatalogQuestion::Open { .. }) => {
            CatalogAnswer::Opened { prompt: "Do.".into(), ranked: vec!["b1".into(), "zz".into()], tools: Vec::new() }
        }
        (_, CatalogQuestion::Open { tools: names, .. }) => {
            CatalogAnswer::Opened { prompt: "Do.".into(), ranked: Vec::new(), tools: tools(names) }
        }
        (_, CatalogQuestion::Bind { tools: names, .. }) => CatalogAnswer::Bound { tools: tools(names) },
        _ => CatalogAnswer::Failed { reason: "unknown".into() },
    });
    answers.take(keep).collect()
}

/// What a call of each tool comes to: the names of those that run.
fn runs_when_called(turn: &Turn, name: &str) -> bool {
    let mut turn = turn.clone();
    let calls = [ToolCall::new("probe", name, "{}")];
    turn.handle_input(Input::ModelReplied(ModelReply::calls(calls))).expect("a reply is awaited");
    matches!(turn.poll_output(), Output::RunTools(runs) if runs[0].name == *name)
}

fn check(setup: &Arc<Setup>, turn: &Turn) -> Result<(), TestCaseError> {
    let policy = setup.catalog.as_ref().expect("a catalog").policy();
    let opened = turn.catalog().opened();
    prop_assert!(opened.skills().len() <= policy.max_open_skills);
    prop_assert!(opened.tools().len() <= policy.max_bound_tools_total);
    for key in KEYS {
        prop_assert!(opened.tools_of(key).count() <= policy.max_bound_tools_per_skill);
    }
    let saved = serde_json::to_string(&turn.save()).expect("JSON");
    let saved: SavedTurn = serde_json::from_str(&saved).expect("a turn");
    let restored = Turn::restore(setup.clone(), saved).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(restored.poll_output(), turn.poll_output());
    prop_assert_eq!(restored.catalog(), turn.catalog());
    if let Output::CallModel(request) = turn.poll_output() {
        let offered = request.tool_names();
        for name in OWN.iter().chain(&FOREIGN) {
            let bound = opened.tools().any(|bound| bound == *name);
            prop_assert_eq!(bound, offered.contains(name), "what is bound is offered: {}", name);
            prop_assert_eq!(bound, runs_when_called(turn, name), "what is offered runs: {}", name);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_bound_is_offered_runs_and_is_kept(setup in setup(), script in script()) {
        let mut before = Carried::default();
        let mut answers = script.answers.iter().cycle();
        for replies in script.turns {
            let mut replies = replies.into_iter();
            let mut turn = Turn::start_from(setup.clone(), before, "go");
            loop {
                check(&setup, &turn)?;
                let input = match turn.poll_output() {
                    Output::AskCatalog(questions) => {
                        prop_assert!(!questions.is_empty(), "nobody is asked nothing");
                        Input::CatalogAnswered(answer(questions, answers.next().expect("a cycle")))
                    }
                    Output::CallModel(_) => {
                        let calls = replies.next().unwrap_or_default().into_iter().enumerate();
                        let calls: Vec<ToolCall> =
                            calls.map(|(at, (name, arguments))| ToolCall::new(format!("c{at}"), name, arguments.to_string())).collect();
                        let reply = if calls.is_empty() { ModelReply::text("done") } else { ModelReply::calls(calls) };
                        Input::ModelReplied(reply)
                    }
                    Output::RunTools(runs) => Input::ToolReturned(ToolReturn::message(&runs[0].call_id, Status::Success, "ok")),
                    Output::Done(_) => break,
                    other => return Err(TestCaseError::fail(format!("{other:?}"))),
                };
                turn.handle_input(input).expect("it was awaited");
            }
            before = turn.carry();
        }
    }
}
