//! A catalog in a conversation (SPEC 11): beside a graph or alone, declared or known at run time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{all_text, answer, assert_paired, calls, last_results, succeeds};
use serde_json::{Value, json};
use skillgraph::core::catalog::{NotBoundReason, Opened};
use skillgraph::core::turn::{CatalogRefusal, CloseReason};
use skillgraph::{
    AgentBuilder, Authorizer, AuthorizerError, BuildError, Capability, CatalogEntry, CatalogSkill, CatalogSkillError,
    Decision, Disclosure, DynTool, Event, Graph, Identity, ModelReply, Outcome, Reset, ScriptedModel, SkillPolicy,
    Target, ToolHeader, ToolReply, TurnReport, skill_graph,
};

skill_graph! {
    pub graph office {
        tools {
            lookup: dyn, pdf_read: dyn, pdf_summarise: dyn, jira_search: dyn, jira_comment: dyn, jira_close: dyn,
        }
        baseline: [lookup];
        skill desk { description: "Start", body: "Ask what is wanted." }
        skill filing { description: "Filing", body: "File it.", tools: [lookup] }
        entry desk;
        route desk -> filing on pdf_summarise;
        catalog {
            policy: { max_open_skills: 2, max_bound_tools_per_skill: 2, max_bound_tools_total: 3 },
            skill pdf = "builtin:pdf" {
                title: "PDF", header: "read and summarise PDF files",
                prompt: "Read before you summarise.", tools: [pdf_read, pdf_summarise],
            }
            skill jira = "mcp:jira" {
                header: "tickets", prompt: "Search before you write.",
                tools: [jira_search, jira_comment, jira_close], default_bind: [jira_search],
            }
            skill expert { header: "hard questions", prompt: "Think.", min_model_tier: large }
        }
    }
}

fn office(model: &ScriptedModel) -> AgentBuilder {
    let tools = office::Tools {
        lookup: succeeds("lookup"),
        pdf_read: succeeds("pdf_read"),
        pdf_summarise: succeeds("pdf_summarise"),
        jira_search: succeeds("jira_search"),
        jira_comment: succeeds("jira_comment"),
        jira_close: succeeds("jira_close"),
    };
    office::agent(tools).model(model.clone())
}

skill_graph! {
    /// Nothing but what a host adds.
    pub graph desk {
        tools {}
        catalog {}
    }
}

/// A skill that is known only at run time.
#[derive(Clone)]
struct Remote {
    key: &'static str,
    tools: Vec<&'static str>,
    there: Arc<AtomicBool>,
    probes: Arc<AtomicUsize>,
    binds: Arc<Mutex<Vec<String>>>,
    trouble: Option<Trouble>,
}

#[derive(Clone, Copy, PartialEq)]
enum Trouble {
    ProbeFails,
    ProbePanics,
    ProbeHangs,
    PromptFails,
    BindGivesLess,
    /// Arguments that are no object.
    BindGivesNoObject,
    /// A tool that needs a permission.
    BindNeeds,
}

fn remote(key: &'static str, tools: &[&'static str]) -> Remote {
    Remote {
        key,
        tools: tools.to_vec(),
        there: Arc::new(AtomicBool::new(true)),
        probes: Arc::default(),
        binds: Arc::default(),
        trouble: None,
    }
}

impl CatalogSkill for Remote {
    fn entry(&self) -> CatalogEntry {
        let tool = |name: &&str| ToolHeader { name: (*name).into(), description: Some(format!("Does {name}.")) };
        CatalogEntry {
            key: self.key.into(),
            header: format!("what {} does", self.key),
            tools: self.tools.iter().map(tool).collect(),
            ..CatalogEntry::default()
        }
    }

    async fn prompt(&self) -> Result<String, CatalogSkillError> {
        if self.trouble == Some(Trouble::PromptFails) {
            return Err(CatalogSkillError::new("no connection"));
        }
        Ok(format!("Instructions of {}.", self.key))
    }

    async fn bind(&self, names: &[String]) -> Result<Vec<DynTool>, CatalogSkillError> {
        self.binds.lock().expect("a lock").extend(names.iter().cloned());
        let given = names.iter().skip(usize::from(self.trouble == Some(Trouble::BindGivesLess)));
        let given = given.map(|name| match self.trouble {
            Some(Trouble::BindGivesNoObject) => {
                let parameters = json!({ "type": "string" });
                DynTool::new(name.as_str(), "Works.", parameters, |_, _| async { Ok::<_, String>(json!("ran")) })
            }
            Some(Trouble::BindNeeds) => succeeds(name).with_capabilities(["vault.open"]),
            _ => succeeds(name),
        });
        Ok(given.collect())
    }

