//! Reports about skills in files: descriptions with colons, Windows, folded text, shapes of values, links.

use skillgraph::Runbook;
use skillgraph::core::Level;
use skillgraph::core::runbook::RunbookOptions;
use skillgraph::core::skill_file::{Data, Limits, Read, SkillFile, read};

fn loads(source: &str) -> SkillFile {
    let read = read(source);
    assert_eq!(read.findings, [], "{source}");
    read.file.expect("a file")
}

fn refused(source: &str) -> (String, String) {
    let Read { findings, text, .. } = read(source);
    let first = findings.first().unwrap_or_else(|| panic!("it loads: {source}"));
    let line = text[..first.at.start].matches('\n').count() + 1;
    (first.message.clone(), format!("line {line}: {}", first.help.as_deref().unwrap_or_default()))
}

fn described(description: &str) -> String {
    format!("---\nname: refunds\ndescription: {description}\ntools: find_order\n---\nLook first.\n")
}

fn with(lines: &str) -> String {
    format!("---\nname: refunds\ndescription: Money back\n{lines}\n---\nLook first.\n")
}

#[test]
fn b01_a_colon_in_a_description_is_kept_or_named_with_its_line() {
    let (message, help) = refused(&described("Handles money back: refunds and chargebacks"));
    assert_eq!(message, "`: ` inside an unquoted description");
    assert_eq!(help, "line 3: put it between quotes: `description: \"Handles money back: refunds and chargebacks\"`");
    let file = loads(&described("\"Handles money back: refunds and chargebacks\""));
    assert_eq!(file.description.text, "Handles money back: refunds and chargebacks");
    assert_eq!(file.tools[0].text, "find_order");
    assert_eq!(refused(&described("Use when:")).0, "`: ` inside an unquoted description");
    assert_eq!(refused(&described("\"Fix it\" fast")).0, "words follow the quotation that this value begins with");
    assert_eq!(loads(&described("see http://x.test/a")).description.text, "see http://x.test/a");
    for start in ["[beta] refunds", "*bold*", "@team", "`code`", "%x"] {
        let (message, help) = refused(&described(start));
        assert!(message.contains("begin"), "{start}: {message}");
        assert_eq!(help, format!("line 3: put it between quotes: `description: \"{start}\"`"));
    }
    let (message, help) = refused(&described("issue #4 and more"));
    assert_eq!(message, "` #` inside an unquoted description");
    assert!(help.starts_with("line 3: put the whole value between quotes"), "{help}");
}

#[test]
fn b02_files_of_windows_say_what_files_of_others_say() {
    let windows = "\u{feff}---\r\nname: refunds\r\ndescription: Money back\r\ntools: find_order\r\nsteps:\r\n  - find_order: look first\r\n---\r\n\r\nLine one\r\nLine two";
    let file = loads(windows);
    let unix = windows.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    assert_eq!(file.to_skill_md(), loads(&unix).to_skill_md());
    assert_eq!(file.body.text, "Line one\nLine two");
    assert_eq!(file.steps.expect("steps").list[0].note.text, "look first");
    for variant in [format!("\u{feff}{unix}"), unix.replace('\n', "\r\n"), unix.replace('\n', "\r")] {
        assert_eq!(loads(&variant).to_skill_md(), loads(&unix).to_skill_md());
    }
    // Inside the body it is data.
    assert_eq!(loads(&described("d").replace("Look", "\u{feff}Look")).body.text, "\u{feff}Look first.");
    assert_eq!(refused("---\nname: refunds\ndescription: d\n---").0, "the file has no instructions");
}

#[test]
fn b03_descriptions_of_several_lines_are_whole() {
    let source = "---\ndescription: >-\n  Money back\n  ---\n  and chargebacks: all of them\nname: refunds\n---\nbody";
    let file = loads(source);
    assert_eq!(file.description.text, "Money back --- and chargebacks: all of them");
    assert_eq!((file.name.text.as_str(), file.metadata.len()), ("refunds", 0));
    let wrapped = "---\nname: refunds\ndescription:\n  Money back\n  and chargebacks\n---\nbody";
    assert_eq!(loads(wrapped).description.text, "Money back and chargebacks");
    assert_eq!(loads(&described("|\n  Money back\n  and chargebacks")).description.text, "Money back\nand chargebacks");
    assert_eq!(loads(&with("metadata:\n  description: another")).description.text, "Money back");
    assert_eq!(refused(&described(">-")).0, "`description` says nothing");
}

