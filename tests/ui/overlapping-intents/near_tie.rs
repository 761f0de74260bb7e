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

        entry triage when intent("reader borrows", ["reader loan", "borrow this"]);
        entry billing when intent("reader pays", ["pay this"]);
        classify: keyword { margin: 0.5 }
    }
}

fn main() {
    let _ = &support::GRAPH;
}
