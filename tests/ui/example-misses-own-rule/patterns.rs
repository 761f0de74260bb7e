use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { find: dyn, pay: dyn }

        skill triage {
            description: "Find out what the user needs",
            body: "Ask.",
            tools: [find],
        }
        skill billing {
            description: "Refunds and charges",
            body: "Be exact.",
            tools: [pay],
        }

        entry triage when matches(r"(?i)^where") { examples: ["Where is it?", "tell me where it is"] }
        entry billing when all[keywords["refund"], matches("[0-9]")] { examples: ["refund order 7", "refund order seven"] }
    }
}

fn main() {
    let _ = &support::GRAPH;
}
