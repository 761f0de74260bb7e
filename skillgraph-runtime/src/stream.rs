//! A turn as a stream.
// SPEC 14.1.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use skillgraph_core::turn::Event;

use crate::Conversation;
use crate::model::Piece;
use crate::report::{RunError, TurnReport};

/// What comes out of a turn while it runs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum StreamItem {
    /// A piece of the model's reply. A reply whose pieces have come may still fail: then the turn ends with that.
    Piece(Piece),
    /// Something that happened: the cursor moved, a tool began or returned, …
    Event(Event),
    /// The turn has ended, or waits for a person. Nothing comes after it.
    Ended(Result<TurnReport, RunError>),
}

/// A turn that runs while it is polled; see [`Conversation::stream`](crate::Conversation::stream).
#[must_use = "a turn runs while its stream is polled"]
pub struct TurnStream<'a> {
    /// None when the turn has ended.
    turn: Option<TurnFuture<'a>>,
    items: Items,
}

pub(crate) type TurnFuture<'a> = Pin<Box<dyn Future<Output = Result<TurnReport, RunError>> + Send + 'a>>;

/// What has come and was not taken yet.
#[derive(Clone, Default)]
pub(crate) struct Items(Arc<Mutex<VecDeque<StreamItem>>>);

impl Items {
    pub(crate) fn push(&self, item: StreamItem) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(item);
    }

    /// Whether the reader has taken all that came.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn pop(&self) -> Option<StreamItem> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl<'a> TurnStream<'a> {
    pub(crate) fn new(turn: impl FnOnce(Items) -> TurnFuture<'a>) -> Self {
        let items = Items::default();
        Self { turn: Some(turn(items.clone())), items }
    }

    /// The next item; none after [`StreamItem::Ended`].
    pub async fn next(&mut self) -> Option<StreamItem> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl Stream for TurnStream<'_> {
    type Item = StreamItem;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<StreamItem>> {
        if let Some(item) = self.items.pop() {
            return Poll::Ready(Some(item));
        }
        let Some(turn) = &mut self.turn else { return Poll::Ready(None) };
        let polled = turn.as_mut().poll(context);
        if let Poll::Ready(result) = polled {
            self.items.push(StreamItem::Ended(result));
            self.turn = None;
        }
        // Polling the turn may have made items, and it wakes the task when there is more to do.
        match self.items.pop() {
            Some(item) => Poll::Ready(Some(item)),
            None => Poll::Pending,
        }
    }
}

impl fmt::Debug for TurnStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnStream").field("has_ended", &self.turn.is_none()).finish_non_exhaustive()
    }
}

/// A turn as a stream that owns its conversation: for the response of a web framework, or a task of its own; see
/// [`Conversation::into_stream`](crate::Conversation::into_stream).
#[must_use = "a turn runs while its stream is polled"]
pub struct OwnedTurnStream {
    turn: TurnStream<'static>,
    conversation: Arc<Mutex<Option<Conversation>>>,
}

impl OwnedTurnStream {
    pub(crate) fn new(
        conversation: Conversation,
        run: impl FnOnce(Conversation, Items, Arc<Mutex<Option<Conversation>>>) -> TurnFuture<'static>,
    ) -> Self {
        let slot = Arc::new(Mutex::new(None));
        Self { turn: TurnStream::new(|items| run(conversation, items, slot.clone())), conversation: slot }
    }

    /// The next item; none after [`StreamItem::Ended`].
    pub async fn next(&mut self) -> Option<StreamItem> {
        self.turn.next().await
    }

    /// The conversation, when [`StreamItem::Ended`] has come. Of a stream that is given up before, what is left is what a
    /// checkpoint has stored.
    pub fn into_conversation(self) -> Option<Conversation> {
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Stream for OwnedTurnStream {
    type Item = StreamItem;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<StreamItem>> {
        Pin::new(&mut self.turn).poll_next(context)
    }
}

impl fmt::Debug for OwnedTurnStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedTurnStream").field("turn", &self.turn).finish_non_exhaustive()
    }
}
