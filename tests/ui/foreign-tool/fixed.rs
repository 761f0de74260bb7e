use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn }

        skill triage {
            description: "Start",
            body: "Ask.",
            tools: [lookup_order, issue_refund],
            steps: [issue_refund: "pay at once"],
        }

        entry triage;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
