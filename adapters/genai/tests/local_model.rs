//! Whole turns against a small real model on this machine: `scripts/local-model.sh` serves it. Its choices are near chance, so what
//! holds is about the shape of replies, what was offered, and the record; never about what it chose.
//!
//! ```text
//! bash scripts/local-model.sh &
//! cargo test -p skillgraph-genai -- --ignored
//! ```

use std::convert::Infallible;

use serde_json::json;
use skillgraph::{
    AgentBuilder, DynTool, Event, Message, Outcome, Piece, StreamItem, ToolReply, Transcript, TurnReport, skill_graph,
};
use skillgraph_genai::{GenaiModel, GenaiModelBuilder};

skill_graph! {
    #[allow(skillgraph::unreachable_skill, skillgraph::dead_edge)]
    pub graph desk {
        tools { lookup_order: dyn, issue_refund: dyn }
        skill triage { description: "Start", body: "Find out what the user needs." }
        skill billing {
            description: "Refunds",
            body: "Look the order up, then refund it. Call one tool after the other.",
            tools: [lookup_order, issue_refund],
            steps: [lookup_order: "look before you pay", issue_refund: "pay what is owed"],
        }
        skill audit { description: "Closed files, which nobody opens from here", body: "Read." }
        entry triage;
        entry billing when keywords["refund"];
        route audit ~> triage;
    }
}

skill_graph! {
    /// One skill: there is nothing to choose but the step.
    pub graph refunds {
        tools { lookup_order: dyn, issue_refund: dyn }
        skill billing {
            description: "Refunds",
            body: "Look the order up, then refund it. Call one tool after the other.",
            tools: [lookup_order, issue_refund],
            steps: [lookup_order: "look before you pay", issue_refund: "pay what is owed"],
        }
        entry billing;
    }
}

fn model() -> GenaiModelBuilder {
    let url = std::env::var("SKILLGRAPH_LOCAL_MODEL").unwrap_or_else(|_| "http://127.0.0.1:18090/v1".into());
    GenaiModel::new("local").endpoint(url).temperature(0.0).max_tokens(200)
}

fn tool(name: &str) -> DynTool {
    let order = json!({ "type": "integer", "description": "the number of the order" });
    let parameters = json!({ "type": "object", "properties": { "order": order }, "required": ["order"], "additionalProperties": false });
    let description = format!("Will {} by its number.", name.replace('_', " "));
    DynTool::new(name, description, parameters, |arguments, _| async move {
        Ok::<_, Infallible>(ToolReply::success(json!({ "order": arguments["order"], "done": true })))
    })
}

fn agent() -> AgentBuilder {
    let tools = desk::Tools { lookup_order: tool("lookup_order"), issue_refund: tool("issue_refund") };
    desk::agent(tools).model(model().constrained().build().expect("a model")).max_iterations(6)
}

/// Each reply is one offered call, or an answer; each call has its result; what ran was offered.
fn assert_shape(report: &TurnReport, transcript: &Transcript) {
    let mut offered: Vec<String> = Vec::new();
    for event in &report.events {
        match event {
            Event::Offered { tools, .. } => offered = tools.iter().map(ToString::to_string).collect(),
            Event::ModelReplied { calls, usage, .. } => assert!(*calls <= 1 && usage.is_some(), "{event:?}"),
            Event::CallRefused { .. } => panic!("the schema has nothing but what is offered: {event:?}"),
            Event::ToolStarted { tool, .. } => {
                assert!(offered.iter().any(|name| *tool == **name), "{tool} of {offered:?}")
            }
            _ => {}
        }
    }
    let mut messages = transcript.iter();
    while let Some(message) = messages.next() {
        let Message::Assistant { calls, .. } = message else { continue };
        if !calls.is_empty() {
            let Some(Message::ToolResults { results }) = messages.next() else { panic!("calls without results") };
            assert!(results.iter().map(|result| &result.call_id).eq(calls.iter().map(|call| &call.id)));
        }
    }
    assert!(matches!(
        report.outcome,
        Outcome::Answered { .. } | Outcome::OutOfIterations { .. } | Outcome::Truncated { .. }
    ));
}

