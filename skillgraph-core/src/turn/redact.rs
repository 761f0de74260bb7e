//! A transcript as somebody may read it who may not see every skill any more (SPEC 9).
//!
//! What the conversation said while a skill could be seen is kept; what is sent to the model leaves out what the framework
//! and its own navigation said of it. Nobody's own words are touched: not the user's, the author's or the model's.

use std::sync::Arc;

use super::offer::{LIST_SKILLS, READ_SKILL};
use super::{Message, ToolCall, ToolMessage, Transcript, words};
use crate::graph::{Graph, Hidden};

/// What stands for the id of a hidden skill.
const BLANK: &str = "(not available)";

/// The transcript without the hidden skills.
pub(super) fn shown(transcript: &Transcript, graph: &Graph, hidden: &Hidden) -> Transcript {
    if hidden.is_empty() {
        return transcript.clone();
    }
    let reader = Reader { graph, hidden };
    let mut withdrawn: Vec<&str> = Vec::new();
    let shown = transcript.shared().map(|message| match &**message {
        Message::Assistant { text, calls } => {
            withdrawn = calls.iter().filter(|call| reader.picks_hidden(call)).map(|call| call.id.as_str()).collect();
            if withdrawn.is_empty() {
                return message.clone();
            }
            let calls = calls.iter().map(|call| reader.call(call)).collect();
            Arc::new(Message::Assistant { text: text.clone(), calls })
        }
        Message::ToolResults { results } => {
            if !results.iter().any(|result| matches!(result.name.as_str(), READ_SKILL | LIST_SKILLS)) {
                return message.clone();
            }
            let results = results.iter().map(|result| reader.result(result, &withdrawn)).collect();
            Arc::new(Message::ToolResults { results })
        }
        Message::Framework { text } => Arc::new(Message::Framework { text: reader.framework(text) }),
        Message::User { .. } => message.clone(),
    });
    shown.collect()
}

struct Reader<'a> {
    graph: &'a Graph,
    hidden: &'a Hidden,
}

impl Reader<'_> {
    fn picks_hidden(&self, call: &ToolCall) -> bool {
        let requested =
            call.parsed_arguments().ok().and_then(|arguments| Some(arguments.get("id")?.as_str()?.to_owned()));
        call.name == READ_SKILL && requested.is_some_and(|id| self.is_hidden(id.trim()))
    }

    fn call(&self, call: &ToolCall) -> ToolCall {
        if !self.picks_hidden(call) {
            return call.clone();
        }
        ToolCall { arguments: serde_json::json!({ "id": BLANK }).to_string(), ..call.clone() }
    }

    fn result(&self, result: &ToolMessage, withdrawn: &[&str]) -> ToolMessage {
        let text = match result.name.as_str() {
            LIST_SKILLS => words::skill_list(self.graph, self.hidden),
            READ_SKILL => match self.sentences(&result.text) {
                // It opened the skill. The refusal of a guess names nothing that is hidden, and stays.
                changed if changed != result.text && withdrawn.contains(&result.call_id.as_str()) => {
                    words::WITHDRAWN.to_owned()
                }
                sentences => sentences,
            },
            _ => return result.clone(),
        };
        ToolMessage { text, ..result.clone() }
    }

    /// The framework's own message: one that brings the body of a hidden skill brings nothing.
    fn framework(&self, text: &str) -> String {
        let of_hidden =
            text.lines().filter_map(|line| line.strip_prefix(words::BODY_HEADING)).any(|id| self.is_hidden(id));
        if of_hidden { format!("{}{}", words::FRAMEWORK, words::WITHDRAWN) } else { self.sentences(text) }
    }

    /// Sentences name skills between back ticks.
    fn sentences(&self, text: &str) -> String {
        let parts: Vec<&str> = text.split('`').map(|part| if self.is_hidden(part) { BLANK } else { part }).collect();
        parts.join("`")
    }

    fn is_hidden(&self, id: &str) -> bool {
        self.graph.find_skill(id).is_some_and(|skill| self.hidden.has(skill))
    }
}
