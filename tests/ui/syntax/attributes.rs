use skillgraph::skill_graph;

skill_graph! {
    graph support {
        #[cfg(feature = "audit")]
        tools { lookup_order: dyn }

        #[allow(dead_code)]
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
