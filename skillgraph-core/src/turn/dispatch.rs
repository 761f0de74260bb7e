//! The gate (SPEC 6): what becomes of each call before anything runs. A tool runs only if it was in the request that
//! the model answered.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::offer::{Offer, Offered};
use super::{CallRefusal, ModelReply, StopReason, ToolCall, ToolReturn, ToolRun, words};
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
    /// The model picks a skill.
    Pick { requested: String },
    /// The model asks for the catalog.
    List,
    /// The model skips a step.
    Skip { reason: String },
    /// The host runs a tool.
    Run { tool: ToolIx, arguments: Map<String, Value>, returned: Option<ToolReturn> },
}

impl Batch {
    /// Whether each tool that runs is in the offer.
    pub(super) fn is_offered_by(&self, offer: &Offer) -> bool {
        self.calls.iter().all(|gated| match gated.fate {
            Fate::Run { tool, .. } => offer.has(Offered::Tool(tool)),
            _ => true,
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
        let open = self.calls.iter().filter_map(|gated| match &gated.fate {
            Fate::Run { tool, arguments, returned: None } => Some(ToolRun {
                call_id: gated.call.id.clone(),
                tool: *tool,
                name: graph.tool_id(*tool),
                arguments: arguments.clone(),
            }),
            _ => None,
        });
        open.collect()
    }

    /// Whether every tool has returned.
    pub(super) fn is_complete(&self) -> bool {
        !self.calls.iter().any(|gated| matches!(gated.fate, Fate::Run { returned: None, .. }))
    }

    /// Where the result of that call belongs; none where no such call runs.
    pub(super) fn slot(&mut self, call_id: &str) -> Option<&mut Option<ToolReturn>> {
        self.calls.iter_mut().find(|gated| gated.call.id == call_id).and_then(|gated| match &mut gated.fate {
            Fate::Run { returned, .. } => Some(returned),
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
        Offered::Tool(tool) => Fate::Run { tool, arguments, returned: None },
        Offered::ListSkills => Fate::List,
        Offered::ReadSkill => match text_field("id") {
            Ok(id) => Fate::Pick { requested: id.trim().to_owned() },
            Err(reason) => bad_arguments(offered, call, reason),
        },
        // A missing reason is taught by the step's own words.
        Offered::SkipStep => Fate::Skip { reason: text_field("reason").unwrap_or_default().trim().to_owned() },
    }
}

fn bad_arguments(offered: Offered, call: &ToolCall, reason: impl std::fmt::Display) -> Fate {
    let tool = match offered {
        Offered::Tool(tool) => Some(tool),
        _ => None,
    };
    Fate::Refused { reason: CallRefusal::BadArguments, text: words::bad_arguments(&call.name, reason), tool }
}
