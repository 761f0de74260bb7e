//! What a finished batch comes to: results in call order, the evidence for the next decision, the words for the model.
//!
//! The words come last, because they tell the truth about the decision: a pick that lost is not called open.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::dispatch::{Batch, Fate};
use super::machine::Turn;
use super::message::Spoken;
use super::start::{Strictness, hops, reachable};
use super::{
    CallRefusal, Event, Message, PersonReply, PickRefusal, ProposalRefusal, SkipRefusal, Suggestion, ToolCall, words,
};
use crate::decide::{Cause, CursorMove, Evidence};
use crate::decl::{OnSkip, Status, ToolId};
use crate::graph::{EdgeEvidence, SkillIx, ToolIx, ToolResult};
use crate::text::is_blank;

/// A tool that the host is to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRun {
    /// The id of the call; the answer carries it.
    pub call_id: String,
    /// What the tool may know the call by: the same whenever it is run again after a restore, and that of no other call.
    pub idempotency_key: String,
    /// The tool, by position in the registry.
    pub tool: ToolIx,
    /// The tool's name.
    pub name: ToolId,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// What a person said to the tool's question, where it has asked one: it runs once more, with this.
    pub answer: Option<PersonReply>,
}

/// What running a tool came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolReturn {
    /// The call that it answers.
    pub call_id: String,
    /// What became of it.
    pub status: Status,
    /// What the tool returned, for edges; null where it returned nothing.
    pub value: Value,
    /// What the model reads.
    pub text: String,
    /// What edges learnt of the typed output.
    pub typed: Vec<EdgeEvidence>,
    /// Where the tool would go next.
    pub proposal: Option<Proposal>,
}

impl ToolReturn {
    /// A result that the model reads as JSON; a string is read as it is.
    pub fn new(call_id: impl Into<String>, status: Status, value: Value) -> Self {
        let text = match &value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Self { call_id: call_id.into(), status, value, text, typed: Vec::new(), proposal: None }
    }

    /// A result that is nothing but words.
    pub fn message(call_id: impl Into<String>, status: Status, text: impl Into<String>) -> Self {
        Self {
            call_id: call_id.into(),
            status,
            value: Value::Null,
            text: text.into(),
            typed: Vec::new(),
            proposal: None,
        }
    }
}

/// A tool's wish that another skill open next.
// SPEC 3.2.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The skill's id.
    pub skill: String,
    /// Why.
    pub reason: String,
}

/// A batch on its way to its words.
#[derive(Default)]
pub(super) struct Settlement {
    results: Vec<ToolResult>,
    pick: Option<SkillIx>,
    /// The first admissible proposal, with the tool's reason.
    proposal: Option<(SkillIx, String)>,
    lines: Vec<Line>,
    /// Admissible picks and proposals, in call order.
    suggestions: Vec<(SkillIx, Suggestion)>,
    /// The pointer has moved: it moves once a batch.
    step_moved: bool,
}

/// The answer to one call.
struct Line {
    call: ToolCall,
    answer: Answer,
}

enum Answer {
    /// Nothing about it depends on the decision.
    Said { text: Spoken, status: Option<Status> },
    /// A tool of the step that was current: the text ends with what became of that step.
    Step { text: Spoken, status: Status, step: usize, took_it: bool },
    /// A pick that could move the cursor.
    Hop { target: SkillIx },
}

impl Answer {
    fn framework(text: impl Into<String>, status: Status) -> Self {
        Answer::Said { text: Spoken::by_framework(text), status: Some(status) }
    }
}

/// Why a turn ends with a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// At the cap.
    Cap,
    /// The governor stopped it.
    Stopped,
    /// The model declined in the same message.
    Declined,
    /// The host ended it: what has not returned is not waited for.
    Cancelled,
}

impl Turn {
    /// Takes in a finished batch: evidence, steps, picks and proposals, in call order.
    pub(super) fn take_in(&mut self, batch: Batch) -> Settlement {
        let mut settlement = Settlement::default();
        for gated in batch.calls {
            let answer = match gated.fate {
                Fate::Refused { reason, text, tool } => {
                    self.take_refusal(&gated.call, reason, text, tool, &mut settlement)
                }
                Fate::Said { text, status } => Answer::Said { text, status: Some(status) },
                Fate::Pick { requested } => self.take_pick(&requested, &mut settlement),
                Fate::List => {
                    Answer::framework(words::skill_list(&self.setup.graph, &self.state.hidden), Status::Success)
                }
                Fate::Skip { reason, refused } => self.take_skip(&reason, refused, &mut settlement),
                // It was answered before anything ran.
                Fate::Catalog(_) => Answer::framework(words::interrupted(&gated.call.name), Status::Failure),
                Fate::Run(run) => {
                    let changed = run.changed().cloned();
                    let returned = run.returned.unwrap_or_else(|| interrupted(&gated.call));
                    self.take_return(run.tool, returned, changed.as_ref(), &mut settlement)
                }
            };
            settlement.lines.push(Line { call: gated.call, answer });
        }
        settlement
    }

