//! Progressive disclosure: a large set of skills of which a model sees a line each, opens a few, and gets a few tools
//! of those.
//!
//! The rules, without the asking: who opens what is decided here from what is known, and everything that a policy cuts is
//! said. [`search_skills`] and [`header_block`] are what a model finds skills by, [`Opened`] is what it has open, saved and
//! restored by name.
//!
//! ```
//! use skillgraph_core::catalog::{CatalogEntry, NotBoundReason, Opened, SkillPolicy, ToolHeader};
//!
//! let tool = |name: &str| ToolHeader { name: name.into(), description: None };
//! let jira = CatalogEntry {
//!     key: "mcp:jira".into(),
//!     tools: vec![tool("jira_search"), tool("jira_comment"), tool("jira_close")],
//!     default_bind: vec!["jira_search".into()],
//!     ..CatalogEntry::default()
//! };
//! let policy = SkillPolicy { max_bound_tools_per_skill: 2, ..SkillPolicy::DEFAULT };
//! let mut opened = Opened::new();
//!
//! // It has more tools than may be bound: the model gets their names, and those that the skill binds by default.
//! let opening = opened.open(&jira, None, |_, tools| tools.to_vec(), &policy)?;
//! assert_eq!(opening.binding.bound, ["jira_search"]);
//! assert_eq!(opening.index.map(|index| index.len()), Some(3));
//!
//! let binding = opened.bind(&jira, &["jira_comment", "jira_close"], &policy).expect("it is open");
//! assert_eq!(binding.bound, ["jira_comment"]);
//! assert_eq!(binding.not_bound[0].reason, NotBoundReason::SkillLimit);
//! # Ok::<(), skillgraph_core::catalog::OpenRefusal>(())
//! ```
// SPEC 11.

mod budget;
mod listing;
mod registry;
mod search;

use serde::{Deserialize, Serialize};

pub use crate::policy::{Disclosure, ModelTier, Reset, SkillPolicy};
pub use budget::{BindRefusal, Binding, NotBound, NotBoundReason, OpenRefusal, Opened, Opening, can_open};
pub use listing::{header_block, header_line};
pub use registry::{Catalog, CatalogError};
pub use search::{SEARCH_LIMIT, SearchIndex, is_usable, rank_tools, search_skills};

/// How many rows of a tool index a model is shown at the most.
pub const INDEX_LIMIT: usize = 40;

/// A skill of a catalog, as far as it is known before it is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogEntry {
    /// What the model opens it by; `:` may stand in it.
    pub key: String,
    /// Its name for people, which search reads too.
    pub title: String,
    /// The one line by which a model chooses.
    pub header: String,
    /// It needs a sandbox: the host is told, and nothing here acts on it.
    #[serde(default)]
    pub needs_sandbox: bool,
    /// The least model that it is for. Defaults to any.
    #[serde(default)]
    pub min_model_tier: Option<ModelTier>,
    /// Its tools.
    pub tools: Vec<ToolHeader>,
    /// Names of tools that are bound when it opens, where there are too many to bind all.
    #[serde(default)]
    pub default_bind: Vec<String>,
    /// It may be away: whether it is there is asked each time that it matters.
    #[serde(default)]
    pub may_be_away: bool,
}

/// A tool of a catalog skill before it is bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolHeader {
    /// Its name.
    pub name: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl CatalogEntry {
    /// Whether a model of that tier may know of it.
    pub fn is_for(&self, tier: Option<ModelTier>) -> bool {
        !(self.min_model_tier == Some(ModelTier::Large) && tier == Some(ModelTier::Small))
    }

    /// Whether all of its tools are bound when it opens.
    pub fn is_small(&self, policy: &SkillPolicy) -> bool {
        self.tools.len() <= policy.max_bound_tools_per_skill
    }
}
