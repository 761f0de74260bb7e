//! The check-up of a compiled graph: what the compiler says, and what only running closures shows.

use super::{EntryIx, Graph};
use crate::check::check_up;
use crate::decl::{Condition, EntryDecl, GraphDecl, Word, leveled};
use crate::finding::{Code, Finding, Level, Report};
use crate::suggest::counted;

impl Graph {
    /// Checks the graph, warnings included. Places are JSON pointers into [`crate::decl::GraphDecl::spec`].
    ///
    /// Examples of rules with closures are run here; what they show is a warning, because a closure may go by more than
    /// the message.
    // SPEC 2.
    pub fn checkup(&self) -> Report {
        self.checkup_of(&self.decl.at_pointers())
    }

    fn checkup_of(&self, decl: &GraphDecl<String>) -> Report {
        let mut found = check_up(decl);
        if found.findings.iter().all(|finding| finding.level == Level::Warning) {
            found.findings.extend(self.run_examples(decl));
            found.findings.extend(self.run_never_routes(decl));
        }
        Report::of(decl, found)
    }

    /// As [`Self::checkup`], for turns that end after so many model calls.
    pub(crate) fn checkup_within(&self, iterations: u32) -> Report {
        let decl = self.decl.at_pointers();
        let mut report = self.checkup_of(&decl);
        for (skill, declared) in self.skills.iter().zip(&decl.skills) {
            let steps = skill.steps.len();
            let Some(place) = declared.steps.as_ref().filter(|_| steps >= iterations as usize) else { continue };
            let finding = Finding::new(
                Code::MoreStepsThanIterations,
                place.at.clone(),
                format!(
                    "skill `{}` has {steps} steps, and a turn ends after {}",
                    skill.id,
                    counted(iterations as usize, "model call")
                ),
            )
            .help(format!("raise the cap to at least {}: one call a step, and one for the answer", steps + 1));
            let finding = Finding { skills: vec![skill.id.to_string()], ..finding };
            report.findings.extend(leveled(finding, &[&declared.lints, &decl.lints]));
        }
        report
    }

    /// Runs the examples of rules that the compiler could not run.
    fn run_examples(&self, decl: &GraphDecl<String>) -> Vec<Finding<String>> {
        let mut findings = Vec::new();
        for (at, entry) in decl.entries.iter().enumerate() {
            let closures_before = decl.entries.iter().take(at + 1).any(|entry| has_closure(entry.condition.as_ref()));
            let Some(examples) = entry.examples.as_ref().filter(|_| closures_before) else { continue };
            for example in &examples.list {
                findings.extend(
                    self.run_example(decl, at, entry, example)
                        .into_iter()
                        .filter_map(|finding| leveled(finding, &[&entry.lints, &decl.lints])),
                );
            }
        }
        findings
    }

    fn run_example(
        &self,
        decl: &GraphDecl<String>,
        at: usize,
        entry: &EntryDecl<String>,
        example: &Word<String>,
    ) -> Vec<Finding<String>> {
        let skill = &entry.skill.text;
        let finding =
            |code, message| Finding { level: Level::Warning, ..Finding::new(code, example.at.clone(), message) };
        let mut findings = Vec::new();
        if !self.rules.claims(EntryIx::new(at), &example.text) {
            findings.push(
                finding(
                    Code::ExampleMissesOwnRule,
                    format!("the rule of entry `{skill}` does not match its own example"),
                )
                .help("widen the rule, or change the example to a message that it is for")
                .note("the rule has a closure, which was run on this text alone"),
            );
        }
        match self.match_entry(&example.text).won.map(|(winner, _)| winner.position()) {
            None => findings.push(
                finding(Code::ExampleUnclaimed, format!("no rule claims this example of entry `{skill}`"))
                    .help("widen the rule that it is for")
                    .note("the turn would start at the entry without a condition, or without a cursor"),
            ),
            Some(winner) if winner < at => {
                let rival = decl.entries.get(winner).map_or("", |rival| &rival.skill.text);
                if rival != skill {
                    findings.push(
                        finding(
                            Code::ExampleShadowedByEarlier,
                            format!(
                                "this example of entry `{skill}` opens `{rival}`: the earlier rule claims it first"
                            ),
                        )
                        .help(format!("move the entry `{skill}` before `{rival}`, or narrow the rule of `{rival}`")),
                    );
                }
            }
            Some(_) => {}
        }
        findings
    }

    /// Runs the messages that must route nowhere on the rules that the compiler could not run.
    fn run_never_routes(&self, decl: &GraphDecl<String>) -> Vec<Finding<String>> {
        let phrases = decl.never_routes.iter().flat_map(|list| &list.list);
        let claimed = phrases.filter_map(|phrase| {
            let (winner, _) = self.match_entry(&phrase.text).won?;
            let entry = decl.entries.get(winner.position())?;
            let message =
                format!("the rule of entry `{}` claims this message, which must route nowhere", entry.skill.text);
            let finding = Finding::new(Code::NeverRoutesClaimed, phrase.at.clone(), message)
                .help(format!("narrow the rule of `{}`, or remove the message", entry.skill.text));
            leveled(Finding { level: Level::Warning, ..finding }, &[&decl.lints])
        });
        claimed.collect()
    }
}

fn has_closure<S>(condition: Option<&Condition<S>>) -> bool {
    match condition {
        Some(Condition::Closure(_)) => true,
        Some(Condition::All { list, .. }) => list.iter().any(|part| has_closure(Some(part))),
        Some(_) | None => false,
    }
}
