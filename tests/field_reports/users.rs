//! What new users rely on (section I of the second round).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use skillgraph::core::score::ScorerTraits;
use skillgraph::core::turn::ScoreRequest;
use skillgraph::{
    Agent, AgentBuilder, AnyModel, BoundTool, Continuity, Event, GraphSpec, IntentScorer, Model, ModelError,
    ModelErrorKind, ModelReply, ModelRequest, Outcome, RunError, SavedConversation, ScorerError, ScriptedModel,
    StreamItem, Tool, Transcript, TurnRouted, skill_graph, tool,
};

use crate::common::{all_text, answer, assert_paired, calls, counts, hops, pick, succeeds};

skill_graph! {
    #[allow(skillgraph::model_edge_only)]
    graph desk {
        tools { find: dyn, pay: dyn }
        skill triage { description: "Start", body: "Ask what it is.", tools: [find] }
        skill billing { description: "Money", body: "Be exact.", tools: [pay] }
        entry triage;
        route triage ~> billing;
    }
}

fn desk(model: impl Model) -> AgentBuilder {
    desk::agent(desk::Tools { find: succeeds("find"), pay: succeeds("pay") }).model(model)
}

/// Fails on some calls, by their number from 1.
#[derive(Clone)]
struct Flaky {
    fails: &'static [usize],
    asked: Arc<AtomicUsize>,
    script: ScriptedModel,
}

impl Model for Flaky {
    async fn complete(&self, request: ModelRequest) -> Result<ModelReply, ModelError> {
        let call = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        if self.fails.contains(&call) {
            return Err(ModelError::new("try later").with_kind(ModelErrorKind::RateLimited));
        }
        self.script.complete(request).await
    }
}

fn flaky(fails: &'static [usize], replies: Vec<ModelReply>) -> Flaky {
    Flaky { fails, asked: Arc::default(), script: ScriptedModel::new(replies) }
}

#[tokio::test]
async fn f105_a_failed_model_call_is_asked_again_and_loses_nothing() {
    let model = flaky(&[2, 3], vec![calls([("a", "find", json!({}))]), calls([("b", "find", json!({}))]), answer()]);
    let (find, found) = counts("find");
    let agent = desk::agent(desk::Tools { find, pay: succeeds("pay") }).model(model.clone()).build().expect("an agent");
    let mut conversation = agent.conversation();
    for tries in 1..=2 {
        let result = if tries == 1 { conversation.send("hello").await } else { conversation.go_on().await };
        let error = result.expect_err("it fails");
        let report = error.report().expect("what happened so far");
        assert!(matches!(report.outcome, Outcome::ModelFailed { .. }));
        assert!(report.events.iter().any(|event| matches!(event, Event::ModelFailed { iteration: 2, .. })));
        assert_eq!(report.transcript.len(), 3, "the calls and results of the first reply are there");
        let RunError::Model { error, .. } = error else { panic!("{error}") };
        assert_eq!(error.kind(), ModelErrorKind::RateLimited);
        assert!(conversation.is_in_a_turn());
    }
    let report = conversation.go_on().await.expect("a turn");
    assert_eq!((report.text(), found.load(Ordering::SeqCst)), (Some("done"), 2));
    assert!(matches!(conversation.go_on().await, Err(RunError::NoTurn)));
    assert_paired(&conversation.transcript());
}

#[tokio::test]
async fn f105_a_turn_that_failed_is_stored_and_gone_on_with_elsewhere_or_given_up() {
    let model = flaky(&[2], vec![calls([("a", "find", json!({}))]), answer(), answer()]);
    let agent = desk(model).build().expect("an agent");
    let mut conversation = agent.conversation();
    conversation.send("hello").await.expect_err("it fails");
    let saved = serde_json::to_string(&conversation.save()).expect("JSON");
    let mut elsewhere = agent.restore(serde_json::from_str(&saved).expect("data")).expect("the same graph");
    assert_eq!(elsewhere.go_on().await.expect("a turn").text(), Some("done"));
    // A new message gives the turn up.
    let report = conversation.send("never mind").await.expect("a turn");
    assert_eq!(report.text(), Some("done"));
    assert_paired(&conversation.transcript());
}

struct Broken(bool);

impl IntentScorer for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn traits(&self) -> ScorerTraits {
        ScorerTraits::default()
    }

    async fn score(&self, _: ScoreRequest) -> Result<Vec<f64>, ScorerError> {
        assert!(!self.0, "a panic");
        Err(ScorerError::new("the index is gone"))
    }
}

fn routed(events: &[Event]) -> &TurnRouted {
    let found = events.iter().find_map(|event| match event {
        Event::TurnRouted(routed) => Some(routed),
        _ => None,
    });
    found.expect("how the turn started")
}

