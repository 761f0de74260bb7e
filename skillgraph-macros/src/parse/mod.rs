//! Source text to [`crate::ast`], recovering: one malformed item, field or list element never hides the others.

mod catalog;
mod classify;
mod entry;
mod field;
mod governor;
mod graph;
mod guard;
mod recover;
mod route;
mod skill;
mod tree;

use proc_macro2::{Ident, Span, TokenStream};
use skillgraph_core::decl::{LintLevel, Lints};
use skillgraph_core::suggest::closest;
use skillgraph_core::{Code, Finding, Level};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, LitStr, Path, Token};

use crate::ast::{Attributes, Closure, Graph, Name, Texts};
use crate::files;
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
    if let Some(graph) = &mut graph {
        files::resolve(graph, findings);
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

/// Reads what stands before an item: doc comments and lint levels are kept, anything else is refused.
fn attributes(input: ParseStream<'_>, on: &str, findings: &mut Findings) -> syn::Result<Attributes> {
    let mut attributes = Attributes::default();
    for attribute in input.call(Attribute::parse_outer)? {
        let path = attribute.path();
        if path.is_ident("doc") {
            attributes.docs.push(attribute);
        } else if let Some(level) = lint_level(path) {
            attribute.parse_nested_meta(|meta| {
                match lint_code(&meta.path) {
                    Ok(code) => attributes.lints.set(code, level),
                    Err(finding) => findings.push(*finding),
                }
                Ok(())
            })?;
        } else if let Some(first) = path.segments.first() {
            let name = path_text(path);
            findings.push(
                Finding::new(
                    Code::Syntax,
                    first.ident.span(),
                    format!("the attribute `{name}` has no meaning on {on}"),
                )
                .help("what is understood here: doc comments, and `#[allow(skillgraph::…)]`, `warn`, and `deny`"),
            );
        }
    }
    Ok(attributes)
}

/// Reads what may stand before a part of an item: doc comments, for people.
fn docs(input: ParseStream<'_>, on: &str, findings: &mut Findings) -> syn::Result<Vec<Attribute>> {
    let at = input.span();
    let attributes = attributes(input, on, findings)?;
    refuse_lints(&attributes, at, on, findings);
    Ok(attributes.docs)
}

/// Lint levels where none can be set.
fn refuse_lints(attributes: &Attributes, at: Span, on: &str, findings: &mut Findings) {
    if attributes.lints != Lints::default() {
        findings.push(
            Finding::new(Code::Syntax, at, format!("lint levels have no meaning on {on}"))
                .help("set them on the skill, entry, edge, tool, or graph"),
        );
    }
}

fn lint_level(path: &Path) -> Option<LintLevel> {
    let level = path.get_ident()?;
    [("allow", LintLevel::Allow), ("warn", LintLevel::Warn), ("deny", LintLevel::Deny)]
        .into_iter()
        .find(|(word, _)| level == word)
        .map(|(_, level)| level)
}

/// The warning of `skillgraph::name`.
fn lint_code(path: &Path) -> Result<Code, Box<Finding<Span>>> {
    let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let span = path.segments.last().map_or_else(Span::call_site, |segment| segment.ident.span());
    let refuse = |message: String| Finding::new(Code::Syntax, span, message);
    let [tool, name] = names.as_slice() else {
        return Err(Box::new(
            refuse(format!("`{}` is not a warning of skillgraph", path_text(path)))
                .help("warnings are named `skillgraph::…`; set rustc's own levels outside the macro"),
        ));
    };
    let found = Code::ALL.iter().find(|code| code.lint_name() == *name).filter(|_| tool == "skillgraph");
    match found {
        Some(code) if code.level() == Level::Warning => Ok(*code),
        Some(_) => Err(Box::new(refuse(format!("`{name}` is a refusal: a graph that breaks it cannot run")))),
        None => {
            let lints: Vec<String> =
                Code::ALL.iter().filter(|code| code.level() == Level::Warning).map(|code| code.lint_name()).collect();
            let finding = refuse(format!("`{}` is not a warning of skillgraph", path_text(path)));
            Err(Box::new(match closest(name, lints.iter().map(String::as_str)) {
                Some(near) => finding.help(format!("a warning with a similar name exists: `skillgraph::{near}`")),
                None => finding.help("warnings are named `skillgraph::…`; set rustc's own levels outside the macro"),
            }))
        }
    }
}

fn path_text(path: &Path) -> String {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>().join("::")
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

/// Texts in square brackets.
fn texts(input: ParseStream<'_>, what: &str, findings: &mut Findings) -> syn::Result<Option<Texts>> {
    let list = recover::list(input, findings, |input, _| text(input, what))?;
    Ok((!list.is_unread()).then_some(Texts { span: list.span, list: list.elements }))
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
fn not_yet(word: &Ident, help: &str) -> Finding<Span> {
    let finding =
        Finding::new(Code::Syntax, word.span(), format!("`{word}` is not supported by this version of skillgraph"));
    if help.is_empty() { finding } else { finding.help(help) }
}
