//! A pattern as a nondeterministic automaton over characters.

use std::collections::HashMap;

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind, Look};

use super::alphabet::Neighbour;
use crate::text;

/// The most nodes of one automaton. What is larger is not analysed.
const MOST_NODES: usize = 20_000;

/// A range of code points, ends included.
pub(super) type Range = (u32, u32);

/// An automaton that searches: it accepts a text that holds a match anywhere.
#[derive(Debug, Clone)]
pub(crate) struct Nfa {
    nodes: Vec<Node>,
    starts: Vec<usize>,
    classes: Vec<Vec<Range>>,
    first: First,
}

/// What a match can begin with: no other character needs a look.
#[derive(Debug, Clone, Default)]
struct First {
    /// Which ASCII characters.
    ascii: u128,
    /// Whether any other.
    beyond: bool,
    /// Whether there can be a match of no character at all.
    nothing: bool,
}

impl First {
    fn may_be(&self, c: char) -> bool {
        self.nothing || if c.is_ascii() { self.ascii >> u32::from(c) & 1 == 1 } else { self.beyond }
    }
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    /// One character of a class, then on to a node.
    Class { class: usize, next: usize },
    /// On to each of these.
    Split(Vec<usize>),
    /// On to a node, where the assertion holds.
    Assert { assertion: Assertion, next: usize },
    /// There is a match.
    Match,
    /// Nothing goes on from here.
    Fail,
}

/// What can be demanded of the characters on either side of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assertion {
    /// An assertion of the pattern language.
    Look(Look),
    /// Before it: the start, or an ASCII character that is no letter or digit.
    AfterAsciiGap,
    /// After it: the end, or an ASCII character that is no letter or digit.
    BeforeAsciiGap,
    /// Before it: anything but an ASCII letter or digit.
    NotAfterAsciiWord,
    /// After it: anything but an ASCII letter or digit, or what combines with the character before.
    NotBeforeAsciiWord,
    /// After it: anything but what combines with the character before.
    NotBeforeCombining,
}

impl Nfa {
    /// How many nodes it has.
    pub(crate) fn size(&self) -> usize {
        self.nodes.len()
    }

    /// The automaton of a pattern of the `regex` crate. `None` where it does not parse or is too large to analyse.
    pub(crate) fn parse(pattern: &str) -> Option<Self> {
        let hir = regex_syntax::parse(pattern).ok()?;
        let mut builder = Builder::default();
        let end = builder.push(Node::Match)?;
        let start = builder.compile(&hir, end)?;
        Some(builder.finish(vec![start]))
    }

    /// The automaton that accepts what any of these accept.
    pub(crate) fn union(parts: &[Nfa]) -> Self {
        let mut union = Nfa { nodes: Vec::new(), starts: Vec::new(), classes: Vec::new(), first: First::default() };
        for part in parts {
            let (nodes, classes) = (union.nodes.len(), union.classes.len());
            union.nodes.extend(part.nodes.iter().map(|node| node.moved(nodes, classes)));
            union.classes.extend(part.classes.iter().cloned());
            union.starts.extend(part.starts.iter().map(|start| start + nodes));
        }
        union.first = union.first();
        union
    }

