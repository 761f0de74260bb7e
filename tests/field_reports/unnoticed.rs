//! Small changes to the code that no test noticed (section L of the second round): each is noticed here.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use skillgraph::core::catalog::{Catalog, CatalogEntry, ModelTier, SkillPolicy, ToolHeader};
use skillgraph::core::decide::{Evidence, Ruling, decide};
use skillgraph::core::graph::{Graph, Hidden};
use skillgraph::core::turn::{
    CatalogAnswer, CatalogQuestion, CatalogTool, Decision, Input, ModelReply, ModelRequest, Output, Permissions,
    RestoreError, SavedTurn, Setup, Target, ToolCall, ToolReturn, ToolSpec, Turn,
};
use skillgraph::{
    AgentBuilder, BoundTool, Cause, Disclosure, DynTool, Event, GraphSpec, Outcome, ScriptedModel, Status, ToolReply,
    Transcript, TurnReport, skill_graph,
};

use crate::common::{self, all_text, answer, calls, last_results, pick, succeeds};

fn graph(skills: Value, entries: Value, routes: Value) -> Arc<Graph> {
    let spec: GraphSpec = serde_json::from_value(json!({
        "name": "g", "skills": skills, "entries": entries, "routes": routes,
    }))
    .expect("a spec");
    Arc::new(Graph::compile(&spec, &["find", "pay", "note"]).unwrap_or_else(|report| panic!("{report}")))
}

fn skill(id: &str, tools: &[&str]) -> Value {
    json!({ "id": id, "description": id, "body": format!("Body of {id}."), "tools": tools })
}

fn desk() -> Arc<Graph> {
    graph(
        json!([skill("desk", &["find", "pay"]), skill("back", &["pay"]), skill("notes", &["note"])]),
        json!([{ "skill": "desk" }]),
        json!([{ "from": "desk", "to": "back", "on": ["find"] }, { "from": "desk", "to": "back", "pick": true }]),
    )
}

fn hides(graph: &Graph, ids: &[&str]) -> Hidden {
    ids.iter().map(|id| graph.find_skill(id).expect("a skill")).collect()
}

#[test]
fn l_decide_never_leads_to_a_hidden_skill() {
    let graph = desk();
    let (cursor, back) = (graph.find_skill("desk"), graph.find_skill("back"));
    let hidden = hides(&graph, &["back"]);
    for (proposal, pick) in [(back, None), (None, back), (back, back)] {
        let evidence = || Evidence::Batch { results: &[], proposal, pick };
        assert_eq!(decide(&graph, &hidden, cursor, evidence()).to, cursor);
        assert_eq!(decide(&graph, &Hidden::NONE, cursor, evidence()).to, back);
    }
    let back = back.expect("a skill");
    for ruling in [Ruling::Decider(back), Ruling::Intent(back)] {
        let evidence = Evidence::TurnStart { message: "hello", ruling };
        let decision = decide(&graph, &hidden, None, evidence);
        assert_eq!((decision.to, decision.by, decision.hidden), (cursor, Cause::Entry, vec![back]));
    }
}

fn entry(key: &str, tools: &[&str]) -> CatalogEntry {
    let tools = tools.iter().map(|name| ToolHeader { name: (*name).to_owned(), description: None });
    CatalogEntry {
        key: key.into(),
        header: format!("all about {key}"),
        tools: tools.collect(),
        ..CatalogEntry::default()
    }
}

fn with_catalog(policy: SkillPolicy, entries: Vec<CatalogEntry>) -> Setup {
    let names: Vec<_> = entries.iter().flat_map(|entry| &entry.tools).map(|tool| tool.name.as_str().into()).collect();
    let mut setup = common::setup(desk());
    setup.graph = Arc::new(setup.graph.with_tools(names));
    setup.catalog = Some(Catalog::new(policy, entries).expect("a catalog"));
    setup
}

fn offered(turn: &Turn) -> Vec<String> {
    match turn.poll_output() {
        Output::CallModel(request) => request.tool_names().into_iter().map(str::to_owned).collect(),
        other => panic!("{other:?}"),
    }
}

fn replies(turn: &mut Turn, calls: Vec<(&str, &str, Value)>) {
    let calls = calls.into_iter().map(|(id, name, arguments)| ToolCall::new(id, name, arguments.to_string()));
    turn.handle_input(Input::ModelReplied(ModelReply::calls(calls))).expect("awaited");
}

