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

        entry triage when matches("(?i)weather");
        entry billing when all[matches("e"), keywords["rain"]];
        never_routes: ["Weather in Berlin", "will there be rain?", "sun"];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
