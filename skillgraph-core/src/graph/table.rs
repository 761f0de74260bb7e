//! The static table that `skill_graph!` emits: constants only, so that a large graph compiles quickly.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};

use super::{Availability, Closures, EntryTest, Graph, GraphError, RouteTest, ToolResult};
use crate::decl::{
    Body, Branch, CatalogDecl, CatalogSkillDecl, Classify, Condition, EntryDecl, Fork, Form, Governor, GovernorLimits,
    GovernorThen, GraphDecl, GraphSpec, GuardOperator, GuardTerm, LintLevel, Lints, Literal, NotData, Number, OnSkip,
    OnUnfinished, Prose, RouteDecl, Scope, ScorerKind, SkillDecl, SkillId, Status, StatusSet, StepDecl, Steps, Surface,
    TextList, ToolDecl, ToolId, Tree, Trigger, TriggerTools, Word,
};
use crate::draw;
use crate::finding::{Code, Report};
use crate::policy::{ModelTier, SkillPolicy};
use crate::score::ScorePolicy;

/// A graph that `skill_graph!` declared: `GRAPH` of the generated module.
pub struct StaticGraph {
    table: &'static GraphTable,
    compiled: OnceLock<Result<Arc<Graph>, GraphError>>,
}

impl StaticGraph {
    /// The graph of a table.
    pub const fn new(table: &'static GraphTable) -> Self {
        Self { table, compiled: OnceLock::new() }
    }

    /// The graph's name.
    pub fn name(&self) -> &'static str {
        self.table.name
    }

    /// The graph, ready to run; compiled at the first call and shared from then on.
    ///
    /// # Errors
    ///
    /// As [`Graph::from_declaration`]. A graph that the macro accepted is refused only where its patterns do not fit together.
    pub fn compiled(&self) -> Result<Arc<Graph>, GraphError> {
        self.compiled
            .get_or_init(|| Graph::from_declaration(self.declaration(), self.table.closures()).map(Arc::new))
            .clone()
    }

    /// The graph as a declaration.
    pub fn declaration(&self) -> GraphDecl<()> {
        self.table.declaration()
    }

    /// The graph as data. Compiled over the same tools ([`Graph::compile`]), it is an equal graph.
    ///
    /// # Errors
    ///
    /// [`NotData`] where it has a closure.
    pub fn spec(&self) -> Result<GraphSpec, NotData> {
        self.declaration().spec()
    }

    /// Checks the graph, as [`Graph::checkup`].
    ///
    /// # Errors
    ///
    /// As [`Self::compiled`].
    pub fn checkup(&self) -> Result<Report, GraphError> {
        self.compiled().map(|graph| graph.checkup())
    }

    /// The graph as a Mermaid flowchart; see [`draw::to_mermaid`].
    // SPEC 15.
    pub fn to_mermaid(&self) -> String {
        draw::to_mermaid(&self.declaration())
    }
}

impl fmt::Debug for StaticGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticGraph").field("name", &self.table.name).finish_non_exhaustive()
    }
}

/// A whole graph.
#[derive(Debug)]
pub struct GraphTable {
    /// Its name.
    pub name: &'static str,
    /// Lint levels for the whole graph.
    pub lints: LintRows,
    /// The registry.
    pub tools: &'static [ToolRow],
    /// Tools offered always.
    pub baseline: &'static [ToolId],
    /// The skills.
    pub skills: &'static [SkillRow],
    /// The entries.
    pub entries: &'static [EntryRow],
    /// The edges.
    pub routes: &'static [RouteRow],
    /// Messages that no rule may claim; empty where none are named.
    pub never_routes: &'static [&'static str],
    /// Who scores messages that no rule claims.
    pub classify: Option<ClassifyRow>,
    /// The tree that chooses the skill.
    pub tree: Option<BranchRow>,
    /// When a run is spinning, and what is done about it.
    pub governor: Option<GovernorRow>,
    /// Skills that a model opens within a budget.
    pub catalog: Option<CatalogRow>,
}

