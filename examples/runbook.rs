//! A team's runbooks, loaded while the program runs: a folder of SKILL.md files beside a graph that is data.
//!
//! ```text
//! cargo run --example runbook
//! ```

use skillgraph::{
    AgentBuilder, BoundTool, DynTool, Graph, GraphSpec, ModelReply, Runbook, RunbookOptions, ScriptedModel, ToolCall,
    ToolReply,
};

/// What the program itself knows: where a conversation starts.
const DESK: &str = r#"{
    "name": "desk",
    "skills": [{ "id": "triage", "description": "Start", "body": "Find out what it is about.", "tools": ["lookup_order"] }],
    "entries": [
        { "skill": "triage" },
        { "skill": "billing", "when": { "keywords": ["refund", "charged twice"] } }
    ],
    "routes": [{ "from": "triage", "to": "billing", "on": ["lookup_order"] }]
}"#;

fn tool(name: &str, output: serde_json::Value) -> DynTool {
    let schema = serde_json::json!({ "type": "object", "properties": { "order": { "type": "integer" } } });
    DynTool::new(name, format!("Does what `{name}` says."), schema, move |_, _| {
        let output = output.clone();
        async move { Ok::<_, std::io::Error>(ToolReply::success(output)) }
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/runbooks");
    let tools = [
        tool("lookup_order", serde_json::json!({ "paid_cents": 9_980 })),
        tool("issue_refund", serde_json::json!({ "refunded_cents": 4_990 })),
    ];
    let registry: Vec<String> = tools.iter().map(|tool| tool.name().to_owned()).collect();

    let mut spec: GraphSpec = serde_json::from_str(DESK)?;
    let options = RunbookOptions { beside: Some(spec.clone()), ..RunbookOptions::default() };
    let runbook = Runbook::load_with(folder, &registry, &options)?;
    runbook.add_to(&mut spec);
    for skill in runbook.skills() {
        println!("{:<11} {}", skill.name.text, skill.description.text);
    }

    let graph = std::sync::Arc::new(Graph::compile(&spec, &registry)?);
    let model = ScriptedModel::new([
        ModelReply::calls([ToolCall::new("c1", "lookup_order", r#"{"order": 1042}"#)]),
        ModelReply::calls([ToolCall::new("c2", "issue_refund", r#"{"order": 1042}"#)]),
        ModelReply::text("You have your money back."),
    ]);
    let agent = AgentBuilder::new(graph, tools.map(BoundTool::dynamic)).model(model).build()?;
    let report = agent.run("I was charged twice for order 1042").await?;
    for hop in report.route().hops() {
        println!("iteration {}: {}, by {}", hop.iteration, hop.to.as_ref().map_or("-", |to| to.as_str()), hop.by);
    }
    println!("{}", report.text().unwrap_or_default());

    // With one tool less the same folder is refused, with every line that is wrong.
    let report = Runbook::load_with(folder, &registry[..1], &options).expect_err("a tool is missing");
    println!("without `issue_refund`, the first of {}:", report.findings.len());
    println!("{}", report.findings[0].message);
    let excerpt = report.findings[0].excerpt.as_deref().unwrap_or_default();
    println!("{}", excerpt.replace(folder, "examples/runbooks"));
    Ok(())
}
