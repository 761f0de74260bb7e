//! The turn itself: what it waits for, and what each answer leads to.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::dispatch::{Batch, Fate};
use super::governor::Watch;
use super::offer::{Offer, Offered};
use super::settle::{Settlement, interrupted};
use super::start::{Choice, DecideRequest, Menu, ScoreRequest, Scores, reachable};
use super::state::{Phase, State};
use super::wire::{distinct_ids, tidied, wire_name, wire_text, with_ids};
use super::{
    Answer, CatalogAnswer, CatalogQuestion, CatalogState, Check, CloseReason, Decision, Event, Message, ModelReply,
    ModelRequest, Outcome, Procedure, Question, Setup, StopReason, ToolMessage, ToolReturn, ToolRun, Transcript,
    UnfinishedAction, words,
};
use crate::decide::{CursorMove, Evidence, decide};
use crate::decl::{SkillId, Status};
use crate::graph::{Hidden, SkillIx};

/// One turn: a user's message and all that follows until the answer.
///
/// ```
/// # use std::sync::Arc;
/// # use skillgraph_core::graph::Graph;
/// # use skillgraph_core::turn::*;
/// # let spec = serde_json::from_str(r#"{
/// #     "name": "support",
/// #     "skills": [{ "id": "triage", "description": "Start", "body": "Ask." }],
/// #     "entries": [{ "skill": "triage" }]
/// # }"#).unwrap();
/// # let graph = Arc::new(Graph::compile(&spec, &[] as &[&str]).unwrap());
/// # let setup = Arc::new(Setup { graph, tools: vec![], system: String::new(), limits: Limits::default(),
/// #     strictness: Strictness::Assist, decider: false, permissions: None, catalog: None });
/// let mut turn = Turn::start(setup, Transcript::new(), "hello");
/// loop {
///     match turn.poll_output() {
///         Output::CallModel(request) => {
///             assert_eq!(request.iteration, 1);
///             turn.handle_input(Input::ModelReplied(ModelReply::text("How can I help?")))?;
///         }
///         Output::RunTools(_) => unreachable!("the model called nothing"),
///         Output::Done(outcome) => {
///             assert_eq!(outcome.text(), Some("How can I help?"));
///             break;
///         }
///         _ => unreachable!(),
///     }
/// }
/// # Ok::<(), InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Turn {
    pub(super) setup: Arc<Setup>,
    pub(super) state: State,
}

/// What a turn takes over from the one before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Carried {
    /// What was said.
    pub transcript: Transcript,
    /// The skill that was open, where it is to stay open (SPEC 4).
    pub cursor: Option<SkillId>,
    /// What was open of the catalog. What the catalog does not have any more is dropped.
    pub catalog: CatalogState,
}

/// What a turn waits for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Output {
    /// Say who may do what, one decision a check, in their order. Asked only where the setup has permissions. Answered by
    /// [`Input::Authorized`].
    Authorize(Vec<Check>),
    /// Score the user's message against the graph's intents (`classify: host`). Answered by [`Input::Scored`] or
    /// [`Input::ScoreFailed`].
    Score(ScoreRequest),
    /// Choose from the menu of the turn's start. Answered by [`Input::Decided`].
    Decide(DecideRequest),
    /// Ask the model. Answered by [`Input::ModelReplied`] or [`Input::ModelFailed`].
    CallModel(ModelRequest),
    /// Say what is asked of the catalog's skills, one answer a question, in their order. Answered by
    /// [`Input::CatalogAnswered`].
    AskCatalog(Vec<CatalogQuestion>),
    /// Run these tools, those that have not returned yet. Answered by one [`Input::ToolReturned`] for each, in any order.
    RunTools(Vec<ToolRun>),
    /// Ask a person, however long it takes. Answered by one [`Input::PersonAnswered`] for each question, in any order.
    Pause(Vec<Question>),
    /// Nothing: the turn is over.
    Done(Outcome),
}

