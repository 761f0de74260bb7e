//! Random graphs.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use skillgraph::core::decl::{
    Body, Classify, Condition, EntryDecl, Form, Governor, GovernorLimits, GovernorThen, GraphDecl, Lints, OnSkip,
    RouteDecl, Scope, ScorerKind, SkillDecl, Status, StatusSet, StepDecl, Steps, Surface, TextList, ToolDecl, Trigger,
    TriggerTools, Word, read_prose,
};
use skillgraph::core::graph::{Closures, Graph};
use skillgraph::core::score::ScorePolicy;

/// The most skills of a graph, and how many tools it has. Skills are `s0`, `s1` …, tools `t0`, `t1` ….
pub const SKILLS: usize = 5;
pub const TOOLS: usize = 4;

fn word(text: impl Into<String>) -> Word<()> {
    Word::new(text, ())
}

/// A skill: its tools, its place in the graph, its procedure.
#[derive(Debug, Clone)]
struct SkillPlan {
    tools: Vec<usize>,
    entry: bool,
    way_in: WayIn,
    steps: Vec<prop::sample::Index>,
    hold: bool,
    always: bool,
    surface: Surface,
    refresh: Option<NonZeroU32>,
}

/// What opens a skill that has an entry.
#[derive(Debug, Clone, Copy)]
enum WayIn {
    Keyword,
    Intent,
    Picked,
}

/// An edge: its ends, and what it waits for; where its source has no tools, a pick.
#[derive(Debug, Clone)]
struct EdgePlan {
    from: prop::sample::Index,
    to: prop::sample::Index,
    tool: Option<prop::sample::Index>,
    statuses: Vec<Status>,
}

fn skill_plan() -> impl Strategy<Value = SkillPlan> {
    let tools = prop::collection::btree_set(0..TOOLS, 0..3);
    let steps = prop::collection::vec(any::<prop::sample::Index>(), 0..4);
    let way_in = select(&[WayIn::Keyword, WayIn::Keyword, WayIn::Intent, WayIn::Picked]);
    let surface = select(&[Surface::SystemPrompt, Surface::ToolResult, Surface::Both]);
    let refresh = prop::option::of((1..4u32).prop_map(|every| NonZeroU32::new(every).expect("at least 1")));
    (tools, any::<bool>(), way_in, steps, any::<bool>(), prop::bool::weighted(0.2), surface, refresh).prop_map(
        |(tools, entry, way_in, steps, hold, always, surface, refresh)| SkillPlan {
            surface,
            refresh,
            tools: tools.into_iter().collect(),
            entry,
            way_in,
            steps,
            hold,
            always,
        },
    )
}

fn edge_plan() -> impl Strategy<Value = EdgePlan> {
    let statuses = prop::collection::vec(select(&Status::ALL), 0..3);
    (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<Option<prop::sample::Index>>(), statuses)
        .prop_map(|(from, to, tool, statuses)| EdgePlan { from, to, tool, statuses })
}

pub fn graph() -> impl Strategy<Value = Arc<Graph>> {
    let skills = prop::collection::vec(skill_plan(), 1..=SKILLS);
    let edges = prop::collection::vec(edge_plan(), 0..8);
    let baseline = prop::collection::btree_set(0..TOOLS, 0..2);
    let scorer = select(&[ScorerKind::Keyword, ScorerKind::Host]);
    let then =
        prop_oneof![Just(GovernorThen::Stop), Just(GovernorThen::Warn), Just(GovernorThen::Escalate(word("larger"))),];
    let limits = (1..4u32, 1..4u32, 1..4u32).prop_map(|(ping_pong, refusals, repeats)| GovernorLimits {
        ping_pong,
        refusals,
        repeats,
    });
    let governor = prop::option::of((limits, then).prop_map(|(limits, then)| Governor { at: (), limits, then }));
    (skills, edges, any::<bool>(), baseline, scorer, governor).prop_map(
        |(mut skills, edges, default, baseline, scorer, governor)| {
            skills[0].entry = true;
            let mut decl = GraphDecl {
                name: word("random"),
                form: Form::Data,
                lints: Lints::default(),
                tools: (0..TOOLS).map(tool_decl).collect(),
                baseline: baseline.iter().map(|tool| word(format!("t{tool}"))).collect(),
                skills: skills.iter().enumerate().map(|(at, plan)| skill_decl(at, plan)).collect(),
                entries: entries(&skills, default),
                routes: routes(&skills, &edges),
                never_routes: None,
                classify: Some(Classify { at: (), scorer, policy: ScorePolicy::DEFAULT }),
                tree: None,
                catalog: None,
                governor: governor.clone(),
            };
            deliverable(&mut decl);
            Arc::new(Graph::from_declaration(decl, Closures::default()).expect("the plan is sound"))
        },
    )
}

