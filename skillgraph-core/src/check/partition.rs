//! Advice on how the work was divided into skills. Each says the fact, then the design that it usually shows,
//! then the design that it fits as well. The first three keep silent below five skills.
// SPEC 2.2.

use std::collections::HashSet;

use super::facts::Facts;
use crate::decl::{Body, Form, GraphDecl, leveled};
use crate::finding::{Code, Finding};
use crate::suggest::{counted, listed};

/// Below this many skills there is no division to speak of.
const FEWEST_SKILLS: usize = 5;
/// From this many tools on, a shared prefix is no accident.
const FEWEST_TOOLS: usize = 3;
/// From this many words on, a body is worth a skill of its own.
const ENOUGH_WORDS: usize = 25;
/// Fewer edges than one for so many skills leave most hand-overs to prose.
const SKILLS_AN_EDGE: usize = 4;
/// From this many conditional entries on, ways out matter.
const FEWEST_ENTRIES: usize = 3;

/// First words of tool names that say what is done, not to whose data.
const VERBS: &str = "get set put post add read write list find fetch load save open close make create update delete \
                     remove search query count check verify validate run exec execute send call ask show lookup issue \
                     approve deny pay process resolve respond inspect export import start stop cancel compute calculate \
                     generate summarize transform";

/// The tools of a skill are one service's.
pub(super) fn check_tools_share_prefix<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    if decl.skills.len() < FEWEST_SKILLS {
        return;
    }
    for skill in decl.skills.iter().filter(|skill| skill.tools.len() >= FEWEST_TOOLS) {
        let mut prefixes = skill.tools.iter().map(|tool| prefix(&tool.text));
        let Some(Some(first)) = prefixes.next() else { continue };
        if VERBS.split_whitespace().any(|verb| verb == first) || !prefixes.all(|prefix| prefix.as_ref() == Some(&first))
        {
            continue;
        }
        let finding = Finding::new(
            Code::ToolsSharePrefix,
            skill.ident.at.clone(),
            format!("every tool of skill `{}` begins with `{first}_`: {}", skill.ident.text, names(skill.tools.iter().map(|tool| tool.text.as_str()))),
        )
        .help("ask whether this skill alone can answer a user's question; if not, divide by job and not by service")
        .note("a skill that wraps one service usually needs another one to finish a job; one that is a job may well use one service");
        findings.extend(leveled(finding, &[&skill.lints, &decl.lints]));
    }
}

/// A graph with hardly an edge.
pub(super) fn check_few_declared_edges<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let (skills, edges) = (decl.skills.len(), decl.routes.len());
    if skills < FEWEST_SKILLS || edges * SKILLS_AN_EDGE >= skills || decl.tree.is_some() {
        return;
    }
    let finding = Finding::new(
        Code::FewDeclaredEdges,
        decl.name.at.clone(),
        format!("graph `{}` has {skills} skills and only {}", decl.name.text, counted(edges, "edge")),
    )
    .help(format!("declare the hand-overs that you know: add {}", decl.form.edge("…", "…")))
    .note("with fewer than one edge for four skills the bodies usually hand over in prose, which nothing checks; a flat menu of unrelated jobs needs none");
    findings.extend(leveled(finding, &[&decl.lints]));
}

/// A skill that is one tool with little to say.
pub(super) fn check_skill_wraps_one_tool<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    if decl.skills.len() < FEWEST_SKILLS {
        return;
    }
    for skill in &decl.skills {
        let ([tool], Some(Body::Inline { source, .. })) = (skill.tools.as_slice(), &skill.body) else { continue };
        let words = source.text.split_whitespace().count();
        if words >= ENOUGH_WORDS {
            continue;
        }
        let finding = Finding::new(
            Code::SkillWrapsOneTool,
            skill.ident.at.clone(),
            format!("skill `{}` is the tool `{}` and {}", skill.ident.text, tool.text, counted(words, "word")),
        )
        .help("put what the tool needs to know into its description and offer it where it is needed, or write down what the job takes")
        .note(format!("a body of fewer than {ENOUGH_WORDS} words usually repeats the tool's description; a stop on the way between other skills may be that short"));
        findings.extend(leveled(finding, &[&skill.lints, &decl.lints]));
    }
}

/// Most skills that a rule opens have no way out.
pub(super) fn check_one_way_entries<S: Clone>(
    decl: &GraphDecl<S>,
    facts: &Facts<'_, S>,
    findings: &mut Vec<Finding<S>>,
) {
    let conditional: Vec<&str> =
        decl.entries.iter().filter(|entry| entry.condition.is_some()).map(|entry| entry.skill.text.as_str()).collect();
    let has_way_out = |name: &str| facts.skill(name).is_some_and(|skill| facts.has_way_out(skill));
    let stuck: Vec<&str> = conditional.iter().copied().filter(|skill| !has_way_out(skill)).collect();
    if conditional.len() < FEWEST_ENTRIES || stuck.len() * 2 <= conditional.len() {
        return;
    }
    let finding = Finding::new(
        Code::OneWayEntries,
        decl.name.at.clone(),
        format!(
            "{} of {} conditional entries open a skill that has no edge out: {}",
            stuck.len(),
            conditional.len(),
            names(distinct(&stuck).into_iter())
        ),
    )
    .help(match decl.form {
        Form::Language => {
            "declare where each goes when the rule was wrong: `route … -> … on … is absent;` or `route … ~> …;`"
                .to_owned()
        }
        form => format!("declare where each goes when the rule was wrong: add {}", form.pick_edge("…", "…")),
    })
    .note(
        "a rule reads one message and can be wrong; without a way out only the model's pick of another entry mends it",
    );
    findings.extend(leveled(finding, &[&decl.lints]));
}

/// Several rules, and nothing that shows which messages they are for.
pub(super) fn check_no_negative_evidence<S: Clone>(decl: &GraphDecl<S>, findings: &mut Vec<Finding<S>>) {
    let rules = decl.entries.iter().filter(|entry| entry.condition.is_some());
    let proved = decl.never_routes.is_some() || rules.clone().any(|entry| entry.examples.is_some());
    let rules = rules.count();
    if rules < FEWEST_ENTRIES || proved {
        return;
    }
    let finding = Finding::new(
        Code::NoNegativeEvidence,
        decl.name.at.clone(),
        format!(
            "graph `{}` has {rules} conditional entries, and nothing shows which messages they are for: no rule has \
             examples, and none must route nowhere",
            decl.name.text
        ),
    )
    .help(match decl.form {
        Form::Language => {
            "give the rules `{ examples: [\"…\"] }`, and list a few `never_routes: [\"…\"];`: each is checked at every build"
        }
        _ => "give the rules `\"examples\"`, and list a few messages in `\"never_routes\"`: each is checked whenever the graph is",
    })
    .note("a rule that was tried on no message usually claims some that it is not for; rules that only name ids or codes need no proof");
    findings.extend(leveled(finding, &[&decl.lints]));
}

/// Each name once: a skill may have several entries.
fn distinct<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    names.iter().copied().filter(|name| seen.insert(*name)).collect()
}

/// What stands before the first underscore.
fn prefix(name: &str) -> Option<String> {
    name.split_once('_').map(|(prefix, _)| prefix.to_lowercase()).filter(|prefix| !prefix.is_empty())
}

/// Up to six names, or five and how many more.
fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.get(..5).filter(|_| names.len() > 6) {
        Some(first) => format!(
            "{}, and {} more",
            first.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
            names.len() - 5
        ),
        None => listed(names),
    }
}
