use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, search_docs: dyn }
        baseline: [search_docs, search_docs];

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [lookup_order, lookup_order],
        }

        entry billing;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
