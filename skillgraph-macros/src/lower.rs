//! [`crate::ast`] to the declaration that the core checks: names as written, places as spans.

use proc_macro2::Span;
use quote::ToTokens;
use skillgraph_core::decl::{
    Body, Branch, CatalogDecl, CatalogSkillDecl, Classify, Condition, EntryDecl, Fork, Form, Governor, GovernorThen,
    GraphDecl, GuardTerm, LENGTH, RouteDecl, SkillDecl, StepDecl, Steps, TextList, ToolDecl, Tree, Trigger,
    TriggerTools, Word, read_prose, skill_id_of,
};
use syn::{LitStr, Path};

use crate::ast;
use crate::docs::doc_text;
use crate::place::Place;

pub(crate) fn lower(graph: &ast::Graph) -> GraphDecl<Place> {
    GraphDecl {
        name: word(&graph.name),
        form: Form::Language,
        lints: graph.attributes.lints.clone(),
        tools: graph.tools.iter().map(tool).collect(),
        baseline: words(&graph.baseline),
        skills: graph.skills.iter().enumerate().map(|(at, skill)| lower_skill(at, skill)).collect(),
        entries: graph.entries.iter().map(entry).collect(),
        routes: routes(graph),
        never_routes: graph.never_routes.as_ref().map(texts),
        governor: graph.governor.as_ref().map(|governor| Governor {
            at: governor.span.into(),
            limits: governor.limits,
            then: match &governor.then {
                ast::Then::Stop => GovernorThen::Stop,
                ast::Then::Warn => GovernorThen::Warn,
                ast::Then::Escalate(model) => GovernorThen::Escalate(text(model)),
            },
        }),
        tree: match &graph.tree {
            Some(tree) => Some(Tree { at: tree.span.into(), root: branch(&tree.root) }),
            None => graph.unread_tree.and_then(|span| unread_tree(span, &graph.skills)),
        },
        catalog: graph.catalog.as_ref().map(|catalog| CatalogDecl {
            at: catalog.span.into(),
            policy: catalog.policy,
            skills: catalog.skills.iter().map(catalog_skill).collect(),
        }),
        classify: graph.classify.as_ref().map(|classify| Classify {
            at: classify.span.into(),
            scorer: classify.scorer,
            policy: classify.policy,
        }),
    }
}

fn catalog_skill(skill: &ast::CatalogSkill) -> CatalogSkillDecl<Place> {
    let ident = word(&skill.ident);
    CatalogSkillDecl {
        key: skill.key.as_ref().map_or_else(|| Word::new(skill_id_of(&ident.text), ident.at.clone()), text),
        title: skill.title.as_ref().map(text),
        header: skill
            .header
            .as_ref()
            .map(text)
            .or_else(|| doc_text(&skill.attributes.docs).map(|text| Word::new(text.text, text.at.into()))),
        prompt: skill.prompt.as_ref().map(text),
        tools: words(&skill.tools),
        default_bind: skill.default_bind.as_ref().map(names),
        needs_sandbox: skill.needs_sandbox,
        min_model_tier: skill.min_model_tier,
        available: skill.available.as_ref().map(available),
        lints: skill.attributes.lints.clone(),
        unread: skill.broken,
        ident,
    }
}

/// The path of a function as it was written.
pub(crate) fn available(path: &Path) -> Word<Place> {
    let start = if path.leading_colon.is_some() { "::" } else { "" };
    let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let span = path.segments.last().map_or_else(Span::call_site, |segment| segment.ident.span());
    Word::new(format!("{start}{}", segments.join("::")), span.into())
}

/// Stands for a tree that could not be read: it may lead to any skill.
fn unread_tree(span: Span, skills: &[ast::Skill]) -> Option<Tree<Place>> {
    let leaves = skills.iter().map(|skill| Branch::Leaf(word(&skill.ident)));
    let root = leaves.reduce(|otherwise, then| {
        let condition = Condition::Closure(Word::new("unread", span.into()));
        Branch::Fork(Box::new(Fork { at: span.into(), condition, then, otherwise: Some(otherwise) }))
    });
    Some(Tree { at: span.into(), root: root? })
}

