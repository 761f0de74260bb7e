//! Constrained mode (SPEC 14.3): for endpoints without tool calls, a schema binds the reply to one of the offered calls, or an
//! answer.

use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, JsonSpec};
use serde_json::{Map, Value, json};
use skillgraph_core::turn::{Message, ModelReply, ModelRequest, StopReason, ToolCall};

use crate::failure::Failure;
use crate::request::with_system;

/// The longest text in a reply, in characters: a small model that is not bound may not end.
const LONGEST_TEXT: u64 = 2_000;

/// The options of a request, with the schema as it is: what rewrites schemas for a provider's own dialect would take the
/// alternatives apart.
pub(crate) fn options(options: &ChatOptions, request: &ModelRequest, provider: AdapterKind) -> ChatOptions {
    let (options, schema) = (options.clone(), schema(request));
    match provider {
        AdapterKind::Anthropic | AdapterKind::Gemini | AdapterKind::Vertex => {
            options.with_response_format(ChatResponseFormat::JsonSpec(JsonSpec::new("reply", schema)))
        }
        _ => {
            let format = json!({ "name": "reply", "strict": true, "schema": schema });
            options.with_extra_body(json!({ "response_format": { "type": "json_schema", "json_schema": format } }))
        }
    }
}

/// The request as text alone: calls are what the model is to write, results what a user tells it.
pub(crate) fn chat_request(request: &ModelRequest) -> ChatRequest {
    let messages = request.messages.iter().map(|message| match message {
        Message::User { text } | Message::Framework { text, .. } => ChatMessage::user(text.as_str()),
        Message::Assistant { text, calls } if calls.is_empty() => {
            ChatMessage::assistant(json!({ "final": text }).to_string())
        }
        Message::Assistant { calls, .. } => {
            let calls = calls.iter().map(|call| {
                let arguments = Value::Object(call.parsed_arguments().unwrap_or_default());
                json!({ "name": call.name, "arguments": arguments }).to_string()
            });
            ChatMessage::assistant(calls.collect::<Vec<_>>().join("\n"))
        }
        Message::ToolResults { results } => {
            let results = results.iter().map(|result| format!("`{}` returned: {}", result.name, result.text));
            ChatMessage::user(results.collect::<Vec<_>>().join("\n\n"))
        }
        _ => ChatMessage::user("(not shown)"),
    });
    let mut rules = String::from("Reply with one JSON object. To answer: {\"final\": \"your answer\"}.");
    if !request.tools.is_empty() {
        rules.push_str(" To call a tool: {\"name\": \"the tool\", \"arguments\": {…}}. The tools:");
        for tool in &request.tools {
            rules.push_str(&format!("\n- {}: {} Arguments: {}", tool.name, tool.description, tool.parameters));
        }
    }
    let system = if request.system.trim().is_empty() { rules } else { format!("{}\n\n{rules}", request.system) };
    with_system(ChatRequest::from_messages(messages.collect()), &system)
}

/// What the model wrote, as a reply.
pub(crate) fn reply(reply: ModelReply, request: &ModelRequest) -> Result<ModelReply, Failure> {
    match serde_json::from_str::<Value>(reply.text.trim()) {
        Ok(said) => read(&said, reply, request),
        // Cut off inside: what there is, is no answer and no call.
        Err(_) if reply.stop == StopReason::MaxTokens => Ok(reply),
        Err(_) => Err(Failure::OffSchema(reply.text)),
    }
}

fn read(said: &Value, reply: ModelReply, request: &ModelRequest) -> Result<ModelReply, Failure> {
    let usage = reply.usage;
    if let Some(text) = said["final"].as_str() {
        // It is whole, wherever the limit was.
        let stop = if reply.stop == StopReason::MaxTokens { StopReason::EndTurn } else { reply.stop };
        return Ok(ModelReply { usage, ..ModelReply::text(text) }.stopped(stop));
    }
    let Some(name) = said["name"].as_str() else { return Err(Failure::OffSchema(reply.text)) };
    // An id that no call of the conversation has.
    let before = request.messages.iter().map(|message| match message {
        Message::Assistant { calls, .. } => calls.len(),
        _ => 0,
    });
    let id = format!("call_{}", before.sum::<usize>() + 1);
    let call = ToolCall::new(id, name, said["arguments"].to_string());
    Ok(ModelReply { usage, ..ModelReply::calls([call]) })
}

