#![deny(deprecated)]

use skillgraph::skill_graph;

skill_graph! {
    #[allow(skillgraph::no_negative_evidence)]
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

        skill shipping { description: "Parcels", body: "Track.", tools: [find] }

        entry billing when keywords["refund"];
        entry triage when matches("(?s).*");
        entry shipping when matches("(?i)parcel");
        route billing -> triage on pay;
        route triage -> shipping on find;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
