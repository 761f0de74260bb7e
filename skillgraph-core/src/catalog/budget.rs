//! What is open, and what may still be: every bound holds on every path, and what it cuts is said.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{CatalogEntry, INDEX_LIMIT, SkillPolicy, ToolHeader, is_usable};

/// The skills that a conversation has open and the tools that it has bound, in the order in which that came. Saved and restored
/// by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    skills: Vec<String>,
    tools: Vec<Bound>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Bound {
    skill: String,
    tool: String,
}

/// What opening a skill comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// It was open already.
    pub already_open: bool,
    /// What was bound.
    pub binding: Binding,
    /// The first rows of its tool index, where it has more tools than are bound at once: the model binds by name.
    pub index: Option<Vec<ToolHeader>>,
}

/// What was bound, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Names of tools that can be called from the next model call on.
    pub bound: Vec<String>,
    /// What was asked for and is not bound by this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_bound: Vec<NotBound>,
}

/// A tool that was not bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotBound {
    /// Its name.
    pub tool: String,
    /// Why.
    pub reason: NotBoundReason,
}

/// Why a tool was not bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotBoundReason {
    /// The skill has no such tool.
    Unknown,
    /// It is bound already.
    AlreadyBound,
    /// The skill has as many bound as it may.
    SkillLimit,
    /// The conversation has.
    TotalLimit,
    /// The host did not give it.
    Failed,
    /// It needs a permission, and nobody is there who gives any.
    NoAuthorizer,
}

impl fmt::Display for NotBoundReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotBoundReason::Unknown => "the skill has no such tool",
            NotBoundReason::AlreadyBound => "it is bound already",
            NotBoundReason::SkillLimit => "the skill has as many bound as it may",
            NotBoundReason::TotalLimit => "as many tools are bound as may be",
            NotBoundReason::Failed => "it is not available now",
            NotBoundReason::NoAuthorizer => "it needs a permission that nobody can give here",
        })
    }
}

/// Why a skill does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OpenRefusal {
    /// It is not for the models of the conversation: to them it does not exist.
    NotForTier,
    /// As many are open as may be.
    TooManyOpen {
        /// How many that is.
        limit: usize,
    },
    /// As many tools are bound as may be.
    NoToolsLeft {
        /// How many that is.
        limit: usize,
    },
}

impl fmt::Display for OpenRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenRefusal::NotForTier => f.write_str("there is no such skill"),
            OpenRefusal::TooManyOpen { limit } => write!(f, "the limit of open skills is reached: {limit}"),
            OpenRefusal::NoToolsLeft { limit } => write!(f, "the limit of bound tools is reached: {limit}"),
        }
    }
}

/// Why no tool is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BindRefusal {
    /// The skill is not open.
    NotOpen,
}

impl fmt::Display for BindRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindRefusal::NotOpen => f.write_str("the skill is not open: tools are bound once it is"),
        }
    }
}

impl std::error::Error for OpenRefusal {}

impl std::error::Error for BindRefusal {}

/// Whether one more skill may open.
///
/// # Errors
///
/// [`OpenRefusal`] with the bound that is reached.
pub fn can_open(open_skills: usize, bound_tools: usize, policy: &SkillPolicy) -> Result<(), OpenRefusal> {
    if open_skills >= policy.max_open_skills {
        return Err(OpenRefusal::TooManyOpen { limit: policy.max_open_skills });
    }
    if bound_tools >= policy.max_bound_tools_total {
        return Err(OpenRefusal::NoToolsLeft { limit: policy.max_bound_tools_total });
    }
    Ok(())
}

impl Opened {
    /// Nothing is open.
    pub fn new() -> Self {
        Self::default()
    }

    /// The keys of the open skills.
    pub fn skills(&self) -> impl ExactSizeIterator<Item = &str> {
        self.skills.iter().map(String::as_str)
    }

