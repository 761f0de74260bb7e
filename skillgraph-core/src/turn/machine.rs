//! The turn itself: what it waits for, and what each answer leads to.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arguments::{DEPTH, is_deeper_than};
use super::dispatch::{Batch, Fate};
use super::governor::Watch;
use super::offer::{Offer, Offered, READ_SKILL};
use super::procedure::Standing;
use super::redact::{Unseen, unseen_id};
use super::settle::{Ending, Settlement};
use super::start::{Choice, DecideRequest, Menu, ScoreRequest, Scores, reachable};
use super::state::{Phase, State};
use super::wire::{number_calls, tidied, user_text};
use super::{
    Answer, CatalogAnswer, CatalogQuestion, CatalogState, Check, CloseReason, Decision, Event, Message, ModelReply,
    ModelRequest, Numbering, Outcome, Procedure, Question, Setup, StopReason, ToolCall, ToolReturn, ToolRun,
    Transcript, UnfinishedAction, words,
};
use crate::decide::{Cause, CursorMove, Evidence, decide};
use crate::decl::{OnUnfinished, SkillId, Status};
use crate::graph::{Hidden, SkillIx};
use crate::text::is_blank;

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
/// # let setup = Arc::new(Setup::new(graph, vec![]));
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

/// What a turn takes over from the one before: [`Turn::carry`] gives it, whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carried {
    /// What was said.
    pub transcript: Transcript,
    /// The skill that was open, where it is to stay open.
    // SPEC 4.
    pub cursor: Option<SkillId>,
    /// Where the procedure of that skill stood: it goes on there if continuity keeps the skill open.
    // SPEC 7.
    pub procedure: Option<Standing>,
    /// What was open of the catalog. What the catalog does not have any more is dropped.
    pub catalog: CatalogState,
    /// What tells the conversation, its questions and its saves from every other.
    pub numbering: Numbering,
    /// The host's system prompt for this conversation, behind the one of the setup; blank where there is none.
    pub system: String,
    /// What somebody in the conversation might not see.
    pub unseen: Unseen,
}

/// What a turn waits for.
#[derive(Debug, Clone, PartialEq)]
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
pub enum Input {
    /// Who may do what. A check without a decision is denied.
    Authorized(Vec<Decision>),
    /// What there is of the catalog. A question without an answer is a no: the skill is not there, or does not open.
    CatalogAnswered(Vec<CatalogAnswer>),
    /// The message was scored. Scores of another number than the candidates are taken as none.
    Scored(Scores),
    /// The message could not be scored: the turn stays where it was, or offers all.
    ScoreFailed {
        /// Why, for the record.
        reason: String,
    },
    /// The menu was decided, or not.
    Decided(Choice),
    /// The menu could not be decided: it is left to the model.
    DecideFailed {
        /// Why, for the record.
        reason: String,
    },
    /// The model replied.
    ModelReplied(ModelReply),
    /// The model could not be asked. The turn stays where it is: the host asks again, at once or later, or ends it.
    ModelFailed {
        /// Why.
        reason: String,
    },
    /// One tool returned. While its permission is asked for, one whose arguments do not fit may be answered as `invalid`.
    ToolReturned(ToolReturn),
    /// A person answered.
    PersonAnswered(Answer),
    /// End the turn now. What has returned counts: its edge fires, its step advances. Open calls are answered as interrupted. Taken
    /// at any time before the end.
    Cancel,
}

