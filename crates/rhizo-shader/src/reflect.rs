//! What an entry point really uses.

use crate::convert;
use crate::error::ShaderError;
use naga::valid::FunctionInfo;
use naga::{AddressSpace, ArraySize, GlobalVariable, Handle, ImageClass, Module, StorageAccess, Type, TypeInner};
use rhizo_rhi::{BindingKind, SampleType, ShaderBinding, ShaderInterface, ShaderStage, ShaderVariable};

/// Group-shared variables start at multiples of this many bytes on every API.
const SHARED_ALIGNMENT: u32 = 16;

/// One entry point of a module whose overrides are resolved.
pub(crate) struct EntryView<'a> {
    pub label: &'a str,
    pub module: &'a Module,
    pub info: &'a FunctionInfo,
    pub entry: &'a naga::EntryPoint,
    pub stage: ShaderStage,
}

/// The interface of the entry point.
pub(crate) fn interface(view: &EntryView<'_>) -> Result<ShaderInterface, ShaderError> {
    let mut layouter = naga::proc::Layouter::default();
    layouter
        .update(view.module.to_ctx())
        .map_err(|e| ShaderError::bug(view.label, format!("laying out a validated module: {e}")))?;
    let mut out = ShaderInterface::default();
    for (handle, variable) in view.module.global_variables.iter() {
        if view.info[handle].is_empty() {
            continue;
        }
        let size = layouter[variable.ty].size;
        match variable.space {
            AddressSpace::WorkGroup => {
                let size = size.next_multiple_of(SHARED_ALIGNMENT);
                out.group_shared_size = out.group_shared_size.saturating_add(size);
            }
            AddressSpace::Immediate => out.push_constant_size = size,
            AddressSpace::Uniform | AddressSpace::Storage { .. } | AddressSpace::Handle => {
                out.bindings.push(binding(view, variable, &layouter)?);
            }
            AddressSpace::Function
            | AddressSpace::Private
            | AddressSpace::TaskPayload
            | AddressSpace::RayPayload
            | AddressSpace::IncomingRayPayload => {}
        }
    }
    out.bindings.sort_by_key(|b| (b.group, b.slot));
    check_unique(view.label, &out.bindings)?;
    out.inputs = inputs(view)?;
    (out.outputs, out.writes_depth) = outputs(view)?;
    if view.stage == ShaderStage::Compute {
        out.group_size = view.entry.workgroup_size;
    }
    Ok(out)
}

fn check_unique(label: &str, sorted: &[ShaderBinding]) -> Result<(), ShaderError> {
    match sorted.windows(2).find(|w| (w[0].group, w[0].slot) == (w[1].group, w[1].slot)) {
        Some([a, b]) => Err(ShaderError::unsupported(
            label,
            format!("two variables at group {} binding {}", a.group, a.slot),
            &format!("'{}' and '{}' are used by one entry point", a.name, b.name),
        )),
        _ => Ok(()),
    }
}

fn binding(
    view: &EntryView<'_>,
    variable: &GlobalVariable,
    layouter: &naga::proc::Layouter,
) -> Result<ShaderBinding, ShaderError> {
    let name = variable.name.clone().unwrap_or_default();
    let at = variable
        .binding
        .ok_or_else(|| ShaderError::unsupported(view.label, format!("the variable '{name}' without a binding"), ""))?;
    let (ty, count) = match view.module.types[variable.ty].inner {
        TypeInner::BindingArray { base, size } => (base, array_count(view.label, size)?),
        // SPIR-V and GLSL arrays of textures and samplers.
        TypeInner::Array { base, size, .. } if variable.space == AddressSpace::Handle => {
            (base, array_count(view.label, size)?)
        }
        _ => (variable.ty, 1),
    };
    let (kind, min_size) = match variable.space {
        AddressSpace::Uniform => (BindingKind::Constant { dynamic: false }, u64::from(layouter[ty].size)),
        AddressSpace::Storage { access } => {
            let written = access.intersects(StorageAccess::STORE | StorageAccess::ATOMIC);
            let kind = if written { BindingKind::BufferWrite } else { BindingKind::BufferRead };
            (kind, u64::from(layouter[ty].size))
        }
        _ => (handle_kind(view, ty, &name)?, 0),
    };
    Ok(ShaderBinding { group: at.group, slot: at.binding, name, kind, count, min_size })
}

fn array_count(label: &str, size: ArraySize) -> Result<u32, ShaderError> {
    match size {
        ArraySize::Constant(n) => Ok(n.get()),
        ArraySize::Dynamic => Ok(0),
        ArraySize::Pending(_) => Err(ShaderError::bug(label, "an overridable array length was left unresolved")),
    }
}

