//! Turns against a server that speaks four providers' formats, does what endpoints do, and refuses what strict ones refuse.
//! Whatever happened, the next turn of the conversation is taken.

mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use server::{Act, End, Format, Reply, Server};
use skillgraph::{
    Agent, Conversation, DynTool, Event, Message, Outcome, Piece, RunError, StopReason, StreamItem, ToolReply, Usage,
    skill_graph,
};
use skillgraph_genai::{GenaiModel, GenaiModelBuilder, Provider};

skill_graph! {
    pub graph desk {
        tools { lookup: dyn, pay: dyn, rest: dyn }
        skill triage { description: "Start", body: "Look first.", tools: [lookup, rest] }
        skill billing { description: "Money", body: "Pay what is owed.", tools: [pay] }
        entry triage;
        route triage -> billing on lookup;
    }
}

fn model(server: &Server, format: Format) -> GenaiModelBuilder {
    let model = GenaiModel::new("m").endpoint(&server.url).provider(format.provider()).key("secret");
    model.backoff(Duration::from_millis(1)).silence(Duration::from_secs(20))
}

/// An agent, and how often its tools ran.
fn agent(model: GenaiModelBuilder) -> (Agent, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let tool = |name: &str| {
        let runs = runs.clone();
        let parameters = json!({ "type": "object", "properties": { "order": { "type": "integer" } } });
        DynTool::new(name, "Works.", parameters, move |arguments, _| {
            runs.fetch_add(1, Ordering::SeqCst);
            async move { Ok::<_, std::convert::Infallible>(ToolReply::success(arguments)) }
        })
    };
    let tools = desk::Tools { lookup: tool("lookup"), pay: tool("pay"), rest: tool("rest") };
    let agent = desk::agent(tools).model(model.build().expect("a model")).build().expect("an agent");
    (agent, runs)
}

fn says(text: &'static str) -> Act {
    Act::Reply(Reply { text, ..Reply::default() })
}

fn calls(calls: &[(&'static str, &'static str)]) -> Act {
    Act::Reply(Reply { calls: calls.to_vec(), ..Reply::default() })
}

fn results(conversation: &Conversation) -> Vec<String> {
    let transcript = conversation.transcript();
    let results = transcript.iter().filter_map(|message| match message {
        Message::ToolResults { results } => Some(results),
        _ => None,
    });
    results.flatten().map(|result| result.text.clone()).collect()
}

/// The next turn is taken, and nothing before it was refused.
async fn goes_on(conversation: &mut Conversation, server: &Server) {
    let report = conversation.send("and now?").await;
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(report.expect("a turn").text(), Some("still here"), "{:#?}", server.requests().last());
}

