//! Bytes of a body as the messages in it: server-sent events, lines of JSON, or one JSON document, whichever it is.
//!
//! Every byte is looked at once, and what waits for its end is bounded by what a reply may have.

use serde_json::Value;

use crate::failure::Failure;

/// How an endpoint parts its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `data: …` in lines, an empty line behind each event.
    Events,
    /// A JSON value in each line.
    Lines,
}

/// A message of a stream.
#[derive(Debug, PartialEq)]
pub(crate) enum Frame {
    Json(Value),
    /// `[DONE]`.
    Done,
}

/// A body on its way.
#[derive(Debug)]
pub(crate) struct Frames {
    framing: Framing,
    bytes: Vec<u8>,
    /// Where the first line begins that was not read.
    start: usize,
    /// How far its end was looked for.
    seen: usize,
    /// The data of the event that is not at its end.
    data: Option<String>,
    /// Whether the body is one document; none until its first byte has come.
    is_document: Option<bool>,
    total: usize,
    most: usize,
}

impl Frames {
    /// A body of at most so many bytes.
    pub(crate) fn new(framing: Framing, most: usize) -> Self {
        let (bytes, data) = (Vec::new(), None);
        Self { framing, bytes, start: 0, seen: 0, data, is_document: None, total: 0, most }
    }

    /// More of it.
    pub(crate) fn push(&mut self, more: &[u8]) -> Result<(), Failure> {
        self.total = self.total.saturating_add(more.len());
        if self.total > self.most {
            return Err(Failure::TooLarge { most: self.most });
        }
        self.bytes.drain(..self.start);
        self.seen -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(more);
        if self.is_document.is_none()
            && let Some(first) = self.bytes.iter().find(|byte| !byte.is_ascii_whitespace())
        {
            self.is_document = Some(self.framing == Framing::Events && matches!(first, b'{' | b'['));
        }
        Ok(())
    }

    /// The next message, if all of it has come.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>, Failure> {
        if self.is_document != Some(false) {
            return Ok(None);
        }
        while let Some(line) = self.line()? {
            if let Some(frame) = self.take_line(line)? {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// What is left when the body is at its end: some leave the last line end out, and some send no stream at all.
    pub(crate) fn rest(&mut self) -> Result<Vec<Frame>, Failure> {
        let rest = self.bytes.split_off(self.start);
        self.bytes.clear();
        (self.start, self.seen) = (0, 0);
        let rest = text(rest).map_err(|_| Failure::BrokenOff)?;
        if self.is_document == Some(true) {
            return Ok(match json(&rest)? {
                Value::Array(events) => events.into_iter().map(Frame::Json).collect(),
                event => vec![Frame::Json(event)],
            });
        }
        // What is cut off in the middle was not meant so.
        let last = self.take_line(rest).map_err(|_| Failure::BrokenOff)?;
        let behind = self.event().map_err(|_| Failure::BrokenOff)?;
        Ok(last.into_iter().chain(behind).collect())
    }

    /// The next whole line, without its end.
    fn line(&mut self) -> Result<Option<String>, Failure> {
        let unseen = self.bytes.get(self.seen..).unwrap_or_default();
        let Some(at) = unseen.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.seen = self.bytes.len();
            return Ok(None);
        };
        let end = self.seen + at;
        let line = self.bytes.get(self.start..end).unwrap_or_default().to_vec();
        // Of `\r\n` the second is an empty line, where those mean nothing; where they do, it is skipped.
        let is_pair = self.bytes.get(end..end + 2) == Some(b"\r\n");
        if self.bytes.get(end) == Some(&b'\r') && self.bytes.len() == end + 1 {
            // Its second half may be on its way.
            self.seen = end;
            return Ok(None);
        }
        self.start = end + if is_pair { 2 } else { 1 };
        self.seen = self.start;
        text(line).map(Some)
    }

    fn take_line(&mut self, line: String) -> Result<Option<Frame>, Failure> {
        match self.framing {
            Framing::Lines if line.trim().is_empty() => Ok(None),
            Framing::Lines => json(&line).map(|value| Some(Frame::Json(value))),
            Framing::Events if line.is_empty() => self.event(),
            Framing::Events => {
                let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
                if let Some(data) = line.strip_prefix("data:") {
                    let data = data.strip_prefix(' ').unwrap_or(data);
                    match &mut self.data {
                        Some(before) => {
                            before.push('\n');
                            before.push_str(data);
                        }
                        none => *none = Some(data.to_owned()),
                    }
                }
                Ok(None)
            }
        }
    }

    /// The event whose lines have come.
    fn event(&mut self) -> Result<Option<Frame>, Failure> {
        match self.data.take() {
            None => Ok(None),
            Some(data) if data.trim().is_empty() => Ok(None),
            Some(data) if data.trim() == "[DONE]" => Ok(Some(Frame::Done)),
            Some(data) => json(&data).map(|value| Some(Frame::Json(value))),
        }
    }
}

fn text(bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|_| Failure::Protocol("what it sent is not UTF-8".to_owned()))
}

fn json(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::Protocol(format!("what it sent is not JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(framing: Framing, body: &str, piece: usize) -> Result<Vec<Frame>, Failure> {
        let mut frames = Frames::new(framing, 10_000);
        let mut read = Vec::new();
        for piece in body.as_bytes().chunks(piece) {
            frames.push(piece)?;
            while let Some(frame) = frames.next()? {
                read.push(frame);
            }
        }
        read.extend(frames.rest()?);
        Ok(read)
    }

    #[test]
    fn a_body_is_read_alike_in_pieces_of_any_size() {
        let bodies = [
            (
                Framing::Events,
                "\u{feff}data: {\"a\":1}\n\ndata:{\"b\":\ndata: 2}\n\n: hi\nevent: x\n\ndata: [DONE]\n\n",
            ),
            (Framing::Events, "data: {\"a\":1}\r\n\r\ndata: {\"b\": 2}\r\n\r\ndata: [DONE]"),
            (Framing::Events, "data: {\"a\":1}\r\rdata: {\"b\":2}\r\rdata: [DONE]\r\r"),
            (Framing::Events, " [{\"a\":1},\n\n{\"b\":2}]\n"),
            (Framing::Lines, "\n{\"a\":1}\r\n\r\n{\"b\":2}"),
        ];
        for (framing, body) in bodies {
            for piece in [1, 2, 3, 7, 1_000] {
                let read = read(framing, body, piece).expect("frames");
                let values = [json!({ "a": 1 }), json!({ "b": 2 })].map(Frame::Json);
                assert_eq!(read[..2], values, "{body:?} by {piece}");
                assert!(read[2..].iter().all(|frame| *frame == Frame::Done), "{body:?} by {piece}");
            }
        }
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        assert!(matches!(read(Framing::Events, "data: {oops\n\n", 4), Err(Failure::Protocol(_))));
        assert!(matches!(read(Framing::Lines, "{}\n<html>\n", 4), Err(Failure::Protocol(_))));
        // Without its end it was cut off.
        assert!(matches!(read(Framing::Lines, "{}\n{\"a", 4), Err(Failure::BrokenOff)));
        let mut frames = Frames::new(Framing::Events, 100);
        frames.push(b"data: \"\xff\"\n\n").expect("few bytes");
        assert!(matches!(frames.next(), Err(Failure::Protocol(_))));
        assert!(matches!(frames.push(&[b'x'; 100]), Err(Failure::TooLarge { most: 100 })));
        // Nested beyond what is read.
        let deep = format!("data: {}\n\n", "[".repeat(9_000));
        assert!(matches!(read(Framing::Events, &deep, 64), Err(Failure::Protocol(_))));
    }
}
