#![deny(deprecated)]

use skillgraph::skill_graph;

skill_graph! {
    #[allow(skillgraph::skill_wraps_one_tool)]
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

        skill orphan { description: "No way in", body: "Wait.", tools: [find, pay] }
        skill lost { description: "No way in", body: "Wait.", tools: [find] }
        skill loster { description: "Behind the lost", body: "Wait.", tools: [find] }
        skill itself { description: "Only its own", body: "Wait.", tools: [find] }

        entry triage;
        route triage -> billing on find;
        route lost -> loster on find;
        route itself -> itself on find;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
