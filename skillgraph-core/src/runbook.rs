//! A folder of skills at run time: all of it, or what is wrong with it.
//!
//! The same reader and the same check-up as at compile time. Places are `path:line:column`, each finding with the line of the
//! file and carets under the part that is meant.
// SPEC 12.

use std::collections::BTreeSet;
use std::path::Path;

use crate::check::{CheckUp, check_up};
use crate::decl::{Condition, ConditionSpec, EntryDecl, EntrySpec, GraphDecl, GraphSpec, Lints, Trigger, Word};
use crate::excerpt::{excerpt, position};
use crate::finding::{Code, Finding, Level, Note, Report};
use crate::skill_file::{
    FolderError, Limits, Part, Read, SkillFile, name_of_another_directory, narrowed, read, scan_folder,
};
use crate::suggest::counted;

/// The skills of a folder, checked.
///
/// ```
/// use skillgraph_core::graph::Graph;
/// use skillgraph_core::runbook::Runbook;
///
/// # let folder = std::env::temp_dir().join(format!("skillgraph-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(folder.join("refunds")).unwrap();
/// # std::fs::write(folder.join("refunds/SKILL.md"), "---\nname: refunds\ndescription: Money back\ntools: pay\n---\nLook first.\n").unwrap();
/// let runbook = Runbook::load(&folder, &["pay", "find_order"])?;
/// assert_eq!(runbook.skills().next().unwrap().name.text, "refunds");
/// let graph = Graph::compile(&runbook.spec("desk"), &["pay", "find_order"])?;
///
/// let report = Runbook::load(&folder, &["find_order"]).unwrap_err();
/// assert!(report.to_string().contains("4 | tools: pay"), "{report}");
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), skillgraph_core::Report>(())
/// ```
#[derive(Debug, Clone)]
pub struct Runbook {
    reads: Vec<Read>,
    notes: Vec<Finding<String>>,
    report: Report,
}

/// How a folder is read.
#[derive(Debug, Clone, Default)]
pub struct RunbookOptions {
    /// How much is read.
    pub limits: Limits,
    /// The graph that the skills will stand beside: their edges may lead to its skills, and its edges to them.
    pub beside: Option<GraphSpec>,
    /// Loads what is sound and reports the rest, in place of loading nothing. A name that differs from its directory's is a
    /// warning then.
    pub lenient: bool,
    /// Every tool that a file names is taken to exist: for who checks a folder without the program that uses it.
    pub any_tool: bool,
}

/// Where a thing of a graph stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// In the data, at that pointer.
    Data(String),
    /// In a file, by position.
    File(usize, Part),
}

impl Place {
    /// The file, by position.
    fn file(&self) -> Option<usize> {
        match self {
            Place::Data(_) => None,
            Place::File(file, _) => Some(*file),
        }
    }

    /// What is said of data comes first, then file after file, each from its beginning.
    fn order(&self) -> Option<(usize, usize)> {
        match self {
            Place::Data(_) => None,
            Place::File(file, part) => Some((*file, part.start)),
        }
    }
}

impl Runbook {
    /// Loads a folder over a registry of tool names.
    ///
    /// # Errors
    ///
    /// A [`Report`] with everything that is wrong, and then nothing is loaded.
    pub fn load(folder: impl AsRef<Path>, registry: &[impl AsRef<str>]) -> Result<Self, Report> {
        Self::load_with(folder, registry, &RunbookOptions::default())
    }

    /// Loads what is sound of a folder; what is not is refused, each in [`Runbook::report`].
    ///
    /// # Errors
    ///
    /// A [`Report`] where the folder cannot be read at all.
    pub fn load_lenient(folder: impl AsRef<Path>, registry: &[impl AsRef<str>]) -> Result<Self, Report> {
        Self::load_with(folder, registry, &RunbookOptions { lenient: true, ..RunbookOptions::default() })
    }

