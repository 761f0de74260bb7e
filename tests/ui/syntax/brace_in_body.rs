use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn }

        skill billing {
            description: "Refunds and charges",
            body: "Look first.
        Then answer with { \"amount\": 12 }.",
            tools: [lookup_order],
        }

        entry billing;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