#[test]
fn b05_values_have_their_shapes_and_limits() {
    let names = |file: SkillFile| file.tools.into_iter().map(|tool| tool.text).collect::<Vec<_>>();
    let file =
        loads(&with("tools: find_order, issue_refund").replace("Money back", "Use for a chart, graph, or plot."));
    assert_eq!(file.description.text, "Use for a chart, graph, or plot.");
    assert_eq!(names(file), ["find_order", "issue_refund"]);
    assert_eq!(names(loads(&with("tools: [a, b]"))), ["a", "b"]);
    assert_eq!(names(loads(&with("tools:\n  - a\n  - b"))), ["a", "b"]);
    assert_eq!(names(loads(&with("tools: a"))), ["a"]);
    assert_eq!(refused(&with("tools:")).0, "`tools` names no tool");
    assert_eq!(refused(&with("tools: ' , '")).0, "`tools` names no tool");
    let (message, help) = refused(&with("tools: , find_order"));
    assert_eq!(message, "an unquoted value cannot begin with `,`");
    assert_eq!(help, "line 4: write names alone, with commas between them: `tools: find_order, pay`");
    // What is left of a list, and what stands between spaces, is no name.
    for (tools, name) in [("a, b]", "b]"), ("a b", "a b"), ("[\"a, b\"]", "a, b"), ("a; b", "a; b")] {
        let (message, help) = refused(&with(&format!("tools: {tools}")));
        assert_eq!(message, format!("`{name}` is not the name of a tool"));
        assert_eq!(help, "line 4: write names alone, with commas between them: `tools: find_order, pay`");
    }
    for (name, expected) in [
        ("123", "`name` is a number or a truth value, not a text"),
        ("true", "`name` is a number or a truth value, not a text"),
        ("null", "`name` says nothing"),
        ("Refund Skill", "`Refund Skill` is not the name of a skill"),
        ("my--skill", "`my--skill` is not the name of a skill"),
        ("-x", "`-x` is not the name of a skill"),
    ] {
        assert_eq!(refused(&format!("---\nname: {name}\ndescription: d\n---\nb")).0, expected);
    }
    loads(&described(&"退".repeat(400)));
    loads(&described(&"退".repeat(1_024)));
    assert_eq!(
        refused(&described(&"退".repeat(1_025))).0,
        "`description` has 1025 characters, and the maximum is 1024"
    );
    assert_eq!(refused(&with("name: again")).0, "`name` stands here twice");
    let typo = refused(&with("tool: find_order"));
    assert_eq!(typo, ("there is no key `tool`".into(), "line 4: a key with a similar name exists: `tools`".into()));
    let notes = read(&with("allowed-tools: Bash(git:*) Read")).notes;
    assert!(notes[0].message.starts_with("`allowed-tools` is not the skill's tool list"), "{notes:?}");
}

#[test]
fn b17_what_can_never_take_effect_in_a_file_is_refused_at_its_line() {
    for (lines, code, place) in [
        ("tools: find_order\nsteps:\n  - find_order: look first\n  - issue_refund: pay", "foreign-tool", "7:5"),
        ("tools: find_order\nsteps:\n  - find_ordr: look first", "unknown-tool", "6:5"),
        ("tools: find_order\nsteps:\n  - find_order:", "skill-file", "6:5"),
        ("tools: find_order\nsteps:\n  - find_order: \"  \"", "skill-file", "6:5"),
        ("tools: find_order\nsteps: []", "empty-list", "5:8"),
        ("steps:\n  - find_order: look first", "steps-without-tools", "4:1"),
        ("tools: find_order\non-skip: hold", "on-skip-without-steps", "5:10"),
        ("tools: find_order\nsteps:\n  - find_order: look first\non-skip: maybe", "skill-file", "7:10"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
            std::fs::write(folder.path().join(name).join("SKILL.md"), text).expect("a file");
        };
        write("refunds", &with(lines));
        write("payouts", "---\nname: payouts\ndescription: d\ntools: issue_refund\n---\nb");
        let report = Runbook::load(folder.path(), &["find_order", "issue_refund"]).expect_err(lines);
        let found: Vec<String> =
            report.findings.iter().map(|finding| format!("{} {}", finding.code, finding.at)).collect();
        let at = folder.path().join("refunds/SKILL.md");
        assert_eq!(found, [format!("{code} {}:{place}", at.display())], "{lines}");
    }
}

