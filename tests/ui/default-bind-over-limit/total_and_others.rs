use skillgraph::skill_graph;

skill_graph! {
    graph office {
        tools { search: dyn, comment: dyn, close: dyn }

        catalog {
            policy: { max_bound_tools_per_skill: 8, max_bound_tools_total: 1 },

            skill jira = "mcp:jira" {
                header: "tickets",
                prompt: "Search before you write.",
                tools: [search, comment],
                default_bind: [search, comment],
            }

            skill other {
                header: "",
                tools: [close, closed],
                default_bind: [search],
            }
        }
    }
}

fn main() {
    let _ = &office::GRAPH;
}
