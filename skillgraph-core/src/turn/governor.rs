//! Whether a run is spinning: counted here, acted on where the turn goes on.
// SPEC 8.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// The cursor went round a circle of skills.
    Cycle {
        /// The skills of the circle, in the order in which they were opened.
        skills: Vec<SkillId>,
        /// How many times it was walked.
        rounds: u32,
    },
    /// The same call was made again and again.
    Repeats {
        /// The name that was called.
        tool: String,
        /// How many times in a row.
        count: u32,
    },
    /// The same few calls were made again and again, in the same order.
    RepeatedCalls {
        /// The names that were called, of one round.
        tools: Vec<String>,
        /// How many rounds in a row.
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

/// The most that make one round: skills of a circle, calls that are made in turn.
const LONGEST_ROUND: usize = 4;

/// What is counted during a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Watch {
    moves: Rounds<SkillIx>,
    last_move: Option<(SkillIx, SkillIx)>,
    alternations: u32,
    refusals: u32,
    calls: Rounds<(String, String)>,
    batches: Rounds<Vec<(String, String)>>,
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

/// Things that follow on each other, and how long they have been the same as those one, two, three, four before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Rounds<T> {
    /// The newest, oldest first, as many as a round may have.
    last: VecDeque<T>,
    /// For each length of a round: how many in a row are the same as the one that many before.
    same: [u32; LONGEST_ROUND],
}

impl<T> Default for Rounds<T> {
    fn default() -> Self {
        Self { last: VecDeque::new(), same: [0; LONGEST_ROUND] }
    }
}

impl<T: PartialEq + Clone> Rounds<T> {
    /// Takes one in. Where it ends the given number of equal rounds, that round, the shortest there is.
    fn take(&mut self, next: T, rounds: u32) -> Option<Vec<T>> {
        for (before, same) in self.same.iter_mut().enumerate() {
            let earlier = self.last.len().checked_sub(before + 1).and_then(|at| self.last.get(at));
            *same = if earlier == Some(&next) { same.saturating_add(1) } else { 0 };
        }
        self.last.push_back(next);
        if self.last.len() > LONGEST_ROUND {
            self.last.pop_front();
        }
        let ended = |(before, same): (usize, &u32)| {
            let length = before as u32 + 1;
            (*same >= length.saturating_mul(rounds.saturating_sub(1)).max(1)).then_some(before + 1)
        };
        let length = self.same.iter().enumerate().find_map(ended)?;
        self.same = [0; LONGEST_ROUND];
        Some(std::mem::take(&mut self.last).into_iter().rev().take(length).rev().collect())
    }
}

impl Turn {
    /// Counts the calls of a reply: by name and by what their arguments say, not by how they are written.
    pub(super) fn watch_calls<'a>(&mut self, calls: impl Iterator<Item = &'a ToolCall>) {
        let Some(limits) = self.limits() else { return };
        let batch: Vec<(String, String)> = calls.map(|call| (call.name.clone(), meaning(call))).collect();
        let watch = &mut self.state.watch;
        for call in &batch {
            // A governor that is to trip at the first call trips at every one.
            let round = if limits.repeats <= 1 {
                Some(vec![call.clone()])
            } else {
                watch.calls.take(call.clone(), limits.repeats)
            };
            let Some(round) = round else { continue };
            let mut tools: Vec<String> = round.into_iter().map(|(tool, _)| tool).collect();
            watch.trips.push(match tools.len() {
                1 => Trip::Repeats { tool: tools.remove(0), count: limits.repeats },
                _ => Trip::RepeatedCalls { tools, count: limits.repeats },
            });
        }
        // Shorter ones have been counted call by call.
        if let Some(mut round) = watch.batches.take(batch, limits.repeats)
            && round.len() == 1
            && let Some(batch) = round.pop().filter(|batch| batch.len() > LONGEST_ROUND)
        {
            let tools = batch.into_iter().map(|(tool, _)| tool).collect();
            watch.trips.push(Trip::RepeatedCalls { tools, count: limits.repeats });
        }
    }

    /// Counts a pick that was refused.
    pub(super) fn watch_refusal(&mut self) {
        let Some(limits) = self.limits() else { return };
        let watch = &mut self.state.watch;
        watch.refusals = watch.refusals.saturating_add(1);
        if watch.refusals >= limits.refusals {
            watch.trips.push(Trip::Refusals { count: watch.refusals });
            watch.refusals = 0;
        }
    }

    /// Counts a move of the cursor.
    pub(super) fn watch_move(&mut self, from: Option<SkillIx>, to: Option<SkillIx>) {
        let (Some(limits), Some(to)) = (self.limits(), to.filter(|_| from != to)) else { return };
        let watch = &mut self.state.watch;
        watch.refusals = 0;
        let circle = watch.moves.take(to, limits.ping_pong.max(2));
        let Some(from) = from else { return };
        watch.alternations = if watch.last_move == Some((to, from)) { watch.alternations.saturating_add(1) } else { 1 };
        watch.last_move = Some((from, to));
        let id = |skill: SkillIx| self.setup.graph.skill_id(skill);
        if watch.alternations >= limits.ping_pong {
            let moves = std::mem::take(&mut watch.alternations);
            self.state.watch.trips.push(Trip::PingPong { skill: id(to), other: id(from), moves });
        } else if let Some(circle) = circle.filter(|circle| circle.len() > 2) {
            let skills = circle.into_iter().map(id).collect();
            self.state.watch.trips.push(Trip::Cycle { skills, rounds: limits.ping_pong.max(2) });
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

/// What a call asks for: its arguments with their keys in order, however they are written; of what is no JSON, the text.
fn meaning(call: &ToolCall) -> String {
    match call.parsed_arguments() {
        Ok(arguments) => sorted(Value::Object(arguments)).to_string(),
        Err(_) => call.arguments.clone(),
    }
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut pairs: Vec<(String, Value)> = object.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(pairs.into_iter().collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(sorted).collect()),
        // `7.0` is the integer 7.
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9e15 => Value::from(float as i64),
            _ => Value::Number(number),
        },
        other => other,
    }
}
