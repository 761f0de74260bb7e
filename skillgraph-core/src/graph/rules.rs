//! All entry rules of a graph, matched together.
//!
//! The phrases of all `keywords` rules are one automaton, the patterns of all `matches` rules one set: a cold start costs
//! as much as the message is long, however many rules there are. Closures run only where they can still win.
// SPEC 4, tier 1.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};

use super::{EntryIx, EntryTest};
use crate::text::{composed, fold, stands_as_words, unfold_range};

/// How much of a witness is kept, in characters.
const WITNESS_LENGTH: usize = 80;

/// How many other entries that claim a message are named.
const MOST_OTHERS: usize = 20;

/// What of the message made a rule pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// The part of the message, white space collapsed, at most 80 characters.
    pub text: String,
    /// The author's keyword that it is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyword: Option<String>,
}

/// What the rules say of a message.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct EntryMatch {
    /// The entry that takes it, with the part of the message that made it.
    pub won: Option<(EntryIx, Option<Witness>)>,
    /// Entries behind it whose rule passes, too, in declaration order: at most 20, and none that opens a hidden skill.
    /// A rule with a closure is not tried once another has won, so it is not among them.
    pub others: Vec<EntryIx>,
    /// Entries whose closure panicked on the way; they count as not passed.
    pub panicked: Vec<EntryIx>,
    /// Entries whose rule passed before, and which open a hidden skill.
    pub barred: Vec<EntryIx>,
}

/// One entry's rule, flat: everything in it must hold. Nothing in it: no rule.
#[derive(Default)]
pub(super) struct RuleSpec {
    /// What must be found in the message.
    pub(super) parts: Vec<PartSpec>,
    /// Tests, each of which must pass.
    pub(super) closures: Vec<EntryTest>,
}

/// A condition that is data.
pub(super) enum PartSpec {
    /// A pattern.
    Pattern(String),
    /// Phrases, one of which is enough.
    Keywords(Vec<String>),
}

/// The compiled rules.
pub(super) struct RuleSet {
    rules: Vec<Rule>,
    /// Rules that consist of closures alone, in declaration order.
    closures_only: Vec<u32>,
    /// Finds every phrase of every rule.
    phrases: Option<AhoCorasick>,
    /// For each phrase of the automaton, the conditions that it fulfils.
    fulfilled_by_phrase: Vec<Vec<Part>>,
    /// Finds every pattern of every rule.
    patterns: RegexSet,
    /// For each pattern of the set, the condition that it fulfils.
    fulfilled_by_pattern: Vec<Part>,
}

struct Rule {
    parts: Vec<Data>,
    closures: Vec<EntryTest>,
}

enum Data {
    Pattern { source: String, compiled: OnceLock<Option<Regex>> },
    Keywords(Vec<Keyword>),
}

struct Keyword {
    written: String,
    phrase: usize,
}

/// A condition of a rule, by position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Part {
    rule: u32,
    part: u32,
}

/// What was found in one message.
struct Scan<'a> {
    message: &'a str,
    /// The same, as patterns read it.
    composed: Cow<'a, str>,
    /// Where each phrase first stands as words, in the folded message.
    phrases: HashMap<usize, Range<usize>>,
    /// Rules that can still win, in declaration order.
    candidates: Vec<u32>,
}

impl RuleSet {
    pub(super) fn new(specs: Vec<RuleSpec>) -> Result<Self, String> {
        let mut phrases = Phrases::default();
        let mut patterns: Vec<String> = Vec::new();
        let mut fulfilled_by_pattern = Vec::new();
        let mut closures_only = Vec::new();
        let mut rules = Vec::with_capacity(specs.len());
        for (rule, spec) in (0u32..).zip(specs) {
            if spec.parts.is_empty() && !spec.closures.is_empty() {
                closures_only.push(rule);
            }
            let parts = (0u32..).zip(spec.parts).map(|(part, data)| match data {
                PartSpec::Pattern(source) => {
                    let source = composed(&source).into_owned();
                    patterns.push(source.clone());
                    fulfilled_by_pattern.push(Part { rule, part });
                    Data::Pattern { source, compiled: OnceLock::new() }
                }
                PartSpec::Keywords(list) => Data::Keywords(phrases.add(list, Part { rule, part })),
            });
            rules.push(Rule { parts: parts.collect(), closures: spec.closures });
        }
        let automaton = match phrases.folded.as_slice() {
            [] => None,
            folded => Some(AhoCorasick::new(folded).map_err(|error| error.to_string())?),
        };
        // The check-up has bounded every single pattern.
        let set = RegexSetBuilder::new(&patterns).size_limit(usize::MAX).build().map_err(|error| error.to_string())?;
        Ok(RuleSet {
            rules,
            closures_only,
            phrases: automaton,
            fulfilled_by_phrase: phrases.fulfilled,
            patterns: set,
            fulfilled_by_pattern,
        })
    }

