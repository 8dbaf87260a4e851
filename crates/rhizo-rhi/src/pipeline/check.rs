//! Checks at pipeline creation, and layouts derived from functions.

use super::{AttachmentAbi, ComputePipelineDesc, Function, MAX_COLORS, PipelineFacts, RasterPipelineDesc};
use crate::backend::ObjectRef;
use crate::binding::{
    MAX_TABLES, PipelineLayout, PipelineLayoutDesc, PushRange, TableEntry, TableLayout, TableLayoutDesc,
};
use crate::cache::PipelineCache;
use crate::clause;
use crate::error::{Error, Result};
use crate::format::{Format, FormatClass};
use crate::handle::DeviceShared;
use crate::shader::{BindingKind, ScalarClass, ShaderStages};
use smallvec::SmallVec;
use std::sync::Arc;

pub(super) fn facts_of(layout: &PipelineLayout, functions: &[&Function]) -> PipelineFacts {
    let mut needs_tables = 0;
    for binding in functions.iter().flat_map(|f| &f.interface.bindings) {
        needs_tables |= 1 << binding.group;
    }
    PipelineFacts {
        layout: layout.raw,
        tables: layout.facts,
        needs_tables,
        needs_buffers: 0,
        abi: AttachmentAbi::default(),
        writes_depth: false,
        writes_stencil: false,
    }
}

#[track_caller]
pub(super) fn cache_ref(device: &DeviceShared, cache: Option<&PipelineCache>) -> Result<Option<ObjectRef>> {
    let Some(cache) = cache else { return Ok(None) };
    device.check(cache.key, &cache.owned)?;
    Ok(Some(cache.raw))
}

#[track_caller]
pub(super) fn check_group(device: &DeviceShared, desc: &ComputePipelineDesc<'_>) -> Result<()> {
    let (stated, shader) = (desc.group_size, desc.function.interface.group_size);
    let limits = &device.limits;
    let threads = shader.iter().map(|n| u64::from(*n)).product::<u64>();
    let inside = shader.iter().zip(limits.max_compute_group).all(|(n, max)| *n >= 1 && *n <= max)
        && threads <= u64::from(limits.max_compute_threads)
        && desc.function.interface.group_shared_size <= limits.max_group_shared_bytes;
    if stated == shader && inside {
        return Ok(());
    }
    let detail = format!(
        "stated {stated:?}, the shader has {shader:?} and {} bytes of group-shared memory; limits {:?}, {} threads, {} bytes",
        desc.function.interface.group_shared_size,
        limits.max_compute_group,
        limits.max_compute_threads,
        limits.max_group_shared_bytes
    );
    Err(Error::clause(clause::GROUP_SIZE, detail).on(desc.label))
}

#[track_caller]
pub(super) fn check_vertex(device: &DeviceShared, desc: &RasterPipelineDesc<'_>) -> Result<()> {
    let bad = |detail: String| Err(Error::clause(clause::PIPELINE_VERTEX, detail).on(desc.label));
    if desc.buffers.len() > (device.limits.max_vertex_bindings as usize).min(32) {
        return bad(format!(
            "{} vertex buffers, the limit is {}",
            desc.buffers.len(),
            device.limits.max_vertex_bindings
        ));
    }
    for (slot, buffer) in desc.buffers.iter().enumerate() {
        for a in buffer.attributes {
            let end = u64::from(a.offset) + u64::from(a.format.size_bytes());
            if end > u64::from(buffer.stride) || a.offset % 4 != 0 || buffer.stride % 4 != 0 || buffer.stride > 2048 {
                return bad(format!(
                    "buffer {slot}: location {} at {} with stride {}",
                    a.location, a.offset, buffer.stride
                ));
            }
        }
    }
    for input in &desc.vertex.interface.inputs {
        let attributes = || desc.buffers.iter().flat_map(|b| b.attributes);
        let mut matching = attributes().filter(|a| a.location == input.location);
        match (matching.next(), matching.next()) {
            (None, _) => return bad(format!("no attribute for location {} (\"{}\")", input.location, input.name)),
            (Some(_), Some(_)) => return bad(format!("two attributes for location {}", input.location)),
            (Some(a), None) if a.format.scalar() != input.scalar => {
                return bad(format!(
                    "location {} (\"{}\") is {:?}, the attribute {:?}",
                    input.location, input.name, input.scalar, a.format
                ));
            }
            (Some(_), None) => {}
        }
    }
    Ok(())
}

