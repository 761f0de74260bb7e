use skillgraph::skill_graph;

skill_graph! {
    #[deny(skillgraph::no_negative_evidence)]
    graph support {
        tools { find: dyn, pay: dyn }

        skill triage {
            description: "Find out what the user needs",
            body: "Ask.",
            tools: [find],
        }
        skill billing {
            description: "Refunds and charges",
            body: "Be exact.",
            tools: [pay],
        }

        skill audit { description: "Audit", body: "Audit.", tools: [find] }

        entry triage when keywords["where"];
        entry billing when keywords["refund"];
        entry audit when keywords["audit"];
        route triage -> billing on find;
        route billing -> audit on pay;
        route audit -> triage on find;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
