//! `{tool}` in a body as the compiler and editors see it: an inline format argument, so that go-to-definition and
//! rename work inside the string.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use skillgraph_core::decl::{Body, Prose};

use super::Emit;
use crate::ast;

/// One function for all bodies: one for each would take the compiler longer.
pub(super) fn mentions(emit: &Emit<'_>) -> TokenStream {
    let bodies = emit.skills.iter().filter_map(|(skill, at)| {
        let ast::Body::Inline(literal) = skill.body.as_ref()? else { return None };
        let Body::Inline { prose: Ok(prose), .. } = emit.decl.skills.get(*at)?.body.as_ref()? else { return None };
        can_be_format_string(emit, prose).then_some(literal)
    });
    let bodies: Vec<_> = bodies.collect();
    if bodies.is_empty() {
        return TokenStream::new();
    }
    quote_spanned! {Span::mixed_site()=>
        const _: fn() = || {
            use self::tool::*;
            #(let _ = ::core::format_args!(#bodies);)*
        };
    }
}

/// Whether a body has mentions and a format string can hold them: not where one is unknown (an error of its own), or has
/// a name that is a keyword.
fn can_be_format_string(emit: &Emit<'_>, prose: &Prose) -> bool {
    let mut mentions = prose.mentions().peekable();
    let plain = |name: &str| {
        let tool = emit.tool_index.get(name).and_then(|at| emit.tools.get(*at));
        tool.is_some_and(|tool| tool.ident.ident == name)
    };
    mentions.peek().is_some() && mentions.all(|mention| plain(&mention.tool))
}