#[tokio::test]
async fn f106_a_scorer_that_fails_is_on_the_record() {
    skill_graph! {
        #[allow(skillgraph::few_declared_edges, skillgraph::one_way_entries)]
        graph scored {
            tools { find: dyn }
            skill a { description: "A", body: "A.", tools: [find] }
            skill b { description: "B", body: "B.", tools: [find] }
            entry a when intent("about a", ["a thing"]);
            entry b when intent("about b", ["b thing"]);
            classify: host;
        }
    }
    for (panics, reason) in [(false, "the index is gone"), (true, "the scorer failed unexpectedly")] {
        let model = ScriptedModel::new([answer()]);
        let agent = scored::agent(scored::Tools { find: succeeds("find") }).model(model).scorer(Broken(panics));
        let report = agent.build().expect("an agent").run("hello").await.expect("a turn");
        let routed = routed(&report.events);
        assert_eq!(routed.scorer_failed.as_deref(), Some(reason));
        assert!(!routed.decisive);
        assert_eq!(routed.offered.len(), 2, "all of them are offered");
    }
}

#[tokio::test]
async fn f106_a_decider_that_fails_is_on_the_record() {
    skill_graph! {
        graph decided {
            tools { find: dyn }
            skill a { description: "A", body: "A.", tools: [find] }
            skill b { description: "B", body: "B.", tools: [find] }
            entry a when picked;
            entry b when picked;
        }
    }
    let agent = decided::agent(decided::Tools { find: succeeds("find") }).model(ScriptedModel::new([answer()]));
    let agent = agent.decider(flaky(&[1], vec![])).build().expect("an agent");
    let report = agent.run("hello").await.expect("a turn");
    assert_eq!(routed(&report.events).decider_failed.as_deref(), Some("try later"));
}

fn spec(body: &str, note: &str, extra: bool) -> GraphSpec {
    let mut skills = vec![json!({
        "id": "desk", "description": body, "body": body, "tools": ["find", "pay"],
        "steps": [{ "tool": "find", "note": note }, { "tool": "pay", "note": note }],
    })];
    if extra {
        skills.push(json!({ "id": "other", "description": "Other", "body": "Other." }));
    }
    serde_json::from_value(json!({ "name": "g", "skills": skills, "entries": [{ "skill": "desk", "label": note }] }))
        .expect("a spec")
}

fn of_spec(spec: &GraphSpec, model: &ScriptedModel) -> Agent {
    let graph = skillgraph::Graph::compile(spec, &["find", "pay"]).unwrap_or_else(|report| panic!("{report}"));
    let find = skillgraph::DynTool::new("find", "Asks.", json!({ "type": "object" }), |_, context| async move {
        Ok::<_, String>(match context.is_approved() {
            true => skillgraph::ToolReply::success(json!("found")),
            false => skillgraph::ToolReply::pending("May I?"),
        })
    });
    let tools = [BoundTool::dynamic(find), BoundTool::dynamic(succeeds("pay"))];
    AgentBuilder::new(Arc::new(graph), tools).model(model.clone()).build().expect("an agent")
}

#[tokio::test]
async fn f107_a_mended_typo_changes_nothing_for_a_turn_that_waits() {
    let model = ScriptedModel::new([calls([("a", "find", json!({}))]), answer(), answer()]);
    let before = of_spec(&spec("Lok it up.", "lok", false), &model);
    let mut conversation = before.conversation();
    conversation.send("hello").await.expect("a turn");
    let question = conversation.questions().remove(0);
    let saved = serde_json::to_string(&conversation.save()).expect("JSON");
    let read = || serde_json::from_str::<SavedConversation>(&saved).expect("data");
    let after = of_spec(&spec("Look it up.", "look", false), &model);
    let mut conversation = after.restore(read()).expect("texts are no structure");
    assert_eq!(conversation.questions(), std::slice::from_ref(&question));
    conversation.resume(question.approve()).await.expect("a turn");
    assert!(model.requests()[1].system.contains("Look it up.") && !model.requests()[1].system.contains("Lok"));
    // What it is built of is: another skill makes it another graph.
    let other = of_spec(&spec("Look it up.", "look", true), &model);
    assert!(other.restore(read()).is_err());
    assert!(other.migrate(read()).is_ok());
}

