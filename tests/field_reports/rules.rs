//! Reports about entry rules: which words they find, and which of them wins. The compiler has run the examples of these
//! graphs on the same rules already.

use serde_json::json;
use skillgraph::core::graph::Graph;
use skillgraph::{GraphSpec, StaticGraph, skill_graph};

/// The skill that a message opens.
fn opened(graph: &StaticGraph, message: &str) -> Option<String> {
    let graph = graph.compiled().expect("compiles");
    let (entry, _) = graph.match_entry(message).won?;
    graph.entry_skill(entry).map(|skill| graph.skill_id(skill).to_string())
}

skill_graph! {
    #[allow(skillgraph::one_way_entries)]
    graph scripts {
        tools { pay: dyn, think: dyn }

        skill refund { description: "Refunds", body: "Pay back.", tools: [pay] }
        skill decide { description: "Decisions", body: "Decide.", tools: [think] }
        skill thai { description: "Refunds in Thai", body: "Pay back.", tools: [pay] }

        entry refund when keywords["refund", "退款", "환불"] {
            examples: ["我要refund一下", "我要退款谢谢", "환불해주세요", "请，refund，谢谢", "REFUND!", "ｒｅｆｕｎｄ"],
        }
        entry decide when keywords["decision"] { examples: ["今日のdecisionについて"] }
        entry thai when keywords["คืนเงิน"] { examples: ["อยากคืนเงินครับ"] }
        never_routes: ["refunds", "prefund", "indecision", "退货"];
    }
}

#[test]
fn b06_keywords_beside_scripts_without_spaces() {
    for (message, skill) in [
        ("我要refund一下", Some("refund")),
        ("我要退款谢谢", Some("refund")),
        ("환불해주세요", Some("refund")),
        ("，refund，", Some("refund")),
        ("今日のdecisionについて", Some("decide")),
        ("อยากคืนเงินครับ", Some("thai")),
        ("refunds", None),
    ] {
        assert_eq!(opened(&scripts::GRAPH, message).as_deref(), skill, "{message}");
    }
}

skill_graph! {
    #[allow(skillgraph::one_way_entries)]
    graph words {
        tools { pay: dyn, think: dyn }

        skill code { description: "Code", body: "Read.", tools: [think] }
        skill plans { description: "Plans", body: "Plan.", tools: [think] }
        skill refunds { description: "Refunds", body: "Pay back.", tools: [pay] }

        entry code when keywords["git", "c++", "code review", "a.b"] {
            examples: ["git", "a C++ question", "a Code  Review, please", "what is a.b?", "re-git it", "git_log"],
        }
        entry plans when keywords["/plan", "a keyword that is longer than most messages are"] {
            examples: ["run /plan now", "/plan"],
        }
        entry refunds when keywords["refund"] { examples: ["a re-refund", "refund_now"] }
        // A hyphen is no white space: who means both spellings writes both.
        never_routes: ["a legitimate refunds policy", "please Code-Review this", "axb", "/planet"];
    }
}

#[test]
fn b07_keywords_are_words_and_punctuation_is_no_edge() {
    for (message, skill) in [
        ("a legitimate refunds policy", None),
        ("run /plan for an hour", Some("plans")),
        ("C++", Some("code")),
        ("please code review this", Some("code")),
        ("please Code-Review this", None),
        ("refund_now", Some("refunds")),
        ("re-refund", Some("refunds")),
        ("axb", None),
    ] {
        assert_eq!(opened(&words::GRAPH, message).as_deref(), skill, "{message}");
    }
}

skill_graph! {
    graph ordered {
        tools { pay: dyn, think: dyn }

        skill billing { description: "Money", body: "Bill.", tools: [pay] }
        skill refunds { description: "Refunds", body: "Pay back.", tools: [pay] }
        skill triage { description: "Start", body: "Ask.", tools: [think] }

        entry refunds when all[keywords["refund"], |message| message.contains('!')];
        entry billing when keywords["refund", "charge"];
        entry triage;
    }
}

#[test]
fn b11_the_first_rule_wins_and_the_drawing_numbers_them() {
    assert_eq!(opened(&ordered::GRAPH, "refund!").as_deref(), Some("refunds"));
    assert_eq!(opened(&ordered::GRAPH, "refund").as_deref(), Some("billing"));
    let drawing = ordered::GRAPH.to_mermaid();
    let places = ["entry 1: ", "entry 2: refund, charge", "default"].map(|label| drawing.find(label).expect(label));
    assert!(places.is_sorted(), "{drawing}");
    // What a closure does is not known: nothing is claimed of the rule behind it.
    let report = ordered::GRAPH.checkup().expect("compiles");
    assert!(report.findings.is_empty(), "{report}");
}

