//! Replaying recorded lists on the device's thread, with the state that draws need flushed before each.

use crate::binding::Table;
use crate::buffer;
use crate::convert;
use crate::device::{State, find, shown};
use crate::encoder::{Command, List, PUSH_BYTES, Pass};
use crate::pipeline::{Pipeline, Unit, VertexBuffer};
use crate::texture;
use glow::HasContext;
use rhizo_rhi::backend::SliceRef;
use rhizo_rhi::{
    BufferCopy, BufferRange, BufferTextureCopy, CullMode, Error, ErrorKind, Format, FormatClass, FrontFace,
    GlslPushConstant, IndexFormat, LoadOp, MAX_TABLES, Result, ScalarClass, StencilFace, StoreOp, VertexStep, Viewport,
    WriteMask,
};
use std::rc::Rc;

/// Vertex buffer slots the contract has.
const VERTEX_SLOTS: usize = 32;
/// KHR_debug guarantees a stack of 64 groups, the default one included; deeper ones are not shown.
const MAX_GROUPS: u32 = 63;

/// What is bound while a list is replayed.
pub(crate) struct Replay {
    framebuffer: Option<glow::Framebuffer>,
    /// For reading textures back.
    reader: glow::Framebuffer,
    area: [u32; 4],
    pipeline: Option<Rc<Pipeline>>,
    tables: [Option<Rc<Table>>; MAX_TABLES],
    offsets: [Vec<u32>; MAX_TABLES],
    vertex: [Option<SliceRef>; VERTEX_SLOTS],
    index: Option<(SliceRef, IndexFormat)>,
    push: [u8; PUSH_BYTES],
    stencil_reference: u8,
    /// Enabled attributes, as a mask.
    enabled: u32,
    first_instance: u32,
    groups: u32,
    dirty_tables: bool,
    dirty_push: bool,
    dirty_vertex: bool,
}

impl Replay {
    pub(crate) fn new(gl: &glow::Context) -> Result<Self> {
        let native = |e: String| Error::new(ErrorKind::Native, e);
        // SAFETY: the context is current on this thread; the vertex array stays bound for its life.
        let reader = unsafe {
            let array = gl.create_vertex_array().map_err(native)?;
            gl.bind_vertex_array(Some(array));
            gl.enable(glow::SCISSOR_TEST);
            gl.disable(glow::DITHER); // on by default in GL and in no other API
            gl.pixel_store_i32(glow::UNPACK_ALIGNMENT, 1);
            gl.pixel_store_i32(glow::PACK_ALIGNMENT, 1);
            gl.create_framebuffer().map_err(native)?
        };
        Ok(Self {
            framebuffer: None,
            reader,
            area: [0; 4],
            pipeline: None,
            tables: [const { None }; MAX_TABLES],
            offsets: [const { Vec::new() }; MAX_TABLES],
            vertex: [None; VERTEX_SLOTS],
            index: None,
            push: [0; PUSH_BYTES],
            stencil_reference: 0,
            enabled: 0,
            first_instance: 0,
            groups: 0,
            dirty_tables: false,
            dirty_push: false,
            dirty_vertex: false,
        })
    }

    fn begin_pass(&mut self, area: [u32; 4]) {
        self.area = area;
        self.pipeline = None;
        self.tables = [const { None }; MAX_TABLES];
        self.vertex = [None; VERTEX_SLOTS];
        self.index = None;
        self.stencil_reference = 0;
    }
}

fn missing(what: &str) -> Error {
    Error::new(ErrorKind::InvalidState, format!("a draw without {what}"))
}

/// An offset in GL's signed numbers.
fn signed(offset: u64) -> Result<i32> {
    i32::try_from(offset).map_err(|_| Error::new(ErrorKind::InvalidArgument, format!("offset {offset} is beyond 2^31")))
}

impl State {
    /// Executes a list; stops at the first failure with everything closed.
    pub(crate) fn replay(&mut self, list: &List) -> Result<()> {
        let outcome = list.commands.iter().try_for_each(|command| self.execute(list, command));
        self.close_framebuffer();
        while self.replay.groups > 0 {
            self.pop_group();
        }
        self.replay.begin_pass([0; 4]); // lets go of what the list named
        outcome
    }