    /// The first rule, in declaration order, that passes and may win.
    pub(super) fn first_match(&self, message: &str, may_win: impl Fn(EntryIx) -> bool) -> EntryMatch {
        let scan = self.scan(message);
        let mut found = EntryMatch::default();
        let mut candidates = scan.candidates.iter();
        for candidate in candidates.by_ref() {
            let Some(rule) = self.rules.get(*candidate as usize) else { continue };
            if !rule.closures_pass(*candidate, message, &mut found.panicked) {
                continue;
            }
            let entry = EntryIx(*candidate);
            if may_win(entry) {
                found.won = Some((entry, rule.witness(&scan)));
                break;
            }
            found.barred.push(entry);
        }
        let passes = |rule: &u32| self.rules.get(*rule as usize).is_some_and(|rule| rule.closures.is_empty());
        let others = candidates.filter(|rule| passes(rule)).map(|rule| EntryIx(*rule));
        found.others = others.filter(|entry| may_win(*entry)).take(MOST_OTHERS).collect();
        found
    }

    /// Whether the rule of an entry passes, whatever those before it say.
    pub(super) fn claims(&self, entry: EntryIx, message: &str) -> bool {
        self.probe(message).passes(entry.0, &mut Vec::new())
    }

    /// The rules, to be asked one by one about a message.
    pub(super) fn probe<'a>(&'a self, message: &'a str) -> Probe<'a> {
        Probe { rules: self, scan: self.scan(message) }
    }

    fn scan<'a>(&self, message: &'a str) -> Scan<'a> {
        let mut phrases: HashMap<usize, Range<usize>> = HashMap::new();
        if let Some(automaton) = &self.phrases {
            let folded = fold(message);
            for hit in automaton.find_overlapping_iter(&folded) {
                let phrase = hit.pattern().as_usize();
                if !phrases.contains_key(&phrase) && stands_as_words(&folded, hit.range()) {
                    phrases.insert(phrase, hit.range());
                }
            }
        }
        let by_phrase = phrases.keys().filter_map(|phrase| self.fulfilled_by_phrase.get(*phrase)).flatten();
        let composed = composed(message);
        let by_pattern =
            self.patterns.matches(&composed).into_iter().filter_map(|at| self.fulfilled_by_pattern.get(at));
        let fulfilled: HashSet<Part> = by_phrase.chain(by_pattern).copied().collect();

        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for part in fulfilled {
            *counts.entry(part.rule).or_default() += 1;
        }
        let is_complete =
            |rule: u32, count: usize| self.rules.get(rule as usize).is_some_and(|rule| rule.parts.len() == count);
        let complete = counts.into_iter().filter(|(rule, count)| is_complete(*rule, *count)).map(|(rule, _)| rule);
        let mut candidates: Vec<u32> = complete.chain(self.closures_only.iter().copied()).collect();
        candidates.sort_unstable();
        Scan { message, composed, phrases, candidates }
    }
}

/// A message that was read once for all rules.
pub(super) struct Probe<'a> {
    rules: &'a RuleSet,
    scan: Scan<'a>,
}

impl Probe<'_> {
    /// Whether a rule passes. One whose closure panics does not.
    pub(super) fn passes(&self, rule: u32, panicked: &mut Vec<EntryIx>) -> bool {
        self.scan.candidates.contains(&rule)
            && self
                .rules
                .rules
                .get(rule as usize)
                .is_some_and(|found| found.closures_pass(rule, self.scan.message, panicked))
    }
}

/// The phrases of all rules, each once, while compiling.
#[derive(Default)]
struct Phrases {
    folded: Vec<String>,
    index: HashMap<String, usize>,
    fulfilled: Vec<Vec<Part>>,
}

impl Phrases {
    fn add(&mut self, list: Vec<String>, part: Part) -> Vec<Keyword> {
        list.into_iter()
            .map(|written| {
                let folded = fold(&written);
                let phrase = *self.index.entry(folded).or_insert_with_key(|folded| {
                    self.folded.push(folded.clone());
                    self.fulfilled.push(Vec::new());
                    self.folded.len() - 1
                });
                self.fulfilled.get_mut(phrase).into_iter().for_each(|parts| parts.push(part));
                Keyword { written, phrase }
            })
            .collect()
    }
}

