use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn, get_invoice: dyn, search_docs: dyn, open_ticket: dyn }
        baseline: [search_docs];

        skill triage {
            description: "Start",
            body: "Ask.",
            tools: [lookup_order],
        }

        skill billing {
            description: "Refunds and charges",
            body: "Be exact about amounts.",
            tools: [issue_refund],
            scope: always,
        }

        // No entry or edge mentions it: the model can open it anywhere.
        skill tickets {
            description: "Tickets",
            body: "Be brief.",
            tools: [open_ticket],
        }

        entry triage;
        route triage -> billing on lookup_order;
        route triage -> billing on search_docs;
        route triage -> billing on issue_refund;
        route triage -> billing on open_ticket;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