/// Skills that a model opens within a budget.
#[derive(Debug)]
pub struct CatalogRow {
    /// How much of it may be open.
    pub policy: SkillPolicy,
    /// Its skills.
    pub skills: &'static [CatalogSkillRow],
}

/// One skill of a catalog.
#[derive(Debug)]
pub struct CatalogSkillRow {
    /// What the author calls it.
    pub ident: &'static str,
    /// What the model opens it by.
    pub key: &'static str,
    /// Its name for people.
    pub title: Option<&'static str>,
    /// The one line by which a model chooses.
    pub header: &'static str,
    /// Its instructions.
    pub prompt: &'static str,
    /// Its tools.
    pub tools: &'static [ToolId],
    /// Tools that are bound when it opens; empty where none are named.
    pub default_bind: &'static [ToolId],
    /// It needs a sandbox.
    pub needs_sandbox: bool,
    /// The least model that it is for.
    pub min_model_tier: Option<ModelTier>,
    /// Says whether it is there: its source text, and its code.
    pub available: Option<(&'static str, Availability)>,
    /// Lint levels for this skill.
    pub lints: LintRows,
}

/// When a run is spinning, and what is done about it.
#[derive(Debug)]
pub struct GovernorRow {
    /// How much is too much.
    pub limits: GovernorLimits,
    /// What is done then.
    pub then: ThenRow,
}

/// What a governor does.
#[derive(Debug)]
pub enum ThenRow {
    /// Ends the turn.
    Stop,
    /// Tells the model.
    Warn,
    /// Asks the model of that name from then on.
    Escalate(&'static str),
}

/// A part of a tree.
#[derive(Debug)]
pub enum BranchRow {
    /// A skill.
    Leaf(SkillId),
    /// A condition, and what follows from it.
    Fork {
        /// What is asked of the message.
        condition: ConditionRow,
        /// Where it holds.
        then: &'static BranchRow,
        /// Where it does not.
        otherwise: Option<&'static BranchRow>,
    },
}

/// Who scores messages, and when a score decides.
#[derive(Debug)]
pub struct ClassifyRow {
    /// Who scores.
    pub scorer: ScorerKind,
    /// When a score decides.
    pub policy: ScorePolicy,
}

/// Lint levels, in the order in which they were set.
pub type LintRows = &'static [(Code, LintLevel)];

/// A tool.
#[derive(Debug)]
pub struct ToolRow {
    /// Its name.
    pub id: ToolId,
    /// Whether the compiler knows its type.
    pub typed: bool,
    /// Lint levels for this tool.
    pub lints: LintRows,
}

/// A skill.
#[derive(Debug)]
pub struct SkillRow {
    /// Its id.
    pub id: SkillId,
    /// What a model reads when it chooses.
    pub description: &'static str,
    /// Its instructions, mentions written out.
    pub body: &'static str,
    /// Its tools.
    pub tools: &'static [ToolId],
    /// Its procedure.
    pub steps: &'static [StepRow],
    /// What `skip_step` does.
    pub on_skip: OnSkip,
    /// What an answer with steps left gets, where the author said so.
    pub on_unfinished: Option<OnUnfinished>,
    /// Whether its tools leave with the cursor.
    pub scope: Scope,
    /// Where its body is read.
    pub surface: Surface,
    /// How many replies of the model may follow on the body before it is given again.
    pub refresh: Option<NonZeroU32>,
    /// Kinds of artifact that it leaves behind.
    pub produces: &'static [&'static str],
    /// Kinds of artifact that it needs.
    pub consumes: &'static [&'static str],
    /// Lint levels for this skill.
    pub lints: LintRows,
}

/// A step.
#[derive(Debug)]
pub struct StepRow {
    /// The tool that takes it.
    pub tool: ToolId,
    /// Why it comes now.
    pub note: &'static str,
    /// Kinds of artifact that it leaves behind.
    pub produces: &'static [&'static str],
    /// Kinds of artifact that it needs.
    pub consumes: &'static [&'static str],
}

