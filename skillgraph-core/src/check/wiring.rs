//! Edges: that each says something new, and that it can ever fire.
// SPEC 3.2, 5.2.

use std::collections::HashMap;

use super::body::blank;
use super::facts::Facts;
use crate::decl::{GraphDecl, RouteDecl, StatusSet, Trigger, TriggerTools};
use crate::finding::{Code, Finding};
use crate::suggest::listed;

/// `on any[]`.
pub(super) fn check_empty_list<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for route in &decl.routes {
        if let Trigger::Returns { tools: TriggerTools::AnyOf { at, list }, .. } = &route.trigger
            && list.is_empty()
        {
            findings.push(
                Finding::new(Code::EmptyList, at.clone(), "`any[]` names no tool, so this edge never fires")
                    .help("name at least one tool, or write `any` for whichever tool returned"),
            );
        }
    }
}

/// A blank label.
pub(super) fn check_empty_text<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for route in &decl.routes {
        if let Some(label) = route.label.as_ref().filter(|label| label.is_blank()) {
            findings.push(
                blank(label, &format!("the label of the edge `{} -> {}`", route.from.text, route.to.text))
                    .help(format!("remove {}", decl.form.label())),
            );
        }
    }
}

/// Two edges have the same source, target and trigger. A closure is never known to equal another.
pub(super) fn check_duplicate_route<S: Clone>(
    decl: &GraphDecl<S>,
    facts: &Facts<'_, S>,
    findings: &mut Vec<Finding<S>>,
) {
    let mut seen: HashMap<_, &RouteDecl<S>> = HashMap::new();
    for route in decl.routes.iter().filter(|route| !route.unread) {
        let (Some(from), Some(to), Some(trigger)) =
            (facts.skill(&route.from.text), facts.skill(&route.to.text), comparable(&route.trigger, facts))
        else {
            continue;
        };
        let Some(first) = seen.insert((from, to, trigger), route) else { continue };
        let arrow = if route.trigger.is_pick() { "~>" } else { "->" };
        findings.push(
            Finding::new(
                Code::DuplicateRoute,
                route.to.at.clone(),
                format!(
                    "the edge `{} {arrow} {}` is declared twice with the same trigger",
                    route.from.text, route.to.text
                ),
            )
            .help("remove one of the two")
            .note_at("the first one is", first.to.at.clone()),
        );
    }
}

/// An edge waits for a tool that is never offered while the cursor is on its source.
pub(super) fn check_edge_cannot_fire<S: Clone>(
    decl: &GraphDecl<S>,
    facts: &Facts<'_, S>,
    findings: &mut Vec<Finding<S>>,
) {
    for route in &decl.routes {
        let Some(source) = facts.skill_decl(&route.from.text) else { continue };
        let named = match &route.trigger {
            Trigger::Pick => continue,
            Trigger::Closure(closure) => {
                findings.extend(nothing_offered(decl, facts, route, closure.at.clone()));
                continue;
            }
            Trigger::Returns { tools: TriggerTools::Any { at }, .. } => {
                findings.extend(nothing_offered(decl, facts, route, at.clone()));
                continue;
            }
            Trigger::Returns { tools, .. } => tools.named(),
        };
        for name in named {
            let Some(tool) = facts.tool(&name.text) else { continue };
            if facts.can_be_offered(tool, source) {
                continue;
            }
            let owners = decl.owners_of(&name.text);
            let from = &route.from.text;
            let finding = Finding::new(
                Code::EdgeCannotFire,
                name.at.clone(),
                format!("this edge cannot fire: `{}` is never offered while the cursor is on `{from}`", name.text),
            )
            .help(format!("add `{}` to the `tools` of `{from}`, or start the edge where it is offered", name.text));
            findings.push(match owners.as_slice() {
                [] => finding.note(format!("no skill lists `{}` among its tools", name.text)),
                _ => finding.note(format!("`{}` is offered in {}", name.text, listed(owners))),
            });
        }
    }
}

fn nothing_offered<S: Clone>(
    decl: &GraphDecl<S>,
    facts: &Facts<'_, S>,
    route: &RouteDecl<S>,
    at: S,
) -> Option<Finding<S>> {
    let source = facts.skill_decl(&route.from.text)?;
    if facts.can_offer_anything(source) {
        return None;
    }
    let from = &route.from.text;
    Some(
        Finding::new(
            Code::EdgeCannotFire,
            at,
            format!("this edge cannot fire: no tool is offered while the cursor is on `{from}`"),
        )
        .help(format!(
            "list tools in {} of `{from}`, or let the model choose: add {}",
            source.form.key("tools"),
            decl.form.pick_edge(from, &route.to.text)
        )),
    )
}

#[derive(PartialEq, Eq, Hash)]
enum Comparable {
    Pick,
    Any(StatusSet, String),
    Tools(Vec<usize>, StatusSet, String),
}

/// What two edges must share to be the same.
fn comparable<S>(trigger: &Trigger<S>, facts: &Facts<'_, S>) -> Option<Comparable> {
    match trigger {
        Trigger::Pick => Some(Comparable::Pick),
        Trigger::Returns { tools, guard, closure: None, .. } => {
            let mut terms: Vec<String> = guard.iter().map(ToString::to_string).collect();
            terms.sort_unstable();
            let guard = terms.join(" && ");
            if let TriggerTools::Any { .. } = tools {
                return Some(Comparable::Any(trigger.statuses(), guard));
            }
            let mut tools: Vec<usize> =
                tools.named().iter().map(|name| facts.tool(&name.text)).collect::<Option<_>>()?;
            tools.sort_unstable();
            tools.dedup();
            Some(Comparable::Tools(tools, trigger.statuses(), guard))
        }
        Trigger::Returns { closure: Some(_), .. } | Trigger::Closure(_) => None,
    }
}
