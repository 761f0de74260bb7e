//! Streams as servers send them, with the oddities that were seen: `fragments/*.json`, a file for each format. Each is replayed in
//! one piece and byte by byte, and comes to the same.

mod server;

use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use server::{Act, End, Format, Reply, Server};
use skillgraph::core::decl::{Status, ToolId};
use skillgraph::core::turn::{ModelRequest, ToolMessage, ToolSpec};
use skillgraph::{Message, Model, ModelError, ModelReply, Transcript};
use skillgraph_genai::GenaiModel;

/// A stream, and what it comes to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    /// What is odd about it, for whoever reads the file.
    #[allow(dead_code)]
    says: String,
    events: Vec<Value>,
    reply: Wanted,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The body, where it is not made of the events.
    raw: Option<String>,
    /// A body without a stream.
    document: Option<Value>,
    #[serde(default)]
    text: String,
    #[serde(default)]
    calls: Vec<WantedCall>,
    stop: Option<String>,
    /// The kind of the error that it is.
    error: Option<String>,
    /// Fields of the message when it is sent again.
    sent_back: Option<Value>,
    /// Fields of its first call.
    call_sent_back: Option<Value>,
    /// The parts that it begins with.
    blocks_sent_back: Option<Value>,
    /// A part that it has.
    part_sent_back: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedCall {
    name: String,
    arguments: Value,
    id: Option<String>,
}

fn cases(format: Format) -> Vec<Case> {
    let text = match format {
        Format::OpenAi => include_str!("fragments/openai.json"),
        Format::Anthropic => include_str!("fragments/anthropic.json"),
        Format::Gemini => include_str!("fragments/gemini.json"),
        Format::Ollama => include_str!("fragments/ollama.json"),
    };
    serde_json::from_str(text).expect("cases")
}

/// The body that a server sends.
fn body(format: Format, case: &Case) -> String {
    if let Some(raw) = &case.reply.raw {
        return raw.clone();
    }
    if let Some(document) = &case.reply.document {
        return document.to_string();
    }
    let event = |event: &Value| {
        let data = event.as_str().map_or_else(|| event.to_string(), str::to_owned);
        match format {
            Format::Ollama => format!("{data}\n"),
            Format::Anthropic => format!("event: {}\ndata: {data}\n\n", event["type"].as_str().unwrap_or("x")),
            Format::OpenAi | Format::Gemini => format!("data: {data}\n\n"),
        }
    };
    case.events.iter().map(event).collect()
}

fn model(server: &Server, format: Format) -> GenaiModel {
    GenaiModel::new("m").endpoint(&server.url).provider(format.provider()).retries(0).build().expect("a model")
}

fn request(messages: impl IntoIterator<Item = Message>) -> ModelRequest {
    let tool = |name: &'static str| {
        let parameters = json!({ "type": "object", "properties": {} });
        Arc::new(ToolSpec { name: ToolId::from_static(name), description: "Works.".into(), parameters })
    };
    let first = Message::User { text: "order 7?".into() };
    let messages: Transcript = std::iter::once(first).chain(messages).collect();
    let tools = vec![tool("find_order"), tool("pay")];
    ModelRequest { iteration: 1, model: None, system: "Be kind.".into(), messages, tools }
}

async fn replay(format: Format, chunks: Vec<Bytes>) -> Result<ModelReply, ModelError> {
    let server = Server::start(format, [Act::Raw(chunks, End::Closed)]).await;
    model(&server, format).complete(request([])).await
}

fn check(case: &Case, reply: &Result<ModelReply, ModelError>) {
    let id = &case.id;
    let reply = match (reply, &case.reply.error) {
        (Err(error), Some(kind)) => return assert_eq!(error.kind().as_str(), kind, "{id}: {error}"),
        (Ok(reply), None) => reply,
        (reply, wanted) => panic!("{id}: {reply:?} and not {wanted:?}"),
    };
    assert_eq!(reply.text, case.reply.text, "{id}");
    let names: Vec<&str> = reply.calls.iter().map(|call| call.name.as_str()).collect();
    let wanted: Vec<&str> = case.reply.calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, wanted, "{id}");
    for (call, wanted) in reply.calls.iter().zip(&case.reply.calls) {
        let arguments = Value::Object(call.parsed_arguments().unwrap_or_else(|error| panic!("{id}: {error}")));
        assert_eq!(arguments, wanted.arguments, "{id}");
        if let Some(wanted) = &wanted.id {
            assert_eq!(&call.id, wanted, "{id}");
        }
    }
    if let Some(stop) = &case.reply.stop {
        assert_eq!(&json!(reply.stop), stop, "{id}");
    }
}

