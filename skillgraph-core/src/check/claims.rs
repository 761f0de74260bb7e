//! Which messages the rules of entries claim: run on one message, and decided for all messages at once.
//!
//! What a closure does is unknown here. A rule that has one claims no message for certain; without its closure it would
//! claim at least as many.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use crate::decl::{Condition, GraphDecl};
use crate::pattern::{Budget, Found, Nfa, certainly, possibly, search};
use crate::text::{composed, fold, stands_as_words, word_edges};

/// The most ways to choose one keyword of each list that are looked at.
const MOST_CHOICES: usize = 256;

/// How many steps the analysis of all rules may take, whatever they are; what is not decided then is not reported.
const LEAST_STEPS: usize = 1_000_000;
/// How many more for each rule.
const STEPS_A_RULE: usize = 4_000;

/// What stands between keywords in a message that is made up: no keyword holds the last one.
const SEPARATORS: [&str; 3] = [" ", ", ", " \u{2026} "];

/// The rules of all entries, ready to be asked.
pub(super) struct Claims {
    rules: Vec<Rule>,
    /// The conditions of a tree: only their patterns are looked at.
    tree: Vec<Rule>,
    /// Which parts of rules a keyword fulfils.
    by_keyword: HashMap<String, Vec<(usize, usize)>>,
    /// The rules that have more to them than keywords, in order.
    beyond_keywords: Vec<usize>,
    /// How long the keywords are, in bytes: nothing of another length is one.
    lengths: BTreeSet<usize>,
    fates: OnceCell<Vec<Fate>>,
    budget: Budget,
}

/// One entry's rule: every part must hold. The default has none.
struct Rule {
    parts: Vec<Part>,
    /// It has a closure, or what could not be read.
    is_opaque: bool,
}

enum Part {
    /// A pattern.
    Pattern(Pattern),
    /// Folded phrases.
    Keywords(Vec<String>),
}

/// A pattern that was read; nothing where it cannot be analysed.
struct Pattern {
    source: String,
    nfa: Option<Nfa>,
    /// A shortest text that it matches, once it was looked for.
    shortest: OnceCell<Found>,
}

impl Pattern {
    fn new(source: &str) -> Self {
        Pattern { source: source.to_owned(), nfa: Nfa::parse(&composed(source)), shortest: OnceCell::new() }
    }

    fn shortest(&self, budget: &Budget) -> &Found {
        let found = || self.nfa.as_ref().map_or(Found::Undecided, |nfa| search(&[nfa], &[], budget));
        self.shortest.get_or_init(found)
    }
}

/// What is known of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    Yes,
    No,
    Unknown,
}

/// What becomes of a rule behind those before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// There is nothing to be decided: the default, or a rule of closures alone.
    NoRule,
    /// This message opens it.
    Wins(String),
    /// Whatever it matches is claimed by these before.
    Shadowed(BTreeSet<usize>),
    /// It was not found out.
    Undecided,
}

/// What a message fulfils.
struct Hits<'a> {
    /// As patterns read it.
    composed: Cow<'a, str>,
    fulfilled: HashSet<(usize, usize)>,
}

