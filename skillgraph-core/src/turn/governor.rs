//! Whether a run is spinning (SPEC 8): counted here, acted on where the turn goes on.

use serde::{Deserialize, Serialize};

use super::machine::Turn;
use super::{Event, ToolCall, words};
use crate::decl::{GovernorLimits, GovernorThen, SkillId};
use crate::graph::SkillIx;

/// What made a governor trip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "trip", rename_all = "snake_case")]
pub enum Trip {
    /// The cursor went to and fro between two skills.
    PingPong {
        /// Where it is.
        skill: SkillId,
        /// Where it was, and will be.
        other: SkillId,
        /// How many moves in a row.
        moves: u32,
    },
    /// Picks were refused, and nothing moved between them.
    Refusals {
        /// How many.
        count: u32,
    },
    /// The same call was made again and again.
    Repeats {
        /// The name that was called.
        tool: String,
        /// How many times in a row.
        count: u32,
    },
}

/// What a governor did about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TripAction {
    /// The turn ends.
    Stopped,
    /// The model is told.
    Warned,
    /// Another model is asked from now on.
    Escalated {
        /// Its name.
        model: String,
    },
}

/// What is counted during a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Watch {
    last_move: Option<(SkillIx, SkillIx)>,
    alternations: u32,
    refusals: u32,
    last_call: Option<(String, String)>,
    repeats: u32,
    /// What tripped in this batch.
    trips: Vec<Trip>,
    /// Another model is asked.
    pub(super) model: Option<String>,
}

impl Watch {
    /// The model that is asked stays, counts begin anew.
    pub(super) fn restarted(self) -> Self {
        Self { model: self.model, ..Self::default() }
    }
}

impl Turn {
    /// Counts a call that the model made.
    pub(super) fn watch_call(&mut self, call: &ToolCall) {
        let Some(limits) = self.limits() else { return };
        let watch = &mut self.state.watch;
        let key = (call.name.clone(), call.arguments.clone());
        watch.repeats = if watch.last_call.as_ref() == Some(&key) { watch.repeats + 1 } else { 1 };
        watch.last_call = Some(key);
        if watch.repeats >= limits.repeats {
            watch.trips.push(Trip::Repeats { tool: call.name.clone(), count: watch.repeats });
            watch.repeats = 0;
        }
    }

    /// Counts a pick that was refused.
    pub(super) fn watch_refusal(&mut self) {
        let Some(limits) = self.limits() else { return };
        let watch = &mut self.state.watch;
        watch.refusals += 1;
        if watch.refusals >= limits.refusals {
            watch.trips.push(Trip::Refusals { count: watch.refusals });
            watch.refusals = 0;
        }
    }

    /// Counts a move of the cursor.
    pub(super) fn watch_move(&mut self, from: Option<SkillIx>, to: Option<SkillIx>) {
        let (Some(limits), Some(from), Some(to)) = (self.limits(), from, to) else { return };
        if from == to {
            return;
        }
        let watch = &mut self.state.watch;
        watch.refusals = 0;
        watch.alternations = if watch.last_move == Some((to, from)) { watch.alternations + 1 } else { 1 };
        watch.last_move = Some((from, to));
        if watch.alternations >= limits.ping_pong {
            let moves = std::mem::take(&mut watch.alternations);
            let (skill, other) = (self.setup.graph.skill_id(to), self.setup.graph.skill_id(from));
            self.state.watch.trips.push(Trip::PingPong { skill, other, moves });
        }
    }

    /// Records what tripped, and says what is to be done: the first trip that ends the turn, and what the model is told.
    pub(super) fn govern(&mut self) -> (Option<Trip>, Option<String>) {
        let trips = std::mem::take(&mut self.state.watch.trips);
        let then = self.setup.graph.declaration().governor.as_ref().map(|governor| governor.then.clone());
        let Some(then) = then.filter(|_| !trips.is_empty()) else { return (None, None) };
        let iteration = self.state.iteration;
        for trip in &trips {
            let action = match &then {
                GovernorThen::Stop => TripAction::Stopped,
                GovernorThen::Warn => TripAction::Warned,
                GovernorThen::Escalate(model) => TripAction::Escalated { model: model.text.clone() },
            };
            self.emit(Event::GovernorTripped { iteration, trip: trip.clone(), action });
        }
        match then {
            GovernorThen::Stop => (trips.into_iter().next(), None),
            GovernorThen::Warn => (None, Some(words::spinning(&trips))),
            GovernorThen::Escalate(model) => {
                self.state.watch.model = Some(model.text);
                (None, None)
            }
        }
    }

    fn limits(&self) -> Option<GovernorLimits> {
        self.setup.graph.declaration().governor.as_ref().map(|governor| governor.limits)
    }
}
