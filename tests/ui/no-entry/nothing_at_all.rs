use skillgraph::skill_graph;

skill_graph! {
    pub graph support {}
}

fn main() {
    let _ = &support::GRAPH;
}
