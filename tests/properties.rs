//! What holds for every graph and every model, however it behaves (SPEC 6, 13): random graphs, random replies.

mod common;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use common::assert_paired;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use skillgraph::core::decl::{
    Body, Classify, Condition, EntryDecl, Governor, GovernorLimits, GovernorThen, GraphDecl, Lints, OnSkip, RouteDecl,
    Scope, ScorerKind, SkillDecl, Status, StatusSet, StepDecl, Steps, Surface, TextList, ToolDecl, Trigger,
    TriggerTools, Word, read_prose,
};
use skillgraph::core::graph::{Closures, Graph};
use skillgraph::core::score::{ScorePolicy, ScorerTraits};
use skillgraph::core::turn::{
    Choice, Event, Input, Limits, Message, ModelReply, ModelRequest, Output, Proposal, SavedTurn, ScoreRequest, Scores,
    Setup, StopReason, Strictness, ToolCall, ToolReturn, ToolRun, Transcript, Turn,
};
use skillgraph::{Cause, Outcome};

const TOOLS: usize = 4;

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

fn graph() -> impl Strategy<Value = Arc<Graph>> {
    let skills = prop::collection::vec(skill_plan(), 1..6);
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
                lints: Lints::default(),
                tools: (0..TOOLS).map(tool_decl).collect(),
                baseline: baseline.iter().map(|tool| word(format!("t{tool}"))).collect(),
                skills: skills.iter().enumerate().map(|(at, plan)| skill_decl(at, plan)).collect(),
                entries: entries(&skills, default),
                routes: routes(&skills, &edges),
                never_routes: None,
                classify: Some(Classify { at: (), scorer, policy: ScorePolicy::DEFAULT }),
                tree: None,
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
        steps: (!steps.is_empty()).then_some(Steps { at: (), list: steps }),
        surface: Some((plan.surface, ())),
        refresh: plan.refresh.filter(|_| plan.surface.is_in_result()).map(|refresh| (refresh, ())),
        scope: if plan.always { Scope::Always } else { Scope::Active },
        produces: None,
        consumes: None,
        lints: Lints::default(),
        unread: false,
    }
}

