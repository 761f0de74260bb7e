//! A request of a turn in the terms of genai.

use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatRequest, ContentPart, MessageContent, Tool, ToolCall, ToolResponse};
use serde_json::Value;
use skillgraph_core::turn::{Message, ModelRequest, ToolSpec};

pub(crate) fn chat_request(request: &ModelRequest, provider: AdapterKind) -> ChatRequest {
    let messages = request.messages.iter().flat_map(|of| messages(of, provider)).collect();
    let chat = with_system(ChatRequest::from_messages(messages), &request.system);
    if request.tools.is_empty() { chat } else { chat.with_tools(request.tools.iter().map(|spec| tool(spec))) }
}

pub(crate) fn with_system(request: ChatRequest, system: &str) -> ChatRequest {
    if system.trim().is_empty() { request } else { request.with_system(system) }
}

fn tool(spec: &ToolSpec) -> Tool {
    Tool::new(spec.name.as_str()).with_description(spec.description.as_str()).with_schema(spec.parameters.clone())
}

/// One message, for Ollama as many as it has results: of several in one only the last would be sent. The core has put calls
/// and results into pairs, and left no text empty.
fn messages(message: &Message, provider: AdapterKind) -> Vec<ChatMessage> {
    let one = match message {
        Message::User { text } | Message::Framework { text, .. } => ChatMessage::user(text.as_str()),
        Message::Assistant { text, calls } => {
            let text = (!text.trim().is_empty()).then(|| ContentPart::Text(text.clone()));
            let calls = calls.iter().map(|call| {
                ContentPart::ToolCall(ToolCall {
                    call_id: call.id.clone(),
                    fn_name: call.name.clone(),
                    // What was cut off or is no object was refused: providers take objects alone.
                    fn_arguments: Value::Object(call.parsed_arguments().unwrap_or_default()),
                    thought_signatures: Some(call.signatures.clone()).filter(|signatures| !signatures.is_empty()),
                })
            });
            ChatMessage::assistant(MessageContent::from_parts(text.into_iter().chain(calls).collect::<Vec<_>>()))
        }
        Message::ToolResults { results } => {
            let results = results.iter().map(|result| {
                ToolResponse::new(result.call_id.as_str(), result.text.as_str()).with_fn_name(result.name.as_str())
            });
            if matches!(provider, AdapterKind::Ollama | AdapterKind::OllamaCloud) {
                return results
                    .map(|result| ChatMessage::tool(MessageContent::from_tool_responses(vec![result])))
                    .collect();
            }
            ChatMessage::tool(MessageContent::from_tool_responses(results.collect()))
        }
        // A kind of message that this version does not know has nothing to say to a provider.
        _ => ChatMessage::user("(not shown)"),
    };
    vec![one]
}
