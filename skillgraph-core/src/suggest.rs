//! The closest declared name to one that does not exist.

use std::collections::HashSet;

/// The candidate that was most likely meant: rustc's rule, an edit distance of at most a third of the longer name.
/// Of equally close candidates, the first in the order given.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= length.max(candidate.chars().count()).max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many characters must be put in, taken out or changed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (slot, to) in row.iter_mut().skip(1).zip(&b) {
            let above = *slot;
            let best = (diagonal + usize::from(from != *to)).min(left + 1).min(above + 1);
            diagonal = above;
            left = best;
            *slot = best;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// `1 word`, `2 words`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// `a`, `b`, and `c`: names in backticks with the Oxford comma, each once.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut seen = HashSet::new();
    let names = names.into_iter().filter(|name| seen.insert(*name));
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [firsts @ .., last] => format!("{}, and {last}", firsts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_found_and_far_ones_are_not() {
        let names = ["lookup_order", "issue_refund", "a"];
        assert_eq!(closest("lookup_ordr", names), Some("lookup_order"));
        assert_eq!(closest("issue_refnd", names), Some("issue_refund"));
        assert_eq!(closest("b", names), Some("a"));
        assert_eq!(closest("weather", names), None);
        assert_eq!(closest("", [""; 0]), None);
    }

    #[test]
    fn distances_are_edit_distances() {
        for (a, b, expected) in [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 2)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn lists_read_as_english() {
        assert_eq!(listed(["a"]), "`a`");
        assert_eq!(listed(["a", "b"]), "`a` and `b`");
        assert_eq!(listed(["a", "b", "c"]), "`a`, `b`, and `c`");
    }
}
