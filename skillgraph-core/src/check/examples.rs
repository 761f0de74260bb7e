//! Messages that the author names: those that a rule must claim, and those that none may.
// SPEC 2.1.

use std::collections::HashMap;

use super::body::blank;
use super::claims::{Claim, Claims};
use crate::decl::{Condition, EntryDecl, Form, GraphDecl, TextList, Word};
use crate::finding::{Code, Finding};
use crate::text::fold;

/// `examples: []` or `never_routes: []`.
pub(super) fn check_empty_list<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let examples = decl.entries.iter().filter_map(|entry| Some((entry.examples.as_ref()?, "the examples")));
    let never = decl.never_routes.iter().map(|list| (list, "`never_routes`"));
    for (list, what) in examples.chain(never).filter(|(list, _)| list.list.is_empty()) {
        findings.push(
            Finding::new(Code::EmptyList, list.at.clone(), format!("{what} hold no message"))
                .help("write at least one message, or leave the list out"),
        );
    }
}

/// A blank message.
pub(super) fn check_empty_text<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let lists = decl.entries.iter().filter_map(|entry| entry.examples.as_ref()).chain(&decl.never_routes);
    for message in lists.flat_map(|list| &list.list).filter(|message| message.is_blank()) {
        findings.push(blank(message, "an example").help("write a message as a user would"));
    }
}

/// Examples on an entry without a condition.
pub(super) fn check_examples_on_default<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for entry in decl.entries.iter().filter(|entry| entry.condition.is_none()) {
        let Some(examples) = &entry.examples else { continue };
        let skill = &entry.skill.text;
        findings.push(
            Finding::new(
                Code::ExamplesOnDefault,
                examples.at.clone(),
                format!("the entry `{skill}` has no condition that examples could prove"),
            )
            .help(match decl.form {
                Form::Language => format!("remove them, or say when a turn starts there: `entry {skill} when …`"),
                _ => "remove them, or say when a turn starts there: add `\"when\"`".to_owned(),
            })
            .note("an entry without a condition opens where no rule claims the message"),
        );
    }
}

/// A rule does not match its own example.
pub(super) fn check_example_misses_own_rule<S: Clone>(
    decl: &GraphDecl<S>,
    claims: &Claims,
    findings: &mut Vec<Finding<S>>,
) {
    for (at, entry, example) in examples(decl) {
        if claims.claim(at, &example.text) == Claim::No {
            findings.push(
                Finding::new(
                    Code::ExampleMissesOwnRule,
                    example.at.clone(),
                    format!("the rule of entry `{}` does not match its own example", entry.skill.text),
                )
                .help("widen the rule, or change the example to a message that it is for")
                .note("the rule was run on this text, as it runs on a user's message"),
            );
        }
    }
}

/// An earlier rule claims an example first.
pub(super) fn check_example_shadowed_by_earlier<S: Clone>(
    decl: &GraphDecl<S>,
    claims: &Claims,
    findings: &mut Vec<Finding<S>>,
) {
    for (at, entry, example) in examples(decl) {
        if claims.claim(at, &example.text) == Claim::No {
            continue;
        }
        let rival = claims.first_claimer(&example.text, at).and_then(|rival| decl.entries.get(rival));
        let Some(rival) = rival.filter(|rival| rival.skill.text != entry.skill.text) else { continue };
        let (own, other) = (&entry.skill.text, &rival.skill.text);
        findings.push(
            Finding::new(
                Code::ExampleShadowedByEarlier,
                example.at.clone(),
                format!("this example of entry `{own}` opens `{other}`: the earlier rule claims it first"),
            )
            .help(format!("move the entry `{own}` before `{other}`, or narrow the rule of `{other}`"))
            .note("rules are tried in the order of the source; both were run on this text")
            .note_at(format!("the rule of `{other}` is"), rival.skill.at.clone()),
        );
    }
}

/// A message that must route nowhere is an example of a rule.
pub(super) fn check_never_routes_contradicts_example<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let examples = folded_examples(decl);
    for phrase in never_routes(decl) {
        let Some((entry, example)) = examples.get(&fold(&phrase.text)) else { continue };
        findings.push(
            Finding::new(
                Code::NeverRoutesContradictsExample,
                phrase.at.clone(),
                format!("this message must route nowhere, and is an example of entry `{}`", entry.skill.text),
            )
            .help("remove one of the two")
            .note_at("the example is", example.at.clone()),
        );
    }
}

/// A rule claims a message that must route nowhere.
pub(super) fn check_never_routes_claimed<S: Clone>(
    decl: &GraphDecl<S>,
    claims: &Claims,
    findings: &mut Vec<Finding<S>>,
) {
    let examples = folded_examples(decl);
    for phrase in never_routes(decl).filter(|phrase| !examples.contains_key(&fold(&phrase.text))) {
        let claimer = claims.first_claimer(&phrase.text, usize::MAX).and_then(|claimer| decl.entries.get(claimer));
        let Some(entry) = claimer else { continue };
        let skill = &entry.skill.text;
        findings.push(
            Finding::new(
                Code::NeverRoutesClaimed,
                phrase.at.clone(),
                format!("the rule of entry `{skill}` claims this message, which must route nowhere"),
            )
            .help(format!("narrow the rule of `{skill}`, or remove the message from `never_routes`"))
            .note_at("the rule is", entry.skill.at.clone()),
        );
    }
}

/// Every example of a rule, blank ones aside, with its entry.
fn examples<S>(decl: &GraphDecl<S>) -> impl Iterator<Item = (usize, &EntryDecl<S>, &Word<S>)> {
    let is_rule = |entry: &EntryDecl<S>| entry.condition.as_ref().is_some_and(Condition::is_rule);
    let rules = decl.entries.iter().enumerate().filter(move |(_, entry)| is_rule(entry));
    rules.flat_map(|(at, entry)| said(&entry.examples).map(move |example| (at, entry, example)))
}

fn never_routes<S>(decl: &GraphDecl<S>) -> impl Iterator<Item = &Word<S>> {
    said(&decl.never_routes)
}

/// The texts of a list that say something.
fn said<S>(list: &Option<TextList<S>>) -> impl Iterator<Item = &Word<S>> {
    list.iter().flat_map(|list| &list.list).filter(|text| !text.is_blank())
}

/// The examples by what they say, each with the first entry that has it.
fn folded_examples<S>(decl: &GraphDecl<S>) -> HashMap<String, (&EntryDecl<S>, &Word<S>)> {
    let mut folded = HashMap::new();
    for (_, entry, example) in examples(decl) {
        folded.entry(fold(&example.text)).or_insert((entry, example));
    }
    folded
}
