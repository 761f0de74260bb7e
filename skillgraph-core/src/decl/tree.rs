//! `tree { if … { a } else { b } }`: conditions that choose the skill.
// SPEC 3.5.

use super::{Condition, Word};

/// A whole tree.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct Tree<S> {
    /// Where it was written.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub at: S,
    /// Where it begins.
    pub root: Branch<S>,
}

/// A part of a tree.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub enum Branch<S> {
    /// A skill, by identifier.
    Leaf(Word<S>),
    /// A condition, and what follows from it.
    Fork(Box<Fork<S>>),
}

/// `if … { … } else { … }`.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct Fork<S> {
    /// Where the `if` was written.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub at: S,
    /// What is asked of the message.
    pub condition: Condition<S>,
    /// Where it holds.
    pub then: Branch<S>,
    /// Where it does not.
    pub otherwise: Option<Branch<S>>,
}

impl<S> Branch<S> {
    /// The skills of the tree, in the order of the source.
    pub fn leaves(&self) -> Vec<&Word<S>> {
        let branches = self.in_order().into_iter();
        branches.filter_map(|branch| if let Branch::Leaf(skill) = branch { Some(skill) } else { None }).collect()
    }

    /// The conditions of the tree, in the order of the source.
    pub fn forks(&self) -> Vec<&Fork<S>> {
        let branches = self.in_order().into_iter();
        branches.filter_map(|branch| if let Branch::Fork(fork) = branch { Some(&**fork) } else { None }).collect()
    }

    /// It and all that is in it, in the order of the source.
    fn in_order(&self) -> Vec<&Self> {
        let mut branches = Vec::new();
        let mut pending = vec![self];
        while let Some(branch) = pending.pop() {
            branches.push(branch);
            if let Branch::Fork(fork) = branch {
                pending.extend(&fork.otherwise);
                pending.push(&fork.then);
            }
        }
        branches
    }
}
