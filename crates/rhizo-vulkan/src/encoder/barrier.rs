//! Barriers: one `vkCmdPipelineBarrier2` per batch.

use super::{Recorder, buffer_of};
use crate::convert::{self, Allowed};
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
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sides {
    before: (vk::PipelineStageFlags2, vk::AccessFlags2),
    after: (vk::PipelineStageFlags2, vk::AccessFlags2),
    families: (u32, u32),
}

/// The families of a hand-over, and on which side of it a barrier is recorded.
#[derive(Clone, Copy)]
struct Transfer {
    from: u32,
    to: u32,
    release: bool,
}

/// The native sides, or `None` when nothing is to be recorded here.
///
/// A hand-over is recorded once on each queue. Between different families Vulkan wants just that: a release, whose later
/// side counts for nothing, and an acquire, whose earlier side is the semaphore wait. Within one family the releasing side
/// makes the whole barrier and the acquiring side none, as a second transition would start from the wrong layout.
fn sides(before: Scope, after: Scope, transfer: Option<Transfer>, allowed: Allowed) -> Option<Sides> {
    let (before, after) = (convert::scope(before, allowed), convert::scope(after, allowed));
    let whole = Sides { before, after, families: (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_IGNORED) };
    let Some(Transfer { from, to, release }) = transfer else { return Some(whole) };
    if from == to {
        return release.then_some(whole);
    }
    let nothing = (vk::PipelineStageFlags2::NONE, vk::AccessFlags2::NONE);
    // Whichever stages the submission's semaphore wait names, the acquire comes after them.
    let waited = (vk::PipelineStageFlags2::ALL_COMMANDS, vk::AccessFlags2::NONE);
    let families = (from, to);
    Some(if release {
        Sides { after: nothing, families, ..whole }
    } else {
        Sides { before: waited, families, ..whole }
    })
}

impl Recorder {
    fn sides(&self, before: Scope, after: Scope, queues: Option<HandOver>) -> Option<Sides> {
        let family = |queue: u32| self.device.queues[queue as usize].family;
        let transfer = queues.map(|HandOver { source, destination }| Transfer {
            from: family(source),
            to: family(destination),
            release: self.queue == source,
        });
        sides(before, after, transfer, self.allowed)
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

#[cfg(test)]
mod tests {
    use super::*;
    use rhizo_rhi::{Access, Stages};
    use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

    const BEFORE: Scope = Scope::new(Stages::TRANSFER, Access::TRANSFER_WRITE);
    const AFTER: Scope = Scope::new(Stages::FRAGMENT, Access::SHADER_READ);

    fn of(from: u32, to: u32, release: bool, flags: vk::QueueFlags) -> Option<Sides> {
        sides(BEFORE, AFTER, Some(Transfer { from, to, release }), Allowed::of_family(flags))
    }

    #[test]
    fn families_release_and_acquire() {
        // The copy engine knows no fragment stage: its half names none.
        let release =
            Sides { before: (S::ALL_TRANSFER, A::TRANSFER_WRITE), after: (S::NONE, A::NONE), families: (2, 0) };
        assert_eq!(of(2, 0, true, vk::QueueFlags::TRANSFER), Some(release));
        let acquire =
            Sides { before: (S::ALL_COMMANDS, A::NONE), after: (S::FRAGMENT_SHADER, A::SHADER_READ), families: (2, 0) };
        assert_eq!(of(2, 0, false, vk::QueueFlags::GRAPHICS), Some(acquire));
    }

    #[test]
    fn one_family_makes_one_whole_barrier() {
        let ignored = (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_IGNORED);
        let whole = Sides {
            before: (S::ALL_TRANSFER, A::TRANSFER_WRITE),
            after: (S::FRAGMENT_SHADER, A::SHADER_READ),
            families: ignored,
        };
        assert_eq!(of(0, 0, true, vk::QueueFlags::GRAPHICS), Some(whole));
        assert_eq!(of(0, 0, false, vk::QueueFlags::GRAPHICS), None);
        assert_eq!(sides(BEFORE, AFTER, None, Allowed::of_family(vk::QueueFlags::GRAPHICS)), Some(whole));
    }
}
