//! What a provider is sent, whatever came before (SPEC 14.3): pairs, names, texts, ids, schemas.

use crate::common::{answer, assert_paired, last_results, succeeds};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillgraph::core::decl::is_tool_name;
use skillgraph::{
    AgentBuilder, Message, ModelReply, ModelRequest, ScriptedModel, Status, ToolCall, ToolReply, Transcript,
    skill_graph, tool,
};

skill_graph! {
    pub graph desk {
        tools { find: dyn, note: dyn }
        baseline: [find, note];
        skill open { description: "Open", body: "Work." }
        entry open;
    }
}

fn agent(model: &ScriptedModel) -> AgentBuilder {
    desk::agent(desk::Tools { find: succeeds("find"), note: succeeds("note") }).model(model.clone())
}

/// Holds for every request that a strict provider takes.
fn assert_sendable(request: &ModelRequest) {
    assert_paired(&request.messages);
    for message in request.messages.iter() {
        match message {
            Message::User { text } | Message::Framework { text, .. } => assert!(!text.trim().is_empty()),
            Message::Assistant { text, calls, .. } => {
                assert!(!text.trim().is_empty() || !calls.is_empty());
                assert!(calls.iter().all(|call| is_tool_name(&call.name)), "{calls:?}");
                assert!(calls.iter().all(|call| !call.id.trim().is_empty() && !call.arguments.trim().is_empty()));
                let mut ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
                ids.sort_unstable();
                ids.dedup();
                assert_eq!(ids.len(), calls.len(), "ids are distinct: {calls:?}");
            }
            _ => {}
        }
    }
    for tool in &request.tools {
        assert!(is_tool_name(tool.name.as_str()));
        assert_eq!(tool.parameters["type"], "object");
        assert!(tool.parameters["properties"].is_object(), "{}", tool.parameters);
    }
}

#[tokio::test]
async fn replies_that_a_provider_would_not_take_back_are_mended_in_history() {
    let model = ScriptedModel::new([
        ModelReply::calls([
            ToolCall::new("", "find", "  "),
            ToolCall::new("a", "no such/tool", "{}"),
            ToolCall::new("a", "note", "{}"),
            ToolCall::new("", "", "{}"),
        ]),
        ModelReply::text("  \n"),
        answer(),
        answer(),
    ]);
    let mut conversation = agent(&model).build().expect("an agent").conversation();
    conversation.send("find it").await.expect("a turn");
    conversation.send("   ").await.expect("a turn");
    let requests = model.requests();
    requests.iter().for_each(assert_sendable);
    let results = last_results(&requests[1].messages);
    let ids: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["call_1", "a", "call_2", "call_3"]);
    assert_eq!(results[0].1, "find done");
    assert!(
        results[1].1.starts_with("`no such/tool` is not available here"),
        "the model reads its own words: {}",
        results[1].1
    );
}

#[tokio::test]
async fn a_history_from_elsewhere_is_put_into_pairs() {
    let result =
        |id: &str, text: &str| skillgraph::core::turn::ToolMessage::new(id, "other", text, Some(Status::Success));
    let history = Transcript::from_iter([
        Message::User { text: String::new() },
        Message::ToolResults { results: vec![result("nobody", "lost")] },
        Message::Assistant {
            text: String::new(),
            calls: vec![
                ToolCall::new("1", "find", ""),
                ToolCall::new("2", "find.it", "{}"),
                ToolCall::new("3", "note", "{}"),
            ],
            thoughts: Vec::new(),
        },
        // In the order of completion, one missing, one empty.
        Message::ToolResults { results: vec![result("3", ""), result("1", "found")] },
        Message::Assistant { text: " ".into(), calls: Vec::new(), thoughts: Vec::new() },
        Message::Assistant { text: String::new(), calls: vec![ToolCall::new("4", "note", "{}")], thoughts: Vec::new() },
        Message::User { text: "are you there?".into() },
    ]);
    let model = ScriptedModel::new([answer()]);
    agent(&model).build().expect("an agent").conversation_after(history).send("hello").await.expect("a turn");
    let requests = model.requests();
    assert_sendable(&requests[0]);
    let said = serde_json::to_value(&requests[0].messages).expect("JSON");
    let said = said.as_array().expect("messages");
    assert_eq!(said.len(), 7, "{said:#?}");
    let texts: Vec<&Value> =
        said[2]["results"].as_array().expect("results").iter().map(|result| &result["text"]).collect();
    assert_eq!(texts[0], "found");
    assert!(texts[1].as_str().is_some_and(|text| text.contains("was interrupted")));
    assert_eq!(texts[2], "(no text)");
    assert_eq!(said[2]["results"][1]["name"], "find_it");
    assert!(said[4]["results"][0]["text"].as_str().is_some_and(|text| text.contains("was interrupted")));
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Place {
    #[allow(dead_code)]
    street: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Parcel {
    #[allow(dead_code)]
    to: Place,
    #[allow(dead_code)]
    back: Option<Place>,
    #[allow(dead_code)]
    labels: std::collections::BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Sent {
    number: u32,
}

/// Sends a parcel.
#[tool]
async fn send_parcel(parcel: Parcel) -> Result<ToolReply<Sent>, std::convert::Infallible> {
    let _ = parcel;
    Ok(ToolReply::success(Sent { number: 7 }))
}

/// Does nothing.
#[tool]
async fn rest() -> Result<u32, std::convert::Infallible> {
    Ok(0)
}

skill_graph! {
    pub graph post {
        tools { send_parcel: SendParcel, rest: Rest }
        skill open { description: "Open", body: "Work.", tools: [send_parcel, rest] }
        entry open;
    }
}

#[tokio::test]
async fn schemas_of_typed_tools_are_closed_where_the_type_is() {
    let model = ScriptedModel::new([answer()]);
    let agent = post::agent(post::Tools { send_parcel: SendParcel, rest: Rest }).model(model.clone()).build();
    agent.expect("an agent").run("hello").await.expect("a turn");
    let request = &model.requests()[0];
    assert_sendable(request);
    let rest = &request.tool("rest").expect("offered").parameters;
    assert_eq!(*rest, json!({ "type": "object", "properties": {}, "additionalProperties": false }));
    let parcel = &request.tool("send_parcel").expect("offered").parameters;
    assert_eq!(parcel["additionalProperties"], false);
    assert_eq!(parcel["$defs"]["Place"]["additionalProperties"], false);
    assert_eq!(parcel["properties"]["labels"]["additionalProperties"], json!({ "type": "string" }));
    assert!(parcel.get("$schema").is_none() && parcel.get("title").is_none());
}
