//! What passes between the turn and a model: requests, replies, and the transcript.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::voice::{FRAMEWORK, without_mark};
use crate::decl::{Status, ToolId};

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// The user's own words.
    User {
        /// What they said.
        text: String,
    },
    /// The framework's words: sent to a model as a user message, never read by entry rules.
    Framework {
        /// What it says.
        text: String,
        /// Instructions of a skill, where it ends with some.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<BodyPart>,
    },
    /// The model's words and calls. One of the two is never empty.
    Assistant {
        /// What it said, before its calls.
        text: String,
        /// What it called, in call order.
        calls: Vec<ToolCall>,
        /// What its provider wants back with the message, as it came: thoughts and what signs them. Nothing here reads it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        thoughts: Vec<Value>,
    },
    /// The results of the calls of the message before, one for each, in call order.
    ToolResults {
        /// The results.
        results: Vec<ToolMessage>,
    },
}

/// Where in a text the instructions of a skill begin: they reach to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodyPart {
    /// The id of the skill, or its key in the catalog.
    pub of: String,
    /// The byte at which they begin.
    pub from: usize,
}

/// The part of a result that the framework says: from a byte of its text on. What stands before it is the tool's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aside {
    /// The byte at which it begins.
    pub from: usize,
    /// Instructions of a skill, where it ends with some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<BodyPart>,
}

/// A text for the model, on its way into a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Spoken {
    pub(super) text: String,
    pub(super) aside: Option<Aside>,
}

impl Spoken {
    /// A tool's own words.
    pub(super) fn by_tool(text: &str) -> Self {
        Self { text: without_mark(text).into_owned(), aside: None }
    }

    /// The framework's words.
    pub(super) fn by_framework(text: impl Into<String>) -> Self {
        Self { text: text.into(), aside: Some(Aside { from: 0, body: None }) }
    }

    /// The same, and what the framework has to say behind it.
    pub(super) fn and(mut self, words: &str) -> Self {
        let from = self.text.len();
        self.text.push_str("\n\n");
        self.text.push_str(FRAMEWORK);
        self.text.push_str(words);
        self.aside.get_or_insert(Aside { from, body: None });
        self
    }

    /// The framework's words, and the instructions of a skill behind them.
    pub(super) fn with_body(words: &str, of: &str, body: &str) -> Self {
        let text = format!("{words}\n\n{}", without_mark(body));
        let body = BodyPart { of: of.to_owned(), from: words.len() + 2 };
        Self { text, aside: Some(Aside { from: 0, body: Some(body) }) }
    }

    /// As a message of the framework.
    pub(super) fn into_message(self) -> Message {
        Message::Framework { text: self.text, body: self.aside.and_then(|aside| aside.body) }
    }

    /// As the result of a call.
    pub(super) fn into_result(self, call_id: String, name: &str, status: Option<Status>) -> ToolMessage {
        let Self { text, aside } = self;
        ToolMessage { call_id, name: super::wire::wire_name(name), text: super::wire::wire_text(&text), status, aside }
    }
}

/// A call that a model made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The model's id for it.
    pub id: String,
    /// The tool that it names.
    pub name: String,
    /// The arguments as JSON text, as the model wrote them; blank text is `{}`.
    pub arguments: String,
    /// What a provider wants back with the call, as it came: signatures of thoughts. Nothing here reads it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<String>,
}

