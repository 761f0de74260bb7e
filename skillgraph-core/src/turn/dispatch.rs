//! The gate (SPEC 6): what becomes of each call before anything runs. A tool runs only if it was in the request that
//! the model answered.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::catalog::CatalogCall;
use super::offer::{Offer, Offered};
use super::{CallRefusal, ModelReply, PersonReply, Question, StopReason, ToolCall, ToolReturn, ToolRun, words};
use crate::catalog::SEARCH_LIMIT;
use crate::decl::Status;
use crate::graph::{Graph, ToolIx};

/// The calls of one reply, in call order, each with what the gate made of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Batch {
    pub(super) calls: Vec<Gated>,
}

/// One call behind the gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Gated {
    pub(super) call: ToolCall,
    pub(super) fate: Fate,
}

/// What the gate made of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Fate {
    /// It is answered with words. Where an offered tool was called, the refusal is evidence: its result is `invalid`.
    Refused { reason: CallRefusal, text: String, tool: Option<ToolIx> },
    /// It has returned, and its tool is not there any more.
    Said { text: String, status: Status },
    /// The model picks a skill.
    Pick { requested: String },
    /// The model asks for the catalog.
    List,
    /// The model skips a step.
    Skip { reason: String },
    /// The model opens, binds or searches in the catalog.
    Catalog(CatalogCall),
    /// The host runs a tool.
    Run(Box<Run>),
}

/// A tool that runs, until its result is in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) tool: ToolIx,
    pub(super) arguments: Map<String, Value>,
    /// It is on the record that it runs.
    pub(super) started: bool,
    pub(super) returned: Option<ToolReturn>,
    /// What a person said to its question.
    pub(super) answer: Option<PersonReply>,
}

impl Run {
    /// Whether it waits for a person.
    pub(super) fn is_pending(&self) -> bool {
        self.answer.is_none() && self.returned.as_ref().is_some_and(|returned| returned.status == Status::Pending)
    }
}

impl Batch {
    /// Whether each tool that has yet to run is in the offer.
    pub(super) fn is_offered_by(&self, offer: &Offer) -> bool {
        self.runs().all(|(_, run)| run.returned.is_some() || offer.has(Offered::Tool(run.tool)))
    }

    /// Whether what runs is what the model asked for.
    pub(super) fn is_as_called(&self) -> bool {
        self.runs().all(|(gated, run)| gated.call.parsed_arguments().is_ok_and(|called| called == run.arguments))
    }

    /// The calls that are about the catalog and not answered yet, in call order.
    pub(super) fn catalog_calls(&self) -> impl Iterator<Item = &CatalogCall> {
        self.calls.iter().filter_map(|gated| match &gated.fate {
            Fate::Catalog(call) => Some(call),
            _ => None,
        })
    }

    fn runs(&self) -> impl Iterator<Item = (&Gated, &Run)> {
        self.calls.iter().filter_map(|gated| match &gated.fate {
            Fate::Run(run) => Some((gated, &**run)),
            _ => None,
        })
    }

    /// Sends every call of a reply through the gate.
    pub(super) fn gate(graph: &Graph, offer: &Offer, reply: &ModelReply) -> Self {
        let mut times_used: HashMap<&str, usize> = HashMap::new();
        for call in &reply.calls {
            *times_used.entry(&call.id).or_default() += 1;
        }
        let last = reply.calls.len().saturating_sub(1);
        let gated = reply.calls.iter().enumerate().map(|(at, call)| {
            let refused = |reason, text| Fate::Refused { reason, text, tool: None };
            let name = &call.name;
            let fate = if reply.stop == StopReason::Refusal {
                refused(CallRefusal::ModelDeclined, words::declined(name))
            } else if times_used.get(call.id.as_str()).is_some_and(|times| *times > 1) {
                refused(CallRefusal::DuplicateId, words::duplicate_id(name, &call.id))
            } else if reply.stop == StopReason::MaxTokens && at == last {
                refused(CallRefusal::CutOff, words::cut_off(name))
            } else {
                match offer.find(graph, name) {
                    Some(offered) => admit(offered, call),
                    None => refused(CallRefusal::NotOffered, words::not_offered(name, &offer.names(graph))),
                }
            };
            Gated { call: call.clone(), fate }
        });
        Self { calls: gated.collect() }
    }

    /// The tools that the host has yet to run, in call order.
    pub(super) fn open_runs(&self, graph: &Graph) -> Vec<ToolRun> {
        let open = self.runs().filter(|(_, run)| run.returned.is_none());
        let run = |(gated, run): (&Gated, &Run)| ToolRun {
            call_id: gated.call.id.clone(),
            tool: run.tool,
            name: graph.tool_id(run.tool),
            arguments: run.arguments.clone(),
            answer: run.answer.clone(),
        };
        open.map(run).collect()
    }

    /// Whether a tool waits for a person.
    pub(super) fn is_pending(&self) -> bool {
        self.runs().any(|(_, run)| run.is_pending())
    }

