//! The check-up: everything that can be known to be wrong with a graph before it runs (SPEC 2).
//!
//! One function for each code, grouped by what it looks at. All of them run, whatever the others found; a check that
//! would only repeat another's finding in other words keeps silent. The order of the findings is the order below, and
//! inside a check the order of the declaration.

mod body;
mod facts;
mod names;
mod procedures;
mod rules;
mod wiring;

use crate::decl::GraphDecl;
use crate::finding::Finding;
use facts::Facts;

/// Checks a whole graph. An empty answer means that it can run.
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
