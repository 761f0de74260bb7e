//! The same runbooks, compiled in: `cargo check` reads every file, and a misspelt tool in one does not compile.
//!
//! ```text
//! cargo run --example compiled_runbook
//! ```

use skillgraph::skill_graph;

skill_graph! {
    #[allow(skillgraph::few_declared_edges)]
    graph desk {
        tools { lookup_order: dyn, issue_refund: dyn }

        skill triage {
            description: "Start",
            body: "Find out what it is about.",
            tools: [lookup_order],
        }

        // Each folder in it is a skill: `billing`, `audit_log`, `escalation`.
        skills from "examples/runbooks";

        entry triage;
        entry billing when keywords["refund", "charged twice"] { examples: ["I was charged twice"] }
        never_routes: ["what is the weather in Berlin"];
        route triage -> billing on lookup_order;
    }
}

fn main() {
    println!("{}, {}, {}", desk::skill::billing, desk::skill::audit_log, desk::skill::escalation);
    println!("{}", desk::GRAPH.to_mermaid());
}
