//! Data as a declaration.

use super::{
    BranchSpec, CatalogSkillSpec, ClassifySpec, ConditionSpec, EntrySpec, GovernorSpec, GraphSpec, GuardSpec,
    GuardValueSpec, RouteSpec, ScalarSpec, SkillSpec, StepSpec, ThenSpec,
};
use crate::Report;
use crate::check::check_up;
use crate::decl::{
    Body, Branch, CatalogDecl, CatalogSkillDecl, Classify, Condition, EntryDecl, Fork, Form, Governor, GovernorLimits,
    GovernorThen, GraphDecl, GuardTerm, Lints, Literal, Number, Prose, RouteDecl, SkillDecl, StatusSet, StepDecl,
    Steps, Surface, TextList, ToolDecl, Tree, Trigger, TriggerTools, Word,
};
use crate::score::ScorePolicy;

impl GraphSpec {
    /// Checks it over a registry of tool names, as [`crate::graph::Graph::compile`] does, and warns too. What to write is said
    /// in the language of `skill_graph!`; the keys of the data have its names.
    pub fn checkup(&self, registry: &[impl AsRef<str>]) -> Report {
        let decl = self.declaration(registry).at_pointers();
        Report::of(&decl, check_up(&decl))
    }

    /// The graph as a declaration over a registry of tool names.
    pub fn declaration(&self, registry: &[impl AsRef<str>]) -> GraphDecl<()> {
        GraphDecl {
            name: word(&self.name),
            form: Form::Data,
            lints: Lints::default(),
            tools: registry.iter().map(|name| tool(name.as_ref())).collect(),
            baseline: words(&self.baseline),
            skills: self.skills.iter().map(skill).collect(),
            entries: self.entries.iter().map(entry).collect(),
            routes: self.routes.iter().map(route).collect(),
            never_routes: text_list(self.never_routes.as_deref()),
            classify: self.classify.as_ref().map(classify),
            governor: self.governor.as_ref().map(governor),
            tree: self.tree.as_ref().map(|root| Tree { at: (), root: branch(root) }),
            catalog: self.catalog.as_ref().map(|catalog| CatalogDecl {
                at: (),
                policy: catalog.policy,
                skills: catalog.skills.iter().map(catalog_skill).collect(),
            }),
        }
    }
}

fn catalog_skill(spec: &CatalogSkillSpec) -> CatalogSkillDecl<()> {
    CatalogSkillDecl {
        ident: word(&spec.key),
        key: word(&spec.key),
        title: spec.title.as_deref().map(word),
        header: Some(word(&spec.header)),
        prompt: Some(word(&spec.prompt)),
        tools: words(&spec.tools),
        default_bind: text_list(spec.default_bind.as_deref()),
        needs_sandbox: spec.needs_sandbox,
        min_model_tier: spec.min_model_tier,
        available: None,
        lints: Lints::default(),
        unread: false,
    }
}

fn governor(spec: &GovernorSpec) -> Governor<()> {
    let default = GovernorLimits::DEFAULT;
    let limits = GovernorLimits {
        ping_pong: spec.ping_pong.map_or(default.ping_pong, Into::into),
        refusals: spec.refusals.map_or(default.refusals, Into::into),
        repeats: spec.repeats.map_or(default.repeats, Into::into),
    };
    let then = match &spec.then {
        None | Some(ThenSpec::Stop) => GovernorThen::Stop,
        Some(ThenSpec::Warn) => GovernorThen::Warn,
        Some(ThenSpec::Escalate(model)) => GovernorThen::Escalate(word(model)),
    };
    Governor { at: (), limits, then }
}

fn branch(spec: &BranchSpec) -> Branch<()> {
    match spec {
        BranchSpec::Leaf(skill) => Branch::Leaf(word(skill)),
        BranchSpec::Fork { condition: asked, then, otherwise } => Branch::Fork(Box::new(Fork {
            at: (),
            condition: condition(asked),
            then: branch(then),
            otherwise: otherwise.as_deref().map(branch),
        })),
    }
}

fn classify(spec: &ClassifySpec) -> Classify<()> {
    let number = |number: &Option<serde_json::Number>| number.as_ref().and_then(serde_json::Number::as_f64);
    let policy = ScorePolicy {
        margin: number(&spec.margin).unwrap_or(ScorePolicy::DEFAULT.margin),
        menu: spec.menu.unwrap_or(ScorePolicy::DEFAULT.menu),
        floor: number(&spec.floor),
    };
    Classify { at: (), scorer: spec.scorer, policy }
}

