//! Inputs that were written to cost more than they are long: each at n, 2n and 4n, and how the time grew. A growth of 2 at each
//! doubling is linear; of 4, quadratic.
//!
//! `cargo bench --bench hostile` prints a table; a word behind `--` keeps the rows that hold it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skillgraph::core::decl::ToolId;
use skillgraph::core::skill_file;
use skillgraph::core::turn::{Input, ModelReply, Output, Setup, ToolCall, ToolReturn, ToolSpec, Turn};
use skillgraph::{Graph, GraphSpec, Message, Status, Transcript};

/// A kind of input, by its size.
struct Case {
    name: &'static str,
    /// The smallest size that is measured.
    size: usize,
    /// Makes the input, and returns what is to be timed.
    make: fn(usize) -> Box<dyn Fn()>,
}

const CASES: &[Case] = &[
    Case { name: "m70 calls of one id", size: 4_000, make: calls_of_one_id },
    Case { name: "m72 refused calls in one message", size: 4_000, make: unknown_calls },
    Case { name: "m72 lists asked for in one message", size: 1_000, make: lists },
    Case { name: "m73 a keyword that is a long example", size: 500, make: long_keyword },
    Case { name: "m73 patterns of exact lengths", size: 50, make: exact_lengths },
    Case { name: "m73 keywords that hold each other", size: 100, make: nested_keywords },
    Case { name: "m73 a long repetition beside another", size: 500, make: long_repetition },
    Case { name: "m74 a guard of many terms", size: 100, make: many_terms },
    Case { name: "m74 lists of many values", size: 250, make: long_lists },
    Case { name: "m75 edges with guards, and results", size: 100, make: guards_and_results },
    Case { name: "m76 unknown keys of a file", size: 5_000, make: unknown_keys },
    Case { name: "m77 unknown names", size: 500, make: unknown_names },
    Case { name: "m78 a chain of else if", size: 200, make: chain },
    Case { name: "m79 edges of one source", size: 500, make: edges },
    Case { name: "m79 intents", size: 100, make: intents },
    Case { name: "m80 a long history", size: 5_000, make: long_history },
    Case { name: "m71 a long query", size: 5_000, make: long_query },
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    println!("{:<40} {:>8} {:>10} {:>8} {:>8}", "input", "n", "ms at n", "2n", "4n");
    for case in CASES.iter().filter(|case| wanted.iter().all(|word| case.name.contains(word.as_str()))) {
        let times = [1, 2, 4].map(|times| fastest(&*(case.make)(case.size * times)).as_secs_f64() * 1_000.0);
        let [one, two, four] = times;
        println!("{:<40} {:>8} {one:>10.2} {:>7.1}x {:>7.1}x", case.name, case.size, two / one, four / two);
    }
}

/// The fastest of three runs: what is slower was somebody else.
fn fastest(run: &dyn Fn()) -> Duration {
    let time = || {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    [time(), time(), time()].into_iter().min().unwrap_or_default()
}

fn spec(value: &Value) -> GraphSpec {
    serde_json::from_value(value.clone()).expect("a spec")
}

fn skill(id: &str, tools: &[&str]) -> Value {
    json!({ "id": id, "description": "Works", "body": "Work.", "tools": tools })
}

/// The check-up of a graph, whatever it says.
fn checkup(value: Value) -> Box<dyn Fn()> {
    let spec = spec(&value);
    Box::new(move || drop(std::hint::black_box(Graph::compile(&spec, &["find", "pay"]).map(|graph| graph.checkup()))))
}

fn entries(conditions: impl Iterator<Item = Value>) -> Value {
    let (mut skills, mut entries) = (vec![skill("start", &["find"])], vec![json!({ "skill": "start" })]);
    for (at, condition) in conditions.enumerate() {
        skills.push(skill(&format!("s{at}"), &[]));
        entries.push(json!({ "skill": format!("s{at}"), "when": condition }));
    }
    json!({ "name": "g", "skills": skills, "entries": entries })
}

fn turn() -> Turn {
    let value = json!({
        "name": "g", "skills": [skill("start", &["find"]), skill("other", &["pay"])],
        "entries": [{ "skill": "start" }], "routes": [{ "from": "start", "to": "other", "pick": true }],
    });
    let graph = Graph::compile(&spec(&value), &["find", "pay"]).expect("a graph");
    Turn::start(setup(graph), Transcript::new(), "hello")
}

fn setup(graph: Graph) -> Arc<Setup> {
    let tool = |name: &'static str| {
        let parameters = json!({ "type": "object", "properties": {} });
        Arc::new(ToolSpec { name: ToolId::from_static(name), description: "Works.".into(), parameters })
    };
    Arc::new(Setup::new(Arc::new(graph), vec![tool("find"), tool("pay")]))
}

