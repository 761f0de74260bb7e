//! Fields by their names, and the numbers in them.

use proc_macro2::{Ident, Span};
use skillgraph_core::suggest::{closest, listed};
use skillgraph_core::{Code, Finding};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{LitInt, Token};

use super::recover;
use crate::ast::Name;
use crate::findings::Findings;

/// The name of a field and the colon behind it; of a name that is nearly one, the one that was meant. None where it is no field:
/// then all of it has been skipped.
pub(super) fn name(
    input: ParseStream<'_>,
    of: &str,
    fields: &[&str],
    findings: &mut Findings,
) -> syn::Result<Option<String>> {
    let all = || listed(fields.iter().copied());
    let Some(word) = recover::any_word(input) else {
        return Err(input.error(format!("expected a field: {}", all())));
    };
    let mut field = word.to_string();
    if !fields.contains(&field.as_str()) {
        let finding = Finding::new(Code::Syntax, word.span(), format!("{of} has no field `{field}`"));
        let Some(near) = closest(&field, fields.iter().copied()) else {
            findings.push(finding.help(format!("its fields are {}", all())));
            recover::skip_to_comma(input);
            return Ok(None);
        };
        findings.push(finding.help(format!("a field with a similar name exists: `{near}`")));
        field = near.to_owned();
    }
    input.call(Ident::parse_any)?;
    input.parse::<Token![:]>()?;
    Ok(Some(field))
}

/// Says so of a field that a skill has already.
pub(super) fn note_twice(seen: &mut Vec<String>, field: &str, at: Span, skill: &Name, findings: &mut Findings) {
    if seen.iter().any(|before| before == field) {
        let message = format!("skill `{}` has `{field}` twice", skill.text);
        findings.push(Finding::new(Code::Syntax, at, message).help("remove one of the two"));
    }
    seen.push(field.to_owned());
}

/// A whole number from 1 up; `of_none` says what 0 would mean.
pub(super) fn count<N>(input: ParseStream<'_>, of_none: &str) -> syn::Result<N>
where
    N: std::str::FromStr + From<bool> + PartialEq,
    N::Err: std::fmt::Display,
{
    if !input.peek(LitInt) {
        return Err(input.error("expected a whole number"));
    }
    let literal: LitInt = input.parse()?;
    match literal.base10_parse::<N>() {
        Ok(count) if count == N::from(false) => {
            Err(syn::Error::new(literal.span(), format!("expected at least 1: {of_none}")))
        }
        count => count,
    }
}
