use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [track_parcel],
        }

        entry billing;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