fn returns(turn: &mut Turn, id: &str, status: Status, text: &str) {
    turn.handle_input(Input::ToolReturned(ToolReturn::message(id, status, text))).expect("awaited");
}

fn stored(turn: &Turn) -> SavedTurn {
    serde_json::from_str(&serde_json::to_string(&turn.save()).expect("JSON")).expect("data")
}

#[test]
fn l_a_catalog_in_which_nothing_is_known_offers_no_navigation() {
    let large = CatalogEntry { min_model_tier: Some(ModelTier::Large), may_be_away: true, ..entry("big", &["big_do"]) };
    let policy = SkillPolicy { model_tier: Some(ModelTier::Small), ..SkillPolicy::DEFAULT };
    let turn = Turn::start(Arc::new(with_catalog(policy, vec![large.clone()])), Transcript::new(), "hello");
    // Nobody is asked about what the model may not know of.
    assert!(!offered(&turn).iter().any(|name| name.contains("open_skill") || name.contains("bind")));
    let turn =
        Turn::start(Arc::new(with_catalog(policy, vec![large, entry("small", &["do"])])), Transcript::new(), "hello");
    assert!(offered(&turn).contains(&"open_skill".to_owned()));
}

#[test]
fn l_a_search_shows_twenty_five_at_the_most() {
    let policy = SkillPolicy { disclosure: Disclosure::Search, ..SkillPolicy::DEFAULT };
    let keys: Vec<String> = (0..40).map(|at| format!("thing-{at}")).collect();
    let setup = with_catalog(policy, keys.iter().map(|key| entry(key, &[])).collect());
    let mut turn = Turn::start(Arc::new(setup), Transcript::new(), "hello");
    replies(&mut turn, vec![("s", "search_skills", json!({ "query": "thing", "limit": 1_000 }))]);
    assert_eq!(last_results(turn.transcript())[0].1.matches("\n- thing-").count(), 25);
}

/// With an authorizer that lets see what it is told.
fn permitted(graph: Arc<Graph>) -> Arc<Setup> {
    let mut setup = common::setup(graph);
    setup.permissions = Some(Permissions::default());
    Arc::new(setup)
}

fn decides(turn: &mut Turn, hidden: &[&str]) {
    let Output::Authorize(checks) = turn.poll_output() else { panic!("{:?}", turn.poll_output()) };
    let denied = |target: &Target| matches!(target, Target::Skill(skill) if hidden.iter().any(|id| *skill == *id));
    let decisions =
        checks.iter().map(|check| if denied(&check.target) { Decision::denied("no") } else { Decision::Allowed });
    turn.handle_input(Input::Authorized(decisions.collect())).expect("awaited");
}

#[test]
fn l_a_call_that_returned_stays_returned_when_its_skill_is_withdrawn() {
    let setup = permitted(desk());
    let mut turn = Turn::start(setup.clone(), Transcript::new(), "hello");
    decides(&mut turn, &[]);
    replies(&mut turn, vec![("o", "read_skill", json!({ "id": "notes" }))]);
    replies(&mut turn, vec![("a", "note", json!({ "n": 1 })), ("b", "note", json!({ "n": 2 }))]);
    decides(&mut turn, &[]);
    returns(&mut turn, "a", Status::Success, "noted");
    let mut turn = Turn::restore(setup, stored(&turn)).expect("the same graph");
    decides(&mut turn, &["notes"]);
    // What had opened beside the cursor is closed, what had returned is kept, what had not is refused.
    assert!(matches!(turn.poll_output(), Output::CallModel(_)), "{:?}", turn.poll_output());
    let said = last_results(turn.transcript());
    assert_eq!(said[0].1, "noted");
    assert!(said[1].1.contains("is not available here"), "{said:?}");
    assert!(!offered(&turn).contains(&"note".to_owned()));
    let text = all_text(&request(&turn));
    assert!(!text.contains("notes") && !text.contains("noted"), "{text}");
}

fn request(turn: &Turn) -> ModelRequest {
    match turn.poll_output() {
        Output::CallModel(request) => request,
        other => panic!("{other:?}"),
    }
}

