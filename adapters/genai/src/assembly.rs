//! Fragments of a stream, put together to a reply.
//!
//! What servers send differs: an index may be missing, repeated, a text, or beyond all bounds; an id may be missing, come late or
//! twice; a name may come in parts; arguments come as text in pieces or as an object at once. The rules here: a new id or, after
//! whole arguments, a new name begins a new call; an index only tells calls apart and never sizes anything; what names no tool is
//! no call. All work is linear in what came.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};
use skillgraph_core::turn::{ModelReply, StopReason, ToolCall, Usage};
use skillgraph_runtime::{Piece, Pieces};

use crate::failure::Failure;

/// The most calls of one reply that are put together: more is no reply of a model.
const MOST_CALLS: usize = 4_096;

/// What has come of a reply.
pub(crate) struct Assembly<'a> {
    pieces: Pieces<'a>,
    /// The names that the model may call: they tell a part of a name from a name.
    offered: HashSet<String>,
    text: String,
    calls: Vec<Call>,
    /// The newest call of each index.
    by_index: BTreeMap<u64, usize>,
    /// The newest call of each id.
    by_id: BTreeMap<String, usize>,
    thoughts: Vec<Value>,
    stop: Option<StopReason>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

/// A part of a call, as a server sent it. What is blank is none.
#[derive(Debug, Default, Clone)]
pub(crate) struct Fragment {
    pub(crate) index: Option<u64>,
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) arguments: Arguments,
    pub(crate) signature: Option<String>,
}

/// The arguments in a fragment.
#[derive(Debug, Default, Clone)]
pub(crate) enum Arguments {
    #[default]
    None,
    /// A piece of their text.
    Text(String),
    /// All of them. Pieces that come behind an object take its place.
    Whole(Value),
}

impl Fragment {
    /// A part of a call as JSON has it. What is blank, or no text, is none.
    pub(crate) fn of(id: &Value, name: &Value, arguments: &Value) -> Self {
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        Self { id: text(id), name: text(name), arguments: Arguments::of(arguments), ..Self::default() }
    }

    /// Whether it says by more than a name to which call it belongs.
    fn is_placed(&self) -> bool {
        self.index.is_some() || self.id.is_some()
    }
}

impl Arguments {
    /// Arguments as JSON has them: text, or an object.
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Arguments::None,
            Value::String(text) => Arguments::Text(text.clone()),
            whole => Arguments::Whole(whole.clone()),
        }
    }

    fn is_blank(&self) -> bool {
        match self {
            Arguments::None => true,
            Arguments::Text(text) => text.trim().is_empty(),
            Arguments::Whole(value) => is_empty_object(value),
        }
    }
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    whole: Option<Value>,
    text: Text,
    signatures: Vec<String>,
    /// Whether anything of it was handed on.
    is_shown: bool,
}

/// Text of arguments, and whether an object is complete in it: followed as it comes, so that it is never read twice.
#[derive(Debug, Default)]
struct Text {
    text: String,
    depth: usize,
    in_string: bool,
    escaped: bool,
    complete: bool,
    /// Whether there is more in it than white space.
    has_words: bool,
}

