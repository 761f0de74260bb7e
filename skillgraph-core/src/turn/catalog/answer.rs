//! Calls of the catalog's own tools, answered with what the host gave.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{CatalogAnswer, CatalogQuestion, CatalogRefusal, CatalogTool};
use crate::catalog::{Binding, Catalog, CatalogEntry, NotBoundReason, Opening, ToolHeader};
use crate::decl::Status;
use crate::graph::ToolIx;
use crate::turn::dispatch::{Batch, Fate};
use crate::turn::machine::Turn;
use crate::turn::message::Spoken;
use crate::turn::{CallRefusal, Capability, Event, words};

/// A call of one of the catalog's own tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::turn) enum CatalogCall {
    Open { key: String, query: Option<String> },
    Bind { key: String, tools: Vec<String> },
    Search { query: String, limit: usize },
}

/// What a host gave, for the calls in their order.
pub(super) type Material = VecDeque<(CatalogQuestion, CatalogAnswer)>;

impl Turn {
    pub(super) fn answer_catalog_calls(&mut self, mut batch: Batch, mut material: Material) -> Batch {
        let mut bound: Vec<String> = Vec::new();
        for gated in &mut batch.calls {
            let Fate::Catalog(call) = &gated.fate else { continue };
            let (text, status): (Spoken, Status) = match call {
                CatalogCall::Open { key, query } => match self.open(key, query.as_deref(), &mut material) {
                    Ok((text, binding)) => {
                        bound.extend(binding.bound);
                        (text, Status::Success)
                    }
                    Err(reason) => self.refuse(key, reason),
                },
                CatalogCall::Bind { key, tools } => match self.bind(key, tools, &mut material) {
                    Ok(binding) => {
                        let text = Spoken::by_framework(words::tools_bound(key, &binding));
                        let none = binding.bound.is_empty() && !binding.not_bound.is_empty();
                        bound.extend(binding.bound);
                        (text, if none { Status::Invalid } else { Status::Success })
                    }
                    Err(reason) => self.refuse(key, reason),
                },
                CatalogCall::Search { query, limit } => {
                    (Spoken::by_framework(self.search(query, *limit)), Status::Success)
                }
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
    pub(in crate::turn) fn teach_binding(&self, batch: &mut Batch) {
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

    fn refuse(&mut self, key: &str, reason: CatalogRefusal) -> (Spoken, Status) {
        let text = match &self.setup.catalog {
            Some(catalog) => words::catalog_refused(key, &reason, catalog, &self.state.catalog.opened),
            None => words::NO_CATALOG.to_owned(),
        };
        (Spoken::by_framework(text), Status::Invalid)
    }

    /// Opens a skill with what the host gave. What the model reads, and what was bound.
    pub(super) fn open(
        &mut self,
        key: &str,
        query: Option<&str>,
        material: &mut Material,
    ) -> Result<(Spoken, Binding), CatalogRefusal> {
        let setup = self.setup.clone();
        let iteration = self.state.iteration;
        let opened = setup.catalog.as_ref().ok_or(CatalogRefusal::Unknown).and_then(|catalog| {
            let entry = self.openable(catalog, key)?;
            self.state.catalog.named.insert(key.to_owned());
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
        let is_it =
            |question: &CatalogQuestion| matches!(question, CatalogQuestion::Open { key, .. } if *key == entry.key);
        let failed = |reason: String| CatalogRefusal::Failed { reason };
        let Some(answer) = take(material, is_it) else {
            // It was not asked for, since it could not open then.
            let open = self.state.catalog.opened.clone().open(entry, query, |_, _| Vec::new(), catalog.policy());
            return Err(open.map_or_else(Into::into, |_| failed("it could not open when it was asked for".into())));
        };
        match answer {
            CatalogAnswer::Opened { prompt, ranked, tools } => {
                let (characters, ceiling) = (prompt.chars().count(), self.setup.limits.result_characters);
                if characters > ceiling {
                    return Err(failed(format!(
                        "its instructions have {characters} characters, and the maximum is {ceiling}"
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

    pub(super) fn bind(
        &mut self,
        key: &str,
        names: &[String],
        material: &mut Material,
    ) -> Result<Binding, CatalogRefusal> {
        let setup = self.setup.clone();
        let iteration = self.state.iteration;
        let bound = setup.catalog.as_ref().ok_or(CatalogRefusal::Unknown).and_then(|catalog| {
            let entry = self.openable(catalog, key)?;
            self.state.catalog.named.insert(key.to_owned());
            let mut binding =
                self.state.catalog.opened.bind(entry, names, catalog.policy()).map_err(|_| CatalogRefusal::NotOpen)?;
            let is_it =
                |question: &CatalogQuestion| matches!(question, CatalogQuestion::Bind { key: of, .. } if of == key);
            let tools = match take(material, is_it) {
                Some(CatalogAnswer::Bound { tools }) => tools,
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
        let missing = |name: &str| {
            if setup.is_registered(name) {
                return None;
            }
            let Some(tool) = tools.iter().find(|tool| tool.spec.name == *name) else {
                return Some(NotBoundReason::Failed);
            };
            // Where nobody is asked, nobody says yes either.
            let needs = tool.capabilities().is_some_and(|needed| !needed.is_empty());
            (needs && setup.permissions.is_none()).then_some(NotBoundReason::NoAuthorizer)
        };
        self.state.catalog.opened.take_back(key, binding, missing);
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

    pub(super) fn search(&mut self, query: &str, limit: usize) -> String {
        let setup = self.setup.clone();
        let Some(catalog) = &setup.catalog else { return words::NO_CATALOG.to_owned() };
        let (hits, found) = catalog.search(query, limit, &self.state.catalog.away);
        self.state.catalog.named.extend(hits.iter().map(|entry| entry.key.clone()));
        let iteration = self.state.iteration;
        let keys = hits.iter().map(|entry| entry.key.clone()).collect();
        self.emit(Event::CatalogSearched { iteration, query: query.to_owned(), found, keys });
        words::search_results(&hits, found, &self.state.catalog.opened)
    }

    /// What a tool declares that it needs beside `tool_call`.
    pub(in crate::turn) fn declared(&self, tool: ToolIx) -> Vec<Capability> {
        let Some(permissions) = &self.setup.permissions else { return Vec::new() };
        if let Some(declared) = permissions.declared.get(tool.position()) {
            return declared.clone();
        }
        let name = self.setup.graph.tool_id(tool);
        match self.state.catalog.tool(name.as_str()) {
            None => Vec::new(),
            Some(tool) => match tool.capabilities() {
                Some(capabilities) => capabilities.to_vec(),
                // Until the host has told it, nobody has it.
                None => vec![Capability::Declared("(not known)".to_owned())],
            },
        }
    }
}

/// The answer to the first question that it is, which is answered once.
pub(super) fn take(material: &mut Material, is_it: impl Fn(&CatalogQuestion) -> bool) -> Option<CatalogAnswer> {
    let at = material.iter().position(|(question, _)| is_it(question))?;
    material.remove(at).map(|(_, answer)| answer)
}

/// The rows of an index in the order of a ranking; all of it where there is none.
fn in_order(index: &[ToolHeader], ranked: &[String]) -> Vec<ToolHeader> {
    if ranked.is_empty() {
        return index.to_vec();
    }
    ranked.iter().filter_map(|name| index.iter().find(|tool| tool.name == *name).cloned()).collect()
}
