//! The check-up: everything that can be known to be wrong with a graph before it runs.
//!
//! One function for each code, grouped by what it looks at. All of them run, whatever the others found; a check that
//! would only repeat another's finding in other words keeps silent. The order of the findings is the order below, and
//! inside a check the order of the declaration.
// SPEC 2.

mod body;
mod catalog;
mod claims;
mod examples;
mod facts;
mod guards;
mod intents;
mod names;
mod partition;
mod procedures;
mod reach;
mod rules;
mod shadowing;
mod surfaces;
mod tree;
mod vocabulary;
mod wiring;
mod words;

use crate::decl::GraphDecl;
use crate::finding::{Finding, Note};
use claims::{Claims, Fate};
use facts::Facts;

/// What a check-up comes to.
#[derive(Debug, Clone)]
pub struct CheckUp<S> {
    /// The refusals; where there are none, the warnings.
    pub findings: Vec<Finding<S>>,
    /// What was not decided.
    pub undecided: Vec<Note<S>>,
}

/// What is refused in a whole graph. An empty answer means that it can run.
// SPEC 2.1.
pub fn check<S: Clone>(decl: &GraphDecl<S>) -> Vec<Finding<S>> {
    refusals(decl, &Facts::new(decl), &Claims::new(decl))
}

/// What is refused in a whole graph; where nothing is, what may not be meant, at the levels that the author set.
/// Where a name is misspelt, things look unreachable and unused that are not: the one is said, the other not.
// SPEC 2.2.
pub fn check_up<S: Clone>(decl: &GraphDecl<S>) -> CheckUp<S> {
    let (facts, claims) = (Facts::new(decl), Claims::new(decl));
    let refusals = refusals(decl, &facts, &claims);
    if !refusals.is_empty() {
        return CheckUp { findings: refusals, undecided: Vec::new() };
    }
    CheckUp { findings: warnings(decl, &facts, &claims), undecided: undecided(decl, &claims) }
}

fn refusals<S: Clone>(decl: &GraphDecl<S>, facts: &Facts<'_, S>, claims: &Claims) -> Vec<Finding<S>> {
    let mut findings = Vec::new();

    names::check_invalid_name(decl, &mut findings);
    names::check_reserved_name(decl, &mut findings);
    names::check_duplicate_tool(decl, facts, &mut findings);
    names::check_duplicate_skill(decl, &mut findings);
    names::check_duplicate_id(decl, &mut findings);
    names::check_unknown_tool(decl, facts, &mut findings);
    names::check_unknown_skill(decl, facts, &mut findings);

    body::check_empty_text(decl, &mut findings);
    body::check_mentions(decl, facts, &mut findings);
    vocabulary::check_empty_list(decl, &mut findings);
    vocabulary::check_empty_text(decl, &mut findings);
    vocabulary::check_duplicate_kind(decl, &mut findings);

    procedures::check_empty_list(decl, &mut findings);
    procedures::check_steps_without_tools(decl, &mut findings);
    procedures::check_on_skip_without_steps(decl, &mut findings);
    procedures::check_foreign_tool(decl, facts, &mut findings);
    procedures::check_steps_cannot_begin(decl, facts, &mut findings);

    surfaces::check_body_unreachable(decl, &mut findings);
    surfaces::check_refresh_without_result(decl, &mut findings);

    catalog::check_invalid_name(decl, &mut findings);
    catalog::check_duplicate_skill(decl, &mut findings);
    catalog::check_duplicate_id(decl, &mut findings);
    catalog::check_unknown_tool(decl, facts, &mut findings);
    catalog::check_duplicate_tool(decl, &mut findings);
    catalog::check_empty_text(decl, &mut findings);
    catalog::check_empty_list(decl, &mut findings);
    catalog::check_foreign_tool(decl, facts, &mut findings);
    catalog::check_default_bind_over_limit(decl, &mut findings);

    rules::check_no_entry(decl, &mut findings);
    tree::check_tree_is_exclusive(decl, facts, &mut findings);
    tree::check_tree_not_total(decl, &mut findings);
    rules::check_second_default(decl, &mut findings);
    rules::check_empty_list(decl, &mut findings);
    rules::check_empty_text(decl, &mut findings);
    rules::check_invalid_pattern(decl, &mut findings);
    shadowing::check_matches_nothing(decl, claims, &mut findings);

    examples::check_empty_list(decl, &mut findings);
    examples::check_empty_text(decl, &mut findings);
    examples::check_examples_on_default(decl, &mut findings);
    examples::check_example_misses_own_rule(decl, claims, &mut findings);
    examples::check_example_shadowed_by_earlier(decl, claims, &mut findings);
    examples::check_never_routes_contradicts_example(decl, &mut findings);
    examples::check_never_routes_claimed(decl, claims, &mut findings);

    intents::check_empty_list(decl, &mut findings);
    intents::check_empty_text(decl, &mut findings);
    intents::check_intent_without_classify(decl, &mut findings);
    intents::check_intent_in_all(decl, &mut findings);
    intents::check_examples_on_intent(decl, &mut findings);

    wiring::check_empty_list(decl, &mut findings);
    wiring::check_empty_text(decl, &mut findings);
    wiring::check_duplicate_route(decl, facts, &mut findings);
    wiring::check_edge_cannot_fire(decl, facts, &mut findings);
    guards::check_empty_list(decl, &mut findings);
    guards::check_empty_text(decl, &mut findings);
    guards::check_guard_type(decl, &mut findings);
    guards::check_guard_unsatisfiable(decl, facts, &mut findings);
    findings
}

