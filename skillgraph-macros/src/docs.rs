//! Doc comments as text: descriptions for the model.

use proc_macro2::Span;
use skillgraph_core::decl::Word;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta};

/// The text of doc comments, on one line.
pub(crate) fn doc_text(docs: &[Attribute]) -> Option<Word<Span>> {
    let lines: Vec<&LitStr> = docs.iter().filter_map(doc_line).collect();
    let at = lines.first()?.span();
    let text = lines.iter().map(|line| line.value().trim().to_owned()).filter(|line| !line.is_empty());
    Some(Word::new(text.collect::<Vec<_>>().join(" "), at))
}

fn doc_line(attribute: &Attribute) -> Option<&LitStr> {
    match &attribute.meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) => Some(line),
            _ => None,
        },
        _ => None,
    }
}
