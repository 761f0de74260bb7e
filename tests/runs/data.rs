//! Graphs from data (SPEC 13): the same verdicts at JSON pointers, the same machine, and there and back again.

use std::sync::Arc;

use crate::common::{answer, calls, hops, succeeds};
use serde_json::json;
use skillgraph::core::graph::Graph;
use skillgraph::{AgentBuilder, BoundTool, GraphSpec, ScriptedModel, skill_graph};

skill_graph! {
    #[allow(skillgraph::ambiguous_routes, skillgraph::model_edge_only, skillgraph::body_foreign_tool)]
    graph support {
        tools { lookup: dyn, pay = "issue_refund": dyn, search: dyn }
        baseline: [search];
        skill triage { description: "Start", body: "Call {lookup} {{first}}.", tools: [lookup] }
        skill billing_desk {
            description: "Money",
            body: "Call {pay}.",
            tools: [lookup, pay],
            produces: [receipt],
            steps: [lookup: "find it" produces [order], pay: "pay it" consumes [order]],
            on_skip: hold,
            surface: both,
            refresh: every 3 iterations,
        }
        skill audit { description: "Audit", body: "Audit.", tools: [pay], scope: always }
        entry triage;
        entry billing_desk when all[matches(r"(?i)order \d+"), keywords["refund"]] as "money" { examples: ["refund order 7"], picked: never }
        entry audit when intent("an auditor asks", ["show me the audit", "who paid whom"]);
        entry triage when picked as "menu";
        classify: keyword { margin: 0.25, menu: 4, floor: 0.1 }
        governor { ping_pong: 6, then: escalate("larger") }
        never_routes: ["what is the weather"];
        route triage -> audit on lookup where amount > 500 && order.rate <= -0.5 && state in ["a", true, 18446744073709551615];
        route triage -> billing_desk on lookup as "found";
        route billing_desk -> audit on any[pay, search] is denied | failure;
        route billing_desk -> triage on any is absent;
        route triage ~> audit;
    }
}

#[test]
fn a_macro_made_graph_goes_to_data_and_comes_back_equal() {
    let spec = support::GRAPH.spec().expect("no closures");
    let json = serde_json::to_string_pretty(&spec).expect("serialises");
    let back: GraphSpec = serde_json::from_str(&json).expect("deserialises");
    assert_eq!(back, spec);
    let made = support::GRAPH.compiled().expect("compiles");
    let registry: Vec<&str> = made.tools().iter().map(AsRef::as_ref).collect();
    let compiled = Graph::compile(&back, &registry).expect("compiles");
    assert_eq!(compiled.fingerprint(), made.fingerprint());
    assert_eq!(compiled.declaration().spec().expect("no closures"), spec);
}

#[test]
fn a_closure_is_no_data() {
    skill_graph! {
        graph one_closure {
            tools { lookup: dyn }
            skill triage { description: "Start", body: "Ask.", tools: [lookup] }
            entry triage when |message| message.len() > 3;
        }
    }
    let error = one_closure::GRAPH.spec().expect_err("a closure");
    assert!(error.closure.starts_with("|message|"), "{error}");
}

