//! Who speaks: the framework's words carry a mark, and no text from outside can carry it.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use crate::text::is_ignored;

/// How the framework's own words begin, in messages and behind results, so that a model can tell who speaks.
pub(super) const FRAMEWORK: &str = "[skillgraph] ";

/// A text from outside in which nothing looks like the framework's mark: its bracket is a round one, however the mark is written.
pub(super) fn without_mark(text: &str) -> Cow<'_, str> {
    let is_mark = |(at, c): (usize, char)| {
        matches!(c, '[' | '［' | '﹇') && text.get(at + c.len_utf8()..).is_some_and(names_framework)
    };
    if !text.char_indices().any(is_mark) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.char_indices().map(|(at, c)| if is_mark((at, c)) { '(' } else { c }).collect())
}

/// Whether a text begins with the framework's name as somebody reads it: in any case and width, whatever is not seen between.
fn names_framework(text: &str) -> bool {
    let seen = text.chars().filter(|c| !c.is_whitespace() && !is_ignored(*c));
    let mut folded = seen.flat_map(|c| std::iter::once(c).nfkc().flat_map(char::to_lowercase));
    "skillgraph".chars().all(|expected| folded.next() == Some(expected))
}
