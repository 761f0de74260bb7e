//! What a provider is sent, as it was found wanting on the second round (F30–F44). Streams are tried in `adapters/genai/tests`.

use std::sync::Arc;

use serde_json::json;

use skillgraph::{AgentBuilder, Graph, GraphSpec, ModelReply, ModelRequest, ScriptedModel};

use crate::common::{answer, others, pick, without_others};

/// As many skills as that, all of them open, and one that is entered.
async fn requests(number: usize, replies: Vec<ModelReply>) -> Vec<ModelRequest> {
    let description = "What this skill is for, in words that a model reads before it opens anything. ".repeat(4);
    let skills = (0..number).map(
        |at| json!({ "id": format!("skill-{at}"), "description": format!("{at}: {description}"), "body": "Work." }),
    );
    let spec: GraphSpec = serde_json::from_value(json!({
        "name": "many",
        "skills": skills.collect::<Vec<_>>(),
        "entries": [{ "skill": "skill-0" }],
    }))
    .expect("a spec");
    let graph = Graph::compile(&spec, &[] as &[&str]).unwrap_or_else(|report| panic!("{report}"));
    let model = ScriptedModel::new(replies);
    let agent = AgentBuilder::new(Arc::new(graph), []).model(model.clone()).build().expect("an agent");
    agent.run("hello").await.expect("a turn");
    model.requests()
}

#[tokio::test]
async fn f44_the_description_of_read_skill_is_constant_and_short() {
    let small = requests(8, vec![pick("a", "skill-3"), pick("b", "skill-4"), answer()]).await;
    let large = requests(400, vec![answer()]).await;
    let description = &small[0].tool("read_skill").expect("offered").description;
    assert!(description.chars().count() < 1_000);
    for request in small.iter().chain(&large) {
        assert_eq!(&request.tool("read_skill").expect("offered").description, description);
    }
    // All that was said before stays in front, so that a cache of it holds.
    assert_eq!(without_others(&small[0].system), "# Skill: skill-0\n\nWork.");
}

#[tokio::test]
async fn f44_the_menu_names_every_skill_once_and_does_not_grow_with_their_texts() {
    let large = requests(400, vec![answer()]).await;
    let (reachable, _) = others(&large[0].system);
    assert_eq!(reachable.len(), 399);
    let text: usize = reachable.iter().map(|row| row.len()).sum();
    assert!(text < 30_000, "{text}");
    assert!(large[0].system.contains("`list_skills` gives the whole of what they are for"));
    // A few are shown whole.
    let small = requests(8, vec![answer()]).await;
    let (reachable, _) = others(&small[0].system);
    assert!(reachable.iter().all(|row| row.ends_with("before it opens anything.")), "{reachable:?}");
}
