#![deny(deprecated)]

use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { find: dyn, pay: dyn }

        skill triage {
            description: "About triage",
            body: "Call {find} first.",
            tools: [find, pay],
        }

        entry triage;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
