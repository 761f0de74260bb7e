//! `where path operator value && …`

use proc_macro2::Span;
use skillgraph_core::decl::{GuardOperator, Literal, Number};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Lit, LitBool, Token, token};

use super::{at_word, name, recover, take_word};
use crate::ast::Term;
use crate::findings::Findings;

/// One term, or several with `&&` between them.
pub(super) fn guard(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Vec<Term>> {
    let mut terms = vec![term(input, findings)?];
    loop {
        if input.peek(Token![||]) {
            return Err(input.error("a guard has no `||`: write one edge for each case, or a closure, `when |out| …`"));
        }
        if at_word(input, "when") {
            return Err(input.error("an edge has `where` or `when`, not both: say all of it in the closure"));
        }
        if !input.peek(Token![&&]) {
            return Ok(terms);
        }
        input.parse::<Token![&&]>()?;
        terms.push(term(input, findings)?);
    }
}

fn term(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Term> {
    let mut path = vec![name(input, "a field of what the tool returns")?];
    while input.peek(Token![.]) {
        input.parse::<Token![.]>()?;
        path.push(name(input, "a field, as in `order.total`")?);
    }
    let operator = operator(input)?;
    if operator.takes_list() {
        let list = recover::list(input, findings, |input, _| literal(input).map(|(value, _)| value))?;
        if list.is_unread() {
            return Err(syn::Error::new(list.span, "expected at least one number, text, `true` or `false`"));
        }
        return Ok(Term { path, operator, values: list.elements, values_span: list.span });
    }
    let (value, values_span) = literal(input)?;
    Ok(Term { path, operator, values: vec![value], values_span })
}

fn operator(input: ParseStream<'_>) -> syn::Result<GuardOperator> {
    if take_word(input, "in")?.is_some() {
        return Ok(GuardOperator::In);
    }
    if take_word(input, "not")?.is_some() {
        return match take_word(input, "in")? {
            Some(_) => Ok(GuardOperator::NotIn),
            None => Err(input.error("expected `in` after `not`, as in `state not in [\"open\", \"late\"]`")),
        };
    }
    if input.peek(Token![==]) {
        input.parse::<Token![==]>().map(|_| GuardOperator::Equal)
    } else if input.peek(Token![!=]) {
        input.parse::<Token![!=]>().map(|_| GuardOperator::NotEqual)
    } else if input.peek(Token![<=]) {
        input.parse::<Token![<=]>().map(|_| GuardOperator::LessOrEqual)
    } else if input.peek(Token![>=]) {
        input.parse::<Token![>=]>().map(|_| GuardOperator::GreaterOrEqual)
    } else if input.peek(Token![<]) {
        input.parse::<Token![<]>().map(|_| GuardOperator::Less)
    } else if input.peek(Token![>]) {
        input.parse::<Token![>]>().map(|_| GuardOperator::Greater)
    } else if input.peek(Token![=]) {
        Err(input.error("expected `==`: a guard compares"))
    } else {
        Err(input.error("expected a comparison: `==`, `!=`, `<`, `<=`, `>`, `>=`, `in`, or `not in`"))
    }
}

/// A number, a text, `true` or `false`.
fn literal(input: ParseStream<'_>) -> syn::Result<(Literal, Span)> {
    let minus = input.parse::<Option<Token![-]>>()?;
    if input.peek(LitBool) && minus.is_none() {
        let literal: LitBool = input.parse()?;
        return Ok((Literal::Bool(literal.value), literal.span));
    }
    if input.peek(syn::Ident::peek_any) || input.peek(token::Bracket) {
        return Err(
            input.error("expected a number, a text, `true` or `false`: a guard compares with what is known now")
        );
    }
    if !input.peek(Lit) {
        return Err(input.error("expected a number, a text, `true` or `false`"));
    }
    let literal: Lit = input.parse()?;
    let span = literal.span();
    let refuse = |what: &str| Err(syn::Error::new(span, what));
    let number = match &literal {
        Lit::Str(text) if minus.is_none() => return Ok((Literal::Text(text.value()), span)),
        Lit::Int(number) if !number.suffix().is_empty() => return refuse("a number in a guard has no suffix"),
        Lit::Float(number) if !number.suffix().is_empty() => return refuse("a number in a guard has no suffix"),
        Lit::Int(number) => {
            number.base10_parse::<i64>().map(Number::Whole).or_else(|_| number.base10_parse().map(Number::Large))
        }
        Lit::Float(number) => number.base10_parse::<f64>().map(Number::Float),
        _ => return refuse("expected a number, a text, `true` or `false`"),
    };
    let number = match (number, minus) {
        (Ok(Number::Float(value)), _) if !value.is_finite() => return refuse("this number is too large"),
        (Ok(number), None) => number,
        (Ok(Number::Float(value)), Some(_)) => Number::Float(-value),
        (Ok(Number::Whole(value)), Some(_)) => Number::Whole(-value),
        (Ok(Number::Large(value)), Some(_)) => Number::whole(-i128::from(value)),
        (Err(_), _) => return refuse("this number is too large"),
    };
    Ok((Literal::Number(number), span))
}
