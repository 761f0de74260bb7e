//! A graph as data (SPEC 13): what `skill_graph!` says, as documented JSON.
//!
//! Ids and tool names stand where the macro has identifiers. Closures are code and have no place here. Unknown keys are
//! errors. Findings of a graph from data carry a JSON pointer (RFC 6901) into it.
//!
//! ```
//! use skillgraph_core::decl::GraphSpec;
//! use skillgraph_core::graph::Graph;
//!
//! let spec: GraphSpec = serde_json::from_str(r#"{
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

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{
    Body, Condition, EntryDecl, GraphDecl, GuardOperator, GuardTerm, Lints, Literal, Number, OnSkip, Prose, RouteDecl,
    Scope, SkillDecl, Status, StatusSet, StepDecl, Steps, TextList, ToolDecl, Trigger, TriggerTools, Word,
};
use crate::Report;
use crate::check::check_up;

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
    pub entries: Vec<EntrySpec>,
    /// The edges, in the order in which they are tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RouteSpec>,
    /// Messages that no rule may claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub never_routes: Option<Vec<String>>,
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
    /// What a skipped step does; `advance` where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_skip: Option<OnSkip>,
    /// Whether its tools are offered always; `active` where nothing is said.
    #[serde(default, skip_serializing_if = "is_active")]
    pub scope: Scope,
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
    /// Statuses that let it fire; success and partial where nothing is said.
    #[serde(default, rename = "is", skip_serializing_if = "Option::is_none")]
    pub statuses: Option<Vec<Status>>,
    /// What must hold of the result's JSON: every one of these.
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty")]
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
#[serde(untagged)]
pub enum GuardValueSpec {
    /// Each of these.
    List(Vec<ScalarSpec>),
    /// One value.
    One(ScalarSpec),
}

/// A value that a guard compares with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ScalarSpec {
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(serde_json::Number),
    /// A text.
    Text(String),
}

fn is_active(scope: &Scope) -> bool {
    *scope == Scope::Active
}

impl GraphSpec {
    /// Checks it over a registry of tool names, as [`crate::graph::Graph::compile`] does, and warns too.
    pub fn checkup(&self, registry: &[impl AsRef<str>]) -> Report {
        check_up(&self.declaration(registry, str::to_owned)).into()
    }

    /// The graph as a declaration over a registry of tool names. `place` makes a place of a JSON pointer.
    pub fn declaration<S>(&self, registry: &[impl AsRef<str>], place: impl Fn(&str) -> S) -> GraphDecl<S> {
        let lower = Lower { place };
        GraphDecl {
            name: lower.word(&self.name, "/name"),
            lints: Lints::default(),
            tools: registry.iter().map(|name| lower.tool(name.as_ref())).collect(),
            baseline: lower.words(&self.baseline, "/baseline"),
            skills: indexed(&self.skills, "/skills").map(|(skill, at)| lower.skill(skill, &at)).collect(),
            entries: indexed(&self.entries, "/entries").map(|(entry, at)| lower.entry(entry, &at)).collect(),
            routes: indexed(&self.routes, "/routes").map(|(route, at)| lower.route(route, &at)).collect(),
            never_routes: lower.text_list(self.never_routes.as_deref(), "/never_routes"),
        }
    }
}

/// Each element of a list with its JSON pointer.
fn indexed<'a, T>(list: &'a [T], at: &'a str) -> impl Iterator<Item = (&'a T, String)> {
    list.iter().enumerate().map(move |(index, element)| (element, format!("{at}/{index}")))
}

struct Lower<P> {
    place: P,
}

impl<S, P: Fn(&str) -> S> Lower<P> {
    fn word(&self, text: &str, at: &str) -> Word<S> {
        Word::new(text, (self.place)(at))
    }

    fn words(&self, texts: &[String], at: &str) -> Vec<Word<S>> {
        indexed(texts, at).map(|(text, at)| self.word(text, &at)).collect()
    }

    fn text_list(&self, texts: Option<&[String]>, at: &str) -> Option<TextList<S>> {
        texts.map(|texts| TextList { at: (self.place)(at), list: self.words(texts, at) })
    }

    fn tool(&self, name: &str) -> ToolDecl<S> {
        ToolDecl { ident: self.word(name, ""), name: self.word(name, ""), typed: false, lints: Lints::default() }
    }

    fn skill(&self, skill: &SkillSpec, at: &str) -> SkillDecl<S> {
        let steps = skill.steps.as_ref().map(|steps| {
            let at = format!("{at}/steps");
            let list = indexed(steps, &at).map(|(step, at)| StepDecl {
                tool: self.word(&step.tool, &format!("{at}/tool")),
                note: self.word(&step.note, &format!("{at}/note")),
                produces: self.text_list(step.produces.as_deref(), &format!("{at}/produces")),
                consumes: self.text_list(step.consumes.as_deref(), &format!("{at}/consumes")),
            });
            Steps { list: list.collect(), at: (self.place)(&at) }
        });
        SkillDecl {
            ident: self.word(&skill.id, &format!("{at}/id")),
            id: self.word(&skill.id, &format!("{at}/id")),
            description: Some(self.word(&skill.description, &format!("{at}/description"))),
            body: Some(Body::Inline {
                source: self.word(&skill.body, &format!("{at}/body")),
                prose: Ok(Prose::plain(&skill.body)),
            }),
            tools: self.words(&skill.tools, &format!("{at}/tools")),
            steps,
            on_skip: skill.on_skip.map(|on_skip| (on_skip, (self.place)(&format!("{at}/on_skip")))),
            scope: skill.scope,
            produces: self.text_list(skill.produces.as_deref(), &format!("{at}/produces")),
            consumes: self.text_list(skill.consumes.as_deref(), &format!("{at}/consumes")),
            lints: Lints::default(),
            unread: false,
        }
    }