    /// Whether the text holds a match.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        let mut reached = Closure::default();
        let mut active: Vec<usize> = Vec::new();
        let mut before = Neighbour::EDGE;
        for c in text.chars() {
            let after = Neighbour::of(c);
            if active.is_empty() && !self.first.may_be(c) {
                before = after;
                continue;
            }
            if self.close(&active, before, after, &mut reached) {
                return true;
            }
            active.clear();
            active.extend(reached.nodes.iter().filter_map(|node| self.step(*node, |class| holds(class, c))));
            before = after;
        }
        self.close(&active, before, Neighbour::EDGE, &mut reached)
    }

    /// What a match can begin with, whatever the assertions before it say.
    fn first(&self) -> First {
        let mut first = First::default();
        let mut visited = Closure::default();
        visited.begin(self.nodes.len());
        let mut pending = self.starts.clone();
        while let Some(at) = pending.pop() {
            if !visited.visit(at) {
                continue;
            }
            match self.nodes.get(at) {
                Some(Node::Match) => first.nothing = true,
                Some(Node::Split(next)) => pending.extend(next),
                Some(Node::Assert { next, .. }) => pending.push(*next),
                Some(Node::Class { class, .. }) => {
                    for (start, end) in self.classes.get(*class).into_iter().flatten() {
                        (*start..=(*end).min(0x7F)).for_each(|c| first.ascii |= 1 << c);
                        first.beyond |= *end > 0x7F;
                    }
                }
                Some(Node::Fail) | None => {}
            }
        }
        first
    }

    /// The classes that its characters are of.
    pub(super) fn classes(&self) -> &[Vec<Range>] {
        &self.classes
    }

    /// The assertions in it.
    pub(super) fn assertions(&self) -> impl Iterator<Item = Assertion> + '_ {
        self.nodes.iter().filter_map(|node| match node {
            Node::Assert { assertion, .. } => Some(*assertion),
            _ => None,
        })
    }

    /// From the given nodes, and from the start anew: which nodes wait for a character between these neighbours. Says
    /// whether a match ends here.
    pub(super) fn close(&self, from: &[usize], before: Neighbour, after: Neighbour, reached: &mut Closure) -> bool {
        reached.begin(self.nodes.len());
        let mut pending: Vec<usize> = from.iter().chain(&self.starts).copied().collect();
        while let Some(at) = pending.pop() {
            if !reached.visit(at) {
                continue;
            }
            match self.nodes.get(at) {
                Some(Node::Match) => return true,
                Some(Node::Split(next)) => pending.extend(next),
                Some(Node::Assert { assertion, next }) if assertion.holds(before, after) => pending.push(*next),
                Some(Node::Class { .. }) => reached.nodes.push(at),
                Some(Node::Assert { .. } | Node::Fail) | None => {}
            }
        }
        false
    }

    /// Where the node goes on a character of the classes for which `is_in` says yes.
    pub(super) fn step_by_class(&self, node: usize, is_in: impl Fn(usize) -> bool) -> Option<usize> {
        match self.nodes.get(node) {
            Some(Node::Class { class, next }) if is_in(*class) => Some(*next),
            _ => None,
        }
    }

    fn step(&self, node: usize, is_in: impl Fn(&[Range]) -> bool) -> Option<usize> {
        self.step_by_class(node, |class| self.classes.get(class).is_some_and(|ranges| is_in(ranges)))
    }
}

impl Node {
    fn moved(&self, nodes: usize, classes: usize) -> Node {
        match self {
            Node::Class { class, next } => Node::Class { class: class + classes, next: next + nodes },
            Node::Split(next) => Node::Split(next.iter().map(|next| next + nodes).collect()),
            Node::Assert { assertion, next } => Node::Assert { assertion: *assertion, next: next + nodes },
            Node::Match => Node::Match,
            Node::Fail => Node::Fail,
        }
    }
}

impl Assertion {
    fn holds(self, before: Neighbour, after: Neighbour) -> bool {
        match self {
            Assertion::Look(look) => look_holds(look, before, after),
            Assertion::AfterAsciiGap => before.edge || before.is_ascii_gap(),
            Assertion::BeforeAsciiGap => after.edge || after.is_ascii_gap(),
            Assertion::NotAfterAsciiWord => !before.ascii_alphanumeric,
            Assertion::NotBeforeAsciiWord => !after.ascii_alphanumeric && !after.combining,
            Assertion::NotBeforeCombining => !after.combining,
        }
    }
}

fn look_holds(look: Look, before: Neighbour, after: Neighbour) -> bool {
    match look {
        Look::Start => before.edge,
        Look::End => after.edge,
        Look::StartLF => before.edge || before.line_feed,
        Look::EndLF => after.edge || after.line_feed,
        Look::StartCRLF => before.edge || before.line_feed || (before.carriage_return && !after.line_feed),
        Look::EndCRLF => after.edge || after.carriage_return || (after.line_feed && !before.carriage_return),
        Look::WordUnicode => before.word != after.word,
        Look::WordUnicodeNegate => before.word == after.word,
        Look::WordAscii => before.ascii_word != after.ascii_word,
        Look::WordAsciiNegate => before.ascii_word == after.ascii_word,
        Look::WordStartUnicode => !before.word && after.word,
        Look::WordEndUnicode => before.word && !after.word,
        Look::WordStartHalfUnicode => !before.word,
        Look::WordEndHalfUnicode => !after.word,
        Look::WordStartAscii => !before.ascii_word && after.ascii_word,
        Look::WordEndAscii => before.ascii_word && !after.ascii_word,
        Look::WordStartHalfAscii => !before.ascii_word,
        Look::WordEndHalfAscii => !after.ascii_word,
    }
}

