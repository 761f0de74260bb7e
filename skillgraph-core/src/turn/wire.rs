//! What every provider takes, whatever came before (SPEC 14.3): names, ids, texts, pairs of calls and results, schemas of tools.
//! Done here once, so that no adapter has to.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Message, ModelReply, ToolCall, ToolMessage, Transcript, words};
use crate::decl::{Status, is_tool_name};

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
    if text.trim().is_empty() { NO_TEXT.to_owned() } else { text.to_owned() }
}

/// Gives each call without an id one.
pub(super) fn with_ids(mut reply: ModelReply) -> ModelReply {
    for (at, call) in reply.calls.iter_mut().enumerate() {
        if call.id.trim().is_empty() {
            call.id = format!("call_{at}");
        }
    }
    reply
}

/// Ids that no two of the calls share: a call that has the id of one before it gets another.
pub(super) fn distinct_ids<'a>(calls: impl Iterator<Item = &'a mut ToolCall>) {
    let mut seen = HashSet::new();
    for call in calls {
        let mut id = call.id.clone();
        let mut copy = 1;
        while !seen.insert(id.clone()) {
            copy += 1;
            id = format!("{}_{copy}", call.id);
        }
        call.id = id;
    }
}

/// A conversation that was said elsewhere, as providers take it: each call has its result, in the order of the calls, in the
/// message behind it; results without a call, and messages without a text, are gone.
pub(super) fn tidied(transcript: Transcript) -> Transcript {
    let messages: Vec<&Arc<Message>> = transcript.shared().collect();
    let mut tidy: Vec<Arc<Message>> = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        match &***message {
            Message::Assistant { text, calls } if calls.is_empty() => {
                if !text.trim().is_empty() {
                    tidy.push((*message).clone());
                }
            }
            Message::Assistant { text, calls } => {
                let next = messages.get(at + 1).copied();
                let results = match next.map(|next| &**next) {
                    Some(Message::ToolResults { results }) => results.as_slice(),
                    _ => &[],
                };
                if let Some(next) = next.filter(|_| are_paired(calls, results)) {
                    tidy.extend([(*message).clone(), next.clone()]);
                    continue;
                }
                let (calls, results) = paired(calls, results);
                tidy.push(Arc::new(Message::Assistant { text: text.clone(), calls }));
                tidy.push(Arc::new(Message::ToolResults { results }));
            }
            // They stand behind their calls already, or have none.
            Message::ToolResults { .. } => {}
            Message::User { text } if text.trim().is_empty() => {
                tidy.push(Arc::new(Message::User { text: wire_text(text) }));
            }
            Message::Framework { text } if text.trim().is_empty() => {}
            Message::User { .. } | Message::Framework { .. } => tidy.push((*message).clone()),
        }
    }
    let tidy: Transcript = tidy.into_iter().collect();
    if tidy == transcript { transcript } else { tidy }
}

/// Whether [`paired`] would leave them as they are. What this library said itself is so, and is not copied for every turn.
fn are_paired(calls: &[ToolCall], results: &[ToolMessage]) -> bool {
    let mut ids = HashSet::new();
    calls.len() == results.len()
        && calls.iter().zip(results).all(|(call, result)| {
            ids.insert(&call.id)
                && call.is_normalised()
                && (&call.id, &call.name) == (&result.call_id, &result.name)
                && !result.text.trim().is_empty()
        })
}

/// Calls with a result each. A call that has none was interrupted.
fn paired(calls: &[ToolCall], results: &[ToolMessage]) -> (Vec<ToolCall>, Vec<ToolMessage>) {
    let mut left: Vec<&ToolMessage> = results.iter().collect();
    let found: Vec<Option<ToolMessage>> = calls
        .iter()
        .map(|call| {
            let at = left.iter().position(|result| result.call_id == call.id)?;
            Some(left.remove(at).clone())
        })
        .collect();
    let mut calls: Vec<ToolCall> = calls.iter().cloned().map(ToolCall::normalised).collect();
    distinct_ids(calls.iter_mut());
    let results = calls.iter().zip(found).map(|(call, found)| {
        let (call_id, name) = (call.id.clone(), call.name.clone());
        match found {
            Some(result) => ToolMessage { call_id, name, text: wire_text(&result.text), ..result },
            None => {
                let text = words::interrupted(&call.name);
                ToolMessage { call_id, name, text, status: Some(Status::Failure) }
            }
        }
    });
    let results = results.collect();
    (calls, results)
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
