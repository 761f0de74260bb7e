//! Entry rules: that a turn can start, and that every rule says something.
// SPEC 4.

use std::collections::HashMap;

use regex_syntax::hir::{Class, Hir, HirKind};

use super::body::blank;
use super::claims::{Claims, Fate};
use crate::decl::{Condition, Form, GraphDecl, Word, leveled};
use crate::excerpt::excerpt;
use crate::finding::{Code, Finding};
use crate::text::fold;

/// The most that a compiled pattern may come to, in automaton states. Far above any rule that a person writes; what is
/// above it would cost hundreds of megabytes when the agent starts.
const MOST_STATES: u64 = 1_000_000;

/// No turn could ever start.
pub(super) fn check_no_entry<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    if decl.entries.is_empty() && decl.tree.is_none() && decl.catalog.is_none() {
        let first = decl.skills.first().map_or("…", |skill| skill.ident.text.as_str());
        findings.push(
            Finding::new(
                Code::NoEntry,
                decl.name.at.clone(),
                format!("graph `{}` has no entry: no turn could start in any of its skills", decl.name.text),
            )
            .help(format!(
                "add {} to start there, or {} to start there on a rule",
                decl.form.default_entry(first),
                decl.form.entry(first)
            )),
        );
    }
}

/// Two entries have no condition.
pub(super) fn check_second_default<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let mut defaults = decl.entries.iter().filter(|entry| entry.condition.is_none());
    let Some(first) = defaults.next() else { return };
    for second in defaults {
        findings.push(
            Finding::new(
                Code::SecondDefault,
                second.skill.at.clone(),
                format!("`{}` is a second entry without a condition", second.skill.text),
            )
            .help(match decl.form {
                Form::Language => format!("say when a turn starts there: `entry {} when …;`", second.skill.text),
                _ => "say when a turn starts there: add `\"when\"`".to_owned(),
            })
            .note_at(format!("the first one, `{}`, is", first.skill.text), first.skill.at.clone()),
        );
    }
}

/// `keywords[]` or `all[]`.
pub(super) fn check_empty_list<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for condition in all_conditions(decl) {
        let (at, what, help) = match condition {
            Condition::Keywords { at, list } if list.is_empty() => (
                at,
                "the list of keywords holds no phrase and matches nothing",
                "name at least one phrase, such as \"refund\"",
            ),
            Condition::All { at, list } if list.is_empty() => (
                at,
                "the list of `all` holds no condition and matches everything",
                "name at least one condition, or remove `when`",
            ),
            _ => continue,
        };
        findings.push(Finding::new(Code::EmptyList, at.clone(), what).help(help));
    }
}

/// A blank phrase, pattern or label.
pub(super) fn check_empty_text<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for entry in &decl.entries {
        if let Some(label) = entry.label.as_ref().filter(|label| label.is_blank()) {
            findings.push(
                blank(label, &format!("the label of the entry `{}`", entry.skill.text))
                    .help(format!("remove {}", decl.form.label())),
            );
        }
    }
    for condition in all_conditions(decl) {
        match condition {
            Condition::Keywords { list, .. } => {
                for phrase in list.iter().filter(|phrase| phrase.is_blank()) {
                    findings
                        .push(blank(phrase, "a keyword").help("write the word or phrase that a message would hold"));
                }
            }
            Condition::Matches(pattern) if pattern.text.is_empty() => {
                findings.push(
                    blank(pattern, "the pattern")
                        .help("write what to look for; an entry that takes every message has no `when`"),
                );
            }
            _ => {}
        }
    }
}

/// `matches("…")` is not a pattern of the `regex` crate, or one too large to compile.
pub(super) fn check_invalid_pattern<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for condition in all_conditions(decl) {
        if let Condition::Matches(pattern) = condition {
            findings.extend(invalid_pattern(pattern, decl.form));
        }
    }
}

