//! What the README shows of the compiler is what the compiler says. Its code is a doctest of the facade.

#[test]
fn the_errors_shown_are_the_real_ones() {
    let readme = include_str!("../README.md");
    let real =
        include_str!("ui/readme/three_mistakes.stderr").replace("tests/ui/readme/three_mistakes.rs", "src/main.rs");
    assert!(readme.contains(real.trim()), "bless the README: it should show\n{real}");
}
