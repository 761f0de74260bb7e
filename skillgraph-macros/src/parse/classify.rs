//! `classify: (keyword | host) [{ margin: 0.15, menu: 3, floor: 0.1 }];`

use proc_macro2::{Ident, Span};
use skillgraph_core::decl::ScorerKind;
use skillgraph_core::score::ScorePolicy;
use skillgraph_core::suggest::{closest, listed};
use skillgraph_core::{Code, Finding};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{LitFloat, LitInt, Token, token};

use super::{end, recover};
use crate::ast::Classify;
use crate::findings::Findings;

const SCORERS: [(&str, ScorerKind); 2] = [("keyword", ScorerKind::Keyword), ("host", ScorerKind::Host)];
const FIELDS: [&str; 3] = ["margin", "menu", "floor"];

pub(super) fn classify(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Classify> {
    let names = || SCORERS.map(|(name, _)| name);
    let Some(word) = recover::any_word(input) else {
        return Err(input.error(format!("expected who scores messages: {}", listed(names()))));
    };
    input.call(Ident::parse_any)?;
    let scorer = SCORERS.iter().find(|(name, _)| word == name).map(|(_, scorer)| *scorer);
    if scorer.is_none() {
        let finding = Finding::new(Code::Syntax, word.span(), format!("`{word}` is not a scorer"));
        findings.push(match closest(&word.to_string(), names()) {
            Some(near) => finding.help(format!("a scorer with a similar name exists: `{near}`")),
            None => finding.help("`keyword` scores by shared words, `host` asks the agent's own scorer"),
        });
    }
    let mut classify =
        Classify { span: word.span(), scorer: scorer.unwrap_or(ScorerKind::Keyword), policy: ScorePolicy::DEFAULT };
    if !input.peek(token::Brace) {
        end::<Token![;]>(input)?;
        return Ok(classify);
    }
    let content;
    syn::braced!(content in input);
    recover::fields(&content, findings, |input, findings| field(input, &mut classify.policy, findings));
    // After a block the `;` may be left out.
    input.parse::<Option<Token![;]>>()?;
    Ok(classify)
}

fn field(input: ParseStream<'_>, policy: &mut ScorePolicy, findings: &mut Findings) -> syn::Result<()> {
    let Some(word) = recover::any_word(input) else {
        return Err(input.error(format!("expected a field: {}", listed(FIELDS))));
    };
    let name = word.to_string();
    if !FIELDS.contains(&name.as_str()) {
        let finding = Finding::new(Code::Syntax, word.span(), format!("`classify` has no field `{name}`"));
        findings.push(finding.help(format!("its fields are {}", listed(FIELDS))));
    }
    input.call(Ident::parse_any)?;
    input.parse::<Token![:]>()?;
    let (value, span) = number(input)?;
    let refuse = |what: &str| Err(syn::Error::new(span, what));
    match name.as_str() {
        "margin" if !(0.0..=1.0).contains(&value) => return refuse("a margin lies between 0 and 1"),
        "margin" => policy.margin = value,
        "menu" if value < 2.0 || value.fract() != 0.0 => return refuse("a menu names at least 2 skills"),
        "menu" => policy.menu = value as usize,
        "floor" => policy.floor = Some(value),
        _ => {}
    }
    Ok(())
}

fn number(input: ParseStream<'_>) -> syn::Result<(f64, Span)> {
    let sign = if input.parse::<Option<Token![-]>>()?.is_some() { -1.0 } else { 1.0 };
    if input.peek(LitInt) {
        let literal: LitInt = input.parse()?;
        return Ok((sign * f64::from(literal.base10_parse::<u32>()?), literal.span()));
    }
    if !input.peek(LitFloat) {
        return Err(input.error("expected a number"));
    }
    let literal: LitFloat = input.parse()?;
    Ok((sign * literal.base10_parse::<f64>()?, literal.span()))
}