#[test]
fn l_a_changed_verdict_at_a_waiting_model_call_changes_the_offer() {
    let setup = permitted(desk());
    let mut turn = Turn::start(setup.clone(), Transcript::new(), "hello");
    decides(&mut turn, &["back"]);
    assert!(!all_text(&request(&turn)).contains("back"));
    for hidden in [&["notes"][..], &[], &["desk"]] {
        turn = Turn::restore(setup.clone(), stored(&turn)).expect("the same graph");
        decides(&mut turn, hidden);
        let text = all_text(&request(&turn));
        for id in ["desk", "back", "notes"] {
            assert_eq!(text.contains(&format!("\"{id}\"")), !hidden.contains(&id), "{id} of {hidden:?}: {text}");
        }
        assert_eq!(offered(&turn).contains(&"find".to_owned()), !hidden.contains(&"desk"));
    }
}

#[test]
fn l_migration_knows_what_has_become_of_each_part() {
    // `notes` was open beside the cursor, and is wired now; `find` waits for a person; `pay` is gone.
    let old = common::setup(desk());
    let mut turn = Turn::start(Arc::new(old), Transcript::new(), "hello");
    replies(&mut turn, vec![("o", "read_skill", json!({ "id": "notes" }))]);
    replies(&mut turn, vec![("a", "find", json!({})), ("b", "note", json!({})), ("c", "pay", json!({}))]);
    returns(&mut turn, "b", Status::Success, "noted");
    returns(&mut turn, "c", Status::Pending, "Pay?");
    returns(&mut turn, "a", Status::Pending, "Find?");
    let saved = stored(&turn);
    let spec: GraphSpec = serde_json::from_value(json!({
        "name": "g",
        "skills": [skill("other", &["find"]), skill("notes", &["note"]), skill("desk", &["find"])],
        "entries": [{ "skill": "desk" }, { "skill": "other", "when": { "keywords": ["other"] } }],
        "routes": [{ "from": "desk", "to": "notes", "on": ["find"] }],
    }))
    .expect("a spec");
    let new = Arc::new(Graph::compile(&spec, &["note", "find"]).unwrap_or_else(|report| panic!("{report}")));
    let setup = Arc::new(common::setup(new));
    assert!(matches!(Turn::restore(setup.clone(), saved.clone()), Err(RestoreError::OtherGraph { .. })));
    let mut turn = Turn::migrate(setup, saved).expect("it can go on");
    let events: Vec<Event> = std::iter::from_fn(|| turn.poll_event()).collect();
    let dropped = events.iter().find_map(|event| match event {
        Event::TurnMigrated { dropped, .. } => Some(dropped.iter().map(ToString::to_string).collect::<Vec<_>>()),
        _ => None,
    });
    assert_eq!(dropped.expect("it says so"), ["notes"]);
    let Output::Pause(questions) = turn.poll_output() else { panic!("{:?}", turn.poll_output()) };
    assert_eq!(questions.iter().map(|question| question.call_id.as_str()).collect::<Vec<_>>(), ["a"], "`pay` is gone");
    turn.handle_input(Input::PersonAnswered(questions[0].approve())).expect("awaited");
    let Output::RunTools(runs) = turn.poll_output() else { panic!("{:?}", turn.poll_output()) };
    assert_eq!(runs.len(), 1);
    returns(&mut turn, "a", Status::Success, "found");
    assert!(turn.cursor().is_some_and(|cursor| cursor == "notes"));
    let said = last_results(turn.transcript());
    assert_eq!(said[1].1, "noted");
    assert!(said[2].1.contains("is not available here"), "{said:?}");
}

#[test]
fn l_hidden_skills_stay_hidden_over_a_migration() {
    let setup = permitted(desk());
    let mut turn = Turn::start(setup, Transcript::new(), "hello");
    decides(&mut turn, &["back"]);
    let saved = stored(&turn);
    let more = graph(
        json!([skill("new", &[]), skill("desk", &["find", "pay"]), skill("back", &["pay"]), skill("notes", &["note"])]),
        json!([{ "skill": "desk" }]),
        json!([{ "from": "desk", "to": "back", "on": ["find"] }, { "from": "desk", "to": "back", "pick": true }]),
    );
    // Without anybody who is asked it does not go on at all.
    assert!(matches!(
        Turn::migrate(Arc::new(common::setup(more.clone())), saved.clone()),
        Err(RestoreError::NoPermissions)
    ));
    let mut turn = Turn::migrate(permitted(more), saved).expect("it can go on");
    decides(&mut turn, &["back"]);
    assert!(!all_text(&request(&turn)).contains("back"));
}

