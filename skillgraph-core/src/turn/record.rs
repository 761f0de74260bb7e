//! What of a decision goes on the record: names in place of positions.

use super::dispatch::Run;
use super::machine::Turn;
use super::settle::Settlement;
use super::{CallRefusal, ClaimRecord, Event, FiringRecord, GuardRecord, MoveRecord, ToolCall};
use crate::decide::{CursorMove, Firing, GuardEvidence, PanickedTest};
use crate::graph::{EntryIx, Graph, SkillIx, ToolResult};

impl Turn {
    pub(super) fn record_decision(&mut self, decision: &CursorMove, settlement: &Settlement) {
        let results = settlement.results();
        let graph = self.setup.graph.clone();
        let iteration = self.state.iteration;
        for panicked in &decision.panicked {
            let test = describe_test(&graph, *panicked);
            self.emit(Event::TestPanicked { iteration, test });
        }
        let id = |skill: SkillIx| graph.skill_id(skill);
        let of_entry = decision.entry.and_then(|entry| graph.entry_label(entry));
        let of_edge = decision.fired.and_then(|fired| graph.edge(fired.edge)?.label.as_deref());
        let fired = decision.fired.and_then(|fired| firing_record(&graph, fired, results));
        self.emit(Event::CursorDecided(MoveRecord {
            iteration,
            from: decision.from.map(id),
            to: decision.to.map(id),
            by: decision.by,
            label: of_entry.or(of_edge).map(str::to_owned),
            fired: fired.clone(),
            guards: decision.guards.iter().filter_map(|guard| guard_record(&graph, guard, results)).collect(),
            witness: decision.witness.clone(),
            also_claimed: decision.others.iter().filter_map(|entry| claim_record(&graph, *entry)).collect(),
            hidden: decision.hidden.iter().copied().map(id).collect(),
            reason: settlement.reason(decision).map(str::to_owned),
        }));
        if let (Some(from), Some(winner), false) = (decision.from, fired, decision.losers.is_empty()) {
            let losers = decision.losers.iter().filter_map(|loser| firing_record(&graph, *loser, results)).collect();
            self.emit(Event::RouteConflict { iteration, from: id(from), winner, losers });
        }
    }

    pub(super) fn record_superseded(&mut self, settlement: &Settlement, decision: &CursorMove) {
        let graph = self.setup.graph.clone();
        for (requested, source) in settlement.superseded(decision) {
            let event = Event::RerouteSuperseded {
                iteration: self.state.iteration,
                requested: graph.skill_id(requested),
                won: decision.to.map(|won| graph.skill_id(won)),
                source,
            };
            self.emit(event);
        }
    }

    /// Once, however often the turn is stored on the way.
    pub(super) fn record_start(&mut self, call: &ToolCall, run: &mut Run) {
        if !std::mem::replace(&mut run.started, true) {
            let (iteration, tool) = (self.state.iteration, self.setup.graph.tool_id(run.tool));
            let arguments = self.setup.record_content.then(|| run.arguments.clone());
            self.emit(Event::ToolStarted { iteration, call_id: call.id.clone(), tool, arguments });
        }
    }

    pub(super) fn record_refusal(&mut self, call: &ToolCall, reason: CallRefusal, text: &str) {
        let (iteration, call_id, tool) = (self.state.iteration, call.id.clone(), call.name.clone());
        let text = self.setup.record_content.then(|| text.to_owned());
        self.emit(Event::CallRefused { iteration, call_id, tool, reason, text });
    }
}

fn claim_record(graph: &Graph, entry: EntryIx) -> Option<ClaimRecord> {
    let skill = graph.skill_id(graph.entry_skill(entry)?);
    Some(ClaimRecord { skill, label: graph.entry_label(entry).map(str::to_owned) })
}

fn guard_record(graph: &Graph, guard: &GuardEvidence, results: &[ToolResult]) -> Option<GuardRecord> {
    let of = firing_record(graph, guard.of, results)?;
    Some(GuardRecord { of, passed: guard.passed(), terms: guard.terms.clone() })
}

fn firing_record(graph: &Graph, firing: Firing, results: &[ToolResult]) -> Option<FiringRecord> {
    let (edge, result) = (graph.edge(firing.edge)?, results.get(firing.result)?);
    Some(FiringRecord {
        target: graph.skill_id(edge.to),
        tool: result.tool.clone(),
        call_id: result.call_id.clone(),
        status: result.status,
    })
}

fn describe_test(graph: &Graph, test: PanickedTest) -> String {
    match test {
        PanickedTest::Branch(at) => format!("condition {} of the tree", at + 1),
        PanickedTest::Entry(entry) => {
            let skill = graph.entry_skill(entry).map(|skill| graph.skill_id(skill));
            format!("entry {} ({})", entry.position() + 1, skill.map_or(String::new(), |skill| skill.to_string()))
        }
        PanickedTest::Edge(edge) => graph.edge(edge).map_or(String::new(), |found| {
            format!("route {} ({} -> {})", edge.position() + 1, graph.skill_id(found.from), graph.skill_id(found.to))
        }),
    }
}
