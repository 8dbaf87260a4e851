//! Recording: each call of the contract is one call of Vulkan, without allocation, lock or log.

mod barrier;
mod pass;
mod transfer;

use crate::convert::{self, Allowed};
use crate::device::Shared;
use crate::memory::check;
use crate::query;
use ash::vk;
use rhizo_rhi::backend::{
    BindPoint, BufferBarrierRef, BufferRef, GlobalBarrierRef, LayoutRef, ObjectRef, RasterPassRef, RecorderBackend,
    SliceRef, TextureBarrierRef, TextureRef, TimestampRef,
};
use rhizo_rhi::{
    BlitFilter, BufferCopy, BufferRange, BufferTextureCopy, IndexFormat, Layout, MAX_TABLES, Result, TextureBlit,
    TextureCopy, TextureRange, Viewport,
};
use std::ffi::CStr;
use std::sync::Arc;

/// One command pool with one command buffer.
pub(crate) struct Recorder {
    device: Arc<Shared>,
    /// The two hottest entry points, one load nearer than the device's table of them.
    hot: Hot,
    commands: vk::CommandBuffer,
    pool: vk::CommandPool,
    queue: u32,
    allowed: Allowed,
    multi_draw: bool,
    /// Written when the open pass has ended.
    end_timestamp: Option<(vk::QueryPool, u32)>,
    views: pass::Views,
    barriers: barrier::Batch,
    regions: transfer::Regions,
    /// A label as Vulkan reads it.
    text: Vec<u8>,
}

struct Hot {
    draw: vk::PFN_vkCmdDraw,
    push_constants: vk::PFN_vkCmdPushConstants,
}

impl Recorder {
    pub(crate) fn new(device: &Arc<Shared>, queue: u32) -> Result<Self> {
        let state = &device.queues[queue as usize];
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(state.family);
        // SAFETY: the device is alive and has this family.
        let pool = check(unsafe { device.raw.create_command_pool(&info, None) }, "vkCreateCommandPool", "recorder")?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the pool is new and only this thread has it.
        let commands = unsafe { device.raw.allocate_command_buffers(&info) };
        let commands = check(commands, "vkAllocateCommandBuffers", "recorder").inspect_err(|_| {
            // SAFETY: the pool was just made and has no buffer.
            unsafe { device.raw.destroy_command_pool(pool, None) };
        })?[0];
        let table = device.raw.fp_v1_0();
        Ok(Self {
            hot: Hot { draw: table.cmd_draw, push_constants: table.cmd_push_constants },
            commands,
            pool,
            queue,
            allowed: state.allowed,
            multi_draw: device.features.core.multi_draw_indirect == vk::TRUE,
            end_timestamp: None,
            views: pass::Views::default(),
            barriers: barrier::Batch::default(),
            regions: transfer::Regions::default(),
            text: Vec::new(),
            device: device.clone(),
        })
    }

    #[inline]
    fn raw(&self) -> &ash::Device {
        &self.device.raw
    }

    fn push_label(&mut self, label: &str) {
        let Some(debug) = &self.device.debug else { return };
        self.text.clear();
        self.text.extend(label.bytes().filter(|byte| *byte != 0));
        self.text.push(0);
        let name = CStr::from_bytes_with_nul(&self.text).unwrap_or_default();
        let info = vk::DebugUtilsLabelEXT::default().label_name(name);
        // SAFETY: the command buffer is recording.
        unsafe { debug.cmd_begin_debug_utils_label(self.commands, &info) };
    }

    fn pop_label(&mut self) {
        if let Some(debug) = &self.device.debug {
            // SAFETY: the command buffer is recording and a label is open: the front balances them.
            unsafe { debug.cmd_end_debug_utils_label(self.commands) };
        }
    }

    /// Writes a timestamp when everything before it has completed.
    fn timestamp(&mut self, pool: vk::QueryPool, index: u32) {
        let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
        // SAFETY: the command buffer is recording and the slot inside the pool.
        unsafe { self.raw().cmd_write_timestamp2(self.commands, stage, pool, index) };
    }

