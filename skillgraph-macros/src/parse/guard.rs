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
    let mut length = None;
    while input.peek(Token![.]) {
        input.parse::<Token![.]>()?;
        let part = name(input, "a field, as in `order.total`")?;
        if input.peek(token::Paren) {
            if part.text != "len" {
                return Err(syn::Error::new(part.span(), "a guard reads fields, and of a list its `.len()`"));
            }
            let nothing;
            syn::parenthesized!(nothing in input);
            if !nothing.is_empty() {
                return Err(nothing.error("expected nothing between these parentheses"));
            }
            length = Some(part.ident);
            break;
        }
        path.push(part);
    }
    let operator = operator(input)?;
    let mut term = Term { path, length, operator, values: Vec::new(), consts: Vec::new(), values_span: input.span() };
    let values = match operator.takes_list() {
        true => {
            let list = recover::list(input, findings, |input, _| value(input).map(|(value, _)| value))?;
            if list.is_unread() {
                return Err(syn::Error::new(list.span, "expected at least one number, text, `true`, `false` or const"));
            }
            term.values_span = list.span;
            list.elements
        }
        false => {
            let (value, span) = value(input)?;
            term.values_span = span;
            vec![value]
        }
    };
    for value in values {
        match value {
            Value::Literal(literal) => term.values.push(literal),
            Value::Const(path) => term.consts.push(path),
        }
    }
    Ok(term)
}

/// What a term compares with.
enum Value {
    Literal(Literal),
    Const(syn::Path),
}

/// A literal, or the path of a const.
fn value(input: ParseStream<'_>) -> syn::Result<(Value, Span)> {
    let is_path = input.peek(syn::Ident::peek_any) && !input.peek(LitBool);
    if is_path || input.peek(Token![::]) {
        let path = syn::Path::parse_mod_style(input)?;
        let span = path.segments.last().map_or_else(Span::call_site, |segment| segment.ident.span());
        if input.peek(token::Paren) || input.peek(Token![!]) {
            return Err(syn::Error::new(
                span,
                "a guard compares with a const, and calls nothing: give the value a name",
            ));
        }
        return Ok((Value::Const(path), span));
    }
    literal(input).map(|(literal, span)| (Value::Literal(literal), span))
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
