use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { find: dyn }
        skill one { description: "One", body: include_str!("no/such.md"), tools: [find] }
        entry one;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
