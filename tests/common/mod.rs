//! What several test files need: tools and replies in one line, and questions about a run.
#![allow(dead_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use skillgraph::core::graph::Graph;
use skillgraph::core::turn::{Setup, ToolSpec};
use skillgraph::{DynTool, Message, ModelReply, ModelRequest, ToolCall, ToolId, ToolReply, Transcript, TurnReport};

/// What a turn of this graph needs, its tools included.
pub fn setup(graph: Arc<Graph>) -> Setup {
    let spec = |name: &ToolId| {
        let parameters = json!({ "type": "object", "properties": {} });
        Arc::new(ToolSpec { name: name.clone(), description: "Works.".into(), parameters })
    };
    let tools = graph.tools().iter().map(spec).collect();
    Setup::new(graph, tools)
}

/// A tool that replies by a function of its arguments.
pub fn tool(name: &str, reply: impl Fn(Value) -> ToolReply<Value> + Send + Sync + 'static) -> DynTool {
    DynTool::new(name, format!("Does {name}."), json!({ "type": "object", "properties": {} }), move |args, _| {
        let reply = reply(args);
        async move { Ok::<_, std::convert::Infallible>(reply) }
    })
}

/// A tool that always succeeds.
pub fn succeeds(name: &str) -> DynTool {
    let text = format!("{name} done");
    tool(name, move |_| ToolReply::success(json!(text)))
}

/// Takes the tool of that name out of those given; one that was not given succeeds.
pub fn take(given: &mut Vec<DynTool>, name: &str) -> DynTool {
    match given.iter().position(|tool| tool.name() == name) {
        Some(at) => given.remove(at),
        None => succeeds(name),
    }
}

/// A tool that succeeds and counts how often it ran.
pub fn counts(name: &str) -> (DynTool, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = runs.clone();
    let counted = tool(name, move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        ToolReply::success(json!("done"))
    });
    (counted, runs)
}

/// A reply that calls these tools: `(id, name, arguments)`.
pub fn calls<const N: usize>(calls: [(&str, &str, Value); N]) -> ModelReply {
    ModelReply::calls(calls.map(|(id, name, arguments)| ToolCall::new(id, name, arguments.to_string())))
}

/// A reply that picks a skill.
pub fn pick(id: &str, skill: &str) -> ModelReply {
    calls([(id, "read_skill", json!({ "id": skill }))])
}

/// A reply that answers.
pub fn answer() -> ModelReply {
    ModelReply::text("done")
}

/// Everything that a model read: prompts, tools and messages.
pub fn all_text(request: &ModelRequest) -> String {
    let mut text = request.system.clone();
    for tool in &request.tools {
        text.push_str(&format!("\n{} {} {}", tool.name, tool.description, tool.parameters));
    }
    text.push_str(&serde_json::to_string(&request.messages).expect("messages serialise"));
    text
}

/// The results of the transcript's last batch: id and text.
/// The system prompt without what it says of the skills that are not open.
pub fn without_others(system: &str) -> &str {
    system.split("\n\n# Other skills\n").next().unwrap_or_default()
}

/// What the system prompt says of the skills that are not open: the rows of those that can be opened, and the rest.
pub fn others(system: &str) -> (Vec<&str>, &str) {
    let others = system.split_once("# Other skills\n").map_or("", |(_, others)| others);
    let refused = others.find("Not reachable from here").unwrap_or(others.len());
    let (reachable, refused) = others.split_at(refused);
    (reachable.lines().filter_map(|line| line.strip_prefix("- ")).collect(), refused)
}

pub fn last_results(transcript: &Transcript) -> Vec<(String, String)> {
    let batches = transcript.iter().rev().filter_map(|message| match message {
        Message::ToolResults { results } => Some(results),
        _ => None,
    });
    let batch = batches.take(1).flatten();
    batch.map(|result| (result.call_id.clone(), result.text.clone())).collect()
}

/// The cursor of each iteration, with the cause.
pub fn hops(report: &TurnReport) -> Vec<String> {
    let name = |id: &Option<skillgraph::SkillId>| id.as_ref().map_or("-".to_owned(), ToString::to_string);
    report.route().hops().iter().map(|hop| format!("{} by {}", name(&hop.to), hop.by)).collect()
}

/// Holds for every transcript that may be sent: each message with calls is followed by their results, one for each, in
/// call order, and nothing stands between.
pub fn assert_paired(transcript: &Transcript) {
    let messages: Vec<&Message> = transcript.iter().collect();
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::Assistant { text, calls, .. } => {
                assert!(!text.is_empty() || !calls.is_empty(), "an empty message at {at}");
                if calls.is_empty() {
                    continue;
                }
                let Some(Message::ToolResults { results }) = messages.get(at + 1) else {
                    panic!("calls without results at {at}");
                };
                let called: Vec<_> = calls.iter().map(|call| (&call.id, &call.name)).collect();
                let answered: Vec<_> = results.iter().map(|result| (&result.call_id, &result.name)).collect();
                assert_eq!(called, answered);
                assert!(results.iter().all(|result| !result.text.is_empty()), "an empty result at {at}");
            }
            Message::ToolResults { .. } => {
                assert!(
                    matches!(messages.get(at - 1), Some(Message::Assistant { .. })),
                    "results without calls at {at}"
                );
            }
            _ => {}
        }
    }
}
