//! The catalog's skills (SPEC 11): what an author implements for those that are known only at run time, and what the loop asks
//! them.

use std::collections::HashMap;
use std::future::{Future, ready};
use std::sync::Arc;
use std::time::Duration;

use skillgraph_core::catalog::{CatalogEntry, ToolHeader, rank_tools};
use skillgraph_core::decl::SkillId;
use skillgraph_core::graph::Availability;
use skillgraph_core::turn::{Capability, CatalogAnswer, CatalogQuestion, CatalogTool, Check, Decision, Target};
use tokio::task::JoinSet;

use crate::agent::Parts;
use crate::authorize::{Identity, decide_all};
use crate::tool::{BoundTool, BoxFuture, DynTool};

/// A skill of a catalog that is known only at run time: a server's tools, a customer's own procedures.
///
/// The model sees its header, opens it, reads its prompt, and gets some of its tools. What fails, or does not answer within
/// [`catalog_timeout`](crate::AgentBuilder::catalog_timeout), counts as a no: a skill that cannot say that it is there is
/// not.
///
/// ```
/// use serde_json::json;
/// use skillgraph_core::catalog::{CatalogEntry, ToolHeader};
/// use skillgraph_runtime::{CatalogSkill, CatalogSkillError, DynTool, ToolReply};
///
/// struct Weather;
///
/// impl CatalogSkill for Weather {
///     fn entry(&self) -> CatalogEntry {
///         CatalogEntry {
///             key: "mcp:weather".into(),
///             header: "forecasts for places".into(),
///             tools: vec![ToolHeader { name: "forecast".into(), description: Some("The forecast for a place.".into()) }],
///             ..CatalogEntry::default()
///         }
///     }
///
///     async fn prompt(&self) -> Result<String, CatalogSkillError> {
///         Ok("Say how old the forecast is.".into())
///     }
///
///     async fn bind(&self, names: &[String]) -> Result<Vec<DynTool>, CatalogSkillError> {
///         Ok(names
///             .iter()
///             .map(|name| {
///                 DynTool::new(name, "The forecast for a place.", json!({ "type": "object" }), |_, _| async {
///                     Ok::<_, CatalogSkillError>(ToolReply::success(json!("rain")))
///                 })
///             })
///             .collect())
///     }
/// }
/// ```
pub trait CatalogSkill: Send + Sync + 'static {
    /// What is known of it before it is opened, its tool index included. Asked once, when the agent is built.
    fn entry(&self) -> CatalogEntry;

    /// Its instructions. Asked each time that it is opened.
    ///
    /// # Errors
    ///
    /// [`CatalogSkillError`] where there are none to be had: then it does not open.
    fn prompt(&self) -> impl Future<Output = Result<String, CatalogSkillError>> + Send;

    /// The tools of these names, all of its index. One that is missing is not bound.
    ///
    /// # Errors
    ///
    /// [`CatalogSkillError`] where none can be had.
    fn bind(&self, names: &[String]) -> impl Future<Output = Result<Vec<DynTool>, CatalogSkillError>> + Send;

    /// Whether it is there. Asked when a turn begins, where skills are listed, and when a model opens it or finds it.
    ///
    /// # Errors
    ///
    /// [`CatalogSkillError`] where that cannot be told; that counts as a no.
    fn is_available(&self) -> impl Future<Output = Result<bool, CatalogSkillError>> + Send {
        ready(Ok(true))
    }

    /// Names of its tools, best first, for a query; those that are not named are not shown. By the words that they share
    /// with it where nothing else is said.
    ///
    /// # Errors
    ///
    /// [`CatalogSkillError`] where it cannot rank: then the tools come in their own order.
    fn rank(
        &self,
        query: &str,
        index: &[ToolHeader],
    ) -> impl Future<Output = Result<Vec<String>, CatalogSkillError>> + Send {
        ready(Ok(rank_tools(query, index)))
    }
}

crate::error::reason! {
    /// Why a skill of a catalog could not do what it was asked.
    CatalogSkillError
}

/// A skill that the graph itself declares. Its tools are the agent's own: the turn has them already.
pub(crate) struct DeclaredSkill {
    pub(crate) entry: CatalogEntry,
    pub(crate) prompt: String,
    pub(crate) available: Option<Availability>,
}

impl CatalogSkill for DeclaredSkill {
    fn entry(&self) -> CatalogEntry {
        self.entry.clone()
    }

    async fn prompt(&self) -> Result<String, CatalogSkillError> {
        Ok(self.prompt.clone())
    }

