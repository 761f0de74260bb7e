//! A graph as data: what `skill_graph!` says, as documented JSON.
//!
//! Ids and tool names stand where the macro has identifiers. Closures are code and have no place here. Unknown keys are
//! errors. Findings of a graph from data carry a JSON pointer (RFC 6901) into it.
//!
//! ```
//! use skillgraph_core::decl::GraphSpec;
//! use skillgraph_core::graph::Graph;
//!
//! let spec = GraphSpec::from_json(r#"{
//!     "name": "support",
//!     "skills": [
//!         { "id": "triage", "description": "Start", "body": "Ask.", "tools": ["get_invoice"] },
//!         { "id": "billing", "description": "Money", "body": "Be exact.", "tools": ["pay"],
//!           "steps": [{ "tool": "pay", "note": "only what is owed" }], "on_skip": "hold" }
//!     ],
//!     "entries": [
//!         { "skill": "triage" },
//!         { "skill": "billing", "when": { "keywords": ["refund", "charged twice"] } }
//!     ],
//!     "routes": [
//!         { "from": "triage", "to": "billing", "on": ["get_invoice"], "is": ["success", "partial"],
//!           "where": [{ "path": "state", "op": "in", "value": ["open", "late"] }] },
//!         { "from": "billing", "to": "triage", "pick": true }
//!     ]
//! }"#)?;
//! let graph = Graph::compile(&spec, &["get_invoice", "pay"])?;
//! assert_eq!(graph.skills().len(), 2);
//!
//! let report = Graph::compile(&spec, &["get_invoice"]).unwrap_err();
//! assert_eq!(report.findings[0].at, "/skills/1/tools/0");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
// SPEC 13.

mod json;
mod read;
mod write;

use std::num::NonZeroU32;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::policy::{ModelTier, SkillPolicy};

use super::{GuardOperator, OnSkip, OnUnfinished, Scope, ScorerKind, Status, Surface};
pub use write::NotData;

/// A whole graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphSpec {
    /// Its name.
    pub name: String,
    /// Names of tools that are offered whatever the cursor is on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baseline: Vec<String>,
    /// The skills.
    pub skills: Vec<SkillSpec>,
    /// The entries, in the order in which they are tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<EntrySpec>,
    /// The edges, in the order in which they are tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RouteSpec>,
    /// Messages that no rule may claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub never_routes: Option<Vec<String>>,
    /// Who scores messages that no rule claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classify: Option<ClassifySpec>,
    /// The tree that chooses the skill, in place of entries and edges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<BranchSpec>,
    /// When a run is spinning, and what is done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<GovernorSpec>,
    /// Skills that a model opens within a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog: Option<CatalogSpec>,
}

impl GraphSpec {
    /// A graph with nothing in it.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            baseline: Vec::new(),
            skills: Vec::new(),
            entries: Vec::new(),
            routes: Vec::new(),
            never_routes: None,
            classify: None,
            tree: None,
            governor: None,
            catalog: None,
        }
    }
}

/// When a run is spinning; what is not said is as in `governor {}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GovernorSpec {
    /// Moves to and fro between two skills; 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ping_pong: Option<std::num::NonZeroU32>,
    /// Refused picks without a move; 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusals: Option<std::num::NonZeroU32>,
    /// The same call in a row; 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<std::num::NonZeroU32>,
    /// What is done then; the turn ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<ThenSpec>,
}

/// What a governor does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThenSpec {
    /// Ends the turn.
    Stop,
    /// Tells the model.
    Warn,
    /// Asks the model of that name from then on.
    Escalate(String),
}

/// Skills that a model opens within a budget.
// SPEC 11.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogSpec {
    /// How much of it may be open; what it does not say is as in [`SkillPolicy::DEFAULT`].
    #[serde(default, skip_serializing_if = "is_default_policy")]
    pub policy: SkillPolicy,
    /// Its skills; a host may add others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<CatalogSkillSpec>,
}

/// One skill of a catalog.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogSkillSpec {
    /// What the model opens it by.
    pub key: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The one line by which a model chooses.
    pub header: String,
    /// Its instructions, taken as they are.
    pub prompt: String,
    /// Names of its tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Names of tools that are bound when it opens, where there are too many to bind all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_bind: Option<Vec<String>>,
    /// It needs a sandbox: the model and the host are told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_sandbox: bool,
    /// The least model that it is for. Defaults to any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_model_tier: Option<ModelTier>,
}

/// A part of a tree: the id of a skill, or a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum BranchSpec {
    /// A skill, by id.
    Leaf(String),
    /// A condition, and what follows from it.
    Fork {
        /// What is asked of the message.
        #[serde(rename = "if")]
        condition: ConditionSpec,
        /// Where it holds.
        then: Box<BranchSpec>,
        /// Where it does not.
        #[serde(rename = "else", skip_serializing_if = "Option::is_none")]
        otherwise: Option<Box<BranchSpec>>,
    },
}

