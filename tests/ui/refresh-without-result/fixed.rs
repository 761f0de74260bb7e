use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn }

        skill triage {
            description: "Where a conversation starts",
            body: "Be exact about amounts.",
            tools: [lookup_order],
        }
        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            surface: both,
            refresh: every 3 iterations,
        }

        entry triage;
        route triage -> billing on lookup_order;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
