//! What a host is asked of a catalog, and where the turn goes on with the answers.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::answer::{CatalogCall, Material};
use super::{CatalogAnswer, CatalogQuestion, CatalogRefusal, CloseReason};
use crate::catalog::{Binding, Catalog, CatalogEntry, Disclosure, Reset, is_usable};
use crate::turn::dispatch::Batch;
use crate::turn::machine::Turn;
use crate::turn::state::Phase;
use crate::turn::{Event, Message, words};

/// What is being asked, and where the turn goes on then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::turn) struct Asked {
    round: Round,
    questions: Vec<CatalogQuestion>,
    pub(in crate::turn) then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Round {
    Availability,
    Material,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::turn) enum Then {
    /// The turn starts.
    Start { message: String, inherited: Option<String> },
    /// The calls of a batch are answered.
    Calls(Batch),
    /// The turn goes on where it was, after permissions were asked for anew.
    Resume { phase: Box<Phase>, changed: bool },
}

impl Asked {
    pub(in crate::turn) fn questions(&self) -> &[CatalogQuestion] {
        &self.questions
    }
}

impl Turn {
    /// Begins the turn: what opens by itself, and what the prompt lists, comes before the first decision.
    pub(in crate::turn) fn stock(&mut self, message: String, inherited: Option<String>) {
        let setup = self.setup.clone();
        let then = Then::Start { message, inherited };
        let Some(catalog) = &setup.catalog else { return self.catalog_is_done(then, VecDeque::new()) };
        if catalog.policy().reset == Reset::Turn {
            let open: Vec<String> = self.state.catalog.opened.skills().map(str::to_owned).collect();
            open.iter().for_each(|key| self.close(key, CloseReason::Reset));
        }
        let listed = catalog.known().filter(|_| catalog.policy().disclosure == Disclosure::Catalog);
        let listed = listed.map(|entry| entry.key.as_str());
        let open = self.state.catalog.opened.skills();
        let keys = listed.chain(open).chain(catalog.preopened().iter().map(String::as_str));
        let keys = keys.map(str::to_owned).collect();
        self.ask_who_is_there(keys, then);
    }

    /// Answers the calls of a batch that are about the catalog, then dispatches the rest.
    pub(in crate::turn) fn call_catalog(&mut self, batch: Batch) {
        let keys = match &self.setup.catalog {
            None => Vec::new(),
            Some(catalog) => batch.catalog_calls().flat_map(|call| self.concerned(catalog, call)).collect(),
        };
        self.ask_who_is_there(keys, Then::Calls(batch));
    }

    /// What is open is asked for anew.
    pub(in crate::turn) fn ask_after_open(&mut self, phase: Phase, changed: bool) {
        let open = self.state.catalog.opened.skills().map(str::to_owned).collect();
        self.ask_who_is_there(open, Then::Resume { phase: Box::new(phase), changed });
    }

    /// The skills that a call is about.
    fn concerned(&self, catalog: &Catalog, call: &CatalogCall) -> Vec<String> {
        match call {
            CatalogCall::Open { key, .. } => vec![key.clone()],
            CatalogCall::Bind { .. } => Vec::new(),
            // Where none may be away, nothing is asked: the search itself is enough.
            CatalogCall::Search { .. } if !catalog.known().any(|entry| entry.may_be_away) => Vec::new(),
            CatalogCall::Search { query, limit } => {
                let (hits, _) = catalog.search(query, *limit, &BTreeSet::new());
                hits.into_iter().map(|entry| entry.key.clone()).collect()
            }
        }
    }

    fn ask_who_is_there(&mut self, keys: Vec<String>, then: Then) {
        let catalog = self.setup.catalog.as_ref();
        let tier = catalog.and_then(|catalog| catalog.policy().model_tier);
        let mut seen = BTreeSet::new();
        let is_asked = |key: &String| {
            let entry = catalog.and_then(|catalog| catalog.find(key));
            entry.is_some_and(|entry| entry.may_be_away && entry.is_for(tier))
        };
        let asked = keys.into_iter().filter(is_asked).filter(|key| seen.insert(key.clone()));
        let questions: Vec<_> = asked.map(|key| CatalogQuestion::Available { key }).collect();
        if questions.is_empty() {
            self.ask_for_material(then);
        } else {
            self.state.phase = Phase::Catalog(Asked { round: Round::Availability, questions, then });
        }
    }

    fn ask_for_material(&mut self, then: Then) {
        let questions = self.needed(&then);
        if questions.is_empty() {
            self.catalog_is_done(then, VecDeque::new());
        } else {
            self.state.phase = Phase::Catalog(Asked { round: Round::Material, questions, then });
        }
    }

