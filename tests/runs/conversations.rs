//! Many conversations of one agent at once: none hears another.

use std::collections::BTreeSet;

use crate::common::{answer, assert_paired, calls};
use serde_json::{Value, json};
use skillgraph::{Agent, Continuity, Message, ModelReply, ModelRequest, ScriptedModel, ToolReply, skill_graph};

skill_graph! {
    graph support {
        tools { look_up: dyn, pay: dyn }
        #[allow(skillgraph::skill_wraps_one_tool)]
        skill triage { description: "Start", body: "Look it up first.", tools: [look_up] }
        skill billing {
            description: "Money",
            body: "Pay what is owed.",
            tools: [look_up, pay],
            steps: [look_up: "find it", pay: "pay it"],
        }
        entry triage;
        route triage -> billing on look_up where even == true;
    }
}

/// Conversation 17 is called `<17>` in all that is said in it.
fn name(of: u64) -> String {
    format!("<{of}>")
}

/// The names that occur in these messages.
fn names(messages: &skillgraph::Transcript) -> BTreeSet<String> {
    let text = serde_json::to_string(messages).expect("messages serialise");
    let names = text.split('<').skip(1).filter_map(|rest| Some(format!("<{}>", rest.split_once('>')?.0)));
    names.collect()
}

/// Looks up in its first reply, pays where it may, then answers. It knows of the conversation what it reads.
fn reply(request: &ModelRequest) -> ModelReply {
    let mut users = request.messages.iter().filter_map(|message| match message {
        Message::User { text } => Some(text.as_str()),
        _ => None,
    });
    let about = users.next_back().unwrap_or_default();
    match request.iteration {
        1 => calls([("a", "look_up", json!({ "about": about }))]),
        2 if request.tool("pay").is_some() => calls([("b", "pay", json!({ "about": about }))]),
        3 if request.tool("pay").is_some() => calls([("c", "pay", json!({ "about": about }))]),
        _ => answer(),
    }
}

fn agent(model: &ScriptedModel) -> Agent {
    let look_up = crate::common::tool("look_up", |arguments: Value| {
        let about = arguments["about"].as_str().unwrap_or_default().to_owned();
        let of: u64 = about.trim_matches(['<', '>']).parse().unwrap_or_default();
        ToolReply::success(json!({ "found": about, "even": of.is_multiple_of(2) }))
    });
    let pay = crate::common::tool("pay", |arguments| ToolReply::success(arguments["about"].clone()));
    let agent = support::agent(support::Tools { look_up, pay }).model(model.clone());
    agent.continuity(Continuity::Conversation).build().expect("an agent")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn conversations_side_by_side_do_not_hear_each_other() {
    let model = ScriptedModel::from_fn(reply);
    let agent = agent(&model);
    let mut conversations: Vec<_> = (0..500_u64).map(|of| (of, agent.conversation())).collect();
    for _turn in 0..2 {
        let mut running = Vec::new();
        for (of, mut conversation) in conversations.drain(..) {
            running.push(tokio::spawn(async move {
                let report = conversation.send(name(of)).await.expect("a turn");
                let cursor = report.cursor.map(|id| id.to_string());
                assert_eq!(cursor.as_deref(), Some(if of % 2 == 0 { "billing" } else { "triage" }));
                (of, conversation)
            }));
        }
        for task in running {
            conversations.push(task.await.expect("no conversation panics"));
        }
    }
    for (of, conversation) in &conversations {
        assert_paired(&conversation.transcript());
        assert_eq!(names(&conversation.transcript()), BTreeSet::from([name(*of)]));
    }
    for request in model.requests() {
        assert_eq!(names(&request.messages).len(), 1);
    }
}
