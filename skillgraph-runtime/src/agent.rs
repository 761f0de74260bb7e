//! An agent: a graph, its tools and a model, checked together once.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use skillgraph_core::Report;
use skillgraph_core::catalog::{Catalog, CatalogEntry, CatalogError, SkillPolicy};
use skillgraph_core::decl::{GovernorThen, RESERVED_TOOL_NAMES, ScorerKind, ToolId};
use skillgraph_core::graph::{Graph, GraphError, StaticGraph};
use skillgraph_core::turn::{Continuity, Limits, Permissions, RestoreError, Setup, Strictness, Transcript};

use crate::authorize::{AnyAuthorizer, Authorizer};
use crate::catalog::{AnyCatalogSkill, CatalogSkill, CatalogSkills, DeclaredSkill};
use crate::conversation::{Conversation, SavedConversation};
use crate::model::{AnyModel, Model};
use crate::parts::Parts;
use crate::report::{RunError, TurnReport};
use crate::scorer::{AnyScorer, IntentScorer};
use crate::tool::BoundTool;

/// How long a tool may take, by default.
const TOOL_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a skill of the catalog may take to answer, by default.
const CATALOG_TIMEOUT: Duration = Duration::from_secs(5);

/// How long an authorizer may take, by default.
const AUTHORIZER_TIMEOUT: Duration = Duration::from_secs(5);

/// A graph, its tools and a model. Cheap to copy; one agent serves many conversations at once.
// SPEC 14.1.
#[derive(Clone)]
pub struct Agent {
    pub(crate) parts: Arc<Parts>,
}

impl Agent {
    /// Answers one message, in a conversation of its own.
    ///
    /// # Errors
    ///
    /// As [`Conversation::send`].
    pub async fn run(&self, message: impl Into<String>) -> Result<TurnReport, RunError> {
        self.conversation().send(message).await
    }

    /// Begins a conversation.
    pub fn conversation(&self) -> Conversation {
        self.conversation_after(Transcript::new())
    }

    /// Begins a conversation that goes on after what was said before.
    pub fn conversation_after(&self, history: Transcript) -> Conversation {
        Conversation::new(self.clone(), history)
    }

    /// Goes on with a saved conversation. Where the agent has an authorizer, it is asked anew, about the identity
    /// that [`Conversation::with_identity`] gives.
    ///
    /// # Errors
    ///
    /// As [`Turn::restore`](skillgraph_core::turn::Turn::restore), where a turn is under way. Between turns there is nothing
    /// that a changed graph could break: a skill that it no longer has is dropped, and the record of the next turn names it.
    // SPEC 10.
    pub fn restore(&self, saved: SavedConversation) -> Result<Conversation, RestoreError> {
        Conversation::restore(self.clone(), saved, false)
    }

    /// The same for a conversation that was saved under another version of the graph: what its turn under way no longer finds
    /// is dropped, and said on the record.
    ///
    /// # Errors
    ///
    /// As [`Turn::migrate`](skillgraph_core::turn::Turn::migrate).
    pub fn migrate(&self, saved: SavedConversation) -> Result<Conversation, RestoreError> {
        Conversation::restore(self.clone(), saved, true)
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.parts.setup.graph
    }

    /// Checks the graph, closures included, and whether its procedures fit into a turn.
    // SPEC 2.
    pub fn checkup(&self) -> Report {
        self.parts.setup.checkup()
    }

    /// What the turn machine needs to know of the agent: for hosts that drive turns themselves.
    // SPEC 13.
    pub fn setup(&self) -> &Arc<Setup> {
        &self.parts.setup
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("graph", &self.graph().name()).finish_non_exhaustive()
    }
}

/// Builds an [`Agent`]. A generated module's `agent(tools)` begins one.
#[must_use = "an agent is there after `.build()`"]
pub struct AgentBuilder {
    graph: Result<Arc<Graph>, GraphError>,
    tools: Vec<BoundTool>,
    model: Option<Arc<dyn AnyModel>>,
    system: String,
    limits: Limits,
    tool_timeout: Duration,
    strictness: Strictness,
    continuity: Continuity,
    scorer: Option<Arc<dyn AnyScorer>>,
    decider: Option<Arc<dyn AnyModel>>,
    authorizer: Option<Arc<dyn AnyAuthorizer>>,
    authorizer_timeout: Duration,
    named_models: HashMap<String, Arc<dyn AnyModel>>,
    catalog: Vec<Arc<dyn AnyCatalogSkill>>,
    catalog_policy: Option<SkillPolicy>,
    catalog_timeout: Duration,
    preopened: Vec<String>,
    trace_content: bool,
    record_content: bool,
}

impl AgentBuilder {
    /// Begins an agent of a graph. `tools` are those of the graph's registry, in its order.
    pub fn new(graph: Arc<Graph>, tools: impl IntoIterator<Item = BoundTool>) -> Self {
        Self::begin(Ok(graph), tools)
    }