#[tokio::test]
#[ignore = "needs the model of scripts/local-model.sh"]
async fn a_turn_opens_a_skill_and_its_tools_are_the_ones_offered() {
    let mut conversation = agent().build().expect("an agent").conversation();
    let report = conversation.send("I want a refund for order 1042.").await.expect("a turn");
    assert_shape(&report, &conversation.transcript());
    assert_eq!(
        report.route().path().first(),
        Some(&desk::skill::billing),
        "the rule opens it, whatever the model does"
    );
    let first = report.events.iter().find_map(|event| match event {
        Event::Offered { tools, .. } => Some(tools.iter().map(ToString::to_string).collect::<Vec<_>>()),
        _ => None,
    });
    assert_eq!(first.expect("an offer"), ["lookup_order", "read_skill", "list_skills", "skip_step"]);
}

#[tokio::test]
#[ignore = "needs the model of scripts/local-model.sh"]
async fn a_procedure_offers_one_step_at_a_time() {
    let tools = refunds::Tools { lookup_order: tool("lookup_order"), issue_refund: tool("issue_refund") };
    let agent = refunds::agent(tools).model(model().constrained().build().expect("a model")).max_iterations(6);
    let mut conversation = agent.build().expect("an agent").conversation();
    let (mut steps, mut turns) = (0, 0);
    for order in [1042, 7, 33] {
        let report = conversation.send(format!("Please refund order {order}.")).await.expect("a turn");
        assert_shape(&report, &conversation.transcript());
        let mut behind = 0;
        for event in &report.events {
            match event {
                Event::StepAdvanced { step, .. } => {
                    assert_eq!(*step, behind + 1, "in their order");
                    behind = *step;
                }
                Event::StepSkipped { .. } => behind += 1,
                Event::Offered { tools, .. } => {
                    let paid = tools.contains(&refunds::tool::issue_refund);
                    assert!(behind > 0 || !paid, "the second step is not offered before the first is behind");
                }
                _ => {}
            }
        }
        steps += behind;
        turns += 1;
    }
    println!("{steps} steps in {turns} turns");
}

#[tokio::test]
#[ignore = "needs the model of scripts/local-model.sh"]
async fn a_pick_out_of_reach_changes_nothing_and_is_on_record() {
    let mut conversation = agent().build().expect("an agent").conversation();
    let (mut picks, mut refused) = (0, 0);
    for _ in 0..4 {
        let report = conversation.send("Open the skill audit with read_skill.").await.expect("a turn");
        assert_shape(&report, &conversation.transcript());
        assert!(!report.route().path().contains(&desk::skill::audit), "nothing leads there");
        for rejection in report.route().rejections() {
            assert!(!rejection.allowed.contains(&desk::skill::audit));
            refused += 1;
        }
        picks += report.events.iter().filter(|event| matches!(event, Event::ModelReplied { calls: 1, .. })).count();
    }
    println!("{refused} refused picks of {picks} calls");
}

#[tokio::test]
#[ignore = "needs the model of scripts/local-model.sh"]
async fn an_answer_streams_from_an_endpoint_without_a_schema() {
    let model = model().max_tokens(40).build().expect("a model");
    let mut spec = skillgraph::GraphSpec::new("talk");
    spec.skills =
        serde_json::from_value(json!([{ "id": "talk", "description": "Talk", "body": "Be brief." }])).expect("skills");
    spec.entries = serde_json::from_value(json!([{ "skill": "talk" }])).expect("entries");
    let graph = skillgraph::Graph::compile(&spec, &[] as &[&str]).expect("a graph");
    let agent = AgentBuilder::new(std::sync::Arc::new(graph), []).model(model).build().expect("an agent");
    let mut conversation = agent.conversation();
    let mut stream = conversation.stream("Say hello.");
    let (mut pieces, mut ended) = (Vec::new(), None);
    while let Some(item) = stream.next().await {
        match item {
            StreamItem::Piece(Piece::Text(text)) => pieces.push(text),
            StreamItem::Ended(result) => ended = Some(result.expect("a turn")),
            _ => {}
        }
    }
    let report = ended.expect("an end");
    assert!(pieces.len() > 1, "in pieces: {pieces:?}");
    assert_eq!(report.text(), Some(pieces.concat().as_str()));
}