/// A turn that takes one message of calls, up to the next request.
fn message(calls: Vec<ToolCall>) -> Box<dyn Fn()> {
    let begun = turn();
    assert!(matches!(begun.poll_output(), Output::CallModel(_)));
    Box::new(move || take(begun.clone(), calls.clone(), &json!({})))
}

/// Gives a turn one message of calls, each of which returns the same, up to the next request.
fn take(mut turn: Turn, calls: Vec<ToolCall>, value: &Value) {
    turn.handle_input(Input::ModelReplied(ModelReply::calls(calls))).expect("awaited");
    while let Output::RunTools(runs) = turn.poll_output() {
        for run in runs {
            let returned = ToolReturn::new(run.call_id, Status::Success, value.clone());
            turn.handle_input(Input::ToolReturned(returned)).expect("awaited");
        }
    }
}

fn calls_of_one_id(n: usize) -> Box<dyn Fn()> {
    message((0..n).map(|_| ToolCall::new("one", "find", "{}")).collect())
}

fn unknown_calls(n: usize) -> Box<dyn Fn()> {
    message((0..n).map(|at| ToolCall::new(format!("c{at}"), "nothing", "{}")).collect())
}

fn lists(n: usize) -> Box<dyn Fn()> {
    message((0..n).map(|at| ToolCall::new(format!("c{at}"), "list_skills", "{}")).collect())
}

fn long_keyword(n: usize) -> Box<dyn Fn()> {
    let phrase = "word ".repeat(n);
    let mut graph = entries([json!({ "keywords": [phrase.trim()] }), json!({ "keywords": ["other"] })].into_iter());
    graph["entries"][1]["examples"] = json!([phrase.trim()]);
    checkup(graph)
}

fn exact_lengths(n: usize) -> Box<dyn Fn()> {
    checkup(entries((0..n).map(|at| json!({ "matches": format!("^a{{{at}}}$") }))))
}

fn nested_keywords(n: usize) -> Box<dyn Fn()> {
    checkup(entries((0..n).map(|at| json!({ "keywords": [vec!["word"; n - at].join(" ")] }))))
}

fn long_repetition(n: usize) -> Box<dyn Fn()> {
    let all = json!({ "all": [{ "matches": format!("a{{{n}}}") }, { "matches": "y" }] });
    checkup(entries([json!({ "matches": "a" }), all].into_iter()))
}

fn guarded(guards: impl Iterator<Item = Value>) -> Value {
    let (mut skills, mut routes) = (vec![skill("start", &["find"])], Vec::new());
    for (at, guard) in guards.enumerate() {
        skills.push(skill(&format!("s{at}"), &[]));
        routes.push(json!({ "from": "start", "to": format!("s{at}"), "on": ["find"], "where": guard }));
    }
    json!({ "name": "g", "skills": skills, "entries": [{ "skill": "start" }], "routes": routes })
}

fn many_terms(n: usize) -> Box<dyn Fn()> {
    let terms: Vec<Value> = (0..n).map(|at| json!({ "path": "x", "op": "!=", "value": at })).collect();
    checkup(guarded([json!(terms)].into_iter()))
}

fn long_lists(n: usize) -> Box<dyn Fn()> {
    let term = |from: usize| json!({ "path": "x", "op": "in", "value": (from..from + n).collect::<Vec<_>>() });
    let terms: Vec<Value> = (0..8).map(term).collect();
    checkup(guarded([json!(terms)].into_iter()))
}

