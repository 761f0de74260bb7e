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
        route billing -> escalation on issue_refund where amuont > 500;
        route billing -> escalation on issue_refund where state > 500 && customer.nmae == "x";
        route billing -> escalation on issue_refund where tags == "late" || amount == true;
        route billing -> escalation on issue_refund where tags == "late" && amount == true;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
