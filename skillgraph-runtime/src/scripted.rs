//! A model that follows a script: for tests, and for examples that run without a key.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skillgraph_core::turn::{ModelReply, ModelRequest};

use crate::model::{Model, ModelError};

/// A deterministic [`Model`]. Copies share the script and the memory of what was asked.
///
/// ```
/// use skillgraph_core::turn::{ModelReply, ToolCall};
/// use skillgraph_runtime::ScriptedModel;
///
/// let model = ScriptedModel::new([
///     ModelReply::calls([ToolCall::new("c1", "lookup_order", r#"{"order": 1042}"#)]),
///     ModelReply::text("The order was delivered."),
/// ]);
/// assert!(model.requests().is_empty());
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    script: Script,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
}

#[derive(Clone)]
enum Script {
    Replies(Arc<Mutex<VecDeque<ModelReply>>>),
    Answers(Arc<dyn Fn(&ModelRequest) -> ModelReply + Send + Sync>),
}

impl ScriptedModel {
    /// Gives these replies, one after the other. When they are used up, asking is an error.
    pub fn new(replies: impl IntoIterator<Item = ModelReply>) -> Self {
        Self::of(Script::Replies(Arc::new(Mutex::new(replies.into_iter().collect()))))
    }

    /// Replies by a function of the request: for agents that serve several conversations at once.
    pub fn from_fn(answer: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static) -> Self {
        Self::of(Script::Answers(Arc::new(answer)))
    }

    /// Everything that was asked, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        lock(&self.requests).clone()
    }

    fn of(script: Script) -> Self {
        Self { script, requests: Arc::default() }
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").field("asked", &lock(&self.requests).len()).finish_non_exhaustive()
    }
}

impl Model for ScriptedModel {
    async fn complete(&self, request: ModelRequest) -> Result<ModelReply, ModelError> {
        let reply = match &self.script {
            Script::Replies(replies) => lock(replies).pop_front(),
            Script::Answers(answer) => Some(answer(&request)),
        };
        let mut requests = lock(&self.requests);
        requests.push(request);
        reply.ok_or_else(|| ModelError::new(format!("the script has no reply number {}", requests.len())))
    }
}

/// The lock; a panic elsewhere has not left anything half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
