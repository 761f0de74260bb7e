#![deny(deprecated)]

use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { find: dyn, pay: dyn }

        skill triage {
            description: "Find out what the user needs",
            body: "Ask.",
            tools: [find],
            produces: [order, receipt],
        }
        skill billing {
            description: "Refunds and charges",
            body: "Be exact.",
            tools: [pay],
            consumes: [receipt],
        }

        entry triage;
        route triage -> billing on find;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
