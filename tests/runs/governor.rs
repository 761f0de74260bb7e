//! A run that spins (SPEC 8): counted, recorded, and stopped, warned or handed to another model.

use crate::common::{answer, assert_paired, calls, pick, succeeds};
use serde_json::json;
use skillgraph::{
    AgentBuilder, BuildError, Event, Message, ModelReply, Outcome, ScriptedModel, Trip, TripAction, TurnReport,
    skill_graph,
};

skill_graph! {
    #[allow(skillgraph::model_edge_only)]
    graph stops {
        tools { find: dyn }
        skill desk { description: "The desk", body: "Ask.", tools: [find] }
        skill shelf { description: "The shelf", body: "Look.", tools: [find] }
        skill vault { description: "The vault", body: "No.", tools: [find] }
        entry desk;
        route desk ~> shelf;
        route shelf -> vault on find is denied;
        governor { ping_pong: 4, refusals: 3, repeats: 3, then: stop }
    }
}

skill_graph! {
    graph warns {
        tools { find: dyn }
        skill desk { description: "The desk", body: "Ask.", tools: [find] }
        entry desk;
        governor { repeats: 2, then: warn }
    }
}

skill_graph! {
    graph escalates {
        tools { find: dyn }
        skill desk { description: "The desk", body: "Ask.", tools: [find] }
        entry desk;
        governor { then: escalate("larger"), repeats: 2 }
    }
}

fn trips(report: &TurnReport) -> Vec<(u32, Trip, TripAction)> {
    let trip = |event: &Event| match event {
        Event::GovernorTripped { iteration, trip, action } => Some((*iteration, trip.clone(), action.clone())),
        _ => None,
    };
    report.events.iter().filter_map(trip).collect()
}

fn find(id: &str, argument: u32) -> ModelReply {
    calls([(id, "find", json!({ "page": argument }))])
}

async fn stopped(replies: Vec<ModelReply>) -> TurnReport {
    let agent = stops::agent(stops::Tools { find: succeeds("find") });
    let agent = agent.model(ScriptedModel::new(replies)).build().expect("an agent");
    let mut conversation = agent.conversation();
    let report = conversation.send("hello").await.expect("a turn");
    assert_paired(&conversation.transcript());
    report
}

#[tokio::test]
async fn the_same_call_again_and_again_ends_the_turn() {
    let replies = vec![find("a", 1), find("b", 2), find("c", 2), find("d", 2), answer()];
    let report = stopped(replies).await;
    let trip = Trip::Repeats { tool: "find".into(), count: 3 };
    assert_eq!(trips(&report), [(4, trip.clone(), TripAction::Stopped)]);
    assert_eq!(report.outcome, Outcome::Stopped { trip: trip.clone() });
    assert_eq!(report.route().trips(), [trip]);
}

#[tokio::test]
async fn other_calls_between_them_begin_the_count_anew() {
    let replies = vec![find("a", 1), find("b", 1), find("c", 2), find("d", 1), find("e", 1), answer()];
    let report = stopped(replies).await;
    assert_eq!(trips(&report), []);
    assert_eq!(report.text(), Some("done"));
}

#[tokio::test]
async fn refused_picks_end_the_turn_unless_something_moves() {
    let report = stopped(vec![pick("a", "vault"), pick("b", "nobody"), pick("c", "vault"), answer()]).await;
    assert_eq!(report.outcome, Outcome::Stopped { trip: Trip::Refusals { count: 3 } });
    let between = vec![pick("a", "vault"), pick("b", "vault"), pick("c", "shelf"), pick("d", "vault"), answer()];
    assert_eq!(trips(&stopped(between).await), []);
}

#[tokio::test]
async fn to_and_fro_ends_the_turn() {
    let to_and_fro = ["shelf", "desk", "shelf", "desk"].iter().enumerate();
    let replies = to_and_fro.map(|(at, skill)| pick(&format!("c{at}"), skill)).chain([answer()]);
    let report = stopped(replies.collect()).await;
    let trip = Trip::PingPong { skill: "desk".into(), other: "shelf".into(), moves: 4 };
    assert_eq!(report.outcome, Outcome::Stopped { trip });
    // The move that tripped it is made, and on the record: the next turn begins from there.
    assert_eq!(report.cursor.as_ref().map(|id| id.as_str()), Some("desk"));
    assert_eq!(report.route().hops().last().and_then(|hop| hop.to.as_ref()).map(|id| id.as_str()), Some("desk"));
}

#[tokio::test]
async fn a_warning_says_what_happened_after_the_results() {
    let model = ScriptedModel::new([find("a", 1), find("b", 1), answer()]);
    let agent = warns::agent(warns::Tools { find: succeeds("find") }).model(model.clone()).build().expect("an agent");
    let report = agent.run("hello").await.expect("a turn");
    assert_eq!(trips(&report).len(), 1);
    let last = model.requests()[2].messages.last().cloned().expect("a message");
    let expected = "[skillgraph] `find` was called 2 times in a row with the same arguments. It did not help: try another \
                    way, or answer with what there is.";
    assert_eq!(last, Message::Framework { text: expected.to_owned(), body: None });
    assert_paired(&model.requests()[2].messages);
}

fn escalating(model: &ScriptedModel) -> AgentBuilder {
    escalates::agent(escalates::Tools { find: succeeds("find") }).model(model.clone())
}

#[tokio::test]
async fn another_model_is_asked_from_the_trip_on() {
    let (small, larger) =
        (ScriptedModel::new([find("a", 1), find("b", 1)]), ScriptedModel::new([find("c", 7), answer()]));
    let agent = escalating(&small).model_named("larger", larger.clone()).build().expect("an agent");
    let report = agent.run("hello").await.expect("a turn");
    assert_eq!(trips(&report)[0].2, TripAction::Escalated { model: "larger".into() });
    assert_eq!((small.requests().len(), larger.requests().len()), (2, 2));
    assert_eq!(larger.requests()[0].model.as_deref(), Some("larger"));
    assert_eq!(report.text(), Some("done"));
    assert!(matches!(escalating(&small).build(), Err(BuildError::NoModelNamed { name }) if name == "larger"));
}

#[tokio::test]
async fn the_record_is_data() {
    let report = stopped(vec![find("a", 1), find("b", 1), find("c", 1), answer()]).await;
    let event = report.events.iter().find(|event| matches!(event, Event::GovernorTripped { .. })).expect("a trip");
    let record = serde_json::to_value(event).expect("serialises");
    let expected = json!({
        "event": "governor_tripped", "iteration": 3, "trip": "repeats", "tool": "find", "count": 3, "action": "stopped",
    });
    assert_eq!(record, expected);
    assert_eq!(&serde_json::from_value::<Event>(record).expect("deserialises"), event);
}
