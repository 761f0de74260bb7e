//! What a turn remembers, and what it looks like on disk.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::catalog::{Asked, Then};
use super::dispatch::Batch;
use super::governor::Watch;
use super::offer::Offer;
use super::procedure::Standing;
use super::redact::Unseen;
use super::start::{Menu, Start};
use super::wire::indexed;
use super::{CatalogState, Event, Message, Numbering, Outcome, Procedure, Setup, Transcript, Turn};
use crate::catalog::CatalogEntry;
use crate::decl::ToolId;
use crate::graph::{Graph, Hidden, SkillIx};

/// Everything that changes during a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) transcript: Transcript,
    pub(super) numbering: Numbering,
    /// The host's system prompt for this conversation.
    pub(super) system: String,
    pub(super) unseen: Unseen,
    pub(super) iteration: u32,
    pub(super) cursor: Option<SkillIx>,
    /// Skills opened beside the cursor, in order.
    pub(super) opened: Vec<SkillIx>,
    /// What is open of the catalog.
    pub(super) catalog: CatalogState,
    pub(super) procedure: Option<Procedure>,
    /// Where the procedure of the last turn's skill stood, until it is known whether that skill stays open.
    pub(super) carried: Option<Standing>,
    pub(super) nudged: bool,
    /// The model has been asked again after a blank reply.
    pub(super) asked_again: bool,
    /// What the governor counts.
    pub(super) watch: Watch,
    /// What the turn's start left to the model, until the cursor moves.
    pub(super) menu: Option<Menu>,
    /// Skills that may not be seen.
    pub(super) hidden: Hidden,
    pub(super) phase: Phase,
    pub(super) events: VecDeque<Event>,
}

/// What the turn waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// Which skills may be seen; the turn starts with that.
    Admit { message: String, inherited: Option<String> },
    /// Which skills may be seen still; then it goes on there.
    Readmit(Box<Phase>),
    /// What there is of the catalog.
    Catalog(Asked),
    /// Scores of the message.
    Score(Start),
    /// A choice from the menu.
    Decide(Start),
    /// The model's reply to this offer.
    Model(Offer),
    /// Which of these calls may run.
    Permit(Batch),
    /// Results of these calls.
    Tools(Batch),
    /// What a person says to the questions of these calls.
    Pause(Batch),
    /// Nothing.
    Done(Outcome),
}

impl Phase {
    /// What it waits for, in an error.
    pub(super) fn awaits(&self) -> &'static str {
        match self {
            Phase::Admit { .. } | Phase::Readmit(_) | Phase::Permit(_) => "decisions on permissions",
            Phase::Catalog(_) => "answers about the catalog",
            Phase::Score(_) => "scores",
            Phase::Decide(_) => "a choice",
            Phase::Model(_) => "the model",
            Phase::Tools(_) => "its tools",
            Phase::Pause(_) => "a person",
            Phase::Done(_) => "nothing: it is over",
        }
    }

    /// The phase, out of a turn that is given up.
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Phase::Done(Outcome::Cancelled))
    }

    /// The same, taken out of a turn that ends.
    pub(super) fn take_batch(&mut self) -> Option<Batch> {
        match self {
            Phase::Permit(batch) | Phase::Tools(batch) | Phase::Pause(batch) => Some(std::mem::take(batch)),
            Phase::Readmit(phase) => phase.take_batch(),
            Phase::Catalog(asked) => match &mut asked.then {
                Then::Calls(batch) => Some(std::mem::take(batch)),
                Then::Resume { phase, .. } => phase.take_batch(),
                Then::Start { .. } => None,
            },
            _ => None,
        }
    }
}

/// A turn as it can be stored: plain data, and the graph that it belongs to.
// SPEC 10, 13.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedTurn {
    format: SaveFormat,
    graph: GraphStamp,
    state: State,
}

/// Which layout saved data has. What another version of this library wrote is refused when it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct SaveFormat;

impl SaveFormat {
    /// Goes up whenever saved data changes its layout.
    const NUMBER: u32 = 3;
}

impl From<SaveFormat> for u32 {
    fn from(_: SaveFormat) -> Self {
        SaveFormat::NUMBER
    }
}

