//! The pure part of skillgraph: what a graph *is*, what can be wrong with it, and what it decides.
//!
//! A graph is declared once, as a [`decl::GraphDecl`]. The macro `skill_graph!` lowers source text to it with spans,
//! the run-time table that the macro emits turns into it without. Everything else starts from there:
//!
//! * [`check`] says what is wrong with a declaration; the macro turns each [`Finding`] into a compile error.
//! * [`skill_file`] reads skills that stand in files of their own.
//! * [`draw`] draws it.
//! * with the feature `turn`: `graph` compiles it (edges by source, all text rules in one matcher), `decide` is the one
//!   decision that moves the cursor, and `turn` is the conversation turn as a state machine without I/O.
//!
//! Nothing in this crate reads a clock, rolls a die, opens a socket or depends on hash order.

#![warn(unreachable_pub, missing_debug_implementations)]
// No input makes library code panic (SPEC 17).
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

#[cfg(feature = "turn")]
pub mod catalog;
pub mod check;
#[cfg(feature = "turn")]
pub mod decide;
pub mod decl;
pub mod draw;
pub mod excerpt;
pub mod finding;
#[cfg(feature = "turn")]
pub mod graph;
mod pattern;
mod policy;
#[cfg(feature = "turn")]
pub mod runbook;
pub mod score;
pub mod skill_file;
pub mod suggest;
pub mod text;
#[cfg(feature = "turn")]
pub mod turn;

#[cfg(feature = "turn")]
pub use finding::Report;
pub use finding::{Code, Finding, Level, Note};
pub use policy::{Disclosure, ModelTier, Reset, SkillPolicy};
