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

        skill audit { description: "Audit", body: "Audit.", tools: [find] }

        entry triage when matches("(?i)cat");
        entry billing when keywords["dog"];
        entry audit when matches("^(?:dog|wildcat)$");
        never_routes: ["sun"];
        route triage -> billing on find;
        route billing -> audit on pay;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
