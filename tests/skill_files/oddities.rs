//! What stands in SKILL.md files that people have: each loads as YAML says, or is refused in words that say what to write.

use skillgraph::core::excerpt::excerpt;
use skillgraph::core::skill_file::{Data, Read, SkillFile, read};

/// The file, with what is said of it to its author.
fn shown(source: &str) -> (Read, String) {
    let read = read(source);
    let findings = read.findings.iter().map(|finding| {
        let drawn = excerpt("SKILL.md", &read.text, finding.at.clone());
        let help = finding.help.as_deref().unwrap_or_default();
        format!("{} [{}]\n{drawn}\nhelp: {help}", finding.message, finding.code)
    });
    let text = findings.collect::<Vec<_>>().join("\n");
    (read, text)
}

fn loads(source: &str) -> SkillFile {
    let (read, text) = shown(source);
    assert_eq!(text, "");
    read.file.expect("a file")
}

/// A file whose front matter has these lines beside a name and a description.
fn with(lines: &str) -> String {
    format!("---\nname: desk\ndescription: Money back\n{lines}\n---\nLook first.\n")
}

/// A file of this description, as it is written after the colon.
fn described(description: &str) -> String {
    format!("---\ndescription:{description}\nname: desk\n---\nLook first.\n")
}

fn note_of(source: &str) -> Vec<String> {
    read(source).notes.iter().map(|note| note.message.clone()).collect()
}

