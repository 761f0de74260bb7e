//! What people in this field complained about, each a test named after its report.

mod attacks;
#[path = "../common/mod.rs"]
mod common;
mod ends;
mod files;
mod gates;
mod killed;
mod messages;
mod questions;
mod rules;
mod text;
mod turns;
mod unnoticed;
mod users;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{
    all_text, answer, assert_paired, calls, counts, hops, last_results, pick, succeeds, take, tool, without_others,
};
use serde_json::{Value, json};
use skillgraph::{
    Agent, DynTool, Event, Message, ModelReply, Outcome, ScriptedModel, StopReason, ToolCall, ToolReply, skill_graph,
};

skill_graph! {
    #[allow(skillgraph::model_edge_only)]
    graph parcels {
        tools { find_order: dyn, find_parcel: dyn, pay: dyn }

        skill triage {
            description: "Start",
            body: "Triage body.",
            tools: [find_order, find_parcel],
        }
        skill billing {
            description: "Money",
            body: "Billing body.",
            tools: [pay, find_parcel],
        }
        skill shipping {
            description: "Parcels",
            body: "Shipping body.",
            tools: [find_order],
        }
        skill faq {
            description: "Questions",
            body: "Faq body.",
        }

        entry triage;
        route triage -> billing on find_order;
        route triage -> shipping on find_parcel;
        // Both are meant: what a tool returns, and the model's own judgement.
        route triage ~> billing;
        route triage ~> shipping;
        route billing -> shipping on find_parcel;
        route triage ~> faq;
    }
}

/// An agent whose tools succeed, except those given.
fn parcels(model: &ScriptedModel, mut given: Vec<DynTool>) -> Agent {
    let tools = parcels::Tools {
        find_order: take(&mut given, "find_order"),
        find_parcel: take(&mut given, "find_parcel"),
        pay: take(&mut given, "pay"),
    };
    parcels::agent(tools).model(model.clone()).build().expect("an agent")
}

fn conflicts(events: &[Event]) -> Vec<(String, Vec<String>)> {
    let conflict = |event: &Event| match event {
        Event::RouteConflict { winner, losers, .. } => {
            Some((winner.call_id.clone(), losers.iter().map(|loser| loser.call_id.clone()).collect()))
        }
        _ => None,
    };
    events.iter().filter_map(conflict).collect()
}

/// A tool that takes that long, then says so.
fn slow(name: &'static str, time: Duration) -> DynTool {
    DynTool::new(name, "Slow.", json!({ "type": "object" }), move |_, _| async move {
        tokio::time::sleep(time).await;
        Ok::<Value, String>(json!(format!("{name} at last")))
    })
}

#[tokio::test(start_paused = true)]
async fn b09_every_result_of_a_batch_is_read_in_call_order() {
    for (first, second, expected) in
        [("find_parcel", "find_order", "shipping"), ("find_order", "find_parcel", "billing")]
    {
        let model = ScriptedModel::new([calls([("c1", first, json!({})), ("c2", second, json!({}))]), answer()]);
        // `find_order` always finishes first.
        let agent = parcels(&model, vec![slow("find_parcel", Duration::from_secs(5))]);
        let report = agent.run("hello").await.expect("a turn");
        assert_eq!(hops(&report), ["triage by entry".to_owned(), format!("{expected} by route")]);
        assert_eq!(conflicts(&report.events), [("c1".to_owned(), vec!["c2".to_owned()])]);
    }
}

#[tokio::test]
async fn b09_a_failed_call_does_not_hide_the_one_after_it() {
    let model = ScriptedModel::new([
        calls([("c1", "find_order", json!({ "n": 0 })), ("c2", "find_order", json!({ "n": 1 }))]),
        answer(),
    ]);
    let find_order = tool("find_order", |args| match args["n"].as_u64() {
        Some(1) => ToolReply::success(json!({ "order": 1 })),
        _ => ToolReply::failure("the database is away"),
    });
    let report = parcels(&model, vec![find_order]).run("hello").await.expect("a turn");
    assert_eq!(hops(&report), ["triage by entry", "billing by route"]);
    assert!(conflicts(&report.events).is_empty());
}

#[tokio::test]
async fn b09_two_results_with_one_target_are_no_conflict() {
    let model =
        ScriptedModel::new([calls([("c1", "find_order", json!({})), ("c2", "find_order", json!({}))]), answer()]);
    let report = parcels(&model, vec![]).run("hello").await.expect("a turn");
    assert_eq!(hops(&report), ["triage by entry", "billing by route"]);
    assert!(conflicts(&report.events).is_empty());
}

#[tokio::test]
async fn b09_an_edge_of_the_new_skill_waits_for_the_next_batch() {
    // `find_parcel` would take billing on to shipping, but it came back before billing was open.
    let model = ScriptedModel::new([
        calls([("c1", "find_order", json!({})), ("c2", "find_parcel", json!({}))]),
        ModelReply::text("nothing more"),
    ]);
    let report = parcels(&model, vec![]).run("hello").await.expect("a turn");
    assert_eq!(report.cursor.expect("a cursor"), "billing");
}

