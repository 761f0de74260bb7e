//! What opens a skill at the start of a turn, and what fires an edge.

use super::{GuardTerm, StatusSet, TextList, Word};

/// An entry rule.
// SPEC 4, tier 1.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub enum Condition<S> {
    /// `matches("…")`: a pattern of the `regex` crate, found anywhere in the message.
    Matches(Word<S>),
    /// `keywords["…", …]`: any of these phrases, as words.
    Keywords {
        /// Where the list was written.
        #[cfg_attr(feature = "turn", serde(skip))]
        at: S,
        /// The phrases.
        list: Vec<Word<S>>,
    },
    /// `all[…]`: every one of these.
    All {
        /// Where the list was written.
        #[cfg_attr(feature = "turn", serde(skip))]
        at: S,
        /// The parts.
        list: Vec<Condition<S>>,
    },
    /// `|message| …`: the author's own code, known here by its source text alone.
    Closure(Word<S>),
    /// `intent("…", ["…"])`: what the user may want, for a scorer.
    // SPEC 4, tier 2.
    Intent {
        /// What it is about.
        intent: Word<S>,
        /// Messages that mean it.
        examples: TextList<S>,
    },
    /// `picked`: only the menu of a turn's start leads here.
    Picked {
        /// Where the word was written.
        #[cfg_attr(feature = "turn", serde(skip))]
        at: S,
    },
}

/// What fires an edge.
// SPEC 1.1 `trigger`, 3.2, 3.3.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub enum Trigger<S> {
    /// `~>`: nothing but the model's own accepted pick.
    Pick,
    /// `on … [is …] [where … | when |…| …]`: a tool returned.
    Returns {
        /// Which tools.
        tools: TriggerTools<S>,
        /// Which statuses, where the author said so.
        statuses: Option<StatusSet>,
        /// What must hold of the output; empty where nothing is asked.
        #[cfg_attr(feature = "turn", serde(skip_serializing_if = "Vec::is_empty"))]
        guard: Vec<GuardTerm<S>>,
        /// The author's own test of the result, by its source text.
        closure: Option<Word<S>>,
    },
    /// `when |result| …`: the author's own test of every result.
    Closure(Word<S>),
}

/// The tools that an edge listens to.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub enum TriggerTools<S> {
    /// One tool, by identifier.
    One(Word<S>),
    /// `any[…]`: each of these, by identifier.
    AnyOf {
        /// Where the list was written.
        #[cfg_attr(feature = "turn", serde(skip))]
        at: S,
        /// The tools.
        list: Vec<Word<S>>,
    },
    /// `any`: whatever returned.
    Any {
        /// Where the word was written.
        #[cfg_attr(feature = "turn", serde(skip))]
        at: S,
    },
}

impl<S> Condition<S> {
    /// Where it was written.
    pub fn at(&self) -> &S {
        match self {
            Condition::Matches(word) | Condition::Closure(word) => &word.at,
            Condition::Intent { intent, .. } => &intent.at,
            Condition::Keywords { at, .. } | Condition::All { at, .. } | Condition::Picked { at } => at,
        }
    }

    /// Whether it is tried on the message itself, before any scorer.
    pub fn is_rule(&self) -> bool {
        !matches!(self, Condition::Intent { .. } | Condition::Picked { .. })
    }
}

impl<S> TriggerTools<S> {
    /// The tools that are named; none for `any`.
    pub fn named(&self) -> &[Word<S>] {
        match self {
            TriggerTools::One(tool) => std::slice::from_ref(tool),
            TriggerTools::AnyOf { list, .. } => list,
            TriggerTools::Any { .. } => &[],
        }
    }
}

impl<S> Trigger<S> {
    /// Whether nothing but the model's own pick takes the edge.
    pub fn is_pick(&self) -> bool {
        matches!(self, Trigger::Pick)
    }

    /// Whether the result must pass a test of the author's, not only come from the right tool.
    pub fn is_guarded(&self) -> bool {
        match self {
            Trigger::Pick => false,
            Trigger::Returns { guard, closure, .. } => !guard.is_empty() || closure.is_some(),
            Trigger::Closure(_) => true,
        }
    }

    /// The statuses that let this edge fire: success and partial unless the author said otherwise.
    // SPEC 3.3.
    pub fn statuses(&self) -> StatusSet {
        match self {
            Trigger::Pick => StatusSet::NONE,
            Trigger::Returns { statuses, .. } => statuses.unwrap_or(StatusSet::RETURNED),
            Trigger::Closure(_) => StatusSet::ANY,
        }
    }

    /// What must hold of the output; empty where nothing is asked.
    pub fn guard(&self) -> &[GuardTerm<S>] {
        match self {
            Trigger::Returns { guard, .. } => guard,
            Trigger::Pick | Trigger::Closure(_) => &[],
        }
    }
}
