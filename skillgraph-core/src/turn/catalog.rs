//! The catalog in a turn (SPEC 11): what a host is asked about it, and what becomes of calls that open, bind and search.
//!
//! Two rounds at the most: which skills are there, then what is needed of those that open. Both end closed: what is not
//! answered is not there, and has not opened.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::dispatch::{Batch, Fate};
use super::machine::Turn;
use super::state::Phase;
use super::{CallRefusal, Capability, Event, Message, Setup, ToolSpec, words};
use crate::catalog::{
    Binding, Catalog, CatalogEntry, Disclosure, OpenRefusal, Opened, Opening, Reset, ToolHeader, is_usable,
};
use crate::decl::Status;
use crate::graph::ToolIx;

/// What a conversation has open of a catalog: plain data, by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogState {
    pub(super) opened: Opened,
    /// Bound tools that only the host knows, as it told of them.
    pub(super) tools: Vec<CatalogTool>,
    /// Keys of skills that were not there when that was last asked.
    pub(super) away: BTreeSet<String>,
}

impl CatalogState {
    /// The open skills and the bound tools.
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// The bound tool of that name, where only the host knows it.
    pub(super) fn tool(&self, name: &str) -> Option<&CatalogTool> {
        self.tools.iter().find(|tool| tool.spec.name == *name)
    }

    fn close(&mut self, key: &str) -> bool {
        let closed = self.opened.close(key);
        self.forget_unbound();
        closed
    }

    /// Drops what the catalog no longer has, and all where what is left is more than may be open; returns those skills.
    pub(super) fn fit(&mut self, setup: &Setup) -> Vec<String> {
        let catalog = setup.catalog.as_ref();
        let mut gone = self.opened.retain(|key| catalog?.find(key));
        self.away.retain(|key| catalog.is_some_and(|catalog| catalog.find(key).is_some()));
        self.forget_unbound();
        if !self.is_of(setup) {
            gone.extend(self.opened.skills().map(str::to_owned));
            *self = Self { away: std::mem::take(&mut self.away), ..Self::default() };
        }
        gone
    }

    fn forget_unbound(&mut self) {
        let bound: BTreeSet<&str> = self.opened.tools().collect();
        self.tools.retain(|tool| bound.contains(tool.spec.name.as_str()));
    }

    /// Whether a turn of this catalog can come to it.
    pub(super) fn is_of(&self, setup: &Setup) -> bool {
        let Some(catalog) = &setup.catalog else { return *self == Self::default() };
        self.opened.is_within(catalog.policy(), |key| catalog.find(key))
            && self.opened.tools().all(|name| setup.is_registered(name) || self.tool(name).is_some())
    }
}

/// A tool that a host has bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CatalogTool {
    /// The tool as the model is told of it.
    pub spec: Arc<ToolSpec>,
    /// What somebody must be allowed to run it, beside `tool_call` (SPEC 9).
    pub capabilities: Vec<Capability>,
}

/// A question about a skill of the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CatalogQuestion {
    /// Is it there, for whoever the conversation is with? Answered by [`CatalogAnswer::Available`] or
    /// [`CatalogAnswer::Unavailable`].
    Available {
        /// The skill's key.
        key: String,
    },
    /// What are its instructions? Answered by [`CatalogAnswer::Opened`].
    Open {
        /// The skill's key.
        key: String,
        /// What its tools are to be ordered by, where it has more than are bound at once and the model said what for.
        query: Option<String>,
        /// Tools that only the host knows, and that are bound now.
        tools: Vec<String>,
    },
    /// What are these tools? Answered by [`CatalogAnswer::Bound`].
    Bind {
        /// The skill's key.
        key: String,
        /// Their names.
        tools: Vec<String>,
    },
}

/// The answer to one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CatalogAnswer {
    /// It is there.
    Available,
    /// It is not, or whoever the conversation is with may not know of it.
    Unavailable {
        /// Why, for the record.
        reason: String,
    },
    /// It opens.
    Opened {
        /// Its instructions.
        prompt: String,
        /// Names of its tools, best first, where the question had a query; empty for the order of the skill.
        ranked: Vec<String>,
        /// The tools that the question names. One that is missing is not bound.
        tools: Vec<CatalogTool>,
    },
    /// The tools that the question names. One that is missing is not bound.
    Bound {
        /// The tools.
        tools: Vec<CatalogTool>,
    },
    /// It could not be done.
    Failed {
        /// Why, for the record.
        reason: String,
    },
}

