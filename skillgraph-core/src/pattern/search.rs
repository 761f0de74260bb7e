//! The search over several automata at once.

use std::cell::Cell;
use std::collections::HashSet;

use super::alphabet::Alphabet;
use super::lazy::{Lazy, MATCHED, START};
use super::nfa::Nfa;

/// The most states that one search looks at.
const MOST_STATES: usize = 4_096;

/// What a search came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// A shortest text of the kind.
    Text(String),
    /// There is none.
    Nothing,
    /// It was given up.
    Undecided,
}

/// How much may still be looked at, by all searches of a check-up together: what rules cost grows with their number and their
/// length, and not with what they are beside each other.
#[derive(Debug)]
pub(crate) struct Budget(Cell<usize>);

impl Budget {
    /// So many steps.
    pub(crate) fn new(steps: usize) -> Self {
        Self(Cell::new(steps))
    }

    /// Takes so many; false where they are not there any more.
    pub(crate) fn spend(&self, steps: usize) -> bool {
        let left = self.0.get().checked_sub(steps);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// A shortest text that every one of `all` accepts, and of each of `none` not all.
///
/// `none` holds the rules that must not claim the text: each is the automata that would all have to accept it.
pub(crate) fn search(all: &[&Nfa], none: &[Vec<&Nfa>], budget: &Budget) -> Found {
    let automata: Vec<&Nfa> = all.iter().copied().chain(none.iter().flatten().copied()).collect();
    let size: usize = automata.iter().map(|nfa| nfa.size()).sum();
    // All that is put together before anything is looked at.
    if !budget.spend(size) {
        return Found::Undecided;
    }
    let alphabet = Alphabet::of(&automata);
    let lazy = automata.iter().enumerate().map(|(at, nfa)| Lazy::new(nfa, at, &alphabet)).collect();
    Search { alphabet, lazy, wanted: all.len(), unwanted: none.iter().map(Vec::len).collect() }.run(size, budget)
}

struct Search<'a> {
    alphabet: Alphabet,
    /// First the automata that must accept, then those of each rule that must not claim.
    lazy: Vec<Lazy<'a>>,
    wanted: usize,
    /// How many automata each unwanted rule has.
    unwanted: Vec<usize>,
}

/// One state of each automaton.
type Product = Vec<u32>;

impl Search<'_> {
    /// `size` is how many nodes all automata have: as many may have to be walked for each state.
    fn run(mut self, size: usize, budget: &Budget) -> Found {
        let start: Product = vec![START; self.lazy.len()];
        let mut seen: HashSet<Product> = HashSet::from([start.clone()]);
        let mut states = vec![start];
        // For each state, the state that it was first reached from, and by which symbol.
        let mut origins: Vec<Option<(usize, usize)>> = vec![None];
        let mut at = 0;
        while let Some(state) = states.get(at).cloned() {
            if self.is_goal(&state) {
                return Found::Text(self.text_to(at, &origins));
            }
            if !budget.spend(self.alphabet.symbols.len() * self.lazy.len() + size) {
                return Found::Undecided;
            }
            for symbol in 0..self.alphabet.symbols.len() {
                let next = self.step(&state, symbol);
                if self.is_hopeless(&next) || seen.contains(&next) {
                    continue;
                }
                if states.len() >= MOST_STATES {
                    return Found::Undecided;
                }
                seen.insert(next.clone());
                states.push(next);
                origins.push(Some((at, symbol)));
            }
            at += 1;
        }
        Found::Nothing
    }

    fn step(&mut self, state: &Product, symbol: usize) -> Product {
        let alphabet = &self.alphabet;
        self.lazy.iter_mut().zip(state).map(|(lazy, state)| lazy.step(*state, symbol, alphabet)).collect()
    }

    fn is_goal(&mut self, state: &Product) -> bool {
        let mut accepts = self.lazy.iter_mut().zip(state).map(|(lazy, state)| lazy.accepts(*state));
        let wanted = accepts.by_ref().take(self.wanted).fold(true, |all, accepts| all & accepts);
        let claimed = |accepts: &mut dyn Iterator<Item = bool>, parts: usize| {
            accepts.take(parts).fold(true, |all, accepts| all & accepts)
        };
        wanted && !self.unwanted.iter().any(|parts| claimed(&mut accepts, *parts))
    }

    /// Whether a rule claims the text already, whatever follows.
    fn is_hopeless(&self, state: &Product) -> bool {
        let mut from = self.wanted;
        self.unwanted.iter().any(|parts| {
            let of_rule = state.get(from..from + parts).unwrap_or_default();
            from += parts;
            of_rule.iter().all(|state| *state == MATCHED)
        })
    }

    fn text_to(&self, mut at: usize, origins: &[Option<(usize, usize)>]) -> String {
        let mut text = Vec::new();
        while let Some(Some((from, symbol))) = origins.get(at) {
            text.extend(self.alphabet.symbols.get(*symbol).map(|symbol| symbol.shown));
            at = *from;
        }
        text.into_iter().rev().collect()
    }
}
