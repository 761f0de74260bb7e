//! `route NAME -> NAME trigger [as "…"];` and `route NAME ~> NAME [as "…"];`

use proc_macro2::{Ident, Span};
use skillgraph_core::decl::{Lints, Status, StatusSet};
use skillgraph_core::suggest::{closest, listed};
use skillgraph_core::{Code, Finding};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Token, token};

use super::{closure, end, guard, label, name, recover, take_word};
use crate::ast::{Graph, Route, Trigger, TriggerTools};
use crate::findings::Findings;

pub(super) fn parse(
    input: ParseStream<'_>,
    lints: Lints,
    graph: &mut Graph,
    findings: &mut Findings,
) -> syn::Result<()> {
    let from = name(input, "the skill that the edge leaves")?;
    let picked = input.peek(Token![~]);
    if picked {
        input.parse::<Token![~]>()?;
        input.parse::<Token![>]>()?;
    } else if input.peek(Token![->]) {
        input.parse::<Token![->]>()?;
    } else {
        return Err(input.error("expected `->`, or `~>` for an edge that only the model's own pick takes"));
    }
    let to = name(input, "the skill that the edge leads to")?;
    let mut route = Route { lints, from, to, trigger: Trigger::Pick, label: None, broken: false };
    let result = if picked { Ok(Trigger::Pick) } else { trigger(input, findings) };
    let mut misplaced = None;
    let result = result.and_then(|trigger| {
        route.trigger = trigger;
        route.label = label(input)?;
        misplaced = out_of_order(input, picked);
        if misplaced.is_some() { Ok(()) } else { end::<Token![;]>(input) }
    });
    // Declared, whatever is wrong with it: the skill that it leads to is not cut off too.
    route.broken = result.is_err() || misplaced.is_some();
    if let Some(finding) = misplaced {
        findings.push(finding);
        recover::skip_item(input);
    }
    graph.routes.push(route);
    result
}

/// What is said of a part of an edge that stands behind what it belongs before.
fn out_of_order(input: ParseStream<'_>, picked: bool) -> Option<Finding<Span>> {
    let word = recover::any_word(input)?;
    let text = word.to_string();
    let finding = |message: String| Finding::new(Code::Syntax, word.span(), message);
    Some(match text.as_str() {
        "or" => finding("statuses are not joined by `or`".into()).help("write `is success | failure`"),
        "and" => finding("the terms of a guard are not joined by `and`".into()).help("write `&&` between them"),
        "on" | "is" | "where" | "when" if picked => {
            finding(format!("`{text}` makes an edge fire, and this one waits for the model's pick"))
                .help("write `->` for an edge that fires")
        }
        "on" | "is" | "where" | "when" | "as" => finding(format!("`{text}` stands too late in this edge"))
            .help("the order is `on tool is status where guard as \"label\"`; each part may be left out"),
        _ => return None,
    })
}

fn trigger(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Trigger> {
    if take_word(input, "when")?.is_some() {
        return closure(input).map(Trigger::Closure);
    }
    if take_word(input, "on")?.is_none() {
        return Err(input.error("expected what makes this edge fire: `on tool`, or `when |result| …`"));
    }
    let tools = tools(input, findings)?;
    let statuses = if take_word(input, "is")?.is_some() { Some(statuses(input, findings)?) } else { None };
    if take_word(input, "where")?.is_some() {
        let guard = guard::guard(input, findings)?;
        return Ok(Trigger::Returns { tools, statuses, guard, closure: None });
    }
    let closure = if take_word(input, "when")?.is_some() { Some(closure(input)?) } else { None };
    Ok(Trigger::Returns { tools, statuses, guard: Vec::new(), closure })
}

fn tools(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<TriggerTools> {
    if !super::at_word(input, "any") {
        return name(input, "a tool of this graph, `any[…]`, or `any`").map(TriggerTools::One);
    }
    let any = input.call(Ident::parse_any)?;
    if !input.peek(token::Bracket) {
        return Ok(TriggerTools::Any { span: any.span() });
    }
    let list = recover::list(input, findings, |input, _| name(input, "a tool of this graph"))?;
    if list.is_unread() {
        return Ok(TriggerTools::Any { span: list.span });
    }
    Ok(TriggerTools::AnyOf { span: list.span, list: list.elements })
}

/// `is status | status …`, or `is any`.
fn statuses(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<StatusSet> {
    let mut set = StatusSet::NONE;
    loop {
        let Some(word) = recover::any_word(input) else {
            return Err(input.error("expected a status, as in `is denied | failure`"));
        };
        input.call(Ident::parse_any)?;
        let text = word.to_string();
        match Status::from_word(&text) {
            Some(status) => set = set.with(status),
            None if text == "any" => set = StatusSet::ANY.iter().fold(set, StatusSet::with),
            None => {
                let known = || Status::ALL.into_iter().map(Status::as_str);
                let finding = Finding::new(Code::Syntax, word.span(), format!("`{text}` is not a status"));
                findings.push(match closest(&text, known()) {
                    Some(near) => finding.help(format!("a status with a similar name exists: `{near}`")),
                    None => finding.help(format!("the statuses are {}, and `any`", listed(known()))),
                });
            }
        }
        if !input.peek(Token![|]) {
            return Ok(set);
        }
        input.parse::<Token![|]>()?;
    }
}
