use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn }

        skill triage {
            description: "Start",
            body: "Ask.",
            tools: [issue_refund],
        }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            steps: [lookup_order: "look first"],
            tools: [lookup_order],
        }

        skill shipping {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            steps: [lookup_order: "look first"],
            tools: [lookup_order],
        }

        entry triage;
        route billing ~> shipping;
        route shipping ~> billing;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
