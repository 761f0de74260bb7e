//! The desk itself: the graph, and an agent of it over a copy of the order book.

use std::sync::Arc;

use skillgraph::{Agent, Model, skill_graph};

use crate::order_book::{IssueRefund, LookupOrder, OpenTicket, OrderBook, TrackParcel};

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

/// An agent of the desk, and the folder of its order book, which lasts as long as it is kept.
pub fn agent(model: impl Model) -> Result<(Agent, tempfile::TempDir), Box<dyn std::error::Error>> {
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
    let agent = support::agent(tools).model(model).system("You are the support desk of a web shop.").build()?;
    Ok((agent, folder))
}
