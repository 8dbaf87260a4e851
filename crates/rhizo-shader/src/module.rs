//! Parse once, compile each entry point for each target.

use crate::error::{ShaderError, ShaderErrorKind};
use crate::excerpt::Label;
use crate::features::{self, ShaderFeatures};
use crate::reflect::{self, EntryView};
use crate::source::{Code, Source};
use crate::{convert, emit, guard, scan, spirv};
use naga::valid::{Capabilities, ModuleInfo, ValidationError, ValidationFlags, Validator};
use rhizo_rhi::{ShaderArtifact, ShaderInterface, ShaderStage, ShaderTarget};
use std::borrow::Cow;

/// A parsed and validated shader module.
pub struct Module {
    label: String,
    /// Text the spans of `module` refer to; empty for SPIR-V.
    text: String,
    features: ShaderFeatures,
    module: naga::Module,
    info: ModuleInfo,
}

/// Which entry point of a module to compile, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its stage; needed only if several entry points have this name.
    pub stage: Option<ShaderStage>,
    /// Values for pipeline-overridable constants: (name, or number as text if it has an `@id`; value).
    pub constants: &'a [(&'a str, f64)],
    /// For arrays of bindings without a length (`binding_array<T>`): the number of slots the table has, which indices
    /// are clamped to. SPIR-V for such a shader cannot be written without it.
    pub unbounded_count: Option<u32>,
}

impl<'a> Entry<'a> {
    /// The entry point of this name.
    #[must_use]
    pub const fn new(name: &'a str) -> Self {
        Self { name, stage: None, constants: &[], unbounded_count: None }
    }
}

impl<'a> From<&'a str> for Entry<'a> {
    fn from(name: &'a str) -> Self {
        Self::new(name)
    }
}

/// One entry point of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryInfo<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its stage.
    pub stage: ShaderStage,
}

/// Parses `source` and compiles one entry point of it.
///
/// # Errors
/// See [`Module::parse`] and [`Module::compile`].
pub fn compile<'e>(
    source: &Source<'_>,
    entry: impl Into<Entry<'e>>,
    target: ShaderTarget,
) -> Result<ShaderArtifact, ShaderError> {
    Module::parse(source)?.compile(entry, target)
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let entries: Vec<_> = self.entries().collect();
        f.debug_struct("Module").field("label", &self.label).field("entries", &entries).finish_non_exhaustive()
    }
}

impl Module {
    /// Parses and validates.
    ///
    /// # Errors
    /// `TooLarge` before anything else; `Parse`, `Malformed` or `Unsupported` from the parser; `Validate`, or
    /// `Unsupported` naming the features that [`Source::features`] would have to state.
    pub fn parse(source: &Source<'_>) -> Result<Self, ShaderError> {
        guard::run(source.label, || parse_here(source))
    }

    /// Name for messages.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The features its source stated.
    #[must_use]
    pub const fn features(&self) -> ShaderFeatures {
        self.features
    }

