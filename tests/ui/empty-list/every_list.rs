use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            steps: [],
            tools: [lookup_order],
        }

        entry billing when all[];
        entry billing when all[keywords[], matches("x")];
        route billing -> billing on any[];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
