//! Guards (SPEC 1.4): read on the typed output, or in the JSON of a `dyn` tool; what was read is in the record.

use crate::common::{answer, calls, hops, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillgraph::{
    Event, GuardRecord, ScriptedModel, TermEvidence, TermOutcome, ToolReply, TurnReport, skill_graph, tool,
};

#[derive(Deserialize, Serialize, JsonSchema, Clone)]
struct Order {
    #[serde(rename = "totalCents")]
    total: Option<u64>,
    rate: f32,
    state: String,
    r#type: char,
    vip: bool,
    customer: Option<Customer>,
}

#[derive(Deserialize, Serialize, JsonSchema, Clone)]
struct Customer {
    name: Box<str>,
    risk: Option<f64>,
}

/// Finds an order.
#[tool]
async fn find_order(order: Order) -> Result<ToolReply<Order>, String> {
    match order.state.as_str() {
        "broken" => Err("the order book is closed".to_owned()),
        "gone" => Ok(ToolReply::absent("no such order")),
        _ => Ok(order.into()),
    }
}

skill_graph! {
    #[allow(skillgraph::skill_wraps_one_tool, skillgraph::few_declared_edges, skillgraph::ambiguous_routes)]
    graph desk {
        tools { find_order: FindOrder, search: dyn }

        skill triage { description: "Start", body: "Ask.", tools: [find_order, search] }
        skill large { description: "Large sums", body: "Be slow." }
        skill risky { description: "Risky customers", body: "Be careful." }
        skill late { description: "Late orders", body: "Be sorry." }
        skill odd { description: "The rest", body: "Be kind." }
        skill other { description: "Whatever else", body: "Be curious." }

        entry triage;
        route triage -> large on find_order where total > 500 && vip == true as "large";
        route triage -> risky on find_order where customer.risk >= 0.5 && customer.name not in ["Ada", "Bob"];
        route triage -> late on any[find_order, search] where state in ["late", "lost"];
        route triage -> odd on find_order where rate == 0.1 && type != "x";
        route triage -> other on search where order.total < 5 && order.open == true;
    }
}

fn order() -> Value {
    json!({ "totalCents": 600, "rate": 0.25, "state": "open", "type": "x", "vip": true, "customer": null })
}

/// A turn in which one tool returns once.
async fn turn(name: &str, arguments: Value, found: Value) -> TurnReport {
    let search = tool("search", move |_| ToolReply::success(found.clone()));
    let model = ScriptedModel::new([calls([("c1", name, arguments)]), answer()]);
    let agent = desk::agent(desk::Tools { find_order: FindOrder, search }).model(model).build().expect("an agent");
    agent.run("hello").await.expect("a turn")
}

async fn with_order(change: Value) -> TurnReport {
    let mut order = order();
    for (key, value) in change.as_object().expect("an object") {
        order[key] = value.clone();
    }
    turn("find_order", order, json!(null)).await
}

fn guards(report: &TurnReport) -> Vec<&GuardRecord> {
    let moves = report.events.iter().filter_map(|event| match event {
        Event::CursorDecided(record) => Some(&record.guards),
        _ => None,
    });
    moves.flatten().collect()
}

fn evidence(term: &str, outcome: TermOutcome, read: Option<&str>) -> TermEvidence {
    TermEvidence { term: term.to_owned(), outcome, read: read.map(str::to_owned) }
}

#[tokio::test]
async fn a_guard_reads_the_typed_output_and_the_record_says_what() {
    let report = with_order(json!({})).await;
    assert_eq!(hops(&report), ["triage by entry", "large by route"]);
    let guards = guards(&report);
    assert_eq!(guards.len(), 1);
    assert!(guards[0].passed);
    assert_eq!(guards[0].of.target, "large");
    assert_eq!(guards[0].of.call_id, "c1");
    let passed = |term, read| evidence(term, TermOutcome::Passed, Some(read));
    assert_eq!(guards[0].terms, [passed("total > 500", "600"), passed("vip == true", "true")]);
}

#[tokio::test]
async fn a_missing_value_passes_no_operator() {
    let report = with_order(json!({ "totalCents": null, "state": "late" })).await;
    assert_eq!(hops(&report)[1], "late by route");
    let guards = guards(&report);
    assert_eq!(guards[0].terms[0], evidence("total > 500", TermOutcome::Missing, None));
    let missing = |term: &str| evidence(term, TermOutcome::Missing, None);
    let customer = [missing("customer.risk >= 0.5"), missing(r#"customer.name not in ["Ada", "Bob"]"#)];
    assert_eq!(guards[1].terms, customer);
    assert!(!guards[1].passed);
}

#[tokio::test]
async fn paths_go_through_options() {
    for (name, risk, expected) in
        [("Eve", json!(0.5), "risky"), ("Ada", json!(0.5), "triage"), ("Eve", json!(null), "triage")]
    {
        let report = with_order(json!({ "vip": false, "customer": { "name": name, "risk": risk } })).await;
        assert!(hops(&report)[1].starts_with(expected), "{name} {risk}: {:?}", hops(&report));
    }
}

#[tokio::test]
async fn a_short_float_is_the_number_that_it_prints_as() {
    let report = with_order(json!({ "vip": false, "rate": 0.1, "type": "y" })).await;
    assert_eq!(hops(&report)[1], "odd by route");
}

#[tokio::test]
async fn only_a_result_with_an_output_passes_a_guard() {
    for state in ["broken", "gone"] {
        let report = with_order(json!({ "state": state })).await;
        assert_eq!(hops(&report)[1], "triage by stay");
        assert!(guards(&report).is_empty(), "{state}");
    }
}

#[tokio::test]
async fn a_dyn_tool_is_read_as_json() {
    let searched = |found: Value| turn("search", json!({}), found);
    let report = searched(json!({ "state": "lost" })).await;
    assert_eq!(hops(&report)[1], "late by route");
    let report = searched(json!({ "order": { "total": 4.5, "open": true } })).await;
    assert_eq!(hops(&report)[1], "other by route");
    for found in [
        json!({ "order": { "total": "4", "open": true } }),
        json!({ "order": { "total": 4, "open": "true" } }),
        json!({ "order": [{ "total": 4, "open": true }] }),
        json!({ "order.total": 4, "order.open": true }),
        json!("order"),
        json!(null),
    ] {
        let report = searched(found.clone()).await;
        assert_eq!(hops(&report)[1], "triage by stay", "{found}");
        let last = guards(&report).into_iter().next_back().expect("a guard");
        assert!(last.terms.iter().any(|term| term.outcome == TermOutcome::Missing), "{found}");
    }
    let report = searched(json!({ "order": { "total": "x".repeat(200) } })).await;
    let last = guards(&report).into_iter().next_back().expect("a guard");
    assert_eq!(last.terms[0].read.as_ref().map(|read| read.chars().count()), Some(80));
}

#[tokio::test]
async fn the_record_is_data() {
    let report = with_order(json!({ "totalCents": 1 })).await;
    let record = serde_json::to_value(guards(&report)[0]).expect("serialises");
    let expected = json!({
        "target": "large", "tool": "find_order", "call_id": "c1", "status": "success", "passed": false,
        "terms": [
            { "term": "total > 500", "outcome": "failed", "read": "1" },
            { "term": "vip == true", "outcome": "passed", "read": "true" },
        ],
    });
    assert_eq!(record, expected);
}

#[test]
fn a_guard_is_drawn() {
    let drawing = desk::GRAPH.to_mermaid();
    assert!(drawing.contains("on search where order.total #60; 5 and order.open == true"), "{drawing}");
}

mod limits {
    pub const LARGE: u32 = 500;
    pub const RATE: f32 = 0.1;
    pub const LATE: &str = "late";
}
const YES: bool = true;

#[derive(Deserialize, Serialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Grade {
    VeryGood,
    #[serde(rename = "F")]
    Failed,
}

#[derive(Deserialize, Serialize, JsonSchema, Clone)]
#[serde(transparent)]
struct Cents(u64);

#[derive(Deserialize, Serialize, JsonSchema, Clone)]
struct Paper {
    grade: Grade,
    second: Option<Grade>,
    fee: Cents,
    pages: u32,
    weight: f32,
    state: String,
    read: bool,
    notes: Vec<String>,
    more: Option<Vec<u32>>,
}

/// Grades a paper.
#[tool(struct = GradePaper)]
async fn grade(paper: Paper) -> Result<Paper, String> {
    Ok(paper)
}

skill_graph! {
    #[allow(skillgraph::skill_wraps_one_tool, skillgraph::few_declared_edges, skillgraph::ambiguous_routes)]
    graph papers {
        tools { grade: GradePaper, raw: dyn }

        skill desk { description: "Papers", body: "Grade.", tools: [grade, raw] }
        skill praise { description: "Praise", body: "Praise." }
        skill again { description: "Once more", body: "Say why." }
        skill dear { description: "Dear ones", body: "Ask." }
        skill long { description: "Long ones", body: "Cut." }
        skill noted { description: "With notes", body: "Read them." }

        entry desk;
        route desk -> praise on grade where grade == "very-good" && second not in ["F"];
        route desk -> again on grade where second in ["F", "very-good"] && read == YES;
        route desk -> dear on grade where fee >= 900 && weight == limits::RATE && state in [limits::LATE, "lost"];
        route desk -> long on any[grade, raw] where pages > limits::LARGE;
        route desk -> noted on any[grade, raw] where notes.len() >= 2 && more.len() == 0;
    }
}

async fn graded(tool_name: &str, paper: Value) -> Vec<String> {
    let model = ScriptedModel::new([calls([("c", tool_name, paper)]), answer()]);
    let raw = tool("raw", ToolReply::success);
    let agent = papers::agent(papers::Tools { grade: GradePaper, raw }).model(model).build().expect("an agent");
    hops(&agent.run("hello").await.expect("a turn"))
}

fn paper(changes: Value) -> Value {
    let mut paper = json!({
        "grade": "F", "fee": 1, "pages": 1, "weight": 1.0, "state": "open", "read": false, "notes": [],
    });
    for (key, value) in changes.as_object().expect("changes") {
        paper[key] = value.clone();
    }
    paper
}

#[tokio::test]
async fn f111_guards_read_enums_consts_and_lengths() {
    for (changes, expected) in [
        (json!({}), "desk by stay"),
        (json!({ "grade": "very-good" }), "desk by stay"),
        (json!({ "grade": "very-good", "second": "very-good" }), "praise by route"),
        (json!({ "second": "F", "read": true }), "again by route"),
        (json!({ "second": "F", "read": false }), "desk by stay"),
        (json!({ "fee": 900, "weight": 0.1, "state": "late" }), "dear by route"),
        (json!({ "fee": 900, "weight": 0.1, "state": "lost" }), "dear by route"),
        (json!({ "fee": 900, "weight": 0.1 }), "desk by stay"),
        (json!({ "fee": 899, "weight": 0.1, "state": "late" }), "desk by stay"),
        (json!({ "pages": 501 }), "long by route"),
        (json!({ "pages": 500 }), "desk by stay"),
        (json!({ "notes": ["a", "b"], "more": [] }), "noted by route"),
        (json!({ "notes": ["a", "b"] }), "desk by stay"),
        (json!({ "notes": ["a"], "more": [] }), "desk by stay"),
    ] {
        assert_eq!(graded("grade", paper(changes.clone())).await[1], expected, "{changes}");
    }
    // Of a tool without a type the same is read from its JSON.
    for (result, expected) in [
        (json!({ "pages": 501 }), "long by route"),
        (json!({ "pages": "501" }), "desk by stay"),
        (json!({ "notes": [1, 2, 3], "more": [] }), "noted by route"),
        (json!({ "notes": "abc", "more": [] }), "desk by stay"),
        (json!({ "notes": { "len()": 2 }, "more": [] }), "desk by stay"),
    ] {
        assert_eq!(graded("raw", result.clone()).await[1], expected, "{result}");
    }
}

#[test]
fn f111_what_is_compared_with_a_const_is_drawn_and_written_with_its_value() {
    let drawing = papers::GRAPH.to_mermaid();
    assert!(drawing.contains("on grade or raw where pages #62; 500"), "{drawing}");
    let spec = serde_json::to_value(papers::GRAPH.spec().expect("no closures")).expect("JSON");
    assert_eq!(spec["routes"][3]["where"][0], json!({ "path": "pages", "op": ">", "value": 500 }));
    assert_eq!(spec["routes"][4]["where"][0]["path"], "notes.len()");
}