    /// Begins an agent of a graph that the macro declared.
    #[doc(hidden)]
    pub fn of_graph(graph: &'static StaticGraph, tools: impl IntoIterator<Item = BoundTool>) -> Self {
        Self::begin(graph.compiled(), tools)
    }

    fn begin(graph: Result<Arc<Graph>, GraphError>, tools: impl IntoIterator<Item = BoundTool>) -> Self {
        Self {
            graph,
            tools: tools.into_iter().collect(),
            model: None,
            system: String::new(),
            limits: Limits::default(),
            tool_timeout: TOOL_TIMEOUT,
            strictness: Strictness::default(),
            continuity: Continuity::default(),
            scorer: None,
            decider: None,
            authorizer: None,
            authorizer_timeout: AUTHORIZER_TIMEOUT,
            named_models: HashMap::new(),
            catalog: Vec::new(),
            catalog_policy: None,
            catalog_timeout: CATALOG_TIMEOUT,
            preopened: Vec::new(),
            trace_content: false,
            record_content: false,
        }
    }

    /// The model that the agent asks.
    pub fn model(mut self, model: impl Model) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// A model that the graph names: `governor { then: escalate("…") }` asks it from the trip on.
    // SPEC 8.
    pub fn model_named(mut self, name: impl Into<String>, model: impl Model) -> Self {
        self.named_models.insert(name.into(), Arc::new(model));
        self
    }

    /// The host's own system prompt; it comes before the open skill's instructions.
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// Who scores messages that no rule claims, in a graph with `classify: host`.
    // SPEC 4, tier 2.
    pub fn scorer(mut self, scorer: impl IntentScorer) -> Self {
        self.scorer = Some(Arc::new(scorer));
        self
    }

    /// A model that resolves the menu of a turn's start in one word, before the loop begins. Without one
    /// the agent's own model picks in its first reply.
    // SPEC 4, tier 3.
    pub fn decider(mut self, model: impl Model) -> Self {
        self.decider = Some(Arc::new(model));
        self
    }

    /// Who decides what somebody may see and do. Without one everybody may do all.
    // SPEC 9.
    pub fn authorizer(mut self, authorizer: impl Authorizer) -> Self {
        self.authorizer = Some(Arc::new(authorizer));
        self
    }

    /// How long the authorizer may take for one check, before it counts as a no. Defaults to 5 seconds.
    pub fn authorizer_timeout(mut self, timeout: Duration) -> Self {
        self.authorizer_timeout = timeout;
        self
    }

    /// Adds a skill to the catalog: beside those that the graph declares, or alone.
    // SPEC 11.
    pub fn catalog_skill(mut self, skill: impl CatalogSkill) -> Self {
        self.catalog.push(Arc::new(skill));
        self
    }

    /// How much of the catalog may be open, instead of what the graph says; [`SkillPolicy::DEFAULT`] where neither does.
    pub fn catalog_policy(mut self, policy: SkillPolicy) -> Self {
        self.catalog_policy = Some(policy);
        self
    }

    /// How long a skill of the catalog may take to say whether it is there, to open, and to bind tools; defaults to
    /// 5 seconds. After that it counts as away, or as not opened.
    pub fn catalog_timeout(mut self, timeout: Duration) -> Self {
        self.catalog_timeout = timeout;
        self
    }

    /// Opens skills of the catalog by themselves when a turn begins, by key, as far as the policy lets them.
    pub fn preopen(mut self, keys: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.preopened.extend(keys.into_iter().map(Into::into));
        self
    }

    /// What a pick of the model may do. Defaults to any reachable skill.
    pub fn strictness(mut self, strictness: Strictness) -> Self {
        self.strictness = strictness;
        self
    }

    /// What a turn takes over from the one before. Defaults to nothing.
    pub fn continuity(mut self, continuity: Continuity) -> Self {
        self.continuity = continuity;
        self
    }

    /// The most model calls of one turn. Defaults to 10.
    pub fn max_iterations(mut self, iterations: u32) -> Self {
        self.limits.iterations = iterations;
        self
    }

    /// The most characters of one tool result that the model reads; of a longer one the rest is left out, and that is said.
    /// Defaults to 100,000.
    pub fn max_result_characters(mut self, characters: usize) -> Self {
        self.limits.result_characters = characters;
        self
    }