    async fn is_available(&self) -> Result<bool, CatalogSkillError> {
        self.probes.fetch_add(1, Ordering::SeqCst);
        match self.trouble {
            Some(Trouble::ProbeFails) => Err(CatalogSkillError::new("503")),
            Some(Trouble::ProbePanics) => panic!("a bug"),
            Some(Trouble::ProbeHangs) => std::future::pending().await,
            _ => Ok(self.there.load(Ordering::SeqCst)),
        }
    }
}

/// An agent of the host's skills alone.
fn host(model: &ScriptedModel, skills: &[&Remote]) -> AgentBuilder {
    let agent = desk::agent(desk::Tools {}).model(model.clone());
    skills.iter().fold(agent, |agent, skill| agent.catalog_skill((*skill).clone()))
}

fn open(key: &str) -> ModelReply {
    calls([("c1", "open_skill", json!({ "key": key }))])
}

fn call(tool: &str) -> ModelReply {
    calls([("c1", tool, json!({}))])
}

async fn run(agent: AgentBuilder, message: &str) -> TurnReport {
    agent.build().expect("an agent").run(message).await.expect("a turn")
}

fn result(model: &ScriptedModel, request: usize) -> String {
    let requests = model.requests();
    assert_paired(&requests[request].messages);
    last_results(&requests[request].messages).remove(0).1
}

fn offered(model: &ScriptedModel, request: usize) -> Vec<String> {
    model.requests()[request].tool_names().into_iter().map(str::to_owned).collect()
}

fn kept(opened: &Opened) -> (Vec<&str>, Vec<&str>) {
    (opened.skills().collect(), opened.tools().collect())
}

#[tokio::test]
async fn a_skill_opens_and_its_tools_come_with_the_next_request() {
    let model = ScriptedModel::new([open("builtin:pdf"), call("pdf_read"), answer()]);
    let report = run(office(&model), "what does it say?").await;
    assert!(model.requests()[0].system.contains("\n- builtin:pdf: read and summarise PDF files\n"));
    assert_eq!(offered(&model, 0), ["lookup", "read_skill", "list_skills", "open_skill", "bind_skill_tools"]);
    assert_eq!(
        result(&model, 1),
        "`builtin:pdf` is open.\nFrom your next message on you can call `pdf_read`, `pdf_summarise`.\n\nIts \
         instructions:\n\nRead before you summarise."
    );
    // Baseline, the cursor's own, what is open beside it, navigation.
    let with_tools =
        ["lookup", "pdf_read", "pdf_summarise", "read_skill", "list_skills", "open_skill", "bind_skill_tools"];
    assert_eq!(offered(&model, 1), with_tools);
    assert_eq!(result(&model, 2), "pdf_read done");
    let bound = ["pdf_read".to_owned(), "pdf_summarise".to_owned()];
    let opened = |event: &Event| matches!(event, Event::CatalogOpened { iteration: 1, key, bound: tools, .. } if key == office::catalog::pdf && *tools == bound);
    assert!(report.events.iter().any(opened), "{:#?}", report.events);
    assert_eq!(
        crate::common::hops(&report),
        ["desk by entry", "desk by stay", "desk by stay"],
        "opening moves no cursor"
    );
}

#[tokio::test]
async fn a_tool_that_was_opened_fires_edges_of_the_cursor_and_stays_open_after_the_move() {
    let model = ScriptedModel::new([open("builtin:pdf"), call("pdf_summarise"), answer()]);
    let report = run(office(&model), "sum it up").await;
    assert_eq!(report.cursor, Some(office::skill::filing));
    assert!(offered(&model, 2).contains(&"pdf_read".to_owned()));
}