/// A skill that opens by more than picks has its body in the prompt too.
fn deliverable(decl: &mut GraphDecl<()>) {
    let led_to = |name: &str| {
        let edges = decl.routes.iter().filter(|route| !matches!(route.trigger, Trigger::Pick));
        decl.entries.iter().map(|entry| &entry.skill).chain(edges.map(|route| &route.to)).any(|word| word.text == name)
    };
    let reached: Vec<bool> = decl.skills.iter().map(|skill| led_to(&skill.ident.text)).collect();
    for (skill, reached) in decl.skills.iter_mut().zip(reached) {
        if reached && matches!(skill.surface, Some((Surface::ToolResult, ()))) {
            skill.surface = Some((Surface::Both, ()));
        }
    }
}

fn tool_decl(at: usize) -> ToolDecl<()> {
    ToolDecl { ident: word(format!("t{at}")), name: word(format!("t{at}")), typed: false, lints: Lints::default() }
}

fn skill_decl(at: usize, plan: &SkillPlan) -> SkillDecl<()> {
    let body = format!("Body of s{at}.");
    let steps = plan.steps.iter().filter(|_| plan.entry && !plan.tools.is_empty());
    let steps = steps.map(|step| StepDecl {
        tool: word(format!("t{}", step.get(&plan.tools))),
        note: word("next"),
        produces: None,
        consumes: None,
    });
    let steps: Vec<StepDecl<()>> = steps.collect();
    SkillDecl {
        ident: word(format!("s{at}")),
        id: word(format!("s{at}")),
        description: Some(word(format!("Skill {at}"))),
        body: Some(Body::Inline { prose: read_prose(&body), source: word(body) }),
        tools: plan.tools.iter().map(|tool| word(format!("t{tool}"))).collect(),
        on_skip: (plan.hold && !steps.is_empty()).then_some((OnSkip::Hold, ())),
        on_unfinished: None,
        steps: (!steps.is_empty()).then_some(Steps { at: (), list: steps }),
        surface: Some((plan.surface, ())),
        refresh: plan.refresh.filter(|_| plan.surface.is_in_result()).map(|refresh| (refresh, ())),
        scope: if plan.always { Scope::Always } else { Scope::Active },
        produces: None,
        consumes: None,
        lints: Lints::default(),
        form: skillgraph::core::decl::Form::Language,
        unread: false,
    }
}

fn entries(skills: &[SkillPlan], default: bool) -> Vec<EntryDecl<()>> {
    let entries = skills.iter().enumerate().filter(|(_, plan)| plan.entry).map(|(at, _)| EntryDecl {
        skill: word(format!("s{at}")),
        condition: (at > 0 || !default).then(|| way_in(at, skills[at].way_in)),
        examples: None,
        never_picked: None,
        lints: Lints::default(),
        label: None,
    });
    entries.collect()
}

fn way_in(at: usize, way_in: WayIn) -> Condition<()> {
    let words = vec![word(format!("word{at}"))];
    match way_in {
        WayIn::Keyword => Condition::Keywords { at: (), list: words },
        WayIn::Intent => {
            Condition::Intent { intent: word(format!("please word{at}")), examples: TextList { at: (), list: words } }
        }
        WayIn::Picked => Condition::Picked { at: () },
    }
}

fn routes(skills: &[SkillPlan], edges: &[EdgePlan]) -> Vec<RouteDecl<()>> {
    let mut seen = BTreeSet::new();
    let mut routes = Vec::new();
    for edge in edges {
        let (from, to) = (edge.from.index(skills.len()), edge.to.index(skills.len()));
        let tools = &skills[from].tools;
        let trigger = match edge.tool.filter(|_| !tools.is_empty()) {
            None => Trigger::Pick,
            Some(tool) => Trigger::Returns {
                tools: TriggerTools::One(word(format!("t{}", tool.get(tools)))),
                statuses: (!edge.statuses.is_empty())
                    .then(|| edge.statuses.iter().copied().fold(StatusSet::NONE, StatusSet::with)),
                guard: Vec::new(),
                closure: None,
            },
        };
        if seen.insert(format!("{from} {to} {trigger:?} {:?}", trigger.statuses())) {
            routes.push(RouteDecl {
                from: word(format!("s{from}")),
                to: word(format!("s{to}")),
                trigger,
                lints: Lints::default(),
                label: None,
                unread: false,
            });
        }
    }
    // Two spellings of one trigger are one edge.
    let mut distinct = BTreeSet::new();
    routes.retain(|route: &RouteDecl<()>| {
        let tools = match &route.trigger {
            Trigger::Returns { tools, .. } => tools.named().iter().map(|tool| tool.text.clone()).collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        distinct.insert(format!("{} {} {tools:?} {:?}", route.from.text, route.to.text, route.trigger.statuses()))
    });
    routes
}
