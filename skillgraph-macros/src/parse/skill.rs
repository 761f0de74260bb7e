//! `skill NAME ["=" "…"] { field, … }`

use std::num::NonZeroU32;

use proc_macro2::{Ident, Span};
use skillgraph_core::decl::{OnSkip, OnUnfinished, Scope, Surface};
use skillgraph_core::suggest::{closest, listed};
use skillgraph_core::{Code, Finding};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{LitInt, Token, token};

use super::field::note_twice;
use super::{docs, name, new_name, not_yet, recover, text};
use crate::ast::{Attributes, Body, Graph, Names, Skill, Step, Steps};
use crate::files;
use crate::findings::Findings;

/// The fields in this version.
const FIELDS: [&str; 11] = [
    "description",
    "body",
    "tools",
    "steps",
    "on_skip",
    "on_unfinished",
    "surface",
    "refresh",
    "scope",
    "produces",
    "consumes",
];
/// Fields of the language that this version does not have.
const LATER_FIELDS: [&str; 1] = ["model"];

pub(super) fn parse(
    input: ParseStream<'_>,
    attributes: Attributes,
    graph: &mut Graph,
    findings: &mut Findings,
) -> syn::Result<()> {
    let ident = new_name(input, "the name of a skill", findings)?;
    let mut skill = files::empty_skill(attributes, ident);
    let result = rest(input, &mut skill, findings);
    skill.broken |= result.is_err();
    graph.skills.push(skill);
    result
}

fn rest(input: ParseStream<'_>, skill: &mut Skill, findings: &mut Findings) -> syn::Result<()> {
    if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        skill.id = Some(text(input, "the id of the skill")?);
    }
    if super::take_word(input, "from")?.is_some() {
        let path = text(input, "the path of the skill's file")?;
        files::one(skill, path, findings);
        return super::end::<Token![;]>(input);
    }
    if !input.peek(token::Brace) {
        return Err(input.error("expected `{` and the fields of the skill, or `from \"skills/…/SKILL.md\"`"));
    }
    let content;
    syn::braced!(content in input);
    let mut seen: Vec<String> = Vec::new();
    let read = recover::fields(&content, findings, |input, findings| field(input, skill, &mut seen, findings));
    skill.broken |= !read;
    Ok(())
}

fn field(
    input: ParseStream<'_>,
    skill: &mut Skill,
    seen: &mut Vec<String>,
    findings: &mut Findings,
) -> syn::Result<()> {
    docs(input, "a field", findings)?;
    let Some(word) = recover::any_word(input) else {
        return Err(input.error(format!("expected a field: {}", listed(FIELDS))));
    };
    let mut field = word.to_string();
    if !FIELDS.contains(&field.as_str()) {
        let later = LATER_FIELDS.contains(&field.as_str());
        findings.push(if later { not_yet(&word, "") } else { unknown_field(&word) });
        let Some(near) = closest(&field, FIELDS).filter(|_| !later) else {
            skill.broken |= !later;
            recover::skip_to_comma(input);
            return Ok(());
        };
        // Read on as what it was meant to be: it is not missing too.
        field = near.to_owned();
    }
    note_twice(seen, &field, word.span(), &skill.ident, findings);
    input.call(Ident::parse_any)?;
    input.parse::<Token![:]>()?;
    match field.as_str() {
        "description" => skill.description = Some(text(input, "the description")?),
        "body" => skill.body = Some(body(input)?),
        "tools" => {
            let list = recover::list(input, findings, |input, _| name(input, "a tool of this graph"))?;
            skill.broken |= list.broken;
            skill.tools = list.elements;
        }
        "steps" => {
            let list = recover::list(input, findings, step)?;
            skill.broken |= list.broken;
            skill.steps = (!list.is_unread()).then_some(Steps { span: list.span, list: list.elements });
        }
        "produces" => skill.produces = kinds(input, findings)?,
        "consumes" => skill.consumes = kinds(input, findings)?,
        "on_skip" => {
            let (value, span) = word_of(input, &[("advance", OnSkip::Advance), ("hold", OnSkip::Hold)], findings)?;
            skill.on_skip = Some((value.unwrap_or_default(), span));
        }
        "on_unfinished" => {
            let choices = [("nudge", OnUnfinished::Nudge), ("accept", OnUnfinished::Accept)];
            let (value, span) = word_of(input, &choices, findings)?;
            skill.on_unfinished = value.map(|value| (value, span));
        }
        "surface" => {
            let surfaces = [
                ("system_prompt", Surface::SystemPrompt),
                ("tool_result", Surface::ToolResult),
                ("both", Surface::Both),
            ];
            let (value, span) = word_of(input, &surfaces, findings)?;
            skill.broken |= value.is_none();
            skill.surface = value.map(|value| (value, span));
        }
        "refresh" => skill.refresh = Some(refresh(input)?),
        _ => {
            let (value, _) = word_of(input, &[("active", Scope::Active), ("always", Scope::Always)], findings)?;
            skill.scope = value.unwrap_or_default();
        }
    }
    Ok(())
}

