#![deny(deprecated)]

use skillgraph::skill_graph;

skill_graph! {
    #[allow(skillgraph::few_declared_edges, skillgraph::one_way_entries)]
    graph support {
        tools { crm_find: dyn, crm_pay: dyn, crm_note: dyn, other: dyn }

        skill one {
            description: "About one",
            body: "Read what the customer wrote before anything else, look up every order that they name, compare the dates and the amounts, and say plainly what can be done and what cannot.",
            tools: [crm_find, crm_pay, crm_note, other],
        }
        skill two {
            description: "About two",
            body: "Read what the customer wrote before anything else, look up every order that they name, compare the dates and the amounts, and say plainly what can be done and what cannot.",
            tools: [other],
        }
        skill three {
            description: "About three",
            body: "Read what the customer wrote before anything else, look up every order that they name, compare the dates and the amounts, and say plainly what can be done and what cannot.",
            tools: [other],
        }
        skill four {
            description: "About four",
            body: "Read what the customer wrote before anything else, look up every order that they name, compare the dates and the amounts, and say plainly what can be done and what cannot.",
            tools: [other],
        }
        skill five {
            description: "About five",
            body: "Read what the customer wrote before anything else, look up every order that they name, compare the dates and the amounts, and say plainly what can be done and what cannot.",
            tools: [other],
        }

        never_routes: ["what is the weather"];
        entry one;
        entry two when keywords["b"];
        entry three when keywords["c"];
        entry four when all[keywords["d"], |m| m.len() > 3];
        entry five when keywords["e"];
        route two -> one on other;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
