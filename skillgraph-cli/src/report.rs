//! What a check came to, for people and as JSON.

use std::path::Path;

use serde_json::json;
use skillgraph_core::runbook::Runbook;
use skillgraph_core::suggest::counted;
use skillgraph_core::text::printable;
use skillgraph_core::{Level, Report};

/// Each finding with its line, then how many there are.
pub(crate) fn text(folder: &Path, runbook: Option<&Runbook>, report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let level = level_name(finding.level);
        text.push_str(&format!("{level}: {} [{}]\n", printable(&finding.message), finding.code));
        match &finding.excerpt {
            Some(excerpt) => text.push_str(&format!("{excerpt}\n")),
            None => text.push_str(&format!(" --> {}\n", printable(&finding.at))),
        }
        if let Some(help) = &finding.help {
            text.push_str(&format!("  help: {}\n", printable(help)));
        }
        for note in &finding.notes {
            text.push_str(&format!("  note: {}\n", printable(&note.to_string())));
        }
        text.push('\n');
    }
    for note in runbook.map(Runbook::notes).unwrap_or_default() {
        text.push_str(&format!("info: {}\n --> {}\n\n", printable(&note.message), printable(&note.at)));
    }
    let count = |level| report.findings.iter().filter(|finding| finding.level == level).count();
    let (errors, warnings) = (count(Level::Refusal), count(Level::Warning));
    let skills = runbook.map(|runbook| counted(runbook.skills().count(), "skill"));
    let said = skills.into_iter().chain([counted(errors, "error"), counted(warnings, "warning")]);
    text.push_str(&format!("{}: {}\n", printable(&folder.to_string_lossy()), said.collect::<Vec<_>>().join(", ")));
    text
}

/// The findings, and what is worth knowing.
pub(crate) fn json(runbook: Option<&Runbook>, report: &Report) -> Result<String, String> {
    let skills: Option<Vec<&str>> =
        runbook.map(|runbook| runbook.skills().map(|skill| skill.name.text.as_str()).collect());
    let object = json!({
        "skills": skills,
        "findings": report.findings,
        "undecided": report.undecided,
        "notes": runbook.map(Runbook::notes).unwrap_or_default(),
    });
    serde_json::to_string_pretty(&object).map_err(|error| error.to_string())
}

/// The usual word for a level, SARIF's too.
pub(crate) fn level_name(level: Level) -> &'static str {
    match level {
        Level::Refusal => "error",
        Level::Warning => "warning",
    }
}
