//! The runtime of skillgraph: the loop that holds a model to a graph.
//!
//! An [`Agent`] is a graph, its tools and a [`Model`]. A [`Conversation`] sends it a user's messages. All rules are in the
//! turn machine of `skillgraph-core`; this crate only answers it: it asks the model, runs the tools, and hands on the
//! events. Use it through the crate `skillgraph`.

#![warn(unreachable_pub, missing_debug_implementations)]
// No input makes library code panic (SPEC 17).
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod agent;
mod authorize;
mod catalog;
mod conversation;
mod drive;
mod embeddings;
mod error;
#[doc(hidden)]
pub mod guard;
mod model;
mod parts;
mod recorder;
mod reply;
mod report;
mod scorer;
mod scripted;
mod stream;
mod task;
mod tool;
mod trace;

pub use agent::{Agent, AgentBuilder, BuildError};
pub use authorize::{Authorizer, AuthorizerError, Identity, Role, RoleAuthorizer};
pub use catalog::{CatalogSkill, CatalogSkillError};
pub use conversation::{Conversation, SavedConversation, Step};
pub use embeddings::{EmbeddingsError, StaticEmbeddings, StaticScorer};
pub use model::{AnyModel, Model, ModelError, ModelErrorKind, ModelFuture, Piece, Pieces};
pub use recorder::{Rejection, RouteRecorder};
pub use reply::{IntoReply, ToolReply, ToolReturn};
pub use report::{RunError, TurnReport};
pub use scorer::{EmbeddingScorer, IntentScorer, ModelScorer, ScorerError};
pub use scripted::ScriptedModel;
pub use stream::{OwnedTurnStream, StreamItem, TurnStream};
pub use tool::{BoundTool, DynTool, NoArgs, OutputTest, Tool, ToolContext, ToolOptions, TypedTest};
