//! What the check-up says: a fact at a place, and what to do about it.

use std::fmt;

/// One mistake of a graph, said once.
// SPEC 2.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct Finding<S> {
    /// Which rule is broken.
    pub code: Code,
    /// Its severity here, which lint levels may have changed.
    pub level: Level,
    /// The smallest place that shows it.
    pub at: S,
    /// The fact, in rustc's style: lower case, no full stop, names in backticks.
    pub message: String,
    /// The part of a longer text that is meant, drawn with carets.
    pub excerpt: Option<String>,
    /// Which bytes of the text at the place are meant, where that is a longer one.
    #[cfg_attr(feature = "turn", serde(skip))]
    pub within: Option<std::ops::Range<usize>>,
    /// What to change.
    pub help: Option<String>,
    /// More facts, some with a place of their own.
    pub notes: Vec<Note<S>>,
    /// A message that shows it, where there is one.
    pub witness: Option<String>,
    /// The skills that it is about, by id: of a graph without source text, where a place says little.
    pub skills: Vec<String>,
}

/// A fact beside the finding's own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
pub struct Note<S> {
    /// The fact.
    pub text: String,
    /// Where it can be seen, if that is elsewhere.
    pub at: Option<S>,
}

impl fmt::Display for Note<String> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Some(at) => write!(f, "{} at {at}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

impl<S> Finding<S> {
    /// The same finding, each place exchanged for another.
    #[must_use]
    pub fn placed<T>(self, mut place: impl FnMut(S) -> T) -> Finding<T> {
        Finding {
            code: self.code,
            level: self.level,
            at: place(self.at),
            message: self.message,
            excerpt: self.excerpt,
            within: self.within,
            help: self.help,
            notes: self.notes.into_iter().map(|note| Note { text: note.text, at: note.at.map(&mut place) }).collect(),
            witness: self.witness,
            skills: self.skills,
        }
    }

    /// A finding that states a fact and nothing more yet.
    pub fn new(code: Code, at: S, message: impl Into<String>) -> Self {
        Self {
            code,
            level: code.level(),
            at,
            message: message.into(),
            excerpt: None,
            within: None,
            help: None,
            notes: Vec::new(),
            witness: None,
            skills: Vec::new(),
        }
    }

    /// Adds the part of a longer text that is meant; see [`crate::excerpt::excerpt`].
    #[must_use]
    pub fn excerpt(mut self, excerpt: impl Into<String>) -> Self {
        self.excerpt = Some(excerpt.into());
        self
    }

    /// Adds the part of a longer text that is meant, which the place has as it is: the place is narrowed to it where it can be.
    #[must_use]
    pub fn within(self, name: &str, text: &str, part: std::ops::Range<usize>) -> Self {
        let finding = self.excerpt(crate::excerpt::excerpt(name, text, part.clone()));
        Self { within: Some(part), ..finding }
    }

    /// Adds what to change.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(Note { text: text.into(), at: None });
        self
    }

    /// Adds a message that shows it, and says of what it is one.
    #[must_use]
    pub fn witness(self, message: &str, what: impl fmt::Display) -> Self {
        let finding = self.note(format!("{what}: {message:?}"));
        Self { witness: Some(message.to_owned()), ..finding }
    }

    /// Adds a fact that can be seen elsewhere.
    #[must_use]
    pub fn note_at(mut self, text: impl Into<String>, at: S) -> Self {
        self.notes.push(Note { text: text.into(), at: Some(at) });
        self
    }
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
#[cfg_attr(feature = "turn", serde(rename_all = "snake_case"))]
pub enum Level {
    /// The graph can run; its author should look.
    Warning,
    /// The graph cannot run.
    Refusal,
}

macro_rules! codes {
    ($($level:ident { $($(#[doc = $doc:literal])+ $variant:ident = $code:literal,)+ })+) => {
        /// The catalogue of what a check-up can say.
        // SPEC 2.1, 2.2.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $($($(#[doc = $doc])+ $variant,)+)+
        }

        impl Code {
            /// Every code, in catalogue order.
            pub const ALL: &'static [Code] = &[$($(Code::$variant),+),+];

            /// The code as it is printed.
            pub const fn as_str(self) -> &'static str {
                match self { $($(Code::$variant => $code,)+)+ }
            }

            /// Its severity by default.
            pub const fn level(self) -> Level {
                match self { $($(Code::$variant => Level::$level,)+)+ }
            }

            /// Whether only a graph that can run shows it (`Graph::checkup`), never the compiler.
            pub const fn needs_running(self) -> bool {
                matches!(self, Code::ExampleUnclaimed | Code::MoreStepsThanIterations)
            }

            /// The code as it is written in `#[allow(skillgraph::…)]`.
            pub fn lint_name(self) -> String {
                self.as_str().replace('-', "_")
            }
        }
    };
}

codes! {
    Refusal {
        /// The grammar is not met.
        Syntax = "syntax",
        /// A tool is named that the registry does not hold.
        UnknownTool = "unknown-tool",
        /// A step names a tool that the skill's own `tools` does not hold.
        ForeignTool = "foreign-tool",
        /// A skill is named that is not declared.
        UnknownSkill = "unknown-skill",
        /// One skill identifier is declared twice.
        DuplicateSkill = "duplicate-skill",
        /// One tool is declared or listed twice.
        DuplicateTool = "duplicate-tool",
        /// Two skills have one id.
        DuplicateId = "duplicate-id",
        /// Two edges have the same source, target and trigger.
        DuplicateRoute = "duplicate-route",
        /// An edge waits for a tool that is never offered while the cursor is on its source.
        EdgeCannotFire = "edge-cannot-fire",
        /// A name that the model would read breaks the rule for names.
        InvalidName = "invalid-name",
        /// A name that the framework keeps for itself.
        ReservedName = "reserved-name",
        /// `Tool::NAME` differs from the declared name.
        ToolNameMismatch = "tool-name-mismatch",
        /// No turn could ever start.
        NoEntry = "no-entry",
        /// Two entries have no condition.
        SecondDefault = "second-default",
        /// Something stands beside a tree that has no meaning there, or a skill is no leaf of it.
        TreeIsExclusive = "tree-is-exclusive",
        /// An `if` of a tree has no `else`.
        TreeNotTotal = "tree-not-total",
        /// A text that must say something is blank or missing.
        EmptyText = "empty-text",
        /// A list that must hold something is empty.
        EmptyList = "empty-list",
        /// A procedure on a skill without tools.
        StepsWithoutTools = "steps-without-tools",
        /// `on_skip` on a skill without a procedure.
        OnSkipWithoutSteps = "on-skip-without-steps",
        /// A body that stands only in a result of `read_skill`, on a skill that opens without it.
        BodyUnreachable = "body-unreachable",
        /// `refresh` on a body that does not age.
        RefreshWithoutResult = "refresh-without-result",
        /// A procedure on a skill that can never hold the cursor.
        StepsCannotBegin = "steps-cannot-begin",
        /// `matches("…")` is not a pattern of the `regex` crate.
        InvalidPattern = "invalid-pattern",
        /// No message can match a pattern, or all parts of a rule.
        MatchesNothing = "matches-nothing",
        /// An intent, and nothing that scores messages.
        IntentWithoutClassify = "intent-without-classify",
        /// An intent or `picked` inside `all[…]`.
        IntentInAll = "intent-in-all",
        /// Examples of a rule beside an intent or `picked`.
        ExamplesOnIntent = "examples-on-intent",
        /// Examples on an entry without a condition.
        ExamplesOnDefault = "examples-on-default",
        /// A rule does not match its own example.
        ExampleMissesOwnRule = "example-misses-own-rule",
        /// An earlier rule claims an example first.
        ExampleShadowedByEarlier = "example-shadowed-by-earlier",
        /// A message that must route nowhere is an example of a rule.
        NeverRoutesContradictsExample = "never-routes-contradicts-example",
        /// A rule claims a message that must route nowhere.
        NeverRoutesClaimed = "never-routes-claimed",
        /// A SKILL.md is missing, or says something in a way that cannot be read.
        SkillFile = "skill-file",
        /// A guard does not fit what the tool returns.
        GuardType = "guard-type",
        /// A catalog skill binds more tools by default than may be bound.
        DefaultBindOverLimit = "default-bind-over-limit",
        /// The terms of a guard contradict each other or the edge's statuses.
        GuardUnsatisfiable = "guard-unsatisfiable",
    }
    Warning {
        /// No entry or edge leads to a skill.
        UnreachableSkill = "unreachable-skill",
        /// Only the model's own pick leads to a skill.
        ModelEdgeOnly = "model-edge-only",
        /// An edge leaves a skill that can never hold the cursor.
        DeadEdge = "dead-edge",
        /// Two edges out of one skill can fire on the same result.
        AmbiguousRoutes = "ambiguous-routes",
        /// The model can pick its way past the guard of an edge: the skill behind it is also an entry.
        GateBesideEntry = "gate-beside-entry",
        /// An edge leads back to where it starts.
        SelfLoop = "self-loop",
        /// A rule matches every message, and others stand behind it.
        RuleMatchesEverything = "rule-matches-everything",
        /// Earlier rules claim whatever a rule matches: it can never win.
        RuleShadowed = "rule-shadowed",
        /// Two keyword rules share a keyword.
        OverlappingKeywords = "overlapping-keywords",
        /// One message is an example of two intents.
        DuplicateIntentExample = "duplicate-intent-example",
        /// An example that the keyword scorer would send to another intent, or cannot decide on.
        OverlappingIntents = "overlapping-intents",
        /// No rule claims an example.
        ExampleUnclaimed = "example-unclaimed",
        /// Most skills that a rule opens have no way out.
        OneWayEntries = "one-way-entries",
        /// Several rules, and nothing that shows which messages they are for.
        NoNegativeEvidence = "no-negative-evidence",
        /// A tool is declared and offered nowhere.
        UnusedTool = "unused-tool",
        /// A body names a tool that its skill does not have.
        BodyForeignTool = "body-foreign-tool",
        /// A body calls what exists nowhere.
        BodyUnknownTool = "body-unknown-tool",
        /// A kind of artifact is consumed that nothing produces.
        ArtifactKindUnsatisfied = "artifact-kind-unsatisfied",
        /// A catalog skill has too many tools to bind all, and none that it binds when it opens.
        NothingBoundOnOpen = "nothing-bound-on-open",
        /// The tools of a skill are one service's.
        ToolsSharePrefix = "tools-share-prefix",
        /// A graph with hardly an edge.
        FewDeclaredEdges = "few-declared-edges",
        /// A skill that is one tool with little to say.
        SkillWrapsOneTool = "skill-wraps-one-tool",
        /// A procedure cannot finish within the iteration cap.
        MoreStepsThanIterations = "more-steps-than-iterations",
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(feature = "turn")]
impl serde::Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What the check-up says of a graph from data. Places are JSON pointers (RFC 6901) into it.
#[cfg(feature = "turn")]
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    /// The findings: refusals, or, where there is none, warnings.
    pub findings: Vec<Finding<String>>,
    /// What was not decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<Note<String>>,
}

#[cfg(feature = "turn")]
impl Report {
    /// The check-up of a graph whose places are pointers.
    pub(crate) fn of(decl: &crate::decl::GraphDecl<String>, check_up: crate::check::CheckUp<String>) -> Self {
        let mut findings = check_up.findings;
        for finding in &mut findings {
            finding.skills = decl.skills_at(&finding.at);
        }
        Report { findings, undecided: check_up.undecided }
    }

    /// Whether the graph can run.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.level == Level::Warning)
    }
}

#[cfg(feature = "turn")]
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, finding) in self.findings.iter().enumerate() {
            let newline = if at == 0 { "" } else { "\n" };
            let text = format!("{} [{}]", finding.message, finding.code);
            match &finding.excerpt {
                // The line is drawn under its place.
                Some(excerpt) if excerpt.contains(&finding.at) => write!(f, "{newline}{text}\n{excerpt}")?,
                _ => write!(f, "{newline}{}: {text}", finding.at)?,
            }
            if let Some(help) = &finding.help {
                write!(f, "\n  help: {help}")?;
            }
            for note in &finding.notes {
                write!(f, "\n  note: {note}")?;
            }
        }
        Ok(())
    }
}

#[cfg(feature = "turn")]
impl std::error::Error for Report {}
