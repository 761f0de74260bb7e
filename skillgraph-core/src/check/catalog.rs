//! The catalog of a graph: keys, texts, tools, and bounds that can be met.
// SPEC 11.

use std::collections::HashMap;

use super::body::blank;
use super::facts::Facts;
use super::names::{declared_twice, listed_twice, unknown_tool};
use crate::decl::{CATALOG_KEY, CatalogSkillDecl, Form, GraphDecl, Word, is_catalog_key, leveled};
use crate::finding::{Code, Finding};

/// A key that is none.
pub(super) fn check_invalid_name<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for skill in decl.catalog_skills().filter(|skill| !skill.key.is_blank() && !is_catalog_key(&skill.key.text)) {
        let key = &skill.key.text;
        findings.push(
            Finding::new(
                Code::InvalidName,
                skill.key.at.clone(),
                format!("`{key}` cannot be the key of a catalog skill"),
            )
            .help(format!("give it another one: {}", key_field(decl.form, &skill.ident.text)))
            .note(format!("a key is {CATALOG_KEY}")),
        );
    }
}

/// Two skills of one identifier.
pub(super) fn check_duplicate_skill<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    declared_twice(decl.catalog_skills().map(|skill| &skill.ident), "catalog skill", findings);
}

/// Two skills of one key, or one with the id of a skill of the graph.
pub(super) fn check_duplicate_id<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let of_graph = decl.skills.iter().map(|skill| (skill.id.text.as_str(), (&skill.ident, &skill.id)));
    let mut seen: HashMap<&str, (&Word<S>, &Word<S>)> = of_graph.collect();
    for skill in decl.catalog_skills() {
        let Some((first_ident, first_key)) = seen.insert(&skill.key.text, (&skill.ident, &skill.key)) else { continue };
        let in_graph = decl.skills.iter().any(|of_graph| of_graph.id.text == skill.key.text);
        if first_ident.text == skill.ident.text && !in_graph {
            continue;
        }
        findings.push(
            Finding::new(
                Code::DuplicateId,
                skill.key.at.clone(),
                format!(
                    "skills `{}` and `{}` are both `{}` to the model",
                    first_ident.text, skill.ident.text, skill.key.text
                ),
            )
            .help(format!("give one of them another key: {}", key_field(decl.form, &skill.ident.text)))
            .note_at("the first one is declared", first_key.at.clone()),
        );
    }
}

/// A tool that the registry does not hold.
pub(super) fn check_unknown_tool<S: Clone>(decl: &GraphDecl<S>, facts: &Facts<'_, S>, findings: &mut Vec<Finding<S>>) {
    for skill in decl.catalog_skills() {
        // One that is bound by default and listed repeats the same mistake.
        let defaults = defaults(skill).filter(|name| !skill.tools.iter().any(|tool| tool.text == name.text));
        for name in skill.tools.iter().chain(defaults).filter(|name| facts.tool(&name.text).is_none()) {
            findings.push(unknown_tool(decl, facts, name));
        }
    }
}

/// One tool twice in a list.
pub(super) fn check_duplicate_tool<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for skill in decl.catalog_skills() {
        let ident = &skill.ident.text;
        listed_twice(&skill.tools, &format!("in the tools of `{ident}`"), findings);
        if let Some(default) = &skill.default_bind {
            listed_twice(&default.list, &format!("in the `default_bind` of `{ident}`"), findings);
        }
    }
}

/// A text that is blank or missing.
pub(super) fn check_empty_text<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for skill in decl.catalog_skills() {
        let name = &skill.ident.text;
        if skill.key.is_blank() {
            findings.push(blank(&skill.key, "the key of a catalog skill").help("write what the model opens it by"));
        }
        if let Some(title) = skill.title.as_ref().filter(|title| title.is_blank()) {
            findings.push(blank(title, &format!("the title of `{name}`")).help("name it for people, or leave it out"));
        }
        let header = ("header", "the one line by which a model chooses", &skill.header);
        let prompt = ("prompt", "the instructions that come back when it is opened", &skill.prompt);
        for (field, what, text) in [header, prompt] {
            match text {
                None if skill.unread => {}
                None => findings.push(
                    Finding::new(
                        Code::EmptyText,
                        skill.ident.at.clone(),
                        format!("catalog skill `{name}` has no {field}"),
                    )
                    .help(format!("add `{field}: \"…\"`: {what}")),
                ),
                Some(text) if text.is_blank() => {
                    findings.push(blank(text, &format!("the {field} of `{name}`")).help(format!("write {what}")));
                }
                Some(_) => {}
            }
        }
    }
}

