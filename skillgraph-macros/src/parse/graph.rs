//! The graph's header and its items.

use proc_macro2::{Ident, Span};
use skillgraph_core::decl::Lints;
use skillgraph_core::suggest::{closest, listed};
use skillgraph_core::{Code, Finding};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Token, Type, token};

use super::{
    attributes, catalog, classify, end, entry, governor, name, new_name, not_yet, recover, refuse_lints, route, skill,
    text, tree,
};
use crate::ast::{Graph, Tool, ToolKind};
use crate::files;
use crate::findings::Findings;

/// The words that begin an item in this version.
const ITEM_WORDS: [&str; 11] = [
    "tools",
    "baseline",
    "skill",
    "skills",
    "entry",
    "route",
    "never_routes",
    "classify",
    "tree",
    "governor",
    "catalog",
];
/// Words of the language that this version does not have.
const LATER_WORDS: [&str; 1] = ["require"];

/// `attr* vis graph NAME { item* }`
pub(super) fn parse(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Graph> {
    let attributes = attributes(input, "a graph", findings)?;
    let vis = input.parse()?;
    if super::take_word(input, "graph")?.is_none() {
        let at = if input.is_empty() { Span::call_site() } else { input.span() };
        return Err(syn::Error::new(at, "expected a graph, as in `pub graph support { … }`"));
    }
    let name = new_name(input, "the name of the graph", findings)?;
    let mut graph = Graph {
        attributes,
        vis,
        name,
        tools: Vec::new(),
        baseline: Vec::new(),
        baseline_unread: false,
        skills: Vec::new(),
        entries: Vec::new(),
        routes: Vec::new(),
        never_routes: None,
        classify: None,
        tree: None,
        unread_tree: None,
        file_routes: 0,
        governor: None,
        catalog: None,
    };
    if input.peek(Token![-]) {
        let at = input.span();
        let mut whole = graph.name.text.clone();
        while input.peek(Token![-]) {
            input.parse::<Token![-]>()?;
            if let Some(word) = recover::any_word(input) {
                input.call(Ident::parse_any)?;
                whole = format!("{whole}_{word}");
            }
        }
        let finding = Finding::new(Code::Syntax, at, "`-` cannot stand in the name of a graph, which names a module");
        findings.push(finding.help(format!("write `graph {whole}`")));
    }
    if !input.peek(token::Brace) {
        findings.push_syntax(input.error("expected `{` and the items of the graph"));
        recover::skip_all(input);
        return Ok(graph);
    }
    let content;
    syn::braced!(content in input);
    recover::items(&content, findings, |input, findings| item(input, &mut graph, findings));
    if !input.is_empty() {
        findings.push_syntax(input.error("expected nothing after the graph: one `skill_graph!` declares one graph"));
        recover::skip_all(input);
    }
    Ok(graph)
}

fn item(input: ParseStream<'_>, graph: &mut Graph, findings: &mut Findings) -> syn::Result<()> {
    let attributes = attributes(input, "an item of a graph", findings)?;
    let Some(word) = recover::any_word(input) else {
        return Err(input.error(format!("expected an item: {}", listed(ITEM_WORDS))));
    };
    let mut text = word.to_string();
    if LATER_WORDS.contains(&text.as_str()) {
        findings.push(not_yet(&word, ""));
        input.call(Ident::parse_any)?;
        recover::skip_item(input);
        return Ok(());
    }
    if !ITEM_WORDS.contains(&text.as_str()) {
        let finding = Finding::new(Code::Syntax, word.span(), format!("`{text}` does not begin an item of a graph"));
        let Some(near) = closest(&text, ITEM_WORDS) else {
            findings.push(finding.help(format!("an item begins with {}", listed(ITEM_WORDS))));
            input.call(Ident::parse_any)?;
            recover::skip_item(input);
            return Ok(());
        };
        // Read on as what it was meant to be: what it declares is not missing too.
        findings.push(finding.help(format!("an item with a similar name exists: `{near}`")));
        text = near.to_owned();
    }
    input.call(Ident::parse_any)?;
    match text.as_str() {
        "tools" => tools(input, &attributes.lints, graph, findings),
        "baseline" => {
            refuse_lints(&attributes, word.span(), "the baseline", findings);
            graph.baseline_unread = true;
            input.parse::<Token![:]>()?;
            let list = recover::list(input, findings, |input, _| name(input, "a tool of this graph"))?;
            graph.baseline_unread = false;
            graph.baseline.extend(list.elements);
            end::<Token![;]>(input)
        }
        "never_routes" => {
            refuse_lints(&attributes, word.span(), "`never_routes`", findings);
            input.parse::<Token![:]>()?;
            let texts = super::texts(input, "a message", findings)?;
            match (&mut graph.never_routes, texts) {
                (Some(all), Some(more)) => all.list.extend(more.list),
                (none, texts) => *none = texts.or(none.take()),
            }
            end::<Token![;]>(input)
        }
        "classify" => {
            refuse_lints(&attributes, word.span(), "`classify`", findings);
            if graph.classify.is_some() {
                let finding = Finding::new(Code::Syntax, word.span(), "the graph says `classify` twice");
                findings.push(finding.help("remove one of the two"));
            }
            input.parse::<Token![:]>()?;
            graph.classify = Some(classify::classify(input, findings)?);
            Ok(())
        }
        "governor" => {
            refuse_lints(&attributes, word.span(), "a governor", findings);
            if graph.governor.is_some() {
                let finding = Finding::new(Code::Syntax, word.span(), "the graph has two governors");
                findings.push(finding.help("remove one of the two"));
            }
            graph.governor = Some(governor::governor(input, word.span(), findings)?);
            Ok(())
        }
        "catalog" => {
            refuse_lints(&attributes, word.span(), "a catalog", findings);
            if !input.peek(token::Brace) {
                return Err(input.error("expected `{` and the policy and skills of the catalog"));
            }
            if graph.catalog.is_some() {
                let finding = Finding::new(Code::Syntax, word.span(), "the graph has two catalogs");
                findings.push(finding.help("put the skills of both into one"));
            }
            let catalog = catalog::catalog(input, word.span(), findings)?;
            graph.catalog.get_or_insert(catalog);
            Ok(())
        }
        "tree" => {
            refuse_lints(&attributes, word.span(), "a tree", findings);
            if !input.peek(token::Brace) {
                graph.unread_tree = Some(word.span());
                return Err(input.error("expected `{` and a skill of this graph, or `if …`"));
            }
            let tree = match tree::tree(input, findings) {
                Ok(tree) => tree,
                // All of it has been taken.
                Err(error) => {
                    findings.push_syntax(error);
                    graph.unread_tree = Some(word.span());
                    return Ok(());
                }
            };
            if graph.tree.is_some() {
                let finding = Finding::new(Code::Syntax, word.span(), "the graph has two trees");
                findings.push(finding.help("remove one of the two, or put it into a branch of the other"));
            }
            graph.tree.get_or_insert(tree);
            Ok(())
        }
        "skills" => {
            if super::take_word(input, "from")?.is_none() {
                return Err(input.error("expected `from` and a folder, as in `skills from \"skills\";`"));
            }
            let folder = super::text(input, "the path of the folder")?;
            files::folder(&attributes, &folder, graph, findings);
            end::<Token![;]>(input)
        }
        "skill" => skill::parse(input, attributes, graph, findings),
        "entry" => entry::parse(input, attributes.lints, graph, findings),
        _ => route::parse(input, attributes.lints, graph, findings),
    }
}

/// `tools { name ["=" "…"] : (Type | dyn), … }`
fn tools(input: ParseStream<'_>, lints: &Lints, graph: &mut Graph, findings: &mut Findings) -> syn::Result<()> {
    let content;
    syn::braced!(content in input);
    recover::fields(&content, findings, |input, findings| tool(input, lints, graph, findings));
    Ok(())
}

fn tool(input: ParseStream<'_>, lints: &Lints, graph: &mut Graph, findings: &mut Findings) -> syn::Result<()> {
    let mut attributes = attributes(input, "a tool", findings)?;
    attributes.lints = lints.then(attributes.lints);
    if let Some(word) = recover::any_word(input).filter(|word| word == "mcp" && input.peek2(syn::Ident)) {
        findings.push(not_yet(&word, ""));
        recover::skip_to_comma(input);
        return Ok(());
    }
    let ident = new_name(input, "the name of a tool", findings)?;
    let mut tool = Tool { attributes, ident, name: None, kind: ToolKind::Dyn };
    let result = tool_type(input, &mut tool);
    // Declared, whatever is wrong with it: who uses it is not to blame.
    graph.tools.push(tool);
    result
}

fn tool_type(input: ParseStream<'_>, tool: &mut Tool) -> syn::Result<()> {
    if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        tool.name = Some(text(input, "the tool's name for the model")?);
    }
    if !input.peek(Token![:]) {
        let (name, example) = (&tool.ident.text, crate::tool::type_name(&tool.ident.text));
        return Err(input.error(format!("expected `:` and a type, as in `{name}: {example}` or `{name}: dyn`")));
    }
    input.parse::<Token![:]>()?;
    if input.peek(Token![dyn]) && (input.peek2(Token![,]) || is_last(input)) {
        input.parse::<Token![dyn]>()?;
    } else {
        tool.kind = ToolKind::Typed(Box::new(input.parse::<Type>()?));
    }
    Ok(())
}

/// Whether one token is left.
fn is_last(input: ParseStream<'_>) -> bool {
    input.cursor().token_tree().is_some_and(|(_, rest)| rest.eof())
}
