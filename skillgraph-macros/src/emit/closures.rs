//! The author's closures as function pointers. Their bodies go through a macro of the facade, so that a body which is
//! no expression is one error at its tokens and not the end of the module.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};

use super::rebase::rebase;
use super::tools::of_tool_at;
use super::{Emit, guards};
use crate::ast::{Closure, Condition, Trigger, TriggerTools};

/// `mod __closures`, resolved where the macro is called.
pub(super) fn closures(emit: &Emit<'_>) -> TokenStream {
    let private = emit.private();
    let mut consts = TokenStream::new();
    for (at, entry) in emit.graph.entries.iter().enumerate() {
        for (part, closure) in closures_of(entry.condition.as_ref()).into_iter().enumerate() {
            let ident = entry_test(at, part);
            let input = quote_spanned!(Span::mixed_site()=> &::core::primitive::str);
            consts.extend(constant(&private, &ident, &input, closure));
        }
    }
    for (at, closure) in tree_closures(emit).into_iter().enumerate() {
        let input = quote_spanned!(Span::mixed_site()=> &::core::primitive::str);
        consts.extend(constant(&private, &tree_test(at), &input, closure));
    }
    for (at, route) in emit.routes().enumerate() {
        consts.extend(guards::readers(emit, at, &route.trigger));
        consts.extend(guards::consts(emit, at, &route.trigger));
        let (closure, input) = match &route.trigger {
            Trigger::Pick | Trigger::Returns { closure: None, .. } => continue,
            Trigger::Closure(closure) => (closure, None),
            Trigger::Returns { tools, closure: Some(closure), .. } => (closure, typed_tool(emit, tools)),
        };
        let input = match input {
            Some(tool) => {
                let output = of_tool_at(closure.bar, tool, "Output");
                quote_spanned!(Span::mixed_site()=> &#output)
            }
            None => quote_spanned!(Span::mixed_site()=> &#private::ToolResult),
        };
        consts.extend(constant(&private, &route_test(at), &input, closure));
    }
    let skills = emit.graph.catalog_skills();
    for (at, path) in skills.filter_map(|skill| skill.available.as_ref()).enumerate() {
        let (ident, path) = (availability(at), rebase(path.to_token_stream()));
        consts.extend(quote_spanned! {Span::mixed_site()=>
            pub const #ident: #private::Availability = || #private::guard::is_available(#path);
        });
    }
    if consts.is_empty() {
        return consts;
    }
    quote_spanned! {Span::mixed_site()=>
        mod __closures { use super::super::*; use super::__types; use #private::guard::{levels::*, Present as _}; #consts }
    }
}

/// What edges ask of the outputs of typed tools, by tool: which edge, and the question.
pub(super) fn typed_tests(emit: &Emit<'_>) -> HashMap<usize, Vec<TokenStream>> {
    let private = emit.private();
    let mut tests: HashMap<usize, Vec<TokenStream>> = HashMap::new();
    for (at, route) in emit.routes().enumerate() {
        let Trigger::Returns { tools, guard, closure, .. } = &route.trigger else { continue };
        let edge = u32::try_from(at).unwrap_or(u32::MAX);
        if closure.is_some()
            && let Some(tool) = typed_tool(emit, tools)
        {
            let test = route_test(at);
            tests
                .entry(tool)
                .or_default()
                .push(quote_spanned!(Span::mixed_site()=> (#edge, #private::OutputTest::Closure(__closures::#test))));
        }
        if !guard.is_empty() {
            for tool in guards::typed_tools(emit, tools) {
                let reader = guards::reader(at, tool);
                tests.entry(tool).or_default().push(
                    quote_spanned!(Span::mixed_site()=> (#edge, #private::OutputTest::Guard(__closures::#reader))),
                );
            }
        }
    }
    tests
}

/// The one typed tool that the trigger names, if it names just one.
pub(super) fn typed_tool(emit: &Emit<'_>, tools: &TriggerTools) -> Option<usize> {
    let TriggerTools::One(name) = tools else { return None };
    let at = *emit.tool_index.get(name.text.as_str())?;
    emit.tools.get(at).is_some_and(|tool| tool.is_typed()).then_some(at)
}

/// Every closure of an entry's condition, in the order of the source.
fn closures_of(condition: Option<&Condition>) -> Vec<&Closure> {
    match condition {
        Some(Condition::Closure(closure)) => vec![closure],
        Some(Condition::All { list, .. }) => list.iter().flat_map(|part| closures_of(Some(part))).collect(),
        _ => Vec::new(),
    }
}

/// The name of the test of an entry's closure.
pub(super) fn entry_test(entry: usize, part: usize) -> Ident {
    format_ident!("entry_{}_{}", entry, part, span = Span::mixed_site())
}

/// Every closure of the tree's conditions, in the order of the source.
fn tree_closures<'a>(emit: &Emit<'a>) -> Vec<&'a Closure> {
    let conditions = emit.graph.tree.iter().flat_map(|tree| tree.root.conditions());
    conditions.flat_map(|condition| closures_of(Some(condition))).collect()
}

/// The name of the test of a closure of the tree.
pub(super) fn tree_test(at: usize) -> Ident {
    format_ident!("tree_{}", at, span = Span::mixed_site())
}

/// The name of the test of an edge's closure.
pub(super) fn route_test(route: usize) -> Ident {
    format_ident!("route_{}", route, span = Span::mixed_site())
}

/// The name of the question whether a skill of the catalog is there.
pub(super) fn availability(at: usize) -> Ident {
    format_ident!("available_{}", at, span = Span::mixed_site())
}

fn constant(private: &TokenStream, ident: &Ident, input: &TokenStream, closure: &Closure) -> TokenStream {
    let (param, body) = (&closure.param, rebase(closure.body.clone()));
    quote_spanned! {Span::mixed_site()=>
        pub const #ident: fn(#input) -> ::core::primitive::bool = #private::expression!(|#param| #body);
    }
}
