//! Sources that an author may come by: a sound graph, with pieces of it removed, doubled, moved, or others put in.

use arbitrary::{Arbitrary, Result, Unstructured};

/// Every construct once.
pub(crate) const GRAPH: &str = include_str!("../seeds/graph.txt");
/// The same with a tree.
pub(crate) const TREE: &str = include_str!("../seeds/tree.txt");

/// What an edit may put in.
const PIECES: [&str; 28] = [
    ";", ",", ":", "->", "~>", "|", "=", "&&", "{}", "[]", "()", "#", "!", "_", "x", "1", "-1.5", "\"\"", "\"s\"",
    "skill", "entry", "route", "tools", "steps", "when", "where", "r#type", "\u{fffd}",
];

/// A source text.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) text: String,
}

impl<'a> Arbitrary<'a> for Source {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let seed = if u.arbitrary()? { GRAPH } else { TREE };
        let mut words: Vec<String> = words(seed);
        for _ in 0..u.int_in_range(0..=8)? {
            let at = u.choose_index(words.len())?;
            match u.int_in_range(0..=4u8)? {
                0 => drop(words.remove(at)),
                1 => words.insert(at, words[at].clone()),
                2 => words.insert(at, (*u.choose(&PIECES)?).to_owned()),
                3 => words[at] = (*u.choose(&PIECES)?).to_owned(),
                _ => {
                    let other = u.choose_index(words.len())?;
                    words.swap(at, other);
                }
            }
            if words.is_empty() {
                break;
            }
        }
        Ok(Self { text: words.join(" ") })
    }
}

/// The text at white space: short pieces, which an edit can leave unbalanced. Then they are no tokens, and nothing is tried.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
