//! `where amount > 500`: terms over what a tool returned, as data.
// SPEC 1.4.

use std::cmp::Ordering;
use std::fmt;

use super::Word;

/// One term of a guard. All terms of a guard must hold.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct GuardTerm<S> {
    /// The field of the output, with dots between the parts of a path.
    pub path: Word<S>,
    /// How it is compared.
    pub operator: GuardOperator,
    /// With what: one value, or for `in` and `not in` any number.
    pub values: Vec<Literal>,
    /// Paths of consts that it compares with, too, as they were written. What is behind one is not known before the program
    /// runs: then it is among the values, and this is empty.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub consts: Vec<String>,
    /// Whether they were written as a list.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub listed: bool,
    /// Where the values were written.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub values_at: S,
}

/// How a term compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "turn", derive(serde::Serialize, serde::Deserialize))]
pub enum GuardOperator {
    /// The same value.
    #[cfg_attr(feature = "turn", serde(rename = "=="))]
    Equal,
    /// Another value of the same kind.
    #[cfg_attr(feature = "turn", serde(rename = "!="))]
    NotEqual,
    /// A smaller number.
    #[cfg_attr(feature = "turn", serde(rename = "<"))]
    Less,
    /// A smaller number or the same.
    #[cfg_attr(feature = "turn", serde(rename = "<="))]
    LessOrEqual,
    /// A larger number.
    #[cfg_attr(feature = "turn", serde(rename = ">"))]
    Greater,
    /// A larger number or the same.
    #[cfg_attr(feature = "turn", serde(rename = ">="))]
    GreaterOrEqual,
    /// One of these.
    #[cfg_attr(feature = "turn", serde(rename = "in"))]
    In,
    /// A value of the same kind that is none of these.
    #[cfg_attr(feature = "turn", serde(rename = "not in"))]
    NotIn,
}

/// How the path of a term ends that asks for the length of a list.
pub const LENGTH: &str = "len()";

/// A value that a guard compares with.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "turn", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "turn", serde(untagged))]
pub enum Literal {
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
}

/// What a literal is, and so what it can be compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A text.
    Text,
}

/// A number, compared exactly whatever its form.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "turn", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "turn", serde(untagged))]
pub enum Number {
    /// A whole number.
    Whole(i64),
    /// A whole number too large for that.
    Large(u64),
    /// Any other.
    Float(f64),
}

impl GuardOperator {
    /// Every operator.
    pub const ALL: [GuardOperator; 8] = [
        GuardOperator::Equal,
        GuardOperator::NotEqual,
        GuardOperator::Less,
        GuardOperator::LessOrEqual,
        GuardOperator::Greater,
        GuardOperator::GreaterOrEqual,
        GuardOperator::In,
        GuardOperator::NotIn,
    ];

    /// The operator as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            GuardOperator::Equal => "==",
            GuardOperator::NotEqual => "!=",
            GuardOperator::Less => "<",
            GuardOperator::LessOrEqual => "<=",
            GuardOperator::Greater => ">",
            GuardOperator::GreaterOrEqual => ">=",
            GuardOperator::In => "in",
            GuardOperator::NotIn => "not in",
        }
    }

    /// Whether it asks which of two numbers is larger.
    pub const fn is_order(self) -> bool {
        matches!(
            self,
            GuardOperator::Less | GuardOperator::LessOrEqual | GuardOperator::Greater | GuardOperator::GreaterOrEqual
        )
    }

    /// Whether it takes a list.
    pub const fn takes_list(self) -> bool {
        matches!(self, GuardOperator::In | GuardOperator::NotIn)
    }
}

impl<S> GuardTerm<S> {
    /// Whether all that it compares with is known.
    pub fn is_known(&self) -> bool {
        self.consts.is_empty()
    }

    /// The parts of the path. A last one `len()` asks for the length of a list.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.path.text.split('.')
    }

    /// Whether the value passes. One of another kind than it is compared with never does.
    // SPEC 1.4.
    pub fn holds(&self, value: &Literal) -> bool {
        let mut same_kind = self.values.iter().filter(|literal| literal.kind() == value.kind()).peekable();
        if same_kind.peek().is_none() {
            return false;
        }
        match self.operator {
            GuardOperator::Equal | GuardOperator::In => same_kind.any(|literal| literal == value),
            GuardOperator::NotEqual | GuardOperator::NotIn => same_kind.all(|literal| literal != value),
            GuardOperator::Less => same_kind.all(|bound| value.order(bound) == Some(Ordering::Less)),
            GuardOperator::Greater => same_kind.all(|bound| value.order(bound) == Some(Ordering::Greater)),
            GuardOperator::LessOrEqual => {
                same_kind.all(|bound| matches!(value.order(bound), Some(Ordering::Less | Ordering::Equal)))
            }
            GuardOperator::GreaterOrEqual => {
                same_kind.all(|bound| matches!(value.order(bound), Some(Ordering::Greater | Ordering::Equal)))
            }
        }
    }

    /// Whether it compares with values of that kind.
    pub fn is_about(&self, kind: Kind) -> bool {
        self.values.iter().any(|literal| literal.kind() == kind)
    }
}

/// The term as it is written in a graph.
impl<S> fmt::Display for GuardTerm<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.path.text, self.operator.as_str())?;
        let values: Vec<String> =
            self.values.iter().map(Literal::to_string).chain(self.consts.iter().cloned()).collect();
        match self.operator.takes_list() {
            true => write!(f, "[{}]", values.join(", ")),
            false => f.write_str(&values.join(", ")),
        }
    }
}

