//! A tool asks a person, and the turn waits (SPEC 10). What has finished by then stays finished, and what the person saw is
//! what runs.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::dispatch::Batch;
use super::machine::Turn;
use super::state::Phase;
use super::{Event, InputError, ToolReturn, words};
use crate::decl::{Status, ToolId};

/// What a tool asks a person before it goes on.
///
/// The four answers are made from it, so that an answer always belongs to the call that the person saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The call that waits.
    pub call_id: String,
    /// The tool.
    pub tool: ToolId,
    /// The arguments with which it was called, and with which it will run.
    pub arguments: Map<String, Value>,
    /// The tool's question.
    pub text: String,
}

impl Question {
    /// Yes: the tool runs.
    pub fn approve(&self) -> Answer {
        self.answer(PersonReply::Approved)
    }

    /// The tool runs, and reads these words.
    pub fn reply(&self, text: impl Into<String>) -> Answer {
        self.answer(PersonReply::Said { text: text.into() })
    }

    /// No: the tool does not run. The model reads why; the call's result is `denied`.
    pub fn deny(&self, reason: impl Into<String>) -> Answer {
        self.answer(PersonReply::Denied { reason: reason.into() })
    }

    /// Not now: the turn goes on without, and the call's result is `pending`.
    pub fn postpone(&self) -> Answer {
        self.answer(PersonReply::Postponed)
    }

    fn answer(&self, reply: PersonReply) -> Answer {
        Answer { call_id: self.call_id.clone(), reply }
    }
}

/// What a person says to a [`Question`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The call that it is for.
    pub call_id: String,
    /// What they say.
    pub reply: PersonReply,
}

/// The words of an answer. A tool that runs again meets one of the first two; the others keep it from running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum PersonReply {
    /// Yes.
    Approved,
    /// Words for the tool.
    Said {
        /// What they are.
        text: String,
    },
    /// No.
    Denied {
        /// Why.
        reason: String,
    },
    /// Not now.
    Postponed,
}

impl Turn {
    /// Waits for a person, where a finished batch has questions. Says whether it does.
    pub(super) fn pause_if_asked(&mut self) -> bool {
        let Phase::Tools(batch) = &mut self.state.phase else { return false };
        if !batch.is_pending() {
            return false;
        }
        let questions = batch.questions(&self.setup.graph);
        let batch = std::mem::take(batch);
        self.state.phase = Phase::Pause(batch);
        let iteration = self.state.iteration;
        self.emit(Event::Paused { iteration, questions });
        true
    }

    /// Takes in an answer. With the last one the batch goes on: it passes the gate and the permissions once more.
    pub(super) fn person_answered(&mut self, answer: Answer) -> Result<(), InputError> {
        let Phase::Pause(batch) = &mut self.state.phase else { return Ok(()) };
        let Answer { call_id, reply } = answer;
        let Some(run) = batch.run_of(&call_id).filter(|run| run.is_pending()) else {
            return Err(InputError::NoQuestion { call_id });
        };
        let (graph, iteration) = (&self.setup.graph, self.state.iteration);
        let tool = graph.tool_id(run.tool);
        run.answer = Some(reply.clone());
        match &reply {
            PersonReply::Approved | PersonReply::Said { .. } => {
                run.returned = None;
                run.started = false;
            }
            PersonReply::Denied { reason } => {
                let text = words::denied_by_person(tool.as_str(), reason);
                run.returned = Some(ToolReturn::message(&call_id, Status::Denied, text));
            }
            PersonReply::Postponed => {
                let question = run.returned.as_ref().map_or("", |returned| &returned.text);
                let text = words::postponed(tool.as_str(), question);
                run.returned = Some(ToolReturn::message(&call_id, Status::Pending, text));
            }
        }
        let waits = batch.is_pending();
        let batch = (!waits).then(|| std::mem::take(batch));
        self.emit(Event::PersonAnswered { iteration, call_id, tool, reply });
        if let Some(batch) = batch {
            self.go_on(batch);
        }
        Ok(())
    }

    /// The same gate, permissions and rules as at a first dispatch.
    pub(super) fn go_on(&mut self, batch: Batch) {
        if self.setup.permissions.is_some() {
            self.state.phase = Phase::Readmit(Box::new(Phase::Tools(batch)));
        } else {
            let batch = self.gate_again(batch);
            self.dispatch(batch);
        }
    }
}