fn body(input: ParseStream<'_>) -> syn::Result<Body> {
    if super::take_word(input, "include_str")?.is_none() {
        return text(input, "the body").map(Body::Inline);
    }
    input.parse::<Token![!]>()?;
    let path;
    syn::parenthesized!(path in input);
    let literal = text(&path, "the path")?;
    if path.peek(Token![,]) {
        path.parse::<Token![,]>()?;
    }
    if !path.is_empty() {
        let error = path.error("expected one path");
        recover::skip_all(&path);
        return Err(error);
    }
    Ok(Body::Included(literal))
}

fn step(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Step> {
    docs(input, "a step", findings)?;
    let tool = name(input, "a tool of this skill")?;
    if !input.peek(Token![:]) {
        return Err(input.error(format!("expected `:` and the reason for the step, as in `{}: \"why\"`", tool.text)));
    }
    input.parse::<Token![:]>()?;
    let note = text(input, "the reason for the step")?;
    let mut step = Step { tool, note, produces: None, consumes: None };
    while let Some(word) = recover::any_word(input) {
        let slot = match word.to_string().as_str() {
            "produces" => &mut step.produces,
            "consumes" => &mut step.consumes,
            _ => return Err(input.error("expected `,` after the step, or `produces [kind]` or `consumes [kind]`")),
        };
        input.call(Ident::parse_any)?;
        *slot = kinds(input, findings)?;
    }
    Ok(step)
}

/// `every N iterations`
fn refresh(input: ParseStream<'_>) -> syn::Result<(NonZeroU32, Span)> {
    let expected = "expected how often, as in `every 5 iterations`";
    if super::take_word(input, "every")?.is_none() || !input.peek(LitInt) {
        return Err(input.error(expected));
    }
    let literal: LitInt = input.parse()?;
    let Some(every) = NonZeroU32::new(literal.base10_parse()?) else {
        return Err(syn::Error::new(
            literal.span(),
            "expected at least 1: leave `refresh` out where nothing is repeated",
        ));
    };
    // `every 1 iteration` reads better.
    if super::take_word(input, "iterations")?.is_none() && super::take_word(input, "iteration")?.is_none() {
        return Err(input.error(expected));
    }
    Ok((every, literal.span()))
}

/// Names of artifact, in square brackets.
fn kinds(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Option<Names>> {
    let list = recover::list(input, findings, |input, _| name(input, "a kind of artifact"))?;
    Ok((!list.is_unread()).then_some(Names { span: list.span, list: list.elements }))
}

/// One word of a closed set.
pub(super) fn word_of<T: Copy>(
    input: ParseStream<'_>,
    words: &[(&str, T)],
    findings: &mut Findings,
) -> syn::Result<(Option<T>, Span)> {
    let known = || words.iter().map(|(word, _)| *word);
    let Some(word) = recover::any_word(input) else {
        return Err(input
            .error(format!("expected {}", known().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or "))));
    };
    input.call(Ident::parse_any)?;
    let value = words.iter().find(|(known, _)| word == *known).map(|(_, value)| *value);
    if value.is_none() {
        findings.push(Finding::new(Code::Syntax, word.span(), format!("`{word}` is not a choice here")).help(
            match words {
                [(only, _)] => format!("the only choice is `{only}`"),
                _ => format!("the choices are {}", listed(known())),
            },
        ));
    }
    Ok((value, word.span()))
}

fn unknown_field(word: &Ident) -> Finding<Span> {
    let finding = Finding::new(Code::Syntax, word.span(), format!("a skill has no field `{word}`"));
    match closest(&word.to_string(), FIELDS) {
        Some(near) => finding.help(format!("a field with a similar name exists: `{near}`")),
        None => finding.help(format!("the fields of a skill are {}", listed(FIELDS))),
    }
}
