//! How a turn went, and why one could not be run.

use std::fmt;

use serde::Serialize;
use skillgraph_core::decl::SkillId;
use skillgraph_core::turn::{Event, InputError, Outcome, Standing, Transcript};

use crate::model::ModelError;
use crate::recorder::RouteRecorder;

/// How a turn went: data, which serialises.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TurnReport {
    /// How it ended.
    pub outcome: Outcome,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// The skill that was open at the end.
    pub cursor: Option<SkillId>,
    /// Where the procedure of that skill stands, where it has one that is not finished.
    pub procedure: Option<Standing>,
    /// The conversation, this turn included. While a turn waits, its last calls have no results yet.
    pub transcript: Transcript,
}

impl TurnReport {
    /// The model's words, where the turn ended with some.
    pub fn text(&self) -> Option<&str> {
        self.outcome.text()
    }

    /// Where the cursor went, why, and what was refused on the way.
    pub fn route(&self) -> RouteRecorder {
        RouteRecorder::of(&self.events)
    }
}

/// Why a turn could not be run to its end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RunError {
    /// The model could not be asked. The turn waits where it was: `go_on` asks again, `send` gives it up.
    Model {
        /// Why.
        error: ModelError,
        /// What happened so far.
        report: Box<TurnReport>,
    },
    /// The state could not be stored. Nothing was done after that: `go_on` tries again.
    Checkpoint {
        /// Why.
        reason: String,
        /// What happened so far.
        report: Box<TurnReport>,
    },
    /// There is no tokio runtime to run tools on.
    NoRuntime,
    /// No turn is under way that could go on.
    NoTurn,
    /// This answers no question that waits: it has its answer, belongs to another conversation, or was about something else. The
    /// conversation is as it was.
    NoQuestion {
        /// The number of the question that the answer is for.
        question: u64,
    },
    /// A person approved a call with arguments that no call can have. The question still waits.
    UnfitArguments {
        /// What is wrong with them.
        reason: String,
    },
    /// The turn machine refused an answer of the loop: a mistake of this library.
    Protocol(InputError),
}

impl RunError {
    /// What happened before it, where a turn was under way.
    pub fn report(&self) -> Option<&TurnReport> {
        match self {
            RunError::Model { report, .. } | RunError::Checkpoint { report, .. } => Some(report),
            _ => None,
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Model { error, .. } => write!(f, "the model could not be asked: {error}"),
            RunError::Checkpoint { reason, .. } => write!(f, "the conversation could not be stored: {reason}"),
            RunError::NoRuntime => f.write_str("tools run as tokio tasks, and there is no tokio runtime here"),
            RunError::NoTurn => f.write_str("no turn is under way: send a message first"),
            RunError::NoQuestion { question } => InputError::NoQuestion { question: *question }.fmt(f),
            RunError::UnfitArguments { reason } => write!(f, "the tool cannot be run with that: {reason}"),
            RunError::Protocol(error) => write!(f, "the loop gave the turn a wrong answer: {error}"),
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RunError::Protocol(error) => Some(error),
            RunError::Model { error, .. } => error.source(),
            _ => None,
        }
    }
}
