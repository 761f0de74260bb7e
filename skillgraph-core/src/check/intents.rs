//! Intents: that a scorer reads them, and that it can tell them apart.
// SPEC 4, tier 2.

use std::collections::{BTreeSet, HashMap};

use super::body::blank;
use super::rules::all_conditions;
use crate::decl::{Condition, EntryDecl, Form, GraphDecl, ScorerKind, TextList, Word, leveled};
use crate::finding::{Code, Finding};
use crate::score::{ScoreVerdict, ScorerTraits, cosine, judge, words};
use crate::text::fold;

/// `intent("…", [])`.
pub(super) fn check_empty_list<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for (intent, examples) in all_conditions(decl).into_iter().filter_map(as_intent) {
        if examples.list.is_empty() {
            findings.push(
                Finding::new(
                    Code::EmptyList,
                    examples.at.clone(),
                    format!("the intent `{}` has no example", intent.text),
                )
                .help("write a few messages that mean it: a scorer compares with them"),
            );
        }
    }
}

/// A blank intent or example.
pub(super) fn check_empty_text<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for (intent, examples) in all_conditions(decl).into_iter().filter_map(as_intent) {
        if intent.is_blank() {
            findings.push(blank(intent, "an intent").help("say what the user wants, in a few words"));
        }
        for example in examples.list.iter().filter(|example| example.is_blank()) {
            findings.push(blank(example, "an example").help("write a message as a user would"));
        }
    }
}

/// An intent, and nothing that scores messages.
pub(super) fn check_intent_without_classify<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    if decl.classify.is_some() {
        return;
    }
    // One finding: one line mends it for all.
    let Some((intent, _)) = all_conditions(decl).into_iter().find_map(as_intent) else { return };
    findings.push(
        Finding::new(
            Code::IntentWithoutClassify,
            intent.at.clone(),
            format!("graph `{}` has intents and nothing that scores messages", decl.name.text),
        )
        .help(match decl.form {
            Form::Language => {
                "add `classify: keyword;` to compare words, or `classify: host;` for a scorer of the agent's own"
            }
            _ => {
                "add `\"classify\": { \"scorer\": \"keyword\" }` to compare words, or `\"host\"` for a scorer of the agent's own"
            }
        }),
    );
}

/// An intent or `picked` inside `all[…]`.
pub(super) fn check_intent_in_all<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for condition in all_conditions(decl) {
        let Condition::All { list, .. } = condition else { continue };
        for part in list.iter().filter(|part| !part.is_rule()) {
            let what = if let Condition::Picked { .. } = part { "`picked`" } else { "an intent" };
            findings.push(
                Finding::new(
                    Code::IntentInAll,
                    part.at().clone(),
                    format!("{what} inside `all[…]`: whether it holds is not known when rules are tried"),
                )
                .help("give it an entry of its own"),
            );
        }
    }
}

/// Rule examples beside an intent or `picked`.
pub(super) fn check_examples_on_intent<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for entry in &decl.entries {
        let (Some(condition), Some(examples)) = (&entry.condition, &entry.examples) else { continue };
        if condition.is_rule() {
            continue;
        }
        let help = match condition {
            Condition::Picked { .. } => "remove them: `picked` reads no message",
            _ => "move them into the intent: `intent(\"…\", [\"…\"])`",
        };
        findings.push(
            Finding::new(
                Code::ExamplesOnIntent,
                examples.at.clone(),
                format!("examples of a rule beside the entry `{}`, which has none", entry.skill.text),
            )
            .help(help),
        );
    }
}

/// The same example under two intents.
pub(super) fn check_duplicate_intent_example<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let mut first_use: HashMap<String, (usize, &Word<S>)> = HashMap::new();
    for (at, (entry, _, examples)) in intents(decl).enumerate() {
        for example in &examples.list {
            let (owner, first) = *first_use.entry(fold(&example.text)).or_insert((at, example));
            if owner == at {
                continue;
            }
            let finding = Finding::new(
                Code::DuplicateIntentExample,
                example.at.clone(),
                "this message is an example of two intents".to_owned(),
            )
            .help("keep it where it belongs: a scorer cannot tell the two apart by it")
            .note_at("the first one is", first.at.clone());
            findings.extend(leveled(finding, &[&entry.lints, &decl.lints]));
        }
    }
}

