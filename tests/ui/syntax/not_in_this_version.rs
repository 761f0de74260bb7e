use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact.",
            tools: [lookup_order],
            model: "large",
        }
        skill escalation {
            description: "Hand over",
            body: "Say that a person will answer.",
        }

        entry billing when keywords["refund"];
        require lookup_order after lookup_order;
        route billing -> escalation on lookup_order;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
