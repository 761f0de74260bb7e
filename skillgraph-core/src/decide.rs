//! The decision: where the cursor goes, and why. One pure function, called once an iteration; what is loaded,
//! offered and admitted follows from its answer.
// SPEC 3.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::graph::{
    Edge, EdgeIx, EntryIx, Graph, Hidden, Learnt, Reading, RouteTest, SkillIx, TermEvidence, TermOutcome, ToolResult,
    Verdict, Witness, judge,
};

/// Why the cursor is where it is.
// SPEC 3.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Cause {
    /// A rule of an entry, or the default entry, opened the turn.
    Entry,
    /// A declared edge fired.
    Route,
    /// A tool proposed it.
    ToolProposal,
    /// The model picked it.
    ModelPick,
    /// A scorer was decisive.
    Intent,
    /// The last turn's cursor was kept.
    Continuity,
    /// A decider resolved the menu.
    Decider,
    /// Nothing moved it.
    Stay,
    /// There is no cursor.
    None,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Entry => "entry",
            Cause::Route => "route",
            Cause::ToolProposal => "tool-proposal",
            Cause::ModelPick => "model-pick",
            Cause::Intent => "intent",
            Cause::Continuity => "continuity",
            Cause::Decider => "decider",
            Cause::Stay => "stay",
            Cause::None => "none",
        })
    }
}

/// What a decision goes by.
#[derive(Debug, Clone, Copy)]
pub enum Evidence<'a> {
    /// A turn begins with the user's own message.
    TurnStart {
        /// The message.
        message: &'a str,
        /// What was found out beside the rules.
        ruling: Ruling,
    },
    /// A batch of tool calls came back.
    Batch {
        /// The results, in call order.
        results: &'a [ToolResult],
        /// The first accepted proposal of a tool.
        proposal: Option<SkillIx>,
        /// The first accepted pick of the model.
        pick: Option<SkillIx>,
    },
    /// An iteration that dispatched nothing: there is nothing to go by.
    Nothing,
}

/// What is known of a turn's start beside its rules.
// SPEC 4, tiers 2 and 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// Nothing: the rules have not been tried yet.
    Rules,
    /// No rule passes, and a scorer was decisive.
    Intent(SkillIx),
    /// No rule passes, and a decider chose.
    Decider(SkillIx),
    /// No rule passes, and nobody decided.
    Undecided,
}

/// Where the cursor goes, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct CursorMove {
    /// Where it was.
    pub from: Option<SkillIx>,
    /// Where it is now.
    pub to: Option<SkillIx>,
    /// Why.
    pub by: Cause,
    /// The entry that opened the turn.
    pub entry: Option<EntryIx>,
    /// What of the message made the entry's rule pass.
    pub witness: Option<Witness>,
    /// Entries further down whose rules claim the message, too ([`EntryMatch::others`](crate::graph::EntryMatch::others)).
    pub others: Vec<EntryIx>,
    /// The edge that fired.
    pub fired: Option<Firing>,
    /// Later results that fired an edge to another target.
    pub losers: Vec<Firing>,
    /// What was read for the guards of edges that could have fired, and what came of it.
    pub guards: Vec<GuardEvidence>,
    /// Tests that panicked; they count as not passed.
    pub panicked: Vec<PanickedTest>,
    /// Hidden skills that it would have led to, or kept open, if they could be seen.
    pub hidden: Vec<SkillIx>,
}

/// What became of a guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardEvidence {
    /// The edge that it belongs to, and the result that it read.
    pub of: Firing,
    /// Its terms.
    pub terms: Vec<TermEvidence>,
}

impl GuardEvidence {
    /// Whether every term passed.
    pub fn passed(&self) -> bool {
        self.terms.iter().all(|term| term.outcome == TermOutcome::Passed)
    }
}

/// An edge and a result: one that fired it, or one that its guard read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Firing {
    /// The edge.
    pub edge: EdgeIx,
    /// The result, by its position in the batch.
    pub result: usize,
}

/// A test of the author's that panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanickedTest {
    /// A closure of an entry.
    Entry(EntryIx),
    /// The closure of an edge.
    Edge(EdgeIx),
    /// A closure of a tree's condition, by its order in the source.
    Branch(usize),
}

/// Decides: at a turn's start the first entry rule that passes, else the default; later a declared edge
/// that fired, else an accepted proposal, else an accepted pick, else stay.
///
/// Hidden skills are not there: no rule, default, edge, pick or earlier cursor leads to one. `cursor` is the skill that
/// was open when the evidence arose; edges fire only from it. At a turn's start it is the one that the last turn left open, if
/// that is kept.
// SPEC 3.2, 4; 9.
pub fn decide(graph: &Graph, hidden: &Hidden, cursor: Option<SkillIx>, evidence: Evidence<'_>) -> CursorMove {
    let kept = cursor.filter(|cursor| !hidden.has(*cursor));
    let stays = kept.is_some() && !graph.is_tree();
    let unmoved = CursorMove {
        from: cursor,
        to: kept,
        by: if stays { Cause::Stay } else { Cause::None },
        entry: None,
        witness: None,
        others: Vec::new(),
        fired: None,
        losers: Vec::new(),
        guards: Vec::new(),
        panicked: Vec::new(),
        hidden: cursor.filter(|cursor| hidden.has(*cursor)).into_iter().collect(),
    };
    match evidence {
        Evidence::Nothing => unmoved,
        Evidence::TurnStart { message, ruling } => start(graph, hidden, message, ruling, unmoved),
        Evidence::Batch { results, proposal, pick } => {
            let unmoved = follow_edges(graph, hidden, results, unmoved);
            if unmoved.fired.is_some() {
                return unmoved;
            }
            let other = |target: &SkillIx| Some(*target) != cursor && !hidden.has(*target);
            if let Some(target) = proposal.filter(other) {
                return CursorMove { to: Some(target), by: Cause::ToolProposal, ..unmoved };
            }
            if let Some(target) = pick.filter(other) {
                return CursorMove { to: Some(target), by: Cause::ModelPick, ..unmoved };
            }
            unmoved
        }
    }
}

