//! The compiled graph: names resolved, edges by their source, all text rules in one matcher.
//!
//! A [`Graph`] never changes. Conversations share it; what moves is in their own state.

mod checkup;
mod compile;
mod guard;
mod hidden;
mod result;
mod rules;
mod table;

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::catalog::{CatalogEntry, ToolHeader};
use crate::decl::{
    GraphDecl, GuardTerm, OnSkip, OnUnfinished, Scope, ScorerKind, SkillId, StatusSet, Surface, ToolId, Word,
};
use crate::policy::SkillPolicy;
use crate::score::ScorePolicy;
pub use compile::GraphError;
pub(crate) use guard::{Reading, judge};
pub use guard::{TermEvidence, TermOutcome};
pub use hidden::Hidden;
pub use result::{EdgeEvidence, Learnt, ToolResult, Verdict};
use rules::RuleSet;
pub use rules::{EntryMatch, Witness};
pub use table::{
    BranchRow, CatalogRow, CatalogSkillRow, ClassifyRow, ConditionRow, EntryRow, GovernorRow, GraphTable, LintRows,
    LiteralRow, RouteRow, SkillRow, StaticGraph, StepRow, TermRow, TestRow, ThenRow, ToolRow, ToolsRow, TriggerRow,
};

/// A skill of one graph, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SkillIx(u32);

/// A tool of one graph, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolIx(u32);

/// An edge of one graph, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EdgeIx(u32);

/// An entry of one graph, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryIx(u32);

