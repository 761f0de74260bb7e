//! A host that follows a script, and watches whatever passes.

use std::sync::Arc;

use serde_json::{Value, json};
use skillgraph::core::decl::Trigger;
use skillgraph::core::graph::Graph;
use skillgraph::core::turn::{
    Carried, Choice, Event, Input, Limits, Message, ModelReply, ModelRequest, Output, Permissions, Proposal, SavedTurn,
    Setup, ToolCall, ToolReturn, ToolRun, Transcript, Turn,
};
use skillgraph::{Cause, Outcome, SkillId};

use crate::common::{self, all_text, assert_paired};
use crate::graphs::TOOLS;
use crate::scripts::{AnswerPlan, Script};

/// When the turn goes to storage and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    Never,
    /// Before every output and between tool results.
    Always,
    /// Before the output of that number, and from then on the script's skills are hidden.
    OnceThenHide(usize),
}

/// A run, and what was seen of it from outside.
#[derive(Debug, PartialEq)]
pub struct Run {
    pub outcome: Outcome,
    pub transcript: Transcript,
    /// What the next turn would take over.
    pub carried: Carried,
    pub events: Vec<Event>,
    /// For each batch: the tools that were offered, and those that ran.
    pub batches: Vec<(Vec<String>, Vec<String>)>,
    pub requests: usize,
}

pub struct Host<'a> {
    graph: &'a Arc<Graph>,
    script: &'a Script,
    setup: Arc<Setup>,
    storage: Storage,
    hides: bool,
    /// What a model might call is tried at every request, on a copy of the turn.
    probes: bool,
    turn: Turn,
    offered: Vec<String>,
    returned: usize,
    answered: usize,
    run: Run,
}

/// Runs the script.
pub fn run(graph: &Arc<Graph>, script: &Script, storage: Storage) -> Run {
    Host::new(graph, script, storage).finish()
}

/// Runs the script, and tries at every request whatever a model might call.
pub fn run_and_probe(graph: &Arc<Graph>, script: &Script) -> Run {
    let mut host = Host::new(graph, script, Storage::Never);
    host.probes = true;
    host.finish()
}

impl<'a> Host<'a> {
    fn new(graph: &'a Arc<Graph>, script: &'a Script, storage: Storage) -> Self {
        let setup = Arc::new(Setup {
            system: "Host.".into(),
            limits: Limits { iterations: script.iterations, result_characters: 100 },
            strictness: script.start.strictness,
            decider: script.start.decider.is_some(),
            permissions: script.permissions.is_some().then(Permissions::default),
            catalog: None,
            ..common::setup(graph.clone())
        });
        Self {
            graph,
            script,
            turn: script.start.begin(&setup, &script.message),
            setup,
            storage,
            hides: !matches!(storage, Storage::OnceThenHide(_)),
            probes: false,
            offered: Vec::new(),
            returned: 0,
            answered: 0,
            run: Run {
                outcome: Outcome::Cancelled,
                transcript: Transcript::new(),
                carried: Carried::default(),
                events: Vec::new(),
                batches: Vec::new(),
                requests: 0,
            },
        }
    }

    fn finish(mut self) -> Run {
        for output in 0.. {
            self.store(output);
            self.authorize();
            self.run.events.extend(std::iter::from_fn(|| self.turn.poll_event()));
            let is_over = matches!(self.turn.poll_output(), Output::Done(_));
            if self.script.cancel_at == Some(output) && !is_over {
                self.tell(Input::Cancel);
                continue;
            }
            match self.turn.poll_output() {
                Output::Score(request) => {
                    self.assert_unsaid(&format!("{:?}", request.candidates));
                    self.tell(self.script.start.scores(&request));
                }
                Output::Decide(request) => {
                    self.assert_unsaid(&format!("{:?}", request.options));
                    self.tell(Input::Decided(self.script.start.decider.clone().unwrap_or(Choice::None)));
                }
                Output::CallModel(request) => self.call_model(&request),
                Output::RunTools(runs) => self.run_tools(&runs),
                Output::Pause(questions) => {
                    let question = questions.first().expect("a question");
                    // Who has said all that the script has for them says no: a tool could ask for ever.
                    let plan = self.script.answers.get(self.answered).copied().unwrap_or(AnswerPlan::Deny);
                    self.answered += 1;
                    self.tell(Input::PersonAnswered(plan.to(question)));
                }
                Output::Done(outcome) => {
                    self.run.outcome = outcome;
                    self.run.transcript = self.turn.transcript().clone();
                    self.run.carried = self.turn.carry();
                    return self.run;
                }
                other => panic!("an unknown output: {other:?}"),
            }
        }
        unreachable!("a turn ends")
    }

    fn tell(&mut self, input: Input) {
        self.turn.handle_input(input).expect("it is awaited");
    }

