//! A turn as a stream (SPEC 14.1): words, calls and events in one order.

use std::sync::atomic::Ordering;

use crate::common::{answer, assert_paired, calls, counts, succeeds};
use serde_json::json;
use skillgraph::{
    Agent, Event, Model, ModelError, ModelReply, ModelRequest, Outcome, Piece, Pieces, RunError, ScriptedModel,
    StreamItem, ToolReply, skill_graph,
};

skill_graph! {
    pub graph desk {
        tools { find: dyn, pay: dyn }
        skill triage { description: "Start", body: "Ask.", tools: [find] }
        skill billing { description: "Money", body: "Pay.", tools: [pay] }
        entry triage;
        route triage -> billing on find;
    }
}

/// Gives the replies of a script in pieces of two characters, and fails after the pieces where it is to.
struct InPieces {
    script: ScriptedModel,
    fails: bool,
}

impl Model for InPieces {
    async fn complete(&self, request: ModelRequest) -> Result<ModelReply, ModelError> {
        self.script.complete(request).await
    }

    async fn stream(&self, request: ModelRequest, pieces: Pieces<'_>) -> Result<ModelReply, ModelError> {
        let reply = self.complete(request).await?;
        let letters: Vec<char> = reply.text.chars().collect();
        for piece in letters.chunks(2) {
            pieces(Piece::Text(piece.iter().collect()));
            tokio::task::yield_now().await;
        }
        for (index, call) in reply.calls.iter().enumerate() {
            let (id, name) = (call.id.clone(), call.name.clone());
            pieces(Piece::Call { index, id, name, arguments: call.arguments.clone() });
        }
        if self.fails { Err(ModelError::new("the connection broke")) } else { Ok(reply) }
    }
}

fn agent(model: impl Model) -> Agent {
    let tools = desk::Tools { find: succeeds("find"), pay: succeeds("pay") };
    desk::agent(tools).model(model).build().expect("an agent")
}

/// One line an item.
fn line(item: &StreamItem) -> Option<String> {
    Some(match item {
        StreamItem::Piece(Piece::Text(text)) => format!("text {text}"),
        StreamItem::Piece(Piece::Call { index, name, arguments, .. }) => format!("call {index} {name} {arguments}"),
        StreamItem::Event(Event::SkillActivated { skill, .. }) => format!("open {skill}"),
        StreamItem::Event(Event::ToolReturned { tool, .. }) => format!("ran {tool}"),
        StreamItem::Event(_) => return None,
        StreamItem::Ended(result) => {
            format!("end {:?}", result.as_ref().map(|report| report.text().map(str::to_owned)))
        }
        _ => "else".to_owned(),
    })
}

#[tokio::test]
async fn words_calls_moves_and_tools_come_in_one_order() {
    let script = ScriptedModel::new([calls([("c1", "find", json!({ "order": 7 }))]), ModelReply::text("Paid.")]);
    let mut conversation = agent(InPieces { script, fails: false }).conversation();
    let mut stream = conversation.stream("find order 7");
    let mut lines = Vec::new();
    while let Some(item) = stream.next().await {
        lines.extend(line(&item));
    }
    drop(stream);
    let expected = [
        "open triage",
        "call 0 find {\"order\":7}",
        "ran find",
        "open billing",
        "text Pa",
        "text id",
        "text .",
        "end Ok(Some(\"Paid.\"))",
    ];
    assert_eq!(lines, expected);
    assert!(conversation.transcript().len() == 4);
}

#[tokio::test]
async fn a_stream_has_the_events_that_send_has() {
    let script = || ScriptedModel::new([calls([("c1", "find", json!({}))]), answer()]);
    let report = agent(script()).run("find it").await.expect("a turn");
    let mut conversation = agent(script()).conversation();
    let mut stream = conversation.stream("find it");
    let (mut events, mut ended) = (Vec::new(), None);
    while let Some(item) = stream.next().await {
        match item {
            StreamItem::Event(event) => events.push(event),
            StreamItem::Ended(result) => ended = Some(result.expect("a report")),
            _ => {}
        }
    }
    assert_eq!(events, report.events);
    assert_eq!(ended.expect("an end").events, report.events);
}

#[tokio::test]
async fn a_dropped_stream_leaves_a_conversation_that_goes_on() {
    let (pay, runs) = counts("pay");
    let script = ScriptedModel::new([
        calls([("c1", "find", json!({}))]),
        calls([("c2", "pay", json!({})), ("c3", "pay", json!({}))]),
        answer(),
    ]);
    let agent =
        desk::agent(desk::Tools { find: succeeds("find"), pay }).model(script.clone()).build().expect("an agent");
    let mut conversation = agent.conversation();
    let mut stream = conversation.stream("pay twice");
    while let Some(item) = stream.next().await {
        if matches!(&item, StreamItem::Event(Event::ToolStarted { tool, .. }) if *tool == desk::tool::pay) {
            break;
        }
    }
    drop(stream);
    let before = runs.load(Ordering::SeqCst);
    conversation.send("and now?").await.expect("a turn");
    assert_eq!(runs.load(Ordering::SeqCst), before, "nothing runs on behind a dropped stream, and nothing runs again");
    let last = script.requests().pop().expect("a request");
    assert_paired(&last.messages);
    assert!(serde_json::to_string(&last.messages).expect("JSON").contains("was interrupted before it returned"));
}

#[tokio::test]
async fn a_reply_that_breaks_off_ends_the_turn_and_not_the_conversation() {
    let script = ScriptedModel::new([ModelReply::text("half"), answer()]);
    let mut conversation = agent(InPieces { script, fails: true }).conversation();
    let mut stream = conversation.stream("hello");
    let mut items = Vec::new();
    while let Some(item) = stream.next().await {
        items.push(item);
    }
    drop(stream);
    assert!(items.iter().any(|item| matches!(item, StreamItem::Piece(Piece::Text(text)) if text == "ha")));
    let Some(StreamItem::Ended(Err(RunError::Model { error, .. }))) = items.last() else { panic!("{items:?}") };
    assert_eq!(error.to_string(), "the connection broke");
    assert_eq!(conversation.transcript().len(), 1, "what broke off is not said");
    let report = conversation.send("again").await.expect("a turn");
    assert!(matches!(report.outcome, Outcome::Answered { .. }));
}

#[tokio::test]
async fn a_question_to_a_person_ends_a_stream_and_the_answer_begins_one() {
    let script = ScriptedModel::new([calls([("c1", "find", json!({}))]), answer()]);
    let asks = skillgraph::DynTool::new("find", "Asks.", json!({ "type": "object" }), |_, context| async move {
        Ok::<_, std::convert::Infallible>(match context.is_approved() {
            true => ToolReply::success(json!("found")),
            false => ToolReply::pending("Look?"),
        })
    });
    let agent = desk::agent(desk::Tools { find: asks, pay: succeeds("pay") }).model(script).build().expect("an agent");
    let mut conversation = agent.conversation();
    let mut last = None;
    let mut stream = conversation.stream("find it");
    while let Some(item) = stream.next().await {
        last = Some(item);
    }
    drop(stream);
    let Some(StreamItem::Ended(Ok(report))) = last else { panic!("{last:?}") };
    let Outcome::Paused { questions } = report.outcome else { panic!("{:?}", report.outcome) };
    let mut stream = conversation.stream_resume(questions[0].approve());
    let mut lines = Vec::new();
    while let Some(item) = stream.next().await {
        lines.extend(line(&item));
    }
    assert_eq!(lines, ["ran find", "open billing", "text done", "end Ok(Some(\"done\"))"]);
}