#[test]
fn b41_two_skills_of_one_name_are_refused_whichever_door_they_come_by() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("deploy")).expect("a folder");
    let text = "---\nname: deploy\ndescription: d\n---\nb";
    std::fs::write(folder.path().join("deploy/SKILL.md"), text).expect("a file");
    // A second file of that name stands in a folder of another.
    std::fs::create_dir(folder.path().join("deploy-again")).expect("a folder");
    std::fs::write(folder.path().join("deploy-again/SKILL.md"), text).expect("a file");
    let none: [&str; 0] = [];
    let report = Runbook::load(folder.path(), &none).expect_err("two of one name");
    let again = folder.path().join("deploy-again/SKILL.md");
    assert!(report.findings.iter().all(|finding| finding.at.starts_with(&again.display().to_string())), "{report}");

    std::fs::remove_dir_all(folder.path().join("deploy-again")).expect("removed");
    let graph = r#"{ "name": "desk", "skills": [{ "id": "deploy", "description": "d", "body": "b" }],
                     "entries": [{ "skill": "deploy" }] }"#;
    let beside = Some(serde_json::from_str(graph).expect("a graph"));
    let report = Runbook::load_with(folder.path(), &none, &RunbookOptions { beside, ..RunbookOptions::default() })
        .expect_err("the graph has it already");
    assert!(report.to_string().contains("`deploy` is declared twice"), "{report}");
    assert!(report.to_string().contains("/skills/0"), "both places are named:\n{report}");
}

#[cfg(unix)]
#[test]
fn b51_a_folder_never_reaches_outside_itself() {
    use std::os::unix::fs::symlink;

    let write = |path: std::path::PathBuf, text: &str| {
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    let none: [&str; 0] = [];
    let outside = tempfile::tempdir().expect("a folder");
    write(outside.path().join("SKILL.md"), &described("d").replace("name: refunds", "name: leak"));
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path().join("refunds/SKILL.md"), "---\nname: refunds\ndescription: d\n---\nb");
    write(folder.path().join("refunds/node_modules/x/SKILL.md"), "not a skill");
    write(folder.path().join("shared/text.md"), "---\nname: inside\ndescription: d\n---\nb");
    std::fs::create_dir(folder.path().join("inside")).expect("a folder");
    symlink("../shared/text.md", folder.path().join("inside/SKILL.md")).expect("a link");
    assert_eq!(Runbook::load(folder.path(), &none).expect("sound").skills().count(), 2);

    std::fs::create_dir(folder.path().join("leak")).expect("a folder");
    symlink(outside.path().join("SKILL.md"), folder.path().join("leak/SKILL.md")).expect("a link");
    let report = Runbook::load(folder.path(), &none).expect_err("it leads out");
    assert!(report.findings[0].message.ends_with("leak/SKILL.md` leads out of the folder"), "{report}");
    // A file picks tools by name; it cannot name anything else.
    std::fs::remove_file(folder.path().join("leak/SKILL.md")).expect("removed");
    for (name, said) in [("rm_rf", "no tool named `rm_rf`"), ("../../x", "`../../x` is not the name of a tool")] {
        write(folder.path().join("refunds/SKILL.md"), &with(&format!("tools: {name}")));
        let report = Runbook::load(folder.path(), &["find_order"]).expect_err("not in the registry");
        assert!(report.to_string().contains(said), "{report}");
    }
    write(folder.path().join("refunds/SKILL.md"), &with(&format!("# {}", "x".repeat(2 * 1024 * 1024))));
    let report = Runbook::load(folder.path(), &none).expect_err("too large");
    assert!(report.to_string().contains("bytes, and the maximum is 1048576"), "{report}");
}

