//! What tests of the author's read: the result of a tool call, and what typed tests said when the tool returned.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{EdgeIx, Graph, ToolIx};
use crate::decl::{Literal, Status, ToolId};

/// What a tool call came to: the evidence that edges read. Always the tool's own result, never the text that the model
/// sees.
// SPEC 7.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The model's id for the call.
    pub call_id: String,
    /// The tool's name.
    pub tool: ToolId,
    /// What became of the call.
    pub status: Status,
    /// What the tool returned; null where it returned nothing.
    pub value: Value,
    pub(crate) tool_ix: ToolIx,
    pub(crate) typed: Vec<EdgeEvidence>,
}

impl ToolResult {
    /// A result of a tool of this graph. `None` if the graph has no such tool.
    pub fn new(graph: &Graph, tool: &str, call_id: impl Into<String>, status: Status, value: Value) -> Option<Self> {
        let tool_ix = graph.find_tool(tool)?;
        Some(Self { call_id: call_id.into(), tool: graph.tool_id(tool_ix), status, value, tool_ix, typed: Vec::new() })
    }
}

/// What an edge learnt of a tool's typed output when the tool returned.
// SPEC 1.4.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EdgeEvidence {
    /// The edge.
    pub edge: EdgeIx,
    /// What it learnt.
    pub learnt: Learnt,
}

/// What an edge learnt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Learnt {
    /// What its closure said.
    Verdict(Verdict),
    /// What the terms of its guard read, in their order; none where there is no value.
    Fields(Vec<Option<Literal>>),
}

/// What a test said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Yes.
    Passed,
    /// No.
    Failed,
    /// It panicked, which counts as no.
    Panicked,
}

impl Verdict {
    /// Runs a test.
    pub fn of(test: impl FnOnce() -> bool) -> Self {
        match catch_unwind(AssertUnwindSafe(test)) {
            Ok(true) => Verdict::Passed,
            Ok(false) => Verdict::Failed,
            Err(_) => Verdict::Panicked,
        }
    }
}
