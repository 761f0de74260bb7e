//! Rules that leave nothing, or take everything: decided for every message at once.
// SPEC 2.2.

use super::claims::{Claims, Fate};
use super::rules::all_conditions;
use crate::decl::{Condition, EntryDecl, GraphDecl, Word, leveled};
use crate::finding::{Code, Finding};
use crate::suggest::listed;

/// A pattern, or the parts of an `all[…]` together, that no message can match.
pub(super) fn check_matches_nothing<S: Clone>(decl: &GraphDecl<S>, claims: &Claims, findings: &mut Vec<Finding<S>>) {
    let empty = claims.empty_patterns();
    for condition in all_conditions(decl) {
        if let Condition::Matches(pattern) = condition
            && empty.contains(pattern.text.as_str())
        {
            findings.push(
                Finding::new(Code::MatchesNothing, pattern.at.clone(), "no message can match this pattern").help(
                    "look at its anchors and `\\b`: each must be able to hold between the characters on its two sides",
                ),
            );
        }
    }
    if !empty.is_empty() {
        return;
    }
    for (at, entry) in decl.entries.iter().enumerate() {
        if let (Some(Condition::Picked { .. }), Some(never)) = (&entry.condition, &entry.never_picked) {
            findings.push(
                Finding::new(
                    Code::MatchesNothing,
                    never.clone(),
                    format!(
                        "nothing opens entry `{}`: it waits to be picked, and says that it never is",
                        entry.skill.text
                    ),
                )
                .help(format!("remove {}, or write a rule in `when`", decl.form.never_picked())),
            );
        }
        if let Some(condition) = entry.condition.as_ref().filter(|_| claims.is_contradiction(at)) {
            findings.push(
                Finding::new(
                    Code::MatchesNothing,
                    condition.at().clone(),
                    "no message can match all of these conditions",
                )
                .help("they exclude each other: loosen one of them, or write an entry for each"),
            );
        }
    }
}

/// A rule matches every message, and others stand behind it.
pub(super) fn check_rule_matches_everything<S: Clone>(
    decl: &GraphDecl<S>,
    claims: &Claims,
    findings: &mut Vec<Finding<S>>,
) {
    let Some((at, entry, condition)) = first_that_takes_all(decl, claims) else { return };
    let rest = decl.entries.iter().enumerate().filter(|(other, entry)| *other > at || entry.condition.is_none());
    let rest: Vec<&Word<S>> = rest.map(|(_, entry)| &entry.skill).collect();
    if rest.is_empty() {
        return;
    }
    let finding = Finding::new(
        Code::RuleMatchesEverything,
        condition.at().clone(),
        format!("the rule of entry `{}` matches every message: no entry after it can win", entry.skill.text),
    )
    .help(format!(
        "narrow it; where a turn is to start when no rule matches, add {} without a condition",
        decl.form.default_entry(&entry.skill.text)
    ))
    .note("rules are tried in the order of the source; the entry without a condition comes last, wherever it stands");
    let finding = rest
        .into_iter()
        .fold(finding, |finding, entry| finding.note_at(format!("the entry `{}` is", entry.text), entry.at.clone()));
    findings.extend(leveled(finding, &[&entry.lints, &decl.lints]));
}

/// Whatever a rule matches is claimed by those before it: it can never win.
pub(super) fn check_rule_shadowed<S: Clone>(decl: &GraphDecl<S>, claims: &Claims, findings: &mut Vec<Finding<S>>) {
    // What stands behind a rule that takes everything is that rule's finding.
    let until = first_that_takes_all(decl, claims).map_or(decl.entries.len(), |(at, ..)| at + 1);
    for (at, (entry, fate)) in decl.entries.iter().zip(claims.fates()).enumerate().take(until) {
        let (Fate::Shadowed(by), Some(condition)) = (fate, &entry.condition) else { continue };
        let rivals: Vec<&EntryDecl<S>> = by.iter().filter_map(|rival| decl.entries.get(*rival)).collect();
        let names: Vec<&str> = rivals.iter().map(|rival| rival.skill.text.as_str()).collect();
        let Some(first) = rivals.first().filter(|_| at > 0) else { continue };
        let (by, narrow) = match names.as_slice() {
            [one] => (format!("the earlier entry `{one}` claims"), format!("narrow the rule of `{one}`")),
            _ => (
                format!("the earlier entries {} together claim", listed(names.iter().copied())),
                "narrow those".to_owned(),
            ),
        };
        let mut finding = Finding::new(
            Code::RuleShadowed,
            condition.at().clone(),
            format!("the rule of entry `{}` can never win: {by} every message that it matches", entry.skill.text),
        )
        .help(format!("move it before `{}`, or {narrow}", first.skill.text))
        .note("rules are tried in the order of the source");
        for rival in rivals {
            finding = finding.note_at(format!("the rule of `{}` is", rival.skill.text), rival.skill.at.clone());
        }
        findings.extend(leveled(finding, &[&entry.lints, &decl.lints]));
    }
}

fn first_that_takes_all<'a, S>(
    decl: &'a GraphDecl<S>,
    claims: &Claims,
) -> Option<(usize, &'a EntryDecl<S>, &'a Condition<S>)> {
    let rules = decl.entries.iter().enumerate().filter_map(|(at, entry)| Some((at, entry, entry.condition.as_ref()?)));
    rules.into_iter().find(|(at, ..)| claims.is_everything(*at))
}
