use skillgraph::skill_graph;

skill_graph! {
    graph support {
        skill one { description: "One", body: "One." }
        skill two { description: "Two", body: "Two." }
        skill three { description: "Three", body: "Three." }
        entry one;
        entry two whn keywords["b"];
        entry three if keywords["c"];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
