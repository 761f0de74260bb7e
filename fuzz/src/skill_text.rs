//! Texts that may stand in a SKILL.md: a sound one with pieces of it removed, doubled, moved, or others put in; and what must
//! hold of the reader whatever it is given.

use arbitrary::{Arbitrary, Result, Unstructured};
use skillgraph::core::excerpt::excerpt;
use skillgraph::core::skill_file::read;

/// Every key once.
const SEED: &str = "---\nname: billing\ndescription: \"Money: back\"\ntools: [look-up, pay]\nsteps:\n  - look-up: look first\n  \
    - pay: 'then pay'\non-skip: hold\nsurface: both\nroutes:\n  - audit-log\n  - triage: on any[look-up, pay] is denied | \
    failure where total.cents > -5 && state not in [\"a\", 1.5, true] as \"large\"\nlicense: MIT\ncompatibility: >-\n  Needs \
    the\n  shop\nallowed-tools: Bash(git add:*) Read\nmetadata:\n  owner: {team: desk}\n---\n\nLook first.\n---\nThen pay.\n";

/// What an edit may put in.
const PIECES: [&str; 30] = [
    "\n", ": ", ":", "- ", "---\n", "\"", "'", "#", " #", "[", "]", "{", "}", ",", "|", ">", ">-\n  ", "*x", "&x ",
    "!x ", "@", "%", "\t", "\r\n", "\r", "\u{feff}", "\u{0}", "退", "null", "123",
];

/// A text.
#[derive(Debug)]
pub(crate) struct Text(pub(crate) String);

impl<'a> Arbitrary<'a> for Text {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        if u.ratio(1, 8)? {
            return Ok(Self(String::from_utf8_lossy(u.bytes(u.len())?).into_owned()));
        }
        let mut text: Vec<char> = SEED.chars().collect();
        for _ in 0..u.int_in_range(0..=6)? {
            let at = u.choose_index(text.len())?;
            let end = (at + u.int_in_range(0..=20)?).min(text.len());
            match u.int_in_range(0..=3u8)? {
                0 => drop(text.drain(at..end)),
                1 => {
                    let piece: Vec<char> = text[at..end].to_vec();
                    text.splice(at..at, piece);
                }
                _ => drop(text.splice(at..at, u.choose(&PIECES)?.chars())),
            }
            if text.is_empty() {
                break;
            }
        }
        Ok(Self(text.into_iter().collect()))
    }
}

/// The reader never panics, says something of every text that it does not take, at a place that is one, and what it takes it
/// can write so that it reads back.
pub(crate) fn check(text: &str) {
    let first = read(text);
    for finding in first.findings.iter().chain(&first.notes) {
        let (start, end) = (finding.at.start, finding.at.end);
        assert!(start <= end && end <= first.text.len(), "{finding:?} in {text:?}");
        assert!(first.text.is_char_boundary(start) && first.text.is_char_boundary(end), "{finding:?} in {text:?}");
        excerpt("SKILL.md", &first.text, finding.at.clone());
    }
    let Some(file) = first.file.filter(|_| first.findings.is_empty()) else {
        assert!(!first.findings.is_empty(), "refused without a word: {text:?}");
        return;
    };
    let written = file.to_skill_md();
    let second = read(&written);
    assert!(second.findings.is_empty(), "{text:?} was written as {written:?}: {:?}", second.findings);
    assert_eq!(second.file.map(|file| file.to_skill_md()).as_deref(), Some(written.as_str()), "{text:?}");
}
