use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, refund = "issue_refund": dyn }
        baseline: [serch_docs];

        skill billing {
            description: "Refunds and charges",
            body: "Look first.
        Call {lookup_odrer}, then {refund}.",
            tools: [lookup_order, issue_refund],
            steps: [lookup_ordr: "look first", billing: "then pay"],
        }

        entry billing;
        route billing -> billing on any[lookup_order, weather];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
