//! The decision (SPEC 3): where the cursor goes, and why. One pure function, called once an iteration; what is loaded,
//! offered and admitted follows from its answer.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::graph::{Edge, EdgeIx, EntryIx, Graph, RouteTest, SkillIx, ToolResult, Verdict, Witness};

/// Why the cursor is where it is (SPEC 3.1).
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
    /// The edge that fired.
    pub fired: Option<Firing>,
    /// Later results that fired an edge to another target.
    pub losers: Vec<Firing>,
    /// Tests that panicked; they count as not passed.
    pub panicked: Vec<PanickedTest>,
}

/// An edge that a result fired.
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
}

/// Decides (SPEC 3.2, 4): at a turn's start the first entry rule that passes, else the default; later a declared edge
/// that fired, else an accepted proposal, else an accepted pick, else stay.
///
/// `cursor` is the skill that was open when the evidence arose; edges fire only from it.
pub fn decide(graph: &Graph, cursor: Option<SkillIx>, evidence: Evidence<'_>) -> CursorMove {
    let unmoved = CursorMove {
        from: cursor,
        to: cursor,
        by: if cursor.is_some() { Cause::Stay } else { Cause::None },
        entry: None,
        witness: None,
        fired: None,
        losers: Vec::new(),
        panicked: Vec::new(),
    };
    match evidence {
        Evidence::Nothing => unmoved,
        Evidence::TurnStart { message } => start(graph, message, unmoved),
        Evidence::Batch { results, proposal, pick } => {
            let unmoved = follow_edges(graph, results, unmoved);
            if unmoved.fired.is_some() {
                return unmoved;
            }
            let other = |target: &SkillIx| Some(*target) != cursor;
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

fn start(graph: &Graph, message: &str, unmoved: CursorMove) -> CursorMove {
    let found = graph.match_entry(message);
    let panicked = found.panicked.into_iter().map(PanickedTest::Entry).collect();
    let (entry, witness) = match found.won {
        Some((entry, witness)) => (Some(entry), witness),
        None => (graph.default_entry(), None),
    };
    match entry.and_then(|entry| graph.entry_skill(entry)) {
        Some(opened) => CursorMove { to: Some(opened), by: Cause::Entry, entry, witness, panicked, ..unmoved },
        None => CursorMove { panicked, ..unmoved },
    }
}

/// In call order, the first result that fires an edge wins; later ones that fire to another target lose.
fn follow_edges(graph: &Graph, results: &[ToolResult], mut decision: CursorMove) -> CursorMove {
    let Some(cursor) = decision.from else { return decision };
    for (at, result) in results.iter().enumerate() {
        let Some((edge, target)) = fired_edge(graph, cursor, result, &mut decision.panicked) else { continue };
        let firing = Firing { edge, result: at };
        if decision.fired.is_none() {
            decision.to = Some(target);
            decision.by = Cause::Route;
            decision.fired = Some(firing);
        } else if decision.to != Some(target) {
            decision.losers.push(firing);
        }
    }
    decision
}

/// The first edge out of the cursor, in declaration order, that the result fires.
fn fired_edge(
    graph: &Graph,
    cursor: SkillIx,
    result: &ToolResult,
    panicked: &mut Vec<PanickedTest>,
) -> Option<(EdgeIx, SkillIx)> {
    graph.candidate_edges(cursor, result.tool_ix).find_map(|(at, edge)| {
        let fires = edge.statuses.contains(result.status) && passes(at, edge, result, panicked);
        fires.then_some((at, edge.to))
    })
}

fn passes(at: EdgeIx, edge: &Edge, result: &ToolResult, panicked: &mut Vec<PanickedTest>) -> bool {
    let verdict = match edge.test {
        None => return true,
        Some(RouteTest::Result(test)) => Verdict::of(|| test(result)),
        Some(RouteTest::Typed) => {
            let found = result.verdicts.iter().find(|verdict| verdict.edge == at);
            found.map_or(Verdict::Failed, |found| found.verdict)
        }
    };
    if verdict == Verdict::Panicked {
        panicked.push(PanickedTest::Edge(at));
    }
    verdict == Verdict::Passed
}
