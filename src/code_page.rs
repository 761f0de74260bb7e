//! The page of codes. Programs and messages are those of `tests/ui`, so that the page shows what the compiler says.

macro_rules! page {
    (
        compiler { $($code:literal, $meaning:literal, $folder:literal, $case:literal;)+ }
        running { $($run_code:literal, $run_meaning:literal;)+ }
    ) => {
        /// Every code of the check-up: what it means, a graph that shows it, what the compiler says, and the graph mended.
        ///
        /// Refusals are errors. Warnings are warnings of rustc: `#[allow(skillgraph::the_code)]` on the graph, a skill, an
        /// entry, an edge or a tool silences one (with `_` for `-`), `deny` makes it an error; the programs below deny it.
        ///
        /// This module is documentation alone.
        $(
            #[doc = concat!("# `", $code, "`\n\n", $meaning, "\n\n```rust,ignore\n")]
            #[doc = include_str!(concat!("../tests/", $folder, "/", $code, "/", $case, ".rs"))]
            #[doc = "```\n\n```text\n"]
            #[doc = include_str!(concat!("../tests/", $folder, "/", $code, "/", $case, ".stderr"))]
            #[doc = "```\n\nMended:\n\n```rust,ignore\n"]
            #[doc = include_str!(concat!("../tests/", $folder, "/", $code, "/fixed.rs"))]
            #[doc = "```\n"]
        )+
        $(#[doc = concat!("# `", $run_code, "`\n\n", $run_meaning, "\n")])+
        pub mod codes {}
    };
}

page! {
    compiler {
    "syntax", "The grammar is not met.", "ui", "missing_semicolon";
    "unknown-tool", "A tool is named that the registry does not hold.", "ui", "plain";
    "foreign-tool", "A step names a tool that the skill's own `tools` does not hold.", "ui", "plain";
    "unknown-skill", "A skill is named that is not declared.", "ui", "plain";
    "duplicate-skill", "One skill identifier is declared twice.", "ui", "plain";
    "duplicate-tool", "One tool is declared or listed twice.", "ui", "declared";
    "duplicate-id", "Two skills have one id.", "ui", "plain";
    "duplicate-route", "Two edges have the same source, target and trigger.", "ui", "plain";
    "edge-cannot-fire", "An edge waits for a tool that is never offered while the cursor is on its source.", "ui", "plain";
    "invalid-name", "A name that the model would read breaks the rule for names.", "ui", "skills";
    "reserved-name", "A name that the framework keeps for itself.", "ui", "plain";
    "tool-name-mismatch", "`Tool::NAME` differs from the declared name.", "ui-rustc", "plain";
    "no-entry", "No turn could ever start.", "ui", "plain";
    "tree-is-exclusive", "Something stands beside a tree that has no meaning there, or a skill is no leaf of it.", "ui", "plain";
    "tree-not-total", "An `if` of a tree has no `else`.", "ui", "chained";
    "second-default", "Two entries have no condition.", "ui", "plain";
    "empty-text", "A text that must say something is blank or missing.", "ui", "rules";
    "empty-list", "A list that must hold something is empty.", "ui", "plain";
    "steps-without-tools", "A procedure on a skill without tools.", "ui", "plain";
    "on-skip-without-steps", "`on_skip` on a skill without a procedure.", "ui", "plain";
    "body-unreachable", "A body that stands only in a result of `read_skill`, on a skill that opens without it.", "ui", "entry";
    "refresh-without-result", "`refresh` on a body that does not age.", "ui", "plain";
    "steps-cannot-begin", "A procedure on a skill that can never hold the cursor.", "ui", "unwired";
    "invalid-pattern", "`matches(…)` is not given a pattern of the `regex` crate.", "ui", "plain";
    "matches-nothing", "No message can match a pattern, or all parts of a rule.", "ui", "plain";
    "intent-without-classify", "An intent, and nothing that scores messages.", "ui", "plain";
    "intent-in-all", "An intent or `picked` inside `all[…]`.", "ui", "plain";
    "examples-on-intent", "Examples of a rule beside an intent or `picked`.", "ui", "plain";
    "examples-on-default", "Examples on an entry without a condition.", "ui", "plain";
    "example-misses-own-rule", "A rule does not match its own example. Of a rule with a closure only `Graph::checkup` can say it, and it is a warning.", "ui", "plain";
    "example-shadowed-by-earlier", "An earlier rule claims an example first.", "ui", "plain";
    "never-routes-contradicts-example", "A message that must route nowhere is an example of a rule.", "ui", "plain";
    "never-routes-claimed", "A rule claims a message that must route nowhere.", "ui", "plain";
    "skill-file", "A `SKILL.md` is missing, or says something in a way that cannot be read.", "ui", "plain";
    "guard-type", "A guard does not fit what the tool returns. That a field does not exist, rustc says itself.", "ui", "plain";
    "default-bind-over-limit", "A catalog skill binds more tools by default than may be bound.", "ui", "plain";
    "guard-unsatisfiable", "The terms of a guard contradict each other or the edge's statuses.", "ui", "plain";
    "unreachable-skill", "No entry or edge leads to a skill.", "ui", "denied";
    "model-edge-only", "Only the model's own pick leads to a skill.", "ui", "denied";
    "dead-edge", "An edge leaves a skill that can never hold the cursor.", "ui", "denied";
    "ambiguous-routes", "Two edges out of one skill can fire on the same result.", "ui", "denied";
    "gate-beside-entry", "The model can pick its way past the guard of an edge: the skill behind it is also an entry.", "ui", "plain";
    "self-loop", "An edge leads back to where it starts.", "ui", "denied";
    "rule-matches-everything", "A rule matches every message, and others stand behind it.", "ui", "denied";
    "rule-shadowed", "Earlier rules claim whatever a rule matches: it can never win.", "ui", "denied";
    "overlapping-keywords", "Two keyword rules share a keyword.", "ui", "denied";
    "duplicate-intent-example", "One message is an example of two intents.", "ui", "denied";
    "overlapping-intents", "An example that the keyword scorer would send to another intent, or cannot decide on.", "ui", "denied";
    "one-way-entries", "Most skills that a rule opens have no way out.", "ui", "denied";
    "no-negative-evidence", "Several rules, and nothing that shows which messages they are for.", "ui", "denied";
    "unused-tool", "A tool is declared and offered nowhere.", "ui", "denied";
    "body-foreign-tool", "A body names a tool that its skill does not have.", "ui", "denied";
    "body-unknown-tool", "A body calls what exists nowhere.", "ui", "denied";
    "artifact-kind-unsatisfied", "A kind of artifact is consumed that nothing produces.", "ui", "denied";
    "nothing-bound-on-open", "A catalog skill has too many tools to bind all, and none that it binds when it opens.", "ui", "denied";
    "tools-share-prefix", "The tools of a skill are one service's.", "ui", "denied";
    "few-declared-edges", "A graph with hardly an edge.", "ui", "denied";
    "skill-wraps-one-tool", "A skill that is one tool with little to say.", "ui", "denied";
    }
    running {
    "example-unclaimed", "No rule claims an example. A rule of data that misses its own example is refused, so this is said of rules with closures alone, by `Graph::checkup`.";
    "more-steps-than-iterations", "A procedure takes as many model calls as it has steps, and one for the answer: more than the iteration cap allows. Said by `Agent::checkup`, which knows the cap; raise it with `max_iterations`.";
    }
}
