//! What happened, in order: the record of a turn.
// SPEC 14.4.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{CatalogRefusal, CloseReason, Outcome, PersonReply, Question, StopReason, Trip, TripAction, Usage};
use crate::catalog::NotBound;
use crate::decide::Cause;
use crate::decl::{OnSkip, SkillId, Status, ToolId};
use crate::graph::{TermEvidence, Witness};
use crate::score::ScorePolicy;

/// One thing that happened. Names are the names that the model and the author know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A turn began.
    TurnStarted {
        /// The graph's name.
        graph: String,
    },
    /// Which skills may not be seen, where some may not, or where that has changed.
    // SPEC 9.
    SkillsHidden {
        /// The iteration; 0 before the first.
        iteration: u32,
        /// All that are hidden from now on.
        skills: Vec<HiddenSkill>,
    },
    /// A turn goes on that was saved under another version of the graph.
    // SPEC 10.
    TurnMigrated {
        /// The iteration.
        iteration: u32,
        /// Skills that were open and cannot stay so.
        dropped: Vec<SkillId>,
    },
    /// Where the turn starts was decided by more than rules: by a scorer, a menu, or the last turn.
    TurnRouted(TurnRouted),
    /// The decision of an iteration: the cursor moved, or stayed.
    CursorDecided(MoveRecord),
    /// A skill's body and tools are in the request from now on.
    SkillActivated {
        /// The iteration.
        iteration: u32,
        /// The skill.
        skill: SkillId,
    },
    /// A skill's body and tools have left.
    SkillDeactivated {
        /// The iteration.
        iteration: u32,
        /// The skill.
        skill: SkillId,
    },
    /// What the model is offered.
    Offered {
        /// The iteration.
        iteration: u32,
        /// The tools of the request, in order.
        tools: Vec<ToolId>,
        /// What a pick may name.
        reachable: Vec<SkillId>,
    },
    /// The model replied.
    ModelReplied {
        /// The iteration.
        iteration: u32,
        /// How many calls it made.
        calls: usize,
        /// Why it stopped.
        stop: StopReason,
        /// What it cost, where the provider said so.
        usage: Option<Usage>,
    },
    /// The model could not be asked. The turn waits where it was: it can be asked again.
    ModelFailed {
        /// The iteration.
        iteration: u32,
        /// Why.
        reason: String,
    },
    /// The model said nothing and called nothing.
    BlankReply {
        /// The iteration.
        iteration: u32,
        /// It is asked once more; if not, the turn ends.
        asked_again: bool,
    },
    /// A call was answered without being run.
    CallRefused {
        /// The iteration.
        iteration: u32,
        /// The call.
        call_id: String,
        /// The name that the model gave.
        tool: String,
        /// Why.
        reason: CallRefusal,
        /// What the model reads about it, where the record has content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// A pick was refused: nothing changed.
    PickRejected {
        /// The iteration.
        iteration: u32,
        /// What the model asked for.
        requested: String,
        /// Where the cursor is.
        cursor: Option<SkillId>,
        /// What it could have asked for.
        allowed: Vec<SkillId>,
        /// Why.
        reason: PickRefusal,
    },
    /// A pick opened a skill beside the cursor.
    SkillOpened {
        /// The iteration.
        iteration: u32,
        /// The skill.
        skill: SkillId,
    },
    /// A skill of the catalog is not there: it is not listed, not found and does not open until it is again.
    // SPEC 11.
    CatalogUnavailable {
        /// The iteration; 0 before the first.
        iteration: u32,
        /// Its key.
        key: String,
        /// Why.
        reason: String,
    },
    /// A skill of the catalog was opened, by the model or by itself.
    CatalogOpened {
        /// The iteration; 0 before the first.
        iteration: u32,
        /// Its key.
        key: String,
        /// It was open already.
        already_open: bool,
        /// Tools that can be called from the next model call on.
        bound: Vec<String>,
        /// Tools that it would have bound, and why it did not.
        not_bound: Vec<NotBound>,
    },
    /// The model asked for tools of an open skill of the catalog.
    CatalogBound {
        /// The iteration.
        iteration: u32,
        /// Its key.
        key: String,
        /// Tools that can be called from the next model call on.
        bound: Vec<String>,
        /// Tools that are not bound by this, and why.
        not_bound: Vec<NotBound>,
    },
    /// A skill of the catalog was not opened, or no tool of it bound: nothing changed.
    CatalogRefused {
        /// The iteration; 0 before the first.
        iteration: u32,
        /// What was asked for.
        key: String,
        /// Why.
        #[serde(flatten)]
        reason: CatalogRefusal,
    },
    /// A skill of the catalog is not open any more.
    CatalogClosed {
        /// The iteration; 0 before the first.
        iteration: u32,
        /// Its key.
        key: String,
        /// Why.
        reason: CloseReason,
    },
    /// The model searched the catalog.
    CatalogSearched {
        /// The iteration.
        iteration: u32,
        /// What for.
        query: String,
        /// Something fits; if not, the first skills of the catalog were shown.
        found: bool,
        /// What was shown.
        keys: Vec<String>,
    },
    /// A body was given to the model outside a result of `read_skill`: it had aged, or the skill opened without a pick.
    BodyGiven {
        /// The iteration.
        iteration: u32,
        /// The skill.
        skill: SkillId,
    },
    /// A tool begins to run.
    ToolStarted {
        /// The iteration.
        iteration: u32,
        /// The call.
        call_id: String,
        /// The tool.
        tool: ToolId,
        /// What it is run with, where the record has content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<Map<String, Value>>,
    },
    /// A tool's result is in.
    ToolReturned {
        /// The iteration.
        iteration: u32,
        /// The call.
        call_id: String,
        /// The tool.
        tool: ToolId,
        /// What became of the call.
        status: Status,
        /// What it returned for the model to read, where the record has content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// Tools ask a person, and the turn waits.
    Paused {
        /// The iteration.
        iteration: u32,
        /// What they ask.
        questions: Vec<Question>,
    },
    /// A person has answered one.
    PersonAnswered {
        /// The iteration.
        iteration: u32,
        /// The question's number.
        question: u64,
        /// The call that waited.
        call_id: String,
        /// The tool.
        tool: ToolId,
        /// What the person said.
        reply: PersonReply,
    },
    /// A step of a procedure is behind.
    StepAdvanced {
        /// The iteration.
        iteration: u32,
        /// The skill.
        skill: SkillId,
        /// The step, from 1.
        step: usize,
        /// How many there are.
        total: usize,
        /// The tool that took it.
        tool: ToolId,
        /// The call.
        call_id: String,
    },
    /// The model skipped a step, with a reason.
    StepSkipped {
        /// The iteration.
        iteration: u32,
        /// The skill.
        skill: SkillId,
        /// The step, from 1.
        step: usize,
        /// How many there are.
        total: usize,
        /// The model's reason.
        reason: String,
        /// Whether the procedure moved on.
        policy: OnSkip,
    },
    /// The model wanted to skip a step, and could not: nothing changed.
    SkipRefused {
        /// The iteration.
        iteration: u32,
        /// The skill.
        skill: SkillId,
        /// The step, from 1.
        step: usize,
        /// How many there are.
        total: usize,
        /// Why.
        why: SkipRefusal,
    },
    /// The model answered with steps left.
    StepsUnfinished {
        /// The iteration.
        iteration: u32,
        /// The skill.
        skill: SkillId,
        /// The steps that are left, from 1.
        remaining: Vec<usize>,
        /// How many there are.
        total: usize,
        /// What was done about it.
        action: UnfinishedAction,
    },
    /// Several results of one batch fired edges to different skills.
    RouteConflict {
        /// The iteration that the decision opens.
        iteration: u32,
        /// Where the cursor was.
        from: SkillId,
        /// The edge that won.
        winner: FiringRecord,
        /// The edges that lost.
        losers: Vec<FiringRecord>,
    },
    /// A pick or a proposal was admissible, and lost.
    RerouteSuperseded {
        /// The iteration that the decision opens.
        iteration: u32,
        /// The skill that was asked for.
        requested: SkillId,
        /// Where the cursor went or stayed.
        won: Option<SkillId>,
        /// Who asked.
        source: Suggestion,
    },
    /// The run was spinning.
    GovernorTripped {
        /// The iteration.
        iteration: u32,
        /// What was seen.
        #[serde(flatten)]
        trip: Trip,
        /// What was done about it.
        action: TripAction,
    },
    /// A tool proposed a skill that cannot be opened.
    ProposalRefused {
        /// The iteration.
        iteration: u32,
        /// The tool.
        tool: ToolId,
        /// The skill that it proposed.
        requested: String,
        /// Why.
        reason: ProposalRefusal,
    },
    /// A test of the author's panicked; it counted as not passed.
    TestPanicked {
        /// The iteration.
        iteration: u32,
        /// The entry or edge that it belongs to, by position in the declaration.
        test: String,
    },
    /// The turn ended.
    TurnEnded {
        /// How many model calls it took.
        iterations: u32,
        /// How.
        outcome: Outcome,
    },
}

/// A skill that may not be seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenSkill {
    /// The skill.
    pub skill: SkillId,
    /// Why.
    pub reason: String,
}

