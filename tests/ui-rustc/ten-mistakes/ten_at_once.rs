use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn, issue_refund: dyn }
        baseline: [serch_docs];

        skill triage {
            description: "",
            body: "Call {lookup_ordr} first.",
            tools: [lookup_order],
            steps: [issue_refund: "pay back"],
        }
        skill billing {
            description: "Refunds and charges",
            body: "Be exact.",
            tools: [issue_refund],
        }

        entry triage;
        entry biling when keywords["refund"];
        entry billing when matches("refund(") { examples: ["money"] }
        entry billing when keywords["charge"] { examples: ["a charge", "charged"] }
        route triage -> billing on issue_refund;
        route billing -> triage on issue_refund where amount > 500 && amount < 100;
        route billing -> triage on issue_refund is deny;
    }
}

fn main() {
    let _ = support::skill::billing;
    let not_a_number: u32 = support::tool::lookup_order.as_str();
}
