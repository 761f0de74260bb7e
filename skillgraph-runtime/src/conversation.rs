//! A conversation: turn after turn with one transcript.

use std::fmt::{self, Display};
use std::future::{Future, poll_fn, ready};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::Poll;

use serde::{Deserialize, Serialize};
use skillgraph_core::catalog::Opened;
use skillgraph_core::decl::SkillId;
use skillgraph_core::turn::{
    Answer, Carried, Continuity, Event, Input, InputError, Numbering, Outcome, Output, Question, RestoreError,
    SaveFormat, SavedTurn, Standing, Transcript, Turn,
};

use crate::agent::Agent;
use crate::authorize::Identity;
use crate::catalog::BoundTools;
use crate::drive::{Observe, Stop, drive};
use crate::model::Piece;
use crate::report::{RunError, TurnReport};
use crate::stream::{Items, OwnedTurnStream, StreamItem, TurnStream};
use crate::trace;

/// A conversation with an agent. All that changes is in here: conversations never see each other.
///
/// Dropping the future of [`Conversation::send`] stops the turn, and the tools with it. What had returned by then counts, open
/// calls are answered as interrupted, and the next message goes on after them.
// SPEC 14.1.
pub struct Conversation {
    agent: Agent,
    /// What the next turn takes over from the last one.
    carried: Carried,
    /// Tools of catalog skills that this conversation has bound.
    bound: BoundTools,
    /// The turn under way: it waits for a person or for the model, or a `send` was dropped, or it was restored.
    turn: Option<Turn>,
    identity: Arc<Identity>,
    id: Option<String>,
    observer: Option<Observer>,
    checkpoint: Option<Checkpoint>,
}

/// A conversation as it can be stored: plain data. Whom it is with is not in it.
// SPEC 10.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct SavedConversation {
    format: SaveFormat,
    revision: u64,
    state: SavedState,
}

