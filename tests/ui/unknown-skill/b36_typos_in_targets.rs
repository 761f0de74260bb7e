use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { find_order: dyn, pay: dyn }

        skill triage {
            description: "Start",
            body: "Ask.",
            tools: [find_order],
            steps: [find_ordr: "find it"],
        }

        skill billing {
            description: "Money",
            body: "Be exact.",
            tools: [pay],
        }

        entry triage;
        entry bilng when keywords["refund"];
        route triage -> biling on find_order;
        route triage -> billing on find_ordre;
        route triage -> billing on pay;
        route traige ~> billing;
        route triage ~> find_order;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