/// What a host tells a turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Input {
    /// Who may do what. A check without a decision is denied.
    Authorized(Vec<Decision>),
    /// What there is of the catalog. A question without an answer is a no: the skill is not there, or does not open.
    CatalogAnswered(Vec<CatalogAnswer>),
    /// The message was scored. Scores of another number than the candidates are taken as none.
    Scored(Scores),
    /// The message could not be scored: the turn stays where it was, or offers all.
    ScoreFailed,
    /// The menu was decided, or not.
    Decided(Choice),
    /// The model replied.
    ModelReplied(ModelReply),
    /// The model could not be asked.
    ModelFailed {
        /// Why.
        reason: String,
    },
    /// One tool returned. While its permission is asked for, one whose arguments do not fit may be answered as `invalid`.
    ToolReturned(ToolReturn),
    /// A person answered.
    PersonAnswered(Answer),
    /// End the turn now. Open calls are answered as interrupted; cursor and step stay. Taken at any time before the end.
    Cancel,
}

impl Input {
    fn name(&self) -> &'static str {
        match self {
            Input::Authorized(_) => "decisions on permissions",
            Input::CatalogAnswered(_) => "answers about the catalog",
            Input::Scored(_) | Input::ScoreFailed => "scores",
            Input::Decided(_) => "a choice",
            Input::ModelReplied(_) => "a model's reply",
            Input::ModelFailed { .. } => "a model's failure",
            Input::ToolReturned(_) => "a tool's result",
            Input::PersonAnswered(_) => "a person's answer",
            Input::Cancel => "the end of the turn",
        }
    }
}

/// An input that the turn does not wait for. The turn is as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputError {
    /// It waits for something else.
    NotAwaited {
        /// What came.
        got: &'static str,
        /// What it waits for.
        awaited: &'static str,
    },
    /// No such call runs.
    UnknownCall {
        /// The id that came.
        call_id: String,
    },
    /// The call has returned already.
    ReturnedTwice {
        /// The id that came.
        call_id: String,
    },
    /// The call has asked a person nothing, or has its answer.
    NoQuestion {
        /// The id that came.
        call_id: String,
    },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::NotAwaited { got, awaited } => write!(f, "the turn waits for {awaited}, and {got} came"),
            InputError::UnknownCall { call_id } => write!(f, "no tool runs for the call `{call_id}`"),
            InputError::ReturnedTwice { call_id } => write!(f, "the call `{call_id}` has returned already"),
            InputError::NoQuestion { call_id } => write!(f, "no question of the call `{call_id}` waits for an answer"),
        }
    }
}

impl std::error::Error for InputError {}

impl Turn {
    /// Begins a turn with the user's message, after the conversation so far.
    pub fn start(setup: Arc<Setup>, history: Transcript, message: impl Into<String>) -> Self {
        Self::start_from(setup, Carried { transcript: history, ..Carried::default() }, message)
    }

    /// Begins a turn as [`Self::start`], in a conversation that left things open. A skill is judged beside what the message
    /// says (SPEC 4, continuity); an id that the graph does not have is recorded and dropped.
    pub fn start_from(setup: Arc<Setup>, before: Carried, message: impl Into<String>) -> Self {
        let message: String = message.into();
        let mut catalog = before.catalog;
        let gone = catalog.fit(&setup);
        let inherited = before.cursor.map(|cursor| cursor.to_string());
        let mut turn = Self {
            state: State {
                transcript: tidied(before.transcript),
                iteration: 0,
                cursor: None,
                opened: Vec::new(),
                catalog,
                procedure: None,
                nudged: false,
                watch: Watch::default(),
                menu: None,
                hidden: Hidden::NONE,
                phase: Phase::Done(Outcome::Cancelled),
                events: VecDeque::new(),
            },
            setup,
        };
        turn.emit(Event::TurnStarted { graph: turn.setup.graph.name().to_owned() });
        for key in gone {
            turn.emit(Event::CatalogClosed { iteration: 0, key, reason: CloseReason::Gone });
        }
        turn.state.transcript.push(Message::User { text: wire_text(&message) });
        if turn.setup.limits.iterations == 0 {
            turn.end(Outcome::OutOfIterations { iterations: 0 });
        } else if turn.setup.permissions.is_some() {
            turn.state.phase = Phase::Admit { message, inherited };
        } else {
            turn.stock(message, inherited);
        }
        turn
    }