    fn entry(&self, entry: &EntrySpec, at: &str) -> EntryDecl<S> {
        EntryDecl {
            skill: self.word(&entry.skill, &format!("{at}/skill")),
            condition: entry.when.as_ref().map(|when| self.condition(when, &format!("{at}/when"))),
            examples: self.text_list(entry.examples.as_deref(), &format!("{at}/examples")),
            lints: Lints::default(),
            label: entry.label.as_ref().map(|label| self.word(label, &format!("{at}/label"))),
        }
    }

    fn condition(&self, condition: &ConditionSpec, at: &str) -> Condition<S> {
        match condition {
            ConditionSpec::Matches(pattern) => Condition::Matches(self.word(pattern, &format!("{at}/matches"))),
            ConditionSpec::Keywords(list) => {
                let at = format!("{at}/keywords");
                Condition::Keywords { list: self.words(list, &at), at: (self.place)(&at) }
            }
            ConditionSpec::All(list) => {
                let at = format!("{at}/all");
                let parts = indexed(list, &at).map(|(part, at)| self.condition(part, &at));
                Condition::All { list: parts.collect(), at: (self.place)(&at) }
            }
        }
    }

    fn term(&self, term: &GuardSpec, at: &str) -> GuardTerm<S> {
        let values = match &term.value {
            GuardValueSpec::One(value) => vec![literal(value)],
            GuardValueSpec::List(values) => values.iter().map(literal).collect(),
        };
        GuardTerm {
            path: self.word(&term.path, &format!("{at}/path")),
            operator: term.operator,
            values,
            values_at: (self.place)(&format!("{at}/value")),
        }
    }

    fn route(&self, route: &RouteSpec, at: &str) -> RouteDecl<S> {
        let trigger = if route.pick {
            Trigger::Pick
        } else {
            let on = format!("{at}/on");
            let tools = match &route.on {
                None => TriggerTools::Any { at: (self.place)(at) },
                Some(tools) => match tools.as_slice() {
                    [one] => TriggerTools::One(self.word(one, &format!("{on}/0"))),
                    _ => TriggerTools::AnyOf { list: self.words(tools, &on), at: (self.place)(&on) },
                },
            };
            let statuses = route.statuses.as_ref();
            let statuses = statuses.map(|list| list.iter().copied().fold(StatusSet::NONE, StatusSet::with));
            let terms = format!("{at}/where");
            let guard = indexed(&route.guard, &terms).map(|(term, at)| self.term(term, &at)).collect();
            Trigger::Returns { tools, statuses, guard, closure: None }
        };
        RouteDecl {
            from: self.word(&route.from, &format!("{at}/from")),
            to: self.word(&route.to, &format!("{at}/to")),
            trigger,
            lints: Lints::default(),
            label: route.label.as_ref().map(|label| self.word(label, &format!("{at}/label"))),
            unread: false,
        }
    }
}

fn literal(value: &ScalarSpec) -> Literal {
    match value {
        ScalarSpec::Bool(value) => Literal::Bool(*value),
        ScalarSpec::Number(number) => Literal::Number(Number::of_json(number)),
        ScalarSpec::Text(text) => Literal::Text(text.clone()),
    }
}

/// A graph has a closure, which is code: it cannot be written as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotData {
    /// The source text of the first closure.
    pub closure: String,
}

impl std::fmt::Display for NotData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the graph has a closure, which cannot be written as data: {}", self.closure)
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
            scope: skill.scope,
            produces: texts(&skill.produces),
            consumes: texts(&skill.consumes),
        }
    }

    fn entry_spec<S>(&self, entry: &EntryDecl<S>) -> Result<EntrySpec, NotData> {
        Ok(EntrySpec {
            skill: self.skill(&entry.skill.text),
            when: entry.condition.as_ref().map(condition_spec).transpose()?,
            examples: texts(&entry.examples),
            label: entry.label.as_ref().map(|label| label.text.clone()),
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
    })
}

fn guard_spec<S>(term: &GuardTerm<S>) -> GuardSpec {
    let mut values: Vec<ScalarSpec> = term.values.iter().map(scalar_spec).collect();
    let value = match values.pop().filter(|_| values.is_empty() && !term.operator.takes_list()) {
        Some(one) => GuardValueSpec::One(one),
        None => GuardValueSpec::List(term.values.iter().map(scalar_spec).collect()),
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
