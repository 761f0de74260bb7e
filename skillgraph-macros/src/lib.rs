//! The macros of skillgraph. Use them through the crate `skillgraph`.
//!
//! This crate is a shell: it parses source text (recovering from mistakes), lowers it to the declaration of
//! `skillgraph-core`, lets the core check it, and emits a module, with or without errors beside it.

#![warn(unreachable_pub)]
// No input makes library code panic (SPEC 17).
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod ast;
mod docs;
mod emit;
mod expand;
mod files;
mod findings;
mod lower;
mod parse;
mod place;
mod tool;

use proc_macro2::TokenStream;

/// `skill_graph!` behind its wrapper in the facade: the first token tree is the path to the facade, the rest is the graph.
#[doc(hidden)]
#[proc_macro]
pub fn skill_graph(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let mut tokens = TokenStream::from(input).into_iter();
    let facade: TokenStream = tokens.next().into_iter().collect();
    expand::graph(&facade, tokens.collect()).into()
}

/// Makes a tool of an async function.
///
/// The function stays as it is. Beside it stands a unit struct named after it (`find_ticket` gives `FindTicket`) that
/// implements `skillgraph::Tool`: its `NAME` is the function's name, its `DESCRIPTION` the doc comment.
///
/// * No parameter, or one: the arguments, any type that is `serde::Deserialize + schemars::JsonSchema`.
/// * A leading `&T` makes the struct `FindTicket(pub Arc<T>)`: the shared state that the tool works on.
/// * A `&ToolContext` is passed through.
/// * The function returns `Result<T, E>` or `Result<ToolReply<T>, E>` with `T: Serialize` and `E: Display`.
///
/// Options, with commas between them:
///
/// | option | says |
/// |---|---|
/// | `exclusive` | no other tool may run at the same time |
/// | `timeout = Duration::from_secs(5)` | how long it may take, instead of the agent's own limit |
/// | `name = "find-ticket"` | what the model calls it, instead of the function's name |
/// | `struct = FindTicketTool` | what the struct is called: where a type of that name is there already |
/// | `capabilities("payments.write")` | what somebody must be allowed to run it, beside `tool_call` |
/// | `crate = path` | the facade, where it is not called `skillgraph` |
// SPEC 14.2.
#[proc_macro_attribute]
pub fn tool(options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    tool::expand(options.into(), item.into()).into()
}