impl Claims {
    pub(super) fn new<S>(decl: &GraphDecl<S>) -> Self {
        let rules: Vec<Rule> = decl.entries.iter().map(|entry| Rule::of(entry.condition.as_ref())).collect();
        let mut by_keyword: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
        let mut beyond_keywords = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            let mut beyond = false;
            for (part, condition) in rule.parts.iter().enumerate() {
                match condition {
                    Part::Keywords(list) => {
                        for keyword in list {
                            by_keyword.entry(keyword.clone()).or_default().push((at, part));
                        }
                    }
                    Part::Pattern(_) => beyond = true,
                }
            }
            if beyond {
                beyond_keywords.push(at);
            }
        }
        let lengths = by_keyword.keys().map(String::len).collect();
        let forks = decl.tree.iter().flat_map(|tree| tree.root.forks());
        let tree: Vec<Rule> = forks.map(|fork| Rule::of(Some(&fork.condition))).collect();
        let budget = Budget::new(LEAST_STEPS + STEPS_A_RULE * (rules.len() + tree.len()));
        Claims { rules, tree, by_keyword, beyond_keywords, lengths, fates: OnceCell::new(), budget }
    }

    /// Whether a rule claims a message.
    pub(super) fn claim(&self, rule: usize, message: &str) -> Claim {
        let hits = self.hits(message);
        self.rules.get(rule).map_or(Claim::No, |found| found.claim(rule, &hits))
    }

    /// The first rule that certainly claims the message, of those before a position.
    pub(super) fn first_claimer(&self, message: &str, before: usize) -> Option<usize> {
        let hits = self.hits(message);
        let by_keyword = hits.fulfilled.iter().map(|(rule, _)| *rule);
        let candidates: BTreeSet<usize> = by_keyword.chain(self.beyond_keywords.iter().copied()).collect();
        let mut candidates = candidates.into_iter().take_while(|rule| *rule < before);
        candidates.find(|at| self.rules.get(*at).is_some_and(|rule| rule.claim(*at, &hits) == Claim::Yes))
    }

    /// What becomes of each rule.
    pub(super) fn fates(&self) -> &[Fate] {
        self.fates.get_or_init(|| (0..self.rules.len()).map(|at| self.fate(at)).collect())
    }

    /// Whether no message fulfils everything that the rule demands of it, its closures aside. Not said of a single pattern:
    /// see [`Self::empty_patterns`].
    pub(super) fn is_contradiction(&self, at: usize) -> bool {
        let Some(rule) = self.rules.get(at).filter(|rule| rule.parts.len() > 1) else { return false };
        let Some(choices) = rule.choices().filter(|_| rule.patterns().next().is_some()) else { return false };
        choices.iter().all(|choice| self.possible(rule, choice, &[]) == Found::Nothing)
    }

    /// The patterns that no message matches.
    pub(super) fn empty_patterns(&self) -> HashSet<&str> {
        let patterns = self.rules.iter().chain(&self.tree).flat_map(|rule| rule.patterns());
        let empty = patterns.filter(|pattern| *pattern.shortest(&self.budget) == Found::Nothing);
        empty.map(|pattern| pattern.source.as_str()).collect()
    }

    /// Whether the rule claims every message.
    pub(super) fn is_everything(&self, at: usize) -> bool {
        let Some(rule) = self.rules.get(at).filter(|rule| !rule.is_opaque && !rule.parts.is_empty()) else {
            return false;
        };
        rule.parts.iter().all(|part| match part {
            Part::Pattern(Pattern { nfa: Some(nfa), .. }) => {
                nfa.is_match("") && search(&[], &[vec![nfa]], &self.budget) == Found::Nothing
            }
            Part::Pattern(_) | Part::Keywords(_) => false,
        })
    }

    /// Every keyword of a rule that stands in the message.
    fn hits<'a>(&self, message: &'a str) -> Hits<'a> {
        let mut fulfilled = HashSet::new();
        if !self.lengths.is_empty() {
            let folded = fold(message);
            let edges = word_edges(&folded);
            let is_edge: HashSet<usize> = edges.iter().copied().collect();
            for start in edges {
                let ends = self.lengths.iter().map(|length| start + length).filter(|end| is_edge.contains(end));
                let phrases = ends.filter_map(|end| folded.get(start..end));
                fulfilled.extend(phrases.filter_map(|phrase| self.by_keyword.get(phrase)).flatten().copied());
            }
        }
        Hits { composed: composed(message), fulfilled }
    }

    fn fate(&self, at: usize) -> Fate {
        let Some(rule) = self.rules.get(at).filter(|rule| !rule.parts.is_empty()) else { return Fate::NoRule };
        let Some(choices) = rule.choices() else { return Fate::Undecided };
        let mut shadows = BTreeSet::new();
        let mut undecided = false;
        for choice in &choices {
            match self.fate_of_choice(at, rule, choice) {
                Fate::Shadowed(by) => shadows.extend(by),
                Fate::Undecided | Fate::NoRule => undecided = true,
                wins @ Fate::Wins(_) => return wins,
            }
        }
        if undecided { Fate::Undecided } else { Fate::Shadowed(shadows) }
    }

    /// The same, of the messages in which one chosen keyword of each list stands: looks for one that opens the rule, and
    /// takes into account, one by one, the earlier rules that get in the way.
    fn fate_of_choice(&self, at: usize, rule: &Rule, choice: &[&str]) -> Fate {
        let mut rivals: Vec<usize> = Vec::new();
        loop {
            match self.certain(rule, choice, &rivals) {
                // All lengths are tried at all places of the text.
                Found::Text(text) if !self.budget.spend(text.len() * (self.lengths.len() + 1)) => {
                    return Fate::Undecided;
                }
                // No message is read by patterns like that.
                Found::Text(text) if composed(&text) != text => return Fate::Undecided,
                Found::Text(text) => match self.first_claimer(&text, at) {
                    None => return Fate::Wins(text),
                    Some(rival) if rivals.contains(&rival) => return Fate::Undecided,
                    Some(rival) if self.left_open(rival, choice).is_empty() => return Fate::Shadowed([rival].into()),
                    Some(rival) => rivals.push(rival),
                },
                Found::Nothing if self.possible(rule, choice, &rivals) == Found::Nothing => {
                    return Fate::Shadowed(self.needed(rule, choice, rivals));
                }
                Found::Nothing | Found::Undecided => return Fate::Undecided,
            }
        }
    }

    /// Those of the rivals without which the choice would not be shadowed.
    fn needed(&self, rule: &Rule, choice: &[&str], mut rivals: Vec<usize>) -> BTreeSet<usize> {
        for rival in rivals.clone() {
            let without: Vec<usize> = rivals.iter().copied().filter(|other| *other != rival).collect();
            if !without.is_empty() && self.possible(rule, choice, &without) == Found::Nothing {
                rivals = without;
            }
        }
        rivals.into_iter().collect()
    }

    /// A message that the rule matches by this choice and none of the rivals claims.
    fn certain(&self, rule: &Rule, choice: &[&str], rivals: &[usize]) -> Found {
        let open: Vec<Vec<&Part>> = rivals.iter().map(|rival| self.left_open(*rival, choice)).collect();
        if rule.patterns().next().is_none() && open.iter().flatten().all(|part| matches!(part, Part::Keywords(_))) {
            let texts = SEPARATORS.map(|separator| choice.join(separator));
            let claimed = |text: &str| rivals.iter().any(|rival| self.claim(*rival, text) == Claim::Yes);
            return texts.into_iter().find(|text| !claimed(text)).map_or(Found::Undecided, Found::Text);
        }
        if let ([Part::Pattern(pattern)], []) = (rule.parts.as_slice(), rivals) {
            return pattern.shortest(&self.budget).clone();
        }
        self.search(rule, choice, &open, certainly, possibly)
    }

    /// A message that the rule may match by this choice and none of the rivals certainly claims. Where there is none, the
    /// rivals shadow the choice.
    fn possible(&self, rule: &Rule, choice: &[&str], rivals: &[usize]) -> Found {
        let open: Vec<Vec<&Part>> = rivals.iter().map(|rival| self.left_open(*rival, choice)).collect();
        self.search(rule, choice, &open, possibly, certainly)
    }

    fn search(
        &self,
        rule: &Rule,
        choice: &[&str],
        rivals: &[Vec<&Part>],
        own: fn(&str) -> Option<Nfa>,
        rivalling: fn(&str) -> Option<Nfa>,
    ) -> Found {
        let patterns = rule.patterns().map(|pattern| pattern.nfa.as_ref()).collect::<Option<Vec<&Nfa>>>();
        let Some(patterns) = patterns else { return Found::Undecided };
        let Some(keywords) = choice.iter().map(|keyword| own(keyword)).collect::<Option<Vec<Nfa>>>() else {
            return Found::Undecided;
        };
        let mut of_rivals: Vec<Vec<Nfa>> = Vec::new();
        for parts in rivals {
            let automata = parts.iter().map(|part| part.automaton(rivalling)).collect::<Option<Vec<Nfa>>>();
            let Some(automata) = automata else { return Found::Undecided };
            of_rivals.push(automata);
        }
        let all: Vec<&Nfa> = patterns.into_iter().chain(&keywords).collect();
        let none: Vec<Vec<&Nfa>> = of_rivals.iter().map(|automata| automata.iter().collect()).collect();
        search(&all, &none, &self.budget)
    }

    /// The parts of a rule that the chosen keywords do not fulfil already.
    fn left_open(&self, rule: usize, choice: &[&str]) -> Vec<&Part> {
        let parts = self.rules.get(rule).into_iter().flat_map(|rule| &rule.parts);
        parts.filter(|part| !part.follows_from(choice)).collect()
    }
}