    fn store(&mut self, output: usize) {
        if self.storage == Storage::Always {
            self.turn = restored(&self.turn, &self.setup);
        }
        if self.storage == Storage::OnceThenHide(output) {
            self.hides = true;
            self.turn = restored(&self.turn, &self.setup);
        }
    }

    fn authorize(&mut self) {
        while let Output::Authorize(checks) = self.turn.poll_output() {
            let plan = self.script.permissions.as_ref().expect("only who has permissions asks for them");
            let decisions = checks.iter().map(|check| plan.decide(check, self.hides)).collect();
            self.tell(Input::Authorized(decisions));
        }
    }

    fn call_model(&mut self, request: &ModelRequest) {
        self.offered = request.tool_names().into_iter().map(str::to_owned).collect();
        assert_paired(&request.messages);
        assert_body_is_read(self.graph, &self.turn, request);
        self.assert_unsaid(&without_words_of_others(request));
        if self.probes {
            self.probe(request);
        }
        let reply = self.script.replies.get(self.run.requests).cloned();
        self.run.requests += 1;
        self.tell(reply.map_or(Input::Cancel, Input::ModelReplied));
    }

    fn run_tools(&mut self, runs: &[ToolRun]) {
        self.run.batches.push((self.offered.clone(), runs.iter().map(|run| run.name.to_string()).collect()));
        let order: Vec<&ToolRun> =
            if self.script.reversed { runs.iter().rev().collect() } else { runs.iter().collect() };
        for tool in order {
            let plan = &self.script.returns[self.returned % self.script.returns.len()];
            self.returned += 1;
            let mut answer = ToolReturn::new(&tool.call_id, plan.status, Value::from(plan.text.clone()));
            answer.proposal = plan.proposal.map(|skill| Proposal { skill: format!("s{skill}"), reason: "so".into() });
            self.tell(Input::ToolReturned(answer));
            if self.storage == Storage::Always {
                self.turn = restored(&self.turn, &self.setup);
                self.authorize();
            }
        }
    }

    /// What may not be seen is not said.
    fn assert_unsaid(&self, text: &str) {
        let hidden = self.script.permissions.iter().filter(|_| self.hides).flat_map(|plan| &plan.hidden);
        for skill in hidden.filter(|skill| **skill < self.graph.skills().len()) {
            assert!(!text.contains(&format!("s{skill}")), "s{skill} is hidden, and the model reads: {text}");
        }
    }

    /// Everything that is named as available is accepted, everything else is refused, and the refusal names what is
    /// available (SPEC 5.4).
    fn probe(&self, request: &ModelRequest) {
        let offered = self.run.events.iter().rev().find_map(|event| match event {
            Event::Offered { reachable, .. } => Some(reachable.clone()),
            _ => None,
        });
        let reachable = offered.expect("an offer");
        self.probe_description(request, &reachable);
        if request.tool("read_skill").is_some() {
            for skill in 0..7 {
                let id = format!("s{skill}");
                let after = self.after(&ToolCall::new("c", "read_skill", json!({ "id": id }).to_string()));
                let refused = after.events.iter().any(|event| matches!(event, Event::PickRejected { .. }));
                assert_eq!(refused, !reachable.iter().any(|reached| *reached == id.as_str()), "{id} of {reachable:?}");
                if refused {
                    for name in between_ticks(&after.answer).filter(|name| **name != id) {
                        let is_cursor = self.turn.cursor().is_some_and(|cursor| cursor == name);
                        assert!(is_cursor || reachable.iter().any(|reached| *reached == name), "{}", after.answer);
                    }
                    self.assert_unsaid(&after.answer);
                }
            }
        }
        let names = (0..TOOLS).map(|tool| format!("t{tool}")).chain(["skip_step".to_owned(), "nothing".to_owned()]);
        for name in names {
            let after = self.after(&ToolCall::new("c", &name, "{}"));
            let refused = after.events.iter().any(|event| matches!(event, Event::CallRefused { .. }));
            assert_eq!(refused, request.tool(&name).is_none(), "{name} of {:?}", self.offered);
            if refused {
                let mut others = between_ticks(&after.answer).filter(|other| *other != name);
                assert!(others.all(|other| request.tool(other).is_some()), "{}", after.answer);
            }
        }
    }

    /// The system prompt names the reachable skills, those of the menu included, and the refused ones apart.
    fn probe_description(&self, request: &ModelRequest, reachable: &[SkillId]) {
        if request.tool("read_skill").is_none() {
            assert!(reachable.is_empty());
            return;
        }
        let named = request.system.split("Not reachable from here").next().expect("a part");
        for skill in self.graph.skills() {
            let is_named = named.contains(&format!("\n- `{}`: ", skill.id));
            assert_eq!(is_named, reachable.contains(&skill.id), "{} in {}", skill.id, request.system);
        }
    }

