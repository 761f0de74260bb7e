use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn }

        skill audit_log {
            description: "Read the audit log",
            body: "Read.",
        }

        skill trail = "audit-trail" {
            description: "Read the trail",
            body: "Read.",
        }

        entry audit_log;
        entry trail when keywords["trail"];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