    /// Its entry points, in the source's order.
    pub fn entries(&self) -> impl Iterator<Item = EntryInfo<'_>> {
        self.module
            .entry_points
            .iter()
            .filter_map(|e| Some(EntryInfo { name: &e.name, stage: convert::stage(e.stage)? }))
    }

    /// Compiles one entry point.
    ///
    /// # Errors
    /// `EntryMissing`, `EntryAmbiguous`; `Constant` for an override that is unknown, missing or out of range;
    /// `Unsupported` for what the target cannot express.
    pub fn compile<'e>(
        &self,
        entry: impl Into<Entry<'e>>,
        target: ShaderTarget,
    ) -> Result<ShaderArtifact, ShaderError> {
        let entry = entry.into();
        guard::run(&self.label, || {
            self.with_entry(&entry, |view, info| {
                let mut interface = reflect::interface(view)?;
                let code = emit::emit(view, info, &interface, target, &self.options(&entry))?;
                if let Some(count) = entry.unbounded_count {
                    interface.bindings.iter_mut().filter(|b| b.count == 0).for_each(|b| b.count = count);
                }
                // SAFETY: naga validated the module and, after overrides were applied, the result; its writers keep
                // every access in bounds with the policies set in `emit` (GLSL ES: by the contract with the context);
                // `interface` was reflected from the very entry point that was written. naga's correctness is the
                // stated basis of the soundness model.
                let artifact = unsafe {
                    ShaderArtifact::from_validated(&self.label, code.entry, view.stage, code.payload, interface)
                };
                Ok(artifact)
            })
        })
    }

    /// The interface of one entry point, without writing code.
    ///
    /// # Errors
    /// As [`Module::compile`].
    pub fn reflect<'e>(&self, entry: impl Into<Entry<'e>>) -> Result<ShaderInterface, ShaderError> {
        let entry = entry.into();
        guard::run(&self.label, || self.with_entry(&entry, |view, _| reflect::interface(view)))
    }

    fn options(&self, entry: &Entry<'_>) -> emit::Options {
        emit::Options { features: self.features, unbounded_count: entry.unbounded_count }
    }

    /// Applies overrides and calls `then` with the entry point in the resulting module.
    fn with_entry<T>(
        &self,
        entry: &Entry<'_>,
        then: impl FnOnce(&EntryView<'_>, &ModuleInfo) -> Result<T, ShaderError>,
    ) -> Result<T, ShaderError> {
        let stage = self.find(entry)?;
        let (Some(naga_stage), name) = (convert::naga_stage(stage), entry.name) else {
            return Err(ShaderError::unsupported(&self.label, "this stage", ""));
        };
        let (module, info) = self.resolve(naga_stage, entry)?;
        let index =
            module.entry_points.iter().position(|e| e.stage == naga_stage && e.name == name).ok_or_else(|| {
                ShaderError::bug(&self.label, "the entry point vanished while overrides were applied")
            })?;
        let view = EntryView {
            label: &self.label,
            module: &module,
            info: info.get_entry_point(index),
            entry: &module.entry_points[index],
            stage,
        };
        then(&view, &info)
    }

    fn find(&self, entry: &Entry<'_>) -> Result<ShaderStage, ShaderError> {
        let fits = |e: &EntryInfo<'_>| e.name == entry.name && entry.stage.is_none_or(|s| s == e.stage);
        let mut found = self.entries().filter(fits);
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one.stage),
            (Some(one), Some(other)) => {
                let message =
                    format!("'{}' is a {} and a {} entry point", entry.name, one.stage.name(), other.stage.name());
                Err(ShaderError::new(ShaderErrorKind::EntryAmbiguous, &self.label, message).note("state the stage"))
            }
            (None, _) => {
                let what = entry.stage.map_or(String::new(), |s| format!("{} ", s.name()));
                let message = format!("there is no {what}entry point '{}'", entry.name);
                let list: Vec<String> = self.entries().map(|e| format!("{} ({})", e.name, e.stage.name())).collect();
                let list = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
                Err(ShaderError::new(ShaderErrorKind::EntryMissing, &self.label, message)
                    .note(format!("entry points: {list}")))
            }
        }
    }

    fn resolve(
        &self,
        stage: naga::ShaderStage,
        entry: &Entry<'_>,
    ) -> Result<(Cow<'_, naga::Module>, Cow<'_, ModuleInfo>), ShaderError> {
        use naga::back::pipeline_constants::PipelineConstantError as E;
        let constants = entry.constants.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let at = Some((stage, entry.name));
        naga::back::pipeline_constants::process_overrides(&self.module, &self.info, at, &constants).map_err(|e| match e
        {
            E::ValidationError(e) => validation_error(&self.label, &self.text, &e),
            other => ShaderError::new(ShaderErrorKind::Constant, &self.label, other.to_string()),
        })
    }
}

fn parse_here(source: &Source<'_>) -> Result<Module, ShaderError> {
    let label = source.label;
    let (module, text) = match source.code {
        Code::Wgsl(text) => (parse_wgsl(label, text)?, text),
        Code::Glsl { text, stage, defines } => (parse_glsl(label, text, stage, defines)?, text),
        Code::Spirv(words) => (parse_spirv(label, words)?, ""),
    };
    guard::check_module(label, &module)?;
    let info = validate(label, text, &module, source.features)?;
    Ok(Module { label: label.to_owned(), text: text.to_owned(), features: source.features, module, info })
}

fn labels<'a>(spans: impl Iterator<Item = (naga::Span, &'a str)>) -> Vec<Label> {
    spans.filter_map(|(span, text)| Some(Label { span: span.to_range()?, text: text.to_owned() })).collect()
}

fn parse_wgsl(label: &str, text: &str) -> Result<naga::Module, ShaderError> {
    scan::wgsl(label, text)?;
    naga::front::wgsl::parse_str(text).map_err(|e| {
        let error = ShaderError::new(ShaderErrorKind::Parse, label, e.message()).at(text, &labels(e.labels()));
        e.notes().fold(error, ShaderError::note)
    })
}