    fn begin_timestamps(&mut self, timestamps: Option<TimestampRef>) {
        let Some(t) = timestamps else { return };
        let pool = vk::Handle::from_raw(t.set.word);
        if let Some(index) = t.begin {
            self.timestamp(pool, index);
        }
        self.end_timestamp = t.end.map(|index| (pool, index));
    }

    fn end_timestamps(&mut self) {
        if let Some((pool, index)) = self.end_timestamp.take() {
            self.timestamp(pool, index);
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // SAFETY: the front drops recorders when their work has completed; the pool frees its buffer.
        unsafe { self.device.raw.destroy_command_pool(self.pool, None) };
    }
}

#[inline]
fn bind_point(point: BindPoint) -> vk::PipelineBindPoint {
    match point {
        BindPoint::Raster => vk::PipelineBindPoint::GRAPHICS,
        BindPoint::Compute => vk::PipelineBindPoint::COMPUTE,
    }
}

#[inline]
fn buffer_of(buffer: BufferRef) -> vk::Buffer {
    vk::Handle::from_raw(buffer.word)
}

// SAFETY notes of this block: every call is made while the command buffer records (the front's state machine), with live
// objects of this device whose ranges, usages and states the front has checked.
impl RecorderBackend for Recorder {
    fn begin(&mut self, label: &str) -> Result<()> {
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the front begins a recorder again only when its last work has completed.
        unsafe {
            let raw = self.raw();
            let reset = raw.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty());
            check(reset, "vkResetCommandPool", label)?;
            check(raw.begin_command_buffer(self.commands, &info), "vkBeginCommandBuffer", label)?;
        }
        self.end_timestamp = None;
        // The whole command buffer is one group, so that captures show its label; `finish` closes it.
        self.push_label(label);
        Ok(())
    }

    fn finish(&mut self, host_read: bool) -> Result<u64> {
        if host_read {
            let barrier = [vk::MemoryBarrier2::default()
                .src_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
                .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
                .dst_stage_mask(vk::PipelineStageFlags2::HOST)
                .dst_access_mask(vk::AccessFlags2::HOST_READ)];
            let info = vk::DependencyInfo::default().memory_barriers(&barrier);
            // SAFETY: see above.
            unsafe { self.raw().cmd_pipeline_barrier2(self.commands, &info) };
        }
        self.pop_label();
        // SAFETY: see above.
        check(unsafe { self.raw().end_command_buffer(self.commands) }, "vkEndCommandBuffer", "recorder")?;
        Ok(vk::Handle::as_raw(self.commands))
    }

    fn push_group(&mut self, label: &str) {
        self.push_label(label);
    }

    fn pop_group(&mut self) {
        self.pop_label();
    }

    fn barriers(&mut self, global: &[GlobalBarrierRef], buffers: &[BufferBarrierRef], textures: &[TextureBarrierRef]) {
        self.record_barriers(global, buffers, textures);
    }

    fn copy_buffer(&mut self, source: BufferRef, destination: BufferRef, regions: &[BufferCopy]) {
        self.record_copy_buffer(source, destination, regions);
    }

    fn copy_buffer_to_texture(
        &mut self,
        source: BufferRef,
        destination: TextureRef,
        layout: Layout,
        regions: &[BufferTextureCopy],
    ) {
        self.record_buffer_to_texture(source, destination, layout, regions);
    }

    fn copy_texture_to_buffer(
        &mut self,
        source: TextureRef,
        layout: Layout,
        destination: BufferRef,
        regions: &[BufferTextureCopy],
    ) {
        self.record_texture_to_buffer(source, layout, destination, regions);
    }

    fn copy_texture(
        &mut self,
        source: (TextureRef, Layout),
        destination: (TextureRef, Layout),
        regions: &[TextureCopy],
    ) {
        self.record_copy_texture(source, destination, regions);
    }

    fn blit(
        &mut self,
        source: (TextureRef, Layout),
        destination: (TextureRef, Layout),
        regions: &[TextureBlit],
        filter: BlitFilter,
    ) {
        self.record_blit(source, destination, regions, filter);
    }

