//! A skill of a graph as a file of its own: what a file can say of it, and what it cannot.

use std::fmt;

use super::{FileRoute, Part, SkillFile};
use crate::decl::{Body, GraphSpec, RouteDecl, Scope, Word};

/// Why a skill cannot be written as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotAFile {
    /// The graph has no such skill.
    Unknown {
        /// The id.
        skill: String,
    },
    /// It says something that a file has no key for.
    NoKey {
        /// What that is.
        what: &'static str,
    },
}

impl fmt::Display for NotAFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAFile::Unknown { skill } => write!(f, "the graph has no skill `{skill}`"),
            NotAFile::NoKey { what } => write!(f, "a SKILL.md has no key for {what}"),
        }
    }
}

impl std::error::Error for NotAFile {}

impl SkillFile {
    /// The file of a skill of a graph, with the edges that leave it.
    ///
    /// # Errors
    ///
    /// [`NotAFile`] where the graph has no such skill, or says of it what a file cannot: `scope: always`, `refresh`, kinds.
    pub fn of(graph: &GraphSpec, skill: &str) -> Result<Self, NotAFile> {
        let decl = graph.declaration(&[] as &[&str]).placed(|(), _| Part::default());
        let found = decl.skills.iter().find(|candidate| candidate.id.text == skill);
        let said = found.cloned().ok_or_else(|| NotAFile::Unknown { skill: skill.to_owned() })?;
        let steps = said.steps.iter().flat_map(|steps| &steps.list);
        let has_kinds = steps.fold(said.produces.is_some() || said.consumes.is_some(), |has, step| {
            has || step.produces.is_some() || step.consumes.is_some()
        });
        let unsaid = [
            (said.scope == Scope::Always, "`scope: always`"),
            (said.refresh.is_some(), "`refresh`"),
            (has_kinds, "kinds of artifact"),
        ];
        if let Some((_, what)) = unsaid.into_iter().find(|(is_said, _)| *is_said) {
            return Err(NotAFile::NoKey { what });
        }
        let nothing = || Word::new("", Part::default());
        let body = match said.body {
            Some(Body::Inline { source, .. }) => Word::new(source.text.trim(), source.at),
            _ => nothing(),
        };
        let edge = |route: &RouteDecl<Part>| FileRoute {
            to: route.to.clone(),
            trigger: route.trigger.clone(),
            label: route.label.clone(),
        };
        Ok(SkillFile {
            routes: decl.routes.iter().filter(|route| route.from.text == skill).map(edge).collect(),
            name: said.id,
            description: said.description.unwrap_or_else(nothing),
            body,
            tools: said.tools,
            steps: said.steps,
            on_skip: said.on_skip,
            on_unfinished: said.on_unfinished,
            // What is not said is the prompt.
            surface: said.surface.filter(|(surface, _)| *surface != crate::decl::Surface::default()),
            license: None,
            compatibility: None,
            allowed_tools: Vec::new(),
            metadata: Vec::new(),
            other_keys: Vec::new(),
        })
    }
}