fn parse_glsl(
    label: &str,
    text: &str,
    stage: ShaderStage,
    defines: &[(&str, &str)],
) -> Result<naga::Module, ShaderError> {
    scan::glsl(label, text, defines)?;
    let stage = convert::naga_stage(stage).ok_or_else(|| ShaderError::unsupported(label, "GLSL of this stage", ""))?;
    let defines = defines.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = naga::front::glsl::Options { stage, defines };
    naga::front::glsl::Frontend::default().parse(&options, text).map_err(|e| {
        let messages: Vec<String> = e.errors.iter().map(|e| e.kind.to_string()).collect();
        let message = messages.first().cloned().unwrap_or_else(|| "not valid GLSL".into());
        let places = e.errors.iter().zip(&messages).map(|(e, m)| (e.meta, m.as_str()));
        ShaderError::new(ShaderErrorKind::Parse, label, message).at(text, &labels(places))
    })
}

fn parse_spirv(label: &str, words: &[u32]) -> Result<naga::Module, ShaderError> {
    use naga::front::spv::Error as E;
    spirv::SpirvModule::parse(label, words)?.check_nesting(label)?;
    // Clip space is the same for all input languages here, so nothing is adjusted (see the crate's documentation).
    let options = naga::front::spv::Options {
        adjust_coordinate_space: false,
        strict_capabilities: true,
        block_ctx_dump_prefix: None,
    };
    naga::front::spv::Frontend::new(words.iter().copied(), &options).parse().map_err(|e| match e {
        E::UnsupportedCapability(_)
        | E::UnsupportedExtension(_)
        | E::UnsupportedExtSet(_)
        | E::UnsupportedInstruction(..)
        | E::UnsupportedType(_)
        | E::UnsupportedExecutionModel(_)
        | E::UnsupportedExecutionMode(_)
        | E::UnsupportedStorageClass(_) => ShaderError::unsupported(label, e.to_string(), "")
            .note("a ready-made binary can be used with `from_spirv_unchecked`"),
        other => ShaderError::new(ShaderErrorKind::Malformed, label, other.to_string()),
    })
}

fn validator(capabilities: Capabilities) -> Validator {
    Validator::new(ValidationFlags::all(), capabilities)
}

fn validate(
    label: &str,
    text: &str,
    module: &naga::Module,
    features: ShaderFeatures,
) -> Result<ModuleInfo, ShaderError> {
    let allowed = features::naga_capabilities(features);
    validator(allowed).validate(module).map_err(|e| {
        let error = validation_error(label, text, &e);
        // Valid once everything is allowed: then what is wrong is what was allowed, and the message should say so.
        let all = Capabilities::all();
        if validator(all).validate(module).is_err() {
            return error;
        }
        let missing = (all - allowed)
            .iter()
            .filter(|c| validator(all - *c).validate(module).is_err())
            .fold(Capabilities::empty(), |sum, c| sum | c);
        let what = features::explain_missing(missing);
        let spans = labels(e.spans().map(|(span, text)| (*span, text.as_str())));
        ShaderError::unsupported(label, format!("this shader needs {what}"), "").at(text, &spans)
    })
}

fn validation_error(label: &str, text: &str, e: &naga::WithSpan<ValidationError>) -> ShaderError {
    let mut message = e.as_inner().to_string();
    let mut source = std::error::Error::source(e.as_inner());
    while let Some(cause) = source {
        message.push_str(": ");
        message.push_str(&cause.to_string());
        source = cause.source();
    }
    let error = ShaderError::new(ShaderErrorKind::Validate, label, message);
    if text.is_empty() {
        return error;
    }
    let mut places = labels(e.spans().map(|(span, text)| (*span, text.as_str())));
    if let (true, ValidationError::EntryPoint { name, .. }) = (places.is_empty(), e.as_inner()) {
        places.extend(entry_place(text, name));
    }
    error.at(text, &places)
}

/// Where an entry point is declared, for errors that carry no place. A plain search: a wrong hit (in a comment) costs
/// nothing but a misleading line.
fn entry_place(text: &str, name: &str) -> Option<Label> {
    let mut words = text.match_indices(name).filter(|(at, _)| {
        let before = text[..*at].trim_end();
        let is_end = !text[at + name.len()..].starts_with(|c: char| c == '_' || c.is_alphanumeric());
        is_end && before.len() < *at && (before.ends_with("fn") || before.ends_with("void"))
    });
    words.next().map(|(at, _)| Label { span: at..at + name.len(), text: "in this entry point".into() })
}
