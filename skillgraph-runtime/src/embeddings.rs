//! Static embeddings: a table of vectors and a tokenizer, read from two local files. A text is the sum of its
//! tokens' vectors: no model runs, and nothing is asked of anybody.
// SPEC 4, tier 2.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skillgraph_core::score::ScorerTraits;
use skillgraph_core::turn::ScoreRequest;

use crate::scorer::{IntentScorer, ScorerError, cosine};

/// What stands for a space, and before the first word.
const SPACE: char = '▁';
/// The longest word that is cut into tokens, in characters; of a longer one the rest is left out.
const LONGEST_WORD: usize = 100;
/// The most words of a text that are read.
const MOST_WORDS: usize = 2_000;

/// A table of token vectors with its tokenizer.
///
/// The weights are a `.safetensors` file with one matrix of a vector a token, of type `F16`, `BF16` or `F32`; the tokenizer is the
/// `tokenizer.json` of a byte-pair encoding that writes spaces as `▁`, as those of LLaMA and its descendants do. The PyPI package
/// `wordllama` has such a pair (16 MB, MIT).
pub struct StaticEmbeddings {
    tokens: HashMap<String, u32>,
    /// For each pair of pieces that are put together, how early that is.
    merges: HashMap<(String, String), u32>,
    table: Vec<f32>,
    width: usize,
}

/// Why embeddings cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingsError {
    file: PathBuf,
    reason: String,
}

impl fmt::Display for EmbeddingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.reason)
    }
}

impl std::error::Error for EmbeddingsError {}

impl StaticEmbeddings {
    /// Reads both files.
    ///
    /// # Errors
    ///
    /// [`EmbeddingsError`] with the file that cannot be read, or is not what is expected.
    pub fn read(weights: impl AsRef<Path>, tokenizer: impl AsRef<Path>) -> Result<Self, EmbeddingsError> {
        let (weights, tokenizer) = (weights.as_ref(), tokenizer.as_ref());
        let error = |file: &Path, reason: String| EmbeddingsError { file: file.to_owned(), reason };
        let read = |file: &Path| std::fs::read(file).map_err(|cause| error(file, cause.to_string()));
        let (table, width) = matrix(&read(weights)?).map_err(|reason| error(weights, reason))?;
        let (tokens, merges) = vocabulary(&read(tokenizer)?).map_err(|reason| error(tokenizer, reason))?;
        let rows = table.len() / width;
        if let Some((token, _)) = tokens.iter().find(|(_, id)| **id as usize >= rows) {
            return Err(error(
                weights,
                format!("it has {rows} vectors, and the tokenizer a token `{token}` beyond them"),
            ));
        }
        Ok(Self { tokens, merges, table, width })
    }

    /// The vector of a text; of one without a known token, zeros.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.width];
        for token in self.tokenize(text) {
            let start = token as usize * self.width;
            let row = self.table.get(start..start + self.width).unwrap_or_default();
            vector.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        vector
    }

    /// The tokens of a text, by their numbers.
    fn tokenize(&self, text: &str) -> Vec<u32> {
        let words = text.split(' ').take(MOST_WORDS);
        words.flat_map(|word| self.tokenize_word(&format!("{SPACE}{word}"))).collect()
    }

    fn tokenize_word(&self, word: &str) -> Vec<u32> {
        let mut pieces: Vec<String> = word.chars().take(LONGEST_WORD).map(String::from).collect();
        loop {
            let pairs = pieces.iter().zip(pieces.iter().skip(1)).enumerate();
            let ranked =
                pairs.filter_map(|(at, (left, right))| Some((*self.merges.get(&(left.clone(), right.clone()))?, at)));
            let Some((_, at)) = ranked.min() else { break };
            let right = pieces.remove(at + 1);
            if let Some(left) = pieces.get_mut(at) {
                left.push_str(&right);
            }
        }
        pieces.iter().flat_map(|piece| self.tokens_of(piece)).collect()
    }

    /// A piece that is no token is its bytes, where those are tokens.
    fn tokens_of(&self, piece: &str) -> Vec<u32> {
        match self.tokens.get(piece) {
            Some(token) => vec![*token],
            None => piece.bytes().filter_map(|byte| self.tokens.get(&format!("<0x{byte:02X}>")).copied()).collect(),
        }
    }
}

impl fmt::Debug for StaticEmbeddings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticEmbeddings").field("tokens", &self.tokens.len()).field("width", &self.width).finish()
    }
}

/// Scores by static embeddings: how near the message is to the nearest of an intent's own words and examples.
///
/// ```no_run
/// use skillgraph_runtime::{StaticEmbeddings, StaticScorer};
///
/// # fn main() -> Result<(), skillgraph_runtime::EmbeddingsError> {
/// let embeddings = StaticEmbeddings::read("l2_supercat_256.safetensors", "l2_supercat_tokenizer_config.json")?;
/// let scorer = StaticScorer::new(embeddings).floor(0.3);
/// # let _ = scorer;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct StaticScorer {
    embeddings: StaticEmbeddings,
    floor: Option<f64>,
}