impl SavedConversation {
    /// A counter that grows with every step of the conversation. A store that writes only over a lower one, as in
    /// `update … where revision < $1`, tells apart what two processes do with one conversation: the second is refused.
    pub fn revision(&self) -> u64 {
        self.revision
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum SavedState {
    /// Between two turns.
    Resting(Box<Carried>),
    /// In one.
    Turn(Box<SavedTurn>),
}

/// What to do next in a conversation: see [`Conversation::into_stream`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// As [`Conversation::send`].
    Say(String),
    /// As [`Conversation::resume`].
    Resume(Answer),
    /// As [`Conversation::go_on`].
    GoOn,
}

impl From<&str> for Step {
    fn from(message: &str) -> Self {
        Step::Say(message.to_owned())
    }
}

impl From<String> for Step {
    fn from(message: String) -> Self {
        Step::Say(message)
    }
}

impl From<Answer> for Step {
    fn from(answer: Answer) -> Self {
        Step::Resume(answer)
    }
}

type Observer = Box<dyn FnMut(&Event) + Send + Sync>;
type Checkpoint = Arc<dyn Fn(SavedConversation) -> BoxFuture<'static, Result<(), String>> + Send + Sync>;
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl Conversation {
    pub(crate) fn new(agent: Agent, history: Transcript) -> Self {
        Self {
            agent,
            carried: Carried { transcript: history, ..Carried::default() },
            bound: BoundTools::new(),
            turn: None,
            identity: Arc::default(),
            id: None,
            observer: None,
            checkpoint: None,
        }
    }

    pub(crate) fn restore(agent: Agent, saved: SavedConversation, migrate: bool) -> Result<Self, RestoreError> {
        let mut conversation = Self::new(agent, Transcript::new());
        match saved.state {
            SavedState::Resting(carried) => conversation.carried = *carried,
            SavedState::Turn(saved) => {
                let setup = conversation.agent.setup().clone();
                let turn = if migrate { Turn::migrate(setup, *saved) } else { Turn::restore(setup, *saved) };
                conversation.turn = Some(turn?);
            }
        }
        Ok(conversation)
    }

    /// Says whom the conversation is with. Defaults to nobody in particular.
    #[must_use]
    pub fn with_identity(mut self, identity: Identity) -> Self {
        self.identity = Arc::new(identity);
        self
    }

    /// Gives the conversation an id: the `gen_ai.conversation.id` of its spans, and the first part of the keys by which tools know
    /// their calls ([`ToolContext::idempotency_key`](crate::ToolContext::idempotency_key)). No two conversations may have one id.
    ///
    /// Keys are made from the id that the conversation has when its first turn begins, or from a random one; that one is saved with
    /// it, and giving another later changes spans alone.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Gives the conversation a system prompt of its own, behind the agent's: today's date, the user's name. It is saved with the
    /// conversation; giving another one replaces it, from the next request on.
    #[must_use]
    pub fn with_system(mut self, system: impl Into<String>) -> Self {
        let system = system.into();
        if let Some(turn) = &mut self.turn {
            turn.set_system(system.clone());
        }
        self.carried.system = system;
        self
    }

    /// Says which skill was open where the history ends: for a history that the host has kept or cut itself
    /// ([`Agent::conversation_after`]). It counts with [`Continuity::Conversation`]; an id that the graph does not have is recorded
    /// and dropped.
    #[must_use]
    pub fn with_cursor(mut self, skill: impl Into<SkillId>) -> Self {
        self.carried.cursor = Some(skill.into());
        self
    }

    /// Has the conversation stored while a turn runs, so that a process that is killed can go on where it was:
    /// [`Agent::restore`], then [`Conversation::go_on`].
    ///
    /// `store` is awaited before the model is asked, before tools run, after each result, when the turn waits for a person, and at
    /// its end; nothing goes on before it is done. Where it fails, the turn stops there ([`RunError::Checkpoint`]). Events are
    /// handed on after what they tell of is stored: after a restart, the newest may come once more.
    ///
    /// What has finished does not run again. A tool that was running when the process ended does, with the same
    /// [`idempotency_key`](crate::ToolContext::idempotency_key).
    ///
    /// ```
    /// # use skillgraph_runtime::{Agent, RunError};
    /// # async fn example(agent: Agent) -> Result<(), RunError> {
    /// let mut conversation = agent.conversation().with_id("user-7").with_checkpoint(|saved| async move {
    ///     let text = serde_json::to_string(&saved).map_err(std::io::Error::other)?;
    ///     std::fs::write("user-7.json", text)
    /// });
    /// conversation.send("hello").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_checkpoint<F, E>(mut self, store: impl Fn(SavedConversation) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Display,
    {
        self.checkpoint = Some(Arc::new(move |saved| {
            let stored = store(saved);
            Box::pin(async move { stored.await.map_err(|error| error.to_string()) })
        }));
        self
    }

    /// Calls `observer` with every event from now on, as it happens.
    pub fn on_event(&mut self, observer: impl FnMut(&Event) + Send + Sync + 'static) {
        self.observer = Some(Box::new(observer));
    }

    /// Sends the user's next message and waits for the turn to end, or to wait for a person. Must be called on a tokio
    /// runtime with time enabled.
    ///
    /// A turn that waits ends with this: what was not answered does not run any more.
    ///
    /// # Errors
    ///
    /// [`RunError::Model`] where the model could not be asked: the turn waits, and [`Conversation::go_on`] asks again.
    /// [`RunError::Checkpoint`] where the state could not be stored, [`RunError::NoRuntime`] outside a tokio runtime. Every other
    /// end is a [`TurnReport`] with its [`Outcome`].
    pub async fn send(&mut self, message: impl Into<String>) -> Result<TurnReport, RunError> {
        self.run(Step::Say(message.into()), None).await
    }

    /// Gives a person's answer to the question of a tool, and waits for the turn to end, or to wait for a person again
    ///. It goes on when every question has its answer: permissions are asked for anew, and what the person saw is
    /// what runs.
    ///
    /// # Errors
    ///
    /// As [`Conversation::send`]. [`RunError::NoTurn`] and [`RunError::NoQuestion`] where nothing waits for the answer,
    /// [`RunError::UnfitArguments`] where it brings arguments that no call can have; nothing has changed then.
    // SPEC 10.
    pub async fn resume(&mut self, answer: Answer) -> Result<TurnReport, RunError> {
        self.run(Step::Resume(answer), None).await
    }

    /// Goes on with the turn under way: one that was restored, whose `send` was dropped, or whose model could not be asked. Tools
    /// that had not returned run again.
    ///
    /// # Errors
    ///
    /// As [`Conversation::send`]; [`RunError::NoTurn`] between turns.
    pub async fn go_on(&mut self) -> Result<TurnReport, RunError> {
        self.run(Step::GoOn, None).await
    }

    /// The same as [`Conversation::send`], as a stream: words and calls piece by piece, and every event, in one order, as they
    /// come. The last item is how the turn went. Dropping the stream stops the turn, as dropping `send` does; while nobody reads,
    /// nothing runs.
    ///
    /// ```
    /// # use skillgraph_core::turn::{Event, ModelReply};
    /// # use skillgraph_runtime::{Agent, Piece, StreamItem};
    /// # async fn example(agent: Agent) {
    /// let mut conversation = agent.conversation();
    /// let mut stream = conversation.stream("hello");
    /// while let Some(item) = stream.next().await {
    ///     match item {
    ///         StreamItem::Piece(Piece::Text(text)) => print!("{text}"),
    ///         StreamItem::Event(Event::ToolStarted { tool, .. }) => println!("[{tool}]"),
    ///         StreamItem::Ended(result) => println!("{result:?}"),
    ///         _ => {}
    ///     }
    /// }
    /// # }
    /// ```
    pub fn stream(&mut self, message: impl Into<String>) -> TurnStream<'_> {
        self.stream_step(Step::Say(message.into()))
    }

