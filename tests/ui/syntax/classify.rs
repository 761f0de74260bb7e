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

        entry triage when intent("nothing");
        entry triage when intent(money, ["x"]);
        entry billing when intent("money", [refund, "refund"]) as "money";
        entry billing when intent("money", ["refund"], "more");
        entry billing when pickd;
        classify: keywrd;
        classify: host { margin: 2, menu: 1, flor: 0.5, floor: high }
        classify: keyword { margin: 0.1 };
    }
}

fn main() {
    let _ = &support::GRAPH;
}
