#![deny(deprecated)]

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

        entry triage when intent("the user asks where something is", ["where is my parcel", "Track it, please"]);
        entry billing when intent("the user wants money back", ["refund me"]);
        classify: host;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