fn guards_and_results(n: usize) -> Box<dyn Fn()> {
    let guards = (0..n).map(|at| json!([{ "path": "x", "op": "==", "value": at }]));
    let graph = Graph::compile(&spec(&guarded(guards)), &["find", "pay"]).expect("a graph");
    let turn = Turn::start(setup(graph), Transcript::new(), "hello");
    assert!(matches!(turn.poll_output(), Output::CallModel(_)));
    let calls: Vec<ToolCall> = (0..100).map(|at| ToolCall::new(format!("c{at}"), "find", "{}")).collect();
    Box::new(move || take(turn.clone(), calls.clone(), &json!({ "x": -1 })))
}

fn unknown_keys(n: usize) -> Box<dyn Fn()> {
    let mut text = String::from("---\nname: x\ndescription: y\n");
    for at in 0..n {
        let _ = writeln!(text, "key-{at}: value");
    }
    text.push_str("---\nBody.\n");
    Box::new(move || drop(std::hint::black_box(skill_file::read(&text))))
}

fn unknown_names(n: usize) -> Box<dyn Fn()> {
    let tools: Vec<String> = (0..n).map(|at| format!("unknown_tool_{at}")).collect();
    let known: Vec<String> = (0..n).map(|at| format!("known_tool_{at}")).collect();
    let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
    let value = json!({ "name": "g", "skills": [skill("start", &tools)], "entries": [{ "skill": "start" }] });
    let spec = spec(&value);
    Box::new(move || {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        drop(std::hint::black_box(Graph::compile(&spec, &known)));
    })
}

fn chain(n: usize) -> Box<dyn Fn()> {
    let skills: Vec<Value> = (0..=n).map(|at| skill(&format!("s{at}"), &[])).collect();
    let mut tree = skillgraph::core::decl::BranchSpec::Leaf(format!("s{n}"));
    for at in (0..n).rev() {
        let condition = serde_json::from_value(json!({ "keywords": [format!("word{at}")] })).expect("a condition");
        let then = Box::new(skillgraph::core::decl::BranchSpec::Leaf(format!("s{at}")));
        tree = skillgraph::core::decl::BranchSpec::Fork { condition, then, otherwise: Some(Box::new(tree)) };
    }
    let mut spec = spec(&json!({ "name": "g", "skills": skills }));
    spec.tree = Some(tree);
    Box::new(move || drop(std::hint::black_box(Graph::compile(&spec, &["find", "pay"]).map(|graph| graph.checkup()))))
}

fn edges(n: usize) -> Box<dyn Fn()> {
    checkup(guarded((0..n).map(|at| json!([{ "path": "x", "op": "==", "value": at }]))))
}

fn intents(n: usize) -> Box<dyn Fn()> {
    let intent = |at: usize| json!({ "intent": { "intent": format!("job {at}"), "examples": [format!("do job {at} now"), format!("job {at}")] } });
    let mut graph = entries((0..n).map(intent));
    graph["classify"] = json!({ "scorer": "keyword" });
    checkup(graph)
}

fn long_history(n: usize) -> Box<dyn Fn()> {
    let value = json!({ "name": "g", "skills": [skill("start", &["find"])], "entries": [{ "skill": "start" }] });
    let setup = setup(Graph::compile(&spec(&value), &["find", "pay"]).expect("a graph"));
    let history: Transcript = (0..n).map(|at| Message::User { text: format!("message {at}") }).collect();
    // Said in one conversation, in order since its first turn.
    let carried = Turn::start(setup.clone(), history, "hello").carry();
    Box::new(move || drop(std::hint::black_box(Turn::start_from(setup.clone(), carried.clone(), "and now?"))))
}

fn long_query(n: usize) -> Box<dyn Fn()> {
    use skillgraph::core::catalog::{Catalog, CatalogEntry, SkillPolicy};
    let entry = |at: usize| CatalogEntry {
        key: format!("skill-{at}"),
        title: String::new(),
        header: format!("words of skill {at}"),
        needs_sandbox: false,
        min_model_tier: None,
        tools: Vec::new(),
        default_bind: Vec::new(),
        may_be_away: false,
    };
    let catalog = Catalog::new(SkillPolicy::default(), (0..200).map(entry).collect()).expect("a catalog");
    let query: String = (0..n).map(|at| format!("word{at} ")).collect();
    Box::new(move || assert!(!catalog.search(&query, 8, &BTreeSet::new()).0.is_empty()))
}
