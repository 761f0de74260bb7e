//! Which files of a folder are skills: `SKILL.md` in the folder itself and one level below, in the order of their paths. Links
//! are followed as long as they stay inside; names that a model says are never part of a path.

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
    /// The most directories of a folder.
    pub directories: usize,
}

impl Default for Limits {
    /// 1 MiB a file, 2,000 directories.
    fn default() -> Self {
        Self { file_bytes: 1024 * 1024, directories: 2_000 }
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
    /// It is no folder.
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
                write!(f, "`{path}` has {bytes} bytes, and {limit} are read: raise the limit if that is meant")
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

impl std::error::Error for FolderError {}

/// Reads the skills of a folder. `shown` is how messages name it.
///
/// # Errors
///
/// Everything that is wrong, and then nothing is read.
pub fn read_folder(folder: &Path, shown: &str, limits: Limits) -> Result<Vec<Located>, Vec<FolderError>> {
    check_path(shown).map_err(|error| vec![error])?;
    let root = canonical(folder, shown).map_err(|error| vec![error])?;
    if !root.is_dir() {
        return Err(vec![FolderError::NotAFolder { path: shown.to_owned() }]);
    }
    let mut reader = Reader { root: root.clone(), limits, located: Vec::new(), errors: Vec::new() };
    reader.directory(&root, shown, None);
    match children(&root, shown) {
        Err(error) => reader.errors.push(error),
        Ok(children) if children.len() > limits.directories => {
            let (path, limit) = (shown.to_owned(), limits.directories);
            reader.errors.push(FolderError::TooManyDirectories { path, limit });
        }
        Ok(children) => {
            for (name, path) in children {
                reader.directory(&path, &format!("{shown}/{name}"), Some(name));
            }
        }
    }
    if reader.located.is_empty() && reader.errors.is_empty() {
        reader.errors.push(FolderError::NoSkills { path: shown.to_owned() });
    }
    if reader.errors.is_empty() { Ok(reader.located) } else { Err(reader.errors) }
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
    limits: Limits,
    located: Vec<Located>,
    errors: Vec<FolderError>,
}

impl Reader {
    /// Takes the skill of a directory, if it is one.
    fn directory(&mut self, directory: &Path, shown: &str, name: Option<String>) {
        // Nothing is said of what is behind a link that leads out, not even the names of its files.
        match canonical(directory, shown) {
            Ok(real) if real.starts_with(&self.root) => {}
            Ok(_) => return self.errors.push(FolderError::LeavesFolder { path: shown.to_owned() }),
            Err(error) => return self.errors.push(error),
        }
        let path = directory.join(FILE);
        let shown = format!("{shown}/{FILE}");
        let found = match fs::symlink_metadata(&path) {
            Ok(_) => self.file(&path, &shown),
            Err(_) => misnamed(directory, &shown).map_or(Ok(None), Err),
        };
        match found {
            Ok(Some(source)) => self.located.push(Located { path: shown, directory: name, source }),
            Ok(None) => {}
            Err(error) => self.errors.push(error),
        }
    }

    fn file(&self, path: &Path, shown: &str) -> Result<Option<String>, FolderError> {
        let real = canonical(path, shown)?;
        if !real.starts_with(&self.root) {
            return Err(FolderError::LeavesFolder { path: shown.to_owned() });
        }
        if !real.is_file() {
            return Ok(None);
        }
        text_of(&real, shown, self.limits).map(Some)
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
