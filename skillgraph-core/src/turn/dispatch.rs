//! The gate: what becomes of each call before anything runs. A tool runs only if it was in the request that
//! the model answered.
// SPEC 6.

use std::cell::LazyCell;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::catalog::CatalogCall;
use super::message::Spoken;
use super::offer::{Offer, Offered};
use super::state::{Phase, State};
use super::{
    CallRefusal, ModelReply, Numbering, PersonReply, Question, Setup, SkipRefusal, StopReason, ToolCall, ToolReturn,
    ToolRun, arguments, words,
};
use crate::catalog::SEARCH_LIMIT;
use crate::decl::{OnSkip, Status};
use crate::graph::{Graph, ToolIx};
use crate::text::is_blank;

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
    /// It is answered already: a call about the catalog, or one that has returned and whose tool is not there any more.
    Said { text: Spoken, status: Status },
    /// The model picks a skill.
    Pick { requested: String },
    /// The model asks for the catalog.
    List,
    /// The model skips a step; refused where another call of the message stands against it.
    Skip { reason: String, refused: Option<SkipRefusal> },
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
    /// The same, where a person changed them before the tool asked again.
    pub(super) changed: Option<Map<String, Value>>,
    /// It is on the record that it runs.
    pub(super) started: bool,
    pub(super) returned: Option<ToolReturn>,
    /// The question that waits for a person.
    pub(super) asked: Option<Asked>,
    /// What a person said to its question.
    pub(super) answer: Option<PersonReply>,
}

/// A question that was put to a person: its number, and what it was about.
// SPEC 10.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) question: u64,
    pub(super) fingerprint: String,
}

impl Run {
    /// Whether it waits for a person.
    pub(super) fn is_pending(&self) -> bool {
        self.answer.is_none() && self.returned.as_ref().is_some_and(|returned| returned.status == Status::Pending)
    }

    /// The arguments that a person gave in place of the model's.
    pub(super) fn changed(&self) -> Option<&Map<String, Value>> {
        match &self.answer {
            Some(PersonReply::ApprovedWith { arguments }) => Some(arguments),
            _ => self.changed.as_ref(),
        }
    }
}

impl Batch {
    /// Whether each tool that has yet to run is in the offer.
    pub(super) fn is_offered_by(&self, offer: &Offer) -> bool {
        self.runs().all(|(_, run)| run.returned.is_some() || offer.has(Offered::Tool(run.tool)))
    }

    /// Whether what runs is what the model asked for, or what a person made of it.
    pub(super) fn is_as_called(&self, setup: &Setup, state: &State) -> bool {
        let refused = |gated: &Gated| match &gated.fate {
            Fate::Refused { tool: Some(tool), .. } => setup.graph.tool_id(*tool) == *gated.call.name,
            _ => true,
        };
        self.calls.iter().all(refused)
            && self.runs().all(|(gated, run)| {
                let named = setup.graph.tool_id(run.tool) == *gated.call.name;
                named
                    && match run.changed() {
                        Some(changed) => *changed == run.arguments,
                        None => arguments::read(&gated.call, parameters(setup, state, run.tool))
                            .is_ok_and(|called| called == run.arguments),
                    }
            })
    }

