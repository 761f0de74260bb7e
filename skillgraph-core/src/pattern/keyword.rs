//! A keyword as automata over the message as it was written.
//!
//! Folding (see [`crate::text`]) can turn any character that is not ASCII into any others, so that the exact language of
//! a keyword is out of reach. Two automata enclose it: [`certainly`] accepts only messages in which the keyword stands, and
//! [`possibly`] accepts every message in which it stands.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::nfa::{Assertion, Builder, Nfa, Node};
use crate::text::{class, combines, fold, is_spaced_letter};

/// The longest keyword of which an automaton is made, in characters: its size grows with the square of that.
const LONGEST: usize = 160;

/// An automaton that accepts only messages in which the keyword stands as words: one that is spelt in its own letters, in
/// either case, or in full-width ones. `None` where no such message can be told.
///
/// The keyword is folded.
pub(crate) fn certainly(keyword: &str) -> Option<Nfa> {
    let chars: Vec<char> = keyword.chars().take(LONGEST + 1).collect();
    let (first, last) = (*chars.first()?, *chars.last()?);
    if chars.len() > LONGEST || chars.iter().any(|c| combines(*c)) {
        return None;
    }
    let mut builder = Builder::default();
    let end = builder.push(Node::Match)?;
    let after = if is_spaced_letter(last) { Assertion::BeforeAsciiGap } else { Assertion::NotBeforeCombining };
    let mut next = builder.push(Node::Assert { assertion: after, next: end })?;
    for c in chars.into_iter().rev() {
        next = match c {
            ' ' => spaces(&mut builder, next)?,
            c => builder.push_class(&spellings(c), next)?,
        };
    }
    if is_spaced_letter(first) {
        next = builder.push(Node::Assert { assertion: Assertion::AfterAsciiGap, next })?;
    }
    Some(builder.finish(vec![next]))
}

/// An automaton that accepts every message in which the keyword stands as words, and some in which it does not: those with
/// characters that are not ASCII. `None` where it would become too large.
///
/// The keyword is folded.
pub(crate) fn possibly(keyword: &str) -> Option<Nfa> {
    let chars: Vec<char> = keyword.chars().take(LONGEST + 1).collect();
    let (Some(first), Some(last)) = (chars.first(), chars.last()) else { return None };
    if chars.len() > LONGEST {
        return None;
    }
    let mut builder = Builder::default();
    let end = builder.push(Node::Match)?;
    let foreign = class(r"[^\x00-\x7F\s]");
    let carrier = class(r"[\x00-\x7F\s]");

    // `rest[i]`: what begins the match of the keyword from its character `i` on. Anything that is neither ASCII nor
    // white space may fold to any stretch of the keyword, with more of its kind after it, and with what it is a mark on.
    let mut rest = vec![end];
    for (at, c) in chars.iter().enumerate().rev() {
        let more = builder.push(Node::Split(Vec::new()))?;
        let folds = builder.push_class(&foreign, more)?;
        let carries = builder.push_class(&carrier, folds)?;
        let mut branches = vec![folds, carries];
        let next = *rest.last()?;
        if *c == ' ' {
            branches.push(spaces(&mut builder, next)?);
            // More white space, behind what is dropped.
            branches.push(spaces(&mut builder, folds)?);
        } else if c.is_ascii() {
            let is_last = at + 1 == chars.len();
            let next = match is_last {
                true => {
                    let after = if is_spaced_letter(*last) {
                        Assertion::NotBeforeAsciiWord
                    } else {
                        Assertion::NotBeforeCombining
                    };
                    builder.push(Node::Assert { assertion: after, next })?
                }
                false => next,
            };
            let spelt = builder.push_class(&both_cases(*c), next)?;
            let is_first = at == 0 && is_spaced_letter(*first);
            branches.push(match is_first {
                true => builder.push(Node::Assert { assertion: Assertion::NotAfterAsciiWord, next: spelt })?,
                false => spelt,
            });
        }
        let here = builder.push(Node::Split(branches))?;
        rest.push(here);
        // What is dropped leaves everything where it was.
        builder.set_split(more, rest.iter().copied().chain([folds]).collect());
    }
    let start = *rest.last()?;
    Some(builder.finish(vec![start]))
}

/// One white-space character or more.
fn spaces(builder: &mut Builder, next: usize) -> Option<usize> {
    let again = builder.push(Node::Split(Vec::new()))?;
    let space = builder.push_class(&class(r"[\s]"), again)?;
    builder.set_split(again, vec![space, next]);
    Some(space)
}

/// The characters that certainly fold to this one and to nothing else.
fn spellings(folded: char) -> ClassUnicode {
    let mut candidates = ClassUnicode::new([ClassUnicodeRange::new(folded, folded)]);
    // Without the case tables the character itself remains.
    let _ = candidates.try_case_fold_simple();
    let full_width = |c: char| char::from_u32(u32::from(c) + 0xFEE0).filter(|_| ('!'..='~').contains(&c));
    let wide: Vec<char> =
        candidates.iter().flat_map(|range| range.start()..=range.end()).filter_map(full_width).collect();
    wide.into_iter().for_each(|c| candidates.push(ClassUnicodeRange::new(c, c)));
    let same = |c: &char| !combines(*c) && fold(c.encode_utf8(&mut [0; 4])).chars().eq([folded]);
    let kept = candidates.iter().flat_map(|range| range.start()..=range.end()).filter(same);
    ClassUnicode::new(kept.map(|c| ClassUnicodeRange::new(c, c)).collect::<Vec<_>>())
}

fn both_cases(c: char) -> ClassUnicode {
    ClassUnicode::new([c.to_ascii_lowercase(), c.to_ascii_uppercase()].map(|c| ClassUnicodeRange::new(c, c)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::stands_as_words;

    fn stands(keyword: &str, message: &str) -> bool {
        let message = fold(message);
        let starts = message.char_indices().map(|(at, _)| at);
        let mut found = starts.filter(|at| message[*at..].starts_with(keyword));
        found.any(|at| stands_as_words(&message, at..at + keyword.len()))
    }

    #[test]
    fn spellings_of_a_letter() {
        let spelt: Vec<char> = spellings('s').iter().flat_map(|range| range.start()..=range.end()).collect();
        assert_eq!(spelt, ['S', 's', 'ſ', 'Ｓ', 'ｓ']);
    }

    /// Letters, gaps, and what folds, combines or hides in them.
    const SOUP: &str = "[aAbk +é\u{301}ſK™ｂ退ガﾞ\u{200d}\u{1f3fb}㎏ͺ.1\u{a0}]{0,7}";

    proptest! {
        #[test]
        fn the_two_enclose_the_matcher(keyword in SOUP, message in SOUP, around in SOUP) {
            let keyword = fold(&keyword);
            prop_assume!(!keyword.is_empty());
            for message in [message.clone(), format!("{message}{keyword}{around}")] {
                let stands = stands(&keyword, &message);
                if certainly(&keyword).is_some_and(|nfa| nfa.is_match(&message)) {
                    prop_assert!(stands, "{keyword:?} does not stand in {message:?}");
                }
                if stands {
                    prop_assert!(possibly(&keyword).expect("small").is_match(&message), "{keyword:?} stands in {message:?}");
                }
            }
        }
    }
}
