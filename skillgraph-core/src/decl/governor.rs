//! `governor { … }`: when a run is spinning, and what is done about it.
// SPEC 8.

use super::Word;

/// A governor as declared.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct Governor<S> {
    /// Where it was written.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub at: S,
    /// How much is too much.
    pub limits: GovernorLimits,
    /// What is done then.
    pub then: GovernorThen<S>,
}

/// How much is too much, within one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct GovernorLimits {
    /// Moves to and fro between two skills, one after the other.
    pub ping_pong: u32,
    /// Refused picks without a move between them.
    pub refusals: u32,
    /// The same call, name and arguments, one after the other.
    pub repeats: u32,
}

impl GovernorLimits {
    /// Four moves, three refusals, three calls.
    pub const DEFAULT: GovernorLimits = GovernorLimits { ping_pong: 4, refusals: 3, repeats: 3 };
}

/// What a governor does.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
#[cfg_attr(feature = "turn", serde(rename_all = "snake_case"))]
pub enum GovernorThen<S> {
    /// Ends the turn.
    Stop,
    /// Tells the model.
    Warn,
    /// Asks the model of that name from then on.
    Escalate(Word<S>),
}
