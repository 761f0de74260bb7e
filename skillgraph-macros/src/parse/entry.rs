//! `entry NAME [when condition] [as "…"];`

use proc_macro2::{Ident, Span};
use skillgraph_core::suggest::{closest, listed};
use skillgraph_core::{Code, Finding};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{LitStr, Token, token};

use super::graph::semicolon;
use super::{closure, label, name, not_yet, recover, take_word};
use crate::ast::{Condition, Entry, Graph};
use crate::findings::Findings;

/// The conditions in this version.
const CONDITIONS: [&str; 3] = ["matches", "keywords", "all"];

pub(super) fn parse(input: ParseStream<'_>, graph: &mut Graph, findings: &mut Findings) -> syn::Result<()> {
    let mut entry = Entry { skill: name(input, "a skill of this graph")?, condition: None, label: None };
    if take_word(input, "when")?.is_some() {
        entry.condition = Some(condition(input, findings)?);
    }
    entry.label = label(input)?;
    graph.entries.push(entry);
    if input.peek(token::Brace) {
        let content;
        syn::braced!(content in input);
        match recover::any_word(&content) {
            Some(word) => findings.push(not_yet(&word, "remove the block and end the entry with `;`")),
            None => findings.push_syntax(content.error("expected `;` instead of this block")),
        }
        recover::skip_all(&content);
        return Ok(());
    }
    semicolon(input)
}

fn condition(input: ParseStream<'_>, findings: &mut Findings) -> syn::Result<Condition> {
    if input.peek(Token![|]) {
        return closure(input).map(Condition::Closure);
    }
    let Some(word) = recover::any_word(input) else {
        return Err(input.error(format!("expected a condition: {}, or `|message| …`", listed(CONDITIONS))));
    };
    let text = word.to_string();
    if text == "intent" || text == "picked" {
        return Err(syn::Error::new(word.span(), format!("`{text}` is not supported by this version of skillgraph")));
    }
    if !CONDITIONS.contains(&text.as_str()) {
        let finding = Finding::new(Code::Syntax, word.span(), format!("`{text}` is not a condition"));
        findings.push(match closest(&text, CONDITIONS) {
            Some(near) => finding.help(format!("a condition with a similar name exists: `{near}`")),
            None => finding.help(format!("the conditions are {}, and `|message| …`", listed(CONDITIONS))),
        });
        input.call(Ident::parse_any)?;
        let list = input.parse::<proc_macro2::Group>().map(|group| group.span()).unwrap_or(Span::call_site());
        // Stands for a condition that could not be read: an entry without one would be the default.
        return Ok(Condition::Matches(LitStr::new("unread", list)));
    }
    input.call(Ident::parse_any)?;
    match text.as_str() {
        "matches" => {
            let content;
            syn::parenthesized!(content in input);
            let pattern = content.parse();
            let rest = if content.is_empty() { Ok(()) } else { Err(content.error("expected one pattern")) };
            recover::skip_all(&content);
            rest?;
            pattern.map(Condition::Matches)
        }
        "keywords" => {
            let (span, list) = recover::list(input, findings, |input, _| input.parse())?;
            Ok(Condition::Keywords { span, list })
        }
        _ => {
            let (span, list) = recover::list(input, findings, condition)?;
            Ok(Condition::All { span, list })
        }
    }
}
