//! How texts are compared, as it was found wanting on the second round (F50–F53).

use std::sync::Arc;

use serde_json::{Value, json};
use skillgraph::core::graph::Graph;
use skillgraph::{GraphSpec, Report};

fn compiled(entries: Value) -> Result<Arc<Graph>, Report> {
    let skills: Vec<Value> =
        ["a", "b"].iter().map(|id| json!({ "id": id, "description": id, "body": "Work." })).collect();
    let spec: GraphSpec =
        serde_json::from_value(json!({ "name": "g", "skills": skills, "entries": entries })).expect("a spec");
    Graph::compile(&spec, &[] as &[&str]).map(Arc::new)
}

fn winner(graph: &Graph, message: &str) -> Option<String> {
    let (entry, _) = graph.match_entry(message).won?;
    Some(["a", "b"][entry.position()].to_owned())
}

#[test]
fn f50_invisible_characters_hide_no_keyword() {
    let graph = compiled(json!([{ "skill": "a", "when": { "keywords": ["refund", "iade"] } }, { "skill": "b" }]))
        .unwrap_or_else(|report| panic!("{report}"));
    for message in
        ["re\u{200b}fund", "re\u{ad}fund", "r\u{200d}efund", "refun\u{2060}d", "refund\u{fe0f}", "İADE", "iade"]
    {
        assert_eq!(winner(&graph, message).as_deref(), Some("a"), "{message:?}");
    }
    assert_eq!(winner(&graph, "re fund"), None);
    // A keyword may be written so, too.
    let graph = compiled(json!([{ "skill": "a", "when": { "keywords": ["re\u{200b}fund"] } }, { "skill": "b" }]))
        .unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(winner(&graph, "a refund").as_deref(), Some("a"));
}

#[test]
fn f51_a_keyword_that_cannot_be_seen_is_empty() {
    for keyword in ["\u{200b}", "\u{ad}\u{2060}", " \u{feff} ", "\u{3164}"] {
        let report = compiled(json!([{ "skill": "a", "when": { "keywords": [keyword] } }])).expect_err("empty");
        assert_eq!(report.findings[0].code.as_str(), "empty-text", "{keyword:?}: {report}");
    }
}

#[test]
fn f52_a_pattern_reads_the_message_composed() {
    let graph = compiled(json!([{ "skill": "a", "when": { "matches": "(?i)café" } }, { "skill": "b" }]))
        .unwrap_or_else(|report| panic!("{report}"));
    for message in ["a café", "a cafe\u{301}", "CAFE\u{301}"] {
        assert_eq!(winner(&graph, message).as_deref(), Some("a"), "{message:?}");
    }
    // Whichever way the author's editor wrote it.
    let graph = compiled(json!([{ "skill": "a", "when": { "matches": "(?i)cafe\u{301}" } }, { "skill": "b" }]))
        .unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(winner(&graph, "a café").as_deref(), Some("a"));
}
