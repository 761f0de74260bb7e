//! From source text to code: parse, lower, check, emit.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use skillgraph_core::check::{check, check_up};
use skillgraph_core::{Code, Finding};

use crate::findings::Findings;
use crate::{emit, lower, parse};

/// The module that a graph compiles to, with what is wrong with it.
pub(crate) fn graph(facade: &TokenStream, source: TokenStream) -> TokenStream {
    let mut findings = Findings::default();
    // Groups that are made anew lose the places of their brackets: what need not be cut is left as it is.
    let (source, too_deep) = if is_deeper(MOST_NESTED, &source) { cut_at(MOST_NESTED, source) } else { (source, None) };
    let Some(graph) = parse::graph(source, &mut findings) else {
        return findings.into_diagnostics();
    };
    let decl = lower::lower(&graph);
    if let Some(at) = too_deep {
        // What is missing now was cut out.
        findings = Findings::default();
        let message = format!("brackets and braces are nested more than {MOST_NESTED} levels deep");
        findings.push(
            Finding::new(Code::Syntax, at, message)
                .help("write the conditions of a tree one below the other: `else if …`"),
        );
    } else {
        // What could not be read may be what seems to be missing: no warnings then.
        let mut checked = if findings.is_empty() { check_up(&decl).findings } else { check(&decl) };
        if graph.baseline_unread {
            // It may hold the tool that an edge waits for.
            checked.retain(|finding| finding.code != Code::EdgeCannotFire);
        }
        findings.extend(checked);
    }
    let mut output = emit::module(facade, &graph, &decl);
    output.extend(findings.into_diagnostics());
    output
}

/// How deep brackets and braces may be nested: each level is a call of the parser, and the compiler's stack has an end.
const MOST_NESTED: usize = 64;

fn is_deeper(most: usize, source: &TokenStream) -> bool {
    source.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => most.checked_sub(1).is_none_or(|most| is_deeper(most, &group.stream())),
        _ => false,
    })
}

/// The tokens without what is nested deeper than that, and where the first of it was.
fn cut_at(most: usize, source: TokenStream) -> (TokenStream, Option<Span>) {
    let mut first = None;
    let source = source.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let inside = match most {
                0 => {
                    first.get_or_insert(group.span_open());
                    TokenStream::new()
                }
                _ => {
                    let (inside, found) = cut_at(most - 1, group.stream());
                    first = first.or(found);
                    inside
                }
            };
            let mut cut = Group::new(group.delimiter(), inside);
            cut.set_span(group.span());
            TokenTree::Group(cut)
        }
        token => token,
    });
    let source = source.collect();
    (source, first)
}

#[cfg(test)]
#[path = "../../fuzz/src/edits.rs"]
mod edits;

#[cfg(test)]
mod tests {
    use arbitrary::{Arbitrary, Unstructured};
    use proc_macro2::TokenStream;

    use super::edits::{GRAPH, Source, TREE};

    fn expand(source: &str) -> Option<String> {
        let tokens: TokenStream = source.parse().ok()?;
        Some(super::graph(&quote::quote!(facade), tokens).to_string())
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
        // A thread each: it is the longest of all tests.
        let halves = [(GRAPH, 0), (GRAPH, 1), (TREE, 0), (TREE, 1)];
        let tried = halves.map(|(graph, half)| std::thread::spawn(move || every_edit_of(graph, half)));
        let tried: usize = tried.into_iter().map(|thread| thread.join().expect("no panic")).sum();
        assert!(tried > 4_000, "only {tried} edits were tokens");
    }

    /// Every other place, from the first or the second on.
    fn every_edit_of(graph: &str, half: usize) -> usize {
        let header = graph.find('{').expect("a body") + 1;
        let places: Vec<usize> = graph.char_indices().map(|(at, _)| at).filter(|at| *at > header).collect();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut tried = 0;
        for at in places.into_iter().skip(half).step_by(2) {
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

    /// A tree with so many conditions, one inside the other or one below the other.
    fn tree(forks: usize, inside: bool) -> String {
        let mut tree = String::new();
        for at in 0..forks {
            let open = if inside { "else { if" } else { "else if" };
            let word = if at == 0 { "if" } else { open };
            tree.push_str(&format!(" {word} keywords[\"w{at}\"] {{ a }}"));
        }
        tree.push_str(" else { b }");
        if inside {
            tree.push_str(&" }".repeat(forks - 1));
        }
        format!(
            "graph g {{ skill a {{ description: \"a\", body: \"a\" }} skill b {{ description: \"b\", body: \"b\" }} tree {{ {tree} }} }}"
        )
    }

    #[test]
    fn m51_what_is_nested_without_end_is_refused_once() {
        let all = |depth: usize| {
            let condition = format!("{}keywords[\"w\"]{}", "all[".repeat(depth), "]".repeat(depth));
            format!("graph g {{ skill a {{ description: \"a\", body: \"a\" }} entry a when {condition}; }}")
        };
        for (source, is_refused) in [
            (tree(40, true), false),
            (tree(1_000, true), true),
            (all(50), false),
            (all(4_000), true),
            (tree(1_600, false), false),
        ] {
            // As much stack as the compiler's.
            let expanded = std::thread::Builder::new().stack_size(8 << 20).spawn(move || expand(&source));
            let output = expanded.expect("a thread").join().expect("no overflow").expect("tokens");
            assert_eq!(output.matches("nested more than 64 levels").count(), usize::from(is_refused));
            assert_eq!(output.contains("compile_error"), is_refused);
            assert!(output.contains("mod g"));
        }
    }

    /// The fuzz target on the macro's input, bounded: several edits at once.
    #[test]
    fn several_edits_end_without_a_panic() {
        // Bytes enough for eight edits, the same ones on every run.
        let mut state = 1u64;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        let mut tried = 0;
        for _ in 0..2_000 {
            let bytes: Vec<u8> = (0..64).map(|_| byte()).collect();
            let source = Source::arbitrary(&mut Unstructured::new(&bytes)).expect("enough bytes");
            tried += usize::from(expand(&source.text).is_some());
        }
        assert!(tried > 400, "only {tried} sources were tokens");
    }
}
