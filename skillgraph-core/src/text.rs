//! How a user's message and an author's keyword are compared.
//!
//! Both are folded: compatibility-normalised (NFKC), case-folded, white space collapsed. Folding goes character by
//! character, each with the marks that combine with it, so that a place in the folded text can be found again in the
//! original. A keyword matches where its edges are word edges.
// SPEC 4, last paragraph.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind};
use unicase::UniCase;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Letters and digits of scripts that put spaces between words.
const SPACED_LETTERS: &str = r"[[\p{Alphabetic}\p{N}]--[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]]";

/// What folding can join to the character before it: marks, the half-width sound marks, the vowels and finals of Hangul, the two
/// vowels that begin with a mark, and what is dropped.
const COMBINING: &str = r"[\p{M}\x{E33}\x{EB3}\x{1160}-\x{11FF}\x{3131}-\x{318E}\x{D7B0}-\x{D7FF}\x{FF9E}-\x{FFDC}\p{Default_Ignorable_Code_Point}]";

/// What folding drops: characters that are there to be seen by software alone.
const IGNORED: &str = r"[\p{Default_Ignorable_Code_Point}]";

/// What is shown as nothing.
const INVISIBLE: &str = r"[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\x{2800}]";

/// A text on one line, as a list shows it: white space of any kind, line breaks above all, becomes one space. What one row
/// says cannot look like another row.
///
/// ```
/// use skillgraph_core::text::one_line;
///
/// assert_eq!(one_line("Refunds.\n\n  - admin: do all"), "Refunds. - admin: do all");
/// ```
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most so many characters of a text, with a sign where some are left out.
pub(crate) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default().trim_end())),
        None => Cow::Borrowed(text),
    }
}

/// A text on one line as a terminal can show it: what would control the terminal, or turn the direction of what follows, is written
/// as its number.
///
/// ```
/// use skillgraph_core::text::printable;
///
/// assert_eq!(printable("a\u{1b}[2J\u{202e}b\nc"), "a\\u{1b}[2J\\u{202e}b\\nc");
/// assert_eq!(printable("Größe 退款"), "Größe 退款");
/// ```
pub fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for c in text.chars() {
        if is_control(c) { printable.extend(c.escape_default()) } else { printable.push(c) }
    }
    printable
}

/// Whether a character controls what shows it: control characters, line and paragraph separators, and those of direction.
pub(crate) fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fff9}'..='\u{fffb}')
}

/// Whether nothing of a text can be seen: white space, characters that are shown as nothing, and no others.
///
/// ```
/// use skillgraph_core::text::is_blank;
///
/// assert!(is_blank(" \t\n") && is_blank("\u{200b}\u{2060}") && is_blank(""));
/// assert!(!is_blank("\u{200b}a"));
/// ```
pub fn is_blank(text: &str) -> bool {
    static CLASS: LazyLock<ClassUnicode> = LazyLock::new(|| class(INVISIBLE));
    text.chars().all(|c| if c.is_ascii() { c <= ' ' || c == '\u{7f}' } else { holds(&CLASS, c) })
}

/// Folds a text for comparison: as Unicode's NFKC_Casefold, so that invisible characters are dropped, and with white space
/// collapsed. A Turkish dotted `İ` is an `i`.
///
/// ```
/// use skillgraph_core::text::fold;
///
/// assert_eq!(fold("re\u{200b}fund\u{ad}"), "refund");
/// assert_eq!(fold("İADE"), "iade");
/// assert_eq!(fold("  Charged\tTWICE "), "charged twice");
/// assert_eq!(fold("ＲＥＦＵＮＤ"), "refund");
/// assert_eq!(fold("Maße"), "masse");
/// ```
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    for_each_folded(text, |piece, _| {
        folded.push_str(piece);
        true
    });
    folded
}

/// The part of `text` that became the given bytes of `fold(text)`.
pub fn unfold_range(text: &str, folded: Range<usize>) -> Range<usize> {
    let mut at = 0;
    let mut found: Option<Range<usize>> = None;
    for_each_folded(text, |piece, original| {
        let begins = at;
        at += piece.len();
        if at > folded.start && begins < folded.end {
            let start = found.as_ref().map_or(original.start, |range| range.start);
            found = Some(start..original.end);
        }
        at < folded.end
    });
    found.unwrap_or(text.len()..text.len())
}

/// Calls `each` with every folded piece and the bytes of the original that it came from, until it says no.
fn for_each_folded(text: &str, mut each: impl FnMut(&str, Range<usize>) -> bool) {
    let mut blank: Option<Range<usize>> = None;
    let mut begun = false;
    let mut buffer = String::new();
    let mut at = 0;
    while let Some(piece) = text.get(at..).and_then(first_piece) {
        fold_piece(piece, &mut buffer);
        let range = at..at + piece.len();
        at = range.end;
        let said = without_leading_space(&buffer);
        if said.len() < buffer.len() {
            blank = Some(blank.map_or(range.start, |blank| blank.start)..range.end);
        }
        if said.is_empty() {
            continue;
        }
        if let Some(blank) = blank.take().filter(|_| begun)
            && !each(" ", blank)
        {
            return;
        }
        begun = true;
        if !each(said, range) {
            return;
        }
    }
}

