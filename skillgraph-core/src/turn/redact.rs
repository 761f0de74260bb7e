//! A transcript as somebody may read it who may not see every skill any more.
//!
//! What was said while a skill could be seen is kept; what is sent to the model leaves out what the framework said then, what the
//! model called then by names that are gone, and what tools returned that are gone with their skill. Which part of a message is
//! the framework's is written in the message, so that no sentence is taken apart. What the user said, and what the model said in
//! words, stays.
// SPEC 9.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::message::BodyPart;
use super::offer::{BIND_SKILL_TOOLS, LIST_SKILLS, OPEN_SKILL, READ_SKILL, SEARCH_SKILLS, SKIP_STEP};
use super::state::State;
use super::{Message, Setup, ToolCall, ToolMessage, Transcript, words};
use crate::decl::SkillId;

/// The framework's own tools.
const NAVIGATION: [&str; 6] = [READ_SKILL, LIST_SKILLS, OPEN_SKILL, BIND_SKILL_TOOLS, SEARCH_SKILLS, SKIP_STEP];
/// What stands for a name that is gone.
const GONE: &str = "(not available)";
/// The same, where the name of a tool must stand.
const GONE_TOOL: &str = "not_available";

/// The arguments of a pick that names what cannot be seen.
pub(super) fn unseen_id() -> String {
    serde_json::json!({ "id": GONE }).to_string()
}

/// What somebody in a conversation might not see, and what was said before that.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unseen {
    /// The skills that were hidden when that was last asked.
    skills: BTreeSet<SkillId>,
    /// How many messages were said while something could be seen that cannot be seen now.
    before: usize,
}

impl Unseen {
    /// These skills are hidden from here on. Where one of them was not, what was said so far may speak of it.
    pub(super) fn hide(&mut self, skills: BTreeSet<SkillId>, said: usize) {
        if !skills.is_subset(&self.skills) {
            self.before = said;
        }
        self.skills = skills;
    }

    /// Something that was named so far is not to be seen from here on.
    pub(super) fn withdraw(&mut self, said: usize) {
        self.before = said;
    }

    /// Fits it to a transcript of that length.
    pub(super) fn fit(&mut self, said: usize) {
        self.before = self.before.min(said);
    }
}

/// The transcript without what cannot be seen any more.
pub(super) fn shown(setup: &Setup, state: &State) -> Transcript {
    let before = state.unseen.before;
    if before == 0 {
        return state.transcript.to_read();
    }
    let reader = Reader { setup, state, tools: visible_tools(setup, state) };
    let messages = state.transcript.shared().enumerate().map(|(at, message)| match &**message {
        // Thoughts may speak of anything that could be seen.
        Message::Assistant { text, calls, thoughts } if at < before && !(calls.is_empty() && thoughts.is_empty()) => {
            let calls = calls.iter().map(|call| reader.call(call)).collect();
            Arc::new(Message::Assistant { text: text.clone(), calls, thoughts: Vec::new() })
        }
        // Results belong to the message before them.
        Message::ToolResults { results } if at <= before => {
            let results = results.iter().map(|result| reader.result(result)).collect();
            Arc::new(Message::ToolResults { results })
        }
        Message::Framework { text, body } if at < before => Arc::new(reader.framework(text, body.as_ref())),
        _ => message.clone(),
    });
    messages.collect()
}

/// The names of tools that may be known of: the baseline, those of visible skills, and those of the catalog that is there.
fn visible_tools<'a>(setup: &'a Setup, state: &State) -> HashSet<&'a str> {
    let graph = &setup.graph;
    let own = graph.visible(&state.hidden).flat_map(|(_, skill)| skill.tools.iter().copied());
    let constant = graph.constant_tools_without(&state.hidden);
    let own = own.chain(constant).filter_map(|tool| graph.tools().get(tool.position())).map(|tool| tool.as_str());
    let entries = setup.catalog.iter().flat_map(|catalog| catalog.known());
    let there = entries.filter(|entry| !state.catalog.away.contains(&entry.key));
    own.chain(there.flat_map(|entry| &entry.tools).map(|tool| tool.name.as_str())).chain(NAVIGATION).collect()
}

struct Reader<'a> {
    setup: &'a Setup,
    state: &'a State,
    tools: HashSet<&'a str>,
}

impl Reader<'_> {
    fn call(&self, call: &ToolCall) -> ToolCall {
        if !self.tools.contains(call.name.as_str()) {
            return ToolCall { name: GONE_TOOL.to_owned(), arguments: "{}".to_owned(), ..call.clone() };
        }
        let (field, is_seen): (&str, fn(&Self, &str) -> bool) = match call.name.as_str() {
            READ_SKILL => ("id", Self::sees_skill),
            OPEN_SKILL | BIND_SKILL_TOOLS => ("key", Self::sees_key),
            _ => return call.clone(),
        };
        let named = call.parsed_arguments().ok();
        let named = named.as_ref().and_then(|arguments| arguments.get(field)?.as_str());
        if named.is_some_and(|named| is_seen(self, named.trim())) {
            return call.clone();
        }
        ToolCall { arguments: serde_json::json!({ field: GONE }).to_string(), ..call.clone() }
    }

    fn result(&self, result: &ToolMessage) -> ToolMessage {
        let mut shown = result.clone();
        let body = result.aside.as_ref().and_then(|aside| aside.body.as_ref());
        if !self.tools.contains(result.name.as_str()) {
            shown.name = GONE_TOOL.to_owned();
            shown.text = words::WITHDRAWN.to_owned();
            shown.aside = None;
        } else if result.aside.is_some() {
            let own = result.own_text();
            shown.text = match body.and_then(|body| self.body(&result.text, body)) {
                Some(body) => body.to_owned(),
                None if own.is_empty() => words::WITHDRAWN.to_owned(),
                None => own.to_owned(),
            };
            shown.aside = None;
        }
        shown
    }

    fn framework(&self, text: &str, body: Option<&BodyPart>) -> Message {
        let text = match body.and_then(|body| self.body(text, body)) {
            Some(body) => format!("{}{body}", words::FRAMEWORK),
            None => format!("{}{}", words::FRAMEWORK, words::WITHDRAWN),
        };
        Message::Framework { text, body: None }
    }

    /// The instructions in a text, if they are of what can be seen.
    fn body<'a>(&self, text: &'a str, body: &BodyPart) -> Option<&'a str> {
        let is_seen = self.sees_skill(&body.of) || self.sees_key(&body.of);
        text.get(body.from..).filter(|_| is_seen)
    }

    fn sees_skill(&self, id: &str) -> bool {
        self.setup.graph.find_skill(id).is_some_and(|skill| !self.state.hidden.has(skill))
    }

    fn sees_key(&self, key: &str) -> bool {
        let catalog = self.setup.catalog.as_ref();
        let entry = catalog.and_then(|catalog| catalog.known().find(|entry| entry.key == key));
        entry.is_some() && !self.state.catalog.away.contains(key)
    }
}
