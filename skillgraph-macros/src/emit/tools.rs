//! `struct Tools`, `fn agent`, and what the compiler must hold of each tool's type.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use skillgraph_core::Code;
use syn::Type;

use super::Emit;
use super::closures::typed_tests;
use super::rebase::rebase;
use crate::ast::{Tool, ToolKind};

/// `struct Tools`: one field a tool, so that a forgotten or wrong one is a type error.
pub(super) fn tools_struct(emit: &Emit<'_>) -> TokenStream {
    let private = emit.private();
    let fields = emit.tools.iter().enumerate().map(|(at, tool)| {
        let (ident, docs) = (&tool.ident.ident, &tool.attributes.docs);
        let doc = docs.is_empty().then(|| {
            let text = format!("The tool `{}`.", tool.ident.text);
            quote_spanned!(Span::mixed_site()=> #[doc = #text])
        });
        let kind = match &tool.kind {
            ToolKind::Typed(_) => {
                let alias = alias(at);
                quote_spanned!(Span::mixed_site()=> __types::#alias)
            }
            ToolKind::Dyn => quote_spanned!(Span::mixed_site()=> #private::DynTool),
        };
        quote_spanned! {Span::mixed_site()=>
            #(#docs)*
            #doc
            pub #ident: #kind,
        }
    });
    quote_spanned! {Span::mixed_site()=>
        /// The tools that the graph's agent works with.
        pub struct Tools { #(#fields)* }
    }
}

/// The types of the tools, resolved where the macro is called and nowhere else: the generated module's own names cannot
/// get in their way.
pub(super) fn types(emit: &Emit<'_>) -> TokenStream {
    let aliases = emit.tools.iter().enumerate().filter_map(|(at, tool)| {
        let ToolKind::Typed(ty) = &tool.kind else { return None };
        let (alias, ty) = (alias(at), rebase(ty.to_token_stream()));
        Some(quote_spanned!(Span::mixed_site()=> pub type #alias = #ty;))
    });
    let private = emit.private();
    quote_spanned! {Span::mixed_site()=>
        mod __types { use super::super::*; pub use #private::{Tool as __Tool, guard as __guard}; #(#aliases)* }
    }
}

/// `fn agent`: from the tools to an agent of this graph.
///
/// The struct is taken apart first: moving its fields out one by one costs the compiler time that grows with the square of
/// their number.
pub(super) fn agent(emit: &Emit<'_>) -> TokenStream {
    let private = emit.private();
    let fields = emit.tools.iter().enumerate().map(|(at, tool)| {
        let (ident, local) = (&tool.ident.ident, local(at));
        quote_spanned!(Span::mixed_site()=> #ident: #local)
    });
    let tests = typed_tests(emit);
    let bound = emit.tools.iter().enumerate().map(|(at, tool)| {
        let local = local(at);
        match &tool.kind {
            ToolKind::Typed(_) => {
                let tests = tests.get(&at).map(Vec::as_slice).unwrap_or_default();
                let bind = of_tool(at, tool, "bind");
                quote_spanned!(type_span(tool)=> #bind(#local, &[#(#tests),*]))
            }
            ToolKind::Dyn => quote_spanned!(Span::mixed_site()=> #private::BoundTool::dynamic(#local)),
        }
    });
    quote_spanned! {Span::mixed_site()=>
        #private::compiled! {
            /// Begins an agent of this graph.
            pub fn agent(tools: Tools) -> #private::AgentBuilder {
                let Tools { #(#fields),* } = tools;
                #private::AgentBuilder::of_graph(&GRAPH, [#(#bound),*])
            }
        }
        /// Begins an agent of this graph.
        #[cfg(rust_analyzer)]
        pub fn agent(tools: Tools) -> #private::AgentBuilder { loop {} }
    }
}

/// The variable that holds a tool while the agent is begun.
fn local(at: usize) -> Ident {
    format_ident!("tool_{}", at, span = Span::mixed_site())
}

/// `Tool::NAME` is the declared name: asserted where the name is declared.
pub(super) fn assertions(emit: &Emit<'_>) -> TokenStream {
    let private = emit.private();
    emit.tools
        .iter()
        .zip(&emit.names)
        .enumerate()
        .filter(|(_, (tool, _))| tool.is_typed())
        .map(|(at, (tool, name))| {
            let span = name_span(tool);
            let ident = &tool.ident.text;
            let before = format!("tool `{ident}` is called \"{name}\" here, and the `Tool::NAME` of its type is \"");
            let between = format!("\" [{}]\nhelp: write `{ident} = \"", Code::ToolNameMismatch);
            let after = "\"`, or change the name of the type";
            let type_name = of_tool(at, tool, "NAME");
            let assertion =
                quote_spanned!(span=> ::core::assert!(#private::same(NAME, #name), "{}", #private::text_of(BYTES)));
            quote_spanned! {Span::mixed_site()=>
                #private::compiled! {
                    const _: () = {
                        const NAME: &str = #type_name;
                        const PARTS: &[&str] = &[#before, NAME, #between, NAME, #after];
                        const BYTES: &[u8] = &#private::bytes_of::<{ #private::length_of(PARTS) }>(PARTS);
                        #assertion;
                    };
                }
            }
        })
        .collect()
}

/// `<Type as Tool>::item`, all of it standing at the author's type: a type that is no tool is one error, there. Only in
/// bodies that editors do not see: go-to-definition at the type would offer every one of these tokens.
fn of_tool(at: usize, tool: &Tool, item: &str) -> TokenStream {
    of_tool_at(type_span(tool), at, item)
}

/// The output of a tool. It stands at the author's type, so that a type which is no tool is one error, whoever asks.
pub(super) fn output_of(emit: &Emit<'_>, at: usize) -> TokenStream {
    emit.tools.get(at).map_or_else(TokenStream::new, |tool| of_tool(at, tool, "Output"))
}

/// The same, standing at another place of the author's.
pub(super) fn of_tool_at(span: Span, at: usize, item: &str) -> TokenStream {
    let (alias, item) = (Ident::new(&alias(at).to_string(), span), Ident::new(item, span));
    quote_spanned!(span=> <__types::#alias as __types::__Tool>::#item)
}

/// Where the type's own name stands.
pub(super) fn type_span(tool: &Tool) -> Span {
    let name = match &tool.kind {
        ToolKind::Typed(ty) => match &**ty {
            Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.span()),
            _ => None,
        },
        ToolKind::Dyn => None,
    };
    name.unwrap_or_else(|| tool.ident.span())
}

/// The alias of a tool's type.
pub(super) fn alias(at: usize) -> Ident {
    format_ident!("Tool{}", at, span = Span::mixed_site())
}

fn name_span(tool: &Tool) -> Span {
    tool.name.as_ref().map_or_else(|| tool.ident.span(), |name| name.span())
}