#[tokio::test]
async fn b10_work_and_a_pick_in_one_message_both_get_results() {
    for pick_first in [false, true] {
        let work = ("c1", "find_order", json!({}));
        let jump = ("c2", "read_skill", json!({ "id": "faq" }));
        let batch = if pick_first { calls([jump, work]) } else { calls([work, jump]) };
        let model = ScriptedModel::new([batch, answer()]);
        let mut conversation = parcels(&model, vec![]).conversation();
        let report = conversation.send("hello").await.expect("a turn");

        assert_eq!(hops(&report), ["triage by entry", "billing by route"]);
        let results = last_results(&conversation.transcript());
        let picked = &results.iter().find(|(id, _)| id == "c2").expect("an answer to the pick").1;
        assert_eq!(picked, "`faq` was not opened: a tool result moved the conversation to `billing`.");
        let superseded = report.events.iter().any(|event| {
            matches!(event, Event::RerouteSuperseded { requested, won: Some(won), .. } if *requested == "faq" && *won == "billing")
        });
        assert!(superseded);
        assert_paired(&conversation.transcript());
    }
}

#[tokio::test]
async fn b10_of_two_picks_the_first_moves_the_cursor() {
    let model = ScriptedModel::new([
        calls([("c1", "read_skill", json!({ "id": "faq" })), ("c2", "read_skill", json!({ "id": "billing" }))]),
        answer(),
    ]);
    let mut conversation = parcels(&model, vec![]).conversation();
    let report = conversation.send("hello").await.expect("a turn");
    assert_eq!(hops(&report), ["triage by entry", "faq by model-pick"]);
    let results = last_results(&conversation.transcript());
    assert_eq!(results[0].1, "`faq` is open: its instructions and tools are in place.");
    assert!(results[1].1.starts_with("`billing` was not opened"), "{}", results[1].1);
}

#[tokio::test]
async fn b10_a_pick_that_agrees_with_the_edge_is_recorded_as_the_edge() {
    let model = ScriptedModel::new([
        calls([("c1", "read_skill", json!({ "id": "billing" })), ("c2", "find_order", json!({}))]),
        answer(),
    ]);
    let mut conversation = parcels(&model, vec![]).conversation();
    let report = conversation.send("hello").await.expect("a turn");
    assert_eq!(hops(&report), ["triage by entry", "billing by route"]);
    assert_eq!(
        last_results(&conversation.transcript())[0].1,
        "`billing` is open: its instructions and tools are in place."
    );
    assert!(!report.events.iter().any(|event| matches!(event, Event::RerouteSuperseded { .. })));
}

#[tokio::test]
async fn b10_a_refused_pick_does_not_stop_the_tool_beside_it() {
    let model = ScriptedModel::new([
        calls([("c1", "read_skill", json!({ "id": "nowhere" })), ("c2", "find_order", json!({}))]),
        answer(),
    ]);
    let (find_order, runs) = counts("find_order");
    let report = parcels(&model, vec![find_order]).run("hello").await.expect("a turn");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert_eq!(hops(&report), ["triage by entry", "billing by route"]);
    assert_eq!(report.route().rejections().len(), 1);
}

skill_graph! {
    graph refunds {
        tools { find_order: dyn, issue_refund: dyn, close: dyn }

        skill billing {
            description: "Money",
            body: "Billing body.",
            tools: [find_order, issue_refund],
            steps: [find_order: "find it first", issue_refund: "then pay"],
        }
        skill receipts {
            description: "Receipts",
            body: "Receipts body.",
            tools: [close],
        }
        skill trouble {
            description: "When paying failed",
            body: "Trouble body.",
            tools: [close],
        }

        entry billing;
        route billing -> receipts on issue_refund;
        route billing -> trouble on issue_refund is failure;
    }
}

fn refunds(model: &ScriptedModel, issue_refund: DynTool) -> Agent {
    let tools = refunds::Tools { find_order: succeeds("find_order"), issue_refund, close: succeeds("close") };
    refunds::agent(tools).model(model.clone()).max_result_characters(1_000).build().expect("an agent")
}

/// A run in which `issue_refund` comes back in some way: the hops, the steps that advanced, the result that the model read.
async fn refund_that(issue_refund: DynTool, arguments: &str) -> (Vec<String>, Vec<usize>, String) {
    let model = ScriptedModel::from_fn({
        let arguments = arguments.to_owned();
        move |request| match request.iteration {
            1 => calls([("c1", "find_order", json!({}))]),
            2 => ModelReply::calls([ToolCall::new("c2", "issue_refund", arguments.clone())]),
            _ => answer(),
        }
    });
    let report = refunds(&model, issue_refund).run("refund please").await.expect("a turn");
    let steps = report.events.iter().filter_map(|event| match event {
        Event::StepAdvanced { step, .. } => Some(*step),
        _ => None,
    });
    let read = last_results(&model.requests()[2].messages)[0].1.clone();
    (hops(&report), steps.collect(), read)
}

#[tokio::test]
async fn b12_a_failed_call_is_not_done() {
    let (hops, steps, read) = refund_that(tool("issue_refund", |_| ToolReply::failure("card closed")), "{}").await;
    assert_eq!(hops, ["billing by entry", "billing by stay", "trouble by route"]);
    assert_eq!(steps, [1]);
    assert_eq!(read, "card closed");
}

#[tokio::test]
async fn b12_an_error_of_the_tool_is_a_failure() {
    let schema = json!({ "type": "object" });
    let broken = DynTool::new("issue_refund", "Pays.", schema, |_, _| async { Err::<Value, _>("card closed") });
    let (hops, steps, read) = refund_that(broken, "{}").await;
    assert_eq!(hops.last().expect("a hop"), "trouble by route");
    assert_eq!((steps, read.as_str()), (vec![1], "`issue_refund` failed: card closed"));
}

