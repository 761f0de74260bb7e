//! What an agent asks.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use skillgraph_core::turn::{ModelReply, ModelRequest};

/// A language model.
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
// SPEC 14.3.
pub trait Model: Send + Sync + 'static {
    /// What the provider calls it, for records; none where nobody says it.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Replies to a request.
    ///
    /// # Errors
    ///
    /// [`ModelError`] where there is no reply: the turn stays where it is, and can be gone on with.
    fn complete(&self, request: ModelRequest) -> impl Future<Output = Result<ModelReply, ModelError>> + Send;

    /// Replies piece by piece: `pieces` takes each as it comes, and the whole reply comes at the end. A model that does not say
    /// how gives its words as one piece.
    ///
    /// # Errors
    ///
    /// As [`Model::complete`], also where pieces came before.
    fn stream(
        &self,
        request: ModelRequest,
        pieces: Pieces<'_>,
    ) -> impl Future<Output = Result<ModelReply, ModelError>> + Send {
        async move {
            let reply = self.complete(request).await?;
            if !reply.text.is_empty() {
                pieces(Piece::Text(reply.text.clone()));
            }
            Ok(reply)
        }
    }
}

/// Takes the pieces of a reply.
pub type Pieces<'a> = &'a mut (dyn FnMut(Piece) + Send);

/// A piece of a reply, as it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// Words, to be put behind those before.
    Text(String),
    /// A part of a call: its arguments, to be put behind those before.
    Call {
        /// Which call of the reply, from 0.
        index: usize,
        /// The model's id for it.
        id: String,
        /// The tool that it names.
        name: String,
        /// More of its arguments, as JSON text.
        arguments: String,
    },
}

/// Why a model could not be asked: a kind, the reason in words, and what caused it.
///
/// Any error becomes one by `?`, as [`ModelErrorKind::Other`]. For that it is no [`std::error::Error`] itself;
/// [`ModelError::source`] is, and it turns into a `Box<dyn Error>`.
///
/// ```
/// use skillgraph_runtime::{ModelError, ModelErrorKind};
///
/// fn read(text: &str) -> Result<u32, ModelError> {
///     Ok(text.parse()?)
/// }
/// let error = read("x").expect_err("no number");
/// assert_eq!(error.kind(), ModelErrorKind::Other);
/// assert!(error.source().is_some());
///
/// let slow = ModelError::new("nothing came for 30 seconds").with_kind(ModelErrorKind::Timeout);
/// assert_eq!(slow.to_string(), "nothing came for 30 seconds");
/// ```
#[derive(Clone)]
pub struct ModelError {
    kind: ModelErrorKind,
    reason: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// What kind of thing went wrong when a model was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The key is missing, wrong, or not allowed to ask this model.
    Auth,
    /// Too much was asked in too short a time, or the quota is used up.
    RateLimited,
    /// No answer came in time.
    Timeout,
    /// The request is longer than the model takes.
    TooLong,
    /// The endpoint would not take the request as it is.
    Refused,
    /// The endpoint cannot be reached, or cannot serve now.
    Unavailable,
    /// What came is no reply.
    Protocol,
    /// Something else.
    #[default]
    Other,
}

impl ModelErrorKind {
    /// Its name, as it is serialised.
    pub fn as_str(self) -> &'static str {
        match self {
            ModelErrorKind::Auth => "auth",
            ModelErrorKind::RateLimited => "rate_limited",
            ModelErrorKind::Timeout => "timeout",
            ModelErrorKind::TooLong => "too_long",
            ModelErrorKind::Refused => "refused",
            ModelErrorKind::Unavailable => "unavailable",
            ModelErrorKind::Protocol => "protocol",
            ModelErrorKind::Other => "other",
        }
    }
}

impl ModelError {
    /// An error of kind [`ModelErrorKind::Other`] with that reason.
    pub fn new(reason: impl fmt::Display) -> Self {
        Self { kind: ModelErrorKind::Other, reason: reason.to_string(), source: None }
    }

    /// The same error, of that kind.
    #[must_use]
    pub fn with_kind(self, kind: ModelErrorKind) -> Self {
        Self { kind, ..self }
    }

    /// What kind of thing went wrong.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// What caused it, where that is known.
    pub fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for ModelError {
    fn from(error: E) -> Self {
        Self { kind: ModelErrorKind::Other, reason: error.to_string(), source: Some(Arc::new(error)) }
    }
}

impl From<ModelError> for Box<dyn Error + Send + Sync> {
    fn from(error: ModelError) -> Self {
        error.reason.into()
    }
}

impl From<ModelError> for Box<dyn Error> {
    fn from(error: ModelError) -> Self {
        error.reason.into()
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl fmt::Debug for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelError").field("kind", &self.kind).field("reason", &self.reason).finish_non_exhaustive()
    }
}

/// [`Model`] behind a pointer: every model is one, and `Arc<dyn AnyModel>` and `Box<dyn AnyModel>` are models.
///
/// ```
/// use std::sync::Arc;
/// use skillgraph_runtime::{AnyModel, Model, ScriptedModel};
///
/// fn named(name: &str) -> Arc<dyn AnyModel> {
///     match name {
///         "scripted" => Arc::new(ScriptedModel::new([])),
///         _ => Arc::new(ScriptedModel::new([])),
///     }
/// }
/// fn takes_a_model(_: impl Model) {}
/// takes_a_model(named("scripted"));
/// ```
pub trait AnyModel: Send + Sync + 'static {
    /// As [`Model::name`].
    fn name_of(&self) -> Option<&str>;
    /// As [`Model::complete`].
    fn complete_boxed(&self, request: ModelRequest) -> ModelFuture<'_>;
    /// As [`Model::stream`].
    fn stream_boxed<'a>(&'a self, request: ModelRequest, pieces: Pieces<'a>) -> ModelFuture<'a>;
}

macro_rules! models_behind_pointers {
    ($($pointer:ident)*) => {$(
        impl Model for $pointer<dyn AnyModel> {
            fn name(&self) -> Option<&str> {
                (**self).name_of()
            }

            async fn complete(&self, request: ModelRequest) -> Result<ModelReply, ModelError> {
                (**self).complete_boxed(request).await
            }

            async fn stream(&self, request: ModelRequest, pieces: Pieces<'_>) -> Result<ModelReply, ModelError> {
                (**self).stream_boxed(request, pieces).await
            }
        }
    )*};
}
models_behind_pointers!(Arc Box);

/// What a model comes to.
pub type ModelFuture<'a> = Pin<Box<dyn Future<Output = Result<ModelReply, ModelError>> + Send + 'a>>;

impl<M: Model> AnyModel for M {
    fn name_of(&self) -> Option<&str> {
        self.name()
    }

    fn complete_boxed(&self, request: ModelRequest) -> ModelFuture<'_> {
        Box::pin(self.complete(request))
    }

    fn stream_boxed<'a>(&'a self, request: ModelRequest, pieces: Pieces<'a>) -> ModelFuture<'a> {
        Box::pin(self.stream(request, pieces))
    }
}
