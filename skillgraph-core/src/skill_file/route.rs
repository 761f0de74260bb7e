//! `on tool is status where guard as "label"`: what fires an edge, in the words of the macro's grammar.
// SPEC 1.1.

use super::{Part, refused};
use crate::decl::{GuardOperator, GuardTerm, Literal, Number, Status, StatusSet, Trigger, TriggerTools, Word};
use crate::finding::Finding;
use crate::suggest::{closest, listed};

/// Where the text stands in its file.
pub(super) enum Place {
    /// As it is, from that byte on.
    AsWritten(usize),
    /// In another form, such as quoted with escapes.
    Whole(Part),
}

impl Place {
    fn of(&self, part: Part) -> Part {
        match self {
            Place::AsWritten(start) => start + part.start..start + part.end,
            Place::Whole(whole) => whole.clone(),
        }
    }
}

type Parsed<T> = Result<T, Box<Finding<Part>>>;

/// Reads all of it.
pub(super) fn parse(text: &str, place: &Place) -> Parsed<(Trigger<Part>, Option<Word<Part>>)> {
    let mut parser = Parser { text, at: 0, place };
    let trigger = parser.trigger()?;
    let label = parser.label()?;
    match parser.peek() {
        Token::End => Ok((trigger, label)),
        Token::Word("when") => Err(parser.refuse(
            "a file holds no code",
            "say it with `where`, or write the edge in the graph, with `when |out| …`",
        )),
        _ => Err(parser.refuse("expected nothing more", "an edge is `on tool is status where guard as \"label\"`")),
    }
}

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Number(&'a str),
    /// A text between quotes, with them.
    Quoted(&'a str),
    Sign(&'a str),
    End,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    place: &'a Place,
}

const SIGNS: [&str; 13] = ["&&", "||", "==", "!=", "<=", ">=", "<", ">", "=", "|", "[", "]", ","];

impl<'a> Parser<'a> {
    /// The next piece and where it stands.
    fn look(&self) -> (Token<'a>, Part) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let start = self.at + rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        let taken = |length: usize| rest.get(..length).unwrap_or_default();
        let first = rest.chars().next();
        let token = match first {
            None => Token::End,
            Some('"') => Token::Quoted(taken(quoted_length(rest))),
            Some(c)
                if c.is_ascii_digit()
                    || (c == '-'
                        && rest.get(1..).is_some_and(|after| after.starts_with(|c: char| c.is_ascii_digit()))) =>
            {
                let sign = usize::from(c == '-');
                let digits = rest.get(sign..).unwrap_or_default();
                let length = digits
                    .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_')))
                    .unwrap_or(digits.len());
                Token::Number(taken(sign + length))
            }
            Some(c) if c.is_alphanumeric() || c == '_' => {
                let length =
                    rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))).unwrap_or(rest.len());
                Token::Word(taken(length))
            }
            Some(c) => match SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
                Some(sign) => Token::Sign(sign),
                None => Token::Sign(taken(c.len_utf8())),
            },
        };
        let length = match token {
            Token::Word(text) | Token::Number(text) | Token::Quoted(text) | Token::Sign(text) => text.len(),
            Token::End => 0,
        };
        (token, start..start + length)
    }

    fn peek(&self) -> Token<'a> {
        self.look().0
    }

    fn next(&mut self) -> (Token<'a>, Part) {
        let (token, part) = self.look();
        self.at = part.end;
        (token, self.place.of(part))
    }

    fn take(&mut self, wanted: Token<'_>) -> bool {
        let found = self.peek() == wanted;
        if found {
            self.next();
        }
        found
    }

    /// A refusal at the next piece.
    fn refuse(&self, message: impl Into<String>, help: impl Into<String>) -> Box<Finding<Part>> {
        let (_, part) = self.look();
        let part = if part.is_empty() && self.at > 0 { self.at - 1..self.at } else { part };
        Box::new(refused(self.place.of(part), message).help(help))
    }

    fn trigger(&mut self) -> Parsed<Trigger<Part>> {
        if self.peek() == Token::Word("when") {
            return Err(self.refuse(
                "a file holds no code",
                "say it with `where`, or write the edge in the graph, with `when |out| …`",
            ));
        }
        if !self.take(Token::Word("on")) {
            let help = "write `on` and a tool, as in `on get_invoice is denied`; nothing at all is an edge for the model's own pick";
            return Err(self.refuse("expected `on` and what makes this edge fire", help));
        }
        let tools = self.tools()?;
        let statuses = if self.take(Token::Word("is")) { Some(self.statuses()?) } else { None };
        let guard = if self.take(Token::Word("where")) { self.guard()? } else { Vec::new() };
        Ok(Trigger::Returns { tools, statuses, guard, closure: None })
    }

    fn tools(&mut self) -> Parsed<TriggerTools<Part>> {
        let expected = "name a tool, `any[a, b]`, or `any`";
        match self.next() {
            (Token::Word("any"), at) if self.take(Token::Sign("[")) => {
                let mut list = Vec::new();
                loop {
                    match self.next() {
                        (Token::Word(tool), at) => list.push(Word::new(tool, at)),
                        _ => return Err(self.refuse("expected a tool", expected)),
                    }
                    let more = self.take(Token::Sign(","));
                    if self.take(Token::Sign("]")) {
                        return Ok(TriggerTools::AnyOf { at, list });
                    }
                    if !more {
                        return Err(self.refuse("expected `,` or `]`", expected));
                    }
                }
            }
            (Token::Word("any"), at) => Ok(TriggerTools::Any { at }),
            (Token::Word(tool), at) => Ok(TriggerTools::One(Word::new(tool, at))),
            _ => Err(self.refuse("expected a tool after `on`", expected)),
        }
    }

    fn statuses(&mut self) -> Parsed<StatusSet> {
        let known = || Status::ALL.into_iter().map(Status::as_str);
        let mut set = StatusSet::NONE;
        loop {
            let unread = self.at;
            match self.next() {
                (Token::Word("any"), _) => set = StatusSet::ANY.iter().fold(set, StatusSet::with),
                (Token::Word(word), at) => match Status::from_word(word) {
                    Some(status) => set = set.with(status),
                    None => {
                        let finding = refused(at, format!("`{word}` is not a status"));
                        return Err(Box::new(match closest(word, known()) {
                            Some(near) => finding.help(format!("a status with a similar name exists: `{near}`")),
                            None => finding.help(format!("the statuses are {}, and `any`", listed(known()))),
                        }));
                    }
                },
                _ => {
                    self.at = unread;
                    return Err(self.refuse("expected a status after `is`", "as in `is denied | failure`"));
                }
            }
            if !self.take(Token::Sign("|")) {
                return Ok(set);
            }
        }
    }

    fn guard(&mut self) -> Parsed<Vec<GuardTerm<Part>>> {
        let mut terms = vec![self.term()?];
        loop {
            if self.peek() == Token::Sign("||") {
                return Err(self.refuse("a guard has no `||`", "write one edge for each case"));
            }
            if !self.take(Token::Sign("&&")) {
                return Ok(terms);
            }
            terms.push(self.term()?);
        }
    }

    fn term(&mut self) -> Parsed<GuardTerm<Part>> {
        let (Token::Word(path), at) = self.next() else {
            return Err(self.refuse("expected a field of what the tool returns", "as in `where amount > 500`"));
        };
        let operator = self.operator()?;
        let start = self.look().1.start;
        let values = if operator.takes_list() { self.list()? } else { vec![self.literal()?] };
        let values_at = self.place.of(start..self.at);
        Ok(GuardTerm {
            path: Word::new(path, at),
            operator,
            values,
            consts: Vec::new(),
            listed: operator.takes_list(),
            values_at,
        })
    }

    fn operator(&mut self) -> Parsed<GuardOperator> {
        if self.take(Token::Word("not")) {
            if self.take(Token::Word("in")) {
                return Ok(GuardOperator::NotIn);
            }
            return Err(self.refuse("expected `in` after `not`", "as in `state not in [\"open\", \"late\"]`"));
        }
        let (token, part) = self.look();
        let text = match token {
            Token::Word(word) | Token::Sign(word) => word,
            _ => "",
        };
        match GuardOperator::ALL.into_iter().find(|operator| operator.as_str() == text) {
            Some(operator) => {
                self.at = part.end;
                Ok(operator)
            }
            None if text == "=" => Err(self.refuse("expected `==`", "a guard compares")),
            None => Err(self.refuse(
                "expected a comparison",
                "the comparisons are `==`, `!=`, `<`, `<=`, `>`, `>=`, `in` and `not in`",
            )),
        }
    }

    fn list(&mut self) -> Parsed<Vec<Literal>> {
        let help = "as in `state in [\"open\", \"late\"]`";
        if !self.take(Token::Sign("[")) {
            return Err(self.refuse("expected `[` and values", help));
        }
        let mut values = Vec::new();
        loop {
            values.push(self.literal()?);
            let more = self.take(Token::Sign(","));
            if self.take(Token::Sign("]")) {
                return Ok(values);
            }
            if !more {
                return Err(self.refuse("expected `,` or `]`", help));
            }
        }
    }

    fn literal(&mut self) -> Parsed<Literal> {
        let help = "a guard compares with a number, a text between `\"`, `true` or `false`";
        let (token, part) = self.look();
        let literal = match token {
            Token::Word("true") => Some(Literal::Bool(true)),
            Token::Word("false") => Some(Literal::Bool(false)),
            Token::Number(text) => number(text).map(Literal::Number),
            Token::Quoted(text) => unquoted(text).map(Literal::Text),
            _ => None,
        };
        let Some(literal) = literal else { return Err(self.refuse("expected a value", help)) };
        self.at = part.end;
        Ok(literal)
    }

    fn label(&mut self) -> Parsed<Option<Word<Part>>> {
        if !self.take(Token::Word("as")) {
            return Ok(None);
        }
        match self.look() {
            (Token::Quoted(text), part) => match unquoted(text) {
                Some(text) => {
                    self.at = part.end;
                    Ok(Some(Word::new(text, self.place.of(part))))
                }
                None => Err(self.refuse("this text does not end", "close it with `\"`")),
            },
            _ => Err(self.refuse("expected a label after `as`", "as in `as \"large\"`")),
        }
    }
}

/// How far a text between quotes goes, with them; to the end where it is not closed.
fn quoted_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

/// The text between its quotes; none where it is not closed.
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"').filter(|_| text.len() > 1)?;
    Some(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}

fn number(text: &str) -> Option<Number> {
    let digits = text.replace('_', "");
    let whole = digits.parse::<i64>().map(Number::Whole).or_else(|_| digits.parse::<u64>().map(Number::Large));
    whole.or_else(|_| digits.parse::<f64>().map(Number::Float)).ok().filter(|number| match number {
        Number::Float(value) => value.is_finite(),
        _ => true,
    })
}
