//! Ends of a turn, results and steps (sections B and C of the second round).

use std::sync::atomic::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillgraph::core::turn::{CallRefusal, SkipRefusal, UnfinishedAction};
use skillgraph::{
    Agent, Continuity, DynTool, Event, Message, ModelReply, Outcome, ScriptedModel, Standing, Status, StopReason,
    ToolCall, ToolReply, Trip, TurnReport, skill_graph, tool,
};

use crate::common::{self, all_text, answer, assert_paired, calls, counts, hops, last_results, pick, succeeds, take};

skill_graph! {
    #[allow(skillgraph::model_edge_only)]
    graph shop {
        tools { find: dyn, pay: dyn, note: dyn }
        skill desk {
            description: "Refunds",
            body: "Find, then pay.",
            tools: [find, pay, note],
            steps: [find: "find it", pay: "pay it"],
        }
        skill receipt { description: "Receipts", body: "Write the receipt.", tools: [note] }
        skill trouble { description: "Trouble", body: "Say sorry.", tools: [note] }
        entry desk;
        route desk -> receipt on pay;
        route desk -> trouble on pay is failure;
        route receipt ~> desk;
    }
}

fn shop_with(model: &ScriptedModel, mut given: Vec<DynTool>) -> skillgraph::AgentBuilder {
    let (find, pay, note) = (take(&mut given, "find"), take(&mut given, "pay"), take(&mut given, "note"));
    shop::agent(shop::Tools { find, pay, note }).model(model.clone()).continuity(Continuity::Conversation)
}

fn shop(model: &ScriptedModel, given: Vec<DynTool>) -> Agent {
    shop_with(model, given).build().expect("an agent")
}

fn call(id: &str, name: &str) -> ModelReply {
    calls([(id, name, json!({}))])
}

fn two(first: (&str, &str, Value), second: (&str, &str, Value)) -> ModelReply {
    calls([first, second])
}

fn says(name: &str, reply: impl Fn() -> ToolReply<Value> + Send + Sync + 'static) -> DynTool {
    common::tool(name, move |_| reply())
}

#[tokio::test]
async fn f10_what_happened_at_the_cap_counts() {
    let model = ScriptedModel::new([call("a", "find"), call("b", "pay"), answer()]);
    let (pay, paid) = counts("pay");
    let agent = shop_with(&model, vec![pay]).max_iterations(2).build().expect("an agent");
    let mut conversation = agent.conversation();
    let report = conversation.send("a refund").await.expect("a turn");
    assert_eq!(report.outcome, Outcome::OutOfIterations { iterations: 2 });
    assert_eq!(hops(&report), ["desk by entry", "desk by stay", "receipt by route"]);
    assert_eq!(report.cursor, Some(shop::skill::receipt));
    let advanced = report.events.iter().filter(|event| matches!(event, Event::StepAdvanced { .. })).count();
    assert_eq!((advanced, report.procedure.clone()), (2, None));
    // The next turn begins where the record says.
    let report = conversation.send("and?").await.expect("a turn");
    assert_eq!(hops(&report), ["receipt by continuity"]);
    assert_eq!(paid.load(Ordering::SeqCst), 1);
    assert!(!all_text(&model.requests()[2]).contains("Step 1 of 2"), "{}", all_text(&model.requests()[2]));
}

#[tokio::test]
async fn f10_a_step_at_the_cap_is_taken() {
    let model = ScriptedModel::new([call("a", "find"), answer()]);
    let agent = shop_with(&model, vec![]).max_iterations(1).build().expect("an agent");
    let mut conversation = agent.conversation();
    let report = conversation.send("a refund").await.expect("a turn");
    assert_eq!(report.procedure.as_ref().map(|standing| standing.step), Some(2));
    conversation.send("and?").await.expect("a turn");
    assert!(model.requests()[1].system.contains("Step 2 of 2 is next"), "{}", model.requests()[1].system);
}

