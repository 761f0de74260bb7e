//! An automaton made deterministic, as far as it is asked.

use std::collections::HashMap;

use super::alphabet::{Alphabet, Neighbour};
use super::nfa::{Closure, Nfa};

/// A deterministic state: the nodes that are active after some text, and the text's last character as assertions see it.
type State = (Vec<usize>, Neighbour);

/// The state in which a match was found: it never ends.
pub(super) const MATCHED: u32 = u32::MAX;

/// The state before any text.
pub(super) const START: u32 = 0;

pub(super) struct Lazy<'a> {
    nfa: &'a Nfa,
    /// Which automaton of the alphabet it is.
    place: usize,
    states: Vec<State>,
    index: HashMap<State, u32>,
    /// For each state and symbol, the next state, where it is known.
    next: Vec<Option<u32>>,
    /// For each state, whether a text that ends there is accepted, where it is known.
    accepting: Vec<Option<bool>>,
    closure: Closure,
}

impl<'a> Lazy<'a> {
    pub(super) fn new(nfa: &'a Nfa, place: usize, alphabet: &Alphabet) -> Self {
        let mut lazy = Lazy {
            nfa,
            place,
            states: Vec::new(),
            index: HashMap::new(),
            next: Vec::new(),
            accepting: Vec::new(),
            closure: Closure::default(),
        };
        lazy.intern((Vec::new(), Neighbour::EDGE), alphabet);
        lazy
    }

    /// Whether a text that leads to this state is accepted.
    pub(super) fn accepts(&mut self, state: u32) -> bool {
        let at = state as usize;
        if state == MATCHED {
            return true;
        }
        if let Some(Some(known)) = self.accepting.get(at) {
            return *known;
        }
        let Some((active, before)) = self.states.get(at) else { return false };
        let accepts = self.nfa.close(active, *before, Neighbour::EDGE, &mut self.closure);
        self.accepting.get_mut(at).into_iter().for_each(|slot| *slot = Some(accepts));
        accepts
    }

    /// The state after one more character.
    pub(super) fn step(&mut self, state: u32, symbol: usize, alphabet: &Alphabet) -> u32 {
        if state == MATCHED {
            return MATCHED;
        }
        let row = state as usize * alphabet.symbols.len();
        match self.next.get(row + symbol) {
            Some(Some(known)) => *known,
            _ => self.fill(state, row, symbol, alphabet),
        }
    }

    /// Works out the next state for every symbol that assertions cannot tell from this one: they share one closure.
    fn fill(&mut self, state: u32, row: usize, symbol: usize, alphabet: &Alphabet) -> u32 {
        let (Some((active, before)), Some(asked)) =
            (self.states.get(state as usize).cloned(), alphabet.symbols.get(symbol))
        else {
            return MATCHED;
        };
        let after = asked.as_neighbour;
        let mut closure = std::mem::take(&mut self.closure);
        let matched = self.nfa.close(&active, before, after, &mut closure);
        let mut answer = MATCHED;
        for (at, alike) in alphabet.symbols.iter().enumerate().filter(|(_, other)| other.as_neighbour == after) {
            let next = if matched {
                MATCHED
            } else {
                let in_class = alike.in_class.get(self.place);
                let is_in = |class: usize| in_class.and_then(|of| of.get(class)).copied().unwrap_or_default();
                let steps = closure.nodes.iter().filter_map(|node| self.nfa.step_by_class(*node, is_in));
                let mut nodes: Vec<usize> = steps.collect();
                nodes.sort_unstable();
                nodes.dedup();
                self.intern((nodes, after), alphabet)
            };
            self.next.get_mut(row + at).into_iter().for_each(|slot| *slot = Some(next));
            if at == symbol {
                answer = next;
            }
        }
        self.closure = closure;
        answer
    }

    fn intern(&mut self, state: State, alphabet: &Alphabet) -> u32 {
        if let Some(known) = self.index.get(&state) {
            return *known;
        }
        let at = u32::try_from(self.states.len()).unwrap_or(MATCHED);
        self.index.insert(state.clone(), at);
        self.states.push(state);
        self.next.resize(self.states.len() * alphabet.symbols.len(), None);
        self.accepting.push(None);
        at
    }
}
