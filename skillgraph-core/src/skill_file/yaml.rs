//! The front matter as a tree of texts, each with its place: the only module that knows the YAML parser.
//!
//! YAML 1.2 decides what a value says (block scalars, quoting, comments). Anchors and aliases, tags and further documents have
//! no place in front matter and are refused, so that a small file cannot mean a large one.

use std::ops::Range;

use granit_parser::{Event, Options, Parser, ScalarStyle};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) at: Range<usize>,
    pub(super) value: Value,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// Nothing was written, or `null`.
    Null,
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

/// A text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scalar {
    pub(super) text: String,
    /// Written without quotes, on the line of its key.
    pub(super) plain: bool,
    /// Without quotes it is a number, or `true` or `false`.
    pub(super) not_text: bool,
}

/// Why it is no YAML, or none for here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct YamlError {
    pub(super) at: Range<usize>,
    pub(super) reason: String,
}

impl Node {
    /// What it is, in a sentence.
    pub(super) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Scalar(scalar) if scalar.not_text => "a number or a truth value",
            Value::Scalar(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

/// Reads one document; none where there is nothing but comments. Places count from `offset`.
pub(super) fn parse(text: &str, offset: usize) -> Result<Option<Node>, YamlError> {
    let mut reader = Reader { events: Parser::new_from_str_with_options(text, options()), offset, length: text.len() };
    let mut root = None;
    loop {
        let (event, at) = reader.next()?;
        match event {
            Event::StreamEnd => return Ok(root),
            Event::StreamStart | Event::DocumentEnd => {}
            Event::DocumentStart(..) if root.is_none() => {}
            Event::DocumentStart(..) => return Err(YamlError { at, reason: "a second YAML document".to_owned() }),
            event => root = Some(reader.node(event, at)?),
        }
    }
}

fn options() -> Options {
    let mut options = Options::default();
    options.emit_comments = false;
    options
}

struct Reader<'a> {
    events: Parser<'a, granit_parser::StrInput<'a>>,
    offset: usize,
    length: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Range<usize>), YamlError> {
        let end = self.offset + self.length;
        match self.events.next() {
            None => Ok((Event::StreamEnd, end..end)),
            Some(Ok((event, span))) => {
                let range = span.byte_range().unwrap_or(self.length..self.length);
                Ok((event, range.start + self.offset..range.end + self.offset))
            }
            Some(Err(error)) => {
                let at = error.marker().byte_offset().unwrap_or(self.length) + self.offset;
                Err(YamlError { at: at..at, reason: error.info() })
            }
        }
    }

    fn node(&mut self, event: Event<'a>, at: Range<usize>) -> Result<Node, YamlError> {
        let refused = |what: &str, at: &Range<usize>| Err(YamlError { at: at.clone(), reason: what.to_owned() });
        match event {
            Event::Scalar(_, _, anchor, _) | Event::SequenceStart(_, anchor, _) | Event::MappingStart(_, anchor, _)
                if anchor != 0 =>
            {
                refused("an anchor (`&name`) has no place in front matter", &at)
            }
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, _, Some(_))
            | Event::MappingStart(_, _, Some(_)) => refused("a tag (`!name`) has no place in front matter", &at),
            Event::Scalar(text, style, ..) => Ok(Node { at, value: scalar(text.into_owned(), style) }),
            Event::SequenceStart(..) => {
                let mut list = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, end) => {
                            return Ok(Node { at: around(at, list.first(), end), value: Value::List(list) });
                        }
                        (event, at) => list.push(self.node(event, at)?),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut pairs: Vec<(Node, Node)> = Vec::new();
                loop {
                    match self.next()? {
                        (Event::MappingEnd, end) => {
                            let first = pairs.first().map(|(key, _)| key);
                            return Ok(Node { at: around(at, first, end), value: Value::Map(pairs) });
                        }
                        (event, at) => {
                            let key = self.node(event, at)?;
                            let (event, at) = self.next()?;
                            pairs.push((key, self.node(event, at)?));
                        }
                    }
                }
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                refused("an alias (`*name`) has no place in front matter", &at)
            }
            _ => refused("front matter is keys and values", &at),
        }
    }
}

/// The place of a collection: its bracket, or its first element.
fn around(at: Range<usize>, first: Option<&Node>, end: Range<usize>) -> Range<usize> {
    if at.is_empty() { first.map_or(at, |first| first.at.clone()) } else { at.start..end.end }
}

fn scalar(text: String, style: ScalarStyle) -> Value {
    let plain = style == ScalarStyle::Plain;
    if plain && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL") {
        return Value::Null;
    }
    let not_text = plain && is_number_or_truth(&text);
    // A block scalar that keeps its last line break says nothing with it.
    let text = if plain { text } else { text.trim_end_matches('\n').to_owned() };
    Value::Scalar(Scalar { text, plain, not_text })
}

/// As the core schema of YAML 1.2 reads a plain scalar: a number is all of it.
fn is_number_or_truth(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_radix = |prefix: &str, digits: fn(&char) -> bool| {
        text.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| digits(&c)))
    };
    // `parse` also takes words such as `inf`.
    let is_decimal = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
        && unsigned.parse::<f64>().is_ok();
    is_decimal
        || is_radix("0x", char::is_ascii_hexdigit)
        || is_radix("0o", |c| matches!(c, '0'..='7'))
        || matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE")
        || matches!(unsigned, ".inf" | ".Inf" | ".INF")
        || matches!(text, ".nan" | ".NaN" | ".NAN")
}
