//! A declaration as data.

use std::collections::HashMap;
use std::num::NonZeroU32;

use super::{
    BranchSpec, CatalogSkillSpec, CatalogSpec, ClassifySpec, ConditionSpec, EntrySpec, GovernorSpec, GraphSpec,
    GuardSpec, GuardValueSpec, RouteSpec, ScalarSpec, SkillSpec, StepSpec, ThenSpec,
};
use crate::decl::{
    Body, Branch, CatalogDecl, Classify, Condition, EntryDecl, Governor, GovernorLimits, GovernorThen, GraphDecl,
    GuardTerm, Literal, Number, RouteDecl, SkillDecl, StepDecl, Surface, TextList, Trigger, TriggerTools, Word,
};

use crate::score::ScorePolicy;

/// A graph has a closure or a function, which is code: it cannot be written as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotData {
    /// The source text of the first one.
    pub closure: String,
}

impl std::fmt::Display for NotData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the graph has code, which cannot be written as data: {}", self.closure)
    }
}

impl std::error::Error for NotData {}

impl<S> GraphDecl<S> {
    /// The graph as data, by ids and tool names.
    ///
    /// # Errors
    ///
    /// [`NotData`] where it has a closure.
    pub fn spec(&self) -> Result<GraphSpec, NotData> {
        let names = Names::of(self);
        Ok(GraphSpec {
            name: self.name.text.clone(),
            baseline: names.tools(&self.baseline),
            skills: self.skills.iter().map(|skill| names.skill_spec(skill)).collect(),
            entries: self.entries.iter().map(|entry| names.entry_spec(entry)).collect::<Result<_, _>>()?,
            routes: self.routes.iter().map(|route| names.route_spec(route)).collect::<Result<_, _>>()?,
            never_routes: texts(&self.never_routes),
            classify: self.classify.as_ref().map(classify_spec),
            governor: self.governor.as_ref().map(governor_spec),
            tree: self.tree.as_ref().map(|tree| names.branch_spec(&tree.root)).transpose()?,
            catalog: self.catalog.as_ref().map(|catalog| names.catalog_spec(catalog)).transpose()?,
        })
    }
}

/// Identifiers to the names that a model knows; of two declarations the first.
struct Names<'a> {
    tools: HashMap<&'a str, &'a str>,
    skills: HashMap<&'a str, &'a str>,
}

impl<'a> Names<'a> {
    fn of<S>(decl: &'a GraphDecl<S>) -> Self {
        let tools = decl.tools.iter().rev().map(|tool| (tool.ident.text.as_str(), tool.name.text.as_str()));
        let skills = decl.skills.iter().rev().map(|skill| (skill.ident.text.as_str(), skill.id.text.as_str()));
        Names { tools: tools.collect(), skills: skills.collect() }
    }

    fn tool<'n>(&'n self, ident: &'n str) -> &'n str {
        self.tools.get(ident).copied().unwrap_or(ident)
    }

    fn skill(&self, ident: &str) -> String {
        self.skills.get(ident).copied().unwrap_or(ident).to_owned()
    }

    fn tools<S>(&self, idents: &[Word<S>]) -> Vec<String> {
        idents.iter().map(|ident| self.tool(&ident.text).to_owned()).collect()
    }

    fn skill_spec<S>(&self, skill: &SkillDecl<S>) -> SkillSpec {
        let body = match &skill.body {
            Some(Body::Inline { source, prose: Err(_) }) => source.text.clone(),
            Some(Body::Inline { prose: Ok(prose), .. }) => prose.render(|tool| self.tool(tool)),
            _ => String::new(),
        };
        let step = |step: &StepDecl<S>| StepSpec {
            tool: self.tool(&step.tool.text).to_owned(),
            note: step.note.text.clone(),
            produces: texts(&step.produces),
            consumes: texts(&step.consumes),
        };
        SkillSpec {
            id: skill.id.text.clone(),
            description: skill.description.as_ref().map(|text| text.text.clone()).unwrap_or_default(),
            body,
            tools: self.tools(&skill.tools),
            steps: skill.steps.as_ref().map(|steps| steps.list.iter().map(step).collect()),
            on_skip: skill.on_skip.as_ref().map(|(on_skip, _)| *on_skip),
            on_unfinished: skill.on_unfinished.as_ref().map(|(said, _)| *said),
            scope: skill.scope,
            surface: skill.surface.as_ref().map_or(Surface::default(), |(surface, _)| *surface),
            refresh: skill.refresh.as_ref().map(|(refresh, _)| *refresh),
            produces: texts(&skill.produces),
            consumes: texts(&skill.consumes),
        }
    }

    fn catalog_spec<S>(&self, catalog: &CatalogDecl<S>) -> Result<CatalogSpec, NotData> {
        let text = |word: &Option<Word<S>>| word.as_ref().map(|word| word.text.clone());
        let skills = catalog.skills.iter().map(|skill| match &skill.available {
            Some(path) => Err(NotData { closure: path.text.clone() }),
            None => Ok(CatalogSkillSpec {
                key: skill.key.text.clone(),
                title: text(&skill.title),
                header: text(&skill.header).unwrap_or_default(),
                prompt: text(&skill.prompt).unwrap_or_default(),
                tools: self.tools(&skill.tools),
                default_bind: skill.default_bind.as_ref().map(|list| self.tools(&list.list)),
                needs_sandbox: skill.needs_sandbox,
                min_model_tier: skill.min_model_tier,
            }),
        });
        Ok(CatalogSpec { policy: catalog.policy, skills: skills.collect::<Result<_, _>>()? })
    }

