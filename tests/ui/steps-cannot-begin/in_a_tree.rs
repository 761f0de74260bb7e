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
            steps: [pay: "first"],
        }

        tree {
            if keywords["refund"] { billing } else { triage }
        }
    }
}

fn main() {
    let _ = &support::GRAPH;
}
