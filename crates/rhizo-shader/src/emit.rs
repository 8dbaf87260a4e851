//! Each target's language.

mod glsl;

use crate::error::{ShaderError, ShaderErrorKind};
use crate::features::{self, ShaderFeatures};
use crate::guard::limits;
use crate::reflect::EntryView;
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::ModuleInfo;
use rhizo_rhi::{ShaderInterface, ShaderPayload, ShaderTarget};

/// What is not in the module itself.
pub(crate) struct Options {
    pub features: ShaderFeatures,
    pub unbounded_count: Option<u32>,
}

/// Written code and the entry point's name in it.
pub(crate) struct Code {
    pub payload: ShaderPayload,
    pub entry: String,
}

/// Takes written text up to [`limits::WRITTEN_BYTES`].
#[derive(Default)]
struct Bounded {
    text: String,
}

impl std::fmt::Write for Bounded {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        if self.text.len() + s.len() > limits::WRITTEN_BYTES {
            return Err(std::fmt::Error);
        }
        self.text.push_str(s);
        Ok(())
    }
}

impl Bounded {
    /// What a formatting error of the writer means: only a full buffer causes one.
    fn error(&self, label: &str) -> ShaderError {
        let limit = limits::WRITTEN_BYTES as u64;
        ShaderError::too_large(label, "bytes of written code", limit + 1, limit)
    }
}

/// The highest SPIR-V version that naga knows.
const HIGHEST_SPIRV: (u8, u8) = (1, 6);

pub(crate) fn emit(
    view: &EntryView<'_>,
    info: &ModuleInfo,
    interface: &ShaderInterface,
    target: ShaderTarget,
    options: &Options,
) -> Result<Code, ShaderError> {
    match target {
        ShaderTarget::Spirv { version } => emit_spirv(view, info, interface, version, options),
        ShaderTarget::Wgsl => emit_wgsl(view, info),
        ShaderTarget::GlslEs { version } => glsl::emit(view, info, interface, version),
    }
}

fn emit_spirv(
    view: &EntryView<'_>,
    info: &ModuleInfo,
    interface: &ShaderInterface,
    version: (u8, u8),
    options: &Options,
) -> Result<Code, ShaderError> {
    if version.0 != 1 {
        let what = format!("SPIR-V {}.{}", version.0, version.1);
        return Err(ShaderError::unsupported(view.label, what, "only 1.0 to 1.6 can be written"));
    }
    let binding_map = spirv_bindings(view, interface, options)?;
    let options = spv::Options {
        lang_version: version.min(HIGHEST_SPIRV),
        // Not ADJUST_COORDINATE_SPACE: the Vulkan backend flips through its viewport. Not CLAMP_FRAG_DEPTH: WebGPU
        // wants it, but here depth clamping is state of the pipeline. Points have no size unless the shader writes one.
        flags: spv::WriterFlags::DEBUG | spv::WriterFlags::LABEL_VARYINGS | spv::WriterFlags::FORCE_POINT_SIZE,
        fake_missing_bindings: true,
        binding_map,
        capabilities: Some(features::spirv_capabilities(options.features)),
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Restrict,
            image_load: BoundsCheckPolicy::ReadZeroSkipWrite,
            binding_array: BoundsCheckPolicy::Restrict,
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::Polyfill,
        force_loop_bounding: true,
        // 16-bit stage inputs and outputs are a feature of their own; naga converts through 32 bits instead.
        use_storage_input_output_16: false,
        ..spv::Options::default()
    };
    let pipeline = spv::PipelineOptions { shader_stage: view.entry.stage, entry_point: view.entry.name.clone() };
    let words =
        spv::write_vec(view.module, info, &options, Some(&pipeline)).map_err(|e| spirv_error(view.label, &e))?;
    Ok(Code { payload: ShaderPayload::Spirv(words), entry: view.entry.name.clone() })
}

/// Arrays of bindings without a length get the table's, so that indices can be clamped to it.
fn spirv_bindings(
    view: &EntryView<'_>,
    interface: &ShaderInterface,
    options: &Options,
) -> Result<spv::BindingMap, ShaderError> {
    let mut map = spv::BindingMap::default();
    for (_, variable) in view.module.global_variables.iter() {
        let naga::TypeInner::BindingArray { size: naga::ArraySize::Dynamic, .. } = view.module.types[variable.ty].inner
        else {
            continue;
        };
        let Some(at) = variable.binding else { continue };
        if !interface.bindings.iter().any(|b| (b.group, b.slot) == (at.group, at.binding)) {
            continue;
        }
        let Some(count) = options.unbounded_count.filter(|n| *n > 0) else {
            let name = variable.name.as_deref().unwrap_or_default();
            return Err(ShaderError::unsupported(
                view.label,
                format!("the array of bindings '{name}' without a length"),
                "indices into it cannot be clamped",
            )
            .note("state the table's size in `Entry::unbounded_count`"));
        };
        let info = spv::BindingInfo { descriptor_set: at.group, binding: at.binding, binding_array_size: Some(count) };
        map.insert(at, info);
    }
    Ok(map)
}

fn spirv_error(label: &str, error: &spv::Error) -> ShaderError {
    match error {
        spv::Error::MissingCapabilities(what, any) => {
            let need = features::explain_missing_spirv(any);
            ShaderError::unsupported(label, format!("{what} needs {need}"), "")
        }
        spv::Error::FeatureNotImplemented(what) => ShaderError::unsupported(label, *what, "the writer lacks it"),
        spv::Error::UnsupportedVersion(..) | spv::Error::SpirvVersionTooLow(..) => {
            ShaderError::unsupported(label, error.to_string(), "")
        }
        spv::Error::EntryPointNotFound
        | spv::Error::Validation(_)
        | spv::Error::Override
        | spv::Error::ResolveArraySizeError(_)
        | spv::Error::MissingBinding(_) => ShaderError::bug(label, error.to_string()),
    }
}

fn emit_wgsl(view: &EntryView<'_>, info: &ModuleInfo) -> Result<Code, ShaderError> {
    use naga::back::wgsl;
    let mut writer = wgsl::Writer::new(Bounded::default(), wgsl::WriterFlags::empty());
    let written = writer.write(view.module, info);
    let out = writer.finish();
    written.map_err(|e| match e {
        wgsl::Error::FmtError(_) => out.error(view.label),
        other => ShaderError::unsupported(view.label, other.to_string(), "WGSL has no such thing"),
    })?;
    let text = out.text;
    // The writer renames entry points whose names WGSL forbids. Reading its output back tells the new name, and that
    // the output is WGSL at all: some IR that other languages lead to has no spelling.
    let back = naga::front::wgsl::parse_str(&text)
        .map_err(|e| ShaderError::unsupported(view.label, "this shader as WGSL", e.message()))?;
    let entry = back
        .entry_points
        .iter()
        .filter(|e| e.stage == view.entry.stage)
        .find(|e| e.name == view.entry.name || view.module.entry_points.len() == 1)
        .ok_or_else(|| {
            ShaderError::new(ShaderErrorKind::CompilerBug, view.label, "the written WGSL has no entry point")
        })?;
    let entry = entry.name.clone();
    Ok(Code { payload: ShaderPayload::Wgsl(text), entry })
}
