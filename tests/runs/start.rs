//! Where a turn starts (SPEC 4): rules, a scorer, a menu, the last turn; and what a pick may do while the menu stands.

use crate::common::{answer, calls, hops, last_results, pick, succeeds, without_others};
use serde_json::json;
use skillgraph::core::turn::{CallRefusal, Carried, Choice, Input, Output, SavedTurn, Scores, Turn};
use skillgraph::{
    Agent, AgentBuilder, BuildError, Continuity, EmbeddingScorer, Event, IntentScorer, ModelReply, ModelScorer,
    PickRefusal, ScoreRequest, ScorerError, ScorerTraits, ScriptedModel, Strictness, TurnReport, TurnRouted,
    skill_graph,
};

skill_graph! {
    #[allow(skillgraph::skill_wraps_one_tool, skillgraph::one_way_entries, skillgraph::no_negative_evidence)]
    #[allow(skillgraph::few_declared_edges, skillgraph::unreachable_skill)]
    graph library {
        tools { find: dyn, pay: dyn }

        skill desk { description: "The front desk", body: "Ask.", tools: [find] }
        skill loans { description: "Loans", body: "Lend.", tools: [find] }
        skill fines { description: "Fines", body: "Collect.", tools: [pay] }
        skill rooms { description: "Rooms", body: "Reserve.", tools: [find] }
        skill lost { description: "Lost property", body: "Search.", tools: [find] }
        skill handbook { description: "How things are done here", body: "Read." }

        entry desk;
        entry lost when keywords["umbrella"];
        entry loans when intent("reader wants to renew a loan", ["renew my book", "keep the book longer"]);
        entry fines when intent("reader asks about a fine", ["why was I charged", "pay my fine"]);
        entry rooms when picked;
        classify: keyword;
        route loans -> fines on find as "overdue";
    }
}

skill_graph! {
    #[allow(skillgraph::skill_wraps_one_tool)]
    graph hosted {
        tools { find: dyn }

        skill loans { description: "Loans", body: "Lend.", tools: [find] }
        skill fines { description: "Fines", body: "Collect.", tools: [find] }

        entry loans when intent("loans", ["renew"]);
        entry fines when intent("fines", ["charged"]);
        classify: host { margin: 0.1, menu: 2, floor: 0.1 }
        route loans -> fines on find;
    }
}

fn library(model: &ScriptedModel) -> AgentBuilder {
    let tools = library::Tools { find: succeeds("find"), pay: succeeds("pay") };
    library::agent(tools).model(model.clone())
}

fn built(builder: AgentBuilder) -> Agent {
    builder.build().expect("an agent")
}

fn answers(count: usize) -> ScriptedModel {
    ScriptedModel::new((0..count).map(|_| answer()))
}

fn routed(report: &TurnReport) -> &TurnRouted {
    let found = report.events.iter().find_map(|event| match event {
        Event::TurnRouted(routed) => Some(routed),
        _ => None,
    });
    found.expect("the turn was routed")
}

async fn start(message: &str) -> (TurnReport, ScriptedModel) {
    let model = answers(1);
    (built(library(&model)).run(message).await.expect("a turn"), model)
}

/// A conversation that left a skill open.
fn on(cursor: &str) -> Carried {
    Carried { cursor: Some(cursor.into()), ..Carried::default() }
}

#[tokio::test]
async fn a_decisive_score_opens_its_skill() {
    let (report, _) = start("renew my book please").await;
    assert_eq!(hops(&report), ["loans by intent"]);
    let routed = routed(&report);
    assert_eq!(routed.scorer.as_deref(), Some("keyword"));
    let scores: Vec<_> =
        routed.scores.iter().map(|score| (score.skill.as_str(), score.score.expect("finite"))).collect();
    assert_eq!((scores[0].0, scores[1]), ("loans", ("fines", 0.0)));
    assert!(routed.decisive && routed.offered.is_empty() && routed.runner_up.is_none());
    assert_eq!(routed.policy.map(|policy| (policy.margin, policy.menu, policy.floor)), Some((0.15, 3, Some(0.0))));
}