macro_rules! describes {
    ($($(#[$meta:meta])* $name:ident: $written:expr => $read:expr;)*) => {$(
        $(#[$meta])*
        #[test]
        fn $name() {
            assert_eq!(loads(&described($written)).description.text, $read);
        }
    )*};
}

describes! {
    o02_a_literal_block_without_its_last_break: " |-\n  Money back.\n  And more." => "Money back.\nAnd more.";
    o03_escapes_between_double_quotes: r#" "A \"quoted\" word,\ta tab and \u00fc""# => "A \"quoted\" word,\ta tab and ü";
    o06_a_doubled_single_quote: " 'The customer''s money'" => "The customer's money";
    o07_a_literal_block: " |\n  Money back.\n  And more." => "Money back.\nAnd more.";
    o08_a_folded_block: " >\n  Money back,\n  and more." => "Money back, and more.";
    o09_a_folded_block_without_its_last_break: " >-\n  Money back,\n  and more." => "Money back, and more.";
    o10_a_blank_line_inside_a_block: " |\n  Money back.\n\n  And more." => "Money back.\n\nAnd more.";
    o11_a_plain_value_over_several_lines: " Money back\n  and more" => "Money back and more";
    o12_single_quotes_around_blank_lines: " 'Money back.\n\n  And more.'" => "Money back.\nAnd more.";
    o55_a_fence_inside_a_value: " before --- after" => "before --- after";
}

macro_rules! refused {
    ($($name:ident: $source:expr => $said:expr;)*) => {$(
        #[test]
        fn $name() {
            assert_eq!(shown(&$source).1, $said);
        }
    )*};
}

refused! {
    o13_words_after_a_quotation: described(" \"Money back\"\n  and more") => "\
this line is no `key: value` [skill-file]
 --> SKILL.md:3:1
  |
3 |   and more
  | ^^^^^^^^^^
help: write `key: value`, indent what belongs to the line before, or move the text after the second `---`";
    o14_a_colon_inside_a_plain_value: described(" Handles money back: refunds") => "\
`: ` inside an unquoted description [skill-file]
 --> SKILL.md:2:32
  |
2 | description: Handles money back: refunds
  |                                ^
help: put it between quotes: `description: \"Handles money back: refunds\"`";
    o15_two_stars_at_the_beginning: described(" **Money** back") => "\
an unquoted value cannot begin with `*` [skill-file]
 --> SKILL.md:2:14
  |
2 | description: **Money** back
  |              ^^^^^^^^^^^^^^
help: put it between quotes: `description: \"**Money** back\"`";
    o16_words_after_a_list: with("argument-hint: [order] | \"all\"") => "\
words follow the list that this value begins with [skill-file]
 --> SKILL.md:4:16
  |
4 | argument-hint: [order] | \"all\"
  |                ^^^^^^^^^^^^^^^
help: put it between quotes: `argument-hint: \"[order] | \\\"all\\\"\"`";
    o17_an_at_sign_at_the_beginning: with("author: @ada") => "\
an unquoted value cannot begin with `@` [skill-file]
 --> SKILL.md:4:9
  |
4 | author: @ada
  |         ^^^^
help: put it between quotes: `author: \"@ada\"`";
    o18_two_lists_side_by_side: with("argument-hint: [order] [amount]") => "\
words follow the list that this value begins with [skill-file]
 --> SKILL.md:4:16
  |
4 | argument-hint: [order] [amount]
  |                ^^^^^^^^^^^^^^^^
help: put it between quotes: `argument-hint: \"[order] [amount]\"`";
    o19_a_stray_line: with("version: \"1\"\nand some words") => "\
this line is no `key: value` [skill-file]
 --> SKILL.md:5:1
  |
5 | and some words
  | ^^^^^^^^^^^^^^
help: write `key: value`, indent what belongs to the line before, or move the text after the second `---`";
    o20_a_conflict_of_a_merge: with("<<<<<<< HEAD\nversion: \"1\"\n=======\nversion: \"2\"\n>>>>>>> other") => "\
a conflict of a merge stands in the front matter [skill-file]
 --> SKILL.md:4:1
  |
4 | <<<<<<< HEAD
  | ^^^^^^^^^^^^
help: choose one of the two sides and remove the marks";
    o21_a_key_twice: with("version: \"1\"\nversion: \"2\"") => "\
`version` stands here twice [skill-file]
 --> SKILL.md:5:1
  |
5 | version: \"2\"
  | ^^^^^^^
help: remove one of the two";
    o32_compatibility_as_a_map: with("compatibility:\n  product: desk") => "\
`compatibility` is a map, not a text [skill-file]
 --> SKILL.md:5:3
  |
5 |   product: desk
  |   ^^^^^^^
help: put the whole value between quotes";
    o33_compatibility_as_a_list: with("compatibility: [desk, shop]") => "\
`compatibility` is a list, not a text [skill-file]
 --> SKILL.md:4:16
  |
4 | compatibility: [desk, shop]
  |                ^^^^^^^^^^^^
help: put the whole value between quotes";
    o38_a_blank_line_before_the_front_matter: "\n---\nname: desk\ndescription: d\n---\nb" => "\
the file does not begin with front matter [skill-file]
 --> SKILL.md:1:1
  |
1 | 
  | ^
help: begin with a line `---`, then `name: …` and `description: …`, then a line `---`";
    o39_bold_markdown_in_place_of_keys: "---  \n**Name**: desk\n---\nb" => "\
this line is no `key: value` [skill-file]
 --> SKILL.md:2:1
  |
2 | **Name**: desk
  | ^^^^^^^^^^^^^^
help: write `key: value`, indent what belongs to the line before, or move the text after the second `---`";
    o40_front_matter_that_never_ends: "---\nname: desk\ndescription: d\n\nLook first." => "\
the front matter never ends [skill-file]
 --> SKILL.md:1:1
  |
1 | ---
  | ^^^
help: put a line `---` after its last key";
    o41_no_front_matter: "<!-- desk -->\n# Desk\n" => "\
the file does not begin with front matter [skill-file]
 --> SKILL.md:1:1
  |
1 | 
  | ^
help: begin with a line `---`, then `name: …` and `description: …`, then a line `---`";
    o43_lines_without_colons: "---\nthis is\nthe desk\n---\nb" => "\
the front matter is a text, not keys with values [skill-file]
 --> SKILL.md:2:1
  |
2 | this is
  | ^^^^^^^
help: write `name: …` and `description: …`, each on a line of its own";
    o44_a_title_in_place_of_a_name: "---\ntitle: The desk\ndescription: d\n---\nb" => "\
the front matter has no `name` [skill-file]
 --> SKILL.md:2:1
  |
2 | title: The desk
  | ^
help: add `name: …`";
    o45_no_description: "---\nname: desk\n---\nb" => "\
the front matter has no `description` [skill-file]
 --> SKILL.md:2:1
  |
2 | name: desk
  | ^
help: add `description: …`";
    o46_a_description_that_becomes_a_remark: described(" #1 for money") => "\
`description` says nothing [empty-text]
 --> SKILL.md:2:1
  |
2 | description: #1 for money
  | ^^^^^^^^^^^
help: put it between quotes: `description: \"#1 for money\"`";
    o47_a_name_that_is_to_be_filled_in: "---\nname: [TODO the name]\ndescription: d\n---\nb" => "\
`name` is a list, not a text [skill-file]
 --> SKILL.md:2:7
  |
2 | name: [TODO the name]
  |       ^^^^^^^^^^^^^^^
help: put the whole value between quotes";
    o49_a_name_with_spaces_and_capitals: "---\nname: Front Desk\ndescription: d\n---\nb" => "\
`Front Desk` is not the name of a skill [invalid-name]
 --> SKILL.md:2:7
  |
2 | name: Front Desk
  |       ^^^^^^^^^^
help: use 1 to 64 of `a-z`, `0-9` and `-`, without `-` at the ends and without `--`";
    o50_a_name_with_a_slash: "---\nname: shop/desk\ndescription: d\n---\nb" => "\
`shop/desk` is not the name of a skill [invalid-name]
 --> SKILL.md:2:7
  |
2 | name: shop/desk
  |       ^^^^^^^^^
help: use 1 to 64 of `a-z`, `0-9` and `-`, without `-` at the ends and without `--`";
    o51_a_name_with_a_colon: "---\nname: shop:desk\ndescription: d\n---\nb" => "\
`shop:desk` is not the name of a skill [invalid-name]
 --> SKILL.md:2:7
  |
2 | name: shop:desk
  |       ^^^^^^^^^
help: use 1 to 64 of `a-z`, `0-9` and `-`, without `-` at the ends and without `--`";
    o52_a_name_in_another_script: "---\nname: 退款\ndescription: d\n---\nb" => "\
`退款` is not the name of a skill [invalid-name]
 --> SKILL.md:2:7
  |
2 | name: 退款
  |       ^^
help: use 1 to 64 of `a-z`, `0-9` and `-`, without `-` at the ends and without `--`";
    o53_a_name_with_two_dashes: "---\nname: front--desk\ndescription: d\n---\nb" => "\
`front--desk` is not the name of a skill [invalid-name]
 --> SKILL.md:2:7
  |
2 | name: front--desk
  |       ^^^^^^^^^^^
help: use 1 to 64 of `a-z`, `0-9` and `-`, without `-` at the ends and without `--`";
}

#[test]
fn o54_a_name_of_more_than_64_characters() {
    let (_, text) = shown(&format!("---\nname: {}\ndescription: d\n---\nb", "a".repeat(65)));
    assert!(text.contains("is not the name of a skill [invalid-name]"), "{text}");
    loads(&format!("---\nname: {}\ndescription: d\n---\nb", "a".repeat(64)));
}

#[test]
fn o22_metadata_as_json_on_one_line() {
    let file = loads(&with(r#"metadata: {"client": {"emoji": "🧾", "needs": ["shop"]}}"#));
    let needs = ("needs".to_owned(), Data::List(vec![Data::Text("shop".into())]));
    let emoji = ("emoji".to_owned(), Data::Text("🧾".into()));
    assert_eq!(file.metadata, [("client".to_owned(), Data::Map(vec![emoji, needs]))]);
}

#[test]
fn o23_nested_metadata_does_not_win_over_keys_of_its_own() {
    let file = loads(&with("metadata:\n  description: another\n  owner:\n    team: desk"));
    assert_eq!(file.description.text, "Money back");
    assert_eq!(file.metadata[0], ("description".to_owned(), Data::Text("another".into())));
    assert_eq!(file.metadata[1].1, Data::Map(vec![("team".to_owned(), Data::Text("desk".into()))]));
}

#[test]
fn o25_a_blank_value_inside_metadata() {
    assert_eq!(loads(&with("metadata:\n  version:")).metadata, [("version".to_owned(), Data::Null)]);
}

#[test]
fn o26_json_inside_a_quotation() {
    let (_, text) = shown(&with(r#"metadata: '{"version": 1}'"#));
    assert!(text.starts_with("`metadata` is a text, not keys with values [skill-file]"), "{text}");
}

#[test]
fn o27_metadata_that_says_nothing() {
    assert!(loads(&with("metadata:")).metadata.is_empty());
}

#[test]
fn o28_to_o31_allowed_tools_in_four_shapes_are_no_tools_of_the_skill() {
    for written in [
        "\n  - Bash(git add:*)\n  - Read",
        " [\"Bash(git add:*)\", Read]",
        " Bash(git add:*), Read",
        " Bash(git add:*) Read",
    ] {
        let source = with(&format!("allowed-tools:{written}"));
        let file = loads(&source);
        assert_eq!(file.allowed_tools, ["Bash(git add:*)", "Read"], "{written}");
        assert!(file.tools.is_empty());
        assert_eq!(note_of(&source), ["`allowed-tools` is not the skill's tool list: nothing here reads it"]);
    }
}

#[test]
fn o34_compatibility_as_a_text_of_at_most_500_characters() {
    assert_eq!(loads(&with("compatibility: Needs the shop")).compatibility.as_deref(), Some("Needs the shop"));
    let (_, text) = shown(&with(&format!("compatibility: {}", "a".repeat(501))));
    assert!(text.starts_with("`compatibility` has 501 characters, and the maximum is 500 [skill-file]"), "{text}");
}

#[test]
fn o35_to_o37_files_of_windows_say_the_same() {
    let unix = with("tools: find\nsteps:\n  - find: look first");
    let windows = unix.replace('\n', "\r\n");
    let expected = loads(&unix).to_skill_md();
    for source in [windows.clone(), format!("\u{feff}{unix}"), format!("\u{feff}{windows}"), unix.replace('\n', "\r")] {
        assert_eq!(loads(&source).to_skill_md(), expected);
    }
}

#[test]
fn o42_a_remark_on_a_line_of_its_own() {
    assert_eq!(loads(&with("# what it needs\ntools: find # the finder")).tools[0].text, "find");
}

#[test]
fn o48_yes_is_a_text_and_a_number_is_none() {
    assert_eq!(loads("---\nname: yes\ndescription: d\n---\nb").name.text, "yes");
    let (_, text) = shown("---\nname: 123\ndescription: d\n---\nb");
    assert!(text.starts_with("`name` is a number or a truth value, not a text [skill-file]"), "{text}");
    assert!(text.ends_with("help: put it between quotes: `name: \"123\"`"), "{text}");
}

#[test]
fn o56_a_file_name_in_other_letters() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("desk")).expect("a folder");
    std::fs::write(folder.path().join("desk/SKILL.MD"), with("")).expect("a file");
    let report = skillgraph::core::runbook::Runbook::load(folder.path(), &[] as &[&str]).expect_err("misnamed");
    assert!(report.to_string().contains("desk/SKILL.MD` must be called `SKILL.md`"), "{report}");
}

#[test]
fn o57_to_o60_keys_of_other_clients_are_kept_and_reported() {
    let source = with("context: fork\ndisable-model-invocation: true\nargument-hint: \"[order]\"\nversion: 1.10");
    let kept =
        [("context", "fork"), ("disable-model-invocation", "true"), ("argument-hint", "[order]"), ("version", "1.10")];
    let kept = kept.map(|(key, value)| (key.to_owned(), Data::Text(value.to_owned())));
    assert_eq!(loads(&source).other_keys, kept);
    assert_eq!(note_of(&source).len(), 4);
    assert_eq!(note_of(&source)[0], "nobody reads the key `context`: it is kept as it is");
}
