use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { find: dyn }
        skill one { description: "One", body: "Call {fnd}, then {payy} with { x } and } y.", tools: [find] }
        entry one;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
