//! Transient and persistent objects across frames, and the views of attachments.

use super::{Bound, Result, Run, RunStats};
use crate::declare::{AccessKind, AccessKinds, Graph, ResourceDesc, TextureDimension};
use crate::plan::{NO_INDEX, Plan, PlanResource};
use rhizo_rhi::{
    BufferDesc, BufferUsage, ColorTargetView, DepthStencilTargetView, Device, ObjectId, Scope, StorageMode, Texture,
    TextureDesc, TextureRange, TextureUsage,
};
use std::collections::HashMap;

/// Runs after which an object or view that nothing used is freed.
const KEEP_RUNS: u64 = 8;

struct Pooled {
    bound: Bound,
    desc: ResourceDesc,
    usages: AccessKinds,
    /// What the last run that used it did with it.
    last: Scope,
    /// Slot of the plan it serves in this run.
    slot: u32,
    used: u64,
    fresh: bool,
}

#[derive(Default)]
pub(super) struct Pool {
    transients: Vec<Pooled>,
    persistent: HashMap<String, Bound>,
    run: u64,
}

impl Pool {
    pub(super) fn begin(&mut self) {
        self.run += 1;
        let run = self.run;
        self.transients.retain(|t| t.used + KEEP_RUNS >= run);
        for transient in &mut self.transients {
            transient.slot = NO_INDEX;
            transient.fresh = false;
        }
    }

    /// The object of a slot: resources that take turns in a slot share one.
    pub(super) fn transient(
        &mut self,
        device: &Device,
        run: &Run<'_>,
        used: &PlanResource,
        stats: &mut RunStats,
    ) -> Result<Bound> {
        if let Some(shared) = self.transients.iter().find(|t| t.slot == used.slot) {
            return Ok(shared.bound.clone());
        }
        let usages = slot_usages(run.plan, used.slot);
        let desc = run.graph.resources()[used.resource as usize].desc;
        let now = self.run;
        let free = |t: &&mut Pooled| t.slot == NO_INDEX && t.desc == desc && covers(t.usages, usages);
        if let Some(transient) = self.transients.iter_mut().find(free) {
            transient.slot = used.slot;
            transient.used = now;
            stats.transients_reused += 1;
            return Ok(transient.bound.clone());
        }
        let bound = create(device, run.graph.resource_label(used.resource as usize), &desc, usages)?;
        stats.transients_created += 1;
        self.transients.push(Pooled {
            bound: bound.clone(),
            desc,
            usages,
            last: Scope::NONE,
            slot: used.slot,
            used: now,
            fresh: true,
        });
        Ok(bound)
    }

    /// An extracted transient is the caller's from now on: a new object each run.
    pub(super) fn extracted(
        &mut self,
        device: &Device,
        run: &Run<'_>,
        used: &PlanResource,
        stats: &mut RunStats,
    ) -> Result<Bound> {
        stats.transients_created += 1;
        let index = used.resource as usize;
        create(device, run.graph.resource_label(index), &run.graph.resources()[index].desc, used.usages)
    }

    pub(super) fn persistent(
        &mut self,
        device: &Device,
        run: &Run<'_>,
        used: &PlanResource,
        stats: &mut RunStats,
    ) -> Result<Bound> {
        let index = used.resource as usize;
        let label = run.graph.resource_label(index);
        if let Some(bound) = self.persistent.get(label) {
            return Ok(bound.clone());
        }
        stats.transients_created += 1;
        let bound = create(device, label, &run.graph.resources()[index].desc, used.usages)?;
        self.persistent.insert(label.to_owned(), bound.clone());
        Ok(bound)
    }

    pub(super) fn reused_buffer_scope(&self) -> Scope {
        let reused = self.transients.iter().filter(|t| t.slot != NO_INDEX && !t.fresh && !t.desc.is_texture());
        reused.fold(Scope::NONE, |sum, t| union(sum, t.last))
    }

    pub(super) fn last_scope(&self, bound: Option<&Bound>) -> Scope {
        let Some(Bound::Texture(texture)) = bound else { return Scope::NONE };
        let same = |t: &&Pooled| matches!(&t.bound, Bound::Texture(other) if other.id() == texture.id());
        self.transients.iter().find(same).filter(|t| !t.fresh).map_or(Scope::NONE, |t| t.last)
    }

    /// Remembers what this run did with each transient.
    pub(super) fn end(&mut self, plan: &Plan, graph: &Graph) {
        for transient in &mut self.transients {
            if transient.slot != NO_INDEX {
                transient.last = slot_scope(plan, graph, transient.slot);
            }
        }
    }
}

fn union(a: Scope, b: Scope) -> Scope {
    Scope { stages: a.stages | b.stages, access: a.access | b.access }
}

fn covers(have: AccessKinds, need: AccessKinds) -> bool {
    need.iter().all(|kind| have.contains(kind))
}

fn slot_usages(plan: &Plan, slot: u32) -> AccessKinds {
    let mut all = AccessKinds::default();
    for used in plan.resources.iter().filter(|r| r.slot == slot) {
        used.usages.iter().for_each(|kind| all.insert(kind));
    }
    all
}

