//! Runs of whole agents: turns and conversations, streams, saves, permissions, the catalog. One program, since each links all of
//! the library.

mod catalog;
#[path = "../common/mod.rs"]
mod common;
mod conversations;
mod data;
mod embeddings;
mod from_bytes;
mod governor;
mod guards;
mod permissions;
mod resume;
mod start;
mod streaming;
mod surfaces;
#[cfg(feature = "tracing")]
mod tracing;
mod tree;
mod turn;
mod wire;
