//! Questions and answers (SPEC 10): whatever people send, and however often, what runs is what was shown and approved.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};
use skillgraph::core::graph::Graph;
use skillgraph::core::turn::{
    Answer, Carried, Input, InputError, ModelReply, Numbering, Output, PersonReply, Question, SavedTurn, Setup,
    ToolCall, ToolReturn, ToolRun, Turn,
};
use skillgraph::{GraphSpec, Status};

use crate::common;

/// One thing that happens to one of two conversations.
#[derive(Debug, Clone)]
enum Happening {
    /// The model calls `pay` that often, with these amounts; ids repeat.
    Calls(Vec<u8>),
    /// A tool returns: it asks, or is done.
    Returns { asks: bool },
    /// Somebody answers any question that was ever asked, of either conversation, with its number or fingerprint changed or not.
    Answers { which: Index, reply: u8, changed: u8 },
    /// The turn goes to storage and back.
    Stored,
    /// The same, under a graph that has another skill.
    Migrated,
}

fn happening() -> impl Strategy<Value = (bool, Happening)> {
    let what = prop_oneof![
        3 => prop::collection::vec(0..3u8, 1..4).prop_map(Happening::Calls),
        5 => any::<bool>().prop_map(|asks| Happening::Returns { asks }),
        6 => (any::<Index>(), 0..5u8, 0..8u8).prop_map(|(which, reply, changed)| Happening::Answers { which, reply, changed }),
        1 => Just(Happening::Stored),
        1 => Just(Happening::Migrated),
    ];
    (any::<bool>(), what)
}

fn setup(more: bool) -> Arc<Setup> {
    let mut skills = vec![json!({ "id": "desk", "description": "Desk", "body": "Pay.", "tools": ["pay"] })];
    if more {
        skills.insert(0, json!({ "id": "other", "description": "Other", "body": "Other." }));
    }
    let spec: GraphSpec =
        serde_json::from_value(json!({ "name": "till", "skills": skills, "entries": [{ "skill": "desk" }] }))
            .expect("a spec");
    let mut setup = common::setup(Arc::new(Graph::compile(&spec, &["pay"]).expect("a graph")));
    setup.limits.iterations = 1_000;
    Arc::new(setup)
}

/// A conversation, and which runs people have approved: the call, with these arguments.
struct Talk {
    turn: Turn,
    more: bool,
    approved: Vec<(String, Map<String, Value>)>,
}

impl Talk {
    fn new(name: &str, setup: &Arc<Setup>) -> Self {
        let before = Carried { numbering: Numbering::new(name), ..Carried::default() };
        Self { turn: Turn::start_from(setup.clone(), before, "pay"), more: false, approved: Vec::new() }
    }

    fn open_runs(&self) -> Vec<ToolRun> {
        match self.turn.poll_output() {
            Output::RunTools(runs) => runs,
            _ => Vec::new(),
        }
    }

    fn questions(&self) -> Vec<Question> {
        match self.turn.poll_output() {
            Output::Pause(questions) => questions,
            _ => Vec::new(),
        }
    }

    fn calls(&mut self, amounts: &[u8]) {
        if !matches!(self.turn.poll_output(), Output::CallModel(_)) {
            return;
        }
        let call = |amount: &u8| ToolCall::new(format!("c{amount}"), "pay", json!({ "amount": amount }).to_string());
        self.turn.handle_input(Input::ModelReplied(ModelReply::calls(amounts.iter().map(call)))).expect("awaited");
    }

    /// The first tool that runs returns. One that a person had their say on runs with what was approved, once.
    fn returns(&mut self, asks: bool) {
        let Some(run) = self.open_runs().into_iter().next() else { return };
        if run.answer.is_some() {
            let at =
                self.approved.iter().position(|(call, arguments)| *call == run.call_id && *arguments == run.arguments);
            let at = at.unwrap_or_else(|| panic!("{run:?} was not approved: {:?}", self.approved));
            self.approved.remove(at);
        }
        let returned = match asks {
            true => ToolReturn::message(&run.call_id, Status::Pending, format!("Pay {:?}?", run.arguments)),
            false => ToolReturn::message(&run.call_id, Status::Success, "paid"),
        };
        self.turn.handle_input(Input::ToolReturned(returned)).expect("awaited");
    }

    fn answer(&mut self, answer: Answer) {
        let before = self.turn.save();
        let waits = self
            .questions()
            .into_iter()
            .find(|question| question.id == answer.question && question.fingerprint == answer.fingerprint);
        let result = self.turn.handle_input(Input::PersonAnswered(answer.clone()));
        let Some(question) = waits else {
            let refused = matches!(result, Err(InputError::NoQuestion { .. } | InputError::NotAwaited { .. }));
            assert!(refused, "{answer:?} was taken for an answer: {result:?}");
            assert_eq!(before, self.turn.save(), "nothing has changed");
            return;
        };
        result.expect("it was asked");
        let arguments = match answer.reply {
            PersonReply::Approved | PersonReply::Said { .. } => question.arguments,
            PersonReply::ApprovedWith { arguments } => arguments,
            PersonReply::Denied { .. } | PersonReply::Postponed => return,
        };
        self.approved.push((question.call_id, arguments));
    }

    fn stored(&mut self, setups: &[Arc<Setup>; 2], migrates: bool) {
        let text = serde_json::to_string(&self.turn.save()).expect("JSON");
        let saved: SavedTurn = serde_json::from_str(&text).expect("data");
        self.more ^= migrates;
        let setup = setups[usize::from(self.more)].clone();
        let turn = if migrates { Turn::migrate(setup, saved) } else { Turn::restore(setup, saved) };
        self.turn = turn.expect("it can go on");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_runs_is_what_was_shown_and_approved(happenings in prop::collection::vec(happening(), 1..60)) {
        let setups = [setup(false), setup(true)];
        let mut talks = [Talk::new("one", &setups[0]), Talk::new("two", &setups[0])];
        let mut asked: Vec<Question> = Vec::new();
        for (second, what) in happenings {
            let talk = &mut talks[usize::from(second)];
            match what {
                Happening::Calls(amounts) => talk.calls(&amounts),
                Happening::Returns { asks } => talk.returns(asks),
                Happening::Stored => talk.stored(&setups, false),
                Happening::Migrated => talk.stored(&setups, true),
                Happening::Answers { .. } if asked.is_empty() => {}
                Happening::Answers { which, reply, changed } => {
                    let question = which.get(&asked);
                    let mut answer = match reply {
                        0 => question.approve(),
                        1 => question.approve_with(Map::from_iter([("amount".to_owned(), json!(99))])),
                        2 => question.reply("so it is"),
                        3 => question.deny("no"),
                        _ => question.postpone(),
                    };
                    match changed {
                        0 => answer.question = answer.question.wrapping_add(1),
                        1 => answer.fingerprint.insert(0, 'f'),
                        _ => {}
                    }
                    talk.answer(answer);
                }
            }
            for question in talk.questions() {
                if !asked.contains(&question) {
                    prop_assert!(asked.iter().all(|other| other.fingerprint != question.fingerprint));
                    asked.push(question);
                }
            }
        }
    }
}
