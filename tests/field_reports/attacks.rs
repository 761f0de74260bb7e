//! Inputs of somebody who means harm, as they were tried on the second round (section M). Those of endpoints are in
//! `adapters/genai/tests/hostile.rs`, of saved turns in `tests/properties`, of the compiler in `tests/ui` and with the macro.

use std::fs;

use skillgraph::core::skill_file;

fn front(keys: &str) -> String {
    format!("---\nname: x\ndescription: y\n{keys}---\nBody.\n")
}

#[test]
fn m91_m92_every_finding_of_a_file_has_a_place_that_can_be_shown() {
    let routes = [
        "any[t退 #] is denied",
        "退",
        "on 退",
        "on any[退",
        "on 退 where 退",
        "on t where 退 > 1",
        "on t where a == \"退",
        "on t is 退",
        "on t is success|退",
        "退退退 on t",
    ];
    for tools in ["", "tools: [t退]\n", "tools: [t]\n"] {
        for route in routes {
            for on in ["", "on "] {
                let source = front(&format!("{tools}routes:\n  - x: {on}{route}\n"));
                let read = skill_file::read(&source);
                for finding in &read.findings {
                    assert!(read.text.get(finding.at.clone()).is_some(), "{source}: {finding:?}");
                    let at = &read.text[finding.at.start..];
                    assert!(finding.at.start > 3 && !at.is_empty(), "{source}: {finding:?}");
                }
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn m24_a_link_that_leads_out_says_nothing_of_what_is_there() {
    use skillgraph::Runbook;
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("skill.md"), "secret").expect("a file");
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("x")).expect("a folder");
    fs::write(folder.path().join("x/SKILL.md"), front("")).expect("a file");
    std::os::unix::fs::symlink(outside.path(), folder.path().join("out")).expect("a link");
    let report = Runbook::load(folder.path(), &[] as &[&str]).expect_err("it leads out").to_string();
    assert!(report.contains("out` leads out of the folder") && !report.contains("skill.md"), "{report}");
}

#[cfg(unix)]
#[test]
fn m50_only_regular_files_are_read_and_no_more_than_the_limit() {
    use skill_file::{FolderError, Limits, check_inside, read_file};
    use std::path::Path;
    let limits = Limits { file_bytes: 64, ..Limits::default() };
    for path in ["/dev/zero", "/dev/null", "/proc"] {
        let error = read_file(Path::new(path), path, limits).expect_err("no regular file");
        assert_eq!(error, FolderError::NotAFile { path: path.into() });
    }
    // It says that it has no bytes, and has some.
    let error = read_file(Path::new("/proc/self/maps"), "maps", limits).expect_err("too large");
    assert!(matches!(error, FolderError::TooLarge { bytes: 65, limit: 64, .. }), "{error:?}");
    let root = tempfile::tempdir().expect("a folder");
    fs::write(root.path().join("in.md"), "x").expect("a file");
    std::os::unix::fs::symlink("/etc/hostname", root.path().join("out.md")).expect("a link");
    let inside = |path: &str| check_inside(root.path(), &root.path().join(path), path);
    assert_eq!(inside("in.md"), Ok(()));
    for path in ["out.md", "../x", "/etc/hostname", "/nowhere", "../nowhere"] {
        assert_eq!(inside(path), Err(FolderError::Outside { path: path.into() }));
    }
    assert!(matches!(inside("nothing.md"), Err(FolderError::Missing { .. })));
    // What has no front matter is not shown.
    let read = skill_file::read("ROOT_PASSWORD=hunter2\n");
    assert!(!read.text.contains("hunter2") && !format!("{:?}", read.findings).contains("hunter2"));
}

#[test]
fn m76_of_very_many_mistakes_some_are_shown_and_the_rest_counted() {
    let keys: String = (0..40_000).map(|at| format!("tool{at}s: x\n")).collect();
    let read = skill_file::read(&front(&format!("steps: 7\ntools: [{}]\n{keys}", "1, ".repeat(5_000))));
    assert!(read.findings.len() <= 100 && read.notes.len() <= 100);
    let last = read.notes.last().or(read.findings.last()).expect("some");
    assert!(last.notes.iter().any(|note| note.text.contains("more findings of this file are not shown")), "{last:?}");
}

/// Every number of a saved conversation at the limits of its kind, one at a time.
#[tokio::test]
async fn m41_counters_at_their_limits_count_no_further() {
    use crate::common::{answer, calls, succeeds};
    use serde_json::{Value, json};
    use skillgraph::{SavedConversation, ScriptedModel, skill_graph};
    skill_graph! {
        graph procedure {
            tools { find: dyn, pay: dyn }
            skill desk {
                description: "Desk", body: "Work.", tools: [find, pay],
                steps: [find: "find it", pay: "pay it"],
            }
            entry desk;
            governor { ping_pong: 4, refusals: 3, repeats: 3, then: warn }
        }
    }
    fn numbers(value: &Value, at: String, found: &mut Vec<String>) {
        match value {
            Value::Number(_) => found.push(at),
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(index, value)| numbers(value, format!("{at}/{index}"), found));
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    numbers(value, format!("{at}/{name}"), found);
                }
            }
            _ => {}
        }
    }
    let turn = || [calls([("a", "find", json!({})), ("b", "pay", json!({}))]), answer()];
    let script = || ScriptedModel::new((0..20).flat_map(|_| turn()).collect::<Vec<_>>());
    let agent = || {
        let tools = procedure::Tools { find: succeeds("find"), pay: succeeds("pay") };
        procedure::agent(tools).model(script()).build().expect("an agent")
    };
    let mut conversation = agent().conversation();
    conversation.send("hello").await.expect("a turn");
    let saved = serde_json::to_value(conversation.save()).expect("JSON");
    let mut places = Vec::new();
    numbers(&saved, String::new(), &mut places);
    assert!(places.len() > 3, "{places:?}");
    let (mut restored, mut tried) = (0, 0);
    for place in places {
        for limit in [json!(u32::MAX), json!(u64::MAX), json!(0), json!(-1), json!(f64::MAX)] {
            let mut changed = saved.clone();
            *changed.pointer_mut(&place).expect("it is there") = limit;
            tried += 1;
            let Ok(changed) = serde_json::from_value::<SavedConversation>(changed) else { continue };
            let agent = agent();
            for conversation in [agent.restore(changed.clone()).ok(), agent.migrate(changed).ok()].into_iter().flatten()
            {
                let mut conversation = conversation;
                restored += 1;
                conversation.send("and now?").await.expect("a turn");
                conversation.send("once more").await.expect("a turn");
            }
        }
    }
    assert!(restored > 0 && tried > restored / 2);
}