/// A call of one of the catalog's own tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CatalogCall {
    Open { key: String, query: Option<String> },
    Bind { key: String, tools: Vec<String> },
    Search { query: String, limit: usize },
}

/// What is being asked, and where the turn goes on then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Asked {
    round: Round,
    questions: Vec<CatalogQuestion>,
    pub(super) then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Round {
    Availability,
    Material,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Then {
    /// The turn starts.
    Start { message: String, inherited: Option<String> },
    /// The calls of a batch are answered.
    Calls(Batch),
    /// The turn goes on where it was, after permissions were asked for anew.
    Resume { phase: Box<Phase>, changed: bool },
}

impl Asked {
    pub(super) fn questions(&self) -> &[CatalogQuestion] {
        &self.questions
    }
}

/// Why a skill of the catalog was not opened, or no tool of it bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CatalogRefusal {
    /// No skill has that key.
    Unknown,
    /// It is not for the models of the conversation. The model reads the same as of an unknown key.
    NotForTier,
    /// It is not there now. The model reads the same as of an unknown key.
    Unavailable,
    /// As many are open as may be.
    TooManyOpen,
    /// As many tools are bound as may be.
    NoToolsLeft,
    /// It is not open: no tool of it can be bound.
    NotOpen,
    /// The host could not give what it needs.
    Failed {
        /// What the host said.
        reason: String,
    },
}

/// Why a skill of the catalog is not open any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CloseReason {
    /// The policy closes all when a turn begins.
    Reset,
    /// It is not there now.
    Unavailable,
    /// The catalog does not have it any more.
    Gone,
}

