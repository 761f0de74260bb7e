use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools {}

        skill audit_log {
            description: "Read the audit log",
            body: "Read.",
        }

        skill r#match = "audit-log" {
            description: "Matches",
            body: "Match.",
        }

        entry audit_log;
        route audit_log ~> match;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