/// Stated rule: the status is what the tool says it is, not what its JSON looks like. A tool that failed says so.
#[tokio::test]
async fn b12_success_false_in_the_output_is_still_a_success() {
    let (hops, steps, _) =
        refund_that(tool("issue_refund", |_| ToolReply::success(json!({ "success": false }))), "{}").await;
    assert_eq!(hops.last().expect("a hop"), "receipts by route");
    assert_eq!(steps, [1, 2]);
}

#[tokio::test]
async fn b12_refused_arguments_and_denials_are_not_done() {
    let (issue_refund, runs) = counts("issue_refund");
    let (hops, steps, read) = refund_that(issue_refund, "[1]").await;
    assert_eq!(hops, ["billing by entry", "billing by stay", "billing by stay", "billing by stay"]);
    assert_eq!((steps, runs.load(Ordering::SeqCst)), (vec![1], 0));
    assert_eq!(read, "`issue_refund` was not run: the arguments must be a JSON object, not an array.");

    let (hops, steps, read) = refund_that(tool("issue_refund", |_| ToolReply::denied("over the limit")), "{}").await;
    assert_eq!((hops[2].as_str(), steps), ("billing by stay", vec![1]));
    assert_eq!(read, "over the limit\n\n[skillgraph] Step 2 of 2 is still open: this call came back as denied.");
}

#[tokio::test]
async fn b19_a_tool_that_was_not_offered_does_not_run() {
    let model = ScriptedModel::new([
        calls([("c1", "pay", json!({}))]),
        calls([("c2", "find_order", json!({}))]),
        // Billing is open now: the same call runs; triage's own tool no longer does.
        calls([("c3", "pay", json!({})), ("c4", "find_order", json!({}))]),
        answer(),
    ]);
    let (pay, paid) = counts("pay");
    let (find_order, found) = counts("find_order");
    let mut conversation = parcels(&model, vec![pay, find_order]).conversation();
    let report = conversation.send("hello").await.expect("a turn");
    assert_eq!(report.outcome, Outcome::Answered { text: "done".into() });
    assert_eq!((paid.load(Ordering::SeqCst), found.load(Ordering::SeqCst)), (1, 1));

    let first = last_results(&model.requests()[1].messages);
    assert_eq!(
        first[0].1,
        "`pay` is not available here. Available now: `find_order`, `find_parcel`, `read_skill`, `list_skills`."
    );
    assert!(last_results(&conversation.transcript())[1].1.starts_with("`find_order` is not available here."));
}

skill_graph! {
    graph bare {
        tools { wire_money: dyn }
        skill only { description: "Alone", body: "Only body." }
        skill vault = "the-vault" { description: "Money", body: "Vault body.", tools: [wire_money], scope: active }
        entry only;
        entry vault when keywords["open sesame"];
    }
}

skill_graph! {
    #[allow(skillgraph::unused_tool)]
    graph lonely {
        tools { wire_money: dyn }
        skill only { description: "Alone", body: "Only body." }
        entry only;
    }
}

#[tokio::test]
async fn b19_nothing_is_offered_and_the_model_still_calls() {
    let model = ScriptedModel::new([calls([("c1", "wire_money", json!({}))]), answer()]);
    let (wire_money, wired) = counts("wire_money");
    let agent = lonely::agent(lonely::Tools { wire_money }).model(model.clone()).build().expect("an agent");
    agent.run("hello").await.expect("a turn");
    assert!(model.requests()[0].tools.is_empty());
    assert_eq!(wired.load(Ordering::SeqCst), 0);
    assert_eq!(
        last_results(&model.requests()[1].messages)[0].1,
        "`wire_money` is not available here, and no other tool is. Answer without one."
    );
}

#[tokio::test]
async fn b20_an_unknown_tool_reveals_nothing_that_is_not_offered() {
    let model =
        ScriptedModel::new([calls([("c1", "refund_order", json!({})), ("c2", "list_skills", json!({}))]), answer()]);
    let agent =
        bare::agent(bare::Tools { wire_money: succeeds("wire_money") }).model(model.clone()).build().expect("an agent");
    let report = agent.run("hello").await.expect("a turn");
    assert_eq!(report.text(), Some("done"));
    let next = &model.requests()[1];
    assert_eq!(
        last_results(&next.messages)[0].1,
        "`refund_order` is not available here. Available now: `read_skill`, `list_skills`."
    );
    assert!(!all_text(next).contains("wire_money"));
}

/// Stated rule: an id is compared as it is, white space around it aside.
#[tokio::test]
async fn b20_ids_are_compared_exactly() {
    for (asked, opens) in
        [("billing", true), (" billing\n", true), ("Billing", false), ("BILLING", false), ("no-such", false)]
    {
        let model = ScriptedModel::new([pick("c1", asked), answer()]);
        let mut conversation = parcels(&model, vec![]).conversation();
        let report = conversation.send("hello").await.expect("a turn");
        assert_eq!(report.cursor.expect("a cursor") == "billing", opens, "{asked}");
        if !opens {
            let text = &last_results(&conversation.transcript())[0].1;
            assert_eq!(
                *text,
                "There is no skill with that id. From here you can open `billing`, `shipping`, `faq`, or finish where you are."
            );
        }
    }
}