#[track_caller]
pub(super) fn check_targets(device: &DeviceShared, desc: &RasterPipelineDesc<'_>) -> Result<()> {
    let targets = &desc.targets;
    let bad = |detail: String| Err(Error::clause(clause::PIPELINE_TARGETS, detail).on(desc.label));
    if targets.colors.len() > MAX_COLORS.min(device.limits.max_color_attachments as usize) {
        return bad(format!("{} colour targets", targets.colors.len()));
    }
    let wrong = |format: &Format, depth: bool| format.is_depth_stencil() != depth;
    if let Some(format) = targets.colors.iter().flatten().find(|f| wrong(f, false)) {
        return bad(format!("{format} as a colour target"));
    }
    if let Some(format) = targets.depth_stencil.filter(|f| wrong(f, true)) {
        return bad(format!("{format} as depth-stencil target"));
    }
    let Some(fragment) = desc.fragment else { return Ok(()) };
    for output in &fragment.interface.outputs {
        let Some(format) = targets.colors.get(output.location as usize).copied().flatten() else { continue };
        let class = match format.info().class {
            FormatClass::Uint => ScalarClass::Uint,
            FormatClass::Sint => ScalarClass::Sint,
            _ => ScalarClass::Float,
        };
        if class != output.scalar {
            return bad(format!("output {} is {:?}, the target is {format}", output.location, output.scalar));
        }
    }
    for (slot, format) in targets.colors.iter().enumerate() {
        let masked = desc.state.targets.get(slot).is_some_and(|t| t.mask.is_empty());
        let written = fragment.interface.outputs.iter().any(|o| o.location as usize == slot);
        if let Some(format) = format.filter(|_| !masked && !written) {
            return bad(format!(
                "the fragment function has no output {slot} for the {format} target; mask it or write it"
            ));
        }
    }
    Ok(())
}

#[track_caller]
pub(super) fn check_state(desc: &RasterPipelineDesc<'_>) -> Result<()> {
    let state = &desc.state;
    let bad = |detail: &str| Err(Error::clause(clause::PIPELINE_STATE, detail).on(desc.label));
    if state.restart && !state.topology.is_strip() {
        return bad("primitive restart exists for strips only");
    }
    let depth = desc.targets.depth_stencil;
    if state.depth.is_some() && !depth.is_some_and(|f| f.aspects().contains(crate::vocab::Aspects::DEPTH)) {
        return bad("a depth test without a depth target");
    }
    if state.stencil.is_some() && !depth.is_some_and(|f| f.aspects().contains(crate::vocab::Aspects::STENCIL)) {
        return bad("a stencil test without a stencil target");
    }
    if !desc.targets.samples.is_power_of_two() || desc.targets.samples > 64 {
        return bad("the sample count is not 1, 2, 4, 8, 16, 32 or 64");
    }
    if state.targets.len() > desc.targets.colors.len() {
        return bad("more target states than colour targets");
    }
    Ok(())
}

/// The stated layout checked against the functions, or one derived from them.
#[track_caller]
pub(super) fn layout_for(
    device: &Arc<DeviceShared>,
    label: &str,
    stated: Option<&PipelineLayout>,
    functions: &[&Function],
) -> Result<PipelineLayout> {
    let Some(layout) = stated else { return derive_layout(device, label, functions) };
    device.check(layout.key, &layout.owned)?;
    for function in functions {
        check_layout(layout, function).map_err(|detail| {
            Error::clause(clause::PIPELINE_BINDING, format!("{}: {detail}", function.owned.label)).on(label)
        })?;
    }
    Ok(layout.clone())
}

