use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            on_skip: hold,
            steps: [lookup_order: "look first"],
            tools: [lookup_order],
        }

        entry billing;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
