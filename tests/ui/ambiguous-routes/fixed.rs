#![deny(deprecated)]

use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { find: dyn, pay: dyn }

        skill triage {
            description: "About triage",
            body: "Ask.",
            tools: [find, pay],
        }
        skill billing {
            description: "About billing",
            body: "Ask.",
            tools: [pay],
        }
        skill shipping {
            description: "About shipping",
            body: "Ask.",
            tools: [find],
        }

        entry triage;
        route triage -> billing on any[find, pay];
        route triage -> shipping on find is absent;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