    /// The names of the bound tools.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tools.iter().map(|bound| bound.tool.as_str())
    }

    /// Those of one skill.
    pub fn tools_of(&self, key: &str) -> impl Iterator<Item = &str> {
        self.tools.iter().filter(move |bound| bound.skill == key).map(|bound| bound.tool.as_str())
    }

    /// Whether a skill is open.
    pub fn is_open(&self, key: &str) -> bool {
        self.skills.iter().any(|open| open == key)
    }

    /// Opens a skill. With few tools all of them are bound; with many the model gets an index, ordered by `ranked` where the
    /// query says enough, and else the tools that the skill binds by default. Opening again binds what is still missing.
    ///
    /// # Errors
    ///
    /// [`OpenRefusal`] with what keeps it shut; nothing has changed then.
    pub fn open(
        &mut self,
        entry: &CatalogEntry,
        query: Option<&str>,
        rank: impl FnOnce(&str, &[ToolHeader]) -> Vec<ToolHeader>,
        policy: &SkillPolicy,
    ) -> Result<Opening, OpenRefusal> {
        if !entry.is_for(policy.model_tier) {
            return Err(OpenRefusal::NotForTier);
        }
        let already_open = self.is_open(&entry.key);
        if !already_open {
            // A skill without tools takes none of those that are left.
            let tools = if entry.tools.is_empty() { 0 } else { self.tools.len() };
            can_open(self.skills.len(), tools, policy)?;
            self.skills.push(entry.key.clone());
        }
        let is_small = entry.is_small(policy);
        let usable = query.filter(|query| is_usable(query));
        let floor: Vec<&str> = match usable {
            _ if is_small => entry.tools.iter().map(|tool| tool.name.as_str()).collect(),
            Some(_) => Vec::new(),
            None => entry.default_bind.iter().map(String::as_str).collect(),
        };
        let mut binding = self.append(entry, &floor, policy);
        // Nobody asked for one tool.
        binding.not_bound.retain(|tool| tool.reason != NotBoundReason::AlreadyBound);
        let index = (!is_small).then(|| {
            let mut index = usable.map_or_else(|| entry.tools.clone(), |query| rank(query, &entry.tools));
            index.truncate(INDEX_LIMIT);
            index
        });
        Ok(Opening { already_open, binding, index })
    }

    /// Binds tools of an open skill by name.
    ///
    /// # Errors
    ///
    /// [`BindRefusal::NotOpen`] where it is not open.
    pub fn bind(
        &mut self,
        entry: &CatalogEntry,
        names: &[impl AsRef<str>],
        policy: &SkillPolicy,
    ) -> Result<Binding, BindRefusal> {
        if !self.is_open(&entry.key) {
            return Err(BindRefusal::NotOpen);
        }
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        Ok(self.append(entry, &names, policy))
    }

    /// Closes a skill: its tools go with it. Says whether it was open.
    pub fn close(&mut self, key: &str) -> bool {
        let open = self.is_open(key);
        self.skills.retain(|skill| skill != key);
        self.tools.retain(|bound| bound.skill != key);
        open
    }

    /// Takes tools of a skill back that could not be had; a binding says so.
    pub(crate) fn take_back(
        &mut self,
        key: &str,
        binding: &mut Binding,
        missing: impl Fn(&str) -> Option<NotBoundReason>,
    ) {
        for tool in std::mem::take(&mut binding.bound) {
            match missing(&tool) {
                None => binding.bound.push(tool),
                Some(reason) => {
                    self.tools.retain(|bound| bound.skill != key || bound.tool != tool);
                    binding.not_bound.push(NotBound { tool, reason });
                }
            }
        }
    }

    /// A tool is not bound any more.
    pub(crate) fn unbind(&mut self, tool: &str) {
        self.tools.retain(|bound| bound.tool != tool);
    }

    /// Whether this can have come about under a policy, with tools that their skills have.
    pub(crate) fn is_within<'a>(&self, policy: &SkillPolicy, find: impl Fn(&str) -> Option<&'a CatalogEntry>) -> bool {
        let has = |bound: &Bound| {
            self.is_open(&bound.skill)
                && find(&bound.skill).is_some_and(|entry| entry.tools.iter().any(|tool| tool.name == bound.tool))
        };
        self.skills.len() <= policy.max_open_skills
            && self.tools.len() <= policy.max_bound_tools_total
            && self
                .skills
                .iter()
                .all(|key| find(key).is_some() && self.tools_of(key).count() <= policy.max_bound_tools_per_skill)
            && self.tools.iter().all(has)
    }

    /// Drops what a catalog no longer has, by name; returns the skills that were dropped.
    pub fn retain<'a>(&mut self, find: impl Fn(&str) -> Option<&'a CatalogEntry>) -> Vec<String> {
        let (kept, gone): (Vec<String>, Vec<String>) =
            std::mem::take(&mut self.skills).into_iter().partition(|key| find(key).is_some());
        self.skills = kept;
        self.tools.retain(|bound| {
            find(&bound.skill).is_some_and(|entry| entry.tools.iter().any(|tool| tool.name == bound.tool))
        });
        gone
    }

    fn append(&mut self, entry: &CatalogEntry, names: &[&str], policy: &SkillPolicy) -> Binding {
        let mut binding = Binding::default();
        for name in names {
            let own = self.tools_of(&entry.key).count();
            let reason = if self.tools().any(|bound| bound == *name) {
                Some(NotBoundReason::AlreadyBound)
            } else if !entry.tools.iter().any(|tool| tool.name == *name) {
                Some(NotBoundReason::Unknown)
            } else if own >= policy.max_bound_tools_per_skill {
                Some(NotBoundReason::SkillLimit)
            } else if self.tools.len() >= policy.max_bound_tools_total {
                Some(NotBoundReason::TotalLimit)
            } else {
                None
            };
            match reason {
                Some(reason) => binding.not_bound.push(NotBound { tool: (*name).to_owned(), reason }),
                None => {
                    self.tools.push(Bound { skill: entry.key.clone(), tool: (*name).to_owned() });
                    binding.bound.push((*name).to_owned());
                }
            }
        }
        binding
    }
}
