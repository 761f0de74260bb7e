//! A person approves a refund. The process ends with the question, and another one goes on with the answer: all that passes
//! between them is a file.
//!
//! ```text
//! cargo run --example approved_refund
//! cargo run --example approved_refund -- yes
//! cargo run --example approved_refund -- no "the parcel has arrived"
//! ```
//!
//! `--state FILE` says where the conversation waits; a file in the temporary directory where nothing is said.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skillgraph::{Agent, ModelReply, Outcome, ScriptedModel, ToolCall, ToolContext, ToolReply, skill_graph, tool};

#[derive(Deserialize, JsonSchema)]
struct RefundArgs {
    /// The order's number.
    order: u32,
    /// In euros.
    amount: u32,
}

#[derive(Serialize)]
struct Refund {
    order: u32,
    amount: u32,
}

/// Gives money back. A person decides about more than 100 €.
#[tool(exclusive)]
async fn issue_refund(args: RefundArgs, context: &ToolContext) -> Result<ToolReply<Refund>, std::io::Error> {
    if args.amount > 100 && !context.is_approved() {
        return Ok(ToolReply::pending(format!("Refund {} € for order {}?", args.amount, args.order)));
    }
    println!("(refunding {} € for order {})", args.amount, args.order);
    Ok(ToolReply::success(Refund { order: args.order, amount: args.amount }))
}

skill_graph! {
    graph refunds {
        tools { issue_refund: IssueRefund }

        skill billing {
            description: "Refunds",
            body: "Refund what the customer paid too much, with {issue_refund}.",
            tools: [issue_refund],
        }

        skill explain {
            description: "A refund was refused",
            body: "Say why, and what the customer can do.",
        }

        entry billing;
        route billing -> explain on issue_refund is denied as "refused by a person";
    }
}

/// The model of each process follows a script of its own: what it said before is in the conversation.
fn agent(replies: Vec<ModelReply>) -> Result<Agent, Box<dyn Error>> {
    Ok(refunds::agent(refunds::Tools { issue_refund: IssueRefund }).model(ScriptedModel::new(replies)).build()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { state, answer } = Arguments::read()?;
    match answer {
        None => ask(&state).await,
        Some(answer) => resume(&state, answer).await,
    }
}

/// The first process: the tool asks, the conversation is stored, the process ends.
async fn ask(state: &PathBuf) -> Result<(), Box<dyn Error>> {
    let call = ToolCall::new("c1", "issue_refund", r#"{"order": 1042, "amount": 250}"#);
    let agent = agent(vec![ModelReply::calls([call])])?;
    let mut conversation = agent.conversation();
    let report = conversation.send("You charged me 250 € too much for order 1042").await?;
    let Outcome::Paused { questions } = report.outcome else { return Err("nobody was asked".into()) };
    fs::write(state, serde_json::to_vec(&conversation.save())?)?;
    for question in questions {
        println!("{} asks: {}", question.tool, question.text);
    }
    Ok(())
}

/// The second: it reads the conversation, and the answer goes to the call that waits.
async fn resume(state: &PathBuf, answer: Reply) -> Result<(), Box<dyn Error>> {
    let stored = fs::read(state).map_err(|error| format!("nothing waits in {}: {error}", state.display()))?;
    let reply = match answer {
        Reply::Yes => "You have your 250 € back.",
        Reply::No(_) => "We cannot refund this: the parcel has arrived. You can send it back within 14 days.",
    };
    let agent = agent(vec![ModelReply::text(reply)])?;
    let mut conversation = agent.restore(serde_json::from_slice(&stored)?)?;
    let question = conversation.questions().into_iter().next().ok_or("no question waits")?;
    println!("{} asked: {}", question.tool, question.text);
    let answer = match answer {
        Reply::Yes => question.approve(),
        Reply::No(reason) => question.deny(reason),
    };
    let report = conversation.resume(answer).await?;
    fs::remove_file(state)?;
    for hop in report.route().hops() {
        let label = hop.label.as_ref().map_or(String::new(), |label| format!(": {label}"));
        println!("  ({}, by {}{label})", hop.to.as_ref().map_or("-", |to| to.as_str()), hop.by);
    }
    println!("{}", report.text().unwrap_or_default());
    Ok(())
}

enum Reply {
    Yes,
    No(String),
}

struct Arguments {
    state: PathBuf,
    answer: Option<Reply>,
}

impl Arguments {
    fn read() -> Result<Self, Box<dyn Error>> {
        let mut read = Self { state: std::env::temp_dir().join("skillgraph-approved-refund.json"), answer: None };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--state" => read.state = words.next().ok_or("--state wants a file")?.into(),
                "yes" => read.answer = Some(Reply::Yes),
                "no" => read.answer = Some(Reply::No(words.next().ok_or("say why: no \"the reason\"")?)),
                other => return Err(format!("`{other}` is no answer: say yes, or no \"the reason\"").into()),
            }
        }
        Ok(read)
    }
}
