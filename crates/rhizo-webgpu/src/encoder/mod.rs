//! Recording into a `wgpu::CommandEncoder`.

mod copy;
mod raster;

use crate::device::{Shared, lock};
use crate::memory;
use raster::Raster;
use rhizo_rhi::backend::{
    BindPoint, BufferBarrierRef, BufferRef, GlobalBarrierRef, LayoutRef, ObjectRef, RasterPassRef, RecorderBackend,
    SliceRef, TextureBarrierRef, TextureRef, TimestampRef,
};
use rhizo_rhi::{
    BlitFilter, BufferCopy, BufferRange, BufferTextureCopy, Error, ErrorKind, IndexFormat, Layout, Result, TextureBlit,
    TextureCopy, TextureRange, Viewport,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Why there are no queries.
pub(crate) const NO_QUERIES: &str = "queries are not lowered to WebGPU yet";

/// The open pass, freed of its borrow of the encoder; the contract's passes keep the order.
#[allow(clippy::large_enum_variant, reason = "one per recorder; a box would be an allocation per pass")]
enum Pass {
    None,
    Raster(Raster),
    Compute(wgpu::ComputePass<'static>),
}

/// Records one command buffer at a time.
pub(crate) struct Recorder {
    shared: Arc<Shared>,
    encoder: Option<wgpu::CommandEncoder>,
    pass: Pass,
    label: String,
    /// Word of the last finished command buffer, 0 for none.
    word: u64,
    error: Option<Error>,
}

impl Recorder {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, encoder: None, pass: Pass::None, label: String::new(), word: 0, error: None }
    }

    /// Keeps the first failure; `finish` returns it.
    #[cold]
    fn fail(&mut self, error: Error) {
        if self.error.is_none() {
            self.error = Some(error.on(self.label.as_str()));
        }
    }

    #[cold]
    fn refuse(&mut self, reason: &str) {
        self.fail(Error::new(ErrorKind::Unsupported, reason));
    }

    /// Runs commands outside passes.
    fn encode(&mut self, commands: impl FnOnce(&Shared, &mut wgpu::CommandEncoder) -> Result<()>) {
        let Some(encoder) = &mut self.encoder else { return };
        if let Err(error) = commands(&self.shared, encoder) {
            self.fail(error);
        }
    }

    /// Runs commands of the open raster pass; a pass that failed to open is recorded in `error`.
    fn raster(&mut self, commands: impl FnOnce(&mut Raster) -> Result<()>) {
        if let Pass::Raster(pass) = &mut self.pass
            && let Err(error) = commands(pass)
        {
            self.fail(error);
        }
    }

    fn compute(&mut self, commands: impl FnOnce(&mut wgpu::ComputePass<'static>)) {
        if let Pass::Compute(pass) = &mut self.pass {
            commands(pass);
        }
    }

    /// Drops what was recorded and never submitted.
    fn discard(&mut self) {
        self.pass = Pass::None;
        self.encoder = None;
        self.error = None;
        lock(&self.shared.commands).remove(&self.word);
        self.word = 0;
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.discard();
    }
}

impl RecorderBackend for Recorder {
    fn begin(&mut self, label: &str) -> Result<()> {
        self.discard();
        self.label.clear();
        self.label.push_str(label);
        let desc = wgpu::CommandEncoderDescriptor { label: Some(label) };
        let shared = &self.shared;
        self.encoder = Some(shared.scoped("createCommandEncoder", || shared.device.create_command_encoder(&desc))?);
        Ok(())
    }

    fn finish(&mut self, _host_read: bool) -> Result<u64> {
        self.pass = Pass::None;
        let encoder = self.encoder.take();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let Some(encoder) = encoder else {
            return Err(Error::new(ErrorKind::InvalidState, "nothing was begun").on(self.label.as_str()));
        };
        // WebGPU reports here what it found wrong with any command.
        let commands =
            self.shared.scoped("finish", || encoder.finish()).map_err(|error| error.on(self.label.as_str()))?;
        self.word = self.shared.next_commands.fetch_add(1, Ordering::Relaxed);
        lock(&self.shared.commands).insert(self.word, commands);
        Ok(self.word)
    }

    fn push_group(&mut self, label: &str) {
        self.encode(|_, encoder| {
            encoder.push_debug_group(label);
            Ok(())
        });
    }

    fn pop_group(&mut self) {
        self.encode(|_, encoder| {
            encoder.pop_debug_group();
            Ok(())
        });
    }

    /// Implicit in WebGPU.
    fn barriers(&mut self, _: &[GlobalBarrierRef], _: &[BufferBarrierRef], _: &[TextureBarrierRef]) {}

    fn copy_buffer(&mut self, source: BufferRef, destination: BufferRef, regions: &[BufferCopy]) {
        self.encode(|shared, encoder| copy::buffers(shared, encoder, source, destination, regions));
    }

    fn copy_buffer_to_texture(
        &mut self,
        source: BufferRef,
        destination: TextureRef,
        _layout: Layout,
        regions: &[BufferTextureCopy],
    ) {
        self.encode(|shared, encoder| {
            regions.iter().try_for_each(|r| copy::to_texture(shared, encoder, source, destination, r))
        });
    }

    fn copy_texture_to_buffer(
        &mut self,
        source: TextureRef,
        _layout: Layout,
        destination: BufferRef,
        regions: &[BufferTextureCopy],
    ) {
        self.encode(|shared, encoder| {
            regions.iter().try_for_each(|r| copy::from_texture(shared, encoder, source, destination, r))
        });
    }

    fn copy_texture(
        &mut self,
        source: (TextureRef, Layout),
        destination: (TextureRef, Layout),
        regions: &[TextureCopy],
    ) {
        self.encode(|_, encoder| regions.iter().try_for_each(|r| copy::textures(encoder, source.0, destination.0, r)));
    }

    fn blit(&mut self, _: (TextureRef, Layout), _: (TextureRef, Layout), _: &[TextureBlit], _: BlitFilter) {
        self.refuse("blits are not lowered to WebGPU yet");
    }

    fn fill_buffer(&mut self, buffer: BufferRef, range: BufferRange, value: u32) {
        self.encode(|shared, encoder| copy::fill(shared, encoder, buffer, range, value));
    }

    fn clear_color(&mut self, texture: (TextureRef, Layout), range: TextureRange, value: [f32; 4]) {
        self.encode(|_, encoder| raster::clear(encoder, texture.0, range, value));
    }

    fn resolve(&mut self, source: (TextureRef, Layout), destination: (TextureRef, Layout), regions: &[TextureCopy]) {
        self.encode(|_, encoder| regions.iter().try_for_each(|r| raster::resolve(encoder, source.0, destination.0, r)));
    }

    fn reset_queries(&mut self, _set: ObjectRef, _first: u32, _count: u32) {
        self.refuse(NO_QUERIES);
    }

    fn write_timestamp(&mut self, _set: ObjectRef, _index: u32) {
        self.refuse(NO_QUERIES);
    }

    fn resolve_queries(&mut self, _set: ObjectRef, _first: u32, _count: u32, _destination: BufferRef, _offset: u64) {
        self.refuse(NO_QUERIES);
    }

    fn begin_query(&mut self, _set: ObjectRef, _index: u32) {
        self.refuse(NO_QUERIES);
    }

    fn end_query(&mut self, _set: ObjectRef, _index: u32) {
        self.refuse(NO_QUERIES);
    }

    fn begin_raster(&mut self, pass: &RasterPassRef<'_>) {
        let Some(encoder) = &mut self.encoder else { return };
        match Raster::begin(encoder, pass) {
            Ok(pass) => self.pass = Pass::Raster(pass),
            Err(error) => self.fail(error.in_pass(pass.label)),
        }
    }

    fn end_raster(&mut self) {
        self.pass = Pass::None;
    }

    fn begin_compute(&mut self, label: &str, timestamps: Option<TimestampRef>) {
        if timestamps.is_some() {
            return self.refuse(NO_QUERIES);
        }
        let Some(encoder) = &mut self.encoder else { return };
        let desc = wgpu::ComputePassDescriptor { label: Some(label), timestamp_writes: None };
        self.pass = Pass::Compute(encoder.begin_compute_pass(&desc).forget_lifetime());
    }

    fn end_compute(&mut self) {
        self.pass = Pass::None;
    }

    fn set_pipeline(&mut self, _point: BindPoint, pipeline: ObjectRef) {
        match &mut self.pass {
            Pass::Raster(pass) => pass.set_pipeline(memory::raster_pipeline(&pipeline)),
            Pass::Compute(pass) => pass.set_pipeline(memory::compute_pipeline(&pipeline)),
            Pass::None => {}
        }
    }

    fn set_tables(&mut self, _point: BindPoint, _layout: LayoutRef, first: u32, tables: &[ObjectRef], offsets: &[u32]) {
        let mut rest = offsets;
        for (index, table) in (first..).zip(tables) {
            let table = memory::table(table);
            let (own, others) = rest.split_at(table.dynamic.min(rest.len()));
            rest = others;
            match &mut self.pass {
                Pass::Raster(pass) => pass.raw.set_bind_group(index, &table.raw, own),
                Pass::Compute(pass) => pass.set_bind_group(index, &table.raw, own),
                Pass::None => {}
            }
        }
    }

    fn push_constants(&mut self, _point: BindPoint, _layout: LayoutRef, offset: u32, data: &[u8]) {
        match &mut self.pass {
            Pass::Raster(pass) => pass.raw.set_immediates(offset, data),
            Pass::Compute(pass) => pass.set_immediates(offset, data),
            Pass::None => {}
        }
    }

    fn set_vertex_buffer(&mut self, slot: u32, slice: SliceRef) {
        self.raster(|pass| {
            pass.raw.set_vertex_buffer(slot, memory::slice(&slice));
            Ok(())
        });
    }

    fn set_index_buffer(&mut self, slice: SliceRef, format: IndexFormat) {
        self.raster(|pass| {
            pass.raw.set_index_buffer(memory::slice(&slice), crate::convert::index_format(format));
            Ok(())
        });
    }

    fn set_viewports(&mut self, viewports: &[Viewport]) {
        self.raster(|pass| viewports.iter().try_for_each(|viewport| pass.set_viewport(viewport)));
    }

    fn set_scissors(&mut self, scissors: &[[u32; 4]]) {
        self.raster(|pass| {
            scissors.iter().for_each(|scissor| pass.set_scissor(*scissor));
            Ok(())
        });
    }

    fn set_stencil_reference(&mut self, reference: u8) {
        self.raster(|pass| {
            pass.raw.set_stencil_reference(u32::from(reference));
            Ok(())
        });
    }

    fn set_blend_constants(&mut self, constants: [f32; 4]) {
        self.raster(|pass| {
            pass.raw.set_blend_constant(crate::convert::color(constants));
            Ok(())
        });
    }

    fn draw(&mut self, vertices: u32, instances: u32, first_vertex: u32, first_instance: u32) {
        self.raster(|pass| {
            let (vertices, instances) =
                (raster::span(first_vertex, vertices)?, raster::span(first_instance, instances)?);
            pass.raw.draw(vertices, instances);
            Ok(())
        });
    }

    fn draw_indexed(&mut self, indices: u32, instances: u32, first_index: u32, base_vertex: i32, first_instance: u32) {
        self.raster(|pass| {
            pass.check_indexed()?;
            let (indices, instances) = (raster::span(first_index, indices)?, raster::span(first_instance, instances)?);
            pass.raw.draw_indexed(indices, base_vertex, instances);
            Ok(())
        });
    }

    fn draw_indirect(&mut self, arguments: BufferRef, offset: u64, count: u32, stride: u32) {
        self.raster(|pass| {
            for i in 0..u64::from(count) {
                pass.raw.draw_indirect(&memory::buffer(&arguments).raw, offset + i * u64::from(stride));
            }
            Ok(())
        });
    }

    fn draw_indexed_indirect(&mut self, arguments: BufferRef, offset: u64, count: u32, stride: u32) {
        self.raster(|pass| {
            pass.check_indexed()?;
            for i in 0..u64::from(count) {
                pass.raw.draw_indexed_indirect(&memory::buffer(&arguments).raw, offset + i * u64::from(stride));
            }
            Ok(())
        });
    }

    fn dispatch(&mut self, groups: [u32; 3]) {
        self.compute(|pass| pass.dispatch_workgroups(groups[0], groups[1], groups[2]));
    }

    fn dispatch_indirect(&mut self, arguments: BufferRef, offset: u64) {
        self.compute(|pass| pass.dispatch_workgroups_indirect(&memory::buffer(&arguments).raw, offset));
    }
}