impl Text {
    fn push(&mut self, more: &str) {
        self.text.push_str(more);
        self.has_words |= !more.trim().is_empty();
        for byte in more.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => {
                    self.depth = self.depth.saturating_sub(1);
                    self.complete |= self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

impl Call {
    fn has_arguments(&self) -> bool {
        self.text.has_words || self.whole.as_ref().is_some_and(|whole| !is_empty_object(whole))
    }

    /// Whether nothing can follow behind its arguments.
    fn is_complete(&self) -> bool {
        if self.text.has_words { self.text.complete } else { self.has_arguments() }
    }

    fn finish(self) -> ToolCall {
        let arguments = match self.whole {
            Some(whole) if !self.text.has_words => whole.to_string(),
            _ => self.text.text,
        };
        ToolCall { id: self.id, name: self.name, arguments, signatures: self.signatures }
    }
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(offered: HashSet<String>, pieces: Pieces<'a>) -> Self {
        Self {
            pieces,
            offered,
            text: String::new(),
            calls: Vec::new(),
            by_index: BTreeMap::new(),
            by_id: BTreeMap::new(),
            thoughts: Vec::new(),
            stop: None,
            input_tokens: None,
            output_tokens: None,
        }
    }

    /// Words of the answer.
    pub(crate) fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.text.push_str(text);
            (self.pieces)(Piece::Text(text.to_owned()));
        }
    }

    /// What the provider wants back with the message. The newest can be gone on with.
    pub(crate) fn thoughts(&mut self) -> &mut Vec<Value> {
        &mut self.thoughts
    }

    pub(crate) fn stop(&mut self, stop: StopReason) {
        self.stop = Some(stop);
    }

    pub(crate) fn usage(&mut self, input: Option<u64>, output: Option<u64>) {
        self.input_tokens = input.or(self.input_tokens);
        self.output_tokens = output.or(self.output_tokens);
    }

    /// Whether the provider has said why it stopped.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// A part of a call.
    pub(crate) fn call(&mut self, fragment: Fragment) -> Result<(), Failure> {
        if let Some(at) = self.place(&fragment)? {
            self.add(at, fragment);
        }
        Ok(())
    }

    fn add(&mut self, at: usize, fragment: Fragment) {
        let Some(call) = self.calls.get_mut(at) else { return };
        if let Some(id) = fragment.id
            && call.id.is_empty()
        {
            call.id.clone_from(&id);
            self.by_id.insert(id, at);
        }
        if let Some(name) = fragment.name
            && call.name != name
        {
            call.name.push_str(&name);
        }
        call.signatures.extend(fragment.signature);
        match fragment.arguments {
            Arguments::None => {}
            Arguments::Text(text) => {
                call.text.push(&text);
                // Before that its name may not be whole.
                if !text.is_empty() {
                    call.is_shown = true;
                    let (id, name) = (call.id.clone(), call.name.clone());
                    (self.pieces)(Piece::Call { index: at, id, name, arguments: text });
                }
            }
            // It may be the empty one before the pieces, or the whole once more behind them.
            Arguments::Whole(whole) => call.whole = Some(whole),
        }
    }

    /// A call that came at once.
    pub(crate) fn whole_call(&mut self, fragment: Fragment) -> Result<(), Failure> {
        if fragment.name.is_none() {
            return Ok(());
        }
        let at = self.begin(&fragment)?;
        self.add(at, fragment);
        Ok(())
    }

    fn begin(&mut self, fragment: &Fragment) -> Result<usize, Failure> {
        if self.calls.len() >= MOST_CALLS {
            return Err(Failure::Protocol(format!("it calls more than {MOST_CALLS} tools at once")));
        }
        let at = self.calls.len();
        self.calls.push(Call { index: fragment.index, ..Call::default() });
        if let Some(index) = fragment.index {
            self.by_index.insert(index, at);
        }
        if let Some(id) = &fragment.id {
            self.by_id.insert(id.clone(), at);
        }
        Ok(at)
    }

    /// The call that a fragment belongs to; none if it belongs to nothing.
    fn place(&mut self, fragment: &Fragment) -> Result<Option<usize>, Failure> {
        let newest = self.calls.len().checked_sub(1);
        let by_id = fragment.id.as_ref().and_then(|id| self.by_id.get(id).copied());
        let by_index = match fragment.index {
            Some(index) => self.by_index.get(&index).copied(),
            None => newest,
        };
        let before = match (by_id, by_index) {
            // An id that came before, under another index: two calls with one id.
            (Some(by_id), _) => {
                let other = self.calls.get(by_id).and_then(|call| call.index).zip(fragment.index);
                if other.is_some_and(|(one, other)| one != other) { None } else { Some(by_id) }
            }
            (None, by_index) => by_index,
        };
        let goes_on = before.and_then(|at| self.calls.get(at)).is_some_and(|call| self.goes_on(call, fragment));
        if goes_on {
            return Ok(before);
        }
        // What has no name, and goes on with nothing that has one, is no call.
        if fragment.name.is_none() {
            return Ok(None);
        }
        self.begin(fragment).map(Some)
    }

    /// Whether a fragment is the next part of a call.
    fn goes_on(&self, call: &Call, fragment: &Fragment) -> bool {
        let has_new_id = fragment.id.as_ref().is_some_and(|id| !call.id.is_empty() && call.id != *id);
        let Some(name) = &fragment.name else {
            // Some servers number every fragment anew: without a name it begins nothing.
            return !has_new_id || !call.is_complete();
        };
        if has_new_id {
            return false;
        }
        if call.is_complete() {
            // The same name once more, with nothing new in it.
            return call.name == *name && fragment.arguments.is_blank() && fragment.is_placed();
        }
        if call.name == *name || call.has_arguments() {
            // Without an index and an id nothing but the name says that a call begins.
            return call.name == *name && fragment.is_placed();
        }
        // Nothing of its arguments has come: the rest of its name, unless both are names and together they are none.
        let together = format!("{}{name}", call.name);
        self.offered.contains(&together) || !(self.offered.contains(&call.name) && self.offered.contains(name))
    }

    /// The reply.
    pub(crate) fn finish(self) -> Result<ModelReply, Failure> {
        let pieces = self.pieces;
        let calls = self.calls.into_iter().enumerate().map(|(index, call)| {
            let is_shown = call.is_shown;
            let call = call.finish();
            if !is_shown {
                pieces(whole_piece(index, &call));
            }
            call
        });
        let calls: Vec<ToolCall> = calls.collect();
        let stop = match self.stop {
            Some(StopReason::ToolCalls) if calls.is_empty() => {
                return Err(Failure::Protocol("it says that it calls tools, and calls none".to_owned()));
            }
            Some(stop) => stop,
            None if calls.is_empty() => StopReason::EndTurn,
            None => StopReason::ToolCalls,
        };
        let usage = self.input_tokens.zip(self.output_tokens);
        let usage = usage.map(|(input_tokens, output_tokens)| Usage { input_tokens, output_tokens });
        Ok(ModelReply { text: self.text, calls, stop, usage, thoughts: self.thoughts })
    }
}

/// A call that is handed on at once.
pub(crate) fn whole_piece(index: usize, call: &ToolCall) -> Piece {
    let ToolCall { id, name, arguments, .. } = call.clone();
    Piece::Call { index, id, name, arguments }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::*;

    const NAMES: [&str; 4] = ["find", "find_order", "pay", "rest"];

    /// How a server tells its calls apart.
    #[derive(Debug, Clone, Copy)]
    enum Style {
        /// By index, interleaved as it likes; ids may be missing or the same.
        Indexed,
        /// By id alone, interleaved.
        Ids,
        /// By nothing but the order: a name, then its arguments.
        Ordered,
        /// All under one index, each with an id of its own.
        OneIndex,
    }

    #[derive(Debug, Clone)]
    struct Sent {
        name: &'static str,
        arguments: String,
        /// Where its arguments are cut.
        cuts: Vec<Index>,
        /// Whether they come as an object.
        whole: bool,
        has_id: bool,
        /// Whether its name and id are said again with each piece.
        repeats: bool,
    }

    fn sent() -> impl Strategy<Value = Sent> {
        let arguments = select(vec![
            "{}",
            r#"{"x":1}"#,
            r#"{"x":"}{\"\\"}"#,
            r#"{"x":[1,{"y":"ü🙂"}],"z":{}}"#,
            r#"{ "x" : "[" }"#,
        ]);
        let cuts = prop::collection::vec(any::<Index>(), 0..5);
        (select(&NAMES[..]), arguments, cuts, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
            |(name, arguments, cuts, whole, has_id, repeats)| Sent {
                name,
                arguments: arguments.to_owned(),
                cuts,
                whole,
                has_id,
                repeats,
            },
        )
    }

    /// The fragments of a call, in their order.
    fn fragments(at: usize, sent: &Sent, style: Style) -> Vec<Fragment> {
        let index = match style {
            Style::Indexed => {
                Some([7, 0, u64::MAX, 4_000_000_000, 3, 2, 1, 5].get(at).copied().unwrap_or(at as u64 + 100))
            }
            Style::Ids | Style::Ordered => None,
            Style::OneIndex => Some(0),
        };
        let id = match style {
            Style::Indexed if sent.has_id => Some(format!("id_{at}")),
            Style::Indexed | Style::Ordered => None,
            Style::Ids | Style::OneIndex => Some(format!("id_{at}")),
        };
        let name = Some(sent.name.to_owned());
        let first = Fragment { index, id: id.clone(), name: name.clone(), ..Fragment::default() };
        if sent.whole {
            let whole = serde_json::from_str(&sent.arguments).expect("JSON");
            return vec![Fragment { arguments: Arguments::Whole(whole), ..first }];
        }
        let ends: Vec<usize> =
            sent.arguments.char_indices().map(|(end, _)| end).chain([sent.arguments.len()]).collect();
        let mut cuts: Vec<usize> =
            sent.cuts.iter().map(|cut| *cut.get(&ends)).chain([0, sent.arguments.len()]).collect();
        cuts.sort_unstable();
        let pieces: Vec<&str> = cuts.windows(2).filter_map(|ends| sent.arguments.get(ends[0]..ends[1])).collect();
        let piece = |text: &&str| Fragment {
            index,
            id: id.clone().filter(|_| sent.repeats || matches!(style, Style::Ids)),
            name: name.clone().filter(|_| sent.repeats && id.is_some()),
            arguments: Arguments::Text((*text).to_owned()),
            signature: None,
        };
        // Said again with blank arguments behind whole ones, a name without an id would begin another call.
        std::iter::once(first).chain(pieces.iter().filter(|text| !text.is_empty()).map(piece)).collect()
    }

    proptest! {
        /// However a server cuts its calls, and whichever order its pieces come in: the same calls, no other, none twice.
        #[test]
        fn calls_are_put_together_as_they_were_taken_apart(
            sent in prop::collection::vec(sent(), 1..7),
            style in select(vec![Style::Indexed, Style::Ids, Style::Ordered, Style::OneIndex]),
            order in prop::collection::vec(any::<Index>(), 64),
        ) {
            let mut queues: Vec<std::collections::VecDeque<Fragment>> =
                sent.iter().enumerate().map(|(at, sent)| fragments(at, sent, style).into()).collect();
            let mut pieces = |_| {};
            let mut reply = Assembly::new(NAMES.iter().map(|name| (*name).to_owned()).collect(), &mut pieces);
            // Each begins in its turn; where pieces say whose they are, they may wait for each other.
            let interleaves = matches!(style, Style::Indexed | Style::Ids);
            let mut begun = 0;
            let mut order = order.into_iter().cycle();
            while let Some(first) = queues.iter().position(|queue| !queue.is_empty()) {
                let open = first..begun.max(first);
                let at = if interleaves { open.start + order.next().expect("endless").index(open.len() + 1).min(open.len()) } else { first };
                let at = if at < queues.len() { at } else { first };
                let at = if queues[at].is_empty() { first } else { at };
                begun = begun.max(at + 1);
                let fragment = queues[at].pop_front().expect("a fragment");
                reply.call(fragment).expect("few calls");
            }
            let calls = reply.finish().expect("a reply").calls;
            let got: Vec<(&str, Value)> = calls.iter().map(|call| (call.name.as_str(), Value::Object(call.parsed_arguments().expect("an object")))).collect();
            let wanted: Vec<(&str, Value)> = sent.iter().map(|sent| (sent.name, serde_json::from_str(&sent.arguments).expect("JSON"))).collect();
            prop_assert_eq!(got, wanted);
        }

        /// Whatever comes: nothing panics, no call is without a name, and what runs was written in one place.
        #[test]
        fn any_fragments_come_to_calls_with_names(
            fragments in prop::collection::vec(
                (prop::option::of(0..3_u64), prop::option::of(select(vec!["a", "b"])), prop::option::of(select(&NAMES[..])), select(vec!["", "{", "}", "{}", "{\"x\":1}", ":", "\"", "\\"]), any::<bool>()),
                0..24,
            ),
        ) {
            let mut pieces = |_| {};
            let mut reply = Assembly::new(NAMES.iter().map(|name| (*name).to_owned()).collect(), &mut pieces);
            let named = fragments.iter().filter(|(_, _, name, ..)| name.is_some()).count();
            let written: usize = fragments.iter().map(|(.., text, _)| text.len()).sum();
            for (index, id, name, text, whole) in fragments {
                let arguments = match serde_json::from_str(text) {
                    Ok(value) if whole => Arguments::Whole(value),
                    _ => Arguments::Text(text.to_owned()),
                };
                let (id, name) = (id.map(str::to_owned), name.map(str::to_owned));
                reply.call(Fragment { index, id, name, arguments, signature: None }).expect("few calls");
            }
            let calls = reply.finish().expect("a reply").calls;
            prop_assert!(calls.len() <= named);
            prop_assert!(calls.iter().all(|call| !call.name.is_empty()));
            prop_assert!(calls.iter().map(|call| call.arguments.len()).sum::<usize>() <= written);
        }
    }
}
