use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn }

        skill triage {
            description: "Start",
            body: "Ask.",
            tools: [lookup_order],
            steps: [issue_refund: "pay at once"],
        }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [issue_refund],
        }

        entry triage;
        entry billing when keywords["refund"];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
