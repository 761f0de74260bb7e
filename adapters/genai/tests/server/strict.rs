//! What a strict provider refuses: calls without results, results elsewhere or in another order, empty parts, illegal names.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Format;

/// What is wrong with a request.
pub fn violations(format: Format, request: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let declared = request["tools"].pointer("/0/functionDeclarations").unwrap_or(&request["tools"]);
    for tool in list(declared) {
        let tool = if tool["function"].is_object() { &tool["function"] } else { tool };
        let schemas = ["input_schema", "parametersJsonSchema", "parameters"];
        let schema = schemas.iter().map(|name| &tool[*name]).find(|schema| schema.is_object()).unwrap_or(&Value::Null);
        legal(&tool["name"], &mut wrong);
        if schema["type"] != "object" || !schema["properties"].is_object() {
            wrong.push(format!("the schema of {} is not of a whole object: {schema}", tool["name"]));
        }
    }
    let messages = list(&request["messages"]);
    match format {
        Format::OpenAi | Format::Ollama => paired_messages(format, messages, &mut wrong),
        Format::Anthropic => paired_blocks(messages, &mut wrong),
        Format::Gemini => paired_parts(list(&request["contents"]), &mut wrong),
    }
    wrong
}

/// Calls in an assistant's message, results in one message each behind it.
fn paired_messages(format: Format, messages: &[Value], wrong: &mut Vec<String>) {
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        at += 1;
        let calls = list(&message["tool_calls"]);
        let text = message["content"].as_str().unwrap_or_default();
        match message["role"].as_str() {
            Some("tool") => wrong.push(format!("a result without a call: {message}")),
            Some("assistant") if text.is_empty() && calls.is_empty() => wrong.push("an empty message".to_owned()),
            Some("user" | "system") if text.trim().is_empty() => wrong.push(format!("an empty message: {message}")),
            _ => {}
        }
        for call in calls {
            legal(&call["function"]["name"], wrong);
            let arguments = &call["function"]["arguments"];
            let object = match arguments.as_str() {
                Some(text) => serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object()),
                None => arguments.is_object(),
            };
            if !object {
                wrong.push(format!("arguments that are no object: {arguments}"));
            }
            let result = messages.get(at);
            at += 1;
            let Some(result) = result.filter(|result| result["role"] == "tool") else {
                wrong.push(format!("a call without a result behind it: {call}"));
                break;
            };
            if format == Format::OpenAi && result["tool_call_id"] != call["id"] {
                wrong.push(format!(
                    "the result of {} stands where that of {} should",
                    result["tool_call_id"], call["id"]
                ));
            }
            if result["content"].as_str().is_none_or(str::is_empty) {
                wrong.push(format!("an empty result: {result}"));
            }
        }
    }
}

/// Calls in blocks of an assistant's message, all results first in the user's message behind it.
fn paired_blocks(messages: &[Value], wrong: &mut Vec<String>) {
    let mut ids = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let blocks = list(&message["content"]);
        if message["content"].as_str().is_some_and(|text| text.trim().is_empty())
            || (blocks.is_empty() && message["content"].is_array())
        {
            wrong.push(format!("an empty message: {message}"));
        }
        for block in blocks {
            if block["type"] == "text" && block["text"].as_str().is_none_or(|text| text.trim().is_empty()) {
                wrong.push(format!("an empty part: {block}"));
            }
            if block["type"] == "tool_result"
                && at.checked_sub(1).is_none_or(|before| messages[before]["role"] != "assistant")
            {
                wrong.push(format!("a result without a call: {block}"));
            }
        }
        let calls: Vec<&Value> = blocks.iter().filter(|block| block["type"] == "tool_use").collect();
        for call in &calls {
            legal(&call["name"], wrong);
            if !call["input"].is_object() {
                wrong.push(format!("arguments that are no object: {call}"));
            }
            if !ids.insert(call["id"].to_string()) {
                wrong.push(format!("an id twice: {}", call["id"]));
            }
        }
        let behind = messages.get(at + 1).map_or(&[][..], |next| list(&next["content"]));
        let answered: Vec<&Value> = behind
            .iter()
            .take_while(|block| block["type"] == "tool_result")
            .map(|block| &block["tool_use_id"])
            .collect();
        let called: Vec<&Value> = calls.iter().map(|call| &call["id"]).collect();
        if !called.is_empty() && called != answered {
            wrong.push(format!("{called:?} were called, and {answered:?} answered behind it"));
        }
    }
}

/// Calls in parts of a model's content, a response each in the content behind it, in their order; what was signed comes back.
fn paired_parts(contents: &[Value], wrong: &mut Vec<String>) {
    let named = |content: Option<&Value>, kind: &str| -> Vec<Value> {
        let parts = content.map_or(&[][..], |content| list(&content["parts"]));
        parts.iter().filter_map(|part| part.get(kind)).map(|of| of["name"].clone()).collect()
    };
    for (at, content) in contents.iter().enumerate() {
        if list(&content["parts"]).is_empty() {
            wrong.push(format!("an empty content: {content}"));
        }
        for part in list(&content["parts"]) {
            if part.get("text").is_some_and(|text| text.as_str().is_none_or(|text| text.trim().is_empty())) {
                wrong.push(format!("an empty part: {part}"));
            }
        }
        let called = named(Some(content), "functionCall");
        called.iter().for_each(|name| legal(name, wrong));
        let answered = named(contents.get(at + 1), "functionResponse");
        if called != answered && !(called.is_empty() && content["role"] == "user") {
            wrong.push(format!("{called:?} were called, and {answered:?} answered behind it"));
        }
        let first = list(&content["parts"]).iter().find(|part| part.get("functionCall").is_some());
        if first.is_some_and(|part| part["thoughtSignature"] != "a signature") {
            wrong.push(format!("a signature that was not sent back: {content}"));
        }
    }
}

fn legal(name: &Value, wrong: &mut Vec<String>) {
    let text = name.as_str().unwrap_or_default();
    let legal =
        (1..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if !legal {
        wrong.push(format!("{name} is no name"));
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
