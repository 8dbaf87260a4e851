//! Recording into data.

use super::command::{Label, NullCommand as C};
use super::state::{Phase, Recording, Shared};
use crate::backend::{
    BindPoint, BufferBarrierRef, BufferRef, GlobalBarrierRef, LayoutRef, ObjectRef, RasterPassRef, RecorderBackend,
    SliceRef, TextureBarrierRef, TextureRef, TimestampRef,
};
use crate::error::Result;
use crate::handle::lock;
use crate::null::Op;
use crate::pass::{IndexFormat, Viewport};
use crate::transfer::{BlitFilter, BufferCopy, BufferTextureCopy, TextureBlit, TextureCopy};
use crate::vocab::{BufferRange, Layout, TextureRange};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex};

/// Bits of a submission word that hold the slot of its recording; the rest count how often it was recorded.
pub(super) const SLOT_BITS: u32 = 20;

/// Records one command buffer at a time.
pub(super) struct NullRecorder {
    pub(super) shared: Arc<Shared>,
    pub(super) recording: Arc<Mutex<Recording>>,
    pub(super) slot: usize,
}

impl NullRecorder {
    /// Adds a command that names these objects.
    fn add(&self, command: C, uses: &[u64]) {
        let mut recording = lock(&self.recording);
        if recording.phase != Phase::Recording {
            let detail = format!("\"{}\": {command} outside a recording", recording.label);
            self.shared.violation(detail);
        }
        recording.uses.extend(uses);
        recording.commands.push(command);
    }
}

impl Drop for NullRecorder {
    fn drop(&mut self) {
        let mut recording = lock(&self.recording);
        if let Phase::Pending { queue, index } = recording.phase
            && !self.shared.forgives()
        {
            let detail = format!("recorder of \"{}\" destroyed while pending on queue {queue}", recording.label);
            self.shared.violation(format!("{detail} as {index}"));
        }
        recording.phase = Phase::Gone;
        recording.commands = Vec::new();
        recording.uses.clear();
    }
}

impl RecorderBackend for NullRecorder {
    fn begin(&mut self, label: &str) -> Result<()> {
        self.shared.fault(Op::BeginRecording)?;
        let mut recording = lock(&self.recording);
        if let Phase::Pending { queue, index } = recording.phase {
            let detail = format!("\"{}\" recorded again while pending on queue {queue} as {index}", recording.label);
            self.shared.violation(detail);
        }
        recording.phase = Phase::Recording;
        recording.broken = None;
        recording.serial += 1;
        recording.commands.clear();
        recording.uses.clear();
        recording.label.clear();
        recording.label.push_str(label);
        Ok(())
    }

    fn finish(&mut self, host_read: bool) -> Result<u64> {
        if host_read {
            self.add(C::HostRead, &[]);
        }
        let mut recording = lock(&self.recording);
        recording.phase = Phase::Executable;
        let word = recording.serial << SLOT_BITS | self.slot as u64;
        drop(recording);
        self.shared.fault(Op::FinishRecording)?;
        Ok(word)
    }

    fn push_group(&mut self, label: &str) {
        self.add(C::PushGroup(Label::new(label)), &[]);
    }

    fn pop_group(&mut self) {
        self.add(C::PopGroup, &[]);
    }

    fn barriers(&mut self, global: &[GlobalBarrierRef], buffers: &[BufferBarrierRef], textures: &[TextureBarrierRef]) {
        let mut uses: SmallVec<[u64; 16]> = buffers.iter().map(|b| b.buffer.word).collect();
        uses.extend(textures.iter().map(|t| t.texture.word));
        let (global, buffers, textures) =
            (SmallVec::from_slice(global), SmallVec::from_slice(buffers), SmallVec::from_slice(textures));
        self.add(C::Barriers { global, buffers, textures }, &uses);
    }

