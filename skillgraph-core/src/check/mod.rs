//! The check-up: everything that can be known to be wrong with a graph before it runs (SPEC 2).
//!
//! One function for each code, grouped by what it looks at. All of them run, whatever the others found; a check that
//! would only repeat another's finding in other words keeps silent. The order of the findings is the order below, and
//! inside a check the order of the declaration.

mod body;
mod facts;
mod names;
mod partition;
mod procedures;
mod reach;
mod rules;
mod vocabulary;
mod wiring;

use crate::decl::GraphDecl;
use crate::finding::Finding;
use facts::Facts;

/// What is refused in a whole graph (SPEC 2.1). An empty answer means that it can run.
pub fn check<S: Clone>(decl: &GraphDecl<S>) -> Vec<Finding<S>> {
    let facts = Facts::new(decl);
    let mut findings = Vec::new();

    names::check_invalid_name(decl, &mut findings);
    names::check_reserved_name(decl, &mut findings);
    names::check_duplicate_tool(decl, &facts, &mut findings);
    names::check_duplicate_skill(decl, &mut findings);
    names::check_duplicate_id(decl, &mut findings);
    names::check_unknown_tool(decl, &facts, &mut findings);
    names::check_unknown_skill(decl, &facts, &mut findings);

    body::check_empty_text(decl, &mut findings);
    body::check_mentions(decl, &facts, &mut findings);

    procedures::check_empty_list(decl, &mut findings);
    procedures::check_steps_without_tools(decl, &mut findings);
    procedures::check_on_skip_without_steps(decl, &mut findings);
    procedures::check_foreign_tool(decl, &facts, &mut findings);
    procedures::check_steps_cannot_begin(decl, &facts, &mut findings);

    rules::check_no_entry(decl, &mut findings);
    rules::check_second_default(decl, &mut findings);
    rules::check_empty_list(decl, &mut findings);
    rules::check_empty_text(decl, &mut findings);
    rules::check_invalid_pattern(decl, &mut findings);

    wiring::check_empty_list(decl, &mut findings);
    wiring::check_empty_text(decl, &mut findings);
    wiring::check_duplicate_route(decl, &facts, &mut findings);
    wiring::check_edge_cannot_fire(decl, &facts, &mut findings);
    findings
}

/// What may not be meant, at the levels that the author set (SPEC 2.2). Only for a graph without refusals: where a name is
/// misspelt, things look unreachable and unused that are not.
pub fn warnings<S: Clone>(decl: &GraphDecl<S>) -> Vec<Finding<S>> {
    let facts = Facts::new(decl);
    let mut findings = Vec::new();

    reach::check_unreachable_skill(decl, &facts, &mut findings);
    reach::check_model_edge_only(decl, &facts, &mut findings);
    reach::check_dead_edge(decl, &facts, &mut findings);
    reach::check_ambiguous_routes(decl, &mut findings);
    reach::check_self_loop(decl, &mut findings);
    rules::check_overlapping_keywords(decl, &mut findings);
    vocabulary::check_unused_tool(decl, &mut findings);
    vocabulary::check_body_foreign_tool(decl, &facts, &mut findings);
    vocabulary::check_body_unknown_tool(decl, &facts, &mut findings);
    partition::check_one_way_entries(decl, &facts, &mut findings);
    partition::check_tools_share_prefix(decl, &mut findings);
    partition::check_few_declared_edges(decl, &mut findings);
    partition::check_skill_wraps_one_tool(decl, &mut findings);
    findings
}
