//! From a declaration to a graph: names become positions, edges are filed with their sources.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use super::rules::{PartSpec, RuleSet, RuleSpec};
use super::{
    Closures, Edge, EdgeIx, EntryIx, EntryTest, Graph, IntentEntry, Node, RouteTest, Skill, SkillIx, Step, ToolIx,
};
use crate::check::{CheckUp, check};
use crate::decl::{
    Body, Branch, Condition, GraphDecl, GraphSpec, OnSkip, RouteDecl, Scope, SkillDecl, SkillId, Surface, ToolId,
    Trigger, TriggerTools, Word,
};
use crate::finding::{Code, Finding, Report};
use crate::score::intent_words;

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

impl Graph {
    /// Compiles a graph from data over a registry: the names of the tools that there are, in the order in which an agent
    /// gets them.
    ///
    /// # Errors
    ///
    /// A [`Report`] with every mistake, each at its JSON pointer.
    pub fn compile(spec: &GraphSpec, registry: &[impl AsRef<str>]) -> Result<Self, Report> {
        let decl = spec.declaration(registry);
        let placed = decl.at_pointers();
        let findings = check(&placed);
        if !findings.is_empty() {
            return Err(Report::of(&placed, CheckUp { findings, undecided: Vec::new() }));
        }
        Self::build(decl, Closures::default()).map_err(|error| {
            let finding = Finding::new(Code::InvalidPattern, "/entries".to_owned(), error.to_string());
            Report { findings: vec![finding], undecided: Vec::new() }
        })
    }

    /// Compiles a declaration. `closures` holds the code behind its closures.
    ///
    /// # Errors
    ///
    /// [`GraphError::Refused`] with every mistake of the declaration; [`GraphError::Rules`] where the check-up found
    /// nothing and the patterns still cannot be compiled.
    pub fn from_declaration(decl: GraphDecl<()>, closures: Closures) -> Result<Self, GraphError> {
        let findings = check(&decl);
        if !findings.is_empty() {
            return Err(GraphError::Refused(findings));
        }
        Self::build(decl, closures)
    }

    /// Compiles a declaration that the check-up has accepted.
    fn build(decl: GraphDecl<()>, closures: Closures) -> Result<Self, GraphError> {
        let names = Names::of(&decl);
        let open = open_skills(&decl, &names);
        let mut skills: Vec<Skill> =
            decl.skills.iter().zip(&open).map(|(skill, open)| compile_skill(skill, *open, &names)).collect();
        let edges = compile_edges(&decl, &names, &mut skills, closures.routes);
        let entries = decl.entries.iter().filter_map(|entry| names.skill(&entry.skill)).collect();
        let default = decl.entries.iter().position(|entry| entry.condition.is_none()).map(EntryIx::new);
        let (intents, picked) = compile_intents(&decl, &names);
        let mut tests = closures.entries.into_iter();
        let rules = compile_rules(decl.entries.iter().map(|entry| entry.condition.as_ref()), &mut tests)?;
        let forks = decl.tree.iter().flat_map(|tree| tree.root.forks()).map(|fork| Some(&fork.condition));
        let tree_rules = compile_rules(forks, &mut tests)?;
        let tree = decl.tree.as_ref().and_then(|tree| compile_branch(&tree.root, &names, &mut 0));
        let tools: Vec<ToolId> = decl.tools.iter().map(|tool| ToolId::from(tool.name.text.as_str())).collect();
        Ok(Graph {
            constant_tools: constant_tools(&decl, &names),
            baseline: decl.baseline.iter().filter_map(|name| names.tool(name)).collect(),
            open: positions(&open),
            skill_index: skills.iter().enumerate().map(|(at, skill)| (skill.id.clone(), SkillIx::new(at))).collect(),
            tool_index: tools.iter().enumerate().map(|(at, tool)| (tool.clone(), ToolIx::new(at))).collect(),
            fingerprint: fingerprint(&decl),
            tools,
            skills,
            edges,
            pickable: pickable(&decl, &names),
            entries,
            default,
            intents,
            picked,
            tree,
            availability: closures.catalog,
            tree_rules: Arc::new(tree_rules),
            rules: Arc::new(rules),
            decl,
        })
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
        on_unfinished: skill.on_unfinished.map(|(said, ())| said),
        scope: skill.scope,
        surface: skill.surface.map_or(Surface::default(), |(surface, ())| surface),
        refresh: skill.refresh.map(|(refresh, ())| refresh),
        picks: Vec::new(),
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
            guard: route.trigger.guard().to_vec(),
            test,
        });
        let Some(source) = skills.get_mut(from.position()) else { continue };
        match &route.trigger {
            Trigger::Pick => source.picks.push(to),
            Trigger::Closure(_) | Trigger::Returns { tools: TriggerTools::Any { .. }, .. } => {
                source.edges_on_any.push(at)
            }
            Trigger::Returns { tools, .. } => {
                source.edges_by_tool.extend(names.tools(tools.named()).into_iter().map(|tool| (tool, at)));
            }
        }
    }
    for skill in skills {
        let mut seen = HashSet::new();
        skill.picks.retain(|target| seen.insert(*target));
        skill.edges_by_tool.sort_unstable();
        skill.edges_by_tool.dedup();
    }
    edges
}

fn has_closure(route: &RouteDecl<()>) -> bool {
    matches!(route.trigger, Trigger::Closure(_) | Trigger::Returns { closure: Some(_), .. })
}

fn compile_rules<'a>(
    conditions: impl Iterator<Item = Option<&'a Condition<()>>>,
    closures: &mut impl Iterator<Item = EntryTest>,
) -> Result<RuleSet, GraphError> {
    let specs = conditions.map(|condition| {
        let mut spec = RuleSpec::default();
        if let Some(condition) = condition {
            fill_rule(condition, closures, &mut spec);
        }
        spec
    });
    RuleSet::new(specs.collect()).map_err(|reason| GraphError::Rules { reason })
}