    fn execute(&mut self, list: &List, command: &Command) -> Result<()> {
        match command {
            Command::PushGroup(label) => self.push_group(list.text(label)),
            Command::PopGroup => self.pop_group(),
            Command::CopyBuffer { source, destination, region } => self.copy_buffer(*source, *destination, region)?,
            Command::FillBuffer { buffer, range, value } => self.fill_buffer(*buffer, *range, *value)?,
            Command::Upload { source, destination, region } => {
                self.upload(*source, destination.word, destination.format, region)?;
            }
            Command::Download { source, destination, region } => {
                self.download(source.word, source.format, *destination, region)?;
            }
            Command::BeginRaster(pass) => self.begin_raster(list, *pass)?,
            Command::EndRaster(pass) => self.end_raster(&list.passes[*pass as usize]),
            Command::Pipeline(word) => self.set_pipeline(*word)?,
            Command::Tables { first, count, tables, offsets } => {
                self.set_tables(*first, &tables[..*count as usize], list.offsets(offsets))?;
            }
            Command::Push { offset, data } => self.push(*offset, list.bytes(data)),
            Command::VertexBuffer(slot, slice) => {
                self.replay.vertex[*slot as usize] = Some(*slice);
                self.replay.dirty_vertex = true;
            }
            Command::IndexBuffer(slice, format) => self.set_index_buffer(*slice, *format)?,
            Command::Viewport(viewport) => self.viewport(viewport),
            Command::Scissor(scissor) => self.scissor(*scissor),
            Command::StencilReference(reference) => self.stencil_reference(*reference),
            Command::BlendConstants(c) => {
                // SAFETY: the context is current on this thread.
                unsafe { self.context.gl.blend_color(c[0], c[1], c[2], c[3]) };
            }
            Command::Draw { vertices, instances, first_vertex, first_instance } => {
                self.draw(*vertices, *instances, *first_vertex, *first_instance)?;
            }
            Command::DrawIndexed { indices, instances, first_index, base_vertex, first_instance } => {
                self.draw_indexed([*indices, *instances, *first_index], *base_vertex, *first_instance)?;
            }
        }
        Ok(())
    }

    fn push_group(&mut self, label: &str) {
        self.replay.groups += 1;
        if self.debug && self.replay.groups <= MAX_GROUPS {
            // SAFETY: the context is current on this thread and has KHR_debug.
            unsafe { self.context.gl.push_debug_group(glow::DEBUG_SOURCE_APPLICATION, 0, shown(label)) };
        }
    }

    fn pop_group(&mut self) {
        if self.debug && (1..=MAX_GROUPS).contains(&self.replay.groups) {
            // SAFETY: as above; as many were pushed.
            unsafe { self.context.gl.pop_debug_group() };
        }
        self.replay.groups = self.replay.groups.saturating_sub(1);
    }

    fn copy_buffer(&self, source: u64, destination: u64, region: &BufferCopy) -> Result<()> {
        let (source, destination) = (buffer::name(source)?, buffer::name(destination)?);
        let (from, to, size) = (region.source_offset as i32, region.destination_offset as i32, region.size as i32);
        let gl = &self.context.gl;
        // SAFETY: the context is current on this thread; the contract checked ranges, which fit by the limit on buffers.
        unsafe {
            gl.bind_buffer(glow::COPY_READ_BUFFER, Some(source));
            gl.bind_buffer(glow::COPY_WRITE_BUFFER, Some(destination));
            gl.copy_buffer_sub_data(glow::COPY_READ_BUFFER, glow::COPY_WRITE_BUFFER, from, to, size);
        }
        Ok(())
    }

    /// In pieces, so that a large fill takes little memory.
    fn fill_buffer(&self, word: u64, range: BufferRange, value: u32) -> Result<()> {
        const PIECE_BYTES: u64 = 1 << 16;
        let pattern = value.to_ne_bytes().repeat(range.size.min(PIECE_BYTES) as usize / 4);
        for offset in (0..range.size).step_by(PIECE_BYTES as usize) {
            let size = (range.size - offset).min(PIECE_BYTES) as usize;
            buffer::write(self, word, range.offset + offset, &pattern[..size])?;
        }
        Ok(())
    }

