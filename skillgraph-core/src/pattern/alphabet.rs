//! Characters as automata see them: what an assertion can tell of one, and the few classes that a set of automata can tell
//! apart.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::nfa::{Nfa, Range, reads_combining, reads_unicode_words, word_class};
use crate::text::{combines, combining, holds};

/// What an assertion can see of the character beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Neighbour {
    /// There is none: the text begins or ends here.
    pub(super) edge: bool,
    pub(super) word: bool,
    pub(super) ascii: bool,
    pub(super) ascii_word: bool,
    pub(super) ascii_alphanumeric: bool,
    pub(super) combining: bool,
    pub(super) line_feed: bool,
    pub(super) carriage_return: bool,
}

impl Neighbour {
    /// The start or the end of the text.
    pub(super) const EDGE: Neighbour = Neighbour {
        edge: true,
        word: false,
        ascii: false,
        ascii_word: false,
        ascii_alphanumeric: false,
        combining: false,
        line_feed: false,
        carriage_return: false,
    };

    pub(super) fn of(c: char) -> Self {
        Self::told(c, if c.is_ascii() { is_ascii_word(c) } else { holds(word_class(), c) }, combines(c))
    }

    /// An ASCII character that is no letter or digit.
    pub(super) fn is_ascii_gap(self) -> bool {
        self.ascii && !self.ascii_alphanumeric
    }

    fn told(c: char, word: bool, combining: bool) -> Self {
        Neighbour {
            edge: false,
            word,
            ascii: c.is_ascii(),
            ascii_word: is_ascii_word(c),
            ascii_alphanumeric: c.is_ascii_alphanumeric(),
            combining,
            line_feed: c == '\n',
            carriage_return: c == '\r',
        }
    }
}

/// The characters in classes: those of one class are alike to every automaton that it was made for.
pub(super) struct Alphabet {
    pub(super) symbols: Vec<Symbol>,
}

/// One class of characters.
pub(super) struct Symbol {
    /// The most pleasant character of the class.
    pub(super) shown: char,
    /// What assertions see of it.
    pub(super) as_neighbour: Neighbour,
    /// For each automaton, which of its classes hold these characters.
    pub(super) in_class: Vec<Vec<bool>>,
}

/// Where ASCII changes its kind.
const ASCII_CUTS: [u32; 18] =
    [0, 0x0A, 0x0B, 0x0D, 0x0E, 0x20, 0x21, 0x30, 0x3A, 0x41, 0x5B, 0x5F, 0x60, 0x61, 0x7B, 0x80, 0xD800, 0xE000];

impl Alphabet {
    pub(super) fn of(automata: &[&Nfa]) -> Self {
        let reads = |what: fn(_) -> bool| automata.iter().any(|nfa| nfa.assertions().any(what));
        let words = if reads(reads_unicode_words) { ranges(word_class()) } else { Vec::new() };
        let marks = if reads(reads_combining) { ranges(combining()) } else { Vec::new() };
        let word_matters = !words.is_empty();

        // Each distinct set of characters once, words and marks last.
        let mut sets: Vec<&[Range]> = Vec::new();
        let mut index: HashMap<&[Range], usize> = HashMap::new();
        for class in automata.iter().flat_map(|nfa| nfa.classes()) {
            index.entry(class).or_insert_with(|| {
                sets.push(class);
                sets.len() - 1
            });
        }
        let (word_set, mark_set) = (sets.len(), sets.len() + 1);
        sets.extend([&words[..], &marks[..]]);

        // Sweep over the code points: at each cut some sets begin or end.
        let mut cuts: BTreeSet<u32> = ASCII_CUTS.into_iter().collect();
        let mut toggles: HashMap<u32, Vec<usize>> = HashMap::new();
        for (set, ranges) in sets.iter().enumerate() {
            for cut in ranges.iter().flat_map(|(start, end)| [*start, end + 1]) {
                cuts.insert(cut);
                toggles.entry(cut).or_default().push(set);
            }
        }
        let mut inside = vec![false; sets.len()];
        let mut groups: BTreeMap<(Vec<bool>, Neighbour), char> = BTreeMap::new();
        for cut in cuts {
            for set in toggles.get(&cut).into_iter().flatten() {
                inside.get_mut(*set).into_iter().for_each(|inside| *inside = !*inside);
            }
            // The surrogates are no characters.
            let Some(c) = char::from_u32(cut) else { continue };
            let is_in = |set: usize| inside.get(set).copied().unwrap_or_default();
            let word = if word_matters { is_in(word_set) } else { is_ascii_word(c) };
            let key = (inside.clone(), Neighbour::told(c, word, is_in(mark_set)));
            let shown = groups.entry(key).or_insert(c);
            if pleasantness(c) < pleasantness(*shown) {
                *shown = c;
            }
        }

        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(_, shown)| pleasantness(*shown));
        let in_classes = |inside: &[bool]| {
            let of = |nfa: &&Nfa| {
                let sets = nfa.classes().iter().map(|class| index.get(&class[..]).copied());
                sets.map(|set| set.and_then(|set| inside.get(set).copied()).unwrap_or_default()).collect()
            };
            automata.iter().map(of).collect()
        };
        let symbols = groups.into_iter().map(|((inside, as_neighbour), shown)| Symbol {
            shown,
            as_neighbour,
            in_class: in_classes(&inside),
        });
        Alphabet { symbols: symbols.collect() }
    }
}

fn ranges(class: &regex_syntax::hir::ClassUnicode) -> Vec<Range> {
    class.ranges().iter().map(|range| (range.start().into(), range.end().into())).collect()
}

fn is_ascii_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// How gladly a character is shown to a person: the less, the better.
fn pleasantness(c: char) -> (u8, char) {
    let kind = match c {
        'a'..='z' => 0,
        ' ' => 1,
        '0'..='9' => 2,
        'A'..='Z' => 3,
        '!'..='~' => 4,
        c if !c.is_ascii() && c.is_alphanumeric() => 5,
        c if !c.is_ascii() && !c.is_control() => 6,
        _ => 7,
    };
    (kind, c)
}
