use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [lookup_order],
        }

        entry billing when |message| message.;
        route billing -> billing on lookup_order when |result|;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