/// An entry.
#[derive(Debug)]
pub struct EntryRow {
    /// The skill that it opens.
    pub skill: SkillId,
    /// Its rule.
    pub condition: Option<ConditionRow>,
    /// Messages that it must claim.
    pub examples: &'static [&'static str],
    /// Whether no pick opens its skill.
    pub never_picked: bool,
    /// Lint levels for this entry.
    pub lints: LintRows,
    /// What drawings and records call it.
    pub label: Option<&'static str>,
}

/// A rule.
#[derive(Debug)]
pub enum ConditionRow {
    /// A pattern.
    Matches(&'static str),
    /// Phrases.
    Keywords(&'static [&'static str]),
    /// Every one of these.
    All(&'static [ConditionRow]),
    /// The author's own test.
    Closure {
        /// Its source text.
        source: &'static str,
        /// Its code.
        test: EntryTest,
    },
    /// What the user may want.
    Intent {
        /// What it is about.
        intent: &'static str,
        /// Messages that mean it.
        examples: &'static [&'static str],
    },
    /// Only a menu leads here.
    Picked,
}

/// An edge.
#[derive(Debug)]
pub struct RouteRow {
    /// Where it leaves.
    pub from: SkillId,
    /// Where it leads.
    pub to: SkillId,
    /// What fires it.
    pub trigger: TriggerRow,
    /// Lint levels for this edge.
    pub lints: LintRows,
    /// What drawings and records call it.
    pub label: Option<&'static str>,
}

/// What fires an edge.
#[derive(Debug)]
pub enum TriggerRow {
    /// The model's own pick alone.
    Pick,
    /// A tool returned.
    Returns {
        /// Which tools.
        tools: ToolsRow,
        /// Which statuses, where the author said so.
        statuses: Option<&'static [Status]>,
        /// What must hold of the output.
        guard: &'static [TermRow],
        /// The author's own test, where there is one.
        test: Option<TestRow>,
    },
    /// The author's own test of every result.
    Closure(TestRow),
}

/// A term of a guard.
#[derive(Debug)]
pub struct TermRow {
    /// The path, with dots.
    pub path: &'static str,
    /// How it is compared.
    pub operator: GuardOperator,
    /// With what.
    pub values: &'static [LiteralRow],
}

/// A value that a guard compares with.
#[derive(Debug, Clone, Copy)]
pub enum LiteralRow {
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(&'static str),
    /// What is behind a const of the author's.
    Const(fn() -> Literal),
}

/// The tools that an edge listens to.
#[derive(Debug)]
pub enum ToolsRow {
    /// These.
    These(&'static [ToolId]),
    /// All.
    Any,
}

/// The author's own test of a result.
#[derive(Debug)]
pub enum TestRow {
    /// It runs on the typed output when the tool returns.
    Typed {
        /// Its source text.
        source: &'static str,
    },
    /// It runs on the result.
    Result {
        /// Its source text.
        source: &'static str,
        /// Its code.
        test: fn(&ToolResult) -> bool,
    },
}

impl GraphTable {
    fn declaration(&self) -> GraphDecl<()> {
        GraphDecl {
            name: word(self.name),
            form: Form::Language,
            lints: Lints::of(self.lints),
            tools: self.tools.iter().map(ToolRow::declaration).collect(),
            baseline: tools(self.baseline),
            skills: self.skills.iter().map(SkillRow::declaration).collect(),
            entries: self.entries.iter().map(EntryRow::declaration).collect(),
            routes: self.routes.iter().map(RouteRow::declaration).collect(),
            never_routes: texts(self.never_routes),
            governor: self.governor.as_ref().map(GovernorRow::declaration),
            tree: self.tree.as_ref().map(|root| Tree { at: (), root: root.declaration() }),
            catalog: self.catalog.as_ref().map(|row| CatalogDecl {
                at: (),
                policy: row.policy,
                skills: row.skills.iter().map(CatalogSkillRow::declaration).collect(),
            }),
            classify: self.classify.as_ref().map(|row| Classify { at: (), scorer: row.scorer, policy: row.policy }),
        }
    }

