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
        route triage -> billing on any[lookup_order, issue_refund];
        route triage -> billing on any[issue_refund, lookup_order] is partial | success;
        route triage ~> billing;
        route triage ~> billing as "again";
    }
}

fn main() {
    let _ = &support::GRAPH;
}