fn invalid_pattern<S: Clone>(pattern: &Word<S>, form: Form) -> Option<Finding<S>> {
    let finding = |message: String| Finding::new(Code::InvalidPattern, pattern.at.clone(), message);
    if let Some((inner, flags)) = javascript_literal(&pattern.text) {
        let kept: String = flags.chars().filter(|flag| "ims".contains(*flag)).collect();
        let kept = if kept.is_empty() { kept } else { format!("(?{kept})") };
        return Some(
            finding(format!("this pattern is written as in JavaScript, with slashes and the flags `{flags}`")).help(
                format!(
                    "write it alone: {}; where slashes are meant, write `[/]`",
                    form.pattern(&format!("{kept}{inner}"))
                ),
            ),
        );
    }
    let (reason, span) = match regex_syntax::parse(&pattern.text) {
        Ok(hir) if states(&hir) > MOST_STATES => {
            return Some(
                finding("this pattern is too large to compile".into())
                    .help("shorten its counted repetitions: `x{1000}` stands for a thousand copies of `x`"),
            );
        }
        Ok(_) => return None,
        Err(regex_syntax::Error::Parse(error)) => (error.kind().to_string(), *error.span()),
        Err(regex_syntax::Error::Translate(error)) => (error.kind().to_string(), *error.span()),
        Err(error) => return Some(finding(format!("not a regular expression: {error}"))),
    };
    Some(
        finding(format!("not a regular expression: {reason}"))
            .excerpt(excerpt("pattern", &pattern.text, span.start.offset..span.end.offset))
            .note("patterns are those of the `regex` crate: no look-around, no back-references"),
    )
}

/// About how many automaton states a pattern compiles to. The parser bounds the depth.
fn states(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) => class.ranges().len() as u64,
        HirKind::Class(Class::Bytes(class)) => class.ranges().len() as u64,
        HirKind::Capture(capture) => states(&capture.sub),
        HirKind::Repetition(repetition) => {
            let copies = u64::from(repetition.max.unwrap_or(repetition.min).max(1));
            states(&repetition.sub).saturating_mul(copies)
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(0, |sum, part| sum.saturating_add(states(part)))
        }
    }
}

/// The parts of a text that looks like a literal of JavaScript, flags included.
fn javascript_literal(text: &str) -> Option<(&str, &str)> {
    let (inner, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    let are_flags = !flags.is_empty() && flags.chars().all(|flag| "dgimsuvy".contains(flag));
    (are_flags && !inner.is_empty()).then_some((inner, flags))
}

/// Two keyword rules share a keyword: the first in the source always wins it.
pub(super) fn check_overlapping_keywords<S: Clone>(
    decl: &GraphDecl<S>,
    claims: &Claims,
    findings: &mut Vec<Finding<S>>,
) {
    let mut first_use: HashMap<String, (usize, &Word<S>)> = HashMap::new();
    for (at, (entry, fate)) in decl.entries.iter().zip(claims.fates()).enumerate() {
        let Some(Condition::Keywords { list, .. }) = &entry.condition else { continue };
        for keyword in list {
            let (owner, first) = *first_use.entry(fold(&keyword.text)).or_insert((at, keyword));
            // A rule that can never win has a finding of its own.
            if owner == at || matches!(fate, Fate::Shadowed(_)) {
                continue;
            }
            let finding = Finding::new(
                Code::OverlappingKeywords,
                keyword.at.clone(),
                format!("`{}` is a keyword of an earlier entry too, which wins it", keyword.text),
            )
            .help("remove it from one of the two")
            .note_at("the earlier one is", first.at.clone());
            let finding = match fate {
                Fate::Wins(message) => {
                    finding.witness(message, format!("a message that opens `{}` still", entry.skill.text))
                }
                _ => finding,
            };
            findings.extend(leveled(finding, &[&entry.lints, &decl.lints]));
        }
    }
}

/// Every condition of every entry and of the tree, the parts of `all[…]` after it.
pub(super) fn all_conditions<S>(decl: &GraphDecl<S>) -> Vec<&Condition<S>> {
    let mut found = Vec::new();
    let forks = decl.tree.iter().flat_map(|tree| tree.root.forks()).map(|fork| &fork.condition);
    for condition in decl.entries.iter().filter_map(|entry| entry.condition.as_ref()).chain(forks) {
        let mut pending: Vec<&Condition<S>> = vec![condition];
        while let Some(condition) = pending.pop() {
            found.push(condition);
            if let Condition::All { list, .. } = condition {
                pending.extend(list.iter().rev());
            }
        }
    }
    found
}
