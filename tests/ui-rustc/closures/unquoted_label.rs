use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn }

        skill triage {
            description: "Start",
            body: "Ask.",
            tools: [lookup_order],
        }
        skill billing {
            description: "Refunds and charges",
            body: "Be exact.",
        }

        entry triage;
        route triage -> billing on any when |result| result.status.is_done() as label;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
