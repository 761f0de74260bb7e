//! Guards: that each term makes sense, and that all of them can hold at once.
// SPEC 1.4.

use std::collections::BTreeMap;

use super::body::blank;
use super::facts::Facts;
use crate::decl::{
    GraphDecl, GuardOperator, GuardTerm, Kind, Literal, Number, RouteDecl, StatusSet, Trigger, TriggerTools,
};
use crate::finding::{Code, Finding};

/// A path without a name in it.
pub(super) fn check_empty_text<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for (_, term) in terms(decl) {
        if term.segments().any(crate::text::is_blank) {
            findings.push(
                blank(&term.path, "a part of the path of this guard")
                    .help("name the key of the result, as in `order.total`"),
            );
        }
    }
}

/// `in []`.
pub(super) fn check_empty_list<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for (_, term) in
        terms(decl).filter(|(_, term)| term.operator.takes_list() && term.values.is_empty() && term.is_known())
    {
        findings.push(
            Finding::new(
                Code::EmptyList,
                term.values_at.clone(),
                format!("`{} {} []` compares with nothing", term.path.text, term.operator.as_str()),
            )
            .help("name at least one value, or remove the term"),
        );
    }
}

/// The most values that one list may hold: what is longer is a table, and belongs into a tool.
const MOST_VALUES: usize = 1_000;

/// A term whose operator does not go with what it compares with. Whether that fits the field is the compiler's to say.
pub(super) fn check_guard_type<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    for (_, term) in terms(decl) {
        let operator = term.operator.as_str();
        if term.operator.takes_list() != term.listed {
            let (what, help) = match term.listed {
                true => ("one value", "use `in` for any of several values, `not in` for none of them"),
                false => ("a list of values", "write the value in square brackets, or use `==` or `!=`"),
            };
            findings.push(
                Finding::new(Code::GuardType, term.values_at.clone(), format!("`{operator}` compares with {what}"))
                    .help(help),
            );
            continue;
        }
        if term.values.len() > MOST_VALUES {
            findings.push(
                Finding::new(
                    Code::GuardType,
                    term.values_at.clone(),
                    format!(
                        "`{operator}` compares with at most {MOST_VALUES} values, and these are {}",
                        term.values.len()
                    ),
                )
                .help("look the value up in the tool, and let the edge read what it says"),
            );
        }
        let other = term.values.iter().find(|value| value.kind() != Kind::Number);
        if let Some(value) = other.filter(|_| term.operator.is_order()) {
            findings.push(
                Finding::new(
                    Code::GuardType,
                    term.values_at.clone(),
                    format!("`{operator}` orders numbers, and `{value}` is none"),
                )
                .help("compare with a number, or use `==`, `!=`, `in` or `not in`"),
            );
        }
    }
}

/// The terms of a guard contradict each other, or the statuses on which the edge fires.
pub(super) fn check_guard_unsatisfiable<S: Clone>(
    decl: &GraphDecl<S>,
    facts: &Facts<'_, S>,
    findings: &mut Vec<Finding<S>>,
) {
    for route in decl.routes.iter().filter(|route| !route.trigger.guard().is_empty()) {
        let guard = route.trigger.guard();
        if let Some((earlier, later)) = contradiction(guard) {
            let message = match earlier.as_slice() {
                [one] => format!("`{one}` and `{later}` cannot hold at once"),
                _ => format!("the terms on `{}` cannot hold at once", later.path.text),
            };
            findings.push(
                Finding::new(
                    Code::GuardUnsatisfiable,
                    later.path.at.clone(),
                    format!("this edge cannot fire: {message}"),
                )
                .help("change one of them; where either is enough, write two edges"),
            );
        } else if let (true, Some(first)) = (has_no_output(decl, facts, route), guard.first()) {
            findings.push(
                Finding::new(
                    Code::GuardUnsatisfiable,
                    first.path.at.clone(),
                    "this edge cannot fire: it waits for a result without an output, and its guard reads the output",
                )
                .help("remove the guard, or let the edge fire on `success` or `partial`")
                .note("a typed tool returns an output with the statuses `success` and `partial`, and words with any other"),
            );
        }
    }
}

/// Whether two guards can hold of one result.
pub(super) fn can_hold_together<S>(a: &[GuardTerm<S>], b: &[GuardTerm<S>]) -> bool {
    // Of a const nothing is known: a term with one may always hold.
    let all: Vec<&GuardTerm<S>> = a.iter().chain(b).filter(|term| term.is_known()).collect();
    by_path(all).values().all(|terms| is_satisfiable(terms))
}