fn branch(of: &ast::Branch) -> Branch<Place> {
    match of {
        ast::Branch::Leaf(skill) => Branch::Leaf(word(skill)),
        ast::Branch::Fork(fork) => Branch::Fork(Box::new(Fork {
            at: fork.span.into(),
            condition: condition(&fork.condition),
            then: branch(&fork.then),
            otherwise: fork.otherwise.as_ref().map(branch),
        })),
    }
}

fn tool(tool: &ast::Tool) -> ToolDecl<Place> {
    ToolDecl {
        ident: word(&tool.ident),
        name: tool.name.as_ref().map_or_else(|| word(&tool.ident), text),
        typed: tool.is_typed(),
        lints: tool.attributes.lints.clone(),
    }
}

fn lower_skill(at: usize, skill: &ast::Skill) -> SkillDecl<Place> {
    let ident = word(&skill.ident);
    let id = match &skill.id {
        Some(id) => text(id),
        // The name is refused; what it would spell as an id need not be refused too.
        None if skill.ident.is_never_a_name() => Word::new(format!("unnamed-{at}"), ident.at.clone()),
        None => Word::new(skill_id_of(&ident.text), ident.at.clone()),
    };
    if let Some(decl) = of_file(skill, &ident, &id) {
        return decl;
    }
    let description = skill
        .description
        .as_ref()
        .map(text)
        .or_else(|| doc_text(&skill.attributes.docs).map(|text| Word::new(text.text, text.at.into())));
    let body = skill.body.as_ref().map(|body| match body {
        ast::Body::Inline(literal) => Body::Inline { source: text(literal), prose: read_prose(&literal.value()) },
        ast::Body::Included(_) => Body::Included,
    });
    SkillDecl {
        id,
        description,
        body,
        tools: words(&skill.tools),
        steps: skill
            .steps
            .as_ref()
            .map(|steps| Steps { at: steps.span.into(), list: steps.list.iter().map(step).collect() }),
        on_skip: skill.on_skip.map(placed),
        on_unfinished: skill.on_unfinished.map(placed),
        scope: skill.scope,
        surface: skill.surface.map(placed),
        refresh: skill.refresh.map(placed),
        produces: skill.produces.as_ref().map(names),
        consumes: skill.consumes.as_ref().map(names),
        lints: skill.attributes.lints.clone(),
        form: Form::Language,
        unread: skill.broken,
        ident,
    }
}

/// What a file says, under the names that the graph has for it.
fn of_file(skill: &ast::Skill, ident: &Word<Place>, id: &Word<Place>) -> Option<SkillDecl<Place>> {
    let file = skill.file.as_ref()?;
    let said = file.skill.as_ref()?.placed(|part| file.place(part));
    let named = |word: &Word<Place>| match file.is_of_folder {
        true => Word { at: said.id.at.clone(), ..word.clone() },
        false => word.clone(),
    };
    Some(SkillDecl {
        ident: named(ident),
        id: named(id),
        lints: skill.attributes.lints.clone(),
        unread: skill.broken,
        ..said
    })
}

/// The edges of the graph, then those of its files.
fn routes(graph: &ast::Graph) -> Vec<RouteDecl<Place>> {
    let own = graph.routes.len() - graph.file_routes;
    let of_files = graph.skills.iter().filter_map(|skill| skill.file.as_ref());
    let of_files = of_files.flat_map(|file| file.edges.iter().map(|edge| edge.placed(|part| file.place(part))));
    graph.routes.iter().take(own).map(route).chain(of_files).collect()
}

fn placed<T>((value, span): (T, Span)) -> (T, Place) {
    (value, span.into())
}

fn step(step: &ast::Step) -> StepDecl<Place> {
    StepDecl {
        tool: word(&step.tool),
        note: text(&step.note),
        produces: step.produces.as_ref().map(names),
        consumes: step.consumes.as_ref().map(names),
    }
}

