//! What became of a tool call.
// SPEC 3.3.

use std::fmt;

/// The status that every tool result has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "turn", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "turn", serde(rename_all = "snake_case"))]
pub enum Status {
    /// The tool returned.
    Success,
    /// The tool returned a part of what was asked.
    Partial,
    /// The tool looked and found nothing.
    Absent,
    /// The tool returned an error, panicked, ran out of time or was interrupted.
    Failure,
    /// Somebody said no.
    Denied,
    /// The arguments were refused, or the result was over the ceiling.
    Invalid,
    /// The tool waits for a person.
    Pending,
}

impl Status {
    /// Every status, in the order of the enum.
    pub const ALL: [Status; 7] = [
        Status::Success,
        Status::Partial,
        Status::Absent,
        Status::Failure,
        Status::Denied,
        Status::Invalid,
        Status::Pending,
    ];

    /// The word for it in the grammar and in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Success => "success",
            Status::Partial => "partial",
            Status::Absent => "absent",
            Status::Failure => "failure",
            Status::Denied => "denied",
            Status::Invalid => "invalid",
            Status::Pending => "pending",
        }
    }

    /// The status of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether the tool gave what it was called for: the only statuses that advance a step.
    // SPEC 7.
    pub const fn is_done(self) -> bool {
        matches!(self, Status::Success | Status::Partial)
    }

    /// Whether the result is marked as an error for the model.
    pub const fn is_error(self) -> bool {
        matches!(self, Status::Failure | Status::Denied | Status::Invalid)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "turn", derive(serde::Serialize))]
#[cfg_attr(feature = "turn", serde(transparent))]
pub struct StatusSet(u8);

impl StatusSet {
    /// No status.
    pub const NONE: StatusSet = StatusSet(0);
    /// What `on tool` means without `is`: success and partial.
    pub const RETURNED: StatusSet = StatusSet::NONE.with(Status::Success).with(Status::Partial);
    /// What `is any` means: all but pending.
    pub const ANY: StatusSet =
        StatusSet::RETURNED.with(Status::Absent).with(Status::Failure).with(Status::Denied).with(Status::Invalid);

    /// This set and one status more.
    #[must_use]
    pub const fn with(self, status: Status) -> Self {
        StatusSet(self.0 | 1 << status as u8)
    }

    /// Whether the status is in the set.
    pub const fn contains(self, status: Status) -> bool {
        self.0 & 1 << status as u8 != 0
    }

    /// Whether the two sets share a status.
    pub const fn intersects(self, other: StatusSet) -> bool {
        self.0 & other.0 != 0
    }

    /// The statuses of the set, in the order of the enum.
    pub fn iter(self) -> impl Iterator<Item = Status> {
        Status::ALL.into_iter().filter(move |status| self.contains(*status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_put_in() {
        assert!(StatusSet::RETURNED.contains(Status::Partial));
        assert!(!StatusSet::RETURNED.contains(Status::Absent));
        assert!(!StatusSet::ANY.contains(Status::Pending));
        assert_eq!(StatusSet::ANY.iter().count(), 6);
    }

    #[test]
    fn words_go_both_ways() {
        for status in Status::ALL {
            assert_eq!(Status::from_word(status.as_str()), Some(status));
        }
        assert_eq!(Status::from_word("fail"), None);
    }
}
