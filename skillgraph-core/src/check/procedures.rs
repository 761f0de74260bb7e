//! Step procedures: that they can begin and that each step can be taken.
// SPEC 7.

use super::body::blank;
use super::facts::Facts;
use crate::decl::GraphDecl;
use crate::finding::{Code, Finding};
use crate::suggest::listed;

/// `steps: []`, or a step whose note is blank.
pub(super) fn check_empty_list<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for skill in &decl.skills {
        let Some(steps) = &skill.steps else { continue };
        if steps.list.is_empty() {
            findings.push(
                Finding::new(
                    Code::EmptyList,
                    steps.at.clone(),
                    format!("the steps of skill `{}` are empty", skill.ident.text),
                )
                .help(format!(
                    "list at least one step, as in {}, or leave {} out",
                    skill.form.steps(),
                    skill.form.key("steps")
                )),
            );
        }
        for step in steps.list.iter().filter(|step| step.note.is_blank()) {
            findings.push(
                blank(&step.note, &format!("the note of step `{}`", step.tool.text))
                    .help("say in a few words why this step comes now; the model reads it"),
            );
        }
    }
}

/// A procedure on a skill without tools.
pub(super) fn check_steps_without_tools<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for skill in decl.skills.iter().filter(|skill| skill.tools.is_empty() && !skill.unread) {
        let Some(steps) = skill.steps.as_ref().filter(|steps| !steps.list.is_empty()) else { continue };
        let mut tools: Vec<&str> = Vec::new();
        for step in &steps.list {
            if !tools.contains(&step.tool.text.as_str()) {
                tools.push(&step.tool.text);
            }
        }
        findings.push(
            Finding::new(
                Code::StepsWithoutTools,
                steps.at.clone(),
                format!("skill `{}` has steps but no tools to take them with", skill.ident.text),
            )
            .help(format!("add {}", skill.form.list_field("tools", &tools))),
        );
    }
}

/// `on_skip` or `on_unfinished` on a skill without a procedure.
pub(super) fn check_on_skip_without_steps<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for skill in decl.skills.iter().filter(|skill| !skill.unread && skill.steps.is_none()) {
        let on_skip = skill.on_skip.as_ref().map(|(_, at)| (at, "what a skipped step does", "on_skip"));
        let on_unfinished =
            skill.on_unfinished.as_ref().map(|(_, at)| (at, "what an answer with steps left gets", "on_unfinished"));
        for (at, says, field) in on_skip.into_iter().chain(on_unfinished) {
            findings.push(
                Finding::new(
                    Code::OnSkipWithoutSteps,
                    at.clone(),
                    format!("skill `{}` says {says} but has no steps", skill.ident.text),
                )
                .help(format!("add {}, or remove {}", skill.form.steps(), skill.form.key(field))),
            );
        }
    }
}

/// A step names a tool that the skill's own `tools` does not hold.
pub(super) fn check_foreign_tool<S: Clone>(decl: &GraphDecl<S>, facts: &Facts<'_, S>, findings: &mut Vec<Finding<S>>) {
    for skill in decl.skills.iter().filter(|skill| !skill.tools.is_empty() && !skill.unread) {
        for step in skill.steps.iter().flat_map(|steps| &steps.list) {
            let tool = &step.tool.text;
            let Some(declared) = facts.tool(tool) else { continue };
            let is_own = skill.tools.iter().any(|own| own.text == *tool);
            if is_own || facts.misspells(&skill.tools, declared) {
                continue;
            }
            let owners = decl.owners_of(tool);
            let finding = Finding::new(
                Code::ForeignTool,
                step.tool.at.clone(),
                format!("a step of skill `{}` names `{tool}`, which is not one of its tools", skill.ident.text),
            )
            .help(format!("add `{tool}` to the `tools` of `{}`", skill.ident.text));
            findings.push(match owners.as_slice() {
                [] => finding.note(format!("no skill lists `{tool}` among its tools")),
                _ => finding.note(format!("`{tool}` is a tool of {}", listed(owners))),
            });
        }
    }
}

/// A procedure on a skill that can never hold the cursor.
pub(super) fn check_steps_cannot_begin<S: Clone>(
    decl: &GraphDecl<S>,
    facts: &Facts<'_, S>,
    findings: &mut Vec<Finding<S>>,
) {
    for (at, skill) in decl.skills.iter().enumerate() {
        let Some(steps) = skill.steps.as_ref().filter(|steps| !steps.list.is_empty()) else { continue };
        let first = facts.skill(&skill.ident.text) == Some(at);
        let name = &skill.ident.text;
        if first && decl.tree.is_some() {
            findings.push(
                Finding::new(
                    Code::StepsCannotBegin,
                    steps.at.clone(),
                    format!("the steps of skill `{name}` cannot begin: a tree has no cursor that could hold them"),
                )
                .help("remove them, or write the graph with entries and edges instead of the tree"),
            );
            continue;
        }
        if !first || facts.can_hold_cursor(at) {
            continue;
        }
        findings.push(
            Finding::new(
                Code::StepsCannotBegin,
                steps.at.clone(),
                format!(
                    "the steps of skill `{name}` cannot begin: no entry leads to it, nor any chain of edges from one"
                ),
            )
            .help(format!("add {}, or {}", decl.form.entry(name), decl.form.edge("…", name)))
            .note(
                "a procedure runs while its skill holds the cursor; a skill that is only opened beside it never does",
            ),
        );
    }
}
