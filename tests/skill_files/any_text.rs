//! The fuzz target on the reader, bounded: `fuzz/src/skill_text.rs` says what is tried and what must hold.

#[path = "../../fuzz/src/skill_text.rs"]
mod skill_text;

use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused_at_a_place(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        if let Ok(text) = skill_text::Text::arbitrary(&mut Unstructured::new(&bytes)) {
            skill_text::check(&text.0);
        }
    }
}
