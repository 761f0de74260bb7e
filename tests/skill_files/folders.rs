//! Folders: all or nothing, in a fixed order, within limits, and never outside.

use std::fs;
use std::path::Path;

use skillgraph::core::graph::Graph;
use skillgraph::core::runbook::{Runbook, RunbookOptions};
use skillgraph::core::skill_file::{Limits, read};
use skillgraph::{GraphSpec, Report};

pub fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn skill(name: &str, lines: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}\n{lines}---\nDo it.\n")
}

/// What is said, the folder's own path left out.
fn said(folder: &Path, report: &Report) -> String {
    let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
    report.to_string().replace(&format!("{}/", folder.display()), "").replace(&format!("`{name}`"), "`NAME`")
}

#[test]
fn a_folder_loads_in_the_order_of_its_names_with_its_edges() {
    let folder = tempfile::tempdir().expect("a folder");
    let edges = "tools: [get_invoice]\nroutes:\n  - audit-log: on get_invoice is denied\n  - escalation: on get_invoice where total.cents > 500 && state in [\"open\"] as \"large\"\n  - escalation\n";
    write(folder.path(), "billing/SKILL.md", &skill("billing", edges));
    write(folder.path(), "escalation/SKILL.md", &skill("escalation", ""));
    write(folder.path(), "audit-log/SKILL.md", &skill("audit-log", ""));
    let runbook = Runbook::load(folder.path(), &["get_invoice"]).expect("sound");
    let names: Vec<&str> = runbook.skills().map(|skill| skill.name.text.as_str()).collect();
    assert_eq!(names, ["audit-log", "billing", "escalation"]);
    let spec = runbook.spec("desk");
    let routes = serde_json::to_value(&spec.routes).expect("JSON");
    assert_eq!(
        routes,
        serde_json::json!([
            { "from": "billing", "to": "audit-log", "on": ["get_invoice"], "is": ["denied"] },
            { "from": "billing", "to": "escalation", "on": ["get_invoice"], "label": "large",
              "where": [{ "path": "total.cents", "op": ">", "value": 500 }, { "path": "state", "op": "in", "value": ["open"] }] },
            { "from": "billing", "to": "escalation", "pick": true },
        ])
    );
    Graph::compile(&spec, &["get_invoice"]).expect("it runs");
}

#[test]
fn every_mistake_of_every_file_is_shown_at_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "a/SKILL.md", &skill("a", "tools: lookup, pya\nsteps:\n  - refund: at once\n"));
    write(folder.path(), "b/SKILL.md", &skill("b", "routes:\n  - c: on lookup\n  - nowhere\n"));
    let report = Runbook::load(folder.path(), &["lookup", "pay", "refund"]).expect_err("mistakes");
    assert_eq!(
        said(folder.path(), &report),
        "\
no tool named `pya` in graph `NAME` [unknown-tool]
 --> a/SKILL.md:4:16
  |
4 | tools: lookup, pya
  |                ^^^
  help: add it to the registry of tools, or use a declared one: `lookup`, `pay`, and `refund`
a step of skill `a` names `refund`, which is not one of its tools [foreign-tool]
 --> a/SKILL.md:6:5
  |
6 |   - refund: at once
  |     ^^^^^^
  help: add `refund` to the `tools` of `a`
  note: no skill lists `refund` among its tools
no skill named `c` in graph `NAME` [unknown-skill]
 --> b/SKILL.md:5:5
  |
5 |   - c: on lookup
  |     ^
  help: a skill with a similar name exists: `a`
this edge cannot fire: `lookup` is never offered while the cursor is on `b` [edge-cannot-fire]
 --> b/SKILL.md:5:11
  |
5 |   - c: on lookup
  |           ^^^^^^
  help: add `lookup` to the `tools` of `b`, or start the edge where it is offered
  note: `lookup` is offered in `a`
no skill named `nowhere` in graph `NAME` [unknown-skill]
 --> b/SKILL.md:6:5
  |
6 |   - nowhere
  |     ^^^^^^^
  help: add a skill `nowhere`, or use a declared one: `a` and `b`"
    );
}

