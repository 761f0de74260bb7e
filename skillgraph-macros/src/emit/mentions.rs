//! `{tool}` in a body as the compiler and editors see it: an inline format argument, so that go-to-definition and
//! rename work inside the string.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use skillgraph_core::decl::{Body, Prose};

use super::Emit;
use crate::ast;

pub(super) fn mentions(emit: &Emit<'_>) -> TokenStream {
    let bodies = emit.skills.iter().filter_map(|(skill, at)| {
        let ast::Body::Inline(literal) = skill.body.as_ref()? else { return None };
        let Body::Inline { prose: Ok(prose), .. } = emit.decl.skills.get(*at)?.body.as_ref()? else { return None };
        let tools = mentioned(emit, prose)?;
        Some(quote_spanned! {Span::mixed_site()=>
            const _: fn() = || {
                use self::tool::{#(#tools),*};
                let _ = ::core::format_args!(#literal);
            };
        })
    });
    bodies.collect()
}

/// The tools that a body mentions. `None` where there is nothing to say: no mention, an unknown one (an error of its
/// own), or a name that a format string cannot hold.
fn mentioned<'a>(emit: &Emit<'a>, prose: &Prose) -> Option<Vec<&'a Ident>> {
    let mut idents: Vec<&Ident> = Vec::new();
    for mention in prose.mentions() {
        let tool = emit.tools.get(*emit.tool_index.get(mention.tool.as_str())?)?;
        if tool.ident.ident != tool.ident.text {
            return None;
        }
        if !idents.contains(&&tool.ident.ident) {
            idents.push(&tool.ident.ident);
        }
    }
    (!idents.is_empty()).then_some(idents)
}