pub(super) fn check_layout(layout: &PipelineLayout, function: &Function) -> Result<(), String> {
    let interface = &function.interface;
    for b in &interface.bindings {
        let entry = layout.table(b.group as usize).and_then(|t| t.entries.iter().find(|e| e.slot == b.slot));
        let Some(entry) = entry else {
            return Err(format!("\"{}\" (group {}, slot {}) is not in the layout", b.name, b.group, b.slot));
        };
        if !kinds_agree(entry.kind, b.kind) || entry.count < b.count {
            return Err(format!(
                "\"{}\" (group {}, slot {}) is {:?} x{}, the layout has {:?} x{}",
                b.name, b.group, b.slot, b.kind, b.count, entry.kind, entry.count
            ));
        }
        if !entry.stages.contains(function.stage.flag()) {
            return Err(format!("\"{}\" is not visible to the {} stage", b.name, function.stage.name()));
        }
        if entry.min_size < b.min_size && entry.min_size != 0 {
            return Err(format!("\"{}\" needs {} bytes, the layout promises {}", b.name, b.min_size, entry.min_size));
        }
    }
    let sees_push = layout.facts.push_stages.contains(function.stage.flag());
    if interface.push_constant_size > 0 && (!sees_push || interface.push_constant_size > layout.facts.push_bytes) {
        return Err(format!(
            "{} bytes of push constants, the layout has {} for {:?}",
            interface.push_constant_size, layout.facts.push_bytes, layout.facts.push_stages
        ));
    }
    Ok(())
}

/// Whether a layout's kind serves a shader's; a dynamic offset is the layout's own business.
pub(super) fn kinds_agree(layout: BindingKind, shader: BindingKind) -> bool {
    match (layout, shader) {
        (BindingKind::Constant { .. }, BindingKind::Constant { .. }) => true,
        (a, b) => a == b,
    }
}

#[track_caller]
pub(super) fn derive_layout(
    device: &Arc<DeviceShared>,
    label: &str,
    functions: &[&Function],
) -> Result<PipelineLayout> {
    let mut groups: [Vec<TableEntry>; MAX_TABLES] = Default::default();
    let mut push = PushRange { stages: ShaderStages::empty(), size_bytes: 0 };
    for function in functions {
        for b in &function.interface.bindings {
            merge_binding(&mut groups, function, b)
                .map_err(|detail| Error::clause(clause::PIPELINE_BINDING, detail).on(label))?;
        }
        if function.interface.push_constant_size > 0 {
            push.stages |= function.stage.flag();
            push.size_bytes = push.size_bytes.max(function.interface.push_constant_size.next_multiple_of(4));
        }
    }
    let count = groups.iter().rposition(|g| !g.is_empty()).map_or(0, |i| i + 1);
    let mut tables: SmallVec<[Option<TableLayout>; MAX_TABLES]> = SmallVec::new();
    for entries in &groups[..count] {
        let make = || TableLayout::create(device, &TableLayoutDesc { label, entries }, true);
        tables.push(if entries.is_empty() { None } else { Some(make()?) });
    }
    let refs: SmallVec<[Option<&TableLayout>; MAX_TABLES]> = tables.iter().map(Option::as_ref).collect();
    let push = (push.size_bytes > 0).then_some(push);
    PipelineLayout::create(device, &PipelineLayoutDesc { label, tables: &refs, push, local: false })
}

pub(super) fn merge_binding(
    groups: &mut [Vec<TableEntry>; MAX_TABLES],
    function: &Function,
    b: &crate::shader::ShaderBinding,
) -> Result<(), String> {
    let Some(group) = groups.get_mut(b.group as usize) else {
        return Err(format!("\"{}\" is in group {}, there are {MAX_TABLES}", b.name, b.group));
    };
    if b.count == 0 {
        return Err(format!("\"{}\" is a run-time sized array: state a layout", b.name));
    }
    if let Some(entry) = group.iter_mut().find(|e| e.slot == b.slot) {
        if entry.kind != b.kind {
            return Err(format!(
                "group {} slot {} is {:?} (\"{}\") and {:?} (\"{}\")",
                b.group, b.slot, entry.kind, entry.name, b.kind, b.name
            ));
        }
        entry.stages |= function.stage.flag();
        entry.count = entry.count.max(b.count);
        entry.min_size = entry.min_size.max(b.min_size);
        return Ok(());
    }
    group.push(TableEntry {
        slot: b.slot,
        name: b.name.clone(),
        kind: b.kind,
        stages: function.stage.flag(),
        count: b.count,
        min_size: b.min_size,
    });
    Ok(())
}
