//! `{tool}` mentions in a skill's body: found here, checked by the check-up, written out for the model.
// SPEC 1.3.

use std::ops::Range;

/// A body that could be read: text and mentions in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prose {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Mention(Mention),
}

/// One `{tool}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The identifier between the braces.
    pub tool: String,
    /// The bytes of it in the body's text, without the braces.
    pub range: Range<usize>,
}

/// A brace that neither mentions a tool nor is doubled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MentionError {
    /// The byte at which the brace stands in the body's text.
    pub at: usize,
    /// The brace.
    pub brace: char,
}

impl Prose {
    /// A text that is for the model as it stands.
    pub fn plain(text: impl Into<String>) -> Self {
        Prose { pieces: vec![Piece::Text(text.into())] }
    }

    /// The mentions, in the order of the text.
    pub fn mentions(&self) -> impl Iterator<Item = &Mention> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Mention(mention) => Some(mention),
            Piece::Text(_) => None,
        })
    }

    /// The text for the model: each mention becomes what `name_of` says of its identifier.
    pub fn render<'a>(&'a self, name_of: impl Fn(&'a str) -> &'a str) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text,
                Piece::Mention(mention) => name_of(&mention.tool),
            })
            .collect()
    }
}

/// Reads a body. `{name}` is a mention, `{{` and `}}` are braces; any other brace is an error.
pub fn read_prose(source: &str) -> Result<Prose, MentionError> {
    let (prose, errors) = scan_prose(source);
    errors.into_iter().next().map_or(Ok(prose), Err)
}

/// The same, past every brace that is an error: such a one stands as it is.
pub(crate) fn scan_prose(source: &str) -> (Prose, Vec<MentionError>) {
    let mut errors = Vec::new();
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = source;
    while let Some(found) = rest.find(['{', '}']) {
        let (before, tail) = rest.split_at(found);
        text.push_str(before);
        let at = source.len() - tail.len();
        if let Some(after) = tail.strip_prefix("{{") {
            text.push('{');
            rest = after;
        } else if let Some(after) = tail.strip_prefix("}}") {
            text.push('}');
            rest = after;
        } else if let Some(name) = mention_at(tail) {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
            pieces.push(Piece::Mention(Mention { tool: name.to_owned(), range: at + 1..at + 1 + name.len() }));
            rest = tail.get(name.len() + 2..).unwrap_or_default();
        } else {
            let brace = if tail.starts_with('{') { '{' } else { '}' };
            errors.push(MentionError { at, brace });
            text.push(brace);
            rest = tail.get(1..).unwrap_or_default();
        }
    }
    text.push_str(rest);
    pieces.push(Piece::Text(text));
    (Prose { pieces }, errors)
}

/// The name of `{name}…`, if the text begins so and the name can be an identifier.
fn mention_at(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.split('}').next()?;
    let closed = text.get(1 + name.len()..).is_some_and(|tail| tail.starts_with('}'));
    let mut chars = name.chars();
    let first = chars.next()?;
    let identifier = (first.is_alphabetic() || first == '_') && chars.all(|c| c.is_alphanumeric() || c == '_');
    (closed && identifier).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> (String, Vec<String>) {
        let prose = read_prose(source).expect("readable");
        (prose.render(|name| name), prose.mentions().map(|mention| mention.tool.clone()).collect())
    }

    #[test]
    fn mentions_lose_their_braces_and_doubled_braces_become_one() {
        assert_eq!(
            read("Call {lookup_order} first."),
            ("Call lookup_order first.".into(), vec!["lookup_order".into()])
        );
        assert_eq!(read("send {{\"id\": 1}}"), ("send {\"id\": 1}".into(), vec![]));
        assert_eq!(read("{{{a}}}"), ("{a}".into(), vec!["a".into()]));
        assert_eq!(read(""), (String::new(), vec![]));
    }

    #[test]
    fn ranges_point_into_the_source() {
        let source = "é {{ {a} {bc}";
        let prose = read_prose(source).expect("readable");
        let found: Vec<_> = prose.mentions().map(|mention| &source[mention.range.clone()]).collect();
        assert_eq!(found, ["a", "bc"]);
    }

    #[test]
    fn stray_braces_are_errors_where_they_stand() {
        for (source, at) in [("a { b", 2), ("a } b", 2), ("{}", 0), ("{a b}", 0), ("{a", 0), ("x {1}", 2), ("{a{b}", 0)]
        {
            assert_eq!(read_prose(source).expect_err(source).at, at, "{source}");
        }
    }
}
