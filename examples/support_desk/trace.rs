//! Prints what happens, as it happens.

use skillgraph::{Event, MoveRecord, Outcome};

pub fn print(event: &Event) {
    match event {
        Event::CursorDecided(decision) => {
            println!("iteration {}", decision.iteration);
            println!("  cursor    {}", describe(decision));
        }
        Event::Offered { tools, .. } => {
            let names: Vec<&str> = tools.iter().map(AsRef::as_ref).collect();
            println!("  offered   {}", names.join(", "));
        }
        Event::CallRefused { tool, reason, .. } => println!("  refused   {tool}: {reason:?}"),
        Event::PickRejected { requested, allowed, .. } => println!("  refused   {requested}: allowed are {allowed:?}"),
        Event::ToolReturned { tool, status, .. } => println!("  call      {tool}: {status}"),
        Event::StepAdvanced { step, total, .. } => println!("  step      {step} of {total} done"),
        Event::StepsUnfinished { remaining, total, action, .. } => {
            println!("  step      {} of {total} left: {action:?}", remaining.len());
        }
        Event::TurnEnded { iterations, outcome: Outcome::Answered { .. } } => {
            println!("answered on iteration {iterations}:");
        }
        _ => {}
    }
}

/// Where the cursor is, and why.
fn describe(decision: &MoveRecord) -> String {
    let skill = decision.to.as_ref().map_or("nowhere", AsRef::as_ref);
    let mut text = format!("{skill}, by {}", decision.by);
    if let Some(witness) = &decision.witness {
        text.push_str(&format!(": the message says `{}`", witness.text));
    }
    if let Some(fired) = &decision.fired {
        text.push_str(&format!(": `{}` returned {}", fired.tool, fired.status));
    }
    if let Some(label) = &decision.label {
        text.push_str(&format!(" ({label})"));
    }
    text
}
