use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { find: dyn, pay: dyn }

        skill triage {
            description: "Find out what the user needs",
            body: "Ask.",
            tools: [find],
            on_skip: hold,
        }
        skill billing {
            description: "Refunds and charges",
            body: "Be exact.",
            tools: [pay],
            steps: [pay: "pay", payy: ""],
        }

        skill empty { description: "No tools", body: "Wait.", steps: [find: "look"] }
        skill bare { description: "No steps", body: "Wait.", tools: [find], steps: [] }

        entry triage;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