/// How a turn's start was found.
// SPEC 4.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnRouted {
    /// The skill that was open at the end of the last turn.
    pub from: Option<SkillId>,
    /// The skill that the turn starts in.
    pub to: Option<SkillId>,
    /// Why.
    pub by: Cause,
    /// Who scored the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scorer: Option<String>,
    /// What was scored, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<ScoreRecord>,
    /// The second best that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_up: Option<RunnerUp>,
    /// Whether it was clear.
    pub decisive: bool,
    /// Why the message could not be scored, where it should have been.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scorer_failed: Option<String>,
    /// The numbers that decided, the scorer's floor included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<ScorePolicy>,
    /// What a menu names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<SkillId>,
    /// Whether the menu names staying.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stay_offered: bool,
    /// What of the message made a rule pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// A skill of the last turn that the graph no longer has, or that is hidden now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
    /// What a decider chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decider: Option<String>,
    /// Why no decider chose, where one was asked and could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decider_failed: Option<String>,
}

/// What a scorer said of a skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreRecord {
    /// The skill.
    pub skill: SkillId,
    /// Its score; none where the scorer gave no finite number.
    pub score: Option<f64>,
    /// Its share of all, from 0 to 1.
    pub relevance: f64,
}

/// The second best of a start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunnerUp {
    /// The skill.
    pub skill: SkillId,
    /// How far the best leads it, from 0 to 1.
    pub gap: f64,
}

