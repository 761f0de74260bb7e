//! `governor { ping_pong: 4, refusals: 3, repeats: 3, then: stop | warn | escalate("model") }`

use proc_macro2::{Ident, Span};
use skillgraph_core::decl::GovernorLimits;
use skillgraph_core::suggest::{closest, listed};
use skillgraph_core::{Code, Finding};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{LitInt, Token};

use super::recover;
use crate::ast::{Governor, Then};
use crate::findings::Findings;

const FIELDS: [&str; 4] = ["ping_pong", "refusals", "repeats", "then"];
const ACTIONS: [&str; 3] = ["stop", "warn", "escalate"];

pub(super) fn governor(input: ParseStream<'_>, span: Span, findings: &mut Findings) -> syn::Result<Governor> {
    let mut governor = Governor { span, limits: GovernorLimits::DEFAULT, then: Then::Stop };
    let content;
    syn::braced!(content in input);
    recover::fields(&content, findings, |input, findings| field(input, &mut governor, findings));
    Ok(governor)
}

fn field(input: ParseStream<'_>, governor: &mut Governor, findings: &mut Findings) -> syn::Result<()> {
    let Some(word) = recover::any_word(input) else {
        return Err(input.error(format!("expected a field: {}", listed(FIELDS))));
    };
    let mut name = word.to_string();
    if !FIELDS.contains(&name.as_str()) {
        let finding = Finding::new(Code::Syntax, word.span(), format!("a governor has no field `{name}`"));
        let Some(near) = closest(&name, FIELDS) else {
            findings.push(finding.help(format!("its fields are {}", listed(FIELDS))));
            recover::skip_to_comma(input);
            return Ok(());
        };
        findings.push(finding.help(format!("a field with a similar name exists: `{near}`")));
        name = near.to_owned();
    }
    input.call(Ident::parse_any)?;
    input.parse::<Token![:]>()?;
    match name.as_str() {
        "ping_pong" => governor.limits.ping_pong = count(input)?,
        "refusals" => governor.limits.refusals = count(input)?,
        "repeats" => governor.limits.repeats = count(input)?,
        _ => governor.then = then(input)?,
    }
    Ok(())
}

fn count(input: ParseStream<'_>) -> syn::Result<u32> {
    if !input.peek(LitInt) {
        return Err(input.error("expected a whole number"));
    }
    let literal: LitInt = input.parse()?;
    match literal.base10_parse() {
        Ok(0) => Err(syn::Error::new(
            literal.span(),
            "expected at least 1: leave the governor out where it should not count",
        )),
        count => count,
    }
}

fn then(input: ParseStream<'_>) -> syn::Result<Then> {
    let expected = || format!("expected what is done then: {}", listed(ACTIONS));
    let Some(word) = recover::any_word(input) else { return Err(input.error(expected())) };
    let then = match word.to_string().as_str() {
        "stop" => Then::Stop,
        "warn" => Then::Warn,
        "escalate" => {
            input.call(Ident::parse_any)?;
            let content;
            syn::parenthesized!(content in input);
            let model = super::text(&content, "the name of a model")?;
            return if content.is_empty() {
                Ok(Then::Escalate(model))
            } else {
                Err(content.error("expected one name"))
            };
        }
        _ => return Err(input.error(expected())),
    };
    input.call(Ident::parse_any)?;
    Ok(then)
}
