//! The examples do what the README says of them. They are built as `cargo test --workspace` has built them already, so that
//! nothing is built twice; `.ci/run` starts the main one as a user does.

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

/// The folder of the built examples.
static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--workspace", "--examples"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    assert!(cargo.status().expect("cargo runs").success(), "the examples are built");
    let own = std::env::current_exe().expect("a path");
    own.parent().and_then(|deps| deps.parent()).expect("the folder of the profile").join("examples")
});

/// What an example says; the first argument is its name.
fn run(arguments: &[&str]) -> String {
    let (said, error) = attempt(arguments);
    assert_eq!(error, None);
    said
}

/// What it says, and what it says of a failure.
fn attempt(arguments: &[&str]) -> (String, Option<String>) {
    let (name, rest) = arguments.split_first().expect("a name");
    let mut example = Command::new(BUILT.join(name));
    example.args(rest).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = example.output().expect("the example runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let error = (!output.status.success()).then(|| text(output.stderr));
    (text(output.stdout), error)
}

#[test]
fn support_desk_refunds_a_double_charge() {
    let said = run(&["support_desk", "--trace", "I was charged twice for order 1042"]);
    let expected = "\
iteration 1
  cursor    billing, by entry: the message says `charged twice`
  offered   lookup_order, read_skill, list_skills, skip_step
  call      lookup_order: success
  step      1 of 2 done
iteration 2
  cursor    billing, by stay
  offered   issue_refund, read_skill, list_skills, skip_step
  call      issue_refund: success
  step      2 of 2 done
iteration 3
  cursor    billing, by stay
  offered   lookup_order, issue_refund, read_skill, list_skills
answered on iteration 3:
charges: 2, customer: Ada, number: 1042, parcel: delivered on 3 May, refunded cents: 0, total cents: 4990
order: 1042, refunded cents: 4990
  (billing, by entry)
";
    assert_eq!(said, expected);
}

#[test]
fn support_desk_never_offers_a_refund_for_an_order_that_does_not_exist() {
    let said = run(&["support_desk", "--trace", "refund order 7777"]);
    assert!(said.contains("call      lookup_order: absent"), "{said}");
    assert!(!said.contains("issue_refund"), "{said}");
    assert!(said.ends_with("There is no order 7777.\n  (billing, by entry)\n"), "{said}");
}

#[test]
fn refused_pick_shows_the_refusal_and_the_record() {
    let expected = "\
offered on iteration 1: get_invoice, read_skill, list_skills
  read_skill may open:  billing
the model called read_skill(\"audit-log\") and read:
  `audit-log` is not reachable from `triage`. From here you can open `billing`, or finish where you are.
on the record:
  rejected: requested audit-log, cursor triage, allowed: [billing], iteration 1
  iteration 1: triage by entry
  iteration 2: triage by stay
the cursor ends on triage; it was on: triage
";
    assert_eq!(run(&["refused_pick"]), expected);
}

#[test]
fn three_turns_start_by_a_score_by_continuity_and_by_a_rule() {
    let expected = "\
> Please renew my book.
  starts    loans, by intent
            0.50 loans
            0.00 fines
It is yours until 3 May.
> Thank you, good to know.
  starts    loans, by continuity
            0.00 loans
            0.00 fines
            menu: fines, or stay
You are welcome.
> And I left an umbrella with you.
  starts    lost-property, by entry: the message says `umbrella`
What colour is it?
> As a reader, what do I need to know about the fee?
  starts    lost-property, by continuity
            0.34 fines
            0.16 loans
            0.00 lost-property
  then      fines, by model-pick
The fee is for the third reminder.
";
    assert_eq!(run(&["three_turns"]), expected);
}

#[test]
fn approved_refund_waits_in_a_file_between_two_processes() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("conversation.json");
    let state = state.to_str().expect("a path");
    let said = |words: &[&str]| run(&[&["approved_refund", "--state", state], words].concat());

    let asks = "issue_refund asks: Refund 250 € for order 1042?\n";
    assert_eq!(said(&[]), asks);
    let approved = "\
issue_refund asked: Refund 250 € for order 1042?
(refunding 250 € for order 1042)
  (billing, by stay)
You have your 250 € back.
";
    assert_eq!(said(&["yes"]), approved);

    assert_eq!(said(&[]), asks);
    let refused = "\
issue_refund asked: Refund 250 € for order 1042?
  (explain, by route: refused by a person)
We cannot refund this: the parcel has arrived. You can send it back within 14 days.
";
    assert_eq!(said(&["no", "the parcel has arrived"]), refused);

    // The answer has been given: there is nothing left to answer.
    let (said, error) = attempt(&["approved_refund", "--state", state, "yes"]);
    assert_eq!(said, "");
    assert!(error.expect("a failure").contains("nothing waits in"));
}

#[test]
fn roles_show_a_skill_to_one_and_hide_it_from_another() {
    let expected = "\
Ben, assistant: \"Raise Eve's salary\"
  hidden        salaries
  starts        people, past salaries
  offered       find_person, read_skill, list_skills
  read_skill    There is no skill with that id. From here you can open `holidays`, or finish where you are.
  change_salary `change_salary` is not available here. Available now: `find_person`, `read_skill`, `list_skills`.
Cleo, controller: \"Raise Eve's salary\"
  starts        salaries
  offered       find_person, change_salary, read_skill, list_skills
  read_skill    `salaries` is open already: its instructions and tools are in place. Go on with it; from here you can also open `people`, `holidays`.
  change_salary `change_salary` was not run: it is not permitted (no role of the user grants tool_call).
Dora, head: \"Raise Eve's salary\"
  starts        salaries
  offered       find_person, change_salary, read_skill, list_skills
  read_skill    `salaries` is open already: its instructions and tools are in place. Go on with it; from here you can also open `people`, `holidays`.
  change_salary done
";
    assert_eq!(run(&["roles"]), expected);
}

#[test]
fn runbook_loads_a_folder_and_says_what_would_be_wrong_with_it() {
    let expected = "\
audit-log   What was refused, and why
billing     Refunds, charges and invoices: whatever is about money
escalation  Hand over to a person, when the amount is large or the customer asks for one
iteration 1: billing, by entry
iteration 2: billing, by stay
iteration 3: billing, by stay
You have your money back.
without `issue_refund`, the first of 2:
no tool named `issue_refund` in graph `desk`
 --> examples/runbooks/billing/SKILL.md:4:23
  |
4 | tools: [lookup_order, issue_refund]
  |                       ^^^^^^^^^^^^
";
    assert_eq!(run(&["runbook"]), expected);
}

#[test]
fn compiled_runbook_has_the_folder_s_skills() {
    let said = run(&["compiled_runbook"]);
    assert!(said.starts_with("billing, audit-log, escalation\nflowchart TD\n"), "{said}");
    assert!(said.contains("n2 -->|\"large\"| n3"), "{said}");
}

#[test]
fn token_budget_shows_what_each_way_of_disclosing_costs() {
    let said = run(&["token_budget"]);
    let readme = std::fs::read_to_string("README.md").expect("the README");
    assert!(readme.contains(&said), "the README shows this table:\n{said}");
}

#[test]
fn traced_prints_spans_as_a_tree() {
    let said = run(&["traced"]);
    assert!(
        said.starts_with("invoke_agent operation.name=invoke_agent agent.name=desk conversation.id=42\n"),
        "{said}"
    );
    assert!(said.contains("\n  execute_tool operation.name=execute_tool tool.name=issue_refund"), "{said}");
    assert!(said.ends_with("Refunded.\n"), "{said}");
}

#[test]
fn a_real_model_without_a_key_says_what_to_set() {
    let (_, error) = attempt(&["desk_with_model", "--model", "heabsy::m", "hello"]);
    let expected = "`heabsy::m` has no key: set `HEABSY_API_KEY`, or give the model its key. Without a key: \
                    `cargo run --example support_desk`\n";
    assert!(error.expect("a failure").ends_with(expected));
}
