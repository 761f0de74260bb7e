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

        entry triage { exampels: ["hello"] }
        entry billing when keywords["refund"] { labels: ["refund"] }
        entry billing when keywords["charge"] { examples: [charge, "charge me"] }
        entry billing when keywords["invoice"] { }
        entry billing when keywords["pay"] { examples: ["pay"] } as "late";
        never_routes: "weather";
        never_routes: ["weather"]
    }
}

fn main() {
    let _ = &support::GRAPH;
}
