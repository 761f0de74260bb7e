use skillgraph::skill_graph;

skill_graph! {}

fn main() {}
