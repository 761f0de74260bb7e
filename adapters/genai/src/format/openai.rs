//! OpenAI's chat completions, and what others understand by them.

use serde_json::{Map, Value, json};
use skillgraph_core::text::is_blank;
use skillgraph_core::turn::{Message, ModelRequest, StopReason, ToolCall};

use super::{Ask, at, list, object, other, text_of, thought, thoughts_for};
use crate::assembly::{Assembly, Fragment};
use crate::failure::Failure;

const FORMAT: &str = "openai";
/// What beside the words and calls of a message is wanted back with it.
const KEPT: [&str; 3] = ["reasoning_content", "reasoning_details", "extra_content"];

pub(super) fn body(ask: &Ask<'_>) -> Value {
    let request = ask.request;
    let messages: Vec<Value> = system(request).into_iter().chain(request.messages.iter().flat_map(messages)).collect();
    let format = |schema: &Value| json!({ "type": "json_schema", "json_schema": { "name": "reply", "strict": true, "schema": schema } });
    Value::Object(object([
        ("model", Some(json!(ask.model))),
        ("messages", Some(json!(messages))),
        ("tools", tools(request)),
        ("response_format", ask.schema.as_ref().map(format)),
        (limit_name(ask.model), ask.max_tokens.map(|tokens| json!(tokens))),
        ("temperature", ask.temperature.map(|temperature| json!(temperature))),
        ("stream", Some(json!(true))),
        ("stream_options", Some(json!({ "include_usage": true }))),
    ]))
}

/// Newer models of OpenAI refuse the old name, and everybody else the new one.
fn limit_name(model: &str) -> &'static str {
    let is_new = ["gpt-5", "gpt-6", "o1", "o3", "o4"].iter().any(|begin| model.starts_with(begin));
    if is_new { "max_completion_tokens" } else { "max_tokens" }
}

/// The system prompt as the first message.
pub(super) fn system(request: &ModelRequest) -> Option<Value> {
    (!is_blank(&request.system)).then(|| json!({ "role": "system", "content": request.system }))
}

/// The tools of a request, if it has any.
pub(super) fn tools(request: &ModelRequest) -> Option<Value> {
    super::tools(request, |spec| {
        let function = json!({
            "name": spec.name.as_str(), "description": spec.description, "parameters": spec.parameters,
        });
        json!({ "type": "function", "function": function })
    })
}

fn messages(message: &Message) -> Vec<Value> {
    match message {
        Message::User { text } | Message::Framework { text, .. } => vec![json!({ "role": "user", "content": text })],
        Message::Assistant { text, calls, thoughts } => {
            let calls: Vec<Value> = calls.iter().map(call).collect();
            let mut message = object([
                ("role", Some(json!("assistant"))),
                ("content", (!is_blank(text)).then(|| json!(text))),
                ("tool_calls", (!calls.is_empty()).then(|| json!(calls))),
            ]);
            for kept in thoughts_for(thoughts, FORMAT).filter_map(Value::as_object) {
                message.extend(kept.clone());
            }
            vec![Value::Object(message)]
        }
        Message::ToolResults { results } => {
            let result = results
                .iter()
                .map(|result| json!({ "role": "tool", "tool_call_id": result.call_id, "content": result.text }));
            result.collect()
        }
        _ => Vec::new(),
    }
}

fn call(call: &ToolCall) -> Value {
    let function = json!({ "name": call.name, "arguments": arguments(call) });
    // A signature of a provider that speaks this format is an object.
    let signed = call.signatures.iter().find_map(|signed| serde_json::from_str::<Map<String, Value>>(signed).ok());
    Value::Object(object([
        ("id", Some(json!(call.id))),
        ("type", Some(json!("function"))),
        ("function", Some(function)),
        ("extra_content", signed.map(Value::Object)),
    ]))
}

/// The arguments as they were written. What was cut off or is no object was refused: providers take objects alone.
fn arguments(call: &ToolCall) -> &str {
    match call.parsed_arguments() {
        Ok(object) if !object.is_empty() => &call.arguments,
        _ => "{}",
    }
}

pub(super) fn read(message: &Value, reply: &mut Assembly<'_>) -> Result<(), Failure> {
    let usage = [&message["usage"], at(message, "/x_groq/usage")];
    for usage in usage {
        reply.usage(usage["prompt_tokens"].as_u64(), usage["completion_tokens"].as_u64());
    }
    let Some(choice) = list(&message["choices"]).first() else { return Ok(()) };
    // Some send no stream where one was asked for.
    let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
    match &delta["content"] {
        Value::String(text) => reply.text(text),
        parts => list(parts).iter().filter_map(|part| text_of(&part["text"])).for_each(|text| reply.text(text)),
    }
    for name in KEPT {
        keep(name, &delta[name], reply.thoughts());
    }
    let calls = list(&delta["tool_calls"]);
    for (at, call) in calls.iter().enumerate() {
        reply.call(fragment(call, at, calls.len()))?;
    }
    // What calls were before there were several.
    if delta["function_call"].is_object() {
        reply.call(fragment(&json!({ "index": 0, "function": delta["function_call"] }), 0, 1))?;
    }
    if let Some(raw) = text_of(&choice["finish_reason"]) {
        reply.stop(match raw {
            "stop" => StopReason::EndTurn,
            "tool_calls" | "function_call" => StopReason::ToolCalls,
            "length" => StopReason::MaxTokens,
            "content_filter" => StopReason::Refusal,
            raw => other(raw),
        });
    }
    Ok(())
}

/// Puts what is wanted back behind what came of it before.
fn keep(name: &str, more: &Value, thoughts: &mut Vec<Value>) {
    if more.is_null() || more.as_str().is_some_and(str::is_empty) {
        return;
    }
    if thoughts.is_empty() {
        thoughts.push(thought(FORMAT, json!({})));
    }
    let Some(fields) = thoughts.first_mut().and_then(|thought| thought.get_mut("value")?.as_object_mut()) else {
        return;
    };
    match (fields.get_mut(name), more) {
        (Some(Value::String(before)), Value::String(more)) => before.push_str(more),
        (Some(Value::Array(before)), Value::Array(more)) => before.extend(more.iter().cloned()),
        _ => {
            fields.insert(name.to_owned(), more.clone());
        }
    }
}

fn fragment(call: &Value, at: usize, of: usize) -> Fragment {
    let function = if call["function"].is_object() { &call["function"] } else { call };
    let argued = ["arguments", "input", "parameters"].into_iter().map(|field| &function[field]);
    let arguments = argued.into_iter().find(|arguments| !arguments.is_null()).unwrap_or(&Value::Null);
    let fragment = Fragment::of(&call["id"], &function["name"], arguments);
    let said = match &call["index"] {
        Value::String(index) => index.trim().parse().ok(),
        index => index.as_u64(),
    };
    // Without one, several in one message go by their order.
    let by_order = || u64::try_from(at).ok().filter(|_| of > 1 && fragment.id.is_none());
    Fragment {
        index: said.or_else(by_order),
        signature: call["extra_content"].is_object().then(|| call["extra_content"].to_string()),
        ..fragment
    }
}
