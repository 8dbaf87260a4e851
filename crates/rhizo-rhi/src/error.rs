//! Errors: what failed, which clause of the contract says so, on which object, in which pass, and where in the caller.

use std::fmt;
use std::panic::Location;

/// Result with the contract's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of a failure, for programs to branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An object of another device was used.
    DeviceMismatch,
    /// An object of an earlier generation of the device was used.
    StaleGeneration,
    /// An object is in the wrong state for the call.
    InvalidState,
    /// An argument is outside its legal range.
    InvalidArgument,
    /// The resource was not created with the usage this call needs.
    InvalidUsage,
    /// Two descriptors that must agree do not (attachments, layouts, shader interfaces).
    Mismatch,
    /// The device cannot do this; the message says why.
    Unsupported,
    /// Host or device memory is exhausted.
    OutOfMemory,
    /// The device is lost.
    DeviceLost,
    /// The backend cannot run here (library missing, no adapter).
    Unavailable,
    /// The native API reported a failure with no better name.
    Native,
}

impl ErrorKind {
    /// The name in messages and machine-readable output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DeviceMismatch => "device-mismatch",
            Self::StaleGeneration => "stale-generation",
            Self::InvalidState => "invalid-state",
            Self::InvalidArgument => "invalid-argument",
            Self::InvalidUsage => "invalid-usage",
            Self::Mismatch => "mismatch",
            Self::Unsupported => "unsupported",
            Self::OutOfMemory => "out-of-memory",
            Self::DeviceLost => "device-lost",
            Self::Unavailable => "unavailable",
            Self::Native => "native",
        }
    }
}

/// A clause of the contract: its identifier and its rule in one sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clause {
    /// `RHZ-<area>-<n>`.
    pub id: &'static str,
    /// The kind of the error when the clause is broken.
    pub kind: ErrorKind,
    /// The rule.
    pub rule: &'static str,
}

/// An error of the contract; one boxed word.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    clause: Option<&'static Clause>,
    detail: String,
    object: Option<String>,
    pass: Option<String>,
    site: &'static Location<'static>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// A broken clause; `detail` says how this call broke it.
    #[must_use]
    #[cold]
    #[track_caller]
    pub fn clause(clause: &'static Clause, detail: impl Into<String>) -> Self {
        Self::build(clause.kind, Some(clause), detail.into())
    }

    /// A failure that is not the caller's.
    #[must_use]
    #[cold]
    #[track_caller]
    pub fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self::build(kind, None, detail.into())
    }

    #[track_caller]
    fn build(kind: ErrorKind, clause: Option<&'static Clause>, detail: String) -> Self {
        Self(Box::new(Inner { kind, clause, detail, object: None, pass: None, site: Location::caller(), source: None }))
    }

    /// Names the object.
    #[must_use]
    pub fn on(mut self, object: impl Into<String>) -> Self {
        self.0.object = Some(object.into());
        self
    }

    /// Names the pass.
    #[must_use]
    pub fn in_pass(mut self, pass: impl Into<String>) -> Self {
        self.0.pass = Some(pass.into());
        self
    }

    /// Attaches the cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Identifier of the broken clause, if the caller broke one.
    #[must_use]
    pub fn clause_id(&self) -> Option<&'static str> {
        self.0.clause.map(|clause| clause.id)
    }

    /// How this call failed.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Label of the object concerned.
    #[must_use]
    pub fn object(&self) -> Option<&str> {
        self.0.object.as_deref()
    }

    /// Label of the pass concerned.
    #[must_use]
    pub fn pass(&self) -> Option<&str> {
        self.0.pass.as_deref()
    }

    /// Where the failing call stands in the caller's source.
    #[must_use]
    pub fn site(&self) -> &'static Location<'static> {
        self.0.site
    }
}

/// Names the caller's place instead of one inside this crate: closures do not pass `#[track_caller]` on.
pub(crate) trait Located {
    /// The same with the place of the call that the caller made.
    #[track_caller]
    fn located(self) -> Self;
}

impl<T> Located for Result<T> {
    #[inline]
    #[track_caller]
    fn located(self) -> Self {
        match self {
            Ok(value) => Ok(value),
            Err(mut error) => {
                error.0.site = Location::caller();
                Err(error)
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        match inner.clause {
            Some(clause) => write!(f, "error[{}] {}: {}", clause.id, clause.rule, inner.detail)?,
            None => write!(f, "error[{}] {}", inner.kind.name(), inner.detail)?,
        }
        if let Some(object) = &inner.object {
            write!(f, "; object \"{object}\"")?;
        }
        if let Some(pass) = &inner.pass {
            write!(f, "; pass \"{pass}\"")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} (called at {})", self.0.site)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
