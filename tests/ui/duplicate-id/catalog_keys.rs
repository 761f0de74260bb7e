use skillgraph::skill_graph;

skill_graph! {
    graph office {
        tools { search: dyn, comment: dyn, close: dyn }

        skill desk { description: "Start", body: "Ask." }
        entry desk;

        catalog {
            skill jira = "mcp:jira" { header: "tickets", prompt: "Search first.", tools: [search] }
            skill tickets = "mcp:jira" { header: "tickets", prompt: "Search first.", tools: [comment] }
            skill desk { header: "the desk", prompt: "Ask.", tools: [close, close] }
            skill jira = "other" { header: "others", prompt: "Ask." }
        }
    }
}

fn main() {
    let _ = &office::GRAPH;
}
