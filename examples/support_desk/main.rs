//! A support desk: four skills, tools on a small order book, and a model that needs no network.
//!
//! ```text
//! cargo run --example support_desk -- "I was charged twice for order 1042"
//! cargo run --example support_desk -- --trace "Where is my parcel? It is order 1043"
//! cargo run --example support_desk
//! cargo run --example support_desk -- --model claude-sonnet-4-6 "I was charged twice for order 1042"
//! ```

mod desk;
mod order_book;
mod stand_in;
mod trace;

use std::io::{BufRead, Write};
use std::process::{Command, ExitCode};

use skillgraph::{Conversation, Outcome};
use stand_in::StandIn;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut trace = false;
    let mut words = Vec::new();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--model") {
        return with_a_real_model(&arguments);
    }
    for argument in arguments {
        match argument.as_str() {
            "--trace" => trace = true,
            _ => words.push(argument),
        }
    }

    let (agent, _folder) = desk::agent(StandIn)?;
    let mut conversation = agent.conversation();
    if trace {
        conversation.on_event(trace::print);
    }

    if !words.is_empty() {
        answer(&mut conversation, &words.join(" ")).await?;
        return Ok(ExitCode::SUCCESS);
    }
    println!("What can I do for you? (an empty line ends)");
    let mut lines = std::io::stdin().lock().lines();
    loop {
        print!("> ");
        std::io::stdout().flush()?;
        match lines.next().transpose()?.filter(|line| !line.trim().is_empty()) {
            Some(line) => answer(&mut conversation, &line).await?,
            None => return Ok(ExitCode::SUCCESS),
        }
    }
}

/// The same desk in the crate of the provider adapter, whose dependencies nobody else builds.
fn with_a_real_model(arguments: &[String]) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["run", "--quiet", "--package", "skillgraph-genai", "--example", "desk_with_model", "--"])
        .args(arguments);
    let succeeded = command.current_dir(env!("CARGO_MANIFEST_DIR")).status()?.success();
    Ok(if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Sends a message; prints the answer and the way to it.
async fn answer(conversation: &mut Conversation, message: &str) -> Result<(), Box<dyn std::error::Error>> {
    let report = conversation.send(message).await?;
    match &report.outcome {
        Outcome::Answered { text } => println!("{text}"),
        other => println!("The turn ended without an answer: {other:?}"),
    }
    let hops = report.route();
    let moves = hops.hops().iter().filter(|hop| hop.from != hop.to).filter_map(|hop| Some((hop.to.as_ref()?, hop.by)));
    println!("  ({})", moves.map(|(to, by)| format!("{to}, by {by}")).collect::<Vec<_>>().join("; then "));
    Ok(())
}