    /// Takes in a batch that nobody waits for any more: what has returned counts, the rest is answered and is no evidence.
    pub(super) fn take_in_cancelled(&mut self, batch: Batch) -> Settlement {
        let mut settlement = Settlement::default();
        for gated in batch.calls {
            let interrupted = || Answer::framework(words::interrupted(&gated.call.name), Status::Failure);
            let answer = match gated.fate {
                Fate::Refused { reason, text, tool } => {
                    self.take_refusal(&gated.call, reason, text, tool, &mut settlement)
                }
                Fate::Said { text, status } => Answer::Said { text, status: Some(status) },
                Fate::Pick { .. } | Fate::List | Fate::Skip { .. } | Fate::Catalog(_) => interrupted(),
                Fate::Run(run) if run.is_pending() => {
                    Answer::framework(words::unanswered(&gated.call.name), Status::Failure)
                }
                Fate::Run(run) => {
                    let changed = run.changed().cloned();
                    match run.returned {
                        Some(returned) => self.take_return(run.tool, returned, changed.as_ref(), &mut settlement),
                        None => interrupted(),
                    }
                }
            };
            settlement.lines.push(Line { call: gated.call, answer });
        }
        settlement
    }

    fn take_refusal(
        &self,
        call: &ToolCall,
        reason: CallRefusal,
        text: String,
        tool: Option<ToolIx>,
        settlement: &mut Settlement,
    ) -> Answer {
        let status = reason.status();
        if let Some((tool, status)) = tool.zip(status) {
            settlement.results.push(ToolResult {
                call_id: call.id.clone(),
                tool: self.setup.graph.tool_id(tool),
                status,
                value: Value::Null,
                tool_ix: tool,
                typed: Vec::new(),
            });
        }
        Answer::Said { text: Spoken::by_framework(text), status }
    }

    fn take_pick(&mut self, requested: &str, settlement: &mut Settlement) -> Answer {
        let graph = self.setup.graph.clone();
        let cursor = self.state.cursor;
        let known = graph.find_skill(requested);
        let found = known.filter(|skill| !self.state.hidden.has(*skill));
        let allowed_hops = hops(&self.setup, &self.state);
        if let Some(target) = found.filter(|target| allowed_hops.contains(target)) {
            settlement.pick.get_or_insert(target);
            settlement.suggestions.push((target, Suggestion::Pick));
            return Answer::Hop { target };
        }
        let here =
            found.is_some() && (found == cursor || found.is_some_and(|skill| self.state.opened.contains(&skill)));
        let beside = found.filter(|skill| !here && graph.is_open(*skill));
        if let Some((skill, opened)) = beside.and_then(|skill| Some((skill, graph.skill(skill)?))) {
            let (id, text) = (opened.id.clone(), words::pick_opened_beside(opened));
            self.state.opened.push(skill);
            let iteration = self.state.iteration;
            self.emit(Event::SkillOpened { iteration, skill: id.clone() });
            self.emit(Event::SkillActivated { iteration, skill: id });
            return Answer::Said { text, status: Some(Status::Success) };
        }
        let reason = match found {
            None if known.is_some() => PickRefusal::Hidden,
            None => PickRefusal::UnknownId,
            Some(_) if here => PickRefusal::AlreadyHere,
            Some(_) if graph.is_tree() => PickRefusal::Tree,
            Some(target) if graph.is_hop(cursor, target) => match self.setup.strictness {
                Strictness::Rails => PickRefusal::Rails,
                _ => PickRefusal::OffMenu,
            },
            Some(target) if graph.has_gate(cursor, target) => PickRefusal::Gated,
            Some(_) => PickRefusal::NotReachable,
        };
        let allowed: Vec<_> =
            reachable(&self.setup, &self.state).into_iter().map(|skill| graph.skill_id(skill)).collect();
        let cursor = cursor.map(|cursor| graph.skill_id(cursor));
        let open_already = found.filter(|_| here).and_then(|skill| graph.skill(skill));
        let text = words::pick_refused(requested, reason, cursor.as_ref(), &allowed);
        let text = match open_already {
            Some(skill) => words::with_body(text, skill),
            None => Spoken::by_framework(text),
        };
        self.watch_refusal();
        let iteration = self.state.iteration;
        self.emit(Event::PickRejected { iteration, requested: requested.to_owned(), cursor, allowed, reason });
        let status = if here { Status::Success } else { Status::Invalid };
        Answer::Said { text, status: Some(status) }
    }