impl ToolCall {
    /// A call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        let call = Self { id: id.into(), name: name.into(), arguments: arguments.into(), signatures: Vec::new() };
        call.with_arguments()
    }

    /// The call as history keeps it: blank arguments are `{}`, and the name is one, which every provider takes back.
    pub(crate) fn normalised(mut self) -> Self {
        self.name = super::wire::wire_name(&self.name);
        self.with_arguments()
    }

    /// Whether history keeps it as it is.
    pub(crate) fn is_normalised(&self) -> bool {
        crate::decl::is_tool_name(&self.name) && !self.arguments.trim().is_empty()
    }

    fn with_arguments(mut self) -> Self {
        if self.arguments.trim().is_empty() {
            self.arguments = "{}".to_owned();
        }
        self
    }

    /// The arguments as an object; blank text and `null` are an empty one.
    ///
    /// # Errors
    ///
    /// [`ArgumentsError`] where the text is not JSON, or JSON but no object.
    // SPEC 6.
    pub fn parsed_arguments(&self) -> Result<Map<String, Value>, ArgumentsError> {
        if self.arguments.trim().is_empty() {
            return Ok(Map::new());
        }
        match serde_json::from_str(&self.arguments) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(Value::Null) => Ok(Map::new()),
            Ok(other) => Err(ArgumentsError::NotAnObject { found: kind_of(&other) }),
            Err(error) => Err(ArgumentsError::NotJson { reason: error.to_string() }),
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Why arguments are no arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// The text is not JSON.
    NotJson {
        /// What is wrong with it, and where.
        reason: String,
    },
    /// It is JSON, but not an object.
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
    /// Lists and objects stand in each other too often.
    TooDeep {
        /// How often they may.
        most: usize,
    },
}

impl fmt::Display for ArgumentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentsError::NotJson { reason } => write!(f, "the arguments are not valid JSON: {reason}"),
            ArgumentsError::NotAnObject { found } => write!(f, "the arguments must be a JSON object, not {found}"),
            ArgumentsError::TooDeep { most } => write!(f, "the arguments are nested more than {most} levels deep"),
        }
    }
}

impl std::error::Error for ArgumentsError {}

/// The result of one call, as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolMessage {
    /// The call's id.
    pub call_id: String,
    /// The tool that the call named.
    pub name: String,
    /// What the model reads; never empty.
    pub text: String,
    /// What became of the call; none where it was refused before it could become anything.
    pub status: Option<Status>,
    /// What of the text is the framework's, if something is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<Aside>,
}

impl ToolMessage {
    /// The result of a call, all of it the tool's.
    pub fn new(
        call_id: impl Into<String>,
        name: impl Into<String>,
        text: impl Into<String>,
        status: Option<Status>,
    ) -> Self {
        Self { call_id: call_id.into(), name: name.into(), text: text.into(), status, aside: None }
    }

    /// The part of the text that is the tool's; nothing where all of it is the framework's.
    pub fn own_text(&self) -> &str {
        self.aside.as_ref().map_or(&*self.text, |aside| self.text.get(..aside.from).unwrap_or_default())
    }

    /// Whether the call failed, was refused, or is not finished.
    pub fn is_error(&self) -> bool {
        self.status.is_none_or(Status::is_error)
    }
}

/// A conversation so far. Copies share their messages.
#[derive(Clone, Default)]
pub struct Transcript {
    messages: Arc<Vec<Arc<Message>>>,
    /// The ids of all calls in it, where a turn has seen to it that it is in order: each call with its result, no id twice.
    ids: Option<Arc<HashSet<String>>>,
}

impl PartialEq for Transcript {
    fn eq(&self, other: &Self) -> bool {
        self.messages == other.messages
    }
}

impl Eq for Transcript {}