/// Resolves a part of a tree. None where the check-up has not accepted it.
fn compile_branch(branch: &Branch<()>, names: &Names<'_>, rule: &mut u32) -> Option<Node> {
    match branch {
        Branch::Leaf(skill) => names.skill(skill).map(Node::Leaf),
        Branch::Fork(fork) => {
            let own = *rule;
            *rule += 1;
            let then = compile_branch(&fork.then, names, rule)?;
            let otherwise = compile_branch(fork.otherwise.as_ref()?, names, rule)?;
            Some(Node::Fork { rule: own, then: Box::new(then), otherwise: Box::new(otherwise) })
        }
    }
}

fn fill_rule(condition: &Condition<()>, closures: &mut impl Iterator<Item = EntryTest>, spec: &mut RuleSpec) {
    match condition {
        Condition::Matches(pattern) => spec.parts.push(PartSpec::Pattern(pattern.text.clone())),
        Condition::Keywords { list, .. } => {
            spec.parts.push(PartSpec::Keywords(list.iter().map(|word| word.text.clone()).collect()));
        }
        Condition::All { list, .. } => list.iter().for_each(|part| fill_rule(part, closures, spec)),
        Condition::Closure(_) => spec.closures.extend(closures.next()),
        // No rule: a scorer or a menu decides.
        Condition::Intent { .. } | Condition::Picked { .. } => {}
    }
}

/// What a scorer and a menu open.
fn compile_intents(decl: &GraphDecl<()>, names: &Names<'_>) -> (Vec<IntentEntry>, Vec<SkillIx>) {
    let (mut intents, mut picked) = (Vec::new(), Vec::new());
    for entry in &decl.entries {
        let Some(skill) = names.skill(&entry.skill) else { continue };
        match &entry.condition {
            Some(Condition::Intent { intent, examples }) => {
                let examples: Vec<String> = examples.list.iter().map(|example| example.text.clone()).collect();
                let words = intent_words(&intent.text, examples.iter().map(String::as_str));
                intents.push(IntentEntry { skill, intent: intent.text.clone(), examples, words });
            }
            Some(Condition::Picked { .. }) => picked.push(skill),
            _ => {}
        }
    }
    (intents, picked)
}

/// The skills of entries, without those of which an entry says that they are never picked.
fn pickable(decl: &GraphDecl<()>, names: &Names<'_>) -> Vec<SkillIx> {
    let skills_of = |never: bool| {
        let entries = decl.entries.iter().filter(move |entry| entry.never_picked.is_some() == never);
        entries.filter_map(|entry| names.skill(&entry.skill))
    };
    let never: HashSet<SkillIx> = skills_of(true).collect();
    let mut seen = HashSet::new();
    skills_of(false).filter(|skill| !never.contains(skill) && seen.insert(*skill)).collect()
}

fn constant_tools(decl: &GraphDecl<()>, names: &Names<'_>) -> Vec<ToolIx> {
    let roaming = decl.skills.iter().filter(|skill| skill.scope == Scope::Always).flat_map(|skill| &skill.tools);
    let mut seen = HashSet::new();
    let mut tools: Vec<ToolIx> = decl.baseline.iter().chain(roaming).filter_map(|name| names.tool(name)).collect();
    tools.retain(|tool| seen.insert(*tool));
    tools
}

/// For each skill, whether no entry or edge mentions it.
fn open_skills(decl: &GraphDecl<()>, names: &Names<'_>) -> Vec<bool> {
    let mut open = vec![true; decl.skills.len()];
    let entries = decl.entries.iter().map(|entry| &entry.skill);
    let ends = decl.routes.iter().flat_map(|route| [&route.from, &route.to]);
    let leaves = decl.tree.iter().flat_map(|tree| tree.root.leaves());
    for name in entries.chain(ends).chain(leaves) {
        if let Some(slot) = names.skill(name).and_then(|skill| open.get_mut(skill.position())) {
            *slot = false;
        }
    }
    open
}

fn positions(flags: &[bool]) -> Vec<SkillIx> {
    flags.iter().enumerate().filter(|(_, flag)| **flag).map(|(at, _)| SkillIx::new(at)).collect()
}

/// Hashes how the declaration is built, by a function that is the same everywhere. Texts that are only read, by people and by
/// models, are left out: a turn that waits goes on where one of them is mended.
// SPEC 10.
fn fingerprint(decl: &GraphDecl<()>) -> u64 {
    use std::hash::Hasher;
    let mut hasher = fnv::FnvHasher::default();
    // A declaration is texts, lists and numbers: it always serialises.
    hasher.write(&serde_json::to_vec(&without_texts(decl.clone())).unwrap_or_default());
    hasher.finish()
}

fn without_texts(mut decl: GraphDecl<()>) -> GraphDecl<()> {
    for skill in &mut decl.skills {
        skill.description = None;
        skill.body = None;
        for step in skill.steps.iter_mut().flat_map(|steps| &mut steps.list) {
            step.note.text.clear();
        }
    }
    for entry in &mut decl.entries {
        entry.label = None;
        if let Some(Condition::Intent { intent, examples }) = &mut entry.condition {
            intent.text.clear();
            examples.list.clear();
        }
    }
    for route in &mut decl.routes {
        route.label = None;
    }
    for skill in decl.catalog.iter_mut().flat_map(|catalog| &mut catalog.skills) {
        (skill.title, skill.header, skill.prompt) = (None, None, None);
    }
    decl
}
