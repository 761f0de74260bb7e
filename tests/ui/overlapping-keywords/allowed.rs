#![deny(deprecated)]

use skillgraph::skill_graph;

skill_graph! {
    #[allow(skillgraph::overlapping_keywords)]
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

        entry triage when keywords["where", "Charged  Twice"];
        entry billing when keywords["refund", "charged twice"];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
