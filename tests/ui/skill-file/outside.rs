use skillgraph::skill_graph;

skill_graph! {
    graph support {
        skill start { description: "Where a conversation starts", body: "Ask." }
        skill above from "../SKILL.md";
        skill endless from "/dev/zero";
        skill secrets from "/proc/self/environ";
        skill folder from "skill-file/team";
        skills from "skill-file/../..";
        entry start;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
