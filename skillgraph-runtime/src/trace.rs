//! What `tracing` is told: spans with the attribute names of OpenTelemetry's GenAI conventions, events named
//! `skillgraph.*`. Nothing is exported from here, and without the feature `tracing` nothing is done.
//!
//! What was said and what tools were given and returned is left out, unless the agent was built with `trace_content`.
// SPEC 14.4.

#[cfg(not(feature = "tracing"))]
pub(crate) use off::*;
#[cfg(feature = "tracing")]
pub(crate) use on::*;

#[cfg(feature = "tracing")]
mod on {
    use std::sync::Arc;

    use skillgraph_core::turn::{Event, ModelReply, ModelRequest, StopReason, ToolReturn, ToolRun, ToolSpec};
    pub(crate) use tracing::Span;

    use crate::model::ModelError;
    use tracing::field::{Empty, display};
    use tracing::{Instrument, debug_span, info_span};

    /// The tools of the turn machine that name a skill, with the argument that does.
    const NAMES_A_SKILL: [(&str, &str); 3] = [("read_skill", "id"), ("open_skill", "key"), ("bind_skill_tools", "key")];

    /// The future, inside of the span.
    pub(crate) fn inside<F: Future>(span: Span, future: F) -> impl Future<Output = F::Output> {
        future.instrument(span)
    }

    /// One turn.
    pub(crate) fn turn(graph: &str, conversation: Option<&str>) -> Span {
        info_span!(
            target: "skillgraph",
            "invoke_agent",
            gen_ai.operation.name = "invoke_agent",
            gen_ai.agent.name = graph,
            gen_ai.conversation.id = conversation,
        )
    }

    /// One model call.
    pub(crate) fn chat(model: Option<&str>, request: &ModelRequest, content: bool) -> Span {
        let span = info_span!(
            target: "skillgraph",
            "chat",
            gen_ai.operation.name = "chat",
            gen_ai.request.model = request.model.as_deref().or(model),
            gen_ai.response.finish_reasons = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.system_instructions = Empty,
            gen_ai.input.messages = Empty,
            gen_ai.output.messages = Empty,
            error.type = Empty,
            error.message = Empty,
            skillgraph.iteration = request.iteration,
        );
        if content && !span.is_disabled() {
            span.record("gen_ai.system_instructions", &request.system);
            span.record("gen_ai.input.messages", serde_json::to_string(&request.messages).unwrap_or_default());
        }
        span
    }

    /// The skills that a request names: where `read_skill` lists them.
    pub(crate) struct Skills(Option<Arc<ToolSpec>>);

    pub(crate) fn skills(request: &ModelRequest) -> Skills {
        Skills(request.tools.iter().find(|tool| tool.name == *"read_skill").cloned())
    }

    impl Skills {
        fn has(&self, id: &str) -> bool {
            let ids = self.0.as_ref().and_then(|tool| tool.parameters.pointer("/properties/id/enum")?.as_array());
            ids.is_some_and(|ids| ids.iter().any(|known| known == id))
        }
    }

    /// Whether it could be the id that a provider gave, and holds no words.
    fn is_plain(id: &str) -> bool {
        id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    }

    /// What the model said, on the span of its call; and a span for each call of the machine's own tools, which run at once.
    pub(crate) fn replied(span: &Span, reply: &ModelReply, offered: &Skills, content: bool) {
        let reason = match &reply.stop {
            StopReason::EndTurn => "stop",
            StopReason::ToolCalls => "tool_calls",
            StopReason::MaxTokens => "length",
            StopReason::Refusal => "content_filter",
            // In a provider's own words, which may be anybody's.
            StopReason::Other(reason) if content => reason,
            _ => "other",
        };
        span.record("gen_ai.response.finish_reasons", reason);
        if let Some(usage) = &reply.usage {
            span.record("gen_ai.usage.input_tokens", usage.input_tokens);
            span.record("gen_ai.usage.output_tokens", usage.output_tokens);
        }
        if content && !span.is_disabled() {
            span.record("gen_ai.output.messages", serde_json::to_string(reply).unwrap_or_default());
        }
        for call in &reply.calls {
            let Some((name, field)) = NAMES_A_SKILL.iter().find(|(name, _)| *name == call.name) else { continue };
            let arguments = call.parsed_arguments().unwrap_or_default();
            // What is no id of a skill is whatever the model wrote.
            let skill = arguments.get(*field).and_then(|skill| skill.as_str());
            let skill = skill.filter(|skill| content || offered.has(skill));
            let id = Some(call.id.as_str()).filter(|id| content || is_plain(id));
            debug_span!(
                target: "skillgraph",
                "execute_tool",
                gen_ai.operation.name = "execute_tool",
                gen_ai.tool.name = name,
                gen_ai.tool.type = "function",
                gen_ai.tool.call.id = id,
                gen_ai.skill.name = skill,
            )
            .in_scope(|| {});
        }
    }

