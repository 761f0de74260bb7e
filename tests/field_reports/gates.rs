//! Gates: an edge with a trigger is taken by a result that fires it, and by nothing else (SPEC 5.3).

use serde_json::{Value, json};
use skillgraph::core::turn::{CallRefusal, PickRefusal, ProposalRefusal};
use skillgraph::{Agent, Event, ModelReply, ScriptedModel, Strictness, ToolReply, TurnReport, skill_graph};

use crate::common::{all_text, answer, calls, counts, hops, last_results, pick, succeeds, tool};

skill_graph! {
    #[allow(skillgraph::model_edge_only, skillgraph::no_negative_evidence)]
    graph payments {
        tools { check: dyn, pay_out: dyn }

        skill verify { description: "Find out who asks", body: "Verify body.", tools: [check] }
        skill payout { description: "Pay out", body: "Payout body.", tools: [pay_out] }
        skill audit { description: "Look into it", body: "Audit body.", tools: [check] }
        skill vault { description: "The vault", body: "Vault body.", tools: [pay_out] }

        entry verify;
        entry vault when keywords["vault"] { picked: never }
        route verify -> payout on check where verified == true;
        route audit -> payout on any when |result| result.status == skillgraph::Status::Denied;
        route verify ~> audit;
    }
}

/// The agent, and how often money went out.
fn payments(
    model: &ScriptedModel,
    checked: Value,
    strictness: Strictness,
) -> (Agent, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    let (pay_out, paid) = counts("pay_out");
    let check = tool("check", move |_| ToolReply::success(checked.clone()));
    let agent = payments::agent(payments::Tools { check, pay_out }).model(model.clone()).strictness(strictness);
    (agent.build().expect("an agent"), paid)
}

fn refusals(report: &TurnReport) -> Vec<(String, PickRefusal)> {
    report.route().rejections().iter().map(|rejection| (rejection.requested.clone(), rejection.reason)).collect()
}

const ALL: [Strictness; 3] = [Strictness::Assist, Strictness::Guard, Strictness::Rails];

#[tokio::test]
async fn f100_the_model_cannot_pick_its_way_past_a_guard() {
    for strictness in ALL {
        let script = [pick("a", "payout"), calls([("b", "pay_out", json!({}))]), answer()];
        let model = ScriptedModel::new(script);
        let (agent, paid) = payments(&model, json!({ "verified": false }), strictness);
        let mut conversation = agent.conversation();
        let report = conversation.send("pay me").await.expect("a turn");
        assert_eq!(hops(&report), ["verify by entry", "verify by stay", "verify by stay"]);
        assert_eq!(paid.load(std::sync::atomic::Ordering::SeqCst), 0);
        for request in model.requests() {
            assert!(request.tool("pay_out").is_none());
            assert!(!request.system.contains("Payout body."));
        }
        if strictness != Strictness::Rails {
            assert_eq!(refusals(&report), [("payout".to_owned(), PickRefusal::Gated)]);
            let said = last_results(&model.requests()[1].messages);
            assert_eq!(
                said[0].1,
                "`payout` is not for you to pick: it opens by what a tool returns. From here you can open `audit`, or finish where you are."
            );
        }
    }
}

