//! A skill as a file: `SKILL.md` of the Agent Skills standard, with the keys that a graph needs beside it.
//!
//! One reader for both doors, the macro and the run time. It says what a file says, and what is wrong with how it says it;
//! whether its names fit a graph is said by the check-up, as of any declaration. A file picks tools by name and never defines
//! one.
//!
//! ```
//! use skillgraph_core::skill_file::read;
//!
//! let file = read("---\nname: refunds\ndescription: Money back\ntools: find_order, pay\n---\nLook first.\n").file.unwrap();
//! assert_eq!(file.tools.len(), 2);
//! assert_eq!(file.body.text, "Look first.");
//!
//! let refused = read("---\nname: refunds\ndescription: Money back: refunds\n---\nLook first.\n");
//! assert_eq!(refused.findings[0].message, "`: ` inside an unquoted description");
//! ```
// SPEC 12.

#[cfg(feature = "turn")]
mod export;
mod folder;
mod keys;
mod route;
mod write;
mod yaml;

use std::ops::Range;

use crate::decl::{
    Body, Form, Lints, OnSkip, OnUnfinished, Prose, RouteDecl, Scope, SkillDecl, Steps, Surface, Trigger, Word,
};
use crate::finding::{Code, Finding, Note};

#[cfg(feature = "turn")]
pub use export::NotAFile;
pub use folder::{FolderError, Limits, Located, Scan, check_inside, read_file, read_folder, scan_folder};

/// A part of a file, in bytes of its normalised text.
pub type Part = Range<usize>;

/// What the standard allows a description at the most, in characters.
pub const DESCRIPTION_LENGTH: usize = 1024;

/// A skill as its file says it.
#[derive(Debug, Clone)]
pub struct SkillFile {
    /// Its id.
    pub name: Word<Part>,
    /// What a model reads when it chooses.
    pub description: Word<Part>,
    /// Its instructions, without white space around them.
    pub body: Word<Part>,
    /// Names of its tools.
    pub tools: Vec<Word<Part>>,
    /// Its procedure.
    pub steps: Option<Steps<Part>>,
    /// What a skipped step does.
    pub on_skip: Option<(OnSkip, Part)>,
    /// What an answer with steps left gets.
    pub on_unfinished: Option<(OnUnfinished, Part)>,
    /// Where its body is read.
    pub surface: Option<(Surface, Part)>,
    /// Its edges, in the order of the file.
    pub routes: Vec<FileRoute>,
    /// The licence that the file names.
    pub license: Option<String>,
    /// What the file says that it needs.
    pub compatibility: Option<String>,
    /// What other clients run without asking, as the file writes it: nothing here reads it as permission.
    pub allowed_tools: Vec<String>,
    /// What stands under `metadata`, in its order.
    pub metadata: Vec<(String, Data)>,
    /// Keys of other clients, which nothing here reads, in the order of the file.
    pub other_keys: Vec<(String, Data)>,
}

/// An edge of a file.
#[derive(Debug, Clone)]
pub struct FileRoute {
    /// The id of the skill that it leads to.
    pub to: Word<Part>,
    /// What makes it fire; the model's own pick where the file says nothing.
    pub trigger: Trigger<Part>,
    /// What drawings and records call it.
    pub label: Option<Word<Part>>,
}

/// A value that nothing here interprets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Nothing.
    Null,
    /// A text, a number or a truth value, as it is written.
    Text(String),
    /// A list.
    List(Vec<Data>),
    /// A map.
    Map(Vec<(String, Data)>),
}

impl SkillFile {
    /// Its edges as declarations, by the names of skills.
    pub fn edges(&self) -> impl Iterator<Item = RouteDecl<Part>> + '_ {
        self.routes.iter().map(|route| RouteDecl {
            // Nothing is wrong with the place that an edge leaves: it is the file.
            from: Word::new(&self.name.text, route.to.at.clone()),
            to: route.to.clone(),
            trigger: route.trigger.clone(),
            lints: Lints::default(),
            label: route.label.clone(),
            unread: false,
        })
    }
}

impl Read {
    /// The skill as a declaration, its name for an identifier; none where not even its name could be read. Of a file with
    /// findings nothing is said twice: what is missing there is not missing in the declaration.
    pub fn skill(&self) -> Option<SkillDecl<Part>> {
        let file = self.file.as_ref().filter(|file| !file.name.text.is_empty())?;
        let unread = !self.findings.is_empty();
        let said = |word: &Word<Part>| Some(word.clone()).filter(|word| !unread || !word.is_blank());
        let prose = || Ok(Prose::plain(&file.body.text));
        Some(SkillDecl {
            ident: file.name.clone(),
            id: file.name.clone(),
            description: said(&file.description),
            body: said(&file.body).map(|source| Body::Inline { source, prose: prose() }),
            tools: file.tools.clone(),
            steps: file.steps.clone(),
            on_skip: file.on_skip.clone(),
            on_unfinished: file.on_unfinished.clone(),
            scope: Scope::Active,
            surface: file.surface.clone(),
            refresh: None,
            produces: None,
            consumes: None,
            lints: Lints::default(),
            form: Form::File,
            unread,
        })
    }
}

