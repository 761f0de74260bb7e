//! Source text to [`crate::ast`], recovering: one malformed item, field or list element never hides the others.

mod entry;
mod graph;
mod recover;
mod route;
mod skill;

use proc_macro2::{Ident, TokenStream};
use skillgraph_core::{Code, Finding};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, LitStr, Token};

use crate::ast::{Closure, Graph, Name};
use crate::findings::Findings;

/// Reads a graph. `None` where not even its name could be read.
pub(crate) fn graph(source: TokenStream, findings: &mut Findings) -> Option<Graph> {
    let mut graph = None;
    let parser = |input: ParseStream<'_>| {
        graph = Some(graph::parse(input, findings)?);
        Ok(())
    };
    if let Err(error) = parser.parse2(source)
        && (graph.is_none() || findings.is_empty())
    {
        // With a graph and findings at hand this is only what a mistake left unread.
        findings.push_syntax(error);
    }
    graph
}

/// Reads a name; keywords are names too.
fn name(input: ParseStream<'_>, what: &str) -> syn::Result<Name> {
    if input.peek(LitStr) {
        return Err(input.error(format!("expected {what}, written without quotes")));
    }
    let Some((ident, _)) = input.cursor().ident().filter(|_| input.peek(Ident::peek_any)) else {
        return Err(input.error(format!("expected {what}")));
    };
    let is_keyword = !input.peek(syn::Ident) || ident == "gen";
    Ok(Name::new(&input.call(Ident::parse_any)?, is_keyword))
}

/// Reads the name of a new thing.
fn new_name(input: ParseStream<'_>, what: &str, findings: &mut Findings) -> syn::Result<Name> {
    let name = name(input, what)?;
    if name.is_never_a_name() {
        findings.push(
            Finding::new(Code::InvalidName, name.span(), format!("`{}` cannot name anything in a graph", name.text))
                .help("choose an identifier that Rust accepts for a constant"),
        );
    }
    Ok(name)
}

/// Reads attributes: doc comments are kept, anything else is refused.
fn docs(input: ParseStream<'_>, on: &str, findings: &mut Findings) -> syn::Result<Vec<Attribute>> {
    let (docs, others): (Vec<_>, Vec<_>) =
        input.call(Attribute::parse_outer)?.into_iter().partition(|attribute| attribute.path().is_ident("doc"));
    for attribute in others {
        let path = attribute.path();
        let name = path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>().join("::");
        let Some(first) = path.segments.first().map(|segment| &segment.ident) else { continue };
        if ["allow", "warn", "deny"].iter().any(|level| first == level) {
            findings.push(not_yet(first, "this version has no warnings, and refusals cannot be silenced"));
            continue;
        }
        findings.push(
            Finding::new(Code::Syntax, first.span(), format!("the attribute `{name}` has no meaning on {on}"))
                .help("only doc comments are understood here"),
        );
    }
    Ok(docs)
}

/// Whether the next token is that word.
fn at_word(input: ParseStream<'_>, word: &str) -> bool {
    input.cursor().ident().is_some_and(|(ident, _)| ident == word)
}

/// Takes that word if it is next.
fn take_word(input: ParseStream<'_>, word: &str) -> syn::Result<Option<Ident>> {
    if at_word(input, word) { input.call(Ident::parse_any).map(Some) } else { Ok(None) }
}

/// `as "label"`, where there is one.
fn label(input: ParseStream<'_>) -> syn::Result<Option<LitStr>> {
    if !input.peek(Token![as]) {
        return Ok(None);
    }
    input.parse::<Token![as]>()?;
    text(input, "a label").map(Some)
}

/// A text in quotes.
fn text(input: ParseStream<'_>, what: &str) -> syn::Result<LitStr> {
    if input.peek(LitStr) { input.parse() } else { Err(input.error(format!("expected {what} in quotes"))) }
}

/// The punctuation that ends what was just read. Where it is missing, the error stands where it should be.
fn end<T: syn::parse::Parse + syn::token::Token>(input: ParseStream<'_>) -> syn::Result<()> {
    if T::peek(input.cursor()) {
        return input.parse::<T>().map(|_| ());
    }
    Err(syn::Error::new(input.cursor().prev_span(), format!("expected {} after this", T::display())))
}

/// `|name| expression`, up to where the item or the list element ends.
fn closure(input: ParseStream<'_>) -> syn::Result<Closure> {
    let bar = input.parse::<Token![|]>()?.span;
    let param = if input.peek(Token![_]) {
        let underscore: Token![_] = input.parse()?;
        quote::quote!(#underscore)
    } else {
        let ident: Ident = input.parse()?;
        quote::quote!(#ident)
    };
    input.parse::<Token![|]>()?;
    let mut body = TokenStream::new();
    while !recover::at_closure_end(input) {
        body.extend([input.parse::<proc_macro2::TokenTree>()?]);
    }
    if body.is_empty() {
        return Err(input.error("expected an expression that is true or false"));
    }
    Ok(Closure { bar, param, body })
}

/// A construct of the language that this version does not have yet.
fn not_yet(word: &Ident, help: &str) -> Finding<proc_macro2::Span> {
    let finding =
        Finding::new(Code::Syntax, word.span(), format!("`{word}` is not supported by this version of skillgraph"));
    if help.is_empty() { finding } else { finding.help(help) }
}