impl Rule {
    fn of<S>(condition: Option<&Condition<S>>) -> Self {
        let mut rule = Rule { parts: Vec::new(), is_opaque: false };
        rule.parts.extend(condition.into_iter().flat_map(|condition| parts(condition, &mut rule.is_opaque)));
        rule
    }

    fn claim(&self, at: usize, hits: &Hits<'_>) -> Claim {
        if self.parts.is_empty() && !self.is_opaque {
            return Claim::No;
        }
        let mut known = !self.is_opaque;
        for (part, condition) in self.parts.iter().enumerate() {
            let holds = match condition {
                Part::Keywords(_) => hits.fulfilled.contains(&(at, part)),
                Part::Pattern(Pattern { nfa: Some(nfa), .. }) => nfa.is_match(&hits.composed),
                Part::Pattern(_) => {
                    known = false;
                    true
                }
            };
            if !holds {
                return Claim::No;
            }
        }
        if known { Claim::Yes } else { Claim::Unknown }
    }

    fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.parts.iter().filter_map(|part| match part {
            Part::Pattern(pattern) => Some(pattern),
            Part::Keywords(_) => None,
        })
    }

    /// Every way to choose one keyword of each list. None where there are too many.
    fn choices(&self) -> Option<Vec<Vec<&str>>> {
        let mut choices: Vec<Vec<&str>> = vec![Vec::new()];
        for part in &self.parts {
            let Part::Keywords(list) = part else { continue };
            if choices.len().saturating_mul(list.len()) > MOST_CHOICES {
                return None;
            }
            let extended = choices.iter().flat_map(|choice| {
                list.iter().map(move |keyword| choice.iter().copied().chain([keyword.as_str()]).collect())
            });
            choices = extended.collect();
        }
        Some(choices)
    }
}

