//! A conversation: turn after turn with one transcript.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use skillgraph_core::catalog::Opened;
use skillgraph_core::decl::SkillId;
use skillgraph_core::turn::{
    Answer, Carried, CatalogState, Event, Input, Outcome, Output, Question, RestoreError, SaveFormat, SavedTurn,
    Transcript, Turn,
};

use crate::agent::Agent;
use crate::authorize::Identity;
use crate::catalog::BoundTools;
use crate::drive::{Observe, drive};
use crate::model::Piece;
use crate::parts::Continuity;
use crate::report::{RunError, TurnReport};
use crate::stream::{Items, StreamItem, TurnStream};
use crate::trace;

/// A conversation with an agent (SPEC 14.1). All that changes is in here: conversations never see each other.
///
/// Dropping the future of [`Conversation::send`] stops the turn, and the tools with it. What had returned by then is kept,
/// open calls count as interrupted, and the next message goes on after them.
pub struct Conversation {
    agent: Agent,
    history: Transcript,
    /// The skill that was open when the last turn ended.
    cursor: Option<SkillId>,
    /// What was open of the catalog when the last turn ended.
    catalog: CatalogState,
    /// Tools of catalog skills that this conversation has bound.
    bound: BoundTools,
    /// The turn under way: it waits for a person, or a `send` was dropped, or it was restored.
    turn: Option<Turn>,
    identity: Arc<Identity>,
    id: Option<String>,
    observer: Option<Observer>,
}

/// A conversation as it can be stored: plain data (SPEC 10). Whom it is with is not in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct SavedConversation {
    format: SaveFormat,
    state: SavedState,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum SavedState {
    /// Between two turns.
    Resting { transcript: Transcript, cursor: Option<SkillId>, catalog: CatalogState },
    /// In one.
    Turn(Box<SavedTurn>),
}

type Observer = Box<dyn FnMut(&Event) + Send + Sync>;

impl Conversation {
    pub(crate) fn new(agent: Agent, history: Transcript) -> Self {
        Self {
            agent,
            history,
            cursor: None,
            catalog: CatalogState::default(),
            bound: BoundTools::new(),
            turn: None,
            identity: Arc::default(),
            id: None,
            observer: None,
        }
    }

    pub(crate) fn restore(agent: Agent, saved: SavedConversation, migrate: bool) -> Result<Self, RestoreError> {
        let mut conversation = Self::new(agent, Transcript::new());
        match saved.state {
            SavedState::Resting { transcript, cursor, catalog } => {
                conversation.history = transcript;
                conversation.cursor = cursor;
                conversation.catalog = catalog;
            }
            SavedState::Turn(saved) => {
                let setup = conversation.agent.setup().clone();
                let turn = if migrate { Turn::migrate(setup, *saved) } else { Turn::restore(setup, *saved) };
                conversation.turn = Some(turn?);
            }
        }
        Ok(conversation)
    }

    /// Says whom the conversation is with. Nobody in particular where nobody says it.
    #[must_use]
    pub fn with_identity(mut self, identity: Identity) -> Self {
        self.identity = Arc::new(identity);
        self
    }

    /// Gives the conversation an id, for records outside: `gen_ai.conversation.id` of its spans. It is not saved.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Calls `observer` with every event from now on, as it happens.
    pub fn on_event(&mut self, observer: impl FnMut(&Event) + Send + Sync + 'static) {
        self.observer = Some(Box::new(observer));
    }

    /// Sends the user's next message and waits for the turn to end, or to wait for a person. Must be called on a tokio
    /// runtime with time enabled.
    ///
    /// A turn that waits for a person ends with this: what was not answered does not run any more.
    ///
    /// # Errors
    ///
    /// [`RunError::Model`] where the model could not be asked, [`RunError::NoRuntime`] outside a tokio runtime. Every
    /// other end is a [`TurnReport`] with its [`Outcome`].
    pub async fn send(&mut self, message: impl Into<String>) -> Result<TurnReport, RunError> {
        on_runtime()?;
        self.begin(message.into());
        self.advance(None).await
    }

    /// Gives a person's answer to the question of a tool, and waits for the turn to end, or to wait for a person again
    /// (SPEC 10). It goes on when every question has its answer: permissions are asked for anew, and what the person saw is
    /// what runs.
    ///
    /// # Errors
    ///
    /// As [`Conversation::send`]; [`RunError::NoTurn`] and [`RunError::NoQuestion`] where nothing waits for the answer.
    pub async fn resume(&mut self, answer: Answer) -> Result<TurnReport, RunError> {
        on_runtime()?;
        self.take_answer(answer)?;
        self.advance(None).await
    }

    /// Goes on with the turn under way: one that was restored, or whose `send` was dropped. Tools that had not returned run
    /// again.
    ///
    /// # Errors
    ///
    /// As [`Conversation::send`]; [`RunError::NoTurn`] between turns.
    pub async fn go_on(&mut self) -> Result<TurnReport, RunError> {
        on_runtime()?;
        self.advance(None).await
    }

