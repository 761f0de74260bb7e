#![deny(deprecated)]

use skillgraph::skill_graph;

skill_graph! {
    graph office {
        tools { search: dyn, comment: dyn, close: dyn }

        catalog {
            policy: { max_bound_tools_per_skill: 2 },

            skill jira = "mcp:jira" {
                header: "tickets",
                prompt: "Search before you write.",
                tools: [search, comment, close],
                default_bind: [search, comment],
            }
        }
    }
}

fn main() {
    let _ = &office::GRAPH;
}
