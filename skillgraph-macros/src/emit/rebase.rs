//! The author's paths, seen from two modules further in.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};

/// Rewrites `self::…` and `super::…` so that they mean what they meant where the macro is called.
pub(super) fn rebase(tokens: TokenStream) -> TokenStream {
    let mut rebased = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    let mut in_path = false;
    while let Some(token) = tokens.next() {
        let begins = !in_path && tokens.peek().is_some_and(is_colon);
        in_path = is_colon(&token);
        match token {
            TokenTree::Ident(ident) if begins && ident == "self" => rebased.extend(up(&ident, 2)),
            TokenTree::Ident(ident) if begins && ident == "super" => rebased.extend(up(&ident, 3)),
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), rebase(group.stream()));
                inner.set_span(group.span());
                rebased.push(inner.into());
            }
            other => rebased.push(other),
        }
    }
    rebased.into_iter().collect()
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':')
}

/// `super::super…`, all at one place.
fn up(at: &Ident, levels: usize) -> Vec<TokenTree> {
    let span = at.span();
    let path = (1..levels).flat_map(|_| quote::quote_spanned!(span=> super::));
    path.chain(quote::quote_spanned!(span=> super)).collect()
}

#[cfg(test)]
mod tests {
    use super::rebase;

    fn rebased(source: &str) -> String {
        rebase(source.parse().expect("tokens")).to_string().replace(' ', "")
    }

    #[test]
    fn paths_keep_their_meaning() {
        assert_eq!(rebased("orders::LookupOrder"), "orders::LookupOrder");
        assert_eq!(rebased("self::orders::A<super::B>"), "super::super::orders::A<super::super::super::B>");
        assert_eq!(rebased("super::super::A"), "super::super::super::super::A");
        assert_eq!(rebased("{ self::f(out) }"), "{super::super::f(out)}");
        assert_eq!(rebased("out.self_"), "out.self_");
    }
}
