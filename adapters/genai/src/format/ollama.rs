//! Ollama's own chat.

use serde_json::{Value, json};
use skillgraph_core::text::is_blank;
use skillgraph_core::turn::{Message, StopReason};

use super::openai::{system, tools};
use super::{Ask, list, object, other, text_of, thought, thoughts_for};
use crate::assembly::{Assembly, Fragment};
use crate::failure::Failure;

const FORMAT: &str = "ollama";

pub(super) fn body(ask: &Ask<'_>) -> Value {
    let request = ask.request;
    let messages: Vec<Value> = system(request).into_iter().chain(request.messages.iter().flat_map(messages)).collect();
    let options = object([
        ("num_predict", ask.max_tokens.map(|tokens| json!(tokens))),
        ("temperature", ask.temperature.map(|temperature| json!(temperature))),
    ]);
    Value::Object(object([
        ("model", Some(json!(ask.model))),
        ("messages", Some(json!(messages))),
        ("tools", tools(request)),
        ("format", ask.schema.clone()),
        ("options", (!options.is_empty()).then_some(Value::Object(options))),
        ("stream", Some(json!(true))),
    ]))
}

fn messages(message: &Message) -> Vec<Value> {
    match message {
        Message::User { text } | Message::Framework { text, .. } => vec![json!({ "role": "user", "content": text })],
        Message::Assistant { text, calls, thoughts } => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|call| {
                    let arguments = call.parsed_arguments().unwrap_or_default();
                    json!({ "function": { "name": call.name, "arguments": arguments } })
                })
                .collect();
            vec![Value::Object(object([
                ("role", Some(json!("assistant"))),
                ("content", (!is_blank(text)).then(|| json!(text))),
                ("thinking", thoughts_for(thoughts, FORMAT).next().cloned()),
                ("tool_calls", (!calls.is_empty()).then(|| json!(calls))),
            ]))]
        }
        // A message each: of several in one only the last is read.
        Message::ToolResults { results } => {
            let result = results
                .iter()
                .map(|result| json!({ "role": "tool", "tool_name": result.name, "content": result.text }));
            result.collect()
        }
        _ => Vec::new(),
    }
}

pub(super) fn read(line: &Value, reply: &mut Assembly<'_>) -> Result<bool, Failure> {
    let message = &line["message"];
    reply.text(message["content"].as_str().unwrap_or_default());
    if let Some(more) = text_of(&message["thinking"]) {
        match reply.thoughts().first_mut().and_then(|thought| thought.get_mut("value")) {
            Some(Value::String(before)) => before.push_str(more),
            _ => reply.thoughts().push(thought(FORMAT, json!(more))),
        }
    }
    for call in list(&message["tool_calls"]) {
        let function = &call["function"];
        reply.whole_call(Fragment::of(&call["id"], &function["name"], &function["arguments"]))?;
    }
    reply.usage(line["prompt_eval_count"].as_u64(), line["eval_count"].as_u64());
    if line["done"] != true {
        return Ok(false);
    }
    reply.stop(match text_of(&line["done_reason"]).unwrap_or("stop") {
        "stop" => StopReason::EndTurn,
        "length" => StopReason::MaxTokens,
        raw => other(raw),
    });
    Ok(true)
}