    /// Takes in the answers of a host. One that is missing is a no.
    pub(in crate::turn) fn catalog_answered(&mut self, asked: Asked, answers: Vec<CatalogAnswer>) {
        let none = std::iter::repeat_with(|| CatalogAnswer::Failed { reason: "nobody answered".into() });
        let answered = asked.questions.into_iter().zip(answers.into_iter().chain(none));
        match asked.round {
            Round::Material => self.catalog_is_done(asked.then, answered.collect()),
            Round::Availability => {
                for (question, answer) in answered {
                    let CatalogQuestion::Available { key } = question else { continue };
                    match answer {
                        CatalogAnswer::Available => drop(self.state.catalog.away.remove(&key)),
                        CatalogAnswer::Unavailable { reason } | CatalogAnswer::Failed { reason } => {
                            self.is_away(key, reason);
                        }
                        _ => self.is_away(key, "the answer was to another question".into()),
                    }
                }
                let mut then = asked.then;
                let closed = self.close_what_is_away();
                if let Then::Resume { changed, .. } = &mut then {
                    *changed |= closed;
                    return self.catalog_is_done(then, VecDeque::new());
                }
                // Tools that went with a skill are not called any more.
                if let Then::Calls(batch) = then {
                    then = Then::Calls(if closed { self.gate_again(batch) } else { batch });
                }
                self.ask_for_material(then);
            }
        }
    }

    pub(super) fn is_away(&mut self, key: String, reason: String) {
        let iteration = self.state.iteration;
        if self.state.catalog.away.insert(key.clone()) {
            self.emit(Event::CatalogUnavailable { iteration, key, reason });
        }
    }

    fn close_what_is_away(&mut self) -> bool {
        let state = &self.state.catalog;
        let gone: Vec<String> =
            state.opened.skills().filter(|key| state.away.contains(*key)).map(str::to_owned).collect();
        gone.iter().for_each(|key| self.close(key, CloseReason::Unavailable));
        !gone.is_empty()
    }

    fn close(&mut self, key: &str, reason: CloseReason) {
        if self.state.catalog.close(key) {
            let iteration = self.state.iteration;
            self.emit(Event::CatalogClosed { iteration, key: key.to_owned(), reason });
        }
    }

    /// What must be known of the skills that open, if all goes well.
    fn needed(&self, then: &Then) -> Vec<CatalogQuestion> {
        let Some(catalog) = &self.setup.catalog else { return Vec::new() };
        let mut opened = self.state.catalog.opened.clone();
        let foreign = |binding: &Binding| -> Vec<String> {
            binding.bound.iter().filter(|name| !self.setup.is_registered(name)).cloned().collect()
        };
        let mut questions = Vec::new();
        for call in self.calls_of(then) {
            match call {
                CatalogCall::Open { key, query } => {
                    let Ok(entry) = self.openable(catalog, &key) else { continue };
                    let opening = opened.open(entry, query.as_deref(), |_, tools| tools.to_vec(), catalog.policy());
                    let Ok(opening) = opening else { continue };
                    let query = query.filter(|query| opening.index.is_some() && is_usable(query));
                    questions.push(CatalogQuestion::Open { key, query, tools: foreign(&opening.binding) });
                }
                CatalogCall::Bind { key, tools } => {
                    let Ok(entry) = self.openable(catalog, &key) else { continue };
                    let Ok(binding) = opened.bind(entry, &tools, catalog.policy()) else { continue };
                    let tools = foreign(&binding);
                    if !tools.is_empty() {
                        questions.push(CatalogQuestion::Bind { key, tools });
                    }
                }
                CatalogCall::Search { .. } => {}
            }
        }
        questions
    }

    fn calls_of(&self, then: &Then) -> Vec<CatalogCall> {
        match then {
            Then::Calls(batch) => batch.catalog_calls().cloned().collect(),
            Then::Resume { .. } => Vec::new(),
            Then::Start { .. } => {
                let preopened = self.setup.catalog.iter().flat_map(|catalog| catalog.preopened());
                let shut = preopened.filter(|key| !self.state.catalog.opened.is_open(key));
                shut.map(|key| CatalogCall::Open { key: key.clone(), query: None }).collect()
            }
        }
    }

    /// The skill, as far as the conversation may know of it.
    pub(super) fn openable<'a>(&self, catalog: &'a Catalog, key: &str) -> Result<&'a CatalogEntry, CatalogRefusal> {
        let entry = catalog.find(key).ok_or(CatalogRefusal::Unknown)?;
        if !entry.is_for(catalog.policy().model_tier) {
            Err(CatalogRefusal::NotForTier)
        } else if self.state.catalog.away.contains(key) {
            Err(CatalogRefusal::Unavailable)
        } else {
            Ok(entry)
        }
    }

    /// All is known: what opens, opens, and the turn goes on.
    fn catalog_is_done(&mut self, then: Then, mut material: Material) {
        match then {
            Then::Start { message, inherited } => {
                for call in self.calls_of(&Then::Start { message: String::new(), inherited: None }) {
                    let CatalogCall::Open { key, query } = call else { continue };
                    if let Ok((text, _)) = self.open(&key, query.as_deref(), &mut material) {
                        self.state.transcript.push(Message::Framework { text: words::preopened(&text) });
                    }
                }
                self.route(message, inherited.as_deref());
            }
            Then::Calls(batch) => {
                let batch = self.answer_catalog_calls(batch, material);
                self.dispatch(batch);
            }
            Then::Resume { phase, changed } => self.resume(*phase, changed),
        }
    }
}
