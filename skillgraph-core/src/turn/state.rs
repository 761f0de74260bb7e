//! What a turn remembers, and what it looks like on disk.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::dispatch::Batch;
use super::governor::Watch;
use super::offer::Offer;
use super::start::{Menu, Start};
use super::{Event, Outcome, Procedure, Setup, Transcript, Turn};
use crate::graph::{Graph, SkillIx};

/// Everything that changes during a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) transcript: Transcript,
    pub(super) iteration: u32,
    pub(super) cursor: Option<SkillIx>,
    /// Skills opened beside the cursor, in order.
    pub(super) opened: Vec<SkillIx>,
    pub(super) procedure: Option<Procedure>,
    pub(super) nudged: bool,
    /// What the governor counts.
    pub(super) watch: Watch,
    /// What the turn's start left to the model, until the cursor moves.
    pub(super) menu: Option<Menu>,
    pub(super) phase: Phase,
    pub(super) events: VecDeque<Event>,
}

/// What the turn waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// Scores of the message.
    Score(Start),
    /// A choice from the menu.
    Decide(Start),
    /// The model's reply to this offer.
    Model(Offer),
    /// Results of these calls.
    Tools(Batch),
    /// Nothing.
    Done(Outcome),
}

/// A turn as it can be stored: plain data, and the graph that it belongs to (SPEC 10, 13).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedTurn {
    graph: GraphStamp,
    state: State,
}

/// Which graph a state belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct GraphStamp {
    name: String,
    fingerprint: u64,
    skills: Vec<String>,
    tools: Vec<String>,
}

impl GraphStamp {
    fn of(graph: &Graph) -> Self {
        Self {
            name: graph.name().to_owned(),
            fingerprint: graph.fingerprint(),
            skills: graph.skills().iter().map(|skill| skill.id.to_string()).collect(),
            tools: graph.tools().iter().map(ToString::to_string).collect(),
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
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (saved, current, gone, new) = match self {
            RestoreError::OtherGraph { saved, current, gone, new } => (saved, current, gone, new),
            RestoreError::Impossible { what } => {
                return write!(f, "the saved turn was changed after it was saved: {what}");
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
    /// What no turn of this graph comes to.
    fn impossible(&self, graph: &Graph) -> Option<&'static str> {
        if self.cursor.iter().chain(&self.opened).any(|skill| graph.skill(*skill).is_none()) {
            return Some("it is on a skill that the graph does not have");
        }
        if let Some(procedure) = &self.procedure
            && (Some(procedure.skill()) != self.cursor || !procedure.is_within(graph))
        {
            return Some("its procedure is not one of the open skill, or is beyond its end");
        }
        // Between an offer and the end of its batch nothing changes that the offer depends on.
        let offer = Offer::of(graph, self);
        match &self.phase {
            Phase::Model(saved) if *saved != offer => Some("it offers other tools than the graph does there"),
            Phase::Tools(batch) if !batch.is_offered_by(&offer) => {
                Some("it runs a tool that the graph does not offer there")
            }
            _ => None,
        }
    }
}

impl Turn {
    /// The turn as plain data. It can be taken at any time; a turn restored from it ends as this one would.
    pub fn save(&self) -> SavedTurn {
        SavedTurn { graph: GraphStamp::of(&self.setup.graph), state: self.state.clone() }
    }

    /// Goes on with a saved turn.
    ///
    /// # Errors
    ///
    /// [`RestoreError::OtherGraph`] where the graph has changed since: its names and positions would mean something else.
    /// [`RestoreError::Impossible`] where the state itself has: a tool would run that was not offered, or a step be behind
    /// that is not.
    pub fn restore(setup: Arc<Setup>, saved: SavedTurn) -> Result<Self, RestoreError> {
        let current = GraphStamp::of(&setup.graph);
        if saved.graph == current {
            return match saved.state.impossible(&setup.graph) {
                None => Ok(Self { setup, state: saved.state }),
                Some(what) => Err(RestoreError::Impossible { what }),
            };
        }
        let old: Vec<&String> = saved.graph.skills.iter().chain(&saved.graph.tools).collect();
        let now: Vec<&String> = current.skills.iter().chain(&current.tools).collect();
        let missing = |from: &[&String], other: &[&String]| {
            from.iter().filter(|name| !other.contains(name)).map(|name| (*name).clone()).collect()
        };
        Err(RestoreError::OtherGraph {
            gone: missing(&old, &now),
            new: missing(&now, &old),
            saved: saved.graph.name,
            current: current.name,
        })
    }
}