/// What reading a file came to.
#[derive(Debug, Clone)]
pub struct Read {
    /// What it says, as far as that could be read; none where not even that.
    pub file: Option<SkillFile>,
    /// What is wrong with it. Nothing of a file with a finding may run.
    pub findings: Vec<Finding<Part>>,
    /// What is worth knowing and no mistake: keys that nobody reads, and the like.
    pub notes: Vec<Finding<Part>>,
    /// The text that places count in: without a byte order mark, with `\n` for every line break.
    pub text: String,
}

/// What of a part is meant, where it is a longer text that stands in the file as it is.
pub fn narrowed(part: &Part, within: Option<&Range<usize>>) -> Part {
    within.map_or_else(|| part.clone(), |within| part.start + within.start..part.start + within.end)
}

/// Reads the text of a `SKILL.md`. Never fails: what is wrong is in the findings, all of it.
pub fn read(source: &str) -> Read {
    let text = normalised(source);
    let mut findings = Vec::new();
    let mut notes = Vec::new();
    let file = match split(&text) {
        Err(finding) => {
            findings.push(*finding);
            // Whatever a file without front matter is, it was not meant to be read here: nothing of it is shown.
            if !text.starts_with("---") {
                findings.iter_mut().for_each(|finding| finding.at = 0..0);
                return Read { file: None, findings, notes, text: String::new() };
            }
            None
        }
        Ok((front, body)) => keys::read(&text, front, body, &mut findings, &mut notes),
    };
    for list in [&mut findings, &mut notes] {
        shorten(list);
        list.iter_mut().for_each(|finding| finding.at = whole_characters(&text, finding.at.clone()));
    }
    Read { file, findings, notes, text }
}

/// A part of a text that begins and ends between characters, and is not beyond its end.
fn whole_characters(text: &str, part: Part) -> Part {
    let start = text.floor_char_boundary(part.start);
    start..text.ceil_char_boundary(part.end).max(start)
}

/// How many findings of a kind are said of one file.
const MOST_FINDINGS: usize = 100;

/// Of very many findings the first ones, and how many there are.
fn shorten(findings: &mut Vec<Finding<Part>>) {
    let more = findings.len().saturating_sub(MOST_FINDINGS);
    findings.truncate(MOST_FINDINGS);
    if let Some(last) = findings.last_mut().filter(|_| more > 0) {
        last.notes.push(Note { text: format!("{more} more findings of this file are not shown"), at: None });
    }
}

/// Reads a file that was found: the directory that it stands in has its name.
pub fn read_located(located: &Located) -> Read {
    let mut read = read(&located.source);
    let named = name_of_another_directory(&read, located);
    read.findings.extend(named);
    read
}

/// What is said of a skill that has another name than the directory in which it stands.
pub(crate) fn name_of_another_directory(read: &Read, located: &Located) -> Option<Finding<Part>> {
    if let (Some(file), Some(directory)) = (&read.file, &located.directory)
        && !file.name.text.is_empty()
        && file.name.text != *directory
    {
        let message = format!("the skill is named `{}`, and its directory `{directory}`", file.name.text);
        let finding = refused(file.name.at.clone(), message);
        return Some(finding.help("rename one of the two: they are the same by the standard"));
    }
    None
}

/// Saved on Windows or not, it is one text.
fn normalised(source: &str) -> String {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    source.replace("\r\n", "\n").replace('\r', "\n")
}

/// The front matter between its fences, and the body after them.
fn split(text: &str) -> Result<(Part, Part), Box<Finding<Part>>> {
    let fence = |line: &str| line.trim_end() == "---";
    let mut lines = Lines { text, at: 0 };
    let first = lines.next().unwrap_or(0..0);
    if !text.get(first.clone()).is_some_and(fence) {
        let finding = refused(first, "the file does not begin with front matter");
        let help = "begin with a line `---`, then `name: …` and `description: …`, then a line `---`";
        return Err(Box::new(finding.help(help)));
    }
    let start = lines.at;
    for line in lines.by_ref() {
        if text.get(line.clone()).is_some_and(fence) {
            let after = text.get(line.end..).unwrap_or_default();
            let trimmed = after.trim_start();
            let begin = line.end + after.len() - trimmed.len();
            return Ok((start..line.start, begin..begin + trimmed.trim_end().len()));
        }
    }
    Err(Box::new(refused(first, "the front matter never ends").help("put a line `---` after its last key")))
}

/// The lines of a text, by place.
struct Lines<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Lines<'_> {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let line = rest.split('\n').next().unwrap_or_default();
        let start = self.at;
        self.at = (start + line.len() + 1).min(self.text.len());
        Some(start..start + line.len())
    }
}

/// A finding about how a file is written.
fn refused(at: Part, message: impl Into<String>) -> Finding<Part> {
    Finding::new(Code::SkillFile, at, message)
}
