//! A tool asks a person, and the turn waits (SPEC 10): what has finished stays finished, what the person saw is what runs, and
//! a saved conversation goes on in another process, under the same rules as before.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::{all_text, answer, assert_paired, calls, counts, hops, last_results, pick, succeeds};
use serde_json::{Value, json};
use skillgraph::core::turn::{Input, Output, Turn};
use skillgraph::{
    Agent, AgentBuilder, Authorizer, AuthorizerError, Capability, Conversation, Decision, DynTool, Event, Identity,
    ModelReply, Outcome, PersonReply, Question, RestoreError, Role, RoleAuthorizer, RunError, SavedConversation,
    ScriptedModel, Target, ToolReply, TurnReport, skill_graph,
};

skill_graph! {
    #[allow(skillgraph::skill_wraps_one_tool)]
    graph desk {
        tools { lookup: dyn, refund: dyn, note: dyn }

        skill triage { description: "Start here", body: "Ask.", tools: [lookup] }
        skill billing {
            description: "Money",
            body: "Count.",
            tools: [lookup, refund, note],
            steps: [lookup: "find it", refund: "give it back"],
        }
        skill done { description: "All is done", body: "Say so.", tools: [note] }
        skill refused { description: "It was refused", body: "Say why.", tools: [note] }
        skill waiting { description: "Somebody was asked", body: "Say who.", tools: [note] }

        entry triage;
        entry billing when keywords["refund"];
        route billing -> done on refund;
        route billing -> refused on refund is denied;
        route billing -> waiting on refund is pending;
    }
}

/// Refunds when a person has said yes; counts how often it did, and what it was told.
#[derive(Clone, Default)]
struct Till {
    refunds: Arc<AtomicUsize>,
    told: Arc<Mutex<Vec<Value>>>,
}

impl Till {
    fn tool(&self) -> DynTool {
        let till = self.clone();
        DynTool::new("refund", "Refunds.", json!({ "type": "object" }), move |args, context| {
            let till = till.clone();
            async move {
                till.told.lock().expect("a lock").push(json!({ "args": args, "answer": context.answer() }));
                let reply = match context.answer() {
                    None => ToolReply::pending(format!("Refund {} €?", args["amount"])),
                    Some(PersonReply::Said { text }) if text == "ask again" => ToolReply::pending("Really?"),
                    Some(_) => {
                        till.refunds.fetch_add(1, Ordering::SeqCst);
                        ToolReply::success(json!({ "refunded": args["amount"] }))
                    }
                };
                Ok::<_, std::io::Error>(reply)
            }
        })
    }

    fn refunds(&self) -> usize {
        self.refunds.load(Ordering::SeqCst)
    }
}

fn builder(till: &Till, lookup: DynTool, model: &ScriptedModel) -> AgentBuilder {
    let tools = desk::Tools { lookup, refund: till.tool(), note: succeeds("note") };
    desk::agent(tools).model(model.clone())
}

fn lookup() -> ModelReply {
    calls([("l", "lookup", json!({}))])
}

fn refund(amount: u32) -> ModelReply {
    calls([("r", "refund", json!({ "amount": amount }))])
}

/// Through storage, as another process finds it.
fn stored(conversation: Conversation, agent: &Agent) -> Conversation {
    let text = serde_json::to_string(&conversation.save()).expect("a conversation serialises");
    drop(conversation);
    let saved: SavedConversation = serde_json::from_str(&text).expect("a conversation deserialises");
    agent.restore(saved).expect("the same graph")
}

fn question(report: &TurnReport) -> Question {
    match &report.outcome {
        Outcome::Paused { questions } => questions[0].clone(),
        other => panic!("no question: {other:?}"),
    }
}

/// A conversation that waits for a person, after a step was taken.
async fn paused(agent: &Agent) -> (Conversation, Question) {
    let mut conversation = agent.conversation();
    let report = conversation.send("a refund, please").await.expect("a turn");
    let question = question(&report);
    assert_eq!(report.events.last(), Some(&Event::Paused { iteration: 2, questions: vec![question.clone()] }));
    assert_eq!(conversation.questions(), std::slice::from_ref(&question));
    (conversation, question)
}