    /// The same as [`Conversation::resume`], as a stream.
    pub fn stream_resume(&mut self, answer: Answer) -> TurnStream<'_> {
        self.stream_step(Step::Resume(answer))
    }

    /// The same as [`Conversation::go_on`], as a stream.
    pub fn stream_go_on(&mut self) -> TurnStream<'_> {
        self.stream_step(Step::GoOn)
    }

    /// The same as a stream that owns the conversation, and gives it back at the end: for the response of a web framework.
    ///
    /// ```
    /// # use skillgraph_runtime::{Agent, StreamItem};
    /// # async fn example(agent: Agent) {
    /// let mut stream = agent.conversation().into_stream("hello");
    /// while let Some(item) = stream.next().await {
    ///     println!("{item:?}");
    /// }
    /// let conversation = stream.into_conversation().expect("the turn has ended");
    /// # }
    /// ```
    pub fn into_stream(self, step: impl Into<Step>) -> OwnedTurnStream {
        let step = step.into();
        OwnedTurnStream::new(self, |mut conversation, items, slot| {
            Box::pin(async move {
                let result = conversation.run(step, Some(items)).await;
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(conversation);
                result
            })
        })
    }

    fn stream_step(&mut self, step: Step) -> TurnStream<'_> {
        TurnStream::new(|items| Box::pin(async move { self.run(step, Some(items)).await }))
    }

    async fn run(&mut self, step: Step, items: Option<Items>) -> Result<TurnReport, RunError> {
        // Tools run as tasks.
        tokio::runtime::Handle::try_current().map_err(|_| RunError::NoRuntime)?;
        match step {
            Step::Say(message) => self.begin(message),
            Step::Resume(answer) => self.take_answer(answer)?,
            Step::GoOn => {}
        }
        self.advance(items).await
    }

    fn begin(&mut self, message: String) {
        self.close_turn();
        let mut before = self.carried.clone();
        if self.agent.setup().continuity == Continuity::Turn {
            (before.cursor, before.procedure) = (None, None);
        }
        if before.numbering.conversation().is_empty() {
            let name = self.id.clone().unwrap_or_else(random_name);
            before.numbering = Numbering::after(name, &before.transcript);
        }
        self.turn = Some(Turn::start_from(self.agent.setup().clone(), before, message));
    }

    fn take_answer(&mut self, answer: Answer) -> Result<(), RunError> {
        let turn = self.turn.as_mut().ok_or(RunError::NoTurn)?;
        let question = answer.question;
        turn.handle_input(Input::PersonAnswered(answer)).map_err(|error| match error {
            InputError::UnfitArguments { reason } => RunError::UnfitArguments { reason },
            _ => RunError::NoQuestion { question },
        })
    }

    /// Runs the turn under way to its end, or until it waits for a person.
    async fn advance(&mut self, items: Option<Items>) -> Result<TurnReport, RunError> {
        let turn = self.turn.as_mut().ok_or(RunError::NoTurn)?;
        let checkpoint = self.checkpoint.clone();
        let mut watch = Watch { events: Vec::new(), observer: &mut self.observer, items, checkpoint };
        let span = trace::turn(self.agent.graph().name(), self.id.as_deref());
        let driven = drive(&self.agent.parts, &self.identity, turn, &mut self.bound, &mut watch);
        let driven = trace::inside(span, driven).await;
        let events = watch.events;
        let report = |outcome| TurnReport {
            outcome,
            events,
            cursor: turn.cursor(),
            procedure: turn.procedure(),
            transcript: turn.transcript().clone(),
        };
        let result = match driven {
            Ok(outcome @ Outcome::Paused { .. }) => return Ok(report(outcome)),
            Err(Stop::Model(error)) => {
                let report = Box::new(report(Outcome::ModelFailed { reason: error.to_string() }));
                return Err(RunError::Model { error, report });
            }
            Err(Stop::Checkpoint(reason)) => {
                let report = Box::new(report(Outcome::Cancelled));
                return Err(RunError::Checkpoint { reason, report });
            }
            Ok(outcome) => Ok(report(outcome)),
            Err(Stop::Protocol(error)) => Err(RunError::Protocol(error)),
        };
        self.close_turn();
        result
    }

    /// What tools ask a person, in call order; nothing where no turn waits for one.
    pub fn questions(&self) -> Vec<Question> {
        match self.turn.as_ref().map(Turn::poll_output) {
            Some(Output::Pause(questions)) => questions,
            _ => Vec::new(),
        }
    }

    /// Whether a turn is under way: it waits for a person, or [`Conversation::go_on`] goes on with it.
    pub fn is_in_a_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// The conversation as plain data, to be stored and given to [`Agent::restore`]. It can be taken at any time, while a
    /// turn waits for a person above all.
    pub fn save(&self) -> SavedConversation {
        match &self.turn {
            Some(turn) => saved(turn),
            None => SavedConversation {
                format: SaveFormat,
                revision: self.carried.numbering.revision(),
                state: SavedState::Resting(Box::new(self.carried.clone())),
            },
        }
    }

    /// What was said. If a `send` was dropped, its open calls are answered as interrupted.
    pub fn transcript(&self) -> Transcript {
        match self.turn.clone() {
            None => self.carried.transcript.clone(),
            Some(mut turn) => {
                cancel(&mut turn);
                turn.transcript().clone()
            }
        }
    }

    /// The skill that is open; between turns, the one that was at the end of the last.
    pub fn cursor(&self) -> Option<SkillId> {
        self.turn.as_ref().map_or_else(|| self.carried.cursor.clone(), Turn::cursor)
    }

    /// Where the procedure of that skill stands, where it has one that is not finished.
    pub fn procedure(&self) -> Option<Standing> {
        self.turn.as_ref().map_or_else(|| self.carried.procedure.clone(), Turn::procedure)
    }

    /// What is open of the catalog, and which tools are bound.
    // SPEC 11.
    pub fn catalog(&self) -> &Opened {
        self.turn.as_ref().map_or(&self.carried.catalog, Turn::catalog).opened()
    }

    /// The agent.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Takes the turn under way, if there is one, into what the next one begins with.
    fn close_turn(&mut self) {
        let Some(mut turn) = self.turn.take() else { return };
        cancel(&mut turn);
        while let Some(event) = turn.poll_event() {
            if let Some(observer) = &mut self.observer {
                observer(&event);
            }
        }
        self.carried = turn.carry();
    }
}