    fn upload(&self, source: u64, texture: u64, format: Format, r: &BufferTextureCopy) -> Result<()> {
        let source = buffer::name(source)?;
        let texture = find(&self.textures, texture)?;
        let row_length = r.row_pitch / u32::from(format.info().block_bytes);
        let offset = r.buffer_offset as u32; // fits by the limit on buffers
        let [x, y, _] = r.origin.map(|n| n as i32);
        let (width, height) = (r.extent.x as i32, r.extent.y as i32);
        let gl = &self.context.gl;
        // SAFETY: the context is current on this thread; the contract checked both ranges.
        unsafe {
            gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, Some(source));
            gl.pixel_store_i32(glow::UNPACK_ROW_LENGTH, row_length as i32);
            gl.active_texture(glow::TEXTURE0);
            gl.bind_texture(glow::TEXTURE_2D, texture.name());
            gl.tex_sub_image_2d(
                glow::TEXTURE_2D,
                r.layers.mip as i32,
                x,
                y,
                width,
                height,
                texture.gl.format,
                texture.gl.ty,
                glow::PixelUnpackData::BufferOffset(offset),
            );
            gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, None);
        }
        Ok(())
    }

    fn download(&self, texture: u64, format: Format, destination: u64, r: &BufferTextureCopy) -> Result<()> {
        let destination = buffer::name(destination)?;
        let texture = find(&self.textures, texture)?;
        let row_length = r.row_pitch / u32::from(format.info().block_bytes);
        let offset = r.buffer_offset as u32; // fits by the limit on buffers
        let [x, y, _] = r.origin.map(|n| n as i32);
        let (width, height) = (r.extent.x as i32, r.extent.y as i32);
        let (gl, target, slot) = (&self.context.gl, glow::READ_FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
        let (level, pixels) = (r.layers.mip as i32, glow::PixelPackData::BufferOffset(offset));
        // SAFETY: the context is current on this thread; the contract checked both ranges, and the format was found to
        // be read in its own form.
        unsafe {
            gl.bind_framebuffer(target, Some(self.replay.reader));
            gl.framebuffer_texture_2d(target, slot, glow::TEXTURE_2D, texture.name(), level);
            gl.read_buffer(slot);
            gl.bind_buffer(glow::PIXEL_PACK_BUFFER, Some(destination));
            gl.pixel_store_i32(glow::PACK_ROW_LENGTH, row_length as i32);
            gl.read_pixels(x, y, width, height, texture.gl.format, texture.gl.ty, pixels);
            gl.bind_buffer(glow::PIXEL_PACK_BUFFER, None);
            gl.framebuffer_texture_2d(target, slot, glow::TEXTURE_2D, None, 0);
        }
        Ok(())
    }

    fn begin_raster(&mut self, list: &List, pass: u32) -> Result<()> {
        let pass = &list.passes[pass as usize];
        self.push_group(list.text(&pass.label));
        let gl = &self.context.gl;
        // SAFETY: the context is current on this thread.
        let framebuffer = unsafe { gl.create_framebuffer() }.map_err(|e| Error::new(ErrorKind::Native, e))?;
        self.replay.framebuffer = Some(framebuffer);
        self.replay.begin_pass(pass.area);
        self.attach(framebuffer, pass)?;
        let [x, y, width, height] = pass.area;
        let whole = [x, y, width, height].map(|n| n as f32);
        self.viewport(&Viewport {
            x: whole[0],
            y: whole[1],
            width: whole[2],
            height: whole[3],
            min_depth: 0.0,
            max_depth: 1.0,
        });
        self.scissor(pass.area);
        self.load(pass);
        Ok(())
    }

    fn attach(&self, framebuffer: glow::Framebuffer, pass: &Pass) -> Result<()> {
        let gl = &self.context.gl;
        let mut draw_buffers = Vec::new();
        let colors = pass.colors.iter().zip(0..).map(|(c, slot)| (slot, c.map(|c| (c.view.word, c.format))));
        let depth = pass.depth_stencil.map(|d| (d.view.word, d.format));
        // SAFETY: the context is current on this thread.
        unsafe { gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer)) };
        for (slot, attachment) in colors.chain([(0, depth)]) {
            let Some((word, format)) = attachment else { continue };
            let view = find(&self.views, word)?;
            let point = texture::attachment_point(format, slot);
            if !format.is_depth_stencil() {
                draw_buffers.resize(slot as usize, glow::NONE);
                draw_buffers.push(point);
            }
            // SAFETY: as above; the view's texture is kept alive by the command buffer's epoch.
            unsafe {
                let level = view.base_mip as i32;
                gl.framebuffer_texture_2d(glow::FRAMEBUFFER, point, glow::TEXTURE_2D, view.texture, level);
            }
        }
        // SAFETY: as above; the number of colours is inside the context's limit, by the contract.
        let status = unsafe {
            gl.draw_buffers(&draw_buffers);
            gl.check_framebuffer_status(glow::FRAMEBUFFER)
        };
        if status == glow::FRAMEBUFFER_COMPLETE {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Native, format!("the driver refuses these attachments together ({status:#06x})")))
    }

    /// Clears inside the render area, which the scissor holds; all masks are opened, and set again by the pipeline.
    fn load(&self, pass: &Pass) {
        let gl = &self.context.gl;
        let mut discarded = Vec::new();
        // SAFETY: the context is current on this thread.
        unsafe {
            gl.color_mask(true, true, true, true);
            gl.depth_mask(true);
            gl.stencil_mask(0xff);
        }
        for (slot, color) in pass.colors.iter().enumerate() {
            match color.map(|c| (c.load, c.format.info().class)) {
                Some((LoadOp::Clear(value), class)) => clear_color(gl, slot as u32, class, value),
                Some((LoadOp::Discard, _)) => discarded.push(glow::COLOR_ATTACHMENT0 + slot as u32),
                Some((LoadOp::Load, _)) | None => {}
            }
        }
        let Some(target) = &pass.depth_stencil else { return self.invalidate(&discarded) };
        match target.depth.map(|(load, ..)| load) {
            // SAFETY: as above.
            Some(LoadOp::Clear(v)) => unsafe { gl.clear_buffer_f32_slice(glow::DEPTH, 0, &v[..1]) },
            Some(LoadOp::Discard) => discarded.push(glow::DEPTH_ATTACHMENT),
            Some(LoadOp::Load) | None => {}
        }
        match target.stencil.map(|(load, ..)| load) {
            // SAFETY: as above.
            Some(LoadOp::Clear(v)) => unsafe { gl.clear_buffer_i32_slice(glow::STENCIL, 0, &[v[0] as i32]) },
            Some(LoadOp::Discard) => discarded.push(glow::STENCIL_ATTACHMENT),
            Some(LoadOp::Load) | None => {}
        }
        self.invalidate(&discarded);
    }

    fn invalidate(&self, attachments: &[u32]) {
        if attachments.is_empty() {
            return;
        }
        let [x, y, width, height] = self.replay.area.map(|n| n as i32);
        let gl = &self.context.gl;
        // SAFETY: the context is current on this thread, with the pass's framebuffer bound.
        unsafe { gl.invalidate_sub_framebuffer(glow::FRAMEBUFFER, attachments, x, y, width, height) };
    }

    fn end_raster(&mut self, pass: &Pass) {
        let discards = |store: StoreOp| store == StoreOp::Discard;
        let colors = pass.colors.iter().zip(glow::COLOR_ATTACHMENT0..);
        let mut discarded: Vec<u32> =
            colors.filter(|(c, _)| c.is_some_and(|c| discards(c.store))).map(|(_, point)| point).collect();
        if let Some(target) = &pass.depth_stencil {
            let aspects = [(target.depth, glow::DEPTH_ATTACHMENT), (target.stencil, glow::STENCIL_ATTACHMENT)];
            let dropped = aspects.into_iter().filter(|(ops, _)| ops.is_some_and(|(_, store, _)| discards(store)));
            discarded.extend(dropped.map(|(_, point)| point));
        }
        self.invalidate(&discarded);
        self.close_framebuffer();
        self.pop_group();
    }

    fn close_framebuffer(&mut self) {
        if let Some(framebuffer) = self.replay.framebuffer.take() {
            // SAFETY: the context is current on this thread; deleting a bound framebuffer unbinds it.
            unsafe { self.context.gl.delete_framebuffer(framebuffer) };
        }
    }

    fn viewport(&self, v: &Viewport) {
        let gl = &self.context.gl;
        // Row 0 is the top row, so no flip; recording refused what is not a whole number.
        let [x, y, width, height] = [v.x, v.y, v.width, v.height].map(|n| n as i32);
        // SAFETY: the context is current on this thread; the contract checked sizes.
        unsafe {
            gl.viewport(x, y, width, height);
            gl.depth_range_f32(v.min_depth, v.max_depth);
        }
    }

    /// Never outside the render area.
    fn scissor(&self, [x, y, width, height]: [u32; 4]) {
        let area = self.replay.area;
        let clamp = |origin: u32, size: u32, low: u32, extent: u32| {
            let first = origin.clamp(low, low + extent);
            let end = (origin + size).clamp(first, low + extent);
            (first as i32, (end - first) as i32)
        };
        let ((x, width), (y, height)) = (clamp(x, width, area[0], area[2]), clamp(y, height, area[1], area[3]));
        // SAFETY: the context is current on this thread.
        unsafe { self.context.gl.scissor(x, y, width, height) };
    }

    fn stencil_reference(&mut self, reference: u8) {
        self.replay.stencil_reference = reference;
        if let Some(pipeline) = self.replay.pipeline.clone() {
            self.apply_stencil(&pipeline);
        }
    }

    fn set_pipeline(&mut self, word: u64) -> Result<()> {
        let pipeline = find(&self.pipelines, word)?.clone();
        // SAFETY: the context is current on this thread; the pipeline is kept alive by the command buffer's epoch.
        unsafe { self.context.gl.use_program(Some(pipeline.program)) };
        self.apply_fixed(&pipeline);
        self.apply_stencil(&pipeline);
        self.apply_target(&pipeline);
        let replay = &mut self.replay;
        replay.pipeline = Some(pipeline);
        (replay.dirty_tables, replay.dirty_push, replay.dirty_vertex) = (true, true, true);
        Ok(())
    }

    fn toggle(&self, what: u32, on: bool) {
        // SAFETY: the context is current on this thread; `what` is a capability of ES 3.0.
        unsafe { if on { self.context.gl.enable(what) } else { self.context.gl.disable(what) } }
    }

    fn apply_fixed(&self, pipeline: &Pipeline) {
        let (gl, state) = (&self.context.gl, &pipeline.state);
        let depth = state.depth.unwrap_or_default();
        self.toggle(glow::CULL_FACE, state.cull != CullMode::None);
        self.toggle(glow::DEPTH_TEST, state.depth.is_some());
        self.toggle(glow::POLYGON_OFFSET_FILL, depth.bias != 0 || depth.bias_slope != 0.0);
        self.toggle(glow::PRIMITIVE_RESTART_FIXED_INDEX, state.restart);
        self.toggle(glow::SAMPLE_ALPHA_TO_COVERAGE, state.alpha_to_coverage);
        // SAFETY: the context is current on this thread.
        unsafe {
            gl.cull_face(if state.cull == CullMode::Front { glow::FRONT } else { glow::BACK });
            // The vertex shader mirrors y, which turns every winding around.
            gl.front_face(match state.front {
                FrontFace::CounterClockwise => glow::CW,
                FrontFace::Clockwise => glow::CCW,
            });
            gl.depth_func(convert::compare(depth.compare));
            gl.depth_mask(depth.write);
            gl.polygon_offset(depth.bias_slope, depth.bias as f32);
        }
    }

    fn apply_stencil(&self, pipeline: &Pipeline) {
        self.toggle(glow::STENCIL_TEST, pipeline.state.stencil.is_some());
        let Some(stencil) = pipeline.state.stencil else { return };
        let (gl, reference) = (&self.context.gl, i32::from(self.replay.stencil_reference));
        let face = |side: u32, f: &StencilFace| {
            let [fail, depth_fail, pass] = [f.fail, f.depth_fail, f.pass].map(convert::stencil_op);
            // SAFETY: the context is current on this thread.
            unsafe {
                gl.stencil_func_separate(side, convert::compare(f.compare), reference, u32::from(stencil.read_mask));
                gl.stencil_op_separate(side, fail, depth_fail, pass);
                gl.stencil_mask_separate(side, u32::from(stencil.write_mask));
            }
        };
        // The inverted front face keeps fronts fronts: only the winding is told in mirrored terms.
        face(glow::FRONT, &stencil.front);
        face(glow::BACK, &stencil.back);
    }

    fn apply_target(&self, pipeline: &Pipeline) {
        let (gl, target) = (&self.context.gl, &pipeline.target);
        let writes = |component| target.mask.contains(component);
        self.toggle(glow::BLEND, target.blend.is_some());
        // SAFETY: the context is current on this thread.
        unsafe {
            gl.color_mask(writes(WriteMask::R), writes(WriteMask::G), writes(WriteMask::B), writes(WriteMask::A));
            if let Some(blend) = target.blend {
                gl.blend_equation_separate(convert::blend_op(blend.color.op), convert::blend_op(blend.alpha.op));
                gl.blend_func_separate(
                    convert::blend_factor(blend.color.source, false),
                    convert::blend_factor(blend.color.destination, false),
                    convert::blend_factor(blend.alpha.source, true),
                    convert::blend_factor(blend.alpha.destination, true),
                );
            }
        }
    }

    fn set_tables(&mut self, first: u32, tables: &[u64], mut offsets: &[u32]) -> Result<()> {
        for (index, word) in (first as usize..).zip(tables) {
            let table = find(&self.tables, *word)?.clone();
            let (own, rest) = offsets.split_at(table.dynamic_count().min(offsets.len()));
            offsets = rest;
            self.replay.offsets[index].clear();
            self.replay.offsets[index].extend_from_slice(own);
            self.replay.tables[index] = Some(table);
        }
        self.replay.dirty_tables = true;
        Ok(())
    }

    fn push(&mut self, offset: u32, data: &[u8]) {
        let first = offset as usize;
        self.replay.push[first..first + data.len()].copy_from_slice(data); // inside, by the limit on push constants
        self.replay.dirty_push = true;
    }

    fn set_index_buffer(&mut self, slice: SliceRef, format: IndexFormat) -> Result<()> {
        let buffer = buffer::name(slice.buffer.word)?;
        // SAFETY: the context is current on this thread.
        unsafe { self.context.gl.bind_buffer(glow::ELEMENT_ARRAY_BUFFER, Some(buffer)) };
        self.replay.index = Some((slice, format));
        Ok(())
    }

    /// Flushes what the next draw needs.
    fn prepare(&mut self, first_instance: u32) -> Result<Rc<Pipeline>> {
        let pipeline = self.replay.pipeline.clone().ok_or_else(|| missing("a pipeline"))?;
        if std::mem::take(&mut self.replay.dirty_tables) {
            self.bind_tables(&pipeline)?;
        }
        let moved = first_instance != self.replay.first_instance;
        if std::mem::take(&mut self.replay.dirty_push) || moved {
            self.write_uniforms(&pipeline, first_instance);
        }
        if std::mem::take(&mut self.replay.dirty_vertex) || moved {
            self.bind_vertices(&pipeline, first_instance)?;
        }
        self.replay.first_instance = first_instance;
        Ok(pipeline)
    }

    fn bind_tables(&self, pipeline: &Pipeline) -> Result<()> {
        let gl = &self.context.gl;
        let table = |group: u32| self.replay.tables[group as usize].as_deref().ok_or_else(|| missing("a table"));
        for block in &pipeline.blocks {
            let (group, slot) = block.place;
            table(group)?.bind_constant(gl, slot, &self.replay.offsets[group as usize], block.point)?;
        }
        let view = |unit: &Unit| find(&self.views, table(unit.texture.0)?.view(unit.texture.1)?).copied();
        let views = pipeline.units.iter().map(view).collect::<Result<Vec<_>>>()?;
        texture::check_together(&views)?; // each table was checked; here, those set together
        for (unit, view) in pipeline.units.iter().zip(&views) {
            texture::bind(gl, unit.unit, view);
            let sampler = unit.sampler.map(|(group, slot)| table(group)?.sampler(slot)).transpose()?.flatten();
            // SAFETY: the context is current on this thread; the table keeps its samplers alive.
            unsafe { gl.bind_sampler(unit.unit, sampler) };
        }
        Ok(())
    }

    fn write_uniforms(&self, pipeline: &Pipeline, first_instance: u32) {
        let gl = &self.context.gl;
        if let Some(location) = &pipeline.first_instance {
            // SAFETY: the context is current on this thread, and the pipeline's program is in use.
            unsafe { gl.uniform_1_u32(Some(location), first_instance) };
        }
        for (location, leaf) in &pipeline.push {
            write_leaf(gl, location, leaf, &self.replay.push);
        }
    }

    fn bind_vertices(&mut self, pipeline: &Pipeline, first_instance: u32) -> Result<()> {
        let mut used = 0;
        for (slot, layout) in pipeline.buffers.iter().enumerate().filter(|(_, b)| !b.attributes.is_empty()) {
            let slice = self.replay.vertex[slot].ok_or_else(|| missing("a vertex buffer"))?;
            // Instanced attributes start at the first instance, which ES 3.0's draws cannot say.
            let skipped = if layout.step == VertexStep::Instance { first_instance } else { 0 };
            let base = slice.offset + u64::from(skipped) * u64::from(layout.stride);
            used |= bind_attributes(&self.context.gl, layout, buffer::name(slice.buffer.word)?, base)?;
        }
        for location in (0..32).filter(|l| (self.replay.enabled & !used) >> l & 1 == 1) {
            // SAFETY: the context is current on this thread; the location was enabled before.
            unsafe { self.context.gl.disable_vertex_attrib_array(location) };
        }
        self.replay.enabled = used;
        Ok(())
    }

    fn draw(&mut self, vertices: u32, instances: u32, first_vertex: u32, first_instance: u32) -> Result<()> {
        let pipeline = self.prepare(first_instance)?;
        let mode = convert::topology(pipeline.state.topology);
        let (first, count, instances) = (first_vertex as i32, vertices as i32, instances as i32);
        // SAFETY: the context is current on this thread and robust: fetches outside buffers stay harmless.
        unsafe { self.context.gl.draw_arrays_instanced(mode, first, count, instances) };
        Ok(())
    }

    fn draw_indexed(&mut self, counts: [u32; 3], base_vertex: i32, first_instance: u32) -> Result<()> {
        let pipeline = self.prepare(first_instance)?;
        let (slice, format) = self.replay.index.ok_or_else(|| missing("an index buffer"))?;
        let [indices, instances, first_index] = counts;
        let offset = signed(slice.offset + u64::from(first_index) * format.size_bytes())?;
        let (mode, ty) = (convert::topology(pipeline.state.topology), convert::index(format));
        let (count, instances, gl) = (indices as i32, instances as i32, &self.context.gl);
        // SAFETY: the context is current on this thread and robust: indices outside the vertex buffers stay harmless. A
        // base vertex was recorded only in a context that has the function.
        unsafe {
            if base_vertex == 0 {
                gl.draw_elements_instanced(mode, count, ty, offset, instances);
            } else {
                gl.draw_elements_instanced_base_vertex(mode, count, ty, offset, instances, base_vertex);
            }
        }
        Ok(())
    }
}

