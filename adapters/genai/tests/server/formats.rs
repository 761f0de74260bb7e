//! Replies in the formats of four providers, as they stream.

use serde_json::{Value, json};
use skillgraph_genai::Provider;

use super::Reply;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    OpenAi,
    Anthropic,
    Ollama,
    Gemini,
}

impl Format {
    pub const ALL: [Format; 4] = [Format::OpenAi, Format::Anthropic, Format::Ollama, Format::Gemini];

    /// Who speaks it.
    pub fn provider(self) -> Provider {
        match self {
            Format::OpenAi => Provider::OpenAI,
            Format::Anthropic => Provider::Anthropic,
            Format::Ollama => Provider::Ollama,
            Format::Gemini => Provider::Gemini,
        }
    }

    /// What an endpoint's address ends with.
    pub fn path(self) -> &'static str {
        match self {
            Format::OpenAi | Format::Anthropic => "/v1",
            Format::Ollama => "",
            Format::Gemini => "/v1beta",
        }
    }

    pub fn content_type(self) -> &'static str {
        match self {
            Format::OpenAi | Format::Anthropic | Format::Gemini => "text/event-stream",
            Format::Ollama => "application/x-ndjson",
        }
    }

    /// How the provider says that a reply ran into the limit.
    pub fn cut_off(self) -> &'static str {
        match self {
            Format::OpenAi | Format::Ollama => "length",
            Format::Anthropic => "max_tokens",
            Format::Gemini => "MAX_TOKENS",
        }
    }

    /// How it says that a reply is at its end.
    pub fn done(self) -> &'static str {
        match self {
            Format::OpenAi | Format::Ollama => "stop",
            Format::Anthropic => "end_turn",
            Format::Gemini => "STOP",
        }
    }

    /// How it says that it waits for results, where it has a word for that.
    pub fn calls(self) -> &'static str {
        match self {
            Format::OpenAi => "tool_calls",
            Format::Anthropic => "tool_use",
            Format::Ollama => "stop",
            Format::Gemini => "STOP",
        }
    }

    /// The reply, chunk by chunk.
    pub fn chunks(self, reply: &Reply) -> Vec<String> {
        let stop = reply.stop.unwrap_or(if reply.calls.is_empty() { self.done() } else { self.calls() });
        match self {
            Format::OpenAi => open_ai(reply, stop),
            Format::Anthropic => anthropic(reply, stop),
            Format::Ollama => ollama(reply, stop),
            Format::Gemini => gemini(reply, stop),
        }
    }
}

/// Two halves, so that what comes in pieces is put together.
fn halves(text: &str) -> [&str; 2] {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(text.len(), |(at, _)| at);
    let (first, second) = text.split_at(middle);
    [first, second]
}

fn open_ai(reply: &Reply, stop: &str) -> Vec<String> {
    let data = |value: Value| format!("data: {value}\n\n");
    let delta = |delta: Value| data(json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] }));
    let mut chunks = vec![delta(json!({ "role": "assistant", "content": "" }))];
    chunks.extend(
        halves(reply.text).into_iter().filter(|half| !half.is_empty()).map(|half| delta(json!({ "content": half }))),
    );
    for (at, (name, arguments)) in reply.calls.iter().enumerate() {
        let [first, second] = halves(arguments);
        let function = json!({ "name": name, "arguments": first });
        let call = json!({ "index": at, "id": id(reply, at), "type": "function", "function": function });
        chunks.push(delta(json!({ "tool_calls": [call] })));
        if !second.is_empty() {
            chunks.push(delta(json!({ "tool_calls": [{ "index": at, "function": { "arguments": second } }] })));
        }
    }
    chunks.push(data(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": stop }] })));
    chunks.push(data(
        json!({ "choices": [], "usage": { "prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16 } }),
    ));
    chunks.push("data: [DONE]\n\n".to_owned());
    chunks
}

/// Ids that differ from one reply to the next.
fn id(reply: &Reply, at: usize) -> String {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let _ = reply;
    format!("id_{}_{at}", NEXT.fetch_add(1, Ordering::SeqCst))
}

fn anthropic(reply: &Reply, stop: &str) -> Vec<String> {
    let event = |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default());
    let usage = json!({ "input_tokens": 11, "output_tokens": 1 });
    let message =
        json!({ "id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": usage });
    let mut chunks = vec![event(json!({ "type": "message_start", "message": message }))];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        chunks.push(event(json!({ "type": "content_block_start", "index": index, "content_block": start })));
        for delta in deltas {
            chunks.push(event(json!({ "type": "content_block_delta", "index": index, "delta": delta })));
        }
        chunks.push(event(json!({ "type": "content_block_stop", "index": index })));
        index += 1;
    };
    if !reply.text.is_empty() {
        let deltas = halves(reply.text).map(|half| json!({ "type": "text_delta", "text": half }));
        block(json!({ "type": "text", "text": "" }), deltas.into());
    }
    for (at, (name, arguments)) in reply.calls.iter().enumerate() {
        // A tool without parameters may get no delta at all.
        let halves = halves(arguments).into_iter().filter(|half| !half.is_empty());
        let deltas = halves.map(|half| json!({ "type": "input_json_delta", "partial_json": half }));
        block(json!({ "type": "tool_use", "id": id(reply, at), "name": name, "input": {} }), deltas.collect());
    }
    let delta = json!({ "stop_reason": stop, "stop_sequence": null });
    chunks.push(event(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 5 } })));
    chunks.push(event(json!({ "type": "message_stop" })));
    chunks
}

fn gemini(reply: &Reply, stop: &str) -> Vec<String> {
    let usage = json!({ "promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 16 });
    let data = |parts: Vec<Value>, stop: Option<&str>| {
        let mut candidate = json!({ "content": { "parts": parts, "role": "model" }, "index": 0 });
        if let Some(stop) = stop {
            candidate["finishReason"] = json!(stop);
        }
        format!("data: {}\n\n", json!({ "candidates": [candidate], "usageMetadata": usage }))
    };
    let texts = halves(reply.text).into_iter().filter(|half| !half.is_empty());
    let mut chunks: Vec<String> = texts.map(|half| data(vec![json!({ "text": half })], None)).collect();
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter().enumerate().map(|(at, (name, arguments))| {
            let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
            let mut part = json!({ "functionCall": { "name": name, "args": arguments } });
            if at == 0 {
                part["thoughtSignature"] = json!("a signature");
            }
            part
        });
        chunks.push(data(calls.collect(), None));
    }
    chunks.push(data(vec![json!({ "text": "" })], Some(stop)));
    chunks
}

fn ollama(reply: &Reply, stop: &str) -> Vec<String> {
    let line = |value: Value| format!("{value}\n");
    let message = |message: Value| line(json!({ "model": "m", "message": message, "done": false }));
    let mut chunks: Vec<String> = halves(reply.text)
        .into_iter()
        .filter(|half| !half.is_empty())
        .map(|half| message(json!({ "role": "assistant", "content": half })))
        .collect();
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter().map(|(name, arguments)| {
            let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
            json!({ "function": { "name": name, "arguments": arguments } })
        });
        let calls: Vec<Value> = calls.collect();
        chunks.push(message(json!({ "role": "assistant", "content": "", "tool_calls": calls })));
    }
    let message = json!({ "role": "assistant", "content": "" });
    let end = json!({ "model": "m", "message": message, "done": true, "done_reason": stop, "prompt_eval_count": 11, "eval_count": 5 });
    chunks.push(line(end));
    chunks
}
