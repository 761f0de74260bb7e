use skillgraph::skill_graph;

skill_graph! {
    graph office {
        tools { search: dyn, comment: dyn, close: dyn }

        catalog {
            policy: { max_open_skill: 2, disclosure: find, max_bound_tools_total: 0, colour: red },

            skill jira = "mcp:jira" {
                heading: "tickets",
                header: "tickets",
                prompt: "Search before you write.",
                tools: [search, comment, close],
                available: "crate::jira::connected",
                needs_sandbox: yes,
                header: "tickets",
            }

            skil notes { header: "notes", prompt: "Note." }

            things {}
        }

        catalog { policy: 3 }
    }
}

fn main() {
    let _ = &office::GRAPH;
}
