#![deny(deprecated)]

use skillgraph::skill_graph;

skill_graph! {
    #[allow(skillgraph::skill_wraps_one_tool)]
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

        skill refunds { description: "Refunds", body: "Pay back.", tools: [find] }
        skill shipping { description: "Parcels", body: "Track.", tools: [find] }
        skill parcels { description: "Parcels again", body: "Track more.", tools: [find] }

        entry billing when keywords["refund", "charge"];
        entry refunds when keywords["refund"];
        entry shipping when matches("(?i)parcel");
        entry parcels when matches("(?i)parcel");
        entry triage when |message| message.is_empty();
        entry billing when keywords["empty"];
        never_routes: ["what is the weather"];
        route billing -> refunds on pay;
        route refunds -> shipping on find;
        route shipping -> parcels on find;
        route parcels -> triage on find;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