#[tokio::test]
async fn b20_a_dead_end_says_so() {
    let model = ScriptedModel::new([pick("c1", "faq"), pick("c2", "billing"), answer()]);
    skill_graph! {
        #[allow(skillgraph::unreachable_skill, skillgraph::dead_edge)]
        graph dead_end {
            tools {}
            skill faq { description: "Questions", body: "Faq body." }
            skill billing { description: "Money", body: "Billing body." }
            skill other { description: "Other", body: "Other body." }
            entry faq;
            route other ~> billing;
        }
    }
    let agent = dead_end::agent(dead_end::Tools {}).model(model.clone()).build().expect("an agent");
    let report = agent.run("hello").await.expect("a turn");
    let results: Vec<String> = (1..3).map(|at| last_results(&model.requests()[at].messages)[0].1.clone()).collect();
    assert_eq!(results[0], "`faq` is open already: its instructions and tools are in place. Go on with it.");
    assert_eq!(
        results[1],
        "`billing` is not reachable from `faq`. No skill is reachable from here: go on with `faq`, or answer."
    );
    assert_eq!(hops(&report), ["faq by entry", "faq by stay", "faq by stay"]);
}

skill_graph! {
    #[allow(skillgraph::model_edge_only)]
    graph pingpong {
        tools { core: dyn, x: dyn, y: dyn, shared: dyn }
        baseline: [core];
        skill a { description: "A", body: "Body of a.", tools: [x, shared] }
        skill b { description: "B", body: "Body of b.", tools: [y, shared] }
        skill silent { description: "No tools", body: "Body of silent." }
        entry a;
        route a -> b on x;
        route b -> a on y;
        route a ~> silent;
    }
}

#[tokio::test]
async fn b21_offers_are_made_anew_and_leave_nothing_behind() {
    let model = ScriptedModel::from_fn(|request| match request.iteration {
        20 => answer(),
        odd if odd % 2 == 1 => calls([("c", "x", json!({}))]),
        _ => calls([("c", "y", json!({}))]),
    });
    let tools =
        pingpong::Tools { core: succeeds("core"), x: succeeds("x"), y: succeeds("y"), shared: succeeds("shared") };
    let agent =
        pingpong::agent(tools).model(model.clone()).system("Host.").max_iterations(20).build().expect("an agent");
    let mut conversation = agent.conversation();
    conversation.send("hello").await.expect("a turn");
    conversation.send("again").await.expect("a turn");

    let requests = model.requests();
    assert_eq!(requests.len(), 40);
    for request in &requests {
        let (own, body) = if request.iteration % 2 == 1 { ("x", "a") } else { ("y", "b") };
        assert_eq!(request.tool_names(), ["core", own, "shared", "read_skill", "list_skills"]);
        assert_eq!(without_others(&request.system), format!("Host.\n\n# Skill: {body}\n\nBody of {body}."));
    }
}

#[tokio::test]
async fn b21_a_skill_without_tools_takes_the_others_away() {
    let model = ScriptedModel::new([pick("c1", "silent"), answer()]);
    let tools =
        pingpong::Tools { core: succeeds("core"), x: succeeds("x"), y: succeeds("y"), shared: succeeds("shared") };
    let agent = pingpong::agent(tools).model(model.clone()).build().expect("an agent");
    agent.run("hello").await.expect("a turn");
    assert_eq!(model.requests()[1].tool_names(), ["core", "read_skill", "list_skills"]);
}

skill_graph! {
    graph desk {
        tools { pay: dyn }
        skill triage { description: "Start", body: "Triage body." }
        skill billing { description: "Money", body: "Billing body.", tools: [pay] }
        entry triage;
        entry billing when keywords["refund"];
    }
}

#[tokio::test]
async fn b22_what_read_skill_says_is_true() {
    // (a) The rule opens billing before the model is asked.
    let model = ScriptedModel::new([answer()]);
    let agent = desk::agent(desk::Tools { pay: succeeds("pay") }).model(model.clone()).build().expect("an agent");
    agent.run("A refund, please").await.expect("a turn");
    let first = &model.requests()[0];
    assert!(first.system.contains("Billing body.") && first.tool("pay").is_some());

    // (b) An accepted pick: the next request carries body and tools. (c) The same pick again: already there.
    let model = ScriptedModel::new([pick("c1", "billing"), pick("c2", "billing"), answer()]);
    let agent = desk::agent(desk::Tools { pay: succeeds("pay") }).model(model.clone()).build().expect("an agent");
    let report = agent.run("hello").await.expect("a turn");
    let requests = model.requests();
    assert!(requests[1].system.contains("Billing body.") && requests[1].tool("pay").is_some());
    assert_eq!(
        last_results(&requests[2].messages)[0].1,
        "`billing` is open already: its instructions and tools are in place. Go on with it; from here you can also open `triage`."
    );
    assert_eq!(requests[2].system.matches("Billing body.").count(), 1);
    assert_eq!(hops(&report), ["triage by entry", "billing by model-pick", "billing by stay"]);
}

