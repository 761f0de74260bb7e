//! What a reference system does on some hundreds of graphs, and where this one differs on purpose.
//!
//! `tests/vectors` holds the cases as data. Each passes, or every difference is explained by a rule of
//! `tests/vectors/deviations.toml`, which names the section of the specification. `SKILLGRAPH_VECTORS=DIR` runs the same
//! on another folder.

mod agent;
mod catalog;
mod catalog_runs;
mod checkup;
#[path = "../common/mod.rs"]
mod common;
mod deviations;
mod predicate;
mod routing;
mod scorer;
mod skillmd;
mod translate;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use deviations::Deviations;

/// One thing on which a case and this system disagree.
#[derive(Debug)]
struct Difference {
    /// What it is about.
    field: &'static str,
    expected: String,
    ours: String,
}

impl Difference {
    fn new(field: &'static str, expected: impl ToString, ours: impl ToString) -> Self {
        Self { field, expected: expected.to_string(), ours: ours.to_string() }
    }
}

/// Where a difference was seen.
struct Seen<'a> {
    case: &'a Value,
    /// The step of a routing case, or what is expected of a turn.
    step: Option<&'a Value>,
    difference: Difference,
}

fn folder() -> PathBuf {
    std::env::var_os("SKILLGRAPH_VECTORS").map_or_else(|| PathBuf::from("tests/vectors"), PathBuf::from)
}

fn run(file: &str, compare: fn(&Value) -> Vec<Seen<'_>>) {
    let path = folder().join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let vectors: Value = serde_json::from_str(&text).expect("JSON");
    run_cases(file, vectors["cases"].as_array().expect("cases"), compare);
}

fn run_cases(file: &str, cases: &[Value], compare: fn(&Value) -> Vec<Seen<'_>>) {
    let deviations = Deviations::read();
    let (mut passed, mut deviating, mut failed) = (0, 0, Vec::new());
    let mut used: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases {
        let seen = compare(case);
        let explained: Vec<Option<&str>> = seen.iter().map(|seen| deviations.explain(file, seen)).collect();
        if seen.is_empty() {
            passed += 1;
        } else if explained.iter().all(Option::is_some) {
            deviating += 1;
            explained.into_iter().flatten().for_each(|rule| *used.entry(rule).or_default() += 1);
        } else {
            let id = case["id"].as_str().unwrap_or("?");
            let unexplained = seen.iter().zip(&explained).filter(|(_, rule)| rule.is_none());
            failed.push(format!("{id}: {:?}", unexplained.map(|(seen, _)| &seen.difference).collect::<Vec<_>>()));
        }
    }
    println!("{file}: {passed} passed, {deviating} deviating by rule, {} failed", failed.len());
    used.iter().for_each(|(rule, count)| println!("  {count:4} by {rule}"));
    assert!(failed.is_empty(), "{file}: {} failed:\n{}", failed.len(), failed.join("\n"));
    assert!(passed > 0, "{file}: nothing passed");
}

#[test]
fn checkup() {
    run("checkup.json", checkup::compare);
}

#[test]
fn routing() {
    run("routing.json", routing::compare);
}

#[test]
fn scorer() {
    run("scorer.json", scorer::compare);
}

#[test]
fn agent() {
    run("agent.json", agent::compare);
}

#[test]
fn skillmd() {
    run("skillmd.json", skillmd::compare);
}

#[test]
fn catalog() {
    run_cases("cognipeer", &catalog::cases(), catalog::compare);
}