macro_rules! position {
    ($($id:ident)*) => {$(
        impl $id {
            /// The thing at that position of the declaration.
            pub fn new(position: usize) -> Self {
                Self(u32::try_from(position).unwrap_or(u32::MAX))
            }

            /// The position in the declaration.
            pub fn position(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
position!(SkillIx ToolIx EdgeIx EntryIx);

/// The code behind the closures of a declaration, in the order in which they are declared.
#[derive(Debug, Default, Clone)]
pub struct Closures {
    /// One for each `|message| …` of an entry.
    pub entries: Vec<EntryTest>,
    /// One for each edge that has a closure.
    pub routes: Vec<RouteTest>,
    /// One for each catalog skill that may be away.
    pub catalog: Vec<Availability>,
}

/// The author's question whether a skill of the catalog is there.
pub type Availability = fn() -> Pin<Box<dyn Future<Output = bool> + Send>>;

/// The author's test of a user's message.
pub type EntryTest = fn(&str) -> bool;

/// The author's test of what a tool returned.
#[derive(Debug, Clone, Copy)]
pub enum RouteTest {
    /// Runs on the tool's typed output when it returns; the verdict travels with the result.
    // SPEC 1.4.
    Typed,
    /// Runs on the result.
    Result(fn(&ToolResult) -> bool),
}

/// A graph that can run.
#[derive(Clone)]
pub struct Graph {
    decl: GraphDecl<()>,
    tools: Vec<ToolId>,
    skills: Vec<Skill>,
    edges: Vec<Edge>,
    entries: Vec<SkillIx>,
    /// Skills that an entry opens and that a pick may open, too, each once, in declaration order.
    pickable: Vec<SkillIx>,
    default: Option<EntryIx>,
    intents: Vec<IntentEntry>,
    picked: Vec<SkillIx>,
    /// The tree, its conditions as rules by their order in the source.
    tree: Option<Node>,
    tree_rules: Arc<RuleSet>,
    /// Tools offered wherever the cursor is: the baseline, then those of `scope: always` skills.
    constant_tools: Vec<ToolIx>,
    baseline: Vec<ToolIx>,
    open: Vec<SkillIx>,
    rules: Arc<RuleSet>,
    availability: Vec<Availability>,
    skill_index: HashMap<SkillId, SkillIx>,
    tool_index: HashMap<ToolId, ToolIx>,
    fingerprint: u64,
}

/// A part of a tree, resolved.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Leaf(SkillIx),
    Fork { rule: u32, then: Box<Node>, otherwise: Box<Node> },
}

/// An entry that a scorer opens, resolved.
#[derive(Debug, Clone)]
pub struct IntentEntry {
    /// The skill that it opens.
    pub skill: SkillIx,
    /// What it is about.
    pub intent: String,
    /// Messages that mean it.
    pub examples: Vec<String>,
    /// The words of all of them.
    pub(crate) words: BTreeSet<String>,
}

/// A skill, resolved.
#[derive(Debug, Clone)]
pub struct Skill {
    /// Its id.
    pub id: SkillId,
    /// What a model reads when it chooses.
    pub description: String,
    /// Its instructions.
    pub body: String,
    /// Its tools, in declaration order.
    pub tools: Vec<ToolIx>,
    /// Its procedure; empty where it has none.
    pub steps: Vec<Step>,
    /// What `skip_step` does.
    pub on_skip: OnSkip,
    /// What an answer with steps left gets, where the author said so.
    pub on_unfinished: Option<OnUnfinished>,
    /// Whether its tools are offered always.
    pub scope: Scope,
    /// Where its body is read.
    pub surface: Surface,
    /// How many replies of the model may follow on the body before it is given again.
    pub refresh: Option<NonZeroU32>,
    /// Skills that its `~>` edges lead to, each once, in declaration order.
    picks: Vec<SkillIx>,
    /// Edges that wait for one tool, sorted by it.
    edges_by_tool: Vec<(ToolIx, EdgeIx)>,
    /// Edges that wait for any tool, in declaration order.
    edges_on_any: Vec<EdgeIx>,
    /// No entry or edge mentions it.
    open: bool,
}

/// A step, resolved.
#[derive(Debug, Clone)]
pub struct Step {
    /// The tool that takes it.
    pub tool: ToolIx,
    /// Why it comes now.
    pub note: String,
}

/// An edge, resolved.
#[derive(Debug, Clone)]
pub struct Edge {
    /// Where the cursor must be.
    pub from: SkillIx,
    /// Where it moves to.
    pub to: SkillIx,
    /// What drawings and records call it.
    pub label: Option<String>,
    /// Which statuses let it fire; none for an edge that only a pick takes.
    pub(crate) statuses: StatusSet,
    /// What must hold of the output; empty where nothing is asked.
    pub(crate) guard: Vec<GuardTerm<()>>,
    pub(crate) test: Option<RouteTest>,
}

impl Graph {
    /// The graph's name.
    pub fn name(&self) -> &str {
        &self.decl.name.text
    }

    /// What it was compiled from.
    pub fn declaration(&self) -> &GraphDecl<()> {
        &self.decl
    }

    /// A number that differs where the declaration does: saved state carries it.
    // SPEC 10.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The skills, in declaration order.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// The tools: those of the registry in declaration order, then those that a host has added.
    pub fn tools(&self) -> &[ToolId] {
        &self.tools
    }

    /// The graph with more tools: those of catalog skills that only a host knows. No skill of the graph has one;
    /// a name that it has already is not added again.
    // SPEC 11.
    #[must_use]
    pub fn with_tools(&self, names: impl IntoIterator<Item = ToolId>) -> Self {
        let mut graph = self.clone();
        for name in names {
            let at = ToolIx::new(graph.tools.len());
            if let Entry::Vacant(free) = graph.tool_index.entry(name.clone()) {
                free.insert(at);
                graph.tools.push(name);
            }
        }
        graph
    }

    /// How much of the graph's catalog may be open; none where it declares no catalog.
    pub fn catalog_policy(&self) -> Option<SkillPolicy> {
        self.decl.catalog.as_ref().map(|catalog| catalog.policy)
    }

    /// The skills of the graph's catalog, with their instructions and the question whether each is there. `described` says
    /// what a tool of the registry does.
    pub fn declared_catalog(
        &self,
        described: impl Fn(&ToolId) -> Option<String>,
    ) -> Vec<(CatalogEntry, String, Option<Availability>)> {
        let ids: HashMap<&str, &ToolId> =
            self.decl.tools.iter().zip(&self.tools).map(|(tool, id)| (tool.ident.text.as_str(), id)).collect();
        let mut availability = self.availability.iter();
        let text = |word: &Option<Word<()>>| word.as_ref().map_or_else(String::new, |word| word.text.clone());
        let skills = self.decl.catalog_skills().map(|skill| {
            let available = skill.available.as_ref().and_then(|_| availability.next().copied());
            let tools = skill.tools.iter().filter_map(|tool| ids.get(tool.text.as_str()));
            let default_bind = skill.default_bind.iter().flat_map(|list| &list.list);
            let entry = CatalogEntry {
                key: skill.key.text.clone(),
                title: text(&skill.title),
                header: text(&skill.header),
                needs_sandbox: skill.needs_sandbox,
                min_model_tier: skill.min_model_tier,
                tools: tools.map(|id| ToolHeader { name: id.to_string(), description: described(id) }).collect(),
                default_bind: default_bind.filter_map(|tool| Some(ids.get(tool.text.as_str())?.to_string())).collect(),
                may_be_away: available.is_some(),
            };
            (entry, text(&skill.prompt), available)
        });
        skills.collect()
    }

    /// A skill, if the position is of this graph.
    pub fn skill(&self, skill: SkillIx) -> Option<&Skill> {
        self.skills.get(skill.position())
    }

    /// An edge, if the position is of this graph.
    pub fn edge(&self, edge: EdgeIx) -> Option<&Edge> {
        self.edges.get(edge.position())
    }

    /// The skill of that id.
    pub fn find_skill(&self, id: &str) -> Option<SkillIx> {
        self.skill_index.get(id).copied()
    }

    /// The tool of that name.
    pub fn find_tool(&self, name: &str) -> Option<ToolIx> {
        self.tool_index.get(name).copied()
    }

    /// The id of a skill; of a position that is not of this graph, an empty one.
    pub fn skill_id(&self, skill: SkillIx) -> SkillId {
        self.skill(skill).map_or(SkillId::from_static(""), |skill| skill.id.clone())
    }

    /// The name of a tool; of a position that is not of this graph, an empty one.
    pub fn tool_id(&self, tool: ToolIx) -> ToolId {
        self.tools.get(tool.position()).cloned().unwrap_or(ToolId::from_static(""))
    }

    /// The entry whose rule takes the message: the first that passes.
    // SPEC 4, tier 1.
    pub fn match_entry(&self, message: &str) -> EntryMatch {
        self.match_entry_without(message, &Hidden::NONE)
    }

    /// The same where some skills are hidden: a rule that opens one takes nothing.
    pub fn match_entry_without(&self, message: &str, hidden: &Hidden) -> EntryMatch {
        self.rules.first_match(message, |entry| !self.is_barred(entry, hidden))
    }

    /// The skill that an entry opens.
    pub fn entry_skill(&self, entry: EntryIx) -> Option<SkillIx> {
        self.entries.get(entry.position()).copied()
    }

    /// What the author calls an entry.
    pub fn entry_label(&self, entry: EntryIx) -> Option<&str> {
        self.decl.entries.get(entry.position())?.label.as_ref().map(|label| label.text.as_str())
    }

    /// The entry without a condition: where a turn starts that no rule claimed.
    pub fn default_entry(&self) -> Option<EntryIx> {
        self.default
    }

    /// The entries that a scorer opens, in declaration order.
    pub fn intents(&self) -> &[IntentEntry] {
        &self.intents
    }

    /// Whether a tree chooses the skill.
    // SPEC 3.5.
    pub fn is_tree(&self) -> bool {
        self.tree.is_some()
    }

    /// The skill that the tree chooses for the message, and the conditions whose closure panicked on the way, by their
    /// order in the source: they count as not holding. None of a graph without a tree.
    pub fn leaf(&self, message: &str) -> Option<(SkillIx, Vec<usize>)> {
        let mut node = self.tree.as_ref()?;
        let probe = self.tree_rules.probe(message);
        let mut panicked = Vec::new();
        loop {
            match node {
                Node::Leaf(skill) => return Some((*skill, panicked.into_iter().map(EntryIx::position).collect())),
                Node::Fork { rule, then, otherwise } => {
                    node = if probe.passes(*rule, &mut panicked) { then } else { otherwise };
                }
            }
        }
    }

    /// The skills that only a menu of a turn's start opens, in declaration order.
    pub fn picked(&self) -> &[SkillIx] {
        &self.picked
    }

    /// Who scores messages, and when a score decides.
    pub fn classify(&self) -> Option<(ScorerKind, ScorePolicy)> {
        self.decl.classify.as_ref().map(|classify| (classify.scorer, classify.policy))
    }

    /// The skills that no entry or edge mentions, in declaration order.
    pub fn open_skills(&self) -> &[SkillIx] {
        &self.open
    }

    /// Tools that are offered wherever the cursor is, in order, each once.
    pub fn constant_tools(&self) -> &[ToolIx] {
        &self.constant_tools
    }

    /// Whether the skill is open: no entry or edge mentions it.
    // SPEC 5.3.
    pub fn is_open(&self, skill: SkillIx) -> bool {
        self.skill(skill).is_some_and(|skill| skill.open)
    }

    /// Where the cursor may go by the model's pick or a tool's proposal: along a `~>` edge, or to an entry that may be picked;
    /// never where it is. An edge with a trigger is a gate: nothing but a result that fires it goes through.
    // SPEC 5.3.
    pub fn hops(&self, cursor: Option<SkillIx>) -> Vec<SkillIx> {
        let along = self.model_edges(cursor);
        let mut hops = Vec::with_capacity(along.len() + self.pickable.len());
        let mut seen = std::collections::HashSet::with_capacity(hops.capacity());
        for hop in along.iter().chain(&self.pickable) {
            if Some(*hop) != cursor && seen.insert(*hop) {
                hops.push(*hop);
            }
        }
        hops
    }

    /// Whether `to` is among the hops from the cursor.
    pub fn is_hop(&self, cursor: Option<SkillIx>, to: SkillIx) -> bool {
        Some(to) != cursor && (self.model_edges(cursor).contains(&to) || self.may_be_picked(to))
    }

    /// The skills that `~>` edges out of the cursor lead to, each once, in declaration order.
    pub fn model_edges(&self, cursor: Option<SkillIx>) -> &[SkillIx] {
        cursor.and_then(|cursor| self.skill(cursor)).map_or(&[], |skill| &skill.picks)
    }

    /// Whether an edge with a trigger leads from the cursor to the skill.
    pub fn has_gate(&self, cursor: Option<SkillIx>, to: SkillIx) -> bool {
        let Some(skill) = cursor.and_then(|cursor| self.skill(cursor)) else { return false };
        let gates = skill.edges_by_tool.iter().map(|(_, edge)| edge).chain(&skill.edges_on_any);
        gates.filter_map(|edge| self.edge(*edge)).any(|edge| edge.to == to)
    }

    /// Whether the skill is an entry that may be picked from anywhere.
    pub fn may_be_picked(&self, skill: SkillIx) -> bool {
        self.pickable.contains(&skill)
    }

    /// The edges out of the cursor that a result of this tool might fire, in declaration order.
    pub(crate) fn candidate_edges(&self, cursor: SkillIx, tool: ToolIx) -> impl Iterator<Item = (EdgeIx, &Edge)> {
        let skill = self.skill(cursor);
        let by_tool = skill.map_or(&[][..], |skill| {
            let from = skill.edges_by_tool.partition_point(|(candidate, _)| *candidate < tool);
            let rest = skill.edges_by_tool.get(from..).unwrap_or_default();
            let len = rest.partition_point(|(candidate, _)| *candidate == tool);
            rest.get(..len).unwrap_or_default()
        });
        let on_any = skill.map_or(&[][..], |skill| &skill.edges_on_any);
        InOrder { by_tool, on_any }.filter_map(|edge| Some((edge, self.edge(edge)?)))
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("declaration", &self.decl).finish_non_exhaustive()
    }
}

/// Two ordered lists of edges as one.
struct InOrder<'a> {
    by_tool: &'a [(ToolIx, EdgeIx)],
    on_any: &'a [EdgeIx],
}

impl Iterator for InOrder<'_> {
    type Item = EdgeIx;

    fn next(&mut self) -> Option<EdgeIx> {
        match (self.by_tool.split_first(), self.on_any.split_first()) {
            (Some(((_, edge), rest)), Some((any, _))) if edge < any => {
                self.by_tool = rest;
                Some(*edge)
            }
            (_, Some((any, rest))) => {
                self.on_any = rest;
                Some(*any)
            }
            (Some(((_, edge), rest)), None) => {
                self.by_tool = rest;
                Some(*edge)
            }
            (None, None) => None,
        }
    }
}
