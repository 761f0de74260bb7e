//! Questions to people, and who may see what (section A of the second round).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use skillgraph::{
    Agent, Answer, Authorizer, AuthorizerError, Capability, CatalogEntry, CatalogSkill, CatalogSkillError,
    Conversation, Decision, Disclosure, DynTool, Event, Identity, ModelReply, Outcome, PersonReply, Question, RunError,
    ScriptedModel, SkillPolicy, Target, ToolHeader, ToolReply, skill_graph,
};

use crate::common::{all_text, answer, assert_paired, calls, last_results};

skill_graph! {
    graph till {
        tools { pay: dyn, wipe: dyn, silent: dyn }
        skill desk { description: "The till", body: "Pay.", tools: [pay, wipe, silent] }
        entry desk;
    }
}

/// What was done, in order, with the key of the call.
type Done = Arc<Mutex<Vec<(String, String)>>>;

fn done(list: &Done) -> Vec<String> {
    list.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|(what, _)| what.clone()).collect()
}

fn note(list: &Done, what: String, key: &str) {
    list.lock().unwrap_or_else(PoisonError::into_inner).push((what, key.to_owned()));
}

fn any() -> Value {
    json!({ "type": "object", "properties": {} })
}

/// A tool that asks before it does something.
fn asks(name: &'static str, list: &Done, question: impl Fn(&Value) -> String + Send + Sync + 'static) -> DynTool {
    let list = list.clone();
    DynTool::new(name, "Asks first.", any(), move |args, context| {
        let reply = match context.is_approved() {
            true => {
                note(&list, format!("{name} {args}"), context.idempotency_key());
                ToolReply::success(json!("done"))
            }
            false => ToolReply::pending(question(&args)),
        };
        async move { Ok::<_, String>(reply) }
    })
}

/// A tool that asks twice: the second question is about more.
fn wipe(list: &Done) -> DynTool {
    let (list, asked) = (list.clone(), Arc::new(AtomicUsize::new(0)));
    DynTool::new("wipe", "Deletes.", any(), move |_, context| {
        let reply = match (context.is_approved(), asked.load(Ordering::SeqCst)) {
            (true, 1) => {
                asked.store(2, Ordering::SeqCst);
                ToolReply::pending("All the data, too?")
            }
            (true, _) => {
                note(&list, "wipe".to_owned(), context.idempotency_key());
                ToolReply::success(json!("wiped"))
            }
            (false, _) => {
                asked.store(1, Ordering::SeqCst);
                ToolReply::pending("Delete?")
            }
        };
        async move { Ok::<_, String>(reply) }
    })
}

fn agent(model: &ScriptedModel, list: &Done) -> Agent {
    let tools = till::Tools {
        pay: asks("pay", list, |args| format!("Pay {}?", args["amount"])),
        wipe: wipe(list),
        silent: asks("silent", list, |_| "\u{200b} ".to_owned()),
    };
    till::agent(tools).model(model.clone()).build().expect("an agent")
}

fn pay(id: &str, amount: u32) -> ModelReply {
    calls([(id, "pay", json!({ "amount": amount }))])
}

async fn asked(conversation: &mut Conversation, message: &str) -> Question {
    conversation.send(message).await.expect("a turn");
    conversation.questions().remove(0)
}

fn is_refused(result: &Result<skillgraph::TurnReport, RunError>) -> bool {
    matches!(result, Err(RunError::NoQuestion { .. }))
}

