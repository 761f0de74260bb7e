use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { pay: dyn }
        baseline [pay];
        skill one { description: "One", body: "One." }
        skill two { description: "Two", body: "Two." }
        entry one;
        route one -> two on pay;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
