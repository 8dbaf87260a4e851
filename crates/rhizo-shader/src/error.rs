//! What can be wrong with a shader, and where.

use crate::excerpt::{self, Label};
use std::fmt;

/// Why a shader was refused. The [`ShaderError`] around it says which shader and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShaderErrorKind {
    /// The input is larger or nested deeper than this crate accepts (see [`crate::limits`]).
    TooLarge {
        /// What was counted, e.g. "bytes of source".
        what: &'static str,
        /// What the input has. A scan that stops at the limit reports the limit plus one.
        got: u64,
        /// What is accepted.
        limit: u64,
    },
    /// The text is not valid WGSL or GLSL.
    Parse,
    /// The shader parses, but breaks a rule of the language.
    Validate,
    /// There is no entry point of that name (and stage).
    EntryMissing,
    /// Entry points of several stages have that name, and no stage was given.
    EntryAmbiguous,
    /// An overridable constant is unknown, has no value, or has a value out of range.
    Constant,
    /// The shader is well-formed but uses something that the target, the stated features or this crate lack.
    Unsupported {
        /// What is missing.
        what: String,
    },
    /// A SPIR-V binary is broken.
    Malformed,
    /// A ready-made SPIR-V binary does not have the interface stated for it.
    InterfaceMismatch,
    /// The compiler library failed on input it should have handled or refused. Please report it with the shader.
    CompilerBug,
}

impl ShaderErrorKind {
    /// The kind's name in messages and reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too-large",
            Self::Parse => "parse",
            Self::Validate => "validate",
            Self::EntryMissing => "entry-missing",
            Self::EntryAmbiguous => "entry-ambiguous",
            Self::Constant => "constant",
            Self::Unsupported { .. } => "unsupported",
            Self::Malformed => "malformed",
            Self::InterfaceMismatch => "interface-mismatch",
            Self::CompilerBug => "compiler-bug",
        }
    }
}

/// A place in source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Offset in bytes from the beginning.
    pub offset: u32,
    /// Length in bytes.
    pub length: u32,
}

/// A refused shader. `Display` gives the message, the place, and an excerpt of the source with the place underlined.
#[derive(Clone, PartialEq, Eq)]
pub struct ShaderError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ShaderErrorKind,
    label: String,
    message: String,
    location: Option<SourceLocation>,
    excerpt: String,
    notes: Vec<String>,
}

impl ShaderError {
    pub(crate) fn new(kind: ShaderErrorKind, label: &str, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            label: label.to_owned(),
            message: message.into(),
            location: None,
            excerpt: String::new(),
            notes: Vec::new(),
        }))
    }

    pub(crate) fn unsupported(label: &str, what: impl Into<String>, why: &str) -> Self {
        let what = what.into();
        let message = if why.is_empty() { what.clone() } else { format!("{what}: {why}") };
        Self::new(ShaderErrorKind::Unsupported { what }, label, message)
    }

    pub(crate) fn too_large(label: &str, what: &'static str, got: u64, limit: u64) -> Self {
        let message = format!("{got} {what}, at most {limit} are accepted");
        Self::new(ShaderErrorKind::TooLarge { what, got, limit }, label, message)
    }

    pub(crate) fn bug(label: &str, message: impl Into<String>) -> Self {
        Self::new(ShaderErrorKind::CompilerBug, label, message)
    }

    /// Adds the places in `text` the error is about; the first one is *the* place.
    pub(crate) fn at(mut self, text: &str, labels: &[Label]) -> Self {
        let (location, excerpt) = excerpt::render(&self.0.label, text, labels);
        self.0.location = location;
        self.0.excerpt = excerpt;
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.0.notes.push(note.into());
        self
    }

    /// Why.
    #[must_use]
    pub fn kind(&self) -> &ShaderErrorKind {
        &self.0.kind
    }

    /// Which shader: the label given with its source.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.0.label
    }

    /// The message alone, on one or a few lines, without place and excerpt.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where, if the error belongs to a place in source text.
    #[must_use]
    pub fn location(&self) -> Option<SourceLocation> {
        self.0.location
    }

    /// Line, from 1.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        self.0.location.map(|l| l.line)
    }

    /// Column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> Option<u32> {
        self.0.location.map(|l| l.column)
    }
}

impl fmt::Display for ShaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, label, message, excerpt, notes, .. } = &*self.0;
        write!(f, "shader '{label}': {}: {message}", kind.name())?;
        if !excerpt.is_empty() {
            write!(f, "\n{}", excerpt.trim_end_matches('\n'))?;
        }
        for note in notes {
            write!(f, "\n  = note: {note}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for ShaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `unwrap` in a program or test prints this: the excerpt is worth more than field names.
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ShaderError {}