/// Whether an assertion can tell a Unicode word character from another.
pub(super) fn reads_unicode_words(assertion: Assertion) -> bool {
    matches!(
        assertion,
        Assertion::Look(
            Look::WordUnicode
                | Look::WordUnicodeNegate
                | Look::WordStartUnicode
                | Look::WordEndUnicode
                | Look::WordStartHalfUnicode
                | Look::WordEndHalfUnicode
        )
    )
}

/// Whether an assertion can tell what combines from what does not.
pub(super) fn reads_combining(assertion: Assertion) -> bool {
    matches!(assertion, Assertion::NotBeforeAsciiWord | Assertion::NotBeforeCombining)
}

/// Nodes that wait for a character, found from others; the room for it is used again.
#[derive(Debug, Default)]
pub(super) struct Closure {
    pub(super) nodes: Vec<usize>,
    visited: Vec<bool>,
}

impl Closure {
    fn begin(&mut self, nodes: usize) {
        self.nodes.clear();
        self.visited.clear();
        self.visited.resize(nodes, false);
    }

    /// Whether it is the first visit.
    fn visit(&mut self, node: usize) -> bool {
        self.visited.get_mut(node).is_some_and(|visited| !std::mem::replace(visited, true))
    }
}

/// An automaton while it is built, from its end to its start.
#[derive(Default)]
pub(super) struct Builder {
    nodes: Vec<Node>,
    classes: Vec<Vec<Range>>,
    class_index: HashMap<Vec<Range>, usize>,
}

impl Builder {
    /// Adds a node. `None` where the automaton would become too large.
    pub(super) fn push(&mut self, node: Node) -> Option<usize> {
        if self.nodes.len() >= MOST_NODES {
            return None;
        }
        self.nodes.push(node);
        Some(self.nodes.len() - 1)
    }

    /// Adds a node that takes one character of a class.
    pub(super) fn push_class(&mut self, class: &ClassUnicode, next: usize) -> Option<usize> {
        let ranges = class.ranges().iter().map(|range| (range.start().into(), range.end().into()));
        self.push_ranges(ranges.collect(), next)
    }

    /// Changes a split that was added before what it leads to.
    pub(super) fn set_split(&mut self, at: usize, next: Vec<usize>) {
        if let Some(node) = self.nodes.get_mut(at) {
            *node = Node::Split(next);
        }
    }

    pub(super) fn finish(self, starts: Vec<usize>) -> Nfa {
        let mut nfa = Nfa { nodes: self.nodes, starts, classes: self.classes, first: First::default() };
        nfa.first = nfa.first();
        nfa
    }

    fn push_ranges(&mut self, ranges: Vec<Range>, next: usize) -> Option<usize> {
        if ranges.is_empty() {
            return self.push(Node::Fail);
        }
        let class = *self.class_index.entry(ranges).or_insert_with_key(|ranges| {
            self.classes.push(ranges.clone());
            self.classes.len() - 1
        });
        self.push(Node::Class { class, next })
    }

    /// The node at which a match of `hir` begins that goes on at `next`.
    fn compile(&mut self, hir: &Hir, next: usize) -> Option<usize> {
        match hir.kind() {
            HirKind::Empty => Some(next),
            HirKind::Literal(literal) => {
                let chars = std::str::from_utf8(&literal.0).ok()?.chars();
                chars.rev().try_fold(next, |next, c| self.push_ranges(vec![(c.into(), c.into())], next))
            }
            HirKind::Class(Class::Unicode(class)) => self.push_class(class, next),
            HirKind::Class(Class::Bytes(class)) => {
                let ranges = class.ranges().iter().map(|range| (range.start().into(), range.end().into()));
                self.push_ranges(ranges.collect(), next)
            }
            HirKind::Look(look) => self.push(Node::Assert { assertion: Assertion::Look(*look), next }),
            HirKind::Capture(capture) => self.compile(&capture.sub, next),
            HirKind::Concat(parts) => parts.iter().rev().try_fold(next, |next, part| self.compile(part, next)),
            HirKind::Alternation(parts) => {
                let branches = parts.iter().map(|part| self.compile(part, next)).collect::<Option<Vec<_>>>()?;
                self.push(Node::Split(branches))
            }
            HirKind::Repetition(repetition) => {
                let mut next = next;
                match repetition.max {
                    None => {
                        let again = self.push(Node::Split(Vec::new()))?;
                        let body = self.compile(&repetition.sub, again)?;
                        self.set_split(again, vec![body, next]);
                        next = again;
                    }
                    Some(max) => {
                        let end = next;
                        for _ in repetition.min..max {
                            let body = self.compile(&repetition.sub, next)?;
                            next = self.push(Node::Split(vec![body, end]))?;
                        }
                    }
                }
                (0..repetition.min).try_fold(next, |next, _| self.compile(&repetition.sub, next))
            }
        }
    }
}

