//! Who may see which skill and run which tool (SPEC 9): what may not be seen is nowhere, and no answer is a no.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{all_text, answer, assert_paired, calls, counts, hops, last_results, pick, succeeds};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use skillgraph::{
    AgentBuilder, Authorizer, AuthorizerError, BuildError, Capability, Continuity, Decision, Event, Identity,
    ModelReply, PickRefusal, Role, RoleAuthorizer, ScriptedModel, Status, Strictness, Target, ToolReply, TurnReport,
    skill_graph,
};

skill_graph! {
    #[allow(skillgraph::skill_wraps_one_tool, skillgraph::one_way_entries, skillgraph::no_negative_evidence)]
    #[allow(skillgraph::few_declared_edges, skillgraph::unreachable_skill, skillgraph::ambiguous_routes)]
    #[allow(skillgraph::overlapping_keywords)]
    graph desk {
        tools { find: dyn, refund: dyn, audit: dyn }

        skill triage { description: "Start here", body: "Ask.", tools: [find] }
        skill billing { description: "Money", body: "Count.", tools: [refund] }
        skill orders { description: "Parcels", body: "Look.", tools: [find] }
        skill vault { description: "Keys", body: "Guard.", tools: [audit], scope: always }
        skill handbook { description: "How it is done", body: "Read." }

        entry triage;
        entry billing when keywords["refund"];
        entry orders when keywords["refund", "parcel"];
        entry vault when intent("the keys of the house", ["give me the keys"]);
        classify: keyword;
        route triage -> billing on find;
        route triage -> orders on find;
        route billing -> triage on refund is denied;
    }
}

fn agent(model: &ScriptedModel, authorizer: impl Authorizer) -> AgentBuilder {
    let tools = desk::Tools { find: succeeds("find"), refund: succeeds("refund"), audit: succeeds("audit") };
    desk::agent(tools).model(model.clone()).authorizer(authorizer)
}

/// A clerk sees neither money nor keys, and refunds nothing.
fn roles() -> RoleAuthorizer {
    RoleAuthorizer::new().role("manager", Role::everything()).role(
        "clerk",
        Role::new().skills([desk::skill::triage, desk::skill::orders, desk::skill::handbook]).tools([desk::tool::find]),
    )
}

fn clerk() -> Identity {
    Identity::new("ada").role("clerk")
}

fn manager() -> Identity {
    Identity::new("grace").role("manager")
}

async fn run(builder: AgentBuilder, who: Identity, message: &str) -> TurnReport {
    let agent = builder.build().expect("an agent");
    agent.conversation().with_identity(who).send(message).await.expect("a turn")
}

