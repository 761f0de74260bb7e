use skillgraph::skill_graph;

skill_graph! {
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

        entry triage;
        entry billing when keywords["refund"];
        route triage -> billing on find where amount = 5;
        route triage -> billing on find where amount > limit();
        route triage -> billing on find where amount > 500u32;
        route triage -> billing on find where state not ["open"];
        route triage -> billing on find where amount > 5 || vip == true;
        route triage -> billing on find where amount > 5 when |out| true;
        route triage -> billing on find where > 5;
        route triage -> billing on find where state in [open!(), "late"];
        route triage -> billing on find where amount;
        route triage -> billing on find where amount > 99999999999999999999;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
