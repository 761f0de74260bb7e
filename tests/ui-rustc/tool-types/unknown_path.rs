use skillgraph::skill_graph;

/// Looks an order up.
#[skillgraph::tool]
async fn lookup_order() -> Result<u32, std::convert::Infallible> {
    Ok(1042)
}

/// Refunds an order.
#[skillgraph::tool]
async fn issue_refund() -> Result<u32, std::convert::Infallible> {
    Ok(1)
}

skill_graph! {
    graph support {
        tools { lookup_order: LookupOrdr, issue_refund: orders::IssueRefund }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [lookup_order],
        }

        entry billing;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