#[test]
fn every_mistake_is_reported_at_its_pointer() {
    let spec: GraphSpec = serde_json::from_value(json!({
        "name": "support",
        "baseline": ["serch"],
        "skills": [
            { "id": "triage", "description": " ", "body": "Ask.", "tools": ["lookup"],
              "surface": "tool_result" },
            { "id": "Billing", "description": "Money", "body": "Pay.", "tools": ["pay"], "refresh": 3,
              "steps": [{ "tool": "lookup", "note": "why" }] },
        ],
        "entries": [
            { "skill": "triage" },
            { "skill": "triag", "when": { "all": [{ "matches": "(" }, { "keywords": [] }] } },
        ],
        "routes": [
            { "from": "triage", "to": "Billing", "on": ["pay"] },
            { "from": "Billing", "to": "triage", "on": ["pay"], "where": [
                { "path": "a..b", "op": "in", "value": [] },
                { "path": "amount", "op": ">", "value": "5" },
                { "path": "amount", "op": "==", "value": [1] },
                { "path": "amount", "op": "in", "value": 1 },
                { "path": "amount", "op": "<", "value": 5 },
                { "path": "amount", "op": "in", "value": [6, 7] },
            ] },
        ],
        "never_routes": [" "],
    }))
    .expect("a spec");
    let report = Graph::compile(&spec, &["lookup", "pay", "search"]).expect_err("mistakes");
    let mut found: Vec<(String, &str)> =
        report.findings.iter().map(|finding| (finding.at.clone(), finding.code.as_str())).collect();
    found.sort();
    let expected = [
        ("/baseline/0", "unknown-tool"),
        ("/entries/1/skill", "unknown-skill"),
        ("/entries/1/when/all/0/matches", "invalid-pattern"),
        ("/entries/1/when/all/1/keywords", "empty-list"),
        ("/never_routes/0", "empty-text"),
        ("/routes/0/on/0", "edge-cannot-fire"),
        ("/routes/1/where/0/path", "empty-text"),
        ("/routes/1/where/0/value", "empty-list"),
        ("/routes/1/where/1/value", "guard-type"),
        ("/routes/1/where/2/value", "guard-type"),
        ("/routes/1/where/3/value", "guard-type"),
        ("/routes/1/where/5/path", "guard-unsatisfiable"),
        ("/skills/0/description", "empty-text"),
        ("/skills/0/surface", "body-unreachable"),
        ("/skills/1/id", "invalid-name"),
        ("/skills/1/refresh", "refresh-without-result"),
        ("/skills/1/steps/0/tool", "foreign-tool"),
    ];
    let expected: Vec<(String, &str)> = expected.into_iter().map(|(at, code)| (at.to_owned(), code)).collect();
    assert_eq!(found, expected);
    let json = serde_json::to_value(&report).expect("serialises");
    assert_eq!(json["findings"][0]["level"], "refusal");
    assert!(report.to_string().contains("/baseline/0: no tool named `serch` in graph `support` [unknown-tool]"));
}

#[test]
fn warnings_come_as_data_too() {
    let spec: GraphSpec = serde_json::from_value(json!({
        "name": "support",
        "skills": [
            { "id": "triage", "description": "Start", "body": "Ask.", "tools": ["lookup"] },
            { "id": "notes", "description": "Notes", "body": "Write." },
        ],
        "entries": [{ "skill": "triage" }],
    }))
    .expect("a spec");
    let report = spec.checkup(&["lookup"]);
    assert!(report.is_sound());
    let found: Vec<_> = report.findings.iter().map(|finding| (finding.at.as_str(), finding.code.as_str())).collect();
    assert_eq!(found, [("/skills/1/id", "unreachable-skill")]);
}

#[test]
fn an_unknown_key_is_an_error() {
    let error = serde_json::from_value::<GraphSpec>(json!({ "name": "x", "skills": [], "entries": [], "edges": [] }));
    assert!(error.expect_err("no such key").to_string().contains("unknown field `edges`"));
}

#[tokio::test]
async fn a_graph_from_data_runs_on_the_same_machine() {
    let spec = support::GRAPH.spec().expect("no closures");
    let graph = Arc::new(Graph::compile(&spec, &["lookup", "issue_refund", "search"]).expect("compiles"));
    let model = ScriptedModel::new([calls([("c1", "lookup", json!({}))]), answer(), answer()]);
    let tools = ["lookup", "issue_refund", "search"].map(|name| BoundTool::dynamic(succeeds(name)));
    let agent = AgentBuilder::new(graph, tools)
        .model(model)
        .model_named("larger", ScriptedModel::new([]))
        .build()
        .expect("an agent");
    let report = agent.run("hello").await.expect("a turn");
    assert_eq!(hops(&report)[..2], ["triage by entry", "billing-desk by route"]);
}