    fn copy_buffer(&mut self, source: BufferRef, destination: BufferRef, regions: &[BufferCopy]) {
        let uses = [source.word, destination.word];
        self.add(C::CopyBuffer { source, destination, regions: SmallVec::from_slice(regions) }, &uses);
    }

    fn copy_buffer_to_texture(
        &mut self,
        source: BufferRef,
        destination: TextureRef,
        layout: Layout,
        regions: &[BufferTextureCopy],
    ) {
        let uses = [source.word, destination.word];
        let destination = (destination, layout);
        self.add(C::CopyBufferToTexture { source, destination, regions: SmallVec::from_slice(regions) }, &uses);
    }

    fn copy_texture_to_buffer(
        &mut self,
        source: TextureRef,
        layout: Layout,
        destination: BufferRef,
        regions: &[BufferTextureCopy],
    ) {
        let uses = [source.word, destination.word];
        let source = (source, layout);
        self.add(C::CopyTextureToBuffer { source, destination, regions: SmallVec::from_slice(regions) }, &uses);
    }

    fn copy_texture(
        &mut self,
        source: (TextureRef, Layout),
        destination: (TextureRef, Layout),
        regions: &[TextureCopy],
    ) {
        let uses = [source.0.word, destination.0.word];
        self.add(C::CopyTexture { source, destination, regions: SmallVec::from_slice(regions) }, &uses);
    }

    fn blit(
        &mut self,
        source: (TextureRef, Layout),
        destination: (TextureRef, Layout),
        regions: &[TextureBlit],
        filter: BlitFilter,
    ) {
        let uses = [source.0.word, destination.0.word];
        self.add(C::Blit { source, destination, regions: SmallVec::from_slice(regions), filter }, &uses);
    }

    fn fill_buffer(&mut self, buffer: BufferRef, range: BufferRange, value: u32) {
        self.add(C::FillBuffer { buffer, range, value }, &[buffer.word]);
    }

    fn clear_color(&mut self, texture: (TextureRef, Layout), range: TextureRange, value: [f32; 4]) {
        self.add(C::ClearColor { texture, range, value }, &[texture.0.word]);
    }

    fn resolve(&mut self, source: (TextureRef, Layout), destination: (TextureRef, Layout), regions: &[TextureCopy]) {
        let uses = [source.0.word, destination.0.word];
        self.add(C::Resolve { source, destination, regions: SmallVec::from_slice(regions) }, &uses);
    }

    fn reset_queries(&mut self, set: ObjectRef, first: u32, count: u32) {
        self.add(C::ResetQueries { set, first, count }, &[set.word]);
    }

    fn write_timestamp(&mut self, set: ObjectRef, index: u32) {
        self.add(C::WriteTimestamp { set, index }, &[set.word]);
    }

    fn resolve_queries(&mut self, set: ObjectRef, first: u32, count: u32, destination: BufferRef, offset: u64) {
        let uses = [set.word, destination.word];
        self.add(C::ResolveQueries { set, first, count, destination, offset }, &uses);
    }

    fn begin_query(&mut self, set: ObjectRef, index: u32) {
        self.add(C::BeginQuery { set, index }, &[set.word]);
    }

    fn end_query(&mut self, set: ObjectRef, index: u32) {
        self.add(C::EndQuery { set, index }, &[set.word]);
    }

    fn begin_raster(&mut self, pass: &RasterPassRef<'_>) {
        let mut uses: SmallVec<[u64; 16]> = SmallVec::new();
        for color in pass.colors.iter().flatten() {
            uses.push(color.view.word);
            uses.extend(color.resolve.map(|r| r.word));
        }
        uses.extend(pass.depth_stencil.map(|d| d.view.word));
        uses.extend(pass.timestamps.map(|t| t.set.word));
        uses.extend(pass.occlusion.map(|(set, _)| set.word));
        let command = C::BeginRaster {
            label: Label::new(pass.label),
            area: pass.area,
            layers: pass.layers,
            view_mask: pass.view_mask,
            samples: pass.samples,
            colors: SmallVec::from_slice(pass.colors),
            depth_stencil: pass.depth_stencil,
            timestamps: pass.timestamps,
            occlusion: pass.occlusion.map(|(set, _)| set),
        };
        self.add(command, &uses);
    }

