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

        entry triage;
        entry billing when keywords["refund"];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
