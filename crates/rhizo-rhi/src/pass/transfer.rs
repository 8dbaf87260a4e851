//! Transfer passes: copies, blits, resolves, fills, clears and query results.

use super::OneThread;
use crate::barrier::Barriers;
use crate::buffer::{Buffer, BufferUsage, StorageMode};
use crate::clause;
use crate::encoder::{OpenPass, RecorderCore};
use crate::error::{Error, Result};
use crate::format::FormatClass;
use crate::query::QuerySet;
use crate::texture::{Texture, TextureDimension, TextureUsage};
use crate::transfer::{BlitFilter, BufferCopy, BufferTextureCopy, TextureBlit, TextureCopy, TextureLayers};
use crate::vocab::{Access, Aspects, BufferRange, Extent, Layout, QueueKind, Scope, Stages, TextureRange};
use std::marker::PhantomData;

/// An open transfer pass.
pub struct TransferPass<'a> {
    core: &'a mut RecorderCore,
    one_thread: OneThread,
}

impl<'a> TransferPass<'a> {
    #[track_caller]
    pub(crate) fn begin(core: &'a mut RecorderCore, label: &str) -> Self {
        core.pass_label.clear();
        core.pass_label.push_str(label);
        if core.healthy() {
            core.backend.push_group(label);
            core.open_pass = OpenPass::Transfer;
        }
        Self { core, one_thread: PhantomData }
    }

    /// Records one batch of barriers between commands.
    #[track_caller]
    pub fn barriers(&mut self, batch: &Barriers<'_>) {
        self.core.barriers(batch);
    }

    /// Copies between buffers.
    #[track_caller]
    pub fn copy_buffer(&mut self, source: &Buffer, destination: &Buffer, regions: &[BufferCopy]) {
        self.core.try_record(|core| {
            check_buffer(core, source, BufferUsage::COPY_SOURCE)?;
            check_buffer(core, destination, BufferUsage::COPY_DESTINATION)?;
            for r in regions {
                inside(source, r.source_offset, r.size)?;
                inside(destination, r.destination_offset, r.size)?;
            }
            if source.id() == destination.id() {
                check_apart(source, regions)?;
            }
            if regions.is_empty() {
                return Ok(());
            }
            core.wrote_readback |= destination.storage == StorageMode::Readback;
            core.backend.copy_buffer(source.raw, destination.raw, regions);
            Ok(())
        });
    }

    /// Copies from a buffer into a texture in layout copy-destination.
    #[track_caller]
    pub fn copy_buffer_to_texture(&mut self, source: &Buffer, destination: &Texture, regions: &[BufferTextureCopy]) {
        self.core.try_record(|core| {
            check_buffer(core, source, BufferUsage::COPY_SOURCE)?;
            check_texture(core, destination, TextureUsage::COPY_DESTINATION)?;
            regions.iter().try_for_each(|r| check_buffer_texture(core, source, destination, r))?;
            if regions.is_empty() {
                return Ok(());
            }
            core.backend.copy_buffer_to_texture(source.raw, destination.raw, Layout::CopyDestination, regions);
            Ok(())
        });
    }

    /// Copies from a texture in layout copy-source into a buffer.
    #[track_caller]
    pub fn copy_texture_to_buffer(&mut self, source: &Texture, destination: &Buffer, regions: &[BufferTextureCopy]) {
        self.core.try_record(|core| {
            check_texture(core, source, TextureUsage::COPY_SOURCE)?;
            check_buffer(core, destination, BufferUsage::COPY_DESTINATION)?;
            regions.iter().try_for_each(|r| check_buffer_texture(core, destination, source, r))?;
            if regions.is_empty() {
                return Ok(());
            }
            core.wrote_readback |= destination.storage == StorageMode::Readback;
            core.backend.copy_texture_to_buffer(source.raw, Layout::CopySource, destination.raw, regions);
            Ok(())
        });
    }

    /// Copies between textures in layouts copy-source and copy-destination.
    #[track_caller]
    pub fn copy_texture(&mut self, source: &Texture, destination: &Texture, regions: &[TextureCopy]) {
        self.core.try_record(|core| {
            check_texture(core, source, TextureUsage::COPY_SOURCE)?;
            check_texture(core, destination, TextureUsage::COPY_DESTINATION)?;
            check_copy_formats(source, destination, regions)?;
            check_texture_copies(source, destination, regions)?;
            if regions.is_empty() {
                return Ok(());
            }
            let (source, destination) = ((source.raw, Layout::CopySource), (destination.raw, Layout::CopyDestination));
            core.backend.copy_texture(source, destination, regions);
            Ok(())
        });
    }