#[test]
fn f80_a_number_is_all_of_a_value() {
    for text in [
        "0x addresses of a chain",
        "0x",
        "0o8",
        "0xg",
        "1.2.3",
        "1e",
        "infinity",
        "inf",
        "nan",
        "+",
        "12 monkeys",
        "0b1",
    ] {
        assert_eq!(loads(&described(text)).description.text, text);
    }
    let file = loads("---\nname: 0x-desk\ndescription: 0x addresses\n---\nb");
    assert_eq!(file.name.text, "0x-desk");
    for number in
        ["0x1F", "0o17", "12", "-1", "+1.5", ".5", "1.", "1e3", "-1.5E-3", ".inf", "-.INF", ".NaN", "true", "FALSE"]
    {
        assert_eq!(refused(&described(number)).0, "`description` is a number or a truth value, not a text", "{number}");
    }
}

/// What loading a folder of one skill beside a graph with two tools says of bodies: code and place.
fn said_of(body: &str) -> Vec<(String, String)> {
    let text = format!("---\nname: refunds\ndescription: d\ntools: find_order\n---\n\n{body}\n");
    let folder = folder_of(&[("refunds/SKILL.md", &text)]);
    let tools = ["find_order", "issue_refund", "Read", "getInvoice"];
    let beside = serde_json::from_str(
        r#"{ "name": "desk", "skills": [{ "id": "start", "description": "d", "body": "b", "tools": ["issue_refund", "Read", "getInvoice"] }],
             "entries": [{ "skill": "start" }], "routes": [{ "from": "start", "to": "refunds", "pick": true }] }"#,
    );
    let beside = Some(beside.expect("a graph"));
    let options = RunbookOptions { beside, ..RunbookOptions::default() };
    let book = Runbook::load_with(folder.path(), &tools, &options).unwrap_or_else(|report| panic!("{report}"));
    let bodies = book.report().findings.iter().filter(|finding| finding.code.to_string().starts_with("body-"));
    let place = |at: &str| at.rsplit("SKILL.md:").next().unwrap_or_default().to_owned();
    bodies.map(|finding| (finding.code.to_string(), place(&finding.at))).collect()
}

#[test]
fn f81_a_word_of_a_body_is_shown_on_its_line() {
    let said = said_of("Look first.\n\nThen call `issue_refund`, or pay_now(order).");
    assert_eq!(said, [("body-foreign-tool".into(), "9:12".into()), ("body-unknown-tool".into(), "9:30".into())]);
}

#[test]
fn f82_the_help_of_a_file_speaks_of_no_braces() {
    let text = "---\nname: refunds\ndescription: d\n---\nCall pay_now(x).";
    let folder = folder_of(&[("refunds/SKILL.md", text)]);
    let none: [&str; 0] = [];
    let book = Runbook::load(folder.path(), &none).expect("a book");
    let [finding] = book.report().findings.as_slice() else { panic!("{}", book.report()) };
    assert!(!finding.help.as_deref().unwrap_or_default().contains('{'), "{finding:?}");
    assert!(finding.excerpt.as_deref().unwrap_or_default().contains("Call pay_now(x)."), "{finding:?}");
}

#[test]
fn f83_code_and_addresses_are_no_calls() {
    for body in [
        "```python\nissue_refund(order)\npay_now(x)\n```",
        "~~~\npay_now(x)\n~~~",
        "- a list\n\n  ```\n  pay_now(x)\n  ```",
        "Look:\n\n    pay_now(x)\n    issue_refund(y)",
        "<!-- issue_refund(x) -->",
        "See https://example.com/issue_refund(x) and <https://example.com/pay_now(x)>, or www.example.com/pay_now(1).",
        "[the page](https://example.com/issue_refund)",
    ] {
        assert_eq!(said_of(body), [], "{body}");
    }
    assert_eq!(said_of("- in a list: issue_refund").len(), 1);
    assert_eq!(said_of("# issue_refund\n\n> pay_now(x)\n\n**`getInvoice`** and [issue_refund](x.md)").len(), 3);
}

#[test]
fn f84_a_word_of_prose_is_no_tool() {
    assert_eq!(said_of("Read the order. read it twice."), []);
    assert_eq!(said_of("Call `Read` on the order."), [("body-foreign-tool".into(), "7:7".into())]);
    assert_eq!(said_of("Read(order) first.").len(), 1);
    // No word of prose looks like this.
    assert_eq!(said_of("Call getInvoice first.").len(), 1);
}