fn slot_scope(plan: &Plan, graph: &Graph, slot: u32) -> Scope {
    let in_slot = |resource: usize| plan.resources.iter().any(|r| r.slot == slot && r.resource as usize == resource);
    let mut scope = Scope::NONE;
    for pass in &plan.passes {
        let kind = graph.passes()[pass.pass as usize].kind;
        for access in graph.accesses(pass.pass as usize).iter().filter(|a| in_slot(a.resource_index())) {
            let stages = if access.stages.is_empty() { access.kind.default_stages(kind) } else { access.stages };
            scope = union(scope, Scope { stages, access: access.kind.accesses() });
        }
    }
    scope
}

fn create(device: &Device, label: &str, desc: &ResourceDesc, usages: AccessKinds) -> Result<Bound> {
    match desc {
        ResourceDesc::Texture(t) => {
            let dimension = match t.dimension {
                TextureDimension::D1 => rhizo_rhi::TextureDimension::D1,
                TextureDimension::D2 => rhizo_rhi::TextureDimension::D2,
                TextureDimension::D3 => rhizo_rhi::TextureDimension::D3,
                TextureDimension::Cube => rhizo_rhi::TextureDimension::Cube,
            };
            let desc = TextureDesc {
                label,
                dimension,
                format: t.format,
                extent: t.extent(),
                mips: t.mips,
                samples: t.samples,
                usage: texture_usage(usages),
                ..TextureDesc::default()
            };
            Ok(Bound::Texture(device.create_texture(&desc)?))
        }
        ResourceDesc::Buffer(b) => {
            let desc = BufferDesc {
                label,
                size_bytes: b.size,
                usage: buffer_usage(usages),
                storage: StorageMode::DeviceLocal,
            };
            Ok(Bound::Buffer(device.create_buffer(&desc)?))
        }
    }
}

/// The usages a texture is created with for these accesses.
pub(super) fn texture_usage(kinds: AccessKinds) -> TextureUsage {
    use AccessKind as K;
    kinds.iter().fold(TextureUsage::empty(), |usage, kind| {
        usage
            | match kind {
                K::SampledRead => TextureUsage::SHADER_READ,
                K::StorageRead | K::StorageWrite | K::StorageReadWrite => TextureUsage::SHADER_WRITE,
                K::ColorAttachmentWrite | K::ColorAttachmentReadWrite => TextureUsage::COLOR_TARGET,
                K::DepthStencilRead | K::DepthStencilWrite => TextureUsage::DEPTH_STENCIL_TARGET,
                K::CopyRead | K::ResolveRead => TextureUsage::COPY_SOURCE,
                K::CopyWrite | K::ClearWrite => TextureUsage::COPY_DESTINATION,
                K::ResolveWrite => TextureUsage::COPY_DESTINATION | TextureUsage::COLOR_TARGET,
                _ => TextureUsage::empty(),
            }
    })
}

fn buffer_usage(kinds: AccessKinds) -> BufferUsage {
    use AccessKind as K;
    kinds.iter().fold(BufferUsage::empty(), |usage, kind| {
        usage
            | match kind {
                K::IndirectRead => BufferUsage::INDIRECT,
                K::IndexRead => BufferUsage::INDEX,
                K::VertexRead => BufferUsage::VERTEX,
                K::UniformRead => BufferUsage::CONSTANT,
                K::StorageRead | K::SampledRead => BufferUsage::SHADER_READ,
                K::StorageWrite | K::StorageReadWrite => BufferUsage::SHADER_WRITE | BufferUsage::SHADER_READ,
                K::CopyRead => BufferUsage::COPY_SOURCE,
                K::CopyWrite | K::ClearWrite => BufferUsage::COPY_DESTINATION,
                _ => BufferUsage::empty(),
            }
    })
}

type ViewKey = (ObjectId, TextureRange);

/// Attachment views by texture and range. A view keeps its texture alive, so unused ones go after a few runs.
#[derive(Default)]
pub(super) struct ViewCache {
    colors: HashMap<ViewKey, (ColorTargetView, u64)>,
    depths: HashMap<ViewKey, (DepthStencilTargetView, u64)>,
    run: u64,
}

impl ViewCache {
    pub(super) fn begin(&mut self) {
        self.run += 1;
        let run = self.run;
        self.colors.retain(|_, (_, used)| *used + KEEP_RUNS >= run);
        self.depths.retain(|_, (_, used)| *used + KEEP_RUNS >= run);
    }

    pub(super) fn color(&mut self, texture: &Texture, range: TextureRange) -> Result<ColorTargetView> {
        let key = (texture.id(), range);
        if let Some((view, used)) = self.colors.get_mut(&key) {
            *used = self.run;
            return Ok(view.clone());
        }
        let view = texture.color_target_view(range)?;
        self.colors.insert(key, (view.clone(), self.run));
        Ok(view)
    }

    pub(super) fn depth(&mut self, texture: &Texture, range: TextureRange) -> Result<DepthStencilTargetView> {
        let key = (texture.id(), range);
        if let Some((view, used)) = self.depths.get_mut(&key) {
            *used = self.run;
            return Ok(view.clone());
        }
        let view = texture.depth_stencil_target_view(range)?;
        self.depths.insert(key, (view.clone(), self.run));
        Ok(view)
    }
}