#[tokio::test]
async fn f112_a_conversation_has_a_system_prompt_of_its_own() {
    let model = ScriptedModel::new([answer(), answer(), answer(), answer()]);
    let agent = desk(model.clone()).system("You are the desk.").build().expect("an agent");
    let mut ada = agent.conversation().with_system("The user is Ada. Today is Monday.");
    ada.send("hello").await.expect("a turn");
    agent.conversation().send("hello").await.expect("a turn");
    let systems: Vec<String> = model.requests().into_iter().map(|request| request.system).collect();
    assert!(
        systems[0].starts_with("You are the desk.\n\nThe user is Ada. Today is Monday.\n\n# Skill: triage"),
        "{}",
        systems[0]
    );
    assert!(!systems[1].contains("Ada"));
    // It is saved, and another day is another text.
    let mut ada = agent.restore(ada.save()).expect("the same graph");
    ada.send("again").await.expect("a turn");
    let mut ada = ada.with_system("The user is Ada. Today is Tuesday.");
    ada.send("again").await.expect("a turn");
    let systems: Vec<String> = model.requests().into_iter().map(|request| request.system).collect();
    assert!(systems[2].contains("Monday") && systems[3].contains("Tuesday") && !systems[3].contains("Monday"));
}

#[tokio::test]
async fn f113_a_history_of_the_hosts_brings_its_open_skill_along() {
    let model = ScriptedModel::new([pick("a", "billing"), answer(), answer(), answer()]);
    let agent = desk(model.clone()).continuity(Continuity::Conversation).build().expect("an agent");
    let mut conversation = agent.conversation();
    let report = conversation.send("hello").await.expect("a turn");
    assert_eq!(conversation.cursor(), report.cursor);
    let kept: Transcript = report.transcript.iter().rev().take(1).cloned().collect();
    let cursor = conversation.cursor().expect("a cursor");
    let report = agent.conversation_after(kept.clone()).with_cursor(cursor).send("and?").await.expect("a turn");
    assert_eq!(hops(&report), ["billing by continuity"]);
    let report = agent.conversation_after(kept).with_cursor("gone").send("and?").await.expect("a turn");
    assert_eq!(routed(&report.events).dropped.as_deref(), Some("gone"));
}

/// Every model as one type, an error of somebody else's by `?`, ids and moves as texts.
#[tokio::test]
async fn f114_small_things_need_no_code_of_ones_own() {
    struct Reads;
    impl Model for Reads {
        async fn complete(&self, _: ModelRequest) -> Result<ModelReply, ModelError> {
            let number: u32 = "seven".parse()?;
            Ok(ModelReply::text(number.to_string()))
        }
    }
    let models: Vec<Arc<dyn AnyModel>> =
        vec![Arc::new(Reads), Arc::new(ScriptedModel::new([pick("a", "billing"), answer()]))];
    let mut results = Vec::new();
    for model in models {
        results.push(desk(model).build().expect("an agent").run("hello").await);
    }
    let error = results.remove(0).expect_err("no number");
    assert_eq!(error.to_string(), "the model could not be asked: invalid digit found in string");
    assert!(std::error::Error::source(&error).is_some());
    let report = results.remove(0).expect("a turn");
    let moves: Vec<String> = report.route().hops().iter().map(ToString::to_string).collect();
    assert_eq!(moves, ["nowhere -> triage by entry", "triage -> billing by model-pick"]);
    let id: String = report.cursor.clone().expect("a cursor").into();
    assert_eq!(id, "billing");
    let data = serde_json::to_value(&report).expect("JSON");
    assert_eq!((&data["cursor"], &data["outcome"]["outcome"]), (&json!("billing"), &json!("answered")));
    let boxed: Box<dyn AnyModel> = Box::new(ScriptedModel::new([answer()]));
    assert_eq!(desk(boxed).build().expect("an agent").run("hello").await.expect("a turn").text(), Some("done"));
}

#[tokio::test]
async fn f114_a_stream_can_own_its_conversation() {
    let model = ScriptedModel::new([calls([("a", "find", json!({}))]), answer(), answer()]);
    let agent = desk(model).build().expect("an agent");
    let stream = agent.conversation().into_stream("hello");
    // As a web framework would: elsewhere, for as long as it takes.
    let (ended, stream) = tokio::spawn(async move {
        let mut stream = stream;
        let mut ended = None;
        while let Some(item) = stream.next().await {
            if let StreamItem::Ended(result) = item {
                ended = Some(result);
            }
        }
        (ended, stream)
    })
    .await
    .expect("a task");
    assert_eq!(ended.expect("an end").expect("a turn").text(), Some("done"));
    let mut conversation = stream.into_conversation().expect("it has ended");
    assert_eq!(conversation.send("and?").await.expect("a turn").text(), Some("done"));
    assert!(agent.conversation().into_stream("hello").into_conversation().is_none());
}

