//! A server on loopback that speaks the formats of four providers, refuses what a strict one refuses, and breaks off where a
//! test says so.

#![allow(dead_code)]

mod formats;
mod strict;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Notify;

pub use formats::Format;

/// What the server does with one request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Replies as a model would.
    Reply(Reply),
    /// Answers with a status, headers and a body.
    Status(u16, Vec<(&'static str, &'static str)>, &'static str),
    /// Sends this under a status of 200, and then ends as said.
    Raw(Vec<Bytes>, End),
    /// Sends this again and again, with so much time between.
    Forever(u16, Bytes, Duration),
    /// Begins a reply, and then ends as said.
    Half(Reply, End),
}

/// A reply of a model.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    pub text: &'static str,
    /// Names and arguments.
    pub calls: Vec<(&'static str, &'static str)>,
    /// As the provider says it; what fits where nothing is said.
    pub stop: Option<&'static str>,
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Closed,
    Broken,
    Stalled,
}

pub struct Server {
    pub url: String,
    shared: Arc<Shared>,
}

struct Shared {
    format: Format,
    acts: Mutex<VecDeque<Act>>,
    requests: Mutex<Vec<Value>>,
    keys: Mutex<Vec<String>>,
    violations: Mutex<Vec<String>>,
    /// Told when a body was dropped before its end.
    dropped: Arc<Notify>,
}

impl Server {
    pub async fn start(format: Format, acts: impl IntoIterator<Item = Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}{}", listener.local_addr().expect("an address"), format.path());
        let shared = Arc::new(Shared {
            format,
            acts: Mutex::new(acts.into_iter().collect()),
            requests: Mutex::default(),
            keys: Mutex::default(),
            violations: Mutex::default(),
            dropped: Arc::default(),
        });
        let serving = shared.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = serving.clone();
                let service = service_fn(move |request| answer(shared.clone(), request));
                tokio::spawn(async move {
                    // Broken connections are what some tests are about.
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self { url, shared }
    }

    /// The bodies that came.
    pub fn requests(&self) -> Vec<Value> {
        self.shared.requests.lock().expect("a lock").clone()
    }

    /// The keys that came, in whichever header.
    pub fn keys(&self) -> Vec<String> {
        self.shared.keys.lock().expect("a lock").clone()
    }

    /// What a strict provider would have refused, and did.
    pub fn violations(&self) -> Vec<String> {
        self.shared.violations.lock().expect("a lock").clone()
    }

    /// Waits until a connection was closed in the middle of a reply.
    pub async fn was_left(&self) {
        self.shared.dropped.notified().await;
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Script>, Infallible> {
    let headers = ["authorization", "x-api-key", "x-goog-api-key"].iter();
    let keys = headers.filter_map(|name| request.headers().get(*name)?.to_str().ok().map(str::to_owned));
    shared.keys.lock().expect("a lock").extend(keys);
    let body = request.into_body().collect().await.expect("a body").to_bytes();
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    let violations = strict::violations(shared.format, &body);
    shared.requests.lock().expect("a lock").push(body);
    if !violations.is_empty() {
        let text = violations.join("; ");
        shared.violations.lock().expect("a lock").extend(violations);
        return Ok(whole(400, &[], vec![text.into()], shared.dropped.clone()));
    }
    let act = shared.acts.lock().expect("a lock").pop_front();
    let act = act.unwrap_or(Act::Status(500, vec![], "the script of the server is at its end"));
    let dropped = shared.dropped.clone();
    Ok(match act {
        Act::Status(status, headers, body) => whole(status, &headers, vec![body.into()], dropped),
        Act::Reply(reply) => stream(shared.format, bytes(shared.format.chunks(&reply)), End::Closed, dropped),
        Act::Raw(chunks, end) => stream(shared.format, chunks, end, dropped),
        Act::Half(reply, end) => {
            let mut chunks = bytes(shared.format.chunks(&reply));
            chunks.truncate(chunks.len() / 2);
            stream(shared.format, chunks, end, dropped)
        }
        Act::Forever(status, chunk, every) => {
            let response = Response::builder().status(status).header("content-type", shared.format.content_type());
            let mut script = Script::new(vec![], End::Stalled, dropped);
            script.again = Some((chunk, every));
            response.body(script).expect("a response")
        }
    })
}

fn whole(
    status: u16,
    headers: &[(&'static str, &'static str)],
    chunks: Vec<Bytes>,
    dropped: Arc<Notify>,
) -> Response<Script> {
    let mut response = Response::builder().status(status).header("content-type", "application/json");
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(Script::new(chunks, End::Closed, dropped)).expect("a response")
}

fn bytes(chunks: Vec<String>) -> Vec<Bytes> {
    chunks.into_iter().map(Bytes::from).collect()
}

fn stream(format: Format, chunks: Vec<Bytes>, end: End, dropped: Arc<Notify>) -> Response<Script> {
    let response = Response::builder().header("content-type", format.content_type());
    response.body(Script::new(chunks, end, dropped)).expect("a response")
}

/// A body, chunk by chunk.
struct Script {
    chunks: VecDeque<Bytes>,
    /// What is sent behind them for ever, and how often.
    again: Option<(Bytes, Duration)>,
    waits: Option<Pin<Box<tokio::time::Sleep>>>,
    end: End,
    /// Between two chunks others have their turn: what was sent, leaves.
    pause: bool,
    done: bool,
    dropped: Arc<Notify>,
}

impl Script {
    fn new(chunks: Vec<Bytes>, end: End, dropped: Arc<Notify>) -> Self {
        Self { chunks: chunks.into(), again: None, waits: None, end, pause: false, done: false, dropped }
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        if !self.done {
            self.dropped.notify_one();
        }
    }
}

impl Body for Script {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        self.pause = !self.pause;
        if !self.pause {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some(chunk) = self.chunks.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(chunk))));
        }
        if let Some((chunk, every)) = self.again.clone() {
            let waits = self.waits.get_or_insert_with(|| Box::pin(tokio::time::sleep(every)));
            if !every.is_zero() && waits.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.waits = None;
            return Poll::Ready(Some(Ok(Frame::data(chunk))));
        }
        match self.end {
            End::Closed => {
                self.done = true;
                Poll::Ready(None)
            }
            End::Broken => {
                self.done = true;
                Poll::Ready(Some(Err(std::io::Error::other("broken on purpose"))))
            }
            // Nobody wakes it: only leaving ends it.
            End::Stalled => Poll::Pending,
        }
    }
}
