//! One conversation turn as a state machine without I/O.
//!
//! [`Turn::poll_output`] says what the turn waits for, [`Turn::handle_input`] takes the answer, [`Turn::poll_event`] tells
//! what happened. The same inputs give the same outputs. Between any two outputs the turn can be saved and restored, and
//! ends as if nothing had happened.
//!
//! ```text
//! start ─▶ [Authorize] ─▶ [AskCatalog] ─▶ [Score] ─▶ [Decide] ─▶
//!    decide ─▶ offer ─▶ CallModel ─┬─▶ answer ─▶ Done
//!       ▲                          └─▶ calls ─▶ gate ─▶ [AskCatalog] ─▶ [Authorize] ─▶ RunTools ─▶ [Pause] ─▶ settle ─┐
//!       └─────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
//! ```
// SPEC 13.

mod arguments;
mod bodies;
mod catalog;
mod dispatch;
mod event;
mod governor;
mod machine;
mod message;
mod migrate;
mod numbering;
mod offer;
mod pause;
mod permission;
mod procedure;
mod record;
mod redact;
mod settle;
mod start;
mod state;
mod voice;
mod wire;
mod words;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::catalog::Catalog;
use crate::finding::Report;
use crate::graph::Graph;

pub use catalog::{CatalogAnswer, CatalogQuestion, CatalogRefusal, CatalogState, CatalogTool, CloseReason};
pub use event::{
    CallRefusal, ClaimRecord, Event, FiringRecord, GuardRecord, HiddenSkill, MoveRecord, PickRefusal, ProposalRefusal,
    RunnerUp, ScoreRecord, SkipRefusal, Suggestion, TurnRouted, UnfinishedAction,
};
pub use governor::{Trip, TripAction};
pub use machine::{Carried, Input, InputError, Output, Turn};
pub use message::{
    ArgumentsError, Aside, BodyPart, Message, ModelReply, ModelRequest, StopReason, ToolCall, ToolMessage, ToolSpec,
    Transcript, Usage,
};
pub use numbering::Numbering;
pub use pause::{Answer, PersonReply, Question};
pub use permission::{Capability, Check, Decision, Permissions, Target};
pub use procedure::{Procedure, Standing};
pub use redact::Unseen;
pub use settle::{Proposal, ToolReturn, ToolRun};
pub use start::{Choice, Continuity, DecideRequest, IntentCandidate, ScoreRequest, Scores, Strictness};
pub use state::{RestoreError, SaveFormat, SavedTurn};
pub use wire::{closed_schema, object_schema};

/// What stays the same through every turn of an agent.
#[derive(Debug)]
pub struct Setup {
    /// The graph.
    pub graph: Arc<Graph>,
    /// The tools of the registry as the model is told of them, in its order. What the graph has beyond them only the host of a
    /// catalog knows, and tells when they are bound.
    pub tools: Vec<Arc<ToolSpec>>,
    /// The host's own system prompt.
    pub system: String,
    /// How far a turn may go.
    pub limits: Limits,
    /// What a pick may do.
    pub strictness: Strictness,
    /// Whether the host carries the open skill, and where its procedure stands, into the next turn.
    pub continuity: Continuity,
    /// Whether the record has content: what tools are run with and return, and what is said of refused calls.
    pub record_content: bool,
    /// Whether a menu is put before a decider first.
    pub decider: bool,
    /// That permissions are asked for, where they are: who sees which skill, and who runs which tool.
    pub permissions: Option<Permissions>,
    /// Skills that the model opens within a budget, beside the graph or alone.
    // SPEC 11.
    pub catalog: Option<Catalog>,
}

impl Setup {
    /// A graph with the tools of its registry, in its order, and nothing else said.
    pub fn new(graph: Arc<Graph>, tools: Vec<Arc<ToolSpec>>) -> Self {
        Self {
            graph,
            tools,
            system: String::new(),
            limits: Limits::default(),
            strictness: Strictness::default(),
            continuity: Continuity::default(),
            record_content: false,
            decider: false,
            permissions: None,
            catalog: None,
        }
    }

    /// Checks the graph, as [`Graph::checkup`], and whether its procedures fit into a turn.
    pub fn checkup(&self) -> Report {
        self.graph.checkup_within(self.limits.iterations)
    }

    /// Whether the agent itself has the tool, and not only the host of a catalog.
    pub(crate) fn is_registered(&self, name: &str) -> bool {
        self.graph.find_tool(name).is_some_and(|tool| tool.position() < self.tools.len())
    }
}

/// How far a turn may go.
// SPEC 8, 17.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Model calls a turn; never exceeded.
    pub iterations: u32,
    /// Characters of one tool result that the model reads; of a longer one the rest is left out, and that is said.
    pub result_characters: usize,
}

impl Default for Limits {
    /// 10 model calls a turn, 100,000 characters a result.
    fn default() -> Self {
        Self { iterations: 10, result_characters: 100_000 }
    }
}

/// How a turn ended. In every case the transcript is complete: each call has its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The model answered.
    Answered {
        /// What it said.
        text: String,
    },
    /// The model declined to answer.
    Refused {
        /// What it said.
        text: String,
    },
    /// The model's answer was cut off.
    Truncated {
        /// What there is of it.
        text: String,
    },
    /// The iteration cap was reached with calls still coming.
    OutOfIterations {
        /// The cap.
        iterations: u32,
    },
    /// The governor ended a run that was spinning.
    Stopped {
        /// What it saw.
        trip: Trip,
    },
    /// The model said nothing, twice.
    Empty,
    /// It has not: the model could not be asked, and can be asked again. Who runs turns in a loop is told by this.
    ModelFailed {
        /// Why.
        reason: String,
    },
    /// The host ended the turn.
    Cancelled,
    /// It has not: tools ask a person. A turn says so by [`Output::Pause`]; who runs turns in a loop is told by this.
    Paused {
        /// What they ask.
        questions: Vec<Question>,
    },
}

impl Outcome {
    /// How it ended, in one word, as it stands in stored events.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Answered { .. } => "answered",
            Outcome::Refused { .. } => "refused",
            Outcome::Truncated { .. } => "truncated",
            Outcome::OutOfIterations { .. } => "out_of_iterations",
            Outcome::Stopped { .. } => "stopped",
            Outcome::Empty => "empty",
            Outcome::ModelFailed { .. } => "model_failed",
            Outcome::Cancelled => "cancelled",
            Outcome::Paused { .. } => "paused",
        }
    }

    /// The model's words, where the turn ended with some.
    pub fn text(&self) -> Option<&str> {
        match self {
            Outcome::Answered { text } | Outcome::Refused { text } | Outcome::Truncated { text } => Some(text),
            _ => None,
        }
    }
}
