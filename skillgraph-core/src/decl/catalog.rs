//! The catalog of a graph as declared.
// SPEC 11.

use super::{Lints, TextList, Word};
use crate::policy::{ModelTier, SkillPolicy};

/// `catalog { … }`: skills that a model opens within a budget.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct CatalogDecl<S> {
    /// Where it was written.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub at: S,
    /// How much of it may be open.
    pub policy: SkillPolicy,
    /// Its skills, in declaration order.
    pub skills: Vec<CatalogSkillDecl<S>>,
}

/// One skill of a catalog.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct CatalogSkillDecl<S> {
    /// What the author calls it.
    pub ident: Word<S>,
    /// What the model opens it by.
    pub key: Word<S>,
    /// Its name for people, where the author gave one.
    pub title: Option<Word<S>>,
    /// The one line by which a model chooses.
    pub header: Option<Word<S>>,
    /// Its instructions.
    pub prompt: Option<Word<S>>,
    /// Its tools, by identifier.
    pub tools: Vec<Word<S>>,
    /// Tools that are bound when it opens, where there are too many to bind all.
    pub default_bind: Option<TextList<S>>,
    /// It needs a sandbox.
    pub needs_sandbox: bool,
    /// The least model that it is for.
    pub min_model_tier: Option<ModelTier>,
    /// The function that says whether it is there, as it was written.
    pub available: Option<Word<S>>,
    /// Lint levels for this skill.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub lints: Lints,
    /// Some of it could not be read, which is a finding of its own: nothing is said of what seems to be missing.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub unread: bool,
}

impl<S> CatalogSkillDecl<S> {
    /// Whether it has more tools than may be bound at once.
    pub fn is_large(&self, policy: &SkillPolicy) -> bool {
        self.tools.len() > policy.max_bound_tools_per_skill
    }
}
