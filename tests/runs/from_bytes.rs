//! The fuzz target on the turn machine, bounded: `fuzz/src/operations.rs` says what is done and what must hold.

#[path = "../../fuzz/src/operations.rs"]
mod operations;

use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_operations_breaks_a_turn(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(scenario) = operations::Scenario::arbitrary(&mut Unstructured::new(&bytes)) {
            operations::run(&scenario);
        }
    }
}
