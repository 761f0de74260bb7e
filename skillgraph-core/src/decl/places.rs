//! The places of a declaration, all of them in one walk: exchanged for others, such as JSON pointers (RFC 6901) into what
//! [`super::GraphSpec`] makes of a graph that has no source text.

use super::{
    Body, Branch, CatalogDecl, CatalogSkillDecl, Classify, Condition, EntryDecl, Fork, Governor, GovernorThen,
    GraphDecl, GuardTerm, RouteDecl, SkillDecl, StepDecl, Steps, TextList, ToolDecl, Tree, Trigger, TriggerTools, Word,
};

impl<S> GraphDecl<S> {
    /// The same graph, each thing at the place that `place` gives for the one it has and for its pointer into the data that
    /// the graph can be written as.
    pub fn placed<T>(&self, place: impl FnMut(&S, &str) -> T) -> GraphDecl<T> {
        Walk { place }.graph(self)
    }

    /// The same graph, each thing at its pointer.
    #[cfg(feature = "turn")]
    pub fn at_pointers(&self) -> GraphDecl<String> {
        self.placed(|_, pointer| pointer.to_owned())
    }
}

impl<S> SkillDecl<S> {
    /// The same skill, each thing at the place that `place` gives for the one it has.
    pub fn placed<T>(&self, mut place: impl FnMut(&S) -> T) -> SkillDecl<T> {
        Walk { place: |at: &S, _: &str| place(at) }.skill(self, "")
    }
}

impl<S> RouteDecl<S> {
    /// The same edge, each thing at the place that `place` gives for the one it has.
    pub fn placed<T>(&self, mut place: impl FnMut(&S) -> T) -> RouteDecl<T> {
        Walk { place: |at: &S, _: &str| place(at) }.route(self, "")
    }
}

#[cfg(feature = "turn")]
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

/// A walk over a declaration that asks for a new place at every old one.
struct Walk<F> {
    place: F,
}

impl<F> Walk<F> {
    fn graph<S, T>(&mut self, of: &GraphDecl<S>) -> GraphDecl<T>
    where
        F: FnMut(&S, &str) -> T,
    {
        GraphDecl {
            name: self.word(&of.name, "/name"),
            form: of.form,
            lints: of.lints.clone(),
            // The registry stands outside the data.
            tools: of.tools.iter().map(|tool| self.tool(tool)).collect(),
            baseline: self.words(&of.baseline, "/baseline"),
            skills: indexed(&of.skills, "/skills").map(|(at, of)| self.skill(of, &at)).collect(),
            entries: indexed(&of.entries, "/entries").map(|(at, of)| self.entry(of, &at)).collect(),
            routes: indexed(&of.routes, "/routes").map(|(at, of)| self.route(of, &at)).collect(),
            never_routes: self.text_list(&of.never_routes, "/never_routes"),
            classify: of.classify.as_ref().map(|classify| Classify {
                at: (self.place)(&classify.at, "/classify/scorer"),
                scorer: classify.scorer,
                policy: classify.policy,
            }),
            governor: of.governor.as_ref().map(|governor| Governor {
                at: (self.place)(&governor.at, "/governor"),
                limits: governor.limits,
                then: match &governor.then {
                    GovernorThen::Stop => GovernorThen::Stop,
                    GovernorThen::Warn => GovernorThen::Warn,
                    GovernorThen::Escalate(model) => {
                        GovernorThen::Escalate(self.word(model, "/governor/then/escalate"))
                    }
                },
            }),
            tree: of
                .tree
                .as_ref()
                .map(|tree| Tree { at: (self.place)(&tree.at, "/tree"), root: self.branch(&tree.root, "/tree") }),
            catalog: of.catalog.as_ref().map(|catalog| CatalogDecl {
                at: (self.place)(&catalog.at, "/catalog"),
                policy: catalog.policy,
                skills: indexed(&catalog.skills, "/catalog/skills")
                    .map(|(at, of)| self.catalog_skill(of, &at))
                    .collect(),
            }),
        }
    }

