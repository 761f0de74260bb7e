//! What the compiler says (SPEC 2): every code has a folder with programs that are refused, the exact text, and
//! `fixed.rs`, a small change that compiles; a warning also has `allowed.rs`, in which its author says that it is meant. Whole texts are compared; CONTRIBUTING.md says how to bless new ones.

use std::path::{Path, PathBuf};

use skillgraph::core::{Code, Level};

/// The programs of a folder: those that compile, and those that do not.
fn cases(folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder of cases");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    files.sort();
    files.into_iter().partition(|file| file.file_stem().is_some_and(|stem| stem == "fixed" || stem == "allowed"))
}

/// The folders of cases in a folder.
fn folders(of: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(of).expect("a folder of folders");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    folders.sort();
    folders
}

fn answer_as_written(folder: &str) {
    bring_files();
    let (sound, refused): (Vec<_>, Vec<_>) = folders(folder).iter().map(|folder| cases(folder)).unzip();
    // Apart from sound ones, refused programs are checked in one build; a sound one among them, and each is built alone.
    let tests = trybuild::TestCases::new();
    refused.iter().flatten().for_each(|program| tests.compile_fail(program));
    drop(tests);
    trybuild::TestCases::new().pass(together(folder, sound.into_iter().flatten()));
}

/// The files that programs read: programs are built in a folder of their own, and read nothing outside of it.
fn bring_files() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder");
        let project = target.join("tests/trybuild").join(env!("CARGO_PKG_NAME"));
        for folder in ["skills", "team", "broken", "deep"] {
            copy(&Path::new("tests/ui/skill-file").join(folder), &project.join("skill-file").join(folder));
        }
    });
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let (from, to) = entry.map(|entry| (entry.path(), to.join(entry.file_name()))).expect("an entry");
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(from, to).expect("a file");
        }
    }
}

/// Sound programs as the modules of one: a program each would have to be linked each. Those with a public `main` are run.
fn together(folder: &str, programs: impl Iterator<Item = PathBuf>) -> PathBuf {
    let (mut modules, mut runs) = (String::new(), String::new());
    for (at, program) in programs.enumerate() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&program);
        modules.push_str(&format!("#[path = {path:?}]\nmod program_{at};\n"));
        if std::fs::read_to_string(&program).expect("a program").contains("\npub fn main()") {
            runs.push_str(&format!("    program_{at}::main();\n"));
        }
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder.replace('/', "-")).with_extension("rs");
    std::fs::write(&path, format!("{modules}\nfn main() {{\n{runs}}}\n")).expect("a file");
    path
}

#[test]
fn every_code_has_a_folder_with_refusals_and_a_fix() {
    let page = include_str!("../src/code_page.rs");
    for code in Code::ALL {
        assert!(page.contains(&format!("    \"{code}\", ")), "`{code}` is not on the page of codes, src/code_page.rs");
        if code.needs_running() {
            continue;
        }
        let folder = ["tests/ui", "tests/ui-rustc"].map(|root| Path::new(root).join(code.as_str()));
        let folder = folder.iter().find(|folder| folder.is_dir()).unwrap_or_else(|| panic!("`{code}` has no folder"));
        let (fixed, refused) = cases(folder);
        let sound = if code.level() == Level::Warning { 2 } else { 1 };
        assert_eq!(fixed.len(), sound, "`{code}` needs fixed.rs, and a warning allowed.rs");
        assert!(refused.len() >= 2, "`{code}` has too few refused programs");
        let texts = refused.iter().map(|program| std::fs::read_to_string(program.with_extension("stderr")));
        let shown = texts.filter(|text| text.as_ref().is_ok_and(|text| text.contains(&format!("[{code}]")))).count();
        assert!(shown >= 2, "`{code}` is shown by {shown} of its texts");
    }
}

/// Our own texts: the same on every compiler.
#[test]
fn every_program_is_answered_as_written() {
    answer_as_written("tests/ui");
}

/// Texts that are rustc's, in whole or in part: compared on the compiler that they were written with.
#[rustversion::attr(not(stable(1.95)), ignore = "the texts are those of Rust 1.95")]
#[test]
fn rustc_speaks_where_it_is_better() {
    answer_as_written("tests/ui-rustc");
}

/// Texts that hang on a compiler's own words go red with the next one: they stand in `tests/ui-rustc`, which is skipped
/// there. All others are checked on every compiler.
#[test]
fn b40_our_texts_do_not_hang_on_a_compiler() {
    for folder in folders("tests/ui") {
        for program in cases(&folder).1 {
            let text = std::fs::read_to_string(program.with_extension("stderr")).expect("a text");
            assert!(!text.contains("error[E"), "rustc speaks in {}", program.display());
            let ours = text.lines().filter(|line| line.starts_with("error: ") || line.starts_with("warning: "));
            for line in ours {
                let named = Code::ALL.iter().any(|code| line.contains(&format!("[{code}]")));
                assert!(named, "a line without a code in {}: {line}", program.display());
            }
        }
    }
}

/// Ten mistakes of a graph are ten findings of one run, and the rest of the crate is still checked.
#[test]
fn ten_mistakes_are_ten_findings() {
    let text = std::fs::read_to_string("tests/ui-rustc/ten-mistakes/ten_at_once.stderr").expect("a text");
    assert_eq!(text.lines().filter(|line| line.starts_with("error: ")).count(), 10);
    assert!(text.contains("error[E0308]"));
}