impl Transcript {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// The messages, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Message> + ExactSizeIterator {
        self.messages.iter().map(Arc::as_ref)
    }

    /// The messages, each to be shared.
    pub(crate) fn shared(&self) -> impl Iterator<Item = &Arc<Message>> {
        self.messages.iter()
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether nothing has been said.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The newest message.
    pub fn last(&self) -> Option<&Message> {
        self.messages.last().map(Arc::as_ref)
    }

    /// Whether a model has called anything in it.
    pub(crate) fn has_calls(&self) -> bool {
        self.iter().any(|message| matches!(message, Message::Assistant { calls, .. } if !calls.is_empty()))
    }

    /// Whether a turn has put it in order.
    pub(super) fn is_in_order(&self) -> bool {
        self.ids.is_some()
    }

    /// The same, in order: these are the ids of its calls.
    pub(super) fn in_order(self, ids: HashSet<String>) -> Self {
        Self { ids: Some(Arc::new(ids)), ..self }
    }

    /// The same, to be read and not to be gone on with.
    pub(super) fn to_read(&self) -> Self {
        Self { messages: self.messages.clone(), ids: None }
    }

    /// Whether a call of it has that id.
    pub(super) fn has_call(&self, id: &str) -> bool {
        self.ids.as_ref().is_some_and(|ids| ids.contains(id))
    }

    /// How many calls there are in it.
    pub(super) fn count_calls(&self) -> usize {
        self.ids.as_ref().map_or(0, |ids| ids.len())
    }

    pub(crate) fn push(&mut self, message: Message) {
        if let (Some(ids), Message::Assistant { calls, .. }) = (&mut self.ids, &message) {
            Arc::make_mut(ids).extend(calls.iter().map(|call| call.id.clone()));
        }
        Arc::make_mut(&mut self.messages).push(Arc::new(message));
    }
}

impl fmt::Debug for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl FromIterator<Message> for Transcript {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        messages.into_iter().map(Arc::new).collect()
    }
}

impl FromIterator<Arc<Message>> for Transcript {
    fn from_iter<I: IntoIterator<Item = Arc<Message>>>(messages: I) -> Self {
        Self { messages: Arc::new(messages.into_iter().collect()), ids: None }
    }
}

impl Serialize for Transcript {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        for message in self.iter() {
            list.serialize_element(message)?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for Transcript {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Message>::deserialize(deserializer).map(|messages| messages.into_iter().collect())
    }
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: ToolId,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments: always of an object.
    pub parameters: Value,
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// Which model call of the turn this is, from 1.
    pub iteration: u32,
    /// The model that is to be asked, where it is not the agent's own: a governor escalated to it.
    pub model: Option<String>,
    /// The system prompt.
    pub system: String,
    /// The conversation.
    pub messages: Transcript,
    /// The tools that may be called; nothing else will run.
    // SPEC 6.
    pub tools: Vec<Arc<ToolSpec>>,
}

impl ModelRequest {
    /// The tool of that name, if it is offered.
    pub fn tool(&self, name: &str) -> Option<&ToolSpec> {
        self.tools.iter().map(Arc::as_ref).find(|tool| tool.name == *name)
    }

    /// The names of the tools, in order.
    pub fn tool_names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.name.as_str()).collect()
    }
}

/// What a model replied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReply {
    /// What it said.
    pub text: String,
    /// What it called, in call order. Whether there are any decides if the turn goes on, not the stop reason.
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it cost, where the provider said so.
    pub usage: Option<Usage>,
    /// What the provider wants back with the message, as it came: thoughts and what signs them. An adapter writes it and reads it
    /// again from [`Message::Assistant`]; nothing else does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thoughts: Vec<Value>,
}

impl ModelReply {
    /// An answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::of(StopReason::EndTurn) }
    }

    /// Tool calls, in call order.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self { calls: calls.into_iter().collect(), ..Self::of(StopReason::ToolCalls) }
    }

    fn of(stop: StopReason) -> Self {
        Self { text: String::new(), calls: Vec::new(), stop, usage: None, thoughts: Vec::new() }
    }

    /// The same reply, stopped for another reason.
    #[must_use]
    pub fn stopped(mut self, stop: StopReason) -> Self {
        self.stop = stop;
        self
    }
}

/// Why a model stopped. What a provider says and this list does not know is kept as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// It was done.
    EndTurn,
    /// It waits for tool results.
    ToolCalls,
    /// It ran into the token limit: its last call, or its text, is cut off.
    MaxTokens,
    /// It declined.
    Refusal,
    /// Something else.
    Other(String),
}

/// Tokens of one model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the reply.
    pub output_tokens: u64,
}
