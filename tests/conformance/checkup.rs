//! `checkup.json`: what the check-up finds, by code and skill.

use std::collections::BTreeSet;

use serde_json::Value;
use skillgraph::core::check::check_up;
use skillgraph::core::graph::Graph;
use skillgraph::core::{Code, Level};

use crate::translate::{Translated, Untranslated, list, translate};
use crate::{Difference, Seen};

pub fn compare(case: &Value) -> Vec<Seen<'_>> {
    let differences = match case["kind"].as_str() {
        Some("refusal") => refusal(case),
        _ => check(case),
    };
    differences.into_iter().map(|difference| Seen { case, step: None, difference }).collect()
}

/// A declaration that must be refused, or must not.
fn refusal(case: &Value) -> Vec<Difference> {
    let expected = case["expect"]["refused"].as_bool().expect("refused");
    let ours = match translated(case) {
        Err(Untranslated::Construct(construct)) => return vec![Difference::new("construct", "", construct)],
        Err(Untranslated::Malformed(_)) => true,
        Ok(graph) => findings(&graph).iter().any(|(level, ..)| *level == Level::Refusal),
    };
    if ours == expected { Vec::new() } else { vec![Difference::new("refused", expected, ours)] }
}

fn check(case: &Value) -> Vec<Difference> {
    let graph = match translated(case) {
        Err(Untranslated::Construct(construct)) => return vec![Difference::new("construct", "", construct)],
        Err(Untranslated::Malformed(error)) => return vec![Difference::new("malformed", "", error)],
        Ok(graph) => graph,
    };
    let found = findings(&graph);
    let we_refuse = found.iter().any(|(level, ..)| *level == Level::Refusal);
    // Where something is refused, nothing is warned of.
    let problems = list(&case["expect"], "problems").iter();
    let problems = problems.filter(|problem| !we_refuse || problem["severity"] == "error");
    let expected: BTreeSet<(String, String)> = problems.map(expected_of).collect();
    let ours: BTreeSet<(String, String)> = found.into_iter().map(|(_, code, skill)| (code, skill)).collect();
    let missing =
        expected.difference(&ours).map(|(code, skill)| Difference::new("missing", format!("{code} {skill}"), ""));
    let extra = ours.difference(&expected).map(|(code, skill)| Difference::new("extra", "", format!("{code} {skill}")));
    missing.chain(extra).collect()
}

fn translated(case: &Value) -> Result<Translated, Untranslated> {
    let known: Vec<String> =
        list(case, "known_tools").iter().filter_map(|tool| tool.as_str().map(str::to_owned)).collect();
    translate(&case["graph"], &known)
}

/// Level, code, and the skill that it is about.
fn findings(graph: &Translated) -> Vec<(Level, String, String)> {
    let (declaration, closures) = graph.declaration();
    let decl = declaration.at_pointers();
    // A graph that can run runs its closures too.
    let findings = match Graph::from_declaration(declaration, closures) {
        Ok(graph) => graph.checkup().findings,
        Err(_) => check_up(&decl).findings,
    };
    let found = findings.into_iter().map(|finding| {
        let mut parts = finding.at.split('/').skip(1);
        let (list, index) = (parts.next().unwrap_or_default(), parts.next().and_then(|at| at.parse::<usize>().ok()));
        let at = |index: usize| match list {
            "skills" => decl.skills[index].id.text.clone(),
            "entries" => decl.entries[index].skill.text.clone(),
            // The end that the finding stands at, else the target.
            "routes" if finding.at.ends_with("/from") || finding.code == Code::AmbiguousRoutes => {
                decl.routes[index].from.text.clone()
            }
            "routes" => decl.routes[index].to.text.clone(),
            _ => String::new(),
        };
        let skill = if list == "never_routes" { String::new() } else { index.map(at).unwrap_or_default() };
        (finding.level, finding.code.as_str().to_owned(), skill)
    });
    found.collect()
}

/// A problem of the reference in the words of this system.
fn expected_of(problem: &Value) -> (String, String) {
    let code = problem["code"].as_str().expect("a code");
    let field = |key: &str| problem[key].as_str().unwrap_or_default().to_owned();
    let skill = match code {
        "guard-unsatisfiable" | "self-loop" => field("to"),
        "ambiguous-routes" => field("from"),
        "never-routes-claimed" | "never-routes-contradicts-example" => String::new(),
        _ => field("skill"),
    };
    let code = match code {
        "rules-shadowed-by-order" => "rule-shadowed",
        "overlapping-rules" => "overlapping-keywords",
        "rule-id-exists" => "unknown-skill",
        other => other,
    };
    (code.to_owned(), skill)
}