    /// What tools ask a person, in call order.
    pub(super) fn questions(&self, graph: &Graph) -> Vec<Question> {
        let pending = self.runs().filter(|(_, run)| run.is_pending());
        let question = |(gated, run): (&Gated, &Run)| Question {
            call_id: gated.call.id.clone(),
            tool: graph.tool_id(run.tool),
            arguments: run.arguments.clone(),
            text: run.returned.as_ref().map_or(String::new(), |returned| returned.text.clone()),
        };
        pending.map(question).collect()
    }

    /// Refuses what has yet to run and is not offered. Returns those calls.
    pub(super) fn withhold(&mut self, graph: &Graph, offer: &Offer) -> Vec<ToolCall> {
        let mut withheld = Vec::new();
        for gated in &mut self.calls {
            let Fate::Run(run) = &gated.fate else { continue };
            if run.returned.is_none() && !offer.has(Offered::Tool(run.tool)) {
                let text = words::not_offered(&gated.call.name, &offer.names(graph));
                gated.fate = Fate::Refused { reason: CallRefusal::NotOffered, text, tool: None };
                withheld.push(gated.call.clone());
            }
        }
        withheld
    }

    /// Whether every tool has returned.
    pub(super) fn is_complete(&self) -> bool {
        self.runs().all(|(_, run)| run.returned.is_some())
    }

    /// The run of that call; none where no such call runs.
    pub(super) fn run_of(&mut self, call_id: &str) -> Option<&mut Run> {
        self.calls.iter_mut().find(|gated| gated.call.id == call_id).and_then(|gated| match &mut gated.fate {
            Fate::Run(run) => Some(&mut **run),
            _ => None,
        })
    }
}

/// A call of something that was offered: its arguments decide.
fn admit(offered: Offered, call: &ToolCall) -> Fate {
    let arguments = match call.parsed_arguments() {
        Ok(arguments) => arguments,
        Err(error) => return bad_arguments(offered, call, error),
    };
    let text_field = |field: &str| match arguments.get(field) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("`{field}` must be a string")),
        None => Err(format!("`{field}` is missing")),
    };
    match offered {
        Offered::Tool(tool) => {
            Fate::Run(Box::new(Run { tool, arguments, started: false, returned: None, answer: None }))
        }
        Offered::ListSkills => Fate::List,
        Offered::ReadSkill => match text_field("id") {
            Ok(id) => Fate::Pick { requested: id.trim().to_owned() },
            Err(reason) => bad_arguments(offered, call, reason),
        },
        Offered::OpenSkill => match (text_field("key"), arguments.get("query")) {
            (Ok(key), None | Some(Value::Null)) => Fate::Catalog(CatalogCall::Open { key, query: None }),
            (Ok(key), Some(Value::String(query))) => {
                Fate::Catalog(CatalogCall::Open { key, query: Some(query.clone()) })
            }
            (Ok(_), Some(_)) => bad_arguments(offered, call, "`query` must be a string"),
            (Err(reason), _) => bad_arguments(offered, call, reason),
        },
        Offered::BindTools => match (text_field("key"), names_field(&arguments)) {
            (Ok(key), Ok(tools)) => Fate::Catalog(CatalogCall::Bind { key, tools }),
            (Err(reason), _) | (_, Err(reason)) => bad_arguments(offered, call, reason),
        },
        Offered::SearchSkills => {
            let query = text_field("query").unwrap_or_default();
            let limit = match arguments.get("limit") {
                None | Some(Value::Null) => Some(SEARCH_LIMIT),
                Some(limit) => limit.as_u64().filter(|limit| *limit > 0).map(|limit| limit.min(SEARCH_MOST) as usize),
            };
            match limit {
                Some(limit) => Fate::Catalog(CatalogCall::Search { query, limit }),
                None => bad_arguments(offered, call, "`limit` must be a whole number from 1 up"),
            }
        }
        // A missing reason is taught by the step's own words.
        Offered::SkipStep => Fate::Skip { reason: text_field("reason").unwrap_or_default().trim().to_owned() },
    }
}

/// How many skills a search shows at the most, whatever the model asks for.
const SEARCH_MOST: u64 = 25;

/// `tools` as names; one name alone is taken as a list of one.
fn names_field(arguments: &Map<String, Value>) -> Result<Vec<String>, String> {
    let expected = || "`tools` must be a list of names, one at least".to_owned();
    let text = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(expected);
    match arguments.get("tools") {
        None => Err("`tools` is missing".to_owned()),
        Some(Value::Array(names)) if !names.is_empty() => names.iter().map(text).collect(),
        Some(one) => text(one).map(|one| vec![one]),
    }
}

fn bad_arguments(offered: Offered, call: &ToolCall, reason: impl std::fmt::Display) -> Fate {
    let tool = match offered {
        Offered::Tool(tool) => Some(tool),
        _ => None,
    };
    Fate::Refused { reason: CallRefusal::BadArguments, text: words::bad_arguments(&call.name, reason), tool }
}
