//! Skills that stand in files of their own: read while the graph is parsed, fitted to its names when all of it is known.
//!
//! Paths count from the folder of `Cargo.toml`. A file that was read is named to the compiler too, so that a change of it
//! compiles the crate anew; a file that is new in a folder cannot be named (a line in `build.rs` helps, see the facade).

use std::path::PathBuf;
use std::rc::Rc;

use proc_macro2::{Ident, Span};
use skillgraph_core::decl::{LENGTH, Lints, RouteDecl, Scope, SkillDecl, Trigger, TriggerTools, Word, skill_id_of};
use skillgraph_core::skill_file::{
    Limits, Located, Part, SkillFile, check_inside, read_file, read_folder, read_located,
};
use skillgraph_core::{Code, Finding, Level};
use syn::LitStr;

use crate::ast::{self, Attributes, Graph, Name, Skill};
use crate::findings::Findings;
use crate::place::{Place, Source};

/// A skill's file.
pub(crate) struct File {
    /// The path in the graph, which stands for all of it.
    pub(crate) literal: LitStr,
    /// The path is that of a folder: the skill has no token of its own in the graph.
    pub(crate) is_of_folder: bool,
    pub(crate) source: Rc<Source>,
    /// What it says; none where that could not be read.
    pub(crate) skill: Option<SkillDecl<Part>>,
    pub(crate) edges: Vec<RouteDecl<Part>>,
}

impl File {
    /// A part of it as a place.
    pub(crate) fn place(&self, part: &Part) -> Place {
        Place::in_file(self.literal.span(), &self.source, part)
    }
}

/// `skill NAME from "path";`
pub(crate) fn one(skill: &mut Skill, literal: LitStr, findings: &mut Findings) {
    let path = literal.value();
    let inside = check_inside(&manifest_folder(), &full(&path), &path);
    match inside.and_then(|()| read_file(&full(&path), &path, Limits::default())) {
        Ok(located) => take(skill, literal, &located, findings),
        Err(error) => {
            findings.push(refused(&literal, error.to_string()));
            skill.broken = true;
        }
    }
}

/// `skills from "folder";`: a skill for each file, in the order of their names.
pub(crate) fn folder(attributes: &Attributes, literal: &LitStr, graph: &mut Graph, findings: &mut Findings) {
    let path = literal.value();
    let shown = path.trim_end_matches('/');
    let shown = if shown.is_empty() { &path } else { shown };
    let inside = check_inside(&manifest_folder(), &full(&path), &path).map_err(|error| vec![error]);
    match inside.and_then(|()| read_folder(&full(&path), shown, Limits::default())) {
        Ok(scan) => {
            for path in &scan.too_deep {
                let mut finding =
                    Finding::new(Code::SkillFile, literal.span(), format!("`{path}` lies too deep: it is not read"));
                finding.level = Level::Warning;
                findings.push(finding.help("move it up, or name its own folder: `skills from \"…\";`"));
            }
            for located in scan.located {
                let name = located.directory.as_deref().unwrap_or_default();
                let attributes = Attributes { docs: Vec::new(), lints: attributes.lints.clone() };
                let mut skill = empty_skill(attributes, name_of(name, literal.span()));
                take(&mut skill, literal.clone(), &located, findings);
                if let Some(said) = skill.file.as_ref().and_then(|file| file.skill.as_ref()) {
                    skill.ident = name_of(&said.id.text, literal.span());
                    skill.id = Some(LitStr::new(&said.id.text, literal.span()));
                }
                if let Some(file) = &mut skill.file {
                    file.is_of_folder = true;
                }
                graph.skills.push(skill);
            }
        }
        Err(errors) => errors.iter().for_each(|error| findings.push(refused(literal, error.to_string()))),
    }
}

/// A skill of which nothing is known yet.
pub(crate) fn empty_skill(attributes: Attributes, ident: Name) -> Skill {
    Skill {
        attributes,
        ident,
        id: None,
        description: None,
        body: None,
        tools: Vec::new(),
        steps: None,
        on_skip: None,
        on_unfinished: None,
        scope: Scope::Active,
        surface: None,
        refresh: None,
        produces: None,
        consumes: None,
        broken: false,
        file: None,
    }
}

fn refused(literal: &LitStr, message: String) -> Finding<Span> {
    Finding::new(Code::SkillFile, literal.span(), message).help("paths count from the folder of `Cargo.toml`")
}

fn full(path: &str) -> PathBuf {
    manifest_folder().join(path)
}

fn manifest_folder() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default()
}

/// The identifier of an id: `audit-log` is `audit_log`.
fn name_of(id: &str, span: Span) -> Name {
    let mut text: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        text.insert(0, '_');
    }
    let is_keyword = syn::parse_str::<Ident>(&text).is_err() && text != "_";
    if text == "_" {
        text.push('_');
    }
    Name::new(&Ident::new(&text, span), is_keyword)
}

/// Takes in a file: what it says, and what is wrong with it.
fn take(skill: &mut Skill, literal: LitStr, located: &Located, findings: &mut Findings) {
    let read = read_located(located);
    let source = Rc::new(Source { path: located.path.clone(), text: read.text.clone() });
    for finding in &read.findings {
        findings.push_placed(finding.clone().placed(|part| Place::in_file(literal.span(), &source, &part)));
    }
    skill.broken |= !read.findings.is_empty();
    let edges = read.file.iter().flat_map(SkillFile::edges).collect();
    skill.file = Some(File { skill: read.skill(), literal, is_of_folder: false, source, edges });
}

