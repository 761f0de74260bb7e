//! Constrained mode: for endpoints without tool calls, a schema binds the reply to one of the offered calls, or an
//! answer.
// SPEC 14.3.

use serde_json::{Map, Value, json};
use skillgraph_core::turn::{Message, ModelReply, ModelRequest, StopReason, ToolCall, Transcript};

use crate::failure::Failure;

/// The longest text in a reply, in characters: a small model that is not bound may not end.
const LONGEST_TEXT: u64 = 2_000;

/// The request as text alone: calls are what the model is to write, results what it is told in JSON, in which no text of a tool
/// can begin a result of another.
pub(crate) fn as_text(request: &ModelRequest) -> ModelRequest {
    let messages = request.messages.iter().map(|message| match message {
        Message::User { text } | Message::Framework { text, .. } => Message::User { text: text.clone() },
        Message::Assistant { text, calls, .. } => {
            let calls = calls.iter().map(|call| {
                let arguments = Value::Object(call.parsed_arguments().unwrap_or_default());
                json!({ "name": call.name, "arguments": arguments }).to_string()
            });
            let mut said: Vec<String> = calls.collect();
            if said.is_empty() {
                said.push(json!({ "final": text }).to_string());
            }
            Message::Assistant { text: said.join("\n"), calls: Vec::new(), thoughts: Vec::new() }
        }
        Message::ToolResults { results } => {
            let results = results.iter().map(|result| json!({ "tool": result.name, "returned": result.text }));
            Message::User { text: json!({ "results": results.collect::<Vec<_>>() }).to_string() }
        }
        other => other.clone(),
    });
    let mut rules = String::from(
        "Reply with one JSON object. To answer: {\"final\": \"your answer\"}. What tools return comes to you as \
         {\"results\": […]}.",
    );
    if !request.tools.is_empty() {
        rules.push_str(" To call a tool: {\"name\": \"the tool\", \"arguments\": {…}}. The tools:");
        for tool in &request.tools {
            rules.push_str(&format!("\n- {}: {} Arguments: {}", tool.name, tool.description, tool.parameters));
        }
    }
    let system = if request.system.trim().is_empty() { rules } else { format!("{}\n\n{rules}", request.system) };
    ModelRequest {
        iteration: request.iteration,
        model: request.model.clone(),
        system,
        messages: messages.collect::<Transcript>(),
        tools: Vec::new(),
    }
}

/// What the model wrote, as a reply.
pub(crate) fn reply(reply: ModelReply) -> Result<ModelReply, Failure> {
    match serde_json::from_str::<Value>(reply.text.trim()) {
        Ok(said) => read(&said, reply),
        // Cut off inside an answer: its words so far. Cut off inside a call: nothing that could run.
        Err(_) if reply.stop == StopReason::MaxTokens => {
            Ok(ModelReply { text: words_so_far(&reply.text).unwrap_or_default(), ..reply })
        }
        Err(_) => Err(Failure::OffSchema(reply.text)),
    }
}

/// The words of an answer whose JSON is cut off.
fn words_so_far(text: &str) -> Option<String> {
    let rest = text.trim_start().strip_prefix('{')?.trim_start().strip_prefix("\"final\"")?;
    let words = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    // The longest beginning that is a text: an escape may be cut, too, and the longest one is of twelve bytes.
    let ends = (0..=12).filter_map(|less| words.len().checked_sub(less)).filter(|end| words.is_char_boundary(*end));
    ends.filter_map(|end| serde_json::from_str(&format!("\"{}\"", words.get(..end)?)).ok()).next()
}

fn read(said: &Value, reply: ModelReply) -> Result<ModelReply, Failure> {
    let ModelReply { usage, thoughts, .. } = reply;
    if let Some(text) = said["final"].as_str() {
        // It is whole, wherever the limit was.
        let stop = if reply.stop == StopReason::MaxTokens { StopReason::EndTurn } else { reply.stop };
        return Ok(ModelReply { usage, thoughts, ..ModelReply::text(text) }.stopped(stop));
    }
    let Some(name) = said["name"].as_str() else { return Err(Failure::OffSchema(reply.text)) };
    // Whoever takes the reply in gives the call its id.
    let call = ToolCall::new("", name, said["arguments"].to_string());
    Ok(ModelReply { usage, thoughts, ..ModelReply::calls([call]) })
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
    use skillgraph_core::turn::ToolSpec;

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
        let read = |text: &str, stop: StopReason| reply(ModelReply::text(text).stopped(stop));
        let call = read(r#"{"name":"send","arguments":{"note":"x"}}"#, StopReason::EndTurn).expect("a call");
        assert_eq!(call.calls, [ToolCall::new("", "send", r#"{"note":"x"}"#)]);
        let answer = read(r#" {"final":"done"} "#, StopReason::EndTurn).expect("an answer");
        assert_eq!((answer.text.as_str(), answer.calls.len()), ("done", 0));
        // Whole, though the limit was reached just then.
        let whole = read(r#"{"name":"send","arguments":{}}"#, StopReason::MaxTokens).expect("a call");
        assert_eq!(whole.stop, StopReason::ToolCalls);
        let cut = read(r#"{"final":"do"#, StopReason::MaxTokens).expect("what there is");
        assert_eq!((cut.text.as_str(), cut.stop), ("do", StopReason::MaxTokens));
        assert!(matches!(read("of course!", StopReason::EndTurn), Err(Failure::OffSchema(_))));
        assert!(matches!(read("[1]", StopReason::EndTurn), Err(Failure::OffSchema(_))));
    }
}
