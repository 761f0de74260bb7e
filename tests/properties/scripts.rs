//! Random behaviour of everybody around a turn: the model, the tools, scorers, authorizers, and people who are asked.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use skillgraph::core::score::ScorerTraits;
use skillgraph::core::turn::{
    Carried, Check, Choice, Decision, Input, ModelReply, Question, ScoreRequest, Scores, Setup, StopReason, Strictness,
    Target, ToolCall, Turn,
};
use skillgraph::{Answer, Status};

use crate::graphs::{SKILLS, TOOLS};

pub fn reply() -> impl Strategy<Value = ModelReply> {
    let name = prop_oneof![
        6 => (0..TOOLS).prop_map(|tool| format!("t{tool}")),
        3 => Just("read_skill".to_owned()),
        1 => select(vec!["list_skills", "skip_step", "nothing", ""]).prop_map(str::to_owned),
    ];
    let arguments = prop_oneof![
        4 => (0..7usize).prop_map(|skill| json!({ "id": format!("s{skill}"), "reason": "because" }).to_string()),
        2 => Just(String::new()),
        1 => select(vec!["null", "[]", "{\"id\":", "\"x\"", "{\"id\": 3}", "\u{0}"]).prop_map(str::to_owned),
    ];
    let id = select(vec!["a", "b", "c", "d", "e", ""]);
    let call = (id, name, arguments).prop_map(|(id, name, arguments)| ToolCall::new(id, name, arguments));
    let stop = select(vec![
        StopReason::EndTurn,
        StopReason::ToolCalls,
        StopReason::ToolCalls,
        StopReason::MaxTokens,
        StopReason::Refusal,
        StopReason::Other("pause_turn".into()),
    ]);
    let calls = prop_oneof![4 => prop::collection::vec(call, 1..4), 1 => Just(Vec::new())];
    (select(vec!["", "words"]), calls, stop).prop_map(|(text, calls, stop)| ModelReply {
        text: text.into(),
        calls,
        stop,
        usage: None,
        thoughts: Vec::new(),
    })
}

/// What a tool comes back with, by the order in which the calls are made.
#[derive(Debug, Clone)]
pub struct ReturnPlan {
    pub status: Status,
    pub text: String,
    pub proposal: Option<usize>,
}

pub fn return_plan() -> impl Strategy<Value = ReturnPlan> {
    let status = prop_oneof![3 => Just(Status::Success), 2 => select(&Status::ALL)];
    let text = prop_oneof![3 => Just("found".to_owned()), 1 => Just(String::new()), 1 => Just("x".repeat(200))];
    (status, text, prop::option::weighted(0.2, 0..7usize)).prop_map(|(status, text, proposal)| ReturnPlan {
        status,
        text,
        proposal,
    })
}

#[derive(Debug, Clone)]
pub struct Script {
    pub message: String,
    pub replies: Vec<ModelReply>,
    pub returns: Vec<ReturnPlan>,
    /// Tools finish last first.
    pub reversed: bool,
    /// The turn is cancelled instead of the output of that number.
    pub cancel_at: Option<usize>,
    pub iterations: u32,
    pub start: StartPlan,
    pub permissions: Option<PermissionPlan>,
    /// What people say who are asked, in the order in which they are.
    pub answers: Vec<AnswerPlan>,
}

/// Which skills are hidden, and which tools may not be run.
#[derive(Debug, Clone)]
pub struct PermissionPlan {
    pub hidden: BTreeSet<usize>,
    pub denied: BTreeSet<usize>,
}

impl PermissionPlan {
    /// What an authorizer says by the plan; as long as it does not `hide`, every skill may be seen.
    pub fn decide(&self, check: &Check, hide: bool) -> Decision {
        let among =
            |names: &BTreeSet<usize>, kind: char, name: &str| names.iter().any(|at| format!("{kind}{at}") == name);
        let denied = match &check.target {
            Target::Skill(skill) => hide && among(&self.hidden, 's', skill.as_str()),
            Target::Call { tool, .. } => among(&self.denied, 't', tool.as_str()),
            other => panic!("an unknown target: {other:?}"),
        };
        if denied { Decision::denied("no") } else { Decision::Allowed }
    }
}

