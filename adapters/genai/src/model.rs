//! The model: how it is set up, and how a request is sent until there is a reply.

use std::fmt;
use std::time::Duration;

use genai::adapter::AdapterKind;
use genai::resolver::{AuthData, Endpoint as Address, ServiceTargetResolver};
use genai::{Client, ModelIden, ServiceTarget};
use serde_json::Value;
use skillgraph_core::turn::{ModelReply, ModelRequest};
use skillgraph_runtime::{Model, ModelError, Piece, Pieces};

use crate::assembly::{Assembly, whole_piece};
use crate::client::{Body, Bounds, Endpoint};
use crate::constrained;
use crate::failure::Failure;
use crate::format::{Ask, Format};
use crate::frames::{Frame, Frames};

/// What a reply may take, unless the builder says otherwise.
const BOUNDS: Bounds = Bounds { silence: Duration::from_secs(60), time: Duration::from_secs(600), bytes: 16 << 20 };
/// How often a request is tried again.
const RETRIES: u32 = 3;
/// The first wait where the endpoint does not say how long.
const BACKOFF: Duration = Duration::from_millis(500);
/// The longest wait that an endpoint may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A [`Model`] of a provider. Cheap to copy.
#[derive(Debug, Clone)]
pub struct GenaiModel {
    /// Knows providers, addresses and keys.
    client: Client,
    http: reqwest::Client,
    name: String,
    format: Format,
    settings: Settings,
}

/// How requests are sent.
#[derive(Debug, Clone)]
struct Settings {
    max_tokens: Option<u32>,
    temperature: Option<f64>,
    most_tools: Option<usize>,
    bounds: Bounds,
    retries: u32,
    backoff: Duration,
    longest_wait: Duration,
    constrained: bool,
}

/// Sets a [`GenaiModel`] up.
#[must_use = "a model is there after `.build()`"]
pub struct GenaiModelBuilder {
    name: String,
    provider: Option<AdapterKind>,
    endpoint: Option<String>,
    key: Option<String>,
    client: Option<Client>,
    http: Option<reqwest::Client>,
    settings: Settings,
}

/// Without the key, which has no place in a log.
impl fmt::Debug for GenaiModelBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenaiModelBuilder")
            .field("name", &self.name)
            .field("provider", &self.provider)
            .field("endpoint", &self.endpoint.as_ref().filter(|url| is_bare(url)))
            .field("key", &self.key.as_ref().map(|_| "…"))
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Why a model cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The HTTP client could not be made.
    Client {
        /// Why.
        reason: String,
    },
    /// The provider speaks a format of its own that is not spoken here.
    Format {
        /// Which provider.
        provider: AdapterKind,
    },
    /// A client of one's own has its endpoint and key already: they cannot be given beside it.
    TwoClients,
    /// An endpoint with a user, a query or a fragment in it. Whatever it says there may be a secret, and is not repeated.
    Endpoint,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Client { reason } => write!(f, "the HTTP client could not be made: {reason}"),
            BuildError::Format { provider } => write!(
                f,
                "{provider:?} speaks a format of its own, which is not spoken here: if it has an address for OpenAI's \
                 format, give that with `.endpoint(…)`",
            ),
            BuildError::Endpoint => f.write_str(
                "an endpoint is an address alone, without a user, a query or a fragment, as in \
                 `http://127.0.0.1:8080/v1`: give the key with `.key(…)`",
            ),
            BuildError::TwoClients => f.write_str(
                "a client of one's own has an endpoint and a key: leave `endpoint`, `provider` and `key` out",
            ),
        }
    }
}

impl std::error::Error for BuildError {}

impl GenaiModel {
    /// A model by its name. The name says which provider it is of (`gpt-…`, `claude-…`, `gemini-…`; `ollama::…` and the like
    /// for the others), and the provider which variable of the environment has the key.
    #[allow(clippy::new_ret_no_self)]
    pub fn new(name: impl Into<String>) -> GenaiModelBuilder {
        GenaiModelBuilder {
            name: name.into(),
            provider: None,
            endpoint: None,
            key: None,
            client: None,
            http: None,
            settings: Settings {
                max_tokens: None,
                temperature: None,
                most_tools: None,
                bounds: BOUNDS,
                retries: RETRIES,
                backoff: BACKOFF,
                longest_wait: LONGEST_WAIT,
                constrained: false,
            },
        }
    }

