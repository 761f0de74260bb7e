//! Surfaces: that the model gets to read every body.
// SPEC 5.1.

use crate::decl::{GraphDecl, SkillDecl, Surface};
use crate::finding::{Code, Finding};

/// A body that stands only in a result of `read_skill`, on a skill that opens without it.
pub(super) fn check_body_unreachable<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for skill in decl.skills.iter().filter(|skill| !skill.unread) {
        let Some((Surface::ToolResult, at)) = &skill.surface else { continue };
        let Some((what, way_in)) = way_past_read_skill(decl, skill) else { continue };
        let name = &skill.ident.text;
        findings.push(
            Finding::new(
                Code::BodyUnreachable,
                at.clone(),
                format!("{what} opens skill `{name}` without `read_skill`, whose result is all that has its body"),
            )
            .help(format!(
                "write {}, or {}",
                skill.form.word_field("surface", "both"),
                skill.form.word_field("surface", "system_prompt")
            ))
            .note_at(format!("this opens `{name}`"), way_in),
        );
    }
}

/// The first way into a skill that is no pick.
fn way_past_read_skill<S: Clone>(decl: &GraphDecl<S>, skill: &SkillDecl<S>) -> Option<(&'static str, S)> {
    let name = &skill.ident.text;
    let entry = || decl.entries.iter().find(|entry| entry.skill.text == *name).map(|entry| ("an entry", &entry.skill));
    let edge = || {
        let edges = decl.routes.iter().filter(|route| !route.unread && !route.trigger.is_pick());
        edges.map(|route| &route.to).find(|to| to.text == *name).map(|to| ("an edge", to))
    };
    let leaf = || {
        let leaves = decl.tree.iter().flat_map(|tree| tree.root.leaves());
        leaves.into_iter().find(|leaf| leaf.text == *name).map(|leaf| ("the tree", leaf))
    };
    entry().or_else(edge).or_else(leaf).map(|(what, word)| (what, word.at.clone()))
}

/// `refresh` on a body that does not age.
pub(super) fn check_refresh_without_result<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for skill in decl.skills.iter().filter(|skill| !skill.unread) {
        let Some((_, at)) = &skill.refresh else { continue };
        let surface = skill.surface.as_ref().map_or(Surface::default(), |(surface, _)| *surface);
        if surface.is_in_result() {
            continue;
        }
        findings.push(
            Finding::new(
                Code::RefreshWithoutResult,
                at.clone(),
                format!("the body of skill `{}` does not age: the system prompt has it each time", skill.ident.text),
            )
            .help(format!(
                "remove {}, or write {} or {}",
                skill.form.key("refresh"),
                skill.form.word_field("surface", "tool_result"),
                skill.form.word_field("surface", "both")
            )),
        );
    }
}