/// Stated rule: without a default, a message that no rule takes starts without a cursor; the entries stay open to a pick.
#[tokio::test]
async fn b22_no_rule_matches_and_there_is_no_default() {
    skill_graph! {
        graph undecided {
            tools { pay: dyn }
            skill billing { description: "Money", body: "Billing body.", tools: [pay] }
            skill faq { description: "Questions", body: "Faq body." }
            entry billing when keywords["refund"];
            entry faq when keywords["question"];
        }
    }
    let model = ScriptedModel::new([pick("c1", "billing"), answer()]);
    let agent =
        undecided::agent(undecided::Tools { pay: succeeds("pay") }).model(model.clone()).build().expect("an agent");
    let report = agent.run("hello").await.expect("a turn");
    assert_eq!(hops(&report), ["- by none", "billing by model-pick"]);
    let offered = &model.requests()[0];
    assert_eq!(offered.tool_names(), ["read_skill", "list_skills"]);
    assert!(
        offered.system.ends_with("`read_skill` opens from here:\n- `billing`: Money\n- `faq`: Questions"),
        "{}",
        offered.system
    );
}

#[tokio::test(start_paused = true)]
async fn b24_one_result_per_call_in_call_order_right_after_the_calls() {
    let batch = ModelReply {
        text: "I look at three things.".into(),
        ..calls([("c1", "find_parcel", json!({})), ("c2", "find_order", json!({})), ("c3", "wire_money", json!({}))])
    };
    let model = ScriptedModel::new([batch, answer()]);
    let agent = parcels(&model, vec![slow("find_parcel", Duration::from_millis(50))]);
    agent.run("hello").await.expect("a turn");

    let messages = &model.requests()[1].messages;
    assert_paired(messages);
    let last: Vec<&Message> = messages.iter().collect();
    assert!(
        matches!(last[1], Message::Assistant { text, calls, .. } if text == "I look at three things." && calls.len() == 3)
    );
    let Message::ToolResults { results } = last[2] else { panic!("results follow the calls") };
    assert_eq!(last.len(), 3);
    let ids: Vec<_> = results.iter().map(|result| (result.call_id.as_str(), result.is_error())).collect();
    assert_eq!(ids, [("c1", false), ("c2", false), ("c3", true)]);
}