fn clear_color(gl: &glow::Context, slot: u32, class: FormatClass, value: [f32; 4]) {
    // SAFETY: the context is current on this thread; the call is the one of the format's class.
    unsafe {
        match class {
            FormatClass::Uint => gl.clear_buffer_u32_slice(glow::COLOR, slot, &value.map(|v| v as u32)),
            FormatClass::Sint => gl.clear_buffer_i32_slice(glow::COLOR, slot, &value.map(|v| v as i32)),
            FormatClass::Unorm | FormatClass::Snorm | FormatClass::Float | FormatClass::Depth => {
                gl.clear_buffer_f32_slice(glow::COLOR, slot, &value);
            }
        }
    }
}

/// Points a buffer's attributes at it; returns their locations as a mask.
fn bind_attributes(gl: &glow::Context, layout: &VertexBuffer, buffer: glow::Buffer, base: u64) -> Result<u32> {
    let divisor = u32::from(layout.step == VertexStep::Instance);
    let stride = layout.stride as i32;
    let mut used = 0;
    // SAFETY: the context is current on this thread.
    unsafe { gl.bind_buffer(glow::ARRAY_BUFFER, Some(buffer)) };
    for a in &layout.attributes {
        let (size, ty, normalized, integer) = convert::vertex(a.format);
        let offset = signed(base + u64::from(a.offset))?;
        // SAFETY: as above; the location is below the context's limit, checked when the pipeline was made.
        unsafe {
            if integer {
                gl.vertex_attrib_pointer_i32(a.location, size, ty, stride, offset);
            } else {
                gl.vertex_attrib_pointer_f32(a.location, size, ty, normalized, stride, offset);
            }
            gl.vertex_attrib_divisor(a.location, divisor);
            gl.enable_vertex_attrib_array(a.location);
        }
        used |= 1 << a.location;
    }
    Ok(used)
}

