//! Places of a graph that has no source text: JSON pointers (RFC 6901) into what [`super::GraphSpec`] makes of it.

use super::{
    Body, Branch, Classify, Condition, EntryDecl, Fork, Governor, GovernorThen, GraphDecl, GuardTerm, RouteDecl,
    SkillDecl, StepDecl, Steps, TextList, ToolDecl, Tree, Trigger, TriggerTools, Word,
};

impl<S> GraphDecl<S> {
    /// The same graph, each thing at its pointer.
    pub fn at_pointers(&self) -> GraphDecl<String> {
        GraphDecl {
            name: word(&self.name, "/name"),
            lints: self.lints.clone(),
            // The registry stands outside the data.
            tools: self.tools.iter().map(tool).collect(),
            baseline: words(&self.baseline, "/baseline"),
            skills: indexed(&self.skills, "/skills").map(|(at, of)| skill(of, &at)).collect(),
            entries: indexed(&self.entries, "/entries").map(|(at, of)| entry(of, &at)).collect(),
            routes: indexed(&self.routes, "/routes").map(|(at, of)| route(of, &at)).collect(),
            never_routes: text_list(&self.never_routes, "/never_routes".to_owned()),
            classify: self.classify.as_ref().map(|classify| Classify {
                at: "/classify/scorer".to_owned(),
                scorer: classify.scorer,
                policy: classify.policy,
            }),
            governor: self.governor.as_ref().map(|governor| Governor {
                at: "/governor".to_owned(),
                limits: governor.limits,
                then: match &governor.then {
                    GovernorThen::Stop => GovernorThen::Stop,
                    GovernorThen::Warn => GovernorThen::Warn,
                    GovernorThen::Escalate(model) => GovernorThen::Escalate(word(model, "/governor/then/escalate")),
                },
            }),
            tree: self.tree.as_ref().map(|tree| Tree { at: "/tree".to_owned(), root: branch(&tree.root, "/tree") }),
        }
    }
}

impl GraphDecl<String> {
    /// The ids of the skills that a pointer is about: a skill itself, the one that an entry opens, the two ends of an edge.
    pub(crate) fn skills_at(&self, pointer: &str) -> Vec<String> {
        let mut parts = pointer.split('/').skip(1);
        let (list, index) = (parts.next(), parts.next().and_then(|index| index.parse::<usize>().ok()));
        let (Some(list), Some(index)) = (list, index) else { return Vec::new() };
        let named = match list {
            "skills" => self.skills.get(index).map(|skill| vec![&skill.id]),
            "entries" => self.entries.get(index).map(|entry| vec![&entry.skill]),
            "routes" => self.routes.get(index).map(|route| vec![&route.from, &route.to]),
            _ => None,
        };
        named.into_iter().flatten().map(|name| name.text.clone()).collect()
    }
}

fn tool<S>(tool: &ToolDecl<S>) -> ToolDecl<String> {
    ToolDecl { ident: word(&tool.ident, ""), name: word(&tool.name, ""), typed: tool.typed, lints: tool.lints.clone() }
}

fn skill<S>(skill: &SkillDecl<S>, at: &str) -> SkillDecl<String> {
    let steps = format!("{at}/steps");
    SkillDecl {
        ident: word(&skill.ident, format!("{at}/id")),
        id: word(&skill.id, format!("{at}/id")),
        description: skill.description.as_ref().map(|text| word(text, format!("{at}/description"))),
        body: skill.body.as_ref().map(|body| match body {
            Body::Inline { source, prose } => {
                Body::Inline { source: word(source, format!("{at}/body")), prose: prose.clone() }
            }
            Body::Included => Body::Included,
        }),
        tools: words(&skill.tools, &format!("{at}/tools")),
        steps: skill.steps.as_ref().map(|list| Steps {
            list: indexed(&list.list, &steps).map(|(at, of)| step(of, &at)).collect(),
            at: steps.clone(),
        }),
        on_skip: skill.on_skip.as_ref().map(|(on_skip, _)| (*on_skip, format!("{at}/on_skip"))),
        scope: skill.scope,
        surface: skill.surface.as_ref().map(|(surface, _)| (*surface, format!("{at}/surface"))),
        refresh: skill.refresh.as_ref().map(|(refresh, _)| (*refresh, format!("{at}/refresh"))),
        produces: text_list(&skill.produces, format!("{at}/produces")),
        consumes: text_list(&skill.consumes, format!("{at}/consumes")),
        lints: skill.lints.clone(),
        unread: skill.unread,
    }
}

