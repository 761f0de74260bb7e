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

        entry triage when keywords["where"] { examples: ["where is it?"] }
        entry billing when keywords["refund"] { examples: ["refund please"] }
        never_routes: ["where is it?"];
        never_routes: ["refund please"];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