impl Input {
    fn name(&self) -> &'static str {
        match self {
            Input::Authorized(_) => "decisions on permissions",
            Input::CatalogAnswered(_) => "answers about the catalog",
            Input::Scored(_) | Input::ScoreFailed { .. } => "scores",
            Input::Decided(_) | Input::DecideFailed { .. } => "a choice",
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
    /// No such question waits: it has its answer, belongs to another conversation, or was about something else.
    NoQuestion {
        /// The question's number that came.
        question: u64,
    },
    /// A person gave arguments that no call can have.
    UnfitArguments {
        /// What is wrong with them.
        reason: String,
    },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::NotAwaited { got, awaited } => write!(f, "the turn waits for {awaited}, and {got} came"),
            InputError::UnknownCall { call_id } => write!(f, "no tool runs for the call `{call_id}`"),
            InputError::ReturnedTwice { call_id } => write!(f, "the call `{call_id}` has returned already"),
            InputError::NoQuestion { question } => {
                write!(
                    f,
                    "this is no answer to a question that waits: question {question} is not open, or was another one"
                )
            }
            InputError::UnfitArguments { reason } => f.write_str(reason),
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
    /// says; an id that the graph does not have is recorded and dropped.
    // SPEC 4, continuity.
    pub fn start_from(setup: Arc<Setup>, before: Carried, message: impl Into<String>) -> Self {
        let message: String = message.into();
        let mut catalog = before.catalog;
        let gone = catalog.fit(&setup);
        let inherited = before.cursor.map(|cursor| cursor.to_string());
        let mut unseen = before.unseen;
        let transcript = tidied(before.transcript);
        unseen.fit(transcript.len());
        let mut turn = Self {
            state: State {
                transcript,
                iteration: 0,
                numbering: before.numbering,
                system: before.system,
                unseen,
                cursor: None,
                opened: Vec::new(),
                catalog,
                procedure: None,
                carried: before.procedure.filter(|_| inherited.is_some()),
                nudged: false,
                asked_again: false,
                watch: Watch::default(),
                menu: None,
                hidden: Hidden::NONE,
                phase: Phase::Done(Outcome::Cancelled),
                events: VecDeque::new(),
            },
            setup,
        };
        turn.state.numbering.step();
        turn.emit(Event::TurnStarted { graph: turn.setup.graph.name().to_owned() });
        for key in gone {
            turn.emit(Event::CatalogClosed { iteration: 0, key, reason: CloseReason::Gone });
        }
        turn.state.transcript.push(Message::User { text: user_text(&message) });
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
            Phase::Pause(batch) => Output::Pause(batch.questions(&self.setup, &self.state)),
            Phase::Catalog(asked) => Output::AskCatalog(asked.questions().to_vec()),
            Phase::Score(start) => Output::Score(start.score_request(&self.setup.graph, &self.state.hidden)),
            Phase::Decide(start) => Output::Decide(start.decide_request(&self.setup.graph)),
            Phase::Model(offer) => Output::CallModel(offer.request(&self.setup, &self.state)),
            Phase::Tools(batch) => Output::RunTools(batch.open_runs(&self.setup.graph, &self.state.numbering)),
            Phase::Done(outcome) => Output::Done(outcome.clone()),
        }
    }

    /// Takes an answer.
    ///
    /// # Errors
    ///
    /// [`InputError`] where the turn does not wait for it; nothing has changed then.
    pub fn handle_input(&mut self, input: Input) -> Result<(), InputError> {
        self.take(input)?;
        self.state.numbering.step();
        Ok(())
    }

