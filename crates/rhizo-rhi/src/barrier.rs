//! Barriers in three grains; before and after are named.

use crate::backend::{BufferBarrierRef, GlobalBarrierRef, HandOver, TextureBarrierRef};
use crate::buffer::Buffer;
use crate::clause;
use crate::error::{Error, Result};
use crate::handle::DeviceShared;
use crate::texture::Texture;
use crate::vocab::{Access, BufferRange, Layout, Scope, Stages, TextureRange};

/// Orders all memory accesses of two scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalBarrier {
    /// Earlier stages and accesses.
    pub before: Scope,
    /// Later stages and accesses.
    pub after: Scope,
}

/// Orders accesses to a buffer range.
#[derive(Clone, Copy, Debug)]
pub struct BufferBarrier<'a> {
    /// Buffer.
    pub buffer: &'a Buffer,
    /// Range.
    pub range: BufferRange,
    /// Earlier stages and accesses.
    pub before: Scope,
    /// Later stages and accesses.
    pub after: Scope,
    /// Hand-over between queues, by index among the device's queues.
    pub queues: Option<HandOver>,
}

/// Orders accesses to sub-resources and changes their layout.
#[derive(Clone, Copy, Debug)]
pub struct TextureBarrier<'a> {
    /// Texture.
    pub texture: &'a Texture,
    /// Sub-resources.
    pub range: TextureRange,
    /// Earlier stages and accesses.
    pub before: Scope,
    /// Layout so far; `Undefined` drops the contents.
    pub before_layout: Layout,
    /// Later stages and accesses.
    pub after: Scope,
    /// Layout from now on.
    pub after_layout: Layout,
    /// Hand-over between queues, by index among the device's queues.
    pub queues: Option<HandOver>,
}

/// One batch: its barriers don't chain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Barriers<'a> {
    /// Global ones.
    pub global: &'a [GlobalBarrier],
    /// Buffer ones.
    pub buffers: &'a [BufferBarrier<'a>],
    /// Texture ones.
    pub textures: &'a [TextureBarrier<'a>],
}

/// The stages that can make an access.
fn stages_of(access: Access) -> Stages {
    match access {
        Access::INDIRECT_COMMAND_READ => Stages::INDIRECT,
        Access::INDEX_READ => Stages::INDEX_INPUT,
        Access::VERTEX_READ => Stages::VERTEX_INPUT,
        Access::CONSTANT_READ | Access::SHADER_WRITE => Stages::ALL_SHADING,
        Access::SHADER_READ => Stages::ALL_SHADING.union(Stages::ACCEL_STRUCT_BUILD),
        Access::RENDER_TARGET_READ | Access::RENDER_TARGET_WRITE | Access::SHADING_RATE_READ => Stages::FRAGMENT,
        Access::DEPTH_STENCIL_READ | Access::DEPTH_STENCIL_WRITE => Stages::FRAGMENT,
        Access::TRANSFER_READ | Access::TRANSFER_WRITE => Stages::TRANSFER,
        Access::RESOLVE_READ | Access::RESOLVE_WRITE => Stages::TRANSFER.union(Stages::FRAGMENT),
        Access::ACCEL_STRUCT_READ => {
            Stages::ALL_SHADING.union(Stages::ACCEL_STRUCT_BUILD).union(Stages::ACCEL_STRUCT_COPY)
        }
        Access::ACCEL_STRUCT_WRITE => Stages::ACCEL_STRUCT_BUILD.union(Stages::ACCEL_STRUCT_COPY),
        _ => Stages::ALL,
    }
}

#[track_caller]
fn check_scope(scope: Scope, side: &str, object: &str) -> Result<()> {
    for access in scope.access.iter() {
        if !scope.stages.intersects(stages_of(access)) {
            let detail = format!("{side}: {access:?} is made by none of {:?}", scope.stages);
            return Err(Error::clause(clause::BARRIER_SCOPE, detail).on(object));
        }
    }
    Ok(())
}

#[track_caller]
fn check_queues(device: &DeviceShared, queues: Option<HandOver>, own: u32, object: &str) -> Result<()> {
    let Some(HandOver { source, destination }) = queues else { return Ok(()) };
    let count = device.queues.len() as u32;
    let named = source < count && destination < count && source != destination;
    if named && (own == source || own == destination) {
        return Ok(());
    }
    let detail = format!("queues {source} to {destination} of {count}, recorded on {own}");
    Err(Error::clause(clause::BARRIER_QUEUES, detail).on(object))
}

impl GlobalBarrier {
    #[track_caller]
    pub(crate) fn check(&self) -> Result<GlobalBarrierRef> {
        check_scope(self.before, "before", "global barrier")?;
        check_scope(self.after, "after", "global barrier")?;
        Ok(GlobalBarrierRef { before: self.before, after: self.after })
    }
}

impl BufferBarrier<'_> {
    #[track_caller]
    pub(crate) fn check(&self, device: &DeviceShared, own: u32) -> Result<BufferBarrierRef> {
        device.check(self.buffer.key, &self.buffer.owned)?;
        let range = self.range.resolve(self.buffer.raw.size).ok_or_else(|| self.buffer.out_of_range(self.range))?;
        check_scope(self.before, "before", self.buffer.label())?;
        check_scope(self.after, "after", self.buffer.label())?;
        check_queues(device, self.queues, own, self.buffer.label())?;
        Ok(BufferBarrierRef {
            buffer: self.buffer.raw,
            range,
            before: self.before,
            after: self.after,
            queues: self.queues,
        })
    }
}

impl TextureBarrier<'_> {
    #[track_caller]
    pub(crate) fn check(&self, device: &DeviceShared, own: u32) -> Result<TextureBarrierRef> {
        device.check(self.texture.key, &self.texture.owned)?;
        let range = self.texture.resolve(self.range)?;
        let label = self.texture.label();
        check_scope(self.before, "before", label)?;
        check_scope(self.after, "after", label)?;
        check_queues(device, self.queues, own, label)?;
        if self.after_layout == Layout::Undefined {
            return Err(Error::clause(clause::BARRIER_LAYOUT, "the layout after is undefined").on(label));
        }
        Ok(TextureBarrierRef {
            texture: self.texture.raw,
            range,
            before: self.before,
            before_layout: self.before_layout,
            after: self.after,
            after_layout: self.after_layout,
            queues: self.queues,
        })
    }
}
