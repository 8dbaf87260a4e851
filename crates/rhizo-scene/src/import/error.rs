//! What can be wrong with a file, and where.

use std::fmt;
use std::path::{Path, PathBuf};

/// An import that failed: which file, which place in it, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportError {
    /// The glTF file that was being read (not the buffer or image it names: the reason quotes that).
    pub file: PathBuf,
    /// JSON pointer (RFC 6901) to the offending value; empty for the whole document or the container around it.
    pub json_path: String,
    /// What is wrong. Boxed, so that `Result<_, ImportError>` stays small on the way up.
    pub reason: Box<Reason>,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A file that cannot be read at all is named by the reason already.
        if matches!(&*self.reason, Reason::Io { name, .. } if self.file.as_os_str() == name.as_str()) {
            return write!(f, "{}", self.reason);
        }
        write!(f, "{}", self.file.display())?;
        if !self.json_path.is_empty() {
            write!(f, " at {}", self.json_path)?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for ImportError {}

/// The kinds of things that can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A file could not be read.
    #[error("cannot read {name}: {message}")]
    Io {
        /// The file as the system or the document names it.
        name: String,
        /// The system's words.
        message: String,
    },
    /// The GLB container is damaged.
    #[error("damaged GLB container: {0}")]
    Glb(String),
    /// The text is no JSON.
    #[error("invalid JSON: {0}")]
    Json(String),
    /// A property has the wrong JSON type.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What the format wants here.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// A property that must be there is not.
    #[error("the property \"{0}\" is missing")]
    Missing(&'static str),
    /// A value breaks a rule of the format.
    #[error("{0}")]
    Value(String),
    /// An index names an object that does not exist.
    #[error("there is no {what} {index}: the file has {count}")]
    Unresolved {
        /// What kind of object was named.
        what: &'static str,
        /// The index.
        index: u64,
        /// How many there are.
        count: usize,
    },
    /// Data lies outside of what holds it.
    #[error("out of range: {0}")]
    Range(String),
    /// A URI is malformed or leads out of the file's folder.
    #[error("refused URI {uri:?}: {why}")]
    Uri {
        /// The URI, shortened where it is long.
        uri: String,
        /// Why.
        why: &'static str,
    },
    /// An image could not be decoded.
    #[error("cannot decode image {name}: {message}")]
    Image {
        /// The image, as the document names it.
        name: String,
        /// The decoder's words.
        message: String,
    },
    /// The file needs something this importer does not do.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// Reading on would exceed a limit of [`Limits`](super::Limits).
    #[error("{what} would be {wanted}, over the limit of {limit}")]
    Limit {
        /// Which limit.
        what: &'static str,
        /// What the file asks for (in all, so far).
        wanted: u64,
        /// The limit.
        limit: u64,
    },
}

/// An error that does not know its file yet; everything below the entry points uses this.
#[derive(Debug)]
pub(super) struct Fault {
    pub path: String,
    pub reason: Box<Reason>,
}

pub(super) type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    pub fn new(path: impl Into<String>, reason: Reason) -> Self {
        Self { path: path.into(), reason: Box::new(reason) }
    }

    pub fn value(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(path, Reason::Value(message.into()))
    }

    pub fn range(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(path, Reason::Range(message.into()))
    }

    pub fn in_file(self, file: &Path) -> ImportError {
        ImportError { file: file.to_owned(), json_path: self.path, reason: self.reason }
    }
}
