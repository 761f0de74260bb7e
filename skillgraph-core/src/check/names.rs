//! Names: well formed, free, declared once, and declared at all.
// SPEC 1.2.

use std::collections::HashMap;

use super::facts::Facts;
use crate::decl::{
    Form, GraphDecl, RESERVED_SKILL_IDS, RESERVED_TOOL_NAMES, SKILL_ID, TOOL_NAME, Word, is_skill_id, is_tool_name,
};
use crate::finding::{Code, Finding};
use crate::suggest::listed;

/// Above this many declared names a help line would be a wall of text.
const MOST_LISTED: usize = 10;

/// A name that the model would read breaks the rule for names.
pub(super) fn check_invalid_name<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for tool in &decl.tools {
        let name = &tool.name.text;
        if !tool.name.is_blank() && !is_tool_name(name) {
            findings.push(
                Finding::new(Code::InvalidName, tool.name.at.clone(), format!("`{name}` cannot be the name of a tool"))
                    .help(match decl.form {
                        Form::Language => {
                            format!("declare it as `{} = \"…\"` with a name that providers accept", tool.ident.text)
                        }
                        _ => "give the tool a name that providers accept".to_owned(),
                    })
                    .note(format!("a tool's name is {TOOL_NAME}")),
            );
        }
    }
    for skill in &decl.skills {
        let id = &skill.id.text;
        // Of a file the reader has said it.
        if skill.form != Form::File && !skill.id.is_blank() && !is_skill_id(id) {
            let suggestion = suggested_id(id);
            findings.push(
                Finding::new(Code::InvalidName, skill.id.at.clone(), format!("`{id}` cannot be the id of a skill"))
                    .help(format!("give it an id of its own: {}", skill.form.id(&skill.ident.text, &suggestion)))
                    .note(format!("a skill's id is {SKILL_ID}")),
            );
        }
    }
}

/// A name that the framework keeps for itself.
pub(super) fn check_reserved_name<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for tool in &decl.tools {
        let name = tool.name.text.as_str();
        if RESERVED_TOOL_NAMES.contains(&name) {
            findings.push(
                Finding::new(Code::ReservedName, tool.name.at.clone(), format!("the tool name `{name}` is reserved"))
                    .help("choose another name; the framework offers a tool of this name itself"),
            );
        }
    }
    for skill in &decl.skills {
        let id = skill.id.text.as_str();
        if RESERVED_SKILL_IDS.contains(&id) {
            findings.push(
                Finding::new(Code::ReservedName, skill.id.at.clone(), format!("the skill id `{id}` is reserved"))
                    .help(format!("give it another id: {}", skill.form.id(&skill.ident.text, "…")))
                    .note("`stay` and `none` are answers to the question which skill comes next"),
            );
        }
    }
}

/// One tool identifier or model-facing name is declared twice, or one tool is listed twice.
pub(super) fn check_duplicate_tool<S: Clone>(
    decl: &GraphDecl<S>,
    facts: &Facts<'_, S>,
    findings: &mut Vec<Finding<S>>,
) {
    let mut names: HashMap<&str, &Word<S>> = HashMap::new();
    for (at, tool) in decl.tools.iter().enumerate() {
        if let Some(first) = facts.tool(&tool.ident.text).filter(|first| *first != at).and_then(|at| decl.tools.get(at))
        {
            findings.push(
                twice(Code::DuplicateTool, &tool.ident, "tool", "is declared", &first.ident)
                    .help("remove one of the two"),
            );
            continue;
        }
        if let Some(first) = names.insert(&tool.name.text, &tool.name) {
            findings.push(
                twice(Code::DuplicateTool, &tool.name, "tool name", "is given", first)
                    .help("give one of the two another name"),
            );
        }
    }
    let lists =
        decl.skills.iter().map(|skill| (skill.tools.as_slice(), format!("in the tools of `{}`", skill.ident.text)));
    for (list, place) in lists.chain([(decl.baseline.as_slice(), "in the baseline".to_owned())]) {
        listed_twice(list, &place, findings);
    }
}

