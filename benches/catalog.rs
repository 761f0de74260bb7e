//! A search of a catalog, growing with it: three words of a query, headers of a dozen words. Reading the catalog comes once.
//! And a request of a turn that has four skills open, in catalogs of which the others stay shut: where the model searches it does
//! not grow, where skills are listed the list does.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::json;
use skillgraph::core::catalog::{Catalog, CatalogEntry, Disclosure, SearchIndex, SkillPolicy, ToolHeader};
use skillgraph::core::turn::{
    Carried, CatalogAnswer, CatalogQuestion, Input, ModelReply, Output, Setup, ToolSpec, Turn,
};
use skillgraph::{Graph, GraphSpec, ToolCall, ToolId};

const SIZES: [usize; 3] = [100, 1_000, 10_000];

fn catalog(skills: usize) -> Vec<CatalogEntry> {
    let verbs = ["read", "write", "move", "book", "cancel", "refund", "predict", "declare", "hoist", "translate"];
    let things = ["invoices", "containers", "tickets", "water levels", "customs forms", "pilots", "parcels"];
    let entry = |at: usize| {
        let (verb, thing) = (verbs[at % verbs.len()], things[at % things.len()]);
        CatalogEntry {
            key: format!("desk{}:{verb}-{at}", at % 40),
            title: format!("{verb} {thing}"),
            header: format!("{verb} {thing} of desk {at} when somebody asks for them, and say what was done"),
            ..CatalogEntry::default()
        }
    };
    (0..skills).map(entry).collect()
}

fn search(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("search");
    for size in SIZES {
        let entries = catalog(size);
        group.throughput(Throughput::Elements(size as u64));
        group.bench_with_input(BenchmarkId::new("three words", size), &entries, |bencher, entries| {
            let index = SearchIndex::new(entries);
            bencher.iter(|| index.search(black_box("refund a parcel of desk 7"), 10));
        });
        group.bench_with_input(BenchmarkId::new("read the catalog", size), &entries, |bencher, entries| {
            bencher.iter(|| SearchIndex::new(black_box(entries)));
        });
    }
    group.finish();
}

/// A turn whose model has opened four skills with ten tools each, before its next request.
fn with_four_open(skills: usize, disclosure: Disclosure) -> Turn {
    let mut entries = catalog(skills);
    let names: Vec<String> = (0..40).map(|at| format!("tool_{at}")).collect();
    for (entry, tools) in entries.iter_mut().zip(names.chunks(10)) {
        entry.tools = tools.iter().map(|name| ToolHeader { name: name.clone(), description: None }).collect();
    }
    let keys: Vec<String> = entries.iter().take(4).map(|entry| entry.key.clone()).collect();
    let policy = SkillPolicy { disclosure, ..SkillPolicy::DEFAULT };
    let mut spec = GraphSpec::new("bench");
    spec.catalog = Some(Default::default());
    let tool = |name: &String| {
        let parameters = json!({ "type": "object", "properties": { "id": { "type": "integer" } } });
        Arc::new(ToolSpec { name: ToolId::from(name.as_str()), description: "Works.".into(), parameters })
    };
    let graph = Arc::new(Graph::compile(&spec, &names).expect("a graph"));
    let setup = Setup {
        catalog: Some(Catalog::new(policy, entries).expect("a catalog")),
        ..Setup::new(graph, names.iter().map(tool).collect())
    };
    let mut turn = Turn::start_from(Arc::new(setup), Carried::default(), "go");
    let opens = keys.iter().map(|key| ToolCall::new(key, "open_skill", json!({ "key": key }).to_string()));
    turn.handle_input(Input::ModelReplied(ModelReply::calls(opens))).expect("a reply is awaited");
    let Output::AskCatalog(questions) = turn.poll_output() else { panic!("four skills open") };
    let opened = |_: &CatalogQuestion| CatalogAnswer::Opened { prompt: "Do.".into(), ranked: vec![], tools: vec![] };
    turn.handle_input(Input::CatalogAnswered(questions.iter().map(opened).collect())).expect("answers are awaited");
    assert_eq!(turn.catalog().opened().tools().len(), 40);
    turn
}

fn request(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("request");
    for size in SIZES {
        for disclosure in [Disclosure::Search, Disclosure::Catalog] {
            let turn = with_four_open(size, disclosure);
            group.bench_with_input(BenchmarkId::new(format!("{disclosure:?}"), size), &turn, |bencher, turn| {
                bencher.iter(|| black_box(turn).poll_output());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, search, request);
criterion_main!(benches);
