//! What a host is asked of a catalog, and where the turn goes on with the answers.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::answer::{CatalogCall, Material, take};
use super::{CatalogAnswer, CatalogQuestion, CatalogRefusal, CloseReason};
use crate::catalog::{Binding, Catalog, CatalogEntry, Disclosure, Reset, is_usable};
use crate::turn::dispatch::Batch;
use crate::turn::machine::Turn;
use crate::turn::state::Phase;
use crate::turn::{Event, words};

/// What is being asked, and where the turn goes on then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::turn) struct Asked {
    round: Round,
    questions: Vec<CatalogQuestion>,
    /// What has been asked of availability since the turn last went on.
    keys: BTreeSet<String>,
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
        let preopened = catalog.preopened().iter().map(String::as_str);
        let keys = listed.chain(preopened).map(str::to_owned).chain(self.known_to_the_model()).collect();
        self.ask_availability(keys, then);
    }

    /// Answers the calls of a batch that are about the catalog, then dispatches the rest.
    pub(in crate::turn) fn call_catalog(&mut self, batch: Batch) {
        let keys = self.concerned(&batch, &BTreeSet::new());
        self.ask_availability(keys, Then::Calls(batch));
    }

    /// All that the next request may list or speak of is asked for anew: another identity may see less of it.
    pub(in crate::turn) fn ask_anew(&mut self, phase: Phase, changed: bool) {
        let setup = self.setup.clone();
        let listed = setup.catalog.iter().filter(|catalog| catalog.policy().disclosure == Disclosure::Catalog);
        let listed = listed.flat_map(|catalog| catalog.known()).map(|entry| entry.key.clone());
        let keys = listed.chain(self.known_to_the_model()).collect();
        self.ask_availability(keys, Then::Resume { phase: Box::new(phase), changed });
    }

    /// What is open, and what the conversation has named.
    fn known_to_the_model(&self) -> Vec<String> {
        let state = &self.state.catalog;
        state.opened.skills().map(str::to_owned).chain(state.named.iter().cloned()).collect()
    }

    /// The skills that calls are about. `asked`: those of which it has been asked already whether they are there.
    fn concerned(&self, batch: &Batch, asked: &BTreeSet<String>) -> Vec<String> {
        let Some(catalog) = &self.setup.catalog else { return Vec::new() };
        let denied: BTreeSet<String> = asked.intersection(&self.state.catalog.away).cloned().collect();
        let concerned = |call: &CatalogCall| match call {
            CatalogCall::Open { key, .. } => vec![key.clone()],
            CatalogCall::Bind { .. } => Vec::new(),
            // Where none may be away, nothing is asked: the search itself is enough.
            CatalogCall::Search { .. } if !catalog.known().any(|entry| entry.may_be_away) => Vec::new(),
            CatalogCall::Search { query, limit } => {
                // What is away takes no place: others move up, and are asked of in their turn, more of them each time.
                let limit = limit.saturating_add(2 * denied.len());
                let (hits, _) = catalog.search(query, limit, &denied);
                hits.into_iter().map(|entry| entry.key.clone()).collect()
            }
        };
        batch.catalog_calls().flat_map(concerned).collect()
    }

    fn ask_availability(&mut self, keys: Vec<String>, then: Then) {
        match self.availability(keys, &BTreeSet::new()) {
            questions if questions.is_empty() => self.ask_for_material(then),
            questions => {
                let round = Round::Availability;
                self.state.phase = Phase::Catalog(Asked { round, questions, keys: BTreeSet::new(), then });
            }
        }
    }

    /// The questions whether these skills are there, each once, without those that have been asked.
    fn availability(&self, keys: Vec<String>, asked: &BTreeSet<String>) -> Vec<CatalogQuestion> {
        let Some(catalog) = &self.setup.catalog else { return Vec::new() };
        let tier = catalog.policy().model_tier;
        let mut seen = BTreeSet::new();
        let is_asked = |key: &String| {
            let entry = catalog.find(key);
            !asked.contains(key) && entry.is_some_and(|entry| entry.may_be_away && entry.is_for(tier))
        };
        let keys = keys.into_iter().filter(is_asked).filter(|key| seen.insert(key.clone()));
        keys.map(|key| CatalogQuestion::Available { key }).collect()
    }

    fn ask_for_material(&mut self, then: Then) {
        let questions = self.needed(&then);
        if questions.is_empty() {
            self.catalog_is_done(then, VecDeque::new());
        } else {
            let keys = BTreeSet::new();
            self.state.phase = Phase::Catalog(Asked { round: Round::Material, questions, keys, then });
        }
    }

    /// Takes in the answers of a host. One that is missing is a no.
    pub(in crate::turn) fn catalog_answered(&mut self, asked: Asked, answers: Vec<CatalogAnswer>) {
        let none = std::iter::repeat_with(|| CatalogAnswer::Failed { reason: "nobody answered".into() });
        let answered = asked.questions.into_iter().zip(answers.into_iter().chain(none));
        match asked.round {
            Round::Material => self.catalog_is_done(asked.then, answered.collect()),
            Round::Availability => {
                let mut asked_of = asked.keys;
                for (question, answer) in answered {
                    let CatalogQuestion::Available { key } = question else { continue };
                    asked_of.insert(key.clone());
                    match answer {
                        CatalogAnswer::Available => drop(self.state.catalog.away.remove(&key)),
                        CatalogAnswer::Unavailable { reason } | CatalogAnswer::Failed { reason } => {
                            self.is_away(key, reason);
                        }
                        _ => self.is_away(key, "the answer was to another question".into()),
                    }
                }
                let mut then = asked.then;
                if let Then::Calls(batch) = &then {
                    let questions = self.availability(self.concerned(batch, &asked_of), &asked_of);
                    if !questions.is_empty() {
                        let round = Round::Availability;
                        self.state.phase = Phase::Catalog(Asked { round, questions, keys: asked_of, then });
                        return;
                    }
                }
                let closed = self.close_unavailable();
                if let Then::Resume { changed, .. } = &mut then {
                    *changed |= closed;
                    return self.ask_for_material(then);
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
        if self.state.catalog.named.remove(&key) {
            self.state.unseen.withdraw(self.state.transcript.len());
        }
        if self.state.catalog.away.insert(key.clone()) {
            self.emit(Event::CatalogUnavailable { iteration, key, reason });
        }
    }

    fn close_unavailable(&mut self) -> bool {
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
        let mut questions: Vec<CatalogQuestion> = self.untold();
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

    /// What the host is asked anew of tools that came from storage: what they need is not saved with them.
    fn untold(&self) -> Vec<CatalogQuestion> {
        let untold = match self.setup.permissions {
            Some(_) => self.state.catalog.untold(),
            None => Vec::new(),
        };
        untold.into_iter().map(|(key, tools)| CatalogQuestion::Bind { key, tools }).collect()
    }

    fn retell(&mut self, material: &mut Material) {
        for question in self.untold() {
            let CatalogQuestion::Bind { tools, .. } = &question else { continue };
            let told = match take(material, |asked| *asked == question) {
                Some(CatalogAnswer::Bound { tools }) => tools,
                _ => Vec::new(),
            };
            self.state.catalog.retell(tools.clone(), told);
        }
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
        self.retell(&mut material);
        match then {
            Then::Start { message, inherited } => {
                for call in self.calls_of(&Then::Start { message: String::new(), inherited: None }) {
                    let CatalogCall::Open { key, query } = call else { continue };
                    if let Ok((text, _)) = self.open(&key, query.as_deref(), &mut material) {
                        self.state.transcript.push(words::preopened(text).into_message());
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
