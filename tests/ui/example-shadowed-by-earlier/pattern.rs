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

        entry triage when matches(r"(?i)\border\b");
        entry billing when all[keywords["refund"], |message| message.len() > 3] { examples: ["refund my ORDER"] }
    }
}

fn main() {
    let _ = &support::GRAPH;
}