    /// Copies all sub-resources of textures with equal shapes.
    #[track_caller]
    pub fn copy_whole(&mut self, source: &Texture, destination: &Texture) {
        let (s, d) = (&source.facts, &destination.facts);
        if (s.dimension, s.extent, s.mips) != (d.dimension, d.extent, d.mips) {
            let detail = format!("{:?} and {:?} differ in shape", source, destination);
            self.core.poison(Error::clause(clause::COPY_RANGE, detail).on(destination.label()));
            return;
        }
        for mip in 0..source.mips() {
            let layers = TextureLayers { layer_count: source.layers(), ..TextureLayers::mip(mip) };
            let extent = copy_extent(source, mip);
            let region = TextureCopy {
                source: layers,
                source_origin: [0; 3],
                destination: layers,
                destination_origin: [0; 3],
                extent,
            };
            self.copy_texture(source, destination, &[region]);
        }
    }

    /// Copies boxes with scaling and format conversion.
    #[track_caller]
    pub fn blit(&mut self, source: &Texture, destination: &Texture, regions: &[TextureBlit], filter: BlitFilter) {
        self.core.try_record(|core| {
            check_graphics(core, "a blit")?;
            check_texture(core, source, TextureUsage::COPY_SOURCE)?;
            check_texture(core, destination, TextureUsage::COPY_DESTINATION)?;
            check_blit_formats(core, source, destination, filter)?;
            for r in regions {
                check_box(source, r.source, r.source_box)?;
                check_box(destination, r.destination, r.destination_box)?;
                if r.source.layer_count != r.destination.layer_count {
                    let detail = "different numbers of layers";
                    return Err(Error::clause(clause::COPY_RANGE, detail).on(destination.label()));
                }
            }
            check_subresources_apart(source, destination, &regions.iter().map(|r| (r.source, r.destination)))?;
            if regions.is_empty() {
                return Ok(());
            }
            let (source, destination) = ((source.raw, Layout::CopySource), (destination.raw, Layout::CopyDestination));
            core.backend.blit(source, destination, regions, filter);
            Ok(())
        });
    }

    /// Fills the mip levels after the first by halving: level 0 is in `before` on entry, every level in shader-read-only
    /// on return, ordered before `after`.
    ///
    /// Lowered to one blit per level with the barriers between them.
    #[track_caller]
    pub fn generate_mips(&mut self, texture: &Texture, before: (Scope, Layout), after: Scope) {
        for mip in 0..texture.mips() {
            let from = if mip == 0 { before } else { (COPY_WRITE, Layout::CopyDestination) };
            if mip > 0 {
                self.transition(texture, mip, (Scope::NONE, Layout::Undefined), (COPY_WRITE, Layout::CopyDestination));
                let corner = |level| {
                    let e = copy_extent(texture, level);
                    [[0; 3], [e.x, e.y, e.z]]
                };
                let layers = |mip| TextureLayers { layer_count: texture.layers(), ..TextureLayers::mip(mip) };
                let region = TextureBlit {
                    source: layers(mip - 1),
                    source_box: corner(mip - 1),
                    destination: layers(mip),
                    destination_box: corner(mip),
                };
                self.blit(texture, texture, &[region], BlitFilter::Linear);
                self.transition(texture, mip - 1, (COPY_READ, Layout::CopySource), (after, Layout::ShaderReadOnly));
            }
            let last = mip + 1 == texture.mips();
            let to = if last { (after, Layout::ShaderReadOnly) } else { (COPY_READ, Layout::CopySource) };
            self.transition(texture, mip, from, to);
        }
    }

    #[track_caller]
    fn transition(&mut self, texture: &Texture, mip: u32, before: (Scope, Layout), after: (Scope, Layout)) {
        let barrier = crate::barrier::TextureBarrier {
            texture,
            range: TextureRange::mip(mip),
            before: before.0,
            before_layout: before.1,
            after: after.0,
            after_layout: after.1,
            queues: None,
        };
        self.core.barriers(&Barriers { textures: &[barrier], ..Barriers::default() });
    }

