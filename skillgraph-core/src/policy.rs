//! How much of a catalog may be open.

#[cfg(feature = "turn")]
use serde::{Deserialize, Serialize};

/// The bounds of a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "turn", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "turn", serde(default, deny_unknown_fields))]
pub struct SkillPolicy {
    /// How many skills may be open.
    pub max_open_skills: usize,
    /// How many tools of one skill may be bound, however often the model asks.
    pub max_bound_tools_per_skill: usize,
    /// How many tools may be bound in all.
    pub max_bound_tools_total: usize,
    /// Which models the conversation has; none where that does not matter.
    pub model_tier: Option<ModelTier>,
    /// How the model finds skills.
    pub disclosure: Disclosure,
    /// When what is open closes by itself.
    pub reset: Reset,
}

impl SkillPolicy {
    /// 4 skills, 12 tools a skill, 40 in all, listed in the prompt, for a whole conversation.
    pub const DEFAULT: Self = Self {
        max_open_skills: 4,
        max_bound_tools_per_skill: 12,
        max_bound_tools_total: 40,
        model_tier: None,
        disclosure: Disclosure::Catalog,
        reset: Reset::Never,
    };

    /// For small models: 1 skill, 6 tools a skill, 18 in all.
    pub const SMALL: Self = Self {
        max_open_skills: 1,
        max_bound_tools_per_skill: 6,
        max_bound_tools_total: 18,
        model_tier: Some(ModelTier::Small),
        ..Self::DEFAULT
    };
}

impl Default for SkillPolicy {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How capable a model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "turn", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "turn", serde(rename_all = "snake_case"))]
pub enum ModelTier {
    /// A small model: skills for large ones are not there.
    Small,
    /// A large one.
    Large,
}

/// How a model finds skills.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "turn", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "turn", serde(rename_all = "snake_case"))]
pub enum Disclosure {
    /// All headers stand in the prompt.
    #[default]
    Catalog,
    /// The model searches.
    Search,
}

/// When what is open closes by itself, and the bounds count from 0 again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "turn", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "turn", serde(rename_all = "snake_case"))]
pub enum Reset {
    /// It stays open for the whole conversation.
    #[default]
    Never,
    /// When the next turn begins.
    Turn,
}