fn terms<S>(decl: &GraphDecl<S>) -> impl Iterator<Item = (&RouteDecl<S>, &GuardTerm<S>)> {
    decl.routes.iter().flat_map(|route| route.trigger.guard().iter().map(move |term| (route, term)))
}

/// Whether every tool that the edge names is typed, and it fires on no status that comes with an output.
fn has_no_output<S>(decl: &GraphDecl<S>, facts: &Facts<'_, S>, route: &RouteDecl<S>) -> bool {
    let Trigger::Returns { tools, .. } = &route.trigger else { return false };
    let is_typed = |name: &str| facts.tool(name).and_then(|tool| decl.tools.get(tool)).is_some_and(|tool| tool.typed);
    !matches!(tools, TriggerTools::Any { .. })
        && tools.named().iter().all(|name| is_typed(&name.text))
        && !route.trigger.statuses().intersects(StatusSet::RETURNED)
}

/// The first term that cannot hold beside those before it: beside one of them, or beside all that are about its path.
fn contradiction<S>(guard: &[GuardTerm<S>]) -> Option<(Vec<&GuardTerm<S>>, &GuardTerm<S>)> {
    let paths = by_path(guard.iter().filter(|term| makes_sense(term)).collect());
    // Whoever can hold beside all of them can hold beside some: each path is looked at once, unless it has one.
    let first = |terms: &[&GuardTerm<S>]| {
        let counts: Vec<usize> = (1..=terms.len()).collect();
        counts.partition_point(|count| terms.get(..*count).is_none_or(is_satisfiable))
    };
    let broken = paths.into_values().filter(|terms| !is_satisfiable(terms));
    let firsts = broken.map(|terms| (first(&terms), terms));
    let place = |term: &GuardTerm<S>| guard.iter().position(|other| std::ptr::eq(other, term));
    let (at, terms) = firsts.min_by_key(|(at, terms)| terms.get(*at).and_then(|term| place(term)))?;
    let later = *terms.get(at)?;
    let before = terms.get(..at)?;
    match before.iter().find(|earlier| !is_satisfiable(&[earlier, later])) {
        Some(earlier) => Some((vec![*earlier], later)),
        None => Some((before.to_vec(), later)),
    }
}

/// Whether the operator goes with what it compares with; where it does not, that is the finding.
fn makes_sense<S>(term: &GuardTerm<S>) -> bool {
    !term.values.is_empty()
        && term.is_known()
        && (!term.operator.is_order() || term.values.iter().all(|value| value.kind() == Kind::Number))
}

fn by_path<S>(terms: Vec<&GuardTerm<S>>) -> BTreeMap<&str, Vec<&GuardTerm<S>>> {
    let mut paths: BTreeMap<&str, Vec<&GuardTerm<S>>> = BTreeMap::new();
    for term in terms {
        paths.entry(&term.path.text).or_default().push(term);
    }
    paths
}

/// Whether one value passes all of these terms. Numbers are taken as real numbers.
fn is_satisfiable<S>(terms: &[&GuardTerm<S>]) -> bool {
    let passes = |value: &Literal| terms.iter().all(|term| term.holds(value));
    let named = |term: &&&GuardTerm<S>| matches!(term.operator, GuardOperator::Equal | GuardOperator::In);
    if let Some(term) = terms.iter().find(named) {
        return term.values.iter().any(passes);
    }
    let is_about = |kind: Kind| terms.iter().all(|term| term.is_about(kind));
    // Of texts there is always one that no term names.
    is_about(Kind::Text)
        || (is_about(Kind::Bool) && [true, false].into_iter().any(|value| passes(&Literal::Bool(value))))
        || (is_about(Kind::Number) && some_number(terms).into_iter().any(|number| passes(&Literal::Number(number))))
}

/// Numbers of which one passes, if any number does: the bounds that the terms name, and what lies between and beyond them.
fn some_number<S>(terms: &[&GuardTerm<S>]) -> Vec<Number> {
    let values = terms.iter().flat_map(|term| &term.values);
    let mut named: Vec<Number> = values
        .filter_map(|value| match value {
            Literal::Number(number) => Some(*number),
            _ => None,
        })
        .collect();
    named.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let between = named.windows(2).filter_map(|pair| match pair {
        [low, high] => low.between(*high),
        _ => None,
    });
    let between: Vec<Number> = between.collect();
    named.into_iter().chain(between).chain([Number::Float(f64::MIN), Number::Float(f64::MAX)]).collect()
}
