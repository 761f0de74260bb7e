//! What an agent consists of when it is built.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use skillgraph_core::turn::Setup;

use crate::authorize::AnyAuthorizer;
use crate::catalog::CatalogSkills;
use crate::model::AnyModel;
use crate::scorer::AnyScorer;
use crate::tool::BoundTool;

/// What every conversation of an agent shares. Nothing in it changes.
pub(crate) struct Parts {
    pub(crate) setup: Arc<Setup>,
    pub(crate) tools: Vec<BoundTool>,
    pub(crate) model: Arc<dyn AnyModel>,
    pub(crate) tool_timeout: Duration,
    pub(crate) scorer: Option<Arc<dyn AnyScorer>>,
    pub(crate) decider: Option<Arc<dyn AnyModel>>,
    pub(crate) authorizer: Option<Arc<dyn AnyAuthorizer>>,
    pub(crate) authorizer_timeout: Duration,
    /// Models that a governor escalates to, by name.
    pub(crate) named_models: HashMap<String, Arc<dyn AnyModel>>,
    pub(crate) catalog: CatalogSkills,
    pub(crate) trace_content: bool,
}
