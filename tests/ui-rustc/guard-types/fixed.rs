use serde::Serialize;
use skillgraph::{skill_graph, tool};

#[derive(Serialize)]
pub struct Refund {
    amount: Option<u32>,
    state: String,
    tags: Vec<String>,
    customer: Option<Customer>,
}

#[derive(Serialize)]
pub struct Customer {
    name: String,
}

/// Pays money back.
#[tool]
async fn issue_refund() -> Result<Refund, String> {
    Err("closed".into())
}

skill_graph! {
    graph support {
        tools { issue_refund: IssueRefund }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact.",
            tools: [issue_refund],
        }
        skill escalation {
            description: "A person takes over",
            body: "Hand over.",
        }

        entry billing;
        route billing -> escalation on issue_refund where amount > 500;
        route billing -> escalation on issue_refund where state == "late" && customer.name == "x";
        route billing -> escalation on issue_refund where amount in [1, 2] && customer.name not in ["x", "y"];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
