#![doc = include_str!("../README.md")]
#![warn(rustdoc::broken_intra_doc_links)]

#[cfg(all(doc, not(doctest)))]
mod code_page;

#[cfg(all(doc, not(doctest)))]
pub use code_page::codes;
pub use skillgraph_core::Report;
pub use skillgraph_core::catalog::{CatalogEntry, Disclosure, ModelTier, Reset, SkillPolicy, ToolHeader};
pub use skillgraph_core::decide::Cause;
pub use skillgraph_core::decl::{GraphSpec, SkillId, Status, ToolId};
pub use skillgraph_core::graph::{Graph, GraphError, StaticGraph, TermEvidence, TermOutcome, ToolResult, Witness};
pub use skillgraph_core::runbook::{Runbook, RunbookOptions};
pub use skillgraph_core::score::ScorerTraits;
pub use skillgraph_core::skill_file::SkillFile;
pub use skillgraph_core::turn::{
    Answer, Capability, Continuity, Decision, Event, GuardRecord, HiddenSkill, IntentCandidate, Message, ModelReply,
    ModelRequest, MoveRecord, Outcome, PersonReply, PickRefusal, ProposalRefusal, Question, RestoreError, ScoreRequest,
    Standing, StopReason, Strictness, Target, ToolCall, ToolSpec, Transcript, Trip, TripAction, TurnRouted, Usage,
};
pub use skillgraph_macros::tool;
pub use skillgraph_runtime::{
    Agent, AgentBuilder, AnyModel, Authorizer, AuthorizerError, BoundTool, BuildError, CatalogSkill, CatalogSkillError,
    Conversation, DynTool, EmbeddingScorer, EmbeddingsError, Identity, IntentScorer, Model, ModelError, ModelErrorKind,
    ModelScorer, OwnedTurnStream, Piece, Pieces, Rejection, Role, RoleAuthorizer, RouteRecorder, RunError,
    SavedConversation, ScorerError, ScriptedModel, StaticEmbeddings, StaticScorer, Step, StreamItem, Tool, ToolContext,
    ToolOptions, ToolReply, TurnReport, TurnStream,
};

/// The pure core, for hosts that drive turns themselves and for tools around graphs: declaration, check-up, decision, turn
/// machine, drawing.
pub mod core {
    pub use skillgraph_core::*;
}

