use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [lookup_order],
        }

        entry billing when keywords[];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
