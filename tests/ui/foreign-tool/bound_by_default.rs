use skillgraph::skill_graph;

skill_graph! {
    graph office {
        tools { search: dyn, comment: dyn, close: dyn }

        catalog {
            skill jira = "mcp:jira" {
                header: "tickets",
                prompt: "Search first.",
                tools: [search, comment],
                default_bind: [close],
            }

            skill notes { header: "notes", prompt: "Note.", tools: [close], default_bind: [] }
        }
    }
}

fn main() {
    let _ = &office::GRAPH;
}
