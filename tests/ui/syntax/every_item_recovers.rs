use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order, issue_refund: dyn }
        baseline: issue_refund;

        skill billing
            description: "Refunds",

        skill triage {
            description: Start,
            body: "Ask.",
            tools: ["issue_refund", issue_refund],
            steps: [issue_refund "why"],
        }

        entry triage when;
        route triage -> ;
        route triage issue_refund triage;
        route triage -> triage;
        route triage ~> triage as;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