    /// Whether every question is one that was asked about this call.
    pub(super) fn asks_as_asked(&self, setup: &Setup, state: &State) -> bool {
        self.runs().all(|(gated, run)| match &run.asked {
            None => !run.is_pending() || !matches!(state.phase, Phase::Pause(_)),
            Some(asked) => {
                let question = question(setup, state, gated, run, asked.question);
                state.numbering.has_asked(asked.question) && question.fingerprint == asked.fingerprint
            }
        })
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
    pub(super) fn gate(setup: &Setup, state: &State, offer: &Offer, reply: &ModelReply) -> Self {
        let graph = &setup.graph;
        let last = reply.calls.len().saturating_sub(1);
        // The same for all of them, and long where much is offered: made once.
        let names = LazyCell::new(|| words::offered_names(&offer.names(graph)));
        let gated = reply.calls.iter().enumerate().map(|(at, call)| {
            let refused = |reason, text| Fate::Refused { reason, text, tool: None };
            let name = &call.name;
            let fate = if reply.stop == StopReason::Refusal {
                refused(CallRefusal::ModelDeclined, words::declined(name))
            } else if at >= MOST_CALLS {
                refused(CallRefusal::TooMany, words::too_many_calls(name, MOST_CALLS))
            } else if reply.stop == StopReason::MaxTokens && at == last {
                refused(CallRefusal::CutOff, words::cut_off(name))
            } else {
                match offer.find(graph, name) {
                    Some(offered) => admit(setup, state, offered, call),
                    None => refused(CallRefusal::NotOffered, words::not_offered(name, &names)),
                }
            };
            Gated { call: call.clone(), fate }
        });
        let mut batch = Self { calls: gated.collect() };
        batch.tell_step_from_skip(graph, state);
        batch
    }

    /// A step is taken or skipped, never both: of `skip_step` and the tool of its step the first in call order counts.
    // SPEC 7.
    fn tell_step_from_skip(&mut self, graph: &Graph, state: &State) {
        let Some(procedure) = &state.procedure else { return };
        let Some(step) = procedure.current(graph) else { return };
        let (mut called, mut skipped) = (false, false);
        for gated in &mut self.calls {
            match &mut gated.fate {
                Fate::Skip { reason, refused } => {
                    *refused = match (is_blank(reason), called, skipped) {
                        (true, ..) => Some(SkipRefusal::NoReason),
                        (_, true, _) => Some(SkipRefusal::StepCalled),
                        (.., true) => Some(SkipRefusal::SkippedAlready),
                        _ => None,
                    };
                    skipped |= refused.is_none();
                }
                Fate::Run(run) if run.tool == step.tool => {
                    if skipped && procedure.on_skip(graph) == OnSkip::Advance {
                        let text = words::step_is_skipped(&gated.call.name);
                        gated.fate = Fate::Refused { reason: CallRefusal::StepSkipped, text, tool: None };
                    } else {
                        called = true;
                    }
                }
                _ => {}
            }
        }
    }

    /// The tools that the host has yet to run, in call order.
    pub(super) fn open_runs(&self, graph: &Graph, numbering: &Numbering) -> Vec<ToolRun> {
        let open = self.runs().filter(|(_, run)| run.returned.is_none());
        let run = |(gated, run): (&Gated, &Run)| ToolRun {
            call_id: gated.call.id.clone(),
            idempotency_key: numbering.key_of(&gated.call.id),
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

    /// What tools ask a person, in call order. Those that have no number yet get one from `number`.
    pub(super) fn questions(&self, setup: &Setup, state: &State) -> Vec<Question> {
        let pending = self.runs().filter(|(_, run)| run.is_pending());
        let questions = pending.filter_map(|(gated, run)| {
            let number = run.asked.as_ref()?.question;
            Some(question(setup, state, gated, run, number))
        });
        questions.collect()
    }

    /// Numbers the questions that have been asked and have no number yet.
    pub(super) fn number_questions(&mut self, setup: &Setup, state: &State, numbering: &mut Numbering) {
        for gated in &mut self.calls {
            let Gated { call, fate: Fate::Run(run) } = gated else { continue };
            if !run.is_pending() || run.asked.is_some() {
                continue;
            }
            let number = numbering.next_question();
            let gated = Gated { call: call.clone(), fate: Fate::List };
            let Question { fingerprint, .. } = question(setup, state, &gated, run, number);
            run.asked = Some(Asked { question: number, fingerprint });
        }
    }

    /// Refuses what has yet to run and is not offered. Returns those calls, each with what is said of it.
    pub(super) fn withhold(&mut self, graph: &Graph, offer: &Offer) -> Vec<(ToolCall, String)> {
        let mut withheld = Vec::new();
        for gated in &mut self.calls {
            let Fate::Run(run) = &gated.fate else { continue };
            if run.returned.is_none() && !offer.has(Offered::Tool(run.tool)) {
                let text = words::not_offered(&gated.call.name, &words::offered_names(&offer.names(graph)));
                withheld.push((gated.call.clone(), text.clone()));
                gated.fate = Fate::Refused { reason: CallRefusal::NotOffered, text, tool: None };
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

    /// The call that waits for the answer to that question, and its run.
    pub(super) fn asked(&mut self, question: u64) -> Option<(&ToolCall, &mut Run)> {
        self.calls.iter_mut().find_map(|gated| match &mut gated.fate {
            Fate::Run(run)
                if run.is_pending() && run.asked.as_ref().is_some_and(|asked| asked.question == question) =>
            {
                Some((&gated.call, &mut **run))
            }
            _ => None,
        })
    }
}

/// How many calls of one message are looked at; the rest is refused.
const MOST_CALLS: usize = 128;

/// The schema of a tool's arguments.
pub(super) fn parameters<'a>(setup: &'a Setup, state: &'a State, tool: ToolIx) -> Option<&'a Value> {
    let own = setup.tools.get(tool.position()).map(|spec| &spec.parameters);
    own.or_else(|| state.catalog.tool(setup.graph.tool_id(tool).as_str()).map(|tool| &tool.spec.parameters))
}

fn question(setup: &Setup, state: &State, gated: &Gated, run: &Run, number: u64) -> Question {
    let tool = setup.graph.tool_id(run.tool);
    let asked = run.returned.as_ref().map_or("", |returned| &returned.text);
    let text = match is_blank(asked) {
        true => words::may_it_run(tool.as_str(), &run.arguments),
        false => asked.to_owned(),
    };
    Question::new(state.numbering.conversation(), number, gated.call.id.clone(), tool, run.arguments.clone(), text)
}

/// A call of something that was offered: its arguments decide.
fn admit(setup: &Setup, state: &State, offered: Offered, call: &ToolCall) -> Fate {
    let schema = match offered {
        Offered::Tool(tool) => parameters(setup, state, tool),
        _ => None,
    };
    let arguments = match arguments::read(call, schema) {
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
            let run = Run { tool, arguments, changed: None, started: false, returned: None, asked: None, answer: None };
            Fate::Run(Box::new(run))
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
        Offered::SkipStep => {
            let reason = text_field("reason").unwrap_or_default().trim().to_owned();
            Fate::Skip { reason, refused: None }
        }
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
