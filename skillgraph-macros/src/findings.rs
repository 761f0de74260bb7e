//! Mistakes gathered on the way, printed in the order of the source.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use skillgraph_core::{Code, Finding, Level};

use crate::place::Place;

/// All that is wrong with one graph.
#[derive(Default)]
pub(crate) struct Findings(Vec<Finding<Place>>);

impl Findings {
    /// Adds a finding at a token.
    pub(crate) fn push(&mut self, finding: Finding<Span>) {
        self.0.push(finding.placed(Place::from));
    }

    /// Adds a finding that may stand in a file.
    pub(crate) fn push_placed(&mut self, finding: Finding<Place>) {
        self.0.push(finding);
    }

    /// Adds what the parser refused.
    pub(crate) fn push_syntax(&mut self, error: syn::Error) {
        let finding = |error: syn::Error| Finding::new(Code::Syntax, error.span().into(), error.to_string());
        self.0.extend(error.into_iter().map(finding));
    }

    /// Whether nothing is wrong so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One compile error a refusal and one of rustc's own warnings a warning, in the order of the source.
    pub(crate) fn into_diagnostics(mut self) -> TokenStream {
        self.0.sort_by_key(|finding| (position(finding.at.span), finding.at.offset()));
        let diagnostic = |finding: &Finding<Place>| match finding.level {
            Level::Refusal => syn::Error::new(finding.at.span, text(finding)).to_compile_error(),
            Level::Warning => warning(finding),
        };
        self.0.iter().map(diagnostic).collect()
    }
}

/// A warning on a stable compiler: the use of a deprecated macro, named after the code, at the author's own token.
fn warning(finding: &Finding<Place>) -> TokenStream {
    let code = Ident::new(&finding.code.lint_name(), finding.at.span);
    let note = text(finding);
    quote_spanned! {Span::mixed_site()=>
        const _: () = {
            #[deprecated(note = #note)]
            macro_rules! #code { () => {} }
            #code!();
        };
    }
}

impl Extend<Finding<Place>> for Findings {
    fn extend<I: IntoIterator<Item = Finding<Place>>>(&mut self, findings: I) {
        self.0.extend(findings);
    }
}

/// The message as rustc prints it: the fact and its code, then what to look at, then what to do.
fn text(finding: &Finding<Place>) -> String {
    let mut text = format!("{} [{}]", finding.message, finding.code);
    if let Some(excerpt) = finding.at.excerpt(finding.within.as_ref()).as_ref().or(finding.excerpt.as_ref()) {
        text.push('\n');
        text.push_str(excerpt);
    }
    if let Some(help) = &finding.help {
        text.push_str("\nhelp: ");
        text.push_str(help);
    }
    for note in &finding.notes {
        text.push_str("\nnote: ");
        text.push_str(&note.text);
        if let Some(place) = note.at.as_ref().and_then(Place::in_words) {
            text.push(' ');
            text.push_str(&place);
        }
    }
    text
}

/// Line and column of a span, where a compiler is there to tell.
fn position(span: Span) -> Option<(usize, usize)> {
    proc_macro::is_available().then(|| {
        let start = span.unwrap().start();
        (start.line(), start.column())
    })
}