    fn take_skip(&mut self, reason: &str, refused: Option<SkipRefusal>, settlement: &mut Settlement) -> Answer {
        let graph = self.setup.graph.clone();
        // Offered only while a step is current.
        let Some(mut procedure) = self.state.procedure.clone() else {
            return Answer::framework(words::SKIP_ONE_A_MESSAGE, Status::Invalid);
        };
        let (iteration, skill) = (self.state.iteration, graph.skill_id(procedure.skill()));
        let (step, total) = (procedure.step(), procedure.total(&graph));
        let moved = settlement.step_moved.then_some(SkipRefusal::SkippedAlready);
        if let Some(why) = refused.or(moved) {
            self.emit(Event::SkipRefused { iteration, skill, step, total, why });
            return Answer::framework(words::skip_refused(why), Status::Invalid);
        }
        let policy = procedure.on_skip(&graph);
        let event = Event::StepSkipped { iteration, skill, step, total, reason: reason.to_owned(), policy };
        let text = match (policy, procedure.current(&graph)) {
            (OnSkip::Hold, Some(step)) => words::skip_held(&procedure, step, &graph),
            _ => {
                procedure.skip();
                settlement.step_moved = true;
                words::standing(&procedure, &graph)
            }
        };
        self.state.procedure = Some(procedure);
        self.emit(event);
        Answer::framework(text, Status::Success)
    }

    /// A result as it may be shown: at most as long as the ceiling, never without words. What edges, guards and steps read of it
    /// stays whole.
    // SPEC 3.3.
    fn shown_result(&self, returned: &ToolReturn) -> Spoken {
        let ceiling = self.setup.limits.result_characters;
        let text = &returned.text;
        if is_blank(text) {
            return Spoken::by_framework(format!("({})", returned.status));
        }
        match text.char_indices().nth(ceiling) {
            None => Spoken::by_tool(text),
            Some((end, _)) => {
                let shown = text.get(..end).unwrap_or_default();
                Spoken::by_tool(shown).and(&words::cut_result(text.chars().count() - ceiling, ceiling))
            }
        }
    }

    fn take_return(
        &mut self,
        tool: ToolIx,
        returned: ToolReturn,
        changed: Option<&Map<String, Value>>,
        settlement: &mut Settlement,
    ) -> Answer {
        let name = self.setup.graph.tool_id(tool);
        let mut text = self.shown_result(&returned);
        if let Some(arguments) = changed {
            text = text.and(&words::changed_by_person(arguments));
        }
        let iteration = self.state.iteration;
        let (call_id, status) = (returned.call_id.clone(), returned.status);
        let content = self.setup.record_content.then(|| text.text.clone());
        self.emit(Event::ToolReturned {
            iteration,
            call_id: call_id.clone(),
            tool: name.clone(),
            status,
            text: content,
        });
        if let Some(proposal) = returned.proposal {
            self.take_proposal(&name, &proposal, settlement);
        }
        let step = self.step_before(settlement, tool);
        let took_it = step.is_some() && status.is_done() && !settlement.step_moved;
        if took_it {
            settlement.step_moved = true;
            self.advance_step(&name, &call_id);
        }
        settlement.results.push(ToolResult {
            call_id,
            tool: name,
            status,
            value: returned.value,
            tool_ix: tool,
            typed: returned.typed,
        });
        match step {
            Some(step) => Answer::Step { text, status, step, took_it },
            None => Answer::Said { text, status: Some(status) },
        }
    }

    /// The number of the step that was current when the batch was offered, if it is this tool's.
    fn step_before(&self, settlement: &Settlement, tool: ToolIx) -> Option<usize> {
        let graph = &self.setup.graph;
        let procedure = self.state.procedure.as_ref()?;
        let (step, number) = match settlement.step_moved {
            true => (procedure.previous(graph)?, procedure.step() - 1),
            false => (procedure.current(graph)?, procedure.step()),
        };
        (step.tool == tool).then_some(number)
    }

    fn advance_step(&mut self, tool: &ToolId, call_id: &str) {
        let Some(procedure) = &mut self.state.procedure else { return };
        let event = Event::StepAdvanced {
            iteration: self.state.iteration,
            skill: self.setup.graph.skill_id(procedure.skill()),
            step: procedure.step(),
            total: procedure.total(&self.setup.graph),
            tool: tool.clone(),
            call_id: call_id.to_owned(),
        };
        procedure.advance();
        self.emit(event);
    }