    fn catalog_skill<S, T>(&mut self, of: &CatalogSkillDecl<S>, at: &str) -> CatalogSkillDecl<T>
    where
        F: FnMut(&S, &str) -> T,
    {
        let under = |key: &str| format!("{at}/{key}");
        CatalogSkillDecl {
            ident: self.word(&of.ident, &under("key")),
            key: self.word(&of.key, &under("key")),
            title: of.title.as_ref().map(|text| self.word(text, &under("title"))),
            header: of.header.as_ref().map(|text| self.word(text, &under("header"))),
            prompt: of.prompt.as_ref().map(|text| self.word(text, &under("prompt"))),
            tools: self.words(&of.tools, &under("tools")),
            default_bind: self.text_list(&of.default_bind, &under("default_bind")),
            needs_sandbox: of.needs_sandbox,
            min_model_tier: of.min_model_tier,
            available: of.available.as_ref().map(|path| self.word(path, at)),
            lints: of.lints.clone(),
            unread: of.unread,
        }
    }

    fn tool<S, T>(&mut self, of: &ToolDecl<S>) -> ToolDecl<T>
    where
        F: FnMut(&S, &str) -> T,
    {
        let (ident, name) = (self.word(&of.ident, ""), self.word(&of.name, ""));
        ToolDecl { ident, name, typed: of.typed, lints: of.lints.clone() }
    }

    fn skill<S, T>(&mut self, of: &SkillDecl<S>, at: &str) -> SkillDecl<T>
    where
        F: FnMut(&S, &str) -> T,
    {
        let under = |key: &str| format!("{at}/{key}");
        SkillDecl {
            ident: self.word(&of.ident, &under("id")),
            id: self.word(&of.id, &under("id")),
            description: of.description.as_ref().map(|text| self.word(text, &under("description"))),
            body: of.body.as_ref().map(|body| match body {
                Body::Inline { source, prose } => {
                    Body::Inline { source: self.word(source, &under("body")), prose: prose.clone() }
                }
                Body::Included => Body::Included,
            }),
            tools: self.words(&of.tools, &under("tools")),
            steps: of.steps.as_ref().map(|steps| Steps {
                at: (self.place)(&steps.at, &under("steps")),
                list: indexed(&steps.list, &under("steps")).map(|(at, of)| self.step(of, &at)).collect(),
            }),
            on_skip: of.on_skip.as_ref().map(|(on_skip, at)| (*on_skip, (self.place)(at, &under("on_skip")))),
            on_unfinished: of
                .on_unfinished
                .as_ref()
                .map(|(said, at)| (*said, (self.place)(at, &under("on_unfinished")))),
            scope: of.scope,
            surface: of.surface.as_ref().map(|(surface, at)| (*surface, (self.place)(at, &under("surface")))),
            refresh: of.refresh.as_ref().map(|(refresh, at)| (*refresh, (self.place)(at, &under("refresh")))),
            produces: self.text_list(&of.produces, &under("produces")),
            consumes: self.text_list(&of.consumes, &under("consumes")),
            lints: of.lints.clone(),
            form: of.form,
            unread: of.unread,
        }
    }

    fn step<S, T>(&mut self, of: &StepDecl<S>, at: &str) -> StepDecl<T>
    where
        F: FnMut(&S, &str) -> T,
    {
        StepDecl {
            tool: self.word(&of.tool, &format!("{at}/tool")),
            note: self.word(&of.note, &format!("{at}/note")),
            produces: self.text_list(&of.produces, &format!("{at}/produces")),
            consumes: self.text_list(&of.consumes, &format!("{at}/consumes")),
        }
    }

    fn entry<S, T>(&mut self, of: &EntryDecl<S>, at: &str) -> EntryDecl<T>
    where
        F: FnMut(&S, &str) -> T,
    {
        EntryDecl {
            skill: self.word(&of.skill, &format!("{at}/skill")),
            condition: of.condition.as_ref().map(|of| self.condition(of, &format!("{at}/when"))),
            examples: self.text_list(&of.examples, &format!("{at}/examples")),
            never_picked: of.never_picked.as_ref().map(|said| (self.place)(said, &format!("{at}/never_picked"))),
            lints: of.lints.clone(),
            label: of.label.as_ref().map(|label| self.word(label, &format!("{at}/label"))),
        }
    }

    fn condition<S, T>(&mut self, of: &Condition<S>, at: &str) -> Condition<T>
    where
        F: FnMut(&S, &str) -> T,
    {
        match of {
            Condition::Matches(pattern) => Condition::Matches(self.word(pattern, &format!("{at}/matches"))),
            Condition::Keywords { at: old, list } => {
                let at = format!("{at}/keywords");
                Condition::Keywords { at: (self.place)(old, &at), list: self.words(list, &at) }
            }
            Condition::All { at: old, list } => {
                let at = format!("{at}/all");
                Condition::All {
                    at: (self.place)(old, &at),
                    list: indexed(list, &at).map(|(at, of)| self.condition(of, &at)).collect(),
                }
            }
            Condition::Closure(source) => Condition::Closure(self.word(source, at)),
            Condition::Intent { intent, examples } => {
                let list = format!("{at}/intent/examples");
                Condition::Intent {
                    intent: self.word(intent, &format!("{at}/intent/intent")),
                    examples: TextList {
                        at: (self.place)(&examples.at, &list),
                        list: self.words(&examples.list, &list),
                    },
                }
            }
            Condition::Picked { at: old } => Condition::Picked { at: (self.place)(old, at) },
        }
    }