/// Where the cursor went, and why.
// SPEC 3.1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MoveRecord {
    /// The iteration that it opens; of a decision with which the turn ends, the last one.
    pub iteration: u32,
    /// Where the cursor was.
    pub from: Option<SkillId>,
    /// Where it is.
    pub to: Option<SkillId>,
    /// Why.
    pub by: Cause,
    /// What the author calls the entry or edge that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The result that fired the edge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fired: Option<FiringRecord>,
    /// What the guards of edges read that could have fired, passed or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<GuardRecord>,
    /// What of the message made the entry's rule pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// Entries further down whose rules claim the message, too, in declaration order: at most 20. A rule with a closure is not
    /// tried once another has won.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_claimed: Vec<ClaimRecord>,
    /// Why a tool proposed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Hidden skills that it would have led to, or kept open, if they could be seen.
    // SPEC 9.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<SkillId>,
}

impl MoveRecord {
    /// The open skill has gone, and nothing has taken its place.
    pub(super) fn closed(iteration: u32, from: SkillId) -> Self {
        Self {
            iteration,
            from: Some(from),
            to: None,
            by: Cause::None,
            label: None,
            fired: None,
            guards: Vec::new(),
            witness: None,
            also_claimed: Vec::new(),
            reason: None,
            hidden: Vec::new(),
        }
    }
}

/// An entry whose rule claims a message that another entry took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimRecord {
    /// The skill that it opens.
    pub skill: SkillId,
    /// What the author calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// An edge and a result: one that fired it, or one that its guard read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FiringRecord {
    /// Where the edge leads.
    pub target: SkillId,
    /// The tool whose result it is.
    pub tool: ToolId,
    /// The call.
    pub call_id: String,
    /// What became of the call.
    pub status: Status,
}

