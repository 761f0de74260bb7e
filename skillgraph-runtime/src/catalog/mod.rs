//! The catalog's skills: what an author implements for those that are known only at run time, and what the loop asks
//! them.
// SPEC 11.

pub(crate) mod ask;

use std::collections::HashMap;
use std::future::{Future, ready};
use std::sync::Arc;
use std::time::Duration;

use skillgraph_core::catalog::{CatalogEntry, ToolHeader, rank_tools};
use skillgraph_core::graph::Availability;

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
    pub(crate) prompt: String,
    pub(crate) ranked: Vec<String>,
    pub(crate) tools: Vec<DynTool>,
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