    fn branch<S, T>(&mut self, of: &Branch<S>, at: &str) -> Branch<T>
    where
        F: FnMut(&S, &str) -> T,
    {
        match of {
            Branch::Leaf(skill) => Branch::Leaf(self.word(skill, at)),
            Branch::Fork(fork) => Branch::Fork(Box::new(Fork {
                at: (self.place)(&fork.at, at),
                condition: self.condition(&fork.condition, &format!("{at}/if")),
                then: self.branch(&fork.then, &format!("{at}/then")),
                otherwise: fork.otherwise.as_ref().map(|otherwise| self.branch(otherwise, &format!("{at}/else"))),
            })),
        }
    }

    fn route<S, T>(&mut self, of: &RouteDecl<S>, at: &str) -> RouteDecl<T>
    where
        F: FnMut(&S, &str) -> T,
    {
        RouteDecl {
            from: self.word(&of.from, &format!("{at}/from")),
            to: self.word(&of.to, &format!("{at}/to")),
            trigger: self.trigger(&of.trigger, at),
            lints: of.lints.clone(),
            label: of.label.as_ref().map(|label| self.word(label, &format!("{at}/label"))),
            unread: of.unread,
        }
    }

    fn trigger<S, T>(&mut self, of: &Trigger<S>, at: &str) -> Trigger<T>
    where
        F: FnMut(&S, &str) -> T,
    {
        match of {
            Trigger::Pick => Trigger::Pick,
            Trigger::Closure(source) => Trigger::Closure(self.word(source, at)),
            Trigger::Returns { tools, statuses, guard, closure } => {
                let on = format!("{at}/on");
                Trigger::Returns {
                    tools: match tools {
                        TriggerTools::One(tool) => TriggerTools::One(self.word(tool, &format!("{on}/0"))),
                        TriggerTools::AnyOf { at: old, list } => {
                            TriggerTools::AnyOf { at: (self.place)(old, &on), list: self.words(list, &on) }
                        }
                        TriggerTools::Any { at: old } => TriggerTools::Any { at: (self.place)(old, at) },
                    },
                    statuses: *statuses,
                    guard: indexed(guard, &format!("{at}/where")).map(|(at, of)| self.term(of, &at)).collect(),
                    closure: closure.as_ref().map(|source| self.word(source, at)),
                }
            }
        }
    }

    fn term<S, T>(&mut self, of: &GuardTerm<S>, at: &str) -> GuardTerm<T>
    where
        F: FnMut(&S, &str) -> T,
    {
        GuardTerm {
            consts: of.consts.clone(),
            path: self.word(&of.path, &format!("{at}/path")),
            operator: of.operator,
            values: of.values.clone(),
            listed: of.listed,
            values_at: (self.place)(&of.values_at, &format!("{at}/value")),
        }
    }

    fn text_list<S, T>(&mut self, list: &Option<TextList<S>>, at: &str) -> Option<TextList<T>>
    where
        F: FnMut(&S, &str) -> T,
    {
        let list = list.as_ref()?;
        Some(TextList { at: (self.place)(&list.at, at), list: self.words(&list.list, at) })
    }

    fn words<S, T>(&mut self, list: &[Word<S>], at: &str) -> Vec<Word<T>>
    where
        F: FnMut(&S, &str) -> T,
    {
        indexed(list, at).map(|(at, of)| self.word(of, &at)).collect()
    }

    fn word<S, T>(&mut self, word: &Word<S>, at: &str) -> Word<T>
    where
        F: FnMut(&S, &str) -> T,
    {
        Word::new(&word.text, (self.place)(&word.at, at))
    }
}

/// Each element of a list with its pointer.
fn indexed<'a, T>(list: &'a [T], at: &str) -> impl Iterator<Item = (String, &'a T)> {
    let at = at.to_owned();
    list.iter().enumerate().map(move |(index, element)| (format!("{at}/{index}"), element))
}