    fn closures(&self) -> Closures {
        let mut closures = Closures::default();
        for condition in self.entries.iter().filter_map(|entry| entry.condition.as_ref()) {
            condition.gather(&mut closures.entries);
        }
        self.tree.iter().for_each(|root| root.gather(&mut closures.entries));
        let skills = self.catalog.iter().flat_map(|catalog| catalog.skills);
        closures.catalog = skills.filter_map(|skill| Some(skill.available?.1)).collect();
        closures.routes = self.routes.iter().filter_map(|route| route.trigger.test()).map(TestRow::code).collect();
        closures
    }
}

impl ToolRow {
    fn declaration(&self) -> ToolDecl<()> {
        ToolDecl {
            ident: word(self.id.as_str()),
            name: word(self.id.as_str()),
            typed: self.typed,
            lints: Lints::of(self.lints),
        }
    }
}

impl SkillRow {
    fn declaration(&self) -> SkillDecl<()> {
        let steps = self.steps.iter().map(|step| StepDecl {
            tool: word(step.tool.as_str()),
            note: word(step.note),
            produces: texts(step.produces),
            consumes: texts(step.consumes),
        });
        SkillDecl {
            ident: word(self.id.as_str()),
            id: word(self.id.as_str()),
            description: Some(word(self.description)),
            body: Some(Body::Inline { source: word(self.body), prose: Ok(Prose::plain(self.body)) }),
            tools: tools(self.tools),
            steps: (!self.steps.is_empty()).then(|| Steps { at: (), list: steps.collect() }),
            on_skip: (!self.steps.is_empty()).then_some((self.on_skip, ())),
            on_unfinished: self.on_unfinished.map(|said| (said, ())),
            scope: self.scope,
            surface: (self.surface != Surface::default()).then_some((self.surface, ())),
            refresh: self.refresh.map(|refresh| (refresh, ())),
            produces: texts(self.produces),
            consumes: texts(self.consumes),
            lints: Lints::of(self.lints),
            form: Form::Language,
            unread: false,
        }
    }
}

impl EntryRow {
    fn declaration(&self) -> EntryDecl<()> {
        EntryDecl {
            skill: word(self.skill.as_str()),
            condition: self.condition.as_ref().map(ConditionRow::declaration),
            examples: texts(self.examples),
            never_picked: self.never_picked.then_some(()),
            lints: Lints::of(self.lints),
            label: self.label.map(word),
        }
    }
}

impl CatalogSkillRow {
    fn declaration(&self) -> CatalogSkillDecl<()> {
        let default_bind = TextList { at: (), list: tools(self.default_bind) };
        CatalogSkillDecl {
            ident: word(self.ident),
            key: word(self.key),
            title: self.title.map(word),
            header: Some(word(self.header)),
            prompt: Some(word(self.prompt)),
            tools: tools(self.tools),
            default_bind: (!self.default_bind.is_empty()).then_some(default_bind),
            needs_sandbox: self.needs_sandbox,
            min_model_tier: self.min_model_tier,
            available: self.available.map(|(path, _)| word(path)),
            lints: Lints::of(self.lints),
            unread: false,
        }
    }
}

impl GovernorRow {
    fn declaration(&self) -> Governor<()> {
        let then = match self.then {
            ThenRow::Stop => GovernorThen::Stop,
            ThenRow::Warn => GovernorThen::Warn,
            ThenRow::Escalate(model) => GovernorThen::Escalate(word(model)),
        };
        Governor { at: (), limits: self.limits, then }
    }
}

impl BranchRow {
    fn declaration(&self) -> Branch<()> {
        match self {
            BranchRow::Leaf(skill) => Branch::Leaf(word(skill.as_str())),
            BranchRow::Fork { condition, then, otherwise } => Branch::Fork(Box::new(Fork {
                at: (),
                condition: condition.declaration(),
                then: then.declaration(),
                otherwise: otherwise.map(BranchRow::declaration),
            })),
        }
    }

