use skillgraph::skill_graph;

skill_graph! {
    #[allow(skillgraph::unused_tol)]
    #[warn(unused_tool)]
    #[deny(clippy::all)]
    graph support {
        #[allow(skillgraph::unused_tool)]
        tools { lookup_order: dyn }

        #[allow(skillgraph::unknown_tool, skillgraph::self_loop)]
        skill billing {
            description: "Refunds and charges",
            #[deny(skillgraph::body_foreign_tool)]
            body: "Be exact about amounts.",
            tools: [lookup_order],
        }

        entry billing;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
