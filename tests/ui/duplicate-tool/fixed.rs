use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, find_order: dyn }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [lookup_order],
        }

        entry billing;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
