//! What can go wrong on the way to a reply, and whether to ask again.

use std::time::Duration;

use skillgraph_core::text::one_line;
use skillgraph_runtime::ModelErrorKind;

/// How much of an endpoint's own words is kept, in characters.
const KEPT: usize = 300;

/// Why there is no reply.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The endpoint refused, or could not.
    Status { status: u16, body: String, wait: Option<Duration> },
    /// It sent nothing for so long.
    Silent(Duration),
    /// The connection ended before the reply did.
    BrokenOff,
    /// It could not be reached, or broke off, or sent what is no reply.
    Transport(String),
    /// The reply does not keep to the schema that it was bound to.
    OffSchema(String),
    /// Nothing was sent: there is no key.
    NotSent(String),
}

impl Failure {
    pub(crate) fn of(error: genai::Error) -> Self {
        use genai::Error;
        match error {
            Error::HttpError { status, body, headers, .. } => {
                let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
                Failure::Status { status: status.as_u16(), body, wait: asked_wait(header) }
            }
            Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => {
                let status = webc_error.status().map(|status| status.as_u16());
                let header = |name: &str| {
                    let value = webc_error.headers().and_then(|headers| headers.get(name));
                    value.and_then(|value| value.to_str().ok()).map(str::to_owned)
                };
                match status {
                    Some(status) => Failure::Status { status, body: webc_error.to_string(), wait: asked_wait(header) },
                    None => Failure::Transport(webc_error.to_string()),
                }
            }
            Error::WebStream { error, cause, .. } => match error.downcast::<Error>() {
                Ok(inner) => Failure::of(*inner),
                Err(_) => Failure::Transport(cause),
            },
            Error::StreamParse { serde_error, .. } => {
                Failure::Transport(format!("what it sent is no JSON: {serde_error}"))
            }
            Error::ChatResponse { body, .. } => Failure::of_event(&body),
            Error::Resolver { resolver_error: genai::resolver::Error::ApiKeyEnvNotFound { env_name }, .. } => {
                Failure::NotSent(format!("set `{env_name}`, or give the model its key"))
            }
            error @ (Error::RequiresApiKey { .. }
            | Error::NoAuthData { .. }
            | Error::NoAuthResolver { .. }
            | Error::Resolver { .. }) => Failure::NotSent(error.to_string()),
            error => Failure::Transport(error.to_string()),
        }
    }

    /// An error that came as an event of a stream, behind a status that was good.
    fn of_event(body: &serde_json::Value) -> Self {
        let kind = body.get("type").or_else(|| body.pointer("/error/type")).and_then(|kind| kind.as_str());
        let kind = kind.unwrap_or_default();
        let status = match kind {
            "overloaded_error" => 529,
            "rate_limit_error" => 429,
            "invalid_request_error" => 400,
            _ => 500,
        };
        Failure::Status { status, body: body.to_string(), wait: None }
    }

    /// How long to wait before the request is sent again; none where that would not help.
    pub(crate) fn wait(&self, attempt: u32, backoff: Duration) -> Option<Duration> {
        let doubled = backoff.saturating_mul(2_u32.saturating_pow(attempt));
        match self {
            Failure::Status { status, wait, .. } => {
                let passes = matches!(status, 408 | 425 | 429) || *status >= 500;
                passes.then_some(wait.unwrap_or(doubled))
            }
            Failure::BrokenOff | Failure::Transport(_) => Some(doubled),
            Failure::Silent(_) | Failure::OffSchema(_) | Failure::NotSent(_) => None,
        }
    }

