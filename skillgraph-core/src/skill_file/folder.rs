//! Which files of a folder are skills: `SKILL.md` in the folder itself and one level below, or more, in the order of their paths.
//! Below a skill there is none: what stands there belongs to it. Links are followed as long as they stay inside; names that a model says are never part of a path.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// The name of a skill's file.
const FILE: &str = "SKILL.md";

/// How much is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest file, in bytes.
    pub file_bytes: u64,
    /// The most directories of a folder, those below it included.
    pub directories: usize,
    /// How many levels below the folder skills may stand.
    pub depth: usize,
}

impl Default for Limits {
    /// 1 MiB a file, 2,000 directories, one level.
    fn default() -> Self {
        Self { file_bytes: 1024 * 1024, directories: 2_000, depth: 1 }
    }
}

/// A skill's file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Its path as messages show it: the folder as it was given, then the way down.
    pub path: String,
    /// The name of the directory that it stands in; none for one in the folder itself.
    pub directory: Option<String>,
    /// What stands in it.
    pub source: String,
}

/// Why a folder, or a file of it, is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FolderError {
    /// No path at all.
    Blank,
    /// An address of the network: nothing is ever fetched.
    Address {
        /// What was given.
        path: String,
    },
    /// There is nothing there.
    Missing {
        /// The path.
        path: String,
    },
    /// It is not a directory.
    NotAFolder {
        /// The path.
        path: String,
    },
    /// No skill is in it.
    NoSkills {
        /// The folder.
        path: String,
    },
    /// It has more directories than are read.
    TooManyDirectories {
        /// The folder.
        path: String,
        /// How many are read.
        limit: usize,
    },
    /// A file is larger than what is read.
    TooLarge {
        /// The file.
        path: String,
        /// Its size in bytes.
        bytes: u64,
        /// How many are read.
        limit: u64,
    },
    /// A link leads out of the folder.
    LeavesFolder {
        /// The link.
        path: String,
    },
    /// It is outside of the folder that files are read from.
    Outside {
        /// The path.
        path: String,
    },
    /// It is a folder, a device or a pipe.
    NotAFile {
        /// The path.
        path: String,
    },
    /// A file is called `SKILL.md` in other letters.
    Misnamed {
        /// The file.
        path: String,
    },
    /// A file is not UTF-8.
    NotText {
        /// The file.
        path: String,
    },
    /// It cannot be read.
    Unreadable {
        /// The path.
        path: String,
        /// Why.
        reason: String,
    },
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FolderError::Blank => f.write_str("the path of the folder is blank"),
            FolderError::Address { path } => {
                write!(f, "`{path}` is an address, not a folder of this machine: nothing is fetched from a network")
            }
            FolderError::Missing { path } => write!(f, "there is no `{path}`"),
            FolderError::NotAFolder { path } => write!(f, "`{path}` is not a directory"),
            FolderError::NoSkills { path } => {
                write!(f, "no skill is in `{path}`: one is a file `{path}/NAME/{FILE}`")
            }
            FolderError::TooManyDirectories { path, limit } => {
                write!(f, "`{path}` has more than {limit} directories: raise the limit if that is meant")
            }
            FolderError::TooLarge { path, bytes, limit } => {
                write!(f, "`{path}` has {bytes} bytes, and the maximum is {limit}: raise the limit if that is meant")
            }
            FolderError::LeavesFolder { path } => write!(f, "the link `{path}` leads out of the folder"),
            FolderError::Outside { path } => {
                write!(f, "`{path}` is outside of the crate's own folder: only what is inside is read")
            }
            FolderError::NotAFile { path } => write!(f, "`{path}` is not a regular file"),
            FolderError::Misnamed { path } => write!(f, "`{path}` must be called `{FILE}`"),
            FolderError::NotText { path } => write!(f, "`{path}` is not UTF-8"),
            FolderError::Unreadable { path, reason } => write!(f, "`{path}` cannot be read: {reason}"),
        }
    }
}

impl FolderError {
    /// The path that it is about; of none, that of the folder.
    #[cfg(feature = "turn")]
    pub(crate) fn path(&self, folder: &str) -> String {
        match self {
            FolderError::Blank => folder.to_owned(),
            FolderError::Address { path }
            | FolderError::Missing { path }
            | FolderError::NotAFolder { path }
            | FolderError::NoSkills { path }
            | FolderError::TooManyDirectories { path, .. }
            | FolderError::TooLarge { path, .. }
            | FolderError::LeavesFolder { path }
            | FolderError::Outside { path }
            | FolderError::NotAFile { path }
            | FolderError::Misnamed { path }
            | FolderError::NotText { path }
            | FolderError::Unreadable { path, .. } => path.clone(),
        }
    }
}

impl std::error::Error for FolderError {}

