//! Two people send the same message. For one of them a skill is not there: not in what the model reads, not for a rule, an
//! edge or a guess.
//!
//! ```text
//! cargo run --example roles
//! ```

use skillgraph::{
    Agent, DynTool, Event, Identity, ModelReply, Role, RoleAuthorizer, ScriptedModel, ToolCall, ToolReply, skill_graph,
};

skill_graph! {
    graph payroll {
        tools { find_person: dyn, change_salary: dyn }

        skill people {
            description: "Who works here, and where",
            body: "Answer from {find_person} alone.",
            tools: [find_person],
        }

        skill salaries {
            description: "What somebody earns",
            body: "Say amounts only to whom they belong.",
            tools: [find_person, change_salary],
        }

        skill holidays {
            description: "Who is away",
            body: "Say until when.",
            tools: [find_person],
        }

        entry people;
        entry salaries when keywords["salary"] { examples: ["raise her salary"] }
        never_routes: ["where does she work?"];
        entry holidays when keywords["holiday"] { examples: ["is she on holiday?"] }
        route people ~> salaries;
    }
}

fn tool(name: &'static str) -> DynTool {
    let schema = serde_json::json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    DynTool::new(name, format!("Does what `{name}` says."), schema, |_, _| async {
        Ok::<_, std::io::Error>(ToolReply::success(serde_json::json!("done")))
    })
}

fn agent(model: &ScriptedModel) -> Result<Agent, Box<dyn std::error::Error>> {
    let roles = RoleAuthorizer::new()
        .role(
            "assistant",
            Role::new().skills([payroll::skill::people, payroll::skill::holidays]).tools([payroll::tool::find_person]),
        )
        .role("controller", Role::new().all_skills().tools([payroll::tool::find_person]))
        .role("head", Role::everything());
    let tools = payroll::Tools { find_person: tool("find_person"), change_salary: tool("change_salary") };
    Ok(payroll::agent(tools).model(model.clone()).authorizer(roles).build()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (name, role) in [("Ben", "assistant"), ("Cleo", "controller"), ("Dora", "head")] {
        // The same model: it guesses the id, then calls the tool.
        let model = ScriptedModel::new([
            ModelReply::calls([ToolCall::new("c1", "read_skill", r#"{"id": "salaries"}"#)]),
            ModelReply::calls([ToolCall::new("c2", "change_salary", r#"{"name": "Eve"}"#)]),
            ModelReply::text("That is all I can do."),
        ]);
        let agent = agent(&model)?;
        let mut conversation = agent.conversation().with_identity(Identity::new(name).role(role));
        println!("{name}, {role}: \"Raise Eve's salary\"");
        let report = conversation.send("Raise Eve's salary").await?;
        for event in &report.events {
            match event {
                Event::SkillsHidden { skills, .. } => {
                    println!("  hidden        {}", list(skills.iter().map(|hidden| hidden.skill.as_str())));
                }
                Event::CursorDecided(hop) if hop.iteration == 1 => {
                    let start = hop.to.as_ref().map_or("nowhere", |to| to.as_str());
                    let passed = list(hop.hidden.iter().map(|skill| skill.as_str()));
                    let passed = if passed.is_empty() { passed } else { format!(", past {passed}") };
                    println!("  starts        {start}{passed}");
                }
                Event::Offered { iteration: 1, tools, .. } => {
                    println!("  offered       {}", list(tools.iter().map(|tool| tool.as_str())));
                }
                _ => {}
            }
        }
        for message in conversation.transcript().iter() {
            if let skillgraph::Message::ToolResults { results } = message {
                results.iter().for_each(|result| println!("  {:<13} {}", result.name, result.text));
            }
        }
    }
    Ok(())
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
