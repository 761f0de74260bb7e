use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, push = "git_push": dyn }

        skill Billing = "billing" {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [lookup_order],
        }

        entry Billing;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