#[tokio::test]
async fn f115_the_record_has_content_where_somebody_wants_it() {
    for content in [false, true] {
        let model = ScriptedModel::new([
            calls([("a", "find", json!({ "order": 7 })), ("b", "pay", json!({ "amount": 1 }))]),
            answer(),
        ]);
        let agent = desk(model).record_content(content).build().expect("an agent");
        let report = agent.run("hello").await.expect("a turn");
        let text = serde_json::to_string(&report.events).expect("JSON");
        assert_eq!(text.contains(r#""arguments":{"order":7}"#), content, "{text}");
        assert_eq!(text.contains(r#""text":"find done""#), content, "{text}");
        assert_eq!(text.contains("is not available here"), content, "{text}");
    }
}

/// What is stored while a turn runs is enough to go on from, at every point; a reader never sees what is not stored.
#[tokio::test]
async fn f104_every_checkpoint_is_a_place_to_go_on_from() {
    let script = || {
        ScriptedModel::from_fn(|request: &ModelRequest| match request.iteration {
            1 => calls([("a", "find", json!({})), ("b", "find", json!({}))]),
            2 => pick("c", "billing"),
            3 => calls([("d", "pay", json!({}))]),
            _ => answer(),
        })
    };
    let saves: Arc<Mutex<Vec<String>>> = Arc::default();
    let agent = desk(script()).build().expect("an agent");
    let store = saves.clone();
    let mut conversation = agent.conversation().with_id("c").with_checkpoint(move |saved| {
        store.lock().expect("saves").push(serde_json::to_string(&saved).expect("JSON"));
        async { Ok::<_, String>(()) }
    });
    let mut stream = conversation.stream("hello");
    let mut seen = 0;
    while let Some(item) = stream.next().await {
        if let StreamItem::Event(event) = item {
            seen += 1;
            let saves = saves.lock().expect("saves");
            let event = serde_json::to_string(&event).expect("JSON");
            assert!(saves.iter().any(|saved| saved.contains(&event)), "{event} is in no save yet");
        }
    }
    drop(stream);
    assert!(seen > 10);
    let straight = conversation.transcript();
    let saves = saves.lock().expect("saves").clone();
    let mut revisions = Vec::new();
    for saved in &saves {
        let saved: SavedConversation = serde_json::from_str(saved).expect("data");
        revisions.push(saved.revision());
        let mut again = agent.restore(saved).expect("the same graph");
        again.go_on().await.expect("a turn");
        assert_eq!(again.transcript(), straight);
    }
    assert!(revisions.is_sorted(), "{revisions:?}");
}

#[tokio::test]
async fn f104_where_nothing_can_be_stored_nothing_is_done() {
    let (find, found) = counts("find");
    let fails = Arc::new(AtomicUsize::new(0));
    let counter = fails.clone();
    let model = ScriptedModel::new([calls([("a", "find", json!({}))]), answer()]);
    let agent = desk::agent(desk::Tools { find, pay: succeeds("pay") }).model(model.clone()).build().expect("an agent");
    // The second store, before the tool runs, fails once.
    let mut conversation = agent.conversation().with_checkpoint(move |_| {
        let number = counter.fetch_add(1, Ordering::SeqCst);
        async move { if number == 1 { Err("the disk is full") } else { Ok(()) } }
    });
    let error = conversation.send("hello").await.expect_err("it could not be stored");
    assert_eq!(error.to_string(), "the conversation could not be stored: the disk is full");
    assert_eq!((found.load(Ordering::SeqCst), model.requests().len()), (0, 1));
    let report = conversation.go_on().await.expect("a turn");
    assert_eq!((report.text(), found.load(Ordering::SeqCst)), (Some("done"), 1));
    assert!(all_text(&model.requests()[1]).contains("done"));
}

#[derive(Serialize)]
struct Order {
    number: u32,
}

/// Looks the order up.
#[tool(name = "look-up_order", struct = OrderTool, timeout = Duration::from_millis(20), exclusive)]
async fn order() -> Result<Order, std::io::Error> {
    std::future::pending::<()>().await;
    Ok(Order { number: 7 })
}

skill_graph! {
    graph orders {
        tools { order = "look-up_order": OrderTool }
        skill desk { description: "Orders", body: "Look.", tools: [order] }
        entry desk;
    }
}

/// A tool whose function would give its type the name of another, with a name for the model and a limit of its own.
#[tokio::test]
async fn f116_a_tool_has_options_for_its_name_its_type_and_its_time() {
    assert_eq!(OrderTool::NAME, "look-up_order");
    let model = ScriptedModel::new([calls([("a", "look-up_order", json!({}))]), answer()]);
    let agent = orders::agent(orders::Tools { order: OrderTool }).model(model.clone()).build().expect("an agent");
    agent.run("hello").await.expect("a turn");
    assert!(all_text(&model.requests()[1]).contains("did not return within 0.02 seconds"));
}
