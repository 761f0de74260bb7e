//! What a graph costs its author: `cargo check` of a crate after its file was touched, with a graph of 10, 100 and 500
//! skills (three tools, two steps and one edge each), beside a crate that has no graph.
//!
//! Whole-process times: the difference to `no graph` is the macro and what the compiler makes of its output.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

/// A crate in the target folder, so that nothing is left behind in the tree.
fn user_crate(name: &str, main: &str) -> std::io::Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("target/expansion-bench").join(name);
    std::fs::create_dir_all(folder.join("src"))?;
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[dependencies]\nskillgraph = {{ path = {root:?} }}\n[workspace]\n"
    );
    std::fs::write(folder.join("Cargo.toml"), manifest)?;
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    std::fs::write(folder.join("src/main.rs"), main)?;
    Ok(folder)
}

fn graph(skills: usize) -> String {
    let mut tools = String::new();
    let mut items = String::new();
    for at in 0..skills {
        for tool in ["look", "act", "check"] {
            let _ = write!(tools, "{tool}_{at}: dyn, ");
        }
        let next = (at + 1) % skills;
        let _ = write!(
            items,
            "skill skill_{at} {{\n description: \"Does job {at}\",\n body: \"Call {{look_{at}}} first.\",\n \
             tools: [look_{at}, act_{at}, check_{at}],\n steps: [look_{at}: \"look first\", act_{at}: \"then act\"],\n}}\n\
             entry skill_{at} when keywords[\"word {at}\", \"phrase {at}\"];\n\
             route skill_{at} -> skill_{next} on check_{at};\n"
        );
    }
    format!(
        "skillgraph::skill_graph! {{\n graph large {{\n tools {{ {tools} }}\n{items} }}\n}}\nfn main() {{ let _ = &large::GRAPH; }}\n"
    )
}

fn check(folder: &Path) {
    let target = folder.parent().map(|parent| parent.join("target"));
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["check", "--quiet", "--offline"])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target.unwrap_or_default());
    let output = cargo.output().unwrap_or_else(|error| panic!("cargo: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn expansion(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("cargo_check_after_touch");
    group.sample_size(10);
    let crates = [0, 10, 100, 500].map(|skills| {
        let main = if skills == 0 { "fn main() {}\n".to_owned() } else { graph(skills) };
        (skills, main)
    });
    for (skills, main) in crates {
        let name = if skills == 0 { "no_graph".to_owned() } else { format!("graph_of_{skills}") };
        let folder = user_crate(&name, &main).unwrap_or_else(|error| panic!("{name}: {error}"));
        check(&folder);
        let mut edits = 0;
        group.bench_function(BenchmarkId::from_parameter(&name), |bencher| {
            bencher.iter(|| {
                edits += 1;
                let edited = format!("{main}// edit {edits}\n");
                std::fs::write(folder.join("src/main.rs"), edited).unwrap_or_else(|error| panic!("{name}: {error}"));
                check(&folder);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, expansion);
criterion_main!(benches);
