//! `tree { branch }`, with `branch := NAME | if condition { branch } else (if … | { branch })`

use syn::parse::ParseStream;
use syn::{Token, token};

use super::{entry, name, recover, take_word};
use crate::ast::{Branch, Fork, Tree};
use crate::findings::Findings;

pub(super) fn tree(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Tree> {
    let span = input.span();
    Ok(Tree { span, root: block(input, findings)? })
}

/// `{ branch }`
fn block(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Branch> {
    if !input.peek(token::Brace) {
        return Err(input.error("expected `{` and a skill of this graph, or `if …`"));
    }
    let content;
    syn::braced!(content in input);
    let branch = branch(&content, findings);
    let rest = if content.is_empty() {
        Ok(())
    } else {
        Err(content.error("expected one skill, or one `if … { … } else { … }`"))
    };
    recover::skip_all(&content);
    let branch = branch?;
    rest?;
    Ok(branch)
}

fn branch(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Branch> {
    let Some(at) = take_word(input, "if")? else {
        return name(input, "a skill of this graph, or `if …`").map(Branch::Leaf);
    };
    let condition = entry::condition(input, findings)?;
    let then = block(input, findings)?;
    let otherwise = match input.peek(Token![else]) {
        false => None,
        true => {
            input.parse::<Token![else]>()?;
            let chained = super::at_word(input, "if");
            Some(if chained { branch(input, findings)? } else { block(input, findings)? })
        }
    };
    Ok(Branch::Fork(Box::new(Fork { span: at.span(), condition, then, otherwise })))
}
