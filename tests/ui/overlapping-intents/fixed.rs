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

        entry triage when intent("tracking a parcel", ["where is my parcel"]);
        entry billing when intent("refund of money", ["refund me", "refund the money for my order"]);
        classify: keyword;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
