//! A model that is none: it follows the step banner, fills arguments from the user's message by the tool's schema, and
//! answers with what the tools returned. It knows nothing of the graph but what a request says.

use serde_json::{Map, Value};
use skillgraph::{Message, Model, ModelError, ModelReply, ModelRequest, ToolCall, ToolSpec};

pub struct StandIn;

/// Tools that move through the graph; they take a judgement that this model does not have.
const NAVIGATION: [&str; 3] = ["read_skill", "list_skills", "skip_step"];

impl Model for StandIn {
    async fn complete(&self, request: ModelRequest) -> Result<ModelReply, ModelError> {
        let turn = Turn::of(&request);
        let Some(tool) = turn.next_tool(&request) else { return Ok(ModelReply::text(turn.answer())) };
        Ok(match fill(&tool.parameters, turn.message) {
            Ok(arguments) => {
                let id = format!("call_{}", request.iteration);
                ModelReply::calls([ToolCall::new(id, tool.name.as_str(), Value::Object(arguments).to_string())])
            }
            Err(missing) => ModelReply::text(format!("Please tell me the {missing}.")),
        })
    }
}

/// What was said since the user's last message.
struct Turn<'a> {
    message: &'a str,
    /// Tools that were called, and what came back.
    results: Vec<(&'a str, &'a str)>,
}

impl<'a> Turn<'a> {
    fn of(request: &'a ModelRequest) -> Self {
        let mut turn = Turn { message: "", results: Vec::new() };
        for message in request.messages.iter() {
            match message {
                Message::User { text } => turn = Turn { message: text, results: Vec::new() },
                Message::ToolResults { results } => {
                    turn.results.extend(results.iter().map(|result| (result.name.as_str(), result.text.as_str())));
                }
                _ => {}
            }
        }
        turn
    }

    /// The tool of the current step, else the first one; each once.
    fn next_tool(&self, request: &'a ModelRequest) -> Option<&'a ToolSpec> {
        let tools = || request.tools.iter().map(AsRef::as_ref).filter(|tool| !NAVIGATION.contains(&tool.name.as_str()));
        let step = tools().find(|tool| tool.description.starts_with("[Step "));
        let tool = step.or_else(|| tools().find(|tool| !self.has_called(tool)))?;
        (!self.has_called(tool)).then_some(tool)
    }

    fn has_called(&self, tool: &ToolSpec) -> bool {
        self.results.iter().any(|(name, _)| tool.name == *name)
    }

    fn answer(&self) -> String {
        if self.results.is_empty() {
            return "I can refund a double charge or find a parcel. What is it about, and which order?".to_owned();
        }
        self.results.iter().map(|(_, text)| in_words(text)).collect::<Vec<_>>().join("\n")
    }
}

/// A result as a person would read it: no JSON, no note about the procedure.
fn in_words(text: &str) -> String {
    let text = text.split("\n\n[").next().unwrap_or(text);
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else { return text.to_owned() };
    let fields = fields.iter().map(|(name, value)| match value {
        Value::String(text) => format!("{}: {text}", name.replace('_', " ")),
        other => format!("{}: {other}", name.replace('_', " ")),
    });
    let mut fields: Vec<String> = fields.collect();
    fields.sort();
    fields.join(", ")
}

/// Arguments for the schema: numbers are the numbers of the message, texts the message itself. An error names what is
/// missing.
fn fill(schema: &Value, message: &str) -> Result<Map<String, Value>, String> {
    let mut numbers = message.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u32>().ok());
    let properties = schema["properties"].as_object().into_iter().flatten();
    let filled = properties.map(|(name, property)| {
        let value = match property["type"].as_str() {
            Some("integer" | "number") => Value::from(numbers.next().ok_or(format!("number of the {name}"))?),
            _ => Value::from(message),
        };
        Ok((name.clone(), value))
    });
    filled.collect()
}
