//! A folder of generated skills, loaded and checked: seconds, and memory while it is held.
//!
//! `cargo bench --bench runbooks`. Memory is the resident set of the process, where the system tells it (Linux).

use std::path::Path;
use std::time::Instant;

use skillgraph::core::runbook::{Runbook, RunbookOptions};
use skillgraph::core::skill_file::Limits;

/// Skills of one kilobyte, each with two tools, a procedure and an edge to the next.
fn generate(folder: &Path, count: usize) -> std::io::Result<()> {
    for at in 0..count {
        let name = format!("skill-{at:05}");
        let next = (at + 1) % count;
        let directory = folder.join(&name);
        std::fs::create_dir_all(&directory)?;
        let text = format!(
            "---\nname: {name}\ndescription: \"Case {at}: what to do about number {at}\"\ntools: [find_{}, pay_{}]\nsteps:\n  \
             - find_{}: look first\n  - pay_{}: then pay\nroutes:\n  - skill-{next:05}: on pay_{} is denied | failure\n---\n\n{}\n",
            at % 500,
            at % 500,
            at % 500,
            at % 500,
            at % 500,
            "Read the case before you act on it. ".repeat(20),
        );
        std::fs::write(directory.join("SKILL.md"), text)?;
    }
    Ok(())
}

/// The resident set in bytes, where the system tells it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

fn main() {
    let registry: Vec<String> = (0..500).flat_map(|at| [format!("find_{at}"), format!("pay_{at}")]).collect();
    println!("skills  seconds  milliseconds each  bytes each");
    for count in [100, 1_000, 10_000] {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        generate(folder.path(), count).unwrap_or_else(|error| panic!("{error}"));
        let options =
            RunbookOptions { limits: Limits { directories: count, ..Limits::default() }, ..RunbookOptions::default() };
        let before = resident();
        let began = Instant::now();
        let runbook =
            Runbook::load_with(folder.path(), &registry, &options).unwrap_or_else(|report| panic!("{report}"));
        let seconds = began.elapsed().as_secs_f64();
        let each = resident().zip(before).map(|(now, before)| now.saturating_sub(before) / count as u64);
        let each = each.map_or("?".to_owned(), |each| each.to_string());
        println!("{count:>6}  {seconds:>7.2}  {:>17.3}  {each:>10}", seconds * 1_000.0 / count as f64);
        assert_eq!(runbook.skills().count(), count);
    }
}