/// A tool that stands twice in a list; `place` says in which.
pub(super) fn listed_twice<S: Clone>(list: &[Word<S>], place: &str, findings: &mut Vec<Finding<S>>) {
    let mut seen: HashMap<&str, &Word<S>> = HashMap::new();
    for tool in list {
        if let Some(first) = seen.insert(&tool.text, tool) {
            let finding = twice(Code::DuplicateTool, tool, "tool", &format!("is listed {place}"), first);
            findings.push(finding.help("remove one of the two"));
        }
    }
}

/// One skill identifier is declared twice.
pub(super) fn check_duplicate_skill<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    declared_twice(decl.skills.iter().map(|skill| &skill.ident), "skill", findings);
}

/// A skill whose identifier one before it has.
pub(super) fn declared_twice<'a, S: Clone + 'a>(
    idents: impl Iterator<Item = &'a Word<S>>,
    kind: &str,
    findings: &mut Vec<Finding<S>>,
) {
    let mut seen: HashMap<&str, &Word<S>> = HashMap::new();
    for ident in idents {
        if let Some(first) = seen.get(ident.text.as_str()) {
            let finding = twice(Code::DuplicateSkill, ident, kind, "is declared", first);
            findings.push(finding.help("rename one of the two, or merge them"));
        } else {
            seen.insert(&ident.text, ident);
        }
    }
}

/// Two skills of different identifiers have one id.
pub(super) fn check_duplicate_id<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let mut seen: HashMap<&str, (&Word<S>, &Word<S>)> = HashMap::new();
    for skill in &decl.skills {
        let Some((first_ident, first_id)) = seen.insert(&skill.id.text, (&skill.ident, &skill.id)) else { continue };
        if first_ident.text == skill.ident.text {
            continue;
        }
        let finding = Finding::new(
            Code::DuplicateId,
            skill.id.at.clone(),
            format!("skills `{}` and `{}` both have the id `{}`", first_ident.text, skill.ident.text, skill.id.text),
        )
        .help(format!("give one of them another id: {}", skill.form.id(&skill.ident.text, "…")));
        let finding = match skill.form {
            Form::Language => {
                finding.note("an identifier without `= \"…\"` has the id that it spells with `-` for `_`")
            }
            _ => finding,
        };
        findings.push(finding.note_at("the first one is declared", first_id.at.clone()));
    }
}

/// A tool is named that the registry does not hold.
pub(super) fn check_unknown_tool<S: Clone>(decl: &GraphDecl<S>, facts: &Facts<'_, S>, findings: &mut Vec<Finding<S>>) {
    let skills = decl.skills.iter().flat_map(|skill| {
        let steps = skill.steps.iter().flat_map(|steps| &steps.list).map(|step| &step.tool);
        // A step of a skill that lists the unknown tool repeats the same mistake.
        let steps = steps.filter(|step| !skill.tools.iter().any(|tool| tool.text == step.text));
        skill.tools.iter().chain(steps)
    });
    let routes = decl.routes.iter().filter_map(|route| match &route.trigger {
        crate::decl::Trigger::Returns { tools, .. } => Some(tools.named()),
        _ => None,
    });
    for name in decl.baseline.iter().chain(skills).chain(routes.flatten()) {
        if facts.tool(&name.text).is_none() {
            findings.push(unknown_tool(decl, facts, name));
        }
    }
}

/// A skill is named that is not declared.
pub(super) fn check_unknown_skill<S: Clone>(decl: &GraphDecl<S>, facts: &Facts<'_, S>, findings: &mut Vec<Finding<S>>) {
    let entries = decl.entries.iter().map(|entry| &entry.skill);
    let routes = decl.routes.iter().flat_map(|route| [&route.from, &route.to]);
    let leaves = decl.tree.iter().flat_map(|tree| tree.root.leaves());
    for name in entries.chain(routes).chain(leaves) {
        if facts.skill(&name.text).is_none() {
            findings.push(unknown_skill(decl, facts, name));
        }
    }
}

