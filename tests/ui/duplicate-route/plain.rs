use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn }

        skill triage {
            description: "Start",
            body: "Ask.",
            tools: [lookup_order, issue_refund],
        }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [lookup_order],
        }

        entry triage;
        route triage -> billing on lookup_order;
        route triage -> billing on lookup_order;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
