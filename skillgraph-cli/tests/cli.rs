//! The command as its users run it.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn skillgraph(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillgraph"));
    command.args(arguments).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).output().expect("it runs")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

#[test]
fn a_sound_folder_is_said_to_be_one() {
    let output = skillgraph(&["check", "examples/runbooks"]);
    assert_eq!(out(&output), "examples/runbooks: 3 skills, 0 errors, 0 warnings\n");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "progress is for who watches");
}

#[test]
fn what_is_wrong_is_shown_at_its_line_and_the_status_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "names.txt", "lookup_order # by its number\n\n");
    let names = folder.path().join("names.txt");
    let output = skillgraph(&["check", "examples/runbooks", "--tools", names.to_str().expect("a path")]);
    let expected = "\
error: no tool named `issue_refund` in graph `runbooks` [unknown-tool]
 --> examples/runbooks/billing/SKILL.md:4:23
  |
4 | tools: [lookup_order, issue_refund]
  |                       ^^^^^^^^^^^^
  help: add it to the registry of tools, or use a declared one: `lookup_order`

error: no tool named `issue_refund` in graph `runbooks` [unknown-tool]
  --> examples/runbooks/billing/SKILL.md:10:19
   |
10 |   - audit-log: on issue_refund is denied
   |                   ^^^^^^^^^^^^
  help: add it to the registry of tools, or use a declared one: `lookup_order`

examples/runbooks: 2 errors, 0 warnings
";
    assert_eq!(out(&output), expected);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn warnings_and_notes_are_said_and_fail_only_when_they_should() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "---\nname: loop\ndescription: Round and round\ntools: spin\nroutes:\n  - loop: on spin\nversion: \"1\"\n---\nSpin.\n";
    write(folder.path(), "loop/SKILL.md", text);
    let path = folder.path().to_str().expect("a path");
    let output = skillgraph(&["check", path]);
    let said = out(&output);
    assert!(said.contains("warning: this edge leads from `loop` to `loop` [self-loop]"), "{said}");
    assert!(said.contains("info: nobody reads the key `version`: it is kept as it is"), "{said}");
    assert!(said.ends_with(": 1 skill, 0 errors, 1 warning\n"), "{said}");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(skillgraph(&["check", path, "--deny-warnings"]).status.code(), Some(1));
}

#[test]
fn findings_are_data_for_programs() {
    let json = |format: &str, folder: &str| -> Value {
        serde_json::from_str(&out(&skillgraph(&["check", folder, "--format", format]))).expect("JSON")
    };
    let sound = json("json", "examples/runbooks");
    assert_eq!(sound["skills"], serde_json::json!(["audit-log", "billing", "escalation"]));
    assert_eq!(sound["findings"], serde_json::json!([]));
    let broken = json("json", "tests/ui/skill-file/team");
    assert_eq!(broken["skills"], Value::Null);
    assert_eq!(broken["findings"][0]["code"], "skill-file");
    assert_eq!(broken["findings"][0]["at"], "tests/ui/skill-file/team/audit-log/SKILL.md:2:7");

    let sarif = json("sarif", "tests/ui/skill-file/team");
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let result = &run["results"][0];
    assert_eq!((result["ruleId"].as_str(), result["level"].as_str()), (Some("skill-file"), Some("error")));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "tests/ui/skill-file/team/audit-log/SKILL.md");
    assert_eq!(place["region"], serde_json::json!({ "startLine": 2, "startColumn": 7 }));
    // Every rule that a result names is described, once.
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let named: Vec<&Value> = run["results"].as_array().expect("results").iter().map(|of| &of["ruleId"]).collect();
    assert!(named.iter().all(|id| rules.iter().filter(|rule| rule["id"] == **id).count() == 1));
}

#[test]
fn a_folder_is_drawn_and_written_as_a_graph() {
    let drawn = out(&skillgraph(&["draw", "examples/runbooks"]));
    assert!(drawn.starts_with("flowchart TD\n") && drawn.contains("n1 -->|\"large\"| n2"), "{drawn}");
    let graph: Value =
        serde_json::from_str(&out(&skillgraph(&["draw", "examples/runbooks", "--format", "json"]))).expect("JSON");
    assert_eq!(graph["name"], "runbooks");
    assert_eq!(graph["routes"].as_array().map(Vec::len), Some(2));
}

