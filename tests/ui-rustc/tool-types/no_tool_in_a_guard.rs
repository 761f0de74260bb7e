use skillgraph::skill_graph;

struct NoTool;

skill_graph! {
    graph support {
        tools { find: NoTool }
        skill one { description: "One", body: "One.", tools: [find] }
        skill two { description: "Two", body: "Two." }
        entry one;
        route one -> two on find where amount > 5;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