fn entries(skills: &[SkillPlan], default: bool) -> Vec<EntryDecl<()>> {
    let entries = skills.iter().enumerate().filter(|(_, plan)| plan.entry).map(|(at, _)| EntryDecl {
        skill: word(format!("s{at}")),
        condition: (at > 0 || !default).then(|| way_in(at, skills[at].way_in)),
        examples: None,
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

fn reply() -> impl Strategy<Value = ModelReply> {
    let name = prop_oneof![
        6 => (0..TOOLS).prop_map(|tool| format!("t{tool}")),
        3 => Just("read_skill".to_owned()),
        1 => select(vec!["list_skills", "skip_step", "nothing", ""]).prop_map(str::to_owned),
    ];
    let arguments = prop_oneof![
        4 => (0..7usize).prop_map(|skill| json!({ "id": format!("s{skill}"), "reason": "because" }).to_string()),
        2 => Just(String::new()),
        1 => select(vec!["null", "[]", "{\"id\":", "\"x\"", "{\"id\": 3}", "\u{0}"]).prop_map(str::to_owned),
    ];
    let id = select(vec!["a", "b", "c", "d", "e", ""]);
    let call = (id, name, arguments).prop_map(|(id, name, arguments)| ToolCall::new(id, name, arguments));
    let stop = select(vec![
        StopReason::EndTurn,
        StopReason::ToolCalls,
        StopReason::ToolCalls,
        StopReason::MaxTokens,
        StopReason::Refusal,
        StopReason::Other("pause_turn".into()),
    ]);
    let calls = prop_oneof![4 => prop::collection::vec(call, 1..4), 1 => Just(Vec::new())];
    (select(vec!["", "words"]), calls, stop).prop_map(|(text, calls, stop)| ModelReply {
        text: text.into(),
        calls,
        stop,
        usage: None,
    })
}

/// What a tool comes back with, by the order in which the calls are made.
#[derive(Debug, Clone)]
struct ReturnPlan {
    status: Status,
    text: String,
    proposal: Option<usize>,
}

fn return_plan() -> impl Strategy<Value = ReturnPlan> {
    let status = prop_oneof![3 => Just(Status::Success), 2 => select(&Status::ALL)];
    let text = prop_oneof![3 => Just("found".to_owned()), 1 => Just(String::new()), 1 => Just("x".repeat(200))];
    (status, text, prop::option::weighted(0.2, 0..7usize)).prop_map(|(status, text, proposal)| ReturnPlan {
        status,
        text,
        proposal,
    })
}

#[derive(Debug, Clone)]
struct Script {
    message: String,
    replies: Vec<ModelReply>,
    returns: Vec<ReturnPlan>,
    /// Tools finish last first.
    reversed: bool,
    /// The turn is cancelled instead of the output of that number.
    cancel_at: Option<usize>,
    iterations: u32,
    start: StartPlan,
}

/// How the turn starts, and what a scorer and a decider say.
#[derive(Debug, Clone)]
struct StartPlan {
    strictness: Strictness,
    /// The skill of the last turn; not all of them are in the graph.
    inherited: Option<usize>,
    decider: Option<Choice>,
    scores: Vec<f64>,
}

fn start_plan() -> impl Strategy<Value = StartPlan> {
    let strictness = select(&[Strictness::Assist, Strictness::Assist, Strictness::Guard, Strictness::Rails]);
    let chosen = (0..7usize).prop_map(|skill| Choice::Skill(format!("s{skill}").into()));
    let decider = prop::option::of(prop_oneof![2 => chosen, 1 => Just(Choice::Stay), 1 => Just(Choice::None)]);
    let score = select(&[0.0, 0.1, 0.5, 1.0, f64::NAN, f64::INFINITY]);
    (strictness, prop::option::of(0..7usize), decider, prop::collection::vec(score, 0..7))
        .prop_map(|(strictness, inherited, decider, scores)| StartPlan { strictness, inherited, decider, scores })
}

impl StartPlan {
    /// The turn's start, up to the first offer: whoever is asked answers by the plan.
    fn begin(&self, setup: &Arc<Setup>, message: &str) -> Turn {
        let inherited = self.inherited.map(|skill| format!("s{skill}"));
        Turn::start_from(setup.clone(), Transcript::new(), inherited.as_deref(), message)
    }

    fn scores(&self, request: &ScoreRequest) -> Input {
        if self.scores.is_empty() {
            return Input::ScoreFailed;
        }
        let scores = (0..request.candidates.len()).map(|at| self.scores[at % self.scores.len()]).collect();
        Input::Scored(Scores { scorer: "random".into(), scores, traits: ScorerTraits::default() })
    }
}

fn script() -> impl Strategy<Value = Script> {
    let message = prop_oneof![
        2 => (0..6usize).prop_map(|word| format!("please word{word} now")),
        1 => "\\PC{0,30}",
    ];
    let replies = prop::collection::vec(reply(), 1..8);
    let returns = prop::collection::vec(return_plan(), 1..6);
    let cancel_at = prop::option::weighted(0.2, 0..12usize);
    (message, replies, returns, any::<bool>(), cancel_at, 1..6u32, start_plan()).prop_map(
        |(message, replies, returns, reversed, cancel_at, iterations, start)| Script {
            start,
            message,
            replies,
            returns,
            reversed,
            cancel_at,
            iterations,
        },
    )
}

/// A run, and what was seen of it from outside.
#[derive(Debug, PartialEq)]
struct Run {
    outcome: Outcome,
    transcript: Transcript,
    events: Vec<Event>,
    /// For each batch: the tools that were offered, and those that ran.
    batches: Vec<(Vec<String>, Vec<String>)>,
    requests: usize,
}

fn setup(graph: &Arc<Graph>, iterations: u32, start: &StartPlan) -> Arc<Setup> {
    Arc::new(Setup {
        system: "Host.".into(),
        limits: Limits { iterations, result_characters: 100 },
        strictness: start.strictness,
        decider: start.decider.is_some(),
        ..common::setup(graph.clone())
    })
}

/// The turn as it comes back from storage.
fn restored(turn: &Turn, setup: &Arc<Setup>) -> Turn {
    let saved = serde_json::to_string(&turn.save()).expect("a turn serialises");
    let saved: SavedTurn = serde_json::from_str(&saved).expect("a turn deserialises");
    Turn::restore(setup.clone(), saved).expect("the same graph")
}

/// Whatever its surface, the model reads the body of the open skill; one with `refresh` stands among the last replies.
fn assert_body_is_read(graph: &Graph, turn: &Turn, request: &ModelRequest) {
    let Some(skill) = turn.cursor().and_then(|id| graph.skill(graph.find_skill(id.as_str())?)) else { return };
    if skill.surface.is_in_prompt() {
        assert!(request.system.contains(&skill.body), "`{}` is not in the prompt", skill.id);
    } else {
        assert!(!request.system.contains(&skill.body), "`{}` is in the prompt", skill.id);
    }
    let replies = skill.refresh.map_or(usize::MAX, |refresh| refresh.get() as usize);
    let mut followed = 0;
    let recent: Vec<&Message> = request
        .messages
        .iter()
        .rev()
        .take_while(|message| {
            followed += usize::from(matches!(message, Message::Assistant { .. }));
            followed < replies
        })
        .collect();
    let said = serde_json::to_string(&recent).expect("messages serialise").contains(&skill.body);
    let must = skill.refresh.is_some() || !skill.surface.is_in_prompt();
    assert!(said || !must, "`{}` has aged", skill.id);
}

/// Runs the script. With `restore`, the turn goes to storage and back before every output and between tool results.
fn run(graph: &Arc<Graph>, script: &Script, restore: bool) -> Run {
    let setup = setup(graph, script.iterations, &script.start);
    let mut turn = script.start.begin(&setup, &script.message);
    let mut run = Run {
        outcome: Outcome::Cancelled,
        transcript: Transcript::new(),
        events: Vec::new(),
        batches: Vec::new(),
        requests: 0,
    };
    let mut offered = Vec::new();
    let mut returned = 0;
    for output in 0.. {
        if restore {
            turn = restored(&turn, &setup);
        }
        run.events.extend(std::iter::from_fn(|| turn.poll_event()));
        if script.cancel_at == Some(output) && !matches!(turn.poll_output(), Output::Done(_)) {
            turn.handle_input(Input::Cancel).expect("a turn can be cancelled");
            continue;
        }
        match turn.poll_output() {
            Output::Score(request) => turn.handle_input(script.start.scores(&request)).expect("scores are awaited"),
            Output::Decide(_) => {
                let choice = script.start.decider.clone().unwrap_or(Choice::None);
                turn.handle_input(Input::Decided(choice)).expect("a choice is awaited");
            }
            Output::CallModel(request) => {
                offered = request.tool_names().into_iter().map(str::to_owned).collect();
                assert_paired(&request.messages);
                assert_body_is_read(graph, &turn, &request);
                let reply = script.replies.get(run.requests).cloned();
                run.requests += 1;
                let input = reply.map_or(Input::ModelFailed { reason: "used up".into() }, Input::ModelReplied);
                turn.handle_input(input).expect("a reply is awaited");
            }
            Output::RunTools(runs) => {
                run.batches.push((offered.clone(), runs.iter().map(|run| run.name.to_string()).collect()));
                let order: Vec<&ToolRun> =
                    if script.reversed { runs.iter().rev().collect() } else { runs.iter().collect() };
                for tool in order {
                    let plan = &script.returns[returned % script.returns.len()];
                    returned += 1;
                    let mut answer = ToolReturn::new(&tool.call_id, plan.status, Value::from(plan.text.clone()));
                    answer.proposal =
                        plan.proposal.map(|skill| Proposal { skill: format!("s{skill}"), reason: "so".into() });
                    turn.handle_input(Input::ToolReturned(answer)).expect("a result is awaited");
                    if restore {
                        turn = restored(&turn, &setup);
                    }
                }
            }
            Output::Done(outcome) => {
                run.outcome = outcome;
                run.transcript = turn.transcript().clone();
                return run;
            }
            other => panic!("an unknown output: {other:?}"),
        }
    }
    unreachable!("a turn ends")
}

/// Each move is one that the graph allows.
fn assert_moves_are_declared(graph: &Graph, events: &[Event]) {
    let find = |id: &skillgraph::SkillId| graph.find_skill(id.as_str()).expect("a skill of the graph");
    for event in events {
        let Event::CursorDecided(decision) = event else { continue };
        let (from, to) = (decision.from.as_ref().map(find), decision.to.as_ref().map(find));
        match decision.by {
            Cause::Stay => assert!(from.is_some() && from == to),
            Cause::None => assert!(from.is_none() && to.is_none()),
            Cause::Entry => {
                let entries = graph.declaration().entries.iter();
                let mut entries = entries.map(|entry| entry.skill.text.as_str());
                assert!(entries.any(|entry| decision.to.as_ref().expect("a skill") == entry));
            }
            Cause::Intent => {
                let to = to.expect("a target");
                assert!(from != Some(to) && graph.intents().iter().any(|intent| intent.skill == to));
            }
            Cause::Decider => {
                let to = to.expect("a target");
                let known = graph.intents().iter().any(|intent| intent.skill == to) || graph.picked().contains(&to);
                assert!(known && from != Some(to));
            }
            Cause::Continuity => assert!(from.is_some() && from == to && decision.iteration == 1),
            Cause::Route => {
                let fired = decision.fired.as_ref().expect("what fired");
                let routes = graph.declaration().routes.iter();
                let mut declared = routes.filter(|route| {
                    let fires = match &route.trigger {
                        Trigger::Returns { tools, .. } => {
                            tools.named().iter().any(|tool| fired.tool == tool.text.as_str())
                        }
                        _ => false,
                    };
                    let ends = decision.from.as_ref().expect("a source") == route.from.text.as_str()
                        && decision.to.as_ref().expect("a target") == route.to.text.as_str();
                    ends && fires && route.trigger.statuses().contains(fired.status)
                });
                assert!(declared.next().is_some(), "no edge for {decision:?}");
            }
            Cause::ModelPick | Cause::ToolProposal => assert!(graph.is_hop(from, to.expect("a target"))),
            other => panic!("an unknown cause {other}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_has_one_result_in_call_order(graph in graph(), script in script()) {
        let run = run(&graph, &script, false);
        assert_paired(&run.transcript);
    }

    #[test]
    fn the_cursor_moves_only_as_declared(graph in graph(), script in script()) {
        let run = run(&graph, &script, false);
        assert_moves_are_declared(&graph, &run.events);
    }

    #[test]
    fn every_tool_that_ran_was_offered(graph in graph(), script in script()) {
        for (offered, ran) in run(&graph, &script, false).batches {
            prop_assert!(ran.iter().all(|tool| offered.contains(tool)), "{:?} of {:?}", ran, offered);
        }
    }

    #[test]
    fn a_turn_restored_at_every_output_ends_as_the_straight_run(graph in graph(), script in script()) {
        let straight = run(&graph, &script, false);
        let restored = run(&graph, &script, true);
        prop_assert_eq!(straight.outcome, restored.outcome);
        prop_assert_eq!(straight.transcript, restored.transcript);
        prop_assert_eq!(straight.events, restored.events);
    }

    #[test]
    fn the_cap_holds_and_the_procedure_moves_one_step_a_message(graph in graph(), script in script()) {
        let run = run(&graph, &script, false);
        prop_assert!(run.requests <= script.iterations as usize);
        let mut moved = BTreeSet::new();
        for event in &run.events {
            let iteration = match event {
                Event::StepAdvanced { iteration, .. } => *iteration,
                Event::StepSkipped { iteration, policy: OnSkip::Advance, .. } => *iteration,
                _ => continue,
            };
            prop_assert!(moved.insert(iteration), "two moves on iteration {}", iteration);
        }
    }

    #[test]
    fn what_is_said_to_be_reachable_is_accepted_and_the_rest_refused(
        graph in graph(),
        plan in start_plan(),
        message in (0..7usize).prop_map(|word| format!("please word{word}")),
        wanted in 0..7usize,
    ) {
        let setup = setup(&graph, 3, &plan);
        let mut turn = plan.begin(&setup, &message);
        loop {
            let input = match turn.poll_output() {
                Output::Score(request) => plan.scores(&request),
                Output::Decide(_) => Input::Decided(plan.decider.clone().unwrap_or(Choice::None)),
                _ => break,
            };
            turn.handle_input(input).expect("awaited");
        }
        let reachable = std::iter::from_fn(|| turn.poll_event()).find_map(|event| match event {
            Event::Offered { reachable, .. } => Some(reachable),
            _ => None,
        });
        let reachable = reachable.expect("an offer");
        let Output::CallModel(request) = turn.poll_output() else { panic!("the model comes first") };
        prop_assume!(request.tool("read_skill").is_some());
        // The description names the same skills as reachable, the refused ones under their own heading.
        let description = &request.tool("read_skill").expect("offered").description;
        let named = description.split("Not reachable from here").next().expect("a part");
        for skill in graph.skills() {
            let is_named = named.contains(&format!("\n  - {}: ", skill.id));
            let is_here = turn.cursor().as_ref() == Some(&skill.id);
            prop_assert_eq!(is_named, !is_here && reachable.contains(&skill.id), "{} in {}", &skill.id, description);
        }
        let wanted = format!("s{wanted}");
        let call = ToolCall::new("c", "read_skill", json!({ "id": wanted }).to_string());
        turn.handle_input(Input::ModelReplied(ModelReply::calls([call]))).expect("a reply is awaited");
        let refused = std::iter::from_fn(|| turn.poll_event()).any(|event| matches!(event, Event::PickRejected { .. }));
        prop_assert_eq!(refused, !reachable.iter().any(|id| *id == wanted.as_str()));
    }
}