/// An example that the keyword scorer would send to another intent, or cannot decide on.
pub(super) fn check_overlapping_intents<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let Some(classify) = decl.classify.as_ref().filter(|classify| classify.scorer == ScorerKind::Keyword) else {
        return;
    };
    let intents: Vec<_> = intents(decl).collect();
    let vocabulary = Vocabulary::of(&intents);
    let owners = owners(&intents);
    for (at, (entry, intent, examples)) in intents.iter().enumerate() {
        // An example of two intents is a finding of its own.
        for example in
            examples.list.iter().filter(|example| owners.get(&fold(&example.text)).is_some_and(|of| of.len() == 1))
        {
            let (candidates, scores): (Vec<usize>, Vec<f64>) =
                vocabulary.scores_without(at, &words(&example.text)).into_iter().unzip();
            let judgement = judge(&scores, None, &classify.policy, ScorerTraits::KEYWORD);
            let best = judgement.ranked.first().and_then(|best| candidates.get(best.candidate));
            let (Some(best), false) = (best, judgement.verdict == ScoreVerdict::Unmatched) else { continue };
            let near_tie = matches!(judgement.verdict, ScoreVerdict::Menu(_));
            let rival = match judgement.runner_up {
                _ if *best != at => Some(*best),
                Some((second, _)) if near_tie => candidates.get(second).copied(),
                _ => None,
            };
            let Some((_, other, _)) = rival.and_then(|rival| intents.get(rival)) else { continue };
            let (own, other) = (&intent.text, &other.text);
            let fact = match *best == at {
                true => format!("a message like this is nearly as near to the intent `{other}` as to its own, `{own}`"),
                false => format!("a message like this is nearer to the intent `{other}` than to its own, `{own}`"),
            };
            let finding = Finding::new(Code::OverlappingIntents, example.at.clone(), fact)
            .help("give the two intents words of their own, or say it with a rule")
            .note("`classify: keyword` compares words; the example was scored as a message, and left out of its own intent");
            findings.extend(leveled(finding, &[&entry.lints, &decl.lints]));
        }
    }
}

/// The intents of which each message is an example.
fn owners<S>(intents: &[Intent<'_, S>]) -> HashMap<String, BTreeSet<usize>> {
    let mut owners: HashMap<String, BTreeSet<usize>> = HashMap::new();
    for (at, (_, _, examples)) in intents.iter().enumerate() {
        for example in &examples.list {
            owners.entry(fold(&example.text)).or_default().insert(at);
        }
    }
    owners
}

/// An entry with its intent and examples.
type Intent<'a, S> = (&'a EntryDecl<S>, &'a Word<S>, &'a TextList<S>);

fn intents<S>(decl: &GraphDecl<S>) -> impl Iterator<Item = Intent<'_, S>> {
    decl.entries.iter().filter_map(|entry| {
        let (intent, examples) = as_intent(entry.condition.as_ref()?)?;
        Some((entry, intent, examples))
    })
}

fn as_intent<S>(condition: &Condition<S>) -> Option<(&Word<S>, &TextList<S>)> {
    match condition {
        Condition::Intent { intent, examples } => Some((intent, examples)),
        _ => None,
    }
}

/// The words of all intents: which intents have a word, and in how many of its texts an intent has it.
struct Vocabulary {
    uses: Vec<HashMap<String, usize>>,
    intents: HashMap<String, Vec<usize>>,
}

impl Vocabulary {
    fn of<S>(all: &[Intent<'_, S>]) -> Self {
        let mut vocabulary = Vocabulary { uses: Vec::new(), intents: HashMap::new() };
        for (at, (_, intent, examples)) in all.iter().enumerate() {
            let mut uses: HashMap<String, usize> = HashMap::new();
            let texts = examples.list.iter().map(|example| &example.text).chain([&intent.text]);
            for word in texts.flat_map(|text| words(text)) {
                *uses.entry(word).or_default() += 1;
            }
            for word in uses.keys() {
                vocabulary.intents.entry(word.clone()).or_default().push(at);
            }
            vocabulary.uses.push(uses);
        }
        vocabulary
    }

    /// The intents that share a word with the message, in order, with their scores; the message itself is taken out of its
    /// own intent.
    fn scores_without(&self, own: usize, message: &BTreeSet<String>) -> Vec<(usize, f64)> {
        let sharing = message.iter().filter_map(|word| self.intents.get(word)).flatten().copied();
        let sharing: BTreeSet<usize> = sharing.collect();
        let score = |at: usize| {
            let uses = self.uses.get(at)?;
            let left = |word: &String, count: &usize| *count > usize::from(at == own && message.contains(word));
            let size = match at == own {
                true => uses.iter().filter(|(word, count)| left(word, count)).count(),
                false => uses.len(),
            };
            let shared = message.iter().filter(|word| uses.get(*word).is_some_and(|count| left(word, count))).count();
            Some((at, cosine(shared, message.len(), size)))
        };
        sharing.into_iter().filter_map(score).collect()
    }
}
