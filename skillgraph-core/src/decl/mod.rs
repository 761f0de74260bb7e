//! The declaration of a graph, whoever wrote it: macro source, a static table, later JSON and SKILL.md.
//!
//! `S` says *where* a thing was written: a span in the macro, `()` at run time. Names are kept as the author wrote them,
//! resolved or not, so that the check-up can speak about the wrong ones. Nothing here is validated.
// SPEC 1.

mod catalog;
mod condition;
mod governor;
mod guard;
mod ids;
mod lints;
mod mention;
mod places;
#[cfg(feature = "turn")]
mod spec;
mod status;
mod tree;

pub use catalog::{CatalogDecl, CatalogSkillDecl};
pub use condition::{Condition, Trigger, TriggerTools};
pub use governor::{Governor, GovernorLimits, GovernorThen};
pub use guard::{GuardOperator, GuardTerm, Kind, LENGTH, Literal, Number};
pub(crate) use ids::{CATALOG_KEY, SKILL_ID, TOOL_NAME};
pub use ids::{
    Name, RESERVED_SKILL_IDS, RESERVED_TOOL_NAMES, SkillId, ToolId, is_catalog_key, is_skill_id, is_tool_name,
    skill_id_of,
};
pub use lints::{LintLevel, Lints, leveled};
pub(crate) use mention::scan_prose;
pub use mention::{Mention, MentionError, Prose, read_prose};
#[cfg(feature = "turn")]
pub use spec::{
    BranchSpec, CatalogSkillSpec, CatalogSpec, ClassifySpec, ConditionSpec, EntrySpec, GovernorSpec, GraphSpec,
    GuardSpec, GuardValueSpec, NotData, RouteSpec, ScalarSpec, SkillSpec, StepSpec, ThenSpec,
};
pub use status::{Status, StatusSet};
pub use tree::{Branch, Fork, Tree};

use std::num::NonZeroU32;

use crate::score::ScorePolicy;

/// A piece of text and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct Word<S> {
    /// The text itself, without quotes.
    pub text: String,
    /// Where it was written.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub at: S,
}

impl<S> Word<S> {
    /// A word at a place.
    pub fn new(text: impl Into<String>, at: S) -> Self {
        Self { text: text.into(), at }
    }

    /// Whether nothing of it can be seen.
    pub fn is_blank(&self) -> bool {
        crate::text::is_blank(&self.text)
    }
}

/// A list of texts and where it stands.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct TextList<S> {
    /// Where the list was written.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub at: S,
    /// The texts.
    pub list: Vec<Word<S>>,
}

/// A whole graph as declared.
// SPEC 1.1.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct GraphDecl<S> {
    /// The graph's name: its module in the macro.
    pub name: Word<S>,
    /// How it was written.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub form: Form,
    /// Lint levels for the whole graph.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub lints: Lints,
    /// The tool registry, in declaration order.
    pub tools: Vec<ToolDecl<S>>,
    /// Tools offered whatever the cursor is on, by identifier.
    pub baseline: Vec<Word<S>>,
    /// The skills, in declaration order.
    pub skills: Vec<SkillDecl<S>>,
    /// The entry rules, in declaration order: the order in which they are tried.
    pub entries: Vec<EntryDecl<S>>,
    /// The edges, in declaration order: the order in which they are tried.
    pub routes: Vec<RouteDecl<S>>,
    /// Messages that no rule may claim: the check-up reads them, a conversation does not.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub never_routes: Option<TextList<S>>,
    /// What scores a message that no rule claims.
    // SPEC 4, tier 2.
    #[cfg_attr(feature = "turn", serde(skip_serializing_if = "Option::is_none"))]
    pub classify: Option<Classify<S>>,
    /// The tree that chooses the skill, in place of entries and edges.
    // SPEC 3.5.
    #[cfg_attr(feature = "turn", serde(skip_serializing_if = "Option::is_none"))]
    pub tree: Option<Tree<S>>,
    /// When a run is spinning, and what is done about it.
    // SPEC 8.
    #[cfg_attr(feature = "turn", serde(skip_serializing_if = "Option::is_none"))]
    pub governor: Option<Governor<S>>,
    /// Skills that a model opens within a budget.
    // SPEC 11.
    #[cfg_attr(feature = "turn", serde(skip_serializing_if = "Option::is_none"))]
    pub catalog: Option<CatalogDecl<S>>,
}