    /// Sends a request until there is a reply, or nothing can be done about it. `pieces` is none where nobody watches: then a
    /// reply that breaks off is asked for again.
    async fn ask(&self, request: &ModelRequest, mut pieces: Option<Pieces<'_>>) -> Result<ModelReply, ModelError> {
        let mut attempt = 0;
        loop {
            let mut handed_on = false;
            let mut hand_on = |piece: Piece| {
                if let Some(pieces) = &mut pieces {
                    handed_on = true;
                    pieces(piece);
                }
            };
            let failure = match self.attempt(request, &mut hand_on).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let wait =
                failure.wait(attempt, self.settings.backoff).filter(|_| attempt < self.settings.retries && !handed_on);
            match wait {
                Some(wait) if wait <= self.settings.longest_wait => tokio::time::sleep(wait).await,
                _ => {
                    let error = ModelError::new(failure.said_of(&self.name, attempt));
                    return Err(error.with_kind(failure.kind()));
                }
            }
            attempt += 1;
        }
    }

    async fn attempt(&self, request: &ModelRequest, pieces: Pieces<'_>) -> Result<ModelReply, Failure> {
        if self.settings.constrained {
            // What comes is JSON: its pieces are no words yet.
            let asked = constrained::as_text(request);
            let reply = self.read(&asked, Some(constrained::schema(request)), &mut |_| {}).await?;
            let reply = constrained::reply(reply)?;
            hand_on_whole(&reply, pieces);
            return Ok(reply);
        }
        let most = self.settings.most_tools.or(self.format.most_tools());
        match most.filter(|most| request.tools.len() > *most) {
            Some(most) => Err(Failure::TooManyTools { offered: request.tools.len(), most }),
            None => self.read(request, None, pieces).await,
        }
    }

    async fn read(
        &self,
        request: &ModelRequest,
        schema: Option<Value>,
        pieces: Pieces<'_>,
    ) -> Result<ModelReply, Failure> {
        let Settings { max_tokens, temperature, bounds, .. } = self.settings;
        let (endpoint, model) = Endpoint::of(&self.client, &self.name, self.format).await?;
        let ask = Ask { model: &model, request, max_tokens, temperature, schema };
        let asked = self.format.body(&ask).to_string();
        let mut body = Body::ask(&self.http, &endpoint, asked, bounds).await?;

        let offered = request.tools.iter().map(|tool| tool.name.as_str().to_owned()).collect();
        let mut reply = Assembly::new(offered, pieces);
        let mut frames = Frames::new(self.format.framing(), bounds.bytes);
        while let Some(more) = body.next().await? {
            frames.push(more.as_ref())?;
            while let Some(frame) = frames.next()? {
                if self.take(frame, &mut reply)? {
                    return reply.finish();
                }
            }
        }
        let mut is_done = false;
        for frame in frames.rest()? {
            is_done |= self.take(frame, &mut reply)?;
        }
        // Some say why they stop, and then no more.
        if is_done || reply.has_stopped() { reply.finish() } else { Err(Failure::BrokenOff) }
    }

    /// Takes a message of a reply in. True where it is the last.
    fn take(&self, frame: Frame, reply: &mut Assembly<'_>) -> Result<bool, Failure> {
        match frame {
            Frame::Done => Ok(true),
            Frame::Json(message) => self.format.read(&message, reply),
        }
    }
}

fn hand_on_whole(reply: &ModelReply, pieces: Pieces<'_>) {
    if !reply.text.is_empty() {
        pieces(Piece::Text(reply.text.clone()));
    }
    for (index, call) in reply.calls.iter().enumerate() {
        pieces(whole_piece(index, call));
    }
}

impl Model for GenaiModel {
    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    async fn complete(&self, request: ModelRequest) -> Result<ModelReply, ModelError> {
        self.ask(&request, None).await
    }

    async fn stream(&self, request: ModelRequest, pieces: Pieces<'_>) -> Result<ModelReply, ModelError> {
        self.ask(&request, Some(pieces)).await
    }
}

impl GenaiModelBuilder {
    /// Where the provider is, up to what comes before its own paths: `http://127.0.0.1:8080/v1`. Without a provider it speaks
    /// OpenAI's format. It is sent no key but the one that [`Self::key`] gives: those of the environment are for the providers' own
    /// addresses.
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    /// Whose format is spoken, where the name does not say it.
    pub fn provider(mut self, provider: AdapterKind) -> Self {
        self.provider = Some(provider);
        self
    }

    /// The key. Without an endpoint of one's own it defaults to what the provider's variable of the environment holds.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// A client of one's own that says where each model is and which key it takes: its resolvers are asked. Requests are sent by
    /// [`Self::http`].
    pub fn client(mut self, client: Client) -> Self {
        self.client = Some(client);
        self
    }

    /// What sends the requests: for a proxy, certificates or headers of one's own. Set it to follow no redirects, as the one does
    /// that it takes the place of: a redirect takes the key and the conversation to another host.
    pub fn http(mut self, client: reqwest::Client) -> Self {
        self.http = Some(client);
        self
    }

