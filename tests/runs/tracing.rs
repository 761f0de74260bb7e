//! What `tracing` is told (SPEC 14.4): spans with the names of OpenTelemetry's GenAI conventions, events named `skillgraph.*`, and
//! nothing of what was said unless that was asked for.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use crate::common::{calls, pick, succeeds};
use serde_json::json;
use skillgraph::{
    Agent, AgentBuilder, Model, ModelError, ModelReply, ModelRequest, ScriptedModel, StopReason, Usage, skill_graph,
};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

skill_graph! {
    pub graph desk {
        tools { find: dyn, pay: dyn }
        skill triage { description: "Start", body: "Ask.", tools: [find] }
        #[allow(skillgraph::model_edge_only)]
        skill billing { description: "Money", body: "Pay.", tools: [pay] }
        entry triage;
        route triage ~> billing;
    }
}

/// A model with a name and a price.
struct Priced(ScriptedModel);

impl Model for Priced {
    fn name(&self) -> Option<&str> {
        Some("small-1")
    }

    async fn complete(&self, request: ModelRequest) -> Result<ModelReply, ModelError> {
        let usage = Some(Usage { input_tokens: 7, output_tokens: 2 });
        Ok(ModelReply { usage, ..self.0.complete(request).await? })
    }
}

fn agent() -> AgentBuilder {
    let script = ScriptedModel::new([
        calls([("c1", "find", json!({ "secret": "sesame" }))]),
        pick("c2", "billing"),
        ModelReply::text("sesame opens it"),
    ]);
    desk::agent(desk::Tools { find: succeeds("find"), pay: succeeds("pay") }).model(Priced(script))
}

type Fields = BTreeMap<String, String>;

/// A span or an event, as it was told.
#[derive(Debug, Clone)]
struct Told {
    name: &'static str,
    /// The span that it is in.
    parent: Option<&'static str>,
    is_span: bool,
    fields: Fields,
}

#[derive(Clone, Default)]
struct Capture(Arc<Mutex<Vec<Told>>>);

struct Reader<'a>(&'a mut Fields);

impl Visit for Reader<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Capture {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let span = context.span(id).expect("a span");
        let mut fields = Fields::new();
        attributes.record(&mut Reader(&mut fields));
        let mut told = self.0.lock().expect("a lock");
        span.extensions_mut().insert(told.len());
        told.push(Told { name: span.name(), parent: span.parent().map(|parent| parent.name()), is_span: true, fields });
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        let at = *context.span(id).expect("a span").extensions().get::<usize>().expect("a place");
        record.record(&mut Reader(&mut self.0.lock().expect("a lock")[at].fields));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::new();
        event.record(&mut Reader(&mut fields));
        let parent = context.event_span(event).map(|span| span.name());
        self.0.lock().expect("a lock").push(Told { name: event.metadata().name(), parent, is_span: false, fields });
    }
}

/// Everything that is told while the agent answers.
fn told_by(agent: Agent) -> Vec<Told> {
    let capture = Capture::default();
    let subscriber = tracing_subscriber::registry().with(capture.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    tracing::subscriber::with_default(subscriber, || {
        let mut conversation = agent.conversation().with_id("conversation 7");
        runtime.block_on(conversation.send("open, please")).expect("a turn");
    });
    let told = capture.0.lock().expect("a lock").clone();
    told.into_iter().filter(|told| told.name.starts_with("skillgraph.") || told.is_span).collect()
}

fn fields(pairs: &[(&str, &str)]) -> Fields {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn spans_have_the_names_and_attributes_of_the_conventions() {
    let told = told_by(agent().build().expect("an agent"));
    let spans: Vec<&Told> = told.iter().filter(|told| told.is_span).collect();
    let names: Vec<_> = spans.iter().map(|span| (span.name, span.parent)).collect();
    let in_turn = Some("invoke_agent");
    let expected = [
        ("invoke_agent", None),
        ("chat", in_turn),
        ("execute_tool", in_turn),
        ("chat", in_turn),
        ("execute_tool", in_turn),
        ("chat", in_turn),
    ];
    assert_eq!(names, expected);
    assert_eq!(
        spans[0].fields,
        fields(&[
            ("gen_ai.operation.name", "invoke_agent"),
            ("gen_ai.agent.name", "desk"),
            ("gen_ai.conversation.id", "conversation 7"),
        ])
    );
    assert_eq!(
        spans[1].fields,
        fields(&[
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.request.model", "small-1"),
            ("gen_ai.response.finish_reasons", "tool_calls"),
            ("gen_ai.usage.input_tokens", "7"),
            ("gen_ai.usage.output_tokens", "2"),
            ("skillgraph.iteration", "1"),
        ])
    );
    assert_eq!(
        spans[2].fields,
        fields(&[
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "find"),
            ("gen_ai.tool.type", "function"),
            ("gen_ai.tool.call.id", "c1"),
            ("skillgraph.status", "success"),
        ])
    );
    assert_eq!(
        spans[4].fields,
        fields(&[
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "read_skill"),
            ("gen_ai.tool.type", "function"),
            ("gen_ai.tool.call.id", "c2"),
            ("gen_ai.skill.name", "billing"),
        ])
    );
}