/// Declares a skill graph and compiles it to a module.
///
/// The README of this crate shows a whole graph. `cargo check` refuses one that cannot work: each mistake once, at its token.
///
/// What may be meant is a warning: `#[allow(skillgraph::the_code)]`, `warn` and `deny` stand on the graph, a skill, an entry, an
/// edge or a tool. The module `codes` of this documentation shows every code: what it means, a graph, the message,
/// and the graph mended.
///
/// The module holds `mod skill` and `mod tool` (and `mod catalog`, where there is one) with one const a declaration, `struct Tools` with one field a tool,
/// `static GRAPH` ([`StaticGraph`]), and `fn agent(Tools) -> AgentBuilder`.
///
/// # The language
///
/// Items come in any order, a trailing comma is always allowed, and a doc comment on a skill is its description where it has
/// none.
///
/// | item | says |
/// |---|---|
/// | `tools { name: Type, name = "model_name": dyn }` | the registry: types that implement [`Tool`], or [`DynTool`]s given at run time |
/// | `baseline: [tool];` | offered whatever skill is open |
/// | `skill name { … }`, `skill name = "id" { … }` | `description`, `body` (text with `{tool}` mentions, or `include_str!`), `tools`, `steps: [tool: "why"]`, `on_skip: advance \| hold`, `on_unfinished: nudge \| accept` (what an answer with steps left gets), `scope: active \| always`, `surface: system_prompt \| tool_result \| both`, `refresh: every N iterations`, `produces: [kind]`, `consumes: [kind]` |
/// | `skill name from "path/SKILL.md";`, `skills from "folder";` | skills in files of the Agent Skills standard, with `tools`, `steps`, `on-skip`, `on-unfinished`, `surface` and `routes` in their front matter; inside of the folder of `Cargo.toml` |
/// | `entry skill;` | the default: where a turn starts that nothing else claims |
/// | `entry skill when condition { examples: ["…"] }` | `matches("pattern")`, `keywords["…"]`, `all[…]`, `\|message\| …`; or `intent("…", ["…"])`, `picked`; `{ picked: never }` leaves the skill to its rule: the model cannot pick it |
/// | `never_routes: ["…"];` | messages that no rule may claim |
/// | `classify: keyword;`, `classify: host { margin: 0.15, menu: 3, floor: 0.0 }` | who scores intents, and when a score decides |
/// | `route a -> b on tool is status where guard as "label";` | an edge: fires on what `tool`, `any[…]` or `any` returned. A guard is `path == value`, `!=`, `<`, `<=`, `>`, `>=`, `in [values]`, `not in [values]`, joined by `&&`; a value is a number, a text, a truth value or the path of a `const`; a list has `.len()` |
/// | `route a -> b on tool when \|out\| …;` | the same with a closure over the typed output, or over [`ToolResult`] |
/// | `route a ~> b;` | only the model's own pick takes it |
/// | `tree { if condition { a } else { b } }` | in place of entries and edges |
/// | `catalog { policy: { … }, skill name = "group:key" { … } }` | skills that the model opens within a budget, each with `header`, `prompt` (taken as it is), `tools`, and `title`, `default_bind`, `available: path::to::async_fn`, `min_model_tier`, `needs_sandbox` |
/// | `governor { ping_pong: 4, refusals: 3, repeats: 3, then: stop }` | when a run spins: `stop`, `warn`, `escalate("model")` |
///
/// **Keywords** are compared as Unicode's NFKC_Casefold has them: normalised, case folded, invisible characters dropped, and white
/// space collapsed. Patterns read the message in Unicode's form C, in which a letter and its accent are one character. A keyword stands where
/// its edges are word edges; an edge is demanded only between two letters or digits of scripts that put spaces between words.
/// So `refund` stands in `REFUND!`, `re-refund`, `refund_now` and `我要refund一下`, and not in `refunds`; `code review` stands in
/// `Code  Review`, and not in `code-review`.
///
/// **Guards** are terms with `&&` between them: `amount > 500`, `state in ["open", "late"]`, `customer.name not in ["Ada"]`, with
/// `==`, `!=`, `<`, `<=`, `>`, `>=`. On a typed tool a path names fields of its output, through `Option`s, and the compiler checks
/// them; on a `dyn` tool it names keys of the JSON result. A missing value, or one of another kind, passes no operator.
///
/// **Files** of skills are named from the folder of `Cargo.toml`. Each is read when the crate is compiled, and compiles it anew
/// when it changes. That a folder has a *new* file no macro can tell the compiler: for `skills from "runbooks";` put
/// `fn main() { println!("cargo::rerun-if-changed=runbooks"); }` into `build.rs`. `allowed-tools` is what other clients run
/// without asking, and is not the skill's tool list; keys that nobody reads are kept as they are. A file below the first level of a folder is not read, which is a warning.
///
/// **Statuses** are `success`, `partial`, `absent`, `failure`, `denied`, `invalid` and `pending`; without `is` an edge fires on
/// the first two.
///
/// ```
/// use skillgraph::skill_graph;
///
/// skill_graph! {
///     /// Routes a support conversation.
///     pub graph support {
///         tools { search_docs: dyn, issue_refund: dyn }
///         baseline: [search_docs];
///
///         skill triage {
///             description: "Start: work out what the user needs",
///             body: "Ask until you know what the user needs. {search_docs} knows the product.",
///         }
///
///         skill billing {
///             description: "Refunds, charges and invoices",
///             body: "Be exact about amounts.",
///             tools: [issue_refund],
///             steps: [issue_refund: "refund only what was charged"],
///             on_skip: hold,
///         }
///
///         skill escalation {
///             description: "Hand over to a person",
///             body: "Say that a person will answer.",
///         }
///
///         entry triage;
///         entry billing when keywords["refund", "charged twice"] { examples: ["I was charged twice"] }
///         entry escalation when intent("the user wants a person", ["let me talk to a human"]);
///         classify: keyword;
///         never_routes: ["what is the weather in Berlin"];
///         route billing -> escalation on issue_refund where amount > 500 as "large";
///         route triage ~> escalation;
///         governor { then: warn }
///     }
/// }
///
/// fn main() {
///     assert_eq!(support::skill::billing, "billing");
///     assert!(support::GRAPH.to_mermaid().starts_with("flowchart TD"));
/// }
/// ```
// SPEC 1; 2.2.
#[macro_export]
macro_rules! skill_graph {
    ($($graph:tt)*) => {
        $crate::__private::skill_graph! { $crate $($graph)* }
    };
}