/// `default_bind: []`.
pub(super) fn check_empty_list<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let lists = decl.catalog_skills().filter_map(|skill| skill.default_bind.as_ref());
    for list in lists.filter(|list| list.list.is_empty()) {
        findings.push(
            Finding::new(Code::EmptyList, list.at.clone(), "`default_bind` names no tool")
                .help("name at least one, or leave it out"),
        );
    }
}

/// A tool is bound by default that the skill does not have.
pub(super) fn check_foreign_tool<S: Clone>(decl: &GraphDecl<S>, facts: &Facts<'_, S>, findings: &mut Vec<Finding<S>>) {
    for skill in decl.catalog_skills().filter(|skill| !skill.unread) {
        let foreign = defaults(skill).filter(|name| !skill.tools.iter().any(|tool| tool.text == name.text));
        for name in foreign.filter(|name| facts.tool(&name.text).is_some()) {
            findings.push(
                Finding::new(
                    Code::ForeignTool,
                    name.at.clone(),
                    format!("`{}` binds `{}` by default, which is not among its tools", skill.ident.text, name.text),
                )
                .help(format!("add `{}` to its `tools`, or take it out of `default_bind`", name.text)),
            );
        }
    }
}

/// More tools are bound by default than may be bound.
pub(super) fn check_default_bind_over_limit<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let Some(catalog) = &decl.catalog else { return };
    let (of_skill, in_all) = (catalog.policy.max_bound_tools_per_skill, catalog.policy.max_bound_tools_total);
    for skill in &catalog.skills {
        let Some(list) = &skill.default_bind else { continue };
        let (limit, name) = match of_skill <= in_all {
            true => (of_skill, "max_bound_tools_per_skill"),
            false => (in_all, "max_bound_tools_total"),
        };
        let (count, ident) = (list.list.len(), &skill.ident.text);
        if count > limit {
            findings.push(
                Finding::new(
                    Code::DefaultBindOverLimit,
                    list.at.clone(),
                    format!("`{ident}` binds {count} tools by default, and {limit} may be bound"),
                )
                .help(format!("leave {} of them out, or raise `{name}`", count - limit)),
            );
        }
    }
}

/// A skill with too many tools to bind all, and none that is bound by default.
pub(super) fn check_nothing_bound_on_open<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let Some(catalog) = &decl.catalog else { return };
    let limit = catalog.policy.max_bound_tools_per_skill;
    for skill in catalog.skills.iter().filter(|skill| skill.is_large(&catalog.policy) && skill.default_bind.is_none()) {
        let (ident, count) = (&skill.ident.text, skill.tools.len());
        let finding = Finding::new(
            Code::NothingBoundOnOpen,
            skill.ident.at.clone(),
            format!("`{ident}` has {count} tools, of which {limit} can be bound, and opens without any"),
        )
        .help(format!("add {} with the tools that it is used by first", decl.form.list_field("default_bind", &["…"])))
        .note("the model reads an index then, and has to bind by name in a call of its own");
        findings.extend(leveled(finding, &[&skill.lints, &decl.lints]));
    }
}

/// What gives a skill a key.
fn key_field(form: Form, ident: &str) -> String {
    match form {
        Form::Language => format!("`skill {ident} = \"group:name\" {{ … }}`"),
        form => form.text_field("key", "group:name"),
    }
}

fn defaults<S>(skill: &CatalogSkillDecl<S>) -> impl Iterator<Item = &Word<S>> {
    skill.default_bind.iter().flat_map(|list| &list.list)
}
