//! Turns, one rule a test: what is offered, what is refused, how steps go, how a turn ends (SPEC 3–7, 13).

use std::sync::Arc;
use std::time::Duration;

use crate::common::{
    answer, assert_paired, calls, counts, hops, last_results, pick, succeeds, take, tool, without_others,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillgraph::core::turn::{Input, InputError, Output, RestoreError, SavedTurn, ToolReturn, Turn};
use skillgraph::{
    Agent, BuildError, Cause, DynTool, Event, Message, ModelReply, Outcome, RunError, ScriptedModel, Status,
    StopReason, ToolReply, Transcript, skill_graph, tool,
};

#[derive(Deserialize, JsonSchema)]
struct RefundArgs {
    amount: u64,
}

#[derive(Serialize)]
struct Refund {
    amount: u64,
}

/// Pays back.
#[tool]
async fn issue_refund(args: RefundArgs) -> Result<ToolReply<Refund>, std::convert::Infallible> {
    Ok(match args.amount {
        0 => ToolReply::absent("nothing to pay"),
        1..1_000 => Refund { amount: args.amount }.into(),
        _ => ToolReply::partial(Refund { amount: 1_000 }),
    })
}

fn bad_luck(amount: u64) -> bool {
    assert!(amount != 13, "unlucky");
    amount > 500
}

skill_graph! {
    #[allow(skillgraph::skill_wraps_one_tool, skillgraph::unreachable_skill, skillgraph::model_edge_only, skillgraph::ambiguous_routes)]
    graph support {
        tools { lookup: dyn, issue_refund: IssueRefund, note: dyn, close: dyn, search = "search_docs": dyn }
        baseline: [search];

        skill triage {
            description: "Start",
            body: "Triage. {search} knows.",
            tools: [lookup],
        }
        skill billing {
            description: "Money",
            body: "Billing.",
            tools: [lookup, issue_refund, note],
            steps: [lookup: "find it", issue_refund: "pay it", lookup: "check it"],
        }
        skill audit {
            description: "Large amounts",
            body: "Audit.",
            tools: [close],
            steps: [close: "close it"],
            on_skip: hold,
        }
        // No entry or edge mentions it: open to `read_skill` everywhere.
        skill notes {
            description: "Notes",
            body: "Notes.",
            tools: [note],
        }
        skill constant {
            description: "Always there",
            body: "Constant.",
            tools: [close],
            scope: always,
        }

        entry triage;
        entry billing when keywords["refund"] as "money words";
        entry audit when all[matches(r"(?i)audit\s+\d+"), |message| !message.contains("no audit")];
        #[allow(skillgraph::gate_beside_entry)]
        route billing -> audit on issue_refund when |out| bad_luck(out.amount) as "large";
        route billing -> triage on any when |result| result.status == crate::turn::Status::Denied;
        route triage ~> constant;
    }
}

/// The tools of the graph: those given, and others that succeed.
fn tools_with(mut given: Vec<DynTool>) -> support::Tools {
    support::Tools {
        lookup: take(&mut given, "lookup"),
        issue_refund: IssueRefund,
        note: take(&mut given, "note"),
        close: take(&mut given, "close"),
        search: take(&mut given, "search_docs"),
    }
}

fn agent_with(model: &ScriptedModel, given: Vec<DynTool>) -> Agent {
    support::agent(tools_with(given)).model(model.clone()).system("Host.").build().expect("an agent")
}

fn agent(model: &ScriptedModel) -> Agent {
    agent_with(model, vec![])
}

const ALWAYS: [&str; 2] = ["search_docs", "close"];

#[tokio::test]
async fn the_offer_follows_the_steps() {
    let refund = |amount: u64| calls([("c", "issue_refund", json!({ "amount": amount }))]);
    let model = ScriptedModel::new([
        calls([("c", "lookup", json!({}))]),
        refund(0),
        refund(5),
        calls([("c1", "lookup", json!({})), ("c2", "lookup", json!({}))]),
        answer(),
    ]);
    let report = agent(&model).run("a refund please").await.expect("a turn");

    let requests = model.requests();
    let own: Vec<Vec<&str>> = requests
        .iter()
        .map(|request| request.tool_names().into_iter().filter(|name| !ALWAYS.contains(name)).collect())
        .collect();
    let navigation = ["read_skill", "list_skills"];
    let step = |tool: &'static str| [&[tool, "note"], &navigation[..], &["skip_step"]].concat();
    assert_eq!(own[0], step("lookup"));
    assert_eq!(own[1], step("issue_refund"));
    assert_eq!(own[2], step("issue_refund"), "an absent refund keeps the step");
    assert_eq!(own[3], step("lookup"));
    assert_eq!(own[4], [&["lookup", "issue_refund", "note"][..], &navigation].concat());

    assert_eq!(requests[1].tool("issue_refund").expect("offered").description, "[Step 2 of 3: pay it] Pays back.");
    assert_eq!(
        without_others(&requests[0].system),
        "Host.\n\n# Skill: billing\n\nBilling.\n\nStep 1 of 3 is next: call `lookup`. find it\n\
         Where the procedure stands is said here and behind `[skillgraph]`, nowhere else."
    );
    assert_eq!(without_others(&requests[4].system), "Host.\n\n# Skill: billing\n\nBilling.");
    assert_eq!(
        last_results(&requests[1].messages)[0].1,
        "lookup done\n\n[skillgraph] Step 2 of 3 is next: `issue_refund`. pay it"
    );
    assert_eq!(
        last_results(&requests[2].messages)[0].1,
        "nothing to pay\n\n[skillgraph] Step 2 of 3 is still open: this call came back as absent."
    );
    assert_eq!(
        last_results(&requests[4].messages)[1].1,
        "lookup done\n\n[skillgraph] Step 3 of 3 was taken by another call of the same message."
    );
    assert_eq!(last_results(&requests[4].messages)[0].1, "lookup done\n\n[skillgraph] All 3 steps are behind.");
    let advanced = report.events.iter().filter(|event| matches!(event, Event::StepAdvanced { .. })).count();
    assert_eq!(advanced, 3, "two calls in one batch advance one step");
    assert_eq!(report.outcome, Outcome::Answered { text: "done".into() });
}

#[tokio::test]
async fn a_typed_closure_reads_the_output_and_travels_as_evidence() {
    for (amount, ends, partial) in [(5, "billing", false), (600, "audit", false), (5_000, "audit", true)] {
        let model = ScriptedModel::new([
            calls([("c", "lookup", json!({}))]),
            calls([("c", "issue_refund", json!({ "amount": amount }))]),
            answer(),
            answer(),
        ]);
        let report = agent(&model).run("refund").await.expect("a turn");
        assert_eq!(report.cursor.clone().expect("a cursor"), ends);
        let hop = report.route().hops()[2].clone();
        if ends == "audit" {
            assert_eq!((hop.by, hop.label.as_deref()), (Cause::Route, Some("large")));
            let status = if partial { Status::Partial } else { Status::Success };
            assert_eq!(hop.fired.as_ref().expect("what fired").status, status);
        } else {
            assert_eq!(hop.by, Cause::Stay);
        }
    }
}

#[tokio::test]
async fn a_closure_that_panics_says_no_and_is_recorded() {
    let model = ScriptedModel::new([
        calls([("c", "lookup", json!({}))]),
        calls([("c", "issue_refund", json!({ "amount": 13 }))]),
        answer(),
        answer(),
    ]);
    let report = agent(&model).run("refund").await.expect("a turn");
    assert_eq!(report.cursor.expect("a cursor"), "billing");
    let tests: Vec<&str> = report
        .events
        .iter()
        .filter_map(|event| match event {
            Event::TestPanicked { test, .. } => Some(test.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(tests, ["route 1 (billing -> audit)"]);
}

#[tokio::test]
async fn entries_say_what_of_the_message_opened_them() {
    for (message, expected, text, keyword) in [
        ("I want my REFUND", "billing", Some("REFUND"), Some("refund")),
        ("Please Audit \n 77", "audit", Some("Audit 77"), None),
        ("no audit 77 please", "triage", None, None),
        ("", "triage", None, None),
        ("refunds", "triage", None, None),
    ] {
        let model = ScriptedModel::new([answer(), answer()]);
        let report = agent(&model).run(message).await.expect("a turn");
        let hop = report.route().hops()[0].clone();
        assert_eq!((hop.to.expect("a skill").as_str(), hop.by), (expected, Cause::Entry), "{message}");
        assert_eq!(hop.witness.as_ref().map(|witness| witness.text.as_str()), text, "{message}");
        assert_eq!(hop.witness.and_then(|witness| witness.keyword).as_deref(), keyword, "{message}");
    }
}

#[tokio::test]
async fn a_megabyte_of_message_is_a_message() {
    let message = format!("{} refund", "word ".repeat(1 << 18));
    let model = ScriptedModel::new([answer(), answer()]);
    let report = agent(&model).run(message.clone()).await.expect("a turn");
    assert_eq!(report.route().hops()[0].witness.as_ref().expect("a witness").text, "refund");
    assert!(matches!(model.requests()[0].messages.last(), Some(Message::User { text }) if *text == message));
}

#[tokio::test]
async fn an_open_skill_opens_beside_the_cursor() {
    let model = ScriptedModel::new([
        calls([("c1", "read_skill", json!({ "id": "notes" })), ("c2", "read_skill", json!({ "id": "notes" }))]),
        calls([("c3", "note", json!({}))]),
        answer(),
    ]);
    let mut conversation = agent(&model).conversation();
    let report = conversation.send("hello").await.expect("a turn");
    assert_eq!(hops(&report), ["triage by entry", "triage by stay", "triage by stay"]);
    let requests = model.requests();
    assert!(requests[0].tool("note").is_none());
    assert!(requests[1].tool("note").is_some());
    assert_eq!(
        without_others(&requests[1].system),
        "Host.\n\n# Skill: triage\n\nTriage. search_docs knows.\n\n# Skill: notes\n\nNotes."
    );
    let results = last_results(&requests[1].messages);
    assert_eq!(results[0].1, "`notes` is open for the rest of this turn, beside the skill you are in.");
    assert!(results[1].1.starts_with("`notes` is open already"), "{}", results[1].1);
    // What was opened is gone with the turn.
    let model = ScriptedModel::new([answer()]);
    let mut next = agent(&model).conversation_after(conversation.transcript());
    next.send("and now?").await.expect("a turn");
    assert!(model.requests()[0].tool("note").is_none());
    assert!(model.requests()[0].messages.len() > 5);
}

#[tokio::test]
async fn an_opened_skill_offers_what_a_procedure_holds_out() {
    skill_graph! {
        #[allow(skillgraph::unreachable_skill)]
        graph both {
            tools { first: dyn, second: dyn }
            skill work { description: "Work", body: "Work.", tools: [first, second], steps: [first: "a", second: "b"] }
            skill side { description: "Side", body: "Side.", tools: [second] }
            entry work;
        }
    }
    let model = ScriptedModel::new([pick("c1", "side"), answer(), answer()]);
    let tools = both::Tools { first: succeeds("first"), second: succeeds("second") };
    both::agent(tools).model(model.clone()).build().expect("an agent").run("go").await.expect("a turn");
    let requests = model.requests();
    assert_eq!(requests[0].tool_names(), ["first", "read_skill", "list_skills", "skip_step"]);
    assert_eq!(requests[1].tool_names(), ["first", "second", "read_skill", "list_skills", "skip_step"]);
}

#[tokio::test]
async fn skipping_needs_a_reason_and_does_what_the_author_said() {
    let skip = |id: &str, reason: &str| calls([(id, "skip_step", json!({ "reason": reason }))]);
    let model = ScriptedModel::new([skip("c1", " "), skip("c2", "known already"), answer(), answer()]);
    let report = agent(&model).run("refund").await.expect("a turn");
    let requests = model.requests();
    assert_eq!(
        last_results(&requests[1].messages)[0].1,
        "The step was not skipped: say why it is not needed, in `reason`."
    );
    assert_eq!(last_results(&requests[2].messages)[0].1, "Step 2 of 3 is next: `issue_refund`. pay it");
    let skipped = report.events.iter().find_map(|event| match event {
        Event::StepSkipped { step, total, reason, .. } => Some((*step, *total, reason.clone())),
        _ => None,
    });
    assert_eq!(skipped, Some((1, 3, "known already".into())));

    let model = ScriptedModel::new([skip("c1", "closed by phone"), answer(), answer()]);
    agent(&model).run("audit 7").await.expect("a turn");
    assert_eq!(
        last_results(&model.requests()[1].messages)[0].1,
        "The reason is recorded. Step 1 of 1 stays the current one: `close`. close it"
    );
}

#[tokio::test]
async fn an_answer_with_steps_left_is_nudged_once_and_then_taken() {
    let model = ScriptedModel::new([ModelReply::text("too early"), ModelReply::text("I stay with it")]);
    let mut conversation = agent(&model).conversation();
    let report = conversation.send("audit 7").await.expect("a turn");
    assert_eq!(report.text(), Some("I stay with it"));
    let said: Vec<Message> = conversation.transcript().iter().cloned().collect();
    let Message::Framework { text, .. } = &said[2] else { panic!("the framework speaks: {said:?}") };
    assert_eq!(
        text,
        "[skillgraph] The answer came before the procedure was finished. Not done at that point: step 1 (`close`: close it). \
         If one of these could not be done, the answer was to say why."
    );
    let actions: Vec<String> = report
        .events
        .iter()
        .filter_map(|event| match event {
            Event::StepsUnfinished { action, remaining, .. } => Some(format!("{action:?} {remaining:?}")),
            _ => None,
        })
        .collect();
    assert_eq!(actions, ["Nudged [1]", "Accepted [1]"]);
}

#[tokio::test]
async fn the_cap_is_never_exceeded_not_even_by_a_nudge() {
    let model = ScriptedModel::from_fn(|_| calls([("c", "lookup", json!({}))]));
    let report = agent(&model).run("hello").await.expect("a turn");
    assert_eq!(report.outcome, Outcome::OutOfIterations { iterations: 10 });
    assert_eq!(model.requests().len(), 10);

    let model = ScriptedModel::new([ModelReply::text("early")]);
    let tools = tools_with(vec![]);
    let agent = support::agent(tools).model(model.clone()).max_iterations(1).build().expect("an agent");
    let report = agent.run("audit 7").await.expect("a turn");
    assert_eq!(report.text(), Some("early"));
}

#[tokio::test]
async fn the_last_calls_of_a_turn_run_and_are_answered() {
    let (lookup, runs) = counts("lookup");
    let model = ScriptedModel::from_fn(|_| {
        calls([("c1", "lookup", json!({})), ("c2", "read_skill", json!({ "id": "billing" }))])
    });
    let tools = tools_with(vec![lookup]);
    let agent = support::agent(tools).model(model.clone()).max_iterations(1).build().expect("an agent");
    let mut conversation = agent.conversation();
    let report = conversation.send("hello").await.expect("a turn");
    assert_eq!(report.outcome, Outcome::OutOfIterations { iterations: 1 });
    assert_eq!(runs.load(std::sync::atomic::Ordering::SeqCst), 1);
    let results = last_results(&conversation.transcript());
    assert_eq!(results[0].1, "done");
    assert_eq!(results[1].1, "`billing` was picked, and the turn ended with that: at its limit of model calls.");
    assert_eq!(report.cursor.expect("a cursor"), "billing");
}

#[tokio::test]
async fn presence_of_calls_decides_not_the_stop_reason() {
    let stopped = |stop| calls([("c", "lookup", json!({}))]).stopped(stop);
    let model = ScriptedModel::new([
        stopped(StopReason::EndTurn),
        stopped(StopReason::Other("pause_turn".into())),
        answer().stopped(StopReason::ToolCalls),
    ]);
    let report = agent(&model).run("hello").await.expect("a turn");
    assert_eq!(report.text(), Some("done"));
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn refusals_and_cut_off_answers_are_outcomes_of_their_own() {
    let (lookup, runs) = counts("lookup");
    let refusal = ModelReply { text: "no".into(), ..calls([("c", "lookup", json!({}))]) }.stopped(StopReason::Refusal);
    let model = ScriptedModel::new([refusal]);
    let mut conversation = agent_with(&model, vec![lookup]).conversation();
    let report = conversation.send("hello").await.expect("a turn");
    assert_eq!(report.outcome, Outcome::Refused { text: "no".into() });
    assert_eq!(runs.load(std::sync::atomic::Ordering::SeqCst), 0);
    assert_paired(&conversation.transcript());

    let model = ScriptedModel::new([ModelReply::text("and then").stopped(StopReason::MaxTokens)]);
    let report = agent(&model).run("hello").await.expect("a turn");
    assert_eq!(report.outcome, Outcome::Truncated { text: "and then".into() });

    let model = ScriptedModel::new([ModelReply::text(""), ModelReply::text(" ")]);
    let mut conversation = agent(&model).conversation();
    assert_eq!(conversation.send("hello").await.expect("a turn").outcome, Outcome::Empty);
    let empty = |message: &Message| matches!(message, Message::Assistant { .. });
    assert!(!conversation.transcript().iter().any(empty), "no empty message is kept");
}

#[tokio::test]
async fn a_model_that_fails_is_an_error_and_the_conversation_goes_on() {
    let model = ScriptedModel::new([]);
    let mut conversation = agent(&model).conversation();
    let error = conversation.send("hello").await.expect_err("the script is empty");
    let RunError::Model { error, .. } = error else { panic!("{error}") };
    assert_eq!(error.to_string(), "the script has no reply number 1");
    assert_eq!(conversation.transcript().len(), 1);
}

#[test]
fn without_a_tokio_runtime_there_is_an_error_and_no_panic() {
    let model = ScriptedModel::new([answer()]);
    let agent = agent(&model);
    let mut conversation = agent.conversation();
    let mut send = std::pin::pin!(conversation.send("hello"));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(result) = send.as_mut().poll(&mut context) else { panic!("it answers at once") };
    assert!(matches!(result.expect_err("no runtime"), RunError::NoRuntime));
}

#[tokio::test]
async fn a_tool_may_propose_where_to_go() {
    let proposing = |skill: &'static str| {
        tool("lookup", move |_| ToolReply::success(json!("found")).propose_transition(skill, "money is involved"))
    };
    let batch = || calls([("c1", "lookup", json!({})), ("c2", "read_skill", json!({ "id": "constant" }))]);
    let model = ScriptedModel::new([batch(), answer(), answer()]);
    let report = agent_with(&model, vec![proposing("billing")]).run("hello").await.expect("a turn");
    assert_eq!(hops(&report)[1], "billing by tool-proposal");
    assert_eq!(report.route().hops()[1].reason.as_deref(), Some("money is involved"));
    assert!(last_results(&model.requests()[1].messages)[1].1.ends_with("a tool moved the conversation to `billing`."));

    let model = ScriptedModel::new([batch(), answer()]);
    let report = agent_with(&model, vec![proposing("nowhere")]).run("hello").await.expect("a turn");
    assert_eq!(hops(&report)[1], "constant by model-pick");
    assert!(
        report
            .events
            .iter()
            .any(|event| matches!(event, Event::ProposalRefused { requested, .. } if requested == "nowhere"))
    );
}

#[tokio::test(start_paused = true)]
async fn tools_run_at_the_same_time_unless_one_wants_to_be_alone() {
    let log = Arc::new(std::sync::Mutex::new(Vec::new()));
    let logging = |name: &'static str| {
        let log = log.clone();
        DynTool::new(name, "Logs.", json!({ "type": "object" }), move |_, _| {
            let log = log.clone();
            async move {
                log.lock().expect("no panic").push(format!("{name} begins"));
                tokio::time::sleep(Duration::from_secs(1)).await;
                log.lock().expect("no panic").push(format!("{name} ends"));
                Ok::<Value, String>(json!(name))
            }
        })
    };
    let alone = logging("search_docs").with_options(skillgraph::ToolOptions::default().exclusive());
    let model = ScriptedModel::new([
        calls([
            ("c1", "lookup", json!({})),
            ("c2", "close", json!({})),
            ("c3", "search_docs", json!({})),
            ("c4", "lookup", json!({})),
        ]),
        answer(),
    ]);
    agent_with(&model, vec![logging("lookup"), logging("close"), alone]).run("hello").await.expect("a turn");
    let log = log.lock().expect("no panic").clone();
    assert_eq!(log[..2], ["lookup begins", "close begins"]);
    assert_eq!(log[4..], ["search_docs begins", "search_docs ends", "lookup begins", "lookup ends"]);
}

#[test]
fn an_input_that_is_not_awaited_changes_nothing() {
    let agent = agent(&ScriptedModel::new([]));
    let mut turn = Turn::start(agent.setup().clone(), Transcript::new(), "hello");
    while turn.poll_event().is_some() {}
    let result = |id: &str| Input::ToolReturned(ToolReturn::new(id, Status::Success, json!(1)));

    let before = turn.save();
    let error = turn.handle_input(result("c1")).expect_err("the model is awaited");
    assert_eq!(error.to_string(), "the turn waits for the model, and a tool's result came");
    assert_eq!(turn.save(), before);

    let batch = calls([("c1", "lookup", json!({})), ("c2", "search_docs", json!({}))]);
    turn.handle_input(Input::ModelReplied(batch)).expect("a reply");
    turn.handle_input(result("c1")).expect("a result");
    let before = turn.save();
    for (input, expected) in [
        (result("c1"), InputError::ReturnedTwice { call_id: "c1".into() }),
        (result("c9"), InputError::UnknownCall { call_id: "c9".into() }),
        (Input::ModelReplied(answer()), InputError::NotAwaited { got: "a model's reply", awaited: "its tools" }),
    ] {
        assert_eq!(turn.handle_input(input), Err(expected));
        assert_eq!(turn.save(), before);
    }
    let Output::RunTools(runs) = turn.poll_output() else { panic!("one tool is still running") };
    assert_eq!(runs.len(), 1);

    turn.handle_input(Input::Cancel).expect("any time");
    assert_eq!(turn.poll_output(), Output::Done(Outcome::Cancelled));
    assert!(turn.handle_input(Input::Cancel).is_err());
}

#[test]
fn a_turn_of_another_graph_is_refused_with_the_names_that_differ() {
    skill_graph! {
        #[allow(skillgraph::unused_tool)]
        graph other {
            tools { lookup: dyn, brand_new: dyn }
            skill triage { description: "Start", body: "Triage.", tools: [lookup] }
            entry triage;
        }
    }
    let model = ScriptedModel::new([]);
    let turn = Turn::start(agent(&model).setup().clone(), Transcript::new(), "hello");
    let saved: SavedTurn =
        serde_json::from_value(serde_json::to_value(turn.save()).expect("serialises")).expect("deserialises");
    let tools = other::Tools { lookup: succeeds("lookup"), brand_new: succeeds("brand_new") };
    let agent = other::agent(tools).model(model).build().expect("an agent");
    let RestoreError::OtherGraph { saved, current, gone, new } =
        Turn::restore(agent.setup().clone(), saved).expect_err("another graph")
    else {
        panic!("another graph")
    };
    assert_eq!((saved.as_str(), current.as_str()), ("support", "other"));
    assert_eq!(gone, ["billing", "audit", "notes", "constant", "issue_refund", "note", "close", "search_docs"]);
    assert_eq!(new, ["brand_new"]);
}

#[test]
fn an_agent_that_does_not_fit_together_is_not_built() {
    let tools = |search: DynTool| support::Tools { search, ..tools_with(vec![]) };
    let model = ScriptedModel::new([]);
    let error = support::agent(tools(succeeds("search"))).model(model.clone()).build().expect_err("a wrong name");
    assert_eq!(error.to_string(), "the graph declares the tool `search_docs` and was given one named `search`");

    let no_object = DynTool::new("search_docs", "Searches.", json!({ "type": "string" }), |_, _| async {
        Ok::<Value, String>(json!(1))
    });
    let error = support::agent(tools(no_object)).model(model.clone()).build().expect_err("no object");
    assert!(matches!(error, BuildError::NotAnObject { tool } if tool == "search_docs"));

    let error = support::agent(tools(succeeds("search_docs"))).build().expect_err("no model");
    assert_eq!(error.to_string(), "the agent has no model: give it one with `.model(…)`");

    let error =
        support::agent(tools(succeeds("search_docs"))).model(model).max_iterations(0).build().expect_err("no calls");
    assert!(matches!(error, BuildError::NoIterations));
}

#[tokio::test]
async fn events_come_in_order_and_as_data() {
    let model = ScriptedModel::new([calls([("c1", "lookup", json!({})), ("c2", "nothing", json!({}))]), answer()]);
    let report = agent(&model).run("hello").await.expect("a turn");
    let kinds: Vec<String> = report
        .events
        .iter()
        .map(|event| serde_json::to_value(event).expect("serialises")["event"].as_str().expect("a kind").to_owned())
        .collect();
    assert_eq!(
        kinds,
        [
            "turn_started",
            "cursor_decided",
            "skill_activated",
            "offered",
            "model_replied",
            "tool_started",
            "call_refused",
            "tool_returned",
            "cursor_decided",
            "offered",
            "model_replied",
            "turn_ended",
        ]
    );
    let json = serde_json::to_string(&report.events).expect("serialises");
    let back: Vec<Event> = serde_json::from_str(&json).expect("deserialises");
    assert_eq!(back, report.events);
}
