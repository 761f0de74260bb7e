//! `governor { ping_pong: 4, refusals: 3, repeats: 3, then: stop | warn | escalate("model") }`

use proc_macro2::{Ident, Span};
use skillgraph_core::decl::GovernorLimits;
use skillgraph_core::suggest::listed;
use syn::ext::IdentExt;
use syn::parse::ParseStream;

use super::{field, recover};
use crate::ast::{Governor, Then};
use crate::findings::Findings;

const FIELDS: [&str; 4] = ["ping_pong", "refusals", "repeats", "then"];
/// What a limit of 0 would mean.
const NOT_COUNTED: &str = "leave the governor out where it should not count";
const ACTIONS: [&str; 3] = ["stop", "warn", "escalate"];

pub(super) fn governor(input: ParseStream<'_>, span: Span, findings: &mut Findings) -> syn::Result<Governor> {
    let mut governor = Governor { span, limits: GovernorLimits::DEFAULT, then: Then::Stop };
    let content;
    syn::braced!(content in input);
    recover::fields(&content, findings, |input, findings| governor_field(input, &mut governor, findings));
    Ok(governor)
}

fn governor_field(input: ParseStream<'_>, governor: &mut Governor, findings: &mut Findings) -> syn::Result<()> {
    let Some(name) = field::name(input, "a governor", &FIELDS, findings)? else { return Ok(()) };
    match name.as_str() {
        "ping_pong" => governor.limits.ping_pong = field::count(input, NOT_COUNTED)?,
        "refusals" => governor.limits.refusals = field::count(input, NOT_COUNTED)?,
        "repeats" => governor.limits.repeats = field::count(input, NOT_COUNTED)?,
        _ => governor.then = then(input)?,
    }
    Ok(())
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
