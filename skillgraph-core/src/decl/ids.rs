//! Names that a model reads: skill ids and tool names.
// SPEC 1.2.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Names that the framework's own tools have, or will have.
pub const RESERVED_TOOL_NAMES: [&str; 6] =
    ["read_skill", "list_skills", "skip_step", "open_skill", "bind_skill_tools", "search_skills"];

/// Words that stand for something else where a skill id could stand.
pub const RESERVED_SKILL_IDS: [&str; 2] = ["stay", "none"];

/// What a skill's id is, for people.
pub(crate) const SKILL_ID: &str = "1 to 64 of `a-z`, `0-9`, and single `-` between them";
/// What a tool's name is, for people.
pub(crate) const TOOL_NAME: &str = "1 to 64 of `a-z`, `A-Z`, `0-9`, `_`, and `-`";
/// What the key of a catalog skill is, for people.
pub(crate) const CATALOG_KEY: &str = "1 to 64 of `a-z`, `0-9`, and single `-` and `:` between them";

/// Whether the text is a skill id: 1–64 of `a-z 0-9 -`, no hyphen at an edge, no two in a row.
pub fn is_skill_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    (1..=64).contains(&bytes.len())
        && bytes.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--")
}

/// Whether the text is a tool name: 1–64 of `a-z A-Z 0-9 _ -`, what every provider takes.
pub fn is_tool_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    (1..=64).contains(&bytes.len())
        && bytes.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-'))
}

/// Whether the text is the key of a catalog skill: skill ids with `:` between them, at the most 64 characters in all.
pub fn is_catalog_key(text: &str) -> bool {
    text.len() <= 64 && text.split(':').all(is_skill_id)
}

/// The id of a skill whose author gave only an identifier.
pub fn skill_id_of(ident: &str) -> String {
    ident.replace('_', "-")
}

/// A name that costs nothing to copy: static when the macro made it, shared when it came from data.
///
/// Visible only to generated code, whose constants are built without a call: a call in each of them doubles the time that
/// the compiler takes for a large graph.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub enum Name {
    /// From a literal.
    Static(&'static str),
    /// From data.
    Shared(Arc<str>),
}

impl Name {
    fn as_str(&self) -> &str {
        match self {
            Name::Static(text) => text,
            Name::Shared(text) => text,
        }
    }
}

macro_rules! id_type {
    ($(#[$doc:meta])* $id:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $id(#[doc(hidden)] pub Name);

        impl $id {
            /// An id from a literal; `const`, so that the macro can emit it.
            pub const fn from_static(text: &'static str) -> Self {
                Self(Name::Static(text))
            }

            /// The text of it.
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }
        }

        impl From<&str> for $id {
            fn from(text: &str) -> Self {
                Self(Name::Shared(text.into()))
            }
        }

        impl From<$id> for String {
            fn from(id: $id) -> Self {
                id.as_str().to_owned()
            }
        }

        impl From<String> for $id {
            fn from(text: String) -> Self {
                Self(Name::Shared(text.into()))
            }
        }

        impl AsRef<str> for $id {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl Borrow<str> for $id {
            fn borrow(&self) -> &str {
                self.as_str()
            }
        }

        impl PartialEq for $id {
            fn eq(&self, other: &Self) -> bool {
                self.as_str() == other.as_str()
            }
        }

        impl Eq for $id {}

        impl PartialEq<str> for $id {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $id {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl PartialOrd for $id {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $id {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.as_str().cmp(other.as_str())
            }
        }

        impl Hash for $id {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.as_str().hash(state);
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self.as_str(), f)
            }
        }

        #[cfg(feature = "turn")]
        impl serde::Serialize for $id {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        #[cfg(feature = "turn")]
        impl<'de> serde::Deserialize<'de> for $id {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }
    };
}

id_type! {
    /// A skill's id, as models, records and saved state name it.
    ///
    /// ```
    /// use skillgraph_core::decl::SkillId;
    ///
    /// const BILLING: SkillId = SkillId::from_static("billing");
    /// assert_eq!(BILLING, "billing");
    /// assert_eq!(BILLING, SkillId::from("billing".to_owned()));
    /// ```
    SkillId
}

id_type! {
    /// A tool's name, as models, records and saved state name it.
    ToolId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skill_ids_follow_the_agent_skills_rule() {
        for good in ["a", "audit-log", "b2", &"x".repeat(64)] {
            assert!(is_skill_id(good), "{good}");
        }
        for bad in ["", "-a", "a-", "a--b", "Audit", "audit_log", "退款", "a b", &"x".repeat(65)] {
            assert!(!is_skill_id(bad), "{bad}");
        }
    }

    #[test]
    fn tool_names_are_what_providers_take() {
        for good in ["a", "get_invoice", "Get-2", &"x".repeat(64)] {
            assert!(is_tool_name(good), "{good}");
        }
        for bad in ["", "git.push", "refund order", "возврат", &"x".repeat(65)] {
            assert!(!is_tool_name(bad), "{bad}");
        }
    }
}