/// How a graph was written: what is said of a name that it does not have tells where to add it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// In the language of `skill_graph!`, which declares its tools.
    Language,
    /// As data, over a registry of tools that the host gives.
    Data,
    /// As the front matter of a `SKILL.md`.
    File,
}

impl<S> GraphDecl<S> {
    /// The skills that list the tool among theirs, by identifier, in declaration order.
    pub fn owners_of(&self, tool: &str) -> Vec<&str> {
        let owners = self.skills.iter().filter(|skill| skill.tools.iter().any(|own| own.text == tool));
        owners.map(|skill| skill.ident.text.as_str()).collect()
    }

    /// The skills of the catalog, in declaration order; none where there is no catalog.
    pub fn catalog_skills(&self) -> impl Iterator<Item = &CatalogSkillDecl<S>> {
        self.catalog.iter().flat_map(|catalog| &catalog.skills)
    }
}

/// `classify: …;`: who scores messages, and when a score decides.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct Classify<S> {
    /// Where the scorer was named.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub at: S,
    /// Who scores.
    pub scorer: ScorerKind,
    /// When a score decides.
    pub policy: ScorePolicy,
}

/// Who scores messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "turn", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "turn", serde(rename_all = "snake_case"))]
pub enum ScorerKind {
    /// By the words that a message shares with an intent.
    Keyword,
    /// The host of the turn.
    Host,
}

/// One tool of the registry.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct ToolDecl<S> {
    /// What the rest of the graph calls it.
    pub ident: Word<S>,
    /// What the model calls it.
    // SPEC 1.2.
    pub name: Word<S>,
    /// Whether its Rust type is known to the compiler.
    pub typed: bool,
    /// Lint levels for this tool.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub lints: Lints,
}

/// One skill: standing instructions and the tools that they need.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct SkillDecl<S> {
    /// What the rest of the graph calls it.
    pub ident: Word<S>,
    /// What the model calls it.
    // SPEC 1.2.
    pub id: Word<S>,
    /// The one line that a model reads when it chooses.
    pub description: Option<Word<S>>,
    /// The standing instructions.
    pub body: Option<Body<S>>,
    /// Tools that open with this skill, by identifier.
    pub tools: Vec<Word<S>>,
    /// The procedure, where there is one.
    // SPEC 7.
    pub steps: Option<Steps<S>>,
    /// What `skip_step` does here, where the author said so.
    pub on_skip: Option<(OnSkip, S)>,
    /// What an answer with steps left gets here, where the author said so.
    pub on_unfinished: Option<(OnUnfinished, S)>,
    /// Whether its tools leave with the cursor.
    pub scope: Scope,
    /// Where its body is read, where the author said so.
    pub surface: Option<(Surface, S)>,
    /// How many replies of the model may follow on the body before it is given again, where the author said so.
    pub refresh: Option<(NonZeroU32, S)>,
    /// Kinds of artifact that it leaves behind; the check-up reads them, a conversation does not.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub produces: Option<TextList<S>>,
    /// Kinds of artifact that it needs; the check-up reads them, a conversation does not.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub consumes: Option<TextList<S>>,
    /// Lint levels for this skill.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub lints: Lints,
    /// How it was written, which may be otherwise than its graph.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub form: Form,
    /// Some of it could not be read, which is a finding of its own: nothing is said of what seems to be missing.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub unread: bool,
}

