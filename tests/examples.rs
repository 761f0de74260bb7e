//! The examples do what the README says of them, started as a user starts them.

use std::process::Command;

fn run(arguments: &[&str]) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--example"]).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn support_desk_refunds_a_double_charge() {
    let said = run(&["support_desk", "--", "--trace", "I was charged twice for order 1042"]);
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
    let said = run(&["support_desk", "--", "--trace", "refund order 7777"]);
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