#[test]
fn b11_shadowed_rules_of_data_are_named_with_their_rivals() {
    let skills = ["billing", "refunds", "triage", "shipping"];
    let skills = skills.map(|id| json!({ "id": id, "description": id, "body": id }));
    let spec = |rules: serde_json::Value| -> GraphSpec {
        serde_json::from_value(json!({ "name": "desk", "skills": skills, "entries": rules })).expect("a spec")
    };
    let rules = spec(json!([
        { "skill": "billing", "when": { "keywords": ["refund", "charge"] } },
        { "skill": "refunds", "when": { "keywords": ["refund"] } },
        { "skill": "triage", "when": { "matches": "(?s).*" } },
        { "skill": "shipping", "when": { "matches": "parcel" } },
    ]));
    let report = rules.checkup(&[] as &[&str]);
    let found = |code: &str| {
        let finding = report.findings.iter().find(|finding| finding.code.as_str() == code).expect(code);
        let notes = finding.notes.iter().filter_map(|note| note.at.clone()).collect::<Vec<_>>();
        (finding.at.clone(), finding.skills.clone(), notes)
    };
    let text = |text: &str| text.to_owned();
    assert_eq!(
        found("rule-shadowed"),
        (text("/entries/1/when/keywords"), vec![text("refunds")], vec![text("/entries/0/skill")])
    );
    let everything = (text("/entries/2/when/matches"), vec![text("triage")], vec![text("/entries/3/skill")]);
    assert_eq!(found("rule-matches-everything"), everything);
}

#[test]
fn b14_the_same_message_gets_the_same_answer() {
    let spec: GraphSpec = serde_json::from_value(json!({
        "name": "desk",
        "skills": [{ "id": "billing", "description": "Money", "body": "Bill." }],
        "entries": [{ "skill": "billing", "when": { "matches": "(?i)refund" } }],
    }))
    .expect("a spec");
    let graph = Graph::compile(&spec, &[] as &[&str]).expect("compiles");
    let answers: Vec<_> = (0..100).map(|_| graph.match_entry("a REFUND, please").won).collect();
    assert!(answers.iter().all(|answer| answer.is_some() && *answer == answers[0]));
}

#[test]
fn f75_a_large_drawing_is_shortened_and_says_that_it_is_large() {
    let skills = (0..200).map(
        |at| json!({ "id": format!("s{at}"), "description": "long words ".repeat(90), "body": "b", "tools": ["find"] }),
    );
    let routes = (0..600).map(|at| {
        let edge = |name: &str, of: usize| json!({ name: format!("s{of}") })[name].clone();
        json!({ "from": edge("x", at % 200), "to": edge("x", (at + 1 + at / 200) % 200), "on": ["find"], "is": ["success"] })
    });
    let spec: GraphSpec = serde_json::from_value(json!({
        "name": "large", "skills": skills.collect::<Vec<_>>(), "entries": [{ "skill": "s0" }], "routes": routes.collect::<Vec<_>>(),
    }))
    .expect("a spec");
    let drawing = skillgraph::core::draw::to_mermaid(&spec.declaration(&["find"]));
    assert!(drawing.lines().all(|line| line.chars().count() < 200));
    assert!(drawing.starts_with("flowchart TD\n  %% 601 edges and "), "{}", &drawing[..120]);
    assert!(drawing.contains("raise maxEdges and maxTextSize"));
}

#[test]
fn f76_a_graph_with_mistakes_is_drawn_with_them() {
    let spec: GraphSpec = serde_json::from_value(json!({
        "name": "wrong",
        "skills": [{ "id": "desk", "description": "Start", "body": "b", "tools": ["find"] }],
        "entries": [{ "skill": "desk" }, { "skill": "dsk", "when": { "keywords": ["x"] } }],
        "routes": [{ "from": "desk", "to": "nowhere", "on": ["find"] }, { "from": "nowhere", "to": "dsk", "pick": true }],
    }))
    .expect("a spec");
    let drawing = skillgraph::core::draw::to_mermaid(&spec.declaration(&["find"]));
    assert!(
        drawing.contains("u0[\"dsk<br/>(not declared)\"]") && drawing.contains("u1[\"nowhere<br/>(not declared)\"]"),
        "{drawing}"
    );
    assert!(
        drawing.contains("n0 -->|\"on find\"| u1") && drawing.contains("u1 -.->|\"the model's pick\"| u0"),
        "{drawing}"
    );
    assert!(drawing.contains("start -->|\"entry 1: x\"| u0"), "{drawing}");
}

#[test]
fn f66_a_name_that_is_declared_twice_is_listed_once() {
    let skill = |id: &str| json!({ "id": id, "description": id, "body": "b", "tools": ["find"] });
    let spec: GraphSpec = serde_json::from_value(json!({
        "name": "twice",
        "skills": [skill("billing"), skill("billing")],
        "entries": [{ "skill": "billing" }, { "skill": "zzz", "when": { "keywords": ["x"] } }],
    }))
    .expect("a spec");
    let report = Graph::compile(&spec, &["find"]).expect_err("refused").to_string();
    assert!(report.contains("`billing`"), "{report}");
    assert!(!report.contains("`billing`, and `billing`") && !report.contains("`billing` and `billing`"), "{report}");
}