#[tokio::test]
async fn b24_results_of_any_kind_have_words() {
    for (value, text) in [
        (json!({ "b": 1 }), r#"{"b":1}"#),
        (json!(7), "7"),
        (json!(null), "null"),
        (json!("plain"), "plain"),
        (json!(""), "(success)"),
    ] {
        let model = ScriptedModel::new([calls([("c1", "find_order", json!({}))]), answer()]);
        let given = value.clone();
        let find_order = tool("find_order", move |_| ToolReply::success(given.clone()));
        parcels(&model, vec![find_order]).run("hello").await.expect("a turn");
        assert_eq!(last_results(&model.requests()[1].messages), [("c1".to_owned(), text.to_owned())]);
    }
}

/// No framework text stands between calls and results, the reminder about open steps included.
#[tokio::test]
async fn b24_reminders_do_not_come_between() {
    let model = ScriptedModel::new([calls([("c1", "find_order", json!({}))]), answer(), answer()]);
    let mut conversation = refunds(&model, succeeds("issue_refund")).conversation();
    conversation.send("refund please").await.expect("a turn");
    let transcript = conversation.transcript();
    assert_paired(&transcript);
    let roles: Vec<&str> = transcript
        .iter()
        .map(|message| match message {
            Message::User { .. } => "user",
            Message::Framework { .. } => "framework",
            Message::Assistant { .. } => "assistant",
            Message::ToolResults { .. } => "results",
            _ => "other",
        })
        .collect();
    assert_eq!(roles, ["user", "assistant", "results", "assistant", "framework", "assistant"]);
}

mod typed {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use skillgraph::{skill_graph, tool};

    /// Lists the open tickets.
    #[tool]
    pub(super) async fn list_open_tickets() -> Result<Vec<u32>, std::convert::Infallible> {
        Ok(vec![7])
    }

    #[derive(Deserialize, JsonSchema)]
    pub(super) struct CloseArgs {
        id: u32,
        why: Why,
    }

    #[derive(Deserialize, JsonSchema)]
    struct Why {
        reason: String,
    }

    /// Closes a ticket.
    #[tool]
    pub(super) async fn close_ticket(args: CloseArgs) -> Result<String, std::convert::Infallible> {
        Ok(format!("{} closed: {}", args.id, args.why.reason))
    }

    skill_graph! {
        pub(super) graph tickets {
            tools { list_open_tickets: ListOpenTickets, close_ticket: CloseTicket }
            skill desk { description: "Tickets", body: "Desk body.", tools: [list_open_tickets, close_ticket] }
            entry desk;
        }
    }
}

/// What a model reads after calling the tool with these arguments, and what the history holds of them.
async fn ticket_call(name: &str, arguments: &str) -> (String, String) {
    let model = ScriptedModel::new([ModelReply::calls([ToolCall::new("c1", name, arguments)]), answer()]);
    let tools = typed::tickets::Tools { list_open_tickets: typed::ListOpenTickets, close_ticket: typed::CloseTicket };
    let agent = typed::tickets::agent(tools).model(model.clone()).build().expect("an agent");
    agent.run("hello").await.expect("a turn");
    let messages = model.requests()[1].messages.clone();
    let sent = messages.iter().find_map(|message| match message {
        Message::Assistant { calls, .. } => Some(calls[0].arguments.clone()),
        _ => None,
    });
    (last_results(&messages)[0].1.clone(), sent.expect("a call"))
}

#[tokio::test]
async fn b25_blank_arguments_are_an_empty_object() {
    for blank in ["", "  ", "{}"] {
        assert_eq!(ticket_call("list_open_tickets", blank).await, ("[7]".to_owned(), "{}".to_owned()));
    }
    assert_eq!(ticket_call("list_open_tickets", "null").await.0, "[7]");
    assert_eq!(ticket_call("close_ticket", "").await.0, "`close_ticket` was not run: missing field `id`.");
}

/// A host that makes calls without `ToolCall::new` has the same history.
#[tokio::test]
async fn b25_history_never_holds_blank_arguments() {
    let call: ToolCall =
        serde_json::from_value(json!({ "id": "c1", "name": "find_order", "arguments": "" })).expect("a call");
    let model = ScriptedModel::new([ModelReply::calls([call]), answer()]);
    parcels(&model, vec![]).run("hello").await.expect("a turn");
    let requests = model.requests();
    let Some(Message::Assistant { calls, .. }) = requests[1].messages.iter().nth(1) else { panic!("the model called") };
    assert_eq!(calls[0].arguments, "{}");
}

/// Stated rule: arguments are never coerced. What is wrong is said with the field that it is in.
#[tokio::test]
async fn b25_wrong_arguments_are_answered_with_what_is_wrong() {
    for (arguments, said) in [
        ("[]", "the arguments must be a JSON object, not an array."),
        ("\"x\"", "the arguments must be a JSON object, not a string."),
        (r#""{\"id\": 1}""#, "the arguments must be a JSON object, not a string."),
        (r#"{"id":"#, "the arguments are not valid JSON: EOF while parsing a value at line 1 column 6."),
        (r#"{"id": "60"}"#, "in `id`: invalid type: string \"60\", expected u32."),
        (r#"{"id": 1, "why": {"reason": 2}}"#, "in `why.reason`: invalid type: integer `2`, expected a string."),
    ] {
        assert_eq!(ticket_call("close_ticket", arguments).await.0, format!("`close_ticket` was not run: {said}"));
    }
    let (said, _) = ticket_call("close_ticket", r#"{"id": 7, "why": {"reason": "solved"}}"#).await;
    assert_eq!(said, "7 closed: solved");
}

#[tokio::test]
async fn b25_navigation_tools_take_blank_arguments_too() {
    for (name, said) in [
        ("read_skill", "`read_skill` was not run: `id` is missing."),
        (
            "list_skills",
            r#"[{"id":"billing","description":"Money"},{"id":"receipts","description":"Receipts"},{"id":"trouble","description":"When paying failed"}]"#,
        ),
        ("skip_step", "The step was not skipped: say why it is not needed, in `reason`."),
    ] {
        let model = ScriptedModel::from_fn({
            move |request| match request.iteration {
                1 => ModelReply::calls([ToolCall::new("c1", name, "")]),
                _ => answer(),
            }
        });
        refunds(&model, succeeds("issue_refund")).run("hello").await.expect("a turn");
        assert_eq!(last_results(&model.requests()[1].messages)[0].1, said);
    }
}

/// A tool without parameters is sent with a complete schema, a nested one with its definitions (report B29).
#[tokio::test]
async fn b25_schemas_are_complete_objects() {
    let model = ScriptedModel::new([answer()]);
    let tools = typed::tickets::Tools { list_open_tickets: typed::ListOpenTickets, close_ticket: typed::CloseTicket };
    typed::tickets::agent(tools).model(model.clone()).build().expect("an agent").run("hello").await.expect("a turn");
    let request = &model.requests()[0];
    let schema = |name: &str| request.tool(name).expect("offered").parameters.clone();
    let no_arguments = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    assert_eq!(schema("list_open_tickets"), no_arguments);
    assert_eq!(schema("close_ticket")["required"], json!(["id", "why"]));
    assert_eq!(schema("close_ticket")["$defs"]["Why"]["type"], "object");
}

mod b32 {
    use skillgraph::skill_graph;

    skill_graph! {
        #[allow(skillgraph::model_edge_only)]
        pub(super) graph words {
            tools {}
            skill end { description: "say \"hi\" (now)", body: "b" }
            skill graph { description: "Vec<T> and `cmd`", body: "b" }
            skill subgraph { description: "literal #quot;", body: "b" }
            skill class_def { description: "a | b", body: "b" }
            skill n0 { description: "二（急）", body: "b" }
            skill default { description: "%% end", body: "b" }
            entry end when matches(r"(?i)/(refund|charge)[a-z]+/");
            entry graph when |message| message.len() > 3 && message != "end";
            route end ~> subgraph as "100% \"sure\"";
            route end ~> class_def;
            route graph ~> n0;
            route graph ~> default;
        }
    }
}

#[test]
fn b32_no_name_is_a_word_of_the_diagram() {
    let drawing = b32::words::GRAPH.to_mermaid();
    let ids: Vec<&str> = drawing.lines().filter_map(|line| line.trim().split_once("[\"")).map(|(id, _)| id).collect();
    assert_eq!(ids, ["start(", "n0", "n1", "n2", "n3", "n4", "n5"]);
    assert_eq!(drawing, b32::words::GRAPH.to_mermaid());
}

#[test]
fn b33_labels_are_always_quoted_and_escaped() {
    let expected = r#"flowchart TD
  start(["words"])
  n0["end<br/>say #34;hi#34; (now)"]
  n1["graph<br/>Vec#60;T#62; and #96;cmd#96;"]
  n2["subgraph<br/>literal #35;quot#59;"]
  n3["class-def<br/>a #124; b"]
  n4["n0<br/>二（急）"]
  n5["default<br/>#37;#37; end"]
  start -->|"entry 1: /(?i)/(refund#124;charge)[a-z]+//"| n0
  start -->|"entry 2: #124;message#124; message.len() #62; 3 #38;#38; message != #34;end#34;"| n1
  n0 -.->|"100#37; #34;sure#34;"| n2
  n0 -.->|"the model's pick"| n3
  n1 -.->|"the model's pick"| n4
  n1 -.->|"the model's pick"| n5
"#;
    assert_eq!(b32::words::GRAPH.to_mermaid(), expected);
}

mod b38 {
    use skillgraph::skill_graph;

    skill_graph! {
        /// Keywords as names.
        #[allow(skillgraph::model_edge_only)]
        pub(super) graph keywords {
            /// The registry.
            tools {
                /// A raw name.
                r#type: dyn,
                route: dyn,
                loop: dyn,
            }
            /// handles matches
            skill r#match {
                /// The body.
                body: "Call {route}, {type} or {loop}.",
                /// The tools.
                tools: [r#type, route, r#loop,],
                steps: [
                    /// First.
                    type: "first",
                    route: "second",
                ],
            }
            skill audit = "audit-log" { description: "Audit", body: "Audit body.", }
            skill entry { description: "Entry", body: "Entry body.", }
            /// The way in.
            entry r#match;
            /// An edge.
            route match -> entry on any[loop, route,];
            route entry ~> audit as "look";
        }
    }
}

#[test]
fn b38_keywords_and_raw_identifiers_are_names() {
    use b38::keywords::{GRAPH, skill, tool};
    assert_eq!(
        (skill::r#match.as_str(), skill::audit.as_str(), skill::entry.as_str()),
        ("match", "audit-log", "entry")
    );
    assert_eq!((tool::r#type.as_str(), tool::r#loop.as_str()), ("type", "loop"));
    let graph = GRAPH.compiled().expect("compiles");
    let skill = graph.skill(graph.find_skill("match").expect("a skill")).expect("a skill");
    assert_eq!(skill.description, "handles matches");
    assert_eq!(skill.body, "Call route, type or loop.");
}

/// Which of two jobs a conversation has, by its first message: the model knows nothing but the request.
fn two_jobs() -> ScriptedModel {
    ScriptedModel::from_fn(|request| {
        let name = if request.system.contains("Billing body.") { "pay" } else { "find_parcel" };
        match request.iteration {
            1 => calls([("c1", "find_order", json!({})), ("c2", name, json!({}))]),
            2..6 => calls([("c1", name, json!({ "n": request.iteration }))]),
            _ => ModelReply::text(request.system.clone()),
        }
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn b48_conversations_of_one_agent_do_not_see_each_other() {
    fn assert_shared<T: Send + Sync>(_: &T) {}
    let yielding = |name: &'static str| {
        DynTool::new(name, "Yields.", json!({ "type": "object" }), move |args, _| async move {
            tokio::task::yield_now().await;
            Ok::<Value, String>(args)
        })
    };
    let tools = || vec![yielding("find_order"), yielding("find_parcel"), yielding("pay")];
    let agent = parcels(&two_jobs(), tools());
    assert_shared(&agent);
    assert_shared(agent.graph());

    let solo = parcels(&two_jobs(), tools());
    let mut expected = Vec::new();
    for message in ["hello 0", "hello 1"] {
        let mut conversation = solo.conversation();
        let report = conversation.send(message).await.expect("a turn");
        expected.push((
            hops(&report),
            report.outcome,
            conversation.transcript().iter().skip(1).cloned().collect::<Vec<_>>(),
        ));
    }
    let tasks: Vec<_> = (0..50)
        .map(|job| {
            let agent = agent.clone();
            tokio::spawn(async move {
                let mut conversation = agent.conversation();
                let report = conversation.send(format!("hello {}", job % 2)).await.expect("a turn");
                let said = conversation.transcript().iter().skip(1).cloned().collect::<Vec<_>>();
                (job % 2, (hops(&report), report.outcome, said))
            })
        })
        .collect();
    for task in tasks {
        let (job, run) = task.await.expect("a conversation");
        assert_eq!(run, expected[job]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b48_a_tool_that_blocks_does_not_stop_the_others() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let receiver = std::sync::Mutex::new(receiver);
    // Waits, on its thread, for what the tool beside it sends.
    let blocking = tool("find_order", move |_| {
        let receiver = receiver.lock().expect("no panic");
        match receiver.recv_timeout(Duration::from_secs(30)) {
            Ok(()) => ToolReply::success(json!("heard")),
            Err(_) => ToolReply::failure("nothing came"),
        }
    });
    let sending = tool("find_parcel", move |_| {
        sender.send(()).expect("somebody listens");
        ToolReply::success(json!("sent"))
    });
    let model =
        ScriptedModel::new([calls([("c1", "find_order", json!({})), ("c2", "find_parcel", json!({}))]), answer()]);
    parcels(&model, vec![blocking, sending]).run("hello").await.expect("a turn");
    assert_eq!(last_results(&model.requests()[1].messages)[0].1, "heard");
}

#[tokio::test]
async fn b49_a_panic_is_a_result_and_the_others_finish() {
    let model = ScriptedModel::new([
        calls([("c1", "find_parcel", json!({})), ("c2", "find_order", json!({}))]),
        answer(),
        answer(),
    ]);
    let panics = tool("find_parcel", |_| panic!("a bug in the tool"));
    let mut conversation = parcels(&model, vec![panics]).conversation();
    let report = conversation.send("hello").await.expect("a turn");
    assert_eq!(report.cursor.expect("a cursor"), "billing");
    let results = last_results(&conversation.transcript());
    assert_eq!(
        results[0].1,
        "`find_parcel` failed unexpectedly before it returned. Whether it had an effect is not known."
    );
    assert_eq!(results[1].1, "find_order done");
    assert_paired(&conversation.transcript());
    conversation.send("again").await.expect("the conversation goes on");
}

#[tokio::test(start_paused = true)]
async fn b49_a_tool_that_never_returns_runs_out_of_time() {
    let model = ScriptedModel::new([calls([("c1", "find_order", json!({}))]), answer()]);
    let never = DynTool::new("find_order", "Never.", json!({ "type": "object" }), |_, _| async {
        std::future::pending::<Result<Value, String>>().await
    });
    let report = parcels(&model, vec![never]).run("hello").await.expect("a turn");
    assert_eq!(hops(&report), ["triage by entry", "triage by stay"]);
    assert_eq!(
        last_results(&model.requests()[1].messages)[0].1,
        "`find_order` did not return within 60 seconds. Whether it had an effect is not known."
    );
}

#[tokio::test(start_paused = true)]
async fn b49_a_dropped_turn_leaves_a_conversation_that_goes_on() {
    let model = ScriptedModel::from_fn(|request| match (request.iteration, request.messages.len()) {
        (1, 1) => {
            calls([("c1", "find_order", json!({})), ("c2", "find_parcel", json!({})), ("c3", "nothing", json!({}))])
        }
        _ => answer(),
    });
    let dropped = Arc::new(AtomicUsize::new(0));
    let agent = parcels(&model, vec![slow("find_parcel", Duration::from_secs(50))]);
    let mut conversation = agent.conversation();
    let counter = dropped.clone();
    conversation.on_event(move |event| {
        if matches!(event, Event::TurnEnded { outcome: Outcome::Cancelled, .. }) {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    let run = tokio::time::timeout(Duration::from_secs(5), conversation.send("hello")).await;
    assert!(run.is_err(), "the turn was dropped");

    let transcript = conversation.transcript();
    assert_paired(&transcript);
    let results = last_results(&transcript);
    assert_eq!(results[0], ("c1".to_owned(), "find_order done".to_owned()));
    assert!(results[1].1.starts_with("`find_parcel` was interrupted"), "{}", results[1].1);
    assert!(results[2].1.starts_with("`nothing` is not available here."), "{}", results[2].1);

    let report = conversation.send("are you there?").await.expect("the conversation goes on");
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    // The edge of the interrupted batch did not fire: a turn starts where its own message leads.
    assert_eq!(hops(&report), ["triage by entry"]);
    assert_paired(&conversation.transcript());
    assert_eq!(model.requests()[1].messages.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn b49_a_turn_dropped_before_its_first_tool_is_complete_too() {
    struct Slow;
    impl skillgraph::Model for Slow {
        async fn complete(&self, request: skillgraph::ModelRequest) -> Result<ModelReply, skillgraph::ModelError> {
            if request.messages.len() == 1 {
                tokio::time::sleep(Duration::from_secs(50)).await;
            }
            Ok(answer())
        }
    }
    let tools = parcels::Tools {
        find_order: succeeds("find_order"),
        find_parcel: succeeds("find_parcel"),
        pay: succeeds("pay"),
    };
    let mut conversation = parcels::agent(tools).model(Slow).build().expect("an agent").conversation();
    let run = tokio::time::timeout(Duration::from_secs(5), conversation.send("hello")).await;
    assert!(run.is_err(), "the turn was dropped");
    assert_eq!(conversation.transcript().len(), 1);
    let report = conversation.send("again").await.expect("the conversation goes on");
    assert_eq!(report.text(), Some("done"));
}

/// Bad input of the wire, beside the reports: each is a typed outcome.
#[tokio::test]
async fn b49_calls_that_cannot_be_told_apart_or_were_cut_off_are_answered() {
    let twins =
        calls([("c1", "find_order", json!({})), ("c1", "find_parcel", json!({})), ("c2", "find_order", json!({}))]);
    let cut = ModelReply::calls([ToolCall::new("c3", "find_order", "{}"), ToolCall::new("c4", "find_order", "{}")])
        .stopped(StopReason::MaxTokens);
    let (find_order, runs) = counts("find_order");
    let model = ScriptedModel::new([twins, answer()]);
    let mut conversation = parcels(&model, vec![find_order]).conversation();
    conversation.send("hello").await.expect("a turn");
    // Each runs, under an id of its own.
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    assert_paired(&conversation.transcript());
    let ids: Vec<String> = last_results(&conversation.transcript()).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["c1", "call_1", "c2"]);

    let (find_order, runs) = counts("find_order");
    let model = ScriptedModel::new([cut, answer()]);
    let mut conversation = parcels(&model, vec![find_order]).conversation();
    conversation.send("hello").await.expect("a turn");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert!(last_results(&conversation.transcript())[1].1.contains("token limit"));
}