    /// How long a tool may take; 60 seconds where neither the tool nor anybody else said otherwise.
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.tool_timeout = timeout;
        self
    }

    /// Whether `tracing` is told what was said, and what tools were given and returned: with the feature `tracing` alone, and
    /// not unless this says so.
    pub fn trace_content(mut self, content: bool) -> Self {
        self.trace_content = content;
        self
    }

    /// Whether events have content: what tools are run with and return, and what the model is told of refused and denied calls. An
    /// audit wants it; it is off unless this says so.
    pub fn record_content(mut self, content: bool) -> Self {
        self.record_content = content;
        self
    }

    /// Checks that everything fits together.
    ///
    /// # Errors
    ///
    /// [`BuildError`] with the first thing that does not.
    pub fn build(self) -> Result<Agent, BuildError> {
        let graph = self.graph.clone().map_err(BuildError::Graph)?;
        let model = self.model.clone().ok_or(BuildError::NoModel)?;
        if self.limits.iterations == 0 {
            return Err(BuildError::NoIterations);
        }
        if graph.tools().len() != self.tools.len() {
            return Err(BuildError::ToolCount { declared: graph.tools().len(), given: self.tools.len() });
        }
        for (declared, tool) in graph.tools().iter().zip(&self.tools) {
            if tool.spec.name != *declared {
                return Err(BuildError::ToolName { declared: declared.to_string(), given: tool.spec.name.to_string() });
            }
            if !tool.takes_an_object() {
                return Err(BuildError::NotAnObject { tool: declared.to_string() });
            }
        }
        let declared: Vec<_> = self.tools.iter().map(|tool| tool.capabilities.clone()).collect();
        if self.authorizer.is_none()
            && let Some((tool, needed)) = self.tools.iter().zip(&declared).find(|(_, needed)| !needed.is_empty())
        {
            let capability = needed.first().map_or(String::new(), ToString::to_string);
            return Err(BuildError::NoAuthorizer { tool: tool.spec.name.to_string(), capability });
        }
        let Stocked { catalog, skills, graph } = self.stock(graph)?;
        let specs = self.tools.iter().map(|tool| Arc::new(tool.spec.clone())).collect();
        let wants_scorer = graph.classify().is_some_and(|(scorer, _)| scorer == ScorerKind::Host);
        if wants_scorer != self.scorer.is_some() {
            return Err(if wants_scorer { BuildError::NoScorer } else { BuildError::UnaskedScorer });
        }
        if let Some(GovernorThen::Escalate(wanted)) =
            graph.declaration().governor.as_ref().map(|governor| &governor.then)
            && !self.named_models.contains_key(&wanted.text)
        {
            return Err(BuildError::NoModelNamed { name: wanted.text.clone() });
        }
        let setup = Setup {
            graph,
            tools: specs,
            system: self.system,
            limits: self.limits,
            strictness: self.strictness,
            continuity: self.continuity,
            record_content: self.record_content,
            decider: self.decider.is_some(),
            permissions: self.authorizer.is_some().then_some(Permissions { declared }),
            catalog,
        };
        let parts = Parts {
            setup: Arc::new(setup),
            tools: self.tools,
            model,
            tool_timeout: self.tool_timeout,
            scorer: self.scorer,
            decider: self.decider,
            authorizer: self.authorizer,
            authorizer_timeout: self.authorizer_timeout,
            named_models: self.named_models,
            catalog: skills,
            trace_content: self.trace_content,
        };
        Ok(Agent { parts: Arc::new(parts) })
    }

    /// The catalog, and the graph that knows its tools: skills of the graph first, then those that were added.
    fn stock(&self, graph: Arc<Graph>) -> Result<Stocked, BuildError> {
        let descriptions: HashMap<&ToolId, &String> =
            self.tools.iter().map(|bound| (&bound.spec.name, &bound.spec.description)).collect();
        let declared = graph.declared_catalog(|tool| descriptions.get(tool).copied().cloned());
        let policy = self.catalog_policy.or(graph.catalog_policy()).unwrap_or_default();
        let mut skills: Vec<Arc<dyn AnyCatalogSkill>> = Vec::new();
        let mut entries: Vec<CatalogEntry> = Vec::new();
        for (mut entry, prompt, available) in declared {
            let (characters, maximum) = (prompt.chars().count(), self.limits.result_characters);
            if characters > maximum {
                let key = entry.key.clone();
                return Err(BuildError::Catalog(CatalogError::PromptTooLong { key, characters, maximum }));
            }
            entry.may_be_away = available.is_some() || self.authorizer.is_some();
            entries.push(entry.clone());
            skills.push(Arc::new(DeclaredSkill { entry, prompt, available }));
        }
        let mut owner: HashMap<String, String> = HashMap::new();
        for skill in &self.catalog {
            let entry = CatalogEntry { may_be_away: true, ..skill.entry_boxed() };
            for tool in &entry.tools {
                let collision = |with: String| BuildError::CatalogCollision {
                    tool: tool.name.clone(),
                    key: entry.key.clone(),
                    with,
                };
                if graph.find_tool(&tool.name).is_some() {
                    return Err(collision("a tool of the graph".into()));
                }
                if RESERVED_TOOL_NAMES.contains(&tool.name.as_str()) {
                    return Err(collision("a tool of the framework".into()));
                }
                if let Some(other) = owner.insert(tool.name.clone(), entry.key.clone()).filter(|key| *key != entry.key)
                {
                    return Err(collision(format!("a tool of the catalog skill `{other}`")));
                }
            }
            entries.push(entry);
            skills.push(skill.clone());
        }
        if entries.is_empty() && self.preopened.is_empty() {
            return Ok(Stocked { catalog: None, skills: CatalogSkills::default(), graph });
        }
        let by_key = entries.iter().map(|entry| entry.key.clone()).zip(skills).collect();
        let foreign: Vec<ToolId> =
            entries.iter().flat_map(|entry| &entry.tools).map(|tool| tool.name.as_str().into()).collect();
        let catalog = Catalog::new(policy, entries).and_then(|catalog| catalog.preopen(self.preopened.iter().cloned()));
        let catalog = catalog.map_err(BuildError::Catalog)?;
        let graph = if owner.is_empty() { graph } else { Arc::new(graph.with_tools(foreign)) };
        Ok(Stocked {
            catalog: Some(catalog),
            skills: CatalogSkills { by_key, owner, timeout: self.catalog_timeout },
            graph,
        })
    }
}

