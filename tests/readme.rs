//! What the README shows of the compiler is what the compiler says. Its code is a doctest of the facade.

#[test]
fn the_errors_shown_are_the_real_ones() {
    let readme = include_str!("../README.md");
    let real =
        include_str!("ui/readme/three_mistakes.stderr").replace("tests/ui/readme/three_mistakes.rs", "src/main.rs");
    assert!(readme.contains(real.trim()), "bless the README: it should show\n{real}");
}

/// The sources of the crates that people depend on.
fn sources(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The documentation explains itself: the specification does not ship with it.
#[test]
fn no_documentation_cites_what_does_not_ship() {
    let mut files = Vec::new();
    for crate_folder in
        ["", "skillgraph-core", "skillgraph-macros", "skillgraph-runtime", "skillgraph-cli", "adapters/genai"]
    {
        sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(crate_folder).join("src"), &mut files);
    }
    assert!(files.len() > 100, "{} files", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a file");
        let docs = text.lines().filter(|line| ["///", "//!"].iter().any(|mark| line.trim_start().starts_with(mark)));
        for line in docs {
            assert!(!line.contains("SPEC ") && !line.contains("DESIGN"), "{}: {line}", file.display());
        }
    }
}
