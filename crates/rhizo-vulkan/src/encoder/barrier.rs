//! Barriers: one `vkCmdPipelineBarrier2` per batch.

use super::{Recorder, buffer_of};
use crate::convert;
use ash::vk;
use rhizo_rhi::backend::{BufferBarrierRef, GlobalBarrierRef, TextureBarrierRef};
use rhizo_rhi::{HandOver, Scope};

/// Native barriers of the batch being recorded; the memory is kept for the next.
#[derive(Default)]
pub(super) struct Batch {
    global: Vec<vk::MemoryBarrier2<'static>>,
    buffers: Vec<vk::BufferMemoryBarrier2<'static>>,
    textures: Vec<vk::ImageMemoryBarrier2<'static>>,
}

/// Both sides of one barrier, native.
struct Sides {
    before: (vk::PipelineStageFlags2, vk::AccessFlags2),
    after: (vk::PipelineStageFlags2, vk::AccessFlags2),
    families: (u32, u32),
}

impl Recorder {
    /// The native sides, or `None` when nothing is to be recorded here.
    ///
    /// A hand-over is recorded once on each queue. Between different families Vulkan wants just that: a release, whose
    /// later side counts for nothing, and an acquire, whose earlier side is the semaphore wait. Within one family the
    /// releasing side makes the whole barrier and the acquiring side none, as a second transition would start from the
    /// wrong layout.
    fn sides(&self, before: Scope, after: Scope, queues: Option<HandOver>) -> Option<Sides> {
        let whole = |families| {
            let (before, after) = (convert::scope(before, self.allowed), convert::scope(after, self.allowed));
            Some(Sides { before, after, families })
        };
        let ignored = (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_IGNORED);
        let Some(HandOver { source, destination }) = queues else { return whole(ignored) };
        let family = |queue: u32| self.device.queues[queue as usize].family;
        let families = (family(source), family(destination));
        let release = self.queue == source;
        if families.0 == families.1 {
            return if release { whole(ignored) } else { None };
        }
        let mut sides = whole(families)?;
        if release {
            sides.after = (vk::PipelineStageFlags2::NONE, vk::AccessFlags2::NONE);
        } else {
            // Whichever stages the submission's semaphore wait names, the acquire comes after them.
            sides.before = (vk::PipelineStageFlags2::ALL_COMMANDS, vk::AccessFlags2::NONE);
        }
        Some(sides)
    }

    pub(super) fn record_barriers(
        &mut self,
        global: &[GlobalBarrierRef],
        buffers: &[BufferBarrierRef],
        textures: &[TextureBarrierRef],
    ) {
        let mut batch = std::mem::take(&mut self.barriers);
        batch.global.clear();
        batch.buffers.clear();
        batch.textures.clear();
        batch.global.extend(global.iter().filter_map(|b| self.global(b)));
        batch.buffers.extend(buffers.iter().filter_map(|b| self.buffer(b)));
        batch.textures.extend(textures.iter().filter_map(|b| self.texture(b)));
        if !(batch.global.is_empty() && batch.buffers.is_empty() && batch.textures.is_empty()) {
            let info = vk::DependencyInfo::default()
                .memory_barriers(&batch.global)
                .buffer_memory_barriers(&batch.buffers)
                .image_memory_barriers(&batch.textures);
            // SAFETY: the command buffer is recording outside a raster pass; the objects are alive, ranges inside them.
            unsafe { self.raw().cmd_pipeline_barrier2(self.commands, &info) };
        }
        self.barriers = batch;
    }

    fn global(&self, barrier: &GlobalBarrierRef) -> Option<vk::MemoryBarrier2<'static>> {
        let sides = self.sides(barrier.before, barrier.after, None)?;
        Some(
            vk::MemoryBarrier2::default()
                .src_stage_mask(sides.before.0)
                .src_access_mask(sides.before.1)
                .dst_stage_mask(sides.after.0)
                .dst_access_mask(sides.after.1),
        )
    }

    fn buffer(&self, barrier: &BufferBarrierRef) -> Option<vk::BufferMemoryBarrier2<'static>> {
        let sides = self.sides(barrier.before, barrier.after, barrier.queues)?;
        Some(
            vk::BufferMemoryBarrier2::default()
                .buffer(buffer_of(barrier.buffer))
                .offset(barrier.range.offset)
                .size(barrier.range.size)
                .src_stage_mask(sides.before.0)
                .src_access_mask(sides.before.1)
                .dst_stage_mask(sides.after.0)
                .dst_access_mask(sides.after.1)
                .src_queue_family_index(sides.families.0)
                .dst_queue_family_index(sides.families.1),
        )
    }

    fn texture(&self, barrier: &TextureBarrierRef) -> Option<vk::ImageMemoryBarrier2<'static>> {
        let sides = self.sides(barrier.before, barrier.after, barrier.queues)?;
        let layout = |layout| convert::layout(layout, barrier.texture.format, barrier.range.aspects);
        Some(
            vk::ImageMemoryBarrier2::default()
                .image(vk::Handle::from_raw(barrier.texture.word))
                .subresource_range(super::transfer::range(barrier.range))
                .old_layout(layout(barrier.before_layout))
                .new_layout(layout(barrier.after_layout))
                .src_stage_mask(sides.before.0)
                .src_access_mask(sides.before.1)
                .dst_stage_mask(sides.after.0)
                .dst_access_mask(sides.after.1)
                .src_queue_family_index(sides.families.0)
                .dst_queue_family_index(sides.families.1),
        )
    }
}