fn tool(name: &str) -> ToolDecl<()> {
    ToolDecl { ident: word(name), name: word(name), typed: false, lints: Lints::default() }
}

fn skill(skill: &SkillSpec) -> SkillDecl<()> {
    SkillDecl {
        ident: word(&skill.id),
        id: word(&skill.id),
        description: Some(word(&skill.description)),
        body: Some(Body::Inline { source: word(&skill.body), prose: Ok(Prose::plain(&skill.body)) }),
        tools: words(&skill.tools),
        steps: skill.steps.as_ref().map(|steps| Steps { at: (), list: steps.iter().map(step).collect() }),
        on_skip: skill.on_skip.map(|on_skip| (on_skip, ())),
        on_unfinished: skill.on_unfinished.map(|said| (said, ())),
        scope: skill.scope,
        surface: (skill.surface != Surface::default()).then_some((skill.surface, ())),
        refresh: skill.refresh.map(|refresh| (refresh, ())),
        produces: text_list(skill.produces.as_deref()),
        consumes: text_list(skill.consumes.as_deref()),
        lints: Lints::default(),
        form: Form::Data,
        unread: false,
    }
}

fn step(step: &StepSpec) -> StepDecl<()> {
    StepDecl {
        tool: word(&step.tool),
        note: word(&step.note),
        produces: text_list(step.produces.as_deref()),
        consumes: text_list(step.consumes.as_deref()),
    }
}

fn entry(entry: &EntrySpec) -> EntryDecl<()> {
    EntryDecl {
        skill: word(&entry.skill),
        condition: entry.when.as_ref().map(condition),
        examples: text_list(entry.examples.as_deref()),
        never_picked: entry.never_picked.then_some(()),
        lints: Lints::default(),
        label: entry.label.as_deref().map(word),
    }
}

fn condition(spec: &ConditionSpec) -> Condition<()> {
    match spec {
        ConditionSpec::Matches(pattern) => Condition::Matches(word(pattern)),
        ConditionSpec::Keywords(list) => Condition::Keywords { at: (), list: words(list) },
        ConditionSpec::All(list) => Condition::All { at: (), list: list.iter().map(condition).collect() },
        ConditionSpec::Intent { intent, examples } => {
            Condition::Intent { intent: word(intent), examples: TextList { at: (), list: words(examples) } }
        }
        ConditionSpec::Picked => Condition::Picked { at: () },
    }
}

fn route(route: &RouteSpec) -> RouteDecl<()> {
    let tools = match route.on.as_deref() {
        None => TriggerTools::Any { at: () },
        Some([one]) => TriggerTools::One(word(one)),
        Some(tools) => TriggerTools::AnyOf { at: (), list: words(tools) },
    };
    let statuses = route.statuses.as_ref();
    let statuses = statuses.map(|list| list.iter().copied().fold(StatusSet::NONE, StatusSet::with));
    let guard = route.guard.iter().map(term).collect();
    RouteDecl {
        from: word(&route.from),
        to: word(&route.to),
        trigger: if route.pick { Trigger::Pick } else { Trigger::Returns { tools, statuses, guard, closure: None } },
        lints: Lints::default(),
        label: route.label.as_deref().map(word),
        unread: false,
    }
}

fn term(term: &GuardSpec) -> GuardTerm<()> {
    let (values, listed) = match &term.value {
        GuardValueSpec::One(value) => (vec![literal(value)], false),
        GuardValueSpec::List(values) => (values.iter().map(literal).collect(), true),
    };
    GuardTerm { path: word(&term.path), operator: term.operator, values, consts: Vec::new(), listed, values_at: () }
}

fn literal(value: &ScalarSpec) -> Literal {
    match value {
        ScalarSpec::Bool(value) => Literal::Bool(*value),
        ScalarSpec::Number(number) => Literal::Number(Number::of_json(number)),
        ScalarSpec::Text(text) => Literal::Text(text.clone()),
    }
}

fn text_list(texts: Option<&[String]>) -> Option<TextList<()>> {
    texts.map(|texts| TextList { at: (), list: words(texts) })
}

fn words(texts: &[String]) -> Vec<Word<()>> {
    texts.iter().map(|text| word(text)).collect()
}

fn word(text: &str) -> Word<()> {
    Word::new(text, ())
}