impl Literal {
    /// What it is.
    pub fn kind(&self) -> Kind {
        match self {
            Literal::Bool(_) => Kind::Bool,
            Literal::Number(_) => Kind::Number,
            Literal::Text(_) => Kind::Text,
        }
    }

    /// A scalar of JSON; none of null, a list or an object.
    #[cfg(feature = "turn")]
    pub fn of_json(value: &serde_json::Value) -> Option<Self> {
        use serde_json::Value;
        match value {
            Value::Bool(value) => Some(Literal::Bool(*value)),
            Value::Number(number) => Some(Literal::Number(Number::of_json(number))),
            Value::String(text) => Some(Literal::Text(text.clone())),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// How two numbers stand to each other; none for anything else.
    pub fn order(&self, other: &Literal) -> Option<Ordering> {
        match (self, other) {
            (Literal::Number(a), Literal::Number(b)) => a.partial_cmp(b),
            _ => None,
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Bool(value) => write!(f, "{value}"),
            Literal::Number(number) => write!(f, "{number}"),
            Literal::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl Number {
    /// A whole number; one that no 64 bits hold is taken as a float.
    pub fn whole(value: i128) -> Self {
        if let Ok(value) = i64::try_from(value) {
            Number::Whole(value)
        } else if let Ok(value) = u64::try_from(value) {
            Number::Large(value)
        } else {
            Number::Float(value as f64)
        }
    }

    /// A number of JSON.
    #[cfg(feature = "turn")]
    pub fn of_json(number: &serde_json::Number) -> Self {
        match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => Number::Whole(value),
            (None, Some(value)) => Number::Large(value),
            (None, None) => Number::Float(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    /// A number that is larger than this one and smaller than the other, where there is one.
    pub(crate) fn between(self, other: Self) -> Option<Self> {
        let half = |number: Number| match number.exact() {
            Ok(whole) => whole as f64 / 2.0,
            Err(float) => float / 2.0,
        };
        let middle = Number::Float(half(self) + half(other));
        let whole = self.exact().ok().map(|whole| Number::whole(whole + 1));
        [Some(middle), whole].into_iter().flatten().find(|number| self < *number && *number < other)
    }

    fn exact(self) -> Result<i128, f64> {
        match self {
            Number::Whole(value) => Ok(value.into()),
            Number::Large(value) => Ok(value.into()),
            Number::Float(value) => Err(value),
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self.exact(), other.exact()) {
            (Ok(a), Ok(b)) => Some(a.cmp(&b)),
            (Err(a), Err(b)) => a.partial_cmp(&b),
            (Ok(a), Err(b)) => compare_exactly(a, b),
            (Err(a), Ok(b)) => compare_exactly(b, a).map(Ordering::reverse),
        }
    }
}

/// A whole number that 65 bits hold, and a float.
fn compare_exactly(whole: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // Saturates: a float out of range lies beyond every whole number here.
    let below = float.floor() as i128;
    let fraction = if float > float.floor() { Ordering::Less } else { Ordering::Equal };
    Some(whole.cmp(&below).then(fraction))
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Whole(value) => write!(f, "{value}"),
            Number::Large(value) => write!(f, "{value}"),
            // With its point: `1.0` is no `1`.
            Number::Float(value) => write!(f, "{value:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(operator: GuardOperator, values: &[Literal]) -> GuardTerm<()> {
        GuardTerm {
            path: Word::new("x", ()),
            operator,
            values: values.to_vec(),
            consts: Vec::new(),
            listed: operator.takes_list(),
            values_at: (),
        }
    }

    fn number(value: f64) -> Literal {
        Literal::Number(Number::Float(value))
    }

    fn whole(value: i128) -> Literal {
        Literal::Number(Number::whole(value))
    }

    #[test]
    fn numbers_are_compared_exactly() {
        assert_eq!(whole(1), number(1.0));
        assert_eq!(whole(-3).order(&number(-2.5)), Some(Ordering::Less));
        assert_eq!(whole(-2).order(&number(-2.5)), Some(Ordering::Greater));
        assert_eq!(whole((1 << 53) + 1).order(&number((1u64 << 53) as f64)), Some(Ordering::Greater));
        assert_eq!(whole(u64::MAX.into()).order(&number(f64::INFINITY)), Some(Ordering::Less));
        assert_eq!(whole(i64::MIN.into()).order(&number(f64::NEG_INFINITY)), Some(Ordering::Greater));
        assert_eq!(whole(0).order(&number(f64::NAN)), None);
        assert_ne!(number(f64::NAN), number(f64::NAN));
    }

    #[test]
    fn a_value_of_another_kind_never_passes() {
        let text = |text: &str| Literal::Text(text.to_owned());
        for operator in GuardOperator::ALL {
            assert!(!term(operator, &[whole(5)]).holds(&text("5")), "{operator:?}");
            assert!(!term(operator, &[text("a")]).holds(&Literal::Bool(true)), "{operator:?}");
        }
        assert!(term(GuardOperator::NotIn, &[text("a"), text("b")]).holds(&text("c")));
        assert!(!term(GuardOperator::NotIn, &[text("a"), whole(1)]).holds(&whole(1)));
        assert!(term(GuardOperator::In, &[text("a"), whole(1)]).holds(&number(1.0)));
        assert!(!term(GuardOperator::Less, &[text("b")]).holds(&text("a")));
    }

    #[test]
    fn terms_read_as_written() {
        assert_eq!(
            term(GuardOperator::NotIn, &[whole(-1), number(0.5), Literal::Bool(true)]).to_string(),
            "x not in [-1, 0.5, true]"
        );
        assert_eq!(term(GuardOperator::Equal, &[Literal::Text("a \"b\"".into())]).to_string(), r#"x == "a \"b\"""#);
    }
}
