//! A line of text with carets under the part that is meant, for texts that have no span of their own.

use std::ops::Range;

use crate::text::{is_control, printable};

/// How much of a long line is shown on either side of the part that is meant, in characters.
const MARGIN: usize = 40;

/// Where a byte of `text` stands: `name:line:column`.
///
/// Lines and columns count from 1, columns in characters. An offset outside the text points at its end.
pub fn position(name: &str, text: &str, at: usize) -> String {
    let (line_start, line_number, start) = line_of(text, at);
    let column = text.get(line_start..start).unwrap_or_default().chars().count();
    format!("{}:{line_number}:{}", printable(name), column + 1)
}

/// A character as a line with carets below it can show it: each takes one place.
fn shown(c: char) -> char {
    match c {
        '\t' => ' ',
        c if is_control(c) => '\u{fffd}',
        c => c,
    }
}

/// Draws the line of `text` that holds the byte range `part`, under its [`position`].
pub fn excerpt(name: &str, text: &str, part: Range<usize>) -> String {
    let (line_start, line_number, start) = line_of(text, part.start);
    let end = text.floor_char_boundary(part.end).max(start);
    let line = text.get(line_start..).unwrap_or_default().lines().next().unwrap_or_default();
    let column = text.get(line_start..start).unwrap_or_default().chars().count();
    let width = text.get(start..end).unwrap_or_default().split('\n').next().unwrap_or_default().chars().count().max(1);

    let skipped = column.saturating_sub(MARGIN);
    let shown: String = line.chars().skip(skipped).take(2 * MARGIN + width).map(shown).collect();
    let gutter = " ".repeat(line_number.to_string().len());
    let indent = " ".repeat(column - skipped);
    let carets = "^".repeat(width.min(2 * MARGIN));
    format!(
        "{gutter}--> {}\n{gutter} |\n{line_number} | {shown}\n{gutter} | {indent}{carets}",
        position(name, text, start)
    )
}

/// Where the line of an offset begins, its number, and the offset inside the text.
fn line_of(text: &str, at: usize) -> (usize, usize, usize) {
    let start = text.floor_char_boundary(at);
    let before = text.get(..start).unwrap_or_default();
    (before.rfind('\n').map_or(0, |newline| newline + 1), before.matches('\n').count() + 1, start)
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn points_at_the_part() {
        assert_eq!(
            excerpt("body", "First line.\nCall {issue_refnd} now.", 18..29),
            " --> body:2:7\n  |\n2 | Call {issue_refnd} now.\n  |       ^^^^^^^^^^^"
        );
    }

    #[test]
    fn an_empty_range_and_the_end_of_the_text_get_one_caret() {
        assert_eq!(excerpt("pattern", "a(", 1..1), " --> pattern:1:2\n  |\n1 | a(\n  |  ^");
        assert_eq!(excerpt("pattern", "a(", 9..12), " --> pattern:1:3\n  |\n1 | a(\n  |   ^");
        assert_eq!(excerpt("pattern", "", 0..0), " --> pattern:1:1\n  |\n1 | \n  | ^");
    }

    #[test]
    fn long_lines_are_cut_around_the_part() {
        let text = format!("{}x{}", "a".repeat(500), "b".repeat(500));
        let drawn = excerpt("body", &text, 500..501);
        assert!(drawn.lines().all(|line| line.len() < 100), "{drawn}");
        assert!(drawn.contains("ax"), "{drawn}");
    }

    #[test]
    fn never_splits_a_character() {
        let text = "é{ü}";
        for start in 0..8 {
            for end in start..8 {
                excerpt("body", text, start..end);
            }
        }
    }
}