/// What the decision of an iteration would have led to.
fn hidden(report: &TurnReport, hop: usize) -> Vec<String> {
    report.route().hops()[hop].hidden.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_hidden_skill_is_in_no_byte_that_the_model_reads() {
    let model = ScriptedModel::new([
        calls([
            ("a", "list_skills", json!({})),
            ("b", "read_skill", json!({ "id": "billing" })),
            ("c", "audit", json!({})),
            ("d", "read_skill", json!({ "id": "orders" })),
        ]),
        answer(),
    ]);
    let report = run(agent(&model, roles()), clerk(), "hello").await;
    for request in model.requests() {
        let text = all_text(&request);
        for word in ["billing", "Money", "vault", "Keys", "refund"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
        let schema = &request.tool("read_skill").expect("offered").parameters;
        assert_eq!(schema["properties"]["id"]["enum"], json!(["triage", "orders", "handbook"]));
        // Nor the tools that only a hidden skill brings, even if it brings them always.
        assert!(request.tool("audit").is_none());
    }
    // The model's guess reads as any id that does not exist; the record knows better.
    let results = last_results(&model.requests()[1].messages);
    assert_eq!(
        results[1].1,
        "There is no skill with that id. From here you can open `orders`, `handbook`, or finish where you are."
    );
    assert_eq!(report.route().rejections()[0].reason, PickRefusal::Hidden);
    assert_eq!(report.route().rejections()[0].allowed, ["orders", "handbook"]);
    let Some(Event::SkillsHidden { iteration: 0, skills }) = report.events.get(1) else { panic!("{report:?}") };
    assert_eq!(skills[0].skill, "billing");
    assert_eq!(skills[0].reason, "no role of the user grants skill_read");
    assert_eq!(report.cursor, Some(desk::skill::orders));
}

#[tokio::test]
async fn a_guess_and_an_unknown_id_are_answered_alike() {
    let answers = ["billing", "no-such"].map(|asked| async move {
        let model = ScriptedModel::new([pick("a", asked), answer()]);
        let agent = agent(&model, roles()).build().expect("an agent");
        let mut conversation = agent.conversation().with_identity(clerk());
        conversation.send("hello").await.expect("a turn");
        last_results(&conversation.transcript())
    });
    let [hidden, unknown] = answers;
    let (hidden, unknown) = (hidden.await, unknown.await);
    assert_eq!(hidden, unknown);
    assert_eq!(
        hidden[0].1,
        "There is no skill with that id. From here you can open `orders`, `handbook`, or finish where you are."
    );
}

#[tokio::test]
async fn rules_edges_and_scores_pass_a_hidden_skill_by_and_say_so() {
    let find = || calls([("a", "find", json!({}))]);
    // Two rules claim the message; the first opens what the clerk may not see.
    let report = run(agent(&ScriptedModel::new([answer()]), roles()), clerk(), "a refund").await;
    assert_eq!(hops(&report), ["orders by entry"]);
    assert_eq!(hidden(&report, 0), ["billing"]);
    // Two edges fire; the first leads there.
    let report = run(agent(&ScriptedModel::new([find(), answer()]), roles()), clerk(), "hello").await;
    assert_eq!(hops(&report), ["triage by entry", "orders by route"]);
    assert_eq!(hidden(&report, 1), ["billing"]);
    // The scorer is not asked about it.
    let report = run(agent(&ScriptedModel::new([answer()]), roles()), clerk(), "give me the keys").await;
    assert_eq!(hops(&report), ["triage by entry"]);
    assert!(!format!("{:?}", report.events).contains("TurnRouted(TurnRouted { from: None, to: Some(SkillId(\"vault"));
    // Whoever may, does.
    let report = run(agent(&ScriptedModel::new([find(), answer()]), roles()), manager(), "hello").await;
    assert_eq!(hops(&report), ["triage by entry", "billing by route"]);
    assert!(hidden(&report, 1).is_empty());
}

#[tokio::test]
async fn a_hidden_default_leaves_the_turn_without_a_cursor() {
    let only = |skills: &[&'static str]| RoleAuthorizer::new().role("clerk", Role::new().skills(skills.to_vec()));
    let report = run(agent(&ScriptedModel::new([answer()]), only(&["orders", "billing"])), clerk(), "hello").await;
    assert_eq!(hops(&report), ["- by none"]);
    assert_eq!(hidden(&report, 0), ["triage"]);
    // Nobody's role: nothing is there, and the turn runs all the same.
    let model = ScriptedModel::new([pick("a", "triage"), answer()]);
    let report = run(agent(&model, only(&[])), Identity::default(), "hello").await;
    assert_eq!(report.text(), Some("done"));
    assert_eq!(model.requests()[0].tool_names(), Vec::<&str>::new());
    assert_eq!(model.requests()[0].system, "");
}

#[tokio::test]
async fn what_was_open_and_is_hidden_in_the_next_turn_is_dropped_and_unsaid() {
    let who = Arc::new(Mutex::new(true));
    struct Switch(Arc<Mutex<bool>>);
    impl Authorizer for Switch {
        async fn check(&self, _: &Capability, target: &Target, _: &Identity) -> Result<Decision, AuthorizerError> {
            let seen = *self.0.lock().expect("a lock");
            let hidden = matches!(target, Target::Skill(skill) if *skill == "billing") && !seen;
            Ok(if hidden { Decision::denied("not any more") } else { Decision::Allowed })
        }
    }
    let model = ScriptedModel::new([pick("a", "billing"), answer(), pick("b", "orders"), answer(), answer()]);
    let agent = agent(&model, Switch(who.clone())).continuity(Continuity::Conversation).build().expect("an agent");
    let mut conversation = agent.conversation();
    conversation.send("hello").await.expect("a turn");
    conversation.send("go on").await.expect("a turn");
    *who.lock().expect("a lock") = false;
    // The model's pick of `orders` was answered with where the cursor was.
    let report = conversation.send("go on").await.expect("a turn");
    let text = all_text(&model.requests()[4]);
    assert!(!text.contains("billing") && !text.contains("Count."), "{text}");
    assert_eq!(hops(&report)[0], "orders by continuity");
    // The conversation itself is as it was.
    assert!(serde_json::to_string(&conversation.transcript()).expect("JSON").contains("billing"));
    assert_paired(&model.requests()[4].messages);
}

#[tokio::test]
async fn a_hidden_cursor_of_the_last_turn_is_dropped_to_a_cold_start() {
    let seen = Arc::new(AtomicUsize::new(0));
    struct Once(Arc<AtomicUsize>);
    impl Authorizer for Once {
        async fn check(&self, _: &Capability, target: &Target, _: &Identity) -> Result<Decision, AuthorizerError> {
            let is_billing = matches!(target, Target::Skill(skill) if *skill == "billing");
            let times = if is_billing { self.0.fetch_add(1, Ordering::SeqCst) } else { 0 };
            Ok(if times > 0 { Decision::denied("once is enough") } else { Decision::Allowed })
        }
    }
    let model = ScriptedModel::new([answer(), answer()]);
    let agent = agent(&model, Once(seen)).continuity(Continuity::Conversation).build().expect("an agent");
    let mut conversation = agent.conversation();
    assert_eq!(hops(&conversation.send("refund").await.expect("a turn")), ["billing by entry"]);
    let report = conversation.send("and?").await.expect("a turn");
    assert_eq!(hops(&report), ["triage by entry"]);
    assert_eq!(hidden(&report, 0), ["billing"]);
    let routed = report.events.iter().find_map(|event| match event {
        Event::TurnRouted(routed) => Some(routed.dropped.clone()),
        _ => None,
    });
    assert_eq!(routed, Some(Some("billing".to_owned())));
}

#[tokio::test]
async fn a_call_is_permitted_with_its_arguments_and_a_denial_is_evidence() {
    struct Small;
    impl Authorizer for Small {
        async fn check(
            &self,
            capability: &Capability,
            target: &Target,
            who: &Identity,
        ) -> Result<Decision, AuthorizerError> {
            let Target::Call { tool, arguments, call_id } = target else { return Ok(Decision::Allowed) };
            assert_eq!((capability, who.subject()), (&Capability::ToolCall, "ada"));
            assert!(!call_id.is_empty());
            let small = *tool != "refund" || arguments["amount"].as_u64().is_some_and(|amount| amount <= 50);
            Ok(if small { Decision::Allowed } else { Decision::denied("more than 50 needs a manager") })
        }
    }
    let (refund, runs) = counts("refund");
    let refunds = |amount: u64| calls([("a", "refund", json!({ "amount": amount }))]);
    let model = ScriptedModel::new([refunds(20), refunds(500), answer()]);
    let tools = desk::Tools { find: succeeds("find"), refund, audit: succeeds("audit") };
    let agent = desk::agent(tools).model(model.clone()).authorizer(Small).build().expect("an agent");
    let mut conversation = agent.conversation().with_identity(clerk());
    let report = conversation.send("refund").await.expect("a turn");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    // `route billing -> triage on refund is denied`
    assert_eq!(hops(&report), ["billing by entry", "billing by stay", "triage by route"]);
    let results = last_results(&conversation.transcript());
    assert_eq!(results[0].1, "`refund` was not run: it is not permitted (more than 50 needs a manager).");
    // It stays offered: the next one may be smaller.
    assert!(model.requests()[1].tool("refund").is_some());
    let started = report.events.iter().filter(|event| matches!(event, Event::ToolStarted { .. })).count();
    assert_eq!(started, 1);
}

#[tokio::test(start_paused = true)]
async fn an_authorizer_that_fails_panics_or_does_not_answer_says_no() {
    #[derive(Clone, Copy, Debug)]
    enum Broken {
        Fails,
        Panics,
        Hangs,
    }
    impl Authorizer for Broken {
        async fn check(&self, _: &Capability, target: &Target, _: &Identity) -> Result<Decision, AuthorizerError> {
            let about = match target {
                Target::Skill(skill) => *skill == "billing",
                Target::Call { .. } => true,
                _ => false,
            };
            match self {
                _ if !about => Ok(Decision::Allowed),
                Broken::Fails => Err(AuthorizerError::new("the directory is away")),
                Broken::Panics => panic!("a mistake"),
                Broken::Hangs => std::future::pending().await,
            }
        }
    }
    for (broken, reason) in [
        (Broken::Fails, "the authorizer could not tell: the directory is away"),
        (Broken::Panics, "the authorizer failed unexpectedly"),
        (Broken::Hangs, "the authorizer did not answer within 2 seconds"),
    ] {
        let (find, runs) = counts("find");
        let model = ScriptedModel::new([calls([("a", "find", json!({}))]), answer()]);
        let tools = desk::Tools { find, refund: succeeds("refund"), audit: succeeds("audit") };
        let agent = desk::agent(tools).model(model.clone()).authorizer(broken);
        let agent = agent.authorizer_timeout(Duration::from_secs(2)).build().expect("an agent");
        let mut conversation = agent.conversation();
        let report = conversation.send("hello").await.expect("a turn");
        assert_eq!(runs.load(Ordering::SeqCst), 0, "{broken:?}");
        assert!(!all_text(&model.requests()[0]).contains("billing"), "{broken:?}");
        let results = last_results(&conversation.transcript());
        assert_eq!(results[0].1, format!("`find` was not run: it is not permitted ({reason})."));
        let Some(Event::SkillsHidden { skills, .. }) = report.events.get(1) else { panic!("{report:?}") };
        assert_eq!(skills[0].reason, reason);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Amount {
    amount: u32,
}

/// Pays.
#[skillgraph::tool(capabilities("payments.write", "ledger.read"))]
async fn pay(args: Amount) -> Result<u32, std::io::Error> {
    Ok(args.amount)
}

skill_graph! {
    graph till {
        tools { pay: Pay }
        skill money { description: "Money", body: "Count.", tools: [pay] }
        entry money;
    }
}

#[tokio::test]
async fn what_a_tool_declares_is_asked_too_and_bad_arguments_ask_nobody() {
    #[derive(Clone, Default)]
    struct Asked(Arc<Mutex<Vec<String>>>);
    impl Authorizer for Asked {
        async fn check(
            &self,
            capability: &Capability,
            target: &Target,
            _: &Identity,
        ) -> Result<Decision, AuthorizerError> {
            if let Target::Call { call_id, .. } = target {
                self.0.lock().expect("a lock").push(format!("{call_id} {capability}"));
            }
            Ok(match capability.as_str() {
                "ledger.read" => Decision::denied("the ledger is closed"),
                _ => Decision::Allowed,
            })
        }
    }
    let asked = Asked::default();
    let model = ScriptedModel::new([
        calls([("a", "pay", json!({ "amount": "much" })), ("b", "pay", json!({ "amount": 3 }))]),
        answer(),
    ]);
    let agent = till::agent(till::Tools { pay: Pay }).model(model).authorizer(asked.clone()).build().expect("an agent");
    let mut conversation = agent.conversation();
    conversation.send("pay").await.expect("a turn");
    let mut questions = asked.0.lock().expect("a lock").clone();
    questions.sort();
    assert_eq!(questions, ["b ledger.read", "b payments.write", "b tool_call"]);
    let results = last_results(&conversation.transcript());
    assert!(results[0].1.starts_with("`pay` was not run: in `amount`: invalid type"), "{}", results[0].1);
    assert_eq!(results[1].1, "`pay` was not run: it is not permitted (the ledger is closed).");
}

#[tokio::test]
async fn a_role_grants_what_tools_declare_on_its_own() {
    let pays = |role: Role| async move {
        let model = ScriptedModel::new([calls([("a", "pay", json!({ "amount": 3 }))]), answer()]);
        let roles = RoleAuthorizer::new().role("clerk", role.all_skills().all_tools());
        let agent = till::agent(till::Tools { pay: Pay }).model(model).authorizer(roles).build().expect("an agent");
        let mut conversation = agent.conversation().with_identity(clerk());
        conversation.send("pay").await.expect("a turn");
        last_results(&conversation.transcript())[0].1.clone()
    };
    let refused = "`pay` was not run: it is not permitted (no role of the user grants ledger.read).";
    assert_eq!(pays(Role::new().capabilities(["payments.write"])).await, refused);
    assert_eq!(pays(Role::new().capabilities(["payments.write", "ledger.read"])).await, "3");
}

#[test]
fn a_tool_that_needs_something_needs_somebody_to_ask() {
    let error = till::agent(till::Tools { pay: Pay }).model(ScriptedModel::new([])).build().expect_err("nobody");
    assert!(matches!(error, BuildError::NoAuthorizer { .. }));
    assert_eq!(
        error.to_string(),
        "the tool `pay` needs `payments.write`, and nobody decides who has it: give the agent an authorizer with \
         `.authorizer(…)`"
    );
}

#[tokio::test]
async fn a_tool_proposes_what_may_not_be_seen_and_knows_whom_it_serves() {
    let proposes = skillgraph::DynTool::new("find", "Finds.", json!({ "type": "object" }), |_, context| async move {
        let words = format!("for {}", context.identity().subject());
        Ok::<_, std::io::Error>(ToolReply::success(json!(words)).propose_transition("vault", "keys"))
    });
    let tools = desk::Tools { find: proposes, refund: succeeds("refund"), audit: succeeds("audit") };
    let model = ScriptedModel::new([calls([("a", "find", json!({}))]), answer()]);
    let agent = desk::agent(tools).model(model).authorizer(roles()).build().expect("an agent");
    let mut conversation = agent.conversation().with_identity(clerk());
    let report = conversation.send("parcel").await.expect("a turn");
    assert_eq!(last_results(&conversation.transcript())[0].1, "for ada");
    assert_eq!(hops(&report), ["orders by entry", "orders by stay"]);
    assert!(
        report
            .events
            .iter()
            .any(|event| matches!(event, Event::ProposalRefused { requested, .. } if requested == "vault"))
    );
}

skill_graph! {
    graph forked {
        skill left { description: "Left", body: "Left.", }
        skill right { description: "Right", body: "Right." }
        tree { if keywords["left"] { left } else { right } }
    }
}

#[tokio::test]
async fn a_tree_whose_leaf_is_hidden_opens_nothing() {
    let roles = RoleAuthorizer::new().role("clerk", Role::new().skills([forked::skill::right]));
    let agent = forked::agent(forked::Tools {}).model(ScriptedModel::new([answer(), answer()])).authorizer(roles);
    let agent = agent.build().expect("an agent");
    let mut conversation = agent.conversation().with_identity(clerk());
    let report = conversation.send("to the left").await.expect("a turn");
    assert_eq!((hops(&report), hidden(&report, 0)), (vec!["- by none".to_owned()], vec!["left".to_owned()]));
    let report = conversation.send("to the right").await.expect("a turn");
    assert_eq!(report.cursor, Some(forked::skill::right));
}

skill_graph! {
    graph menus {
        skill a_menu { description: "A", body: "A." }
        skill b_menu { description: "B", body: "B." }
        entry a_menu when picked;
        entry b_menu when picked;
    }
}

#[tokio::test]
async fn a_menu_of_one_can_be_taken_under_every_strictness() {
    let roles = || RoleAuthorizer::new().role("clerk", Role::new().skills([menus::skill::b_menu]));
    for strictness in [Strictness::Assist, Strictness::Guard] {
        let model = ScriptedModel::new([pick("p", "b-menu"), answer()]);
        let agent = menus::agent(menus::Tools {}).model(model.clone()).authorizer(roles()).strictness(strictness);
        let report = run(agent, clerk(), "hello").await;
        assert!(model.requests()[0].system.contains("- `b-menu`: B"), "{}", model.requests()[0].system);
        assert!(!all_text(&model.requests()[0]).contains("a-menu"));
        assert_eq!(report.cursor, Some(menus::skill::b_menu), "{strictness:?}");
    }
    let model = ScriptedModel::new([answer()]);
    let agent = menus::agent(menus::Tools {}).model(model.clone()).authorizer(roles()).strictness(Strictness::Rails);
    run(agent, clerk(), "hello").await;
    assert_eq!(model.requests()[0].tool_names(), Vec::<&str>::new());
}

#[tokio::test]
async fn without_an_authorizer_nobody_is_asked() {
    let model = ScriptedModel::new([calls([("a", "refund", json!({}))]), ModelReply::text("done")]);
    let tools = desk::Tools { find: succeeds("find"), refund: succeeds("refund"), audit: succeeds("audit") };
    let report = desk::agent(tools).model(model).build().expect("an agent").run("refund").await.expect("a turn");
    let returned = report.events.iter().find_map(|event| match event {
        Event::ToolReturned { status, .. } => Some(*status),
        _ => None,
    });
    assert_eq!(returned, Some(Status::Success));
}