    fn fill_buffer(&mut self, buffer: BufferRef, range: BufferRange, value: u32) {
        // SAFETY: see above.
        unsafe { self.raw().cmd_fill_buffer(self.commands, buffer_of(buffer), range.offset, range.size, value) };
    }

    fn clear_color(&mut self, texture: (TextureRef, Layout), range: TextureRange, value: [f32; 4]) {
        self.record_clear(texture, range, value);
    }

    fn resolve(&mut self, source: (TextureRef, Layout), destination: (TextureRef, Layout), regions: &[TextureCopy]) {
        self.record_resolve(source, destination, regions);
    }

    fn reset_queries(&mut self, set: ObjectRef, first: u32, count: u32) {
        // SAFETY: see above.
        unsafe { self.raw().cmd_reset_query_pool(self.commands, vk::Handle::from_raw(set.word), first, count) };
    }

    fn write_timestamp(&mut self, set: ObjectRef, index: u32) {
        self.timestamp(vk::Handle::from_raw(set.word), index);
    }

    fn resolve_queries(&mut self, set: ObjectRef, first: u32, count: u32, destination: BufferRef, offset: u64) {
        let pool = vk::Handle::from_raw(set.word);
        let stride = u64::from(query::words(set)) * 8;
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        let to = buffer_of(destination);
        // SAFETY: see above.
        unsafe {
            self.raw().cmd_copy_query_pool_results(self.commands, pool, first, count, to, offset, stride, flags);
        }
    }

    fn begin_query(&mut self, set: ObjectRef, index: u32) {
        let pool = vk::Handle::from_raw(set.word);
        // SAFETY: see above.
        unsafe { self.raw().cmd_begin_query(self.commands, pool, index, query::control(set)) };
    }

    fn end_query(&mut self, set: ObjectRef, index: u32) {
        // SAFETY: see above.
        unsafe { self.raw().cmd_end_query(self.commands, vk::Handle::from_raw(set.word), index) };
    }

    fn begin_raster(&mut self, pass: &RasterPassRef<'_>) {
        self.push_label(pass.label);
        self.begin_timestamps(pass.timestamps);
        self.record_begin_raster(pass);
    }

    fn end_raster(&mut self) {
        // SAFETY: see above.
        unsafe { self.raw().cmd_end_rendering(self.commands) };
        self.end_timestamps();
        self.pop_label();
    }

    fn begin_compute(&mut self, label: &str, timestamps: Option<TimestampRef>) {
        self.push_label(label);
        self.begin_timestamps(timestamps);
    }

    fn end_compute(&mut self) {
        self.end_timestamps();
        self.pop_label();
    }

    #[inline]
    fn set_pipeline(&mut self, point: BindPoint, pipeline: ObjectRef) {
        let pipeline = vk::Handle::from_raw(pipeline.word);
        // SAFETY: see above.
        unsafe { self.raw().cmd_bind_pipeline(self.commands, bind_point(point), pipeline) };
    }

    #[inline]
    fn set_tables(&mut self, point: BindPoint, layout: LayoutRef, first: u32, tables: &[ObjectRef], offsets: &[u32]) {
        let mut sets = [vk::DescriptorSet::null(); MAX_TABLES];
        for (set, table) in sets.iter_mut().zip(tables) {
            *set = vk::Handle::from_raw(table.word);
        }
        let (layout, sets) = (vk::Handle::from_raw(layout.word), &sets[..tables.len().min(MAX_TABLES)]);
        // SAFETY: see above.
        unsafe {
            self.raw().cmd_bind_descriptor_sets(self.commands, bind_point(point), layout, first, sets, offsets);
        }
    }

    #[inline]
    fn push_constants(&mut self, _point: BindPoint, layout: LayoutRef, offset: u32, data: &[u8]) {
        let stages = vk::ShaderStageFlags::from_raw(layout.aux as u32); // as `create_pipeline_layout` stored them
        let layout = vk::Handle::from_raw(layout.word);
        // SAFETY: see above.
        unsafe {
            (self.hot.push_constants)(self.commands, layout, stages, offset, data.len() as u32, data.as_ptr().cast());
        }
    }

