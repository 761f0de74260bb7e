//! The loop: it answers what the turn asks, and decides nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use skillgraph_core::decl::Status;
use skillgraph_core::turn::{Check, Choice, Event, Input, Outcome, Output, Target, ToolReturn, ToolRun, Turn};
use tokio::task::{Id, JoinError, JoinSet};

use crate::agent::Parts;
use crate::authorize::{Identity, decide_all};
use crate::conversation::RunError;
use crate::scorer::choose;
use crate::tool::ToolContext;

/// Runs a turn to its end, or until it waits for a person. Each event is handed on as soon as the turn tells it.
pub(crate) async fn drive(
    parts: &Parts,
    identity: &Arc<Identity>,
    turn: &mut Turn,
    observe: &mut (impl FnMut(Event) + Send),
) -> Result<Outcome, RunError> {
    loop {
        while let Some(event) = turn.poll_event() {
            observe(event);
        }
        match turn.poll_output() {
            Output::Authorize(checks) => authorize(parts, identity, checks, turn).await?,
            Output::Score(request) => {
                let scored = match &parts.scorer {
                    Some(scorer) => scorer.score_boxed(request).await.ok(),
                    // The agent was built with a scorer where the graph asks for one.
                    None => None,
                };
                let input = scored.map_or(Input::ScoreFailed, Input::Scored);
                turn.handle_input(input).map_err(RunError::Protocol)?;
            }
            Output::Decide(request) => {
                let choice = match &parts.decider {
                    Some(decider) => choose(&**decider, request).await,
                    None => Choice::None,
                };
                turn.handle_input(Input::Decided(choice)).map_err(RunError::Protocol)?;
            }
            Output::CallModel(request) => {
                let named = request.model.as_ref().and_then(|name| parts.named_models.get(name));
                let input = match named.unwrap_or(&parts.model).complete_boxed(request).await {
                    Ok(reply) => Input::ModelReplied(reply),
                    Err(error) => Input::ModelFailed { reason: error.to_string() },
                };
                turn.handle_input(input).map_err(RunError::Protocol)?;
            }
            Output::RunTools(runs) => {
                for group in groups(parts, runs) {
                    run_together(parts, identity, group, turn).await?;
                }
            }
            Output::Pause(questions) => return Ok(Outcome::Paused { questions }),
            Output::Done(outcome) => return Ok(outcome),
            _ => turn.handle_input(Input::Cancel).map_err(RunError::Protocol)?,
        }
    }
}

/// Asks who may do what. Arguments that do not fit their tool's type come first: nobody is asked about those (SPEC 6).
async fn authorize(
    parts: &Parts,
    identity: &Arc<Identity>,
    checks: Vec<Check>,
    turn: &mut Turn,
) -> Result<(), RunError> {
    let mut unfit: HashMap<&str, ToolReturn> = HashMap::new();
    for check in &checks {
        let Target::Call { call_id, tool, arguments } = &check.target else { continue };
        let bound = parts.setup.graph.find_tool(tool.as_str()).and_then(|tool| parts.tools.get(tool.position()));
        if let Some(answer) = bound.and_then(|bound| bound.unfit(call_id, arguments)) {
            unfit.insert(call_id, answer);
        }
    }
    if !unfit.is_empty() {
        for (_, returned) in unfit {
            turn.handle_input(Input::ToolReturned(returned)).map_err(RunError::Protocol)?;
        }
        return Ok(());
    }
    let decisions = match &parts.authorizer {
        Some(authorizer) => decide_all(authorizer, parts.authorizer_timeout, identity, checks).await,
        // A turn asks only where its setup has permissions, and then there is somebody to ask.
        None => Vec::new(),
    };
    turn.handle_input(Input::Authorized(decisions)).map_err(RunError::Protocol)
}

/// The runs of a batch in call order, cut where a tool must be alone.
fn groups(parts: &Parts, runs: Vec<ToolRun>) -> Vec<Vec<ToolRun>> {
    let mut groups: Vec<Vec<ToolRun>> = Vec::new();
    let mut last_is_alone = true;
    for run in runs {
        let alone = parts.tools.get(run.tool.position()).is_some_and(|tool| tool.options.exclusive);
        match groups.last_mut() {
            Some(group) if !alone && !last_is_alone => group.push(run),
            _ => groups.push(vec![run]),
        }
        last_is_alone = alone;
    }
    groups
}

/// Runs tools at the same time. Each result goes to the turn when it is there: what has returned is kept even if the rest
/// is dropped.
async fn run_together(
    parts: &Parts,
    identity: &Arc<Identity>,
    runs: Vec<ToolRun>,
    turn: &mut Turn,
) -> Result<(), RunError> {
    let mut tasks = JoinSet::new();
    let mut calls: HashMap<Id, (String, String)> = HashMap::new();
    for run in runs {
        let names = (run.call_id.clone(), run.name.to_string());
        let handle = match parts.tools.get(run.tool.position()) {
            Some(tool) => {
                let context = ToolContext {
                    call_id: run.call_id.clone(),
                    tool: run.name.clone(),
                    identity: identity.clone(),
                    answer: run.answer,
                };
                let timeout = tool.options.timeout.unwrap_or(parts.tool_timeout);
                tasks.spawn(within(timeout, run.call_id, run.name.to_string(), tool.run(run.arguments, context)))
            }
            // The agent was built with a tool for every position.
            None => {
                let text = format!("`{}` has no implementation.", run.name);
                tasks.spawn(std::future::ready(ToolReturn::message(run.call_id, Status::Failure, text)))
            }
        };
        calls.insert(handle.id(), names);
    }
    while let Some(joined) = tasks.join_next_with_id().await {
        let returned = match joined {
            Ok((_, returned)) => returned,
            Err(error) => {
                let Some((call_id, name)) = calls.remove(&error.id()) else { continue };
                broken(call_id, &name, &error)
            }
        };
        turn.handle_input(Input::ToolReturned(returned)).map_err(RunError::Protocol)?;
    }
    Ok(())
}

async fn within(timeout: Duration, call_id: String, name: String, run: impl Future<Output = ToolReturn>) -> ToolReturn {
    match tokio::time::timeout(timeout, run).await {
        Ok(returned) => returned,
        Err(_) => {
            let seconds = timeout.as_secs_f64();
            let text =
                format!("`{name}` did not return within {seconds} seconds. Whether it had an effect is not known.");
            ToolReturn::message(call_id, Status::Failure, text)
        }
    }
}

/// The result of a task that did not end by returning.
fn broken(call_id: String, name: &str, error: &JoinError) -> ToolReturn {
    let what = if error.is_panic() { "failed unexpectedly" } else { "was interrupted" };
    ToolReturn::message(
        call_id,
        Status::Failure,
        format!("`{name}` {what} before it returned. Whether it had an effect is not known."),
    )
}