impl Turn {
    /// Begins the turn: what opens by itself, and what the prompt lists, comes before the first decision.
    pub(super) fn stock(&mut self, message: String, inherited: Option<String>) {
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
    pub(super) fn call_catalog(&mut self, batch: Batch) {
        let keys = match &self.setup.catalog {
            None => Vec::new(),
            Some(catalog) => batch.catalog_calls().flat_map(|call| self.concerned(catalog, call)).collect(),
        };
        self.ask_who_is_there(keys, Then::Calls(batch));
    }

    /// What is open is asked for anew.
    pub(super) fn ask_after_open(&mut self, phase: Phase, changed: bool) {
        let open = self.state.catalog.opened.skills().map(str::to_owned).collect();
        self.ask_who_is_there(open, Then::Resume { phase: Box::new(phase), changed });
    }

    /// The skills that a call is about.
    fn concerned(&self, catalog: &Catalog, call: &CatalogCall) -> Vec<String> {
        match call {
            CatalogCall::Open { key, .. } => vec![key.clone()],
            CatalogCall::Bind { .. } => Vec::new(),
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
    pub(super) fn catalog_answered(&mut self, asked: Asked, answers: Vec<CatalogAnswer>) {
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

    fn is_away(&mut self, key: String, reason: String) {
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
    fn openable<'a>(&self, catalog: &'a Catalog, key: &str) -> Result<&'a CatalogEntry, CatalogRefusal> {
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

    fn answer_catalog_calls(&mut self, mut batch: Batch, mut material: Material) -> Batch {
        let mut bound: Vec<String> = Vec::new();
        for gated in &mut batch.calls {
            let Fate::Catalog(call) = &gated.fate else { continue };
            let (text, status) = match call {
                CatalogCall::Open { key, query } => match self.open(key, query.as_deref(), &mut material) {
                    Ok((text, binding)) => {
                        bound.extend(binding.bound);
                        (text, Status::Success)
                    }
                    Err(reason) => self.refuse(key, reason),
                },
                CatalogCall::Bind { key, tools } => match self.bind(key, tools, &mut material) {
                    Ok(binding) => {
                        let text = words::tools_bound(key, &binding);
                        let none = binding.bound.is_empty() && !binding.not_bound.is_empty();
                        bound.extend(binding.bound);
                        (text, if none { Status::Invalid } else { Status::Success })
                    }
                    Err(reason) => self.refuse(key, reason),
                },
                CatalogCall::Search { query, limit } => (self.search(query, *limit), Status::Success),
            };
            gated.fate = Fate::Said { text, status };
        }
        for gated in &mut batch.calls {
            if let Fate::Refused { reason: CallRefusal::NotOffered, text, .. } = &mut gated.fate
                && bound.contains(&gated.call.name)
            {
                *text = words::bound_in_this_message(&gated.call.name);
            }
        }
        batch
    }

    /// What a call of a tool that is not bound can do about it.
    pub(super) fn teach_binding(&self, batch: &mut Batch) {
        let Some(catalog) = &self.setup.catalog else { return };
        let open = || self.state.catalog.opened.skills().filter_map(|key| catalog.find(key));
        for gated in &mut batch.calls {
            let Fate::Refused { reason: CallRefusal::NotOffered, text, .. } = &mut gated.fate else { continue };
            let name = &gated.call.name;
            if let Some(owner) = open().find(|entry| entry.tools.iter().any(|tool| tool.name == *name)) {
                *text = words::not_bound(name, &owner.key);
            }
        }
    }

    fn refuse(&mut self, key: &str, reason: CatalogRefusal) -> (String, Status) {
        let text = match &self.setup.catalog {
            Some(catalog) => words::catalog_refused(key, &reason, catalog, &self.state.catalog.opened),
            None => words::NO_CATALOG.to_owned(),
        };
        (text, Status::Invalid)
    }

    /// Opens a skill with what the host gave. What the model reads, and what was bound.
    fn open(
        &mut self,
        key: &str,
        query: Option<&str>,
        material: &mut Material,
    ) -> Result<(String, Binding), CatalogRefusal> {
        let setup = self.setup.clone();
        let iteration = self.state.iteration;
        let opened = setup.catalog.as_ref().ok_or(CatalogRefusal::Unknown).and_then(|catalog| {
            let entry = self.openable(catalog, key)?;
            let (prompt, ranked, tools) = self.take_opened(catalog, entry, query, material)?;
            let rank = |_: &str, index: &[ToolHeader]| in_order(index, &ranked);
            let mut opening =
                self.state.catalog.opened.open(entry, query, rank, catalog.policy()).map_err(CatalogRefusal::from)?;
            self.take_tools(key, &mut opening.binding, tools);
            Ok((words::catalog_opened(entry, &prompt, &opening, catalog.policy()), opening))
        });
        match opened {
            Ok((text, opening)) => {
                let Opening { already_open, binding, .. } = opening;
                let event = Event::CatalogOpened {
                    iteration,
                    key: key.to_owned(),
                    already_open,
                    bound: binding.bound.clone(),
                    not_bound: binding.not_bound.clone(),
                };
                self.emit(event);
                Ok((text, binding))
            }
            Err(reason) => {
                self.emit(Event::CatalogRefused { iteration, key: key.to_owned(), reason: reason.clone() });
                Err(reason)
            }
        }
    }

    /// What the host gave for an opening.
    fn take_opened(
        &mut self,
        catalog: &Catalog,
        entry: &CatalogEntry,
        query: Option<&str>,
        material: &mut Material,
    ) -> Result<(String, Vec<String>, Vec<CatalogTool>), CatalogRefusal> {
        let is_it = |(question, _): &(CatalogQuestion, CatalogAnswer)| matches!(question, CatalogQuestion::Open { key, .. } if *key == entry.key);
        let failed = |reason: String| CatalogRefusal::Failed { reason };
        let Some((_, answer)) = material.iter().position(is_it).and_then(|at| material.remove(at)) else {
            // It was not asked for, since it could not open then.
            let open = self.state.catalog.opened.clone().open(entry, query, |_, _| Vec::new(), catalog.policy());
            return Err(open.map_or_else(Into::into, |_| failed("it could not open when it was asked for".into())));
        };
        match answer {
            CatalogAnswer::Opened { prompt, ranked, tools } => {
                let (characters, ceiling) = (prompt.chars().count(), self.setup.limits.result_characters);
                if characters > ceiling {
                    return Err(failed(format!(
                        "its instructions have {characters} characters, of {ceiling} that fit"
                    )));
                }
                Ok((prompt, ranked, tools))
            }
            CatalogAnswer::Unavailable { reason } => {
                self.is_away(entry.key.clone(), reason);
                Err(CatalogRefusal::Unavailable)
            }
            CatalogAnswer::Failed { reason } => Err(failed(reason)),
            _ => Err(failed("the answer was to another question".into())),
        }
    }

    fn bind(&mut self, key: &str, names: &[String], material: &mut Material) -> Result<Binding, CatalogRefusal> {
        let setup = self.setup.clone();
        let iteration = self.state.iteration;
        let bound = setup.catalog.as_ref().ok_or(CatalogRefusal::Unknown).and_then(|catalog| {
            let entry = self.openable(catalog, key)?;
            let mut binding = self
                .state
                .catalog
                .opened
                .bind(entry, names, catalog.policy())
                .map_err(|_| CatalogRefusal::NotOpen)?;
            let is_it = |(question, _): &(CatalogQuestion, CatalogAnswer)| {
                matches!(question, CatalogQuestion::Bind { key: asked, .. } if asked == key)
            };
            let answer = material.iter().position(is_it).and_then(|at| material.remove(at));
            let tools = match answer {
                Some((_, CatalogAnswer::Bound { tools })) => tools,
                _ => Vec::new(),
            };
            self.take_tools(key, &mut binding, tools);
            Ok(binding)
        });
        self.emit(match &bound {
            Ok(Binding { bound, not_bound }) => Event::CatalogBound {
                iteration,
                key: key.to_owned(),
                bound: bound.clone(),
                not_bound: not_bound.clone(),
            },
            Err(reason) => Event::CatalogRefused { iteration, key: key.to_owned(), reason: reason.clone() },
        });
        bound
    }

    /// Keeps what the host told of the tools that are bound; what it did not tell of is not bound.
    fn take_tools(&mut self, key: &str, binding: &mut Binding, tools: Vec<CatalogTool>) {
        let setup = self.setup.clone();
        let told = |name: &str| setup.is_registered(name) || tools.iter().any(|tool| tool.spec.name == *name);
        self.state.catalog.opened.take_back(key, binding, told);
        let new = tools.into_iter().filter(|tool| {
            let name = tool.spec.name.as_str();
            !setup.is_registered(name) && binding.bound.iter().any(|bound| bound == name)
        });
        let new: Vec<CatalogTool> = new.collect();
        for tool in new {
            if self.state.catalog.tool(tool.spec.name.as_str()).is_none() {
                self.state.catalog.tools.push(tool);
            }
        }
    }

    fn search(&mut self, query: &str, limit: usize) -> String {
        let setup = self.setup.clone();
        let Some(catalog) = &setup.catalog else { return words::NO_CATALOG.to_owned() };
        let (hits, found) = catalog.search(query, limit, &self.state.catalog.away);
        let iteration = self.state.iteration;
        let keys = hits.iter().map(|entry| entry.key.clone()).collect();
        self.emit(Event::CatalogSearched { iteration, query: query.to_owned(), found, keys });
        words::search_results(&hits, found, &self.state.catalog.opened)
    }

    /// What a tool declares that it needs beside `tool_call`.
    pub(super) fn declared(&self, tool: ToolIx) -> Vec<Capability> {
        let Some(permissions) = &self.setup.permissions else { return Vec::new() };
        if let Some(declared) = permissions.declared.get(tool.position()) {
            return declared.clone();
        }
        let name = self.setup.graph.tool_id(tool);
        self.state.catalog.tool(name.as_str()).map_or_else(Vec::new, |tool| tool.capabilities.clone())
    }
}

/// What a host gave, for the calls in their order.
type Material = VecDeque<(CatalogQuestion, CatalogAnswer)>;

impl From<OpenRefusal> for CatalogRefusal {
    fn from(refusal: OpenRefusal) -> Self {
        match refusal {
            OpenRefusal::NotForTier => CatalogRefusal::NotForTier,
            OpenRefusal::TooManyOpen { .. } => CatalogRefusal::TooManyOpen,
            OpenRefusal::NoToolsLeft { .. } => CatalogRefusal::NoToolsLeft,
        }
    }
}

/// The rows of an index in the order of a ranking; all of it where there is none.
fn in_order(index: &[ToolHeader], ranked: &[String]) -> Vec<ToolHeader> {
    if ranked.is_empty() {
        return index.to_vec();
    }
    ranked.iter().filter_map(|name| index.iter().find(|tool| tool.name == *name).cloned()).collect()
}
