use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn }

        skill triage {
            description: "Start",
            body: "Ask.",
        }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [lookup_order],
        }

        entry triage;
        route triage -> billing on any;
        route triage -> billing when |_| true;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
