//! A turn as a stream (SPEC 14.1).

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use skillgraph_core::turn::Event;

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

type TurnFuture<'a> = Pin<Box<dyn Future<Output = Result<TurnReport, RunError>> + Send + 'a>>;

/// What has come and was not taken yet.
#[derive(Clone, Default)]
pub(crate) struct Items(Arc<Mutex<VecDeque<StreamItem>>>);

impl Items {
    pub(crate) fn push(&self, item: StreamItem) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(item);
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
