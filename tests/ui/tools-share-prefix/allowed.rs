#![deny(deprecated)]

use skillgraph::skill_graph;

skill_graph! {
    #[allow(skillgraph::tools_share_prefix)]
    graph support {
        tools { crm_find: dyn, crm_pay: dyn, crm_note: dyn, other: dyn }

        skill one {
            description: "About one",
            body: "Read what the customer wrote before anything else, look up every order that they name, compare the dates and the amounts, and say plainly what can be done and what cannot.",
            tools: [crm_find, crm_pay, crm_note],
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

        entry one;
        route one -> two on crm_find;
        route two -> three on other;
        route three -> four on other;
        route four -> five on other;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
