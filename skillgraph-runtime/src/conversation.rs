//! A conversation: turn after turn with one transcript.

use std::fmt;

use skillgraph_core::decl::SkillId;
use skillgraph_core::turn::{Event, Input, InputError, Outcome, Transcript, Turn};

use crate::agent::Agent;
use crate::drive::drive;
use crate::recorder::RouteRecorder;

/// A conversation with an agent (SPEC 14.1). All that changes is in here: conversations never see each other.
///
/// Dropping the future of [`Conversation::send`] stops the turn, and the tools with it. What had returned by then is kept,
/// open calls count as interrupted, and the next message goes on after them.
pub struct Conversation {
    agent: Agent,
    history: Transcript,
    /// The skill that was open when the last turn ended.
    cursor: Option<SkillId>,
    /// The turn under way; left behind by a `send` that was dropped.
    turn: Option<Turn>,
    observer: Option<Observer>,
}

/// What a turn takes over from the one before (SPEC 4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Continuity {
    /// Nothing: every turn starts where its own message leads.
    #[default]
    Turn,
    /// The skill that was open. A rule and a decisive scorer beat it; where neither says anything, it stays open.
    Conversation,
}

type Observer = Box<dyn FnMut(&Event) + Send + Sync>;

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
    /// The turn machine refused an answer of the loop: a mistake of this library.
    Protocol(InputError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Model { reason } => write!(f, "the model could not be asked: {reason}"),
            RunError::NoRuntime => f.write_str("tools run as tokio tasks, and there is no tokio runtime here"),
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

impl Conversation {
    pub(crate) fn new(agent: Agent, history: Transcript) -> Self {
        Self { agent, history, cursor: None, turn: None, observer: None }
    }

    /// Calls `observer` with every event from now on, as it happens.
    pub fn on_event(&mut self, observer: impl FnMut(&Event) + Send + Sync + 'static) {
        self.observer = Some(Box::new(observer));
    }

    /// Sends the user's next message and waits for the turn to end. Must be called on a tokio runtime with time enabled.
    ///
    /// # Errors
    ///
    /// [`RunError::Model`] where the model could not be asked, [`RunError::NoRuntime`] outside a tokio runtime. Every
    /// other end is a [`TurnReport`] with its [`Outcome`].
    pub async fn send(&mut self, message: impl Into<String>) -> Result<TurnReport, RunError> {
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(RunError::NoRuntime);
        }
        self.close_turn();
        let mut events = Vec::new();
        let observer = &mut self.observer;
        let mut observe = |event: Event| {
            if let Some(observer) = observer {
                observer(&event);
            }
            events.push(event);
        };
        let inherited = match self.agent.parts.continuity {
            Continuity::Turn => None,
            Continuity::Conversation => self.cursor.as_ref().map(SkillId::as_str),
        };
        let turn = Turn::start_from(self.agent.setup().clone(), self.history.clone(), inherited, message);
        let turn = self.turn.insert(turn);
        let driven = drive(&self.agent.parts, turn, &mut observe).await;
        let cursor = turn.cursor();
        self.close_turn();
        match driven? {
            Outcome::ModelFailed { reason } => Err(RunError::Model { reason }),
            outcome => Ok(TurnReport { outcome, events, cursor }),
        }
    }

    /// What was said. If a `send` was dropped, its open calls are answered as interrupted.
    pub fn transcript(&self) -> Transcript {
        match self.turn.clone() {
            None => self.history.clone(),
            Some(mut turn) => {
                cancel(&mut turn);
                turn.transcript().clone()
            }
        }
    }

    /// The agent.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Takes the turn under way, if there is one, into the history.
    fn close_turn(&mut self) {
        let Some(mut turn) = self.turn.take() else { return };
        cancel(&mut turn);
        while let Some(event) = turn.poll_event() {
            if let Some(observer) = &mut self.observer {
                observer(&event);
            }
        }
        self.history = turn.transcript().clone();
        self.cursor = turn.cursor();
    }
}

/// Ends the turn, unless it has ended: then there is nothing to cancel and it says so.
fn cancel(turn: &mut Turn) {
    let _ = turn.handle_input(Input::Cancel);
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("agent", &self.agent)
            .field("messages", &self.history.len())
            .finish_non_exhaustive()
    }
}