fn step<S>(step: &StepDecl<S>, at: &str) -> StepDecl<String> {
    StepDecl {
        tool: word(&step.tool, format!("{at}/tool")),
        note: word(&step.note, format!("{at}/note")),
        produces: text_list(&step.produces, format!("{at}/produces")),
        consumes: text_list(&step.consumes, format!("{at}/consumes")),
    }
}

fn entry<S>(entry: &EntryDecl<S>, at: &str) -> EntryDecl<String> {
    EntryDecl {
        skill: word(&entry.skill, format!("{at}/skill")),
        condition: entry.condition.as_ref().map(|of| condition(of, format!("{at}/when"))),
        examples: text_list(&entry.examples, format!("{at}/examples")),
        lints: entry.lints.clone(),
        label: entry.label.as_ref().map(|label| word(label, format!("{at}/label"))),
    }
}

fn condition<S>(of: &Condition<S>, at: String) -> Condition<String> {
    match of {
        Condition::Matches(pattern) => Condition::Matches(word(pattern, format!("{at}/matches"))),
        Condition::Keywords { list, .. } => {
            let at = format!("{at}/keywords");
            Condition::Keywords { list: words(list, &at), at }
        }
        Condition::All { list, .. } => {
            let at = format!("{at}/all");
            Condition::All { list: indexed(list, &at).map(|(at, of)| condition(of, at)).collect(), at }
        }
        Condition::Closure(source) => Condition::Closure(word(source, at)),
        Condition::Intent { intent, examples } => {
            let (at, list) = (format!("{at}/intent/intent"), format!("{at}/intent/examples"));
            let examples = TextList { list: words(&examples.list, &list), at: list };
            Condition::Intent { intent: word(intent, at), examples }
        }
        Condition::Picked { .. } => Condition::Picked { at },
    }
}

fn branch<S>(of: &Branch<S>, at: &str) -> Branch<String> {
    match of {
        Branch::Leaf(skill) => Branch::Leaf(word(skill, at)),
        Branch::Fork(fork) => Branch::Fork(Box::new(Fork {
            at: at.to_owned(),
            condition: condition(&fork.condition, format!("{at}/if")),
            then: branch(&fork.then, &format!("{at}/then")),
            otherwise: fork.otherwise.as_ref().map(|otherwise| branch(otherwise, &format!("{at}/else"))),
        })),
    }
}

fn route<S>(route: &RouteDecl<S>, at: &str) -> RouteDecl<String> {
    RouteDecl {
        from: word(&route.from, format!("{at}/from")),
        to: word(&route.to, format!("{at}/to")),
        trigger: trigger(&route.trigger, at),
        lints: route.lints.clone(),
        label: route.label.as_ref().map(|label| word(label, format!("{at}/label"))),
        unread: route.unread,
    }
}

fn trigger<S>(trigger: &Trigger<S>, at: &str) -> Trigger<String> {
    match trigger {
        Trigger::Pick => Trigger::Pick,
        Trigger::Closure(source) => Trigger::Closure(word(source, at)),
        Trigger::Returns { tools, statuses, guard, closure } => {
            let on = format!("{at}/on");
            Trigger::Returns {
                tools: match tools {
                    TriggerTools::One(tool) => TriggerTools::One(word(tool, format!("{on}/0"))),
                    TriggerTools::AnyOf { list, .. } => TriggerTools::AnyOf { list: words(list, &on), at: on },
                    TriggerTools::Any { .. } => TriggerTools::Any { at: at.to_owned() },
                },
                statuses: *statuses,
                guard: indexed(guard, &format!("{at}/where")).map(|(at, of)| term(of, &at)).collect(),
                closure: closure.as_ref().map(|source| word(source, at)),
            }
        }
    }
}

fn term<S>(term: &GuardTerm<S>, at: &str) -> GuardTerm<String> {
    GuardTerm {
        path: word(&term.path, format!("{at}/path")),
        operator: term.operator,
        values: term.values.clone(),
        listed: term.listed,
        values_at: format!("{at}/value"),
    }
}

fn text_list<S>(list: &Option<TextList<S>>, at: String) -> Option<TextList<String>> {
    list.as_ref().map(|list| TextList { list: words(&list.list, &at), at })
}

fn words<S>(list: &[Word<S>], at: &str) -> Vec<Word<String>> {
    indexed(list, at).map(|(at, of)| word(of, at)).collect()
}

fn word<S>(word: &Word<S>, at: impl Into<String>) -> Word<String> {
    Word::new(&word.text, at.into())
}

/// Each element of a list with its pointer.
fn indexed<'a, T>(list: &'a [T], at: &str) -> impl Iterator<Item = (String, &'a T)> {
    let at = at.to_owned();
    list.iter().enumerate().map(move |(index, element)| (format!("{at}/{index}"), element))
}
