//! Guards as functions that read the fields which their terms are about, from the typed output. The terms themselves are
//! rows of the table: what a value must be is decided in one place, for typed and JSON results alike.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use skillgraph_core::decl::Kind;

use super::Emit;
use super::rebase::rebase;
use super::tools::{of_tool_at, output_of, type_span};
use crate::ast::{Term, Trigger, TriggerTools};

/// For each typed tool that the trigger names, the function that reads the guard's fields.
pub(super) fn readers(emit: &Emit<'_>, at: usize, trigger: &Trigger) -> TokenStream {
    let Trigger::Returns { tools, guard, .. } = trigger else { return TokenStream::new() };
    let private = emit.private();
    if guard.is_empty() {
        return TokenStream::new();
    }
    let readers = typed_tools(emit, tools).into_iter().map(|tool| {
        let (reader, output) = (reader(at, tool), output_of(emit, tool));
        // What is read first stands at the type, too: where that is no tool, rustc says so once.
        let site =
            emit.tools.get(tool).map_or_else(Span::mixed_site, |tool| Span::mixed_site().located_at(type_span(tool)));
        let fields = guard.iter().map(|term| field(emit, term, site));
        quote_spanned! {site=>
            #private::compiled! {
                pub const #reader: fn(&#output) -> ::std::vec::Vec<::core::option::Option<#private::Literal>> =
                    |output| ::std::vec![#(#fields),*];
            }
        }
    });
    // An editor sees the fields alone, for one of the tools: what else stands at the author's tokens would be offered there.
    let shown = typed_tools(emit, tools).into_iter().take(1).map(|tool| {
        let output = of_tool_at(Span::mixed_site(), tool, "Output");
        let values = guard.iter().map(|term| value(emit, term, Span::mixed_site()));
        let shown = format_ident!("guard_{}_shown", at, span = Span::mixed_site());
        quote_spanned! {Span::mixed_site()=>
            #[cfg(rust_analyzer)]
            pub fn #shown(output: &#output) {
                #(let _ = #values;)*
            }
        }
    });
    readers.chain(shown).collect()
}

/// The functions that read the consts with which the guard compares, resolved where the macro is called.
pub(super) fn consts(emit: &Emit<'_>, at: usize, trigger: &Trigger) -> TokenStream {
    let Trigger::Returns { guard, .. } = trigger else { return TokenStream::new() };
    let private = emit.private();
    let consts = guard.iter().enumerate().flat_map(|(term, of)| {
        of.consts.iter().enumerate().map(move |(place, path)| (guard_const((at, term), place), path))
    });
    let consts = consts.map(|(name, path)| {
        let span = path.segments.last().map_or_else(Span::mixed_site, |segment| segment.ident.span());
        let path = rebase(path.to_token_stream());
        let value = quote_spanned!(span=> __types::__guard::Comparand::comparand(&#path));
        quote_spanned! {Span::mixed_site()=>
            pub const #name: fn() -> #private::Literal = || #value;
        }
    });
    consts.collect()
}

/// The name of such a function: of the edge and the term, and which of its consts.
pub(super) fn guard_const((route, term): (usize, usize), place: usize) -> Ident {
    format_ident!("guard_{}_{}_const_{}", route, term, place, span = Span::mixed_site())
}

/// The typed tools that the trigger names.
pub(super) fn typed_tools(emit: &Emit<'_>, tools: &TriggerTools) -> Vec<usize> {
    let named = tools.named().iter().filter_map(|name| emit.tool_index.get(name.text.as_str()).copied());
    let mut typed: Vec<usize> = named.filter(|at| emit.tools.get(*at).is_some_and(|tool| tool.is_typed())).collect();
    typed.sort_unstable();
    typed.dedup();
    typed
}

/// The name of a reader.
pub(super) fn reader(route: usize, tool: usize) -> Ident {
    format_ident!("guard_{}_of_{}", route, tool, span = Span::mixed_site())
}

/// The field that a term is about, as what it is compared with. An error stands at the last part of the path.
fn field(emit: &Emit<'_>, term: &Term, site: Span) -> TokenStream {
    let value = value(emit, term, site);
    let span = term.path.last().map_or_else(Span::mixed_site, |name| name.span());
    if let Some(length) = &term.length {
        let list = Ident::new("list", length.span());
        let read = quote_spanned!(length.span()=> __types::__guard::ReadNumber::read_number(&#list.#length()));
        return quote_spanned!(site=> #value.and_then(|#list| #read));
    }
    let found = Ident::new("found", span);
    let kinds = [(Kind::Number, "read_number"), (Kind::Text, "read_text"), (Kind::Bool, "read_bool")];
    let reads = kinds.into_iter().filter(|(kind, _)| term.values.iter().any(|value| value.kind() == *kind));
    // Of what kind a const is shows when the program runs.
    let any = (!term.consts.is_empty()).then_some("read_any");
    let reads = reads.map(|(_, read)| read).chain(any).map(|read| {
        let read = Ident::new(read, span);
        quote_spanned!(span=> (&&&__types::__guard::Read(#found)).#read())
    });
    quote_spanned!(site=> #value.and_then(|#found| ::core::option::Option::None #(.or_else(|| #reads))*))
}

/// The path of a term through `Option`s.
fn value(emit: &Emit<'_>, term: &Term, site: Span) -> TokenStream {
    let private = emit.private();
    let mut value = quote_spanned!(site=> #private::guard::Field(output).present());
    for part in &term.path {
        let ident = &part.ident;
        value = quote_spanned! {site=>
            #value.and_then(|value| #private::guard::Field(&value.#ident).present())
        };
    }
    value
}