    fn take_proposal(&mut self, tool: &ToolId, proposal: &Proposal, settlement: &mut Settlement) {
        match self.admit_proposal(proposal) {
            Ok(target) => {
                settlement.proposal.get_or_insert_with(|| (target, proposal.reason.clone()));
                settlement.suggestions.push((target, Suggestion::Proposal));
            }
            Err(reason) => {
                let (iteration, tool) = (self.state.iteration, tool.clone());
                self.emit(Event::ProposalRefused { iteration, tool, requested: proposal.skill.clone(), reason });
            }
        }
    }

    fn admit_proposal(&self, proposal: &Proposal) -> Result<SkillIx, ProposalRefusal> {
        let graph = &self.setup.graph;
        let target = graph.find_skill(proposal.skill.trim()).ok_or(ProposalRefusal::UnknownId)?;
        if self.state.hidden.has(target) {
            Err(ProposalRefusal::Hidden)
        } else if !graph.is_hop(self.state.cursor, target) {
            Err(ProposalRefusal::NotReachable)
        } else if is_blank(&proposal.reason) {
            Err(ProposalRefusal::NoReason)
        } else {
            Ok(target)
        }
    }

    /// Writes the results of a batch into the transcript. `decision` is the one that the batch led to, `ending` why the turn ends
    /// with it, if it does.
    pub(super) fn answer(&mut self, settlement: Settlement, decision: &CursorMove, ending: Option<Ending>) {
        let results = settlement.lines.into_iter().map(|line| {
            let (text, status) = match line.answer {
                Answer::Said { text, status } => (text, status),
                Answer::Step { text, status, step, took_it } => {
                    let text = match self.step_text(status, step, took_it, decision) {
                        Some(standing) => text.and(&standing),
                        None => text,
                    };
                    (text, Some(status))
                }
                Answer::Hop { target } => (self.hop_text(target, decision, ending), Some(Status::Success)),
            };
            text.into_result(line.call.id, &line.call.name, status)
        });
        let results = results.collect();
        self.state.transcript.push(Message::ToolResults { results });
    }

    /// What became of the step that the call was about. Nothing where its procedure has gone with the cursor.
    fn step_text(&self, status: Status, step: usize, took_it: bool, decision: &CursorMove) -> Option<String> {
        let procedure = self.state.procedure.as_ref().filter(|_| decision.from == decision.to)?;
        let graph = &self.setup.graph;
        Some(match procedure.current(graph) {
            _ if took_it => words::standing(procedure, graph),
            Some(_) if procedure.step() == step => words::standing_still(procedure, step, status, graph),
            // Another call of the same message took it.
            _ => words::taken_already(procedure, step, graph),
        })
    }

    fn hop_text(&self, target: SkillIx, decision: &CursorMove, ending: Option<Ending>) -> Spoken {
        let graph = &self.setup.graph;
        let id = graph.skill_id(target);
        match (graph.skill(target), ending) {
            (Some(_), Some(ending)) if decision.to == Some(target) => {
                Spoken::by_framework(words::pick_as_the_turn_ended(&id, ending))
            }
            (Some(skill), None) if decision.to == Some(target) => {
                words::pick_opened(skill, self.state.procedure.as_ref(), graph)
            }
            _ => {
                let won = decision.to.map(|won| graph.skill_id(won));
                Spoken::by_framework(words::pick_superseded(&id, won.as_ref(), decision.by))
            }
        }
    }
}

impl Settlement {
    /// What the next decision goes by.
    pub(super) fn evidence(&self) -> Evidence<'_> {
        let proposal = self.proposal.as_ref().map(|(target, _)| *target);
        Evidence::Batch { results: &self.results, proposal, pick: self.pick }
    }

    /// The results that the decision read.
    pub(super) fn results(&self) -> &[ToolResult] {
        &self.results
    }

    /// Why the tool proposed what the decision followed.
    pub(super) fn reason(&self, decision: &CursorMove) -> Option<&str> {
        let (_, reason) = self.proposal.as_ref().filter(|_| decision.by == Cause::ToolProposal)?;
        Some(reason)
    }

    /// Admissible picks and proposals that the decision did not follow.
    pub(super) fn superseded<'a>(
        &'a self,
        decision: &'a CursorMove,
    ) -> impl Iterator<Item = (SkillIx, Suggestion)> + 'a {
        self.suggestions.iter().copied().filter(|(target, _)| Some(*target) != decision.to)
    }
}

/// The result of a call that nobody waits for any more.
pub(super) fn interrupted(call: &ToolCall) -> ToolReturn {
    ToolReturn::message(&call.id, Status::Failure, words::interrupted(&call.name))
}
