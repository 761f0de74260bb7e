//! Who scores a message that no rule claims, and who resolves a menu.
// SPEC 4, tiers 2 and 3.

use std::fmt::{self, Display};
use std::future::Future;
use std::sync::Arc;

use serde_json::json;
use skillgraph_core::decl::ToolId;
use skillgraph_core::score::ScorerTraits;
use skillgraph_core::text::one_line;
use skillgraph_core::turn::{
    Choice, DecideRequest, IntentCandidate, Message, ModelRequest, ScoreRequest, Scores, ToolSpec, Transcript,
};

use crate::model::{AnyModel, Model, ModelError};
use crate::task;
use crate::tool::BoxFuture;

/// Scores a message against intents: `classify: host` asks the agent's own.
///
/// ```
/// use skillgraph_core::score::ScorerTraits;
/// use skillgraph_core::turn::ScoreRequest;
/// use skillgraph_runtime::{IntentScorer, ScorerError};
///
/// /// Likes long intents.
/// struct ByLength;
///
/// impl IntentScorer for ByLength {
///     fn name(&self) -> &str {
///         "by-length"
///     }
///
///     async fn score(&self, request: ScoreRequest) -> Result<Vec<f64>, ScorerError> {
///         Ok(request.candidates.iter().map(|candidate| candidate.intent.len() as f64).collect())
///     }
/// }
/// ```
pub trait IntentScorer: Send + Sync + 'static {
    /// What it is called in records.
    fn name(&self) -> &str;

    /// How its scores are to be read: without a floor, and the best decides where it leads by the margin.
    fn traits(&self) -> ScorerTraits {
        ScorerTraits::default()
    }

    /// One score a candidate, in their order; the higher, the better. Only the message is read, never the conversation.
    ///
    /// # Errors
    ///
    /// [`ScorerError`] where it cannot score: then the turn stays where it was, or all intents are offered.
    fn score(&self, request: ScoreRequest) -> impl Future<Output = Result<Vec<f64>, ScorerError>> + Send;
}

crate::error::reason! {
    /// Why a message could not be scored.
    ScorerError
}

/// Scores by the cosine of embeddings, from any function that makes them.
///
/// The text of a candidate is its intent with its examples, each on a line. Cosines lie close together, so that a floor
/// and a small margin in `classify: host { … }` are worth trying on messages of your own.
pub struct EmbeddingScorer<F> {
    embed: F,
    floor: Option<f64>,
}

impl<F> EmbeddingScorer<F> {
    /// `embed` gives one vector a text, in their order.
    pub fn new(embed: F) -> Self {
        Self { embed, floor: None }
    }

    /// What a cosine must exceed to count.
    #[must_use]
    pub fn floor(mut self, floor: f64) -> Self {
        self.floor = Some(floor);
        self
    }
}

impl<F> fmt::Debug for EmbeddingScorer<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddingScorer").field("floor", &self.floor).finish_non_exhaustive()
    }
}

impl<F, R, E> IntentScorer for EmbeddingScorer<F>
where
    F: Fn(Vec<String>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Vec<Vec<f32>>, E>> + Send,
    E: Display,
{
    fn name(&self) -> &str {
        "embedding"
    }

    fn traits(&self) -> ScorerTraits {
        ScorerTraits { floor: self.floor, categorical: false }
    }

    async fn score(&self, request: ScoreRequest) -> Result<Vec<f64>, ScorerError> {
        let texts = request.candidates.iter().map(text_of);
        let texts: Vec<String> = std::iter::once(request.message.clone()).chain(texts).collect();
        let wanted = texts.len();
        let vectors = (self.embed)(texts).await.map_err(ScorerError::new)?;
        match vectors.split_first() {
            Some((message, rest)) if vectors.len() == wanted => {
                Ok(rest.iter().map(|candidate| cosine(message, candidate)).collect())
            }
            _ => Err(ScorerError::new(format!("{wanted} texts gave {} vectors", vectors.len()))),
        }
    }
}

fn text_of(candidate: &IntentCandidate) -> String {
    let lines = std::iter::once(&candidate.intent).chain(&candidate.examples);
    lines.map(String::as_str).collect::<Vec<_>>().join("\n")
}

pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let norms = (dot(a, a) * dot(b, b)).sqrt();
    if norms > 0.0 { dot(a, b) / norms } else { 0.0 }
}

/// Lets a model name the intent: the one that it names scores 1, the others 0.
pub struct ModelScorer {
    model: Arc<dyn AnyModel>,
}

impl ModelScorer {
    /// A scorer that asks this model.
    pub fn new(model: impl Model) -> Self {
        Self { model: Arc::new(model) }
    }
}

