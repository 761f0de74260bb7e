//! A support desk: four skills, tools on a small order book, and a model that needs no network.
//!
//! ```text
//! cargo run --example support_desk -- "I was charged twice for order 1042"
//! cargo run --example support_desk -- --trace "Where is my parcel? It is order 1043"
//! cargo run --example support_desk
//! ```

mod order_book;
mod stand_in;
mod trace;

use std::io::{BufRead, Write};
use std::sync::Arc;

use order_book::{IssueRefund, LookupOrder, OpenTicket, OrderBook, TrackParcel};
use skillgraph::{Conversation, Outcome, skill_graph};
use stand_in::StandIn;

skill_graph! {
    /// Routes a support conversation.
    pub graph support {
        tools {
            lookup_order: LookupOrder,
            issue_refund: IssueRefund,
            track_parcel: TrackParcel,
            open_ticket: OpenTicket,
        }

        skill triage {
            description: "Start: work out what the user needs",
            body: "Find out what the user needs before you act. Ask for the order number if it is missing.",
        }

        /// Money goes out here.
        skill billing {
            description: "Refunds and double charges",
            body: "Call {lookup_order} before you touch money. Refund only what was charged too much.",
            tools: [lookup_order, issue_refund],
            steps: [
                lookup_order: "look up the order before touching money",
                issue_refund: "refund only what the lookup found",
            ],
            on_skip: hold,
        }

        skill shipping {
            description: "Where a parcel is",
            body: "Say where the parcel is. Promise nothing.",
            tools: [track_parcel],
        }

        skill escalation {
            description: "Hand over to a person",
            body: "Open a ticket and tell the user that a person will answer.",
            tools: [open_ticket],
        }

        entry triage;
        entry billing when keywords["refund", "charged twice", "double charge"] {
            examples: ["I was charged twice for order 1042", "A refund, please."],
        }
        entry shipping when keywords["parcel", "delivery", "where is my order"] { examples: ["Where is my order?"] }
        never_routes: ["What is the weather in Berlin?"];

        route billing -> escalation on issue_refund is denied as "too much for the desk";
        route triage ~> escalation;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut trace = false;
    let mut words = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--trace" => trace = true,
            _ => words.push(argument),
        }
    }

    // The book is written to, so every run has a copy of its own.
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("orders.json");
    std::fs::write(&path, include_str!("orders.json"))?;
    let book = Arc::new(OrderBook::open(path));

    let tools = support::Tools {
        lookup_order: LookupOrder(book.clone()),
        issue_refund: IssueRefund(book.clone()),
        track_parcel: TrackParcel(book.clone()),
        open_ticket: OpenTicket(book),
    };
    let agent = support::agent(tools).model(StandIn).system("You are the support desk of a web shop.").build()?;
    let mut conversation = agent.conversation();
    if trace {
        conversation.on_event(trace::print);
    }

    if !words.is_empty() {
        return answer(&mut conversation, &words.join(" ")).await;
    }
    println!("What can I do for you? (an empty line ends)");
    let mut lines = std::io::stdin().lock().lines();
    loop {
        print!("> ");
        std::io::stdout().flush()?;
        match lines.next().transpose()?.filter(|line| !line.trim().is_empty()) {
            Some(line) => answer(&mut conversation, &line).await?,
            None => return Ok(()),
        }
    }
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