/// What is said wherever a tool is named that the registry does not hold.
pub(super) fn unknown_tool<S: Clone>(decl: &GraphDecl<S>, facts: &Facts<'_, S>, name: &Word<S>) -> Finding<S> {
    let finding = Finding::new(
        Code::UnknownTool,
        name.at.clone(),
        format!("no tool named `{}` in graph `{}`", name.text, decl.name.text),
    );
    let declared = || decl.tools.iter().map(|tool| tool.ident.text.as_str());
    let by_name = facts.tool_by_name(&name.text).and_then(|tool| decl.tools.get(tool));
    if let Some(tool) = by_name {
        return finding.help(format!(
            "the graph calls that tool `{}`; `{}` is its name for the model",
            tool.ident.text, name.text
        ));
    }
    if let Some(near) = facts.closest(&name.text, declared()) {
        return finding.help(format!("a tool with a similar name exists: `{near}`"));
    }
    let finding = match facts.skill(&name.text) {
        Some(_) => finding.note(format!("`{}` is a skill", name.text)),
        None => finding,
    };
    let how = match (decl.form, decl.tools.len()) {
        (Form::Language, 0) => format!("declare it in the graph's registry: `tools {{ {}: … }}`", name.text),
        (Form::Language, _) => "declare it in `tools { … }`".to_owned(),
        (_, 0) => "add it to the registry of tools, which is empty".to_owned(),
        (_, _) => "add it to the registry of tools".to_owned(),
    };
    finding.help(or_one_of(how, declared()))
}

fn unknown_skill<S: Clone>(decl: &GraphDecl<S>, facts: &Facts<'_, S>, name: &Word<S>) -> Finding<S> {
    let finding = Finding::new(
        Code::UnknownSkill,
        name.at.clone(),
        format!("no skill named `{}` in graph `{}`", name.text, decl.name.text),
    );
    let declared = || decl.skills.iter().map(|skill| skill.ident.text.as_str());
    let by_id = facts.skill_by_id(&name.text).and_then(|skill| decl.skills.get(skill));
    if let Some(skill) = by_id {
        return finding.help(format!(
            "the graph calls that skill `{}`; `{}` is its id for the model",
            skill.ident.text, name.text
        ));
    }
    if let Some(near) = facts.closest(&name.text, declared()) {
        return finding.help(format!("a skill with a similar name exists: `{near}`"));
    }
    let finding = match facts.tool(&name.text) {
        Some(_) => finding.note(format!("`{}` is a tool", name.text)),
        None => finding,
    };
    let how = match (decl.form, decl.skills.len()) {
        (Form::Language, 0) => format!("declare it: `skill {} {{ … }}`", name.text),
        (Form::Language, _) => format!("declare it with `skill {} {{ … }}`", name.text),
        (_, _) => format!("add a skill `{}`", name.text),
    };
    finding.help(or_one_of(how, declared()))
}

/// How to declare a name, or the few that are.
fn or_one_of<'a>(how: String, declared: impl ExactSizeIterator<Item = &'a str>) -> String {
    match declared.len() {
        1..MOST_LISTED => format!("{how}, or use a declared one: {}", listed(declared)),
        _ => how,
    }
}

fn twice<S: Clone>(code: Code, second: &Word<S>, kind: &str, what: &str, first: &Word<S>) -> Finding<S> {
    Finding::new(code, second.at.clone(), format!("{kind} `{}` {what} twice", second.text))
        .note_at("the first one is", first.at.clone())
}

/// The closest legal id to a text that is none.
fn suggested_id(text: &str) -> String {
    let mut id = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            id.push(c);
        } else if !id.is_empty() && !id.ends_with('-') {
            id.push('-');
        }
    }
    id.truncate(64);
    let id = id.trim_end_matches('-');
    if id.is_empty() { "…".to_owned() } else { id.to_owned() }
}
