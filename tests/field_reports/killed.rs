//! F104 with a real process: it is killed at every checkpoint of a turn, started again, and ends as if nothing had happened.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use skillgraph::{
    Conversation, DynTool, ModelRequest, SavedConversation, ScriptedModel, ToolContext, ToolOptions, ToolReply,
    skill_graph,
};

use crate::common::{answer, assert_paired, calls};

skill_graph! {
    graph bank {
        tools { look: dyn, pay: dyn, seal: dyn }
        skill desk { description: "The bank", body: "Look, pay, seal.", tools: [look, pay, seal] }
        skill done { description: "After that", body: "Say so.", tools: [look] }
        entry desk;
        route desk -> done on seal;
    }
}

const FOLDER: &str = "SKILLGRAPH_TEST_FOLDER";
const KILL_AT: &str = "SKILLGRAPH_TEST_KILL_AT";

/// Does what must happen once: like a payment provider, it does nothing more for a key that it knows.
fn effect(folder: &Path, context: &ToolContext) {
    let path = folder.join("effects.txt");
    let line = format!("{} {}\n", context.tool(), context.idempotency_key());
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    if !known.contains(&line) {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).expect("a file");
        file.write_all(line.as_bytes()).expect("written");
    }
}

fn tool(name: &'static str, folder: &Path, asks: bool) -> DynTool {
    let folder = folder.to_owned();
    DynTool::new(name, "Acts.", json!({ "type": "object" }), move |_, context| {
        let reply = if asks && !context.is_approved() {
            ToolReply::pending("Pay?")
        } else {
            effect(&folder, &context);
            ToolReply::success(json!(name))
        };
        async move { Ok::<_, String>(reply) }
    })
}

/// The process: it goes on from what is stored, or begins, and stops for good at the checkpoint that it is told.
#[test]
fn the_process_that_is_killed() {
    let (Some(folder), Some(kill_at)) = (std::env::var_os(FOLDER), std::env::var(KILL_AT).ok()) else { return };
    let (folder, kill_at) = (PathBuf::from(folder), kill_at.parse::<usize>().expect("a number"));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(run(&folder, kill_at));
}

async fn run(folder: &Path, kill_at: usize) {
    let model = ScriptedModel::from_fn(|request: &ModelRequest| match request.iteration {
        1 => calls([("a", "look", json!({ "n": 1 })), ("b", "pay", json!({})), ("c", "look", json!({ "n": 2 }))]),
        2 => calls([("d", "seal", json!({})), ("e", "look", json!({ "n": 3 }))]),
        _ => answer(),
    });
    let tools = bank::Tools {
        look: tool("look", folder, false),
        pay: tool("pay", folder, true),
        seal: tool("seal", folder, false).with_options(ToolOptions::default().exclusive()),
    };
    let agent = bank::agent(tools).model(model).build().expect("an agent");
    let state = folder.join("state.json");
    let conversation = match std::fs::read(&state) {
        Ok(saved) => {
            let saved: SavedConversation = serde_json::from_slice(&saved).expect("whole");
            agent.restore(saved).expect("the same graph")
        }
        Err(_) => agent.conversation().with_id("user-7"),
    };
    let checkpoints = Arc::new(AtomicUsize::new(0));
    let (counter, stored_in) = (checkpoints.clone(), state.clone());
    let mut conversation = conversation.with_checkpoint(move |saved| {
        let (number, state) = (counter.fetch_add(1, Ordering::SeqCst) + 1, stored_in.clone());
        async move {
            let next = state.with_extension("new");
            std::fs::write(&next, serde_json::to_vec(&saved).map_err(std::io::Error::other)?)?;
            std::fs::rename(next, state)?;
            if number == kill_at {
                println!("\nready to be killed");
                std::future::pending::<()>().await;
            }
            Ok::<_, std::io::Error>(())
        }
    });
    go(&mut conversation, !state.exists()).await;
    assert_paired(&conversation.transcript());
    std::fs::write(folder.join("end.json"), serde_json::to_string(&conversation.transcript()).expect("JSON"))
        .expect("written");
    println!("\ncheckpoints: {}", checkpoints.load(Ordering::SeqCst));
}

/// To the end of the turn, with a person who says yes.
async fn go(conversation: &mut Conversation, begins: bool) {
    if begins {
        conversation.send("pay it").await.expect("a turn");
    } else if conversation.questions().is_empty() {
        conversation.go_on().await.expect("a turn");
    }
    while let Some(question) = conversation.questions().first().cloned() {
        conversation.resume(question.approve()).await.expect("a turn");
    }
}

fn spawn(folder: &Path, kill_at: usize) -> Child {
    Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "killed::the_process_that_is_killed", "--nocapture"])
        .env(FOLDER, folder)
        .env(KILL_AT, kill_at.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a process")
}

/// Lets it run to its end: how many checkpoints there were.
fn ended(mut child: Child) -> usize {
    let output = std::io::read_to_string(child.stdout.take().expect("its output")).expect("text");
    assert!(child.wait().expect("it ended").success());
    let line = output.lines().find_map(|line| line.strip_prefix("checkpoints: ")).expect("it says so");
    line.parse().expect("a number")
}

/// Lets it come to the checkpoint that it was told, and kills it there.
fn killed(mut child: Child) {
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "ready to be killed"), "it has ended before");
    child.kill().expect("it runs");
    assert!(!child.wait().expect("it is over").success());
}

/// What there is at the end: the transcript, and each effect with its key, in the order of the alphabet.
fn end(folder: &Path) -> (String, Vec<String>) {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect(name);
    let mut effects: Vec<String> = read("effects.txt").lines().map(str::to_owned).collect();
    effects.sort_unstable();
    (read("end.json"), effects)
}

#[test]
fn f104_killed_at_every_checkpoint_each_effect_happens_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let checkpoints = ended(spawn(folder.path(), 0));
    let expected = end(folder.path());
    assert!(checkpoints >= 10, "{checkpoints}");
    assert_eq!(expected.1, ["look user-7/a", "look user-7/c", "look user-7/e", "pay user-7/b", "seal user-7/d"]);
    for kill_at in 1..=checkpoints {
        let folder = tempfile::tempdir().expect("a folder");
        killed(spawn(folder.path(), kill_at));
        assert!(!folder.path().join("end.json").exists());
        ended(spawn(folder.path(), 0));
        assert_eq!(end(folder.path()), expected, "killed at checkpoint {kill_at}");
    }
}
