use skillgraph::skill_graph;

skill_graph! {
    graph support {
        skills from "skill-file/deep";
        entry one;
        entry two when keywords["two"];
    }
}

fn main() {
    let _ = &support::GRAPH;
}