fn start(graph: &Graph, hidden: &Hidden, message: &str, ruling: Ruling, mut unmoved: CursorMove) -> CursorMove {
    // A tree reads the message alone, which does not change: its leaf holds for the whole turn.
    if let Some((leaf, panicked)) = graph.leaf(message) {
        let panicked = panicked.into_iter().map(PanickedTest::Branch).collect();
        unmoved.hidden.extend(Some(leaf).filter(|leaf| hidden.has(*leaf)));
        return CursorMove { to: Some(leaf).filter(|leaf| !hidden.has(*leaf)), panicked, ..unmoved };
    }
    let (entry, witness, panicked) = match ruling {
        Ruling::Intent(skill) if !hidden.has(skill) => {
            return CursorMove { to: Some(skill), by: Cause::Intent, ..unmoved };
        }
        Ruling::Decider(skill) if !hidden.has(skill) => {
            return CursorMove { to: Some(skill), by: Cause::Decider, ..unmoved };
        }
        Ruling::Intent(skill) | Ruling::Decider(skill) => {
            unmoved.hidden.push(skill);
            (None, None, Vec::new())
        }
        Ruling::Undecided => (None, None, Vec::new()),
        Ruling::Rules => {
            let found = graph.match_entry_without(message, hidden);
            unmoved.hidden.extend(found.barred.iter().filter_map(|entry| graph.entry_skill(*entry)));
            unmoved.others = found.others;
            let panicked = found.panicked.into_iter().map(PanickedTest::Entry).collect();
            let (entry, witness) = found.won.map_or((None, None), |(entry, witness)| (Some(entry), witness));
            (entry, witness, panicked)
        }
    };
    if entry.is_none() && unmoved.to.is_some() {
        return CursorMove { by: Cause::Continuity, panicked, ..unmoved };
    }
    let entry = entry.or(graph.default_entry());
    if let Some(barred) = entry.filter(|entry| graph.is_barred(*entry, hidden)) {
        unmoved.hidden.extend(graph.entry_skill(barred));
        return CursorMove { panicked, ..unmoved };
    }
    match entry.and_then(|entry| graph.entry_skill(entry)) {
        Some(opened) => CursorMove { to: Some(opened), by: Cause::Entry, entry, witness, panicked, ..unmoved },
        None => CursorMove { panicked, ..unmoved },
    }
}

/// In call order, the first result that fires an edge wins; later ones that fire to another target lose.
fn follow_edges(graph: &Graph, hidden: &Hidden, results: &[ToolResult], mut decision: CursorMove) -> CursorMove {
    let Some(cursor) = decision.to else { return decision };
    for (at, result) in results.iter().enumerate() {
        // The first edge out of the cursor, in declaration order, that the result fires.
        let mut candidates = graph.candidate_edges(cursor, result.tool_ix);
        let fired = candidates.find(|(edge, candidate)| {
            let firing = Firing { edge: *edge, result: at };
            let fires = candidate.statuses.contains(result.status) && passes(firing, candidate, result, &mut decision);
            if fires && hidden.has(candidate.to) {
                decision.hidden.push(candidate.to);
                return false;
            }
            fires
        });
        let Some((edge, Edge { to: target, .. })) = fired else { continue };
        let firing = Firing { edge, result: at };
        if decision.fired.is_none() {
            decision.to = Some(*target);
            decision.by = Cause::Route;
            decision.fired = Some(firing);
        } else if decision.to != Some(*target) {
            decision.losers.push(firing);
        }
    }
    decision
}

/// Whether the result passes the edge's guard and test. What was read, and what panicked, is noted in the decision.
fn passes(firing: Firing, edge: &Edge, result: &ToolResult, decision: &mut CursorMove) -> bool {
    let learnt = result.typed.iter().find(|evidence| evidence.edge == firing.edge).map(|evidence| &evidence.learnt);
    if !edge.guard.is_empty() {
        let terms = judge(&edge.guard, |at, term| match learnt {
            Some(Learnt::Fields(fields)) => Reading::Field(fields.get(at).and_then(Option::as_ref)),
            _ => Reading::of_json(&result.value, term),
        });
        let evidence = GuardEvidence { of: firing, terms };
        let passed = evidence.passed();
        decision.guards.push(evidence);
        if !passed {
            return false;
        }
    }
    let verdict = match (edge.test, learnt) {
        (None, _) => return true,
        (Some(RouteTest::Result(test)), _) => Verdict::of(|| test(result)),
        (Some(RouteTest::Typed), Some(Learnt::Verdict(verdict))) => *verdict,
        (Some(RouteTest::Typed), _) => Verdict::Failed,
    };
    if verdict == Verdict::Panicked {
        decision.panicked.push(PanickedTest::Edge(firing.edge));
    }
    verdict == Verdict::Passed
}
