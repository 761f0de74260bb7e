//! The model: how it is set up, and how a request is sent until there is a reply.

use std::fmt;
use std::time::Duration;

use genai::adapter::AdapterKind;
use genai::chat::ChatOptions;
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{Client, ModelIden, ServiceTarget};
use skillgraph_core::turn::{ModelReply, ModelRequest};
use skillgraph_runtime::{Model, ModelError, Piece, Pieces};

use crate::constrained;
use crate::failure::Failure;
use crate::reply::{Reader, read};
use crate::request::chat_request;

/// How long an endpoint may be silent where nobody said otherwise.
const SILENCE: Duration = Duration::from_secs(60);
/// How often a request is tried again.
const RETRIES: u32 = 3;
/// The first wait where the endpoint does not say how long.
const BACKOFF: Duration = Duration::from_millis(500);
/// The longest wait that an endpoint may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A [`Model`] of a provider. Cheap to copy.
#[derive(Debug, Clone)]
pub struct GenaiModel {
    client: Client,
    name: String,
    provider: AdapterKind,
    settings: Settings,
}

/// How requests are sent.
#[derive(Debug, Clone)]
struct Settings {
    options: ChatOptions,
    silence: Duration,
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
    /// Constrained mode in a format in which no schema is sent.
    NoSchema,
    /// A client of one's own has its endpoint and key already: they cannot be given beside it.
    TwoClients,
    /// An endpoint with a user, a query or a fragment in it. Whatever it says there may be a secret, and is not repeated.
    Endpoint,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Client { reason } => write!(f, "the HTTP client could not be made: {reason}"),
            BuildError::NoSchema => f.write_str(
                "no schema is sent in Ollama's own format: for constrained mode use its address for OpenAI's format, \
                 `.endpoint(\"http://127.0.0.1:11434/v1\")`",
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
            settings: Settings {
                options: ChatOptions::default()
                    .with_capture_usage(true)
                    .with_capture_content(true)
                    .with_capture_tool_calls(true),
                silence: SILENCE,
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
            let options = constrained::options(&self.settings.options, request, self.provider);
            // What comes is JSON: its pieces are no words yet.
            let reply = self.read(constrained::chat_request(request), &options, &mut |_| {}).await?;
            let reply = constrained::reply(reply, request)?;
            hand_on_whole(&reply, pieces);
            return Ok(reply);
        }
        self.read(chat_request(request, self.provider), &self.settings.options, pieces).await
    }

    async fn read(
        &self,
        request: genai::chat::ChatRequest,
        options: &ChatOptions,
        pieces: Pieces<'_>,
    ) -> Result<ModelReply, Failure> {
        let asked = self.client.exec_chat_stream(self.name.as_str(), request, Some(options));
        let response = tokio::time::timeout(self.settings.silence, asked)
            .await
            .map_err(|_| Failure::Silent(self.settings.silence))?;
        let stream = response.map_err(Failure::of)?.stream;
        read(stream, self.settings.silence, Reader::new(pieces)).await
    }
}

fn hand_on_whole(reply: &ModelReply, pieces: Pieces<'_>) {
    if !reply.text.is_empty() {
        pieces(Piece::Text(reply.text.clone()));
    }
    for (index, call) in reply.calls.iter().enumerate() {
        let (id, name, arguments) = (call.id.clone(), call.name.clone(), call.arguments.clone());
        pieces(Piece::Call { index, id, name, arguments });
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

    /// A client of one's own: with a resolver of keys, a proxy, headers.
    pub fn client(mut self, client: Client) -> Self {
        self.client = Some(client);
        self
    }

    /// The most tokens of a reply; the provider's own limit where nobody said it.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.settings.options = self.settings.options.with_max_tokens(tokens);
        self
    }

    /// How much chance there is in a reply, as the provider counts it.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.settings.options = self.settings.options.with_temperature(temperature);
        self
    }

    /// How long the endpoint may be silent, before its reply and in the middle of it; 60 seconds where nobody said otherwise.
    pub fn silence(mut self, silence: Duration) -> Self {
        self.settings.silence = silence;
        self
    }

    /// How often a request that failed for the moment is sent again; 3 times where nobody said otherwise.
    pub fn retries(mut self, retries: u32) -> Self {
        self.settings.retries = retries;
        self
    }

    /// The wait before the first of these, which doubles with each, where the endpoint does not say how long; half a second
    /// where nobody said otherwise.
    pub fn backoff(mut self, backoff: Duration) -> Self {
        self.settings.backoff = backoff;
        self
    }

    /// The longest wait that an endpoint may ask for, before the request fails instead; 60 seconds where nobody said
    /// otherwise.
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
        let client = match self.client {
            Some(_) if self.endpoint.is_some() || self.provider.is_some() || self.key.is_some() => {
                return Err(BuildError::TwoClients);
            }
            Some(client) => client,
            None => client(said, self.endpoint, self.key)?,
        };
        let by_name = || client.default_model(&self.name).map(|model| model.adapter_kind);
        let provider = said.map_or_else(by_name, Ok);
        let provider = provider.map_err(|error| BuildError::Client { reason: error.to_string() })?;
        if self.settings.constrained && matches!(provider, AdapterKind::Ollama | AdapterKind::OllamaCloud) {
            return Err(BuildError::NoSchema);
        }
        Ok(GenaiModel { client, name: self.name, provider, settings: self.settings })
    }
}

/// Whether an address has no part in which a secret could stand.
fn is_bare(url: &str) -> bool {
    !url.contains(['@', '?', '#'])
}

fn client(provider: Option<AdapterKind>, endpoint: Option<String>, key: Option<String>) -> Result<Client, BuildError> {
    #[cfg(feature = "rustls")]
    // A program that has chosen a provider of cryptography keeps it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Paths are joined to it.
    let endpoint = endpoint.map(|url| if url.ends_with('/') { url } else { format!("{url}/") });
    let resolve = move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
        let mut target = target;
        if let Some(provider) = provider {
            target.model = ModelIden::new(provider, target.model.model_name);
        }
        if let Some(endpoint) = &endpoint {
            target.endpoint = Endpoint::from_owned(endpoint.as_str());
        }
        target.auth = match (&key, &endpoint, provider) {
            (Some(key), ..) => AuthData::from_single(key.as_str()),
            // An endpoint of one's own gets no key of the environment: it may be anybody's.
            (None, Some(_), _) => AuthData::from_single("none"),
            _ => target.auth,
        };
        Ok(target)
    };
    let resolver = ServiceTargetResolver::from_resolver_fn(resolve);
    // Followed, a redirect would take the key and all that was said to another host.
    let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
    let http = http.map_err(|error| BuildError::Client { reason: error.to_string() })?;
    let built = Client::builder().with_reqwest(http).with_service_target_resolver(resolver).build();
    built.map_err(|error| BuildError::Client { reason: error.to_string() })
}
