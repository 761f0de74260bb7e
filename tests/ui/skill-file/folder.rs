use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn, get_invoice: dyn }
        baseline: [get_invoice];

        skill triage {
            description: "Where a conversation starts",
            body: "Find out what the user needs.",
            tools: [lookup_order],
        }
        skills from "skill-file/team";

        entry triage;
        route triage -> refunds on lookup_order;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
