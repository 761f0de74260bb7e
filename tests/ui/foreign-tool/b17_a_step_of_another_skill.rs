use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { find: dyn, pay: dyn }

        skill triage {
            description: "Find out what the user needs",
            body: "Ask.",
            tools: [find],
            steps: [find: "look first", pay: "pay"],
        }
        skill billing {
            description: "Refunds and charges",
            body: "Be exact.",
            tools: [pay],
        }

        entry triage;
        entry billing when keywords["refund"];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
