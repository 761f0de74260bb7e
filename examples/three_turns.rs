//! Where turns start: the first message is scored, the second says nothing and stays where the first led, a rule moves the
//! third. The fourth is too close to call: it stays, and the model picks.
//!
//! ```text
//! cargo run --example three_turns
//! ```

use skillgraph::{Continuity, Event, ModelReply, ScriptedModel, ToolCall, TurnRouted, skill_graph};

skill_graph! {
    graph library {
        skill loans {
            description: "Borrow and renew",
            body: "Say what can be renewed, and until when.",
        }

        skill fines {
            description: "Fees and fines",
            body: "Explain each fee. Waive none.",
        }

        skill lost_property {
            description: "What was left in the library",
            body: "Ask for a description before you say what was found.",
        }

        entry loans when intent("the reader wants to renew a loan", ["renew my book", "may I keep the book longer?"]);
        entry fines when intent("the reader asks about a fine", ["why was I charged?", "I want to pay my fine"]);
        entry lost_property when keywords["umbrella", "lost"] { examples: ["I lost my scarf", "a black umbrella"] }
        never_routes: ["when do you open?"];
        classify: keyword;
        route loans ~> fines;
        route fines ~> loans;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = ScriptedModel::new([
        ModelReply::text("It is yours until 3 May."),
        ModelReply::text("You are welcome."),
        ModelReply::text("What colour is it?"),
        ModelReply::calls([ToolCall::new("c1", "read_skill", r#"{"id": "fines"}"#)]),
        ModelReply::text("The fee is for the third reminder."),
    ]);
    let agent = library::agent(library::Tools {}).model(model).continuity(Continuity::Conversation).build()?;
    let mut conversation = agent.conversation();
    for message in [
        "Please renew my book.",
        "Thank you, good to know.",
        "And I left an umbrella with you.",
        "As a reader, what do I need to know about the fee?",
    ] {
        println!("> {message}");
        let report = conversation.send(message).await?;
        for event in &report.events {
            match event {
                Event::TurnRouted(routed) => println!("  starts    {}", start_of(routed)),
                Event::CursorDecided(hop) if hop.iteration > 1 => {
                    println!("  then      {}, by {}", id(hop.to.as_ref()), hop.by)
                }
                _ => {}
            }
        }
        println!("{}", report.text().unwrap_or_default());
    }
    Ok(())
}

/// Where a turn starts, why, and what it was scored by.
fn start_of(routed: &TurnRouted) -> String {
    let mut text = format!("{}, by {}", id(routed.to.as_ref()), routed.by);
    if let Some(witness) = &routed.witness {
        text.push_str(&format!(": the message says `{}`", witness.text));
    }
    for score in &routed.scores {
        text.push_str(&format!("\n            {:.2} {}", score.score.unwrap_or_default(), score.skill));
    }
    if !routed.offered.is_empty() {
        let offered: Vec<&str> = routed.offered.iter().map(AsRef::as_ref).collect();
        let stay = if routed.stay_offered { ", or stay" } else { "" };
        text.push_str(&format!("\n            menu: {}{stay}", offered.join(", ")));
    }
    text
}

fn id(id: Option<&impl AsRef<str>>) -> &str {
    id.map_or("nowhere", AsRef::as_ref)
}
