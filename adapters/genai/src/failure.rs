//! What can go wrong on the way to a reply, and whether to ask again.

use std::time::Duration;

use serde_json::Value;
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
    /// It sent a reply that did not end in so long.
    Slow(Duration),
    /// It sent more bytes than a reply may have.
    TooLarge { most: usize },
    /// It could not be reached, or broke off.
    Transport(String),
    /// It sent what is no reply.
    Protocol(String),
    /// The reply does not keep to the schema that it was bound to.
    OffSchema(String),
    /// Nothing was sent: there is no key.
    NotSent(String),
    /// Nothing was sent: more tools are offered than the provider takes.
    TooManyTools { offered: usize, most: usize },
}

impl Failure {
    /// An error that came in a reply, behind a status that was good.
    pub(crate) fn of_error(error: &Value) -> Self {
        let words = ["type", "status", "code"].iter().filter_map(|field| error[*field].as_str());
        let by_word = words.filter_map(|word| match word {
            "overloaded_error" => Some(529),
            "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" | "RESOURCE_EXHAUSTED" => Some(429),
            "invalid_request_error" | "INVALID_ARGUMENT" | "context_length_exceeded" => Some(400),
            "authentication_error" | "invalid_api_key" | "UNAUTHENTICATED" => Some(401),
            "permission_error" | "PERMISSION_DENIED" => Some(403),
            "timeout_error" | "DEADLINE_EXCEEDED" => Some(504),
            _ => None,
        });
        let by_number = error["code"].as_u64().and_then(|code| u16::try_from(code).ok());
        let by_number = by_number.filter(|code| (400..600).contains(code));
        let status = by_number.or(by_word.into_iter().next()).unwrap_or(500);
        Failure::Status { status, body: error.to_string(), wait: None }
    }

    /// How long to wait before the request is sent again; none where that would not help.
    pub(crate) fn wait(&self, attempt: u32, backoff: Duration) -> Option<Duration> {
        let doubled = backoff.saturating_mul(2_u32.saturating_pow(attempt));
        match self {
            Failure::Status { status, wait, .. } => {
                let passes = matches!(status, 408 | 425 | 429) || *status >= 500;
                passes.then_some(wait.unwrap_or(doubled))
            }
            Failure::BrokenOff | Failure::Transport(_) | Failure::Protocol(_) => Some(doubled),
            Failure::Silent(_)
            | Failure::Slow(_)
            | Failure::TooLarge { .. }
            | Failure::OffSchema(_)
            | Failure::NotSent(_)
            | Failure::TooManyTools { .. } => None,
        }
    }

    /// What kind of thing went wrong.
    pub(crate) fn kind(&self) -> ModelErrorKind {
        match self {
            Failure::Status { status: 401 | 403, .. } | Failure::NotSent(_) => ModelErrorKind::Auth,
            Failure::Status { status: 429, .. } => ModelErrorKind::RateLimited,
            Failure::Status { status: 408 | 504, .. } | Failure::Silent(_) | Failure::Slow(_) => {
                ModelErrorKind::Timeout
            }
            Failure::Status { status: 413, .. } => ModelErrorKind::TooLong,
            Failure::Status { status: 400, body, .. } if is_too_long(body) => ModelErrorKind::TooLong,
            Failure::Status { status: 300..=499, .. } | Failure::TooManyTools { .. } => ModelErrorKind::Refused,
            Failure::Status { .. } | Failure::BrokenOff | Failure::Transport(_) => ModelErrorKind::Unavailable,
            Failure::OffSchema(_) | Failure::Protocol(_) | Failure::TooLarge { .. } => ModelErrorKind::Protocol,
        }
    }

    /// What a user is told.
    pub(crate) fn said_of(&self, model: &str, attempts: u32) -> String {
        let what = match self {
            Failure::Status { status: status @ 300..=399, .. } => {
                format!(
                    "answered with status {status}: it wants to redirect the request, and redirects are not followed"
                )
            }
            Failure::Status { status, body, .. } => format!("answered with status {status}: {}", kept(body)),
            Failure::Silent(silence) => format!("sent nothing for {} seconds", silence.as_secs_f64()),
            Failure::Slow(time) => format!("was not done with its reply after {} seconds", time.as_secs_f64()),
            Failure::TooLarge { most } => format!("sent more than {most} bytes for one reply"),
            Failure::Protocol(reason) => format!("sent no reply that can be read: {}", kept(reason)),
            Failure::TooManyTools { offered, most } => {
                format!("takes at most {most} tools, and {offered} are offered: unlock fewer at once")
            }
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
pub(crate) fn asked_wait(header: impl Fn(&str) -> Option<String>) -> Option<Duration> {
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
