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

        entry triage;
        entry billing when intent("the user wants money back", ["refund please", "I want my money back"]);
        classify: keyword;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
