//! Trees (SPEC 3.5): the message chooses one leaf, for the whole turn.

use crate::common::{answer, calls, hops, last_results, pick, succeeds};
use serde_json::json;
use skillgraph::core::graph::Graph;
use skillgraph::{Event, GraphSpec, PickRefusal, ScriptedModel, TurnReport, skill_graph};

fn is_long(message: &str) -> bool {
    assert!(!message.contains("boom"), "a broken test");
    message.len() > 40
}

skill_graph! {
    graph desk {
        tools { find: dyn, pay: dyn, search: dyn }
        baseline: [search];

        skill billing { description: "Money", body: "Bill.", tools: [find, pay] }
        skill parcels { description: "Parcels", body: "Track.", tools: [find] }
        skill letters { description: "Long letters", body: "Read slowly." }
        skill triage { description: "The rest", body: "Ask." }

        tree {
            if keywords["refund", "charged twice"] { billing }
            else if all[matches("(?i)parcel"), |message| !message.ends_with('?')] {
                if |message| is_long(message) { letters } else { parcels }
            } else { triage }
        }
    }
}

async fn turn(message: &str, model: ScriptedModel) -> TurnReport {
    let [find, pay, search] = ["find", "pay", "search"].map(succeeds);
    let agent = desk::agent(desk::Tools { find, pay, search }).model(model).build().expect("an agent");
    agent.run(message).await.expect("a turn")
}

#[tokio::test]
async fn the_message_chooses_the_leaf() {
    for (message, leaf) in [
        ("a refund for my parcel", "billing"),
        ("where is my parcel", "parcels"),
        ("where is my parcel?", "triage"),
        ("my parcel, and a few more words than that, and more", "letters"),
        ("hello", "triage"),
        ("", "triage"),
    ] {
        let report = turn(message, ScriptedModel::new([answer()])).await;
        assert_eq!(hops(&report), [format!("{leaf} by none")], "{message}");
        assert_eq!(report.cursor.as_ref().map(|id| id.as_str()), Some(leaf));
    }
}

#[tokio::test]
async fn a_condition_that_panics_does_not_hold() {
    let report = turn("boom, a parcel", ScriptedModel::new([answer()])).await;
    assert_eq!(hops(&report), ["parcels by none"]);
    let panicked = report
        .events
        .iter()
        .any(|event| matches!(event, Event::TestPanicked { test, .. } if test == "condition 3 of the tree"));
    assert!(panicked, "{:?}", report.events);
}

#[tokio::test]
async fn nothing_moves_the_leaf_and_only_its_tools_are_there() {
    let model = ScriptedModel::new([
        calls([("c1", "find", json!({})), ("c2", "pay", json!({}))]),
        pick("c3", "billing"),
        answer(),
    ]);
    let report = turn("where is my parcel", model.clone()).await;
    assert_eq!(hops(&report), ["parcels by none"; 3]);
    assert_eq!(model.requests()[0].tool_names(), ["search", "find", "read_skill", "list_skills"]);
    assert_eq!(report.route().rejections()[0].reason, PickRefusal::Tree);
    let said = last_results(&model.requests()[2].messages);
    assert_eq!(
        said[0].1,
        "`billing` is not for you to pick: the user's message has opened the skill. No skill is reachable from here: go on with `parcels`, or answer."
    );
    let system = &model.requests()[0].system;
    assert!(system.contains("No other skill can be opened from here"), "{system}");
}

#[test]
fn a_tree_is_drawn() {
    let expected = "\
flowchart TD
  start([\"desk\"])
  n0[\"billing<br/>Money\"]
  n1[\"parcels<br/>Parcels\"]
  n2[\"letters<br/>Long letters\"]
  n3[\"triage<br/>The rest\"]
  test0{\"refund, charged twice\"}
  start --> test0
  test0 -->|\"yes\"| n0
  test1{";
    let drawing = desk::GRAPH.to_mermaid();
    assert!(drawing.starts_with(expected), "{drawing}");
    assert!(drawing.ends_with("  test2 -->|\"no\"| n1\n  test1 -->|\"no\"| n3\n"), "{drawing}");
}

#[test]
fn a_tree_is_data_too() {
    let spec: GraphSpec = serde_json::from_value(json!({
        "name": "desk",
        "skills": [
            { "id": "billing", "description": "Money", "body": "Bill." },
            { "id": "triage", "description": "The rest", "body": "Ask." },
        ],
        "tree": { "if": { "keywords": ["refund"] }, "then": "billing", "else": "triage" },
    }))
    .expect("a spec");
    let graph = Graph::compile(&spec, &[] as &[&str]).expect("compiles");
    let leaf = |message: &str| graph.leaf(message).map(|(leaf, _)| graph.skill_id(leaf).to_string());
    assert_eq!((leaf("a refund").as_deref(), leaf("hello").as_deref()), (Some("billing"), Some("triage")));
    assert_eq!(graph.declaration().spec().expect("no closures"), spec);

    let wrong: GraphSpec = serde_json::from_value(json!({
        "name": "desk",
        "skills": [{ "id": "billing", "description": "Money", "body": "Bill." }],
        "entries": [{ "skill": "billing" }],
        "tree": { "if": { "keywords": ["refund"] }, "then": { "if": { "matches": "(" }, "then": "nobody", "else": "billing" } },
    }))
    .expect("a spec");
    let report = Graph::compile(&wrong, &[] as &[&str]).expect_err("mistakes");
    let mut found: Vec<_> =
        report.findings.iter().map(|finding| (finding.at.as_str(), finding.code.as_str())).collect();
    found.sort_unstable();
    let expected = [
        ("/entries/0/skill", "tree-is-exclusive"),
        ("/tree", "tree-not-total"),
        ("/tree/then/if/matches", "invalid-pattern"),
        ("/tree/then/then", "unknown-skill"),
    ];
    assert_eq!(found, expected);
}