/// Whether sorted ranges hold the character.
fn holds(ranges: &[Range], c: char) -> bool {
    let c = u32::from(c);
    let at = ranges.partition_point(|(_, end)| *end < c);
    ranges.get(at).is_some_and(|(start, _)| *start <= c)
}

/// The characters that `\w` and `\b` count as parts of words.
pub(super) fn word_class() -> &'static ClassUnicode {
    static CLASS: std::sync::LazyLock<ClassUnicode> = std::sync::LazyLock::new(|| text::class(r"[\w]"));
    &CLASS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pattern::{Budget, Found, search, short_texts};

    /// Patterns of every construct, small enough to be tried on every short text.
    fn pattern() -> impl Strategy<Value = String> {
        const ATOMS: &[&str] = &[
            "a",
            "b",
            "k",
            "é",
            " ",
            ".",
            "[^a]",
            r"\w",
            r"\W",
            r"\b",
            r"\B",
            "^",
            "$",
            r"(?-u:\b)",
            r"\d",
            "[a-k]",
            "(?m:^)",
            "(?m:$)",
            r"\b{start}",
            r"\b{end}",
            "ß",
            "(?i:s)",
            r"\s",
            r"\b{start-half}",
            "(?R)(?m:$)",
            "",
        ];
        proptest::sample::select(ATOMS).prop_map(str::to_owned).prop_recursive(3, 12, 2, |inner| {
            prop_oneof![
                3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}{b}")),
                1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
                1 => inner.clone().prop_map(|a| format!("(?:{a})*")),
                1 => inner.clone().prop_map(|a| format!("(?:{a})?")),
                1 => inner.clone().prop_map(|a| format!("(?:{a}){{1,3}}")),
                1 => inner.prop_map(|a| format!("(?i:{a})")),
            ]
        })
    }

    const CHARACTERS: &[&str] = &["a", "b", "K", "é", " ", "\n", "\r", "0", "\u{212A}", "ſ", "_", "ẞ", "-"];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]

        /// The automaton, the search and the engine that runs the rules mean the same.
        #[test]
        fn agrees_with_the_engine(a in pattern(), b in pattern()) {
            let engine = |pattern: &str| regex::Regex::new(pattern).ok();
            let (Some(engine_a), Some(engine_b)) = (engine(&a), engine(&b)) else { return Ok(()) };
            let (nfa_a, nfa_b) = (Nfa::parse(&a).expect("small"), Nfa::parse(&b).expect("small"));
            let texts = short_texts(CHARACTERS, 3);
            let left_over = texts.iter().filter(|text| engine_a.is_match(text) && !engine_b.is_match(text));
            let shortest = left_over.map(|text| text.chars().count()).min();
            for text in texts.iter().step_by(7) {
                prop_assert_eq!(nfa_a.is_match(text), engine_a.is_match(text), "{:?} on {:?}", a, text);
            }
            match search(&[&nfa_a], &[vec![&nfa_b]], &Budget::new(usize::MAX)) {
                Found::Text(text) => {
                    prop_assert!(engine_a.is_match(&text) && !engine_b.is_match(&text), "{a:?} \\ {b:?}: {text:?}");
                    prop_assert!(shortest.is_none_or(|shortest| text.chars().count() <= shortest), "{text:?} is not shortest");
                }
                Found::Nothing => prop_assert_eq!(shortest, None, "{:?} is not within {:?}", a, b),
                Found::Undecided => {}
            }
        }
    }
}