/// What became of the guard of an edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardRecord {
    /// The edge, and the result that its guard read.
    #[serde(flatten)]
    pub of: FiringRecord,
    /// Whether every term passed.
    pub passed: bool,
    /// Its terms.
    pub terms: Vec<TermEvidence>,
}

/// Why a call was answered without being run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallRefusal {
    /// The tool was not in the request.
    NotOffered,
    /// The arguments are not a JSON object.
    BadArguments,
    /// A `skip_step` of the same reply came first: a step is taken or skipped, never both.
    StepSkipped,
    /// The reply makes more calls than are looked at.
    TooMany,
    /// The reply ran into the token limit in this call.
    CutOff,
    /// The model declined in the same reply.
    ModelDeclined,
    /// Whoever the conversation is with may not make it.
    Denied,
}

impl CallRefusal {
    /// What became of the call, where an offered tool was called.
    pub(super) fn status(self) -> Option<Status> {
        match self {
            CallRefusal::BadArguments => Some(Status::Invalid),
            CallRefusal::Denied => Some(Status::Denied),
            CallRefusal::NotOffered
            | CallRefusal::StepSkipped
            | CallRefusal::TooMany
            | CallRefusal::CutOff
            | CallRefusal::ModelDeclined => None,
        }
    }
}

/// Why a step was not skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkipRefusal {
    /// The model does not say why the step is not needed.
    NoReason,
    /// The tool of the step is called in the same reply, and came first.
    StepCalled,
    /// Another `skip_step` of the same reply came first.
    SkippedAlready,
}

/// Why a pick was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PickRefusal {
    /// No skill has that id.
    UnknownId,
    /// The skill may not be seen. The model reads the same as of an unknown id.
    Hidden,
    /// It is open already.
    AlreadyHere,
    /// No `~>` edge leads there from the cursor, and it is no entry that may be picked.
    NotReachable,
    /// An edge leads there that only the result of a tool takes.
    Gated,
    /// It could be reached, and the agent lets the model go along `~>` edges and pick from a menu alone.
    OffMenu,
    /// A tree chooses the skill.
    Tree,
    /// It could be reached, and the agent lets the model pick nothing.
    Rails,
}

/// Why a tool's proposal was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProposalRefusal {
    /// No skill has that id.
    UnknownId,
    /// The skill may not be seen.
    Hidden,
    /// It is open already, or no `~>` edge leads there from the cursor and it is no entry that may be picked.
    NotReachable,
    /// The tool does not say why.
    NoReason,
}

/// Who asked for a move that lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Suggestion {
    /// The model, by `read_skill`.
    Pick,
    /// A tool.
    Proposal,
}

/// What was done about an answer with steps left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnfinishedAction {
    /// The model was reminded, once.
    Nudged,
    /// The answer was taken.
    Accepted,
}

impl fmt::Display for MoveRecord {
    /// The decision on one line: `billing -> escalation by route "large" (lookup_order returned success)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |skill: &Option<SkillId>| skill.as_ref().map_or("nowhere".to_owned(), ToString::to_string);
        match self.from == self.to {
            true => write!(f, "{} by {}", name(&self.to), self.by)?,
            false => write!(f, "{} -> {} by {}", name(&self.from), name(&self.to), self.by)?,
        }
        if let Some(label) = &self.label {
            write!(f, " {label:?}")?;
        }
        if let Some(fired) = &self.fired {
            write!(f, " ({} returned {})", fired.tool, fired.status)?;
        }
        if let Some(witness) = &self.witness {
            write!(f, " ({:?})", witness.text)?;
        }
        if let Some(reason) = &self.reason {
            write!(f, " ({reason})")?;
        }
        if !self.also_claimed.is_empty() {
            let also: Vec<&str> = self.also_claimed.iter().map(|claim| claim.skill.as_str()).collect();
            write!(f, ", also claimed by {}", also.join(", "))?;
        }
        Ok(())
    }
}
