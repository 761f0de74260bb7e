//! Saved state that somebody has changed (M40, M41): it is refused, or what runs afterwards was offered there and stands in the
//! transcript. `SKILLGRAPH_TAMPERED=N` tries N changes; a few thousand otherwise.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use skillgraph::core::graph::Graph;
use skillgraph::core::turn::{
    CatalogAnswer, Choice, Decision, Input, Message, ModelReply, Output, Permissions, PersonReply, SavedTurn, Setup,
    Target, ToolCall, ToolReturn, ToolRun, Turn,
};
use skillgraph::{GraphSpec, Status};

use crate::common;

fn setup(permissions: bool) -> Arc<Setup> {
    let spec: GraphSpec = serde_json::from_value(json!({
        "name": "desk",
        "skills": [
            { "id": "desk", "description": "Desk", "body": "Ask.", "tools": ["find", "pay"],
              "steps": [{ "tool": "find", "note": "first" }, { "tool": "pay", "note": "then" }] },
            { "id": "vault", "description": "Vault", "body": "Keys.", "tools": ["open"] },
            { "id": "notes", "description": "Notes", "body": "Note.", "tools": ["note"] },
            { "id": "secret", "description": "Secret", "body": "Hush.", "tools": ["burn"] },
        ],
        "entries": [{ "skill": "desk" }],
        "routes": [
            { "from": "desk", "to": "vault", "on": ["pay"], "where": [{ "path": "paid", "op": "==", "value": true }] },
            { "from": "vault", "to": "secret", "pick": true },
        ],
        "governor": {},
    }))
    .expect("a spec");
    let names = ["find", "pay", "open", "note", "burn"];
    let mut setup = common::setup(Arc::new(Graph::compile(&spec, &names).unwrap_or_else(|report| panic!("{report}"))));
    setup.permissions = permissions.then(Permissions::default);
    Arc::new(setup)
}

/// Hides `secret`, and lets nobody burn.
fn decide(turn: &Turn) -> Input {
    let Output::Authorize(checks) = turn.poll_output() else { panic!("nobody is asked") };
    let denied = |target: &Target| match target {
        Target::Skill(skill) => *skill == "secret",
        Target::Call { tool, .. } => *tool == "burn",
        other => panic!("{other:?}"),
    };
    let decisions =
        checks.iter().map(|check| if denied(&check.target) { Decision::denied("no") } else { Decision::Allowed });
    Input::Authorized(decisions.collect())
}

fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall::new(id, name, arguments.to_string())
}

/// Turns as they are saved on the way, as JSON.
fn saved(permissions: bool) -> Vec<Value> {
    let mut saves = Vec::new();
    let mut turn = Turn::start(setup(permissions), Default::default(), "hello");
    let mut replies = [
        vec![call("a", "find", json!({ "n": 1 })), call("b", "read_skill", json!({ "id": "notes" }))],
        vec![call("c", "pay", json!({ "amount": 5 })), call("d", "note", json!({})), call("e", "burn", json!({}))],
        vec![call("f", "open", json!({ "door": [1, 2] }))],
    ]
    .into_iter();
    let mut asked = false;
    for _ in 0..60 {
        saves.push(serde_json::to_value(turn.save()).expect("JSON"));
        let input = match turn.poll_output() {
            Output::Authorize(_) => decide(&turn),
            Output::CallModel(_) => {
                Input::ModelReplied(replies.next().map_or(ModelReply::text("done"), ModelReply::calls))
            }
            Output::RunTools(runs) => {
                let run = &runs[0];
                let asks = run.name == "pay" && run.answer.is_none();
                asked |= asks;
                Input::ToolReturned(match asks {
                    true => ToolReturn::message(&run.call_id, Status::Pending, "Pay?"),
                    false => ToolReturn::new(&run.call_id, Status::Success, json!({ "paid": true })),
                })
            }
            Output::Pause(questions) => Input::PersonAnswered(questions[0].approve()),
            Output::Done(_) => break,
            other => panic!("{other:?}"),
        };
        turn.handle_input(input).expect("awaited");
    }
    assert!(asked && turn.cursor().is_some_and(|cursor| cursor == "vault"), "the script does what it should");
    saves
}

/// A generator of numbers: the same from the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }
}

fn pointers(value: &Value, at: String, all: &mut Vec<String>) {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| pointers(value, format!("{at}/{}", escaped(key)), all))
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(key, value)| pointers(value, format!("{at}/{key}"), all))
        }
        _ => {}
    }
    all.push(at);
}

