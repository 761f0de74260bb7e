//! Which skills of a catalog a query means.
//!
//! Words hit each other by equality, by prefix, or by a shared beginning; what more words of the query hit goes first, then what
//! the words weigh where they stand. Texts are compared after folding; scripts that put no spaces between words are compared by
//! pairs of characters.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{CatalogEntry, ToolHeader};
use crate::text::{fold, stretches};

/// How many skills a search gives where nobody says it.
pub const SEARCH_LIMIT: usize = 10;

/// The least length of a word of a query.
const TERM_LENGTH: usize = 3;
/// The least length of a word that is searched.
const WORD_LENGTH: usize = 2;
/// Words of this length hit each other when they begin with the same letters, that many less one.
const STEM_LENGTH: usize = 5;

const KEY_WEIGHT: u32 = 4;
const TITLE_WEIGHT: u32 = 3;
const HEADER_WEIGHT: u32 = 2;
/// The whole query is the key or the title.
const EXACT_WEIGHT: u32 = 100;

/// The entries that a query means, best first, by their positions. A query without a word of three letters means the first ones.
///
/// For one search; [`SearchIndex`] is for many.
///
/// ```
/// use skillgraph_core::catalog::{CatalogEntry, search_skills};
///
/// let entry = |key: &str, header: &str| CatalogEntry { key: key.into(), header: header.into(), ..CatalogEntry::default() };
/// let catalog = [entry("dock:crane", "hoist freight"), entry("legal:customs", "declare freight, fill forms")];
/// assert_eq!(search_skills(&catalog, "freight forms", 10), [1, 0]);
/// assert!(search_skills(&catalog, "tides", 10).is_empty());
/// ```
pub fn search_skills<'a>(entries: impl IntoIterator<Item = &'a CatalogEntry>, query: &str, limit: usize) -> Vec<usize> {
    SearchIndex::new(entries).search(query, limit)
}

/// The words of a catalog in order, for many searches.
#[derive(Debug, Clone, Default)]
pub struct SearchIndex {
    entries: usize,
    words: BTreeMap<Piece, Vec<Place>>,
    /// Whole keys and titles.
    names: BTreeMap<String, Vec<usize>>,
}

/// An entry, and what a word weighs in the field of it in which it stands.
type Place = (usize, u32);

