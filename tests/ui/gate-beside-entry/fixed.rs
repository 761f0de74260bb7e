#![deny(deprecated)]

use skillgraph::skill_graph;

skill_graph! {
    graph payments {
        tools { check: dyn, pay: dyn }

        skill verify {
            description: "Find out who asks",
            body: "Find out who asks.",
            tools: [check],
        }
        skill payout {
            description: "Pay out",
            body: "Pay.",
            tools: [pay],
        }

        entry verify;
        entry payout when keywords["payout"] { picked: never }
        route verify -> payout on check where verified == true;
    }
}

fn main() {
    let _ = &payments::GRAPH;
}