    /// The same, otherwise read.
    ///
    /// # Errors
    ///
    /// As [`Runbook::load`].
    pub fn load_with(
        folder: impl AsRef<Path>,
        registry: &[impl AsRef<str>],
        options: &RunbookOptions,
    ) -> Result<Self, Report> {
        let folder = folder.as_ref();
        let shown = folder.to_string_lossy();
        let shown = if shown.len() > 1 { shown.trim_end_matches('/') } else { &shown };
        let mut scan = scan_folder(folder, shown, options.limits);
        let of_folder = |error: &FolderError| Finding::new(Code::SkillFile, error.path(shown), error.to_string());
        let unread: Vec<Finding<String>> = scan.errors.iter().map(of_folder).collect();
        let goes_on = options.lenient && folder.is_dir();
        if !unread.is_empty() && !goes_on {
            return Err(Report { findings: unread, undecided: Vec::new() });
        }
        let located = std::mem::take(&mut scan.located);
        let mut reads: Vec<Read> = Vec::with_capacity(located.len());
        let mut named_otherwise: Vec<Finding<Place>> = Vec::new();
        for (at, located) in located.iter().enumerate() {
            let mut read = read(&located.source);
            let named = name_of_another_directory(&read, located);
            match options.lenient {
                true => {
                    named_otherwise.extend(named.map(|finding| Finding {
                        level: Level::Warning,
                        ..finding.placed(|part| Place::File(at, part))
                    }))
                }
                false => read.findings.extend(named),
            }
            reads.push(read);
        }
        let mut registry: Vec<String> = registry.iter().map(|name| name.as_ref().to_owned()).collect();
        if options.any_tool {
            let unknown = tools_named(&reads).into_iter().filter(|name| !registry.iter().any(|known| known == name));
            let unknown: Vec<String> = unknown.map(str::to_owned).collect();
            registry.extend(unknown);
        }
        let name = folder.file_name().map_or("runbook".into(), |name| name.to_string_lossy());
        // What is refused, file by file. Without a skill that is refused, what leads to it is refused too.
        let mut refused: Vec<Finding<Place>> = each(&reads, |read| &read.findings).collect();
        let mut gone: BTreeSet<usize> = BTreeSet::new();
        let mut checked = loop {
            gone.extend(refused.iter().filter_map(|finding| finding.at.file()));
            let without = if options.lenient { &gone } else { &BTreeSet::new() };
            let decl = whole(&reads, without, options.beside.as_ref(), &name, &registry);
            // Where no file could be read, there is no graph to say anything of.
            let mut checked = match options.beside.is_some() || !decl.skills.is_empty() {
                true => check_up(&decl),
                false => CheckUp { findings: Vec::new(), undecided: Vec::new() },
            };
            let wrong: Vec<_> = checked.findings.extract_if(.., |found| found.level == Level::Refusal).collect();
            let is_settled = wrong.iter().all(|finding| finding.at.file().is_none());
            refused.extend(wrong);
            if !options.lenient || is_settled {
                break checked;
            }
        };
        let sources = Sources(located.iter().map(|located| located.path.as_str()).zip(&reads).collect());
        refused.sort_by_key(|finding| finding.at.order());
        let is_lost = refused.iter().any(|finding| !options.lenient || finding.at.file().is_none());
        let refused: Vec<Finding<String>> = refused.iter().map(|finding| sources.show(finding)).collect();
        if is_lost {
            return Err(Report { findings: unread.into_iter().chain(refused).collect(), undecided: Vec::new() });
        }
        // Alone, the graph around the files is made up: nothing is to be said of it.
        let of_files = |at: &Place| options.beside.is_some() || matches!(at, Place::File(..));
        checked.findings.extend(named_otherwise);
        checked.findings.retain(|finding| of_files(&finding.at));
        checked.findings.sort_by_key(|finding| finding.at.order());
        let warned = checked.findings.iter().map(|finding| sources.show(finding));
        let report = Report {
            findings: unread.into_iter().chain(refused).chain(warned).collect(),
            undecided: checked.undecided.iter().map(|note| sources.note(note)).collect(),
        };
        let too_deep = scan.too_deep.into_iter().map(|path| {
            let message = format!("`{path}` lies deeper than is read ({})", counted(options.limits.depth, "level"));
            Finding::new(Code::SkillFile, path, message).help("raise the depth if it is one of these skills")
        });
        let notes = each(&reads, |read| &read.notes).map(|note| sources.show(&note)).chain(too_deep).collect();
        drop(sources);
        let mut at = 0..;
        reads.retain(|_| at.next().is_none_or(|at| !gone.contains(&at)));
        Ok(Self { reads, notes, report })
    }

    /// The skills, in the order of their names.
    pub fn skills(&self) -> impl Iterator<Item = &SkillFile> + '_ {
        self.reads.iter().filter_map(|read| read.file.as_ref())
    }

    /// The tools that the files name, each once, in the order of the alphabet.
    pub fn tools(&self) -> impl Iterator<Item = &str> + '_ {
        tools_named(&self.reads).into_iter()
    }

    /// What is worth knowing and no mistake: keys that nobody reads, and the like.
    pub fn notes(&self) -> &[Finding<String>] {
        &self.notes
    }

    /// What the check-up warns of.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The skills as a graph of their own: each that no edge leads to can be picked where a turn starts. Where every one has an
    /// edge that leads to it, all can be.
    pub fn spec(&self, name: impl Into<String>) -> GraphSpec {
        let mut spec = GraphSpec::new(name);
        self.add_to(&mut spec);
        let starts = starts(&self.reads);
        let files = self.skills().filter(|file| starts.contains(file.name.text.as_str()));
        spec.entries.extend(files.map(|file| EntrySpec {
            skill: file.name.text.clone(),
            when: Some(ConditionSpec::Picked),
            examples: None,
            never_picked: false,
            label: None,
        }));
        spec
    }

    /// Adds the skills and their edges to a graph.
    pub fn add_to(&self, spec: &mut GraphSpec) {
        let decl = declaration(&self.reads, &BTreeSet::new(), &GraphSpec::new(""), &[]);
        // A file holds no closure, and nothing else keeps a declaration from being data.
        if let Ok(own) = decl.spec() {
            spec.skills.extend(own.skills);
            spec.routes.extend(own.routes);
        }
    }
}

