//! GLSL ES, and the names by which its resources are bound.

use super::{Bounded, Code};
use crate::convert;
use crate::error::ShaderError;
use crate::reflect::EntryView;
use naga::back::glsl;
use naga::proc::BoundsCheckPolicies;
use naga::valid::ModuleInfo;
use naga::{GlobalVariable, Handle, TypeInner};
use rhizo_rhi::{BindingKind, GlslBinding, GlslPushConstant, ShaderInterface, ShaderPayload, ShaderStage};

/// The version from which compute shaders, storage buffers and storage textures exist.
const COMPUTE_VERSION: u16 = 310;

pub(super) fn emit(
    view: &EntryView<'_>,
    info: &ModuleInfo,
    interface: &ShaderInterface,
    version: u16,
) -> Result<Code, ShaderError> {
    check(view, interface, version)?;
    let options = glsl::Options {
        version: glsl::Version::new_gles(version),
        // Positions are turned to GL's clip space here; the backend inverts the front face.
        writer_flags: glsl::WriterFlags::ADJUST_COORDINATE_SPACE,
        binding_map: storage_slots(interface),
        zero_initialize_workgroup_memory: true,
    };
    let pipeline =
        glsl::PipelineOptions { shader_stage: view.entry.stage, entry_point: view.entry.name.clone(), multiview: None };
    let mut out = Bounded::default();
    // Bounds checks of texel loads need level queries that no GLSL ES version has; contexts are robust instead.
    let policies = BoundsCheckPolicies::default();
    let reflection = glsl::Writer::new(&mut out, view.module, info, &options, &pipeline, policies)
        .and_then(|mut writer| writer.write());
    let reflection = reflection.map_err(|e| match e {
        glsl::Error::FmtError(_) => out.error(view.label),
        other => glsl_error(view.label, version, &other),
    })?;
    let names = binding_names(view, &reflection, &options.binding_map)?;
    let push_constants = push_constants(view, &reflection)?;
    // GLSL has one entry point, and it is called main.
    Ok(Code { payload: ShaderPayload::GlslEs { source: out.text, names, push_constants }, entry: "main".into() })
}

fn check(view: &EntryView<'_>, interface: &ShaderInterface, version: u16) -> Result<(), ShaderError> {
    let refuse = |what: String, why: &str| Err(ShaderError::unsupported(view.label, what, why));
    if !matches!(version, 300 | 310 | 320) {
        return refuse(format!("GLSL ES {version}"), "only 300, 310 and 320 can be written");
    }
    if version < COMPUTE_VERSION && view.stage == ShaderStage::Compute {
        return refuse(format!("a compute shader in GLSL ES {version}"), "compute needs 310");
    }
    check_depth_samplers(view)?;
    for b in &interface.bindings {
        if b.count != 1 {
            return refuse(format!("the array of bindings '{}'", b.name), "GLSL ES cannot index textures freely");
        }
        if !is_storage(b.kind) {
            continue;
        }
        if version < COMPUTE_VERSION {
            return refuse(format!("'{}' in GLSL ES {version}", b.name), "storage buffers and textures need 310");
        }
        if view.stage == ShaderStage::Vertex {
            return refuse(
                format!("'{}' in a GLSL ES vertex shader", b.name),
                "devices may offer no storage buffers or textures to vertex shaders",
            );
        }
    }
    Ok(())
}

/// Depth textures are shadow samplers in GLSL ES, which can only compare.
fn check_depth_samplers(view: &EntryView<'_>) -> Result<(), ShaderError> {
    let (variables, types) = (&view.module.global_variables, &view.module.types);
    for pair in &view.info.sampling_set {
        let (image, sampler) = (&variables[pair.image], &variables[pair.sampler]);
        let is_depth = matches!(types[image.ty].inner, TypeInner::Image { class: naga::ImageClass::Depth { .. }, .. });
        if is_depth && matches!(types[sampler.ty].inner, TypeInner::Sampler { comparison: false }) {
            let name = image.name.as_deref().unwrap_or_default();
            return Err(ShaderError::unsupported(
                view.label,
                format!("the depth texture '{name}' sampled without comparison in GLSL ES"),
                "declare it as texture_2d<f32> to read depths",
            ));
        }
    }
    Ok(())
}

const fn is_storage(kind: BindingKind) -> bool {
    match kind {
        BindingKind::BufferRead | BindingKind::BufferWrite | BindingKind::StorageTexture { .. } => true,
        BindingKind::Constant { .. } | BindingKind::Texture { .. } | BindingKind::Sampler { .. } => false,
    }
}

/// Slots for what GLSL ES can only bind by number, counted in the order of the bindings, for buffers and textures apart.
fn storage_slots(interface: &ShaderInterface) -> glsl::BindingMap {
    let mut map = glsl::BindingMap::default();
    let (mut buffers, mut textures) = (0_u8, 0_u8);
    for b in interface.bindings.iter().filter(|b| is_storage(b.kind)) {
        let next = if matches!(b.kind, BindingKind::StorageTexture { .. }) { &mut textures } else { &mut buffers };
        map.insert(naga::ResourceBinding { group: b.group, binding: b.slot }, *next);
        // No context has 256 of either; if one shader had, two would share a slot and linking would fail.
        *next = next.saturating_add(1);
    }
    map
}