impl TryFrom<u32> for SaveFormat {
    type Error = String;

    fn try_from(number: u32) -> Result<Self, String> {
        let known = SaveFormat::NUMBER;
        if number == known {
            return Ok(SaveFormat);
        }
        Err(format!("it was saved in format {number}, and this version of skillgraph reads format {known}"))
    }
}

/// Which graph a state belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct GraphStamp {
    name: String,
    fingerprint: u64,
    pub(super) skills: Vec<String>,
    pub(super) tools: Vec<String>,
    /// The keys of the catalog that the host gave, with their tools.
    catalog: Vec<(String, Vec<String>)>,
    /// The tools of the steps of the procedure that is under way.
    pub(super) steps: Vec<String>,
}

impl GraphStamp {
    fn of(setup: &Setup, procedure: Option<&Procedure>) -> Self {
        let graph = &setup.graph;
        let entries = setup.catalog.iter().flat_map(|catalog| catalog.entries());
        let tools_of = |entry: &CatalogEntry| entry.tools.iter().map(|tool| tool.name.clone()).collect();
        let names = |tools: &[ToolId]| tools.iter().map(ToString::to_string).collect();
        Self {
            name: graph.name().to_owned(),
            fingerprint: graph.fingerprint(),
            skills: graph.skills().iter().map(|skill| skill.id.to_string()).collect(),
            tools: names(graph.tools()),
            catalog: entries.map(|entry| (entry.key.clone(), tools_of(entry))).collect(),
            steps: procedure.map_or(Vec::new(), |procedure| names(&procedure.plan(graph))),
        }
    }
}

/// Why a saved turn cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// It was saved under another graph, or another version of it.
    OtherGraph {
        /// The graph's name when it was saved.
        saved: String,
        /// The graph's name now.
        current: String,
        /// Skills and tools that only the saved graph has.
        gone: Vec<String>,
        /// Skills and tools that only the current graph has.
        new: Vec<String>,
    },
    /// It was saved under this graph and has been changed since: no turn of this graph comes to such a state.
    Impossible {
        /// What about it cannot be.
        what: &'static str,
    },
    /// It was saved while somebody was asked what may be seen and done, and now nobody is.
    NoPermissions,
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (saved, current, gone, new) = match self {
            RestoreError::OtherGraph { saved, current, gone, new } => (saved, current, gone, new),
            RestoreError::Impossible { what } => {
                return write!(f, "the saved turn was changed after it was saved: {what}");
            }
            RestoreError::NoPermissions => {
                return f.write_str("permissions were asked for when the turn was saved, and now they are not");
            }
        };
        write!(f, "the turn was saved under another version of the graph (`{saved}`, now `{current}`)")?;
        if !gone.is_empty() {
            write!(f, "; gone: {}", gone.join(", "))?;
        }
        if !new.is_empty() {
            write!(f, "; new: {}", new.join(", "))?;
        }
        if gone.is_empty() && new.is_empty() {
            f.write_str("; it has the same skills and tools, and something else about it has changed")?;
        }
        Ok(())
    }
}

impl std::error::Error for RestoreError {}

impl State {
    /// Whether somebody was asked what may be seen and done.
    pub(super) fn needs_permissions(&self) -> bool {
        let asks = match &self.phase {
            Phase::Admit { .. } | Phase::Readmit(_) | Phase::Permit(_) => true,
            Phase::Catalog(asked) => matches!(asked.then, Then::Resume { .. }),
            _ => false,
        };
        asks || !self.hidden.is_empty()
    }

    /// Whether the calls of a batch are those of the last message, one by one.
    fn has_called(&self, batch: &Batch) -> bool {
        let Some(Message::Assistant { calls, .. }) = self.transcript.last() else { return batch.calls.is_empty() };
        calls.iter().eq(batch.calls.iter().map(|gated| gated.call.clone().normalised()).collect::<Vec<_>>().iter())
    }

