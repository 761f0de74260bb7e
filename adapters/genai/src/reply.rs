//! A stream of genai as a reply, piece by piece.

use std::time::Duration;

use futures_util::StreamExt;
use genai::chat::{ChatStream, ChatStreamEvent, StopReason as GenaiStop, StreamEnd, ToolCall as GenaiCall};
use serde_json::Value;
use skillgraph_core::turn::{ModelReply, StopReason, ToolCall, Usage};
use skillgraph_runtime::{Piece, Pieces};

use crate::failure::Failure;

/// Reads a stream to its end.
pub(crate) async fn read(
    mut stream: ChatStream,
    silence: Duration,
    mut reader: Reader<'_>,
) -> Result<ModelReply, Failure> {
    loop {
        let next = tokio::time::timeout(silence, stream.next()).await.map_err(|_| Failure::Silent(silence))?;
        match next {
            None => return Err(Failure::BrokenOff),
            Some(Err(error)) => return Err(Failure::of(error)),
            Some(Ok(ChatStreamEvent::Chunk(chunk))) => reader.text(chunk.content),
            Some(Ok(ChatStreamEvent::ToolCallChunk(chunk))) => reader.call(chunk.tool_call),
            // Of a stream that broke off, some adapters make an end that says nothing.
            Some(Ok(ChatStreamEvent::End(end))) if end.captured_stop_reason.is_none() => {
                return Err(Failure::BrokenOff);
            }
            Some(Ok(ChatStreamEvent::End(end))) => return Ok(reader.end(end)),
            Some(Ok(_)) => {}
        }
    }
}

/// What has come of a reply.
pub(crate) struct Reader<'a> {
    pieces: Pieces<'a>,
    text: String,
    calls: Vec<ToolCall>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(pieces: Pieces<'a>) -> Self {
        Self { pieces, text: String::new(), calls: Vec::new() }
    }

    fn text(&mut self, text: String) {
        if !text.is_empty() {
            self.text.push_str(&text);
            (self.pieces)(Piece::Text(text));
        }
    }

    /// A call as far as it has come: its arguments hold all that came before.
    fn call(&mut self, call: GenaiCall) {
        let arguments = arguments(&call.fn_arguments);
        let index = match self.calls.iter().position(|known| known.id == call.call_id) {
            Some(index) => index,
            None => {
                self.calls.push(ToolCall { arguments: String::new(), ..raw_call(call.clone()) });
                self.calls.len() - 1
            }
        };
        let Some(known) = self.calls.get_mut(index) else { return };
        let more = arguments.strip_prefix(known.arguments.as_str()).unwrap_or(&arguments).to_owned();
        known.arguments = arguments;
        (self.pieces)(Piece::Call { index, id: call.call_id, name: call.fn_name, arguments: more });
    }

    fn end(self, end: StreamEnd) -> ModelReply {
        let usage = end.captured_usage.as_ref().and_then(|usage| {
            let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
            Some(Usage { input_tokens: count(usage.prompt_tokens)?, output_tokens: count(usage.completion_tokens)? })
        });
        let stop = end.captured_stop_reason.clone();
        let captured = end.captured_into_tool_calls().unwrap_or_default();
        let captured: Vec<ToolCall> = captured.into_iter().map(raw_call).collect();
        let calls = if captured.is_empty() { self.calls } else { captured };
        let stop = match stop {
            Some(stop) => stop_reason(stop),
            None if calls.is_empty() => StopReason::EndTurn,
            None => StopReason::ToolCalls,
        };
        ModelReply { text: self.text, calls, stop, usage }
    }
}

/// The call as the model wrote it.
fn raw_call(call: GenaiCall) -> ToolCall {
    let arguments = arguments(&call.fn_arguments);
    ToolCall {
        id: call.call_id,
        name: call.fn_name,
        arguments,
        signatures: call.thought_signatures.unwrap_or_default(),
    }
}

/// Text stands for arguments that could not be read, or not yet.
fn arguments(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

fn stop_reason(stop: GenaiStop) -> StopReason {
    match stop {
        GenaiStop::Completed(_) | GenaiStop::StopSequence(_) => StopReason::EndTurn,
        GenaiStop::ToolCall(_) => StopReason::ToolCalls,
        GenaiStop::MaxTokens(_) => StopReason::MaxTokens,
        GenaiStop::ContentFilter(_) => StopReason::Refusal,
        GenaiStop::Other(raw) => StopReason::Other(raw),
    }
}
