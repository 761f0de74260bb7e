//! What the model is offered (SPEC 5): rebuilt every iteration from the decision, never appended to.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::redact::shown;
use super::state::State;
use super::{ModelRequest, Setup, ToolSpec, words};
use crate::decl::ToolId;
use crate::graph::{Graph, ToolIx};

/// The tool that picks a skill.
pub(super) const READ_SKILL: &str = "read_skill";
/// The tool that lists the skills.
pub(super) const LIST_SKILLS: &str = "list_skills";
/// The tool that skips a step.
pub(super) const SKIP_STEP: &str = "skip_step";

/// The tools of one request, in order, each once. The gate admits what stands here and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Offer(Vec<Offered>);

/// One tool of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Offered {
    Tool(ToolIx),
    ReadSkill,
    ListSkills,
    SkipStep,
}

impl Offer {
    /// Constant tools, the open skill's, those of skills opened beside it, then navigation (SPEC 5.2).
    pub(super) fn of(graph: &Graph, state: &State) -> Self {
        let own = state.cursor.and_then(|cursor| graph.skill(cursor)).map_or(&[][..], |skill| &skill.tools);
        let opened = || state.opened.iter().filter_map(|skill| graph.skill(*skill)).flat_map(|skill| &skill.tools);
        let constant = graph.constant_tools_without(&state.hidden);
        let held_out = |tool: &ToolIx| {
            let elsewhere = constant.contains(tool) || opened().any(|opened| opened == tool);
            !elsewhere && state.procedure.as_ref().is_some_and(|procedure| procedure.holds_out(graph, *tool))
        };
        let mut seen = std::collections::HashSet::new();
        let tools = constant.iter().chain(own).chain(opened());
        let mut offer: Vec<Offered> = tools
            .filter(|tool| !held_out(tool))
            .filter(|tool| seen.insert(**tool))
            .map(|tool| Offered::Tool(*tool))
            .collect();
        // A menu can be answered, even where it names the only skill that there is to see.
        if graph.visible(&state.hidden).nth(1).is_some() || state.menu.is_some() {
            offer.extend([Offered::ReadSkill, Offered::ListSkills]);
        }
        if state.procedure.as_ref().is_some_and(|procedure| procedure.current(graph).is_some()) {
            offer.push(Offered::SkipStep);
        }
        Self(offer)
    }

    /// The offered tool of that name.
    pub(super) fn find(&self, graph: &Graph, name: &str) -> Option<Offered> {
        let wanted = match name {
            READ_SKILL => Offered::ReadSkill,
            LIST_SKILLS => Offered::ListSkills,
            SKIP_STEP => Offered::SkipStep,
            _ => Offered::Tool(graph.find_tool(name)?),
        };
        self.has(wanted).then_some(wanted)
    }

    /// Whether that stands in it.
    pub(super) fn has(&self, offered: Offered) -> bool {
        self.0.contains(&offered)
    }

    /// The names, in order.
    pub(super) fn names(&self, graph: &Graph) -> Vec<ToolId> {
        self.0.iter().map(|offered| offered.name(graph)).collect()
    }

    /// The request that makes this offer.
    pub(super) fn request(&self, setup: &Setup, state: &State) -> ModelRequest {
        ModelRequest {
            iteration: state.iteration,
            model: state.watch.model.clone(),
            system: words::system_prompt(setup, state),
            messages: shown(&state.transcript, &setup.graph, &state.hidden),
            tools: self.0.iter().filter_map(|offered| offered.spec(setup, state)).collect(),
        }
    }
}

impl Offered {
    fn name(self, graph: &Graph) -> ToolId {
        match self {
            Offered::Tool(tool) => graph.tool_id(tool),
            Offered::ReadSkill => ToolId::from_static(READ_SKILL),
            Offered::ListSkills => ToolId::from_static(LIST_SKILLS),
            Offered::SkipStep => ToolId::from_static(SKIP_STEP),
        }
    }

    fn spec(self, setup: &Setup, state: &State) -> Option<Arc<ToolSpec>> {
        let graph = &setup.graph;
        let navigation = |description: String, parameters: Value| {
            Some(Arc::new(ToolSpec { name: self.name(graph), description, parameters }))
        };
        match self {
            Offered::Tool(tool) => {
                let spec = setup.tools.get(tool.position())?;
                let banner = state.procedure.as_ref().and_then(|procedure| {
                    let step = procedure.current(graph).filter(|step| step.tool == tool)?;
                    Some(words::step_banner(procedure, step, graph))
                });
                let Some(banner) = banner else { return Some(spec.clone()) };
                Some(Arc::new(ToolSpec {
                    description: format!("{banner} {}", spec.description),
                    ..ToolSpec::clone(spec)
                }))
            }
            Offered::ReadSkill => {
                let ids: Vec<&str> = graph.visible(&state.hidden).map(|(_, skill)| skill.id.as_str()).collect();
                navigation(
                    words::read_skill_description(setup, state),
                    json!({
                        "type": "object",
                        "properties": { "id": { "type": "string", "enum": ids, "description": "the id of the skill" } },
                        "required": ["id"],
                        "additionalProperties": false,
                    }),
                )
            }
            Offered::ListSkills => navigation(
                words::LIST_SKILLS_DESCRIPTION.to_owned(),
                json!({ "type": "object", "properties": {}, "additionalProperties": false }),
            ),
            Offered::SkipStep => navigation(
                words::skip_step_description(state.procedure.as_ref()?, graph),
                json!({
                    "type": "object",
                    "properties": { "reason": { "type": "string", "description": "why the step is not needed" } },
                    "required": ["reason"],
                    "additionalProperties": false,
                }),
            ),
        }
    }
}
