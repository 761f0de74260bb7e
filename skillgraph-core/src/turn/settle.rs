//! What a finished batch comes to: results in call order, the evidence for the next decision, the words for the model.
//!
//! The words come last, because they tell the truth about the decision: a pick that lost is not called open.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::dispatch::{Batch, Fate};
use super::machine::Turn;
use super::start::{Strictness, hops, reachable};
use super::wire::{wire_name, wire_text};
use super::{
    CallRefusal, Event, Message, PersonReply, PickRefusal, ProposalRefusal, Suggestion, ToolCall, ToolMessage, words,
};
use crate::decide::{Cause, CursorMove, Evidence};
use crate::decl::{OnSkip, Status, ToolId};
use crate::graph::{EdgeEvidence, SkillIx, ToolIx, ToolResult};

/// A tool that the host is to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRun {
    /// The model's id for the call; the answer carries it.
    pub call_id: String,
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

/// A tool's wish that another skill open next (SPEC 3.2).
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
    Said { text: String, status: Option<Status> },
    /// A tool of the current step: the text ends with where the procedure stands.
    Step { text: String, status: Status },
    /// A pick that could move the cursor.
    Hop { target: SkillIx },
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
                Fate::List => Answer::Said {
                    text: words::skill_list(&self.setup.graph, &self.state.hidden),
                    status: Some(Status::Success),
                },
                Fate::Skip { reason } => self.take_skip(&reason, &mut settlement),
                // It was answered before anything ran.
                Fate::Catalog(_) => {
                    Answer::Said { text: words::interrupted(&gated.call.name), status: Some(Status::Failure) }
                }
                Fate::Run(run) => {
                    let returned = run.returned.unwrap_or_else(|| interrupted(&gated.call));
                    self.take_return(run.tool, returned, &mut settlement)
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
        Answer::Said { text, status }
    }

    fn take_pick(&mut self, requested: &str, settlement: &mut Settlement) -> Answer {
        let graph = self.setup.graph.clone();
        let cursor = self.state.cursor;
        let said = |text| Answer::Said { text, status: Some(Status::Success) };
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
            return said(text);
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
            None => text,
        };
        self.watch_refusal();
        let iteration = self.state.iteration;
        self.emit(Event::PickRejected { iteration, requested: requested.to_owned(), cursor, allowed, reason });
        let status = if here { Status::Success } else { Status::Invalid };
        Answer::Said { text, status: Some(status) }
    }

    fn take_skip(&mut self, reason: &str, settlement: &mut Settlement) -> Answer {
        let said = |text: String, status| Answer::Said { text, status: Some(status) };
        if reason.is_empty() {
            return said(words::SKIP_NEEDS_REASON.to_owned(), Status::Invalid);
        }
        if settlement.step_moved {
            return said(words::SKIP_ONE_A_MESSAGE.to_owned(), Status::Invalid);
        }
        let graph = self.setup.graph.clone();
        // Offered only while a step is current, and the pointer has not moved in this batch.
        let Some(mut procedure) = self.state.procedure.clone() else {
            return said(words::SKIP_ONE_A_MESSAGE.to_owned(), Status::Invalid);
        };
        let policy = procedure.on_skip(&graph);
        let event = Event::StepSkipped {
            iteration: self.state.iteration,
            skill: graph.skill_id(procedure.skill()),
            step: procedure.step(),
            total: procedure.total(&graph),
            reason: reason.to_owned(),
            policy,
        };
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
        said(text, Status::Success)
    }

    /// A result as it may be shown: never longer than the ceiling, never without words.
    pub(super) fn sealed(&self, name: &str, mut returned: ToolReturn) -> ToolReturn {
        let ceiling = self.setup.limits.result_characters;
        let characters = returned.text.chars().count();
        if characters > ceiling {
            let text = words::over_ceiling(name, characters, ceiling);
            return ToolReturn::message(returned.call_id, Status::Invalid, text);
        }
        if returned.text.is_empty() {
            returned.text = format!("({})", returned.status);
        }
        returned
    }

    fn take_return(&mut self, tool: ToolIx, returned: ToolReturn, settlement: &mut Settlement) -> Answer {
        let name = self.setup.graph.tool_id(tool);
        let returned = self.sealed(name.as_str(), returned);
        let iteration = self.state.iteration;
        let (call_id, status) = (returned.call_id.clone(), returned.status);
        self.emit(Event::ToolReturned { iteration, call_id: call_id.clone(), tool: name.clone(), status });
        if let Some(proposal) = returned.proposal {
            self.take_proposal(&name, &proposal, settlement);
        }
        let step_taken = self.step_before(settlement) == Some(tool);
        if step_taken && status.is_done() && !settlement.step_moved {
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
        if step_taken {
            Answer::Step { text: returned.text, status }
        } else {
            Answer::Said { text: returned.text, status: Some(status) }
        }
    }

    /// The tool of the step that was current when the batch was offered.
    fn step_before(&self, settlement: &Settlement) -> Option<ToolIx> {
        let graph = &self.setup.graph;
        let procedure = self.state.procedure.as_ref()?;
        if settlement.step_moved {
            return procedure.previous(graph).map(|step| step.tool);
        }
        procedure.current(graph).map(|step| step.tool)
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
        } else if proposal.reason.trim().is_empty() {
            Err(ProposalRefusal::NoReason)
        } else {
            Ok(target)
        }
    }

    /// Writes the results of a batch into the transcript. `decision` is the one that the batch led to; none where the
    /// turn ends here.
    pub(super) fn answer(&mut self, settlement: Settlement, decision: Option<&CursorMove>) {
        let results = settlement.lines.into_iter().map(|line| {
            let (text, status) = match line.answer {
                Answer::Said { text, status } => (text, status),
                Answer::Step { text, status } => (self.step_text(text, status, decision), Some(status)),
                Answer::Hop { target } => (self.hop_text(target, decision), Some(Status::Success)),
            };
            ToolMessage { call_id: line.call.id, name: wire_name(&line.call.name), text: wire_text(&text), status }
        });
        let results = results.collect();
        self.state.transcript.push(Message::ToolResults { results });
    }

    fn step_text(&self, text: String, status: Status, decision: Option<&CursorMove>) -> String {
        let left = decision.is_some_and(|decision| decision.from != decision.to);
        let Some(procedure) = self.state.procedure.as_ref().filter(|_| !left) else { return text };
        let graph = &self.setup.graph;
        let standing = match procedure.current(graph) {
            Some(step) if !status.is_done() => words::standing_still(procedure, step, status, graph),
            _ => words::standing(procedure, graph),
        };
        format!("{text}\n\n{standing}")
    }

    fn hop_text(&self, target: SkillIx, decision: Option<&CursorMove>) -> String {
        let graph = &self.setup.graph;
        let id = graph.skill_id(target);
        match (decision, graph.skill(target)) {
            (None, _) | (_, None) => words::pick_too_late(&id),
            (Some(decision), Some(skill)) if decision.to == Some(target) => {
                words::pick_opened(skill, self.state.procedure.as_ref(), graph)
            }
            (Some(decision), _) => {
                let won = decision.to.map(|won| graph.skill_id(won));
                words::pick_superseded(&id, won.as_ref(), decision.by)
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