/// A folded piece without the white space that it begins with; a space that carries a mark is none.
fn without_leading_space(piece: &str) -> &str {
    let rest = piece.trim_start();
    if rest.starts_with(combines) { piece } else { rest }
}

/// A character and what combines with it. `None` of an empty text.
fn first_piece(text: &str) -> Option<&str> {
    let mut chars = text.char_indices();
    chars.next()?;
    let end = chars.find(|(_, c)| !combines(*c)).map_or(text.len(), |(at, _)| at);
    text.get(..end)
}

/// Whether normalisation can join the character to the one before it.
pub(crate) fn combines(c: char) -> bool {
    !c.is_ascii() && holds(combining(), c)
}

/// The characters that normalisation can join to the one before them.
pub(crate) fn combining() -> &'static ClassUnicode {
    static CLASS: LazyLock<ClassUnicode> = LazyLock::new(|| class(COMBINING));
    &CLASS
}

fn fold_piece(piece: &str, folded: &mut String) {
    folded.clear();
    if piece.is_ascii() {
        folded.extend(piece.chars().map(|c| c.to_ascii_lowercase()));
        return;
    }
    folded.push_str(&casefolded(piece));
}

/// Unicode's NFKC_Casefold.
fn casefolded(text: &str) -> String {
    let normal: String = text.chars().filter(|c| !is_ignored(*c)).nfkc().filter(|c| !is_ignored(*c)).collect();
    let folded = UniCase::unicode(normal.replace('\u{130}', "i")).to_folded_case();
    folded.nfkc().filter(|c| !is_ignored(*c)).collect()
}

pub(crate) fn is_ignored(c: char) -> bool {
    static CLASS: LazyLock<ClassUnicode> = LazyLock::new(|| class(IGNORED));
    !c.is_ascii() && holds(&CLASS, c)
}

/// The text in Unicode's form C, as patterns read it: `e` and a mark of accent are one character, as in a pattern that was typed.
pub(crate) fn composed(text: &str) -> Cow<'_, str> {
    if is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// Whether a keyword that was found at these bytes of a folded text stands there as words.
///
/// An edge is demanded only between two letters or digits of scripts that put spaces between words, and a match never
/// ends before a mark that combines with it.
pub fn stands_as_words(folded: &str, found: Range<usize>) -> bool {
    is_word_edge(folded, found.start) && is_word_edge(folded, found.end)
}

/// Where words can begin or end in a folded text, its start and its end included.
pub(crate) fn word_edges(folded: &str) -> Vec<usize> {
    let places = folded.char_indices().map(|(at, _)| at).chain([folded.len()]);
    places.filter(|at| is_word_edge(folded, *at)).collect()
}

fn is_word_edge(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    let after = text.get(at..).and_then(|after| after.chars().next());
    let (Some(before), Some(after)) = (before, after) else { return true };
    let inside_a_word = is_spaced_letter(before) && is_spaced_letter(after);
    !inside_a_word && !combines(after)
}

/// The stretches of letters of a folded text, in order, each with whether its script puts spaces between words.
pub(crate) fn stretches(folded: &str) -> impl Iterator<Item = (bool, &str)> {
    folded.split(|c: char| !c.is_alphanumeric() && !combines(c)).flat_map(|run| {
        let mut rest = run;
        std::iter::from_fn(move || {
            let first = rest.chars().next()?;
            let spaced = is_spaced_letter(first);
            let end = rest.find(|c: char| !combines(c) && is_spaced_letter(c) != spaced).unwrap_or(rest.len());
            let (stretch, after) = rest.split_at(end.max(first.len_utf8()));
            rest = after;
            Some((spaced, stretch))
        })
    })
}

/// Whether it is a letter or digit of a script that puts spaces between words.
pub(crate) fn is_spaced_letter(c: char) -> bool {
    static CLASS: LazyLock<ClassUnicode> = LazyLock::new(|| class(SPACED_LETTERS));
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { holds(&CLASS, c) }
}

/// The characters that a bracketed class of the `regex` crate stands for.
pub(crate) fn class(source: &str) -> ClassUnicode {
    match regex_syntax::parse(source).map(Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        _ => ClassUnicode::empty(),
    }
}