/// The instructions of a skill.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub enum Body<S> {
    /// Text in the graph itself.
    Inline {
        /// The text as written, braces included.
        source: Word<S>,
        /// What it says and which tools it mentions, or why it cannot be read.
        #[cfg_attr(feature = "turn", serde(skip))]
        prose: Result<Prose, MentionError>,
    },
    /// Text of a file that the compiler includes: taken as it is, never searched for mentions.
    Included,
}

/// A step procedure.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct Steps<S> {
    /// Where the list was written.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub at: S,
    /// The steps in order.
    pub list: Vec<StepDecl<S>>,
}

/// One step: a tool, and why it comes now.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct StepDecl<S> {
    /// The tool, by identifier.
    pub tool: Word<S>,
    /// The sentence that the model reads about the step.
    pub note: Word<S>,
    /// Kinds of artifact that it leaves behind; the check-up reads them, a conversation does not.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub produces: Option<TextList<S>>,
    /// Kinds of artifact that it needs; the check-up reads them, a conversation does not.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub consumes: Option<TextList<S>>,
}

/// What `skip_step` does.
// SPEC 7.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "turn", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "turn", serde(rename_all = "snake_case"))]
pub enum OnSkip {
    /// Go to the next step.
    #[default]
    Advance,
    /// Record the reason and keep the step.
    Hold,
}

/// What an answer of the model gets while steps are left.
// SPEC 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "turn", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "turn", serde(rename_all = "snake_case"))]
pub enum OnUnfinished {
    /// The model is reminded once a turn; its next answer is taken.
    Nudge,
    /// It is taken.
    Accept,
}

/// Whether a skill's tools are offered only while it is open.
// SPEC 3.4.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "turn", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "turn", serde(rename_all = "snake_case"))]
pub enum Scope {
    /// Offered while the skill is open.
    #[default]
    Active,
    /// Offered always.
    Always,
}

/// Where the model reads a skill's body.
// SPEC 5.1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "turn", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "turn", serde(rename_all = "snake_case"))]
pub enum Surface {
    /// In the system prompt, for as long as the skill is open.
    #[default]
    SystemPrompt,
    /// In the result of `read_skill`, once.
    ToolResult,
    /// In both.
    Both,
}

impl Surface {
    /// Whether the system prompt has the body.
    pub fn is_in_prompt(self) -> bool {
        self != Surface::ToolResult
    }

    /// Whether the result of `read_skill` has the body.
    pub fn is_in_result(self) -> bool {
        self != Surface::SystemPrompt
    }
}

/// One way in: a skill, and the rule that opens it at the start of a turn.
// SPEC 4.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct EntryDecl<S> {
    /// The skill, by identifier.
    pub skill: Word<S>,
    /// The rule; an entry without one is the default.
    pub condition: Option<Condition<S>>,
    /// Messages that its rule must claim: the check-up reads them, a conversation does not.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub examples: Option<TextList<S>>,
    /// `picked: never`: where it says that its skill is left to rules and edges, and no pick opens it.
    #[cfg_attr(feature = "turn", serde(serialize_with = "is_said"))]
    pub never_picked: Option<S>,
    /// Lint levels for this entry.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub lints: Lints,
    /// What drawings and records call it.
    pub label: Option<Word<S>>,
}

/// A place says nothing of itself: what counts is whether there is one.
#[cfg(feature = "turn")]
fn is_said<S, R: serde::Serializer>(said: &Option<S>, serializer: R) -> Result<R::Ok, R::Error> {
    serializer.serialize_bool(said.is_some())
}

/// One edge.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct RouteDecl<S> {
    /// The skill that the cursor must be on, by identifier.
    pub from: Word<S>,
    /// The skill that the cursor moves to, by identifier.
    pub to: Word<S>,
    /// What makes it fire.
    pub trigger: Trigger<S>,
    /// Lint levels for this edge.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub lints: Lints,
    /// What drawings and records call it.
    pub label: Option<Word<S>>,
    /// Its trigger could not be read, which is a finding of its own.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub unread: bool,
}
