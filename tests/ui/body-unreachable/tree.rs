use skillgraph::skill_graph;

skill_graph! {
    graph support {
        skill triage {
            description: "Where a conversation starts",
            body: "Be exact about amounts.",
        }
        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            surface: tool_result,
        }

        tree { if keywords["refund"] { billing } else { triage } }
    }
}

fn main() {
    let _ = &support::GRAPH;
}
