//! Guards at run time: what a term read of a tool's output, and what came of it.
// SPEC 1.4.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decl::{GuardTerm, LENGTH, Literal, Number};

/// How much of what was read is kept, in characters.
const READ_LENGTH: usize = 80;

/// What became of one term of a guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermEvidence {
    /// The term, as it is written in the graph.
    pub term: String,
    /// What came of it.
    pub outcome: TermOutcome,
    /// What was read, as JSON, at most 80 characters; nothing where there was nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<String>,
}

/// What came of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TermOutcome {
    /// It holds.
    Passed,
    /// It does not hold.
    Failed,
    /// There is no value, or one of another kind than the term compares with: it does not hold.
    Missing,
}

/// Judges every term; `read` finds what the n-th one asks for.
pub(crate) fn judge<'a>(
    terms: &[GuardTerm<()>],
    read: impl Fn(usize, &GuardTerm<()>) -> Reading<'a>,
) -> Vec<TermEvidence> {
    let judged = terms.iter().enumerate().map(|(at, term)| {
        let reading = read(at, term);
        let value = reading.literal().filter(|value| term.is_about(value.kind()));
        let outcome = match value {
            None => TermOutcome::Missing,
            Some(value) if term.holds(&value) => TermOutcome::Passed,
            Some(_) => TermOutcome::Failed,
        };
        TermEvidence { term: term.to_string(), outcome, read: reading.shown() }
    });
    judged.collect()
}

/// What a term read.
pub(crate) enum Reading<'a> {
    /// A field of a typed output.
    Field(Option<&'a Literal>),
    /// A value of a JSON result.
    Json(Option<&'a Value>),
    /// The length of a list of a JSON result.
    Length(Option<usize>),
}

impl<'a> Reading<'a> {
    /// What stands in a JSON result at the path of the term.
    pub(crate) fn of_json(result: &'a Value, term: &GuardTerm<()>) -> Self {
        let mut segments = term.segments().peekable();
        let mut value = Some(result);
        while let Some(segment) = segments.next() {
            if segment == LENGTH && segments.peek().is_none() {
                return Reading::Length(value.and_then(Value::as_array).map(Vec::len));
            }
            value = value.and_then(|value| value.as_object()?.get(segment));
        }
        Reading::Json(value)
    }

    fn literal(&self) -> Option<Literal> {
        match self {
            Reading::Field(value) => value.cloned(),
            Reading::Json(value) => value.and_then(Literal::of_json),
            Reading::Length(length) => length.map(|length| Literal::Number(Number::whole(length as i128))),
        }
    }

    fn shown(&self) -> Option<String> {
        let text = match self {
            Reading::Field(value) => value.as_ref()?.to_string(),
            Reading::Json(value) => value.filter(|value| !value.is_null())?.to_string(),
            Reading::Length(length) => length.as_ref()?.to_string(),
        };
        let is_long = text.chars().count() > READ_LENGTH;
        Some(if is_long { text.chars().take(READ_LENGTH - 1).chain(['…']).collect() } else { text })
    }
}
