//! Lint levels, as the author set them on a graph or on one of its items.
// SPEC 2.

use crate::finding::{Code, Finding, Level};

/// What to do about a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LintLevel {
    /// Say nothing.
    Allow,
    /// Say it.
    Warn,
    /// Refuse the graph.
    Deny,
}

/// The levels set at one place; the last word on a code counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lints(Vec<(Code, LintLevel)>);

impl Lints {
    /// The levels of a list.
    pub fn of(levels: &[(Code, LintLevel)]) -> Self {
        Lints(levels.to_vec())
    }

    /// The levels, in the order in which they were set.
    pub fn levels(&self) -> &[(Code, LintLevel)] {
        &self.0
    }

    /// Sets a level.
    pub fn set(&mut self, code: Code, level: LintLevel) {
        self.0.push((code, level));
    }

    /// These levels, and others set further in.
    #[must_use]
    pub fn then(&self, inner: Lints) -> Lints {
        Lints(self.0.iter().copied().chain(inner.0).collect())
    }

    /// The level of a code, where this place sets one.
    pub fn level(&self, code: Code) -> Option<LintLevel> {
        self.0.iter().rev().find(|(known, _)| *known == code).map(|(_, level)| *level)
    }
}

/// The finding at the level that applies to it: the innermost place that sets one decides. None where it is allowed.
pub fn leveled<S>(mut finding: Finding<S>, innermost_first: &[&Lints]) -> Option<Finding<S>> {
    match innermost_first.iter().find_map(|lints| lints.level(finding.code)) {
        None | Some(LintLevel::Warn) => {}
        Some(LintLevel::Deny) => finding.level = Level::Refusal,
        Some(LintLevel::Allow) => return None,
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lints(levels: &[(Code, LintLevel)]) -> Lints {
        let mut lints = Lints::default();
        levels.iter().for_each(|(code, level)| lints.set(*code, *level));
        lints
    }

    #[test]
    fn the_innermost_place_decides_and_its_last_word_counts() {
        let finding = || Finding::new(Code::SelfLoop, (), "a fact");
        let (allow, warn, deny) = (LintLevel::Allow, LintLevel::Warn, LintLevel::Deny);
        let level = |inner: &[_], outer: &[_]| {
            let places = [&lints(inner), &lints(outer)];
            leveled(finding(), &places).map(|finding| finding.level)
        };
        let code = Code::SelfLoop;
        assert_eq!(level(&[], &[]), Some(Level::Warning));
        assert_eq!(level(&[], &[(code, allow)]), None);
        assert_eq!(level(&[(code, warn)], &[(code, allow)]), Some(Level::Warning));
        assert_eq!(level(&[(code, allow), (code, deny)], &[]), Some(Level::Refusal));
        assert_eq!(level(&[(Code::UnusedTool, allow)], &[(code, deny)]), Some(Level::Refusal));
    }
}