#[test]
fn l_a_catalog_of_another_setup_is_not_restored() {
    let policy = SkillPolicy { max_bound_tools_per_skill: 2, ..SkillPolicy::DEFAULT };
    let setup = |policy| Arc::new(with_catalog(policy, vec![entry("kit", &["k1", "k2"])]));
    let mut turn = Turn::start(setup(policy), Transcript::new(), "hello");
    replies(&mut turn, vec![("o", "open_skill", json!({ "key": "kit" }))]);
    let Output::AskCatalog(questions) = turn.poll_output() else { panic!("{:?}", turn.poll_output()) };
    let [CatalogQuestion::Open { tools, .. }] = questions.as_slice() else { panic!("{questions:?}") };
    let tool = |name: &String| {
        let parameters = json!({ "type": "object", "properties": {} });
        let spec = ToolSpec { name: name.as_str().into(), description: "Works.".into(), parameters };
        CatalogTool::new(Arc::new(spec), Vec::new())
    };
    let opened =
        CatalogAnswer::Opened { prompt: "Do.".into(), ranked: Vec::new(), tools: tools.iter().map(tool).collect() };
    turn.handle_input(Input::CatalogAnswered(vec![opened])).expect("awaited");
    assert_eq!(turn.catalog().opened().tools().collect::<Vec<_>>(), ["k1", "k2"]);
    assert!(Turn::restore(setup(policy), stored(&turn)).is_ok());
    // Two of one skill are more than may be bound there.
    let less = SkillPolicy { max_bound_tools_per_skill: 1, ..policy };
    assert!(matches!(Turn::restore(setup(less), stored(&turn)), Err(RestoreError::Impossible { .. })));
    // Of a tool that nobody told of nothing can be sent.
    let mut data = serde_json::to_value(turn.save()).expect("JSON");
    data["state"]["catalog"]["tools"] = json!([]);
    let changed: SavedTurn = serde_json::from_value(data).expect("data");
    assert!(matches!(Turn::restore(setup(policy), changed), Err(RestoreError::Impossible { .. })));
}

#[test]
fn l_a_procedure_outside_of_its_steps_is_not_restored() {
    let mut desk = skill("desk", &["find", "pay"]);
    desk["steps"] = json!([{ "tool": "find", "note": "f" }, { "tool": "pay", "note": "p" }]);
    let setup = Arc::new(common::setup(graph(
        json!([desk, skill("notes", &["note"])]),
        json!([{ "skill": "desk" }]),
        json!([]),
    )));
    let turn = Turn::start(setup.clone(), Transcript::new(), "hello");
    let data = serde_json::to_value(turn.save()).expect("JSON");
    for (done, skipped, skill) in
        [(3, json!([]), 0), (1, json!([1]), 0), (0, json!([0]), 0), (0, json!([]), 1), (u64::MAX, json!([]), 0)]
    {
        let mut changed = data.clone();
        changed["state"]["procedure"] = json!({ "skill": skill, "done": done, "skipped": skipped });
        let restored =
            serde_json::from_value::<SavedTurn>(changed).map(|saved| Turn::restore(setup.clone(), saved).is_ok());
        assert!(!restored.unwrap_or(false), "{done} {skipped} {skill}");
    }
    let mut without = data;
    without["state"]["procedure"] = Value::Null;
    let saved: SavedTurn = serde_json::from_value(without).expect("data");
    assert!(Turn::restore(setup, saved).is_err(), "the open skill has steps");
}

skill_graph! {
    #[allow(skillgraph::model_edge_only)]
    graph till {
        tools { find: dyn, pay: dyn }
        skill desk { description: "Desk", body: "Pay.", tools: [find, pay] }
        skill back { description: "Back", body: "Back.", tools: [find] }
        entry desk;
        route desk ~> back;
        route back ~> desk;
        governor { refusals: 3 }
    }
}

async fn till(replies: Vec<ModelReply>) -> TurnReport {
    let pay = DynTool::new("pay", "Pays.", json!({ "type": "object" }), |_, context| async move {
        Ok::<_, String>(if context.is_approved() {
            ToolReply::success(json!("paid"))
        } else {
            ToolReply::pending("Pay?")
        })
    });
    let tools = till::Tools { find: succeeds("find"), pay };
    let mut conversation =
        till::agent(tools).model(ScriptedModel::new(replies)).build().expect("an agent").conversation();
    let mut report = conversation.send("hello").await.expect("a turn");
    while let Some(question) = conversation.questions().first() {
        let before = report.events;
        report = conversation.resume(question.approve()).await.expect("a turn");
        report.events.splice(..0, before);
    }
    report
}

