//! Characters as automata see them: what an assertion can tell of one, and the few classes that a set of automata can tell
//! apart.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex_syntax::hir::ClassUnicode;

use super::nfa::{Assertion, Nfa, Range, reads_combining, reads_unicode_words, word_class};
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
        // Each distinct set of characters once.
        let mut sets: Vec<&[Range]> = Vec::new();
        let mut index: HashMap<&[Range], usize> = HashMap::new();
        for class in automata.iter().flat_map(|nfa| nfa.classes()) {
            index.entry(class).or_insert_with(|| {
                sets.push(class);
                sets.len() - 1
            });
        }

        let mut groups: HashMap<(Bits, Neighbour), char> = HashMap::new();
        let mut add = |key: (Bits, Neighbour), c: char| match groups.get_mut(&key) {
            Some(shown) if pleasantness(c) < pleasantness(*shown) => *shown = c,
            Some(_) => {}
            None => drop(groups.insert(key, c)),
        };
        let reads = |what: fn(Assertion) -> bool| automata.iter().any(|nfa| nfa.assertions().any(what));
        let (words_matter, marks_matter) = (reads(reads_unicode_words), reads(reads_combining));
        for (from, until, inside) in segments(&sets) {
            let Some(c) = char::from_u32(from).filter(char::is_ascii) else {
                for (c, word, mark) in kinds_within(from, until, words_matter, marks_matter) {
                    add((inside.clone(), Neighbour::told(c, word, mark)), c);
                }
                continue;
            };
            // Within ASCII the cuts leave no two kinds together.
            add((inside, Neighbour::told(c, is_ascii_word(c), false)), c);
        }

        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(_, shown)| pleasantness(*shown));
        let in_classes = |inside: &Bits| {
            let of = |nfa: &&Nfa| {
                let sets = nfa.classes().iter().map(|class| index.get(&class[..]).copied());
                sets.map(|set| set.is_some_and(|set| inside.has(set))).collect()
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

/// Which sets hold a character.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Bits(Vec<u64>);

impl Bits {
    fn flip(&mut self, set: usize) {
        self.0.get_mut(set / 64).into_iter().for_each(|word| *word ^= 1 << (set % 64));
    }

    fn has(&self, set: usize) -> bool {
        self.0.get(set / 64).is_some_and(|word| word >> (set % 64) & 1 == 1)
    }
}

/// The code points, from where to where they are in the same sets: a sweep over the places at which a set begins or ends.
fn segments(sets: &[&[Range]]) -> Vec<(u32, u32, Bits)> {
    let ranges = sets.iter().enumerate().flat_map(|(set, ranges)| ranges.iter().map(move |range| (set, range)));
    let mut cuts: Vec<(u32, Option<usize>)> =
        ranges.flat_map(|(set, (start, end))| [(*start, Some(set)), (end + 1, Some(set))]).collect();
    cuts.extend(ASCII_CUTS.map(|cut| (cut, None)));
    cuts.sort_unstable();
    let mut inside = Bits(vec![0; sets.len() / 64 + 1]);
    let mut segments = Vec::new();
    for (at, (cut, set)) in cuts.iter().enumerate() {
        set.iter().for_each(|set| inside.flip(*set));
        let until = cuts.get(at + 1).map_or(char::MAX as u32 + 1, |(next, _)| *next);
        if until > *cut {
            segments.push((*cut, until, inside.clone()));
        }
    }
    segments
}

/// One character of each kind between two code points, with whether it is part of a word and whether it combines, as far as
/// that matters.
fn kinds_within(from: u32, until: u32, words_matter: bool, marks_matter: bool) -> Vec<(char, bool, bool)> {
    let first = char::from_u32(from);
    if !words_matter && !marks_matter {
        return first.into_iter().map(|c| (c, false, false)).collect();
    }
    let mut kinds: Vec<(char, bool, bool)> = Vec::new();
    let table = kind_table();
    let begin = table.partition_point(|(start, ..)| *start <= from).saturating_sub(1);
    for (start, word, mark) in table.iter().skip(begin).take_while(|(start, ..)| *start < until) {
        let (word, mark) = (*word && words_matter, *mark && marks_matter);
        if kinds.iter().all(|(_, known_word, known_mark)| (*known_word, *known_mark) != (word, mark)) {
            kinds.extend(char::from_u32((*start).max(from)).map(|c| (c, word, mark)));
            if kinds.len() == if words_matter && marks_matter { 4 } else { 2 } {
                break;
            }
        }
    }
    kinds
}

/// Where the characters that are not ASCII change their kind: from which code point on, whether they are parts of words and
/// whether they combine.
fn kind_table() -> &'static [(u32, bool, bool)] {
    static TABLE: LazyLock<Vec<(u32, bool, bool)>> = LazyLock::new(|| {
        let ranges = |class: &ClassUnicode| -> Vec<Range> {
            class.ranges().iter().map(|range| (range.start().into(), range.end().into())).collect()
        };
        let segments = segments(&[&ranges(word_class()), &ranges(combining())]);
        // The surrogates are no characters.
        let segments = segments.into_iter().filter(|(from, ..)| *from >= 0x80 && char::from_u32(*from).is_some());
        segments.map(|(from, _, inside)| (from, inside.has(0), inside.has(1))).collect()
    });
    &TABLE
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
