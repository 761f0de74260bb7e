//! What texts a rule matches, as automata: enough to run a pattern on an example, and to decide for every `&str` at once
//! whether rules leave each other any text.
//!
//! A pattern becomes a nondeterministic automaton over characters ([`Nfa`]); assertions such as `\b` stay in it and look at
//! the characters on either side. For a decision the characters are put into the few classes that the automata at hand can
//! tell apart ([`alphabet`]), each automaton is made deterministic as far as the search needs it ([`lazy`]), and
//! a breadth-first search over all of them together finds a shortest text, or proves that there is none ([`search`]). The
//! search is bounded and says when it gave up.
//!
//! Keywords are compared after folding, which no automaton of this size can do. They take part as two automata: one that
//! accepts only texts in which the keyword certainly stands, and one that accepts every text in which it may
//! ([`keyword`]).
// SPEC 2.2 `rule-shadowed`.

mod alphabet;
mod keyword;
mod lazy;
mod nfa;
mod search;

pub(crate) use keyword::{certainly, possibly};
pub(crate) use nfa::Nfa;
pub(crate) use search::{Budget, Found, search};

/// Every text of up to so many of these characters, shorter ones first.
#[cfg(test)]
pub(crate) fn short_texts(characters: &[&str], most: usize) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut from = 0;
    for _ in 0..most {
        let until = texts.len();
        for at in from..until {
            let longer: Vec<String> = characters.iter().map(|character| format!("{}{character}", texts[at])).collect();
            texts.extend(longer);
        }
        from = until;
    }
    texts
}
