//! The graph's header and its items.

use proc_macro2::Span;
use skillgraph_core::suggest::{closest, listed};
use skillgraph_core::{Code, Finding};
use syn::parse::ParseStream;
use syn::{Token, Type, token};

use super::{docs, entry, name, new_name, not_yet, recover, route, skill};
use crate::ast::{Graph, Name, Tool, ToolKind};
use crate::findings::Findings;

/// The words that begin an item in this version.
const ITEM_WORDS: [&str; 5] = ["tools", "baseline", "skill", "entry", "route"];
/// The words of SPEC 1.1 that this version does not have.
const LATER_WORDS: [&str; 7] = ["skills", "never_routes", "classify", "tree", "governor", "require", "catalog"];

/// `attr* vis graph NAME { item* }`
pub(super) fn parse(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Graph> {
    let docs = docs(input, "a graph", findings)?;
    let vis = input.parse()?;
    if super::take_word(input, "graph")?.is_none() {
        return Err(input.error("expected `graph`, as in `pub graph support { … }`"));
    }
    let name = new_name(input, "the name of the graph", findings)?;
    let mut graph = Graph {
        docs,
        vis,
        name,
        tools: Vec::new(),
        baseline: Vec::new(),
        skills: Vec::new(),
        entries: Vec::new(),
        routes: Vec::new(),
    };
    if !input.peek(token::Brace) {
        findings.push_syntax(input.error("expected `{` and the items of the graph"));
        recover::skip_all(input);
        return Ok(graph);
    }
    let content;
    syn::braced!(content in input);
    while !content.is_empty() {
        if let Err(error) = item(&content, &mut graph, findings) {
            findings.push_syntax(error);
            recover::skip_item(&content);
        }
    }
    if !input.is_empty() {
        findings.push_syntax(input.error("expected nothing after the graph: one `skill_graph!` declares one graph"));
        recover::skip_all(input);
    }
    Ok(graph)
}

fn item(input: ParseStream<'_>, graph: &mut Graph, findings: &mut Findings) -> syn::Result<()> {
    let docs = docs(input, "an item of a graph", findings)?;
    let Some(word) = recover::any_word(input) else {
        return Err(input.error(format!("expected an item: {}", listed(ITEM_WORDS))));
    };
    let text = word.to_string();
    if LATER_WORDS.contains(&text.as_str()) {
        findings.push(not_yet(&word, ""));
        input.parse::<proc_macro2::TokenTree>()?;
        recover::skip_item(input);
        return Ok(());
    }
    if !ITEM_WORDS.contains(&text.as_str()) {
        let finding = Finding::new(Code::Syntax, word.span(), format!("`{text}` does not begin an item of a graph"));
        findings.push(match closest(&text, ITEM_WORDS) {
            Some(near) => finding.help(format!("an item with a similar name exists: `{near}`")),
            None => finding.help(format!("an item begins with {}", listed(ITEM_WORDS))),
        });
        input.parse::<proc_macro2::TokenTree>()?;
        recover::skip_item(input);
        return Ok(());
    }
    input.parse::<proc_macro2::TokenTree>()?;
    match text.as_str() {
        "tools" => tools(input, graph, findings),
        "baseline" => {
            input.parse::<Token![:]>()?;
            let (_, list) = recover::list(input, findings, |input, _| name(input, "a tool of this graph"))?;
            graph.baseline.extend(list);
            semicolon(input)
        }
        "skill" => skill::parse(input, docs, graph, findings),
        "entry" => entry::parse(input, graph, findings),
        _ => route::parse(input, graph, findings),
    }
}

/// `tools { name ["=" "…"] : (Type | dyn), … }`
fn tools(input: ParseStream<'_>, graph: &mut Graph, findings: &mut Findings) -> syn::Result<()> {
    let content;
    syn::braced!(content in input);
    while !content.is_empty() {
        match tool(&content, findings) {
            Ok(tool) => graph.tools.extend(tool),
            Err(error) => {
                findings.push_syntax(error);
                recover::skip_field(&content);
                continue;
            }
        }
        if content.is_empty() {
            break;
        }
        if let Err(error) = content.parse::<Token![,]>() {
            findings.push_syntax(error);
            recover::skip_field(&content);
        }
    }
    Ok(())
}

fn tool(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Option<Tool>> {
    let docs = docs(input, "a tool", findings)?;
    if let Some(word) = recover::any_word(input).filter(|word| word == "mcp" && input.peek2(syn::Ident)) {
        findings.push(not_yet(&word, ""));
        while !input.is_empty() && !input.peek(Token![,]) {
            input.parse::<proc_macro2::TokenTree>()?;
        }
        return Ok(None);
    }
    let ident = new_name(input, "the name of a tool", findings)?;
    let name = if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        Some(input.parse()?)
    } else {
        None
    };
    if !input.peek(Token![:]) {
        return Err(input.error(format!(
            "expected `:` and a type, as in `{0}: {1}` or `{0}: dyn`",
            ident.text,
            type_name(&ident)
        )));
    }
    input.parse::<Token![:]>()?;
    let bare_dyn = input.peek(Token![dyn]) && (input.peek2(Token![,]) || is_last(input));
    let kind = if bare_dyn {
        input.parse::<Token![dyn]>()?;
        ToolKind::Dyn
    } else {
        ToolKind::Typed(Box::new(input.parse::<Type>()?))
    };
    Ok(Some(Tool { docs, ident, name, kind }))
}

/// Whether one token is left.
fn is_last(input: ParseStream<'_>) -> bool {
    input.cursor().token_tree().is_some_and(|(_, rest)| rest.eof())
}

/// The type that an author would most likely have for a tool of this name.
fn type_name(name: &Name) -> String {
    crate::tool::type_name(&name.text)
}

/// The `;` that ends an item.
pub(super) fn semicolon(input: ParseStream<'_>) -> syn::Result<()> {
    if input.is_empty() {
        return Err(syn::Error::new(Span::call_site(), "expected `;` after the last item of the graph"));
    }
    input.parse::<Token![;]>().map(|_| ())
}
