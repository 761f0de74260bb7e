use skillgraph::skill_graph;

skill_graph! {
    graph payments {
        tools { pay: dyn }

        skill verify {
            description: "Find out who asks",
            body: "Ask.",
        }
        skill payout {
            description: "Pay out",
            body: "Pay.",
            tools: [pay],
        }

        entry verify;
        entry payout when picked { picked: never }
    }
}

fn main() {
    let _ = &payments::GRAPH;
}
