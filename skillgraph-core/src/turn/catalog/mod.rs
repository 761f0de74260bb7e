//! The catalog in a turn: what a conversation has of it, what a host is asked about it, and what becomes of calls that
//! open, bind and search.
//!
//! Two rounds at the most ([`ask`]): which skills are there, then what is needed of those that open. Both end closed: what is not
//! answered is not there, and has not opened. Then the calls are answered ([`answer`]).
// SPEC 11.

mod answer;
mod ask;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Capability, Setup, ToolSpec};
use crate::catalog::{OpenRefusal, Opened};

pub(super) use answer::CatalogCall;
pub(super) use ask::{Asked, Then};

/// What a conversation has open of a catalog: plain data, by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogState {
    pub(super) opened: Opened,
    /// Bound tools that only the host knows, as it told of them.
    pub(super) tools: Vec<CatalogTool>,
    /// Keys of skills that were not there when that was last asked.
    pub(super) away: BTreeSet<String>,
    /// Keys of skills that the conversation has named: found, opened, or refused by name.
    pub(super) named: BTreeSet<String>,
}

impl CatalogState {
    /// The open skills and the bound tools.
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// The bound tool of that name, where only the host knows it.
    pub(super) fn tool(&self, name: &str) -> Option<&CatalogTool> {
        self.tools.iter().find(|tool| tool.spec.name == *name)
    }

    fn close(&mut self, key: &str) -> bool {
        let closed = self.opened.close(key);
        self.forget_unbound();
        closed
    }

    /// Drops what the catalog no longer has, and all where what is left is more than may be open; returns those skills.
    pub(super) fn fit(&mut self, setup: &Setup) -> Vec<String> {
        let catalog = setup.catalog.as_ref();
        let mut gone = self.opened.retain(|key| catalog?.find(key));
        self.away.retain(|key| catalog.is_some_and(|catalog| catalog.find(key).is_some()));
        self.named.retain(|key| catalog.is_some_and(|catalog| catalog.find(key).is_some()));
        self.forget_unbound();
        if !self.is_of(setup) {
            gone.extend(self.opened.skills().map(str::to_owned));
            let (away, named) = (std::mem::take(&mut self.away), std::mem::take(&mut self.named));
            *self = Self { away, named, ..Self::default() };
        }
        gone
    }

    /// The bound tools of which only the host knows what they need, by skill.
    fn untold(&self) -> Vec<(String, Vec<String>)> {
        let untold = |name: &str| self.tool(name).is_some_and(|tool| tool.capabilities.is_none());
        let tools_of = |key: &str| self.opened.tools_of(key).filter(|name| untold(name)).map(str::to_owned).collect();
        let keys = self.opened.skills().map(|key| (key.to_owned(), tools_of(key)));
        keys.filter(|(_, tools): &(String, Vec<String>)| !tools.is_empty()).collect()
    }

    /// Takes in what a host tells anew of bound tools; those that it does not tell of are not bound any more.
    fn retell(&mut self, untold: Vec<String>, told: Vec<CatalogTool>) {
        for name in untold {
            let new = told.iter().find(|tool| tool.spec.name == *name).cloned();
            match (new, self.tools.iter_mut().find(|tool| tool.spec.name == *name)) {
                (Some(new), Some(tool)) => *tool = new,
                _ => self.opened.unbind(&name),
            }
        }
        self.forget_unbound();
    }

    fn forget_unbound(&mut self) {
        let bound: BTreeSet<&str> = self.opened.tools().collect();
        self.tools.retain(|tool| bound.contains(tool.spec.name.as_str()));
    }

    /// Whether a turn of this catalog can come to it.
    pub(super) fn is_of(&self, setup: &Setup) -> bool {
        let Some(catalog) = &setup.catalog else { return *self == Self::default() };
        self.opened.is_within(catalog.policy(), |key| catalog.find(key))
            && self.opened.tools().all(|name| setup.is_registered(name) || self.tool(name).is_some())
    }
}

