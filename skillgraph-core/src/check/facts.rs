//! What several checks need to know about a graph, worked out once.

use std::collections::{HashMap, HashSet};

use crate::decl::{GraphDecl, RouteDecl, Scope, SkillDecl, Word};
use crate::pattern::Budget;
use crate::suggest::closest;

/// Names resolved to positions, and who can hold the cursor. Maps are only asked, never walked, so that their order
/// shows nowhere.
pub(super) struct Facts<'a, S> {
    decl: &'a GraphDecl<S>,
    tools: HashMap<&'a str, usize>,
    tools_by_name: HashMap<&'a str, usize>,
    skills: HashMap<&'a str, usize>,
    skills_by_id: HashMap<&'a str, usize>,
    /// Skills that some entry or edge mentions.
    wired: HashSet<usize>,
    /// Skills that an entry opens.
    entered: HashSet<usize>,
    /// Skills with an edge to another skill.
    left: HashSet<usize>,
    /// Skills with an edge from another skill that a result fires.
    fired: HashSet<usize>,
    /// Skills that an entry, or a chain of edges from one, leads to.
    holders: HashSet<usize>,
    /// Tools offered wherever the cursor is: baseline, `scope: always`, and the tools of skills that can be opened anywhere, those of
    /// a catalog included.
    everywhere: HashSet<usize>,
    /// How many more names are compared with misspelt ones.
    comparisons: Budget,
}

/// How many names are compared with misspelt ones, however many there are of both.
const LEAST_COMPARISONS: usize = 100_000;

impl<'a, S> Facts<'a, S> {
    pub(super) fn new(decl: &'a GraphDecl<S>) -> Self {
        let mut facts = Facts {
            decl,
            tools: first_positions(decl.tools.iter().map(|tool| tool.ident.text.as_str())),
            tools_by_name: first_positions(decl.tools.iter().map(|tool| tool.name.text.as_str())),
            skills: first_positions(decl.skills.iter().map(|skill| skill.ident.text.as_str())),
            skills_by_id: first_positions(decl.skills.iter().map(|skill| skill.id.text.as_str())),
            wired: HashSet::new(),
            entered: HashSet::new(),
            left: HashSet::new(),
            fired: HashSet::new(),
            holders: HashSet::new(),
            everywhere: HashSet::new(),
            comparisons: Budget::new(LEAST_COMPARISONS + 10 * (decl.tools.len() + decl.skills.len())),
        };
        facts.wired = facts.find_wired();
        let leaves = decl.tree.iter().flat_map(|tree| tree.root.leaves());
        let entries = decl.entries.iter().map(|entry| &entry.skill).chain(leaves);
        facts.entered = entries.filter_map(|skill| facts.skill(&skill.text)).collect();
        let between = || decl.routes.iter().filter(|route| route.from.text != route.to.text);
        facts.left = between().filter_map(|route| facts.skill(&route.from.text)).collect();
        let fires = |route: &&RouteDecl<S>| !route.trigger.is_pick();
        facts.fired = between().filter(fires).filter_map(|route| facts.skill(&route.to.text)).collect();
        facts.holders = facts.find_holders();
        facts.everywhere = facts.find_everywhere();
        facts
    }

    /// The position of a tool's declaration.
    pub(super) fn tool(&self, ident: &str) -> Option<usize> {
        self.tools.get(ident).copied()
    }

    /// The position of the tool that a model knows by that name.
    pub(super) fn tool_by_name(&self, name: &str) -> Option<usize> {
        self.tools_by_name.get(name).copied()
    }

    /// The declared name that is closest to another; none where enough was compared.
    pub(super) fn closest(&self, name: &str, declared: impl ExactSizeIterator<Item = &'a str>) -> Option<&'a str> {
        self.comparisons.spend(declared.len()).then(|| closest(name, declared)).flatten()
    }

    /// The position of the skill that a model knows by that id.
    pub(super) fn skill_by_id(&self, id: &str) -> Option<usize> {
        self.skills_by_id.get(id).copied()
    }

    /// The position of a skill's declaration.
    pub(super) fn skill(&self, ident: &str) -> Option<usize> {
        self.skills.get(ident).copied()
    }

    /// The skill declared by that identifier.
    pub(super) fn skill_decl(&self, ident: &str) -> Option<&'a SkillDecl<S>> {
        self.decl.skills.get(self.skill(ident)?)
    }

