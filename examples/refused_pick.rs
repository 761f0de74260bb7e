//! A pick out of reach: the model jumps from `triage` to `audit-log`, which is reachable only from `billing`. The graph
//! says no, in words that name what is allowed, and the record shows it.
//!
//! ```text
//! cargo run --example refused_pick
//! ```

use skillgraph::{DynTool, Event, Message, ModelReply, ScriptedModel, ToolCall, ToolReply, skill_graph};

skill_graph! {
    graph support {
        tools { get_invoice: dyn }

        skill triage {
            description: "Start: work out what the user needs",
            body: "Find out what the user needs before you act.",
            tools: [get_invoice],
        }

        skill billing {
            description: "Refunds, charges and invoices",
            body: "Be exact about amounts.",
            tools: [get_invoice],
        }

        // Meant: whether the log is needed is for the model to judge, once it is in billing.
        #[allow(skillgraph::model_edge_only)]
        skill audit_log {
            description: "Read the audit log",
            body: "Read the audit trail. Change nothing.",
        }

        entry triage;
        // The result of the tool leads to billing, and so may the model: an edge with `on` alone cannot be picked.
        route triage -> billing on get_invoice;
        route triage ~> billing;
        route billing ~> audit_log;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = ScriptedModel::new([
        ModelReply::calls([ToolCall::new("c1", "read_skill", r#"{"id": "audit-log"}"#)]),
        ModelReply::text("I cannot read the audit log from here. Which invoice is it about?"),
    ]);
    let schema = serde_json::json!({ "type": "object", "properties": {} });
    let get_invoice = DynTool::new("get_invoice", "Fetches the invoice.", schema, |_, _| async {
        Ok::<ToolReply<serde_json::Value>, String>(ToolReply::absent("There is no invoice."))
    });
    let agent = support::agent(support::Tools { get_invoice }).model(model.clone()).build()?;
    let mut conversation = agent.conversation();
    let report = conversation.send("Show me who changed my invoice").await?;

    for event in &report.events {
        if let Event::Offered { iteration: 1, tools, reachable } = event {
            println!("offered on iteration 1: {}", names(tools));
            println!("  read_skill may open:  {}", names(reachable));
        }
    }
    println!("the model called read_skill(\"audit-log\") and read:");
    for message in conversation.transcript().iter() {
        if let Message::ToolResults { results } = message {
            results.iter().for_each(|result| println!("  {}", result.text));
        }
    }
    let route = report.route();
    println!("on the record:");
    for rejection in route.rejections() {
        println!(
            "  rejected: requested {}, cursor {}, allowed: [{}], iteration {}",
            rejection.requested,
            name(rejection.cursor.as_ref()),
            names(&rejection.allowed),
            rejection.iteration,
        );
    }
    for hop in route.hops() {
        println!("  iteration {}: {} by {}", hop.iteration, name(hop.to.as_ref()), hop.by);
    }
    println!("the cursor ends on {}; it was on: {}", name(report.cursor.as_ref()), names(&route.path()));
    Ok(())
}

fn name(id: Option<&impl AsRef<str>>) -> &str {
    id.map_or("nowhere", AsRef::as_ref)
}

fn names(ids: &[impl AsRef<str>]) -> String {
    ids.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}