/// Gemini's ids are the same in every message.
#[tokio::test]
async fn f01_an_old_answer_pays_nothing_else() {
    let list = Done::default();
    let model = ScriptedModel::new([pay("call#pay#0", 100), answer(), pay("call#pay#0", 99_900), answer()]);
    let agent = agent(&model, &list);
    let mut conversation = agent.conversation();
    let first = asked(&mut conversation, "pay 100").await;
    conversation.resume(first.approve()).await.expect("a turn");
    let second = asked(&mut conversation, "pay again").await;
    assert_ne!(first.call_id, second.call_id);
    assert!(is_refused(&conversation.resume(first.approve()).await));
    assert_eq!(done(&list), [r#"pay {"amount":100}"#]);
    assert_eq!(conversation.questions(), std::slice::from_ref(&second), "it still waits");
    conversation.resume(second.deny("no")).await.expect("a turn");
    assert_eq!(done(&list).len(), 1);
}

/// The number alone is not enough: two conversations count alike, and so do two branches of one.
#[tokio::test]
async fn f01_an_answer_of_another_conversation_or_another_branch_is_refused() {
    let list = Done::default();
    let script = || ScriptedModel::new([pay("a", 100), answer()]);
    let (one, other) = (agent(&script(), &list), agent(&script(), &list));
    let (mut one, mut other) = (one.conversation(), other.conversation());
    let (of_one, of_other) = (asked(&mut one, "pay").await, asked(&mut other, "pay").await);
    assert_eq!((of_one.id, &of_one.arguments), (of_other.id, &of_other.arguments));
    assert!(is_refused(&one.resume(of_other.approve()).await) && is_refused(&other.resume(of_one.approve()).await));
    assert!(done(&list).is_empty());

    // One saved conversation, gone on with in two ways.
    let model = ScriptedModel::new([answer(), pay("a", 1), pay("a", 2)]);
    let agent = agent(&model, &list);
    let mut conversation = agent.conversation().with_id("one");
    conversation.send("hello").await.expect("a turn");
    let saved = conversation.save();
    let (mut left, mut right) = (agent.restore(saved.clone()).expect("same"), agent.restore(saved).expect("same"));
    let (of_left, of_right) = (asked(&mut left, "pay").await, asked(&mut right, "pay").await);
    assert_eq!(of_left.id, of_right.id);
    assert!(is_refused(&right.resume(of_left.approve()).await) && is_refused(&left.resume(of_right.approve()).await));
    assert!(done(&list).is_empty());
}

#[tokio::test]
async fn f01_a_changed_answer_is_refused() {
    let list = Done::default();
    let model = ScriptedModel::new([pay("a", 100)]);
    let mut conversation = agent(&model, &list).conversation();
    let question = asked(&mut conversation, "pay").await;
    let Answer { fingerprint, reply, .. } = question.approve();
    for answer in [
        Answer { question: question.id + 1, fingerprint: fingerprint.clone(), reply: reply.clone() },
        Answer { question: 0, fingerprint: fingerprint.clone(), reply: reply.clone() },
        Answer { question: question.id, fingerprint: String::new(), reply: reply.clone() },
        Answer { question: question.id, fingerprint: fingerprint.to_uppercase(), reply },
    ] {
        assert!(is_refused(&conversation.resume(answer.clone()).await), "{answer:?}");
    }
    assert!(done(&list).is_empty());
    assert_eq!(conversation.questions(), [question]);
}

#[tokio::test]
async fn f02_a_doubled_click_does_not_answer_the_next_question() {
    let list = Done::default();
    let model = ScriptedModel::new([calls([("a", "wipe", json!({}))]), answer()]);
    let mut conversation = agent(&model, &list).conversation();
    let first = asked(&mut conversation, "wipe").await;
    assert_eq!(first.text, "Delete?");
    conversation.resume(first.approve()).await.expect("a turn");
    let second = conversation.questions().remove(0);
    assert_eq!((second.text.as_str(), &second.call_id), ("All the data, too?", &first.call_id));
    assert!(is_refused(&conversation.resume(first.approve()).await));
    assert!(done(&list).is_empty());
    conversation.resume(second.approve()).await.expect("a turn");
    assert_eq!(done(&list), ["wipe"]);
    assert!(conversation.resume(second.approve()).await.is_err());
    assert_eq!(done(&list), ["wipe"]);
}

#[tokio::test]
async fn f03_a_person_approves_with_other_arguments_and_everybody_is_told() {
    let list = Done::default();
    let model = ScriptedModel::new([pay("a", 99_900), answer()]);
    let mut conversation = agent(&model, &list).conversation();
    let question = asked(&mut conversation, "pay").await;
    let less = Map::from_iter([("amount".to_owned(), json!(100))]);
    let report = conversation.resume(question.approve_with(less.clone())).await.expect("a turn");
    assert_eq!(done(&list), [r#"pay {"amount":100}"#]);
    let said = last_results(&model.requests()[1].messages);
    assert_eq!(
        said[0].1,
        "done\n\n[skillgraph] A person changed the arguments of this call before they approved it. It ran with {\"amount\":100}."
    );
    let recorded = report.events.iter().any(|event| {
        matches!(event, Event::PersonAnswered { reply: PersonReply::ApprovedWith { arguments }, .. } if *arguments == less)
    });
    assert!(recorded, "{:?}", report.events);
}

#[tokio::test]
async fn f03_arguments_that_no_call_can_have_leave_the_question_open() {
    let list = Done::default();
    let model = ScriptedModel::new([pay("a", 1), answer()]);
    let mut conversation = agent(&model, &list).conversation();
    let question = asked(&mut conversation, "pay").await;
    let deep = (0..200).fold(json!({}), |inner, _| json!({ "a": inner }));
    let deep = Map::from_iter([("amount".to_owned(), deep)]);
    let error = conversation.resume(question.approve_with(deep)).await.expect_err("too deep");
    assert!(matches!(error, RunError::UnfitArguments { .. }), "{error}");
    assert_eq!(conversation.questions(), std::slice::from_ref(&question));
    conversation.resume(question.approve()).await.expect("a turn");
    assert_eq!(done(&list), [r#"pay {"amount":1}"#]);
}

/// Two processes with one save: the store sees it by the revision, the payment provider by the key.
#[tokio::test]
async fn f04_two_resumes_of_one_save_are_told_apart() {
    let list = Done::default();
    let model = ScriptedModel::new([pay("a", 100), answer(), answer()]);
    let agent = agent(&model, &list);
    let mut conversation = agent.conversation().with_id("user-7");
    let question = asked(&mut conversation, "pay").await;
    let saved = conversation.save();
    let text = serde_json::to_string(&saved).expect("JSON");
    for _ in 0..2 {
        let mut again = agent.restore(serde_json::from_str(&text).expect("a conversation")).expect("the same graph");
        again.resume(question.approve()).await.expect("a turn");
        assert!(again.save().revision() > saved.revision());
    }
    let keys: Vec<String> = list.lock().expect("a list").iter().map(|(_, key)| key.clone()).collect();
    assert_eq!(keys, ["user-7/a", "user-7/a"]);
}

#[tokio::test]
async fn f04_every_call_has_a_key_of_its_own() {
    let list = Done::default();
    let script = || ScriptedModel::new([pay("x", 1), answer(), pay("x", 1), answer()]);
    for id in [Some("one"), Some("two"), None, None] {
        let conversation = agent(&script(), &list).conversation();
        let mut conversation = match id {
            Some(id) => conversation.with_id(id),
            None => conversation,
        };
        for _ in 0..2 {
            let question = asked(&mut conversation, "pay").await;
            conversation.resume(question.approve()).await.expect("a turn");
        }
    }
    let mut keys: Vec<String> = list.lock().expect("a list").iter().map(|(_, key)| key.clone()).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 8, "{keys:?}");
}

/// A history that the host keeps: the same id with another history gives other keys.
#[tokio::test]
async fn f04_keys_hang_on_the_history_that_was_given() {
    let list = Done::default();
    let model = ScriptedModel::new([pay("x", 1), answer(), pay("x", 1), answer()]);
    let agent = agent(&model, &list);
    let mut first = agent.conversation().with_id("user-7");
    let question = asked(&mut first, "pay").await;
    first.resume(question.approve()).await.expect("a turn");
    // Of the history only the last message is left, so that the id of the call looks unused.
    let kept = first.transcript().iter().rev().take(1).cloned().collect();
    let mut second = agent.conversation_after(kept).with_id("user-7");
    let question = asked(&mut second, "again").await;
    second.resume(question.approve()).await.expect("a turn");
    let keys: Vec<String> = list.lock().expect("a list").iter().map(|(_, key)| key.clone()).collect();
    assert_ne!(keys[0], keys[1]);
}

#[tokio::test]
async fn f05_a_question_without_words_shows_the_call() {
    let list = Done::default();
    let model = ScriptedModel::new([calls([("a", "silent", json!({ "account": 7 }))]), answer()]);
    let mut conversation = agent(&model, &list).conversation();
    let question = asked(&mut conversation, "go").await;
    assert_eq!(question.text, "Run `silent` with {\"account\":7}?");
    conversation.resume(question.approve()).await.expect("a turn");
    assert_eq!(done(&list).len(), 1);
}

/// A manager sees everything, a clerk not the skill `vault`.
struct Ranks;

impl Authorizer for Ranks {
    async fn check(&self, _: &Capability, target: &Target, who: &Identity) -> Result<Decision, AuthorizerError> {
        Ok(match target {
            Target::Skill(skill) if *skill == "vault" && !who.has_role("manager") => Decision::denied("not for clerks"),
            _ => Decision::Allowed,
        })
    }
}

struct Remote(&'static str);

impl CatalogSkill for Remote {
    fn entry(&self) -> CatalogEntry {
        let tool = ToolHeader { name: format!("{}_open", self.0), description: None };
        CatalogEntry {
            key: self.0.to_owned(),
            header: format!("what is in the {} of the bank", self.0),
            tools: vec![tool],
            ..CatalogEntry::default()
        }
    }

    async fn prompt(&self) -> Result<String, CatalogSkillError> {
        Ok(format!("How to open the {}.", self.0))
    }

    async fn bind(&self, names: &[String]) -> Result<Vec<DynTool>, CatalogSkillError> {
        let tool = |name: String| {
            DynTool::new(name, "Opens.", any(), |_, _| async { Ok::<_, String>(ToolReply::success(json!("open"))) })
        };
        Ok(names.iter().cloned().map(tool).collect())
    }
}

fn bank(model: &ScriptedModel, disclosure: Disclosure) -> Agent {
    let tools = till::Tools {
        pay: asks("pay", &Done::default(), |_| "Pay?".to_owned()),
        wipe: wipe(&Done::default()),
        silent: asks("silent", &Done::default(), |_| String::new()),
    };
    let policy = SkillPolicy { disclosure, ..SkillPolicy::DEFAULT };
    let agent = till::agent(tools).model(model.clone()).authorizer(Ranks).catalog_policy(policy);
    agent.catalog_skill(Remote("vault")).catalog_skill(Remote("window")).build().expect("an agent")
}

#[tokio::test]
async fn f06_a_resume_under_another_identity_asks_before_it_lists() {
    let model = ScriptedModel::new([pay("a", 1), answer(), answer()]);
    let agent = bank(&model, Disclosure::Catalog);
    let manager = Identity::new("grace").role("manager");
    let mut conversation = agent.conversation().with_identity(manager);
    let question = asked(&mut conversation, "pay").await;
    assert!(model.requests()[0].system.contains("vault"));
    let mut conversation =
        agent.restore(conversation.save()).expect("the same graph").with_identity(Identity::new("ada"));
    conversation.resume(question.postpone()).await.expect("a turn");
    assert!(!all_text(&model.requests()[1]).contains("vault"), "{}", model.requests()[1].system);
    assert!(model.requests()[1].system.contains("window"));
    conversation.send("and now?").await.expect("a turn");
    assert!(!all_text(&model.requests()[2]).contains("vault"));
}

#[tokio::test]
async fn f07_what_one_identity_found_is_not_sent_for_another() {
    let script = [
        calls([("a", "search_skills", json!({ "query": "vault of the bank" }))]),
        calls([("b", "open_skill", json!({ "key": "vault" }))]),
        calls([
            ("c", "vault_open", json!({ "code": 1234 })),
            ("d", "bind_skill_tools", json!({ "key": "vault", "tools": ["vault_open"] })),
        ]),
        answer(),
        answer(),
        calls([("e", "search_skills", json!({ "query": "vault of the bank" }))]),
        answer(),
    ];
    let model = ScriptedModel::new(script);
    let agent = bank(&model, Disclosure::Search);
    let mut conversation = agent.conversation().with_identity(Identity::new("grace").role("manager"));
    conversation.send("what is there?").await.expect("a turn");
    assert!(all_text(&model.requests()[3]).contains("How to open the vault."));
    let saved = conversation.save();
    let mut conversation = agent.restore(saved).expect("the same graph").with_identity(Identity::new("ada"));
    conversation.send("and for me?").await.expect("a turn");
    conversation.send("search").await.expect("a turn");
    for request in &model.requests()[4..] {
        // What the clerk's own model says is its own.
        let own = r#"{"query":"vault of the bank"}"#;
        let text = serde_json::to_string(&request.messages).expect("JSON");
        let text = text.replace(&serde_json::to_string(own).expect("JSON")[1..].trim_end_matches('"').to_owned(), "");
        assert!(!text.contains("vault") && !text.contains("1234"), "{text}");
        assert!(!request.tool_names().contains(&"vault_open"));
        assert_paired(&request.messages);
    }
    // The manager sees on, from where the manager was.
    assert!(all_text(&model.requests()[3]).contains("vault_open"));
}

/// Says yes, too late, without ever giving the thread back: the one way to be late that no timeout interrupts.
struct Blocks;

impl Authorizer for Blocks {
    async fn check(&self, _: &Capability, target: &Target, _: &Identity) -> Result<Decision, AuthorizerError> {
        if matches!(target, Target::Call { .. }) {
            std::thread::sleep(Duration::from_millis(60));
        }
        Ok(Decision::Allowed)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f08_a_late_yes_is_a_no() {
    let list = Done::default();
    let model = ScriptedModel::new([pay("a", 1), answer()]);
    let tools = till::Tools {
        pay: asks("pay", &list, |_| "Pay?".to_owned()),
        wipe: wipe(&list),
        silent: asks("silent", &list, |_| String::new()),
    };
    let agent =
        till::agent(tools).model(model.clone()).authorizer(Blocks).authorizer_timeout(Duration::from_millis(20));
    let report = agent.build().expect("an agent").run("pay").await.expect("a turn");
    assert!(matches!(report.outcome, Outcome::Answered { .. }), "{:?}", report.outcome);
    let said = last_results(&model.requests()[1].messages);
    assert!(said[0].1.contains("did not answer within 0.02 seconds"), "{said:?}");
}