fn entry(entry: &ast::Entry) -> EntryDecl<Place> {
    EntryDecl {
        skill: word(&entry.skill),
        condition: entry.condition.as_ref().map(condition),
        examples: entry.examples.as_ref().map(texts),
        never_picked: entry.never_picked.map(Place::from),
        lints: entry.lints.clone(),
        label: entry.label.as_ref().map(text),
    }
}

fn condition(condition_: &ast::Condition) -> Condition<Place> {
    match condition_ {
        ast::Condition::Matches(pattern) => Condition::Matches(text(pattern)),
        ast::Condition::Keywords { span, list } => {
            Condition::Keywords { at: (*span).into(), list: list.iter().map(text).collect() }
        }
        ast::Condition::All { span, list } => {
            Condition::All { at: (*span).into(), list: list.iter().map(condition).collect() }
        }
        ast::Condition::Closure(closure) => Condition::Closure(source(closure)),
        ast::Condition::Intent { intent, examples } => {
            Condition::Intent { intent: text(intent), examples: texts(examples) }
        }
        ast::Condition::Picked(span) => Condition::Picked { at: (*span).into() },
        // As little is known of it as of a closure.
        ast::Condition::Unread(span) => Condition::Closure(Word::new("unread", (*span).into())),
    }
}

fn route(route: &ast::Route) -> RouteDecl<Place> {
    let trigger = match &route.trigger {
        ast::Trigger::Pick => Trigger::Pick,
        ast::Trigger::Closure(closure) => Trigger::Closure(source(closure)),
        ast::Trigger::Returns { tools, statuses, guard, closure } => Trigger::Returns {
            tools: match tools {
                ast::TriggerTools::One(name) => TriggerTools::One(word(name)),
                ast::TriggerTools::AnyOf { span, list } => {
                    TriggerTools::AnyOf { at: (*span).into(), list: words(list) }
                }
                ast::TriggerTools::Any { span } => TriggerTools::Any { at: (*span).into() },
            },
            statuses: *statuses,
            guard: guard.iter().map(term).collect(),
            closure: closure.as_ref().map(source),
        },
    };
    RouteDecl {
        from: word(&route.from),
        to: word(&route.to),
        trigger,
        lints: route.lints.clone(),
        label: route.label.as_ref().map(text),
        unread: route.broken,
    }
}

fn term(term: &ast::Term) -> GuardTerm<Place> {
    let at = term.path.first().map_or_else(Span::call_site, ast::Name::span);
    GuardTerm {
        path: Word::new(path(term), at.into()),
        operator: term.operator,
        values: term.values.clone(),
        consts: term.consts.iter().map(|path| path.to_token_stream().to_string().replace(' ', "")).collect(),
        listed: term.operator.takes_list(),
        values_at: term.values_span.into(),
    }
}

/// The path of a term as records show it.
pub(crate) fn path(term: &ast::Term) -> String {
    let length = term.length.as_ref().map(|_| LENGTH);
    term.path.iter().map(|name| name.text.as_str()).chain(length).collect::<Vec<_>>().join(".")
}

/// A closure as drawings and records show it.
pub(crate) fn source(closure: &ast::Closure) -> Word<Place> {
    Word::new(format!("|{}| {}", closure.param, closure.body), closure.bar.into())
}

fn word(name: &ast::Name) -> Word<Place> {
    Word::new(&name.text, name.span().into())
}

fn texts(texts: &ast::Texts) -> TextList<Place> {
    TextList { at: texts.span.into(), list: texts.list.iter().map(text).collect() }
}

fn names(names: &ast::Names) -> TextList<Place> {
    TextList { at: names.span.into(), list: words(&names.list) }
}

fn words(names: &[ast::Name]) -> Vec<Word<Place>> {
    names.iter().map(word).collect()
}

fn text(literal: &LitStr) -> Word<Place> {
    Word::new(literal.value(), literal.span().into())
}
