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

        entry triage when matches("refund(?!s)");
        entry billing when matches(r"(a)\1");
        entry billing when matches("(refund");
        entry billing when matches("");
        entry billing when matches(r"\w{1000}{1000}");
        entry billing when matches("/refund/gi");
        entry billing when matches("/api/v1");
    }
}

fn main() {
    let _ = &support::GRAPH;
}
