//! How a user's message and an author's keyword are compared (SPEC 4, last paragraph).
//!
//! Both are folded: compatibility-normalised (NFKC), case-folded, white space collapsed. Folding goes grapheme cluster by
//! grapheme cluster, so that a place in the folded text can be found again in the original. A keyword matches where its
//! edges are word edges.

use std::ops::Range;

use unicase::UniCase;
use unicode_normalization::UnicodeNormalization;
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// Scripts that put no spaces between words.
const WITHOUT_SPACES: [Script; 8] = [
    Script::Han,
    Script::Hiragana,
    Script::Katakana,
    Script::Hangul,
    Script::Thai,
    Script::Lao,
    Script::Khmer,
    Script::Myanmar,
];

/// Folds a text for comparison.
///
/// ```
/// use skillgraph_core::text::fold;
///
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
    for (at, cluster) in text.grapheme_indices(true) {
        fold_cluster(cluster, &mut buffer);
        let range = at..at + cluster.len();
        if buffer.chars().all(char::is_whitespace) {
            blank = Some(blank.map_or(range.start, |blank| blank.start)..range.end);
            continue;
        }
        if let Some(blank) = blank.take().filter(|_| begun)
            && !each(" ", blank)
        {
            return;
        }
        begun = true;
        if !each(&buffer, range) {
            return;
        }
    }
}

fn fold_cluster(cluster: &str, folded: &mut String) {
    folded.clear();
    if cluster.is_ascii() {
        folded.extend(cluster.chars().map(|c| c.to_ascii_lowercase()));
        return;
    }
    let normal: String = cluster.nfkc().collect();
    folded.extend(UniCase::unicode(normal).to_folded_case().nfkc());
}

/// Whether a keyword that was found at these bytes of a folded text stands there as words.
///
/// An edge is demanded only between two letters or digits of scripts that put spaces between words, and a match never
/// begins or ends inside a grapheme cluster.
pub fn stands_as_words(folded: &str, found: Range<usize>) -> bool {
    is_word_edge(folded, found.start) && is_word_edge(folded, found.end)
}

fn is_word_edge(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    let after = text.get(at..).and_then(|after| after.chars().next());
    let (Some(before), Some(after)) = (before, after) else { return true };
    if is_spaced_letter(before) && is_spaced_letter(after) {
        return false;
    }
    (before.is_ascii() && after.is_ascii()) || is_cluster_edge(text, at)
}

fn is_cluster_edge(text: &str, at: usize) -> bool {
    // The whole text is at hand, so the cursor never asks for more.
    GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(true)
}

fn is_spaced_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    let scripts = c.script_extension();
    c.is_alphanumeric() && !WITHOUT_SPACES.iter().any(|script| scripts.contains_script(*script))
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

    proptest::proptest! {
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