impl Rule {
    /// Whether every closure says yes. One that panics says no.
    fn closures_pass(&self, rule: u32, message: &str, panicked: &mut Vec<EntryIx>) -> bool {
        self.closures.iter().all(|closure| {
            catch_unwind(AssertUnwindSafe(|| closure(message))).unwrap_or_else(|_| {
                panicked.push(EntryIx(rule));
                false
            })
        })
    }

    /// The first part, in declaration order, that can show what it found.
    fn witness(&self, scan: &Scan<'_>) -> Option<Witness> {
        self.parts.iter().find_map(|part| part.witness(scan))
    }
}

impl Data {
    fn witness(&self, scan: &Scan<'_>) -> Option<Witness> {
        match self {
            Data::Pattern { source, compiled } => {
                let regex = compiled.get_or_init(|| RegexBuilder::new(source).size_limit(usize::MAX).build().ok());
                let text = shortened(regex.as_ref()?.find(&scan.composed)?.as_str())?;
                Some(Witness { text, keyword: None })
            }
            Data::Keywords(keywords) => {
                let (keyword, range) =
                    keywords.iter().find_map(|keyword| Some((keyword, scan.phrases.get(&keyword.phrase)?)))?;
                let text = shortened(scan.message.get(unfold_range(scan.message, range.clone()))?)?;
                Some(Witness { text, keyword: Some(keyword.written.clone()) })
            }
        }
    }
}

/// White space collapsed, cut after [`WITNESS_LENGTH`] characters. `None` where nothing is left.
fn shortened(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() > WITNESS_LENGTH {
        return Some(text.chars().take(WITNESS_LENGTH - 1).chain(['…']).collect());
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keywords(list: &[&str]) -> PartSpec {
        PartSpec::Keywords(list.iter().map(|word| (*word).to_owned()).collect())
    }

    fn rules(parts: Vec<Vec<PartSpec>>) -> RuleSet {
        let specs = parts.into_iter().map(|parts| RuleSpec { parts, closures: Vec::new() });
        RuleSet::new(specs.collect()).expect("compiles")
    }

    fn won(rules: &RuleSet, message: &str) -> Option<(usize, String, Option<String>)> {
        let (entry, witness) = rules.first_match(message, |_| true).won?;
        let witness = witness?;
        Some((entry.position(), witness.text, witness.keyword))
    }

    #[test]
    fn the_first_rule_in_declaration_order_wins() {
        let rules = rules(vec![
            vec![keywords(&["refund", "Charged Twice"])],
            vec![PartSpec::Pattern("(?i)order \\d+".into()), keywords(&["where"])],
            vec![PartSpec::Pattern("(?i)order".into())],
        ]);
        assert_eq!(
            won(&rules, "Order 12: charged  TWICE"),
            Some((0, "charged TWICE".into(), Some("Charged Twice".into())))
        );
        assert_eq!(won(&rules, "where is order 12?"), Some((1, "order 12".into(), None)));
        assert_eq!(won(&rules, "order 12"), Some((2, "order".into(), None)));
        assert_eq!(won(&rules, "nothing"), None);
        assert_eq!(won(&rules, ""), None);
    }

    #[test]
    fn a_witness_is_found_where_matches_overlap_themselves() {
        let rules = rules(vec![vec![keywords(&["a a"])]]);
        assert_eq!(won(&rules, "ba a a"), Some((0, "a a".into(), Some("a a".into()))));
    }

    #[test]
    fn closures_run_in_turn_and_a_panic_is_a_no() {
        let spec = |parts, closures| RuleSpec { parts, closures };
        let rules = RuleSet::new(vec![
            spec(vec![], vec![|_: &str| panic!("broken test")]),
            spec(vec![keywords(&["refund"])], vec![|message: &str| message.len() > 10]),
            spec(vec![], vec![|message: &str| message.starts_with('x')]),
        ])
        .expect("compiles");
        let found = rules.first_match("x refund", |_| true);
        assert_eq!(found.panicked, [EntryIx(0)]);
        assert_eq!(found.won, Some((EntryIx(2), None)));
        assert_eq!(rules.first_match("a refund, please", |_| true).won.map(|(entry, _)| entry), Some(EntryIx(1)));
    }

    #[test]
    fn no_rules_match_nothing() {
        assert_eq!(rules(vec![vec![]]).first_match("x", |_| true).won, None);
    }
}
