//! A turn that was saved under another version of its graph: names say what is what, and what has no name any more
//! is dropped.
// SPEC 10.

use std::sync::Arc;

use super::catalog::Then;
use super::dispatch::{Batch, Fate};
use super::machine::Turn;
use super::message::Spoken;
use super::offer::Offer;
use super::state::{GraphStamp, Phase, RestoreError, SavedTurn, State};
use super::{CallRefusal, Event, MoveRecord, Procedure, Setup, words};
use crate::decl::SkillId;
use crate::graph::{Graph, Hidden, SkillIx, ToolIx};

impl Turn {
    /// Goes on with a turn that was saved under another version of the graph.
    ///
    /// What the graph still has by name stays: the open skill, skills opened beside it, results that are in, questions that
    /// wait. What it no longer has is dropped, and [`Event::TurnMigrated`] names it: an open skill is closed, a tool that has
    /// yet to run is refused. A procedure whose steps name other tools than before begins anew; the menu of the turn's start
    /// is gone, and counts of the governor begin at 0.
    ///
    /// # Errors
    ///
    /// [`RestoreError::NoPermissions`] as [`Turn::restore`]; of a turn saved under this very graph, any of its errors.
    pub fn migrate(setup: Arc<Setup>, saved: SavedTurn) -> Result<Self, RestoreError> {
        let saved = saved.indexed()?;
        if saved.is_of(&setup) {
            return Self::restore(setup, saved);
        }
        let (stamp, mut old) = saved.into_parts();
        if setup.permissions.is_none() && old.needs_permissions() {
            return Err(RestoreError::NoPermissions);
        }
        let phase = old.phase.take();
        let names = Names { stamp: &stamp, graph: &setup.graph };
        let mut dropped = names.dropped(&old);
        let left = old.cursor.filter(|cursor| names.cursor(*cursor).is_none()).map(|cursor| names.skill_id(cursor));
        let mut state = names.state(old);
        dropped.extend(state.catalog.fit(&setup).into_iter().map(SkillId::from));
        let mut turn = Self { setup: setup.clone(), state };
        let iteration = turn.state.iteration;
        turn.emit(Event::TurnMigrated { iteration, dropped: dropped.clone() });
        for skill in dropped {
            turn.emit(Event::SkillDeactivated { iteration, skill });
        }
        if let Some(left) = left {
            turn.emit(Event::CursorDecided(MoveRecord::closed(iteration, left)));
        }
        turn.take_up(phase, &names);
        if let Some(what) = turn.state.impossible(&turn.setup) {
            return Err(RestoreError::Impossible { what });
        }
        turn.ask_again();
        Ok(turn)
    }

    /// Goes on at what the saved turn waited for.
    fn take_up(&mut self, phase: Phase, names: &Names<'_>) {
        match phase {
            Phase::Readmit(inner) => self.take_up(*inner, names),
            Phase::Catalog(asked) => match asked.then {
                Then::Start { message, inherited } => self.stock(message, inherited),
                Then::Calls(batch) => {
                    let batch = self.renamed(batch, names);
                    let batch = self.gate_again(batch);
                    self.dispatch(batch);
                }
                Then::Resume { phase, .. } => self.take_up(*phase, names),
            },
            Phase::Score(start) | Phase::Decide(start) => {
                let inherited = start.inherited.map(|skill| names.skill_id(skill));
                self.route(start.message, inherited.as_ref().map(SkillId::as_str));
            }
            Phase::Model(_) => self.make_offer(),
            Phase::Permit(batch) | Phase::Tools(batch) => {
                let batch = self.renamed(batch, names);
                let batch = self.gate_again(batch);
                self.dispatch(batch);
            }
            // It passes the gate when every question has its answer.
            Phase::Pause(batch) => {
                let batch = self.renamed(batch, names);
                if batch.is_pending() {
                    self.state.phase = Phase::Pause(batch);
                } else {
                    self.go_on(batch);
                }
            }
            phase @ (Phase::Admit { .. } | Phase::Done(_)) => self.state.phase = phase,
        }
    }