/// What a person says.
#[derive(Debug, Clone, Copy)]
pub enum AnswerPlan {
    Approve,
    Reply,
    Deny,
    Postpone,
}

impl AnswerPlan {
    pub fn to(self, question: &Question) -> Answer {
        match self {
            AnswerPlan::Approve => question.approve(),
            AnswerPlan::Reply => question.reply("so it is"),
            AnswerPlan::Deny => question.deny("no"),
            AnswerPlan::Postpone => question.postpone(),
        }
    }
}

/// How the turn starts, and what a scorer and a decider say.
#[derive(Debug, Clone)]
pub struct StartPlan {
    pub strictness: Strictness,
    /// The skill of the last turn; not all of them are in the graph.
    pub inherited: Option<usize>,
    pub decider: Option<Choice>,
    pub scores: Vec<f64>,
}

pub fn start_plan() -> impl Strategy<Value = StartPlan> {
    let strictness = select(&[Strictness::Assist, Strictness::Assist, Strictness::Guard, Strictness::Rails]);
    let chosen = (0..7usize).prop_map(|skill| Choice::Skill(format!("s{skill}").into()));
    let decider = prop::option::of(prop_oneof![2 => chosen, 1 => Just(Choice::Stay), 1 => Just(Choice::None)]);
    let score = select(&[0.0, 0.1, 0.5, 1.0, f64::NAN, f64::INFINITY]);
    (strictness, prop::option::of(0..7usize), decider, prop::collection::vec(score, 0..7))
        .prop_map(|(strictness, inherited, decider, scores)| StartPlan { strictness, inherited, decider, scores })
}

impl StartPlan {
    /// The turn's start, up to the first offer: whoever is asked answers by the plan.
    pub fn begin(&self, setup: &Arc<Setup>, message: &str) -> Turn {
        let cursor = self.inherited.map(|skill| format!("s{skill}").into());
        Turn::start_from(setup.clone(), Carried { cursor, ..Carried::default() }, message)
    }

    pub fn scores(&self, request: &ScoreRequest) -> Input {
        if self.scores.is_empty() {
            return Input::ScoreFailed { reason: "no scores".into() };
        }
        let scores = (0..request.candidates.len()).map(|at| self.scores[at % self.scores.len()]).collect();
        Input::Scored(Scores { scorer: "random".into(), scores, traits: ScorerTraits::default() })
    }
}

pub fn permission_plan() -> impl Strategy<Value = PermissionPlan> {
    (prop::collection::btree_set(0..SKILLS, 0..4), prop::collection::btree_set(0..TOOLS, 0..2))
        .prop_map(|(hidden, denied)| PermissionPlan { hidden, denied })
}

fn answer_plan() -> impl Strategy<Value = AnswerPlan> {
    select(&[AnswerPlan::Approve, AnswerPlan::Reply, AnswerPlan::Deny, AnswerPlan::Postpone])
}

pub fn script() -> impl Strategy<Value = Script> {
    let message = prop_oneof![
        2 => (0..6usize).prop_map(|word| format!("please word{word} now")),
        1 => "\\PC{0,30}",
    ];
    let replies = prop::collection::vec(reply(), 1..8);
    let returns = prop::collection::vec(return_plan(), 1..6);
    let cancel_at = prop::option::weighted(0.2, 0..12usize);
    let around = (start_plan(), prop::option::of(permission_plan()), prop::collection::vec(answer_plan(), 0..4));
    (message, replies, returns, any::<bool>(), cancel_at, 1..6u32, around).prop_map(
        |(message, replies, returns, reversed, cancel_at, iterations, (start, permissions, answers))| Script {
            start,
            permissions,
            answers,
            message,
            replies,
            returns,
            reversed,
            cancel_at,
            iterations,
        },
    )
}