/// A graph with its catalog.
struct Stocked {
    catalog: Option<Catalog>,
    skills: CatalogSkills,
    graph: Arc<Graph>,
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("tools", &self.tools)
            .field("system", &self.system)
            .field("limits", &self.limits)
            .field("tool_timeout", &self.tool_timeout)
            .finish_non_exhaustive()
    }
}

/// Why an agent cannot be built.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum BuildError {
    /// The graph does not compile.
    Graph(GraphError),
    /// No model was given.
    NoModel,
    /// `max_iterations(0)`: no turn could begin.
    NoIterations,
    /// The registry and the tools differ in number.
    ToolCount {
        /// How many the graph declares.
        declared: usize,
        /// How many were given.
        given: usize,
    },
    /// A tool has another name than the graph declares in its place.
    ToolName {
        /// The name in the graph's registry.
        declared: String,
        /// The name of the tool.
        given: String,
    },
    /// The graph's governor escalates to a model that the agent was not given.
    NoModelNamed {
        /// The name.
        name: String,
    },
    /// The graph says `classify: host`, and the agent has no scorer.
    NoScorer,
    /// The agent has a scorer, and the graph does not ask for one.
    UnaskedScorer,
    /// A tool declares a capability that it needs, and there is nobody to ask for it.
    NoAuthorizer {
        /// The tool.
        tool: String,
        /// What it needs.
        capability: String,
    },
    /// The skills of the catalog are none.
    Catalog(CatalogError),
    /// A tool of a catalog skill has a name that is taken.
    CatalogCollision {
        /// The name.
        tool: String,
        /// The skill.
        key: String,
        /// What has the name.
        with: String,
    },
    /// A tool's parameters are not a JSON Schema of an object.
    NotAnObject {
        /// The tool.
        tool: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Graph(error) => error.fmt(f),
            BuildError::Catalog(error) => error.fmt(f),
            BuildError::CatalogCollision { tool, key, with } => {
                write!(f, "the catalog skill `{key}` has a tool `{tool}`, which is the name of {with}")
            }
            BuildError::NoModel => f.write_str("the agent has no model: give it one with `.model(…)`"),
            BuildError::NoIterations => f.write_str("the agent may not ask its model: `max_iterations` is 0"),
            BuildError::NoModelNamed { name } => {
                write!(
                    f,
                    "the graph's governor escalates to the model `{name}`: give it with `.model_named(\"{name}\", …)`"
                )
            }
            BuildError::NoScorer => {
                f.write_str("the graph says `classify: host`: give the agent a scorer with `.scorer(…)`")
            }
            BuildError::UnaskedScorer => {
                f.write_str("the agent has a scorer that nobody asks: write `classify: host;` in the graph")
            }
            BuildError::ToolCount { declared, given } => {
                write!(f, "the graph declares {declared} tools and {given} were given")
            }
            BuildError::ToolName { declared, given } => {
                write!(f, "the graph declares the tool `{declared}` and was given one named `{given}`")
            }
            BuildError::NoAuthorizer { tool, capability } => write!(
                f,
                "the tool `{tool}` needs `{capability}`, and nobody decides who has it: give the agent an authorizer with \
                 `.authorizer(…)`"
            ),
            BuildError::NotAnObject { tool } => write!(
                f,
                "the parameters of tool `{tool}` are not a JSON Schema of an object: its arguments must be a struct, \
                 or an object schema with `\"type\": \"object\"`"
            ),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BuildError::Graph(error) => Some(error),
            _ => None,
        }
    }
}