#[test]
fn what_cannot_be_done_is_another_status() {
    let missing = skillgraph(&["check", "nowhere"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(out(&missing).starts_with("error: there is no `nowhere` [skill-file]"));
    let no_tools = skillgraph(&["check", "examples/runbooks", "--tools", "nowhere.txt"]);
    assert_eq!(no_tools.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&no_tools.stderr).starts_with("error: `nowhere.txt` cannot be read"));
    assert_eq!(skillgraph(&["chekc"]).status.code(), Some(2));
    let undrawn = skillgraph(&["draw", "tests/ui/skill-file/team"]);
    assert_eq!((undrawn.status.code(), out(&undrawn).as_str()), (Some(1), ""));
    assert!(String::from_utf8_lossy(&undrawn.stderr).contains("[skill-file]"));
}

/// Whatever stands in a file, or is the name of one.
#[test]
fn m60_nothing_of_a_file_controls_the_terminal() {
    let hostile = ["\u{1b}]0;owned\u{7}", "\u{202e}txt", "\u{2066}", "\u{9b}31m", "\u{8}\u{8}"];
    let folder = tempfile::tempdir().expect("a folder");
    for (at, text) in hostile.iter().enumerate() {
        let keys =
            format!("name: \"{at}{text}\"\ndescription: x\nke{text}y: v\ntools: [\"t{text}\"]\nroutes: [\"{text}\"]\n");
        write(folder.path(), &format!("skill-{at}{text}/SKILL.md"), &format!("---\n{keys}---\nCall `pay{text}(1)`.\n"));
    }
    write(folder.path(), "plain-%zz#/SKILL.md", "---\nname: y\ndescription: x\nx: [\n---\nBody\n");
    let path = folder.path().to_str().expect("a path");
    for arguments in [vec!["check", path], vec!["draw", path], vec!["check", &format!("{path}/no\u{1b}where")]] {
        let output = skillgraph(&arguments);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).expect("text");
        assert!(!said.is_empty());
        let is_control =
            |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c) || c == '\u{2066}');
        assert!(!said.contains(is_control), "{said:?}");
        // Nothing begins a line of its own.
        assert!(said.lines().all(|line| !line.starts_with("owned")), "{said}");
    }
    let output = skillgraph(&["check", path, "--format", "sarif"]);
    let log: Value = serde_json::from_str(&out(&output)).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    for result in results {
        let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().expect("a URI");
        assert!(uri.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte)), "{uri}");
    }
    assert!(results.iter().any(|result| result.to_string().contains("plain-%25zz%23/SKILL.md")), "{results:#?}");
}

#[test]
fn f94_what_is_allowed_is_not_said_and_a_folder_can_be_deep() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "---\nname: loop\ndescription: Round\ntools: spin\nroutes:\n  - loop: on spin\n---\nSpin.\n";
    write(folder.path(), "group/loop/SKILL.md", text);
    write(folder.path(), "other/SKILL.md", "---\nname: other\ndescription: d\n---\nb\n");
    write(folder.path(), "broken/SKILL.md", "---\nname: broken\n---\nb\n");
    let path = folder.path().to_str().expect("a path");
    assert_eq!(skillgraph(&["check", path]).status.code(), Some(1));
    let said = out(&skillgraph(&["check", path, "--lenient"]));
    assert!(said.ends_with(": 1 skill, 1 error, 0 warnings\n"), "{said}");
    assert!(said.contains("info: ") && said.contains("lies deeper than is read (1 level)"), "{said}");
    std::fs::remove_dir_all(folder.path().join("broken")).expect("removed");
    let deep = ["check", path, "--depth", "2", "--deny-warnings"];
    assert_eq!(skillgraph(&deep).status.code(), Some(1));
    let output = skillgraph(&[&deep[..], &["--allow", "self-loop"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", out(&output));
    assert!(out(&output).ends_with(": 2 skills, 0 errors, 0 warnings\n"), "{}", out(&output));
    for (code, said) in
        [("self-lop", "did you mean `self-loop`?"), ("skill-file", "it is an error"), ("x", "no such warning")]
    {
        let output = skillgraph(&["check", path, "--allow", code]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.contains(said), "{error}");
    }
    let output = skillgraph(&["draw", path, "--max-folders", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("more than 1 directories"));
    assert!(out(&skillgraph(&["draw", path, "--depth", "2"])).contains("loop"));
}