#[test]
fn of_a_folder_whose_only_file_cannot_be_read_nothing_else_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "a/SKILL.md", &skill("a", "tools: ] pay\n"));
    let report = Runbook::load(folder.path(), &["pay"]).expect_err("not YAML");
    assert_eq!(
        said(folder.path(), &report),
        "\
an unquoted value cannot begin with `]` [skill-file]
 --> a/SKILL.md:4:8
  |
4 | tools: ] pay
  |        ^^^^^
  help: write names alone, with commas between them: `tools: find_order, pay`"
    );
}

#[test]
fn skills_stand_beside_a_graph() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "billing/SKILL.md", &skill("billing", "tools: pay\nroutes:\n  - triage: on pay\n"));
    let mut spec: GraphSpec = serde_json::from_str(
        r#"{ "name": "desk",
             "skills": [{ "id": "triage", "description": "Start", "body": "Ask.", "tools": ["pay"] }],
             "entries": [{ "skill": "triage" }],
             "routes": [{ "from": "triage", "to": "billing", "on": ["pay"] }] }"#,
    )
    .expect("a graph");
    let options = RunbookOptions { beside: Some(spec.clone()), ..RunbookOptions::default() };
    let runbook = Runbook::load_with(folder.path(), &["pay"], &options).expect("they fit");
    assert_eq!(runbook.report().findings, []);
    runbook.add_to(&mut spec);
    let graph = Graph::compile(&spec, &["pay"]).expect("one graph");
    assert_eq!(graph.skills().len(), 2);
    // Alone, its edge leads nowhere.
    assert!(Runbook::load(folder.path(), &["pay"]).is_err());
}

#[test]
fn a_skill_has_the_name_of_its_directory() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "refunds/SKILL.md", &skill("billing", ""));
    let report = Runbook::load(folder.path(), &[] as &[&str]).expect_err("two names");
    assert_eq!(
        said(folder.path(), &report),
        "the skill is named `billing`, and its directory `refunds` [skill-file]\n --> refunds/SKILL.md:2:7\n  |\n\
         2 | name: billing\n  |       ^^^^^^^\n  help: rename one of the two: they are the same by the standard"
    );
}

#[test]
fn what_is_no_folder_of_skills_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "empty/readme.txt", "nothing");
    write(folder.path(), "file", "nothing");
    let path = |name: &str| folder.path().join(name).display().to_string();
    for (given, expected) in [
        (" ".to_owned(), "the path of the folder is blank"),
        ("https://example.com/skills".to_owned(), "is an address, not a folder of this machine"),
        ("file:///skills".to_owned(), "is an address, not a folder of this machine"),
        (r"\\server\skills".to_owned(), "is an address, not a folder of this machine"),
        (path("missing"), "there is no `"),
        (path("file"), "is not a directory"),
        (path("empty"), "no skill is in `"),
    ] {
        let report = Runbook::load(&given, &[] as &[&str]).expect_err("refused");
        assert!(report.findings[0].message.contains(expected), "{given}: {report}");
    }
}

#[test]
fn limits_hold_and_can_be_raised() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "a/SKILL.md", &skill("a", &format!("# {}\n", "x".repeat(2_000))));
    write(folder.path(), "b/SKILL.md", &skill("b", ""));
    let load = |file_bytes, directories| {
        let options = RunbookOptions {
            limits: Limits { file_bytes, directories, ..Limits::default() },
            ..RunbookOptions::default()
        };
        Runbook::load_with(folder.path(), &[] as &[&str], &options)
    };
    assert!(load(1_000, 2).expect_err("too large").to_string().contains("bytes, and the maximum is 1000"));
    assert!(load(5_000, 1).expect_err("too many").to_string().contains("has more than 1 directories"));
    load(5_000, 2).expect("within");
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_and_refused_outside() {
    use std::os::unix::fs::symlink;

    let outside = tempfile::tempdir().expect("a folder");
    write(outside.path(), "secret/SKILL.md", &skill("secret", ""));
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "shared/common.md", &skill("inner", ""));
    fs::create_dir(folder.path().join("inner")).expect("a folder");
    symlink(folder.path().join("shared/common.md"), folder.path().join("inner/SKILL.md")).expect("a link");
    let runbook = Runbook::load(folder.path(), &[] as &[&str]).expect("inside");
    assert_eq!(runbook.skills().next().expect("one").name.text, "inner");

    for (target, link, expected) in [
        (outside.path().join("secret"), "secret", "the link `"),
        (folder.path().join("gone"), "dangling/SKILL.md", "there is no `"),
        (folder.path().join("loop/SKILL.md"), "loop/SKILL.md", "cannot be read"),
    ] {
        let link = folder.path().join(link);
        fs::create_dir_all(link.parent().expect("a parent")).expect("a folder");
        symlink(target, &link).expect("a link");
        let report = Runbook::load(folder.path(), &[] as &[&str]).expect_err("refused");
        assert!(report.to_string().contains(expected), "{report}");
        fs::remove_file(&link).expect("removed");
    }
}

