//! Names that are not declared, as paths that only rust-analyzer sees: it completes them. rustc has our error instead.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use super::Emit;
use crate::ast::Trigger;

pub(super) fn unresolved(emit: &Emit<'_>) -> TokenStream {
    let graph = emit.graph;
    let entries = graph.entries.iter().map(|entry| &entry.skill);
    let ends = graph.routes.iter().flat_map(|route| [&route.from, &route.to]);
    let leaves = graph.tree.iter().flat_map(|tree| tree.root.leaves());
    let skills: Vec<_> =
        entries.chain(ends).chain(leaves).filter(|name| !emit.knows_skill(name)).map(|name| &name.ident).collect();

    let of_skills = graph.skills.iter().flat_map(|skill| {
        skill.tools.iter().chain(skill.steps.iter().flat_map(|steps| &steps.list).map(|step| &step.tool))
    });
    let of_routes = graph.routes.iter().flat_map(|route| match &route.trigger {
        Trigger::Returns { tools, .. } => tools.named(),
        _ => &[],
    });
    let stocked = graph.catalog_skills();
    let stocked =
        stocked.flat_map(|skill| skill.tools.iter().chain(skill.default_bind.iter().flat_map(|names| &names.list)));
    let tools = of_skills.chain(stocked).chain(&graph.baseline).chain(of_routes);
    let tools: Vec<_> = tools.filter(|name| !emit.knows_tool(name)).map(|name| &name.ident).collect();

    if skills.is_empty() && tools.is_empty() {
        return TokenStream::new();
    }
    quote_spanned! {Span::mixed_site()=>
        #[cfg(rust_analyzer)]
        const _: fn() = || {
            #(let _ = skill::#skills;)*
            #(let _ = tool::#tools;)*
        };
    }
}
