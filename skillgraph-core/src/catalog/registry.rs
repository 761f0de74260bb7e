//! The skills of a catalog by key, with what is worked out once of all of them.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::OnceLock;

use super::{CatalogEntry, Disclosure, SearchIndex, SkillPolicy, header_block};
use crate::decl::{CATALOG_KEY, TOOL_NAME, is_catalog_key, is_tool_name};
use crate::text::is_blank;

/// A catalog: its skills, how much of it may be open, and what opens by itself.
///
/// ```
/// use skillgraph_core::catalog::{Catalog, CatalogEntry, CatalogError, SkillPolicy, ToolHeader};
///
/// let tool = ToolHeader { name: "pdf_read".into(), description: None };
/// let pdf = CatalogEntry { key: "builtin:pdf".into(), header: "read PDF files".into(), tools: vec![tool], ..Default::default() };
/// let catalog = Catalog::new(SkillPolicy::DEFAULT, vec![pdf.clone()])?.preopen(["builtin:pdf"])?;
/// assert_eq!(catalog.find("builtin:pdf"), Some(&pdf));
///
/// let twice = Catalog::new(SkillPolicy::DEFAULT, vec![pdf.clone(), pdf]);
/// assert!(matches!(twice, Err(CatalogError::DuplicateKey { .. })));
/// # Ok::<(), CatalogError>(())
/// ```
#[derive(Debug)]
pub struct Catalog {
    policy: SkillPolicy,
    entries: Vec<CatalogEntry>,
    by_key: HashMap<String, usize>,
    preopened: Vec<String>,
    /// The listing where nothing is away.
    listing: OnceLock<String>,
    index: OnceLock<SearchIndex>,
}

/// Why skills are no catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogError {
    /// Two skills have one key.
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A key is not one: 1 to 64 of `a-z`, `0-9`, and single `-` and `:` between them.
    InvalidKey {
        /// What it is.
        key: String,
    },
    /// A tool's name is not one that providers accept.
    InvalidTool {
        /// The skill.
        key: String,
        /// The name.
        tool: String,
    },
    /// A skill lists one tool twice.
    DuplicateTool {
        /// The skill.
        key: String,
        /// The tool.
        tool: String,
    },
    /// A skill binds by default what it does not have.
    UnknownDefault {
        /// The skill.
        key: String,
        /// The tool.
        tool: String,
    },
    /// A skill has no header: a model could not choose it.
    BlankHeader {
        /// The skill.
        key: String,
    },
    /// A bound of the policy is 0: nothing could ever be opened.
    NothingFits {
        /// The field of the policy.
        field: &'static str,
    },
    /// The instructions of a skill are longer than a result may be.
    PromptTooLong {
        /// The skill.
        key: String,
        /// How many characters they have.
        characters: usize,
        /// The maximum.
        maximum: usize,
    },
    /// What is to open by itself is not there.
    UnknownPreopened {
        /// The key.
        key: String,
    },
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CatalogError::DuplicateKey { key } => write!(f, "two skills of the catalog have the key `{key}`"),
            CatalogError::InvalidKey { key } => {
                write!(f, "`{key}` cannot be the key of a catalog skill: a key is {CATALOG_KEY}")
            }
            CatalogError::InvalidTool { key, tool } => {
                write!(f, "the catalog skill `{key}` has a tool `{tool}`: a tool's name is {TOOL_NAME}")
            }
            CatalogError::DuplicateTool { key, tool } => {
                write!(f, "the catalog skill `{key}` lists its tool `{tool}` twice")
            }
            CatalogError::UnknownDefault { key, tool } => {
                write!(f, "the catalog skill `{key}` binds `{tool}` by default, which is not among its tools")
            }
            CatalogError::BlankHeader { key } => {
                write!(f, "the catalog skill `{key}` has no header: it is the one line by which a model chooses")
            }
            CatalogError::NothingFits { field } => {
                write!(f, "`{field}` of the catalog's policy is 0: nothing could ever be opened")
            }
            CatalogError::PromptTooLong { key, characters, maximum } => write!(
                f,
                "the prompt of the catalog skill `{key}` has {characters} characters, and the maximum is {maximum}: shorten \
                 it, or raise `.max_result_characters(…)`"
            ),
            CatalogError::UnknownPreopened { key } => {
                write!(f, "`{key}` is to be open from the start, and the catalog has no skill of that key")
            }
        }
    }
}

impl std::error::Error for CatalogError {}

