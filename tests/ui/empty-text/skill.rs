use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { lookup_order = "": dyn }

        skill billing = " " {
            description: "",
            body: "  ",
            tools: [lookup_order],
            steps: [lookup_order: ""],
        }

        skill triage {
            tools: [lookup_order],
        }

        entry billing;
        route billing ~> triage as "";
    }
}

fn main() {
    let _ = &support::GRAPH;
}