    /// What the turn waits for. Asking changes nothing.
    #[must_use]
    pub fn poll_output(&self) -> Output {
        match &self.state.phase {
            Phase::Admit { .. } | Phase::Readmit(_) => Output::Authorize(self.skill_checks()),
            Phase::Permit(batch) => Output::Authorize(self.call_checks(batch)),
            Phase::Pause(batch) => Output::Pause(batch.questions(&self.setup.graph)),
            Phase::Catalog(asked) => Output::AskCatalog(asked.questions().to_vec()),
            Phase::Score(start) => Output::Score(start.score_request(&self.setup.graph, &self.state.hidden)),
            Phase::Decide(start) => Output::Decide(start.decide_request(&self.setup.graph)),
            Phase::Model(offer) => Output::CallModel(offer.request(&self.setup, &self.state)),
            Phase::Tools(batch) => Output::RunTools(batch.open_runs(&self.setup.graph)),
            Phase::Done(outcome) => Output::Done(outcome.clone()),
        }
    }

    /// Takes an answer.
    ///
    /// # Errors
    ///
    /// [`InputError`] where the turn does not wait for it; nothing has changed then.
    pub fn handle_input(&mut self, input: Input) -> Result<(), InputError> {
        match (&mut self.state.phase, input) {
            (Phase::Admit { message, inherited }, Input::Authorized(decisions)) => {
                let (message, inherited) = (std::mem::take(message), inherited.take());
                self.hide(decisions);
                self.stock(message, inherited);
            }
            (Phase::Readmit(phase), Input::Authorized(decisions)) => {
                let phase = (**phase).clone();
                self.readmit(phase, decisions);
            }
            (Phase::Permit(batch), Input::Authorized(decisions)) => {
                let batch = std::mem::take(batch);
                self.permit(batch, decisions);
            }
            (phase @ Phase::Catalog(_), Input::CatalogAnswered(answers)) => {
                if let Phase::Catalog(asked) = phase.take() {
                    self.catalog_answered(asked, answers);
                }
            }
            (Phase::Score(start), Input::Scored(scores)) => {
                let start = start.clone();
                self.scored(start, scores);
            }
            (Phase::Score(start), Input::ScoreFailed) => {
                let start = start.clone();
                self.not_scored(start);
            }
            (Phase::Decide(start), Input::Decided(choice)) => {
                let start = start.clone();
                self.decided(start, choice);
            }
            (Phase::Model(offer), Input::ModelReplied(reply)) => {
                let offer = offer.clone();
                self.model_replied(&offer, reply);
            }
            (Phase::Model(_), Input::ModelFailed { reason }) => self.end(Outcome::ModelFailed { reason }),
            (Phase::Permit(batch), Input::ToolReturned(returned)) if returned.status == Status::Invalid => {
                take_return(batch, returned)?;
                if batch.is_complete() {
                    let batch = std::mem::take(batch);
                    self.run(batch);
                }
            }
            (Phase::Tools(batch), Input::ToolReturned(returned)) => {
                take_return(batch, returned)?;
                self.settle_if_complete();
            }
            (Phase::Pause(_), Input::PersonAnswered(answer)) => self.person_answered(answer)?,
            (Phase::Done(_), input) => {
                return Err(InputError::NotAwaited { got: input.name(), awaited: "nothing: it is over" });
            }
            (_, Input::Cancel) => self.cancel(),
            (phase, input) => return Err(InputError::NotAwaited { got: input.name(), awaited: phase.awaits() }),
        }
        Ok(())
    }