#[tokio::test]
async fn f100_the_edge_itself_still_leads_on() {
    for strictness in ALL {
        let script = [calls([("a", "check", json!({}))]), calls([("b", "pay_out", json!({}))]), answer()];
        let model = ScriptedModel::new(script);
        let (agent, paid) = payments(&model, json!({ "verified": true }), strictness);
        let report = agent.run("pay me").await.expect("a turn");
        assert_eq!(hops(&report), ["verify by entry", "payout by route", "payout by stay"]);
        assert_eq!(paid.load(std::sync::atomic::Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn f100_a_pick_in_the_message_that_fails_the_guard_opens_nothing() {
    let batch = calls([("a", "check", json!({})), ("b", "read_skill", json!({ "id": "payout" }))]);
    let model = ScriptedModel::new([batch, answer()]);
    let (agent, _) = payments(&model, json!({ "verified": false }), Strictness::Assist);
    let report = agent.run("pay me").await.expect("a turn");
    assert_eq!(hops(&report), ["verify by entry", "verify by stay"]);
}

#[tokio::test]
async fn f100_a_proposal_of_a_tool_is_held_by_the_same_gate() {
    let model = ScriptedModel::new([calls([("a", "check", json!({}))]), answer()]);
    let check = tool("check", |_| {
        ToolReply::success(json!({ "verified": false })).propose_transition("payout", "I would say so")
    });
    let tools = payments::Tools { check, pay_out: succeeds("pay_out") };
    let agent = payments::agent(tools).model(model).build().expect("an agent");
    let report = agent.run("pay me").await.expect("a turn");
    assert_eq!(hops(&report), ["verify by entry", "verify by stay"]);
    let refused = |event: &Event| matches!(event, Event::ProposalRefused { requested, reason: ProposalRefusal::NotReachable, .. } if requested == "payout");
    assert!(report.events.iter().any(refused));
}

/// A closure is a guard like any other, from whatever skill the cursor has come to.
#[tokio::test]
async fn f100_a_detour_does_not_lead_around_the_gate() {
    let model = ScriptedModel::new([pick("a", "audit"), pick("b", "payout"), pick("c", "vault"), answer()]);
    let (agent, _) = payments(&model, json!({ "verified": false }), Strictness::Assist);
    let report = agent.run("pay me").await.expect("a turn");
    assert_eq!(hops(&report), ["verify by entry", "audit by model-pick", "audit by stay", "audit by stay"]);
    // `vault` is an entry that says `picked: never`.
    let expected = [("payout".to_owned(), PickRefusal::Gated), ("vault".to_owned(), PickRefusal::NotReachable)];
    assert_eq!(refusals(&report), expected);
    // Its rule still opens it.
    let model = ScriptedModel::new([answer()]);
    let (agent, _) = payments(&model, json!({}), Strictness::Assist);
    assert_eq!(hops(&agent.run("the vault, please").await.expect("a turn")), ["vault by entry"]);
}

/// `~>` edges are the model's own under `guard`, too; on rails nothing is.
#[tokio::test]
async fn f100_guard_keeps_the_edges_that_are_the_models_own() {
    for (strictness, expected) in [(Strictness::Guard, "audit by model-pick"), (Strictness::Rails, "verify by stay")] {
        let model = ScriptedModel::new([pick("a", "audit"), answer()]);
        let (agent, _) = payments(&model, json!({}), strictness);
        assert_eq!(hops(&agent.run("pay me").await.expect("a turn"))[1], expected);
    }
}

#[tokio::test]
async fn f101_where_no_pick_would_be_admitted_none_is_offered() {
    let model = ScriptedModel::new([pick("a", "audit"), answer()]);
    let (agent, _) = payments(&model, json!({}), Strictness::Rails);
    let report = agent.run("pay me").await.expect("a turn");
    for request in model.requests() {
        assert_eq!(request.tool_names(), ["check"]);
        assert!(!all_text(&request).contains("will be refused"), "{}", all_text(&request));
    }
    let refused = |event: &Event| matches!(event, Event::CallRefused { tool, reason: CallRefusal::NotOffered, .. } if tool == "read_skill");
    assert!(report.events.iter().any(refused));
}

/// A menu that stands is offered under `guard`, and goes when it is resolved.
#[tokio::test]
async fn f101_guard_offers_picks_as_long_as_one_is_admitted() {
    let model = ScriptedModel::new([pick("a", "audit"), ModelReply::text("done")]);
    let (agent, _) = payments(&model, json!({}), Strictness::Guard);
    agent.run("pay me").await.expect("a turn");
    let offered: Vec<bool> = model.requests().iter().map(|request| request.tool("read_skill").is_some()).collect();
    // From `audit` no `~>` edge leads on.
    assert_eq!(offered, [true, false]);
}

#[test]
fn f100_the_drawing_tells_what_may_be_picked() {
    let drawing = payments::GRAPH.to_mermaid();
    assert!(drawing.contains("start -->|\"entry 1: vault, never picked\"| n3"), "{drawing}");
    assert!(drawing.contains("n0 -->|\"on check where verified == true\"| n1"), "{drawing}");
    assert!(drawing.contains("n0 -.->|\"the model's pick\"| n2"), "{drawing}");
}
