use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup: dyn, pay: dyn }
        skill one {
            description: "One",
            body: "One.",
            tools: [lokup, pay],
            steps: [lookup: "look it up", pay: "pay it"],
        }
        skill two { description: "Two", body: "Two." }
        entry one;
        route one -> two on lookup;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
