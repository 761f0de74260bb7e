//! A library's desk as a web service: one conversation a user, answers as server-sent events, everything in SQLite.
//!
//! ```text
//! cargo run -- desk.sqlite 8080
//! curl -N -d '{"message": "renew loan 7"}' -H 'content-type: application/json' localhost:8080/chat/ada
//! ```
//!
//! A turn is stored at every checkpoint: kill the process at any point, start it again, and `POST /chat/ada/go_on` ends the turn as
//! if nothing had happened. A browser that goes away stops the turn where it was; nothing is lost.

mod desk;
mod store;

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use axum::routing::{get, post};
use futures_util::{Stream, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use skillgraph::{Agent, Answer, Conversation, Piece, Step, StreamItem};
use store::Store;
use tokio::sync::{Mutex, OwnedMutexGuard};

struct Service {
    agent: Agent,
    store: Store,
    /// One turn a user at a time.
    busy: Mutex<HashMap<String, Arc<Mutex<()>>>>,
}

type Failure = (StatusCode, String);

#[derive(Deserialize)]
struct Said {
    message: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let database = arguments.next().unwrap_or_else(|| "desk.sqlite".to_owned());
    let port: u16 = arguments.next().map_or(Ok(8080), |port| port.parse())?;
    let store = Store::open(&database)?;
    let service = Arc::new(Service { agent: desk::agent(store.clone())?, store, busy: Mutex::default() });
    let app = Router::new()
        .route("/chat/{user}", get(look).post(say))
        .route("/chat/{user}/answer", post(answer))
        .route("/chat/{user}/go_on", post(go_on))
        .with_state(service);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on {}", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}

/// The conversation of a user, as it was stored last.
fn conversation(service: &Service, user: &str) -> Result<Conversation, Failure> {
    let failed = |error: String| (StatusCode::INTERNAL_SERVER_ERROR, error);
    let conversation = match service.store.load(user).map_err(failed)? {
        Some(saved) => service.agent.restore(saved).map_err(|error| failed(error.to_string()))?,
        None => service.agent.conversation().with_id(user).with_system(format!("The reader is {user}.")),
    };
    let (store, user) = (service.store.clone(), user.to_owned());
    Ok(conversation.with_checkpoint(move |saved| {
        let stored = store.save(&user, &saved);
        async move { stored }
    }))
}

/// Does one step of a conversation, and streams what happens.
async fn run(
    service: &Arc<Service>,
    user: &str,
    step: Step,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>, Failure> {
    let lock = service.busy.lock().await.entry(user.to_owned()).or_default().clone();
    let Ok(turn) = lock.try_lock_owned() else {
        return Err((StatusCode::CONFLICT, "a turn of this conversation is running".to_owned()));
    };
    let stream = conversation(service, user)?.into_stream(step);
    Ok(Sse::new(stream.filter_map(move |item| {
        // Held for as long as the stream is.
        let _turn: &OwnedMutexGuard<()> = &turn;
        std::future::ready(shown(item).map(Ok))
    })))
}

/// What a browser is told of an item.
fn shown(item: StreamItem) -> Option<Event> {
    let (name, data) = match item {
        StreamItem::Piece(Piece::Text(text)) => ("text", json!(text)),
        StreamItem::Event(event) => ("event", json!(event)),
        StreamItem::Ended(Ok(report)) => ("ended", json!(report)),
        StreamItem::Ended(Err(error)) => ("failed", json!(error.to_string())),
        _ => return None,
    };
    Some(Event::default().event(name).data(data.to_string()))
}

async fn say(
    State(service): State<Arc<Service>>,
    Path(user): Path<String>,
    Json(said): Json<Said>,
) -> Result<impl axum::response::IntoResponse, Failure> {
    run(&service, &user, Step::Say(said.message)).await
}

async fn answer(
    State(service): State<Arc<Service>>,
    Path(user): Path<String>,
    Json(answer): Json<Answer>,
) -> Result<impl axum::response::IntoResponse, Failure> {
    run(&service, &user, Step::Resume(answer)).await
}

async fn go_on(
    State(service): State<Arc<Service>>,
    Path(user): Path<String>,
) -> Result<impl axum::response::IntoResponse, Failure> {
    run(&service, &user, Step::GoOn).await
}

/// What waits for the user.
async fn look(State(service): State<Arc<Service>>, Path(user): Path<String>) -> Result<Json<Value>, Failure> {
    let conversation = conversation(&service, &user)?;
    Ok(Json(json!({
        "in_a_turn": conversation.is_in_a_turn(),
        "questions": conversation.questions(),
        "messages": conversation.transcript(),
    })))
}