#[test]
fn f88_a_key_beside_one_of_metadata_stays_apart() {
    let file = loads(&with("version: 1.2\nmetadata:\n  version: 3\nx-list: [a, {b: null}]"));
    let written = file.to_skill_md();
    let again = loads(&written);
    assert_eq!((&again.metadata, &again.other_keys), (&file.metadata, &file.other_keys), "{written}");
    assert_eq!(file.metadata, [("version".to_owned(), Data::Text("3".into()))]);
    assert_eq!(file.other_keys[0], ("version".to_owned(), Data::Text("1.2".into())));
    assert_eq!(again.to_skill_md(), written);
}

#[test]
fn f89_a_key_twice_is_refused_however_deep() {
    for lines in [
        "metadata:\n  a: 1\n  a: 2",
        "metadata:\n  list:\n    - {a: 1, a: 2}",
        "hooks:\n  on:\n    a: 1\n    b: 2\n    a: 3",
    ] {
        assert_eq!(refused(&with(lines)).0, "`a` stands here twice", "{lines}");
    }
    loads(&with("metadata:\n  a: {b: 1}\n  b: {b: 1}"));
    // What has no key would be lost, or would stand twice under the same nothing.
    for lines in ["metadata:\n  : a\n  : b", "metadata:\n  a:\n    [x]: y", "hooks: {\"\": 1}", "hooks: [{null: 1}]"] {
        assert_eq!(refused(&with(lines)).0, "a value without a key", "{lines}");
    }
}

#[test]
fn f90_a_key_beside_the_one_that_it_resembles_is_a_note() {
    let read = read(&with("description_de: Geld zurück"));
    assert_eq!(read.findings, []);
    assert_eq!(read.notes[0].message, "nobody reads the key `description_de`: it is kept as it is");
    // Alone it is a misspelling, and beside one that says nothing.
    for lines in
        ["metadata:\nmetadat: {a: 1}", "metadata: {}\nmetadat: {a: 1}", "allowed-tools: ','\nallowed-tool: Read"]
    {
        assert!(refused(&with(lines)).0.starts_with("there is no key `"), "{lines}");
    }
    let typo = refused("---\nname: refunds\ndescripton: d\n---\nb");
    assert_eq!(typo.0, "there is no key `descripton`");
}

#[test]
fn f91_what_is_not_closed_says_so() {
    for (lines, said, close) in [
        ("metadata: {a: 1", "this map never ends", '}'),
        ("metadata: {a: {b: 1", "this map never ends", '}'),
        ("tools: [find_order, pay", "this list never ends", ']'),
        ("metadata: {a: 1\nlicense: MIT", "this map never ends", '}'),
    ] {
        let (message, help) = refused(&with(lines));
        assert_eq!(message, said, "{lines}");
        assert!(help.contains(&format!("close it with `{close}`")) || lines.starts_with("tools"), "{help}");
    }
}

/// A folder with these files: path and text; a text that begins with `->` is a link.
fn folder_of(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        match text.strip_prefix("-> ") {
            #[cfg(unix)]
            Some(to) => std::os::unix::fs::symlink(to, path).expect("a link"),
            #[cfg(not(unix))]
            Some(_) => {}
            None => std::fs::write(path, text).expect("a file"),
        }
    }
    folder
}

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: d\n---\nb")
}

fn names(book: &Runbook) -> Vec<&str> {
    book.skills().map(|skill| skill.name.text.as_str()).collect()
}

#[test]
fn f85_what_lies_deeper_is_named_or_read() {
    let (a, b, c, d) = (skill("a"), skill("b"), skill("c"), skill("d"));
    let folder = folder_of(&[
        ("a/SKILL.md", &a),
        ("group/b/SKILL.md", &b),
        ("group/deep/er/c/SKILL.md", &c),
        // What stands below a skill belongs to it.
        ("a/examples/d/SKILL.md", &d),
    ]);
    let none: [&str; 0] = [];
    let book = Runbook::load(folder.path(), &none).expect("a book");
    assert_eq!(names(&book), ["a"]);
    let said: Vec<&str> = book.notes().iter().map(|note| note.message.as_str()).collect();
    let path = |path: &str| folder.path().join(path).display().to_string();
    assert_eq!(
        said,
        [
            format!("`{}` lies deeper than is read (1 level)", path("group/b/SKILL.md")),
            format!("`{}` lies deeper than is read (1 level)", path("group/deep/er/c/SKILL.md")),
        ]
    );
    for (depth, found) in [(2, &["a", "b"][..]), (4, &["a", "b", "c"][..]), (9, &["a", "b", "c"][..])] {
        let limits = Limits { depth, ..Limits::default() };
        let options = RunbookOptions { limits, ..RunbookOptions::default() };
        let book = Runbook::load_with(folder.path(), &none, &options).expect("a book");
        assert_eq!((names(&book), book.notes().len()), (found.to_vec(), 3 - found.len()));
    }
}