fn warnings<S: Clone>(decl: &GraphDecl<S>, facts: &Facts<'_, S>, claims: &Claims) -> Vec<Finding<S>> {
    let mut findings = Vec::new();

    reach::check_unreachable_skill(decl, facts, &mut findings);
    reach::check_model_edge_only(decl, facts, &mut findings);
    reach::check_dead_edge(decl, facts, &mut findings);
    reach::check_ambiguous_routes(decl, &mut findings);
    reach::check_gate_beside_entry(decl, &mut findings);
    reach::check_self_loop(decl, &mut findings);
    shadowing::check_rule_matches_everything(decl, claims, &mut findings);
    shadowing::check_rule_shadowed(decl, claims, &mut findings);
    rules::check_overlapping_keywords(decl, claims, &mut findings);
    intents::check_duplicate_intent_example(decl, &mut findings);
    intents::check_overlapping_intents(decl, &mut findings);
    vocabulary::check_unused_tool(decl, &mut findings);
    let bodies = vocabulary::bodies(decl);
    vocabulary::check_body_foreign_tool(decl, facts, &bodies, &mut findings);
    vocabulary::check_body_unknown_tool(decl, facts, &bodies, &mut findings);
    vocabulary::check_artifact_kind_unsatisfied(decl, &mut findings);
    catalog::check_nothing_bound_on_open(decl, &mut findings);
    partition::check_one_way_entries(decl, facts, &mut findings);
    partition::check_no_negative_evidence(decl, &mut findings);
    partition::check_tools_share_prefix(decl, &mut findings);
    partition::check_few_declared_edges(decl, &mut findings);
    partition::check_skill_wraps_one_tool(decl, &mut findings);
    findings
}

/// Rules of which it is not known whether they can win.
fn undecided<S: Clone>(decl: &GraphDecl<S>, claims: &Claims) -> Vec<Note<S>> {
    let mut notes = Vec::new();
    let rules = decl
        .entries
        .iter()
        .zip(claims.fates())
        .filter_map(|(entry, fate)| Some((entry, entry.condition.as_ref()?, fate)));
    for (at, (entry, condition, fate)) in rules.enumerate() {
        let text = match fate {
            Fate::Wins(_) | Fate::Shadowed(_) => continue,
            // Nothing stands before the first.
            Fate::Undecided if at == 0 => continue,
            Fate::NoRule if !condition.is_rule() => continue,
            Fate::NoRule => format!("what the closure of entry `{}` matches is not known", entry.skill.text),
            Fate::Undecided => format!("whether the rule of entry `{}` can win was not found out", entry.skill.text),
        };
        notes.push(Note { text, at: Some(condition.at().clone()) });
    }
    notes
}