#[tokio::test]
async fn an_approved_call_runs_as_the_person_saw_it_and_the_turn_goes_on() {
    let (till, model) = (Till::default(), ScriptedModel::new([lookup(), refund(50), answer()]));
    let agent = builder(&till, succeeds("lookup"), &model).build().expect("an agent");
    let (conversation, question) = paused(&agent).await;
    assert_eq!((question.text.as_str(), &question.arguments["amount"]), ("Refund 50 €?", &json!(50)));
    assert_eq!(till.refunds(), 0);
    let mut conversation = stored(conversation, &agent);
    let report = conversation.resume(question.approve()).await.expect("a turn");
    assert_eq!(till.refunds(), 1);
    let told = till.told.lock().expect("a lock").clone();
    assert_eq!(told[1], json!({ "args": { "amount": 50 }, "answer": { "reply": "approved" } }));
    assert_eq!(hops(&report), ["done by route"]);
    assert_eq!(report.text(), Some("done"));
    assert!(report.events.iter().any(|event| matches!(event, Event::StepAdvanced { step: 2, .. })));
    assert_paired(&conversation.transcript());
    assert!(conversation.questions().is_empty());
    // The next turn begins where this one ended.
    conversation.resume(question.approve()).await.expect_err("nothing waits");
    assert_eq!(till.refunds(), 1);
}

#[tokio::test]
async fn a_no_keeps_the_tool_from_running_and_is_evidence() {
    let (till, model) = (Till::default(), ScriptedModel::new([lookup(), refund(50), answer()]));
    let agent = builder(&till, succeeds("lookup"), &model).build().expect("an agent");
    let (conversation, question) = paused(&agent).await;
    let mut conversation = stored(conversation, &agent);
    let report = conversation.resume(question.deny("the parcel\nhas arrived")).await.expect("a turn");
    assert_eq!(till.told.lock().expect("a lock").len(), 1);
    assert_eq!(hops(&report), ["refused by route"]);
    let said = last_results(&conversation.transcript());
    assert_eq!(said[0].1, "`refund` was not run: a person was asked and said no (the parcel has arrived).");
}

#[tokio::test]
async fn a_postponed_question_leaves_the_call_pending() {
    let (till, model) = (Till::default(), ScriptedModel::new([lookup(), refund(50), answer()]));
    let agent = builder(&till, succeeds("lookup"), &model).build().expect("an agent");
    let (mut conversation, question) = paused(&agent).await;
    let report = conversation.resume(question.postpone()).await.expect("a turn");
    assert_eq!((hops(&report), till.refunds()), (vec!["waiting by route".to_owned()], 0));
    let said = last_results(&conversation.transcript());
    assert_eq!(said[0].1, "`refund` has not run: it waits for a person, who was asked: Refund 50 €?");
}

#[tokio::test]
async fn a_tool_may_ask_again() {
    let (till, model) = (Till::default(), ScriptedModel::new([lookup(), refund(50), answer()]));
    let agent = builder(&till, succeeds("lookup"), &model).build().expect("an agent");
    let (mut conversation, first) = paused(&agent).await;
    let second = question(&conversation.resume(first.reply("ask again")).await.expect("a turn"));
    assert_eq!(second.text, "Really?");
    conversation.resume(second.reply("yes")).await.expect("a turn");
    assert_eq!(till.refunds(), 1);
}

