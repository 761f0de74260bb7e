//! The loop: it answers what the turn asks, and decides nothing.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use skillgraph_core::decl::Status;
use skillgraph_core::turn::{
    Check, Choice, Event, Input, InputError, ModelReply, ModelRequest, Outcome, Output, Target, ToolReturn, ToolRun,
    Turn,
};
use tokio::task::{Id, JoinError, JoinSet};

use crate::authorize::{Identity, decide_all};
use crate::catalog::{BoundTools, ask};
use crate::model::{ModelError, Piece};
use crate::parts::Parts;
use crate::scorer::{choose, score};
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
    /// Stores the turn as it is now, where somebody wants that.
    fn store<'a>(&'a mut self, turn: &Turn) -> BoxFuture<'a, Result<(), Stop>>;
    /// Waits until the reader has taken all that was handed on.
    fn caught_up(&mut self) -> BoxFuture<'_, ()>;
}

/// Why a turn is not driven on. It can be gone on with, but for a mistake of this library.
pub(crate) enum Stop {
    /// The model could not be asked.
    Model(ModelError),
    /// The state could not be stored.
    Checkpoint(String),
    /// The turn machine refused an answer of the loop.
    Protocol(InputError),
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs a turn to its end, or until it waits for a person.
///
/// The turn is stored before anything is done outside of it, and after each result. What happened is handed on after that, and
/// nothing more is done before it is taken: whoever watches never sees what is not stored.
pub(crate) async fn drive(
    parts: &Parts,
    identity: &Arc<Identity>,
    turn: &mut Turn,
    bound: &mut BoundTools,
    observer: &mut dyn Observe,
) -> Result<Outcome, Stop> {
    loop {
        let output = turn.poll_output();
        let acts = matches!(output, Output::CallModel(_) | Output::RunTools(_) | Output::Pause(_) | Output::Done(_));
        if acts {
            observer.store(turn).await?;
        }
        hand_on(turn, observer, parts.trace_content);
        match output {
            Output::Authorize(checks) => authorize(parts, identity, checks, bound, turn).await?,
            Output::AskCatalog(questions) => {
                let answers = ask::answer(parts, identity, questions, bound).await;
                tell(turn, Input::CatalogAnswered(answers))?;
            }
            Output::Score(request) => {
                let input = match &parts.scorer {
                    Some(scorer) => match score(scorer, request).await {
                        Ok(scores) => Input::Scored(scores),
                        Err(error) => Input::ScoreFailed { reason: error.to_string() },
                    },
                    // The agent was built with a scorer where the graph asks for one.
                    None => Input::ScoreFailed { reason: "the agent has no scorer".to_owned() },
                };
                tell(turn, input)?;
            }
            Output::Decide(request) => {
                let input = match &parts.decider {
                    Some(decider) => match choose(&**decider, request).await {
                        Ok(choice) => Input::Decided(choice),
                        Err(error) => Input::DecideFailed { reason: error.to_string() },
                    },
                    None => Input::Decided(Choice::None),
                };
                tell(turn, input)?;
            }
            Output::CallModel(request) => {
                observer.caught_up().await;
                let asked = call_model(parts, request, observer).await;
                match asked {
                    Ok(reply) => tell(turn, Input::ModelReplied(reply))?,
                    Err(error) => {
                        tell(turn, Input::ModelFailed { reason: error.to_string() })?;
                        hand_on(turn, observer, parts.trace_content);
                        return Err(Stop::Model(error));
                    }
                }
            }
            Output::RunTools(runs) => {
                for group in groups(with_tools(parts, runs, bound).await) {
                    observer.caught_up().await;
                    run_together(parts, identity, group, turn, observer).await?;
                }
            }
            Output::Pause(questions) => return Ok(Outcome::Paused { questions }),
            Output::Done(outcome) => return Ok(outcome),
        }
    }
}

fn tell(turn: &mut Turn, input: Input) -> Result<(), Stop> {
    turn.handle_input(input).map_err(Stop::Protocol)
}

/// Hands on what has happened.
fn hand_on(turn: &mut Turn, observer: &mut dyn Observe, content: bool) {
    while let Some(event) = turn.poll_event() {
        trace::event(&event, content);
        observer.event(event);
    }
}

async fn call_model(
    parts: &Parts,
    request: ModelRequest,
    observer: &mut dyn Observe,
) -> Result<ModelReply, ModelError> {
    let named = request.model.as_ref().and_then(|name| parts.named_models.get(name));
    let model = named.unwrap_or(&parts.model);
    let span = trace::chat(model.name_of(), &request, parts.trace_content);
    let offered = trace::skills(&request);
    let asked = match observer.streams() {
        true => {
            let mut hand_on = |piece| observer.piece(piece);
            trace::inside(span.clone(), model.stream_boxed(request, &mut hand_on)).await
        }
        false => trace::inside(span.clone(), model.complete_boxed(request)).await,
    };
    match &asked {
        Ok(reply) => trace::replied(&span, reply, &offered, parts.trace_content),
        Err(error) => trace::failed(&span, error, parts.trace_content),
    }
    asked
}

/// Asks who may do what. Arguments that do not fit their tool's type come first: nobody is asked about those.
// SPEC 6.
async fn authorize(
    parts: &Parts,
    identity: &Arc<Identity>,
    checks: Vec<Check>,
    bound: &BoundTools,
    turn: &mut Turn,
) -> Result<(), Stop> {
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
            tell(turn, Input::ToolReturned(returned))?;
        }
        return Ok(());
    }
    let decisions = match &parts.authorizer {
        Some(authorizer) => decide_all(authorizer, parts.authorizer_timeout, identity, checks).await,
        // A turn asks only where its setup has permissions, and then there is somebody to ask.
        None => Vec::new(),
    };
    tell(turn, Input::Authorized(decisions))
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
    observer: &mut dyn Observe,
) -> Result<(), Stop> {
    let mut tasks = JoinSet::new();
    let mut calls: HashMap<Id, (String, String)> = HashMap::new();
    for (run, tool) in runs {
        let names = (run.call_id.clone(), run.name.to_string());
        let handle = match &tool {
            Some(tool) => {
                let tool = tool.tool();
                let context = ToolContext {
                    call_id: run.call_id.clone(),
                    idempotency_key: run.idempotency_key.clone(),
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
                let text = format!("`{}` is no longer available.", run.name);
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
        tell(turn, Input::ToolReturned(returned))?;
        observer.store(turn).await?;
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
