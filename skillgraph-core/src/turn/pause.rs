//! A tool asks a person, and the turn waits. What has finished by then stays finished, and what the person saw is
//! what runs.
// SPEC 10.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::dispatch::{Batch, Run, parameters};
use super::machine::Turn;
use super::state::Phase;
use super::{Event, InputError, ToolReturn, arguments, words};
use crate::decl::{Status, ToolId};

/// What a tool asks a person before it goes on.
///
/// Answers are made from it, so that one belongs to the question that the person saw, and to no other: an answer to another
/// question, an older one, or one that has its answer is refused, in this turn and in every later one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Its number, unique in the conversation.
    pub id: u64,
    /// The call that waits.
    pub call_id: String,
    /// The tool.
    pub tool: ToolId,
    /// The arguments with which it was called, and with which it will run.
    pub arguments: Map<String, Value>,
    /// The tool's question; of a tool that asks without words, what it would run with.
    pub text: String,
    /// A digest of all this and of the conversation. An answer carries it back.
    pub fingerprint: String,
}

impl Question {
    pub(super) fn new(
        conversation: &str,
        id: u64,
        call_id: String,
        tool: ToolId,
        arguments: Map<String, Value>,
        text: String,
    ) -> Self {
        let parts = (conversation, id, &call_id, &tool, &arguments, &text);
        // Texts, numbers and JSON: it always serialises.
        let digest = hmac_sha256::Hash::hash(&serde_json::to_vec(&parts).unwrap_or_default());
        let fingerprint = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Self { id, call_id, tool, arguments, text, fingerprint }
    }

    /// Yes: the tool runs.
    pub fn approve(&self) -> Answer {
        self.answer(PersonReply::Approved)
    }

    /// Yes, with other arguments than the model gave. They pass the same gate; the record says what was changed, and so does the
    /// result that the model reads.
    pub fn approve_with(&self, arguments: Map<String, Value>) -> Answer {
        self.answer(PersonReply::ApprovedWith { arguments })
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
        Answer { question: self.id, fingerprint: self.fingerprint.clone(), reply }
    }
}

/// What a person says to a [`Question`]: plain data, so that it can come back from a browser, a queue, or a letter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The number of the question.
    pub question: u64,
    /// The fingerprint of the question as the person saw it.
    pub fingerprint: String,
    /// What they say.
    pub reply: PersonReply,
}

/// The words of an answer. A tool that runs again meets one of the first three; the others keep it from running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum PersonReply {
    /// Yes.
    Approved,
    /// Yes, with these arguments in place of the model's.
    ApprovedWith {
        /// What they are.
        arguments: Map<String, Value>,
    },
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
        let mut batch = std::mem::take(batch);
        let mut numbering = self.state.numbering.clone();
        batch.number_questions(&self.setup, &self.state, &mut numbering);
        self.state.numbering = numbering;
        let questions = batch.questions(&self.setup, &self.state);
        self.state.phase = Phase::Pause(batch);
        let iteration = self.state.iteration;
        self.emit(Event::Paused { iteration, questions });
        true
    }

    /// Takes in an answer. With the last one the batch goes on: it passes the gate and the permissions once more.
    pub(super) fn person_answered(&mut self, answer: Answer) -> Result<(), InputError> {
        let setup = self.setup.clone();
        let Phase::Pause(batch) = &self.state.phase else { return Ok(()) };
        let mut batch = batch.clone();
        let Answer { question, fingerprint, mut reply } = answer;
        let asked = batch.asked(question);
        let is_it = |run: &Run| run.asked.as_ref().is_some_and(|asked| asked.fingerprint == fingerprint);
        let Some((call, run)) = asked.filter(|(_, run)| is_it(run)) else {
            return Err(InputError::NoQuestion { question });
        };
        let (graph, iteration, call_id) = (&setup.graph, self.state.iteration, call.id.clone());
        let tool = graph.tool_id(run.tool);
        if let PersonReply::ApprovedWith { arguments } = &mut reply {
            let schema = parameters(&setup, &self.state, run.tool);
            match arguments::admit(std::mem::take(arguments), schema) {
                Ok(admitted) => *arguments = admitted,
                Err(error) => return Err(InputError::UnfitArguments { reason: error.to_string() }),
            }
            run.arguments = arguments.clone();
            run.changed = Some(arguments.clone());
        }
        run.asked = None;
        run.answer = Some(reply.clone());
        match &reply {
            PersonReply::Approved | PersonReply::ApprovedWith { .. } | PersonReply::Said { .. } => {
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
        self.emit(Event::PersonAnswered { iteration, question, call_id, tool, reply });
        if waits {
            self.state.phase = Phase::Pause(batch);
        } else {
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