    fn gather(&self, closures: &mut Vec<EntryTest>) {
        if let BranchRow::Fork { condition, then, otherwise } = self {
            condition.gather(closures);
            then.gather(closures);
            otherwise.iter().for_each(|branch| branch.gather(closures));
        }
    }
}

impl ConditionRow {
    fn declaration(&self) -> Condition<()> {
        match self {
            ConditionRow::Matches(pattern) => Condition::Matches(word(pattern)),
            ConditionRow::Keywords(list) => {
                Condition::Keywords { at: (), list: list.iter().map(|phrase| word(phrase)).collect() }
            }
            ConditionRow::All(list) => {
                Condition::All { at: (), list: list.iter().map(ConditionRow::declaration).collect() }
            }
            ConditionRow::Closure { source, .. } => Condition::Closure(word(source)),
            ConditionRow::Intent { intent, examples } => Condition::Intent {
                intent: word(intent),
                examples: TextList { at: (), list: examples.iter().map(|example| word(example)).collect() },
            },
            ConditionRow::Picked => Condition::Picked { at: () },
        }
    }

    fn gather(&self, closures: &mut Vec<EntryTest>) {
        match self {
            ConditionRow::Closure { test, .. } => closures.push(*test),
            ConditionRow::All(list) => list.iter().for_each(|part| part.gather(closures)),
            ConditionRow::Matches(_)
            | ConditionRow::Keywords(_)
            | ConditionRow::Intent { .. }
            | ConditionRow::Picked => {}
        }
    }
}

impl RouteRow {
    fn declaration(&self) -> RouteDecl<()> {
        RouteDecl {
            from: word(self.from.as_str()),
            to: word(self.to.as_str()),
            trigger: self.trigger.declaration(),
            lints: Lints::of(self.lints),
            label: self.label.map(word),
            unread: false,
        }
    }
}

impl TriggerRow {
    fn declaration(&self) -> Trigger<()> {
        match self {
            TriggerRow::Pick => Trigger::Pick,
            TriggerRow::Closure(test) => Trigger::Closure(word(test.source())),
            TriggerRow::Returns { tools, statuses, guard, test } => Trigger::Returns {
                tools: tools.declaration(),
                statuses: statuses.map(|list| list.iter().copied().fold(StatusSet::NONE, StatusSet::with)),
                guard: guard.iter().map(TermRow::declaration).collect(),
                closure: test.as_ref().map(|test| word(test.source())),
            },
        }
    }

    fn test(&self) -> Option<&TestRow> {
        match self {
            TriggerRow::Pick => None,
            TriggerRow::Closure(test) => Some(test),
            TriggerRow::Returns { test, .. } => test.as_ref(),
        }
    }
}

impl TermRow {
    fn declaration(&self) -> GuardTerm<()> {
        let literal = |row: &LiteralRow| match *row {
            LiteralRow::Bool(value) => Literal::Bool(value),
            LiteralRow::Number(number) => Literal::Number(number),
            LiteralRow::Text(text) => Literal::Text(text.to_owned()),
            LiteralRow::Const(value) => value(),
        };
        GuardTerm {
            path: word(self.path),
            operator: self.operator,
            values: self.values.iter().map(literal).collect(),
            consts: Vec::new(),
            listed: self.operator.takes_list(),
            values_at: (),
        }
    }
}

impl ToolsRow {
    fn declaration(&self) -> TriggerTools<()> {
        match self {
            ToolsRow::Any => TriggerTools::Any { at: () },
            ToolsRow::These([one]) => TriggerTools::One(word(one.as_str())),
            ToolsRow::These(list) => TriggerTools::AnyOf { at: (), list: tools(list) },
        }
    }
}

impl TestRow {
    fn source(&self) -> &'static str {
        match self {
            TestRow::Typed { source } | TestRow::Result { source, .. } => source,
        }
    }

    fn code(&self) -> RouteTest {
        match self {
            TestRow::Typed { .. } => RouteTest::Typed,
            TestRow::Result { test, .. } => RouteTest::Result(*test),
        }
    }
}

fn word(text: &str) -> Word<()> {
    Word::new(text, ())
}

/// A list that was written; an empty one was not.
fn texts(list: &[&str]) -> Option<TextList<()>> {
    (!list.is_empty()).then(|| TextList { at: (), list: list.iter().map(|text| word(text)).collect() })
}

fn tools(ids: &[ToolId]) -> Vec<Word<()>> {
    ids.iter().map(|id| word(id.as_str())).collect()
}
