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
            surface: tool_result,
        }
        skill shipping {
            description: "Parcels on their way",
            body: "Be exact about amounts.",
            surface: tool_result,
        }

        entry triage;
        route triage ~> billing;
        route triage -> billing on lookup_order;
        route triage ~> shipping;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
