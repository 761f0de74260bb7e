skillgraph::skill_graph! {
    pub graph support {
        tools { lookup_order: dyn, issue_refund: dyn, get_invoice: dyn }

        skill triage {
            description: "Start: work out what the user needs",
            body: "Find out what the user needs before you act.",
            tools: [get_invoice],
        }

        skill billing {
            description: "Refunds, charges and invoices",
            body: "Call {lookup_order} before you touch money.",
            tools: [lookup_order, issue_refnd],
            steps: [
                lookup_order: "look up the order before touching money",
                get_invoice: "then show the invoice",
            ],
        }

        entry triage;
        route triage -> billing on lookup_order;
    }
}

fn main() {}
