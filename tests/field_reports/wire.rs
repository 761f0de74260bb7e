//! What a provider is sent, as it was found wanting on the second round (F30–F44). Streams are tried in `adapters/genai/tests`.

use std::sync::Arc;

use serde_json::json;

use skillgraph::{
    Agent, AgentBuilder, DynTool, Event, Graph, GraphSpec, Message, ModelReply, ModelRequest, ScriptedModel, Status,
    ToolCall, ToolReply, skill_graph,
};

use crate::common::{answer, others, pick, succeeds, without_others};

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

skill_graph! {
    graph counted {
        tools { find: dyn, pay: dyn }
        skill desk { description: "Desk", body: "Work.", tools: [find, pay] }
        entry desk;
    }
}

/// An agent whose tools succeed.
fn counting(model: &ScriptedModel) -> Agent {
    let tools = counted::Tools { find: succeeds("find"), pay: succeeds("pay") };
    counted::agent(tools).model(model.clone()).build().expect("an agent")
}

fn call(id: &str, tool: &str) -> ToolCall {
    ToolCall::new(id, tool, "{}")
}

/// The ids of all calls that a request holds, and of all results, in order.
fn ids(request: &ModelRequest) -> (Vec<String>, Vec<String>) {
    let (mut called, mut answered) = (Vec::new(), Vec::new());
    for message in request.messages.iter() {
        match message {
            Message::Assistant { calls, .. } => called.extend(calls.iter().map(|call| call.id.clone())),
            Message::ToolResults { results } => answered.extend(results.iter().map(|result| result.call_id.clone())),
            _ => {}
        }
    }
    (called, answered)
}

/// Whatever ids a provider gives: both of two calls run, and what goes out is taken by every provider.
#[tokio::test]
async fn f37_m13_ids_are_the_cores() {
    let long = "x".repeat(65);
    let odd: [[&str; 2]; 6] =
        [["", "call_0"], ["a", "a"], ["call#find#0", "call#find#0"], ["functions.read:0", "ü"], ["", ""], [&long, " "]];
    for [first, second] in odd {
        let reply = || ModelReply::calls([call(first, "find"), call(second, "pay")]);
        // The same ids once more in a later message.
        let model = ScriptedModel::new([reply(), reply(), answer()]);
        let report = counting(&model).run("hello").await.expect("a turn");
        let ran = |event: &&Event| matches!(event, Event::ToolReturned { status: Status::Success, .. });
        assert_eq!(report.events.iter().filter(ran).count(), 4, "{first:?} {second:?}");
        let (called, answered) = ids(&model.requests()[2]);
        assert_eq!(called, answered, "{first:?} {second:?}");
        let legal = |id: &String| {
            (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        };
        assert!(called.iter().all(legal), "{called:?}");
        let distinct: std::collections::BTreeSet<&String> = called.iter().collect();
        assert_eq!(distinct.len(), 4, "{called:?}");
    }
}

/// What tools return is never read as JSON by anybody but the turn: however deep, it is saved and read back.
#[tokio::test]
async fn m42_a_value_of_any_depth_is_saved_and_read_back() {
    for depth in [60, 100, 126, 200, 500] {
        let deep = (0..depth).fold(json!(1), |inner, _| json!([inner]));
        let model = ScriptedModel::new([ModelReply::calls([call("a", "find")]), answer(), answer()]);
        let tool = DynTool::new("find", "Finds.", json!({ "type": "object" }), move |_, _| {
            let deep = deep.clone();
            async move { Ok::<_, String>(ToolReply::success(deep)) }
        });
        let tools = counted::Tools { find: tool, pay: succeeds("pay") };
        let agent = counted::agent(tools).model(model.clone()).build().expect("an agent");
        let mut conversation = agent.conversation();
        conversation.send("hello").await.expect("a turn");
        let saved = serde_json::to_string(&conversation.save()).expect("JSON");
        let saved = serde_json::from_str(&saved).unwrap_or_else(|error| panic!("{depth}: {error}"));
        let mut conversation = agent.restore(saved).expect("the same graph");
        conversation.send("and now?").await.expect("a turn");
        // Arguments are refused where they could not be saved.
        let deep = (0..depth).fold("1".to_owned(), |inner, _| format!("[{inner}]"));
        let arguments = format!("{{\"a\":{deep}}}");
        let model = ScriptedModel::new([ModelReply::calls([ToolCall::new("a", "pay", arguments)]), answer()]);
        let agent = counting(&model);
        let mut conversation = agent.conversation();
        let report = conversation.send("hello").await.expect("a turn");
        let ran = report.events.iter().any(|event| matches!(event, Event::ToolStarted { .. }));
        assert_eq!(ran, depth < 64, "{depth}");
        let saved = serde_json::to_string(&conversation.save()).expect("JSON");
        serde_json::from_str::<skillgraph::SavedConversation>(&saved)
            .unwrap_or_else(|error| panic!("{depth}: {error}"));
    }
}
