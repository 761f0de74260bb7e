use skillgraph::skill_graph;

skill_graph! {
    graph support {
        tools { look_up = "account_action": dyn, delete = "account_action": dyn, read_skill: dyn, list_skills: dyn }

        skill accounts {
            description: "Accounts",
            body: "Look before you delete.",
            tools: [look_up, delete, read_skill],
        }
        skill deploy {
            description: "Deploys",
            body: "Deploy.",
            tools: [look_up, list_skills],
        }
        skill release = "deploy" {
            description: "Deploys too",
            body: "Release.",
            tools: [look_up],
        }
        skill stay {
            description: "An answer of the framework",
            body: "Stay.",
        }

        entry accounts;
    }
}

fn main() {
    let _ = &support::GRAPH;
}
