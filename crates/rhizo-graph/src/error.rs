//! Errors of the compiler: a stable code, words, and the passes and resources concerned by label.

use std::fmt;

/// The stable names of what can be wrong with a graph; new ones may be added, none changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The declared orders contradict each other (also among passes that would be culled).
    Cycle,
    /// Two accesses of one pass overlap and one of them writes, or no layout serves both.
    DuplicateAccess,
    /// A resource, access or range that cannot exist.
    InvalidDescriptor,
    /// A handle of another graph, or a name that nothing has.
    InvalidHandle,
    /// An initial or final state that contradicts the resource.
    InvalidState,
    /// A pass used a resource that it did not declare (raised by the runner).
    UndeclaredAccess,
    /// A live pass reads a sub-resource that has no contents.
    UninitializedRead,
    /// The attachments of a raster pass disagree.
    AttachmentMismatch,
    /// Legal, but the profile or this compiler cannot do it.
    Unsupported,
}

impl ErrorCode {
    /// The name in messages and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cycle => "cycle",
            Self::DuplicateAccess => "duplicate-access",
            Self::InvalidDescriptor => "invalid-descriptor",
            Self::InvalidHandle => "invalid-handle",
            Self::InvalidState => "invalid-state",
            Self::UndeclaredAccess => "undeclared-access",
            Self::UninitializedRead => "uninitialized-read",
            Self::AttachmentMismatch => "attachment-mismatch",
            Self::Unsupported => "unsupported",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a graph does not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct CompileError {
    /// Stable code.
    pub code: ErrorCode,
    /// What is wrong, in words; names passes and resources by label.
    pub message: String,
    /// Labels of the passes concerned.
    pub passes: Vec<String>,
    /// Labels of the resources concerned.
    pub resources: Vec<String>,
}

impl CompileError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), passes: Vec::new(), resources: Vec::new() }
    }

    pub(crate) fn pass(mut self, label: &str) -> Self {
        self.passes.push(label.to_owned());
        self
    }

    pub(crate) fn resource(mut self, label: &str) -> Self {
        self.resources.push(label.to_owned());
        self
    }
}