    /// Averages a multisampled texture in layout resolve-source into one in resolve-destination.
    #[track_caller]
    pub fn resolve(&mut self, source: &Texture, destination: &Texture, regions: &[TextureCopy]) {
        self.core.try_record(|core| {
            check_graphics(core, "a resolve")?;
            check_texture(core, source, TextureUsage::COPY_SOURCE)?;
            check_texture(core, destination, TextureUsage::COPY_DESTINATION)?;
            let color = source.format().aspects() == Aspects::COLOR;
            if source.samples() < 2 || destination.samples() != 1 || source.format() != destination.format() || !color {
                let detail = format!(
                    "{} samples of {} to {} of {}",
                    source.samples(),
                    source.format(),
                    destination.samples(),
                    destination.format()
                );
                return Err(Error::clause(clause::COPY_FORMAT, detail).on(destination.label()));
            }
            check_texture_copies(source, destination, regions)?;
            if regions.is_empty() {
                return Ok(());
            }
            let (source, destination) =
                ((source.raw, Layout::ResolveSource), (destination.raw, Layout::ResolveDestination));
            core.backend.resolve(source, destination, regions);
            Ok(())
        });
    }

    /// Fills a range with a repeated 32-bit word; offset and size are multiples of 4.
    #[track_caller]
    pub fn fill_buffer(&mut self, buffer: &Buffer, range: BufferRange, value: u32) {
        self.core.try_record(|core| {
            check_buffer(core, buffer, BufferUsage::COPY_DESTINATION)?;
            let range = range.resolve(buffer.raw.size).ok_or_else(|| buffer.out_of_range(range))?;
            if range.offset % 4 != 0 || range.size % 4 != 0 {
                return Err(Error::clause(clause::COPY_RANGE, format!("{range:?} is not in words")).on(buffer.label()));
            }
            core.wrote_readback |= buffer.storage == StorageMode::Readback;
            core.backend.fill_buffer(buffer.raw, range, value);
            Ok(())
        });
    }

    /// Clears colour sub-resources in layout copy-destination.
    #[track_caller]
    pub fn clear_color(&mut self, texture: &Texture, range: TextureRange, value: [f32; 4]) {
        self.core.try_record(|core| {
            if core.kind > QueueKind::Compute {
                return Err(Error::clause(clause::POOL_QUEUE, "a clear on a transfer queue"));
            }
            check_texture(core, texture, TextureUsage::COPY_DESTINATION)?;
            let range = texture.resolve(range)?;
            if range.aspects != Aspects::COLOR || texture.format().is_compressed() {
                return Err(Error::clause(clause::COPY_FORMAT, format!("a colour clear of {}", texture.format()))
                    .on(texture.label()));
            }
            core.backend.clear_color((texture.raw, Layout::CopyDestination), range, value);
            Ok(())
        });
    }

    /// Copies query results as 64-bit words into a buffer; waits for them on the GPU.
    #[track_caller]
    pub fn resolve_queries(&mut self, set: &QuerySet, first: u32, count: u32, destination: &Buffer, offset: u64) {
        self.core.try_record(|core| {
            if core.kind > QueueKind::Compute {
                return Err(Error::clause(clause::POOL_QUEUE, "a query resolve on a transfer queue"));
            }
            core.check(set.key, set.owned())?;
            set.check_range(first, count)?;
            check_buffer(core, destination, BufferUsage::QUERY_RESOLVE)?;
            inside(destination, offset, u64::from(count) * u64::from(set.kind.words()) * 8)?;
            if !offset.is_multiple_of(8) {
                return Err(Error::clause(clause::COPY_RANGE, format!("offset {offset} is not a multiple of 8"))
                    .on(destination.label()));
            }
            core.wrote_readback |= destination.storage == StorageMode::Readback;
            core.backend.resolve_queries(set.raw, first, count, destination.raw, offset);
            Ok(())
        });
    }
}

impl Drop for TransferPass<'_> {
    fn drop(&mut self) {
        self.core.end_pass();
    }
}

const COPY_READ: Scope = Scope::new(Stages::TRANSFER, Access::TRANSFER_READ);
const COPY_WRITE: Scope = Scope::new(Stages::TRANSFER, Access::TRANSFER_WRITE);

fn copy_extent(texture: &Texture, mip: u32) -> Extent {
    let e = texture.facts.mip_extent(mip);
    let z = if texture.dimension() == TextureDimension::D3 { e.z } else { 1 };
    Extent { z, ..e }
}

#[track_caller]
fn check_graphics(core: &RecorderCore, what: &str) -> Result<()> {
    if core.kind == QueueKind::Graphics {
        return Ok(());
    }
    Err(Error::clause(clause::POOL_QUEUE, format!("{what} on a {} queue", core.kind.name())))
}

