use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { find_order: dyn, pay: dyn }

        skill triage {
            description: "Start",
            body: "Ask.",
            tools: [find_order],
        }
        skill billing {
            description: "Money",
            body: "Be exact.",
            tool: [pay],
        }
        skill refunds {
            description: "Refunds",
            body: "Pay back.",
            tools: [find_]
        }

        entry triage;
        route triage -> billing on find_order;
        route billing -> refunds on pay;
    }
}

fn main() {
    let _: &str = support::skill::triage.as_str();
    let _ = [support::skill::billing, support::skill::refunds];
    let _ = support::tool::find_order;
    let _ = support::GRAPH.to_mermaid();
    let tools = |find_order, pay| support::Tools { find_order, pay };
    let _ = |find_order, pay| support::agent(tools(find_order, pay));
}
