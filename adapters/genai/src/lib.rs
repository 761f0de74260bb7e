//! Real models for skillgraph agents: OpenAI and everything that speaks its format, Anthropic, Gemini, Ollama. Which provider a name
//! belongs to, where it is and where its key is, is known by the [`genai`] crate; requests are written and replies read here.
//!
//! ```no_run
//! use skillgraph_genai::GenaiModel;
//!
//! # fn main() -> Result<(), skillgraph_genai::BuildError> {
//! // The name says which provider; the key is in OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, …
//! let model = GenaiModel::new("claude-sonnet-4-6").max_tokens(2_000).build()?;
//!
//! // Anything that speaks OpenAI's format, on any address.
//! let local = GenaiModel::new("qwen3").endpoint("http://127.0.0.1:8080/v1").build()?;
//!
//! // An endpoint without tool calls of its own: its reply is bound to one of the offered calls or an answer.
//! let small = GenaiModel::new("smollm2").endpoint("http://127.0.0.1:8080/v1").constrained().build()?;
//! # let _ = (model, local, small);
//! # Ok(())
//! # }
//! ```
//!
//! Replies are read as a stream, whether or not anybody watches it: so calls come as the model wrote them, blank and cut off
//! ones too, and a stalled connection shows. What a provider does wrong becomes what a turn can go on from:
//!
//! * 429, 5xx and broken connections are tried again, after what `Retry-After` says, else after a wait that doubles; never
//!   when a piece of the reply has been handed on. It is this one request that is sent again: tools do not run again.
//! * An endpoint that is silent for too long, or breaks off, ends the turn with an error that says so; the conversation goes on.
//! * Whether there are calls decides if a turn goes on, not the stop reason. A reason that nobody knows is kept as it is.
//! * Dropping the turn closes the connection.
//! * Calls are put together from whatever pieces they come in: without an index, with an id that comes late or twice, with arguments
//!   as an object. A stop that promises calls where there are none is an error, and not an answer.
//! * Thoughts that a provider wants back, and what it signs of them, are kept with the message that they came with, and sent back
//!   with it.
//! * No redirect is followed, and an endpoint of one's own is sent no key but the one that was given for it.
//! * A reply has a longest time and a largest size, so that no endpoint holds a turn for ever or fills the memory.

#![warn(unreachable_pub, missing_debug_implementations)]
// No input makes library code panic (SPEC 17).
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod assembly;
mod client;
mod constrained;
mod failure;
mod format;
mod frames;
mod model;

pub use genai;
pub use genai::adapter::AdapterKind as Provider;
pub use model::{BuildError, GenaiModel, GenaiModelBuilder};
pub use reqwest;