impl fmt::Debug for ModelScorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelScorer").finish_non_exhaustive()
    }
}

impl IntentScorer for ModelScorer {
    fn name(&self) -> &str {
        "model"
    }

    fn traits(&self) -> ScorerTraits {
        ScorerTraits { floor: Some(0.0), categorical: true }
    }

    async fn score(&self, request: ScoreRequest) -> Result<Vec<f64>, ScorerError> {
        let ids: Vec<&str> = request.candidates.iter().map(|candidate| candidate.skill.as_str()).collect();
        let question = question(&request.candidates, None);
        let named = ask(&*self.model, question, &request.message, &ids).await.map_err(ScorerError::new)?;
        Ok(ids.iter().map(|id| if named.as_deref() == Some(*id) { 1.0 } else { 0.0 }).collect())
    }
}

/// Asks a model to choose from a menu, in one word. Whatever else it says, the menu stands.
pub(crate) async fn choose(model: &dyn AnyModel, request: DecideRequest) -> Result<Choice, ModelError> {
    let mut words: Vec<&str> = request.options.iter().map(|option| option.skill.as_str()).collect();
    words.extend(request.stay.as_ref().map(|_| STAY));
    let question = question(&request.options, request.stay.as_ref().map(|stay| stay.as_str()));
    Ok(match ask(model, question, &request.message, &words).await? {
        Some(word) if word == STAY => Choice::Stay,
        Some(word) => Choice::Skill(word.into()),
        None => Choice::None,
    })
}

/// The word for staying; no skill may have it as its id.
const STAY: &str = "stay";

fn question(candidates: &[IntentCandidate], stay: Option<&str>) -> String {
    let mut question = String::from(
        "Which of these is the user's message about? Call `choose` with one word of this list, or answer with that word and \
         nothing else.\n",
    );
    for candidate in candidates {
        question.push_str(&format!("\n{}: {}", candidate.skill, one_line(&candidate.intent)));
    }
    if let Some(stay) = stay {
        question.push_str(&format!("\n{STAY}: it goes on with `{stay}`"));
    }
    question.push_str("\nnone: none of them");
    question
}

/// One of the words, if the model answered with one.
async fn ask(
    model: &dyn AnyModel,
    system: String,
    message: &str,
    words: &[&str],
) -> Result<Option<String>, ModelError> {
    let messages = Transcript::from_iter([Message::User { text: message.to_owned() }]);
    let tools = vec![Arc::new(choose_tool(words))];
    let reply = model.complete_boxed(ModelRequest { iteration: 0, model: None, system, messages, tools }).await?;
    let called = reply.calls.iter().filter(|call| call.name == CHOOSE).find_map(|call| {
        let arguments = call.parsed_arguments().ok()?;
        Some(arguments.get("word")?.as_str()?.to_owned())
    });
    let said = called.as_deref().unwrap_or(&reply.text);
    let said = said.trim_matches(|c: char| c.is_whitespace() || "`'\"“”.,:;!*".contains(c));
    Ok(words.iter().find(|word| **word == said).map(|word| (*word).to_owned()))
}

/// The tool whose schema binds a model to the words that there are.
const CHOOSE: &str = "choose";

fn choose_tool(words: &[&str]) -> ToolSpec {
    let words: Vec<&str> = words.iter().copied().chain(["none"]).collect();
    let parameters = json!({
        "type": "object",
        "properties": { "word": { "type": "string", "enum": words, "description": "what the message is about" } },
        "required": ["word"],
        "additionalProperties": false,
    });
    ToolSpec {
        name: ToolId::from_static(CHOOSE),
        description: "Says what the message is about.".to_owned(),
        parameters,
    }
}

/// [`IntentScorer`] behind a pointer.
pub(crate) trait AnyScorer: Send + Sync {
    fn score_boxed(self: Arc<Self>, request: ScoreRequest) -> BoxFuture<Result<Scores, ScorerError>>;
}

/// Has a message scored; a scorer that panics has failed.
pub(crate) async fn score(scorer: &Arc<dyn AnyScorer>, request: ScoreRequest) -> Result<Scores, ScorerError> {
    match task::apart(scorer.clone().score_boxed(request)).await {
        Ok(scored) => scored,
        Err(_) => Err(ScorerError::new("the scorer failed unexpectedly")),
    }
}

impl<T: IntentScorer> AnyScorer for T {
    fn score_boxed(self: Arc<Self>, request: ScoreRequest) -> BoxFuture<Result<Scores, ScorerError>> {
        Box::pin(async move {
            let scores = self.score(request).await?;
            Ok(Scores { scorer: self.name().to_owned(), scores, traits: self.traits() })
        })
    }
}
