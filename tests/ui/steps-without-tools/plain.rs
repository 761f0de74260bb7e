use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            steps: [lookup_order: "look first", issue_refund: "then pay", lookup_order: "look again"],
        }

        entry billing;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
