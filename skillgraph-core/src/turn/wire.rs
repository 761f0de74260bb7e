//! What every provider takes, whatever came before: names, ids, texts, pairs of calls and results, schemas of tools.
//! Done here once, so that no adapter has to.
// SPEC 14.3.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::message::Spoken;
use super::voice::without_mark;
use super::{Message, ToolCall, ToolMessage, Transcript, words};
use crate::decl::{Status, is_tool_name};
use crate::text::is_blank;

/// What stands for a text that is empty: providers refuse a message without one.
const NO_TEXT: &str = "(no text)";

/// A name as providers take it back. Only what is refused has another: what runs has a legal name.
pub(super) fn wire_name(name: &str) -> String {
    if is_tool_name(name) {
        return name.to_owned();
    }
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = name.chars().map(legal).take(64).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

/// The text, or that there is none.
pub(super) fn wire_text(text: &str) -> String {
    if is_blank(text) { NO_TEXT.to_owned() } else { text.to_owned() }
}

/// What a user says: never nothing, and never in the framework's name.
pub(super) fn user_text(text: &str) -> String {
    wire_text(&without_mark(text))
}

/// Whether what a tool said in a result looks like the framework.
fn is_marked(result: &ToolMessage) -> bool {
    matches!(without_mark(result.own_text()), Cow::Owned(_))
}

/// A result in which the tool speaks in its own name alone.
fn unmarked(mut result: ToolMessage) -> ToolMessage {
    let own = without_mark(result.own_text()).into_owned();
    let shorter = result.own_text().len() - own.len();
    result.text = own + result.text.get(result.own_text().len()..).unwrap_or_default();
    if let Some(aside) = &mut result.aside {
        aside.from -= shorter;
        aside.body.iter_mut().for_each(|body| body.from = body.from.saturating_sub(shorter));
    }
    result
}

/// Whether every provider takes it as the id of a call.
fn is_call_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Ids for the calls of a conversation: an id stays if every provider takes it and no other call has it, else the call gets one
/// of our own.
struct CallIds<'a> {
    /// What was called before.
    transcript: &'a Transcript,
    taken: HashSet<String>,
    number: usize,
}

impl<'a> CallIds<'a> {
    fn after(transcript: &'a Transcript) -> Self {
        Self { transcript, taken: HashSet::new(), number: transcript.count_calls() }
    }

    fn is_free(&self, id: &str) -> bool {
        is_call_id(id) && !self.transcript.has_call(id) && !self.taken.contains(id)
    }

    fn give(&mut self, call: &mut ToolCall) {
        while !self.is_free(&call.id) {
            self.number += 1;
            call.id = format!("call_{}", self.number);
        }
        self.taken.insert(call.id.clone());
    }
}

/// Sees to it that no two calls of a conversation have one id.
// SPEC 6.
pub(super) fn number_calls<'a>(before: &Transcript, calls: impl Iterator<Item = &'a mut ToolCall>) {
    let mut ids = CallIds::after(before);
    calls.for_each(|call| ids.give(call));
}

/// A conversation that was said elsewhere, as providers take it: each call has an id of its own and its result, in the order of
/// the calls, in the message behind it; results without a call, and messages without a text, are gone.
pub(super) fn tidied(transcript: Transcript) -> Transcript {
    if transcript.is_in_order() {
        return transcript;
    }
    let nothing = Transcript::new();
    let mut ids = CallIds::after(&nothing);
    let messages: Vec<&Arc<Message>> = transcript.shared().collect();
    let mut tidy: Vec<Arc<Message>> = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        match &***message {
            Message::Assistant { text, calls, .. } if calls.is_empty() => {
                if !is_blank(text) {
                    tidy.push((*message).clone());
                }
            }
            Message::Assistant { text, calls, thoughts } => {
                let next = messages.get(at + 1).copied();
                let results = match next.map(|next| &**next) {
                    Some(Message::ToolResults { results }) => results.as_slice(),
                    _ => &[],
                };
                let is_tidy = !results.iter().any(is_marked) && are_paired(calls, results, &mut ids);
                if let Some(next) = next.filter(|_| is_tidy) {
                    tidy.extend([(*message).clone(), next.clone()]);
                    continue;
                }
                let (calls, results) = paired(calls, results, &mut ids);
                tidy.push(Arc::new(Message::Assistant { text: text.clone(), calls, thoughts: thoughts.clone() }));
                tidy.push(Arc::new(Message::ToolResults { results }));
            }
            // They stand behind their calls already, or have none.
            Message::ToolResults { .. } => {}
            Message::User { text } => match user_text(text) {
                same if same == *text => tidy.push((*message).clone()),
                text => tidy.push(Arc::new(Message::User { text })),
            },
            Message::Framework { text, .. } if is_blank(text) => {}
            Message::Framework { .. } => tidy.push((*message).clone()),
        }
    }
    let ids = ids.taken;
    tidy.into_iter().collect::<Transcript>().in_order(ids)
}