    /// That a model could not be asked: of what kind it was, and with content why.
    pub(crate) fn failed(span: &Span, error: &ModelError, content: bool) {
        span.record("error.type", error.kind().as_str());
        if content {
            span.record("error.message", display(error));
        }
    }

    /// One run of a tool.
    pub(crate) fn tool(run: &ToolRun, content: bool) -> Span {
        let span = info_span!(
            target: "skillgraph",
            "execute_tool",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = run.name.as_str(),
            gen_ai.tool.type = "function",
            gen_ai.tool.call.id = run.call_id,
            gen_ai.tool.call.arguments = Empty,
            gen_ai.tool.call.result = Empty,
            skillgraph.status = Empty,
        );
        if content && !span.is_disabled() {
            span.record("gen_ai.tool.call.arguments", serde_json::to_string(&run.arguments).unwrap_or_default());
        }
        span
    }

    /// What a tool came to.
    pub(crate) fn returned(span: &Span, returned: &ToolReturn, content: bool) {
        span.record("skillgraph.status", display(returned.status));
        if content {
            span.record("gen_ai.tool.call.result", &returned.text);
        }
    }

    /// An event of the turn; what models and tools wrote in it only where content is asked for.
    pub(crate) fn event(event: &Event, content: bool) {
        let said = |text: &str| content.then(|| text.to_owned());
        macro_rules! tell {
            ($name:literal $(, $($field:tt)*)?) => {
                tracing::event!(name: $name, target: "skillgraph", tracing::Level::DEBUG, { $($($field)*)? })
            };
        }
        match event {
            Event::TurnStarted { graph } => tell!("skillgraph.turn_started", graph),
            Event::SkillsHidden { iteration, skills } => {
                tell!("skillgraph.skills_hidden", iteration, count = skills.len())
            }
            Event::TurnMigrated { iteration, dropped } => {
                tell!("skillgraph.turn_migrated", iteration, dropped = listed(dropped))
            }
            Event::TurnRouted(routed) => tell!(
                "skillgraph.turn_routed",
                from = routed.from.as_ref().map(display),
                to = routed.to.as_ref().map(display),
                by = %routed.by,
                decisive = routed.decisive
            ),
            Event::CursorDecided(decided) => tell!(
                "skillgraph.cursor_decided",
                iteration = decided.iteration,
                from = decided.from.as_ref().map(display),
                to = decided.to.as_ref().map(display),
                by = %decided.by
            ),
            Event::SkillActivated { iteration, skill } => {
                tell!("skillgraph.skill_activated", iteration, gen_ai.skill.name = %skill)
            }
            Event::SkillDeactivated { iteration, skill } => {
                tell!("skillgraph.skill_deactivated", iteration, gen_ai.skill.name = %skill)
            }
            Event::Offered { iteration, tools, reachable } => {
                tell!("skillgraph.offered", iteration, tools = listed(tools), reachable = listed(reachable))
            }
            Event::ModelReplied { iteration, calls, .. } => tell!("skillgraph.model_replied", iteration, calls),
            Event::CallRefused { iteration, call_id, reason, .. } => {
                tell!("skillgraph.call_refused", iteration, gen_ai.tool.call.id = call_id, reason = ?reason)
            }
            Event::PickRejected { iteration, requested, cursor, allowed, reason } => tell!(
                "skillgraph.pick_rejected",
                iteration,
                requested = said(requested),
                cursor = cursor.as_ref().map(display),
                allowed = listed(allowed),
                reason = ?reason
            ),
            Event::SkillOpened { iteration, skill } => {
                tell!("skillgraph.skill_opened", iteration, gen_ai.skill.name = %skill)
            }
            Event::BodyGiven { iteration, skill } => {
                tell!("skillgraph.body_given", iteration, gen_ai.skill.name = %skill)
            }
            Event::CatalogUnavailable { iteration, key, .. } => {
                tell!("skillgraph.catalog_unavailable", iteration, gen_ai.skill.name = key)
            }
            Event::CatalogOpened { iteration, key, bound, not_bound, .. } => tell!(
                "skillgraph.catalog_opened",
                iteration,
                gen_ai.skill.name = key,
                bound = bound.len(),
                not_bound = not_bound.len()
            ),
            Event::CatalogBound { iteration, key, bound, not_bound } => tell!(
                "skillgraph.catalog_bound",
                iteration,
                gen_ai.skill.name = key,
                bound = bound.len(),
                not_bound = not_bound.len()
            ),
            Event::CatalogRefused { iteration, key, .. } => {
                tell!("skillgraph.catalog_refused", iteration, gen_ai.skill.name = said(key))
            }
            Event::CatalogClosed { iteration, key, reason } => {
                tell!("skillgraph.catalog_closed", iteration, gen_ai.skill.name = key, reason = ?reason)
            }
            Event::CatalogSearched { iteration, found, keys, .. } => {
                tell!("skillgraph.catalog_searched", iteration, found, shown = keys.len())
            }
            Event::ToolStarted { iteration, call_id, tool, .. } => tell!(
                "skillgraph.tool_started",
                iteration,
                gen_ai.tool.name = %tool,
                gen_ai.tool.call.id = call_id
            ),
            Event::ToolReturned { iteration, call_id, tool, status, .. } => tell!(
                "skillgraph.tool_returned",
                iteration,
                gen_ai.tool.name = %tool,
                gen_ai.tool.call.id = call_id,
                status = %status
            ),
            Event::Paused { iteration, questions } => {
                tell!("skillgraph.paused", iteration, questions = questions.len())
            }
            Event::ModelFailed { iteration, .. } => tell!("skillgraph.model_failed", iteration),
            Event::BlankReply { iteration, asked_again } => {
                tell!("skillgraph.blank_reply", iteration, asked_again)
            }
            Event::SkipRefused { iteration, skill, step, total, why } => tell!(
                "skillgraph.skip_refused",
                iteration,
                skill = %skill,
                step,
                total,
                why = ?why,
            ),
            Event::PersonAnswered { iteration, call_id, tool, .. } => tell!(
                "skillgraph.person_answered",
                iteration,
                gen_ai.tool.name = %tool,
                gen_ai.tool.call.id = call_id
            ),
            Event::StepAdvanced { iteration, skill, step, total, .. } => {
                tell!("skillgraph.step_advanced", iteration, gen_ai.skill.name = %skill, step, total)
            }
            Event::StepSkipped { iteration, skill, step, total, .. } => {
                tell!("skillgraph.step_skipped", iteration, gen_ai.skill.name = %skill, step, total)
            }
            Event::StepsUnfinished { iteration, skill, remaining, total, action } => tell!(
                "skillgraph.steps_unfinished",
                iteration,
                gen_ai.skill.name = %skill,
                remaining = remaining.len(),
                total,
                action = ?action
            ),
            Event::RouteConflict { iteration, from, winner, losers } => tell!(
                "skillgraph.route_conflict",
                iteration,
                from = %from,
                winner = %winner.target,
                losers = losers.len()
            ),
            Event::RerouteSuperseded { iteration, requested, won, source } => tell!(
                "skillgraph.reroute_superseded",
                iteration,
                requested = %requested,
                won = won.as_ref().map(display),
                source = ?source
            ),
            Event::GovernorTripped { iteration, action, .. } => {
                tell!("skillgraph.governor_tripped", iteration, action = ?action)
            }
            Event::ProposalRefused { iteration, tool, requested, reason } => tell!(
                "skillgraph.proposal_refused",
                iteration,
                gen_ai.tool.name = %tool,
                requested = said(requested),
                reason = ?reason
            ),
            Event::TestPanicked { iteration, test } => tell!("skillgraph.test_panicked", iteration, test),
            Event::TurnEnded { iterations, outcome } => {
                tell!("skillgraph.turn_ended", iterations, outcome = outcome.name())
            }
            _ => tell!("skillgraph.event"),
        }
    }

    fn listed(names: &[impl ToString]) -> String {
        names.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }
}

#[cfg(not(feature = "tracing"))]
mod off {
    use skillgraph_core::turn::{Event, ModelReply, ModelRequest, ToolReturn, ToolRun};

    use crate::model::ModelError;

    /// Nothing.
    #[derive(Clone)]
    pub(crate) struct Span;

    pub(crate) fn inside<F: Future>(_: Span, future: F) -> F {
        future
    }

    pub(crate) fn turn(_: &str, _: Option<&str>) -> Span {
        Span
    }

    pub(crate) fn chat(_: Option<&str>, _: &ModelRequest, _: bool) -> Span {
        Span
    }

    /// Nothing.
    pub(crate) struct Skills;

    pub(crate) fn skills(_: &ModelRequest) -> Skills {
        Skills
    }

    pub(crate) fn replied(_: &Span, _: &ModelReply, _: &Skills, _: bool) {}

    pub(crate) fn failed(_: &Span, _: &ModelError, _: bool) {}

    pub(crate) fn tool(_: &ToolRun, _: bool) -> Span {
        Span
    }

    pub(crate) fn returned(_: &Span, _: &ToolReturn, _: bool) {}

    pub(crate) fn event(_: &Event, _: bool) {}
}
