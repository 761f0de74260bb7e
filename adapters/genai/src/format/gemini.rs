//! Gemini's content.

use serde_json::{Value, json};
use skillgraph_core::text::is_blank;
use skillgraph_core::turn::{Message, StopReason};

use super::{Ask, at, list, object, other, text_of, thought, thoughts_for, tools};
use crate::assembly::{Assembly, Fragment};
use crate::failure::Failure;

const FORMAT: &str = "gemini";

pub(super) fn body(ask: &Ask<'_>) -> Value {
    let request = ask.request;
    let contents: Vec<Value> = request.messages.iter().filter_map(content).collect();
    let tools = tools(request, |tool| {
        json!({
            "name": tool.name.as_str(), "description": tool.description, "parametersJsonSchema": tool.parameters,
        })
    });
    let generation = object([
        ("maxOutputTokens", ask.max_tokens.map(|tokens| json!(tokens))),
        ("temperature", ask.temperature.map(|temperature| json!(temperature))),
        ("responseMimeType", ask.schema.as_ref().map(|_| json!("application/json"))),
        ("responseJsonSchema", ask.schema.clone()),
    ]);
    Value::Object(object([
        ("systemInstruction", (!is_blank(&request.system)).then(|| json!({ "parts": [{ "text": request.system }] }))),
        ("contents", Some(json!(contents))),
        ("tools", tools.map(|tools| json!([{ "functionDeclarations": tools }]))),
        ("generationConfig", (!generation.is_empty()).then_some(Value::Object(generation))),
    ]))
}

fn content(message: &Message) -> Option<Value> {
    Some(match message {
        Message::User { text } | Message::Framework { text, .. } => {
            json!({ "role": "user", "parts": [{ "text": text }] })
        }
        Message::Assistant { text, calls, thoughts } => {
            let signed = thoughts_for(thoughts, FORMAT).last();
            let words = (!is_blank(text) || signed.is_some())
                .then(|| object([("text", Some(json!(text))), ("thoughtSignature", signed.cloned())]).into());
            let calls = calls.iter().map(|call| {
                let args = call.parsed_arguments().unwrap_or_default();
                let signed = call.signatures.first().map(|signed| json!(signed));
                let call = json!({ "name": call.name, "args": args });
                Value::Object(object([("functionCall", Some(call)), ("thoughtSignature", signed)]))
            });
            json!({ "role": "model", "parts": words.into_iter().chain(calls).collect::<Vec<_>>() })
        }
        Message::ToolResults { results } => {
            // Without ids they belong to the calls by their order.
            let parts = results.iter().map(|result| {
                let field = if result.is_error() { "error" } else { "output" };
                json!({ "functionResponse": { "name": result.name, "response": { field: result.text } } })
            });
            json!({ "role": "user", "parts": parts.collect::<Vec<_>>() })
        }
        _ => return None,
    })
}

pub(super) fn read(event: &Value, reply: &mut Assembly<'_>) -> Result<(), Failure> {
    let usage = &event["usageMetadata"];
    let counts = ["candidatesTokenCount", "thoughtsTokenCount"];
    let output = counts.iter().filter_map(|count| usage[*count].as_u64()).reduce(u64::saturating_add);
    reply.usage(usage["promptTokenCount"].as_u64(), output);
    if text_of(at(event, "/promptFeedback/blockReason")).is_some() {
        reply.stop(StopReason::Refusal);
    }
    let Some(candidate) = list(&event["candidates"]).first() else { return Ok(()) };
    for part in list(at(candidate, "/content/parts")) {
        let signature = text_of(&part["thoughtSignature"]);
        if part["functionCall"].is_object() {
            let call = &part["functionCall"];
            let whole = Fragment::of(&call["id"], &call["name"], &call["args"]);
            reply.whole_call(Fragment { signature: signature.map(str::to_owned), ..whole })?;
            continue;
        }
        if part["thought"] != true {
            reply.text(part["text"].as_str().unwrap_or_default());
        }
        if let Some(signature) = signature {
            reply.thoughts().push(thought(FORMAT, json!(signature)));
        }
    }
    if let Some(raw) = text_of(&candidate["finishReason"]) {
        reply.stop(match raw {
            "STOP" => StopReason::EndTurn,
            "MAX_TOKENS" => StopReason::MaxTokens,
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
                StopReason::Refusal
            }
            raw => other(raw),
        });
    }
    Ok(())
}