impl Part {
    /// Whether it holds of every message in which these keywords stand.
    fn follows_from(&self, keywords: &[&str]) -> bool {
        let Part::Keywords(list) = self else { return false };
        let stands = |keyword: &String, within: &str| {
            let mut places = within.match_indices(keyword.as_str()).map(|(at, found)| at..at + found.len());
            places.any(|place| stands_as_words(within, place))
        };
        list.iter().any(|keyword| keywords.iter().any(|within| stands(keyword, within)))
    }

    fn automaton(&self, of_keyword: fn(&str) -> Option<Nfa>) -> Option<Nfa> {
        match self {
            Part::Pattern(pattern) => pattern.nfa.clone(),
            Part::Keywords(list) => {
                let automata = list.iter().map(|keyword| of_keyword(keyword)).collect::<Option<Vec<Nfa>>>()?;
                Some(Nfa::union(&automata))
            }
        }
    }
}

/// What a condition demands, flat.
fn parts<S>(condition: &Condition<S>, is_opaque: &mut bool) -> Vec<Part> {
    match condition {
        Condition::Matches(pattern) => vec![Part::Pattern(Pattern::new(&pattern.text))],
        Condition::Keywords { list, .. } => {
            let folded = list.iter().map(|keyword| fold(&keyword.text)).filter(|keyword| !keyword.is_empty());
            let folded: Vec<String> = folded.collect();
            // A list that says nothing is a finding of its own.
            *is_opaque |= folded.is_empty();
            if folded.is_empty() { Vec::new() } else { vec![Part::Keywords(folded)] }
        }
        Condition::All { list, .. } => list.iter().flat_map(|part| parts(part, is_opaque)).collect(),
        Condition::Closure(_) => {
            *is_opaque = true;
            Vec::new()
        }
        Condition::Intent { .. } | Condition::Picked { .. } => Vec::new(),
    }
}

