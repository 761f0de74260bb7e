//! The support desk of the main example, with a real model, streamed.
//!
//! ```text
//! cargo run --example support_desk -- --model gpt-5-mini "I was charged twice for order 1042"
//! cargo run --example support_desk -- --model smollm2 --endpoint http://127.0.0.1:18090/v1 --constrained "Refund order 1042"
//! ```

#[path = "../../../examples/support_desk/desk.rs"]
mod desk;
#[path = "../../../examples/support_desk/order_book.rs"]
mod order_book;
#[path = "../../../examples/support_desk/trace.rs"]
mod trace;

use std::io::Write;
use std::process::ExitCode;

use skillgraph::{Outcome, Piece, StreamItem};
use skillgraph_genai::GenaiModel;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let (mut name, mut endpoint, mut constrained, mut traced, mut words) = (None, None, false, false, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--model" => name = arguments.next(),
            "--endpoint" => endpoint = arguments.next(),
            "--constrained" => constrained = true,
            "--trace" => traced = true,
            _ => words.push(argument),
        }
    }
    let Some(name) = name else {
        eprintln!("usage: --model NAME [--endpoint URL] [--constrained] [--trace] MESSAGE");
        return Ok(ExitCode::FAILURE);
    };
    let mut model = GenaiModel::new(name).max_tokens(1_000);
    if let Some(endpoint) = endpoint {
        model = model.endpoint(endpoint);
    }
    if constrained {
        model = model.constrained();
    }
    let (agent, _folder) = desk::agent(model.build()?)?;
    let mut conversation = agent.conversation();
    if traced {
        conversation.on_event(trace::print);
    }
    let mut stream = conversation.stream(words.join(" "));
    while let Some(item) = stream.next().await {
        match item {
            StreamItem::Piece(Piece::Text(text)) => print!("{text}"),
            StreamItem::Ended(Ok(report)) if matches!(report.outcome, Outcome::Answered { .. }) => println!(),
            StreamItem::Ended(Ok(report)) => println!("\nThe turn ended without an answer: {:?}", report.outcome),
            StreamItem::Ended(Err(error)) => {
                eprintln!("{error}. Without a key: `cargo run --example support_desk`");
                return Ok(ExitCode::FAILURE);
            }
            _ => {}
        }
        std::io::stdout().flush()?;
    }
    Ok(ExitCode::SUCCESS)
}