    /// What no turn of this graph comes to.
    pub(super) fn impossible(&self, setup: &Setup) -> Option<&'static str> {
        self.impossible_place(setup).or_else(|| self.impossible_phase(setup, &self.phase, true))
    }

    /// What is wrong with where it is.
    fn impossible_place(&self, setup: &Setup) -> Option<&'static str> {
        let graph = &setup.graph;
        if !self.catalog.is_of(setup) {
            return Some("it has more of the catalog open than it may, or a tool that nobody told of");
        }
        let exists = |skill: &SkillIx| graph.skill(*skill).is_some();
        let menu = self.menu.iter().flat_map(|menu| menu.skills());
        let hidden = self.hidden.iter();
        if !self.cursor.iter().chain(&self.opened).copied().chain(menu).chain(hidden).all(|skill| exists(&skill)) {
            return Some("it is on a skill that the graph does not have");
        }
        if self.cursor.is_some_and(|cursor| graph.is_open(cursor) || self.hidden.has(cursor)) {
            return Some("it is on a skill that cannot hold the cursor");
        }
        let mut seen = BTreeSet::new();
        let may_be_opened = |skill: &SkillIx| graph.is_open(*skill) && !self.hidden.has(*skill);
        if !self.opened.iter().all(|skill| may_be_opened(skill) && seen.insert(*skill)) {
            return Some("a skill is open beside the cursor that cannot be opened there");
        }
        let procedure = self.procedure.as_ref();
        let has_steps = self.cursor.is_some_and(|cursor| Procedure::begin(graph, cursor).is_some());
        let is_of_cursor = |procedure: &Procedure| Some(procedure.skill()) == self.cursor && procedure.is_within(graph);
        if procedure.is_some() != has_steps || !procedure.is_none_or(is_of_cursor) {
            return Some("its procedure is not one of the open skill, or is beyond its end");
        }
        None
    }

    /// What is wrong with what it waits for. `now`: it waits for it now, and not only after permissions are asked anew.
    fn impossible_phase(&self, setup: &Setup, phase: &Phase, now: bool) -> Option<&'static str> {
        let graph = &setup.graph;
        // Between an offer and the end of its batch nothing changes that the offer depends on. What waits for a person, or for
        // permissions anew, passes the gate once more.
        let offer = Offer::of(setup, self);
        let wrong = match phase {
            Phase::Readmit(inner) => match **inner {
                Phase::Readmit(_) | Phase::Admit { .. } | Phase::Pause(_) | Phase::Done(_) => {
                    Some("it asks for permissions where none are asked for")
                }
                _ => self.impossible_phase(setup, inner, false),
            },
            Phase::Catalog(Asked { then: Then::Resume { phase, .. }, .. }) => match **phase {
                Phase::Readmit(_) | Phase::Admit { .. } | Phase::Done(_) => Some("it asks for a catalog where none is"),
                _ => self.impossible_phase(setup, phase, false),
            },
            Phase::Score(start) | Phase::Decide(start) if !start.skills().all(|skill| graph.skill(skill).is_some()) => {
                Some("it starts with a skill that the graph does not have")
            }
            Phase::Model(saved) if *saved != offer && now => Some("it offers other tools than the graph does there"),
            Phase::Catalog(Asked { then: Then::Calls(batch), .. }) | Phase::Permit(batch) | Phase::Tools(batch)
                if now && !batch.is_offered_by(&offer) =>
            {
                Some("it runs a tool that the graph does not offer there")
            }
            Phase::Tools(batch) if now && batch.is_complete() => Some("it waits for tools that have all returned"),
            Phase::Pause(batch) if !batch.is_pending() => Some("it waits for a person who was asked nothing"),
            _ => None,
        };
        let batch = match phase {
            Phase::Permit(batch) | Phase::Tools(batch) | Phase::Pause(batch) => Some(batch),
            Phase::Catalog(Asked { then: Then::Calls(batch), .. }) => Some(batch),
            _ => None,
        };
        wrong.or_else(|| self.impossible_batch(setup, batch?))
    }

    fn impossible_batch(&self, setup: &Setup, batch: &Batch) -> Option<&'static str> {
        if !batch.is_as_called(setup, self) {
            return Some("it runs another tool than the model called, or with other arguments");
        }
        if !batch.asks_as_asked(setup, self) {
            return Some("it asks a person something else than it asked before");
        }
        (!self.has_called(batch)).then_some("its calls are not those of the model's last message")
    }
}