impl SearchIndex {
    /// Reads the keys, titles and headers.
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a CatalogEntry>) -> Self {
        let mut index = Self::default();
        for (at, entry) in entries.into_iter().enumerate() {
            index.entries = at + 1;
            let fields = [(&entry.key, KEY_WEIGHT), (&entry.title, TITLE_WEIGHT), (&entry.header, HEADER_WEIGHT)];
            for (text, weight) in fields {
                for piece in pieces(text, WORD_LENGTH) {
                    index.words.entry(piece).or_default().push((at, weight));
                }
            }
            let names = BTreeSet::from([fold(&entry.key), fold(&entry.title)]);
            names.into_iter().for_each(|name| index.names.entry(name).or_default().push(at));
        }
        index
    }

    /// As [`search_skills`]: positions of entries, at the most `limit` and never fewer than one where there is one to give.
    pub fn search(&self, query: &str, limit: usize) -> Vec<usize> {
        let limit = limit.max(1);
        let terms = terms(query);
        if terms.is_empty() {
            return (0..self.entries.min(limit)).collect();
        }
        // Of an entry: how many terms hit, and what they weigh.
        let mut hits: BTreeMap<usize, (usize, u32)> = BTreeMap::new();
        for at in self.names.get(&fold(shortened(query.trim()))).into_iter().flatten() {
            hits.entry(*at).or_default().1 += EXACT_WEIGHT;
        }
        for term in &terms {
            let mut places = self.places(term);
            // A field counts once a term, an entry too.
            places.sort_unstable();
            places.dedup();
            let mut last = None;
            for (at, weight) in places {
                let (coverage, score) = hits.entry(at).or_default();
                *coverage += usize::from(last != Some(at));
                *score += weight;
                last = Some(at);
            }
        }
        let mut hits: Vec<_> =
            hits.into_iter().map(|(at, (coverage, score))| (Reverse((coverage, score)), at)).collect();
        hits.sort_unstable();
        hits.into_iter().take(limit).map(|(_, at)| at).collect()
    }

    /// Where a term hits. Words that begin alike stand together.
    fn places(&self, term: &Piece) -> Vec<Place> {
        let exactly = |piece: Piece| self.words.get(&piece).into_iter().flatten();
        let Piece::Word(word) = term else { return exactly(term.clone()).copied().collect() };
        let ends = word.char_indices().map(|(at, c)| at + c.len_utf8());
        let ends: Vec<usize> = ends.collect();
        let beginning = |characters: usize| ends.get(characters - 1).and_then(|end| word.get(..*end));

        let longer = self.words_with(word).flat_map(|(_, places)| places);
        let shorter =
            (TERM_LENGTH..ends.len()).filter_map(beginning).flat_map(|text| exactly(Piece::Word(text.into())));
        let stem = beginning(STEM_LENGTH - 1).filter(|_| ends.len() >= STEM_LENGTH);
        let alike = stem.into_iter().flat_map(|stem| self.words_with(stem));
        let alike = alike.filter(|(word, _)| word.chars().count() >= STEM_LENGTH).flat_map(|(_, places)| places);
        longer.chain(shorter).chain(alike).copied().collect()
    }

    /// The words that begin so.
    fn words_with<'a>(&'a self, beginning: &'a str) -> impl Iterator<Item = (&'a str, &'a [Place])> {
        let from = self.words.range(Piece::Word(beginning.to_owned())..);
        from.map_while(move |(piece, places)| match piece {
            Piece::Word(word) if word.starts_with(beginning) => Some((word.as_str(), places.as_slice())),
            _ => None,
        })
    }
}

/// The names of a skill's tools, best first for a query: those that it means, then the others in their order.
pub fn rank_tools(query: &str, tools: &[ToolHeader]) -> Vec<String> {
    let as_entry = |tool: &ToolHeader| CatalogEntry {
        key: tool.name.clone(),
        header: tool.description.clone().unwrap_or_default(),
        ..CatalogEntry::default()
    };
    let entries: Vec<CatalogEntry> = tools.iter().map(as_entry).collect();
    let mut order = search_skills(&entries, query, tools.len());
    order.extend((0..tools.len()).filter(|at| !order.contains(at)).collect::<Vec<_>>());
    order.into_iter().filter_map(|at| Some(tools.get(at)?.name.clone())).collect()
}

/// Whether a query says enough to rank tools by it.
pub fn is_usable(query: &str) -> bool {
    query.trim().chars().count() >= TERM_LENGTH
}

/// A piece of a text that is compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Piece {
    Word(String),
    /// Two characters of a script without spaces.
    Pair(String),
}

/// The words of a query, each once, in its order.
fn terms(query: &str) -> Vec<Piece> {
    let mut seen = BTreeSet::new();
    let pieces = pieces(shortened(query), TERM_LENGTH).into_iter();
    pieces.filter(|piece| seen.insert(piece.clone())).take(MOST_TERMS).collect()
}

/// How many words of a query are looked for: who says more says no more by it.
const MOST_TERMS: usize = 64;
/// How much of a query is read, in bytes.
const MOST_READ: usize = 4_096;

/// The beginning of a query.
fn shortened(query: &str) -> &str {
    query.get(..query.floor_char_boundary(MOST_READ)).unwrap_or(query)
}

/// The words of a text that are long enough.
fn pieces(text: &str, least: usize) -> Vec<Piece> {
    let folded = fold(text);
    let mut pieces = Vec::new();
    for (spaced, stretch) in stretches(&folded) {
        let characters: Vec<char> = stretch.chars().collect();
        match spaced {
            true if characters.len() >= least => pieces.push(Piece::Word(stretch.to_owned())),
            true => {}
            false => pieces.extend(characters.windows(2).map(|pair| Piece::Pair(pair.iter().collect()))),
        }
    }
    pieces
}
