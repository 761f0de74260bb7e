#![deny(deprecated)]

use skillgraph::skill_graph;

skill_graph! {
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
        skill shipping {
            description: "About shipping",
            body: "Ask.",
            tools: [find],
        }

        never_routes: ["what is the weather"];
        entry triage when keywords["hello"];
        entry billing when keywords["refund"];
        entry shipping when keywords["parcel"];
        route shipping -> triage on find;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
