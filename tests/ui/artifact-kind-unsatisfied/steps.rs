#![deny(deprecated)]

use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { find: dyn, pay: dyn }

        skill triage {
            description: "Find out what the user needs",
            body: "Ask.",
            tools: [find],
            steps: [find: "first" produces [order]],
        }
        skill billing {
            description: "Refunds and charges",
            body: "Be exact.",
            tools: [pay],
            consumes: [order],
            steps: [pay: "then" consumes [ordr]],
        }

        entry triage;
        route triage -> billing on find;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
