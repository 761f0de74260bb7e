//! The compiled graph: names resolved, edges by their source, all text rules in one matcher.
//!
//! A [`Graph`] never changes. Conversations share it; what moves is in their own state.

mod rules;
mod table;

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Finding;
use crate::check::check;
use crate::decide::ToolResult;
use crate::decl::{
    Body, Condition, GraphDecl, OnSkip, RouteDecl, Scope, SkillDecl, SkillId, StatusSet, ToolId, Trigger, TriggerTools,
    Word,
};
pub use rules::{EntryMatch, Witness};
use rules::{PartSpec, RuleSet, RuleSpec};
pub use table::{
    ConditionRow, EntryRow, GraphTable, RouteRow, SkillRow, StaticGraph, StepRow, TestRow, ToolRow, ToolsRow,
    TriggerRow,
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
}

/// The author's test of a user's message.
pub type EntryTest = fn(&str) -> bool;

/// The author's test of what a tool returned.
#[derive(Debug, Clone, Copy)]
pub enum RouteTest {
    /// Runs on the tool's typed output when it returns; the verdict travels with the result (SPEC 1.4).
    Typed,
    /// Runs on the result.
    Result(fn(&ToolResult) -> bool),
}

/// Why a declaration does not compile.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum GraphError {
    /// The check-up refuses it.
    Refused(Vec<Finding<()>>),
    /// The rules of its entries do not fit the matcher.
    Rules {
        /// What the matcher said.
        reason: String,
    },
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphError::Refused(findings) => {
                let texts: Vec<String> =
                    findings.iter().map(|finding| format!("{} [{}]", finding.message, finding.code)).collect();
                write!(f, "the graph has mistakes: {}", texts.join("; "))
            }
            GraphError::Rules { reason } => write!(f, "the entry rules of the graph cannot be compiled: {reason}"),
        }
    }
}

impl std::error::Error for GraphError {}

/// A graph that can run.
pub struct Graph {
    decl: GraphDecl<()>,
    tools: Vec<ToolId>,
    skills: Vec<Skill>,
    edges: Vec<Edge>,
    entries: Vec<SkillIx>,
    default: Option<SkillIx>,
    /// Tools offered wherever the cursor is: the baseline, then those of `scope: always` skills.
    constant_tools: Vec<ToolIx>,
    open: Vec<SkillIx>,
    rules: RuleSet,
    skill_index: HashMap<SkillId, SkillIx>,
    tool_index: HashMap<ToolId, ToolIx>,
    fingerprint: u64,
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
    /// Whether its tools are offered always.
    pub scope: Scope,
    /// Skills that its edges lead to, each once, in declaration order.
    targets: Vec<SkillIx>,
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
    pub(crate) test: Option<RouteTest>,
}

impl Graph {
    /// Compiles a declaration. `closures` holds the code behind its closures.
    ///
    /// # Errors
    ///
    /// [`GraphError::Refused`] with every mistake of the declaration; [`GraphError::Rules`] where the check-up found
    /// nothing and the patterns still cannot be compiled.
    pub fn compile(decl: GraphDecl<()>, closures: Closures) -> Result<Self, GraphError> {
        let findings = check(&decl);
        if !findings.is_empty() {
            return Err(GraphError::Refused(findings));
        }
        let names = Names::of(&decl);
        let open = open_skills(&decl, &names);
        let mut skills: Vec<Skill> =
            decl.skills.iter().zip(&open).map(|(skill, open)| compile_skill(skill, *open, &names)).collect();
        let edges = compile_edges(&decl, &names, &mut skills, closures.routes);
        let entries = decl.entries.iter().filter_map(|entry| names.skill(&entry.skill)).collect();
        let default =
            decl.entries.iter().find(|entry| entry.condition.is_none()).and_then(|entry| names.skill(&entry.skill));
        let rules = compile_rules(&decl, closures.entries)?;
        let tools: Vec<ToolId> = decl.tools.iter().map(|tool| ToolId::from(tool.name.text.as_str())).collect();
        Ok(Graph {
            constant_tools: constant_tools(&decl, &names),
            open: positions(&open),
            skill_index: skills.iter().enumerate().map(|(at, skill)| (skill.id.clone(), SkillIx::new(at))).collect(),
            tool_index: tools.iter().enumerate().map(|(at, tool)| (tool.clone(), ToolIx::new(at))).collect(),
            fingerprint: fingerprint(&decl),
            tools,
            skills,
            edges,
            entries,
            default,
            rules,
            decl,
        })
    }

    /// The graph's name.
    pub fn name(&self) -> &str {
        &self.decl.name.text
    }

