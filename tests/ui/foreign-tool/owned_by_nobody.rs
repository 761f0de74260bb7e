use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn }

        skill triage {
            description: "Start",
            body: "Ask.",
            tools: [lookup_order],
            steps: [lookup_order: "look first", issue_refund: "then pay"],
        }

        entry triage;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
