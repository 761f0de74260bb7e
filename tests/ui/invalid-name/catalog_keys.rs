use skillgraph::skill_graph;

skill_graph! {
    graph office {
        tools { search: dyn, comment: dyn, close: dyn }

        catalog {
            skill jira = "MCP:Jira" { header: "tickets", prompt: "Search first.", tools: [search] }
            skill two = "a::b" { header: "tickets", prompt: "Search first.", tools: [comment, close] }
        }
    }
}

fn main() {
    let _ = &office::GRAPH;
}