#[tokio::test]
async fn several_questions_wait_for_all_their_answers_and_siblings_finish_first() {
    let till = Till::default();
    let batch = calls([
        ("r1", "refund", json!({ "amount": 1 })),
        ("l", "lookup", json!({})),
        ("r2", "refund", json!({ "amount": 2 })),
        ("p", "read_skill", json!({ "id": "triage" })),
    ]);
    // `lookup` again is no step that is offered then: it is answered at once.
    let model = ScriptedModel::new([lookup(), batch, answer()]);
    let (look, looks) = counts("lookup");
    let agent = builder(&till, look, &model).build().expect("an agent");
    let mut conversation = agent.conversation();
    conversation.send("a refund, please").await.expect("a turn");
    let questions = conversation.questions();
    assert_eq!(
        questions.iter().map(|question| question.text.as_str()).collect::<Vec<_>>(),
        ["Refund 1 €?", "Refund 2 €?"]
    );
    let looked = looks.load(Ordering::SeqCst);
    let report = conversation.resume(questions[1].approve()).await.expect("a turn");
    assert_eq!(question(&report), questions[0]);
    let mut conversation = stored(conversation, &agent);
    // Given twice, it is no answer to the other question.
    let error = conversation.resume(questions[1].approve()).await.expect_err("answered");
    assert!(matches!(error, RunError::NoQuestion { question: 2 }), "{error}");
    assert_eq!(till.refunds(), 0);
    let report = conversation.resume(questions[0].deny("no")).await.expect("a turn");
    assert_eq!((till.refunds(), looks.load(Ordering::SeqCst)), (1, looked));
    let transcript = conversation.transcript();
    let order: Vec<String> = last_results(&transcript).into_iter().map(|(id, _)| id).collect();
    assert_eq!(order, ["r1", "call_2", "r2", "p"]);
    // In call order the denial comes first, and its edge wins.
    assert_eq!(hops(&report), ["refused by route"]);
    assert_paired(&transcript);
}

#[tokio::test]
async fn a_new_message_ends_the_waiting_and_answers_every_open_call() {
    let (till, model) = (Till::default(), ScriptedModel::new([lookup(), refund(50), answer()]));
    let agent = builder(&till, succeeds("lookup"), &model).build().expect("an agent");
    let (conversation, question) = paused(&agent).await;
    let mut conversation = stored(conversation, &agent);
    let waiting = conversation.transcript();
    assert_paired(&waiting);
    let unanswered = "`refund` has not run: a person was asked, and the conversation went on without an answer.";
    assert_eq!(last_results(&waiting)[0].1, unanswered);
    conversation.send("never mind").await.expect("a turn");
    assert_paired(&conversation.transcript());
    let error = conversation.resume(question.approve()).await.expect_err("too late");
    assert!(matches!(error, RunError::NoTurn), "{error}");
    assert_eq!(till.refunds(), 0);
}

