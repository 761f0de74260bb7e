//! The pointer into a step procedure. It lives and dies with the cursor's tenure.
// SPEC 7.

use serde::{Deserialize, Serialize};

use super::{Continuity, Setup};
use crate::decl::{OnSkip, OnUnfinished, SkillId, ToolId};
use crate::graph::{Graph, SkillIx, Step, ToolIx};

/// Where the procedure of the open skill stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Procedure {
    skill: SkillIx,
    /// Steps that are behind, from 0.
    done: usize,
    /// Steps that were skipped, from 0.
    skipped: Vec<usize>,
}

/// Where a procedure stands, by names: as a report tells it, and as it is carried into the next turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    /// The skill.
    pub skill: SkillId,
    /// The current step, from 1.
    pub step: usize,
    /// How many there are.
    pub total: usize,
    /// The steps that were skipped, from 1.
    pub skipped: Vec<usize>,
    /// The tools of its steps, in order: of a graph in which they are others, it begins anew.
    pub tools: Vec<ToolId>,
}

impl Standing {
    /// The procedure of that skill, where it stood; none where it is another one now.
    pub(super) fn resumed(self, graph: &Graph, skill: SkillIx) -> Option<Procedure> {
        let begun = Procedure::begin(graph, skill)?;
        let is_it = self.skill == graph.skill_id(skill) && begun.plan(graph) == self.tools;
        let done = self.step.checked_sub(1).filter(|done| is_it && *done < self.tools.len())?;
        let skipped = self.skipped.into_iter().map(|step| step.checked_sub(1).filter(|step| *step < done));
        Some(Procedure { skill, done, skipped: skipped.collect::<Option<_>>()? })
    }
}

impl Procedure {
    /// Where it stands; none where all its steps are behind.
    pub(super) fn standing(&self, graph: &Graph) -> Option<Standing> {
        self.current(graph)?;
        Some(Standing {
            skill: graph.skill_id(self.skill),
            step: self.step(),
            total: self.total(graph),
            skipped: self.skipped.iter().map(|step| step + 1).collect(),
            tools: self.plan(graph),
        })
    }

    /// What an answer with steps left gets: as the skill says, else it is taken where the procedure can go on in the next turn.
    pub(super) fn on_unfinished(&self, setup: &Setup) -> OnUnfinished {
        let said = setup.graph.skill(self.skill).and_then(|skill| skill.on_unfinished);
        said.unwrap_or(match setup.continuity {
            Continuity::Turn => OnUnfinished::Nudge,
            Continuity::Conversation => OnUnfinished::Accept,
        })
    }

    /// The procedure of a skill, at its first step; none where the skill has no steps.
    pub(super) fn begin(graph: &Graph, skill: SkillIx) -> Option<Self> {
        let has_steps = graph.skill(skill).is_some_and(|skill| !skill.steps.is_empty());
        has_steps.then_some(Self { skill, done: 0, skipped: Vec::new() })
    }

    /// The skill whose procedure it is.
    pub fn skill(&self) -> SkillIx {
        self.skill
    }

    /// The current step, from 1; one more than [`Procedure::total`] when all are behind.
    pub fn step(&self) -> usize {
        self.done + 1
    }

    /// How many steps there are.
    pub fn total(&self, graph: &Graph) -> usize {
        self.steps(graph).len()
    }

    /// The current step, while there is one.
    pub fn current<'g>(&self, graph: &'g Graph) -> Option<&'g Step> {
        self.steps(graph).get(self.done)
    }

    /// The step before the current one.
    pub(super) fn previous<'g>(&self, graph: &'g Graph) -> Option<&'g Step> {
        self.steps(graph).get(self.done.checked_sub(1)?)
    }

    /// The steps that are still ahead, the current one included, with their numbers from 1.
    pub fn remaining<'g>(&self, graph: &'g Graph) -> impl Iterator<Item = (usize, &'g Step)> {
        self.steps(graph).iter().enumerate().skip(self.done).map(|(at, step)| (at + 1, step))
    }

    /// The same pointer, where the skill has another position.
    pub(super) fn of_skill(self, skill: SkillIx) -> Self {
        Self { skill, ..self }
    }

    /// Whether there are as many steps as are behind.
    pub(super) fn is_within(&self, graph: &Graph) -> bool {
        self.done <= self.total(graph) && self.skipped.iter().all(|step| *step < self.done)
    }

    /// The tools of its steps, in order.
    pub(super) fn plan(&self, graph: &Graph) -> Vec<ToolId> {
        self.steps(graph).iter().map(|step| graph.tool_id(step.tool)).collect()
    }

    /// How many steps were skipped.
    pub fn skipped(&self) -> usize {
        self.skipped.len()
    }

    /// What `skip_step` does here.
    pub(super) fn on_skip(&self, graph: &Graph) -> OnSkip {
        graph.skill(self.skill).map_or(OnSkip::default(), |skill| skill.on_skip)
    }

    /// Whether the tool is one of a step, but not of the current one.
    pub(super) fn holds_out(&self, graph: &Graph, tool: ToolIx) -> bool {
        let Some(current) = self.current(graph) else { return false };
        current.tool != tool && self.steps(graph).iter().any(|step| step.tool == tool)
    }

    pub(super) fn advance(&mut self) {
        self.done = self.done.saturating_add(1);
    }

    pub(super) fn skip(&mut self) {
        self.skipped.push(self.done);
        self.done += 1;
    }

    fn steps<'g>(&self, graph: &'g Graph) -> &'g [Step] {
        graph.skill(self.skill).map_or(&[], |skill| &skill.steps)
    }
}
