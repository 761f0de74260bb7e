use skillgraph::skill_graph;

skill_graph! {
    pub support {
        tools { lookup_order: dyn }
    }
}

fn main() {}
