//! Skills that somebody may not see: everything goes on as if the graph did not have them.
// SPEC 9.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{EntryIx, Graph, SkillIx, ToolIx};

/// The skills of a graph that are hidden in a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hidden(BTreeSet<SkillIx>);

impl Hidden {
    /// Nothing is hidden.
    pub const NONE: Self = Self(BTreeSet::new());

    /// Whether the skill is hidden.
    pub fn has(&self, skill: SkillIx) -> bool {
        self.0.contains(&skill)
    }

    /// Whether nothing is hidden.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The hidden skills, in declaration order.
    pub fn iter(&self) -> impl Iterator<Item = SkillIx> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<SkillIx> for Hidden {
    fn from_iter<I: IntoIterator<Item = SkillIx>>(skills: I) -> Self {
        Self(skills.into_iter().collect())
    }
}

impl Graph {
    /// Whether an entry opens a hidden skill.
    pub(crate) fn is_barred(&self, entry: EntryIx, hidden: &Hidden) -> bool {
        self.entry_skill(entry).is_some_and(|skill| hidden.has(skill))
    }

    /// The skills that can be seen, with their positions, in declaration order.
    pub(crate) fn visible<'a>(&'a self, hidden: &'a Hidden) -> impl Iterator<Item = (SkillIx, &'a super::Skill)> + 'a {
        let skills = self.skills.iter().enumerate().map(|(at, skill)| (SkillIx::new(at), skill));
        skills.filter(|(at, _)| !hidden.has(*at))
    }

    /// The constant tools without those that only hidden skills bring.
    pub(crate) fn constant_tools_without(&self, hidden: &Hidden) -> Vec<ToolIx> {
        let brings = |tool: ToolIx, skill: SkillIx| {
            self.skill(skill)
                .is_some_and(|skill| skill.scope == crate::decl::Scope::Always && skill.tools.contains(&tool))
        };
        let is_baseline = |tool: ToolIx| self.baseline.contains(&tool);
        let constant = self.constant_tools.iter().copied();
        if hidden.is_empty() {
            return constant.collect();
        }
        let brought = |tool: ToolIx| self.visible(hidden).any(|(skill, _)| brings(tool, skill));
        constant.filter(|tool| is_baseline(*tool) || brought(*tool)).collect()
    }
}