impl Catalog {
    /// A catalog of these skills, in this order.
    ///
    /// # Errors
    ///
    /// [`CatalogError`] with the first skill that cannot be one of it.
    pub fn new(policy: SkillPolicy, entries: Vec<CatalogEntry>) -> Result<Self, CatalogError> {
        let bounds = [
            ("max_open_skills", policy.max_open_skills),
            ("max_bound_tools_per_skill", policy.max_bound_tools_per_skill),
            ("max_bound_tools_total", policy.max_bound_tools_total),
        ];
        if let Some((field, _)) = bounds.into_iter().find(|(_, bound)| *bound == 0) {
            return Err(CatalogError::NothingFits { field });
        }
        let mut by_key = HashMap::with_capacity(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            let key = || entry.key.clone();
            if !is_catalog_key(&entry.key) {
                return Err(CatalogError::InvalidKey { key: key() });
            }
            if by_key.insert(key(), at).is_some() {
                return Err(CatalogError::DuplicateKey { key: key() });
            }
            if is_blank(&entry.header) {
                return Err(CatalogError::BlankHeader { key: key() });
            }
            let mut names = BTreeSet::new();
            for tool in &entry.tools {
                if !is_tool_name(&tool.name) {
                    return Err(CatalogError::InvalidTool { key: key(), tool: tool.name.clone() });
                }
                if !names.insert(tool.name.as_str()) {
                    return Err(CatalogError::DuplicateTool { key: key(), tool: tool.name.clone() });
                }
            }
            if let Some(tool) = entry.default_bind.iter().find(|name| !names.contains(name.as_str())) {
                return Err(CatalogError::UnknownDefault { key: key(), tool: tool.clone() });
            }
        }
        Ok(Self { policy, entries, by_key, preopened: Vec::new(), listing: OnceLock::new(), index: OnceLock::new() })
    }

    /// Has skills open by themselves when a turn begins, as far as the policy lets them.
    ///
    /// # Errors
    ///
    /// [`CatalogError::UnknownPreopened`] where the catalog does not have one.
    pub fn preopen(mut self, keys: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, CatalogError> {
        for key in keys {
            let key = key.into();
            if !self.by_key.contains_key(&key) {
                return Err(CatalogError::UnknownPreopened { key });
            }
            if !self.preopened.contains(&key) {
                self.preopened.push(key);
            }
        }
        Ok(self)
    }

    /// How much of it may be open.
    pub fn policy(&self) -> &SkillPolicy {
        &self.policy
    }

    /// The skills, in order.
    pub fn entries(&self) -> &[CatalogEntry] {
        &self.entries
    }

    /// The skill of that key, character by character.
    pub fn find(&self, key: &str) -> Option<&CatalogEntry> {
        self.by_key.get(key).and_then(|at| self.entries.get(*at))
    }

    /// The keys of what opens by itself.
    pub fn preopened(&self) -> &[String] {
        &self.preopened
    }

    /// The skills that the models of the conversation may know of.
    pub fn known(&self) -> impl Iterator<Item = &CatalogEntry> {
        self.entries.iter().filter(|entry| entry.is_for(self.policy.model_tier))
    }

    /// What a prompt says of it where the model does not search; empty where it does. Skills that are away are not there.
    pub fn listing(&self, away: &BTreeSet<String>) -> std::borrow::Cow<'_, str> {
        if self.policy.disclosure == Disclosure::Search {
            return "".into();
        }
        if away.is_empty() {
            return self.listing.get_or_init(|| header_block(self.known())).into();
        }
        header_block(self.known().filter(|entry| !away.contains(&entry.key))).into()
    }

    /// The skills that a query means, best first; where it means none, the first ones of the catalog, and that is said.
    pub fn search(&self, query: &str, limit: usize, away: &BTreeSet<String>) -> (Vec<&CatalogEntry>, bool) {
        let index = self.index.get_or_init(|| SearchIndex::new(self.known()));
        // What is away takes no place.
        let hits = index.search(query, limit.saturating_add(away.len()));
        let known: Vec<&CatalogEntry> = self.known().collect();
        let hits = hits.into_iter().filter_map(|at| known.get(at).copied());
        let hits: Vec<&CatalogEntry> = hits.filter(|entry| !away.contains(&entry.key)).take(limit.max(1)).collect();
        if !hits.is_empty() {
            return (hits, true);
        }
        (known.into_iter().filter(|entry| !away.contains(&entry.key)).take(limit.max(1)).collect(), false)
    }
}
