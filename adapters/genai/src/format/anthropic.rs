//! Anthropic's messages.

use serde_json::{Value, json};
use skillgraph_core::text::is_blank;
use skillgraph_core::turn::{Message, StopReason, ToolMessage};

use super::{Ask, at, list, object, other, text_of, thought, thoughts_for, tools};
use crate::assembly::{Arguments, Assembly, Fragment};
use crate::failure::Failure;

const FORMAT: &str = "anthropic";
/// This format must have a limit. Every model that is served takes this one.
const MAX_TOKENS: u32 = 32_000;

pub(super) fn body(ask: &Ask<'_>) -> Value {
    let request = ask.request;
    let messages: Vec<Value> = request.messages.iter().filter_map(message).collect();
    let tools = tools(
        request,
        |tool| json!({ "name": tool.name.as_str(), "description": tool.description, "input_schema": tool.parameters }),
    );
    let format = |schema: &Value| json!({ "format": { "type": "json_schema", "schema": schema } });
    Value::Object(object([
        ("model", Some(json!(ask.model))),
        ("max_tokens", Some(json!(ask.max_tokens.unwrap_or(MAX_TOKENS)))),
        ("system", (!is_blank(&request.system)).then(|| json!(request.system))),
        ("messages", Some(json!(messages))),
        ("tools", tools),
        ("output_config", ask.schema.as_ref().map(format)),
        ("temperature", ask.temperature.map(|temperature| json!(temperature))),
        ("stream", Some(json!(true))),
    ]))
}

fn message(message: &Message) -> Option<Value> {
    Some(match message {
        Message::User { text } | Message::Framework { text, .. } => json!({ "role": "user", "content": text }),
        Message::Assistant { text, calls, thoughts } => {
            let thoughts = thoughts_for(thoughts, FORMAT).cloned();
            let text = (!is_blank(text)).then(|| json!({ "type": "text", "text": text }));
            let calls = calls.iter().map(|call| {
                // What was cut off or is no object was refused: only objects are taken.
                let input = call.parsed_arguments().unwrap_or_default();
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
            });
            json!({ "role": "assistant", "content": thoughts.chain(text).chain(calls).collect::<Vec<_>>() })
        }
        Message::ToolResults { results } => {
            json!({ "role": "user", "content": results.iter().map(result).collect::<Vec<_>>() })
        }
        _ => return None,
    })
}

fn result(result: &ToolMessage) -> Value {
    Value::Object(object([
        ("type", Some(json!("tool_result"))),
        ("tool_use_id", Some(json!(result.call_id))),
        ("content", Some(json!(result.text))),
        ("is_error", result.is_error().then(|| json!(true))),
    ]))
}

pub(super) fn read(event: &Value, reply: &mut Assembly<'_>) -> Result<bool, Failure> {
    match event["type"].as_str().unwrap_or_default() {
        "message_start" => usage(at(event, "/message/usage"), reply),
        "content_block_start" => block(&event["content_block"], event["index"].as_u64(), reply)?,
        "content_block_delta" => delta(&event["delta"], event["index"].as_u64(), reply)?,
        "message_delta" => {
            usage(&event["usage"], reply);
            stop(at(event, "/delta/stop_reason"), reply);
        }
        "message_stop" => return Ok(true),
        // A whole reply, where a stream was asked for.
        "message" => {
            for (at, whole) in list(&event["content"]).iter().enumerate() {
                block(whole, u64::try_from(at).ok(), reply)?;
            }
            usage(&event["usage"], reply);
            stop(&event["stop_reason"], reply);
        }
        _ => {}
    }
    Ok(false)
}

fn block(block: &Value, index: Option<u64>, reply: &mut Assembly<'_>) -> Result<(), Failure> {
    match block["type"].as_str().unwrap_or_default() {
        "text" => reply.text(block["text"].as_str().unwrap_or_default()),
        "thinking" | "redacted_thinking" => reply.thoughts().push(thought(FORMAT, block.clone())),
        "tool_use" => {
            reply.call(Fragment { index, ..Fragment::of(&block["id"], &block["name"], &block["input"]) })?;
        }
        _ => {}
    }
    Ok(())
}

fn delta(delta: &Value, index: Option<u64>, reply: &mut Assembly<'_>) -> Result<(), Failure> {
    match delta["type"].as_str().unwrap_or_default() {
        "text_delta" => reply.text(delta["text"].as_str().unwrap_or_default()),
        "input_json_delta" => {
            let arguments = Arguments::of(&delta["partial_json"]);
            reply.call(Fragment { index, arguments, ..Fragment::default() })?;
        }
        "thinking_delta" => go_on_thinking("thinking", &delta["thinking"], reply),
        "signature_delta" => go_on_thinking("signature", &delta["signature"], reply),
        _ => {}
    }
    Ok(())
}

fn go_on_thinking(field: &str, more: &Value, reply: &mut Assembly<'_>) {
    let (Some(more), Some(thought)) = (more.as_str(), reply.thoughts().last_mut()) else { return };
    let Some(block) = thought.get_mut("value").and_then(Value::as_object_mut) else { return };
    match block.get_mut(field) {
        Some(Value::String(before)) => before.push_str(more),
        _ => {
            block.insert(field.to_owned(), json!(more));
        }
    }
}

fn usage(usage: &Value, reply: &mut Assembly<'_>) {
    // What came from a cache, or went into one, is not counted in the first.
    let counts = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let input = counts.iter().filter_map(|count| usage[*count].as_u64()).reduce(u64::saturating_add);
    reply.usage(input, usage["output_tokens"].as_u64());
}

fn stop(reason: &Value, reply: &mut Assembly<'_>) {
    let Some(raw) = text_of(reason) else { return };
    reply.stop(match raw {
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::Refusal,
        raw => other(raw),
    });
}
