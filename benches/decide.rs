//! The decision and the turn, growing with the graph.
//!
//! Ring-plus-fan-out graphs of 3 to 3,000 skills: four edges a skill, a third of the skills conditional entries. An edge
//! that fires should cost the same in each; a cold start should grow with the message alone.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::json;
use skillgraph::core::check::{check, check_up};
use skillgraph::core::decide::{Evidence, Ruling, decide};
use skillgraph::core::decl::Status;
use skillgraph::core::graph::{Graph, Hidden, SkillIx, ToolResult};
use skillgraph::core::turn::{Input, Limits, Output, Setup, ToolReturn, ToolSpec, Turn};
use skillgraph::{GraphSpec, ModelReply, ToolCall, Transcript};

const SIZES: [usize; 4] = [3, 30, 300, 3_000];

/// A skill has an edge to the next one and three further away, each on a tool of its own.
fn ring(skills: usize) -> Graph {
    let tool = |at: usize| format!("tool_{}", at % 8);
    let tools: Vec<String> = (0..8).map(tool).collect();
    let skill = |at: usize| json!({ "id": format!("skill-{at}"), "description": format!("Does job number {at}"), "body": "Work.", "tools": tools });
    let entry = |at: usize| {
        let keywords = [format!("keyword{at}"), format!("phrase number {at}")];
        match at {
            0 => json!({ "skill": "skill-0" }),
            _ => json!({ "skill": format!("skill-{at}"), "when": { "keywords": keywords } }),
        }
    };
    let route = |(from, edge): (usize, usize)| {
        let to = (from + 1 + edge * 7) % skills;
        json!({ "from": format!("skill-{from}"), "to": format!("skill-{to}"), "on": [tool(edge)] })
    };
    let routes = (0..skills).flat_map(|from| (0..4).map(move |edge| (from, edge)));
    let spec: GraphSpec = serde_json::from_value(json!({
        "name": "ring",
        "skills": (0..skills).map(skill).collect::<Vec<_>>(),
        "entries": (0..skills).step_by(3).map(entry).collect::<Vec<_>>(),
        "routes": routes.map(route).collect::<Vec<_>>(),
    }))
    .unwrap_or_else(|error| panic!("{error}"));
    Graph::compile(&spec, &tools).unwrap_or_else(|report| panic!("{report}"))
}

fn result(graph: &Graph, tool: &str) -> ToolResult {
    ToolResult::new(graph, tool, "c", Status::Success, json!({ "found": true })).unwrap_or_else(|| panic!("a tool"))
}

fn batch(results: &[ToolResult]) -> Evidence<'_> {
    Evidence::Batch { results, proposal: None, pick: None }
}

