//! What the model is offered: rebuilt every iteration from the decision, never appended to.
// SPEC 5.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::redact::shown;
use super::start::reachable;
use super::state::State;
use super::{ModelRequest, Setup, Strictness, ToolSpec, words};
use crate::catalog::{Disclosure, SEARCH_LIMIT};
use crate::decl::ToolId;
use crate::graph::{Graph, ToolIx};

/// The tool that picks a skill.
pub(super) const READ_SKILL: &str = "read_skill";
/// The tool that lists the skills.
pub(super) const LIST_SKILLS: &str = "list_skills";
/// The tool that skips a step.
pub(super) const SKIP_STEP: &str = "skip_step";
/// The tool that opens a skill of the catalog.
pub(super) const OPEN_SKILL: &str = "open_skill";
/// The tool that binds tools of one.
pub(super) const BIND_SKILL_TOOLS: &str = "bind_skill_tools";
/// The tool that finds some.
pub(super) const SEARCH_SKILLS: &str = "search_skills";

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
    OpenSkill,
    BindTools,
    SearchSkills,
}

impl Offer {
    /// Constant tools, the open skill's, those of skills opened beside it and of the catalog, then navigation.
    // SPEC 5.2.
    pub(super) fn of(setup: &Setup, state: &State) -> Self {
        let graph = &setup.graph;
        let own = state.cursor.and_then(|cursor| graph.skill(cursor)).map_or(&[][..], |skill| &skill.tools);
        let opened =
            state.opened.iter().filter_map(|skill| graph.skill(*skill)).flat_map(|skill| &skill.tools).copied();
        let bound = state.catalog.opened().tools().filter_map(|name| graph.find_tool(name));
        let opened: Vec<ToolIx> = opened.chain(bound).collect();
        let constant = graph.constant_tools_without(&state.hidden);
        let held_out = |tool: &ToolIx| {
            let elsewhere = constant.contains(tool) || opened.contains(tool);
            !elsewhere && state.procedure.as_ref().is_some_and(|procedure| procedure.holds_out(graph, *tool))
        };
        let mut seen = std::collections::HashSet::new();
        let tools = constant.iter().chain(own).chain(&opened);
        let mut offer: Vec<Offered> = tools
            .filter(|tool| !held_out(tool))
            .filter(|tool| seen.insert(**tool))
            .map(|tool| Offered::Tool(*tool))
            .collect();
        let picks = can_pick(setup, state);
        if picks {
            offer.extend([Offered::ReadSkill, Offered::ListSkills]);
        }
        if let Some(catalog) = setup.catalog.as_ref().filter(|catalog| catalog.known().next().is_some()) {
            if catalog.policy().disclosure == Disclosure::Search {
                offer.push(Offered::SearchSkills);
            }
            offer.extend([Offered::OpenSkill, Offered::BindTools]);
        }
        if state.procedure.as_ref().is_some_and(|procedure| procedure.current(graph).is_some()) {
            offer.push(Offered::SkipStep);
        }
        // Calls in the history ask for a tool section, even where nothing is left to call.
        if offer.is_empty() && state.transcript.has_calls() {
            let some = graph.visible(&state.hidden).next().is_some();
            offer.extend(Some(Offered::ReadSkill).filter(|_| some && setup.strictness == Strictness::Assist));
            offer.push(Offered::ListSkills);
        }
        Self(offer)
    }

    /// The offered tool of that name.
    pub(super) fn find(&self, graph: &Graph, name: &str) -> Option<Offered> {
        let wanted = match name {
            READ_SKILL => Offered::ReadSkill,
            LIST_SKILLS => Offered::ListSkills,
            SKIP_STEP => Offered::SkipStep,
            OPEN_SKILL => Offered::OpenSkill,
            BIND_SKILL_TOOLS => Offered::BindTools,
            SEARCH_SKILLS => Offered::SearchSkills,
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
            system: words::system_prompt(setup, state, self.has(Offered::ReadSkill)),
            messages: shown(setup, state),
            tools: self.0.iter().filter_map(|offered| offered.spec(setup, state)).collect(),
        }
    }
}

/// Whether `read_skill` is worth offering. Where the model picks freely it stays in place, dead ends included, so that the tools
/// of a conversation stay the same; where a strictness narrows picks, nothing is offered that would be refused.
// SPEC 4.
fn can_pick(setup: &Setup, state: &State) -> bool {
    match setup.strictness {
        // A menu can be answered, even where it names the only skill that there is to see.
        Strictness::Assist => setup.graph.visible(&state.hidden).nth(1).is_some() || state.menu.is_some(),
        Strictness::Guard | Strictness::Rails => !reachable(setup, state).is_empty(),
    }
}

impl Offered {
    fn name(self, graph: &Graph) -> ToolId {
        match self {
            Offered::Tool(tool) => graph.tool_id(tool),
            Offered::ReadSkill => ToolId::from_static(READ_SKILL),
            Offered::ListSkills => ToolId::from_static(LIST_SKILLS),
            Offered::SkipStep => ToolId::from_static(SKIP_STEP),
            Offered::OpenSkill => ToolId::from_static(OPEN_SKILL),
            Offered::BindTools => ToolId::from_static(BIND_SKILL_TOOLS),
            Offered::SearchSkills => ToolId::from_static(SEARCH_SKILLS),
        }
    }

    fn spec(self, setup: &Setup, state: &State) -> Option<Arc<ToolSpec>> {
        let graph = &setup.graph;
        let navigation = |description: String, parameters: Value| {
            Some(Arc::new(ToolSpec { name: self.name(graph), description, parameters }))
        };
        match self {
            Offered::Tool(tool) => {
                let name = self.name(graph);
                let foreign = || state.catalog.tool(name.as_str()).map(|tool| &tool.spec);
                let spec = setup.tools.get(tool.position()).or_else(foreign)?;
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
                    words::READ_SKILL_DESCRIPTION.to_owned(),
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
            Offered::OpenSkill => navigation(
                words::open_skill_description(setup.catalog.as_ref()?.policy()),
                json!({
                    "type": "object",
                    "properties": {
                        "key": { "type": "string", "description": "the key of the skill" },
                        "query": {
                            "type": "string",
                            "description": "what it is for, in a few words: of a skill with many tools, those that fit come first",
                        },
                    },
                    "required": ["key"],
                    "additionalProperties": false,
                }),
            ),
            Offered::BindTools => navigation(
                words::bind_tools_description(setup.catalog.as_ref()?.policy()),
                json!({
                    "type": "object",
                    "properties": {
                        "key": { "type": "string", "description": "the key of an open skill" },
                        "tools": {
                            "type": "array",
                            "items": { "type": "string" },
                            "minItems": 1,
                            "description": "names of its tools",
                        },
                    },
                    "required": ["key", "tools"],
                    "additionalProperties": false,
                }),
            ),
            Offered::SearchSkills => navigation(
                words::SEARCH_SKILLS_DESCRIPTION.to_owned(),
                json!({
                    "type": "object",
                    "properties": {
                        "query": { "type": "string", "description": "what is to be done, in a few words" },
                        "limit": {
                            "type": "integer",
                            "minimum": 1,
                            "description": format!("how many skills to show; defaults to {SEARCH_LIMIT}"),
                        },
                    },
                    "required": ["query"],
                    "additionalProperties": false,
                }),
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
