//! The macros of skillgraph. Use them through the crate `skillgraph`.
//!
//! This crate is a shell: it parses source text (recovering from mistakes), lowers it to the declaration of
//! `skillgraph-core`, lets the core check it, and emits a module, with or without errors beside it.

#![warn(unreachable_pub)]
// No input makes library code panic (SPEC 17).
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod ast;
mod docs;
mod emit;
mod findings;
mod lower;
mod parse;
mod tool;

use proc_macro2::TokenStream;
use skillgraph_core::check::{check, check_up};

/// `skill_graph!` behind its wrapper in the facade: the first token tree is the path to the facade, the rest is the graph.
#[doc(hidden)]
#[proc_macro]
pub fn skill_graph(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let mut tokens = TokenStream::from(input).into_iter();
    let facade: TokenStream = tokens.next().into_iter().collect();
    expand_graph(&facade, tokens.collect()).into()
}

/// Makes a tool of an async function (SPEC 14.2).
///
/// The function stays as it is. Beside it stands a unit struct named after it (`find_ticket` gives `FindTicket`) that
/// implements `skillgraph::Tool`: its `NAME` is the function's name, its `DESCRIPTION` the doc comment.
///
/// * No parameter, or one: the arguments, any type that is `serde::Deserialize + schemars::JsonSchema`.
/// * A leading `&T` makes the struct `FindTicket(pub Arc<T>)`: the shared state that the tool works on.
/// * A `&ToolContext` is passed through.
/// * The function returns `Result<T, E>` or `Result<ToolReply<T>, E>` with `T: Serialize` and `E: Display`.
///
/// `#[tool(exclusive)]` says that no other tool may run at the same time, `#[tool(capabilities("payments.write"))]` what
/// somebody must be allowed to run it beside `tool_call`. `#[tool(crate = path)]` names the facade where it is not called
/// `skillgraph`.
#[proc_macro_attribute]
pub fn tool(options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    tool::expand(options.into(), item.into()).into()
}

fn expand_graph(facade: &TokenStream, source: TokenStream) -> TokenStream {
    let mut findings = findings::Findings::default();
    let Some(graph) = parse::graph(source, &mut findings) else {
        return findings.into_diagnostics();
    };
    let decl = lower::lower(&graph);
    // What could not be read may be what seems to be missing: no warnings then.
    findings.extend(if findings.is_empty() { check_up(&decl).findings } else { check(&decl) });
    let mut output = emit::module(facade, &graph, &decl);
    output.extend(findings.into_diagnostics());
    output
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;

    /// Every construct once.
    const GRAPH: &str = r#"pub graph support {
        tools { lookup: self::Lookup, pay = "issue_refund": dyn }
        baseline: [pay];
        /// Start.
        skill triage { body: "Call {lookup}.", tools: [lookup], produces: [a],
            steps: [lookup: "why" produces [b] consumes [a]], on_skip: hold, scope: active,
            surface: both, refresh: every 3 iterations }
        skill audit_log = "audit" { description: "d", body: include_str!("a.md") }
        entry triage;
        entry audit_log when all[matches("a+"), keywords["ba", "c"], |m| m.len() > 3] as "l" { examples: ["ba"] }
        entry audit_log when intent("i", ["e", "f"]);
        entry audit_log when picked;
        classify: host { margin: 0.2, menu: 4, floor: -0.5 }
        governor { ping_pong: 3, refusals: 2, repeats: 5, then: escalate("m") }
        never_routes: ["x"];
        route triage -> audit_log on lookup where amount > -5 && order.state not in ["a", 1.5] as "g";
        route triage -> audit_log on any[lookup, pay] is denied | failure when |r| r.ok();
        route triage -> triage on lookup when |out| *out > 3 as "big";
        route triage ~> audit_log;
    }"#;

    /// The same with a tree.
    const TREE: &str = r#"pub graph support {
        tools { lookup: dyn }
        skill a { description: "d", body: "b", tools: [lookup] }
        skill b { description: "d", body: "b" }
        tree { if keywords["x"] { a } else if |m| m.len() > 3 { b } else { a } }
    }"#;

    fn expand(source: &str) -> Option<String> {
        let tokens: TokenStream = source.parse().ok()?;
        Some(super::expand_graph(&quote::quote!(facade), tokens).to_string())
    }

    #[test]
    fn a_sound_graph_has_no_errors() {
        for graph in [GRAPH, TREE] {
            let output = expand(graph).expect("tokens");
            assert!(!output.contains("compile_error"), "{output}");
        }
    }

    /// While an author types, the source is broken most of the time: each edit ends in a module and errors, never in a
    /// panic or without an end.
    #[test]
    fn every_edit_ends_in_a_module() {
        let tried: usize = [GRAPH, TREE].into_iter().map(every_edit_of).sum();
        assert!(tried > 4_000, "only {tried} edits were tokens");
    }

    fn every_edit_of(graph: &str) -> usize {
        let header = graph.find('{').expect("a body") + 1;
        let places: Vec<usize> = graph.char_indices().map(|(at, _)| at).filter(|at| *at > header).collect();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut tried = 0;
        for at in places {
            let (before, after) = graph.split_at(at);
            let without = format!("{before}{}", after.chars().skip(1).collect::<String>());
            let without_word = format!("{before}{}", after.trim_start_matches(is_word));
            let inserted = [" ; ", " , ", " x ", " skill ", " 1 ", " # ", " {} ", " [] ", " \"s\" "];
            // Once a word is enough: inside, they make two words of it.
            let inside = before.ends_with(is_word) && after.starts_with(is_word);
            let inserted = inserted.iter().take(if inside { 1 } else { inserted.len() });
            let inserted = inserted.map(|token| format!("{before}{token}{after}"));
            for edited in [without, without_word].into_iter().chain(inserted) {
                let Some(output) = expand(&edited) else { continue };
                assert!(output.contains("mod support"), "{edited}");
                tried += 1;
            }
        }
        tried
    }
}
