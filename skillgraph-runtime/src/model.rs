//! What an agent asks.

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
    /// What the provider calls it, for records; none where nobody says it.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Replies to a request.
    ///
    /// # Errors
    ///
    /// [`ModelError`] where there is no reply: the turn ends, and the conversation can go on.
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

crate::error::reason! {
    /// Why a model could not be asked.
    ModelError
}

/// [`Model`] behind a pointer.
pub(crate) trait AnyModel: Send + Sync {
    fn name_of(&self) -> Option<&str>;
    fn complete_boxed(&self, request: ModelRequest) -> ModelFuture<'_>;
    fn stream_boxed<'a>(&'a self, request: ModelRequest, pieces: Pieces<'a>) -> ModelFuture<'a>;
}

pub(crate) type ModelFuture<'a> = Pin<Box<dyn Future<Output = Result<ModelReply, ModelError>> + Send + 'a>>;

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
