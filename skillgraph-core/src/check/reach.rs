//! Edges that are not wrong and may not be meant: where they lead, and whether their order decides.
// SPEC 2.2.

use std::collections::{HashMap, HashSet};

use super::facts::Facts;
use super::guards::can_hold_together;
use crate::decl::{EntryDecl, GraphDecl, RouteDecl, Trigger, TriggerTools, leveled};
use crate::finding::{Code, Finding};
use crate::pattern::Budget;

/// No entry or edge leads to a skill.
pub(super) fn check_unreachable_skill<S: Clone>(
    decl: &GraphDecl<S>,
    facts: &Facts<'_, S>,
    findings: &mut Vec<Finding<S>>,
) {
    for (at, skill) in decl.skills.iter().enumerate() {
        if facts.can_hold_cursor(at) {
            continue;
        }
        let name = &skill.ident.text;
        let finding = Finding::new(
            Code::UnreachableSkill,
            skill.ident.at.clone(),
            format!("no entry leads to skill `{name}`, nor any chain of edges from one"),
        );
        let finding = if facts.is_wired(at) {
            finding.help(format!("from a skill that an entry leads to, add {}", decl.form.edge("…", name)))
        } else {
            finding
                .help(format!("add {}, or {}", decl.form.entry(name), decl.form.edge("…", name)))
                .note("it stays open: the model can open it beside any skill with `read_skill`; allow this where that is meant")
        };
        findings.extend(leveled(finding, &[&skill.lints, &decl.lints]));
    }
}

/// Only the model's own pick leads to a skill.
pub(super) fn check_model_edge_only<S: Clone>(
    decl: &GraphDecl<S>,
    facts: &Facts<'_, S>,
    findings: &mut Vec<Finding<S>>,
) {
    for (at, skill) in decl.skills.iter().enumerate() {
        let name = &skill.ident.text;
        if facts.is_entered(at) || facts.is_fired_to(at) || !facts.can_hold_cursor(at) {
            continue;
        }
        let finding = Finding::new(
            Code::ModelEdgeOnly,
            skill.ident.at.clone(),
            format!("only the model's own pick leads to skill `{name}`"),
        )
        .help(format!("where a tool's result should decide, add {}", decl.form.edge("…", name)))
        .note("an edge for the model's pick asks it to choose; allow this where the choice is a judgement");
        findings.extend(leveled(finding, &[&skill.lints, &decl.lints]));
    }
}

/// An edge leaves a skill that can never hold the cursor.
pub(super) fn check_dead_edge<S: Clone>(decl: &GraphDecl<S>, facts: &Facts<'_, S>, findings: &mut Vec<Finding<S>>) {
    for route in &decl.routes {
        if facts.skill(&route.from.text).is_none_or(|from| facts.can_hold_cursor(from)) {
            continue;
        }
        let from = &route.from.text;
        let finding = Finding::new(
            Code::DeadEdge,
            route.from.at.clone(),
            format!("this edge is dead: no entry leads to `{from}`, nor any chain of edges from one"),
        )
        .help(format!("add {}, or an edge to `{from}`", decl.form.entry(from)));
        findings.extend(leveled(finding, &[&route.lints, &decl.lints]));
    }
}