    /// What one call would come to.
    fn after(&self, call: &ToolCall) -> After {
        let mut turn = self.turn.clone();
        turn.handle_input(Input::ModelReplied(ModelReply::calls([call.clone()]))).expect("a reply is awaited");
        let events = std::iter::from_fn(|| turn.poll_event()).collect();
        let answer = common::last_results(turn.transcript()).into_iter().map(|(_, text)| text).next();
        After { events, answer: answer.unwrap_or_default() }
    }
}

struct After {
    events: Vec<Event>,
    /// What the model reads; of a call that runs, an earlier batch.
    answer: String,
}

fn between_ticks(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// All that the model reads but what it said itself in calls of tools, and what the user said.
fn without_words_of_others(request: &ModelRequest) -> String {
    let messages = request.messages.iter().filter_map(|message| match message {
        Message::User { .. } => None,
        Message::Assistant { text, calls, .. } => {
            let calls = calls.iter().filter(|call| call.name == "read_skill").cloned().collect();
            Some(Message::Assistant { text: text.clone(), calls, thoughts: Vec::new() })
        }
        other => Some(other.clone()),
    });
    all_text(&ModelRequest { messages: messages.collect(), ..request.clone() })
}

/// The turn as it comes back from storage.
fn restored(turn: &Turn, setup: &Arc<Setup>) -> Turn {
    let saved = serde_json::to_string(&turn.save()).expect("a turn serialises");
    let saved: SavedTurn = serde_json::from_str(&saved).expect("a turn deserialises");
    Turn::restore(setup.clone(), saved).expect("the same graph")
}

/// Whatever its surface, the model reads the body of the open skill; one with `refresh` stands among the last replies.
fn assert_body_is_read(graph: &Graph, turn: &Turn, request: &ModelRequest) {
    let Some(skill) = turn.cursor().and_then(|id| graph.skill(graph.find_skill(id.as_str())?)) else { return };
    if skill.surface.is_in_prompt() {
        assert!(request.system.contains(&skill.body), "`{}` is not in the prompt", skill.id);
    } else {
        assert!(!request.system.contains(&skill.body), "`{}` is in the prompt", skill.id);
    }
    let replies = skill.refresh.map_or(usize::MAX, |refresh| refresh.get() as usize);
    let mut followed = 0;
    let recent: Vec<&Message> = request
        .messages
        .iter()
        .rev()
        .take_while(|message| {
            followed += usize::from(matches!(message, Message::Assistant { .. }));
            followed < replies
        })
        .collect();
    let said = serde_json::to_string(&recent).expect("messages serialise").contains(&skill.body);
    let must = skill.refresh.is_some() || !skill.surface.is_in_prompt();
    assert!(said || !must, "`{}` has aged", skill.id);
}

/// Each move is one that the graph allows.
pub fn assert_moves_are_declared(graph: &Graph, events: &[Event]) {
    let find = |id: &skillgraph::SkillId| graph.find_skill(id.as_str()).expect("a skill of the graph");
    for event in events {
        let Event::CursorDecided(decision) = event else { continue };
        let (from, to) = (decision.from.as_ref().map(find), decision.to.as_ref().map(find));
        match decision.by {
            Cause::Stay => assert!(from.is_some() && from == to),
            Cause::None => assert!(from.is_none() && to.is_none()),
            Cause::Entry => {
                let entries = graph.declaration().entries.iter();
                let mut entries = entries.map(|entry| entry.skill.text.as_str());
                assert!(entries.any(|entry| decision.to.as_ref().expect("a skill") == entry));
            }
            Cause::Intent => {
                let to = to.expect("a target");
                assert!(from != Some(to) && graph.intents().iter().any(|intent| intent.skill == to));
            }
            Cause::Decider => {
                let to = to.expect("a target");
                let known = graph.intents().iter().any(|intent| intent.skill == to) || graph.picked().contains(&to);
                assert!(known && from != Some(to));
            }
            Cause::Continuity => assert!(from.is_some() && from == to && decision.iteration == 1),
            Cause::Route => {
                let fired = decision.fired.as_ref().expect("what fired");
                let routes = graph.declaration().routes.iter();
                let mut declared = routes.filter(|route| {
                    let fires = match &route.trigger {
                        Trigger::Returns { tools, .. } => {
                            tools.named().iter().any(|tool| fired.tool == tool.text.as_str())
                        }
                        _ => false,
                    };
                    let ends = decision.from.as_ref().expect("a source") == route.from.text.as_str()
                        && decision.to.as_ref().expect("a target") == route.to.text.as_str();
                    ends && fires && route.trigger.statuses().contains(fired.status)
                });
                assert!(declared.next().is_some(), "no edge for {decision:?}");
            }
            Cause::ModelPick | Cause::ToolProposal => assert!(graph.is_hop(from, to.expect("a target"))),
            other => panic!("an unknown cause {other}"),
        }
    }
}