impl Turn {
    /// The turn as plain data. It can be taken at any time; a turn restored from it ends as this one would.
    pub fn save(&self) -> SavedTurn {
        let graph = GraphStamp::of(&self.setup, self.state.procedure.as_ref());
        SavedTurn { format: SaveFormat, graph, state: self.state.clone() }
    }

    /// Goes on with a saved turn. What a catalog has lost since, where only its host knows it, is dropped by name as in
    /// [`Turn::migrate`]. Where the setup has permissions, they are asked for anew before anything else.
    ///
    /// # Errors
    ///
    /// [`RestoreError::OtherGraph`] where the graph has changed since: its names and positions would mean something else;
    /// [`Turn::migrate`] goes on all the same. [`RestoreError::Impossible`] where the state itself has: a tool would run
    /// that was not offered, or a step be behind that is not. [`RestoreError::NoPermissions`] where permissions were asked
    /// for, and the setup has none.
    // SPEC 9.
    pub fn restore(setup: Arc<Setup>, saved: SavedTurn) -> Result<Self, RestoreError> {
        let saved = saved.indexed()?;
        if !saved.is_of(&setup) {
            if saved.graph.is_same_graph(&setup.graph) {
                return Self::migrate(setup, saved);
            }
            return Err(saved.graph.differs_from(&setup));
        }
        if let Some(what) = saved.state.impossible(&setup) {
            return Err(RestoreError::Impossible { what });
        }
        if setup.permissions.is_none() && saved.state.needs_permissions() {
            return Err(RestoreError::NoPermissions);
        }
        let mut turn = Self { setup, state: saved.state };
        turn.ask_again();
        Ok(turn)
    }

    /// What went on is asked for anew. At a question to a person it is asked for when the answer is there.
    pub(super) fn ask_again(&mut self) {
        if self.setup.permissions.is_none() {
            return;
        }
        match &mut self.state.phase {
            Phase::Admit { .. } | Phase::Readmit(_) | Phase::Pause(_) | Phase::Done(_) => {}
            phase => {
                let inner = match phase.take() {
                    // It was asking anew already, and begins with that again.
                    Phase::Catalog(Asked { then: Then::Resume { phase, .. }, .. }) => *phase,
                    other => other,
                };
                *phase = Phase::Readmit(Box::new(inner));
            }
        }
    }
}

impl SavedTurn {
    /// The same, with what is known of its transcript: nothing but the messages is saved.
    pub(super) fn indexed(mut self) -> Result<Self, RestoreError> {
        let transcript = std::mem::take(&mut self.state.transcript);
        let what = "its messages are not in order: a call is without its result, or an id stands twice";
        self.state.transcript = indexed(transcript).ok_or(RestoreError::Impossible { what })?;
        Ok(self)
    }

    /// Whether it was saved under this graph. The steps of a procedure are part of what the fingerprint is of.
    pub(super) fn is_of(&self, setup: &Setup) -> bool {
        self.graph == GraphStamp { steps: self.graph.steps.clone(), ..GraphStamp::of(setup, None) }
    }

    pub(super) fn into_parts(self) -> (GraphStamp, State) {
        (self.graph, self.state)
    }
}

impl GraphStamp {
    /// Whether the graph is the same, and at the most the catalog of the host is another.
    fn is_same_graph(&self, graph: &Graph) -> bool {
        self.name == graph.name() && self.fingerprint == graph.fingerprint()
    }

    fn differs_from(self, setup: &Setup) -> RestoreError {
        let current = GraphStamp::of(setup, None);
        let old: Vec<&String> = self.skills.iter().chain(&self.tools).collect();
        let now: Vec<&String> = current.skills.iter().chain(&current.tools).collect();
        let missing = |from: &[&String], other: &[&String]| {
            from.iter().filter(|name| !other.contains(name)).map(|name| (*name).clone()).collect()
        };
        let (gone, new) = (missing(&old, &now), missing(&now, &old));
        RestoreError::OtherGraph { gone, new, saved: self.name, current: current.name }
    }
}