fn decisions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decide");
    for size in SIZES {
        let graph = ring(size);
        let cursor = Some(SkillIx::new(size / 2));
        let fires = [result(&graph, "tool_2")];
        let none = ["tool_4", "tool_5", "tool_6", "tool_7"].map(|tool| result(&graph, tool));
        let message = "Good morning, I have a question about my last order and the parcel that never came, thank you.";

        group.bench_function(BenchmarkId::new("stay", size), |bencher| {
            bencher.iter(|| decide(&graph, &Hidden::NONE, black_box(cursor), batch(&[])));
        });
        group.bench_function(BenchmarkId::new("edge_fires", size), |bencher| {
            bencher.iter(|| decide(&graph, &Hidden::NONE, black_box(cursor), batch(&fires)));
        });
        group.bench_function(BenchmarkId::new("no_edge_fires_on_four", size), |bencher| {
            bencher.iter(|| decide(&graph, &Hidden::NONE, black_box(cursor), batch(&none)));
        });
        group.bench_function(BenchmarkId::new("cold_start_no_rule", size), |bencher| {
            bencher.iter(|| {
                decide(
                    &graph,
                    &Hidden::NONE,
                    None,
                    Evidence::TurnStart { message: black_box(message), ruling: Ruling::Rules },
                )
            });
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("cold_start_by_message");
    let graph = ring(3_000);
    for words in [10, 100, 1_000, 10_000] {
        let message = "a few plain words ".repeat(words / 4 + 1);
        group.throughput(Throughput::Bytes(message.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(words), |bencher| {
            bencher.iter(|| {
                decide(
                    &graph,
                    &Hidden::NONE,
                    None,
                    Evidence::TurnStart { message: black_box(&message), ruling: Ruling::Rules },
                )
            });
        });
    }
    group.finish();
}

/// A whole turn: the model calls a tool on every iteration but the last.
fn turns(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("turn");
    let graph = Arc::new(ring(30));
    let spec = |name: &skillgraph::ToolId| ToolSpec {
        name: name.clone(),
        description: "Works.".into(),
        parameters: json!({ "type": "object", "properties": {} }),
    };
    for iterations in [10, 100, 1_000] {
        let setup = Arc::new(Setup {
            system: "You are a benchmark.".into(),
            limits: Limits { iterations, ..Limits::default() },
            ..Setup::new(graph.clone(), graph.tools().iter().map(|name| Arc::new(spec(name))).collect())
        });
        group.bench_function(BenchmarkId::new("iterations", iterations), |bencher| {
            bencher.iter(|| {
                let mut turn = Turn::start(setup.clone(), Transcript::new(), "go");
                loop {
                    while turn.poll_event().is_some() {}
                    let input = match turn.poll_output() {
                        Output::CallModel(request) if request.iteration == iterations => {
                            Input::ModelReplied(ModelReply::text("done"))
                        }
                        Output::CallModel(request) => {
                            let tool = if request.iteration % 2 == 0 { "tool_1" } else { "tool_5" };
                            Input::ModelReplied(ModelReply::calls([ToolCall::new("c", tool, "{}")]))
                        }
                        Output::RunTools(_) => {
                            Input::ToolReturned(ToolReturn::new("c", Status::Success, json!({ "n": 1 })))
                        }
                        output => break black_box(output),
                    };
                    turn.handle_input(input).unwrap_or_else(|error| panic!("{error}"));
                }
            });
        });
    }
    group.finish();
}

/// The check-up of a whole declaration, as the macro and the start of an agent run it.
fn check_ups(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("check_up");
    for size in SIZES {
        let graph = ring(size);
        let decl = graph.declaration();
        group.bench_function(BenchmarkId::new("refusals", size), |bencher| bencher.iter(|| check(black_box(decl))));
        group.bench_function(BenchmarkId::new("whole", size), |bencher| bencher.iter(|| check_up(black_box(decl))));
    }
    group.finish();
}

/// Rules as a support desk writes them.
const PATTERNS: [&str; 20] = [
    r"(?i)\brefund(s|ed|ing)?\b|money back|charged? twice|double[- ]charge",
    r"(?i)\bcharge(s|d)?\b|\binvoice(s)?\b|\bbilling\b|\bpayment\b",
    r"(?i)\b(track|where is)\b.*\b(parcel|package|order)\b",
    r"(?i)\b(parcel|package|shipment|delivery)\b",
    r"(?i)\bcancel(?:lation|led|ling|s)?\b",
    r"(?i)\b(exchange|swap|replace)(d|ment)?\b",
    r"(?i)^\s*(hi|hello|hey|good (morning|evening))\b",
    r"(?i)\b(log ?in|sign ?in|password|2fa|otp)\b",
    r"(?i)\b(bug|crash(es|ed)?|error|exception|stack ?trace)\b",
    r"(?i)\bINV-\d{4,8}\b",
    r"(?i)\bpage (the )?on-?call\b|\boutage\b|\bsev[ -]?[0-3]\b",
    r"(?i)\b(incident|postmortem|root cause)\b",
    r"(?i)\b(upgrade|downgrade|plan|subscription)\b",
    r"(?i)\bGDPR\b|\bdelete my (data|account)\b|\bright to be forgotten\b",
    r"(?i)\b(speak|talk) to (a )?(human|agent|person|someone)\b",
    r"(?i)\b(coupon|promo(tion)?|discount|voucher)\b",
    r"(?i)\b(address|zip|postcode)\b.*\b(change|update|wrong)\b",
    r"(?i)\baudit( |-)?log\b",
    r"(?i)reembolso|devoluci[oó]n|\bfactura\b",
    r"(?i)\brefund(ed|s)? (my|the) order\b",
];

/// Whether rules can win is decided in the macro, which is built without optimisation: run it with `--profile dev` too.
fn rules(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rules");
    let decl = |count: usize, rule: &dyn Fn(usize) -> serde_json::Value| {
        let skill = |at: usize| json!({ "id": format!("s{at}"), "description": "Works.", "body": "Work." });
        let entry = |at: usize| json!({ "skill": format!("s{at}"), "when": rule(at) });
        let spec = json!({
            "name": "rules",
            "skills": (0..count).map(skill).collect::<Vec<_>>(),
            "entries": (0..count).map(entry).collect::<Vec<_>>(),
        });
        let spec: GraphSpec = serde_json::from_value(spec).unwrap_or_else(|error| panic!("{error}"));
        spec.declaration(&[] as &[&str])
    };
    let patterns = decl(PATTERNS.len(), &|at| json!({ "matches": PATTERNS[at] }));
    group.bench_function("20_patterns", |bencher| bencher.iter(|| check_up(black_box(&patterns))));
    for count in [100, 1_000] {
        let mixed = decl(count, &|at| match at % 4 {
            0 => json!({ "matches": format!(r"(?i)\bcase[ -]?{at}\b") }),
            1 => json!({ "all": [{ "keywords": [format!("topic {at}")] }, { "matches": "[0-9]{4}" }] }),
            _ => json!({ "keywords": [format!("topic {at}"), format!("subject {at}"), format!("{at}")] }),
        });
        group.bench_function(BenchmarkId::new("mixed", count), |bencher| bencher.iter(|| check_up(black_box(&mixed))));
    }
    group.finish();
}

criterion_group!(benches, decisions, turns, check_ups, rules);
criterion_main!(benches);