#[track_caller]
fn check_buffer(core: &RecorderCore, buffer: &Buffer, usage: BufferUsage) -> Result<()> {
    core.check(buffer.key, &buffer.owned)?;
    if buffer.usage.contains(usage) {
        return Ok(());
    }
    let detail = format!("needs {usage:?}, the buffer has {:?}", buffer.usage);
    Err(Error::clause(clause::BUFFER_USAGE, detail).on(buffer.label()))
}

#[track_caller]
fn check_texture(core: &RecorderCore, texture: &Texture, usage: TextureUsage) -> Result<()> {
    core.check(texture.key, &texture.owned)?;
    if texture.usage().contains(usage) { Ok(()) } else { Err(texture.lacks(usage)) }
}

#[track_caller]
fn inside(buffer: &Buffer, offset: u64, size: u64) -> Result<()> {
    if size > 0 && offset.checked_add(size).is_some_and(|end| end <= buffer.raw.size) {
        return Ok(());
    }
    let detail = format!("{size} bytes at {offset} of {}", buffer.raw.size);
    Err(Error::clause(clause::COPY_RANGE, detail).on(buffer.label()))
}

/// Checks that a box is inside a sub-resource and aligned to blocks.
#[track_caller]
fn check_region(texture: &Texture, layers: TextureLayers, origin: [u32; 3], extent: Extent) -> Result<()> {
    texture.resolve(layers.range())?;
    let size = copy_extent(texture, layers.mip);
    let (bw, bh) = texture.format().info().block;
    let axis = |origin: u32, count: u32, size: u32, block: u32| {
        let end = origin.checked_add(count);
        count > 0
            && origin.is_multiple_of(block)
            && end.is_some_and(|end| end <= size && (end % block == 0 || end == size))
    };
    let ok = axis(origin[0], extent.x, size.x, u32::from(bw))
        && axis(origin[1], extent.y, size.y, u32::from(bh))
        && axis(origin[2], extent.z, size.z, 1);
    if ok {
        return Ok(());
    }
    let detail = format!("{extent:?} at {origin:?} of mip {} with {size:?}, blocks {bw}x{bh}", layers.mip);
    Err(Error::clause(clause::COPY_RANGE, detail).on(texture.label()))
}

#[track_caller]
fn check_buffer_texture(core: &RecorderCore, buffer: &Buffer, texture: &Texture, r: &BufferTextureCopy) -> Result<()> {
    check_region(texture, r.layers, r.origin, r.extent)?;
    let format = texture.format();
    let aspect = if r.layers.aspects.is_empty() { format.aspects() } else { r.layers.aspects };
    if aspect.bits().count_ones() != 1 || texture.samples() != 1 {
        let detail = format!("one aspect of one sample is copied, not {aspect:?} of {} samples", texture.samples());
        return Err(Error::clause(clause::COPY_FORMAT, detail).on(texture.label()));
    }
    if format.is_depth_stencil() {
        check_graphics(core, "a copy of depth or stencil")?;
    }
    let (block, bytes) = (format.info().block, u64::from(format.copy_block_bytes(aspect)));
    let row = u64::from(r.extent.x.div_ceil(u32::from(block.0))) * bytes;
    let rows = u64::from(r.extent.y.div_ceil(u32::from(block.1)));
    let pitch = if r.row_pitch == 0 { row } else { u64::from(r.row_pitch) };
    let slice_rows = if r.rows_per_slice == 0 { rows } else { u64::from(r.rows_per_slice) };
    let slices = u64::from(r.extent.z) * u64::from(r.layers.layer_count);
    let aligned = r.buffer_offset.is_multiple_of(bytes.max(4)) && pitch % bytes == 0;
    if pitch < row || slice_rows < rows || !aligned {
        let detail =
            format!("offset {}, row pitch {pitch} of {row} bytes, {slice_rows} of {rows} rows", r.buffer_offset);
        return Err(Error::clause(clause::COPY_RANGE, detail).on(texture.label()));
    }
    // Slices, rows and pitch are each any 32-bit number: their product may not fit 64 bits.
    let size = ((slices - 1).checked_mul(slice_rows))
        .and_then(|n| n.checked_add(rows - 1))
        .and_then(|n| n.checked_mul(pitch))
        .and_then(|n| n.checked_add(row));
    inside(buffer, r.buffer_offset, size.unwrap_or(u64::MAX))
}

/// No region of a copy inside one buffer writes what another, or it itself, reads.
#[track_caller]
fn check_apart(buffer: &Buffer, regions: &[BufferCopy]) -> Result<()> {
    for from in regions {
        for to in regions {
            let (a, b) = (from.source_offset, to.destination_offset);
            if a < b + to.size && b < a + from.size {
                let detail = format!("{} bytes at {a} are read, {} at {b} written", from.size, to.size);
                return Err(Error::clause(clause::COPY_OVERLAP, detail).on(buffer.label()));
            }
        }
    }
    Ok(())
}