/// What generated code needs. Not part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use skillgraph_core::decl::{
        GovernorLimits, GuardOperator, LintLevel, Literal, Name, Number, OnSkip, OnUnfinished, Scope, ScorerKind,
        SkillId, Status, Surface, ToolId,
    };
    pub use skillgraph_core::graph::{
        Availability, BranchRow, CatalogRow, CatalogSkillRow, ClassifyRow, ConditionRow, EntryRow, GovernorRow,
        GraphTable, LiteralRow, RouteRow, SkillRow, StaticGraph, StepRow, TermRow, TestRow, ThenRow, ToolResult,
        ToolRow, ToolsRow, TriggerRow,
    };
    pub use skillgraph_core::score::ScorePolicy;
    pub use skillgraph_core::{Code, Disclosure, ModelTier, Reset, SkillPolicy};
    pub use skillgraph_macros::skill_graph;
    pub use skillgraph_runtime::{
        AgentBuilder, BoundTool, DynTool, NoArgs, OutputTest, Tool, ToolContext, ToolOptions, ToolReply, ToolReturn,
        guard,
    };

    pub use crate::__skillgraph_compiled as compiled;
    pub use crate::__skillgraph_expression as expression;

    /// Whether two texts are the same, at compile time.
    pub const fn same(a: &str, b: &str) -> bool {
        let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
        while let ([first_a, rest_a @ ..], [first_b, rest_b @ ..]) = (a, b) {
            if *first_a != *first_b {
                return false;
            }
            (a, b) = (rest_a, rest_b);
        }
        a.is_empty() && b.is_empty()
    }

    /// How many bytes some texts have together.
    pub const fn length_of(texts: &[&str]) -> usize {
        let (mut rest, mut length) = (texts, 0);
        while let [text, others @ ..] = rest {
            length += text.len();
            rest = others;
        }
        length
    }

    /// The bytes of some texts, one after the other, as many as [`length_of`] says.
    pub const fn bytes_of<const N: usize>(texts: &[&str]) -> [u8; N] {
        let mut joined = [0; N];
        let (mut rest, mut to): (_, &mut [u8]) = (texts, &mut joined);
        while let [text, others @ ..] = rest {
            let (here, after) = to.split_at_mut(text.len());
            here.copy_from_slice(text.as_bytes());
            (rest, to) = (others, after);
        }
        joined
    }

    /// The text that these bytes are.
    pub const fn text_of(bytes: &[u8]) -> &str {
        match ::core::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}

/// An expression, so that one which is none fails here and nowhere else.
#[doc(hidden)]
#[macro_export]
macro_rules! __skillgraph_expression {
    ($expression:expr) => {
        $expression
    };
}

/// Items for the compiler alone. They stand at the author's tokens, so that errors do; an editor that saw them would offer
/// each of them at those tokens.
#[doc(hidden)]
#[cfg(not(rust_analyzer))]
#[macro_export]
macro_rules! __skillgraph_compiled {
    ($($item:item)*) => { $($item)* };
}

#[doc(hidden)]
#[cfg(rust_analyzer)]
#[macro_export]
macro_rules! __skillgraph_compiled {
    ($($item:item)*) => {};
}