/// Changes one thing.
fn change(saved: &mut Value, dice: &mut Dice) {
    let mut all = Vec::new();
    pointers(saved, String::new(), &mut all);
    let at = all[dice.roll(all.len())].clone();
    let other = saved.pointer(&all[dice.roll(all.len())]).cloned().unwrap_or_default();
    let numbers = [
        json!(0),
        json!(1),
        json!(2),
        json!(-1),
        json!(u32::MAX),
        json!(u64::MAX),
        json!(4_294_967_294_u64),
        json!(1.5),
    ];
    let Some(value) = saved.pointer_mut(&at) else { return };
    match (dice.roll(6), &mut *value) {
        (0, _) => *value = other,
        (1, Value::Array(list)) if !list.is_empty() => {
            let (from, to) = (dice.roll(list.len()), dice.roll(list.len()));
            list.swap(from, to);
        }
        (2, Value::Array(list)) if !list.is_empty() => {
            let doubled = list[dice.roll(list.len())].clone();
            list.push(doubled);
        }
        (3, Value::Array(list)) if !list.is_empty() => drop(list.remove(dice.roll(list.len()))),
        (4, Value::Object(object)) if !object.is_empty() => {
            let key = object.keys().nth(dice.roll(object.len())).cloned().unwrap_or_default();
            object.remove(&key);
        }
        (_, Value::Number(_)) => *value = numbers[dice.roll(numbers.len())].clone(),
        (_, Value::String(text)) => {
            let others = ["desk", "vault", "secret", "burn", "open", "find", "", "a", "read_skill"];
            *text = others[dice.roll(others.len())].to_owned();
        }
        (_, Value::Bool(truth)) => *truth = !*truth,
        (_, value) => *value = Value::Null,
    }
}

/// The tools that may run where the turn is.
fn allowed(setup: &Setup, turn: &Turn, opened: &BTreeSet<String>, who: bool) -> BTreeSet<String> {
    let graph = &setup.graph;
    let cursor = turn.cursor().map(|cursor| cursor.to_string());
    let open = cursor.into_iter().chain(opened.iter().cloned());
    let skills =
        open.filter(|skill| !(who && skill == "secret")).filter_map(|skill| graph.skill(graph.find_skill(&skill)?));
    skills.flat_map(|skill| &skill.tools).map(|tool| graph.tool_id(*tool).to_string()).collect()
}

fn assert_run_is_called(run: &ToolRun, turn: &Turn) {
    let Some(Message::Assistant { calls, .. }) = turn.transcript().last() else { panic!("{run:?} was not called") };
    let called = calls.iter().find(|call| call.id == run.call_id).unwrap_or_else(|| panic!("{run:?} was not called"));
    assert_eq!(run.name, *called.name);
    match &run.answer {
        Some(PersonReply::ApprovedWith { arguments }) => assert_eq!(*arguments, run.arguments),
        _ => assert_eq!(called.parsed_arguments().expect("arguments"), run.arguments),
    }
}

/// Goes on with a turn that came back, to its end: nothing runs that is not offered, permitted and called.
fn go_on(mut turn: Turn, setup: &Setup, permissions: bool) {
    let opened = BTreeSet::from(["notes".to_owned()]);
    for _ in 0..40 {
        let input = match turn.poll_output() {
            Output::Authorize(_) => decide(&turn),
            Output::CallModel(request) => {
                let next =
                    request.tools.first().map(|tool| ModelReply::calls([call("z", tool.name.as_str(), json!({}))]));
                let may_call = request.iteration < 6;
                Input::ModelReplied(next.filter(|_| may_call).unwrap_or_else(|| ModelReply::text("done")))
            }
            Output::RunTools(runs) => {
                let allowed = allowed(setup, &turn, &opened, permissions);
                for run in &runs {
                    assert!(allowed.contains(run.name.as_str()), "{run:?} of {allowed:?}");
                    assert_run_is_called(run, &turn);
                }
                Input::ToolReturned(ToolReturn::new(&runs[0].call_id, Status::Success, json!({ "paid": true })))
            }
            Output::Pause(questions) => Input::PersonAnswered(questions[0].approve()),
            Output::Score(_) => Input::ScoreFailed { reason: "no".into() },
            Output::Decide(_) => Input::Decided(Choice::None),
            Output::AskCatalog(questions) => Input::CatalogAnswered(vec![CatalogAnswer::Available; questions.len()]),
            Output::Done(_) => return,
        };
        if turn.handle_input(input).is_err() {
            turn.handle_input(Input::Cancel).expect("it has not ended");
        }
    }
}

#[test]
fn m40_what_was_changed_is_refused_or_runs_nothing_that_was_not_offered() {
    let tries: usize = std::env::var("SKILLGRAPH_TAMPERED").ok().and_then(|tries| tries.parse().ok()).unwrap_or(6_000);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let worlds = [false, true].map(|permissions| (permissions, setup(permissions), saved(permissions)));
    let (mut read, mut taken) = (0, 0);
    for number in 0..tries {
        let (permissions, setup, saves) = &worlds[number % 2];
        let mut saved = saves[dice.roll(saves.len())].clone();
        for _ in 0..=dice.roll(2) {
            change(&mut saved, &mut dice);
        }
        let Ok(saved) = serde_json::from_str::<SavedTurn>(&saved.to_string()) else { continue };
        read += 1;
        for migrates in [false, true] {
            let turn = match migrates {
                true => Turn::migrate(setup.clone(), saved.clone()),
                false => Turn::restore(setup.clone(), saved.clone()),
            };
            if let Ok(turn) = turn {
                taken += 1;
                go_on(turn, setup, *permissions);
            }
        }
    }
    assert!(read > tries / 20 && taken > tries / 40, "{read} of {tries} could be read, {taken} were taken");
}