/// A tool that a host has bound.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CatalogTool {
    /// The tool as the model is told of it.
    pub spec: Arc<ToolSpec>,
    /// What somebody must be allowed to run it, beside `tool_call`. It is not saved, so that nobody can change it: none
    /// until the host has told it again.
    // SPEC 9.
    #[serde(skip)]
    capabilities: Option<Vec<Capability>>,
}

impl PartialEq for CatalogTool {
    /// By what is saved of it.
    fn eq(&self, other: &Self) -> bool {
        self.spec == other.spec
    }
}

impl CatalogTool {
    /// A tool, and what somebody must be allowed to run it, beside `tool_call`.
    pub fn new(spec: Arc<ToolSpec>, capabilities: Vec<Capability>) -> Self {
        Self { spec, capabilities: Some(capabilities) }
    }

    /// What somebody must be allowed to run it; none where only the host knows it.
    pub(super) fn capabilities(&self) -> Option<&[Capability]> {
        self.capabilities.as_deref()
    }
}

/// A question about a skill of the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CatalogQuestion {
    /// Is it there, for whoever the conversation is with? Answered by [`CatalogAnswer::Available`] or
    /// [`CatalogAnswer::Unavailable`].
    Available {
        /// The skill's key.
        key: String,
    },
    /// What are its instructions? Answered by [`CatalogAnswer::Opened`].
    Open {
        /// The skill's key.
        key: String,
        /// What its tools are to be ordered by, where it has more than are bound at once and the model said what for.
        query: Option<String>,
        /// Tools that only the host knows, and that are bound now.
        tools: Vec<String>,
    },
    /// What are these tools? Answered by [`CatalogAnswer::Bound`].
    Bind {
        /// The skill's key.
        key: String,
        /// Their names.
        tools: Vec<String>,
    },
}

/// The answer to one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CatalogAnswer {
    /// It is there.
    Available,
    /// It is not, or whoever the conversation is with may not know of it.
    Unavailable {
        /// Why, for the record.
        reason: String,
    },
    /// It opens.
    Opened {
        /// Its instructions.
        prompt: String,
        /// Names of its tools, best first, where the question had a query; empty for the order of the skill.
        ranked: Vec<String>,
        /// The tools that the question names. One that is missing is not bound.
        tools: Vec<CatalogTool>,
    },
    /// The tools that the question names. One that is missing is not bound.
    Bound {
        /// The tools.
        tools: Vec<CatalogTool>,
    },
    /// It could not be done.
    Failed {
        /// Why, for the record.
        reason: String,
    },
}

/// Why a skill of the catalog was not opened, or no tool of it bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CatalogRefusal {
    /// No skill has that key.
    Unknown,
    /// It is not for the models of the conversation. The model reads the same as of an unknown key.
    NotForTier,
    /// It is not there now. The model reads the same as of an unknown key.
    Unavailable,
    /// As many are open as may be.
    TooManyOpen,
    /// As many tools are bound as may be.
    NoToolsLeft,
    /// It is not open: no tool of it can be bound.
    NotOpen,
    /// The host could not give what it needs.
    Failed {
        /// What the host said.
        reason: String,
    },
}

/// Why a skill of the catalog is not open any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CloseReason {
    /// The policy closes all when a turn begins.
    Reset,
    /// It is not there now.
    Unavailable,
    /// The catalog does not have it any more.
    Gone,
}

impl From<OpenRefusal> for CatalogRefusal {
    fn from(refusal: OpenRefusal) -> Self {
        match refusal {
            OpenRefusal::NotForTier => CatalogRefusal::NotForTier,
            OpenRefusal::TooManyOpen { .. } => CatalogRefusal::TooManyOpen,
            OpenRefusal::NoToolsLeft { .. } => CatalogRefusal::NoToolsLeft,
        }
    }
}