/// One alternative a tool, and one for an answer.
pub(crate) fn schema(request: &ModelRequest) -> Value {
    let mut definitions = Map::new();
    let mut alternatives = Vec::new();
    for tool in &request.tools {
        let mut arguments = tool.parameters.clone();
        let prefix = format!("{}.", tool.name);
        if let Some(own) = arguments.as_object_mut().and_then(|schema| schema.remove("$defs"))
            && let Value::Object(own) = own
        {
            for (name, mut definition) in own {
                bind(&mut definition, &prefix);
                definitions.insert(format!("{prefix}{name}"), definition);
            }
        }
        bind(&mut arguments, &prefix);
        alternatives.push(object(&[("name", json!({ "const": tool.name.as_str() })), ("arguments", arguments)]));
    }
    alternatives.push(object(&[("final", json!({ "type": "string", "maxLength": LONGEST_TEXT }))]));
    match definitions.is_empty() {
        true => json!({ "anyOf": alternatives }),
        false => json!({ "anyOf": alternatives, "$defs": definitions }),
    }
}

fn object(fields: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Bounds every text, and leads references to where the definitions of this tool stand.
fn bind(schema: &mut Value, prefix: &str) {
    match schema {
        Value::Object(object) => {
            let is_text = object.get("type") == Some(&json!("string"));
            let is_bound = ["maxLength", "enum", "const"].iter().any(|word| object.contains_key(*word));
            if is_text && !is_bound {
                object.insert("maxLength".to_owned(), json!(LONGEST_TEXT));
            }
            if let Some(Value::String(reference)) = object.get_mut("$ref")
                && let Some(name) = reference.strip_prefix("#/$defs/")
            {
                *reference = format!("#/$defs/{prefix}{name}");
            }
            object.values_mut().for_each(|value| bind(value, prefix));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| bind(value, prefix)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use skillgraph_core::decl::ToolId;
    use skillgraph_core::turn::{ToolSpec, Transcript};

    use super::*;

    fn request() -> ModelRequest {
        let parameters = json!({
            "type": "object",
            "properties": { "to": { "$ref": "#/$defs/Place" }, "note": { "type": "string" } },
            "$defs": { "Place": { "type": "object", "properties": { "town": { "type": "string", "enum": ["Bonn"] } } } },
        });
        let spec = ToolSpec { name: ToolId::from_static("send"), description: "Sends.".into(), parameters };
        let messages = Transcript::from_iter([Message::User { text: "hi".into() }]);
        ModelRequest { iteration: 1, model: None, system: "Be kind.".into(), messages, tools: vec![Arc::new(spec)] }
    }

    #[test]
    fn the_alternatives_are_the_offered_calls_and_an_answer() {
        let schema = schema(&request());
        let alternatives = schema["anyOf"].as_array().expect("alternatives");
        assert_eq!(alternatives.len(), 2);
        assert_eq!(alternatives[0]["properties"]["name"]["const"], "send");
        let arguments = &alternatives[0]["properties"]["arguments"];
        assert_eq!(arguments["properties"]["note"]["maxLength"], LONGEST_TEXT);
        assert_eq!(arguments["properties"]["to"]["$ref"], "#/$defs/send.Place");
        assert!(schema["$defs"]["send.Place"]["properties"]["town"].get("maxLength").is_none());
        assert_eq!(alternatives[1]["required"], json!(["final"]));
    }

    #[test]
    fn what_the_model_wrote_becomes_a_call_an_answer_or_an_error() {
        let read = |text: &str, stop: StopReason| reply(ModelReply::text(text).stopped(stop), &request());
        let call = read(r#"{"name":"send","arguments":{"note":"x"}}"#, StopReason::EndTurn).expect("a call");
        assert_eq!(call.calls, [ToolCall::new("call_1", "send", r#"{"note":"x"}"#)]);
        let answer = read(r#" {"final":"done"} "#, StopReason::EndTurn).expect("an answer");
        assert_eq!((answer.text.as_str(), answer.calls.len()), ("done", 0));
        // Whole, though the limit was reached just then.
        let whole = read(r#"{"name":"send","arguments":{}}"#, StopReason::MaxTokens).expect("a call");
        assert_eq!(whole.stop, StopReason::ToolCalls);
        let cut = read(r#"{"final":"do"#, StopReason::MaxTokens).expect("what there is");
        assert_eq!(cut.stop, StopReason::MaxTokens);
        assert!(matches!(read("of course!", StopReason::EndTurn), Err(Failure::OffSchema(_))));
        assert!(matches!(read("[1]", StopReason::EndTurn), Err(Failure::OffSchema(_))));
    }
}
