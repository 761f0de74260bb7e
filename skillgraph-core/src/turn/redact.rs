//! A transcript as somebody may read it who may not see every skill any more (SPEC 9).
//!
//! What the conversation said while a skill could be seen is kept; what is sent to the model leaves out what the framework
//! and its own navigation said of it. Nobody's own words are touched: not the user's, the author's or the model's.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::offer::{BIND_SKILL_TOOLS, LIST_SKILLS, OPEN_SKILL, READ_SKILL, SEARCH_SKILLS};
use super::{Message, ToolCall, ToolMessage, Transcript, words};
use crate::graph::{Graph, Hidden};

/// The tools whose calls and results name skills.
const NAVIGATION: [&str; 5] = [READ_SKILL, LIST_SKILLS, OPEN_SKILL, BIND_SKILL_TOOLS, SEARCH_SKILLS];
/// What stands for the id of a hidden skill.
const BLANK: &str = "(not available)";

/// The transcript without the hidden skills.
pub(super) fn shown(transcript: &Transcript, graph: &Graph, hidden: &Hidden, away: &BTreeSet<String>) -> Transcript {
    if hidden.is_empty() && away.is_empty() {
        return transcript.clone();
    }
    let reader = Reader { graph, hidden, away };
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
            if !results.iter().any(|result| NAVIGATION.contains(&result.name.as_str())) {
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
    /// Keys of skills of the catalog that are not there.
    away: &'a BTreeSet<String>,
}

impl Reader<'_> {
    fn picks_hidden(&self, call: &ToolCall) -> bool {
        let names = |field: &str| {
            call.parsed_arguments().ok().and_then(|arguments| Some(arguments.get(field)?.as_str()?.to_owned()))
        };
        match call.name.as_str() {
            READ_SKILL => names("id").is_some_and(|id| self.is_hidden(id.trim())),
            OPEN_SKILL | BIND_SKILL_TOOLS => names("key").is_some_and(|key| self.away.contains(&key)),
            _ => false,
        }
    }

    fn call(&self, call: &ToolCall) -> ToolCall {
        if !self.picks_hidden(call) {
            return call.clone();
        }
        let field = if call.name == READ_SKILL { "id" } else { "key" };
        ToolCall { arguments: serde_json::json!({ field: BLANK }).to_string(), ..call.clone() }
    }

    fn result(&self, result: &ToolMessage, withdrawn: &[&str]) -> ToolMessage {
        let text = match result.name.as_str() {
            LIST_SKILLS => words::skill_list(self.graph, self.hidden),
            // It opened the skill, or bound tools of it. A refusal names no key that is not there.
            OPEN_SKILL | BIND_SKILL_TOOLS if withdrawn.contains(&result.call_id.as_str()) && !result.is_error() => {
                words::WITHDRAWN.to_owned()
            }
            OPEN_SKILL | BIND_SKILL_TOOLS => self.sentences(&result.text),
            SEARCH_SKILLS => self.without_rows_of_away(&result.text),
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
        let opens_away = text.strip_prefix(words::FRAMEWORK).and_then(|text| text.strip_prefix('`')?.split_once('`'));
        let of_hidden = of_hidden || opens_away.is_some_and(|(key, _)| self.away.contains(key));
        if of_hidden { format!("{}{}", words::FRAMEWORK, words::WITHDRAWN) } else { self.sentences(text) }
    }

    fn without_rows_of_away(&self, text: &str) -> String {
        let is_of_away = |line: &&str| {
            let row = line.strip_prefix(words::SEARCH_ROW);
            row.is_some_and(|row| {
                self.away.iter().any(|key| row.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with(": ")))
            })
        };
        text.split('\n').filter(|line| !is_of_away(line)).collect::<Vec<_>>().join("\n")
    }

    /// Sentences name skills between back ticks.
    fn sentences(&self, text: &str) -> String {
        let parts: Vec<&str> = text
            .split('`')
            .map(|part| if self.is_hidden(part) || self.away.contains(part) { BLANK } else { part })
            .collect();
        parts.join("`")
    }

    fn is_hidden(&self, id: &str) -> bool {
        self.graph.find_skill(id).is_some_and(|skill| self.hidden.has(skill))
    }
}