    fn end_raster(&mut self) {
        self.add(C::EndRaster, &[]);
    }

    fn begin_compute(&mut self, label: &str, timestamps: Option<TimestampRef>) {
        let uses: SmallVec<[u64; 1]> = timestamps.iter().map(|t| t.set.word).collect();
        self.add(C::BeginCompute { label: Label::new(label), timestamps }, &uses);
    }

    fn end_compute(&mut self) {
        self.add(C::EndCompute, &[]);
    }

    fn set_pipeline(&mut self, point: BindPoint, pipeline: ObjectRef) {
        self.add(C::SetPipeline { point, pipeline }, &[pipeline.word]);
    }

    fn set_tables(&mut self, point: BindPoint, layout: LayoutRef, first: u32, tables: &[ObjectRef], offsets: &[u32]) {
        let mut uses: SmallVec<[u64; 8]> = tables.iter().map(|t| t.word).collect();
        uses.push(layout.word);
        let (tables, offsets) = (SmallVec::from_slice(tables), SmallVec::from_slice(offsets));
        self.add(C::SetTables { point, first, tables, offsets }, &uses);
    }

    fn push_constants(&mut self, point: BindPoint, layout: LayoutRef, offset: u32, data: &[u8]) {
        self.add(C::PushConstants { point, offset, data: SmallVec::from_slice(data) }, &[layout.word]);
    }

    fn set_vertex_buffer(&mut self, slot: u32, slice: SliceRef) {
        self.add(C::SetVertexBuffer { slot, slice }, &[slice.buffer.word]);
    }

    fn set_index_buffer(&mut self, slice: SliceRef, format: IndexFormat) {
        self.add(C::SetIndexBuffer { slice, format }, &[slice.buffer.word]);
    }

    fn set_viewports(&mut self, viewports: &[Viewport]) {
        self.add(C::SetViewports(SmallVec::from_slice(viewports)), &[]);
    }

    fn set_scissors(&mut self, scissors: &[[u32; 4]]) {
        self.add(C::SetScissors(SmallVec::from_slice(scissors)), &[]);
    }

    fn set_stencil_reference(&mut self, reference: u8) {
        self.add(C::SetStencilReference(reference), &[]);
    }

    fn set_blend_constants(&mut self, constants: [f32; 4]) {
        self.add(C::SetBlendConstants(constants), &[]);
    }

    fn draw(&mut self, vertices: u32, instances: u32, first_vertex: u32, first_instance: u32) {
        self.add(C::Draw { vertices, instances, first_vertex, first_instance }, &[]);
    }

    fn draw_indexed(&mut self, indices: u32, instances: u32, first_index: u32, base_vertex: i32, first_instance: u32) {
        self.add(C::DrawIndexed { indices, instances, first_index, base_vertex, first_instance }, &[]);
    }

    fn draw_indirect(&mut self, arguments: BufferRef, offset: u64, count: u32, stride: u32) {
        self.add(C::DrawIndirect { arguments, offset, count, stride, indexed: false }, &[arguments.word]);
    }

    fn draw_indexed_indirect(&mut self, arguments: BufferRef, offset: u64, count: u32, stride: u32) {
        self.add(C::DrawIndirect { arguments, offset, count, stride, indexed: true }, &[arguments.word]);
    }

    fn dispatch(&mut self, groups: [u32; 3]) {
        self.add(C::Dispatch(groups), &[]);
    }

    fn dispatch_indirect(&mut self, arguments: BufferRef, offset: u64) {
        self.add(C::DispatchIndirect { arguments, offset }, &[arguments.word]);
    }
}
