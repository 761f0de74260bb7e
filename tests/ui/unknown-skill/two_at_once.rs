use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { get_invoice: dyn }

        skill triage {
            description: "Start",
            body: "Ask.",
            tools: [get_invoice],
        }

        skill audit_log = "audit" {
            description: "Read the audit log",
            body: "Read.",
        }

        entry triage;
        route triag -> get_invoice on get_invoice;
        route triage ~> audit;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