    /// The batch with the tools of this graph: those that it does not have do not run any more.
    fn renamed(&mut self, mut batch: Batch, names: &Names<'_>) -> Batch {
        let graph = self.setup.graph.clone();
        let offered = Offer::of(&self.setup, &self.state).names(&graph);
        for gated in &mut batch.calls {
            match &mut gated.fate {
                Fate::Refused { tool, .. } => *tool = tool.and_then(|tool| names.tool(tool)),
                Fate::Run(run) => {
                    // What edges learnt belongs to edges that may be others now: their guards read the value.
                    run.returned.iter_mut().for_each(|returned| returned.typed.clear());
                    if let Some(tool) = names.tool(run.tool) {
                        run.tool = tool;
                        continue;
                    }
                    let waits = run.returned.is_none() || run.is_pending();
                    gated.fate = match run.returned.take().filter(|_| !waits) {
                        Some(returned) => Fate::Said { text: Spoken::by_tool(&returned.text), status: returned.status },
                        None => {
                            let text = words::not_offered(&gated.call.name, &words::offered_names(&offered));
                            self.record_refusal(&gated.call, CallRefusal::NotOffered, &text);
                            Fate::Refused { reason: CallRefusal::NotOffered, text, tool: None }
                        }
                    };
                }
                Fate::Said { .. } | Fate::Pick { .. } | Fate::List | Fate::Skip { .. } | Fate::Catalog(_) => {}
            }
        }
        batch
    }
}

/// The positions of the saved graph, by name, in the graph that there is now.
struct Names<'a> {
    stamp: &'a GraphStamp,
    graph: &'a Graph,
}

impl Names<'_> {
    fn skill_id(&self, old: SkillIx) -> SkillId {
        self.stamp.skills.get(old.position()).map_or(SkillId::from_static(""), |name| SkillId::from(name.as_str()))
    }

    fn skill(&self, old: SkillIx) -> Option<SkillIx> {
        self.graph.find_skill(self.stamp.skills.get(old.position())?)
    }

    fn tool(&self, old: ToolIx) -> Option<ToolIx> {
        self.graph.find_tool(self.stamp.tools.get(old.position())?)
    }

    /// The skill, where it can hold the cursor still.
    fn cursor(&self, old: SkillIx) -> Option<SkillIx> {
        self.skill(old).filter(|skill| !self.graph.is_open(*skill))
    }

    /// The skill, where it can be open beside the cursor still.
    fn opened(&self, old: SkillIx) -> Option<SkillIx> {
        self.skill(old).filter(|skill| self.graph.is_open(*skill))
    }

    /// What was open and cannot stay so.
    fn dropped(&self, old: &State) -> Vec<SkillId> {
        let cursor = old.cursor.filter(|skill| self.cursor(*skill).is_none());
        let opened = old.opened.iter().copied().filter(|skill| self.opened(*skill).is_none());
        cursor.into_iter().chain(opened).map(|skill| self.skill_id(skill)).collect()
    }

    fn state(&self, old: State) -> State {
        let cursor = old.cursor.and_then(|cursor| self.cursor(cursor));
        State {
            cursor,
            opened: old.opened.iter().filter_map(|skill| self.opened(*skill)).collect(),
            procedure: cursor.and_then(|cursor| self.procedure(cursor, old.procedure)),
            menu: None,
            hidden: old.hidden.iter().filter_map(|skill| self.skill(skill)).collect::<Hidden>(),
            watch: old.watch.restarted(),
            ..old
        }
    }

    /// The procedure where it stood, if its steps name the same tools.
    fn procedure(&self, cursor: SkillIx, old: Option<Procedure>) -> Option<Procedure> {
        let begun = Procedure::begin(self.graph, cursor)?;
        let plan = begun.plan(self.graph);
        let same = plan.iter().map(|tool| tool.as_str()).eq(self.stamp.steps.iter().map(String::as_str));
        match old.filter(|_| same) {
            Some(old) => Some(old.of_skill(cursor)),
            None => Some(begun),
        }
    }
}
