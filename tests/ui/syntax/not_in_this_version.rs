use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact.",
            tools: [lookup_order],
            surface: tool_result,
        }

        skill escalation from "skills/escalation/SKILL.md";

        entry billing when intent("money", ["refund please"]);
        entry billing { examples: ["refund"] }
        never_routes: ["what's the weather"];
        require lookup_order after lookup_order;
        route billing -> escalation on lookup_order where amount > 500;
        governor { ping_pong: 4, then: stop }
    }
}

fn main() {
    let _ = &support::GRAPH;
}
