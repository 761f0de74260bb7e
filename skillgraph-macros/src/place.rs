//! Where a thing of a graph was written: at a token, and perhaps in a file that the token names.

use std::ops::Range;
use std::rc::Rc;

use proc_macro2::Span;
use skillgraph_core::excerpt::{excerpt, position};
use skillgraph_core::skill_file::{Part, narrowed};

/// A place.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) span: Span,
    file: Option<(Rc<Source>, Part)>,
}

/// A file that was read.
pub(crate) struct Source {
    /// Its path as the author wrote it.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Place {
    /// A part of a file, for the token that names the file.
    pub(crate) fn in_file(span: Span, source: &Rc<Source>, part: &Part) -> Self {
        Self { span, file: Some((source.clone(), part.clone())) }
    }

    /// The line of the file with carets, of the part or of what of it is meant; none at a token alone.
    pub(crate) fn excerpt(&self, within: Option<&Range<usize>>) -> Option<String> {
        let (source, part) = self.file.as_ref()?;
        Some(excerpt(&source.path, &source.text, narrowed(part, within)))
    }

    /// Where that is, in words: in the file, or on the line of the token where a compiler is there to tell.
    pub(crate) fn in_words(&self) -> Option<String> {
        match &self.file {
            Some((source, part)) => Some(format!("at {}", position(&source.path, &source.text, part.start))),
            None => proc_macro::is_available().then(|| format!("on line {}", self.span.unwrap().start().line())),
        }
    }

    /// How far into the file.
    pub(crate) fn offset(&self) -> usize {
        self.file.as_ref().map_or(0, |(_, part)| part.start)
    }
}

impl From<Span> for Place {
    fn from(span: Span) -> Self {
        Self { span, file: None }
    }
}
