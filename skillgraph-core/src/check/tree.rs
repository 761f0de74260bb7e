//! Trees: that they stand alone and always lead somewhere.
// SPEC 3.5.

use std::collections::HashSet;

use super::facts::Facts;
use crate::decl::{Form, GraphDecl, Tree};
use crate::finding::{Code, Finding};

/// Something stands beside a tree that has no meaning there.
pub(super) fn check_tree_is_exclusive<S: Clone>(
    decl: &GraphDecl<S>,
    facts: &Facts<'_, S>,
    findings: &mut Vec<Finding<S>>,
) {
    let Some(tree) = &decl.tree else { return };
    let mut refuse = |at: &S, what: &str, help: &str| {
        let finding = Finding::new(Code::TreeIsExclusive, at.clone(), format!("{what} beside a `tree`"));
        findings.push(finding.help(help).note("the tree alone says which skill is open; the message decides"));
    };
    for entry in &decl.entries {
        refuse(&entry.skill.at, "an `entry`", "make its rule a condition of the tree, or remove the tree");
    }
    for route in &decl.routes {
        refuse(&route.from.at, "a `route`", "remove it, or write the graph with entries and edges instead of the tree");
    }
    if let Some(never) = &decl.never_routes {
        refuse(&never.at, "`never_routes`", "remove it: every message leads to a leaf");
    }
    if let Some(classify) = &decl.classify {
        refuse(&classify.at, "`classify`", "remove it: a tree reads rules alone");
    }
    for fork in tree.root.forks().into_iter().filter(|fork| !fork.condition.is_rule()) {
        refuse(
            fork.condition.at(),
            "an intent or `picked`",
            "ask for what stands in the message: `matches`, `keywords`, `all`, a closure",
        );
    }
    // What is misspelt or missing in the tree may be what is no leaf.
    let unread = tree.root.leaves().into_iter().any(|leaf| facts.skill(&leaf.text).is_none())
        || tree.root.forks().into_iter().any(|fork| fork.otherwise.is_none());
    if unread {
        return;
    }
    let leaves: HashSet<&str> = tree.root.leaves().into_iter().map(|leaf| leaf.text.as_str()).collect();
    for skill in decl.skills.iter().filter(|skill| !leaves.contains(skill.ident.text.as_str())) {
        let name = &skill.ident.text;
        findings.push(
            Finding::new(
                Code::TreeIsExclusive,
                skill.ident.at.clone(),
                format!("skill `{name}` is no leaf of the tree"),
            )
            .help(match decl.form {
                Form::Language => {
                    format!("lead to it from a branch, `{{ {name} }}`, or remove it: nothing else opens it")
                }
                _ => format!("lead to it from a branch, `\"{name}\"`, or remove it: nothing else opens it"),
            }),
        );
    }
}

/// An `if` without `else`.
pub(super) fn check_tree_not_total<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let forks = decl.tree.iter().flat_map(|Tree { root, .. }| root.forks());
    for fork in forks.filter(|fork| fork.otherwise.is_none()) {
        findings.push(
            Finding::new(
                Code::TreeNotTotal,
                fork.at.clone(),
                "an `if` without `else`: some messages would lead nowhere",
            )
            .help(match decl.form {
                Form::Language => "add `else { … }` with the skill for all other messages",
                _ => "add `\"else\"` with the skill for all other messages",
            }),
        );
    }
}