/// What a folder holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// The files of skills, in the order of their paths.
    pub located: Vec<Located>,
    /// What is wrong with the rest.
    pub errors: Vec<FolderError>,
    /// Files of skills that stand deeper than is read.
    pub too_deep: Vec<String>,
}

/// Looks for the skills of a folder. `shown` is how messages name it.
pub fn scan_folder(folder: &Path, shown: &str, limits: Limits) -> Scan {
    let root = check_path(shown).and_then(|()| canonical(folder, shown));
    let root = root.and_then(|root| match root.is_dir() {
        true => Ok(root),
        false => Err(FolderError::NotAFolder { path: shown.to_owned() }),
    });
    let root = match root {
        Ok(root) => root,
        Err(error) => return Scan { errors: vec![error], ..Scan::default() },
    };
    let mut reader = Reader {
        root: root.clone(),
        shown: shown.to_owned(),
        limits,
        left: limits.directories,
        found: Vec::new(),
        scan: Scan::default(),
    };
    reader.directory(&root, shown, None);
    reader.below(&root, shown, 1);
    let mut scan = reader.finish();
    if scan.located.is_empty() && scan.errors.is_empty() {
        scan.errors.push(FolderError::NoSkills { path: shown.to_owned() });
    }
    scan
}

/// Reads the skills of a folder. `shown` is how messages name it.
///
/// # Errors
///
/// Everything that is wrong, and then nothing is read.
pub fn read_folder(folder: &Path, shown: &str, limits: Limits) -> Result<Scan, Vec<FolderError>> {
    let scan = scan_folder(folder, shown, limits);
    if scan.errors.is_empty() { Ok(scan) } else { Err(scan.errors) }
}

/// Reads one skill's file. `shown` is how messages name it.
///
/// # Errors
///
/// What is wrong with it.
pub fn read_file(file: &Path, shown: &str, limits: Limits) -> Result<Located, FolderError> {
    check_path(shown)?;
    let directory = file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let path = canonical(file, shown)?;
    Ok(Located { path: shown.to_owned(), directory, source: text_of(&path, shown, limits)? })
}

/// Whether a path leads to something inside of a folder, links followed.
///
/// # Errors
///
/// [`FolderError::Outside`] where it does not, without a look at what is there; [`FolderError::Missing`] where nothing is.
pub fn check_inside(root: &Path, path: &Path, shown: &str) -> Result<(), FolderError> {
    check_path(shown)?;
    let root = canonical(root, shown)?;
    let outside = || FolderError::Outside { path: shown.to_owned() };
    // Of what is outside nothing is said, not even whether it is there.
    let leads_up = Path::new(shown).components().any(|part| matches!(part, Component::ParentDir));
    match canonical(path, shown) {
        Ok(real) if real.starts_with(&root) => Ok(()),
        Ok(_) => Err(outside()),
        Err(_) if leads_up || Path::new(shown).is_absolute() => Err(outside()),
        Err(error) => Err(error),
    }
}

/// What is no path of this machine.
fn check_path(shown: &str) -> Result<(), FolderError> {
    if shown.trim().is_empty() {
        return Err(FolderError::Blank);
    }
    if shown.contains("://") || shown.starts_with(r"\\") || shown.starts_with("//") {
        return Err(FolderError::Address { path: shown.to_owned() });
    }
    Ok(())
}

struct Reader {
    root: PathBuf,
    /// How messages name it.
    shown: String,
    limits: Limits,
    /// How many more directories are looked at.
    left: usize,
    /// The files, with where they really stand.
    found: Vec<(PathBuf, Located)>,
    scan: Scan,
}

impl Reader {
    /// Takes the skill of a directory, and says whether it is to be looked into.
    fn directory(&mut self, directory: &Path, shown: &str, name: Option<String>) -> bool {
        // Nothing is said of what is behind a link that leads out, not even the names of its files.
        match canonical(directory, shown) {
            Ok(real) if real.starts_with(&self.root) => {}
            Ok(_) => {
                self.scan.errors.push(FolderError::LeavesFolder { path: shown.to_owned() });
                return false;
            }
            Err(error) => {
                self.scan.errors.push(error);
                return false;
            }
        }
        let path = directory.join(FILE);
        let shown = format!("{shown}/{FILE}");
        let found = match fs::symlink_metadata(&path) {
            Ok(_) => self.file(&path, &shown),
            Err(_) => misnamed(directory, &shown).map_or(Ok(None), Err),
        };
        match found {
            Ok(Some((real, source))) => {
                self.found.push((real, Located { path: shown, directory: name, source }));
                false
            }
            Ok(None) => true,
            Err(error) => {
                self.scan.errors.push(error);
                false
            }
        }
    }

