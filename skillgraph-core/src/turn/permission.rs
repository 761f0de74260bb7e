//! Who may do what: what the turn asks before a skill is shown and before a tool runs, and what follows from the
//! answers. No answer is a no.
// SPEC 9.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::catalog::Then;
use super::dispatch::{Batch, Fate};
use super::machine::Turn;
use super::offer::Offer;
use super::state::Phase;
use super::{CallRefusal, Event, HiddenSkill, words};
use crate::decide::{Evidence, decide};
use crate::decl::{SkillId, ToolId};
use crate::graph::{Hidden, SkillIx};

/// What somebody may or may not do.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Capability {
    /// See a skill, and enter it: `skill_read`.
    SkillRead,
    /// Run a tool with these arguments: `tool_call`.
    ToolCall,
    /// What a tool declares that it needs beside `tool_call`.
    Declared(String),
}

impl Capability {
    /// Its name.
    pub fn as_str(&self) -> &str {
        match self {
            Capability::SkillRead => "skill_read",
            Capability::ToolCall => "tool_call",
            Capability::Declared(name) => name,
        }
    }
}

impl From<String> for Capability {
    fn from(name: String) -> Self {
        match name.as_str() {
            "skill_read" => Capability::SkillRead,
            "tool_call" => Capability::ToolCall,
            _ => Capability::Declared(name),
        }
    }
}

impl From<&str> for Capability {
    fn from(name: &str) -> Self {
        name.to_owned().into()
    }
}

impl From<Capability> for String {
    fn from(capability: Capability) -> Self {
        capability.as_str().to_owned()
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a capability is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Target {
    /// A skill.
    Skill(SkillId),
    /// A call that the model made.
    Call {
        /// The model's id for it.
        call_id: String,
        /// The tool.
        tool: ToolId,
        /// The arguments.
        arguments: Map<String, Value>,
    },
}

/// One question to an authorizer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What is to be done.
    pub capability: Capability,
    /// To what.
    pub target: Target,
}

/// The answer to one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Yes.
    Allowed,
    /// No. Of a call the model reads why; of a skill only the record tells it.
    Denied {
        /// Why.
        reason: String,
    },
}

impl Decision {
    /// No, for that reason.
    pub fn denied(reason: impl Into<String>) -> Self {
        Decision::Denied { reason: reason.into() }
    }
}

/// That permissions are asked for, and which a tool needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    /// What each tool declares that it needs beside `tool_call`, by its position in the registry.
    pub declared: Vec<Vec<Capability>>,
}

/// Why a check that nobody answered is denied.
const UNANSWERED: &str = "nobody said yes";

/// Takes decisions one by one; what is missing is a no.
fn next(decisions: &mut impl Iterator<Item = Decision>) -> Decision {
    decisions.next().unwrap_or_else(|| Decision::denied(UNANSWERED))
}

impl Turn {
    /// What must be known of each skill before anything is shown.
    pub(super) fn skill_checks(&self) -> Vec<Check> {
        let skills = self.setup.graph.skills().iter();
        let check = |id: &SkillId| Check { capability: Capability::SkillRead, target: Target::Skill(id.clone()) };
        skills.map(|skill| check(&skill.id)).collect()
    }

    /// What must be known of each call before it runs.
    pub(super) fn call_checks(&self, batch: &Batch) -> Vec<Check> {
        let mut checks = Vec::new();
        for run in batch.open_runs(&self.setup.graph, &self.state.numbering) {
            let target = Target::Call { call_id: run.call_id, tool: run.name, arguments: run.arguments };
            let declared = self.declared(run.tool);
            for capability in std::iter::once(Capability::ToolCall).chain(declared) {
                checks.push(Check { capability, target: target.clone() });
            }
        }
        checks
    }

    /// Takes in which skills may be seen. Says whether that has changed.
    pub(super) fn hide(&mut self, decisions: Vec<Decision>) -> bool {
        let graph = self.setup.graph.clone();
        let mut decisions = decisions.into_iter();
        let denied = graph.skills().iter().enumerate().filter_map(|(at, skill)| match next(&mut decisions) {
            Decision::Allowed => None,
            Decision::Denied { reason } => Some((SkillIx::new(at), HiddenSkill { skill: skill.id.clone(), reason })),
        });
        let (hidden, skills): (Vec<SkillIx>, Vec<HiddenSkill>) = denied.unzip();
        let hidden: Hidden = hidden.into_iter().collect();
        if hidden == self.state.hidden {
            if hidden.is_empty() {
                self.state.unseen.hide(BTreeSet::new(), 0);
            }
            return false;
        }
        let iteration = self.state.iteration;
        let ids = skills.iter().map(|hidden| hidden.skill.clone()).collect();
        self.state.unseen.hide(ids, self.state.transcript.len());
        self.emit(Event::SkillsHidden { iteration, skills });
        self.state.hidden = hidden;
        true
    }