/// The tools that files name, each once, in the order of the alphabet.
fn tools_named(reads: &[Read]) -> BTreeSet<&str> {
    let files = reads.iter().filter_map(|read| read.file.as_ref());
    let named = files.flat_map(|file| {
        let edges = file.routes.iter().flat_map(|route| match &route.trigger {
            Trigger::Returns { tools, .. } => tools.named(),
            _ => &[],
        });
        let steps = file.steps.iter().flat_map(|steps| &steps.list).map(|step| &step.tool);
        file.tools.iter().chain(steps).chain(edges)
    });
    named.map(|tool| tool.text.as_str()).collect()
}

/// The names of the skills that can be picked where a turn starts: an edge of a file is a gate, so that what it leads to is not
/// one of them.
fn starts(reads: &[Read]) -> BTreeSet<&str> {
    let files = || reads.iter().filter_map(|read| read.file.as_ref());
    let led_to: BTreeSet<&str> = files()
        .flat_map(|file| file.routes.iter().map(|route| route.to.text.as_str()).filter(|to| *to != file.name.text))
        .collect();
    let all = || files().map(|file| file.name.text.as_str());
    let starts: BTreeSet<&str> = all().filter(|name| !led_to.contains(name)).collect();
    if starts.is_empty() { all().collect() } else { starts }
}

/// The findings of all files at their places.
fn each<'a>(
    reads: &'a [Read],
    of: impl Fn(&'a Read) -> &'a Vec<Finding<Part>> + 'a,
) -> impl Iterator<Item = Finding<Place>> + 'a {
    let at = |at: usize| move |part: Part| Place::File(at, part);
    reads
        .iter()
        .enumerate()
        .flat_map(move |(file, read)| of(read).iter().map(move |finding| finding.clone().placed(at(file))))
}

/// What is checked: the files beside a graph, or a graph of their own.
fn whole(
    reads: &[Read],
    without: &BTreeSet<usize>,
    beside: Option<&GraphSpec>,
    name: &str,
    registry: &[String],
) -> GraphDecl<Place> {
    if let Some(graph) = beside {
        return declaration(reads, without, graph, registry);
    }
    let mut alone = declaration(reads, without, &GraphSpec::new(name), registry);
    let starts = starts(reads);
    let starts = alone.skills.iter().filter(|skill| starts.contains(skill.id.text.as_str()));
    alone.entries = starts.map(|skill| picked(&skill.id)).collect();
    alone
}

/// The files beside what a graph has.
fn declaration(reads: &[Read], without: &BTreeSet<usize>, graph: &GraphSpec, registry: &[String]) -> GraphDecl<Place> {
    let mut decl = graph.declaration(registry).placed(|(), pointer| Place::Data(pointer.to_owned()));
    for (file, read) in reads.iter().enumerate().filter(|(file, _)| !without.contains(file)) {
        let place = |part: &Part| Place::File(file, part.clone());
        let Some(skill) = read.skill() else { continue };
        decl.skills.push(skill.placed(place));
        let edges = read.file.iter().flat_map(SkillFile::edges);
        decl.routes.extend(edges.map(|edge| edge.placed(place)));
    }
    decl
}

/// An entry by which a skill can be picked where a turn starts.
fn picked(skill: &Word<Place>) -> EntryDecl<Place> {
    EntryDecl {
        skill: skill.clone(),
        condition: Some(Condition::Picked { at: skill.at.clone() }),
        examples: None,
        never_picked: None,
        lints: Lints::default(),
        label: None,
    }
}

/// The texts in which places are.
struct Sources<'a>(Vec<(&'a str, &'a Read)>);

impl Sources<'_> {
    fn show(&self, finding: &Finding<Place>) -> Finding<String> {
        let mut finding = finding.clone();
        if let Place::File(_, part) = &mut finding.at {
            *part = narrowed(part, finding.within.as_ref());
        }
        let drawn = self.place(&finding.at).1;
        let shown = finding.placed(|place| self.place(&place).0);
        Finding { excerpt: drawn.or(shown.excerpt), ..shown }
    }

    fn note(&self, note: &Note<Place>) -> Note<String> {
        Note { text: note.text.clone(), at: note.at.as_ref().map(|at| self.place(at).0) }
    }

    /// The place as it is said, and its line with carets.
    fn place(&self, place: &Place) -> (String, Option<String>) {
        match place {
            Place::Data(pointer) => (pointer.clone(), None),
            Place::File(file, part) => match self.0.get(*file) {
                None => (String::new(), None),
                Some((path, read)) => {
                    (position(path, &read.text, part.start), Some(excerpt(path, &read.text, part.clone())))
                }
            },
        }
    }
}
