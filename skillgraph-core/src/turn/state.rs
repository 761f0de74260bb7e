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
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RestoreError::OtherGraph { saved, current, gone, new } = self;
        write!(f, "the turn was saved under another version of the graph (`{saved}`, now `{current}`)")?;
        if !gone.is_empty() {
            write!(f, "; gone: {}", gone.join(", "))?;
        }
        if !new.is_empty() {
            write!(f, "; new: {}", new.join(", "))?;
        }
        Ok(())
    }
}

impl std::error::Error for RestoreError {}

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
    pub fn restore(setup: Arc<Setup>, saved: SavedTurn) -> Result<Self, RestoreError> {
        let current = GraphStamp::of(&setup.graph);
        if saved.graph == current {
            return Ok(Self { setup, state: saved.state });
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
