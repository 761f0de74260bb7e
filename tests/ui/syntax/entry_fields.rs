use skillgraph::skill_graph;

skill_graph! {
    graph payments {
        tools { pay: dyn }

        skill payout {
            description: "Pay out",
            body: "Pay.",
            tools: [pay],
        }

        entry payout when keywords["pay"] { exmples: ["pay me"], picked: nevr, picked: never }
    }
}

fn main() {
    let _ = &payments::GRAPH;
}