skill_graph! {
    #[allow(skillgraph::ambiguous_routes)]
    graph coded {
        tools { lookup: dyn, pay: dyn }

        skill triage { description: "Start", body: "Ask.", tools: [lookup] }
        #[allow(skillgraph::more_steps_than_iterations)]
        skill billing {
            description: "Money",
            body: "Pay.",
            tools: [lookup, pay],
            steps: [lookup: "find", pay: "pay", lookup: "check"],
        }
        skill audit {
            description: "Audit",
            body: "Audit.",
            tools: [lookup],
            steps: [lookup: "one", lookup: "two"],
        }

        entry triage when |message| message.starts_with("where") {
            examples: ["where is it?", "when is it?"],
        }
        entry billing when all[keywords["refund"], |message| message.len() > 10] {
            examples: ["refund", "refund order seven", "where is my refund"],
        }
        #[allow(skillgraph::example_unclaimed)]
        entry audit when |message| message.is_empty() { examples: ["audit"] }
        never_routes: ["what is the weather", "where is the sun"];
        route triage -> billing on lookup;
        route billing -> audit on pay;
        route audit -> triage on lookup;
    }
}

#[test]
fn a_graph_that_can_run_runs_the_examples_of_its_closures() {
    let report = coded::GRAPH.checkup().expect("compiles");
    assert!(report.is_sound(), "{report}");
    let mut found: Vec<(&str, &str)> =
        report.findings.iter().map(|finding| (finding.at.as_str(), finding.code.as_str())).collect();
    found.sort_unstable();
    let expected = [
        ("/entries/0/examples/1", "example-misses-own-rule"),
        ("/entries/0/examples/1", "example-unclaimed"),
        ("/entries/1/examples/0", "example-misses-own-rule"),
        ("/entries/1/examples/0", "example-unclaimed"),
        ("/entries/1/examples/2", "example-shadowed-by-earlier"),
        ("/entries/2/examples/0", "example-misses-own-rule"),
        ("/never_routes/1", "never-routes-claimed"),
    ];
    assert_eq!(found, expected);
    assert_eq!(report.findings[0].skills, ["triage"]);
    let undecided: Vec<_> = report.undecided.iter().map(|note| note.at.as_deref()).collect();
    assert_eq!(undecided, [Some("/entries/0/when"), Some("/entries/2/when")]);
}

#[test]
fn procedures_are_held_against_the_iteration_cap() {
    let agent = |iterations| {
        let [lookup, pay] = ["lookup", "pay"].map(succeeds);
        let agent = coded::agent(coded::Tools { lookup, pay }).model(ScriptedModel::new([]));
        agent.max_iterations(iterations).build().expect("an agent")
    };
    let long = |iterations| {
        let report = agent(iterations).checkup();
        let found = report.findings.into_iter().filter(|finding| finding.code.as_str() == "more-steps-than-iterations");
        found.map(|finding| (finding.at, finding.message)).collect::<Vec<_>>()
    };
    assert_eq!(long(3), []);
    let message = "skill `audit` has 2 steps, and a turn ends after 2 model calls".to_owned();
    assert_eq!(long(2), [("/skills/2/steps".to_owned(), message)]);
}

#[test]
fn what_was_not_decided_is_said() {
    let slow = |end: &str| json!({ "matches": format!("(a|b)*a(a|b){{20}}{end}") });
    let spec: GraphSpec = serde_json::from_value(json!({
        "name": "slow",
        "skills": [{ "id": "a", "description": "A", "body": "a" }, { "id": "b", "description": "B", "body": "b" }],
        "entries": [{ "skill": "a", "when": slow("c") }, { "skill": "b", "when": slow("[cd]c") }],
    }))
    .expect("a spec");
    let report = spec.checkup(&[] as &[&str]);
    assert_eq!(report.findings, []);
    let json = serde_json::to_value(&report).expect("serialises");
    assert_eq!(json["undecided"][0]["at"], "/entries/1/when/matches");
}