#[tokio::test]
async fn l_an_approved_call_is_announced_as_started_again() {
    let report = till(vec![calls([("a", "pay", json!({}))]), answer()]).await;
    let told: Vec<&str> = report
        .events
        .iter()
        .filter_map(|event| match event {
            Event::ToolStarted { .. } => Some("started"),
            Event::Paused { .. } => Some("paused"),
            Event::PersonAnswered { .. } => Some("answered"),
            Event::ToolReturned { .. } => Some("returned"),
            _ => None,
        })
        .collect();
    assert_eq!(told, ["started", "paused", "answered", "started", "returned"]);
}

#[tokio::test]
async fn l_refusals_are_counted_from_the_last_move() {
    let nowhere = |id: &str| pick(id, &format!("nowhere-{id}"));
    let report = till(vec![nowhere("1"), nowhere("2"), pick("3", "back"), nowhere("4"), nowhere("5"), answer()]).await;
    assert_eq!(report.text(), Some("done"));
    let report = till(vec![nowhere("1"), nowhere("2"), nowhere("3"), answer()]).await;
    assert_eq!(report.text(), None);
}

#[test]
fn l_a_prompt_over_the_ceiling_does_not_open() {
    let mut setup = with_catalog(SkillPolicy::DEFAULT, vec![entry("kit", &[])]);
    setup.limits.result_characters = 10;
    let setup = Arc::new(setup);
    for (length, opens) in [(10, true), (11, false)] {
        let mut turn = Turn::start(setup.clone(), Transcript::new(), "hello");
        replies(&mut turn, vec![("o", "open_skill", json!({ "key": "kit" }))]);
        let opened = CatalogAnswer::Opened { prompt: "ä".repeat(length), ranked: Vec::new(), tools: Vec::new() };
        turn.handle_input(Input::CatalogAnswered(vec![opened])).expect("awaited");
        let open: BTreeSet<&str> = turn.catalog().opened().skills().collect();
        assert_eq!(open.contains("kit"), opens, "{length}");
    }
}

/// Edges on a tool and edges on any stand in one order: that of their declaration.
#[tokio::test]
async fn the_first_edge_in_declaration_order_wins_whatever_its_tool() {
    let named = |to: &str| json!({ "from": "desk", "to": to, "on": ["find"] });
    let any = |to: &str| json!({ "from": "desk", "to": to });
    for (first, second) in [(named("a"), any("b")), (any("a"), named("b"))] {
        let skills = json!([skill("desk", &["find"]), skill("a", &[]), skill("b", &[]), skill("c", &[])]);
        let graph = graph(skills, json!([{ "skill": "desk" }]), json!([first, second, any("c")]));
        let model = ScriptedModel::new([calls([("1", "find", json!({}))]), answer()]);
        let agent = AgentBuilder::new(graph, ["find", "pay", "note"].map(|name| BoundTool::dynamic(succeeds(name))));
        let report = agent.model(model).build().expect("an agent").run("hello").await.expect("a turn");
        assert_eq!(common::hops(&report)[1], "a by route");
    }
}

#[test]
fn an_outcome_has_the_name_that_it_is_stored_under() {
    let text = || "words".to_owned();
    let outcomes = [
        Outcome::Answered { text: text() },
        Outcome::Refused { text: text() },
        Outcome::Truncated { text: text() },
        Outcome::Empty,
        Outcome::Cancelled,
        Outcome::Paused { questions: vec![] },
    ];
    for outcome in outcomes {
        assert_eq!(json!(outcome)["outcome"], outcome.name());
    }
}

#[test]
fn f69_a_skill_without_tools_opens_when_no_tools_are_left() {
    use skillgraph::core::catalog::Opened;
    let entry = |key: &str, tools: usize| CatalogEntry {
        key: key.into(),
        tools: (0..tools).map(|at| ToolHeader { name: format!("{key}_{at}"), description: None }).collect(),
        ..CatalogEntry::default()
    };
    let policy = SkillPolicy { max_bound_tools_total: 2, max_open_skills: 3, ..SkillPolicy::default() };
    let mut opened = Opened::new();
    let rank = |_: &str, tools: &[ToolHeader]| tools.to_vec();
    opened.open(&entry("full", 2), None, rank, &policy).expect("opens");
    assert!(opened.open(&entry("more", 1), None, rank, &policy).is_err());
    assert!(opened.open(&entry("words", 0), None, rank, &policy).is_ok());
}
