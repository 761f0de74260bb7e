//! A search of a catalog, growing with it: three words of a query, headers of a dozen words. Reading the
//! catalog comes once.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use skillgraph::core::catalog::{CatalogEntry, SearchIndex};

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

criterion_group!(benches, search);
criterion_main!(benches);