    #[inline]
    fn set_vertex_buffer(&mut self, slot: u32, slice: SliceRef) {
        let (buffers, offsets, sizes) = ([buffer_of(slice.buffer)], [slice.offset], [slice.size]);
        // The size makes bounds checks end where the view ends; the stride stays the pipeline's.
        // SAFETY: see above.
        unsafe {
            self.raw().cmd_bind_vertex_buffers2(self.commands, slot, &buffers, &offsets, Some(&sizes), None);
        }
    }

    #[inline]
    fn set_index_buffer(&mut self, slice: SliceRef, format: IndexFormat) {
        let (buffer, kind) = (buffer_of(slice.buffer), convert::index_format(format));
        // SAFETY: see above.
        unsafe { self.raw().cmd_bind_index_buffer(self.commands, buffer, slice.offset, kind) };
    }

    fn set_viewports(&mut self, viewports: &[Viewport]) {
        self.record_viewports(viewports);
    }

    fn set_scissors(&mut self, scissors: &[[u32; 4]]) {
        self.record_scissors(scissors);
    }

    fn set_stencil_reference(&mut self, reference: u8) {
        let faces = vk::StencilFaceFlags::FRONT_AND_BACK;
        // SAFETY: see above.
        unsafe { self.raw().cmd_set_stencil_reference(self.commands, faces, u32::from(reference)) };
    }

    fn set_blend_constants(&mut self, constants: [f32; 4]) {
        // SAFETY: see above.
        unsafe { self.raw().cmd_set_blend_constants(self.commands, &constants) };
    }

    #[inline]
    fn draw(&mut self, vertices: u32, instances: u32, first_vertex: u32, first_instance: u32) {
        // SAFETY: see above.
        unsafe { (self.hot.draw)(self.commands, vertices, instances, first_vertex, first_instance) };
    }

    #[inline]
    fn draw_indexed(&mut self, indices: u32, instances: u32, first_index: u32, base_vertex: i32, first_instance: u32) {
        // SAFETY: see above.
        unsafe {
            self.raw().cmd_draw_indexed(self.commands, indices, instances, first_index, base_vertex, first_instance);
        }
    }

    fn draw_indirect(&mut self, arguments: BufferRef, offset: u64, count: u32, stride: u32) {
        let buffer = buffer_of(arguments);
        for (offset, count) in draws(self.multi_draw, offset, count, stride) {
            // SAFETY: see above.
            unsafe { self.raw().cmd_draw_indirect(self.commands, buffer, offset, count, stride) };
        }
    }

    fn draw_indexed_indirect(&mut self, arguments: BufferRef, offset: u64, count: u32, stride: u32) {
        let buffer = buffer_of(arguments);
        for (offset, count) in draws(self.multi_draw, offset, count, stride) {
            // SAFETY: see above.
            unsafe { self.raw().cmd_draw_indexed_indirect(self.commands, buffer, offset, count, stride) };
        }
    }

    fn dispatch(&mut self, groups: [u32; 3]) {
        let [x, y, z] = groups;
        // SAFETY: see above.
        unsafe { self.raw().cmd_dispatch(self.commands, x, y, z) };
    }

    fn dispatch_indirect(&mut self, arguments: BufferRef, offset: u64) {
        // SAFETY: see above.
        unsafe { self.raw().cmd_dispatch_indirect(self.commands, buffer_of(arguments), offset) };
    }
}

/// One call for all commands, or without `multiDrawIndirect` one for each (lowered: same draws in the same order).
fn draws(multi: bool, offset: u64, count: u32, stride: u32) -> impl Iterator<Item = (u64, u32)> {
    let (calls, per_call) = if multi { (u32::from(count > 0), count) } else { (count, 1) };
    (0..calls).map(move |i| (offset + u64::from(i) * u64::from(stride), per_call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indirect_draws_are_split_only_without_the_feature() {
        assert_eq!(draws(true, 16, 3, 20).collect::<Vec<_>>(), [(16, 3)]);
        assert_eq!(draws(false, 16, 3, 20).collect::<Vec<_>>(), [(16, 1), (36, 1), (56, 1)]);
        assert_eq!(draws(true, 16, 0, 20).count(), 0);
    }
}
