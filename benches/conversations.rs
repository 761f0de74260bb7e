//! Ten thousand conversations of one agent, interleaved in one process: iterations per second, and what one that waits for
//! its user costs.
//!
//! `cargo bench --bench conversations`. Memory is the resident set of the process, where the system tells it (Linux).

use std::time::Instant;

use serde_json::json;
use skillgraph::{
    Agent, Continuity, Conversation, DynTool, Model, ModelError, ModelReply, ModelRequest, ToolCall, ToolReply,
    skill_graph,
};

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
        route triage -> billing on look_up;
    }
}

/// Calls one tool a reply, four times, then answers.
struct Caller;

impl Model for Caller {
    async fn complete(&self, request: ModelRequest) -> Result<ModelReply, ModelError> {
        // As a provider would: the conversations take turns.
        tokio::task::yield_now().await;
        let call = |tool: &str| ModelReply::calls([ToolCall::new(format!("c{}", request.iteration), tool, "{}")]);
        Ok(match request.iteration {
            1 | 2 => call("look_up"),
            3 => call("pay"),
            _ => ModelReply::text("It is paid."),
        })
    }
}

const ITERATIONS: u32 = 4;

fn agent() -> Agent {
    let tool = |name: &str| {
        DynTool::new(name, format!("Does {name}."), json!({ "type": "object", "properties": {} }), |_, _| async {
            Ok::<_, std::convert::Infallible>(ToolReply::success(json!({ "order": 17, "state": "open", "owed": 12.5 })))
        })
    };
    let agent = support::agent(support::Tools { look_up: tool("look_up"), pay: tool("pay") }).model(Caller);
    agent.continuity(Continuity::Conversation).build().unwrap_or_else(|error| panic!("{error}"))
}

/// One turn of every conversation, all at once.
async fn turn_of_all(conversations: Vec<Conversation>) -> Vec<Conversation> {
    let spawned = conversations.into_iter().map(|mut conversation| {
        tokio::spawn(async move {
            let report = conversation.send("my order, please").await.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(report.text(), Some("It is paid."));
            conversation
        })
    });
    let tasks: Vec<_> = spawned.collect();
    let mut conversations = Vec::with_capacity(tasks.len());
    for task in tasks {
        conversations.push(task.await.unwrap_or_else(|error| panic!("{error}")));
    }
    conversations
}

/// The resident set in bytes, where the system tells it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.unwrap_or_else(|error| panic!("{error}"));
    let agent = agent();
    println!("conversations  turns  iterations/s  bytes each  of them transcript as JSON");
    for count in [100_u32, 1_000, 10_000] {
        let before = resident();
        let mut conversations: Vec<Conversation> = (0..count).map(|_| agent.conversation()).collect();
        for turns in 1..=4_u32 {
            let began = Instant::now();
            conversations = runtime.block_on(turn_of_all(conversations));
            let rate = f64::from(count * ITERATIONS) / began.elapsed().as_secs_f64();
            let each = resident().zip(before).map(|(now, before)| now.saturating_sub(before) / u64::from(count));
            let each = each.map_or("?".to_owned(), |each| each.to_string());
            let said = conversations.first().and_then(|one| serde_json::to_string(&one.transcript()).ok());
            let said = said.map_or(0, |said| said.len());
            println!("{count:>13}  {turns:>5}  {rate:>12.0}  {each:>10}  {said:>26}");
        }
    }
}
