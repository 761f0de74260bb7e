//! The graph as one static table: every mention of a name is a path through the author's token.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use skillgraph_core::decl::{
    Body, GovernorLimits, Lints, Literal, Number, OnSkip, OnUnfinished, Scope, SkillDecl, StatusSet, Surface, Word,
};
use skillgraph_core::{ModelTier, SkillPolicy};

use skillgraph_core::score::ScorePolicy;

use super::Emit;
use super::closures::{availability, entry_test, route_test, tree_test, typed_tool};
use super::guards::guard_const;
use crate::ast::{self, Branch, Closure, Condition, Route, Skill, Term, Then, Trigger, TriggerTools};
use crate::lower::{path, source};
use crate::place::Place;

pub(super) fn graph_table(emit: &Emit<'_>) -> TokenStream {
    let private = emit.private();
    let name = &emit.graph.name.text;
    let tools = emit.tools.iter().map(|tool| {
        let ident = &tool.ident.ident;
        let typed = tool.is_typed();
        let lints = lints(&private, &tool.attributes.lints);
        quote_spanned!(Span::mixed_site()=> #private::ToolRow { id: tool::#ident, typed: #typed, lints: #lints })
    });
    let baseline = emit.tool_paths(&emit.graph.baseline);
    let skills = emit.skills.iter().filter_map(|(skill, at)| Some(skill_row(emit, skill, emit.decl.skills.get(*at)?)));
    let entries =
        emit.graph.entries.iter().enumerate().filter(|(_, entry)| emit.knows_skill(&entry.skill)).map(|(at, entry)| {
            let skill = &entry.skill.ident;
            let mut part = 0;
            let mut test = |_: &Closure| {
                part += 1;
                entry_test(at, part - 1)
            };
            let condition = option(entry.condition.as_ref().map(|condition| condition_row(emit, &mut test, condition)));
            let label = option(entry.label.as_ref().map(ToTokens::to_token_stream));
            let (examples, lints) = (texts(entry.examples.as_ref()), lints(&private, &entry.lints));
            let never_picked = entry.never_picked.is_some();
            quote_spanned! {Span::mixed_site()=>
                #private::EntryRow {
                    skill: skill::#skill,
                    condition: #condition,
                    examples: #examples,
                    never_picked: #never_picked,
                    lints: #lints,
                    label: #label,
                }
            }
        });
    let routes = emit.routes().enumerate().map(|(at, route)| route_row(emit, at, route));
    let lints = lints(&private, &emit.graph.attributes.lints);
    let never_routes = texts(emit.graph.never_routes.as_ref());
    let classify = option(emit.graph.classify.as_ref().map(|classify| {
        let scorer = Ident::new(&format!("{:?}", classify.scorer), Span::mixed_site());
        let ScorePolicy { margin, menu, floor } = classify.policy;
        let floor = option(floor.map(|floor| floor.to_token_stream()));
        quote_spanned! {Span::mixed_site()=>
            #private::ClassifyRow {
                scorer: #private::ScorerKind::#scorer,
                policy: #private::ScorePolicy { margin: #margin, menu: #menu, floor: #floor },
            }
        }
    }));
    let governor = option(emit.graph.governor.as_ref().map(|governor| {
        let GovernorLimits { ping_pong, refusals, repeats } = governor.limits;
        let then = match &governor.then {
            Then::Stop => quote_spanned!(Span::mixed_site()=> Stop),
            Then::Warn => quote_spanned!(Span::mixed_site()=> Warn),
            Then::Escalate(model) => quote_spanned!(Span::mixed_site()=> Escalate(#model)),
        };
        quote_spanned! {Span::mixed_site()=>
            #private::GovernorRow {
                limits: #private::GovernorLimits { ping_pong: #ping_pong, refusals: #refusals, repeats: #repeats },
                then: #private::ThenRow::#then,
            }
        }
    }));
    let catalog = option(emit.graph.catalog.as_ref().map(|catalog| catalog_row(emit, catalog)));
    let mut closures = 0;
    let tree = emit.graph.tree.as_ref().and_then(|tree| branch_row(emit, &tree.root, &mut closures));
    let tree = option(tree);
    quote_spanned! {Span::mixed_site()=>
        #private::GraphTable {
            name: #name,
            lints: #lints,
            tools: &[#(#tools),*],
            baseline: &[#(#baseline),*],
            skills: &[#(#skills),*],
            entries: &[#(#entries),*],
            routes: &[#(#routes),*],
            never_routes: #never_routes,
            classify: #classify,
            tree: #tree,
            governor: #governor,
            catalog: #catalog,
        }
    }
}

fn catalog_row(emit: &Emit<'_>, catalog: &ast::Catalog) -> TokenStream {
    let private = emit.private();
    let variant = |value: &dyn std::fmt::Debug| Ident::new(&format!("{value:?}"), Span::mixed_site());
    let tier = |tier: Option<ModelTier>| {
        option(tier.map(|tier| {
            let tier = variant(&tier);
            quote_spanned!(Span::mixed_site()=> #private::ModelTier::#tier)
        }))
    };
    let lowered = emit.decl.catalog_skills();
    let mut asked = 0;
    let skills = catalog.skills.iter().zip(lowered).map(|(skill, decl)| {
        let (ident, key) = (&decl.ident.text, &decl.key.text);
        let title = option(decl.title.as_ref().map(|title| title.text.to_token_stream()));
        let text = |word: &Option<Word<Place>>| word.as_ref().map_or_else(String::new, |word| word.text.clone());
        let (header, prompt) = (text(&decl.header), text(&decl.prompt));
        let tools = emit.tool_paths(&skill.tools);
        let default_bind = emit.tool_paths(skill.default_bind.as_ref().map_or(&[], |names| &names.list));
        let (needs_sandbox, min_model_tier) = (skill.needs_sandbox, tier(skill.min_model_tier));
        let available = option(decl.available.as_ref().map(|path| {
            let (source, test) = (&path.text, availability(asked));
            asked += 1;
            quote_spanned!(Span::mixed_site()=> (#source, __closures::#test))
        }));
        let lints = lints(&private, &skill.attributes.lints);
        quote_spanned! {Span::mixed_site()=>
            #private::CatalogSkillRow {
                ident: #ident,
                key: #key,
                title: #title,
                header: #header,
                prompt: #prompt,
                tools: &[#(#tools),*],
                default_bind: &[#(#default_bind),*],
                needs_sandbox: #needs_sandbox,
                min_model_tier: #min_model_tier,
                available: #available,
                lints: #lints,
            }
        }
    });
    let SkillPolicy {
        max_open_skills,
        max_bound_tools_per_skill,
        max_bound_tools_total,
        model_tier,
        disclosure,
        reset,
    } = catalog.policy;
    let (model_tier, disclosure, reset) = (tier(model_tier), variant(&disclosure), variant(&reset));
    quote_spanned! {Span::mixed_site()=>
        #private::CatalogRow {
            policy: #private::SkillPolicy {
                max_open_skills: #max_open_skills,
                max_bound_tools_per_skill: #max_bound_tools_per_skill,
                max_bound_tools_total: #max_bound_tools_total,
                model_tier: #model_tier,
                disclosure: #private::Disclosure::#disclosure,
                reset: #private::Reset::#reset,
            },
            skills: &[#(#skills),*],
        }
    }
}

/// A part of a tree; none where it leads to a skill that is not declared, or nowhere.
fn branch_row(emit: &Emit<'_>, branch: &Branch, closures: &mut usize) -> Option<TokenStream> {
    let private = emit.private();
    match branch {
        Branch::Leaf(skill) => {
            let ident = &skill.ident;
            let row = quote_spanned!(Span::mixed_site()=> #private::BranchRow::Leaf(skill::#ident));
            emit.knows_skill(skill).then_some(row)
        }
        Branch::Fork(fork) => {
            let condition = condition_row(
                emit,
                &mut |_| {
                    *closures += 1;
                    tree_test(*closures - 1)
                },
                &fork.condition,
            );
            let then = branch_row(emit, &fork.then, closures);
            let otherwise = fork.otherwise.as_ref().and_then(|branch| branch_row(emit, branch, closures));
            let otherwise = option(otherwise.map(|row| quote_spanned!(Span::mixed_site()=> &#row)));
            let then = then?;
            Some(quote_spanned! {Span::mixed_site()=>
                #private::BranchRow::Fork { condition: #condition, then: &#then, otherwise: #otherwise }
            })
        }
    }
}

fn skill_row(emit: &Emit<'_>, skill: &Skill, decl: &SkillDecl<Place>) -> TokenStream {
    let private = emit.private();
    let ident = &skill.ident.ident;
    let description = decl.description.as_ref().map_or("", |text| &text.text);
    let body = match (&skill.body, &decl.body) {
        (Some(ast::Body::Included(path)), _) => {
            // Resolved as ours, and said at the path.
            quote_spanned!(Span::mixed_site().located_at(path.span())=> ::core::include_str!(#path))
        }
        (_, Some(Body::Inline { prose: Ok(prose), .. })) => {
            let text = prose.render(|tool| emit.model_name(tool).unwrap_or(tool));
            quote_spanned!(Span::mixed_site()=> #text)
        }
        _ => quote_spanned!(Span::mixed_site()=> ""),
    };
    let tools = emit.tool_paths(&skill.tools);
    let steps =
        skill.steps.iter().flat_map(|steps| &steps.list).filter(|step| emit.knows_tool(&step.tool)).map(|step| {
            let (tool, note) = (&step.tool.ident, &step.note);
            let (produces, consumes) = (kinds(step.produces.as_ref()), kinds(step.consumes.as_ref()));
            quote_spanned! {Span::mixed_site()=>
                #private::StepRow { tool: tool::#tool, note: #note, produces: #produces, consumes: #consumes }
            }
        });
    let on_skip = match skill.on_skip {
        Some((OnSkip::Hold, _)) => quote_spanned!(Span::mixed_site()=> Hold),
        _ => quote_spanned!(Span::mixed_site()=> Advance),
    };
    let on_unfinished = option(skill.on_unfinished.map(|(said, _)| match said {
        OnUnfinished::Nudge => quote_spanned!(Span::mixed_site()=> #private::OnUnfinished::Nudge),
        OnUnfinished::Accept => quote_spanned!(Span::mixed_site()=> #private::OnUnfinished::Accept),
    }));
    let scope = match skill.scope {
        Scope::Active => quote_spanned!(Span::mixed_site()=> Active),
        Scope::Always => quote_spanned!(Span::mixed_site()=> Always),
    };
    let surface = match skill.surface.map(|(surface, _)| surface).unwrap_or_default() {
        Surface::SystemPrompt => quote_spanned!(Span::mixed_site()=> SystemPrompt),
        Surface::ToolResult => quote_spanned!(Span::mixed_site()=> ToolResult),
        Surface::Both => quote_spanned!(Span::mixed_site()=> Both),
    };
    // `new` is `None` for 0 alone.
    let refresh = skill.refresh.map_or(0, |(refresh, _)| refresh.get());
    let (produces, consumes) = (kinds(skill.produces.as_ref()), kinds(skill.consumes.as_ref()));
    let lints = lints(&private, &skill.attributes.lints);
    quote_spanned! {Span::mixed_site()=>
        #private::SkillRow {
            id: skill::#ident,
            description: #description,
            body: #body,
            tools: &[#(#tools),*],
            steps: &[#(#steps),*],
            on_skip: #private::OnSkip::#on_skip,
            on_unfinished: #on_unfinished,
            scope: #private::Scope::#scope,
            surface: #private::Surface::#surface,
            refresh: ::core::num::NonZeroU32::new(#refresh),
            produces: #produces,
            consumes: #consumes,
            lints: #lints,
        }
    }
}

/// A condition. `test` names the test of the next closure.
fn condition_row(emit: &Emit<'_>, test: &mut dyn FnMut(&Closure) -> Ident, condition: &Condition) -> TokenStream {
    let private = emit.private();
    match condition {
        Condition::Matches(pattern) => quote_spanned!(Span::mixed_site()=> #private::ConditionRow::Matches(#pattern)),
        Condition::Keywords { list, .. } => {
            quote_spanned!(Span::mixed_site()=> #private::ConditionRow::Keywords(&[#(#list),*]))
        }
        Condition::All { list, .. } => {
            let parts: Vec<_> = list.iter().map(|condition| condition_row(emit, test, condition)).collect();
            quote_spanned!(Span::mixed_site()=> #private::ConditionRow::All(&[#(#parts),*]))
        }
        Condition::Intent { intent, examples } => {
            let examples = texts(Some(examples));
            quote_spanned!(Span::mixed_site()=> #private::ConditionRow::Intent { intent: #intent, examples: #examples })
        }
        Condition::Picked(_) => quote_spanned!(Span::mixed_site()=> #private::ConditionRow::Picked),
        Condition::Unread(_) => quote_spanned!(Span::mixed_site()=> #private::ConditionRow::Matches("unread")),
        Condition::Closure(closure) => {
            let (source, test) = (source(closure).text, test(closure));
            quote_spanned!(Span::mixed_site()=> #private::ConditionRow::Closure { source: #source, test: __closures::#test })
        }
    }
}

fn route_row(emit: &Emit<'_>, at: usize, route: &Route) -> TokenStream {
    let private = emit.private();
    let (from, to) = (&route.from.ident, &route.to.ident);
    let trigger = match &route.trigger {
        Trigger::Pick => quote_spanned!(Span::mixed_site()=> Pick),
        Trigger::Closure(closure) => {
            let test = result_test(emit, at, closure);
            quote_spanned!(Span::mixed_site()=> Closure(#test))
        }
        Trigger::Returns { tools, statuses, guard, closure } => {
            let statuses = option(statuses.map(|set| status_list(emit, set)));
            let typed = typed_tool(emit, tools).is_some();
            let test = option(closure.as_ref().map(|closure| {
                if typed {
                    let source = source(closure).text;
                    quote_spanned!(Span::mixed_site()=> #private::TestRow::Typed { source: #source })
                } else {
                    result_test(emit, at, closure)
                }
            }));
            let tools = tools_row(emit, tools);
            let terms = guard.iter().enumerate().map(|(place, term)| term_row(emit, (at, place), term));
            quote_spanned! {Span::mixed_site()=>
                Returns { tools: #tools, statuses: #statuses, guard: &[#(#terms),*], test: #test }
            }
        }
    };
    let lints = lints(&private, &route.lints);
    let label = option(route.label.as_ref().map(ToTokens::to_token_stream));
    quote_spanned! {Span::mixed_site()=>
        #private::RouteRow {
            from: skill::#from,
            to: skill::#to,
            trigger: #private::TriggerRow::#trigger,
            lints: #lints,
            label: #label,
        }
    }
}

/// `at`: the place of the edge, and of the term in its guard.
fn term_row(emit: &Emit<'_>, at: (usize, usize), term: &Term) -> TokenStream {
    let private = emit.private();
    let path = path(term);
    let operator = Ident::new(&format!("{:?}", term.operator), Span::mixed_site());
    let values = term.values.iter().map(|value| match value {
        Literal::Bool(value) => quote_spanned!(Span::mixed_site()=> #private::LiteralRow::Bool(#value)),
        Literal::Text(text) => quote_spanned!(Span::mixed_site()=> #private::LiteralRow::Text(#text)),
        Literal::Number(number) => {
            let number = match number {
                Number::Whole(value) => quote_spanned!(Span::mixed_site()=> Whole(#value)),
                Number::Large(value) => quote_spanned!(Span::mixed_site()=> Large(#value)),
                Number::Float(value) => quote_spanned!(Span::mixed_site()=> Float(#value)),
            };
            quote_spanned!(Span::mixed_site()=> #private::LiteralRow::Number(#private::Number::#number))
        }
    });
    let consts = (0..term.consts.len()).map(|place| {
        let name = guard_const(at, place);
        quote_spanned!(Span::mixed_site()=> #private::LiteralRow::Const(__closures::#name))
    });
    let values = values.chain(consts);
    quote_spanned! {Span::mixed_site()=>
        #private::TermRow { path: #path, operator: #private::GuardOperator::#operator, values: &[#(#values),*] }
    }
}

fn result_test(emit: &Emit<'_>, at: usize, closure: &Closure) -> TokenStream {
    let private = emit.private();
    let (source, test) = (source(closure).text, route_test(at));
    quote_spanned!(Span::mixed_site()=> #private::TestRow::Result { source: #source, test: __closures::#test })
}

fn tools_row(emit: &Emit<'_>, tools: &TriggerTools) -> TokenStream {
    let private = emit.private();
    if let TriggerTools::Any { .. } = tools {
        return quote_spanned!(Span::mixed_site()=> #private::ToolsRow::Any);
    }
    let tools = emit.tool_paths(tools.named());
    quote_spanned!(Span::mixed_site()=> #private::ToolsRow::These(&[#(#tools),*]))
}

fn status_list(emit: &Emit<'_>, set: StatusSet) -> TokenStream {
    let private = emit.private();
    let statuses = set.iter().map(|status| {
        let variant = Ident::new(&format!("{status:?}"), Span::mixed_site());
        quote_spanned!(Span::mixed_site()=> #private::Status::#variant)
    });
    quote_spanned!(Span::mixed_site()=> &[#(#statuses),*])
}

fn lints(private: &TokenStream, lints: &Lints) -> TokenStream {
    let levels = lints.levels().iter().map(|(code, level)| {
        let code = Ident::new(&format!("{code:?}"), Span::mixed_site());
        let level = Ident::new(&format!("{level:?}"), Span::mixed_site());
        quote_spanned!(Span::mixed_site()=> (#private::Code::#code, #private::LintLevel::#level))
    });
    quote_spanned!(Span::mixed_site()=> &[#(#levels),*])
}

fn texts(texts: Option<&ast::Texts>) -> TokenStream {
    let texts = texts.into_iter().flat_map(|texts| &texts.list);
    quote_spanned!(Span::mixed_site()=> &[#(#texts),*])
}

fn kinds(kinds: Option<&ast::Names>) -> TokenStream {
    let kinds = kinds.into_iter().flat_map(|kinds| &kinds.list).map(|kind| &kind.text);
    quote_spanned!(Span::mixed_site()=> &[#(#kinds),*])
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote_spanned!(Span::mixed_site()=> ::core::option::Option::Some(#value)),
        None => quote_spanned!(Span::mixed_site()=> ::core::option::Option::None),
    }
}