    fn take(&mut self, input: Input) -> Result<(), InputError> {
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
            (Phase::Score(start), Input::ScoreFailed { reason }) => {
                let start = start.clone();
                self.not_scored(start, reason);
            }
            (Phase::Decide(start), Input::Decided(choice)) => {
                let start = start.clone();
                self.decided(start, choice);
            }
            (Phase::Decide(start), Input::DecideFailed { reason }) => {
                let start = start.clone();
                self.not_decided(start, reason);
            }
            (Phase::Model(offer), Input::ModelReplied(reply)) => {
                let offer = offer.clone();
                self.model_replied(&offer, reply);
            }
            (Phase::Model(_), Input::ModelFailed { reason }) => {
                let iteration = self.state.iteration;
                self.emit(Event::ModelFailed { iteration, reason });
            }
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

    /// What the next turn takes over from this one. Of a turn that has not ended, what it would if it ended now, without what is
    /// still open in it: end it with [`Input::Cancel`] first.
    pub fn carry(&self) -> Carried {
        let graph = &self.setup.graph;
        Carried {
            transcript: self.state.transcript.clone(),
            cursor: self.cursor(),
            procedure: self.state.procedure.as_ref().and_then(|procedure| procedure.standing(graph)),
            catalog: self.state.catalog.clone(),
            numbering: self.state.numbering.clone(),
            system: self.state.system.clone(),
            unseen: self.state.unseen.clone(),
        }
    }

    /// Gives the conversation a system prompt of its own, behind the one of the setup, from the next request on.
    pub fn set_system(&mut self, system: impl Into<String>) {
        self.state.system = system.into();
    }

    /// Where the procedure of the open skill stands, where it has one that is not finished.
    pub fn procedure(&self) -> Option<Standing> {
        self.state.procedure.as_ref()?.standing(&self.setup.graph)
    }

    /// What tells the conversation, its questions and its saves from every other.
    pub fn numbering(&self) -> &Numbering {
        &self.state.numbering
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
        let carried = self.state.carried.take().filter(|_| decision.by == Cause::Continuity);
        self.change_cursor(decision.to);
        if let (Some(carried), Some(skill)) = (carried, decision.to) {
            self.state.procedure = carried.resumed(&self.setup.graph, skill).or(self.state.procedure.take());
        }
        self.state.menu = menu;
        self.give_bodies(decision.from != decision.to);
        self.make_offer();
    }

    /// Opens the next iteration under a decision: the cursor, the procedure's tenure, the offer.
    fn begin_iteration(&mut self, decision: &CursorMove, settlement: &Settlement) {
        self.state.iteration = self.state.iteration.saturating_add(1);
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
        let mut reply = reply;
        number_calls(&self.state.transcript, reply.calls.iter_mut());
        let mut batch = Batch::gate(&self.setup, &self.state, offer, &reply);
        self.teach_binding(&mut batch);
        self.watch_calls(batch.calls.iter().map(|gated| &gated.call));
        for gated in &mut batch.calls {
            // An id that cannot be seen is not said back, whether there is such a skill or not.
            if gated.call.name == READ_SKILL && !self.sees(&gated.call) {
                gated.call.arguments = unseen_id();
            }
            match &mut gated.fate {
                Fate::Refused { reason, text, .. } => self.record_refusal(&gated.call, *reason, text),
                // What must be permitted first is on the record when it is.
                Fate::Run(run) if self.setup.permissions.is_none() => self.record_start(&gated.call, run),
                _ => {}
            }
        }
        let declined = (reply.stop == StopReason::Refusal).then(|| Outcome::Refused { text: reply.text.clone() });
        let calls = batch.calls.iter().map(|gated| gated.call.clone().normalised()).collect();
        self.state.transcript.push(Message::Assistant { text: reply.text, calls, thoughts: reply.thoughts });
        if let Some(outcome) = declined {
            let settlement = self.take_in(batch);
            return self.end_with(settlement, Ending::Declined, outcome);
        }
        self.dispatch(batch);
    }

    /// Whether the model may know of the skill that a pick names.
    fn sees(&self, pick: &ToolCall) -> bool {
        let arguments = pick.parsed_arguments().ok();
        let id = arguments.as_ref().and_then(|arguments| arguments.get("id")?.as_str());
        let skill = id.and_then(|id| self.setup.graph.find_skill(id.trim()));
        skill.is_some_and(|skill| !self.state.hidden.has(skill))
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
        let decision = decide(&self.setup.graph, &self.state.hidden, self.state.cursor, settlement.evidence());
        self.watch_move(decision.from, decision.to);
        let (stop, warning) = self.govern();
        let limit = self.setup.limits.iterations;
        let ending = match stop {
            Some(trip) => Some((Ending::Stopped, Outcome::Stopped { trip })),
            None if self.state.iteration >= limit => {
                Some((Ending::Cap, Outcome::OutOfIterations { iterations: limit }))
            }
            None => None,
        };
        if let Some((ending, outcome)) = ending {
            self.conclude_batch(settlement, &decision, ending);
            self.say(warning);
            return self.end(outcome);
        }
        self.begin_iteration(&decision, &settlement);
        self.record_superseded(&settlement, &decision);
        self.answer(settlement, &decision, None);
        self.say(warning);
        self.give_bodies(decision.from != decision.to);
    }

    /// Ends the turn with a batch: what returned is evidence as ever, and the next turn begins from what it led to.
    // SPEC 8.
    fn end_with(&mut self, settlement: Settlement, ending: Ending, outcome: Outcome) {
        let decision = decide(&self.setup.graph, &self.state.hidden, self.state.cursor, settlement.evidence());
        self.conclude_batch(settlement, &decision, ending);
        self.end(outcome);
    }

    /// The decision of the last batch of a turn, on the record of the iteration that made it.
    fn conclude_batch(&mut self, settlement: Settlement, decision: &CursorMove, ending: Ending) {
        self.record_decision(decision, &settlement);
        if decision.from != decision.to {
            self.change_cursor(decision.to);
        }
        self.record_superseded(&settlement, decision);
        self.answer(settlement, decision, Some(ending));
    }

    fn say(&mut self, words: Option<String>) {
        if let Some(text) = words {
            self.state.transcript.push(Message::Framework { text, body: None });
        }
    }

    /// Asks the model once more with these words, where it has said nothing that moves anything.
    fn ask_once_more(&mut self, words: String) {
        self.say(Some(words));
        let decision = decide(&self.setup.graph, &self.state.hidden, self.state.cursor, Evidence::Nothing);
        self.begin_iteration(&decision, &Settlement::default());
        self.give_bodies(decision.from != decision.to);
    }

    /// The model said its last word, or wants to: with steps left it is reminded once, inside the cap.
    fn model_answered(&mut self, reply: ModelReply) {
        let ModelReply { text, thoughts, .. } = reply;
        let is_blank = is_blank(&text);
        if !is_blank {
            self.state.transcript.push(Message::Assistant { text: text.clone(), calls: Vec::new(), thoughts });
        }
        match reply.stop {
            StopReason::Refusal => return self.end(Outcome::Refused { text }),
            StopReason::MaxTokens => return self.end(Outcome::Truncated { text }),
            _ => {}
        }
        let may_ask = self.state.iteration < self.setup.limits.iterations;
        if is_blank {
            let asked_again = may_ask && !std::mem::replace(&mut self.state.asked_again, true);
            let iteration = self.state.iteration;
            self.emit(Event::BlankReply { iteration, asked_again });
            return match asked_again {
                true => self.ask_once_more(words::blank_reply()),
                false => self.end(Outcome::Empty),
            };
        }
        let graph = self.setup.graph.clone();
        if let Some(procedure) = self.state.procedure.clone().filter(|procedure| procedure.current(&graph).is_some()) {
            let nudges = procedure.on_unfinished(&self.setup) == OnUnfinished::Nudge;
            let may_nudge = nudges && may_ask && !self.state.nudged;
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
                return self.ask_once_more(words::nudge(&procedure, &graph));
            }
        }
        self.end(Outcome::Answered { text });
    }

    /// Ends the turn with a complete transcript: what has returned counts, the rest is answered as interrupted.
    fn cancel(&mut self) {
        let Some(batch) = self.state.phase.take_batch() else { return self.end(Outcome::Cancelled) };
        let settlement = self.take_in_cancelled(batch);
        self.end_with(settlement, Ending::Cancelled, Outcome::Cancelled);
    }

    fn end(&mut self, outcome: Outcome) {
        self.emit(Event::TurnEnded { iterations: self.state.iteration, outcome: outcome.clone() });
        self.state.phase = Phase::Done(outcome);
    }
}

/// Puts a result where it belongs.
fn take_return(batch: &mut Batch, mut returned: ToolReturn) -> Result<(), InputError> {
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
    // What is nested deeper could not be read back from where the turn is saved.
    if is_deeper_than(&returned.value, DEPTH) {
        returned.value = Value::String(returned.value.to_string());
    }
    run.returned = Some(returned);
    Ok(())
}
