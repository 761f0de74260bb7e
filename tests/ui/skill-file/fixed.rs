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
        skill refunds from "skill-file/skills/refunds/SKILL.md";

        entry triage;
        route triage -> refunds on lookup_order;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
