//! A turn as `tracing` is told of it: spans as a tree, with their attributes, and the events inside.
//!
//! `cargo run --features tracing --example traced`

use std::convert::Infallible;
use std::fmt::Debug;

use serde_json::json;
use skillgraph::{DynTool, ModelReply, ScriptedModel, ToolCall, ToolReply, skill_graph};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

skill_graph! {
    pub graph desk {
        tools { lookup_order: dyn, issue_refund: dyn }
        skill triage { description: "Start", body: "Look the order up.", tools: [lookup_order] }
        skill billing { description: "Refunds", body: "Refund what was charged.", tools: [issue_refund] }
        entry triage;
        route triage -> billing on lookup_order;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    tracing_subscriber::registry().with(Tree).init();
    let model = ScriptedModel::new([
        ModelReply::calls([ToolCall::new("c1", "lookup_order", r#"{"order": 1042}"#)]),
        ModelReply::calls([ToolCall::new("c2", "issue_refund", r#"{"order": 1042}"#)]),
        ModelReply::text("Refunded."),
    ]);
    let tool = |name: &str| {
        DynTool::new(name, "Works.", json!({ "type": "object" }), |_, _| async {
            Ok::<_, Infallible>(ToolReply::success(json!("done")))
        })
    };
    let tools = desk::Tools { lookup_order: tool("lookup_order"), issue_refund: tool("issue_refund") };
    let agent = desk::agent(tools).model(model).build().expect("an agent");
    let report = agent.conversation().with_id("42").send("Refund order 1042").await.expect("a turn");
    println!("{}", report.text().unwrap_or_default());
}

/// Prints spans and events of skillgraph, each under the span that it is in.
struct Tree;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Tree {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id).filter(|span| span.metadata().target() == "skillgraph") else { return };
        let mut line = Line(String::new());
        attributes.record(&mut line);
        println!("{:indent$}{}{}", "", span.name(), line.0, indent = 2 * span.scope().skip(1).count());
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if event.metadata().target() != "skillgraph" {
            return;
        }
        let mut line = Line(String::new());
        event.record(&mut line);
        let depth = context.event_scope(event).map_or(0, |scope| scope.count());
        println!("{:indent$}* {}{}", "", event.metadata().name(), line.0, indent = 2 * depth);
    }
}

/// Fields as ` name=value`, without the prefix that all have.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let value = format!("{value:?}");
        self.0.push_str(&format!(" {}={}", field.name().trim_start_matches("gen_ai."), value.trim_matches('"')));
    }
}
