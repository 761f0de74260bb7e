use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order: dyn }

        skill a {
            description: "A",
            body: "Be exact about amounts.",
            surface: tool_results,
        }
        skill b {
            description: "B",
            body: "Be exact about amounts.",
            surface: both,
            refresh: every 0 iterations,
        }
        skill c {
            description: "C",
            body: "Be exact about amounts.",
            surface: both,
            refresh: 3,
        }
        skill d {
            description: "D",
            body: "Be exact about amounts.",
            surface: both,
            refresh: every 3,
        }
        skill e {
            description: "E",
            body: "Be exact about amounts.",
            surface: both,
            refresh: every 3 turns,
        }
        skill f {
            description: "F",
            body: "Be exact about amounts.",
            surface: both,
            refresh: every 99999999999 iterations,
        }

        entry a;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
