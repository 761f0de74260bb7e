//! The module itself: what its users see, in the order in which they look for it.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use skillgraph_core::decl::GraphDecl;

use super::{Emit, closures, editor, mentions, tables, tools};
use crate::ast::Graph;
use crate::docs::doc_text;
use crate::place::Place;

/// The whole output beside the errors.
pub(crate) fn module(facade: &TokenStream, graph: &Graph, decl: &GraphDecl<Place>) -> TokenStream {
    let emit = Emit::new(facade, graph, decl);
    let (vis, name, docs) = (&graph.vis, &graph.name.ident, &graph.attributes.docs);
    let default_doc = docs.is_empty().then(|| {
        let text = format!("The skill graph `{}`.", graph.name.text);
        quote_spanned!(Span::mixed_site()=> #[doc = #text])
    });
    let private = emit.private();
    let skill_ids = skill_ids(&emit);
    let tool_ids = tool_ids(&emit);
    let catalog_keys = catalog_keys(&emit);
    let tools_struct = tools::tools_struct(&emit);
    let types = tools::types(&emit);
    let assertions = tools::assertions(&emit);
    let agent = tools::agent(&emit);
    let closures = closures::closures(&emit);
    let table = tables::graph_table(&emit);
    let mentions = mentions::mentions(&emit);
    let editor = editor::unresolved(&emit);
    let files = files(&emit);
    quote_spanned! {Span::mixed_site()=>
        #(#docs)*
        #default_doc
        #[allow(non_upper_case_globals, dead_code, unused_imports, unexpected_cfgs, unused_braces, unused_parens)]
        #[allow(clippy::all, clippy::pedantic, clippy::restriction)]
        #vis mod #name {
            #skill_ids
            #tool_ids
            #catalog_keys
            #tools_struct
            /// The graph, as declared.
            pub static GRAPH: #private::StaticGraph = #private::StaticGraph::new(&__TABLE);
            static __TABLE: #private::GraphTable = #table;
            #agent
            #types
            #closures
            #assertions
            #mentions
            #files
            #editor
        }
    }
}

/// `mod skill`: one const a skill.
fn skill_ids(emit: &Emit<'_>) -> TokenStream {
    let private = emit.private();
    let ids = emit.skills.iter().filter_map(|(skill, at)| {
        let declared = emit.decl.skills.get(*at)?;
        let (ident, docs, id) = (&skill.ident.ident, &skill.attributes.docs, &declared.id.text);
        let doc = docs.is_empty().then(|| {
            let description = declared.description.as_ref().map_or(id, |text| &text.text);
            quote_spanned!(Span::mixed_site()=> #[doc = #description])
        });
        Some(quote_spanned! {Span::mixed_site()=>
            #(#docs)*
            #doc
            pub const #ident: #private::SkillId = #private::SkillId(#private::Name::Static(#id));
        })
    });
    quote_spanned! {Span::mixed_site()=>
        /// The ids of the graph's skills.
        pub mod skill { #(#ids)* }
    }
}

/// `mod tool`: one const a tool.
fn tool_ids(emit: &Emit<'_>) -> TokenStream {
    let private = emit.private();
    let ids = emit.tools.iter().zip(&emit.names).map(|(tool, name)| {
        let (ident, docs) = (&tool.ident.ident, &tool.attributes.docs);
        let doc = doc_text(docs).is_none().then(|| {
            let text = format!("The tool `{name}`.");
            quote_spanned!(Span::mixed_site()=> #[doc = #text])
        });
        quote_spanned! {Span::mixed_site()=>
            #(#docs)*
            #doc
            pub const #ident: #private::ToolId = #private::ToolId(#private::Name::Static(#name));
        }
    });
    quote_spanned! {Span::mixed_site()=>
        /// The names of the graph's tools.
        pub mod tool { #(#ids)* }
    }
}

/// `mod catalog`: one const a skill of the catalog, where there is one.
fn catalog_keys(emit: &Emit<'_>) -> Option<TokenStream> {
    let (catalog, lowered) = (emit.graph.catalog.as_ref()?, emit.decl.catalog.as_ref()?);
    let mut seen = std::collections::HashSet::new();
    let skills = catalog.skills.iter().zip(&lowered.skills).filter(|(skill, _)| seen.insert(&skill.ident.text));
    let keys = skills.map(|(skill, declared)| {
        let (ident, docs, key) = (&skill.ident.ident, &skill.attributes.docs, &declared.key.text);
        let doc = docs.is_empty().then(|| {
            let header = declared.header.as_ref().map_or(key, |text| &text.text);
            quote_spanned!(Span::mixed_site()=> #[doc = #header])
        });
        quote_spanned! {Span::mixed_site()=>
            #(#docs)*
            #doc
            pub const #ident: &::core::primitive::str = #key;
        }
    });
    Some(quote_spanned! {Span::mixed_site()=>
        /// The keys of the catalog's skills.
        pub mod catalog { #(#keys)* }
    })
}

/// The files of skills, named to the compiler: a change of one compiles the crate anew.
fn files(emit: &Emit<'_>) -> TokenStream {
    let files = emit.graph.skills.iter().filter_map(|skill| skill.file.as_ref());
    let paths = files.map(|file| format!("/{}", file.source.path));
    quote_spanned! {Span::mixed_site()=>
        #(const _: &::core::primitive::str =
            ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), #paths));)*
    }
}
