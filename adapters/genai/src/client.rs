//! A request on its way to an endpoint, and what comes back: at most so many bytes, within so much time, from that address alone.

use std::time::Duration;

use genai::resolver::{AuthData, Error as ResolverError};
use genai::{Client, Error, ServiceTarget};
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tokio::time::Instant;

use crate::failure::{Failure, asked_wait};
use crate::format::Format;

/// How much of the body of an error is read.
const ERROR_BYTES: usize = 64 << 10;

/// How long is waited, and how much is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// The longest time without a byte.
    pub(crate) silence: Duration,
    /// The longest time until a reply is whole.
    pub(crate) time: Duration,
    /// The most bytes of a reply.
    pub(crate) bytes: usize,
}

/// Where a request goes, and with which key.
pub(crate) struct Endpoint {
    url: String,
    headers: HeaderMap,
}

impl Endpoint {
    /// The endpoint of a model, by the client that knows providers, addresses and keys.
    pub(crate) async fn of(client: &Client, name: &str, format: Format) -> Result<(Self, String), Failure> {
        let target = client.resolve_service_target(name).await.map_err(not_sent)?;
        let ServiceTarget { endpoint, auth, model } = target;
        let (_, model) = model.model_name.namespace_and_name();
        let mut headers = HeaderMap::new();
        for (name, value) in format.headers() {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        let mut url = format.url(endpoint.base_url(), model);
        match auth {
            AuthData::None => {}
            AuthData::RequestOverride { url: other, headers: own } => {
                url = other;
                for (name, value) in &own {
                    let name = HeaderName::try_from(name.as_str()).map_err(|_| bad_header(name))?;
                    headers.insert(name.clone(), secret(value).ok_or_else(|| bad_header(name.as_str()))?);
                }
            }
            auth => {
                let (name, value) = format.key(&auth.single_key_value().map_err(no_key)?);
                headers.insert(name, secret(&value).ok_or_else(|| bad_header(name))?);
            }
        }
        Ok((Self { url, headers }, model.to_owned()))
    }
}

fn secret(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn bad_header(name: &str) -> Failure {
    Failure::NotSent(format!("what goes into the header `{name}` has a character that no header can hold"))
}

fn not_sent(error: Error) -> Failure {
    match error {
        Error::Resolver { resolver_error, .. } => no_key(resolver_error),
        error => Failure::NotSent(error.to_string()),
    }
}

fn no_key(error: ResolverError) -> Failure {
    match error {
        ResolverError::ApiKeyEnvNotFound { env_name } => {
            Failure::NotSent(format!("set `{env_name}`, or give the model its key"))
        }
        error => Failure::NotSent(error.to_string()),
    }
}

/// A reply on its way.
pub(crate) struct Body {
    response: Response,
    bounds: Bounds,
    deadline: Instant,
}

impl Body {
    /// Sends a request. What comes back with another status than success is a failure.
    pub(crate) async fn ask(
        http: &reqwest::Client,
        endpoint: &Endpoint,
        body: String,
        bounds: Bounds,
    ) -> Result<Self, Failure> {
        let deadline = Instant::now() + bounds.time;
        let request = http.post(&endpoint.url).headers(endpoint.headers.clone());
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        let sent = tokio::time::timeout(bounds.silence.min(bounds.time), request.send()).await;
        let response = sent.map_err(|_| Failure::Silent(bounds.silence))?.map_err(transport)?;
        let body = Self { response, bounds, deadline };
        if body.response.status().is_success() { Ok(body) } else { Err(body.error(endpoint).await) }
    }

    /// More of it; none at its end.
    pub(crate) async fn next(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, Failure> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Failure::Slow(self.bounds.time));
        }
        match tokio::time::timeout(self.bounds.silence.min(left), self.response.chunk()).await {
            Ok(chunk) => chunk.map_err(transport),
            Err(_) if left <= self.bounds.silence => Err(Failure::Slow(self.bounds.time)),
            Err(_) => Err(Failure::Silent(self.bounds.silence)),
        }
    }

    /// What an endpoint says of its own failure.
    async fn error(mut self, endpoint: &Endpoint) -> Failure {
        let status = self.response.status().as_u16();
        let header = |name: &str| self.response.headers().get(name).and_then(|value| value.to_str().ok());
        let wait = asked_wait(|name| header(name).map(str::to_owned));
        let mut body = Vec::new();
        while let Ok(Some(more)) = self.next().await {
            let room = ERROR_BYTES.saturating_sub(body.len());
            body.extend(more.as_ref().iter().take(room));
            if body.len() >= ERROR_BYTES {
                break;
            }
        }
        let mut body = String::from_utf8_lossy(&body).into_owned();
        // Some say the key that they refuse.
        for key in endpoint.headers.values().filter(|value| value.is_sensitive()).filter_map(|key| key.to_str().ok()) {
            let key = key.strip_prefix("Bearer ").unwrap_or(key);
            if !key.is_empty() {
                body = body.replace(key, "…");
            }
        }
        Failure::Status { status, body, wait }
    }
}

/// What reqwest says, without the address: there may be a key in it.
fn transport(error: reqwest::Error) -> Failure {
    let error = error.without_url();
    let mut said = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        said.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    Failure::Transport(said)
}
