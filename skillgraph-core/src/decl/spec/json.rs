//! The JSON of a graph, read so that a mistake in it has a place.

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_path_to_error::{Path, Segment};

use super::{BranchSpec, ConditionSpec, GraphSpec};
use crate::Report;
use crate::finding::{Code, Finding};
use crate::suggest::closest;

impl GraphSpec {
    /// Reads the JSON of a graph.
    ///
    /// ```
    /// use skillgraph_core::decl::GraphSpec;
    ///
    /// let report = GraphSpec::from_json(r#"{ "name": "g", "skills": [], "entries": [{ "skill": "a", "whn": "picked" }] }"#).unwrap_err();
    /// let finding = &report.findings[0];
    /// assert_eq!((finding.at.as_str(), finding.code.as_str()), ("/entries/0/whn", "syntax"));
    /// assert_eq!(finding.help.as_deref(), Some("a field with a similar name exists: `when`"));
    /// ```
    ///
    /// # Errors
    ///
    /// A [`Report`] with the first mistake: what is wrong, and the pointer (RFC 6901) to where it stands. Whether the graph can
    /// work is not checked yet: [`Graph::compile`](crate::graph::Graph::compile) does that.
    pub fn from_json(text: &str) -> Result<Self, Report> {
        let mut json = serde_json::Deserializer::from_str(text);
        let read = serde_path_to_error::deserialize(&mut json);
        let read = read.map_err(|error| (pointer(error.path()), error.into_inner()));
        let spec = read.and_then(|spec| json.end().map(|()| spec).map_err(|error| (String::new(), error)));
        spec.map_err(|(at, error)| Report { findings: vec![refused(at, &error)], undecided: Vec::new() })
    }
}

/// What serde says, as a finding.
fn refused(at: String, error: &serde_json::Error) -> Finding<String> {
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = said.strip_suffix(&place).unwrap_or(&said);
    let finding = Finding::new(Code::Syntax, at, message.to_owned()).note(format!("that is{place}"));
    // The names in backticks: the first is the one that is not known.
    let mut names = message.split('`').skip(1).step_by(2);
    let kind = ["field", "variant"].into_iter().find(|kind| message.starts_with(&format!("unknown {kind} ")));
    match (kind, names.next().and_then(|unknown| closest(unknown, names))) {
        (Some("field"), Some(near)) => finding.help(format!("a field with a similar name exists: `{near}`")),
        (Some(_), Some(near)) => finding.help(format!("did you mean `{near}`?")),
        _ => finding,
    }
}

/// A path as a JSON pointer.
fn pointer(path: &Path) -> String {
    let segments = path.iter().filter_map(|segment| match segment {
        Segment::Seq { index } => Some(format!("/{index}")),
        Segment::Map { key } | Segment::Enum { variant: key } => {
            Some(format!("/{}", key.replace('~', "~0").replace('/', "~1")))
        }
        Segment::Unknown => None,
    });
    segments.collect()
}

/// A condition of a tree, and what follows from it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForkSpec {
    #[serde(rename = "if")]
    condition: ConditionSpec,
    then: Box<BranchSpec>,
    #[serde(rename = "else", default)]
    otherwise: Option<Box<BranchSpec>>,
}

impl<'de> Deserialize<'de> for BranchSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Branch;

        impl<'de> Visitor<'de> for Branch {
            type Value = BranchSpec;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the id of a skill, or an object with `if`, `then` and `else`")
            }

            fn visit_str<E: serde::de::Error>(self, id: &str) -> Result<BranchSpec, E> {
                Ok(BranchSpec::Leaf(id.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<BranchSpec, A::Error> {
                let ForkSpec { condition, then, otherwise } = ForkSpec::deserialize(MapAccessDeserializer::new(map))?;
                Ok(BranchSpec::Fork { condition, then, otherwise })
            }
        }

        deserializer.deserialize_any(Branch)
    }
}