/// An edge with a guard leads to a skill that is also an entry, which the model may pick from anywhere. The default entry
/// is left out: every turn may start there, so that no guard can be meant to keep anybody away.
pub(super) fn check_gate_beside_entry<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let mut entries: HashMap<&str, Option<&EntryDecl<S>>> = HashMap::new();
    for entry in &decl.entries {
        // One entry that says `picked: never` speaks for all of its skill, and so does the default.
        let known = entries.entry(&entry.skill.text).or_insert(Some(entry));
        *known = known.filter(|_| entry.never_picked.is_none() && entry.condition.is_some());
    }
    let picks = decl.routes.iter().filter(|route| route.trigger.is_pick());
    // Where both edges are written, both are meant.
    let picks: HashSet<(&str, &str)> = picks.map(|route| (&*route.from.text, &*route.to.text)).collect();
    for route in decl.routes.iter().filter(|route| route.trigger.is_guarded() && route.from.text != route.to.text) {
        if picks.contains(&(&*route.from.text, &*route.to.text)) {
            continue;
        }
        let Some(Some(entry)) = entries.get(route.to.text.as_str()) else { continue };
        let (from, to) = (&route.from.text, &route.to.text);
        let finding = Finding::new(
            Code::GateBesideEntry,
            route.to.at.clone(),
            format!("the model can pick its way past this guard: `{to}` is also an entry"),
        )
        .help(format!(
            "where only rules and edges should lead there, add {} to the entry of `{to}`",
            decl.form.never_picked()
        ))
        .note(format!("allow this where `{to}` may be picked from `{from}`, whatever the guard says"))
        .note_at("the entry is", entry.skill.at.clone());
        findings.extend(leveled(finding, &[&route.lints, &decl.lints]));
    }
}

/// An edge leads back to where it starts.
pub(super) fn check_self_loop<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for route in decl.routes.iter().filter(|route| route.from.text == route.to.text) {
        let finding = Finding::new(
            Code::SelfLoop,
            route.to.at.clone(),
            format!("this edge leads from `{0}` to `{0}`", route.from.text),
        )
        .help("remove it: without it the cursor stays all the same")
        .note("it wins over later edges and over picks of the same batch; allow this where that is meant");
        findings.extend(leveled(finding, &[&route.lints, &decl.lints]));
    }
}

/// How many pairs of edges are compared, however many edges there are.
const LEAST_PAIRS: usize = 50_000;
/// How many more for each edge.
const PAIRS_AN_EDGE: usize = 100;

/// Two edges out of one skill, to different skills, can fire on the same result.
pub(super) fn check_ambiguous_routes<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let mut earlier: HashMap<&str, Vec<&RouteDecl<S>>> = HashMap::new();
    // Of very many edges out of one skill not all pairs are looked at.
    let budget = Budget::new(LEAST_PAIRS + PAIRS_AN_EDGE * decl.routes.len());
    for route in decl.routes.iter().filter(|route| !route.trigger.is_pick() && !route.unread) {
        let before = earlier.entry(&route.from.text).or_default();
        let mut looked_at = before.iter().take_while(|_| budget.spend(1));
        let rival = looked_at.find(|rival| rival.to.text != route.to.text && can_fire_together(rival, route));
        if let Some(rival) = rival {
            let finding = Finding::new(
                Code::AmbiguousRoutes,
                route.to.at.clone(),
                format!(
                    "the edges from `{}` to `{}` and to `{}` can fire on the same result",
                    route.from.text, rival.to.text, route.to.text
                ),
            )
            .help("tell them apart by tool, by status (`is`) or by guard (`where`); allow this where the first is the exception and the second the rule")
            .note_at("the first in the source wins; it is", rival.to.at.clone());
            findings.extend(leveled(finding, &[&route.lints, &decl.lints]));
        }
        before.push(route);
    }
}

fn can_fire_together<S>(a: &RouteDecl<S>, b: &RouteDecl<S>) -> bool {
    a.trigger.statuses().intersects(b.trigger.statuses())
        && share_a_tool(&a.trigger, &b.trigger)
        && can_hold_together(a.trigger.guard(), b.trigger.guard())
}

fn share_a_tool<S>(a: &Trigger<S>, b: &Trigger<S>) -> bool {
    match (tools_of(a), tools_of(b)) {
        (Some(a), Some(b)) => a.named().iter().any(|a| b.named().iter().any(|b| a.text == b.text)),
        _ => true,
    }
}

/// The tools that a trigger names; none where any will do.
fn tools_of<S>(trigger: &Trigger<S>) -> Option<&TriggerTools<S>> {
    match trigger {
        Trigger::Returns { tools: TriggerTools::Any { .. }, .. } | Trigger::Closure(_) | Trigger::Pick => None,
        Trigger::Returns { tools, .. } => Some(tools),
    }
}
