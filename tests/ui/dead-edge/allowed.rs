#![deny(deprecated)]

use skillgraph::skill_graph;

skill_graph! {
    #[allow(skillgraph::dead_edge, skillgraph::unreachable_skill)]
    graph support {
        tools { find: dyn, pay: dyn }

        skill triage {
            description: "About triage",
            body: "Ask.",
            tools: [find],
        }
        skill billing {
            description: "About billing",
            body: "Ask.",
            tools: [pay],
        }

        entry triage;
        route billing -> triage on pay;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