    /// Whether some entry or edge mentions the skill; one that none mentions is open.
    // SPEC 5.3.
    pub(super) fn is_wired(&self, skill: usize) -> bool {
        self.wired.contains(&skill)
    }

    /// Whether an entry opens the skill.
    pub(super) fn is_entered(&self, skill: usize) -> bool {
        self.entered.contains(&skill)
    }

    /// Whether an edge leads from the skill to another.
    pub(super) fn has_way_out(&self, skill: usize) -> bool {
        self.left.contains(&skill)
    }

    /// Whether an edge that a result fires leads to the skill from another.
    pub(super) fn is_fired_to(&self, skill: usize) -> bool {
        self.fired.contains(&skill)
    }

    /// Whether the skill can ever hold the cursor. Where nothing can (a graph without entries), everybody may: that
    /// mistake has a finding of its own.
    pub(super) fn can_hold_cursor(&self, skill: usize) -> bool {
        self.holders.is_empty() || self.holders.contains(&skill)
    }

    /// Whether a list names, in other letters, this tool: then what seems to be missing in it has been said already.
    pub(super) fn misspells(&self, list: &[Word<S>], tool: usize) -> bool {
        let Some(ident) = self.decl.tools.get(tool).map(|tool| tool.ident.text.as_str()) else { return false };
        let declared = || self.decl.tools.iter().map(|tool| tool.ident.text.as_str());
        let unknown = list.iter().filter(|name| self.tool(&name.text).is_none());
        unknown.into_iter().any(|name| self.closest(&name.text, declared()) == Some(ident))
    }

    /// Whether the tool can be in a request while the cursor is on the skill.
    // SPEC 5.2.
    pub(super) fn can_be_offered(&self, tool: usize, while_on: &SkillDecl<S>) -> bool {
        while_on.unread
            || self.everywhere.contains(&tool)
            || while_on.tools.iter().any(|name| self.tool(&name.text) == Some(tool))
            || [&while_on.tools, &self.decl.baseline].into_iter().any(|list| self.misspells(list, tool))
    }

    /// Whether any tool at all can be in a request while the cursor is on the skill. A name that is not declared counts: it was meant
    /// to be one.
    pub(super) fn can_offer_anything(&self, while_on: &SkillDecl<S>) -> bool {
        while_on.unread
            || !while_on.tools.is_empty()
            || !self.decl.baseline.is_empty()
            || !self.everywhere.is_empty()
            // A host may add skills to a catalog.
            || self.decl.catalog.is_some()
    }

    fn find_wired(&self) -> HashSet<usize> {
        let entries = self.decl.entries.iter().map(|entry| &entry.skill);
        let edges = self.decl.routes.iter().flat_map(|route| [&route.from, &route.to]);
        let leaves = self.decl.tree.iter().flat_map(|tree| tree.root.leaves());
        entries.chain(edges).chain(leaves).filter_map(|name| self.skill(&name.text)).collect()
    }

    fn find_holders(&self) -> HashSet<usize> {
        let mut targets: HashMap<usize, Vec<usize>> = HashMap::new();
        for route in &self.decl.routes {
            if let (Some(from), Some(to)) = (self.skill(&route.from.text), self.skill(&route.to.text)) {
                targets.entry(from).or_default().push(to);
            }
        }
        let mut holders = HashSet::new();
        let mut pending: Vec<usize> = self.entered.iter().copied().collect();
        while let Some(skill) = pending.pop() {
            if holders.insert(skill) {
                pending.extend(targets.get(&skill).into_iter().flatten());
            }
        }
        holders
    }

    fn find_everywhere(&self) -> HashSet<usize> {
        let skills = self.decl.skills.iter().enumerate();
        let roaming = skills.filter(|(at, skill)| skill.scope == Scope::Always || !self.wired.contains(at));
        let stocked = self.decl.catalog_skills().flat_map(|skill| &skill.tools);
        let tools: Vec<&Word<S>> =
            roaming.flat_map(|(_, skill)| &skill.tools).chain(&self.decl.baseline).chain(stocked).collect();
        tools.into_iter().filter_map(|name| self.tool(&name.text)).collect()
    }
}

/// Each name with the first position at which it stands.
fn first_positions<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    let mut positions = HashMap::new();
    for (at, name) in names.enumerate() {
        positions.entry(name).or_insert(at);
    }
    positions
}
