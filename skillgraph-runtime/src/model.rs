//! What an agent asks.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use skillgraph_core::turn::{ModelReply, ModelRequest};

/// A language model (SPEC 14.3).
///
/// ```
/// use skillgraph_runtime::{Model, ModelError};
/// use skillgraph_core::turn::{ModelReply, ModelRequest};
///
/// struct Parrot;
///
/// impl Model for Parrot {
///     async fn complete(&self, request: ModelRequest) -> Result<ModelReply, ModelError> {
///         Ok(ModelReply::text(format!("{} tools are offered", request.tools.len())))
///     }
/// }
/// ```
pub trait Model: Send + Sync + 'static {
    /// Replies to a request.
    fn complete(&self, request: ModelRequest) -> impl Future<Output = Result<ModelReply, ModelError>> + Send;
}

/// Why a model could not be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelError {
    reason: String,
}

impl ModelError {
    /// An error with that reason.
    pub fn new(reason: impl fmt::Display) -> Self {
        Self { reason: reason.to_string() }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for ModelError {}

/// [`Model`] behind a pointer.
pub(crate) trait AnyModel: Send + Sync {
    fn complete_boxed(&self, request: ModelRequest) -> ModelFuture<'_>;
}

pub(crate) type ModelFuture<'a> = Pin<Box<dyn Future<Output = Result<ModelReply, ModelError>> + Send + 'a>>;

impl<M: Model> AnyModel for M {
    fn complete_boxed(&self, request: ModelRequest) -> ModelFuture<'_> {
        Box::pin(self.complete(request))
    }
}