    fn entry_spec<S>(&self, entry: &EntryDecl<S>) -> Result<EntrySpec, NotData> {
        Ok(EntrySpec {
            skill: self.skill(&entry.skill.text),
            when: entry.condition.as_ref().map(condition_spec).transpose()?,
            examples: texts(&entry.examples),
            never_picked: entry.never_picked.is_some(),
            label: entry.label.as_ref().map(|label| label.text.clone()),
        })
    }

    fn branch_spec<S>(&self, branch: &Branch<S>) -> Result<BranchSpec, NotData> {
        Ok(match branch {
            Branch::Leaf(skill) => BranchSpec::Leaf(self.skill(&skill.text)),
            Branch::Fork(fork) => BranchSpec::Fork {
                condition: condition_spec(&fork.condition)?,
                then: Box::new(self.branch_spec(&fork.then)?),
                otherwise: fork.otherwise.as_ref().map(|branch| self.branch_spec(branch)).transpose()?.map(Box::new),
            },
        })
    }

    fn route_spec<S>(&self, route: &RouteDecl<S>) -> Result<RouteSpec, NotData> {
        let mut spec = RouteSpec {
            from: self.skill(&route.from.text),
            to: self.skill(&route.to.text),
            pick: false,
            on: None,
            statuses: None,
            guard: Vec::new(),
            label: route.label.as_ref().map(|label| label.text.clone()),
        };
        match &route.trigger {
            Trigger::Pick => spec.pick = true,
            Trigger::Closure(closure) | Trigger::Returns { closure: Some(closure), .. } => {
                return Err(NotData { closure: closure.text.clone() });
            }
            Trigger::Returns { tools, statuses, guard, closure: None } => {
                spec.on = (!matches!(tools, TriggerTools::Any { .. })).then(|| self.tools(tools.named()));
                spec.statuses = statuses.map(|set| set.iter().collect());
                spec.guard = guard.iter().map(guard_spec).collect();
            }
        }
        Ok(spec)
    }
}

fn condition_spec<S>(condition: &Condition<S>) -> Result<ConditionSpec, NotData> {
    Ok(match condition {
        Condition::Matches(pattern) => ConditionSpec::Matches(pattern.text.clone()),
        Condition::Keywords { list, .. } => {
            ConditionSpec::Keywords(list.iter().map(|word| word.text.clone()).collect())
        }
        Condition::All { list, .. } => ConditionSpec::All(list.iter().map(condition_spec).collect::<Result<_, _>>()?),
        Condition::Closure(closure) => return Err(NotData { closure: closure.text.clone() }),
        Condition::Intent { intent, examples } => ConditionSpec::Intent {
            intent: intent.text.clone(),
            examples: examples.list.iter().map(|example| example.text.clone()).collect(),
        },
        Condition::Picked { .. } => ConditionSpec::Picked,
    })
}

/// What differs from the defaults is written.
fn governor_spec<S>(governor: &Governor<S>) -> GovernorSpec {
    let (limits, default) = (governor.limits, GovernorLimits::DEFAULT);
    let differing = |limit: u32, default: u32| NonZeroU32::new(limit).filter(|_| limit != default);
    GovernorSpec {
        ping_pong: differing(limits.ping_pong, default.ping_pong),
        refusals: differing(limits.refusals, default.refusals),
        repeats: differing(limits.repeats, default.repeats),
        then: match &governor.then {
            GovernorThen::Stop => None,
            GovernorThen::Warn => Some(ThenSpec::Warn),
            GovernorThen::Escalate(model) => Some(ThenSpec::Escalate(model.text.clone())),
        },
    }
}

/// What differs from the defaults is written.
fn classify_spec<S>(classify: &Classify<S>) -> ClassifySpec {
    let (policy, default) = (classify.policy, ScorePolicy::DEFAULT);
    ClassifySpec {
        scorer: classify.scorer,
        margin: serde_json::Number::from_f64(policy.margin).filter(|_| policy.margin != default.margin),
        menu: Some(policy.menu).filter(|menu| *menu != default.menu),
        floor: policy.floor.and_then(serde_json::Number::from_f64),
    }
}

fn guard_spec<S>(term: &GuardTerm<S>) -> GuardSpec {
    let value = match term.values.as_slice() {
        [one] if !term.listed => GuardValueSpec::One(scalar_spec(one)),
        values => GuardValueSpec::List(values.iter().map(scalar_spec).collect()),
    };
    GuardSpec { path: term.path.text.clone(), operator: term.operator, value }
}

fn scalar_spec(value: &Literal) -> ScalarSpec {
    match value {
        Literal::Bool(value) => ScalarSpec::Bool(*value),
        Literal::Text(text) => ScalarSpec::Text(text.clone()),
        Literal::Number(Number::Whole(value)) => ScalarSpec::Number((*value).into()),
        Literal::Number(Number::Large(value)) => ScalarSpec::Number((*value).into()),
        // The grammar has no number that JSON could not hold.
        Literal::Number(Number::Float(value)) => {
            ScalarSpec::Number(serde_json::Number::from_f64(*value).unwrap_or_else(|| 0.into()))
        }
    }
}

fn texts<S>(list: &Option<TextList<S>>) -> Option<Vec<String>> {
    list.as_ref().map(|list| list.list.iter().map(|word| word.text.clone()).collect())
}
