//! The formats in which providers are asked and reply: a file each, with what is written on top and what is read below.

mod anthropic;
mod gemini;
mod ollama;
mod openai;

use genai::adapter::AdapterKind;
use serde_json::{Map, Value, json};
use skillgraph_core::turn::{ModelRequest, StopReason, ToolSpec};

use crate::assembly::Assembly;
use crate::failure::Failure;
use crate::frames::Framing;

/// What an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    OpenAi,
    Anthropic,
    Gemini,
    Ollama,
}

/// A request, and how it is to be answered.
#[derive(Debug)]
pub(crate) struct Ask<'a> {
    /// The model's name at its provider.
    pub(crate) model: &'a str,
    pub(crate) request: &'a ModelRequest,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) temperature: Option<f64>,
    /// What binds the reply.
    pub(crate) schema: Option<Value>,
}

impl Format {
    /// What a provider speaks; none where it is a format that is not spoken here.
    pub(crate) fn of(provider: AdapterKind) -> Option<Self> {
        match provider {
            AdapterKind::Anthropic => Some(Format::Anthropic),
            AdapterKind::Gemini => Some(Format::Gemini),
            AdapterKind::Ollama | AdapterKind::OllamaCloud => Some(Format::Ollama),
            AdapterKind::OpenAIResp
            | AdapterKind::GeminiIx
            | AdapterKind::Cohere
            | AdapterKind::Vertex
            | AdapterKind::BedrockApi => None,
            _ => Some(Format::OpenAi),
        }
    }

    /// Where a request goes.
    pub(crate) fn url(self, base: &str, model: &str) -> String {
        match self {
            Format::OpenAi => format!("{base}chat/completions"),
            Format::Anthropic => format!("{base}messages"),
            Format::Gemini => format!("{base}models/{model}:streamGenerateContent?alt=sse"),
            Format::Ollama => format!("{base}api/chat"),
        }
    }

    /// The header that holds the key, and what it holds.
    pub(crate) fn key(self, key: &str) -> (&'static str, String) {
        match self {
            Format::OpenAi | Format::Ollama => ("authorization", format!("Bearer {key}")),
            Format::Anthropic => ("x-api-key", key.to_owned()),
            Format::Gemini => ("x-goog-api-key", key.to_owned()),
        }
    }

    /// Headers that every request has.
    pub(crate) fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Format::Anthropic => &[("anthropic-version", "2023-06-01")],
            _ => &[],
        }
    }

    /// The most tools that a request may offer, where the provider says so.
    pub(crate) fn most_tools(self) -> Option<usize> {
        match self {
            Format::OpenAi => Some(128),
            Format::Gemini => Some(512),
            Format::Anthropic | Format::Ollama => None,
        }
    }

    pub(crate) fn framing(self) -> Framing {
        match self {
            Format::Ollama => Framing::Lines,
            _ => Framing::Events,
        }
    }

    /// The body of a request.
    pub(crate) fn body(self, ask: &Ask<'_>) -> Value {
        match self {
            Format::OpenAi => openai::body(ask),
            Format::Anthropic => anthropic::body(ask),
            Format::Gemini => gemini::body(ask),
            Format::Ollama => ollama::body(ask),
        }
    }

    /// Takes a message of a reply in. True where it says that it is the last.
    pub(crate) fn read(self, message: &Value, reply: &mut Assembly<'_>) -> Result<bool, Failure> {
        if let Some(error) = message.get("error").filter(|error| !error.is_null()) {
            return Err(Failure::of_error(error));
        }
        match self {
            Format::OpenAi => openai::read(message, reply).map(|()| false),
            Format::Anthropic => anthropic::read(message, reply),
            Format::Gemini => gemini::read(message, reply).map(|()| false),
            Format::Ollama => ollama::read(message, reply),
        }
    }
}

/// Fields that are there.
fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map<String, Value> {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The tools of a request, each as a format has it; none where there is none.
fn tools(request: &ModelRequest, tool: impl Fn(&ToolSpec) -> Value) -> Option<Value> {
    (!request.tools.is_empty()).then(|| request.tools.iter().map(|spec| tool(spec)).collect())
}

/// What a message holds at a place; null where it holds nothing there.
fn at<'a>(message: &'a Value, pointer: &str) -> &'a Value {
    message.pointer(pointer).unwrap_or(&Value::Null)
}

/// A text with something in it.
fn text_of(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

/// A list, or nothing.
fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Thoughts, marked with the format that understands them.
fn thought(format: &str, what: Value) -> Value {
    json!({ "format": format, "value": what })
}

/// What of the thoughts of a message is for a format.
fn thoughts_for<'a>(thoughts: &'a [Value], format: &'a str) -> impl Iterator<Item = &'a Value> {
    thoughts.iter().filter(move |thought| thought["format"] == *format).map(|thought| &thought["value"])
}

/// A reason to stop that has no name here.
fn other(raw: &str) -> StopReason {
    StopReason::Other(raw.to_owned())
}