#[tokio::test]
async fn a_large_skill_gives_an_index_and_binds_by_name_within_the_bounds() {
    let bind = |tools: Value| calls([("c1", "bind_skill_tools", json!({ "key": "mcp:jira", "tools": tools }))]);
    let model = ScriptedModel::new([
        bind(json!(["jira_search"])),
        open("mcp:jira"),
        bind(json!(["jira_comment", "jira_close", "jira_delete", "jira_search"])),
        call("jira_close"),
        answer(),
    ]);
    run(office(&model), "close the ticket").await;
    assert_eq!(result(&model, 1), "`mcp:jira` is not open: open it with `open_skill` before you bind its tools.");
    let opened = result(&model, 2);
    assert!(opened.contains("From your next message on you can call `jira_search`."), "{opened}");
    assert!(opened.contains("It has 3 tools, of which 2 can be bound."), "{opened}");
    assert!(opened.contains(
        "\n- jira_search: Does jira_search.\n- jira_comment: Does jira_comment.\n- jira_close: Does jira_close.\n\n"
    ));
    assert_eq!(
        result(&model, 3),
        "From your next message on you can call `jira_comment`.\n\
         `jira_close` is not bound by this: the skill has as many bound as it may.\n\
         `jira_delete` is not bound by this: the skill has no such tool.\n\
         `jira_search` is not bound by this: it is bound already."
    );
    assert_eq!(
        result(&model, 4),
        "`jira_close` is not bound: bind it with `bind_skill_tools`, as a tool of `mcp:jira`, and call it then."
    );
}

#[tokio::test]
async fn a_query_orders_the_index_and_binds_nothing() {
    let model = ScriptedModel::new([
        calls([("c1", "open_skill", json!({ "key": "mcp:jira", "query": "close it" }))]),
        answer(),
    ]);
    run(office(&model), "close the ticket").await;
    let opened = result(&model, 1);
    assert!(!opened.contains("From your next message on"), "{opened}");
    let first = opened.lines().find(|line| line.starts_with("- "));
    assert_eq!(first, Some("- jira_close: Does jira_close."));
}

#[tokio::test]
async fn a_call_in_the_message_that_binds_its_tool_is_answered_so() {
    let model = ScriptedModel::new([
        calls([("c1", "pdf_read", json!({})), ("c2", "open_skill", json!({ "key": "builtin:pdf" }))]),
        answer(),
    ]);
    let report = run(office(&model), "read it").await;
    assert_eq!(
        result(&model, 1),
        "`pdf_read` was not run: it is bound by this very message, and can be called from your next one on."
    );
    assert!(!report.events.iter().any(|event| matches!(event, Event::ToolStarted { .. })));
}

#[tokio::test]
async fn the_bounds_hold_and_are_said() {
    let more = remote("more", &["more_do"]);
    let model = ScriptedModel::new([
        calls([
            ("c1", "open_skill", json!({ "key": "builtin:pdf" })),
            ("c2", "open_skill", json!({ "key": "mcp:jira" })),
            ("c3", "open_skill", json!({ "key": "more" })),
        ]),
        answer(),
    ]);
    let report = run(office(&model).catalog_skill(more.clone()), "all of it").await;
    let results = last_results(&model.requests()[1].messages);
    assert!(results[2].1.starts_with("`more` was not opened: 2 may be open at the same time"), "{}", results[2].1);
    assert!(results[2].1.ends_with("`builtin:pdf`, `mcp:jira` are. Work with what is open."), "{}", results[2].1);
    let refused = |event: &Event| matches!(event, Event::CatalogRefused { key, reason: CatalogRefusal::TooManyOpen, .. } if key == "more");
    assert!(report.events.iter().any(refused));
    assert!(more.binds.lock().expect("a lock").is_empty(), "what does not open is not asked for");
}

