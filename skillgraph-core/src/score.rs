//! How well a message fits each of several intents, and what that decides.
// SPEC 4, tier 2.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::text::{fold, stretches};

/// What says nothing about an intent.
const STOP_WORDS: &str = "a an the and or but if to of for in on at by with is are was were be been it this that these those i \
                          you we my our me please can could would should do does how what need want";

/// When a score decides.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "turn", derive(serde::Serialize, serde::Deserialize))]
pub struct ScorePolicy {
    /// How far the best must lead the next, from 0 to 1: the hyperbolic tangent of half the difference of their scores.
    pub margin: f64,
    /// How many skills a menu names at the most.
    pub menu: usize,
    /// What a score must exceed to count. Defaults to the scorer's own floor.
    #[cfg_attr(feature = "turn", serde(default, skip_serializing_if = "Option::is_none"))]
    pub floor: Option<f64>,
}

impl ScorePolicy {
    /// A margin of 0.15, a menu of three, the scorer's floor.
    pub const DEFAULT: ScorePolicy = ScorePolicy { margin: 0.15, menu: 3, floor: None };
}

impl Default for ScorePolicy {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What a scorer says of its scores.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "turn", derive(serde::Serialize, serde::Deserialize))]
pub struct ScorerTraits {
    /// What a score must exceed to count, where the policy says nothing.
    pub floor: Option<f64>,
    /// The best decides however close the next one is.
    pub categorical: bool,
}

impl ScorerTraits {
    /// Those of the keyword scorer: a score counts from the first shared word on.
    pub const KEYWORD: ScorerTraits = ScorerTraits { floor: Some(0.0), categorical: false };
}

/// What scores decide. Candidates are named by position.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// What is to be done.
    pub verdict: ScoreVerdict,
    /// The candidates, best first; of equal ones the first in order.
    pub ranked: Vec<Ranked>,
    /// The second best that counts, with the gap to the best: from 0 to 1.
    pub runner_up: Option<(usize, f64)>,
    /// The best leads by the margin, or decides however close the next one is.
    pub decisive: bool,
    /// What a score had to exceed to count.
    pub floor: Option<f64>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScoreVerdict {
    /// Go there.
    Move(usize),
    /// Stay with the incumbent.
    Stay,
    /// These are too close.
    Menu(Vec<usize>),
    /// None counts.
    Unmatched,
}

/// A candidate with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// The candidate.
    pub candidate: usize,
    /// Its score, as the scorer said it.
    pub score: f64,
    /// Its share of all: the softmax of the scores.
    pub relevance: f64,
}

/// Judges scores. `incumbent` is the candidate that is open already.
pub fn judge(scores: &[f64], incumbent: Option<usize>, policy: &ScorePolicy, traits: ScorerTraits) -> Judgement {
    let ranked = rank(scores);
    let floor = policy.floor.or(traits.floor);
    let counts = |ranked: &&Ranked| ranked.score.is_finite() && floor.is_none_or(|floor| ranked.score > floor);
    let alive: Vec<Ranked> = ranked.iter().filter(counts).copied().collect();
    let gap_to = |best: &Ranked, other: &Ranked| ((best.score - other.score) / 2.0).tanh();
    let (verdict, runner_up, decisive) = match alive.as_slice() {
        [] => (ScoreVerdict::Unmatched, None, false),
        [best, rest @ ..] => {
            let runner_up = rest.first().map(|second| (second.candidate, gap_to(best, second)));
            let decisive = traits.categorical || runner_up.is_none_or(|(_, gap)| gap >= policy.margin);
            let verdict = match incumbent {
                Some(incumbent) if !decisive || best.candidate == incumbent => ScoreVerdict::Stay,
                _ if decisive => ScoreVerdict::Move(best.candidate),
                _ => {
                    let close = alive.iter().filter(|other| gap_to(best, other) < policy.margin);
                    ScoreVerdict::Menu(close.take(policy.menu.max(2)).map(|ranked| ranked.candidate).collect())
                }
            };
            (verdict, runner_up, decisive)
        }
    };
    Judgement { verdict, ranked, runner_up, decisive, floor }
}

/// Best first, with their shares. What is no finite number ranks last and has no share, if any other has one.
fn rank(scores: &[f64]) -> Vec<Ranked> {
    let safe = |score: f64| if score.is_finite() { score } else { f64::NEG_INFINITY };
    let best = scores.iter().copied().map(safe).fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = scores.iter().map(|score| (safe(*score) - best).exp()).collect();
    let sum: f64 = shares.iter().sum();
    let even = 1.0 / scores.len() as f64;
    let ranked = scores.iter().zip(shares).enumerate().map(|(candidate, (score, share))| Ranked {
        candidate,
        score: *score,
        relevance: if sum.is_finite() && sum > 0.0 { share / sum } else { even },
    });
    let mut ranked: Vec<Ranked> = ranked.collect();
    ranked.sort_by(|a, b| safe(b.score).partial_cmp(&safe(a.score)).unwrap_or(Ordering::Equal));
    ranked
}

/// How many words a message and a text share, from 0 to 1: the cosine of the sets of their words.
pub fn keyword_score(message: &BTreeSet<String>, text: &BTreeSet<String>) -> f64 {
    cosine(message.intersection(text).count(), message.len(), text.len())
}

/// The cosine of two sets, by how many elements they share and how many each has.
pub(crate) fn cosine(shared: usize, one: usize, other: usize) -> f64 {
    if shared == 0 { 0.0 } else { shared as f64 / ((one * other) as f64).sqrt() }
}

/// The words of a text that say something: folded, without stop words and plural endings. Scripts that put no spaces
/// between words give pairs of characters.
///
/// ```
/// use skillgraph_core::score::words;
///
/// let words: Vec<String> = words("I want my REFUNDS, please: 我要退款").into_iter().collect();
/// assert_eq!(words, ["refund", "我要", "要退", "退款"]);
/// ```
pub fn words(text: &str) -> BTreeSet<String> {
    let folded = fold(text);
    let mut words = BTreeSet::new();
    for (spaced, stretch) in stretches(&folded) {
        match spaced {
            true => words.extend(word(stretch)),
            false => pairs(stretch, &mut words),
        }
    }
    words
}

fn word(piece: &str) -> Option<String> {
    let length = piece.chars().count();
    if length < 2 || STOP_WORDS.split_whitespace().any(|stop| stop == piece) {
        return None;
    }
    let plural = length >= 4 && piece.ends_with('s') && !piece.ends_with("ss");
    Some(if plural { piece.strip_suffix('s').unwrap_or(piece).to_owned() } else { piece.to_owned() })
}

fn pairs(piece: &str, words: &mut BTreeSet<String>) {
    let chars: Vec<char> = piece.chars().collect();
    if let [one] = chars.as_slice() {
        words.insert(one.to_string());
    }
    words.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
}

/// The words of an intent and its examples together.
pub fn intent_words<'a>(intent: &str, examples: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    examples.into_iter().fold(words(intent), |mut all, example| {
        all.extend(words(example));
        all
    })
}