    /// The most tokens of a reply. Defaults to the provider's own limit; to 32,000 for Anthropic, which must be told one.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.settings.max_tokens = Some(tokens);
        self
    }

    /// How much chance there is in a reply, as the provider counts it.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.settings.temperature = Some(temperature);
        self
    }

    /// The most tools that the endpoint takes in one request; a request with more fails before it is sent. Defaults to 128 where
    /// OpenAI's format is spoken and to 512 for Gemini; Anthropic and Ollama name no limit.
    pub fn max_tools(mut self, tools: usize) -> Self {
        self.settings.most_tools = Some(tools);
        self
    }

    /// How long the endpoint may be silent, before its reply and in the middle of it. Defaults to 60 seconds.
    pub fn silence(mut self, silence: Duration) -> Self {
        self.settings.bounds.silence = silence;
        self
    }

    /// How long a reply may take in all. Defaults to ten minutes.
    pub fn longest_reply(mut self, time: Duration) -> Self {
        self.settings.bounds.time = time;
        self
    }

    /// How many bytes a reply may have, everything around its words included. Defaults to 16 MiB.
    pub fn largest_reply(mut self, bytes: usize) -> Self {
        self.settings.bounds.bytes = bytes;
        self
    }

    /// How often a request that failed for the moment is sent again. Defaults to 3 times.
    pub fn retries(mut self, retries: u32) -> Self {
        self.settings.retries = retries;
        self
    }

    /// The wait before the first of these, which doubles with each, where the endpoint does not say how long. Defaults to half a
    /// second.
    pub fn backoff(mut self, backoff: Duration) -> Self {
        self.settings.backoff = backoff;
        self
    }

    /// The longest wait that an endpoint may ask for; where it asks for more, the request fails. Defaults to 60 seconds.
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.settings.longest_wait = wait;
        self
    }

    /// For endpoints without tool calls: the request has a JSON schema whose alternatives are the offered calls and an answer,
    /// and the reply, one of these, becomes an ordinary call or answer. One call a reply.
    pub fn constrained(mut self) -> Self {
        self.settings.constrained = true;
        self
    }

    /// Sets it up. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`BuildError`] with what is in the way.
    pub fn build(self) -> Result<GenaiModel, BuildError> {
        if !self.endpoint.as_ref().is_none_or(|url| is_bare(url)) {
            return Err(BuildError::Endpoint);
        }
        let said = self.provider.or(self.endpoint.as_ref().map(|_| AdapterKind::OpenAI));
        let failed = |reason: String| BuildError::Client { reason };
        let http = self.http.map_or_else(http, Ok).map_err(|error| failed(error.to_string()))?;
        let client = match self.client {
            Some(_) if self.endpoint.is_some() || self.provider.is_some() || self.key.is_some() => {
                return Err(BuildError::TwoClients);
            }
            Some(client) => client,
            None => client(said, self.endpoint, self.key, http.clone()).map_err(|error| failed(error.to_string()))?,
        };
        let by_name = || client.default_model(&self.name).map(|model| model.adapter_kind);
        let provider = said.map_or_else(by_name, Ok).map_err(|error| failed(error.to_string()))?;
        let format = Format::of(provider).ok_or(BuildError::Format { provider })?;
        Ok(GenaiModel { client, http, name: self.name, format, settings: self.settings })
    }
}

/// Whether an address has no part in which a secret could stand.
fn is_bare(url: &str) -> bool {
    !url.contains(['@', '?', '#'])
}

/// Follows no redirects: one would take the key and all that was said to another host.
fn http() -> reqwest::Result<reqwest::Client> {
    #[cfg(feature = "rustls")]
    // A program that has chosen a provider of cryptography keeps it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()
}

/// What knows addresses and keys.
fn client(
    provider: Option<AdapterKind>,
    endpoint: Option<String>,
    key: Option<String>,
    http: reqwest::Client,
) -> genai::Result<Client> {
    // Paths are joined to it.
    let endpoint = endpoint.map(|url| if url.ends_with('/') { url } else { format!("{url}/") });
    let resolve = move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
        let mut target = target;
        if let Some(provider) = provider {
            target.model = ModelIden::new(provider, target.model.model_name);
        }
        target.auth = match (&key, &endpoint) {
            (Some(key), _) => AuthData::from_single(key.as_str()),
            // An endpoint of one's own gets no key of the environment: it may be anybody's.
            (None, Some(_)) => AuthData::None,
            (None, None) => target.auth,
        };
        if let Some(endpoint) = &endpoint {
            target.endpoint = Address::from_owned(endpoint.as_str());
        }
        Ok(target)
    };
    let resolver = ServiceTargetResolver::from_resolver_fn(resolve);
    Client::builder().with_reqwest(http).with_service_target_resolver(resolver).build()
}