#[tokio::test]
async fn who_is_for_larger_models_reads_as_unknown() {
    let policy = SkillPolicy { model_tier: Some(skillgraph::ModelTier::Small), ..SkillPolicy::DEFAULT };
    let model = ScriptedModel::new([open("expert"), open("nothing"), answer()]);
    let report = run(office(&model).catalog_policy(policy), "?").await;
    assert_eq!(result(&model, 1), "There is no skill with that key. The keys stand in <available_skills>.");
    assert_eq!(result(&model, 1), result(&model, 2));
    assert!(!model.requests()[0].system.contains("expert"));
    let why = report.events.iter().filter_map(|event| match event {
        Event::CatalogRefused { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    assert_eq!(why.collect::<Vec<_>>(), [CatalogRefusal::NotForTier, CatalogRefusal::Unknown]);
}

#[tokio::test]
async fn a_skill_that_cannot_say_that_it_is_there_is_not() {
    for trouble in [Trouble::ProbeFails, Trouble::ProbePanics, Trouble::ProbeHangs] {
        let sick = Remote { trouble: Some(trouble), ..remote("sick", &["sick_do"]) };
        let well = remote("well", &["well_do"]);
        let model = ScriptedModel::new([open("sick"), open("well"), call("well_do"), answer()]);
        let agent = host(&model, &[&sick, &well]).catalog_timeout(Duration::from_millis(20));
        let report = run(agent, "hello").await;
        assert!(!all_text(&model.requests()[0]).contains("sick"));
        assert!(result(&model, 1).starts_with("There is no skill with that key."));
        assert_eq!(result(&model, 3), "well_do done");
        let gone = report.events.iter().filter(|event| matches!(event, Event::CatalogUnavailable { .. }));
        assert_eq!(gone.count(), 1, "it is recorded once");
        // Once when the turn begins, once when it is opened.
        assert_eq!(well.probes.load(Ordering::SeqCst), 2);
    }
}

#[tokio::test]
async fn a_skill_that_comes_back_can_be_opened_and_one_that_goes_is_closed() {
    let weather = remote("weather", &["forecast"]);
    weather.there.store(false, Ordering::SeqCst);
    let model = ScriptedModel::new([open("weather"), answer(), open("weather"), answer(), answer()]);
    let mut conversation = host(&model, &[&weather]).build().expect("an agent").conversation();
    conversation.send("will it rain?").await.expect("a turn");
    weather.there.store(true, Ordering::SeqCst);
    conversation.send("and now?").await.expect("a turn");
    assert_eq!(kept(conversation.catalog()), (vec!["weather"], vec!["forecast"]));
    weather.there.store(false, Ordering::SeqCst);
    let report = conversation.send("still?").await.expect("a turn");
    assert_eq!(kept(conversation.catalog()), (vec![], vec![]));
    let closed = |event: &Event| matches!(event, Event::CatalogClosed { reason: CloseReason::Unavailable, .. });
    assert!(report.events.iter().any(closed));
    let last = model.requests().pop().expect("a request");
    assert!(!all_text(&last).contains("Instructions of weather."), "what is not there is not shown either");
    assert!(all_text(&last).contains("This is not available any more."));
}

#[tokio::test]
async fn a_skill_whose_prompt_cannot_be_had_has_not_opened() {
    let sick = Remote { trouble: Some(Trouble::PromptFails), ..remote("sick", &["sick_do"]) };
    let model = ScriptedModel::new([open("sick"), answer()]);
    let mut conversation = host(&model, &[&sick]).build().expect("an agent").conversation();
    conversation.send("hello").await.expect("a turn");
    assert_eq!(result(&model, 1), "`sick` could not be opened now. Try again later, or go on without it.");
    assert_eq!(kept(conversation.catalog()), (vec![], vec![]));
}

#[tokio::test]
async fn a_tool_that_the_host_does_not_give_is_not_bound() {
    let less = Remote { trouble: Some(Trouble::BindGivesLess), ..remote("less", &["one", "two"]) };
    let model = ScriptedModel::new([open("less"), answer()]);
    let report = run(host(&model, &[&less]), "hello").await;
    let said = result(&model, 1);
    assert!(said.contains("can call `two`.\n`one` is not bound by this: it is not available now.\n"), "{said}");
    assert_eq!(offered(&model, 1), ["two", "open_skill", "bind_skill_tools"]);
    let failed = |event: &Event| match event {
        Event::CatalogOpened { not_bound, .. } => not_bound.iter().any(|cut| cut.reason == NotBoundReason::Failed),
        _ => false,
    };
    assert!(report.events.iter().any(failed));
}

/// A provider would refuse such a schema, and with it the request.
#[tokio::test]
async fn l_a_tool_whose_arguments_are_no_object_is_not_bound() {
    let odd = Remote { trouble: Some(Trouble::BindGivesNoObject), ..remote("odd", &["one"]) };
    let model = ScriptedModel::new([open("odd"), call("one"), answer()]);
    let report = run(host(&model, &[&odd]), "hello").await;
    assert!(
        result(&model, 1).contains("`one` is not bound by this: it is not available now."),
        "{}",
        result(&model, 1)
    );
    assert_eq!(offered(&model, 1), ["open_skill", "bind_skill_tools"]);
    assert!(!report.events.iter().any(|event| matches!(event, Event::ToolStarted { tool, .. } if *tool == "one")));
}

/// Of a registered tool that is a `BuildError`; what comes at run time is not bound.
#[tokio::test]
async fn m30_a_tool_that_needs_a_permission_is_not_bound_where_nobody_gives_one() {
    let needs = Remote { trouble: Some(Trouble::BindNeeds), ..remote("vault", &["unlock"]) };
    let model = ScriptedModel::new([open("vault"), call("unlock"), answer()]);
    let report = run(host(&model, &[&needs]), "hello").await;
    let cut = |event: &Event| match event {
        Event::CatalogOpened { not_bound, .. } => {
            not_bound.iter().any(|cut| cut.reason == NotBoundReason::NoAuthorizer)
        }
        _ => false,
    };
    assert!(report.events.iter().any(cut), "{:#?}", report.events);
    assert!(!report.events.iter().any(|event| matches!(event, Event::ToolStarted { tool, .. } if *tool == "unlock")));
    assert_eq!(offered(&model, 1), ["open_skill", "bind_skill_tools"]);
}

#[tokio::test]
async fn a_model_that_searches_has_no_list_and_finds_by_words() {
    let policy = SkillPolicy { disclosure: Disclosure::Search, ..SkillPolicy::DEFAULT };
    let search = |query: &str| calls([("c1", "search_skills", json!({ "query": query, "limit": 2 }))]);
    let model =
        ScriptedModel::new([search("summarise files"), open("builtin:pdf"), search("tides"), open("no"), answer()]);
    let report = run(office(&model).catalog_policy(policy), "sum it up").await;
    assert!(!model.requests()[0].system.contains("pdf"), "{}", model.requests()[0].system);
    assert!(offered(&model, 0).ends_with(&[
        "search_skills".to_owned(),
        "open_skill".to_owned(),
        "bind_skill_tools".to_owned()
    ]));
    assert_eq!(
        result(&model, 1),
        "Best first:\n- builtin:pdf: read and summarise PDF files\n\nOpen one with `open_skill`."
    );
    let missed = result(&model, 3);
    assert!(missed.starts_with("Nothing fits these words. Some of the skills that there are:"), "{missed}");
    assert!(missed.contains("- builtin:pdf: read and summarise PDF files (open already)\n"), "{missed}");
    assert_eq!(result(&model, 4), "There is no skill with that key. `search_skills` gives keys.");
    let found =
        |event: &Event| matches!(event, Event::CatalogSearched { found: true, keys, .. } if *keys == ["builtin:pdf"]);
    assert!(report.events.iter().any(found));
}

#[tokio::test]
async fn m20_a_search_shows_only_what_was_asked_after_and_is_there() {
    let policy = SkillPolicy { disclosure: Disclosure::Search, ..SkillPolicy::DEFAULT };
    let (near, far) = (remote("near", &["near_do"]), remote("far", &["far_do"]));
    near.there.store(false, Ordering::SeqCst);
    let model = ScriptedModel::new([calls([("c1", "search_skills", json!({ "query": "near" }))]), answer()]);
    run(host(&model, &[&near, &far]).catalog_policy(policy), "hello").await;
    // `near` is away; `far` moves up, and is asked after before it is shown.
    assert_eq!((near.probes.load(Ordering::SeqCst), far.probes.load(Ordering::SeqCst)), (1, 1));
    assert!(!result(&model, 1).contains("- near:"), "{}", result(&model, 1));
    assert!(result(&model, 1).contains("- far:"), "{}", result(&model, 1));
}

#[tokio::test]
async fn what_is_open_survives_turns_and_storage_and_is_bound_anew_where_it_is_called() {
    let weather = remote("weather", &["forecast"]);
    let model = ScriptedModel::new([open("weather"), answer(), call("forecast"), answer()]);
    let agent = host(&model, &[&weather]).build().expect("an agent");
    let mut conversation = agent.conversation();
    conversation.send("will it rain?").await.expect("a turn");
    let saved = serde_json::to_string(&conversation.save()).expect("JSON");
    let mut conversation =
        agent.restore(serde_json::from_str(&saved).expect("a conversation")).expect("the same agent");
    assert_eq!(kept(conversation.catalog()), (vec!["weather"], vec!["forecast"]));
    conversation.send("and tomorrow?").await.expect("a turn");
    assert_eq!(offered(&model, 2), ["forecast", "open_skill", "bind_skill_tools"]);
    assert_eq!(result(&model, 3), "forecast done");
    assert_eq!(*weather.binds.lock().expect("a lock"), ["forecast", "forecast"]);
}

#[tokio::test]
async fn a_catalog_that_lost_a_skill_drops_it_by_name() {
    let (weather, news) = (remote("weather", &["forecast"]), remote("news", &["headlines"]));
    let model = ScriptedModel::new([open("weather"), open("news"), answer(), answer()]);
    let mut conversation = host(&model, &[&weather, &news]).build().expect("an agent").conversation();
    conversation.send("what is up?").await.expect("a turn");
    assert_eq!(kept(conversation.catalog()).0, ["weather", "news"]);
    let smaller = host(&model, &[&news]).build().expect("an agent");
    let mut conversation = smaller.restore(conversation.save()).expect("the same graph");
    let report = conversation.send("and now?").await.expect("a turn");
    assert_eq!(kept(conversation.catalog()), (vec!["news"], vec!["headlines"]));
    let closed = |event: &Event| matches!(event, Event::CatalogClosed { key, reason: CloseReason::Gone, .. } if key == "weather");
    assert!(report.events.iter().any(closed));
}

#[tokio::test]
async fn a_policy_can_close_all_when_a_turn_begins() {
    let policy = SkillPolicy { reset: Reset::Turn, max_open_skills: 1, ..SkillPolicy::DEFAULT };
    let (weather, news) = (remote("weather", &["forecast"]), remote("news", &["headlines"]));
    let model = ScriptedModel::new([open("weather"), answer(), open("news"), answer()]);
    let mut conversation =
        host(&model, &[&weather, &news]).catalog_policy(policy).build().expect("an agent").conversation();
    conversation.send("will it rain?").await.expect("a turn");
    conversation.send("and the news?").await.expect("a turn");
    assert_eq!(kept(conversation.catalog()), (vec!["news"], vec!["headlines"]));
}

#[tokio::test]
async fn skills_can_be_open_from_the_start() {
    let weather = remote("weather", &["forecast"]);
    let model = ScriptedModel::new([call("forecast"), answer(), answer()]);
    let agent = host(&model, &[&weather]).preopen(["weather"]).build().expect("an agent");
    let mut conversation = agent.conversation();
    conversation.send("will it rain?").await.expect("a turn");
    assert_eq!(offered(&model, 0), ["forecast", "open_skill", "bind_skill_tools"]);
    assert!(all_text(&model.requests()[0]).contains("Instructions of weather."));
    assert_eq!(result(&model, 1), "forecast done");
    conversation.send("and tomorrow?").await.expect("a turn");
    let last = all_text(&model.requests().pop().expect("a request"));
    assert_eq!(last.matches("Instructions of weather.").count(), 1, "it is open already");
}

struct NoNews;

impl Authorizer for NoNews {
    async fn check(&self, _: &Capability, target: &Target, _: &Identity) -> Result<Decision, AuthorizerError> {
        Ok(match target {
            Target::Skill(skill) if *skill == "news" => Decision::denied("not for guests"),
            Target::Call { tool, .. } if *tool == "forecast" => Decision::denied("not today"),
            _ => Decision::Allowed,
        })
    }
}

#[tokio::test]
async fn permissions_hide_skills_and_stop_calls_of_their_tools() {
    let (weather, news) = (remote("weather", &["forecast"]), remote("news", &["headlines"]));
    let model = ScriptedModel::new([open("news"), open("weather"), call("forecast"), answer()]);
    run(host(&model, &[&weather, &news]).authorizer(NoNews), "hello").await;
    assert!(!all_text(&model.requests()[0]).contains("news"));
    assert!(result(&model, 1).starts_with("There is no skill with that key."));
    assert_eq!(result(&model, 3), "`forecast` was not run: it is not permitted (not today).");
}

/// A skill whose tool asks a person first, and says how often it ran.
struct Guarded(Arc<AtomicUsize>);

impl CatalogSkill for Guarded {
    fn entry(&self) -> CatalogEntry {
        let tool = ToolHeader { name: "unlock".into(), description: None };
        CatalogEntry {
            key: "vault".into(),
            header: "what is locked".into(),
            tools: vec![tool],
            ..CatalogEntry::default()
        }
    }

    async fn prompt(&self) -> Result<String, CatalogSkillError> {
        Ok("Count twice.".into())
    }

    async fn bind(&self, _: &[String]) -> Result<Vec<DynTool>, CatalogSkillError> {
        let runs = self.0.clone();
        Ok(vec![DynTool::new("unlock", "Unlocks.", json!({ "type": "object" }), move |_, context| {
            let reply = match context.is_approved() {
                true => {
                    runs.fetch_add(1, Ordering::SeqCst);
                    ToolReply::success(json!("open"))
                }
                false => ToolReply::pending("Open it?"),
            };
            async move { Ok::<_, std::convert::Infallible>(reply) }
        })])
    }
}

/// Managers see the vault.
struct ByRole;

impl Authorizer for ByRole {
    async fn check(&self, _: &Capability, target: &Target, who: &Identity) -> Result<Decision, AuthorizerError> {
        Ok(match target {
            Target::Skill(skill) if *skill == "vault" && !who.has_role("manager") => Decision::denied("managers only"),
            _ => Decision::Allowed,
        })
    }
}

#[tokio::test]
async fn what_was_opened_is_closed_to_whoever_may_not_see_it_on_a_resume() {
    for (role, expected) in [("manager", 1), ("guest", 0)] {
        let runs = Arc::new(AtomicUsize::new(0));
        let model = ScriptedModel::new([open("vault"), call("unlock"), answer()]);
        let agent = desk::agent(desk::Tools {}).model(model.clone()).catalog_skill(Guarded(runs.clone()));
        let agent = agent.authorizer(ByRole).build().expect("an agent");
        let mut conversation = agent.conversation().with_identity(Identity::new("ada").role("manager"));
        let report = conversation.send("open the vault").await.expect("a turn");
        assert!(matches!(report.outcome, Outcome::Paused { .. }), "{:?}", report.outcome);
        let saved = serde_json::to_string(&conversation.save()).expect("JSON");
        let conversation =
            agent.restore(serde_json::from_str(&saved).expect("a conversation")).expect("the same agent");
        let mut conversation = conversation.with_identity(Identity::new("bob").role(role));
        let question = conversation.questions().remove(0);
        conversation.resume(question.approve()).await.expect("a turn");
        assert_eq!(runs.load(Ordering::SeqCst), expected, "{role}");
        let last = model.requests().pop().expect("a request");
        assert_paired(&last.messages);
        let sees = ["Count twice.", "what is locked", "`vault`"].map(|text| all_text(&last).contains(text));
        assert_eq!(sees, [role == "manager"; 3], "{role}: {}", all_text(&last));
        assert_eq!(last.tool("unlock").is_some(), role == "manager", "{role}");
    }
}

#[tokio::test]
async fn arguments_that_cannot_be_read_are_answered() {
    let model = ScriptedModel::new([
        calls([
            ("c1", "open_skill", json!({})),
            ("c2", "open_skill", json!({ "key": "expert", "query": 3 })),
            ("c3", "bind_skill_tools", json!({ "key": "expert" })),
            ("c4", "bind_skill_tools", json!({ "key": "expert", "tools": [] })),
            ("c5", "bind_skill_tools", json!({ "key": "expert", "tools": [1] })),
        ]),
        answer(),
    ]);
    run(office(&model), "hello").await;
    let results: Vec<String> = last_results(&model.requests()[1].messages).into_iter().map(|(_, text)| text).collect();
    assert_eq!(
        results,
        [
            "`open_skill` was not run: `key` is missing.",
            "`open_skill` was not run: `query` must be a string.",
            "`bind_skill_tools` was not run: `tools` is missing.",
            "`bind_skill_tools` was not run: `tools` must be a list of names, one at least.",
            "`bind_skill_tools` was not run: `tools` must be a list of names, one at least.",
        ]
    );
}

#[test]
fn an_agent_whose_names_collide_is_not_built() {
    let model = ScriptedModel::new([]);
    let built = |agent: AgentBuilder| agent.build().map(drop).map_err(|error| error.to_string());
    let with = |skills: &[&Remote]| built(host(&model, skills));
    let (one, other) = (remote("one", &["do_it"]), remote("other", &["do_it"]));
    assert_eq!(
        with(&[&one, &other]),
        Err("the catalog skill `other` has a tool `do_it`, which is the name of a tool of the catalog skill `one`"
            .into())
    );
    assert_eq!(with(&[&one, &remote("one", &[])]), Err("two skills of the catalog have the key `one`".into()));
    let own = built(office(&model).catalog_skill(remote("more", &["lookup"])));
    assert_eq!(
        own,
        Err("the catalog skill `more` has a tool `lookup`, which is the name of a tool of the graph".into())
    );
    let ours = with(&[&remote("more", &["open_skill"])]);
    assert_eq!(
        ours,
        Err("the catalog skill `more` has a tool `open_skill`, which is the name of a tool of the framework".into())
    );
    assert!(with(&[&remote("Two Words", &[])]).is_err_and(|text| text.starts_with("`Two Words` cannot be the key")));
    assert!(matches!(host(&model, &[&one]).preopen(["none"]).build(), Err(BuildError::Catalog(_))));
}

mod jira {
    pub async fn connected() -> bool {
        false
    }
}

skill_graph! {
    pub graph away {
        tools { jira_search: dyn }
        catalog {
            skill jira = "mcp:jira" {
                header: "tickets", prompt: "Search before you write.", tools: [jira_search],
                available: self::jira::connected, needs_sandbox: true,
            }
            /// A doc comment is the header.
            skill notes { prompt: "Note it." }
        }
    }
}

#[tokio::test]
async fn a_declared_skill_says_itself_whether_it_is_there() {
    let model = ScriptedModel::new([open("mcp:jira"), open("notes"), answer()]);
    run(away::agent(away::Tools { jira_search: succeeds("jira_search") }).model(model.clone()), "hello").await;
    assert!(model.requests()[0].system.contains("\n- notes: A doc comment is the header.\n"));
    assert!(!all_text(&model.requests()[0]).contains("jira"));
    assert_eq!(result(&model, 2), "`notes` is open.\n\nIts instructions:\n\nNote it.");
}

#[test]
fn a_catalog_goes_to_data_and_comes_back_and_is_drawn() {
    let spec = office::GRAPH.spec().expect("no closures");
    let json = serde_json::to_value(&spec).expect("JSON");
    assert_eq!(json["catalog"]["skills"][1]["default_bind"], json!(["jira_search"]));
    assert_eq!(json["catalog"]["policy"]["max_open_skills"], 2);
    let graph = office::GRAPH.compiled().expect("a graph");
    let names: Vec<&str> = graph.tools().iter().map(|tool| tool.as_str()).collect();
    let again = Graph::compile(&serde_json::from_value(json).expect("a spec"), &names).expect("a graph");
    assert_eq!(again.declaration().spec().expect("no closures"), spec);
    let drawing = office::GRAPH.to_mermaid();
    assert!(drawing.contains("  c0[[\"builtin:pdf<br/>read and summarise PDF files\"]]\n"), "{drawing}");
    assert!(drawing.contains("  start -.->|\"open_skill\"| c0\n"), "{drawing}");
    // What says whether a skill is there is code.
    assert!(away::GRAPH.spec().is_err_and(|error| error.to_string().contains("self::jira::connected")));
}

#[test]
fn mistakes_of_a_catalog_from_data_are_reported_at_their_pointers() {
    let spec = json!({
        "name": "desk",
        "skills": [],
        "catalog": {
            "policy": { "max_bound_tools_per_skill": 1 },
            "skills": [
                { "key": "one", "header": "", "prompt": "Do.", "tools": ["find", "fnd"], "default_bind": ["find", "pay"] },
                { "key": "One", "header": "h", "prompt": "Do." },
            ],
        },
    });
    let report =
        Graph::compile(&serde_json::from_value(spec).expect("a spec"), &["find", "pay"]).expect_err("mistakes");
    let found: Vec<(&str, &str)> =
        report.findings.iter().map(|finding| (finding.at.as_str(), finding.code.as_str())).collect();
    assert_eq!(
        found,
        [
            ("/catalog/skills/1/key", "invalid-name"),
            ("/catalog/skills/0/tools/1", "unknown-tool"),
            ("/catalog/skills/0/header", "empty-text"),
            ("/catalog/skills/0/default_bind/1", "foreign-tool"),
            ("/catalog/skills/0/default_bind", "default-bind-over-limit"),
        ]
    );
}
