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

        skill audit { description: "No leaf", body: "Audit.", tools: [find] }

        tree {
            if intent("money", ["refund"]) { billing } else { triage }
        }
        never_routes: ["what is the weather"];
        classify: keyword;
        route triage ~> billing;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