/// A turn that is dropped while one of two tools is still running: the one that returned counts, and fires its edge.
#[tokio::test]
async fn f10_what_returned_before_a_turn_was_dropped_counts() {
    let slow = DynTool::new("note", "Never returns.", json!({ "type": "object" }), |_, _| async {
        std::future::pending::<()>().await;
        Ok::<_, String>(ToolReply::success(json!("never")))
    });
    let batch = two(("b", "pay", json!({})), ("c", "note", json!({})));
    let model = ScriptedModel::new([call("a", "find"), batch, answer()]);
    let (pay, paid) = counts("pay");
    let agent = shop(&model, vec![pay, slow]);
    let mut conversation = agent.conversation();
    let mut stream = conversation.stream("a refund");
    while paid.load(Ordering::SeqCst) == 0 {
        tokio::select! { biased; _ = stream.next() => {}, () = tokio::task::yield_now() => {} }
    }
    // The result is taken in as soon as it is there.
    tokio::task::yield_now().await;
    let _ = tokio::time::timeout(std::time::Duration::ZERO, stream.next()).await;
    drop(stream);
    let report = conversation.send("and?").await.expect("a turn");
    assert_eq!(hops(&report), ["receipt by continuity"]);
    assert_paired(&conversation.transcript());
    assert_eq!(paid.load(Ordering::SeqCst), 1);
}

skill_graph! {
    #[allow(skillgraph::model_edge_only, skillgraph::one_way_entries, skillgraph::no_negative_evidence)]
    graph spins {
        tools { x: dyn, y: dyn }
        skill a { description: "A", body: "A.", tools: [x, y] }
        skill b { description: "B", body: "B.", tools: [x, y] }
        skill c { description: "C", body: "C.", tools: [x, y] }
        entry a when keywords["a"];
        route a ~> b;
        route b ~> c;
        route c ~> a;
        governor { ping_pong: 2, refusals: 3, repeats: 2 }
    }
}

skill_graph! {
    #[allow(skillgraph::model_edge_only)]
    graph circles {
        tools { x: dyn }
        skill a { description: "A", body: "A.", tools: [x] }
        skill b { description: "B", body: "B.", tools: [x] }
        skill c { description: "C", body: "C.", tools: [x] }
        entry a;
        route a ~> b;
        route b ~> c;
        governor { ping_pong: 2, repeats: 9 }
    }
}

async fn circling(replies: Vec<ModelReply>) -> TurnReport {
    let model = ScriptedModel::new(replies);
    let agent = circles::agent(circles::Tools { x: succeeds("x") }).model(model).max_iterations(20).build();
    agent.expect("an agent").run("a").await.expect("a turn")
}

async fn spinning(message: &str, replies: Vec<ModelReply>) -> TurnReport {
    let model = ScriptedModel::new(replies);
    let tools = spins::Tools { x: succeeds("x"), y: succeeds("y") };
    let agent = spins::agent(tools).model(model).max_iterations(20).build().expect("an agent");
    agent.run(message).await.expect("a turn")
}

fn trip(report: &TurnReport) -> Option<&Trip> {
    match &report.outcome {
        Outcome::Stopped { trip } => Some(trip),
        _ => None,
    }
}

#[tokio::test]
async fn f11_a_pick_at_a_stop_is_told_why_the_turn_ended() {
    let same = || ("x", json!({}));
    let batch = |n: u32| {
        let (name, arguments) = same();
        calls([
            (format!("c{n}").as_str(), name, arguments.clone()),
            (format!("p{n}").as_str(), "read_skill", json!({ "id": "b" })),
        ])
    };
    let model = ScriptedModel::new([call("c0", "x"), batch(1), answer()]);
    let tools = spins::Tools { x: succeeds("x"), y: succeeds("y") };
    let agent = spins::agent(tools).model(model.clone()).max_iterations(10).build().expect("an agent");
    let mut conversation = agent.conversation();
    let report = conversation.send("a").await.expect("a turn");
    assert!(matches!(trip(&report), Some(Trip::Repeats { count: 2, .. })), "{:?}", report.outcome);
    let said = last_results(&conversation.transcript());
    assert_eq!(said[1].1, "`b` was picked, and the turn ended with that: because it was going in circles.");
    assert_eq!(
        (report.cursor.as_ref().map(ToString::to_string), hops(&report).pop()),
        (Some("b".into()), Some("b by model-pick".into()))
    );
}

