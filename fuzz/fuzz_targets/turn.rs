//! `cargo +nightly fuzz run turn`: the turn machine under any sequence of operations.
#![no_main]

#[path = "../src/operations.rs"]
mod operations;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(scenario) = operations::Scenario::arbitrary(&mut Unstructured::new(data)) {
        operations::run(&scenario);
    }
});