#[test]
fn deeper_files_and_folders_of_tools_are_no_skills() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "refunds/SKILL.md", &skill("refunds", ""));
    write(folder.path(), "refunds/node_modules/x/SKILL.md", "nothing");
    write(folder.path(), "node_modules/SKILL.md", "nothing");
    write(folder.path(), ".git/SKILL.md", "nothing");
    assert_eq!(Runbook::load(folder.path(), &[] as &[&str]).expect("one").skills().count(), 1);
}

#[test]
fn a_file_that_is_not_utf_8_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "a/SKILL.md", "");
    fs::write(folder.path().join("a/SKILL.md"), b"---\nname: \xff\n---\n").expect("a file");
    let report = Runbook::load(folder.path(), &[] as &[&str]).expect_err("no text");
    assert_eq!(report.findings[0].message, format!("`{}/a/SKILL.md` is not UTF-8", folder.path().display()));
}

#[test]
fn what_is_written_reads_back_equal() {
    let lines = "tools: [pay, look-up]\nsteps:\n  - pay: \"first: pay\"\non-skip: hold\nsurface: both\nroutes:\n  - a\n  - b: on any[pay, look-up] is denied | failure where x.y not in [1, -2.5, \"a\\\\\\\"b\", true] as \"la\\tbel\"\n  - c: on any\nlicense: MIT\ncompatibility: Needs x\nallowed-tools: Bash(git:*) Read\nmetadata:\n  a: [1, {b: c}]\n  d:\nother: x\n";
    let source = format!(
        "---\nname: desk\ndescription: \"a \\\"b\\\" # \\u0007: c\"\n{lines}---\n\n  Body {{x}}\n---\nmore\n\n"
    );
    let first = read(&source);
    assert_eq!(first.findings, []);
    let written = first.file.expect("a file").to_skill_md();
    let second = read(&written);
    assert_eq!(second.findings, [], "{written}");
    let second = second.file.expect("a file");
    assert_eq!(second.to_skill_md(), written);
    // As the file said it.
    assert_eq!(second.description.text, "a \"b\" # \u{7}: c");
    assert_eq!(second.body.text, "Body {x}\n---\nmore");
    assert_eq!(second.routes.len(), 3);
    assert_eq!((second.metadata.len(), second.other_keys.len()), (2, 1));
    assert_eq!(second.allowed_tools, ["Bash(git:*)", "Read"]);
}

#[test]
fn names_that_yaml_takes_for_something_else_are_written_between_quotes() {
    for name in ["null", "true", "no", "123", "1e3", "on"] {
        let source = format!(
            "---\nname: \"{name}\"\ndescription: d\ntools: [\"{name}\"]\nsteps:\n  - \"{name}\": why\nroutes:\n  - \"{name}\"\n---\nb"
        );
        let first = read(&source);
        assert_eq!(first.findings, [], "{name}");
        let written = first.file.expect("a file").to_skill_md();
        let second = read(&written);
        assert_eq!(second.findings, [], "{written}");
        let second = second.file.expect("a file");
        let steps = second.steps.expect("steps").list;
        let read =
            [&second.name, &second.tools[0], &steps[0].tool, &second.routes[0].to].map(|word| word.text.as_str());
        assert_eq!(read, [name; 4], "{written}");
    }
}
