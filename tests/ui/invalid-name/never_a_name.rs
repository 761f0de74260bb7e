use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { self: dyn, lookup_order: dyn }

        skill _ {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [lookup_order],
        }

        skill crate {
            description: "Crates",
            body: "Be exact.",
        }

        entry crate;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
