//! `cargo +nightly fuzz run macro_input`: what an author may type, through the core of the macro crate. A crate of macros
//! exports nothing else, so its modules stand here by path.
#![no_main]
#![allow(dead_code)]

extern crate proc_macro;

#[path = "../../skillgraph-macros/src/ast.rs"]
mod ast;
#[path = "../../skillgraph-macros/src/docs.rs"]
mod docs;
#[path = "../src/edits.rs"]
mod edits;
#[path = "../../skillgraph-macros/src/emit/mod.rs"]
mod emit;
#[path = "../../skillgraph-macros/src/expand.rs"]
mod expand;
#[path = "../../skillgraph-macros/src/files.rs"]
mod files;
#[path = "../../skillgraph-macros/src/findings.rs"]
mod findings;
#[path = "../../skillgraph-macros/src/lower.rs"]
mod lower;
#[path = "../../skillgraph-macros/src/parse/mod.rs"]
mod parse;
#[path = "../../skillgraph-macros/src/place.rs"]
mod place;
#[path = "../../skillgraph-macros/src/tool.rs"]
mod tool;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(source) = edits::Source::arbitrary(&mut Unstructured::new(data)) else { return };
    let Ok(tokens) = source.text.parse() else { return };
    expand::graph(&quote::quote!(facade), tokens);
});
