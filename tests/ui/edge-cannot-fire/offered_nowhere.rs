use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn, get_invoice: dyn }

        skill triage {
            description: "Start",
            body: "Ask.",
            tools: [issue_refund],
        }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [lookup_order],
        }

        entry triage;
        route triage -> billing on any[issue_refund, get_invoice];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
