//! The desk: its graph and its tools. The model is a script, so that the example runs without a key.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skillgraph::{
    Agent, Continuity, Message, ModelReply, ModelRequest, ScriptedModel, ToolCall, ToolContext, ToolReply, skill_graph,
    tool,
};

use crate::store::Store;

#[derive(Deserialize, JsonSchema)]
struct LoanArgs {
    /// The number of the loan.
    loan: u32,
}

#[derive(Serialize)]
struct Loan {
    loan: u32,
    fee_cents: u32,
}

/// Finds a loan by its number.
#[tool]
async fn find_loan(args: LoanArgs) -> Result<Loan, std::io::Error> {
    Ok(Loan { loan: args.loan, fee_cents: 150 })
}

/// Renews a loan and charges the fee for it.
#[tool(exclusive)]
async fn renew_loan(store: &Store, args: LoanArgs, context: &ToolContext) -> Result<ToolReply<Loan>, String> {
    if !context.is_approved() {
        return Ok(ToolReply::pending(format!("Renew loan {} for 1.50 €?", args.loan)));
    }
    store.charge(context.idempotency_key(), args.loan).map_err(|error| error.to_string())?;
    // For the test: the process is killed when the money has been taken and nobody knows it yet.
    if std::env::var_os("DESK_HANGS").is_some() {
        std::future::pending::<()>().await;
    }
    Ok(ToolReply::success(Loan { loan: args.loan, fee_cents: 150 }))
}

skill_graph! {
    /// Renews loans.
    pub graph desk {
        tools { find_loan: FindLoan, renew_loan: RenewLoan }

        skill loans {
            description: "Loans and renewals",
            body: "Find the loan, then renew it.",
            tools: [find_loan, renew_loan],
            steps: [
                find_loan: "find it before it is renewed",
                renew_loan: "renew what was found",
            ],
        }
        skill receipt {
            description: "What was done",
            body: "Say what was done, and what it cost.",
        }

        entry loans;
        route loans -> receipt on renew_loan;
    }
}

pub fn agent(store: Store) -> Result<Agent, skillgraph::BuildError> {
    let tools = desk::Tools { find_loan: FindLoan, renew_loan: RenewLoan(Arc::new(store)) };
    desk::agent(tools).model(ScriptedModel::from_fn(model)).continuity(Continuity::Conversation).build()
}

/// Finds, renews, and answers: whatever the request offers next.
fn model(request: &ModelRequest) -> ModelReply {
    let said = request.messages.iter().rev().find_map(|message| match message {
        Message::User { text } => Some(text.clone()),
        _ => None,
    });
    let digits: String = said.unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    let next = ["renew_loan", "find_loan"].into_iter().find(|name| request.tool(name).is_some());
    match (next, digits.parse::<u32>()) {
        (Some(name), Ok(loan)) => ModelReply::calls([ToolCall::new("", name, json!({ "loan": loan }).to_string())]),
        (Some(_), Err(_)) => ModelReply::text("Which loan is it?"),
        (None, _) => ModelReply::text("Your loan is renewed. It was 1.50 €."),
    }
}