/// Who scores messages, and when a score decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassifySpec {
    /// Who scores.
    pub scorer: ScorerKind,
    /// How far the best must lead the next, from 0 to 1. Defaults to 0.15.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<serde_json::Number>,
    /// How many skills a menu names at the most. Defaults to 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub menu: Option<usize>,
    /// What a score must exceed to count. Defaults to the scorer's own floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<serde_json::Number>,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillSpec {
    /// Its id.
    pub id: String,
    /// What a model reads when it chooses.
    pub description: String,
    /// Its instructions, taken as they are.
    pub body: String,
    /// Names of its tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Its procedure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<StepSpec>>,
    /// What a skipped step does. Defaults to `advance`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_skip: Option<OnSkip>,
    /// What an answer with steps left gets: `nudge` or `accept`. Defaults to `accept` where the procedure goes on in the next
    /// turn, else to `nudge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_unfinished: Option<OnUnfinished>,
    /// Whether its tools are offered always. Defaults to `active`.
    #[serde(default, skip_serializing_if = "is_active")]
    pub scope: Scope,
    /// Where its body is read. Defaults to `system_prompt`.
    #[serde(default, skip_serializing_if = "is_system_prompt")]
    pub surface: Surface,
    /// How many replies of the model may follow on the body before it is given again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<NonZeroU32>,
    /// Kinds of artifact that it leaves behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub produces: Option<Vec<String>>,
    /// Kinds of artifact that it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumes: Option<Vec<String>>,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// The name of the tool that takes it.
    pub tool: String,
    /// Why it comes now.
    pub note: String,
    /// Kinds of artifact that it leaves behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub produces: Option<Vec<String>>,
    /// Kinds of artifact that it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumes: Option<Vec<String>>,
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntrySpec {
    /// The id of the skill that it opens.
    pub skill: String,
    /// Its rule; the default has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<ConditionSpec>,
    /// Messages that the rule must claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<Vec<String>>,
    /// Leaves the skill to rules and edges: no pick opens it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub never_picked: bool,
    /// What drawings and records call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConditionSpec {
    /// A pattern of the `regex` crate.
    Matches(String),
    /// Phrases, one of which is enough.
    Keywords(Vec<String>),
    /// Rules, each of which must pass.
    All(Vec<ConditionSpec>),
    /// What the user may want, for a scorer.
    Intent {
        /// What it is about.
        intent: String,
        /// Messages that mean it.
        examples: Vec<String>,
    },
    /// Only the menu of a turn's start leads here.
    Picked,
}

/// An edge: `on` tools, or `pick`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteSpec {
    /// The id of the skill that it leaves.
    pub from: String,
    /// The id of the skill that it leads to.
    pub to: String,
    /// Only the model's own pick takes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pick: bool,
    /// Names of the tools whose results fire it; without it, and without `pick`, any tool's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Vec<String>>,
    /// Statuses that let it fire. Defaults to success and partial.
    #[serde(default, rename = "is", skip_serializing_if = "Option::is_none", deserialize_with = "some_statuses")]
    pub statuses: Option<Vec<Status>>,
    /// What must hold of the result's JSON: every one of these.
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty", deserialize_with = "some_terms")]
    pub guard: Vec<GuardSpec>,
    /// What drawings and records call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// One term of a guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardSpec {
    /// The key, with dots between the parts of a path.
    pub path: String,
    /// How it is compared.
    #[serde(rename = "op")]
    pub operator: GuardOperator,
    /// With what: a value, or for `in` and `not in` a list.
    pub value: GuardValueSpec,
}

/// What a guard compares with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a text, a number, `true`, `false`, or a list of them")]
pub enum GuardValueSpec {
    /// Each of these.
    List(Vec<ScalarSpec>),
    /// One value.
    One(ScalarSpec),
}

/// A value that a guard compares with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a text, a number, `true` or `false`")]
pub enum ScalarSpec {
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(serde_json::Number),
    /// A text.
    Text(String),
}

fn some_statuses<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Status>>, D::Error> {
    not_empty(Vec::deserialize(deserializer)?, "a status").map(Some)
}

fn some_terms<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<GuardSpec>, D::Error> {
    not_empty(Vec::deserialize(deserializer)?, "a term")
}

/// A list that was written holds something.
fn not_empty<T, E: Error>(list: Vec<T>, what: &str) -> Result<Vec<T>, E> {
    if list.is_empty() { Err(E::invalid_length(0, &format!("at least {what}").as_str())) } else { Ok(list) }
}

fn is_system_prompt(surface: &Surface) -> bool {
    *surface == Surface::SystemPrompt
}

fn is_default_policy(policy: &SkillPolicy) -> bool {
    *policy == SkillPolicy::DEFAULT
}

fn is_active(scope: &Scope) -> bool {
    *scope == Scope::Active
}