fn saved(turn: &Turn) -> SavedConversation {
    SavedConversation {
        format: SaveFormat,
        revision: turn.numbering().revision(),
        state: SavedState::Turn(Box::new(turn.save())),
    }
}

/// A name that no other conversation has: 128 random bits. The standard library seeds its hashers from the system.
fn random_name() -> String {
    let word = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", word(), word())
}

/// Hands on what happens.
struct Watch<'a> {
    events: Vec<Event>,
    observer: &'a mut Option<Observer>,
    items: Option<Items>,
    checkpoint: Option<Checkpoint>,
}

impl Observe for Watch<'_> {
    fn event(&mut self, event: Event) {
        if let Some(observer) = self.observer {
            observer(&event);
        }
        if let Some(items) = &self.items {
            items.push(StreamItem::Event(event.clone()));
        }
        self.events.push(event);
    }

    fn streams(&self) -> bool {
        self.items.is_some()
    }

    fn piece(&mut self, piece: Piece) {
        if let Some(items) = &self.items {
            items.push(StreamItem::Piece(piece));
        }
    }

    fn store<'a>(&'a mut self, turn: &Turn) -> BoxFuture<'a, Result<(), Stop>> {
        match &self.checkpoint {
            None => Box::pin(ready(Ok(()))),
            Some(checkpoint) => {
                let stored = checkpoint(saved(turn));
                Box::pin(async move { stored.await.map_err(Stop::Checkpoint) })
            }
        }
    }

    fn caught_up(&mut self) -> BoxFuture<'_, ()> {
        let items = self.items.clone();
        // The stream polls the turn again when its reader has taken what there was.
        Box::pin(poll_fn(move |_| match &items {
            Some(items) if !items.is_empty() => Poll::Pending,
            _ => Poll::Ready(()),
        }))
    }
}

/// Ends the turn, unless it has ended: then there is nothing to cancel and it says so.
fn cancel(turn: &mut Turn) {
    let _ = turn.handle_input(Input::Cancel);
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("agent", &self.agent)
            .field("messages", &self.carried.transcript.len())
            .finish_non_exhaustive()
    }
}