#[cfg(all(test, feature = "turn"))]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::graph::Graph;
    use crate::pattern::short_texts;

    fn spec(rules: &[Value]) -> crate::decl::GraphSpec {
        let skill = |at: usize| json!({ "id": format!("s{at}"), "description": "d", "body": "b" });
        let entry = |(at, rule): (usize, &Value)| json!({ "skill": format!("s{at}"), "when": rule });
        let spec = json!({
            "name": "rules",
            "skills": (0..rules.len()).map(skill).collect::<Vec<_>>(),
            "entries": rules.iter().enumerate().map(entry).collect::<Vec<_>>(),
        });
        serde_json::from_value(spec).expect("a spec")
    }

    fn fates(rules: &[Value]) -> Vec<Fate> {
        Claims::new(&spec(rules).declaration(&[] as &[&str])).fates().to_vec()
    }

    fn last(rules: &[Value]) -> Fate {
        fates(rules).pop().expect("a rule")
    }

    fn shadowed(by: &[usize]) -> Fate {
        Fate::Shadowed(by.iter().copied().collect())
    }

    fn wins(message: &str) -> Fate {
        Fate::Wins(message.to_owned())
    }

    #[test]
    fn rules_of_one_kind() {
        let matches = |pattern: &str| json!({ "matches": pattern });
        let keywords = |list: &[&str]| json!({ "keywords": list });
        assert_eq!(last(&[matches("(?i)refund"), matches("(?i)refund my order")]), shadowed(&[0]));
        assert_eq!(last(&[matches("(?i)refund my order"), matches("(?i)refund")]), wins("refund"));
        assert_eq!(last(&[matches(r"(?i)\brefund\b"), matches("(?i)refund")]), wins("arefund"));
        assert_eq!(last(&[matches("cat"), matches("dog"), matches("hotdog|wildcat")]), shadowed(&[0, 1]));
        assert_eq!(
            last(&[matches("cat"), matches("bird"), matches("dog"), matches("hotdog|wildcat")]),
            shadowed(&[0, 2])
        );
        assert_eq!(last(&[keywords(&["refund"]), keywords(&["Refund  please", "a refund"])]), shadowed(&[0]));
        assert_eq!(last(&[keywords(&["refund"]), keywords(&["refunds"])]), wins("refunds"));
        assert_eq!(
            last(&[keywords(&["refund"]), keywords(&["charge"]), keywords(&["charge", "refund"])]),
            shadowed(&[0, 1])
        );
        assert_eq!(last(&[keywords(&["退款"]), keywords(&["我要退款"])]), shadowed(&[0]));
    }

    #[test]
    fn rules_of_different_kinds() {
        let all = |parts: Value| json!({ "all": parts });
        let refund = json!({ "keywords": ["refund"] });
        assert_eq!(last(&[refund.clone(), json!({ "matches": "^(?i:refund)$" })]), shadowed(&[0]));
        assert_eq!(last(&[refund.clone(), json!({ "matches": "refund" })]), wins("arefund"));
        // A keyword is found in full-width letters too, where this pattern is not.
        assert_eq!(last(&[json!({ "matches": "(?i)refund" }), refund.clone()]), wins("refunＤ"));
        assert_eq!(last(&[json!({ "matches": r"\S" }), refund.clone()]), shadowed(&[0]));
        assert_eq!(last(&[refund.clone(), all(json!([refund, { "matches": "^a" }]))]), shadowed(&[0]));
        assert_eq!(last(&[all(json!([refund, { "matches": "^a" }])), refund.clone()]), wins("refund"));
        assert_eq!(
            last(&[all(json!([refund, { "matches": "a" }])), all(json!([{ "matches": "^ab" }, refund]))]),
            shadowed(&[0])
        );
        assert_eq!(
            last(&[all(json!([refund, { "keywords": ["order"] }])), all(json!([{ "keywords": ["order"] }, refund]))]),
            shadowed(&[0])
        );
        assert_eq!(
            last(&[json!({ "keywords": ["a b"] }), all(json!([{ "keywords": ["a"] }, { "keywords": ["b"] }]))]),
            wins("a, b")
        );
    }

    #[test]
    fn what_takes_too_long_is_undecided() {
        let pattern = |end: &str| json!({ "matches": format!("(a|b)*a(a|b){{20}}{end}") });
        assert_eq!(last(&[pattern("c"), pattern("[cd]c")]), Fate::Undecided);
        let long = json!({ "keywords": (0..20).map(|at| format!("w{at}")).collect::<Vec<_>>() });
        assert_eq!(last(&[json!({ "matches": "z" }), json!({ "all": [long, long, long] })]), Fate::Undecided);
    }

    fn rule() -> impl Strategy<Value = Value> {
        const PATTERNS: &[&str] =
            &["a", "b$", "^a", r"\bab\b", "(?i)A", "[^a]", r"a\s*b", "ab|ba", "^(a|b)*$", r"^\w+$", "é", "a.b"];
        const KEYWORDS: &[&str] = &["a", "b", "ab", "a b", "b a", "é", "a!", "退"];
        let pattern = proptest::sample::select(PATTERNS).prop_map(|pattern| json!({ "matches": pattern }));
        let keywords = prop::collection::vec(proptest::sample::select(KEYWORDS), 1..3);
        let keywords = keywords.prop_map(|list| json!({ "keywords": list }));
        let one = prop_oneof![pattern, keywords];
        prop_oneof![3 => one.clone(), 1 => prop::collection::vec(one, 1..3).prop_map(|parts| json!({ "all": parts }))]
    }

    const CHARACTERS: &[&str] = &["a", "b", "A", " ", "!", "é", "Ａ", "退", "\n", "™"];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// What is decided here is what a conversation sees.
        #[test]
        fn agrees_with_the_running_rules(rules in prop::collection::vec(rule(), 1..5)) {
            // Rules that no message matches are refused, and have a test of their own.
            let Ok(graph) = Graph::compile(&spec(&rules), &[] as &[&str]) else { return Ok(()) };
            let claims = Claims::new(graph.declaration());
            let winner = |text: &str| graph.match_entry(text).won.map(|(entry, _)| entry.position());
            let texts = short_texts(CHARACTERS, 3);
            for text in texts.iter().step_by(13) {
                prop_assert_eq!(claims.first_claimer(text, usize::MAX), winner(text), "{:?}", text);
            }
            let seen: HashSet<usize> = texts.iter().filter_map(|text| winner(text)).collect();
            for (at, fate) in claims.fates().iter().enumerate() {
                match fate {
                    Fate::Wins(message) => prop_assert_eq!(winner(message), Some(at), "{:?}", message),
                    Fate::Shadowed(_) => prop_assert!(!seen.contains(&at), "rule {at} wins a message"),
                    Fate::Undecided => {}
                    Fate::NoRule => prop_assert!(false, "every rule is data"),
                }
            }
        }
    }
}
