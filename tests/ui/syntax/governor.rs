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

        entry triage;
        entry billing when keywords["refund"];
        governor { ping_pong: 0, refusal: 2, repeats: many, then: halt }
        governor { then: escalate(larger) }
        governor { limit: 3, then: escalate("") }
    }
}

fn main() {
    let _ = &support::GRAPH;
}