#[test]
fn every_event_of_a_turn_is_told_inside_of_it() {
    let agent = agent().build().expect("an agent");
    let told = told_by(agent);
    let events: Vec<&Told> = told.iter().filter(|told| !told.is_span).collect();
    assert!(events.iter().all(|event| event.parent == Some("invoke_agent")));
    let names: Vec<&str> = events.iter().map(|event| event.name.trim_start_matches("skillgraph.")).collect();
    let expected = [
        "turn_started",
        "cursor_decided",
        "skill_activated",
        "offered",
        "model_replied",
        "tool_started",
        "tool_returned",
        "cursor_decided",
        "offered",
        "model_replied",
        "cursor_decided",
        "skill_deactivated",
        "skill_activated",
        "offered",
        "model_replied",
        "turn_ended",
    ];
    assert_eq!(names, expected);
    let moved = events.iter().filter(|event| event.name == "skillgraph.cursor_decided").nth(2).expect("a move");
    assert_eq!(
        moved.fields,
        fields(&[("iteration", "3"), ("from", "triage"), ("to", "billing"), ("by", "model-pick")])
    );
    assert_eq!(events.last().expect("an end").fields["outcome"], "answered");
}

#[test]
fn what_was_said_is_told_only_where_that_was_asked_for() {
    let secret = |told: &[Told]| format!("{told:?}").contains("sesame");
    assert!(!secret(&told_by(agent().build().expect("an agent"))));
    let told = told_by(agent().trace_content(true).build().expect("an agent"));
    assert!(secret(&told));
    let span = |name: &str| told.iter().find(|told| told.name == name).expect("a span").fields.clone();
    assert_eq!(span("execute_tool")["gen_ai.tool.call.arguments"], r#"{"secret":"sesame"}"#);
    assert_eq!(span("execute_tool")["gen_ai.tool.call.result"], "find done");
    assert!(span("chat")["gen_ai.input.messages"].contains("open, please"));
    assert!(span("chat")["gen_ai.system_instructions"].contains("Ask."));
}

/// Whatever a model, a tool or an endpoint wrote: ids, keys, reasons.
#[test]
fn m04_no_field_that_others_fill_is_told_without_being_asked_for() {
    let script = || {
        ScriptedModel::new([
            calls([("open sesame", "read_skill", json!({ "id": "sesame" }))]),
            calls([("sesame!", "open_skill", json!({ "key": "sesame" }))]),
            calls([("c3", "sesame", json!({}))]),
            ModelReply::text("done").stopped(StopReason::Other("sesame".into())),
        ])
    };
    let agent = || desk::agent(desk::Tools { find: succeeds("find"), pay: succeeds("pay") }).model(Priced(script()));
    let told = told_by(agent().build().expect("an agent"));
    assert!(told.iter().any(|told| told.name == "skillgraph.pick_rejected"));
    assert!(!format!("{told:?}").contains("sesame"), "{told:#?}");
    let told = told_by(agent().trace_content(true).build().expect("an agent"));
    let rejected = told.iter().find(|told| told.name == "skillgraph.pick_rejected").expect("an event");
    assert_eq!(rejected.fields["requested"], "sesame");
}
