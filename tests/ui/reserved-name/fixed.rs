use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, skip = "skip_one": dyn }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [lookup_order],
        }

        skill stay = "stay-here" {
            description: "Stay here",
            body: "Stay.",
        }

        entry billing;
        route billing ~> stay;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
