//! Checks and draws folders of runbooks, for people who keep them without Rust. The reader, the check-up and the
//! drawing are those of the library.
// SPEC 12.

mod report;
mod sarif;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use skillgraph_core::graph::Graph;
use skillgraph_core::runbook::{Runbook, RunbookOptions};
use skillgraph_core::skill_file::Limits;
use skillgraph_core::suggest::closest;
use skillgraph_core::text::printable;
use skillgraph_core::{Code, Level, Report};

/// Checks and draws folders of SKILL.md files.
#[derive(Parser)]
#[command(name = "skillgraph", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Says everything that is wrong with the skills of a folder; the exit status is 1 where something is.
    Check {
        /// The folder: each folder in it with a SKILL.md is a skill.
        folder: PathBuf,
        /// A file with the names of the tools that there are, one a line; without it every tool that is named exists.
        #[arg(long, value_name = "FILE")]
        tools: Option<PathBuf>,
        /// How it is said.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        /// Fail on warnings too.
        #[arg(long)]
        deny_warnings: bool,
        /// Say nothing of this warning, such as `body-foreign-tool`; can be given several times.
        #[arg(long, value_name = "CODE", value_parser = warning)]
        allow: Vec<Code>,
        /// Check what is sound, and refuse the rest skill by skill. A name that differs from its directory's is a warning then.
        #[arg(long)]
        lenient: bool,
        #[command(flatten)]
        reach: Reach,
    },
    /// Draws the skills of a folder and the edges between them.
    Draw {
        /// The folder.
        folder: PathBuf,
        /// For which program.
        #[arg(long, value_enum, default_value_t = Drawing::Mermaid)]
        format: Drawing,
        #[command(flatten)]
        reach: Reach,
    },
}

/// How much of a folder is read.
#[derive(clap::Args)]
struct Reach {
    /// The most folders that are read.
    #[arg(long, default_value_t = Limits::default().directories, value_name = "N")]
    max_folders: usize,
    /// How many levels below the folder skills may stand.
    #[arg(long, default_value_t = Limits::default().depth, value_name = "N")]
    depth: usize,
}

impl Reach {
    fn limits(&self) -> Limits {
        Limits { directories: self.max_folders, depth: self.depth, ..Limits::default() }
    }
}

/// The warning of that code.
fn warning(code: &str) -> Result<Code, String> {
    let warnings = || Code::ALL.iter().filter(|code| code.level() == Level::Warning);
    if let Some(found) = warnings().find(|known| known.as_str() == code) {
        return Ok(*found);
    }
    if Code::ALL.iter().any(|known| known.as_str() == code) {
        return Err("it is an error: what breaks it cannot run".to_owned());
    }
    Err(match closest(code, warnings().map(|code| code.as_str())) {
        Some(near) => format!("there is no such warning; did you mean `{near}`?"),
        None => "there is no such warning".to_owned(),
    })
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For people: each finding with its line.
    Text,
    /// One JSON object.
    Json,
    /// SARIF 2.1.0, for code hosts that show findings beside the lines.
    Sarif,
}

#[derive(Clone, Copy, ValueEnum)]
enum Drawing {
    /// Mermaid.
    Mermaid,
    /// JSON: the graph as data.
    Json,
}

/// Something is wrong with the folder.
const FOUND: u8 = 1;
/// The command could not do its work.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {}", printable(&message));
            ExitCode::from(FAILED)
        }
    }
}

fn run(arguments: Arguments) -> Result<ExitCode, String> {
    match arguments.command {
        Command::Check { folder, tools, format, deny_warnings, allow, lenient, reach } => {
            let registry = tools.as_deref().map(read_tools).transpose()?;
            let (runbook, mut report) = load(&folder, registry.as_deref(), &reach, lenient);
            report.findings.retain(|finding| finding.level == Level::Refusal || !allow.contains(&finding.code));
            let text = match format {
                Format::Text => report::text(&folder, runbook.as_ref(), &report),
                Format::Json => report::json(runbook.as_ref(), &report)?,
                Format::Sarif => sarif::log(&report)?,
            };
            say(&text)?;
            let fails = |level| level == Level::Refusal || deny_warnings;
            let found = report.findings.iter().any(|finding| fails(finding.level));
            Ok(if found { ExitCode::from(FOUND) } else { ExitCode::SUCCESS })
        }
        Command::Draw { folder, format, reach } => {
            let (runbook, report) = load(&folder, None, &reach, false);
            let Some(runbook) = runbook else {
                eprint!("{}", report::text(&folder, None, &report));
                return Ok(ExitCode::from(FOUND));
            };
            let spec = runbook.spec(name_of(&folder));
            let drawn = match format {
                Drawing::Mermaid => {
                    let tools: Vec<&str> = runbook.tools().collect();
                    let graph = Graph::compile(&spec, &tools).map_err(|report| report.to_string())?;
                    skillgraph_core::draw::to_mermaid(graph.declaration())
                }
                Drawing::Json => serde_json::to_string_pretty(&spec).map_err(|error| error.to_string())?,
            };
            say(&drawn)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The skills, or what is wrong with them; in either case all that is to be said.
fn load(folder: &Path, registry: Option<&[String]>, reach: &Reach, lenient: bool) -> (Option<Runbook>, Report) {
    let options = RunbookOptions { limits: reach.limits(), beside: None, lenient, any_tool: registry.is_none() };
    progress(&format!("reading {}", printable(&folder.to_string_lossy())));
    let loaded = Runbook::load_with(folder, registry.unwrap_or_default(), &options);
    progress("");
    match loaded {
        Ok(runbook) => {
            let report = runbook.report().clone();
            (Some(runbook), report)
        }
        Err(report) => (None, report),
    }
}

/// Says what is going on to whoever watches, and to nobody else.
fn progress(text: &str) {
    let mut error = std::io::stderr();
    if error.is_terminal() {
        // Nothing depends on it.
        let _ = write!(error, "\r\x1b[2K{text}");
        let _ = error.flush();
    }
}

fn say(text: &str) -> Result<(), String> {
    let mut out = std::io::stdout();
    let newline = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    match write!(out, "{text}{newline}").and_then(|()| out.flush()) {
        // Whoever read it has enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        said => said.map_err(|error| format!("the output cannot be written: {error}")),
    }
}

fn read_tools(file: &Path) -> Result<Vec<String>, String> {
    let text =
        std::fs::read_to_string(file).map_err(|error| format!("`{}` cannot be read: {error}", file.display()))?;
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    Ok(lines.filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

fn name_of(folder: &Path) -> String {
    folder.file_name().map_or_else(|| "runbook".to_owned(), |name| name.to_string_lossy().into_owned())
}