#[tokio::test]
async fn f12_a_blank_reply_is_asked_again_once_and_is_no_answer() {
    for blank in ["", "  \n", "\u{200b}\u{2060}"] {
        let model = ScriptedModel::new([call("a", "find"), ModelReply::text(blank), ModelReply::text("Here you are.")]);
        let report = shop(&model, vec![]).run("a refund").await.expect("a turn");
        assert_eq!(report.text(), Some("Here you are."), "{blank:?}");
        assert!(all_text(&model.requests()[2]).contains("Your last reply was empty."));
        let asked = |event: &Event| matches!(event, Event::BlankReply { asked_again: true, .. });
        assert!(report.events.iter().any(asked));
    }
    let model = ScriptedModel::new([ModelReply::text(""), ModelReply::text("\u{feff}"), answer()]);
    let report = shop(&model, vec![]).run("a refund").await.expect("a turn");
    assert_eq!((report.outcome.clone(), report.text(), model.requests().len()), (Outcome::Empty, None, 2));
    // Never beyond the cap.
    let model = ScriptedModel::new([ModelReply::text(""), answer()]);
    let agent = shop_with(&model, vec![]).max_iterations(1).build().expect("an agent");
    assert_eq!(agent.run("a refund").await.expect("a turn").outcome, Outcome::Empty);
    assert_eq!(model.requests().len(), 1);
    // Words that are cut off before the first one are what they are.
    let model = ScriptedModel::new([ModelReply::text("").stopped(StopReason::MaxTokens)]);
    let report = shop(&model, vec![]).run("a refund").await.expect("a turn");
    assert_eq!(report.outcome, Outcome::Truncated { text: String::new() });
}

#[tokio::test]
async fn f13_the_report_has_the_transcript_and_the_procedure() {
    let model = ScriptedModel::new([call("a", "find"), call("b", "note")]);
    let agent = shop_with(&model, vec![]).max_iterations(2).build().expect("an agent");
    let report = agent.run("a refund").await.expect("a turn");
    assert_eq!(report.outcome, Outcome::OutOfIterations { iterations: 2 });
    assert_eq!(report.transcript.len(), 5);
    let Some(Standing { skill, step: 2, total: 2, .. }) = &report.procedure else { panic!("{:?}", report.procedure) };
    assert_eq!(*skill, "desk");
    let data = serde_json::to_value(&report).expect("a report is data");
    assert_eq!(data["procedure"]["step"], 2);
}

/// From no cursor to a first skill is a move: refusals before it do not add up with those after it.
#[tokio::test]
async fn f14_a_first_pick_is_a_move() {
    let nowhere = |id: &str| pick(id, &format!("nowhere-{id}"));
    let replies = vec![nowhere("1"), nowhere("2"), pick("3", "a"), nowhere("4"), nowhere("5"), answer()];
    let report = spinning("hello", replies).await;
    assert_eq!(hops(&report)[0], "- by none");
    assert_eq!(trip(&report), None, "{:?}", report.outcome);
    // Three in a row are three.
    let report = spinning("hello", vec![nowhere("1"), nowhere("2"), nowhere("3"), answer()]).await;
    assert_eq!(trip(&report), Some(&Trip::Refusals { count: 3 }));
}

fn written(id: &str, arguments: &str) -> ModelReply {
    ModelReply::calls([ToolCall::new(id, "x", arguments)])
}