    /// The next thing that happened, oldest first. To be drained after every input and once after the start.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.state.events.pop_front()
    }

    /// The conversation, this turn included.
    pub fn transcript(&self) -> &Transcript {
        &self.state.transcript
    }

    /// What is open of the catalog.
    pub fn catalog(&self) -> &CatalogState {
        &self.state.catalog
    }

    /// The skill that is open.
    pub fn cursor(&self) -> Option<SkillId> {
        self.state.cursor.map(|cursor| self.setup.graph.skill_id(cursor))
    }

    /// How many times the model has been asked.
    pub fn iteration(&self) -> u32 {
        self.state.iteration
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.state.events.push_back(event);
    }

    /// Opens the first iteration: whatever the last turn left open is opened anew, with its procedure.
    pub(super) fn begin_first_iteration(&mut self, decision: &CursorMove, menu: Option<Menu>, settlement: &Settlement) {
        self.state.iteration = 1;
        self.record_decision(decision, settlement);
        self.change_cursor(decision.to);
        self.state.menu = menu;
        self.give_bodies(decision.from != decision.to);
        self.make_offer();
    }

    /// Opens the next iteration under a decision: the cursor, the procedure's tenure, the offer.
    fn begin_iteration(&mut self, decision: &CursorMove, settlement: &Settlement) {
        self.state.iteration += 1;
        self.record_decision(decision, settlement);
        if decision.from != decision.to {
            self.change_cursor(decision.to);
        }
        self.make_offer();
    }

    /// What the model is offered now.
    pub(super) fn make_offer(&mut self) {
        let graph = &self.setup.graph;
        let offer = Offer::of(&self.setup, &self.state);
        let reachable = reachable(&self.setup, &self.state).into_iter().filter(|_| offer.has(Offered::ReadSkill));
        let event = Event::Offered {
            iteration: self.state.iteration,
            tools: offer.names(graph),
            reachable: reachable.map(|skill| graph.skill_id(skill)).collect(),
        };
        self.emit(event);
        self.state.phase = Phase::Model(offer);
    }

    pub(super) fn change_cursor(&mut self, to: Option<SkillIx>) {
        let graph = self.setup.graph.clone();
        let iteration = self.state.iteration;
        if let Some(left) = self.state.cursor {
            self.emit(Event::SkillDeactivated { iteration, skill: graph.skill_id(left) });
        }
        if let Some(entered) = to {
            self.emit(Event::SkillActivated { iteration, skill: graph.skill_id(entered) });
        }
        self.state.cursor = to;
        self.state.menu = None;
        self.state.procedure = to.and_then(|to| Procedure::begin(&graph, to));
    }

    fn model_replied(&mut self, offer: &Offer, reply: ModelReply) {
        let event = Event::ModelReplied {
            iteration: self.state.iteration,
            calls: reply.calls.len(),
            stop: reply.stop.clone(),
            usage: reply.usage,
        };
        self.emit(event);
        if reply.calls.is_empty() {
            self.model_answered(reply);
        } else {
            self.model_called(offer, reply);
        }
    }

    fn model_called(&mut self, offer: &Offer, reply: ModelReply) {
        let graph = self.setup.graph.clone();
        let reply = with_ids(reply);
        let mut batch = Batch::gate(&graph, offer, &reply);
        distinct_ids(batch.calls.iter_mut().map(|gated| &mut gated.call));
        self.teach_binding(&mut batch);
        for gated in &mut batch.calls {
            self.watch_call(&gated.call);
            match &mut gated.fate {
                Fate::Refused { reason, .. } => self.record_refusal(&gated.call, *reason),
                // What must be permitted first is on the record when it is.
                Fate::Run(run) if self.setup.permissions.is_none() => self.record_start(&gated.call, run),
                _ => {}
            }
        }
        let declined = (reply.stop == StopReason::Refusal).then(|| Outcome::Refused { text: reply.text.clone() });
        let calls = batch.calls.iter().map(|gated| gated.call.clone().normalised()).collect();
        self.state.transcript.push(Message::Assistant { text: reply.text, calls });
        if let Some(outcome) = declined {
            let settlement = self.take_in(batch);
            self.answer(settlement, None);
            self.end(outcome);
            return;
        }
        self.dispatch(batch);
    }

    /// Has the tools of a batch run, as soon as that is permitted.
    pub(super) fn dispatch(&mut self, batch: Batch) {
        if batch.catalog_calls().next().is_some() {
            self.call_catalog(batch);
        } else if self.setup.permissions.is_some() && !batch.is_complete() {
            self.state.phase = Phase::Permit(batch);
        } else {
            self.run(batch);
        }
    }

    /// Has the tools of a batch run.
    pub(super) fn run(&mut self, mut batch: Batch) {
        for gated in &mut batch.calls {
            let Fate::Run(run) = &mut gated.fate else { continue };
            if run.returned.is_none() {
                self.record_start(&gated.call, run);
            }
        }
        self.state.phase = Phase::Tools(batch);
        self.settle_if_complete();
    }

    fn settle_if_complete(&mut self) {
        let Phase::Tools(batch) = &mut self.state.phase else { return };
        if !batch.is_complete() {
            return;
        }
        if self.pause_if_asked() {
            return;
        }
        let Phase::Tools(batch) = &mut self.state.phase else { return };
        let batch = std::mem::take(batch);
        let settlement = self.take_in(batch);
        if self.state.iteration >= self.setup.limits.iterations {
            self.answer(settlement, None);
            self.end(Outcome::OutOfIterations { iterations: self.setup.limits.iterations });
            return;
        }
        let decision = decide(&self.setup.graph, &self.state.hidden, self.state.cursor, settlement.evidence());
        self.watch_move(decision.from, decision.to);
        let (stop, warning) = self.govern();
        if let Some(trip) = stop {
            self.answer(settlement, None);
            self.end(Outcome::Stopped { trip });
            return;
        }
        self.begin_iteration(&decision, &settlement);
        self.record_superseded(&settlement, &decision);
        self.answer(settlement, Some(&decision));
        if let Some(text) = warning {
            self.state.transcript.push(Message::Framework { text });
        }
        self.give_bodies(decision.from != decision.to);
    }

    /// The model said its last word, or wants to: with steps left it is reminded once, inside the cap.
    fn model_answered(&mut self, reply: ModelReply) {
        let text = reply.text;
        if !text.trim().is_empty() {
            self.state.transcript.push(Message::Assistant { text: text.clone(), calls: Vec::new() });
        }
        match reply.stop {
            StopReason::Refusal => return self.end(Outcome::Refused { text }),
            StopReason::MaxTokens => return self.end(Outcome::Truncated { text }),
            _ => {}
        }
        let graph = self.setup.graph.clone();
        if let Some(procedure) = self.state.procedure.clone().filter(|procedure| procedure.current(&graph).is_some()) {
            let may_nudge = !self.state.nudged && self.state.iteration < self.setup.limits.iterations;
            let action = if may_nudge { UnfinishedAction::Nudged } else { UnfinishedAction::Accepted };
            self.emit(Event::StepsUnfinished {
                iteration: self.state.iteration,
                skill: graph.skill_id(procedure.skill()),
                remaining: procedure.remaining(&graph).map(|(number, _)| number).collect(),
                total: procedure.total(&graph),
                action,
            });
            if may_nudge {
                self.state.nudged = true;
                self.state.transcript.push(Message::Framework { text: words::nudge(&procedure, &graph) });
                let decision = decide(&graph, &self.state.hidden, self.state.cursor, Evidence::Nothing);
                self.begin_iteration(&decision, &Settlement::default());
                self.give_bodies(decision.from != decision.to);
                return;
            }
        }
        self.end(Outcome::Answered { text });
    }

    /// Ends the turn with a complete transcript: what has returned is kept, the rest is answered as interrupted.
    fn cancel(&mut self) {
        if let Some(batch) = self.state.phase.take_batch() {
            let results = batch.calls.into_iter().map(|gated| {
                let (text, status) = match gated.fate {
                    Fate::Run(run) if run.is_pending() => (words::unanswered(&gated.call.name), Some(Status::Failure)),
                    Fate::Run(run) => {
                        let returned = run.returned.unwrap_or_else(|| interrupted(&gated.call));
                        let returned = self.sealed(&gated.call.name, returned);
                        (returned.text, Some(returned.status))
                    }
                    Fate::Refused { text, reason, .. } => (text, reason.status()),
                    Fate::Said { text, status } => (text, Some(status)),
                    Fate::Pick { .. } | Fate::List | Fate::Skip { .. } | Fate::Catalog(_) => {
                        (interrupted(&gated.call).text, Some(Status::Failure))
                    }
                };
                ToolMessage { call_id: gated.call.id, name: wire_name(&gated.call.name), text, status }
            });
            let results = results.collect();
            self.state.transcript.push(Message::ToolResults { results });
        }
        self.end(Outcome::Cancelled);
    }

    fn end(&mut self, outcome: Outcome) {
        self.emit(Event::TurnEnded { iterations: self.state.iteration, outcome: outcome.clone() });
        self.state.phase = Phase::Done(outcome);
    }
}

/// Puts a result where it belongs.
fn take_return(batch: &mut Batch, returned: ToolReturn) -> Result<(), InputError> {
    let Some(run) = batch.run_of(&returned.call_id) else {
        return Err(InputError::UnknownCall { call_id: returned.call_id });
    };
    if run.returned.is_some() {
        return Err(InputError::ReturnedTwice { call_id: returned.call_id });
    }
    // Who was answered may ask again.
    if returned.status == Status::Pending {
        run.answer = None;
    }
    run.returned = Some(returned);
    Ok(())
}
