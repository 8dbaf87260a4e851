//! How a fact is supported and how that is known.

use super::Text;

/// The reason of a fact that no backend code spoke about.
pub(crate) const NOT_REPORTED: &str = "not reported by this backend";

/// By which means the native API offers something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Strategy {
    /// Not at all.
    #[default]
    Unavailable,
    /// The core of the API at the device's version.
    CoreApi,
    /// An extension.
    NativeExtension,
    /// A vendor's own path, or one made for a class of hardware.
    NativeSpecialized,
    /// A library beside the API.
    NativeLibrary,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Self; 5] =
        [Self::Unavailable, Self::CoreApi, Self::NativeExtension, Self::NativeSpecialized, Self::NativeLibrary];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::CoreApi => "core-api",
            Self::NativeExtension => "native-extension",
            Self::NativeSpecialized => "native-specialized",
            Self::NativeLibrary => "native-library",
        }
    }
}

/// How a claim is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Provenance {
    /// The rules of the API or of the backend say so for every device it opens.
    #[default]
    BackendContract,
    /// The version the device reports includes it.
    ApiVersion,
    /// A feature or property query answered.
    NativeFeatureQuery,
    /// An extension was looked for, and its feature bits, properties or entry points.
    NativeExtensionQuery,
    /// An object was made to find out.
    RuntimeObjectProbe,
    /// A library was looked for.
    RuntimeLibraryProbe,
}

impl Provenance {
    /// Every provenance.
    pub const ALL: [Self; 6] = [
        Self::BackendContract,
        Self::ApiVersion,
        Self::NativeFeatureQuery,
        Self::NativeExtensionQuery,
        Self::RuntimeObjectProbe,
        Self::RuntimeLibraryProbe,
    ];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BackendContract => "backend-contract",
            Self::ApiVersion => "api-version",
            Self::NativeFeatureQuery => "native-feature-query",
            Self::NativeExtensionQuery => "native-extension-query",
            Self::RuntimeObjectProbe => "runtime-object-probe",
            Self::RuntimeLibraryProbe => "runtime-library-probe",
        }
    }
}

/// What the native API offers for one fact. Available has a strategy and no reason; unavailable has a reason: the
/// constructors allow nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Support {
    strategy: Strategy,
    provenance: Provenance,
    source: Text,
    reason: Text,
}

impl Default for Support {
    fn default() -> Self {
        Self::unavailable(Provenance::BackendContract, "default", NOT_REPORTED)
    }
}

impl Support {
    /// In the core of the API.
    #[must_use]
    pub fn core(provenance: Provenance, source: impl Into<Text>) -> Self {
        Self::available(Strategy::CoreApi, provenance, source.into())
    }

    /// Through an extension.
    #[must_use]
    pub fn extension(provenance: Provenance, source: impl Into<Text>) -> Self {
        Self::available(Strategy::NativeExtension, provenance, source.into())
    }

    /// Through a vendor's own path.
    #[must_use]
    pub fn specialized(provenance: Provenance, source: impl Into<Text>) -> Self {
        Self::available(Strategy::NativeSpecialized, provenance, source.into())
    }

    /// Through a library beside the API.
    #[must_use]
    pub fn library(provenance: Provenance, source: impl Into<Text>) -> Self {
        Self::available(Strategy::NativeLibrary, provenance, source.into())
    }

    /// Not offered. A blank reason becomes "*source* says no", a blank source "unnamed source", so that neither is ever
    /// empty.
    #[must_use]
    pub fn unavailable(provenance: Provenance, source: impl Into<Text>, reason: impl Into<Text>) -> Self {
        let source = named(source.into());
        let mut reason = reason.into();
        if reason.trim().is_empty() {
            reason = format!("{source} says no").into();
        }
        Self { strategy: Strategy::Unavailable, provenance, source, reason }
    }

    fn available(strategy: Strategy, provenance: Provenance, source: Text) -> Self {
        Self { strategy, provenance, source: named(source), reason: Text::Borrowed("") }
    }

    /// Whether it is offered.
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.strategy != Strategy::Unavailable
    }

    /// By which means.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// How that is known.
    #[must_use]
    pub fn provenance(&self) -> Provenance {
        self.provenance
    }

    /// Name of the extension, feature, version or call; never empty.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Why it is unavailable; None if and only if it is available.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        (!self.is_available()).then_some(&*self.reason)
    }
}

fn named(source: Text) -> Text {
    if source.trim().is_empty() { Text::Borrowed("unnamed source") } else { source }
}

/// Whether and how a backend offers a fact through the contract.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Lowering {
    /// One to one.
    Direct,
    /// With the same meaning, by bounded and documented GPU work of the backend; the text says which.
    Helper(Text),
    /// Not at all; the text says why.
    No(Text),
}

impl Lowering {
    /// The name in reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Helper(_) => "helper",
            Self::No(_) => "no",
        }
    }
}

/// Whether the conformance suite confirmed a fact on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Qualification {
    /// The suite did not run something that uses it.
    #[default]
    NotRun,
    /// It ran and failed.
    No,
    /// It ran and passed.
    Yes,
}

impl Qualification {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotRun => "not-run",
            Self::No => "no",
            Self::Yes => "yes",
        }
    }
}

/// One fact's three columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Capability {
    native: Support,
    lowering: Lowering,
    /// Filled in by the conformance suite.
    pub qualified: Qualification,
}

impl Default for Capability {
    fn default() -> Self {
        Self::direct(Support::default())
    }
}

impl Capability {
    /// Offered one to one where the driver can; else not at all, for the driver's reason.
    #[must_use]
    pub fn direct(native: Support) -> Self {
        let lowering = match native.reason() {
            None => Lowering::Direct,
            Some(reason) => Lowering::No(Text::Owned(reason.to_owned())),
        };
        Self { native, lowering, qualified: Qualification::NotRun }
    }

    /// Offered by work of the backend, whether or not the driver can do it itself; `how` says by which.
    #[must_use]
    pub fn helper(native: Support, how: impl Into<Text>) -> Self {
        Self { native, lowering: Lowering::Helper(named(how.into())), qualified: Qualification::NotRun }
    }

    /// Not offered by the backend even where the driver can; `reason` says why.
    #[must_use]
    pub fn native_only(native: Support, reason: impl Into<Text>) -> Self {
        if !native.is_available() {
            return Self::direct(native);
        }
        let mut reason = reason.into();
        if reason.trim().is_empty() {
            reason = Text::Borrowed("the backend does not offer it");
        }
        Self { native, lowering: Lowering::No(reason), qualified: Qualification::NotRun }
    }

    /// Whether a program can use it.
    #[must_use]
    pub fn usable(&self) -> bool {
        !matches!(self.lowering, Lowering::No(_))
    }

    /// The driver's column.
    #[must_use]
    pub fn native(&self) -> &Support {
        &self.native
    }

    /// The backend's column.
    #[must_use]
    pub fn lowering(&self) -> &Lowering {
        &self.lowering
    }

    /// What there is to say: why it is missing, or by which helper it is offered; None if it is offered directly.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match &self.lowering {
            Lowering::Direct => None,
            Lowering::Helper(text) | Lowering::No(text) => Some(text),
        }
    }
}
