use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn }

        skil billing {
            description: "Refunds",
            body: "Be exact.",
            tools: [lookup_order],
        }

        skill triage {
            description: "Start",
            bodi: "Ask.",
            tools: [lookup_order],
            steps: [lookup_order: "look first"],
            on_skip: holt,
            colour: red,
        }

        entry triage when keyword["refund"];
        entry billing when contains("refund");
        route triage -> billing on lookup_order is denid;
        guard triage;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