#[tokio::test]
async fn f15_the_same_call_is_the_same_however_it_is_written() {
    for (first, second) in [
        (r#"{"a": 1, "b": [1, 2]}"#, r#"{ "b":[1,2],"a":1 }"#),
        ("", "{}"),
        ("null", "  "),
        (r#"{"a": 7.0}"#, r#"{"a": 7}"#),
        (r#"{"a": {"x": 1, "y": 2}}"#, r#"{"a": {"y": 2, "x": 1}}"#),
    ] {
        let report = spinning("a", vec![written("1", first), written("2", second), answer()]).await;
        assert_eq!(trip(&report), Some(&Trip::Repeats { tool: "x".into(), count: 2 }), "{first} {second}");
    }
    for (first, second) in
        [(r#"{"a": 1}"#, r#"{"a": 2}"#), (r#"{"a": [1, 2]}"#, r#"{"a": [2, 1]}"#), (r#"{"a": "1"}"#, r#"{"a": 1}"#)]
    {
        let report = spinning("a", vec![written("1", first), written("2", second), answer()]).await;
        assert_eq!(trip(&report), None, "{first} {second}");
    }
}

#[tokio::test]
async fn f15_batches_and_rounds_of_calls_trip_too() {
    let (x, y) = (("x", json!({ "n": 1 })), ("y", json!({})));
    let both =
        |n: u32| calls([(format!("a{n}").as_str(), x.0, x.1.clone()), (format!("b{n}").as_str(), y.0, y.1.clone())]);
    let report = spinning("a", vec![both(1), both(2), answer()]).await;
    let expected = Trip::RepeatedCalls { tools: vec!["x".into(), "y".into()], count: 2 };
    assert_eq!(trip(&report), Some(&expected));
    let one = |id: &str, (name, arguments): &(&str, Value)| calls([(id, *name, arguments.clone())]);
    let report = spinning("a", vec![one("1", &x), one("2", &y), one("3", &x), one("4", &y), answer()]).await;
    assert_eq!(trip(&report), Some(&expected));
    // Once round is no circle.
    let report = spinning("a", vec![one("1", &x), one("2", &y), one("3", &x), answer()]).await;
    assert_eq!(trip(&report), None);
}

#[tokio::test]
async fn f15_a_circle_of_skills_trips() {
    let round = ["b", "c", "a", "b", "c", "a"];
    let picks = |n: usize| {
        round[..n].iter().enumerate().map(|(at, skill)| pick(&format!("p{at}"), skill)).chain([answer()]).collect()
    };
    let report = circling(picks(6)).await;
    let Some(Trip::Cycle { skills, rounds: 2 }) = trip(&report) else { panic!("{:?}", report.outcome) };
    assert_eq!(skills.iter().map(ToString::to_string).collect::<Vec<_>>(), ["b", "c", "a"]);
    assert_eq!(trip(&circling(picks(5)).await), None);
}

#[tokio::test]
async fn f20_a_result_over_the_ceiling_is_a_result() {
    let (long, runs) = counts("find");
    drop(long);
    let find = says("find", || ToolReply::success(json!("ü".repeat(120))));
    let pay = says("pay", || ToolReply::success(json!({ "text": "x".repeat(500), "paid": true })));
    let model = ScriptedModel::new([call("a", "find"), call("b", "pay"), answer()]);
    let agent = shop_with(&model, vec![find, pay]).max_result_characters(100).build().expect("an agent");
    let report = agent.run("a refund").await.expect("a turn");
    assert_eq!(hops(&report), ["desk by entry", "desk by stay", "receipt by route"]);
    let said = last_results(&model.requests()[1].messages);
    let cut = "[skillgraph] The result is longer than is shown: 20 characters are missing after the first 100.";
    assert_eq!(said[0].1, format!("{}\n\n{cut}\n\n[skillgraph] Step 2 of 2 is next: `pay`. pay it", "ü".repeat(100)));
    let statuses: Vec<Status> = report
        .events
        .iter()
        .filter_map(|event| match event {
            Event::ToolReturned { status, .. } => Some(*status),
            _ => None,
        })
        .collect();
    assert_eq!((statuses, runs.load(Ordering::SeqCst)), (vec![Status::Success, Status::Success], 0));
}

#[tokio::test]
async fn f20_exactly_at_the_ceiling_nothing_is_cut_and_a_proposal_stays() {
    let find = says("find", || ToolReply::success(json!("x".repeat(100))));
    let pay = says("pay", || ToolReply::absent("y".repeat(101)).propose_transition("desk", "the start"));
    let model = ScriptedModel::new([call("a", "find"), call("b", "pay"), answer()]);
    let agent = shop_with(&model, vec![find, pay]).max_result_characters(100).build().expect("an agent");
    let report = agent.run("a refund").await.expect("a turn");
    let said = last_results(&model.requests()[1].messages);
    assert!(said[0].1.starts_with(&format!("{}\n\n[skillgraph] Step 2", "x".repeat(100))), "{said:?}");
    let said = last_results(&model.requests()[2].messages);
    assert!(said[0].1.contains("1 characters are missing after the first 100"), "{said:?}");
    // It is on the record, though the skill is open already.
    assert!(
        report
            .events
            .iter()
            .any(|event| matches!(event, Event::ProposalRefused { requested, .. } if requested == "desk"))
    );
}

#[tokio::test]
async fn f21_a_result_speaks_of_its_own_call() {
    let results = std::sync::Mutex::new(vec![ToolReply::failure("no"), ToolReply::success(json!("found"))]);
    let find = says("find", move || results.lock().expect("replies").pop().expect("a reply"));
    let batch = two(("a", "find", json!({ "n": 1 })), ("b", "find", json!({ "n": 2 })));
    let model = ScriptedModel::new([batch, answer()]);
    // One after the other, so that the order of the replies is that of the calls.
    let find = find.with_options(skillgraph::ToolOptions::default().exclusive());
    let report = shop(&model, vec![find]).run("a refund").await.expect("a turn");
    let said = last_results(&model.requests()[1].messages);
    assert_eq!(said[0].1, "found\n\n[skillgraph] Step 2 of 2 is next: `pay`. pay it");
    assert_eq!(said[1].1, "no\n\n[skillgraph] Step 1 of 2 was taken by another call of the same message.");
    assert_eq!(report.events.iter().filter(|event| matches!(event, Event::StepAdvanced { .. })).count(), 1);
}

#[tokio::test]
async fn f22_a_step_is_skipped_or_taken_never_both() {
    let skip = ("s", "skip_step", json!({ "reason": "it is known" }));
    let find = ("f", "find", json!({}));
    for skip_first in [true, false] {
        let batch = if skip_first { two(skip.clone(), find.clone()) } else { two(find.clone(), skip.clone()) };
        let model = ScriptedModel::new([batch, answer()]);
        let (tool, runs) = counts("find");
        let mut conversation = shop(&model, vec![tool]).conversation();
        let report = conversation.send("a refund").await.expect("a turn");
        assert_eq!(runs.load(Ordering::SeqCst), usize::from(!skip_first));
        let has = |wanted: fn(&Event) -> bool| report.events.iter().any(wanted);
        assert_eq!(has(|event| matches!(event, Event::StepSkipped { .. })), skip_first);
        assert_eq!(has(|event| matches!(event, Event::StepAdvanced { .. })), !skip_first);
        assert_eq!(
            has(|event| matches!(event, Event::CallRefused { reason: CallRefusal::StepSkipped, .. })),
            skip_first
        );
        assert_eq!(has(|event| matches!(event, Event::SkipRefused { why: SkipRefusal::StepCalled, .. })), !skip_first);
        assert_eq!(report.procedure.as_ref().map(|standing| standing.step), Some(2));
        assert_paired(&conversation.transcript());
    }
}

#[tokio::test]
async fn f23_a_refused_skip_is_on_the_record() {
    let skip = |reason: &str| json!({ "reason": reason });
    let refused = |report: &TurnReport| -> Vec<SkipRefusal> {
        let refused = report.events.iter().filter_map(|event| match event {
            Event::SkipRefused { why, .. } => Some(*why),
            _ => None,
        });
        refused.collect()
    };
    for arguments in [json!({}), skip(""), skip(" \n"), skip("\u{200b}"), skip("\u{ad}\u{2060}")] {
        let model = ScriptedModel::new([calls([("s", "skip_step", arguments.clone())]), answer()]);
        let report = shop(&model, vec![]).run("a refund").await.expect("a turn");
        assert_eq!(refused(&report), [SkipRefusal::NoReason], "{arguments}");
        assert_eq!(report.procedure.as_ref().map(|standing| standing.step), Some(1));
    }
    let twice = two(("s", "skip_step", skip("known")), ("t", "skip_step", skip("known, too")));
    let model = ScriptedModel::new([twice, answer()]);
    let report = shop(&model, vec![]).run("a refund").await.expect("a turn");
    assert_eq!(refused(&report), [SkipRefusal::SkippedAlready]);
    assert_eq!(report.procedure.map(|standing| standing.skipped), Some(vec![1]));
}

#[tokio::test]
async fn f24_a_failure_without_words_gets_some() {
    let schema = json!({ "type": "object" });
    let silent = DynTool::new("find", "Fails.", schema, |_, _| async { Err::<Value, _>("\u{200b}") });
    let model = ScriptedModel::new([call("a", "find"), answer()]);
    shop(&model, vec![silent]).run("a refund").await.expect("a turn");
    let said = last_results(&model.requests()[1].messages);
    assert!(said[0].1.starts_with("`find` failed, and did not say why."), "{said:?}");
    for reply in [|| ToolReply::<Value>::failure(""), || ToolReply::denied(" "), || ToolReply::invalid("")] {
        let model = ScriptedModel::new([call("a", "find"), answer()]);
        shop(&model, vec![says("find", reply)]).run("a refund").await.expect("a turn");
        let said = last_results(&model.requests()[1].messages);
        assert!(said[0].1.contains("and did not say why."), "{said:?}");
    }
}

#[derive(Deserialize, JsonSchema)]
struct ParcelArgs {
    parcel: u32,
    weights: Option<Vec<i64>>,
}

#[derive(Serialize)]
struct Parcel {
    parcel: u32,
}

/// Finds a parcel.
#[tool]
async fn find_parcel(args: ParcelArgs) -> Result<Parcel, std::io::Error> {
    let _ = args.weights;
    Ok(Parcel { parcel: args.parcel })
}

skill_graph! {
    graph parcels {
        tools { find_parcel: FindParcel, weigh: dyn }
        skill desk { description: "Parcels", body: "Find.", tools: [find_parcel, weigh] }
        entry desk;
    }
}

#[tokio::test]
async fn f25_a_whole_number_is_an_integer() {
    let schema =
        json!({ "type": "object", "properties": { "kilos": { "type": "integer" }, "price": { "type": "number" } } });
    let weigh =
        DynTool::new("weigh", "Weighs.", schema, |args, _| async move { Ok::<_, String>(ToolReply::success(args)) });
    let model = ScriptedModel::new([
        ModelReply::calls([
            ToolCall::new("a", "find_parcel", r#"{"parcel": 7.0, "weights": [1.0, 2]}"#),
            ToolCall::new("b", "find_parcel", r#"{"parcel": 7.5}"#),
            ToolCall::new("c", "weigh", r#"{"kilos": 3.0, "price": 4.0}"#),
        ]),
        answer(),
    ]);
    let agent = parcels::agent(parcels::Tools { find_parcel: FindParcel, weigh }).model(model.clone()).build();
    agent.expect("an agent").run("where is it?").await.expect("a turn");
    let said = last_results(&model.requests()[1].messages);
    assert_eq!(said[0].1, r#"{"parcel":7}"#);
    assert!(said[1].1.starts_with("`find_parcel` was not run: in `parcel`"), "{said:?}");
    assert_eq!(said[2].1, r#"{"kilos":3,"price":4.0}"#);
}

/// A nudge is for procedures that cannot go on later; where they can, the question to the user is the answer.
#[tokio::test]
async fn f103_a_question_inside_a_procedure_is_asked_once() {
    let model = ScriptedModel::new([call("a", "find"), ModelReply::text("Shall I pay?"), call("b", "pay"), answer()]);
    let mut conversation = shop(&model, vec![]).conversation();
    let report = conversation.send("a refund").await.expect("a turn");
    assert_eq!((report.text(), model.requests().len()), (Some("Shall I pay?"), 2));
    let accepted = |event: &Event| matches!(event, Event::StepsUnfinished { action: UnfinishedAction::Accepted, .. });
    assert!(report.events.iter().any(accepted));
    assert_eq!(report.procedure.map(|standing| standing.step), Some(2));
    // F102: "yes" goes on where it stood.
    let report = conversation.send("yes").await.expect("a turn");
    assert_eq!(hops(&report)[..2], ["desk by continuity", "receipt by route"]);
    let names = model.requests()[2].tool_names().join(" ");
    assert!(names.contains("pay") && !names.contains("find"), "{names}");
}

#[tokio::test]
async fn f102_a_procedure_goes_on_after_storage_and_begins_anew_after_a_cold_start() {
    let model = ScriptedModel::new([call("a", "find"), ModelReply::text("Shall I?"), answer(), answer()]);
    let agent = shop(&model, vec![]);
    let mut conversation = agent.conversation();
    conversation.send("a refund").await.expect("a turn");
    let saved = serde_json::to_string(&conversation.save()).expect("JSON");
    let mut conversation = agent.restore(serde_json::from_str(&saved).expect("data")).expect("the same graph");
    conversation.send("yes").await.expect("a turn");
    assert!(model.requests()[2].system.contains("Step 2 of 2 is next"));
    // Without continuity every turn begins its procedure.
    let model = ScriptedModel::new([call("a", "find"), answer(), answer(), answer(), answer()]);
    let agent = shop_with(&model, vec![]).continuity(Continuity::Turn).build().expect("an agent");
    let mut conversation = agent.conversation();
    conversation.send("a refund").await.expect("a turn");
    conversation.send("yes").await.expect("a turn");
    assert!(model.requests()[3].system.contains("Step 1 of 2 is next"), "{}", model.requests()[3].system);
}

/// A finished procedure does not leave its last tools open for the next message.
#[tokio::test]
async fn f102_a_finished_procedure_begins_anew() {
    skill_graph! {
        graph loops {
            tools { find: dyn, pay: dyn }
            skill desk { description: "Refunds", body: "Pay.", tools: [find, pay], steps: [find: "find it", pay: "pay it"] }
            entry desk;
        }
    }
    let model = ScriptedModel::new([call("a", "find"), call("b", "pay"), answer(), answer()]);
    let agent = loops::agent(loops::Tools { find: succeeds("find"), pay: succeeds("pay") }).model(model.clone());
    let mut conversation = agent.continuity(Continuity::Conversation).build().expect("an agent").conversation();
    conversation.send("a refund").await.expect("a turn");
    conversation.send("another").await.expect("a turn");
    assert!(model.requests()[3].tool("pay").is_none() && model.requests()[3].tool("find").is_some());
    let framework = |message: &Message| matches!(message, Message::Framework { .. });
    assert!(!conversation.transcript().iter().any(framework));
}