#[test]
fn f85_a_folder_that_leads_into_itself_ends() {
    let a = skill("a");
    let folder = folder_of(&[("group/a/SKILL.md", &a), ("group/again", "-> ../group"), ("group/up", "-> ..")]);
    let none: [&str; 0] = [];
    for depth in [1, 3, 60] {
        let limits = Limits { depth, directories: 500, ..Limits::default() };
        let loaded = Runbook::load_with(folder.path(), &none, &RunbookOptions { limits, ..RunbookOptions::default() });
        match loaded {
            Ok(book) => assert_eq!(names(&book), ["a"]),
            Err(report) => assert!(depth == 1 || report.to_string().contains("more than 500 directories"), "{report}"),
        }
    }
}

#[test]
fn f86_one_unsound_file_does_not_refuse_the_rest() {
    let long = described(&"x".repeat(1_025)).replace("name: refunds", "name: long").replace("tools: find_order\n", "");
    let (a, other, leads) =
        (skill("a"), skill("named-otherwise"), skill("leads").replace("---\nb", "routes: [long]\n---\nb"));
    let folder = folder_of(&[
        ("a/SKILL.md", &a),
        ("long/SKILL.md", &long),
        ("other/SKILL.md", &other),
        ("leads/SKILL.md", &leads),
        ("no/SKILL.md", "not a skill"),
        ("big/SKILL.md", &"x".repeat(2 * 1024 * 1024)),
    ]);
    let none: [&str; 0] = [];
    Runbook::load(folder.path(), &none).expect_err("all or nothing");
    let book = Runbook::load_lenient(folder.path(), &none).expect("a book");
    assert_eq!(names(&book), ["a", "named-otherwise"]);
    let said: Vec<(Level, String)> = book
        .report()
        .findings
        .iter()
        .map(|finding| {
            let at = finding.at.strip_prefix(&folder.path().display().to_string()).unwrap_or_default();
            (finding.level, format!("{} {}", finding.code, at.split(':').next().unwrap_or_default()))
        })
        .collect();
    let said =
        |level: Level| said.iter().filter(|(of, _)| *of == level).map(|(_, said)| said.as_str()).collect::<Vec<_>>();
    assert_eq!(
        said(Level::Refusal),
        [
            "skill-file /big/SKILL.md",
            // What leads to a skill that is refused leads nowhere.
            "unknown-skill /leads/SKILL.md",
            "skill-file /long/SKILL.md",
            "skill-file /no/SKILL.md",
        ]
    );
    assert_eq!(said(Level::Warning), ["skill-file /other/SKILL.md"]);
    // What is loaded makes a graph.
    let graph = skillgraph::Graph::compile(&book.spec("desk"), &none).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(graph.skills().len(), 2);
    Runbook::load_lenient(folder.path().join("nowhere"), &none).expect_err("there is no folder");
}

#[cfg(unix)]
#[test]
fn f87_a_file_to_which_two_links_lead_is_read_once() {
    let desk = skill("desk");
    let none: [&str; 0] = [];
    for files in [
        // The link has the name of the skill, or the folder has, or a link to the file.
        [("open-desk/SKILL.md", desk.as_str()), ("desk", "-> open-desk")],
        [("desk/SKILL.md", desk.as_str()), ("a-desk", "-> desk")],
        [("desk/SKILL.md", desk.as_str()), ("z/SKILL.md", "-> ../desk/SKILL.md")],
    ] {
        let folder = folder_of(&files);
        let book = Runbook::load(folder.path(), &none).unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(names(&book), ["desk"], "{files:?}");
    }
}
