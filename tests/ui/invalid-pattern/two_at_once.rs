use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [lookup_order],
        }

        entry billing when all[matches("[z-a]"), matches("(?P<n>a)(?P<n>b)")];
        entry billing when matches(r"(\w{200}){200}");
    }
}

fn main() {
    let _ = &support::GRAPH;
}
