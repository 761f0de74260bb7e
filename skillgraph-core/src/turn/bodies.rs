//! Bodies outside the system prompt: given with a result of `read_skill`, and again before they age.
//!
//! How old a body is stands in the transcript itself. So nothing more is remembered, and what a host cut away is given
//! again at the start of the next turn.
// SPEC 5.1.

use super::machine::Turn;
use super::offer::READ_SKILL;
use super::{Event, Message, Transcript, words};
use crate::graph::{Skill, SkillIx};

impl Turn {
    /// Gives every open body that the model should have before it is asked next, and has not. `entered`: the cursor has
    /// moved just now, and perhaps by no pick.
    pub(super) fn give_bodies(&mut self, entered: bool) {
        let graph = self.setup.graph.clone();
        let open: Vec<SkillIx> = self.state.cursor.iter().chain(&self.state.opened).copied().collect();
        for at in open {
            let Some(skill) = graph.skill(at) else { continue };
            let moved = entered && self.state.cursor == Some(at);
            let Some(replies) = self.replies_it_lasts(skill, moved) else { continue };
            if is_fresh(&self.state.transcript, &words::body_section(skill), replies) {
                continue;
            }
            self.state.transcript.push(words::body_again(skill).into_message());
            let iteration = self.state.iteration;
            self.emit(Event::BodyGiven { iteration, skill: skill.id.clone() });
        }
    }

    /// How many replies may follow on the body before it is due; none where it is never due.
    fn replies_it_lasts(&self, skill: &Skill, moved: bool) -> Option<u32> {
        if !skill.surface.is_in_result() {
            return None;
        }
        if let Some(refresh) = skill.refresh {
            return Some(refresh.get());
        }
        let only_there = !skill.surface.is_in_prompt();
        match self.state.iteration {
            // From an earlier turn, however long ago.
            1 => only_there.then_some(u32::MAX),
            _ => (only_there && moved).then_some(1),
        }
    }
}

/// Whether fewer replies of the model than that have followed on this text.
fn is_fresh(transcript: &Transcript, text: &str, replies: u32) -> bool {
    let mut followed = 0;
    for message in transcript.iter().rev() {
        if gives(message, text) {
            return true;
        }
        followed += u32::from(matches!(message, Message::Assistant { .. }));
        if followed >= replies {
            return false;
        }
    }
    false
}

/// Whether the message is one that ends with a body, and with this one.
fn gives(message: &Message, body: &str) -> bool {
    match message {
        Message::Framework { text, .. } => text.ends_with(body),
        Message::ToolResults { results } => {
            results.iter().any(|result| result.name == READ_SKILL && result.text.ends_with(body))
        }
        Message::User { .. } | Message::Assistant { .. } => false,
    }
}