/// A transcript that comes from where a turn was saved: as it is, with the ids of its calls. None where no turn left it like that:
/// calls have their results behind them, but for those that are under way.
pub(super) fn indexed(transcript: Transcript) -> Option<Transcript> {
    let nothing = Transcript::new();
    let mut ids = CallIds::after(&nothing);
    let messages: Vec<&Arc<Message>> = transcript.shared().collect();
    for (at, message) in messages.iter().enumerate() {
        let in_order = match (&***message, messages.get(at + 1).map(|next| &***next)) {
            (Message::Assistant { calls, .. }, _) if calls.is_empty() => true,
            (Message::Assistant { calls, .. }, Some(Message::ToolResults { results })) => {
                are_paired(calls, results, &mut ids)
            }
            (Message::Assistant { calls, .. }, None) => calls.iter().all(|call| {
                let is_free = ids.is_free(&call.id) && call.is_normalised();
                ids.taken.insert(call.id.clone());
                is_free
            }),
            (Message::Assistant { .. }, Some(_)) => false,
            (Message::ToolResults { .. }, _) => {
                let before = at.checked_sub(1).and_then(|before| messages.get(before)).map(|before| &***before);
                matches!(before, Some(Message::Assistant { calls, .. }) if !calls.is_empty())
            }
            (Message::User { .. } | Message::Framework { .. }, _) => true,
        };
        if !in_order {
            return None;
        }
    }
    let ids = ids.taken;
    Some(transcript.in_order(ids))
}

/// Whether [`paired`] would leave them as they are; if so, their ids are taken.
fn are_paired(calls: &[ToolCall], results: &[ToolMessage], ids: &mut CallIds<'_>) -> bool {
    let mut own = HashSet::new();
    let are_paired = calls.len() == results.len()
        && calls.iter().zip(results).all(|(call, result)| {
            ids.is_free(&call.id)
                && own.insert(&call.id)
                && call.is_normalised()
                && (&call.id, &call.name) == (&result.call_id, &result.name)
                && !is_blank(&result.text)
        });
    if are_paired {
        ids.taken.extend(calls.iter().map(|call| call.id.clone()));
    }
    are_paired
}

/// Calls with a result each. A call that has none was interrupted.
fn paired(calls: &[ToolCall], results: &[ToolMessage], ids: &mut CallIds<'_>) -> (Vec<ToolCall>, Vec<ToolMessage>) {
    let mut left: HashMap<&str, VecDeque<&ToolMessage>> = HashMap::new();
    for result in results {
        left.entry(&result.call_id).or_default().push_back(result);
    }
    let pair = |call: &ToolCall| {
        let found = left.get_mut(call.id.as_str()).and_then(VecDeque::pop_front).cloned();
        let mut call = call.clone().normalised();
        ids.give(&mut call);
        let (call_id, name) = (call.id.clone(), call.name.clone());
        let result = match found {
            Some(result) => {
                let result = unmarked(result);
                ToolMessage { call_id, name, text: wire_text(&result.text), ..result }
            }
            None => {
                let text = words::interrupted(&call.name);
                Spoken::by_framework(text).into_result(call_id, &name, Some(Status::Failure))
            }
        };
        (call, result)
    };
    calls.iter().map(pair).unzip()
}

/// The schema of a tool's arguments as every provider takes it: of an object, with properties, even where it has none.
///
/// ```
/// use serde_json::json;
/// use skillgraph_core::turn::object_schema;
///
/// assert_eq!(object_schema(json!({ "type": "object" })), json!({ "type": "object", "properties": {} }));
/// ```
pub fn object_schema(mut schema: Value) -> Value {
    if let Some(object) = schema.as_object_mut()
        && object.get("type") == Some(&json!("object"))
    {
        object.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

/// The same, where a type says which properties there are: an object of it has no others, and neither have those inside. What the
/// schema says of that itself stays, and so does an object that is put together from several.
///
/// ```
/// use serde_json::json;
/// use skillgraph_core::turn::closed_schema;
///
/// let schema = json!({ "type": "object", "properties": { "at": { "type": "object", "properties": {} } } });
/// let closed = closed_schema(schema);
/// assert_eq!(closed["additionalProperties"], false);
/// assert_eq!(closed["properties"]["at"]["additionalProperties"], false);
///
/// let map = json!({ "type": "object", "additionalProperties": { "type": "string" } });
/// assert_eq!(closed_schema(map.clone())["additionalProperties"], map["additionalProperties"]);
/// ```
pub fn closed_schema(schema: Value) -> Value {
    let mut schema = object_schema(schema);
    close(&mut schema);
    schema
}

/// Words that put an object together from several.
const COMBINING: [&str; 7] = ["allOf", "anyOf", "oneOf", "$ref", "if", "not", "dependentSchemas"];
/// Words that say of other properties.
const OPEN: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "patternProperties"];
/// Words whose value is a schema, or a list of some, or a map of some.
const INSIDE: [&str; 9] =
    ["properties", "$defs", "definitions", "items", "prefixItems", "allOf", "anyOf", "oneOf", "additionalProperties"];

fn close(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    let is_object = object.get("type") == Some(&json!("object")) && object.contains_key("properties");
    if is_object && ![&COMBINING[..], &OPEN[..]].concat().iter().any(|word| object.contains_key(*word)) {
        object.insert("additionalProperties".to_owned(), json!(false));
    }
    for word in INSIDE {
        match (word, object.get_mut(word)) {
            ("properties" | "$defs" | "definitions", Some(Value::Object(schemas))) => close_each(schemas),
            // What is put together from several is open for what the others say.
            ("allOf", _) => {}
            (_, Some(Value::Array(schemas))) => schemas.iter_mut().for_each(close),
            (_, Some(schema)) => close(schema),
            (_, None) => {}
        }
    }
}

fn close_each(schemas: &mut Map<String, Value>) {
    schemas.values_mut().for_each(close);
}