impl StaticScorer {
    /// A scorer with these embeddings.
    pub fn new(embeddings: StaticEmbeddings) -> Self {
        Self { embeddings, floor: None }
    }

    /// What a cosine must exceed to count.
    #[must_use]
    pub fn floor(mut self, floor: f64) -> Self {
        self.floor = Some(floor);
        self
    }
}

impl IntentScorer for StaticScorer {
    fn name(&self) -> &str {
        "static-embedding"
    }

    fn traits(&self) -> ScorerTraits {
        ScorerTraits { floor: self.floor, categorical: false }
    }

    async fn score(&self, request: ScoreRequest) -> Result<Vec<f64>, ScorerError> {
        let message = self.embeddings.embed(&request.message);
        let nearness = |text: &String| cosine(&message, &self.embeddings.embed(text));
        let scores = request.candidates.iter().map(|candidate| {
            std::iter::once(&candidate.intent).chain(&candidate.examples).map(nearness).fold(f64::MIN, f64::max)
        });
        Ok(scores.collect())
    }
}

/// The one matrix of a `.safetensors` file, row by row, and its width.
fn matrix(bytes: &[u8]) -> Result<(Vec<f32>, usize), String> {
    let length = bytes.first_chunk::<8>().map(|length| u64::from_le_bytes(*length));
    let length = length.and_then(|length| usize::try_from(length).ok()).ok_or("it is no safetensors file")?;
    let end = length.checked_add(8).ok_or("its header has no end")?;
    let (header, data) = bytes.split_at_checked(end).ok_or("its header is longer than the file")?;
    let header = header.get(8..).unwrap_or_default();
    let header: Value = serde_json::from_slice(header).map_err(|error| format!("its header is no JSON: {error}"))?;
    let tensors = header.as_object().ok_or("its header is no JSON object")?;
    let mut tensors = tensors.iter().filter(|(name, _)| *name != "__metadata__");
    let (Some((_, tensor)), None) = (tensors.next(), tensors.next()) else {
        return Err("expected one matrix in it".to_owned());
    };
    let shape: Vec<usize> =
        serde_json::from_value(tensor.get("shape").cloned().unwrap_or_default()).unwrap_or_default();
    let [rows, width] = shape.as_slice() else { return Err("expected a matrix of rows and columns".to_owned()) };
    let offsets: Vec<usize> =
        serde_json::from_value(tensor.get("data_offsets").cloned().unwrap_or_default()).unwrap_or_default();
    let data = match offsets.as_slice() {
        [from, to] => data.get(*from..*to).ok_or("its matrix is outside of the file")?,
        _ => return Err("it does not say where its matrix stands".to_owned()),
    };
    let table: Vec<f32> = match tensor.get("dtype").and_then(Value::as_str) {
        Some("F16") => data.as_chunks().0.iter().map(|pair| half(u16::from_le_bytes(*pair))).collect(),
        Some("BF16") => {
            data.as_chunks().0.iter().map(|pair| f32::from_bits(u32::from(u16::from_le_bytes(*pair)) << 16)).collect()
        }
        Some("F32") => data.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect(),
        other => return Err(format!("expected numbers of type F16, BF16 or F32, not {}", other.unwrap_or("none"))),
    };
    if *width == 0 || rows.checked_mul(*width) != Some(table.len()) {
        return Err(format!("expected {rows} × {width} numbers, found {}", table.len()));
    }
    Ok((table, *width))
}

/// A number of half precision.
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 31, u32::from(bits & 1023));
    let value = match exponent {
        0 => fraction as f32 * 2_f32.powi(-24),
        31 if fraction == 0 => f32::INFINITY,
        31 => f32::NAN,
        exponent => f32::from_bits(((u32::from(exponent) + 112) << 23) | (fraction << 13)),
    };
    if sign == 1 { -value } else { value }
}

type Vocabulary = (HashMap<String, u32>, HashMap<(String, String), u32>);

/// The tokens and merges of a `tokenizer.json`.
fn vocabulary(bytes: &[u8]) -> Result<Vocabulary, String> {
    let file: Value = serde_json::from_slice(bytes).map_err(|error| format!("it is no JSON: {error}"))?;
    let model = file.get("model").ok_or("it has no `model`")?;
    let tokens: HashMap<String, u32> = serde_json::from_value(model.get("vocab").cloned().unwrap_or_default())
        .map_err(|error| format!("its `vocab` is no map of tokens to numbers: {error}"))?;
    let merges =
        model.get("merges").and_then(Value::as_array).ok_or("it has no `merges`: it is no byte-pair encoding")?;
    let pair = |merge: &Value| match merge {
        Value::String(text) => text.split_once(' ').map(|(left, right)| (left.to_owned(), right.to_owned())),
        merge => serde_json::from_value(merge.clone()).ok(),
    };
    let merges = merges.iter().zip(0..).map(|(merge, rank)| Some((pair(merge)?, rank)));
    let merges: Option<HashMap<(String, String), u32>> = merges.collect();
    Ok((tokens, merges.ok_or("a merge in it is no pair")?))
}
