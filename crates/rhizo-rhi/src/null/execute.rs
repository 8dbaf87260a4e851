//! Execution of copies, fills, clears and queries on CPU memory.

use super::command::NullCommand as C;
use super::encode;
use super::state::{Body, Recording, Shared, State, TextureData};
use crate::backend::{BufferRef, ObjectRef, TextureRef};
use crate::handle::lock;
use crate::pass::LoadOp;
use crate::transfer::{BufferCopy, BufferTextureCopy, TextureCopy, TextureLayers};
use crate::vocab::{Aspects, TextureRange};

/// `None` is a command that reaches outside its objects: the front types must never let one through.
type Done = Option<()>;

impl Shared {
    /// Runs one command buffer.
    pub(super) fn execute(&self, state: &mut State, recording: &Recording) {
        if self.config.log {
            let line = format!("  command-buffer \"{}\"", recording.label);
            state.log.push(line);
        }
        let mut run = Run { state, end: None };
        for command in &recording.commands {
            run.state.ticks += 1;
            if self.config.log {
                let line = command.text(&|word| run.state.name(word));
                run.state.log.push(format!("    {line}"));
            }
            if run.command(command).is_none() {
                let line = command.text(&|word| run.state.name(word));
                self.violation(format!("\"{}\": {line} reaches outside its objects", recording.label));
            }
        }
    }

    /// The bytes of the sub-resource of the live texture of this label.
    pub(super) fn texture_bytes(&self, label: &str, layers: TextureLayers) -> Option<Vec<u8>> {
        let state = lock(&self.state);
        state.objects.values().filter(|o| o.label == label).find_map(|o| match &o.body {
            Body::Texture(t) => {
                let plane = &t.planes[t.plane(layers.aspects)?];
                plane.subresources.get((layers.mip * t.layers + layers.base_layer) as usize).cloned()
            }
            _ => None,
        })
    }
}

struct Run<'a> {
    state: &'a mut State,
    /// Timestamp to write when the open pass ends.
    end: Option<(ObjectRef, u32)>,
}