    /// Takes in which calls may run: a denied one is answered with why.
    pub(super) fn permit(&mut self, mut batch: Batch, decisions: Vec<Decision>) {
        let graph = self.setup.graph.clone();
        let mut decisions = decisions.into_iter();
        for gated in &mut batch.calls {
            let Fate::Run(run) = &gated.fate else { continue };
            if run.returned.is_some() {
                continue;
            }
            let tool = run.tool;
            let asked = 1 + self.declared(tool).len();
            // Every decision is taken, so that those of the next call stay in place.
            let answers: Vec<Decision> = (0..asked).map(|_| next(&mut decisions)).collect();
            let denied = answers.into_iter().find_map(|decision| match decision {
                Decision::Allowed => None,
                Decision::Denied { reason } => Some(reason),
            });
            if let Some(reason) = denied {
                let text = words::denied(graph.tool_id(tool).as_str(), &reason);
                self.record_refusal(&gated.call, CallRefusal::Denied, &text);
                gated.fate = Fate::Refused { reason: CallRefusal::Denied, text, tool: Some(tool) };
            }
        }
        self.run(batch);
    }

    /// Goes on where the turn was, after it was asked anew which skills may be seen.
    pub(super) fn readmit(&mut self, phase: Phase, decisions: Vec<Decision>) {
        let changed = self.hide(decisions);
        if changed {
            self.withdraw();
        }
        self.ask_anew(phase, changed);
    }

    /// Goes on where the turn was, now that what may be seen is known. `changed`: that has changed.
    pub(super) fn resume(&mut self, phase: Phase, changed: bool) {
        match phase {
            Phase::Score(start) | Phase::Decide(start) if changed || start.names_hidden(&self.state.hidden) => {
                let inherited = start.inherited_id(&self.setup.graph);
                self.route(start.message, inherited.as_deref());
            }
            Phase::Model(offer) if changed || offer != Offer::of(&self.setup, &self.state) => self.make_offer(),
            Phase::Tools(batch) | Phase::Permit(batch) => {
                let batch = self.gate_again(batch);
                self.dispatch(batch);
            }
            // What was asked of the catalog is asked anew.
            Phase::Catalog(asked) => match asked.then {
                Then::Start { message, inherited } => self.stock(message, inherited),
                Then::Calls(batch) => {
                    let batch = self.gate_again(batch);
                    self.dispatch(batch);
                }
                Then::Resume { phase, changed: before } => self.resume(*phase, changed || before),
            },
            phase => self.state.phase = phase,
        }
    }

    /// Closes what is open and may not be seen any more.
    fn withdraw(&mut self) {
        // What was counted so far speaks of calls that may be gone.
        self.state.watch = std::mem::take(&mut self.state.watch).restarted();
        let graph = self.setup.graph.clone();
        let hidden = self.state.hidden.clone();
        let (gone, kept) = std::mem::take(&mut self.state.opened).into_iter().partition(|skill| hidden.has(*skill));
        self.state.opened = kept;
        let iteration = self.state.iteration;
        for skill in Vec::<SkillIx>::into_iter(gone) {
            self.emit(Event::SkillDeactivated { iteration, skill: graph.skill_id(skill) });
        }
        if let Some(menu) = &mut self.state.menu {
            menu.offered.retain(|skill| !hidden.has(*skill));
        }
        self.state.menu = self.state.menu.take().filter(|menu| !menu.offered.is_empty());
        if self.state.cursor.is_some_and(|cursor| hidden.has(cursor)) {
            let decision = decide(&graph, &hidden, self.state.cursor, Evidence::Nothing);
            self.record_decision(&decision, &Default::default());
            self.change_cursor(decision.to);
        }
    }

    /// Sends what has yet to run through the gate once more: what is offered now, runs.
    // SPEC 10.
    pub(super) fn gate_again(&mut self, mut batch: Batch) -> Batch {
        let graph = self.setup.graph.clone();
        let offer = Offer::of(&self.setup, &self.state);
        for (call, text) in batch.withhold(&graph, &offer) {
            self.record_refusal(&call, CallRefusal::NotOffered, &text);
        }
        batch
    }
}
