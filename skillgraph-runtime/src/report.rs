//! How a turn went, and why one could not be run.

use std::fmt;

use skillgraph_core::decl::SkillId;
use skillgraph_core::turn::{Event, InputError, Outcome};

use crate::recorder::RouteRecorder;

/// How a turn went.
#[derive(Debug, Clone)]
pub struct TurnReport {
    /// How it ended.
    pub outcome: Outcome,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// The skill that was open at the end.
    pub cursor: Option<SkillId>,
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

/// Why a turn could not be run to its end. The conversation is complete and can go on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// The model could not be asked.
    Model {
        /// Why.
        reason: String,
    },
    /// There is no tokio runtime to run tools on.
    NoRuntime,
    /// No turn is under way that could go on.
    NoTurn,
    /// No question waits for this answer. The conversation is as it was.
    NoQuestion {
        /// The call that the answer is for.
        call_id: String,
    },
    /// The turn machine refused an answer of the loop: a mistake of this library.
    Protocol(InputError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Model { reason } => write!(f, "the model could not be asked: {reason}"),
            RunError::NoRuntime => f.write_str("tools run as tokio tasks, and there is no tokio runtime here"),
            RunError::NoTurn => f.write_str("no turn is under way: send a message first"),
            RunError::NoQuestion { call_id } => write!(f, "no question of the call `{call_id}` waits for an answer"),
            RunError::Protocol(error) => write!(f, "the loop gave the turn a wrong answer: {error}"),
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RunError::Protocol(error) => Some(error),
            _ => None,
        }
    }
}