/// Lets everything pass but what it is told to stop.
#[derive(Clone, Default)]
struct Gate(Arc<Mutex<Vec<&'static str>>>);

impl Gate {
    fn stop(&self, what: &'static str) {
        self.0.lock().expect("a lock").push(what);
    }
}

impl Authorizer for Gate {
    async fn check(&self, _: &Capability, target: &Target, who: &Identity) -> Result<Decision, AuthorizerError> {
        assert_eq!(who.subject(), "ada");
        let stopped = self.0.lock().expect("a lock").clone();
        let stops = |name: &str| stopped.contains(&name);
        let denied = match target {
            Target::Skill(skill) => stops(skill.as_str()),
            Target::Call { tool, .. } => stops(tool.as_str()),
            _ => true,
        };
        Ok(if denied { Decision::denied("not any more") } else { Decision::Allowed })
    }
}

async fn waits_behind(gate: &Gate, till: &Till, model: &ScriptedModel) -> (Agent, Conversation, Question) {
    let agent = builder(till, succeeds("lookup"), model).authorizer(gate.clone()).build().expect("an agent");
    let mut conversation = agent.conversation().with_identity(Identity::new("ada"));
    let question = question(&conversation.send("a refund, please").await.expect("a turn"));
    let conversation = stored(conversation, &agent).with_identity(Identity::new("ada"));
    (agent, conversation, question)
}

#[tokio::test]
async fn the_permission_of_an_approved_call_is_asked_for_again() {
    let (gate, till) = (Gate::default(), Till::default());
    let model = ScriptedModel::new([lookup(), refund(50), answer()]);
    let (_agent, mut conversation, question) = waits_behind(&gate, &till, &model).await;
    gate.stop("refund");
    let report = conversation.resume(question.approve()).await.expect("a turn");
    assert_eq!(till.refunds(), 0);
    assert_eq!(hops(&report), ["refused by route"]);
    assert_eq!(
        last_results(&conversation.transcript())[0].1,
        "`refund` was not run: it is not permitted (not any more)."
    );
}

#[tokio::test]
async fn a_skill_that_was_hidden_meanwhile_is_closed_and_its_tools_do_not_run() {
    let (gate, till) = (Gate::default(), Till::default());
    let model = ScriptedModel::new([pick("p", "billing"), lookup(), refund(50), answer()]);
    let (_agent, mut conversation, question) = waits_behind(&gate, &till, &model).await;
    gate.stop("billing");
    let report = conversation.resume(question.approve()).await.expect("a turn");
    assert_eq!(till.refunds(), 0);
    assert_eq!(hops(&report), ["- by none", "- by none"]);
    assert_eq!(report.route().hops()[0].hidden, ["billing"]);
    let text = all_text(&model.requests()[3]);
    assert!(!text.contains("billing") && !text.contains("Count."), "{text}");
    assert_eq!(
        last_results(&conversation.transcript())[0].1,
        "`refund` is not available here. Available now: `read_skill`, `list_skills`."
    );
}

#[tokio::test]
async fn a_state_that_was_saved_under_permissions_is_not_restored_without() {
    let (gate, till) = (Gate::default(), Till::default());
    gate.stop("waiting");
    let model = ScriptedModel::new([lookup(), refund(50), answer()]);
    let (_agent, conversation, _) = waits_behind(&gate, &till, &model).await;
    let open = builder(&till, succeeds("lookup"), &model).build().expect("an agent");
    let error = open.restore(conversation.save()).expect_err("nobody is asked");
    assert_eq!(error, RestoreError::NoPermissions);
    assert_eq!(error.to_string(), "permissions were asked for when the turn was saved, and now they are not");
}

#[tokio::test]
async fn arguments_that_were_changed_in_storage_are_refused() {
    let (till, model) = (Till::default(), ScriptedModel::new([lookup(), refund(50), answer()]));
    let agent = builder(&till, succeeds("lookup"), &model).build().expect("an agent");
    let (conversation, _) = paused(&agent).await;
    let text = serde_json::to_string(&conversation.save()).expect("JSON");
    let changed = text.replace(r#""arguments":{"amount":50}"#, r#""arguments":{"amount":5000}"#);
    assert_ne!(text, changed);
    let saved = serde_json::from_str(&changed).expect("still a conversation");
    assert!(matches!(agent.restore(saved), Err(RestoreError::Impossible { .. })));
}

#[test]
fn data_of_another_format_is_refused_when_it_is_read() {
    let agent = builder(&Till::default(), succeeds("lookup"), &ScriptedModel::new([])).build().expect("an agent");
    let saved = serde_json::to_value(agent.conversation().save()).expect("JSON");
    let mut newer = saved.clone();
    newer["format"] = json!(7);
    let error = serde_json::from_value::<SavedConversation>(newer).expect_err("a newer format");
    assert_eq!(error.to_string(), "it was saved in format 7, and this version of skillgraph reads format 3");
    let mut extended = saved;
    extended["budget"] = json!(3);
    let error = serde_json::from_value::<SavedConversation>(extended).expect_err("an unknown field");
    assert!(error.to_string().starts_with("unknown field `budget`"), "{error}");
}

/// After a redeploy `billing` is called `payments`.
mod renamed {
    use super::*;

    skill_graph! {
        pub graph desk {
            tools { lookup: dyn, refund: dyn }
            skill payments { description: "Money", body: "Count.", tools: [lookup, refund] }
            skill triage { description: "Start here", body: "Ask.", tools: [lookup] }
            entry triage;
            entry payments when keywords["refund"];
            route payments -> triage on refund;
        }
    }
}

/// After a redeploy everything stands elsewhere, and there is a skill more.
mod moved {
    use super::*;

    skill_graph! {
        pub graph desk {
            tools { note: dyn, refund: dyn, lookup: dyn }
            skill done { description: "All is done", body: "Say so.", tools: [note] }
            skill archive { description: "Old things", body: "Look.", tools: [note] }
            skill billing {
                description: "Money",
                body: "Count twice.",
                tools: [note, refund, lookup],
                steps: [lookup: "find it first", refund: "give it back"],
            }
            entry archive;
            entry billing when keywords["refund"];
            route billing -> done on refund;
        }
    }
}

/// After a redeploy the procedure has a step between.
mod longer {
    use super::*;

    skill_graph! {
        pub graph desk {
            tools { lookup: dyn, refund: dyn, note: dyn }
            skill billing {
                description: "Money",
                body: "Count.",
                tools: [lookup, refund, note],
                steps: [lookup: "find it", note: "write it down", refund: "give it back"],
            }
            entry billing;
        }
    }
}

async fn saved_at_the_question(till: &Till) -> (SavedConversation, Question) {
    let model = ScriptedModel::new([lookup(), refund(50)]);
    let agent = builder(till, succeeds("lookup"), &model).build().expect("an agent");
    let (conversation, question) = paused(&agent).await;
    (conversation.save(), question)
}

fn dropped(report: &TurnReport) -> Vec<String> {
    let dropped = report.events.iter().find_map(|event| match event {
        Event::TurnMigrated { dropped, .. } => Some(dropped),
        _ => None,
    });
    dropped.expect("a migration").iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_turn_of_another_graph_is_migrated_when_the_host_asks_and_the_unknown_cursor_dropped() {
    let till = Till::default();
    let (saved, question) = saved_at_the_question(&till).await;
    let tools = renamed::desk::Tools { lookup: succeeds("lookup"), refund: till.tool() };
    let model = ScriptedModel::new([answer()]);
    let agent = renamed::desk::agent(tools).model(model.clone()).build().expect("an agent");
    let error = agent.restore(saved.clone()).expect_err("another graph");
    assert_eq!(
        error.to_string(),
        "the turn was saved under another version of the graph (`desk`, now `desk`); gone: billing, done, refused, \
         waiting, note; new: payments"
    );
    let mut conversation = agent.migrate(saved).expect("by name");
    assert_eq!(conversation.questions(), std::slice::from_ref(&question));
    let report = conversation.resume(question.approve()).await.expect("a turn");
    assert_eq!(dropped(&report), ["billing"]);
    let first = report.route().hops()[0].clone();
    assert_eq!((first.from.as_ref().map(ToString::to_string).as_deref(), first.to), (Some("billing"), None));
    // Nothing is open that offers the tool: the gate says so.
    assert_eq!(till.refunds(), 0);
    let said = last_results(&conversation.transcript());
    assert_eq!(said[0].1, "`refund` is not available here. Available now: `read_skill`, `list_skills`.");
    assert_paired(&conversation.transcript());
}

#[tokio::test]
async fn what_the_new_graph_has_by_name_goes_on_where_it_was() {
    let till = Till::default();
    let (saved, question) = saved_at_the_question(&till).await;
    let tools = moved::desk::Tools { note: succeeds("note"), refund: till.tool(), lookup: succeeds("lookup") };
    let agent = moved::desk::agent(tools).model(ScriptedModel::new([answer()])).build().expect("an agent");
    let mut conversation = agent.migrate(saved).expect("by name");
    let report = conversation.resume(question.approve()).await.expect("a turn");
    assert_eq!(dropped(&report), Vec::<String>::new());
    assert_eq!((till.refunds(), hops(&report)), (1, vec!["done by route".to_owned()]));
    assert!(report.events.iter().any(|event| matches!(event, Event::StepAdvanced { step: 2, total: 2, .. })));
}

#[tokio::test]
async fn a_procedure_with_other_steps_begins_anew() {
    let till = Till::default();
    let (saved, question) = saved_at_the_question(&till).await;
    let tools = longer::desk::Tools { lookup: succeeds("lookup"), refund: till.tool(), note: succeeds("note") };
    let agent = longer::desk::agent(tools).model(ScriptedModel::new([answer(), answer()])).build().expect("an agent");
    let mut conversation = agent.migrate(saved).expect("by name");
    conversation.resume(question.approve()).await.expect("a turn");
    assert_eq!(till.refunds(), 0);
    let said = last_results(&conversation.transcript());
    assert_eq!(said[0].1, "`refund` is not available here. Available now: `lookup`, `skip_step`.");
}

#[tokio::test]
async fn a_conversation_between_turns_is_restored_under_any_graph() {
    let till = Till::default();
    let model = ScriptedModel::new([answer(), answer()]);
    let agent = builder(&till, succeeds("lookup"), &model).build().expect("an agent");
    let mut conversation = agent.conversation();
    conversation.send("a refund").await.expect("a turn");
    let tools = renamed::desk::Tools { lookup: succeeds("lookup"), refund: till.tool() };
    let model = ScriptedModel::new([answer()]);
    let agent = renamed::desk::agent(tools).model(model).continuity(skillgraph::Continuity::Conversation);
    let mut conversation = agent.build().expect("an agent").restore(conversation.save()).expect("between turns");
    let report = conversation.send("and?").await.expect("a turn");
    assert_eq!(hops(&report), ["triage by entry"]);
    assert!(
        report
            .events
            .iter()
            .any(|event| matches!(event, Event::TurnRouted(routed) if routed.dropped.as_deref() == Some("billing")))
    );
}

#[tokio::test]
async fn a_turn_that_was_saved_while_it_ran_goes_on() {
    let (till, model) = (Till::default(), ScriptedModel::new([answer()]));
    let agent = builder(&till, succeeds("lookup"), &model).build().expect("an agent");
    let mut turn = Turn::start(agent.setup().clone(), Default::default(), "hello");
    let Output::CallModel(_) = turn.poll_output() else { panic!("the model comes first") };
    turn.handle_input(Input::ModelReplied(lookup())).expect("awaited");
    // As `Conversation::save` writes it in the middle of a turn.
    let mut saved = serde_json::to_value(agent.conversation().save()).expect("JSON");
    saved["state"] = json!({ "turn": turn.save() });
    let mut conversation =
        agent.restore(serde_json::from_value(saved).expect("a conversation")).expect("the same graph");
    let report = conversation.go_on().await.expect("a turn");
    assert_eq!(report.text(), Some("done"));
    assert!(matches!(conversation.go_on().await.expect_err("it is over"), RunError::NoTurn));
}

#[tokio::test]
async fn roles_are_asked_of_whoever_resumes() {
    let till = Till::default();
    let model = ScriptedModel::new([lookup(), refund(50), answer()]);
    let roles = RoleAuthorizer::new().role("manager", Role::everything());
    let agent = builder(&till, succeeds("lookup"), &model).authorizer(roles).build().expect("an agent");
    let mut conversation = agent.conversation().with_identity(Identity::new("grace").role("manager"));
    let question = question(&conversation.send("a refund, please").await.expect("a turn"));
    // Nobody says who it is: nothing may be seen and nothing runs.
    let mut conversation = stored(conversation, &agent);
    let report = conversation.resume(question.approve()).await.expect("a turn");
    assert_eq!((till.refunds(), report.cursor), (0, None));
}

#[tokio::test]
async fn a_tool_that_had_not_returned_runs_only_where_the_new_graph_offers_it() {
    let till = Till::default();
    let agent = builder(&till, succeeds("lookup"), &ScriptedModel::new([])).build().expect("an agent");
    let mut turn = Turn::start(agent.setup().clone(), Default::default(), "a refund");
    turn.handle_input(Input::ModelReplied(lookup())).expect("awaited");
    let tools = renamed::desk::Tools { lookup: succeeds("lookup"), refund: till.tool() };
    let other = renamed::desk::agent(tools).model(ScriptedModel::new([])).build().expect("an agent");
    let migrated = Turn::migrate(other.setup().clone(), turn.save()).expect("by name");
    // `billing` is gone, and with it the offer.
    let Output::CallModel(request) = migrated.poll_output() else { panic!("nothing runs") };
    let said = last_results(&request.messages);
    assert_eq!(said[0].1, "`lookup` is not available here. Available now: `read_skill`, `list_skills`.");
}
