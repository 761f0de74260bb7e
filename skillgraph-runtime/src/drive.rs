//! The loop: it answers what the turn asks, and decides nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use skillgraph_core::decl::Status;
use skillgraph_core::turn::{Check, Choice, Event, Input, Outcome, Output, Target, ToolReturn, ToolRun, Turn};
use tokio::task::{Id, JoinError, JoinSet};

use crate::authorize::{Identity, decide_all};
use crate::catalog::{BoundTools, ask};
use crate::model::Piece;
use crate::parts::Parts;
use crate::report::RunError;
use crate::scorer::choose;
use crate::tool::{BoundTool, ToolContext};
use crate::trace;

/// Who watches a turn.
pub(crate) trait Observe: Send {
    /// Something happened.
    fn event(&mut self, event: Event);
    /// Whether replies are to come piece by piece.
    fn streams(&self) -> bool {
        false
    }
    /// A piece of a reply came.
    fn piece(&mut self, _: Piece) {}
}

/// Runs a turn to its end, or until it waits for a person. Each event is handed on as soon as the turn tells it.
pub(crate) async fn drive(
    parts: &Parts,
    identity: &Arc<Identity>,
    turn: &mut Turn,
    bound: &mut BoundTools,
    observer: &mut dyn Observe,
) -> Result<Outcome, RunError> {
    loop {
        while let Some(event) = turn.poll_event() {
            trace::event(&event);
            observer.event(event);
        }
        match turn.poll_output() {
            Output::Authorize(checks) => authorize(parts, identity, checks, bound, turn).await?,
            Output::AskCatalog(questions) => {
                let answers = ask::answer(parts, identity, questions, bound).await;
                turn.handle_input(Input::CatalogAnswered(answers)).map_err(RunError::Protocol)?;
            }
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
                let model = named.unwrap_or(&parts.model);
                let span = trace::chat(model.name_of(), &request, parts.trace_content);
                let asked = match observer.streams() {
                    true => {
                        let mut hand_on = |piece| observer.piece(piece);
                        trace::inside(span.clone(), model.stream_boxed(request, &mut hand_on)).await
                    }
                    false => trace::inside(span.clone(), model.complete_boxed(request)).await,
                };
                let input = match asked {
                    Ok(reply) => {
                        trace::replied(&span, &reply, parts.trace_content);
                        Input::ModelReplied(reply)
                    }
                    Err(error) => {
                        let reason = error.to_string();
                        trace::failed(&span, &reason);
                        Input::ModelFailed { reason }
                    }
                };
                turn.handle_input(input).map_err(RunError::Protocol)?;
            }
            Output::RunTools(runs) => {
                for group in groups(with_tools(parts, runs, bound).await) {
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
    bound: &BoundTools,
    turn: &mut Turn,
) -> Result<(), RunError> {
    let mut unfit: HashMap<&str, ToolReturn> = HashMap::new();
    for check in &checks {
        let Target::Call { call_id, tool, arguments } = &check.target else { continue };
        let own = parts.setup.graph.find_tool(tool.as_str()).and_then(|tool| parts.tools.get(tool.position()));
        let tool = own.or_else(|| bound.get(tool.as_str()).map(Arc::as_ref));
        if let Some(answer) = tool.and_then(|bound| bound.unfit(call_id, arguments)) {
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

/// A call, and the tool that runs it; none where there is none any more.
type ToRun<'a> = (ToolRun, Option<Runnable<'a>>);

/// A tool of the agent, or of a skill of its catalog.
enum Runnable<'a> {
    Own(&'a BoundTool),
    Bound(Arc<BoundTool>),
}

impl Runnable<'_> {
    fn tool(&self) -> &BoundTool {
        match self {
            Runnable::Own(tool) => tool,
            Runnable::Bound(tool) => tool,
        }
    }
}

async fn with_tools<'a>(parts: &'a Parts, runs: Vec<ToolRun>, bound: &mut BoundTools) -> Vec<ToRun<'a>> {
    let mut with_tools = Vec::with_capacity(runs.len());
    for run in runs {
        let tool = match parts.tools.get(run.tool.position()) {
            Some(tool) => Some(Runnable::Own(tool)),
            None => ask::bound_tool(parts, run.name.as_str(), bound).await.map(Runnable::Bound),
        };
        with_tools.push((run, tool));
    }
    with_tools
}

/// The runs of a batch in call order, cut where a tool must be alone.
fn groups(runs: Vec<ToRun<'_>>) -> Vec<Vec<ToRun<'_>>> {
    let mut groups: Vec<Vec<ToRun<'_>>> = Vec::new();
    let mut last_is_alone = true;
    for (run, tool) in runs {
        let alone = tool.as_ref().is_some_and(|tool| tool.tool().options.exclusive);
        match groups.last_mut() {
            Some(group) if !alone && !last_is_alone => group.push((run, tool)),
            _ => groups.push(vec![(run, tool)]),
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
    runs: Vec<ToRun<'_>>,
    turn: &mut Turn,
) -> Result<(), RunError> {
    let mut tasks = JoinSet::new();
    let mut calls: HashMap<Id, (String, String)> = HashMap::new();
    for (run, tool) in runs {
        let names = (run.call_id.clone(), run.name.to_string());
        let handle = match &tool {
            Some(tool) => {
                let tool = tool.tool();
                let context = ToolContext {
                    call_id: run.call_id.clone(),
                    tool: run.name.clone(),
                    identity: identity.clone(),
                    answer: run.answer.clone(),
                };
                let timeout = tool.options.timeout.unwrap_or(parts.tool_timeout);
                let (span, content) = (trace::tool(&run, parts.trace_content), parts.trace_content);
                let running = within(timeout, run.call_id, run.name.to_string(), tool.run(run.arguments, context));
                tasks.spawn(async move {
                    let returned = trace::inside(span.clone(), running).await;
                    trace::returned(&span, &returned, content);
                    returned
                })
            }
            // A skill of the catalog has it no more.
            None => {
                let text = format!("`{}` cannot be had any more.", run.name);
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
