use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn, send_mail: dyn }

        skill triage {
            description: "Start",
            body: "Ask.",
            tools: [lookup_order],
            steps: [issue_refund: "pay", send_mail: "tell them"],
        }

        entry triage;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