impl Run<'_> {
    fn command(&mut self, command: &C) -> Done {
        match command {
            C::CopyBuffer { source, destination, regions } => {
                regions.iter().try_for_each(|r| self.copy_buffer(*source, *destination, r))
            }
            C::CopyBufferToTexture { source, destination, regions } => {
                regions.iter().try_for_each(|r| self.copy_linear(*source, destination.0, r, true))
            }
            C::CopyTextureToBuffer { source, destination, regions } => {
                regions.iter().try_for_each(|r| self.copy_linear(*destination, source.0, r, false))
            }
            C::CopyTexture { source, destination, regions } => {
                regions.iter().try_for_each(|r| self.copy_texture(source.0, destination.0, r))
            }
            C::FillBuffer { buffer, range, value } => {
                let (at, size) = (range.offset as usize, range.size as usize);
                let bytes = self.buffer(*buffer)?.get_mut(at..at.checked_add(size)?)?;
                bytes.chunks_mut(4).for_each(|word| word.copy_from_slice(&value.to_le_bytes()[..word.len()]));
                Some(())
            }
            C::ClearColor { texture, range, value } => {
                let format = self.texture(texture.0)?.format;
                self.clear(texture.0.word, *range, None, &encode::color(format, *value))
            }
            C::ResetQueries { set, first, count } => self.write_queries(*set, *first, *count, None),
            C::WriteTimestamp { set, index } => self.write_queries(*set, *index, 1, Some(self.state.ticks)),
            C::EndQuery { set, index } => self.write_queries(*set, *index, 1, Some(0)),
            C::ResolveQueries { set, first, count, destination, offset } => {
                self.resolve_queries(*set, *first, *count, *destination, *offset)
            }
            C::BeginCompute { timestamps, .. } => self.begin_pass(*timestamps),
            C::BeginRaster { timestamps, .. } => {
                self.begin_pass(*timestamps)?;
                self.load_attachments(command)
            }
            C::EndRaster | C::EndCompute => match self.end.take() {
                Some((set, index)) => self.write_queries(set, index, 1, Some(self.state.ticks)),
                None => Some(()),
            },
            _ => Some(()),
        }
    }

    fn buffer(&mut self, buffer: BufferRef) -> Option<&mut Vec<u8>> {
        match &mut self.state.objects.get_mut(&buffer.word)?.body {
            Body::Buffer(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn texture(&mut self, texture: TextureRef) -> Option<&mut TextureData> {
        self.texture_word(texture.word)
    }

    fn texture_word(&mut self, word: u64) -> Option<&mut TextureData> {
        match &mut self.state.objects.get_mut(&word)?.body {
            Body::Texture(data) => Some(data),
            _ => None,
        }
    }

    fn copy_buffer(&mut self, source: BufferRef, destination: BufferRef, r: &BufferCopy) -> Done {
        let mut scratch = std::mem::take(&mut self.state.scratch);
        scratch.clear();
        let (from, to, size) = (r.source_offset as usize, r.destination_offset as usize, r.size as usize);
        scratch.extend_from_slice(self.buffer(source)?.get(from..from.checked_add(size)?)?);
        self.buffer(destination)?.get_mut(to..to.checked_add(size)?)?.copy_from_slice(&scratch);
        self.state.scratch = scratch;
        Some(())
    }

    /// Copies between a buffer and a texture, row of blocks by row.
    fn copy_linear(&mut self, buffer: BufferRef, texture: TextureRef, r: &BufferTextureCopy, upload: bool) -> Done {
        let mut bytes = std::mem::take(self.buffer(buffer)?);
        let done = self.texture(texture).and_then(|t| {
            let boxes = Boxes::new(t, r.layers, r.origin, [r.extent.x, r.extent.y, r.extent.z])?;
            let pitch = if r.row_pitch == 0 { boxes.row_bytes } else { r.row_pitch as usize };
            let rows = if r.rows_per_slice == 0 { boxes.rows } else { r.rows_per_slice as usize };
            for slice in 0..boxes.slices {
                for row in 0..boxes.rows {
                    let at = r.buffer_offset as usize + (slice * rows + row) * pitch;
                    let linear = bytes.get_mut(at..at + boxes.row_bytes)?;
                    let texels = boxes.row(t, slice, row)?;
                    if upload { texels.copy_from_slice(linear) } else { linear.copy_from_slice(texels) }
                }
            }
            Some(())
        });
        *self.buffer(buffer)? = bytes;
        done
    }

    fn copy_texture(&mut self, source: TextureRef, destination: TextureRef, r: &TextureCopy) -> Done {
        let extent = [r.extent.x, r.extent.y, r.extent.z];
        let aspects = self.texture(source)?.format.aspects();
        for aspect in aspects.iter().filter(|a| r.source.aspects.is_empty() || r.source.aspects.contains(*a)) {
            let of = |layers: TextureLayers, aspects| TextureLayers { aspects, ..layers };
            let mut scratch = std::mem::take(&mut self.state.scratch);
            scratch.clear();
            let from = self.texture(source)?;
            let boxes = Boxes::new(from, of(r.source, aspect), r.source_origin, extent)?;
            for (slice, row) in boxes.all() {
                scratch.extend_from_slice(boxes.row(from, slice, row)?);
            }
            let to = self.texture(destination)?;
            let boxes = Boxes::new(to, of(r.destination, aspect), r.destination_origin, extent)?;
            let rows = boxes.all().zip(scratch.chunks(boxes.row_bytes.max(1)));
            for ((slice, row), bytes) in rows {
                let into = boxes.row(to, slice, row)?;
                if into.len() != bytes.len() {
                    return None;
                }
                into.copy_from_slice(bytes);
            }
            self.state.scratch = scratch;
        }
        Some(())
    }

    /// Fills sub-resources, or an area of them, with one block's bytes, repeated over the samples.
    fn clear(&mut self, word: u64, range: TextureRange, area: Option<[u32; 4]>, block: &[u8]) -> Done {
        let t = self.texture_word(word)?;
        for mip in range.base_mip..range.base_mip + range.mip_count {
            let size = t.extent.mip(mip, t.is_3d);
            let [x, y, width, height] = area.unwrap_or([0, 0, size.x, size.y]);
            let depth = if t.is_3d { size.z } else { 1 };
            let (base_layer, layer_count, aspects) = (range.base_layer, range.layer_count, range.aspects);
            let layers = TextureLayers { mip, base_layer, layer_count, aspects };
            let boxes = Boxes::new(t, layers, [x, y, 0], [width, height, depth])?;
            for (slice, row) in boxes.all() {
                boxes.row(t, slice, row)?.chunks_exact_mut(block.len()).for_each(|b| b.copy_from_slice(block));
            }
        }
        Some(())
    }

    fn load_attachments(&mut self, command: &C) -> Done {
        let C::BeginRaster { area, colors, depth_stencil, .. } = command else { return None };
        for color in colors.iter().flatten() {
            if let LoadOp::Clear(value) = color.load {
                let (texture, format, range) = self.view(color.view)?;
                self.clear(texture, range, Some(*area), &encode::color(format, value))?;
            }
        }
        let Some(attachment) = depth_stencil else { return Some(()) };
        let (texture, format, range) = self.view(attachment.view)?;
        for (aspects, ops) in [(Aspects::DEPTH, attachment.depth), (Aspects::STENCIL, attachment.stencil)] {
            if let Some((LoadOp::Clear(value), ..)) = ops {
                let bytes = encode::depth_stencil(format, aspects, value[0]);
                self.clear(texture, TextureRange { aspects, ..range }, Some(*area), &bytes)?;
            }
        }
        Some(())
    }

    fn view(&self, view: ObjectRef) -> Option<(u64, crate::format::Format, TextureRange)> {
        match self.state.objects.get(&view.word)?.body {
            Body::View { texture, format, range } => Some((texture, format, range)),
            _ => None,
        }
    }

    fn begin_pass(&mut self, timestamps: Option<crate::backend::TimestampRef>) -> Done {
        let Some(t) = timestamps else { return Some(()) };
        self.end = t.end.map(|index| (t.set, index));
        let ticks = self.state.ticks;
        t.begin.map_or(Some(()), |index| self.write_queries(t.set, index, 1, Some(ticks)))
    }

    fn write_queries(&mut self, set: ObjectRef, first: u32, count: u32, value: Option<u64>) -> Done {
        let (words, results) = self.state.query_slots(set.word)?;
        results.get_mut(first as usize * words..(first + count) as usize * words)?.fill(value);
        Some(())
    }

    fn resolve_queries(&mut self, set: ObjectRef, first: u32, count: u32, to: BufferRef, offset: u64) -> Done {
        let mut scratch = std::mem::take(&mut self.state.scratch);
        scratch.clear();
        let (words, results) = self.state.query_slots(set.word)?;
        let results = results.get(first as usize * words..(first + count) as usize * words)?;
        // A slot never written has no result on any API; the null device writes 0.
        results.iter().for_each(|r| scratch.extend_from_slice(&r.unwrap_or(0).to_le_bytes()));
        let at = offset as usize;
        self.buffer(to)?.get_mut(at..at.checked_add(scratch.len())?)?.copy_from_slice(&scratch);
        self.state.scratch = scratch;
        Some(())
    }
}

/// A box of blocks in one plane of some layers: rows that are contiguous in memory.
struct Boxes {
    plane: usize,
    mip: u32,
    base_layer: usize,
    /// First column, row and slice in blocks.
    first: [usize; 3],
    columns: usize,
    rows: usize,
    depth: usize,
    /// Layers times depth.
    slices: usize,
    row_bytes: usize,
}

impl Boxes {
    fn new(t: &TextureData, layers: TextureLayers, origin: [u32; 3], extent: [u32; 3]) -> Option<Self> {
        let plane = t.plane(layers.aspects)?;
        let (width, height) = t.format.info().block;
        let [columns, all_rows, depth] = t.blocks(layers.mip);
        let first = [(origin[0] / u32::from(width)) as usize, (origin[1] / u32::from(height)) as usize];
        let count = extent[0].div_ceil(u32::from(width)) as usize;
        let rows = extent[1].div_ceil(u32::from(height)) as usize;
        let inside = first[0] + count <= columns
            && first[1] + rows <= all_rows
            && (origin[2] + extent[2]) as usize <= depth
            && layers.base_layer + layers.layer_count <= t.layers;
        inside.then_some(Self {
            plane,
            mip: layers.mip,
            base_layer: layers.base_layer as usize,
            first: [first[0], first[1], origin[2] as usize],
            columns: count,
            rows,
            depth: extent[2] as usize,
            slices: extent[2] as usize * layers.layer_count as usize,
            row_bytes: count * t.planes[plane].texel,
        })
    }

    fn all(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let rows = self.rows;
        (0..self.slices).flat_map(move |slice| (0..rows).map(move |row| (slice, row)))
    }

    fn row<'t>(&self, t: &'t mut TextureData, slice: usize, row: usize) -> Option<&'t mut [u8]> {
        let [columns, rows, _] = t.blocks(self.mip);
        let (layer, z) = (slice / self.depth, slice % self.depth);
        let subresource = self.mip as usize * t.layers as usize + self.base_layer + layer;
        let plane = &mut t.planes[self.plane];
        let block = ((self.first[2] + z) * rows + self.first[1] + row) * columns + self.first[0];
        let bytes = plane.subresources.get_mut(subresource)?;
        bytes.get_mut(block * plane.texel..(block + self.columns) * plane.texel)
    }
}
