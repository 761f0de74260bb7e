//! What holds for every graph and every model, however it behaves (SPEC 6, 9, 10, 13): random graphs, random replies, random
//! permissions, random people.

mod catalog;
mod catalog_turns;
#[path = "../common/mod.rs"]
mod common;
mod graphs;
mod host;
mod people;
mod scripts;
mod tampered;
mod worlds;

use std::collections::BTreeSet;

use common::assert_paired;
use graphs::graph;
use host::{Storage, assert_moves_are_declared, run, run_and_probe};
use proptest::prelude::*;
use scripts::{permission_plan, script};
use skillgraph::Cause;
use skillgraph::core::decl::OnSkip;
use skillgraph::core::graph::Graph;
use skillgraph::core::turn::Event;

/// The skills that edges with a trigger lead to or that have an edge out, and that neither an entry nor a `~>` edge opens: read
/// off the declaration alone.
fn gated(graph: &Graph) -> BTreeSet<&str> {
    let decl = graph.declaration();
    let entered = decl.entries.iter().map(|entry| entry.skill.text.as_str());
    let picked = decl.routes.iter().filter(|route| route.trigger.is_pick()).map(|route| route.to.text.as_str());
    let free: BTreeSet<&str> = entered.chain(picked).collect();
    let wired = decl.routes.iter().flat_map(|route| [route.from.text.as_str(), route.to.text.as_str()]);
    wired.filter(|skill| !free.contains(skill)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_has_one_result_in_call_order(graph in graph(), script in script()) {
        let run = run(&graph, &script, Storage::Never);
        assert_paired(&run.transcript);
    }

    #[test]
    fn the_cursor_moves_only_as_declared(graph in graph(), script in script()) {
        let run = run(&graph, &script, Storage::Never);
        assert_moves_are_declared(&graph, &run.events);
    }

    /// Whatever the model picks and tools propose: a skill that no `~>` edge and no entry leads to is opened by its edges alone.
    #[test]
    fn a_gate_is_passed_by_an_edge_that_fired_and_by_nothing_else(graph in graph(), script in script()) {
        let gated = gated(&graph);
        for event in &run(&graph, &script, Storage::Never).events {
            match event {
                Event::CursorDecided(decision) if decision.from != decision.to => {
                    let entered = decision.to.as_ref().filter(|to| gated.contains(to.as_str()));
                    prop_assert!(entered.is_none() || decision.by == Cause::Route, "{:?}", decision);
                }
                Event::SkillOpened { skill, .. } => prop_assert!(!gated.contains(skill.as_str()), "{:?}", skill),
                _ => {}
            }
        }
    }

    /// However a turn ends, what the next one begins from is what its record says.
    #[test]
    fn the_record_describes_what_the_next_turn_begins_from(graph in graph(), script in script()) {
        let run = run(&graph, &script, Storage::Never);
        let (mut cursor, mut steps) = (None, Vec::new());
        for event in &run.events {
            match event {
                Event::CursorDecided(decision) => {
                    if decision.from != decision.to {
                        steps.clear();
                    }
                    cursor = decision.to.clone();
                }
                Event::StepAdvanced { step, .. } => steps.push(*step),
                Event::StepSkipped { step, policy: OnSkip::Advance, .. } => steps.push(*step),
                _ => {}
            }
        }
        prop_assert_eq!(&run.carried.cursor, &cursor);
        if let Some(standing) = &run.carried.procedure {
            prop_assert_eq!(Some(&standing.skill), cursor.as_ref());
            prop_assert_eq!(standing.step, steps.len() + 1);
        }
        prop_assert_eq!(&run.carried.transcript, &run.transcript);
        assert_paired(&run.carried.transcript);
    }

    #[test]
    fn every_tool_that_ran_was_offered(graph in graph(), script in script()) {
        for (offered, ran) in run(&graph, &script, Storage::Never).batches {
            prop_assert!(ran.iter().all(|tool| offered.contains(tool)), "{:?} of {:?}", ran, offered);
        }
    }

    #[test]
    fn a_turn_restored_at_every_output_ends_as_the_straight_run(graph in graph(), script in script()) {
        let straight = run(&graph, &script, Storage::Never);
        let restored = run(&graph, &script, Storage::Always);
        prop_assert_eq!(straight.outcome, restored.outcome);
        prop_assert_eq!(straight.transcript, restored.transcript);
        prop_assert_eq!(straight.events, restored.events);
    }

    #[test]
    fn what_is_hidden_on_resume_is_unsaid_from_then_on_and_never_open(
        graph in graph(),
        script in script(),
        permissions in permission_plan(),
        at in 0..6usize,
    ) {
        let script = scripts::Script { permissions: Some(permissions.clone()), cancel_at: None, ..script };
        // The host asserts at every request that no hidden id is in it.
        let run = run(&graph, &script, Storage::OnceThenHide(at));
        assert_paired(&run.transcript);
        let hidden = |id: &skillgraph::SkillId| permissions.hidden.iter().any(|skill| *id == format!("s{skill}").as_str());
        let since = run.events.iter().skip_while(|event| !matches!(event, Event::SkillsHidden { .. }));
        for event in since {
            if let Event::CursorDecided(decision) = event {
                prop_assert!(!decision.to.as_ref().is_some_and(hidden), "{:?}", decision);
            }
        }
    }

    #[test]
    fn the_cap_holds_and_the_procedure_moves_one_step_a_message(graph in graph(), script in script()) {
        let run = run(&graph, &script, Storage::Never);
        prop_assert!(run.requests <= script.iterations as usize);
        let mut moved = BTreeSet::new();
        for event in &run.events {
            let iteration = match event {
                Event::StepAdvanced { iteration, .. } => *iteration,
                Event::StepSkipped { iteration, policy: OnSkip::Advance, .. } => *iteration,
                _ => continue,
            };
            prop_assert!(moved.insert(iteration), "two moves on iteration {}", iteration);
        }
    }

    #[test]
    fn what_is_named_as_available_is_accepted_and_everything_else_refused(graph in graph(), script in script()) {
        // The host tries every id and every tool at every request.
        run_and_probe(&graph, &script);
    }
}