/// Writes one scalar, vector or matrix of the push constants to its uniform.
fn write_leaf(gl: &glow::Context, location: &glow::UniformLocation, leaf: &GlslPushConstant, push: &[u8; PUSH_BYTES]) {
    let (columns, rows) = (usize::from(leaf.columns), usize::from(leaf.rows));
    let mut words = [0_u32; 16];
    for column in 0..columns {
        for row in 0..rows {
            let at = leaf.offset as usize + column * usize::from(leaf.column_stride) + row * 4;
            let Some(bytes) = push.get(at..).and_then(|b| b.first_chunk()) else { continue };
            words[column * rows + row] = u32::from_ne_bytes(*bytes);
        }
    }
    let count = (columns * rows).min(16);
    let floats = words.map(f32::from_bits);
    let (u, i, f, l) = (&words[..count], &words.map(|w| w as i32)[..count], &floats[..count], Some(location));
    // SAFETY: the context is current on this thread with the program in use, and each call has as many numbers as the
    // uniform's type.
    unsafe {
        match (leaf.scalar, columns, rows) {
            (ScalarClass::Float, 1, 1) => gl.uniform_1_f32_slice(l, f),
            (ScalarClass::Float, 1, 2) => gl.uniform_2_f32_slice(l, f),
            (ScalarClass::Float, 1, 3) => gl.uniform_3_f32_slice(l, f),
            (ScalarClass::Float, 1, _) => gl.uniform_4_f32_slice(l, f),
            (ScalarClass::Float, 2, 2) => gl.uniform_matrix_2_f32_slice(l, false, f),
            (ScalarClass::Float, 2, 3) => gl.uniform_matrix_2x3_f32_slice(l, false, f),
            (ScalarClass::Float, 2, _) => gl.uniform_matrix_2x4_f32_slice(l, false, f),
            (ScalarClass::Float, 3, 2) => gl.uniform_matrix_3x2_f32_slice(l, false, f),
            (ScalarClass::Float, 3, 3) => gl.uniform_matrix_3_f32_slice(l, false, f),
            (ScalarClass::Float, 3, _) => gl.uniform_matrix_3x4_f32_slice(l, false, f),
            (ScalarClass::Float, _, 2) => gl.uniform_matrix_4x2_f32_slice(l, false, f),
            (ScalarClass::Float, _, 3) => gl.uniform_matrix_4x3_f32_slice(l, false, f),
            (ScalarClass::Float, ..) => gl.uniform_matrix_4_f32_slice(l, false, f),
            (ScalarClass::Sint, _, 1) => gl.uniform_1_i32_slice(l, i),
            (ScalarClass::Sint, _, 2) => gl.uniform_2_i32_slice(l, i),
            (ScalarClass::Sint, _, 3) => gl.uniform_3_i32_slice(l, i),
            (ScalarClass::Sint, ..) => gl.uniform_4_i32_slice(l, i),
            (ScalarClass::Uint, _, 1) => gl.uniform_1_u32_slice(l, u),
            (ScalarClass::Uint, _, 2) => gl.uniform_2_u32_slice(l, u),
            (ScalarClass::Uint, _, 3) => gl.uniform_3_u32_slice(l, u),
            (ScalarClass::Uint, ..) => gl.uniform_4_u32_slice(l, u),
        }
    }
}
