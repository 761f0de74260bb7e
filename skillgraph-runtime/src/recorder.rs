//! The route that a run took, read off its events.

use skillgraph_core::decl::SkillId;
use skillgraph_core::turn::{Event, MoveRecord, PickRefusal, Trip};

/// Follows events and keeps where the cursor went, why, and which picks were refused.
///
/// It can follow one turn or a whole conversation; hops come from the decisions themselves.
// SPEC 14.4.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RouteRecorder {
    hops: Vec<MoveRecord>,
    trips: Vec<Trip>,
    rejections: Vec<Rejection>,
}

/// One refused pick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// What the model asked for.
    pub requested: String,
    /// Where the cursor was.
    pub cursor: Option<SkillId>,
    /// What it could have asked for.
    pub allowed: Vec<SkillId>,
    /// The iteration.
    pub iteration: u32,
    /// Why it was refused.
    pub reason: PickRefusal,
}

impl RouteRecorder {
    /// A recorder that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A recorder that has seen these events.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut recorder = Self::new();
        events.into_iter().for_each(|event| recorder.observe(event));
        recorder
    }

    /// Takes in one event.
    pub fn observe(&mut self, event: &Event) {
        match event {
            Event::CursorDecided(hop) => self.hops.push(hop.clone()),
            Event::GovernorTripped { trip, .. } => self.trips.push(trip.clone()),
            Event::PickRejected { iteration, requested, cursor, allowed, reason } => self.rejections.push(Rejection {
                requested: requested.clone(),
                cursor: cursor.clone(),
                allowed: allowed.clone(),
                iteration: *iteration,
                reason: *reason,
            }),
            _ => {}
        }
    }

    /// When the governor tripped, in order.
    pub fn trips(&self) -> &[Trip] {
        &self.trips
    }

    /// Every decision, in order, the ones that stayed included.
    pub fn hops(&self) -> &[MoveRecord] {
        &self.hops
    }

    /// The skills that held the cursor, in order, each stay once.
    pub fn path(&self) -> Vec<SkillId> {
        let mut path: Vec<SkillId> = self.hops.iter().filter_map(|hop| hop.to.clone()).collect();
        path.dedup();
        path
    }

    /// The refused picks.
    pub fn rejections(&self) -> &[Rejection] {
        &self.rejections
    }
}