/// A scorer that never ends; it says when it began, and when it is gone.
struct Endless(tokio::sync::mpsc::UnboundedSender<&'static str>);

struct Gone(tokio::sync::mpsc::UnboundedSender<&'static str>);

impl Drop for Gone {
    fn drop(&mut self) {
        // Nobody may listen any more.
        let _ = self.0.send("gone");
    }
}

impl IntentScorer for Endless {
    fn name(&self) -> &str {
        "endless"
    }

    async fn score(&self, _: ScoreRequest) -> Result<Vec<f64>, ScorerError> {
        let _gone = Gone(self.0.clone());
        self.0.send("began").expect("the test listens");
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_scorer_ends_with_the_turn_that_asked_it() {
    let (say, mut hear) = tokio::sync::mpsc::unbounded_channel();
    let agent = hosted::agent(hosted::Tools { find: succeeds("find") });
    let agent = built(agent.model(answers(1)).scorer(Endless(say)));
    let mut conversation = agent.conversation();
    tokio::select! {
        _ = conversation.send("hello") => panic!("the scorer never ends"),
        heard = hear.recv() => assert_eq!(heard, Some("began")),
    }
    // The clock stands still while anything can go on.
    let heard = tokio::time::timeout(std::time::Duration::from_secs(1), hear.recv()).await;
    assert_eq!(heard, Ok(Some("gone")));
}

#[tokio::test]
async fn a_rule_goes_before_any_score() {
    let (report, _) = start("renew my book, and I lost my umbrella").await;
    assert_eq!(hops(&report), ["lost by entry"]);
    assert_eq!(routed(&report).witness.as_ref().map(|witness| witness.text.as_str()), Some("umbrella"));
    assert_eq!(routed(&report).scorer, None);
}

#[tokio::test]
async fn a_near_tie_leaves_a_menu_beside_the_default() {
    let (report, model) = start("reader").await;
    assert_eq!(hops(&report), ["desk by entry"]);
    let routed = routed(&report);
    assert_eq!(routed.offered, ["loans", "fines"]);
    assert!(!routed.decisive && !routed.stay_offered);
    let system = &model.requests()[0].system;
    let menu = without_others(system);
    assert!(menu.ends_with("Open the one that fits with `read_skill`."), "{system}");
    assert!(menu.contains("- `loans`: Loans (50 % relevant)"), "{system}");
    assert!(!menu.contains("- `rooms`"), "{system}");
    // Each once: what the menu names is not named again.
    assert_eq!(system.matches("`loans`").count(), 1, "{system}");
    assert!(system.contains("- `rooms`"), "{system}");
}

#[tokio::test]
async fn what_matches_nothing_is_offered_everything() {
    let model = ScriptedModel::new([pick("c1", "rooms"), answer()]);
    let report = built(library(&model)).run("good morning").await.expect("a turn");
    assert_eq!(hops(&report), ["desk by entry", "rooms by model-pick"]);
    assert_eq!(routed(&report).offered, ["loans", "fines", "rooms"]);
    // The menu closes when the cursor moves.
    assert!(without_others(&model.requests()[0].system).contains("- `rooms`: Rooms"));
    assert!(!without_others(&model.requests()[1].system).contains("read_skill"));
}

#[tokio::test]
async fn the_last_turn_is_judged_beside_the_message() {
    let model = answers(5);
    let agent = built(library(&model).continuity(Continuity::Conversation));
    let mut conversation = agent.conversation();
    let mut route = Vec::new();
    for message in ["renew my book", "thank you", "pay my fine", "an umbrella", "reader"] {
        let report = conversation.send(message).await.expect("a turn");
        route.push(hops(&report)[0].clone());
        if message == "thank you" {
            assert!(routed(&report).stay_offered);
            assert_eq!(routed(&report).offered, ["fines", "rooms"]);
        }
    }
    let expected = ["loans by intent", "loans by continuity", "fines by intent", "lost by entry", "lost by continuity"];
    assert_eq!(route, expected);
    let system = &model.requests()[1].system;
    assert!(
        system.contains("# Skill: loans") && without_others(system).ends_with("or stay in `loans` and go on."),
        "{system}"
    );
}

#[tokio::test]
async fn turns_start_cold_where_nobody_said_otherwise() {
    let model = answers(2);
    let mut conversation = built(library(&model)).conversation();
    conversation.send("renew my book").await.expect("a turn");
    let report = conversation.send("thank you").await.expect("a turn");
    assert_eq!(hops(&report), ["desk by entry"]);
}

#[test]
fn a_skill_that_is_gone_is_dropped_and_recorded() {
    let agent = built(library(&answers(0)));
    let mut turn = Turn::start_from(agent.setup().clone(), on("archive"), "good morning");
    assert_eq!(turn.cursor().as_ref().map(|id| id.as_str()), Some("desk"));
    let events: Vec<Event> = std::iter::from_fn(|| turn.poll_event()).collect();
    let dropped = events.iter().find_map(|event| match event {
        Event::TurnRouted(routed) => routed.dropped.as_deref(),
        _ => None,
    });
    assert_eq!(dropped, Some("archive"));
}

#[tokio::test]
async fn a_procedure_begins_anew_in_every_turn() {
    let model = answers(0);
    let agent = built(library(&model));
    let mut turn = Turn::start_from(agent.setup().clone(), on("loans"), "thank you");
    let events: Vec<Event> = std::iter::from_fn(|| turn.poll_event()).collect();
    let activated =
        events.iter().any(|event| matches!(event, Event::SkillActivated { skill, .. } if *skill == "loans"));
    assert!(activated, "{events:?}");
}

#[tokio::test]
async fn guard_admits_what_the_menu_names_and_nothing_else() {
    let replies = [pick("c1", "lost"), pick("c2", "handbook"), pick("c3", "fines"), pick("c4", "loans"), answer()];
    let model = ScriptedModel::new(replies);
    let report = built(library(&model).strictness(Strictness::Guard)).run("reader").await.expect("a turn");
    assert_eq!(hops(&report)[3..], ["fines by model-pick", "fines by stay"]);
    let rejected: Vec<_> =
        report.route().rejections().iter().map(|rejection| (rejection.requested.clone(), rejection.reason)).collect();
    assert_eq!(rejected, [("lost".to_owned(), PickRefusal::OffMenu)]);
    // What is offered is what is admitted: the menu, and what is open to everybody.
    assert_eq!(offered(&report, 0), ["loans", "fines", "handbook"]);
    // The menu has gone with the move, and the handbook is open by then: every pick would be refused, so none is offered.
    assert!(offered(&report, 3).is_empty());
    assert!(model.requests()[3].tool("read_skill").is_none());
    let refused = |event: &Event| matches!(event, Event::CallRefused { reason: CallRefusal::NotOffered, call_id, .. } if call_id == "c4");
    assert!(report.events.iter().any(refused));
    let requests = model.requests();
    let system = &requests[0].system;
    let (reachable, refused) = system.split_once("Not reachable").expect("both");
    assert!(reachable.contains("`fines`") && !reachable.contains("`lost`") && refused.contains("`lost`"), "{system}");
    let said = last_results(&model.requests()[1].messages);
    assert_eq!(
        said[0].1,
        "`lost` is not for you to pick now: a skill opens by what tools return. From here you can open `loans`, `fines`, `handbook`, or finish where you are."
    );
}

#[tokio::test]
async fn rails_admit_no_pick_and_offer_none() {
    let model = ScriptedModel::new([pick("c1", "fines"), answer()]);
    let report = built(library(&model).strictness(Strictness::Rails)).run("reader").await.expect("a turn");
    assert_eq!(hops(&report), ["desk by entry", "desk by stay"]);
    assert_eq!(offered(&report, 0), ["handbook"]);
    assert_eq!(routed(&report).offered, ["loans", "fines"]);
    assert!(!without_others(&model.requests()[0].system).contains("fines"));
    assert_eq!(report.route().rejections()[0].reason, PickRefusal::Rails);
    // Edges still fire.
    let model = ScriptedModel::new([calls([("c1", "find", json!({}))]), answer()]);
    let report = built(library(&model).strictness(Strictness::Rails)).run("renew my book").await.expect("a turn");
    assert_eq!(hops(&report), ["loans by intent", "fines by route"]);
}

fn offered(report: &TurnReport, iteration: usize) -> Vec<String> {
    let offers = report.events.iter().filter_map(|event| match event {
        Event::Offered { reachable, .. } => Some(reachable.iter().map(ToString::to_string).collect()),
        _ => None,
    });
    offers.collect::<Vec<Vec<String>>>().swap_remove(iteration)
}

#[tokio::test]
async fn a_decider_resolves_the_menu_in_one_word() {
    for (word, expected) in [
        ("fines", "fines by decider"),
        ("`Fines`", "desk by entry"),
        (" \"loans\".\n", "loans by decider"),
        ("rooms", "desk by entry"),
        ("none", "desk by entry"),
        ("I think it is fines", "desk by entry"),
    ] {
        let (model, decider) = (answers(1), ScriptedModel::new([ModelReply::text(word)]));
        let report = built(library(&model).decider(decider.clone())).run("reader").await.expect("a turn");
        assert_eq!(hops(&report), [expected], "{word}");
        let asked = &decider.requests()[0];
        assert!(asked.system.contains("loans: reader wants to renew a loan"), "{asked:?}");
        // A schema binds it to the words that there are.
        assert_eq!(asked.tool_names(), ["choose"]);
        let words = &asked.tools[0].parameters["properties"]["word"]["enum"];
        assert_eq!(*words, json!(["loans", "fines", "none"]));
        let stands = model.requests()[0].system.contains("does not say clearly");
        assert_eq!(stands, expected == "desk by entry", "{word}");
    }
}

#[tokio::test]
async fn a_decider_may_stay() {
    let (model, decider) = (answers(2), ScriptedModel::new([ModelReply::text("stay")]));
    let agent = built(library(&model).continuity(Continuity::Conversation).decider(decider.clone()));
    let mut conversation = agent.conversation();
    conversation.send("renew my book").await.expect("a turn");
    let report = conversation.send("thank you").await.expect("a turn");
    assert_eq!(hops(&report), ["loans by continuity"]);
    assert_eq!(routed(&report).decider.as_deref(), Some("stay"));
    assert!(decider.requests()[0].system.contains("stay: it goes on with `loans`"));
    assert!(!model.requests()[1].system.contains("does not say clearly"));
}

fn hosted(model: &ScriptedModel) -> AgentBuilder {
    hosted::agent(hosted::Tools { find: succeeds("find") }).model(model.clone())
}

#[test]
fn who_is_asked_must_be_there() {
    let model = answers(0);
    assert!(matches!(hosted(&model).build(), Err(BuildError::NoScorer)));
    let scorer = || ModelScorer::new(answers(0));
    assert!(matches!(library(&model).scorer(scorer()).build(), Err(BuildError::UnaskedScorer)));
    assert!(hosted(&model).scorer(scorer()).build().is_ok());
}

#[tokio::test]
async fn embeddings_are_compared_by_their_cosine() {
    // Each text is a point by how often it has an `e` and an `n`.
    let embed = |texts: Vec<String>| async move {
        let count = |text: &String, letter: char| text.matches(letter).count() as f32;
        Ok::<_, String>(texts.iter().map(|text| vec![count(text, 'e'), count(text, 'n')]).collect())
    };
    for (message, expected) in [("eee", "- by none"), ("nn", "loans by intent"), ("", "- by none")] {
        let scorer = EmbeddingScorer::new(embed).floor(0.0);
        let report = built(hosted(&answers(1)).scorer(scorer)).run(message).await.expect("a turn");
        assert_eq!(hops(&report), [expected], "{message}: {:?}", routed(&report));
        assert_eq!(routed(&report).scorer.as_deref(), Some("embedding"));
    }
}

#[tokio::test]
async fn a_model_names_the_intent() {
    let called = |word: &str| calls([("c1", "choose", json!({ "word": word }))]);
    let replies = [
        (ModelReply::text("fines"), "fines by intent"),
        (ModelReply::text("none"), "- by none"),
        (called("fines"), "fines by intent"),
        (called("none"), "- by none"),
        (called("nonsense"), "- by none"),
        (calls([("c1", "choose", json!({}))]), "- by none"),
    ];
    for (reply, expected) in replies {
        let scorer = ModelScorer::new(ScriptedModel::new([reply]));
        let report = built(hosted(&answers(1)).scorer(scorer)).run("?").await.expect("a turn");
        assert_eq!(hops(&report), [expected]);
    }
}

#[tokio::test]
async fn a_scorer_that_fails_leaves_a_menu() {
    let embed = |_: Vec<String>| async { Err::<Vec<Vec<f32>>, _>("no network") };
    let report = built(hosted(&answers(1)).scorer(EmbeddingScorer::new(embed))).run("?").await.expect("a turn");
    assert_eq!(hops(&report), ["- by none"]);
    assert_eq!(routed(&report).offered, ["loans", "fines"]);
    assert_eq!(routed(&report).scorer, None);
}

/// Saved while a scorer or a decider is asked, the turn ends as the straight one does.
#[test]
fn a_start_is_saved_and_restored() {
    let agent = built(hosted(&answers(0)).scorer(ModelScorer::new(answers(0))).decider(answers(0)));
    let run = |restored: bool| {
        let mut turn = Turn::start_from(agent.setup().clone(), on("fines"), "?");
        let mut events = Vec::new();
        loop {
            if restored {
                let saved = serde_json::to_string(&turn.save()).expect("serialises");
                let saved: SavedTurn = serde_json::from_str(&saved).expect("deserialises");
                turn = Turn::restore(agent.setup().clone(), saved).expect("the same graph");
            }
            events.extend(std::iter::from_fn(|| turn.poll_event()));
            let input = match turn.poll_output() {
                Output::Score(request) => {
                    assert_eq!(request.candidates.len(), 2);
                    assert!(turn.handle_input(Input::Decided(Choice::None)).is_err());
                    let traits = ScorerTraits { floor: Some(0.5), categorical: false };
                    Input::Scored(Scores { scorer: "test".into(), scores: vec![f64::NAN, 0.05], traits })
                }
                Output::Decide(request) => {
                    assert_eq!(request.stay.as_ref().map(|id| id.as_str()), Some("fines"));
                    Input::Decided(Choice::Skill("loans".into()))
                }
                Output::CallModel(_) => Input::ModelReplied(ModelReply::text("done")),
                Output::Done(outcome) => return (events, outcome, turn.transcript().clone()),
                other => panic!("{other:?}"),
            };
            turn.handle_input(input).expect("awaited");
        }
    };
    let (straight, restored) = (run(false), run(true));
    assert_eq!(straight, restored);
    assert!(
        straight
            .0
            .iter()
            .any(|event| matches!(event, Event::TurnRouted(routed) if routed.decider.as_deref() == Some("loans")))
    );
}

#[tokio::test]
async fn the_record_is_data() {
    let (report, _) = start("pay my fine").await;
    let record = serde_json::to_value(Event::TurnRouted(routed(&report).clone())).expect("serialises");
    assert_eq!(record["event"], "turn_routed");
    assert_eq!(record["by"], "intent");
    assert_eq!(record["policy"], json!({ "margin": 0.15, "menu": 3, "floor": 0.0 }));
    let back: Event = serde_json::from_value(record).expect("deserialises");
    assert_eq!(back, Event::TurnRouted(routed(&report).clone()));
}