/// Blocks of equal size and shape; depth and stencil only between equal formats and aspects.
#[track_caller]
fn check_copy_formats(source: &Texture, destination: &Texture, regions: &[TextureCopy]) -> Result<()> {
    let (a, b) = (source.format().info(), destination.format().info());
    let blocks = a.block_bytes == b.block_bytes && a.block == b.block && source.samples() == destination.samples();
    let depth = source.format().is_depth_stencil() || destination.format().is_depth_stencil();
    let of = |layers: TextureLayers, all| if layers.aspects.is_empty() { all } else { layers.aspects };
    let aspects = regions.iter().all(|r| of(r.source, a.aspects) == of(r.destination, b.aspects));
    if blocks && aspects && (!depth || a.format == b.format) {
        return Ok(());
    }
    let detail = format!(
        "{} with {} samples to {} with {}",
        source.format(),
        source.samples(),
        destination.format(),
        destination.samples()
    );
    Err(Error::clause(clause::COPY_FORMAT, detail).on(destination.label()))
}

#[track_caller]
fn check_texture_copies(source: &Texture, destination: &Texture, regions: &[TextureCopy]) -> Result<()> {
    for r in regions {
        check_region(source, r.source, r.source_origin, r.extent)?;
        check_region(destination, r.destination, r.destination_origin, r.extent)?;
        if r.source.layer_count != r.destination.layer_count {
            let detail = "different numbers of layers";
            return Err(Error::clause(clause::COPY_RANGE, detail).on(destination.label()));
        }
    }
    check_subresources_apart(source, destination, &regions.iter().map(|r| (r.source, r.destination)))
}

/// Inside one texture no sub-resource is both read and written.
#[track_caller]
fn check_subresources_apart(
    source: &Texture,
    destination: &Texture,
    regions: &(impl Iterator<Item = (TextureLayers, TextureLayers)> + Clone),
) -> Result<()> {
    if source.id() != destination.id() {
        return Ok(());
    }
    let meet = |a: TextureLayers, b: TextureLayers| {
        a.mip == b.mip
            && a.base_layer < b.base_layer + b.layer_count
            && b.base_layer < a.base_layer + a.layer_count
            && (a.aspects.is_empty() || b.aspects.is_empty() || a.aspects.intersects(b.aspects))
    };
    for (from, _) in regions.clone() {
        if regions.clone().any(|(_, to)| meet(from, to)) {
            let detail = format!("mip {} is read and written", from.mip);
            return Err(Error::clause(clause::COPY_OVERLAP, detail).on(destination.label()));
        }
    }
    Ok(())
}

#[track_caller]
fn check_box(texture: &Texture, layers: TextureLayers, corners: [[u32; 3]; 2]) -> Result<()> {
    let [from, to] = corners;
    let extent = |i: usize| to[i].checked_sub(from[i]);
    match (extent(0), extent(1), extent(2)) {
        (Some(x), Some(y), Some(z)) => check_region(texture, layers, from, Extent { x, y, z }),
        _ => Err(Error::clause(clause::COPY_RANGE, format!("box {corners:?} is inverted")).on(texture.label())),
    }
}

#[track_caller]
fn check_blit_formats(core: &RecorderCore, source: &Texture, destination: &Texture, filter: BlitFilter) -> Result<()> {
    let (a, b) =
        (core.device.backend.format_support(source.format()), core.device.backend.format_support(destination.format()));
    let filterable = filter == BlitFilter::Nearest || a.filterable;
    let one_sample = source.samples() == 1 && destination.samples() == 1;
    if a.blit_source && b.blit_destination && filterable && one_sample && classes_blit(source, destination) {
        return Ok(());
    }
    let detail = format!("{} to {} with {filter:?} filter", source.format(), destination.format());
    Err(Error::clause(clause::BLIT_FORMAT, detail).on(destination.label()))
}

/// Integers are blitted to integers of the same sign, depth and stencil to the same format, all else to all else.
fn classes_blit(source: &Texture, destination: &Texture) -> bool {
    let (a, b) = (source.format(), destination.format());
    if a.is_depth_stencil() || b.is_depth_stencil() {
        return a == b;
    }
    let integer = |f: crate::format::Format| match f.info().class {
        FormatClass::Uint => 1,
        FormatClass::Sint => 2,
        _ => 0,
    };
    integer(a) == integer(b)
}