    /// The same as [`Conversation::send`], as a stream: words and calls piece by piece, and every event, in one order, as they
    /// come. The last item is how the turn went. Dropping the stream stops the turn, as dropping `send` does.
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
        let message = message.into();
        TurnStream::new(|items| {
            Box::pin(async move {
                on_runtime()?;
                self.begin(message);
                self.advance(Some(items)).await
            })
        })
    }

    /// The same as [`Conversation::resume`], as a stream.
    pub fn stream_resume(&mut self, answer: Answer) -> TurnStream<'_> {
        TurnStream::new(|items| {
            Box::pin(async move {
                on_runtime()?;
                self.take_answer(answer)?;
                self.advance(Some(items)).await
            })
        })
    }

    /// The same as [`Conversation::go_on`], as a stream.
    pub fn stream_go_on(&mut self) -> TurnStream<'_> {
        TurnStream::new(|items| {
            Box::pin(async move {
                on_runtime()?;
                self.advance(Some(items)).await
            })
        })
    }

    fn begin(&mut self, message: String) {
        self.close_turn();
        let cursor = match self.agent.parts.continuity {
            Continuity::Turn => None,
            Continuity::Conversation => self.cursor.clone(),
        };
        let before = Carried { transcript: self.history.clone(), cursor, catalog: self.catalog.clone() };
        self.turn = Some(Turn::start_from(self.agent.setup().clone(), before, message));
    }

    fn take_answer(&mut self, answer: Answer) -> Result<(), RunError> {
        let turn = self.turn.as_mut().ok_or(RunError::NoTurn)?;
        let call_id = answer.call_id.clone();
        turn.handle_input(Input::PersonAnswered(answer)).map_err(|_| RunError::NoQuestion { call_id })
    }

    /// Runs the turn under way to its end, or until it waits for a person.
    async fn advance(&mut self, items: Option<Items>) -> Result<TurnReport, RunError> {
        let turn = self.turn.as_mut().ok_or(RunError::NoTurn)?;
        let mut watch = Watch { events: Vec::new(), observer: &mut self.observer, items };
        let span = trace::turn(self.agent.graph().name(), self.id.as_deref());
        let driven = drive(&self.agent.parts, &self.identity, turn, &mut self.bound, &mut watch);
        let driven = trace::inside(span, driven).await;
        let events = watch.events;
        let cursor = turn.cursor();
        if !matches!(driven, Ok(Outcome::Paused { .. })) {
            self.close_turn();
        }
        match driven? {
            Outcome::ModelFailed { reason } => Err(RunError::Model { reason }),
            outcome => Ok(TurnReport { outcome, events, cursor }),
        }
    }

    /// What tools ask a person, in call order; nothing where no turn waits for one.
    pub fn questions(&self) -> Vec<Question> {
        match self.turn.as_ref().map(Turn::poll_output) {
            Some(Output::Pause(questions)) => questions,
            _ => Vec::new(),
        }
    }

    /// The conversation as plain data, to be stored and given to [`Agent::restore`]. It can be taken at any time, while a
    /// turn waits for a person above all.
    pub fn save(&self) -> SavedConversation {
        let state = match &self.turn {
            Some(turn) => SavedState::Turn(Box::new(turn.save())),
            None => SavedState::Resting {
                transcript: self.history.clone(),
                cursor: self.cursor.clone(),
                catalog: self.catalog.clone(),
            },
        };
        SavedConversation { format: SaveFormat, state }
    }

    /// What was said. If a `send` was dropped, its open calls are answered as interrupted.
    pub fn transcript(&self) -> Transcript {
        match self.turn.clone() {
            None => self.history.clone(),
            Some(mut turn) => {
                cancel(&mut turn);
                turn.transcript().clone()
            }
        }
    }

    /// What is open of the catalog, and which tools are bound (SPEC 11).
    pub fn catalog(&self) -> &Opened {
        self.turn.as_ref().map_or(&self.catalog, Turn::catalog).opened()
    }

    /// The agent.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Takes the turn under way, if there is one, into the history.
    fn close_turn(&mut self) {
        let Some(mut turn) = self.turn.take() else { return };
        cancel(&mut turn);
        while let Some(event) = turn.poll_event() {
            if let Some(observer) = &mut self.observer {
                observer(&event);
            }
        }
        self.history = turn.transcript().clone();
        self.cursor = turn.cursor();
        self.catalog = turn.catalog().clone();
    }
}

/// Hands on what happens.
struct Watch<'a> {
    events: Vec<Event>,
    observer: &'a mut Option<Observer>,
    items: Option<Items>,
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
}

/// Tools run as tasks.
fn on_runtime() -> Result<(), RunError> {
    tokio::runtime::Handle::try_current().map(drop).map_err(|_| RunError::NoRuntime)
}

/// Ends the turn, unless it has ended: then there is nothing to cancel and it says so.
fn cancel(turn: &mut Turn) {
    let _ = turn.handle_input(Input::Cancel);
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("agent", &self.agent)
            .field("messages", &self.history.len())
            .finish_non_exhaustive()
    }
}
