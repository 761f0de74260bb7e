use skillgraph::skill_graph;

skill_graph! {
    graph help-desk-two {
        tools { find: dyn, pay: dyn }
        skill one { description: "One", body: "One.", tools: [find, pay] }
        skill two { description: "Two", body: "Two." }
        entry one;
        route one -> two on find where amount > 5 is failure;
        route one -> two on find as "x" where amount > 5;
        route one -> two on find as "x" is failure;
        route one -> two on find is success or failure;
        route one -> two on find where amount > 5 and amount < 9;
        route one -> two on find where amount > 5 on pay;
        route one ~> two on find;
    }
}

fn main() {
    let _ = &help_desk_two::GRAPH;
}
