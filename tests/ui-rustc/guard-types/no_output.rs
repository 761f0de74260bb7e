use serde::Serialize;
use skillgraph::{skill_graph, tool};

#[derive(Serialize)]
pub struct Refund {
    amount: u32,
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
        route billing -> escalation on issue_refund is denied | failure where amount > 500;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