/// Whether the class holds the character.
pub(crate) fn holds(class: &ClassUnicode, c: char) -> bool {
    let ranges = class.ranges();
    let at = ranges.partition_point(|range| range.end() < c);
    ranges.get(at).is_some_and(|range| range.start() <= c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(keyword: &str, message: &str) -> bool {
        let (keyword, message) = (fold(keyword), fold(message));
        message.match_indices(&keyword).any(|(at, found)| stands_as_words(&message, at..at + found.len()))
    }

    #[test]
    fn words_end_where_spaced_scripts_end() {
        for (keyword, message, expected) in [
            ("refund", "REFUND!", true),
            ("refund", "Refunds", false),
            ("refund", "a refund_id", true),
            ("git", "legitimate", false),
            ("charge", "my charger broke", false),
            ("visa card", "my visa  \n card", true),
            ("café", "cafés", false),
            ("c++", "I write c++.", true),
            (".net", "the .net runtime", true),
            ("refund", "我要refund一下", true),
            ("退款", "我要退款谢谢", true),
            ("decision", "今日のdecisionについて", true),
            ("환불", "환불해주세요", true),
            ("refund", "，refund，", true),
            ("คืนเงิน", "อยากคืนเงินครับ", true),
            ("ﬁle", "FILE", true),
            ("STRASSE", "straße", true),
            ("a", "a\u{301}", false),
            ("ι", "ͺ", true),
        ] {
            assert_eq!(matches(keyword, message), expected, "{keyword} in {message}");
        }
    }

    #[test]
    fn ranges_lead_back_to_the_original() {
        let message = "  I was  ＣＨＡＲＧＥＤ \t twice, Straße 退款";
        let folded = fold(message);
        for (part, original) in
            [("charged twice", "ＣＨＡＲＧＥＤ \t twice"), ("strasse", "Straße"), ("退款", "退款"), ("i was", "I was")]
        {
            let at = folded.find(part).expect(part);
            assert_eq!(&message[unfold_range(message, at..at + part.len())], original);
        }
        assert_eq!(unfold_range("ab", 7..9), 2..2);
    }

    /// The whole text at once, as the rule says it.
    fn folded_whole(text: &str) -> String {
        let folded = casefolded(text);
        // A mark after a space belongs to it: the two are no white space.
        let is_blank =
            |at: usize, c: char| c.is_whitespace() && !folded[at + c.len_utf8()..].chars().next().is_some_and(combines);
        let mut collapsed = String::new();
        for (at, c) in folded.char_indices() {
            match is_blank(at, c) {
                true if collapsed.is_empty() || collapsed.ends_with('\0') => {}
                true => collapsed.push('\0'),
                false => collapsed.push(c),
            }
        }
        collapsed.trim_end_matches('\0').replace('\0', " ")
    }

    /// Text with what makes folding hard in it.
    const TEXT: &str = "([\u{200b}\u{ad}\u{e33}\u{eb3}\u{130}\u{3164}]|[a-zA-Zé ]|\\PC|[\u{300}-\u{345}]|[\u{1100}-\u{11ff}]|[\u{3130}-\u{318f}]|[\u{9c7}-\u{9d7}]|\
                        [\u{ff00}-\u{ffef}]|[\u{1d400}-\u{1d7ff}]|[\u{fb00}-\u{fb06}]|[\u{3099}-\u{309c}ガ´ \t]){0,12}";

    /// Pieces end where nothing that follows can change them.
    #[test]
    fn m90_whatever_folds_to_a_mark_first_belongs_to_the_piece_before() {
        for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            let folded = casefolded(c.encode_utf8(&mut [0; 4]));
            if !c.is_ascii() && folded.chars().next().is_none_or(combines) {
                assert!(combines(c), "U+{:04X}", u32::from(c));
            }
        }
    }

    #[test]
    fn f50_what_cannot_be_seen_is_dropped() {
        for hidden in ['\u{200b}', '\u{ad}', '\u{200d}', '\u{2060}', '\u{fe0f}', '\u{feff}', '\u{e0041}', '\u{180e}'] {
            assert_eq!(fold(&format!("re{hidden}fund")), "refund", "{hidden:?}");
            assert_eq!(fold(&format!("{hidden}a {hidden} b{hidden}")), "a b", "{hidden:?}");
            assert!(matches("refund", &format!("a re{hidden}fund{hidden}, please")), "{hidden:?}");
            assert!(!matches("refund", &format!("a refund{hidden}able")), "{hidden:?}");
        }
        assert!(matches("iade", "İADE") && matches("iade", "I\u{307}ADE") && matches("İade", "iade"));
        assert_eq!(fold("\u{200b}\u{200d}"), "");
    }

    #[test]
    fn the_classes_are_read() {
        assert!(combines('\u{301}') && combines('\u{FF9E}') && !combines('e'));
        assert!(is_spaced_letter('é') && is_spaced_letter('ж') && !is_spaced_letter('退') && !is_spaced_letter('ก'));
    }

    proptest::proptest! {
        #[test]
        fn pieces_fold_as_the_whole(text in TEXT) {
            proptest::prop_assume!(!text.contains('\0'));
            proptest::prop_assert_eq!(fold(&text), folded_whole(&text));
        }

        #[test]
        fn folding_never_panics_and_holds_still(text in "\\PC{0,40}", at in 0usize..60, len in 0usize..20) {
            let folded = fold(&text);
            proptest::prop_assert_eq!(fold(&folded), folded.clone());
            let range = unfold_range(&text, at..at + len);
            proptest::prop_assert!(text.get(range).is_some());
            stands_as_words(&folded, at..at + len);
        }
    }
}
