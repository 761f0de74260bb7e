//! Where to go on after a mistake.

use proc_macro2::{Delimiter, Ident, Span, TokenTree};
use syn::buffer::Cursor;
use syn::parse::ParseStream;
use syn::{LitStr, Token, token};

use super::{at_word, end};
use crate::findings::Findings;

/// Words that begin an item, and what must follow them for it to be one.
const ITEMS: [(&str, Follows); 12] = [
    ("tools", Follows::Brace),
    ("tree", Follows::Brace),
    ("baseline", Follows::Colon),
    ("skill", Follows::Ident),
    ("skills", Follows::Ident),
    ("entry", Follows::Ident),
    ("route", Follows::Ident),
    ("never_routes", Follows::Colon),
    ("classify", Follows::Colon),
    ("require", Follows::Ident),
    ("governor", Follows::Brace),
    ("catalog", Follows::Brace),
];

#[derive(Clone, Copy)]
enum Follows {
    Brace,
    Colon,
    Ident,
}

/// Items to the end of the input; a malformed one is reported, and what is left of it skipped.
pub(super) fn items(
    input: ParseStream<'_>,
    findings: &mut Findings,
    mut item: impl FnMut(ParseStream<'_>, &mut Findings) -> syn::Result<()>,
) {
    while !input.is_empty() {
        let before = input.cursor();
        if let Err(error) = item(input, findings) {
            findings.push_syntax(error);
            skip_item(input);
        }
        ensure_progress(input, before);
    }
}

/// Fields to the end of the input, a comma between two; a malformed one is reported, and what is left of it skipped. Says
/// whether all could be read.
pub(super) fn fields(
    input: ParseStream<'_>,
    findings: &mut Findings,
    mut field: impl FnMut(ParseStream<'_>, &mut Findings) -> syn::Result<()>,
) -> bool {
    let mut all_read = true;
    while !input.is_empty() {
        let before = input.cursor();
        let result =
            field(input, findings).and_then(|()| if input.is_empty() { Ok(()) } else { end::<Token![,]>(input) });
        if let Err(error) = result {
            findings.push_syntax(error);
            all_read = false;
            skip_field(input);
        }
        ensure_progress(input, before);
    }
    all_read
}

/// Skips a token where nothing was taken: whatever stands there, parsing ends.
fn ensure_progress(input: ParseStream<'_>, before: Cursor<'_>) {
    if input.cursor() == before && !input.is_empty() {
        skip_one(input);
    }
}

/// Skips what is left of a malformed item.
pub(super) fn skip_item(input: ParseStream<'_>) {
    while !input.is_empty() && !at_item(input) {
        let ends = input.peek(Token![;]);
        skip_one(input);
        if ends {
            break;
        }
    }
}

/// Skips what is left of a malformed field: to the next `name:`, past a comma.
fn skip_field(input: ParseStream<'_>) {
    while !input.is_empty() && !at_field(input) {
        skip_one(input);
    }
}

/// Skips what belongs to a field that is not understood: up to its comma.
pub(super) fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        skip_one(input);
    }
}

/// Skips everything.
pub(super) fn skip_all(input: ParseStream<'_>) {
    while !input.is_empty() {
        skip_one(input);
    }
}

/// Whether an item begins here.
fn at_item(input: ParseStream<'_>) -> bool {
    if input.peek(Token![#]) && input.peek2(token::Bracket) {
        return true;
    }
    ITEMS.iter().any(|(word, follows)| {
        at_word(input, word)
            && match follows {
                Follows::Brace => input.peek2(token::Brace),
                Follows::Colon => input.peek2(Token![:]),
                Follows::Ident => input.peek2(syn::Ident),
            }
    })
}

/// Whether a field begins here.
fn at_field(input: ParseStream<'_>) -> bool {
    (input.peek(syn::Ident) && input.peek2(Token![:]) && !input.peek2(Token![::]))
        || (input.peek(Token![#]) && input.peek2(token::Bracket))
}

/// Whether the expression of a closure ends here.
pub(super) fn at_closure_end(input: ParseStream<'_>) -> bool {
    input.is_empty()
        || input.peek(Token![;])
        || input.peek(Token![,])
        || (input.peek(Token![as]) && input.peek2(LitStr))
        || (at_item(input) && !input.peek(Token![#]))
        || at_entry_block(input)
        || at_branch(input)
}

/// Whether the block of a branch begins here: what it leads to stands alone in it, or an `if` does, and it is not all there
/// is of the expression.
fn at_branch(input: ParseStream<'_>) -> bool {
    let Some((content, .., after)) = input.cursor().group(Delimiter::Brace) else { return false };
    let leads_on = after.eof() || after.ident().is_some_and(|(word, _)| word == "else");
    leads_on && content.ident().is_some_and(|(word, rest)| rest.eof() || word == "if")
}

/// Whether the block of an entry begins here.
fn at_entry_block(input: ParseStream<'_>) -> bool {
    let Some((content, ..)) = input.cursor().group(Delimiter::Brace) else { return false };
    content.ident().is_some_and(|(word, rest)| {
        (word == "examples" || word == "picked") && rest.punct().is_some_and(|(c, _)| c.as_char() == ':')
    })
}

/// What was in square brackets.
pub(super) struct Listed<T> {
    pub(super) span: Span,
    pub(super) elements: Vec<T>,
    /// Some elements could not be read.
    pub(super) broken: bool,
}

impl<T> Listed<T> {
    /// Whether it only looks empty.
    pub(super) fn is_unread(&self) -> bool {
        self.broken && self.elements.is_empty()
    }
}

/// The elements of a bracketed list; a malformed one is reported and skipped.
pub(super) fn list<T>(
    input: ParseStream<'_>,
    findings: &mut Findings,
    mut element: impl FnMut(ParseStream<'_>, &mut Findings) -> syn::Result<T>,
) -> syn::Result<Listed<T>> {
    if !input.peek(token::Bracket) {
        return Err(input.error("expected a list in square brackets"));
    }
    let content;
    let brackets = syn::bracketed!(content in input);
    let (mut elements, mut broken) = (Vec::new(), false);
    while !content.is_empty() {
        match element(&content, findings) {
            Ok(element) => elements.push(element),
            Err(error) => {
                findings.push_syntax(error);
                broken = true;
                skip_element(&content);
                continue;
            }
        }
        if content.is_empty() {
            break;
        }
        if let Err(error) = end::<Token![,]>(&content) {
            findings.push_syntax(error);
            broken = true;
            skip_element(&content);
        }
    }
    Ok(Listed { span: brackets.span.join(), elements, broken })
}

/// Skips to the next list element.
fn skip_element(input: ParseStream<'_>) {
    while !input.is_empty() {
        let ends = input.peek(Token![,]);
        skip_one(input);
        if ends {
            break;
        }
    }
}

/// Takes a word as it stands, for a message about it.
pub(super) fn any_word(input: ParseStream<'_>) -> Option<Ident> {
    input.cursor().ident().map(|(ident, _)| ident)
}

fn skip_one(input: ParseStream<'_>) {
    // Every caller has looked: there is a token, and any token is a token tree.
    let _ = input.parse::<TokenTree>();
}
