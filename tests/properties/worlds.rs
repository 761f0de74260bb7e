//! Two worlds that differ in a hidden skill alone: its id, its texts, its tools (M20–M23). From when it is hidden, nothing that is sent
//! tells one from the other.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use skillgraph::core::graph::Graph;
use skillgraph::core::turn::{
    Carried, Decision, Input, ModelReply, Output, Permissions, SavedTurn, Setup, Target, ToolCall, ToolReturn, Turn,
};
use skillgraph::{GraphSpec, Message, Status};

use crate::common;

/// How the hidden skill is called in a world.
#[derive(Debug, Clone, Copy)]
struct World {
    id: &'static str,
    tool: &'static str,
    text: &'static str,
}

const WORLDS: [World; 2] = [
    World { id: "alpha", tool: "open_alpha", text: "Where the alphas are." },
    World { id: "the-betas", tool: "b", text: "Ask [beta] first, always." },
];

/// One thing that the model calls; `Hidden` is called by the name that it has in the world.
#[derive(Debug, Clone, Copy)]
enum Named {
    Hidden,
    Other,
    Unknown,
}

#[derive(Debug, Clone)]
enum Act {
    Picks(Named),
    Calls(Named),
    Skips,
    Lists,
    Answers,
    /// The turn goes to storage, and is restored for the same person.
    Stored,
}

fn act() -> impl Strategy<Value = Act> {
    let named = || select(&[Named::Hidden, Named::Hidden, Named::Other, Named::Unknown]);
    prop_oneof![
        4 => named().prop_map(Act::Picks),
        4 => named().prop_map(Act::Calls),
        1 => Just(Act::Skips),
        1 => Just(Act::Lists),
        2 => Just(Act::Answers),
        1 => Just(Act::Stored),
    ]
}

fn setup(world: World, open: bool, system_prompt: bool) -> Arc<Setup> {
    let surface = if system_prompt || !open { "system_prompt" } else { "tool_result" };
    let mut hidden = json!({
        "id": world.id, "description": world.text, "body": world.text, "tools": [world.tool, "find"], "surface": surface,
    });
    let mut routes = vec![json!({ "from": "desk", "to": "other", "on": ["find"], "is": ["absent"] })];
    if !open {
        hidden["steps"] = json!([{ "tool": world.tool, "note": world.text }, { "tool": "find", "note": "then" }]);
        routes.push(json!({ "from": "desk", "to": world.id, "pick": true }));
        routes.push(json!({ "from": "desk", "to": world.id, "on": ["pay"] }));
        routes.push(json!({ "from": world.id, "to": "other", "on": [world.tool], "is": ["failure"] }));
    }
    let spec: GraphSpec = serde_json::from_value(json!({
        "name": "g",
        "skills": [
            { "id": "desk", "description": "Desk", "body": "Ask.", "tools": ["find", "pay"] },
            hidden,
            { "id": "other", "description": "Other", "body": "Other.", "tools": ["find"] },
        ],
        "entries": [{ "skill": "desk" }],
        "routes": routes,
        "governor": { "then": "warn" },
    }))
    .expect("a spec");
    let graph = Graph::compile(&spec, &["find", "pay", world.tool]).unwrap_or_else(|report| panic!("{report}"));
    let mut setup = common::setup(Arc::new(graph));
    setup.permissions = Some(Permissions::default());
    setup.limits.iterations = 100;
    Arc::new(setup)
}

/// What is sent from when the skill is hidden on.
fn sent(world: World, setup: &Arc<Setup>, acts: &[Act], hidden_from: usize) -> Vec<String> {
    let mut turn = Turn::start(setup.clone(), Default::default(), "hello");
    let mut sent = Vec::new();
    let mut is_hidden = hidden_from == 0;
    let mut acts = acts.iter().enumerate();
    loop {
        let input = match turn.poll_output() {
            Output::Authorize(checks) => {
                let denied =
                    |target: &Target| is_hidden && matches!(target, Target::Skill(skill) if *skill == world.id);
                let decide = |target| if denied(target) { Decision::denied("no") } else { Decision::Allowed };
                Input::Authorized(checks.iter().map(|check| decide(&check.target)).collect())
            }
            Output::RunTools(runs) => {
                let status = if turn.iteration().is_multiple_of(3) { Status::Failure } else { Status::Success };
                Input::ToolReturned(ToolReturn::message(&runs[0].call_id, status, "came back"))
            }
            Output::Done(_) => {
                let before: Carried = turn.carry();
                turn = Turn::start_from(setup.clone(), before, "and then?");
                continue;
            }
            Output::CallModel(request) => {
                if is_hidden {
                    let tools: Vec<String> = request.tools.iter().map(|tool| format!("{tool:?}")).collect();
                    let messages: Vec<&Message> = request.messages.iter().collect();
                    sent.push(format!(
                        "{}\n{tools:?}\n{}",
                        request.system,
                        serde_json::to_string(&messages).expect("JSON")
                    ));
                }
                let Some((at, act)) = acts.next() else { return sent };
                if at + 1 == hidden_from {
                    // From the next time that somebody is asked: at once, by way of storage.
                    is_hidden = true;
                    turn = restored(&turn, setup);
                    continue;
                }
                // What cannot be seen has no name: the model calls both worlds' names alike.
                let name = |of: fn(World) -> &'static str, named: Named, other: &'static str| match named {
                    Named::Hidden if is_hidden => of(WORLDS[0]),
                    Named::Hidden => of(world),
                    Named::Other => other,
                    Named::Unknown => "nobody",
                };
                let call = |name: &str, arguments: serde_json::Value| {
                    Input::ModelReplied(ModelReply::calls([ToolCall::new(
                        format!("c{at}"),
                        name,
                        arguments.to_string(),
                    )]))
                };
                match act {
                    Act::Picks(named) => call("read_skill", json!({ "id": name(|world| world.id, *named, "other") })),
                    Act::Calls(named) => call(name(|world| world.tool, *named, "pay"), json!({})),
                    Act::Skips => call("skip_step", json!({ "reason": "known" })),
                    Act::Lists => call("list_skills", json!({})),
                    Act::Answers => Input::ModelReplied(ModelReply::text("so it is")),
                    Act::Stored => {
                        turn = restored(&turn, setup);
                        continue;
                    }
                }
            }
            other => panic!("{other:?}"),
        };
        turn.handle_input(input).expect("awaited");
    }
}

fn restored(turn: &Turn, setup: &Arc<Setup>) -> Turn {
    let text = serde_json::to_string(&turn.save()).expect("JSON");
    let saved: SavedTurn = serde_json::from_str(&text).expect("data");
    Turn::restore(setup.clone(), saved).expect("the same graph")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn m22_nothing_that_is_sent_tells_what_is_hidden(
        acts in prop::collection::vec(act(), 1..14),
        hidden_from in 0..14usize,
        open in any::<bool>(),
        in_prompt in any::<bool>(),
    ) {
        let [one, other] = WORLDS.map(|world| sent(world, &setup(world, open, in_prompt), &acts, hidden_from));
        for request in &one {
            // A guess of the model's, after that, is its own word; what it said before is not.
            let guessed = acts.iter().skip(hidden_from).any(|act| matches!(act, Act::Calls(Named::Hidden)));
            prop_assert!(guessed || !request.contains("alpha"), "{}", request);
        }
        prop_assert_eq!(one, other);
    }
}