    async fn bind(&self, _: &[String]) -> Result<Vec<DynTool>, CatalogSkillError> {
        Ok(Vec::new())
    }

    async fn is_available(&self) -> Result<bool, CatalogSkillError> {
        match self.available {
            Some(available) => Ok(available().await),
            None => Ok(true),
        }
    }
}

/// A skill whose futures are boxed.
pub(crate) trait AnyCatalogSkill: Send + Sync {
    fn entry_boxed(&self) -> CatalogEntry;
    fn is_available_boxed(self: Arc<Self>) -> BoxFuture<Result<bool, CatalogSkillError>>;
    fn open_boxed(
        self: Arc<Self>,
        query: Option<String>,
        index: Vec<ToolHeader>,
        tools: Vec<String>,
    ) -> BoxFuture<Result<Opened, CatalogSkillError>>;
    fn bind_boxed(self: Arc<Self>, names: Vec<String>) -> BoxFuture<Result<Vec<DynTool>, CatalogSkillError>>;
}

/// What a skill gives when it opens.
pub(crate) struct Opened {
    prompt: String,
    ranked: Vec<String>,
    tools: Vec<DynTool>,
}

impl<S: CatalogSkill> AnyCatalogSkill for S {
    fn entry_boxed(&self) -> CatalogEntry {
        self.entry()
    }

    fn is_available_boxed(self: Arc<Self>) -> BoxFuture<Result<bool, CatalogSkillError>> {
        Box::pin(async move { self.is_available().await })
    }

    fn open_boxed(
        self: Arc<Self>,
        query: Option<String>,
        index: Vec<ToolHeader>,
        tools: Vec<String>,
    ) -> BoxFuture<Result<Opened, CatalogSkillError>> {
        Box::pin(async move {
            let prompt = self.prompt().await?;
            let ranked = match query {
                Some(query) => self.rank(&query, &index).await.unwrap_or_default(),
                None => Vec::new(),
            };
            let tools = if tools.is_empty() { Vec::new() } else { self.bind(&tools).await? };
            Ok(Opened { prompt, ranked, tools })
        })
    }

    fn bind_boxed(self: Arc<Self>, names: Vec<String>) -> BoxFuture<Result<Vec<DynTool>, CatalogSkillError>> {
        Box::pin(async move { self.bind(&names).await })
    }
}

/// The skills of an agent's catalog.
#[derive(Default)]
pub(crate) struct CatalogSkills {
    pub(crate) by_key: HashMap<String, Arc<dyn AnyCatalogSkill>>,
    /// The skill of each tool that is not the agent's own.
    pub(crate) owner: HashMap<String, String>,
    pub(crate) timeout: Duration,
}

/// Tools that a conversation has bound and that are not the agent's own, by name. They are bound anew where a conversation was
/// stored in between.
pub(crate) type BoundTools = HashMap<String, Arc<BoundTool>>;

/// Answers what a turn asks of the catalog: all questions at the same time, one answer each.
pub(crate) async fn answer(
    parts: &Parts,
    identity: &Arc<Identity>,
    questions: Vec<CatalogQuestion>,
    bound: &mut BoundTools,
) -> Vec<CatalogAnswer> {
    let failed = || CatalogAnswer::Failed { reason: "it failed unexpectedly".into() };
    let denied = denied(parts, identity, &questions).await;
    let mut answers: Vec<CatalogAnswer> = questions.iter().map(|_| failed()).collect();
    let mut tasks = JoinSet::new();
    for (at, question) in questions.into_iter().enumerate() {
        if let Some(reason) = denied.get(&at) {
            if let Some(slot) = answers.get_mut(at) {
                *slot = CatalogAnswer::Unavailable { reason: reason.clone() };
            }
            continue;
        }
        let asked = ask(parts, question);
        let timeout = parts.catalog.timeout;
        tasks.spawn(async move { (at, tokio::time::timeout(timeout, asked).await) });
    }
    while let Some(joined) = tasks.join_next().await {
        // One that panicked has failed.
        let Ok((at, answered)) = joined else { continue };
        let answer = match answered {
            Ok((answer, tools)) => {
                bound.extend(tools.into_iter().map(|tool| (tool.spec.name.to_string(), Arc::new(tool))));
                answer
            }
            Err(_) => {
                let seconds = parts.catalog.timeout.as_secs_f64();
                CatalogAnswer::Failed { reason: format!("it did not answer within {seconds} seconds") }
            }
        };
        if let Some(slot) = answers.get_mut(at) {
            *slot = answer;
        }
    }
    answers
}