fn handle_kind(view: &EntryView<'_>, ty: Handle<Type>, name: &str) -> Result<BindingKind, ShaderError> {
    let unsupported = |what: &str| Err(ShaderError::unsupported(view.label, format!("{what} (variable '{name}')"), ""));
    let (dim, arrayed, class) = match view.module.types[ty].inner {
        TypeInner::Sampler { comparison } => return Ok(BindingKind::Sampler { comparison }),
        TypeInner::Image { dim, arrayed, class } => (dim, arrayed, class),
        TypeInner::AccelerationStructure { .. } => return unsupported("an acceleration structure"),
        _ => return unsupported("a resource of unknown type"),
    };
    let Some(dimension) = convert::dimension(dim, arrayed) else {
        return unsupported("an array of 1D or 3D textures");
    };
    let texture = |sample, multisampled| Ok(BindingKind::Texture { sample, dimension, multisampled });
    match class {
        ImageClass::Sampled { kind: naga::ScalarKind::Float, multi } => texture(SampleType::Float, multi),
        ImageClass::Sampled { kind: naga::ScalarKind::Sint, multi } => texture(SampleType::Sint, multi),
        ImageClass::Sampled { kind: naga::ScalarKind::Uint, multi } => texture(SampleType::Uint, multi),
        ImageClass::Sampled { .. } => unsupported("a texture of an odd scalar type"),
        ImageClass::Depth { multi } => texture(SampleType::Depth, multi),
        ImageClass::External => unsupported("an external texture"),
        ImageClass::Storage { format, access } => match convert::storage_format(format) {
            Some(format) => Ok(BindingKind::StorageTexture {
                format,
                dimension,
                read: access.intersects(StorageAccess::LOAD | StorageAccess::ATOMIC),
                write: access.intersects(StorageAccess::STORE | StorageAccess::ATOMIC),
            }),
            None => unsupported("a storage texture in the format r64uint"),
        },
    }
}

fn inputs(view: &EntryView<'_>) -> Result<Vec<ShaderVariable>, ShaderError> {
    let mut out = Vec::new();
    for argument in &view.entry.function.arguments {
        let name = argument.name.as_deref().unwrap_or_default();
        collect(view, name, argument.ty, argument.binding.as_ref(), &mut |v, _| out.extend(v))?;
    }
    out.sort_by_key(|v| v.location);
    Ok(out)
}

fn outputs(view: &EntryView<'_>) -> Result<(Vec<ShaderVariable>, bool), ShaderError> {
    let (mut out, mut depth) = (Vec::new(), false);
    if let Some(result) = &view.entry.function.result {
        collect(view, "", result.ty, result.binding.as_ref(), &mut |v, binding| {
            out.extend(v);
            depth |= matches!(binding, naga::Binding::BuiltIn(naga::BuiltIn::FragDepth));
        })?;
    }
    out.sort_by_key(|v| v.location);
    Ok((out, depth))
}

/// Calls `found` for the variable itself or, if it is a structure without a binding, for each member.
fn collect(
    view: &EntryView<'_>,
    name: &str,
    ty: Handle<Type>,
    binding: Option<&naga::Binding>,
    found: &mut dyn FnMut(Option<ShaderVariable>, &naga::Binding),
) -> Result<(), ShaderError> {
    if let Some(binding) = binding {
        found(variable(view, name, ty, binding)?, binding);
    } else if let TypeInner::Struct { members, .. } = &view.module.types[ty].inner {
        for member in members {
            if let Some(binding) = &member.binding {
                let name = member.name.as_deref().unwrap_or_default();
                found(variable(view, name, member.ty, binding)?, binding);
            }
        }
    }
    Ok(())
}

/// A located variable; `None` for built-ins and for the second blend source, which shares its location with the first.
fn variable(
    view: &EntryView<'_>,
    name: &str,
    ty: Handle<Type>,
    binding: &naga::Binding,
) -> Result<Option<ShaderVariable>, ShaderError> {
    let naga::Binding::Location { location, blend_src, .. } = binding else { return Ok(None) };
    if blend_src.is_some_and(|source| source != 0) {
        return Ok(None);
    }
    let (scalar, components) = match view.module.types[ty].inner {
        TypeInner::Scalar(scalar) => (scalar, 1),
        TypeInner::Vector { size, scalar } => (scalar, size as u8),
        _ => {
            let what = format!("a stage input or output '{name}' that is no scalar or vector");
            return Err(ShaderError::unsupported(view.label, what, ""));
        }
    };
    let Some(scalar) = convert::scalar_class(scalar.kind) else {
        return Err(ShaderError::unsupported(view.label, format!("a boolean stage input or output '{name}'"), ""));
    };
    Ok(Some(ShaderVariable { location: *location, name: name.to_owned(), scalar, components }))
}
