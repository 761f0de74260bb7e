//! What tells a conversation, its questions and its saves from every other.
// SPEC 6, 10.

use serde::{Deserialize, Serialize};

use super::Transcript;

/// How much has happened in a conversation, and what it is called in keys: carried from turn to turn, and saved with it.
///
/// ```
/// use skillgraph_core::turn::Numbering;
///
/// let numbering = Numbering::new("order-desk/4711");
/// assert_eq!(numbering.conversation(), "order-desk/4711");
/// assert_eq!(numbering.revision(), 0);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Numbering {
    conversation: String,
    questions: u64,
    revision: u64,
}

impl Numbering {
    /// The numbering of a conversation in which nothing has happened. No other conversation has the same name: keys of calls and
    /// fingerprints of questions are made from it.
    pub fn new(conversation: impl Into<String>) -> Self {
        Self { conversation: conversation.into(), questions: 0, revision: 0 }
    }

    /// The numbering of a conversation that goes on after what was said elsewhere. The same name with the same history gives the
    /// same keys; with another history it gives others, so that no call can be taken for one that the history does not show.
    pub fn after(conversation: impl Into<String>, history: &Transcript) -> Self {
        let conversation = conversation.into();
        if history.is_empty() {
            return Self::new(conversation);
        }
        // Messages are texts: they always serialise.
        let digest = hmac_sha256::Hash::hash(&serde_json::to_vec(history).unwrap_or_default());
        let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Self::new(format!("{conversation}~{digest}"))
    }

    /// What the conversation is called in keys.
    pub fn conversation(&self) -> &str {
        &self.conversation
    }

    /// A counter that grows with every step of the conversation: of two saves, the one with the lower revision is older.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// What a tool may know a call by, however often it is run: it differs from that of every other call.
    pub(super) fn key_of(&self, call_id: &str) -> String {
        format!("{}/{call_id}", self.conversation)
    }

    pub(super) fn step(&mut self) {
        self.revision = self.revision.saturating_add(1);
    }

    /// The number of the next question.
    pub(super) fn next_question(&mut self) -> u64 {
        self.questions = self.questions.saturating_add(1);
        self.questions
    }

    /// Whether a question of that number has been asked.
    pub(super) fn has_asked(&self, question: u64) -> bool {
        (1..=self.questions).contains(&question)
    }
}