/// The questions about skills that whoever the conversation is with may not see, with why (SPEC 9).
async fn denied(parts: &Parts, identity: &Arc<Identity>, questions: &[CatalogQuestion]) -> HashMap<usize, String> {
    let Some(authorizer) = &parts.authorizer else { return HashMap::new() };
    let asked = questions.iter().enumerate().filter_map(|(at, question)| match question {
        CatalogQuestion::Available { key } => Some((at, key)),
        _ => None,
    });
    let (places, checks): (Vec<usize>, Vec<Check>) = asked
        .map(|(at, key)| {
            let target = Target::Skill(SkillId::from(key.as_str()));
            (at, Check { capability: Capability::SkillRead, target })
        })
        .unzip();
    let decisions = decide_all(authorizer, parts.authorizer_timeout, identity, checks).await;
    let denied = places.into_iter().zip(decisions).filter_map(|(at, decision)| match decision {
        Decision::Allowed => None,
        Decision::Denied { reason } => Some((at, reason)),
    });
    denied.collect()
}

/// Asks one skill. The answer, and the tools that it bound.
fn ask(parts: &Parts, question: CatalogQuestion) -> BoxFuture<(CatalogAnswer, Vec<BoundTool>)> {
    let skill = |key: &str| parts.catalog.by_key.get(key).cloned();
    let no_skill = || -> BoxFuture<(CatalogAnswer, Vec<BoundTool>)> {
        Box::pin(ready((CatalogAnswer::Failed { reason: "there is no such skill".into() }, Vec::new())))
    };
    let failed = |error: CatalogSkillError| (CatalogAnswer::Failed { reason: error.to_string() }, Vec::new());
    match question {
        CatalogQuestion::Available { key } => {
            let Some(skill) = skill(&key) else { return no_skill() };
            Box::pin(async move {
                let answer = match skill.is_available_boxed().await {
                    Ok(true) => CatalogAnswer::Available,
                    Ok(false) => CatalogAnswer::Unavailable { reason: "it says that it is not there".into() },
                    Err(error) => CatalogAnswer::Failed { reason: error.to_string() },
                };
                (answer, Vec::new())
            })
        }
        CatalogQuestion::Open { key, query, tools } => {
            let Some(skill) = skill(&key) else { return no_skill() };
            let entry = parts.setup.catalog.as_ref().and_then(|catalog| catalog.find(&key));
            let index = entry.map_or(Vec::new(), |entry| entry.tools.clone());
            Box::pin(async move {
                match skill.open_boxed(query, index, tools.clone()).await {
                    Ok(opened) => {
                        let (told, bound) = bind(opened.tools, &tools);
                        (CatalogAnswer::Opened { prompt: opened.prompt, ranked: opened.ranked, tools: told }, bound)
                    }
                    Err(error) => failed(error),
                }
            })
        }
        CatalogQuestion::Bind { key, tools } => {
            let Some(skill) = skill(&key) else { return no_skill() };
            Box::pin(async move {
                match skill.bind_boxed(tools.clone()).await {
                    Ok(given) => {
                        let (told, bound) = bind(given, &tools);
                        (CatalogAnswer::Bound { tools: told }, bound)
                    }
                    Err(error) => failed(error),
                }
            })
        }
        _ => no_skill(),
    }
}

/// Of what a skill gave, the tools that were asked for and that a provider would take.
fn bind(given: Vec<DynTool>, asked: &[String]) -> (Vec<CatalogTool>, Vec<BoundTool>) {
    let given = given.into_iter().filter(|tool| asked.iter().any(|name| name == tool.name()));
    let bound = given.map(BoundTool::dynamic).filter(BoundTool::takes_an_object);
    bound
        .map(|tool| {
            let told = CatalogTool { spec: Arc::new(tool.spec.clone()), capabilities: tool.capabilities.clone() };
            (told, tool)
        })
        .unzip()
}

/// The tool of a catalog's skill: as it was bound in this conversation, or bound anew.
pub(crate) async fn bound_tool(parts: &Parts, name: &str, bound: &mut BoundTools) -> Option<Arc<BoundTool>> {
    if let Some(tool) = bound.get(name) {
        return Some(tool.clone());
    }
    let key = parts.catalog.owner.get(name)?.clone();
    let asked = ask(parts, CatalogQuestion::Bind { key, tools: vec![name.to_owned()] });
    // As a task of its own: a panic stays inside.
    let task = tokio::spawn(tokio::time::timeout(parts.catalog.timeout, asked));
    let (_, tools) = task.await.ok()?.ok()?;
    bound.extend(tools.into_iter().map(|tool| (tool.spec.name.to_string(), Arc::new(tool))));
    bound.get(name).cloned()
}
