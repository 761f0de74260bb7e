//! `cargo +nightly fuzz run skill_file`: the reader of SKILL.md on any text.
#![no_main]

#[path = "../src/skill_text.rs"]
mod skill_text;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = skill_text::Text::arbitrary(&mut Unstructured::new(data)) {
        skill_text::check(&text.0);
    }
});