/// Fits what files say to the names of the graph: tools and skills that they name become identifiers, their edges the last
/// ones of the graph.
pub(crate) fn resolve(graph: &mut Graph, findings: &mut Findings) {
    let tools: Vec<(String, Name)> = graph
        .tools
        .iter()
        .map(|tool| (tool.name.as_ref().map_or_else(|| tool.ident.text.clone(), LitStr::value), tool.ident.clone()))
        .collect();
    let skills: Vec<(String, Name)> = graph.skills.iter().map(|skill| (id_of(skill), skill.ident.clone())).collect();
    let mut routes = Vec::new();
    for skill in &mut graph.skills {
        let id = id_of(skill);
        let Some(file) = &mut skill.file else { continue };
        let Some(said) = &mut file.skill else { continue };
        if said.id.text != id {
            let place = Place::in_file(file.literal.span(), &file.source, &said.id.at);
            let message = format!("the file has the skill `{}`, and the graph calls it `{id}`", said.id.text);
            let help = format!("write `skill {} from …`, or rename the skill", said.id.text.replace('-', "_"));
            findings.push_placed(Finding::new(Code::SkillFile, place, message).help(help));
            skill.broken = true;
        }
        let span = file.literal.span();
        rename(said, |word| known(&tools, word));
        skill.tools = said.tools.iter().map(|tool| name_at(&tool.text, span)).collect();
        skill.steps = said.steps.as_ref().map(|steps| ast::Steps {
            span,
            list: steps
                .list
                .iter()
                .map(|step| ast::Step {
                    tool: name_at(&step.tool.text, span),
                    note: LitStr::new(&step.note.text, span),
                    produces: None,
                    consumes: None,
                })
                .collect(),
        });
        skill.on_skip = said.on_skip.as_ref().map(|(on_skip, _)| (*on_skip, span));
        skill.on_unfinished = said.on_unfinished.as_ref().map(|(said, _)| (*said, span));
        skill.surface = said.surface.as_ref().map(|(surface, _)| (*surface, span));
        for edge in &mut file.edges {
            edge.from.text = skill.ident.text.clone();
            edge.to.text = known(&skills, &edge.to);
            rename_trigger(&mut edge.trigger, |word| known(&tools, word));
            routes.push(ast::Route {
                lints: Lints::default(),
                from: skill.ident.clone(),
                to: name_at(&edge.to.text, span),
                trigger: trigger(&edge.trigger, span),
                label: edge.label.as_ref().map(|label| LitStr::new(&label.text, span)),
                broken: false,
            });
        }
    }
    graph.file_routes = routes.len();
    graph.routes.extend(routes);
}

fn id_of(skill: &Skill) -> String {
    skill.id.as_ref().map_or_else(|| skill_id_of(&skill.ident.text), LitStr::value)
}

/// The identifier that the graph has for a name; the name itself where it has none.
fn known(names: &[(String, Name)], word: &Word<Part>) -> String {
    let known = names.iter().find(|(name, _)| *name == word.text);
    known.map_or_else(|| word.text.clone(), |(_, ident)| ident.text.clone())
}

fn name_at(text: &str, span: Span) -> Name {
    Name { text: text.to_owned(), ident: identifier(text, span) }
}

/// A token of that text; where no identifier can be, one that stands for what is not declared.
fn identifier(text: &str, span: Span) -> Ident {
    syn::parse_str::<Ident>(text)
        .map(|_| Ident::new(text, span))
        .or_else(|_| syn::parse_str(&format!("r#{text}")))
        .map_or_else(
            |_| Ident::new("__undeclared", span),
            |mut ident: Ident| {
                ident.set_span(span);
                ident
            },
        )
}

fn rename(skill: &mut SkillDecl<Part>, name: impl Fn(&Word<Part>) -> String) {
    skill.tools.iter_mut().for_each(|tool| tool.text = name(tool));
    for step in skill.steps.iter_mut().flat_map(|steps| &mut steps.list) {
        step.tool.text = name(&step.tool);
    }
}

fn rename_trigger(trigger: &mut Trigger<Part>, name: impl Fn(&Word<Part>) -> String) {
    if let Trigger::Returns { tools, .. } = trigger {
        match tools {
            TriggerTools::One(tool) => tool.text = name(tool),
            TriggerTools::AnyOf { list, .. } => list.iter_mut().for_each(|tool| tool.text = name(tool)),
            TriggerTools::Any { .. } => {}
        }
    }
}

/// The trigger as if it stood in the graph, at the path.
fn trigger(of: &Trigger<Part>, span: Span) -> ast::Trigger {
    let name = |word: &Word<Part>| name_at(&word.text, span);
    let Trigger::Returns { tools, statuses, guard, .. } = of else { return ast::Trigger::Pick };
    ast::Trigger::Returns {
        tools: match tools {
            TriggerTools::One(tool) => ast::TriggerTools::One(name(tool)),
            TriggerTools::AnyOf { list, .. } => {
                ast::TriggerTools::AnyOf { span, list: list.iter().map(name).collect() }
            }
            TriggerTools::Any { .. } => ast::TriggerTools::Any { span },
        },
        statuses: *statuses,
        guard: guard
            .iter()
            .map(|term| ast::Term {
                path: term.segments().filter(|part| *part != LENGTH).map(|part| name_at(part, span)).collect(),
                length: term.segments().last().filter(|part| *part == LENGTH).map(|_| Ident::new("len", span)),
                consts: Vec::new(),
                operator: term.operator,
                values: term.values.clone(),
                values_span: span,
            })
            .collect(),
        closure: None,
    }
}
