//! Where a body is read (SPEC 5.1): in the system prompt, in the result of `read_skill`, and again before it ages.

use std::sync::Arc;

use crate::common::{all_text, answer, assert_paired, calls, last_results, pick, succeeds};
use serde_json::json;
use skillgraph::core::turn::{Carried, Output, Turn};
use skillgraph::{
    Agent, Continuity, DynTool, Event, Message, ModelReply, ScriptedModel, ToolReply, TurnReport, skill_graph,
};

skill_graph! {
    #[allow(skillgraph::model_edge_only, skillgraph::skill_wraps_one_tool)]
    graph library {
        tools { find: dyn }
        skill desk { description: "The desk", body: "Ask what it is about.", tools: [find] }
        skill shelf {
            description: "The shelf",
            body: "Read the shelf marks.",
            surface: tool_result,
            refresh: every 2 iterations,
            tools: [find],
        }
        skill vault { description: "The vault", body: "Two people open it.", surface: both, tools: [find] }
        skill cellar { description: "The cellar", body: "Mind the stairs.", surface: tool_result, tools: [find] }
        #[allow(skillgraph::unreachable_skill)]
        skill notes { description: "Notes", body: "Write short notes.", surface: tool_result }
        entry desk;
        route desk ~> shelf;
        route desk ~> vault;
        route desk ~> cellar;
    }
}

fn agent_with(model: &ScriptedModel, find: DynTool) -> Agent {
    let agent = library::agent(library::Tools { find }).model(model.clone());
    agent.continuity(Continuity::Conversation).build().expect("an agent")
}

async fn run(replies: impl IntoIterator<Item = ModelReply>) -> (ScriptedModel, TurnReport) {
    let model = ScriptedModel::new(replies);
    let report = agent_with(&model, succeeds("find")).run("hello").await.expect("a turn");
    (model, report)
}

fn find(id: &str) -> ModelReply {
    calls([(id, "find", json!({}))])
}

/// Iteration and skill of every body that came without a pick.
fn given(report: &TurnReport) -> Vec<(u32, &str)> {
    let given = report.events.iter().filter_map(|event| match event {
        Event::BodyGiven { iteration, skill } => Some((*iteration, skill.as_str())),
        _ => None,
    });
    given.collect()
}

#[tokio::test]
async fn a_body_in_the_result_is_not_in_the_prompt() {
    let (model, report) = run([pick("a", "cellar"), find("b"), find("c"), find("d"), answer()]).await;
    let requests = model.requests();
    let result = &last_results(&requests[1].messages)[0].1;
    assert_eq!(
        result,
        "`cellar` is open: its instructions and tools are in place.\n\n# Skill: cellar\n\nMind the stairs."
    );
    for request in &requests[1..] {
        assert!(!request.system.contains("stairs"), "{}", request.system);
        assert_eq!(all_text(request).matches("Mind the stairs.").count(), 1);
    }
    assert_eq!(given(&report), []);
}

#[tokio::test]
async fn a_body_on_both_surfaces_is_in_the_prompt_too() {
    let (model, _) = run([pick("a", "vault"), answer()]).await;
    let request = &model.requests()[1];
    assert!(request.system.contains("# Skill: vault\n\nTwo people open it."));
    assert!(last_results(&request.messages)[0].1.ends_with("# Skill: vault\n\nTwo people open it."));
}

#[tokio::test]
async fn a_body_is_given_again_before_it_ages() {
    let (model, report) = run([pick("a", "shelf"), find("b"), find("c"), find("d"), find("e"), answer()]).await;
    let bodies = |at: usize| all_text(&model.requests()[at]).matches("Read the shelf marks.").count();
    assert_eq!((0..6).map(bodies).collect::<Vec<_>>(), [0, 1, 1, 2, 2, 3]);
    assert_eq!(given(&report), [(4, "shelf"), (6, "shelf")]);
    let requests = model.requests();
    let last = requests[3].messages.last().expect("a message");
    let expected = "[skillgraph] `shelf` is open. Its instructions:\n\n# Skill: shelf\n\nRead the shelf marks.";
    assert!(matches!(last, Message::Framework { text, .. } if text == expected), "{last:?}");
    assert_paired(&requests[5].messages);
}

#[tokio::test]
async fn a_skill_beside_the_cursor_brings_its_body_along() {
    let (model, _) = run([pick("a", "notes"), answer()]).await;
    let request = &model.requests()[1];
    assert!(last_results(&request.messages)[0].1.ends_with("# Skill: notes\n\nWrite short notes."));
    assert!(request.system.contains("Ask what it is about.") && !request.system.contains("Write short notes."));
}

#[tokio::test]
async fn who_asks_for_an_open_skill_reads_its_body_again() {
    let (model, _) = run([pick("a", "cellar"), pick("b", "cellar"), answer()]).await;
    let result = &last_results(&model.requests()[2].messages)[0].1;
    assert!(result.starts_with("`cellar` is open already") && result.ends_with("Mind the stairs."), "{result}");
}

#[tokio::test]
async fn a_refused_pick_shows_no_body() {
    let (model, _) = run([pick("a", "cellar"), pick("b", "shelf"), answer()]).await;
    assert!(!all_text(&model.requests()[2]).contains("shelf marks"));
}

#[tokio::test]
async fn a_tool_that_moves_the_conversation_brings_the_body_along() {
    let proposing =
        crate::common::tool("find", |_| ToolReply::success(json!("found")).propose_transition("cellar", "below"));
    let model = ScriptedModel::new([find("a"), answer()]);
    let report = agent_with(&model, proposing).run("hello").await.expect("a turn");
    assert_eq!(given(&report), [(2, "cellar")]);
    let request = &model.requests()[1];
    assert!(all_text(request).contains("Mind the stairs.") && !request.system.contains("Mind the stairs."));
}

#[tokio::test]
async fn the_next_turn_has_the_body_once() {
    let model = ScriptedModel::new([pick("a", "cellar"), answer(), find("b"), answer()]);
    let mut conversation = agent_with(&model, succeeds("find")).conversation();
    conversation.send("hello").await.expect("a turn");
    let report = conversation.send("and then?").await.expect("a turn");
    assert_eq!(report.cursor.as_ref().map(|id| id.as_str()), Some("cellar"));
    assert_eq!(given(&report), []);
    assert_eq!(all_text(&model.requests()[3]).matches("Mind the stairs.").count(), 1);
}

#[test]
fn a_body_that_the_history_has_lost_is_given_at_the_start() {
    let setup = crate::common::setup(library::GRAPH.compiled().expect("a graph"));
    let mut turn =
        Turn::start_from(Arc::new(setup), Carried { cursor: Some("cellar".into()), ..Carried::default() }, "and then?");
    let Output::CallModel(request) = turn.poll_output() else { panic!("the model is asked") };
    assert!(all_text(&request).contains("Mind the stairs.") && !request.system.contains("Mind the stairs."));
    let events: Vec<Event> = std::iter::from_fn(|| turn.poll_event()).collect();
    assert!(events.iter().any(|event| matches!(event, Event::BodyGiven { iteration: 1, .. })), "{events:?}");
}