    /// What kind of thing went wrong.
    pub(crate) fn kind(&self) -> ModelErrorKind {
        match self {
            Failure::Status { status: 401 | 403, .. } | Failure::NotSent(_) => ModelErrorKind::Auth,
            Failure::Status { status: 429, .. } => ModelErrorKind::RateLimited,
            Failure::Status { status: 408 | 504, .. } | Failure::Silent(_) => ModelErrorKind::Timeout,
            Failure::Status { status: 413, .. } => ModelErrorKind::TooLong,
            Failure::Status { status: 400, body, .. } if is_too_long(body) => ModelErrorKind::TooLong,
            Failure::Status { status: 400..=499, .. } => ModelErrorKind::Refused,
            Failure::Status { .. } | Failure::BrokenOff | Failure::Transport(_) => ModelErrorKind::Unavailable,
            Failure::OffSchema(_) => ModelErrorKind::Protocol,
        }
    }

    /// What a user is told.
    pub(crate) fn said_of(&self, model: &str, attempts: u32) -> String {
        let what = match self {
            Failure::Status { status, body, .. } => format!("answered with status {status}: {}", kept(body)),
            Failure::Silent(silence) => format!("sent nothing for {} seconds", silence.as_secs_f64()),
            Failure::BrokenOff => "broke off before its reply was complete".to_owned(),
            Failure::Transport(reason) => format!("did not answer: {}", kept(reason)),
            Failure::OffSchema(text) => format!("did not keep to the schema of its reply: {}", kept(text)),
            Failure::NotSent(reason) => format!("has no key: {}", kept(reason)),
        };
        let again = match attempts {
            0 => String::new(),
            attempts => format!(", tried {} times", attempts + 1),
        };
        format!("`{model}` {what}{again}")
    }
}

/// What an endpoint asks for: `retry-after-ms`, or `Retry-After` in seconds.
fn asked_wait(header: impl Fn(&str) -> Option<String>) -> Option<Duration> {
    let milliseconds = header("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok());
    let seconds = header("retry-after").and_then(|text| text.trim().parse::<f64>().ok());
    let seconds = milliseconds.map(|milliseconds| milliseconds / 1_000.0).or(seconds)?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Whether an endpoint says that a request is longer than its model takes, in the words of one of the providers.
fn is_too_long(body: &str) -> bool {
    ["context_length_exceeded", "prompt is too long", "maximum context length", "exceeds the maximum number of tokens"]
        .iter()
        .any(|words| body.contains(words))
}

/// One line of it, not too long.
fn kept(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(KEPT) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_waited_for_and_what_does_not_is_not() {
        let status = |status, wait| Failure::Status { status, body: String::new(), wait };
        let half = Duration::from_millis(500);
        assert_eq!(status(429, Some(Duration::from_secs(7))).wait(0, half), Some(Duration::from_secs(7)));
        assert_eq!(status(503, None).wait(2, half), Some(Duration::from_secs(2)));
        assert_eq!(Failure::BrokenOff.wait(u32::MAX, Duration::MAX), Some(Duration::MAX));
        for lasting in [status(400, None), status(401, None), Failure::Silent(half), Failure::NotSent(String::new())] {
            assert_eq!(lasting.wait(0, half), None, "{lasting:?}");
        }
    }

    #[test]
    fn waits_are_read_as_seconds_or_milliseconds() {
        let asked =
            |name: &'static str, value: &'static str| asked_wait(|header| (header == name).then(|| value.to_owned()));
        assert_eq!(asked("retry-after", " 2 "), Some(Duration::from_secs(2)));
        assert_eq!(asked("retry-after-ms", "30"), Some(Duration::from_millis(30)));
        assert_eq!(asked("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"), None);
        assert_eq!(asked("retry-after", "-1"), None);
    }

    #[test]
    fn what_a_user_is_told_is_one_line_and_not_too_long() {
        let failure = Failure::Status { status: 500, body: "line\n".repeat(200), wait: None };
        let said = failure.said_of("gpt-x", 2);
        assert!(
            said.starts_with("`gpt-x` answered with status 500: line line ") && said.ends_with("…, tried 3 times"),
            "{said}"
        );
        assert!(said.chars().count() < 400);
    }
}