#[tokio::test]
async fn a_stream_is_read_alike_in_one_piece_and_byte_by_byte() {
    for format in Format::ALL {
        for case in cases(format) {
            let body = body(format, &case);
            let whole = replay(format, vec![Bytes::from(body.clone())]).await;
            check(&case, &whole);
            let pieces = body.as_bytes().iter().map(|byte| Bytes::copy_from_slice(&[*byte])).collect();
            let pieces = replay(format, pieces).await;
            check(&case, &pieces);
            assert_eq!(whole.ok(), pieces.ok(), "{}", case.id);
        }
    }
}

/// What an object has that another says, and more.
fn has(object: &Value, fields: &Value) -> bool {
    fields.as_object().is_some_and(|fields| fields.iter().all(|(name, value)| object.get(name) == Some(value)))
}

#[tokio::test]
async fn f39_what_a_provider_wants_back_goes_back_as_it_came() {
    let mut tried = 0;
    for format in Format::ALL {
        for case in cases(format) {
            let Wanted { sent_back, call_sent_back, blocks_sent_back, part_sent_back, .. } = &case.reply;
            if [sent_back, call_sent_back, blocks_sent_back, part_sent_back].iter().all(|wanted| wanted.is_none()) {
                continue;
            }
            tried += 1;
            let answer = Act::Reply(Reply { text: "Seven.", ..Reply::default() });
            let first = Act::Raw(vec![Bytes::from(body(format, &case))], End::Closed);
            let server = Server::start(format, [first, answer]).await;
            let model = model(&server, format);
            let ModelReply { text, calls, thoughts, .. } = model.complete(request([])).await.expect("a reply");
            // As it is saved, and read again.
            let message = Message::Assistant { text, calls: calls.clone(), thoughts };
            let message = serde_json::from_value(json!(message)).expect("a message");
            let result =
                |call: &skillgraph::ToolCall| ToolMessage::new(&call.id, &call.name, "7", Some(Status::Success));
            let results = Message::ToolResults { results: calls.iter().map(result).collect() };
            let _ = model.complete(request([message, results])).await;
            let sent = server.requests().pop().expect("a request");
            let message = match format {
                Format::Gemini => &sent["contents"][1],
                Format::Anthropic => &sent["messages"][1],
                Format::OpenAi | Format::Ollama => &sent["messages"][2],
            };
            let id = &case.id;
            if let Some(wanted) = sent_back {
                assert!(has(message, wanted), "{id}: {message:#}");
            }
            if let Some(wanted) = call_sent_back {
                assert!(has(&message["tool_calls"][0], wanted), "{id}: {message:#}");
            }
            if let Some(wanted) = blocks_sent_back {
                let blocks = message["content"].as_array().expect("blocks");
                assert!(blocks.starts_with(wanted.as_array().expect("a list")), "{id}: {message:#}");
            }
            if let Some(wanted) = part_sent_back {
                let parts = message["parts"].as_array().expect("parts");
                assert!(parts.contains(wanted), "{id}: {message:#}");
            }
        }
    }
    assert_eq!(tried, 7);
}

#[tokio::test]
async fn thoughts_of_another_provider_are_not_sent() {
    let thought =
        json!({ "format": "anthropic", "value": { "type": "thinking", "thinking": "Hm.", "signature": "s" } });
    for format in [Format::OpenAi, Format::Gemini, Format::Ollama] {
        let server = Server::start(format, [Act::Reply(Reply { text: "Seven.", ..Reply::default() })]).await;
        let message = Message::Assistant { text: "Six.".into(), calls: vec![], thoughts: vec![thought.clone()] };
        let messages = [message, Message::User { text: "sure?".into() }];
        model(&server, format).complete(request(messages)).await.expect("a reply");
        assert!(!server.requests()[0].to_string().contains("Hm."), "{format:?}");
    }
}