    /// What it was compiled from.
    pub fn declaration(&self) -> &GraphDecl<()> {
        &self.decl
    }

    /// A number that differs where the declaration does: saved state carries it (SPEC 10).
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The skills, in declaration order.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// The tools, in declaration order.
    pub fn tools(&self) -> &[ToolId] {
        &self.tools
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

    /// The entry whose rule takes the message: the first that passes (SPEC 4, tier 1).
    pub fn match_entry(&self, message: &str) -> EntryMatch {
        self.rules.first_match(message)
    }

    /// The skill that an entry opens.
    pub fn entry_skill(&self, entry: EntryIx) -> Option<SkillIx> {
        self.entries.get(entry.position()).copied()
    }

    /// What the author calls an entry.
    pub fn entry_label(&self, entry: EntryIx) -> Option<&str> {
        self.decl.entries.get(entry.position())?.label.as_ref().map(|label| label.text.as_str())
    }

    /// Where a turn starts that no rule claimed.
    pub fn default_skill(&self) -> Option<SkillIx> {
        self.default
    }

    /// Tools that are offered wherever the cursor is, in order, each once.
    pub fn constant_tools(&self) -> &[ToolIx] {
        &self.constant_tools
    }

    /// Whether the skill is open: no entry or edge mentions it (SPEC 5.3).
    pub fn is_open(&self, skill: SkillIx) -> bool {
        self.skill(skill).is_some_and(|skill| skill.open)
    }

    /// Where the cursor may go by the model's pick: along an edge of any kind, or to an entry; never where it is.
    pub fn hops(&self, cursor: Option<SkillIx>) -> Vec<SkillIx> {
        let targets = cursor.and_then(|cursor| self.skill(cursor)).map_or(&[][..], |skill| &skill.targets);
        let mut hops = Vec::with_capacity(targets.len() + self.entries.len());
        let mut seen = std::collections::HashSet::with_capacity(hops.capacity());
        for hop in targets.iter().chain(&self.entries) {
            if Some(*hop) != cursor && seen.insert(*hop) {
                hops.push(*hop);
            }
        }
        hops
    }

    /// Whether `to` is among the hops from the cursor.
    pub fn is_hop(&self, cursor: Option<SkillIx>, to: SkillIx) -> bool {
        let along = cursor.and_then(|cursor| self.skill(cursor)).is_some_and(|skill| skill.targets.contains(&to));
        Some(to) != cursor && (along || self.entries.contains(&to))
    }

    /// What a pick may name from the cursor: its hops, then the open skills (SPEC 5.3).
    pub fn reachable(&self, cursor: Option<SkillIx>) -> Vec<SkillIx> {
        let mut reachable = self.hops(cursor);
        reachable.extend(&self.open);
        reachable
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

/// Identifiers to positions, while compiling.
struct Names<'a> {
    skills: HashMap<&'a str, SkillIx>,
    tools: HashMap<&'a str, ToolIx>,
}

impl<'a> Names<'a> {
    fn of(decl: &'a GraphDecl<()>) -> Self {
        let skills = decl.skills.iter().enumerate().map(|(at, skill)| (skill.ident.text.as_str(), SkillIx::new(at)));
        let tools = decl.tools.iter().enumerate().map(|(at, tool)| (tool.ident.text.as_str(), ToolIx::new(at)));
        Names { skills: skills.collect(), tools: tools.collect() }
    }

    fn skill(&self, name: &Word<()>) -> Option<SkillIx> {
        self.skills.get(name.text.as_str()).copied()
    }

    fn tool(&self, name: &Word<()>) -> Option<ToolIx> {
        self.tools.get(name.text.as_str()).copied()
    }

    fn tools(&self, names: &[Word<()>]) -> Vec<ToolIx> {
        names.iter().filter_map(|name| self.tool(name)).collect()
    }
}

fn compile_skill(skill: &SkillDecl<()>, open: bool, names: &Names<'_>) -> Skill {
    let body = match &skill.body {
        Some(Body::Inline { prose: Ok(prose), .. }) => prose.render(|tool| tool),
        _ => String::new(),
    };
    let steps = skill.steps.iter().flat_map(|steps| &steps.list);
    Skill {
        id: SkillId::from(skill.id.text.as_str()),
        description: skill.description.as_ref().map(|text| text.text.clone()).unwrap_or_default(),
        body,
        tools: names.tools(&skill.tools),
        steps: steps
            .filter_map(|step| Some(Step { tool: names.tool(&step.tool)?, note: step.note.text.clone() }))
            .collect(),
        on_skip: skill.on_skip.map_or(OnSkip::default(), |(on_skip, ())| on_skip),
        scope: skill.scope,
        targets: Vec::new(),
        edges_by_tool: Vec::new(),
        edges_on_any: Vec::new(),
        open,
    }
}

/// Resolves the edges and files them with their sources.
fn compile_edges(decl: &GraphDecl<()>, names: &Names<'_>, skills: &mut [Skill], closures: Vec<RouteTest>) -> Vec<Edge> {
    let mut closures = closures.into_iter();
    let mut edges = Vec::with_capacity(decl.routes.len());
    for route in &decl.routes {
        let test = if has_closure(route) { closures.next() } else { None };
        let (Some(from), Some(to)) = (names.skill(&route.from), names.skill(&route.to)) else { continue };
        let at = EdgeIx::new(edges.len());
        edges.push(Edge {
            from,
            to,
            label: route.label.as_ref().map(|label| label.text.clone()),
            statuses: route.trigger.statuses(),
            test,
        });
        let Some(source) = skills.get_mut(from.position()) else { continue };
        source.targets.push(to);
        match &route.trigger {
            Trigger::Pick => {}
            Trigger::Closure(_) | Trigger::Returns { tools: TriggerTools::Any { .. }, .. } => {
                source.edges_on_any.push(at)
            }
            Trigger::Returns { tools, .. } => {
                source.edges_by_tool.extend(names.tools(tools.named()).into_iter().map(|tool| (tool, at)));
            }
        }
    }
    for skill in skills {
        let mut seen = std::collections::HashSet::new();
        skill.targets.retain(|target| seen.insert(*target));
        skill.edges_by_tool.sort_unstable();
        skill.edges_by_tool.dedup();
    }
    edges
}

fn has_closure(route: &RouteDecl<()>) -> bool {
    matches!(route.trigger, Trigger::Closure(_) | Trigger::Returns { closure: Some(_), .. })
}

fn compile_rules(decl: &GraphDecl<()>, closures: Vec<EntryTest>) -> Result<RuleSet, GraphError> {
    let mut closures = closures.into_iter();
    let specs = decl.entries.iter().map(|entry| {
        let mut spec = RuleSpec::default();
        if let Some(condition) = &entry.condition {
            fill_rule(condition, &mut closures, &mut spec);
        }
        spec
    });
    RuleSet::new(specs.collect()).map_err(|reason| GraphError::Rules { reason })
}

fn fill_rule(condition: &Condition<()>, closures: &mut impl Iterator<Item = EntryTest>, spec: &mut RuleSpec) {
    match condition {
        Condition::Matches(pattern) => spec.parts.push(PartSpec::Pattern(pattern.text.clone())),
        Condition::Keywords { list, .. } => {
            spec.parts.push(PartSpec::Keywords(list.iter().map(|word| word.text.clone()).collect()));
        }
        Condition::All { list, .. } => list.iter().for_each(|part| fill_rule(part, closures, spec)),
        Condition::Closure(_) => spec.closures.extend(closures.next()),
    }
}

fn constant_tools(decl: &GraphDecl<()>, names: &Names<'_>) -> Vec<ToolIx> {
    let roaming = decl.skills.iter().filter(|skill| skill.scope == Scope::Always).flat_map(|skill| &skill.tools);
    let mut seen = std::collections::HashSet::new();
    let mut tools: Vec<ToolIx> = decl.baseline.iter().chain(roaming).filter_map(|name| names.tool(name)).collect();
    tools.retain(|tool| seen.insert(*tool));
    tools
}

/// For each skill, whether no entry or edge mentions it.
fn open_skills(decl: &GraphDecl<()>, names: &Names<'_>) -> Vec<bool> {
    let mut open = vec![true; decl.skills.len()];
    let entries = decl.entries.iter().map(|entry| &entry.skill);
    let ends = decl.routes.iter().flat_map(|route| [&route.from, &route.to]);
    for name in entries.chain(ends) {
        if let Some(slot) = names.skill(name).and_then(|skill| open.get_mut(skill.position())) {
            *slot = false;
        }
    }
    open
}

fn positions(flags: &[bool]) -> Vec<SkillIx> {
    flags.iter().enumerate().filter(|(_, flag)| **flag).map(|(at, _)| SkillIx::new(at)).collect()
}

/// Hashes what the declaration says, by a function that is the same everywhere.
fn fingerprint(decl: &GraphDecl<()>) -> u64 {
    use std::hash::Hasher;
    let mut hasher = fnv::FnvHasher::default();
    // A declaration is texts, lists and numbers: it always serialises.
    hasher.write(&serde_json::to_vec(decl).unwrap_or_default());
    hasher.finish()
}