fn at(view: &EntryView<'_>, handle: Handle<GlobalVariable>) -> Result<(u32, u32), ShaderError> {
    let binding = view.module.global_variables[handle].binding;
    let binding = binding.ok_or_else(|| ShaderError::bug(view.label, "a written resource has no binding"))?;
    Ok((binding.group, binding.binding))
}

fn binding_names(
    view: &EntryView<'_>,
    reflection: &glsl::ReflectionInfo,
    slots: &glsl::BindingMap,
) -> Result<Vec<GlslBinding>, ShaderError> {
    let mut out = Vec::new();
    for (name, mapping) in &reflection.texture_mapping {
        let sampler = mapping.sampler.map(|s| at(view, s)).transpose()?;
        out.push(GlslBinding { binding: at(view, mapping.texture)?, sampler, name: name.clone(), slot: None });
    }
    for (handle, name) in &reflection.uniforms {
        out.push(GlslBinding { binding: at(view, *handle)?, sampler: None, name: name.clone(), slot: None });
    }
    for binding in &mut out {
        let (group, slot) = binding.binding;
        binding.slot = slots.get(&naga::ResourceBinding { group, binding: slot }).map(|n| u32::from(*n));
    }
    out.sort_by(|a, b| (a.binding, &a.name).cmp(&(b.binding, &b.name)));
    Ok(out)
}

/// naga names the leaves of the push constants; their offsets are taken from the types themselves, so that explicit
/// `@align` and `@size` hold.
fn push_constants(
    view: &EntryView<'_>,
    reflection: &glsl::ReflectionInfo,
) -> Result<Vec<GlslPushConstant>, ShaderError> {
    let variable = view
        .module
        .global_variables
        .iter()
        .find(|(handle, v)| v.space == naga::AddressSpace::Immediate && !view.info[*handle].is_empty());
    let Some((_, variable)) = variable else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    leaves(view, variable.ty, 0, &mut out)?;
    if out.len() != reflection.immediates_items.len() {
        return Err(ShaderError::bug(view.label, "push constants and their GLSL names do not match"));
    }
    for (leaf, item) in out.iter_mut().zip(&reflection.immediates_items) {
        leaf.name.clone_from(&item.access_path);
    }
    Ok(out)
}

fn leaves(
    view: &EntryView<'_>,
    ty: Handle<naga::Type>,
    offset: u32,
    out: &mut Vec<GlslPushConstant>,
) -> Result<(), ShaderError> {
    let mut leaf = |scalar: naga::Scalar, columns: u8, rows: u8| {
        let class = convert::scalar_class(scalar.kind).filter(|_| scalar.width == 4).ok_or_else(|| {
            ShaderError::unsupported(view.label, "push constants of other than 32-bit numbers", "in GLSL ES")
        })?;
        let column_stride = if rows > 2 { 16 } else { 8 };
        out.push(GlslPushConstant { name: String::new(), offset, columns, rows, column_stride, scalar: class });
        Ok(())
    };
    match &view.module.types[ty].inner {
        TypeInner::Scalar(scalar) => leaf(*scalar, 1, 1),
        TypeInner::Vector { size, scalar } => leaf(*scalar, 1, *size as u8),
        TypeInner::Matrix { columns, rows, scalar } => leaf(*scalar, *columns as u8, *rows as u8),
        TypeInner::Array { base, size: naga::ArraySize::Constant(count), stride } => {
            (0..count.get()).try_for_each(|i| leaves(view, *base, offset + i * stride, out))
        }
        TypeInner::Struct { members, .. } => {
            members.iter().try_for_each(|m| leaves(view, m.ty, offset + m.offset, out))
        }
        _ => Err(ShaderError::unsupported(view.label, "push constants of this type", "in GLSL ES")),
    }
}

fn glsl_error(label: &str, version: u16, error: &glsl::Error) -> ShaderError {
    let target = format!("in GLSL ES {version}");
    match error {
        glsl::Error::MissingFeatures(features) => {
            let names: Vec<String> = features.iter_names().map(|(n, _)| n.to_lowercase().replace('_', " ")).collect();
            ShaderError::unsupported(label, format!("{} {target}", names.join(", ")), "")
        }
        glsl::Error::ImageMultipleSamplers => ShaderError::unsupported(
            label,
            format!("one texture used with several samplers {target}"),
            "GLSL ES joins each texture with one sampler",
        ),
        glsl::Error::UnsupportedExternal(_)
        | glsl::Error::UnsupportedScalar(_)
        | glsl::Error::FirstSamplingNotSupported
        | glsl::Error::VersionNotSupported
        | glsl::Error::MultipleImmediateData
        | glsl::Error::Custom(_) => ShaderError::unsupported(label, format!("{error} ({target})"), ""),
        glsl::Error::FmtError(_)
        | glsl::Error::EntryPointNotFound
        | glsl::Error::Override
        | glsl::Error::ResolveArraySizeError(_) => ShaderError::bug(label, error.to_string()),
    }
}
