//! `entry NAME [when condition] [as "…"] (; | { examples: ["…"], picked: never })`

use proc_macro2::{Group, Ident};
use skillgraph_core::decl::Lints;
use skillgraph_core::suggest::{closest, listed};
use skillgraph_core::{Code, Finding};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Token, token};

use super::skill::word_of;
use super::{closure, end, label, name, recover, take_word};
use crate::ast::{Condition, Entry, Graph};
use crate::findings::Findings;

/// The conditions in this version.
const CONDITIONS: [&str; 5] = ["matches", "keywords", "all", "intent", "picked"];

pub(super) fn parse(
    input: ParseStream<'_>,
    lints: Lints,
    graph: &mut Graph,
    findings: &mut Findings,
) -> syn::Result<()> {
    let mut entry = Entry {
        lints,
        skill: name(input, "a skill of this graph")?,
        condition: None,
        examples: None,
        never_picked: None,
        label: None,
    };
    let result = rest(input, &mut entry, findings);
    // Declared, whatever is wrong with it: the graph is not without an entry too.
    graph.entries.push(entry);
    result
}

fn rest(input: ParseStream<'_>, entry: &mut Entry, findings: &mut Findings) -> syn::Result<()> {
    let when = match misspelt_when(input) {
        // Read on as what it was meant to be: the entry is not the default.
        Some(word) => {
            let finding = Finding::new(Code::Syntax, word.span(), format!("`{word}` does not begin a condition"));
            findings.push(finding.help("write `when` before it"));
            Some(input.call(Ident::parse_any)?)
        }
        None => take_word(input, "when")?,
    };
    if let Some(when) = when {
        entry.condition = Some(Condition::Unread(when.span()));
        entry.condition = Some(condition(input, findings)?);
    }
    entry.label = label(input)?;
    if input.peek(token::Brace) {
        let content;
        syn::braced!(content in input);
        if content.is_empty() {
            return Err(content.error("expected `examples: [\"…\"]`, or `;` instead of this block"));
        }
        let mut seen = Vec::new();
        recover::fields(&content, findings, |input, findings| field(input, entry, &mut seen, findings));
        return Ok(());
    }
    end::<Token![;]>(input)
}

/// A word that was meant to be `when`.
fn misspelt_when(input: ParseStream<'_>) -> Option<Ident> {
    let word = recover::any_word(input)?;
    let text = word.to_string();
    let is_known = text == "when" || text == "as";
    (!is_known && (closest(&text, ["when"]).is_some() || text == "if" || text == "where")).then_some(word)
}

/// The fields of the block behind an entry.
const FIELDS: [&str; 2] = ["examples", "picked"];

/// `examples: ["…", …]` or `picked: never`
fn field(
    input: ParseStream<'_>,
    entry: &mut Entry,
    seen: &mut Vec<String>,
    findings: &mut Findings,
) -> syn::Result<()> {
    let at = input.span();
    let Some(field) = super::field::name(input, "an entry", &FIELDS, findings)? else { return Ok(()) };
    if seen.contains(&field) {
        let finding = Finding::new(Code::Syntax, at, format!("this entry has `{field}` twice"));
        findings.push(finding.help("remove one of the two"));
    }
    match field.as_str() {
        "examples" => entry.examples = super::texts(input, "a message", findings)?,
        _ => {
            let (never, span) = word_of(input, &[("never", ())], findings)?;
            entry.never_picked = never.map(|()| span);
        }
    }
    seen.push(field);
    Ok(())
}

pub(super) fn condition(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Condition> {
    if input.peek(Token![|]) {
        return closure(input).map(Condition::Closure);
    }
    let Some(word) = recover::any_word(input) else {
        return Err(input.error("expected a condition: `matches(…)`, `keywords[…]`, `all[…]`, or `|message| …`"));
    };
    let mut text = word.to_string();
    if !CONDITIONS.contains(&text.as_str()) {
        let finding = Finding::new(Code::Syntax, word.span(), format!("`{text}` is not a condition"));
        input.call(Ident::parse_any)?;
        let Some(near) = closest(&text, CONDITIONS) else {
            findings.push(finding.help(format!("the conditions are {}, and `|message| …`", listed(CONDITIONS))));
            let _ = input.parse::<Group>();
            return Ok(Condition::Unread(word.span()));
        };
        // Read on as what it was meant to be.
        findings.push(finding.help(format!("a condition with a similar name exists: `{near}`")));
        text = near.to_owned();
    } else {
        input.call(Ident::parse_any)?;
    }
    match text.as_str() {
        "matches" => {
            let content;
            syn::parenthesized!(content in input);
            let pattern = super::text(&content, "a pattern");
            let rest = if content.is_empty() { Ok(()) } else { Err(content.error("expected one pattern")) };
            recover::skip_all(&content);
            rest?;
            pattern.map(Condition::Matches)
        }
        "intent" => {
            let content;
            syn::parenthesized!(content in input);
            let result = intent(&content, findings);
            recover::skip_all(&content);
            Ok(result?.unwrap_or(Condition::Unread(word.span())))
        }
        "picked" => Ok(Condition::Picked(word.span())),
        "keywords" => {
            let list = recover::list(input, findings, |input, _| super::text(input, "a word or phrase"))?;
            if list.is_unread() {
                return Ok(Condition::Unread(list.span));
            }
            Ok(Condition::Keywords { span: list.span, list: list.elements })
        }
        _ => {
            let list = recover::list(input, findings, condition)?;
            if list.is_unread() {
                return Ok(Condition::Unread(list.span));
            }
            Ok(Condition::All { span: list.span, list: list.elements })
        }
    }
}

/// `"what it is about", ["a message", …]`
fn intent(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Option<Condition>> {
    let intent = super::text(input, "what the user may want")?;
    end::<Token![,]>(input)?;
    let examples = super::texts(input, "a message", findings)?;
    input.parse::<Option<Token![,]>>()?;
    if !input.is_empty() {
        return Err(input.error("expected nothing after the examples"));
    }
    Ok(examples.map(|examples| Condition::Intent { intent, examples }))
}