    /// Looks at the directories of one, which are at that depth.
    fn below(&mut self, directory: &Path, shown: &str, depth: usize) {
        let children = match children(directory, shown) {
            Ok(children) => children,
            Err(error) => return self.scan.errors.push(error),
        };
        for (name, path) in children {
            let shown = format!("{shown}/{name}");
            if self.left == 0 {
                let too_many =
                    FolderError::TooManyDirectories { path: self.shown.clone(), limit: self.limits.directories };
                if !self.scan.errors.contains(&too_many) {
                    self.scan.errors.push(too_many);
                }
                return;
            }
            self.left -= 1;
            if depth > self.limits.depth {
                // Seen, and not read: only that it is there is said. Links are left alone.
                if path.is_symlink() {
                    continue;
                }
                match path.join(FILE).is_file() {
                    true => self.scan.too_deep.push(format!("{shown}/{FILE}")),
                    false => self.below(&path, &shown, depth + 1),
                }
            } else if self.directory(&path, &shown, Some(name)) {
                self.below(&path, &shown, depth + 1);
            }
        }
    }

    /// A file to which several ways lead is one skill: under the directory that has its name, else the first.
    fn finish(mut self) -> Scan {
        let mut ways: BTreeMap<&Path, Vec<(usize, &Located)>> = BTreeMap::new();
        for (at, (real, located)) in self.found.iter().enumerate() {
            ways.entry(real).or_default().push((at, located));
        }
        let has_its_name = |located: &Located| {
            let name = super::read(&located.source).file.map(|file| file.name.text);
            name.is_some() && name == located.directory
        };
        let kept: BTreeSet<usize> = ways
            .into_values()
            .filter_map(|ways| match ways.as_slice() {
                [(only, _)] => Some(*only),
                ways => ways.iter().find(|(_, located)| has_its_name(located)).or(ways.first()).map(|(at, _)| *at),
            })
            .collect();
        let found = self.found.into_iter().enumerate().filter(|(at, _)| kept.contains(at));
        self.scan.located = found.map(|(_, (_, located))| located).collect();
        self.scan
    }

    fn file(&self, path: &Path, shown: &str) -> Result<Option<(PathBuf, String)>, FolderError> {
        let real = canonical(path, shown)?;
        if !real.starts_with(&self.root) {
            return Err(FolderError::LeavesFolder { path: shown.to_owned() });
        }
        if !real.is_file() {
            return Ok(None);
        }
        text_of(&real, shown, self.limits).map(|text| Some((real, text)))
    }
}

/// The directories of a folder, by name; those that tools keep for themselves are none.
fn children(root: &Path, shown: &str) -> Result<Vec<(String, PathBuf)>, FolderError> {
    let unreadable =
        |error: std::io::Error| FolderError::Unreadable { path: shown.to_owned(), reason: error.to_string() };
    let mut children = Vec::new();
    for entry in fs::read_dir(root).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || name == "node_modules" || !entry.path().is_dir() {
            continue;
        }
        children.push((name, entry.path()));
    }
    children.sort();
    Ok(children)
}

/// A file that a file system which tells letters apart would not find.
fn misnamed(directory: &Path, shown: &str) -> Option<FolderError> {
    let entries = fs::read_dir(directory).ok()?;
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    let mut names: Vec<String> = names.filter(|name| name.eq_ignore_ascii_case(FILE)).collect();
    names.sort();
    let name = names.into_iter().next()?;
    Some(FolderError::Misnamed { path: format!("{}{name}", shown.strip_suffix(FILE)?) })
}

fn canonical(path: &Path, shown: &str) -> Result<PathBuf, FolderError> {
    fs::canonicalize(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => FolderError::Missing { path: shown.to_owned() },
        _ => FolderError::Unreadable { path: shown.to_owned(), reason: error.to_string() },
    })
}

fn text_of(path: &Path, shown: &str, limits: Limits) -> Result<String, FolderError> {
    let unreadable =
        |error: std::io::Error| FolderError::Unreadable { path: shown.to_owned(), reason: error.to_string() };
    // Before it is opened: a pipe would wait for somebody who writes.
    let not_a_file = || FolderError::NotAFile { path: shown.to_owned() };
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(not_a_file());
    }
    let file = fs::File::open(path).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?;
    if !found.is_file() {
        return Err(not_a_file());
    }
    let too_large = |bytes| FolderError::TooLarge { path: shown.to_owned(), bytes, limit: limits.file_bytes };
    if found.len() > limits.file_bytes {
        return Err(too_large(found.len()));
    }
    // What says that it is small may go on for ever.
    let mut content = Vec::new();
    let read = file.take(limits.file_bytes.saturating_add(1)).read_to_end(&mut content).map_err(unreadable)?;
    if u64::try_from(read).unwrap_or(u64::MAX) > limits.file_bytes {
        return Err(too_large(u64::try_from(read).unwrap_or(u64::MAX)));
    }
    String::from_utf8(content).map_err(|_| FolderError::NotText { path: shown.to_owned() })
}