#[tokio::test]
async fn b24_several_calls_of_a_message_are_answered_together_in_their_order() {
    for format in Format::ALL {
        let acts = [
            calls(&[("lookup", r#"{"order":7}"#), ("rest", r#"{"order":1}"#), ("lookup", r#"{"order":8}"#)]),
            says("Two orders."),
            says("still here"),
        ];
        let server = Server::start(format, acts).await;
        let (agent, runs) = agent(model(&server, format));
        let mut conversation = agent.conversation();
        let report = conversation.send("orders 7 and 8?").await.expect("a turn");
        assert_eq!(report.text(), Some("Two orders."), "{format:?}");
        assert_eq!(results(&conversation), [r#"{"order":7}"#, r#"{"order":1}"#, r#"{"order":8}"#], "{format:?}");
        assert_eq!(runs.load(Ordering::SeqCst), 3);
        let usage = Some(Usage { input_tokens: 11, output_tokens: 5 });
        let counted = |event: &Event| matches!(event, Event::ModelReplied { usage: seen, .. } if *seen == usage);
        assert!(report.events.iter().any(counted), "{format:?}: {:?}", report.events);
        goes_on(&mut conversation, &server).await;
    }
}

#[tokio::test]
async fn b25_blank_arguments_are_those_of_a_tool_that_takes_none() {
    for format in Format::ALL {
        for blank in ["", " ", "{}"] {
            let server = Server::start(format, [calls(&[("rest", blank)]), says("Rested."), says("still here")]).await;
            let (agent, runs) = agent(model(&server, format));
            let mut conversation = agent.conversation();
            let report = conversation.send("rest").await.expect("a turn");
            assert_eq!(report.text(), Some("Rested."), "{format:?} {blank:?}");
            assert_eq!(
                (results(&conversation), runs.load(Ordering::SeqCst)),
                (vec!["{}".to_owned()], 1),
                "{format:?} {blank:?}"
            );
            goes_on(&mut conversation, &server).await;
        }
    }
}

#[tokio::test]
async fn b27_calls_decide_whether_a_turn_goes_on_and_not_the_reason_to_stop() {
    for format in Format::ALL {
        let calls_with =
            |stop| Act::Reply(Reply { calls: vec![("lookup", r#"{"order":7}"#)], stop: Some(stop), text: "" });
        let mut acts = vec![
            calls_with(format.done()),
            calls_with("galaxy_brained"),
            Act::Reply(Reply { text: "Done.", stop: Some("novel_reason"), calls: vec![] }),
        ];
        if format.calls() != format.done() {
            // Calls are promised, and none is there: that is no reply, and is asked for again.
            acts.push(Act::Reply(Reply { text: "Wait.", stop: Some(format.calls()), calls: vec![] }));
        }
        acts.extend([says("Nothing to call."), says("still here")]);
        let server = Server::start(format, acts).await;
        let (agent, _) = agent(model(&server, format));
        let mut conversation = agent.conversation();
        let report = conversation.send("order 7?").await.expect("a turn");
        assert_eq!(report.text(), Some("Done."), "{format:?}");
        let stops: Vec<StopReason> = report
            .events
            .iter()
            .filter_map(|event| match event {
                Event::ModelReplied { stop, .. } => Some(stop.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(stops[1], StopReason::Other("galaxy_brained".into()), "{format:?}: kept as it is");
        assert_eq!(stops[2], StopReason::Other("novel_reason".into()));
        let report = conversation.send("and?").await.expect("a turn");
        assert_eq!(report.text(), Some("Nothing to call."), "{format:?}");
        goes_on(&mut conversation, &server).await;
    }
}

#[tokio::test]
async fn b29_what_a_model_calls_by_an_illegal_name_is_sent_back_by_a_legal_one() {
    for format in Format::ALL {
        let long = "x".repeat(70);
        let long: &'static str = Box::leak(long.into_boxed_str());
        let acts = [calls(&[("look.up/it", "{}"), (long, "{}"), ("lookup", "{}")]), says("No."), says("still here")];
        let server = Server::start(format, acts).await;
        let (agent, runs) = agent(model(&server, format));
        let mut conversation = agent.conversation();
        conversation.send("look").await.expect("a turn");
        assert_eq!(runs.load(Ordering::SeqCst), 1, "{format:?}: only what was offered runs");
        assert!(results(&conversation)[0].starts_with("`look.up/it` is not available here."), "{format:?}");
        goes_on(&mut conversation, &server).await;
    }
}

#[tokio::test]
async fn a_call_that_the_limit_cut_off_does_not_run() {
    // Ollama and Gemini send calls whole.
    for format in [Format::OpenAi, Format::Anthropic] {
        let cut = Reply {
            text: "",
            calls: vec![("lookup", r#"{"order":7}"#), ("rest", r#"{"ord"#)],
            stop: Some(format.cut_off()),
        };
        let server = Server::start(format, [Act::Reply(cut), says("Order 7."), says("still here")]).await;
        let (agent, runs) = agent(model(&server, format));
        let mut conversation = agent.conversation();
        let report = conversation.send("order 7?").await.expect("a turn");
        assert_eq!(report.text(), Some("Order 7."), "{format:?}");
        assert_eq!(runs.load(Ordering::SeqCst), 1, "{format:?}");
        assert!(
            results(&conversation)[1].contains("ended at the token limit inside this call"),
            "{:?}",
            results(&conversation)
        );
        goes_on(&mut conversation, &server).await;
    }
}

#[tokio::test]
async fn an_answer_that_the_limit_cut_off_says_so() {
    for format in Format::ALL {
        let cut = Act::Reply(Reply { text: "It is", stop: Some(format.cut_off()), calls: vec![] });
        let server = Server::start(format, [cut, says("still here")]).await;
        let (agent, _) = agent(model(&server, format));
        let mut conversation = agent.conversation();
        let report = conversation.send("what is it?").await.expect("a turn");
        assert_eq!(report.outcome, Outcome::Truncated { text: "It is".into() }, "{format:?}");
        goes_on(&mut conversation, &server).await;
    }
}

#[tokio::test]
async fn a_reply_that_was_refused_runs_nothing() {
    for (format, stop) in
        [(Format::OpenAi, "content_filter"), (Format::Anthropic, "refusal"), (Format::Gemini, "SAFETY")]
    {
        let refused =
            Reply { text: "I would rather not.", calls: vec![("lookup", r#"{"order":7}"#)], stop: Some(stop) };
        let server = Server::start(format, [Act::Reply(refused), says("still here")]).await;
        let (agent, runs) = agent(model(&server, format));
        let mut conversation = agent.conversation();
        let report = conversation.send("order 7?").await.expect("a turn");
        assert_eq!(report.outcome, Outcome::Refused { text: "I would rather not.".into() }, "{format:?}");
        assert_eq!(runs.load(Ordering::SeqCst), 0, "{format:?}");
        goes_on(&mut conversation, &server).await;
    }
}

#[tokio::test]
async fn what_fails_for_the_moment_is_tried_again_and_no_tool_runs_twice() {
    for format in Format::ALL {
        let acts = [
            calls(&[("lookup", r#"{"order":7}"#)]),
            Act::Status(429, vec![("retry-after-ms", "2")], r#"{"error":{"message":"slow down"}}"#),
            Act::Status(503, vec![], "busy"),
            says("Order 7."),
            says("still here"),
        ];
        let server = Server::start(format, acts).await;
        // The wait is the one that was asked for: with the other this test would not end.
        let (agent, runs) = agent(model(&server, format).backoff(Duration::from_millis(1)));
        let mut conversation = agent.conversation();
        let report = conversation.send("order 7?").await.expect("a turn");
        assert_eq!(report.text(), Some("Order 7."), "{format:?}");
        assert_eq!((runs.load(Ordering::SeqCst), server.requests().len()), (1, 4), "{format:?}");
        goes_on(&mut conversation, &server).await;
    }
}

#[tokio::test]
async fn the_wait_is_the_one_that_the_endpoint_asks_for() {
    for format in Format::ALL {
        let slow = Act::Status(429, vec![("retry-after-ms", "1")], "slow down");
        let server = Server::start(format, [slow, says("Hello.")]).await;
        // Its own wait would be an hour.
        let (agent, _) = agent(model(&server, format).backoff(Duration::from_secs(3_600)));
        assert_eq!(agent.run("hello").await.expect("a turn").text(), Some("Hello."), "{format:?}");
        // Whoever asks for more than is waited for has refused.
        let server = Server::start(format, [Act::Status(429, vec![("retry-after", "3600")], "come back later")]).await;
        let (agent, _) = self::agent(model(&server, format));
        let error = agent.run("hello").await.expect_err("a refusal").to_string();
        assert!(error.contains("`m` answered with status 429") && error.contains("come back later"), "{error}");
        assert!(!error.contains("secret"));
    }
}

#[tokio::test]
async fn what_stays_broken_ends_the_turn_and_not_the_conversation() {
    for format in Format::ALL {
        let broken = Act::Status(500, vec![], r#"{"error":{"message":"no luck"}}"#);
        let refused = Act::Status(401, vec![], r#"{"error":{"message":"bad key"}}"#);
        let acts = [broken.clone(), broken.clone(), broken, refused, says("still here")];
        let server = Server::start(format, acts).await;
        let (agent, _) = agent(model(&server, format).retries(2));
        let mut conversation = agent.conversation();
        let error = conversation.send("hello").await.expect_err("an error").to_string();
        assert!(
            error.contains("`m` answered with status 500") && error.ends_with("tried 3 times"),
            "{format:?}: {error}"
        );
        let error = conversation.send("hello?").await.expect_err("an error").to_string();
        assert!(error.contains("status 401") && !error.contains("tried"), "a bad key is not tried again: {error}");
        goes_on(&mut conversation, &server).await;
    }
}

#[tokio::test]
async fn what_is_no_reply_is_asked_for_again_and_then_an_error() {
    for format in Format::ALL {
        let garbage = Act::Raw(
            vec!["data: {\"choices\": [\n\n<html>\n\n".into(), "event: x\ndata: {oops\n\n".into()],
            End::Closed,
        );
        let server =
            Server::start(format, [garbage.clone(), says("Hello."), garbage.clone(), garbage, says("still here")])
                .await;
        let (agent, _) = agent(model(&server, format).retries(1));
        let mut conversation = agent.conversation();
        assert_eq!(conversation.send("hello").await.expect("a turn").text(), Some("Hello."), "{format:?}");
        let error = conversation.send("hello?").await.expect_err("an error");
        assert!(
            matches!(&error, RunError::Model { error, .. } if error.to_string().starts_with("`m` ") && error.to_string().ends_with("tried 2 times")),
            "{format:?}: {error}"
        );
        goes_on(&mut conversation, &server).await;
    }
}

#[tokio::test]
async fn a_connection_that_breaks_in_a_reply_is_no_reply() {
    for format in Format::ALL {
        for end in [End::Broken, End::Closed] {
            let half = || Act::Half(Reply { text: "It is seven.", ..Reply::default() }, end);
            // Nobody watches: the reply is asked for again.
            let server = Server::start(format, [half(), says("It is seven."), half(), says("still here")]).await;
            let (agent, _) = agent(model(&server, format).retries(1));
            let mut conversation = agent.conversation();
            let report = conversation.send("how many?").await.expect("a turn");
            assert_eq!(report.text(), Some("It is seven."), "{format:?} {end:?}");
            // Somebody has read the half of it: it cannot be taken back, and is not said twice.
            let mut pieces = String::new();
            let mut stream = conversation.stream("sure?");
            let mut ended = None;
            while let Some(item) = stream.next().await {
                match item {
                    StreamItem::Piece(Piece::Text(text)) => pieces.push_str(&text),
                    StreamItem::Ended(result) => ended = Some(result),
                    _ => {}
                }
            }
            drop(stream);
            assert!(matches!(ended, Some(Err(RunError::Model { .. }))), "{format:?} {end:?}: {ended:?}");
            assert!("It is seven.".starts_with(&pieces), "{pieces}");
            assert!(!pieces.is_empty(), "{format:?} {end:?}: half of it came");
            assert_eq!(server.requests().len(), 3, "{format:?} {end:?}");
            goes_on(&mut conversation, &server).await;
        }
    }
}

#[tokio::test]
async fn an_endpoint_that_falls_silent_is_left() {
    for format in Format::ALL {
        let half = Act::Half(Reply { text: "It is seven.", ..Reply::default() }, End::Stalled);
        let server = Server::start(format, [half, says("still here")]).await;
        let (agent, _) = agent(model(&server, format).silence(Duration::from_millis(60)));
        let mut conversation = agent.conversation();
        let error = conversation.send("how many?").await.expect_err("an error");
        let RunError::Model { error, .. } = error else { panic!("{format:?}: {error}") };
        assert_eq!(error.to_string(), "`m` sent nothing for 0.06 seconds", "{format:?}");
        assert_eq!(error.kind(), skillgraph::ModelErrorKind::Timeout);
        tokio::time::timeout(Duration::from_secs(10), server.was_left()).await.expect("the connection is closed");
        goes_on(&mut conversation, &server).await;
    }
}

#[tokio::test]
async fn dropping_a_turn_closes_the_connection() {
    for format in Format::ALL {
        let half = Act::Half(Reply { text: "It is seven.", ..Reply::default() }, End::Stalled);
        let server = Server::start(format, [half, says("still here")]).await;
        let (agent, _) = agent(model(&server, format));
        let mut conversation = agent.conversation();
        let mut stream = conversation.stream("how many?");
        while let Some(item) = stream.next().await {
            let asked = matches!(item, StreamItem::Event(Event::Offered { .. }));
            if asked {
                break;
            }
        }
        // The request leaves while somebody waits for the reply, who then does not.
        let _ = tokio::time::timeout(Duration::from_millis(200), stream.next()).await;
        drop(stream);
        tokio::time::timeout(Duration::from_secs(10), server.was_left()).await.expect("the connection is closed");
        goes_on(&mut conversation, &server).await;
    }
}

#[tokio::test]
async fn a_reply_streams_as_words_and_calls_come() {
    for format in Format::ALL {
        let first = Reply { text: "Let me see.", calls: vec![("lookup", r#"{"order":7}"#)], stop: None };
        let server = Server::start(format, [Act::Reply(first), says("Order 7 is paid.")]).await;
        let (agent, _) = agent(model(&server, format));
        let mut conversation = agent.conversation();
        let mut stream = conversation.stream("order 7?");
        let (mut texts, mut arguments, mut order) = (Vec::new(), String::new(), Vec::new());
        while let Some(item) = stream.next().await {
            match item {
                StreamItem::Piece(Piece::Text(text)) => texts.push(text),
                StreamItem::Piece(Piece::Call { index: 0, name, arguments: more, .. }) => {
                    assert_eq!(name, "lookup");
                    arguments.push_str(&more);
                    order.push("call");
                }
                StreamItem::Event(Event::ToolReturned { .. }) => order.push("ran"),
                StreamItem::Event(Event::SkillActivated { skill, .. }) if skill == desk::skill::billing => {
                    order.push("moved")
                }
                _ => {}
            }
        }
        assert_eq!(texts.concat(), "Let me see.Order 7 is paid.", "{format:?}");
        assert!(texts.len() >= 4, "{format:?}: in pieces: {texts:?}");
        assert_eq!(arguments, r#"{"order":7}"#, "{format:?}");
        order.dedup();
        assert_eq!(order, ["call", "ran", "moved"], "{format:?}");
        assert_eq!(server.violations(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_constrained_reply_becomes_an_ordinary_call() {
    let acts = [
        says(r#"{"name":"lookup","arguments":{"order":7}}"#),
        says(r#"{"name":"pay","arguments":{}}"#),
        says(r#"{"final":"Paid."}"#),
        says("of course!"),
        says(r#"{"final":"still here"}"#),
    ];
    let server = Server::start(Format::OpenAi, acts).await;
    let (agent, runs) = agent(model(&server, Format::OpenAi).constrained());
    let mut conversation = agent.conversation();
    let report = conversation.send("pay order 7").await.expect("a turn");
    assert_eq!((report.text(), runs.load(Ordering::SeqCst)), (Some("Paid."), 2));
    let request = &server.requests()[0];
    assert!(request.get("tools").is_none());
    let schema = &request["response_format"]["json_schema"]["schema"];
    let alternatives = schema["anyOf"].as_array().unwrap_or_else(|| panic!("{request:#}"));
    let names: Vec<_> = alternatives.iter().map(|of| of["properties"]["name"]["const"].clone()).collect();
    assert_eq!(json!(names), json!(["lookup", "rest", "read_skill", "list_skills", null]), "exactly what is offered");
    let error = conversation.send("thanks").await.expect_err("no JSON");
    assert!(error.to_string().contains("did not keep to the schema of its reply: of course!"), "{error}");
    goes_on(&mut conversation, &server).await;
}

#[tokio::test]
async fn a_missing_key_says_what_to_set() {
    // Of a provider whose key nobody has; nothing is sent.
    let (agent, _) = agent(GenaiModel::new("heabsy::m"));
    let error = agent.run("hello").await.expect_err("no key").to_string();
    assert!(error.ends_with("`heabsy::m` has no key: set `HEABSY_API_KEY`, or give the model its key"), "{error}");
}

#[tokio::test]
async fn a_key_is_in_no_log() {
    // An address at which nobody listens.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("its address"));
    drop(listener);
    for provider in [Provider::OpenAI, Provider::Anthropic, Provider::Ollama, Provider::Gemini] {
        let builder = || GenaiModel::new("m").endpoint(&url).provider(provider).key("hush-hush").retries(0);
        let said = format!("{:?}", builder());
        assert!(said.contains(&url) && !said.contains("hush-hush"), "{said}");
        let said = format!("{:?}", builder().build());
        assert!(said.contains("\"m\"") && !said.contains("hush-hush"), "{said}");
        let (agent, _) = agent(builder());
        let said = agent.run("hello").await.expect_err("nobody is there").to_string();
        assert!(said.contains("`m`") && !said.contains("hush-hush"), "{said}");
    }
}
