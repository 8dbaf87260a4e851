//! Cuts every resource into the pieces that its accesses tell apart.
//!
//! A *cell* is a piece that no access divides: a block of mips × layers × aspects of a texture, or a run of bytes of a
//! buffer. A resource that every access names as a whole is one cell, so ordinary graphs cost one cell a resource.

use rhizo_rhi::{Aspects, BufferRange, Layout, Scope, TextureRange};

use super::limits;
use crate::declare::{Graph, ResourceDesc};
use crate::error::{CompileError, ErrorCode};
use crate::plan::BarrierRange;

/// Facts about an access, as flags.
pub(super) mod flag {
    /// Needs earlier contents.
    pub const READS: u8 = 1;
    /// Gives new contents.
    pub const WRITES: u8 = 2;
    /// Contents end with the pass.
    pub const DISCARDS: u8 = 4;
    /// Has load and store operations.
    pub const ATTACHMENT: u8 = 8;
    /// Its cells are cells of another access of the pass too (all reads): they share a layout.
    pub const SHARED: u8 = 16;
}

/// A block of cells: first and end in each direction of its grid. Bytes of a buffer count as layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Rect {
    pub aspects: [u8; 2],
    pub mips: [u8; 2],
    pub layers: [u32; 2],
}

impl Rect {
    pub fn count(&self) -> u64 {
        u64::from(self.aspects[1] - self.aspects[0])
            * u64::from(self.mips[1] - self.mips[0])
            * u64::from(self.layers[1] - self.layers[0])
    }
}

/// A declared access, checked and resolved. Parallel to the graph's list of accesses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub resource: u32,
    pub flags: u8,
    pub layout: Layout,
    /// Legal layouts, one bit each; 0 for buffers.
    pub legal: u16,
    pub scope: Scope,
    pub rect: Rect,
}

impl Use {
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// A resolved range that is not the whole resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub access: u32,
    pub mips: [u64; 2],
    pub layers: [u64; 2],
    pub aspects: Aspects,
}

/// The cells of one resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub base: u32,
    pub aspects: u8,
    pub mips: u8,
    pub layers: u32,
    /// Where this resource's cuts start in [`Work::cuts`]; `u32::MAX` when it is not cut in that direction.
    mip_cuts: u32,
    layer_cuts: u32,
}

impl Grid {
    pub fn whole(&self) -> Rect {
        Rect { aspects: [0, self.aspects], mips: [0, self.mips], layers: [0, self.layers] }
    }

    pub fn index(&self, aspect: u8, mip: u8, layer: u32) -> usize {
        let row = u32::from(aspect) * u32::from(self.mips) + u32::from(mip);
        (self.base + row * self.layers + layer) as usize
    }
}

/// What the later phases work on.
pub(super) struct Work {
    pub uses: Vec<Use>,
    pub grids: Vec<Grid>,
    pub cell_count: usize,
    cuts: Vec<u64>,
}

impl Work {
    pub fn pass_uses(&self, graph: &Graph, pass: u32) -> &[Use] {
        let pass = &graph.passes[pass as usize];
        &self.uses[pass.first_access as usize..(pass.first_access + pass.access_count) as usize]
    }

    /// Calls `visit` with each cell of a block of a resource.
    pub fn each_cell(&self, resource: u32, rect: &Rect, mut visit: impl FnMut(usize)) {
        let grid = &self.grids[resource as usize];
        for aspect in rect.aspects[0]..rect.aspects[1] {
            for mip in rect.mips[0]..rect.mips[1] {
                let first = grid.index(aspect, mip, rect.layers[0]);
                let count = (rect.layers[1] - rect.layers[0]) as usize;
                (first..first + count).for_each(&mut visit);
            }
        }
    }

    /// Whether any cell of an access satisfies `test`.
    pub fn any_cell(&self, item: &Use, mut test: impl FnMut(usize) -> bool) -> bool {
        let mut found = false;
        self.each_cell(item.resource, &item.rect, |cell| found |= test(cell));
        found
    }

    /// The aspects of rows `first..end` of a grid.
    pub fn aspects(&self, resource: u32, desc: &ResourceDesc, rows: [u8; 2]) -> Aspects {
        if self.grids[resource as usize].aspects == 1 {
            return desc.aspects();
        }
        match rows {
            [0, 1] => Aspects::DEPTH,
            [1, 2] => Aspects::STENCIL,
            _ => Aspects::DEPTH_STENCIL,
        }
    }

    /// The range that a block of cells stands for.
    pub fn range(&self, graph: &Graph, resource: u32, rect: &Rect, layouts: (Layout, Layout)) -> BarrierRange {
        let grid = &self.grids[resource as usize];
        let desc = &graph.resources[resource as usize].desc;
        let span = |cuts: u32, [first, end]: [u32; 2], whole: u64| {
            if cuts == u32::MAX {
                (0, whole)
            } else {
                let from = self.cuts[(cuts + first) as usize];
                (from, self.cuts[(cuts + end) as usize] - from)
            }
        };
        match desc {
            ResourceDesc::Buffer(buffer) => {
                let (offset, size) = span(grid.layer_cuts, rect.layers, buffer.size);
                BarrierRange::Buffer(BufferRange { offset, size })
            }
            ResourceDesc::Texture(texture) => {
                let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
                let (base_mip, mip_count) = span(grid.mip_cuts, rect.mips.map(u32::from), u64::from(texture.mips));
                let (base_layer, layer_count) = span(grid.layer_cuts, rect.layers, u64::from(texture.layers));
                let range = TextureRange {
                    base_mip: narrow(base_mip),
                    mip_count: narrow(mip_count),
                    base_layer: narrow(base_layer),
                    layer_count: narrow(layer_count),
                    aspects: self.aspects(resource, desc, rect.aspects),
                };
                BarrierRange::Texture(range, layouts.0, layouts.1)
            }
        }
    }
}

/// Builds the grids and gives every access its block of cells.
pub(super) fn partition(graph: &Graph, (uses, parts): (Vec<Use>, Vec<Part>)) -> Result<Work, CompileError> {
    let one = Grid { base: 0, aspects: 1, mips: 1, layers: 1, mip_cuts: u32::MAX, layer_cuts: u32::MAX };
    let mut work = Work { uses, grids: vec![one; graph.resources.len()], cell_count: 0, cuts: Vec::new() };
    cut(graph, &mut work, &parts);
    let mut base: u64 = 0;
    for grid in &mut work.grids {
        grid.base = u32::try_from(base).unwrap_or(u32::MAX);
        base += u64::from(grid.aspects) * u64::from(grid.mips) * u64::from(grid.layers);
    }
    if base > limits::CELLS as u64 {
        return Err(too_large(&format!("its accesses cut the resources into {base} pieces (limit {})", limits::CELLS)));
    }
    work.cell_count = usize::try_from(base).unwrap_or(usize::MAX);
    assign(&mut work, &parts)?;
    Ok(work)
}

pub(super) fn too_large(what: &str) -> CompileError {
    CompileError::new(ErrorCode::Unsupported, format!("the graph is too large: {what}"))
}

/// Collects where accesses begin and end, in order, without repeats.
fn cut(graph: &Graph, work: &mut Work, parts: &[Part]) {
    const MIPS: u8 = 0;
    const LAYERS: u8 = 1;
    let mut marks: Vec<(u32, u8, u64)> = Vec::with_capacity(parts.len() * 4);
    for part in parts {
        let resource = work.uses[part.access as usize].resource;
        let (mips, layers) = full(&graph.resources[resource as usize].desc);
        if part.mips != [0, mips] {
            marks.extend([0, part.mips[0], part.mips[1], mips].map(|value| (resource, MIPS, value)));
        }
        if part.layers != [0, layers] {
            marks.extend([0, part.layers[0], part.layers[1], layers].map(|value| (resource, LAYERS, value)));
        }
        let aspects = graph.resources[resource as usize].desc.aspects();
        if part.aspects != aspects {
            work.grids[resource as usize].aspects = 2;
        }
    }
    marks.sort_unstable();
    marks.dedup();
    for run in marks.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let (resource, direction, _) = run[0];
        let start = u32::try_from(work.cuts.len()).unwrap_or(u32::MAX);
        let grid = &mut work.grids[resource as usize];
        let count = u32::try_from(run.len() - 1).unwrap_or(u32::MAX);
        if direction == MIPS {
            grid.mip_cuts = start;
            grid.mips = u8::try_from(count).unwrap_or(u8::MAX);
        } else {
            grid.layer_cuts = start;
            grid.layers = count;
        }
        work.cuts.extend(run.iter().map(|mark| mark.2));
    }
}

/// Mips and layers (or bytes) of a whole resource.
pub(super) fn full(desc: &ResourceDesc) -> (u64, u64) {
    match desc {
        ResourceDesc::Texture(texture) => (u64::from(texture.mips), u64::from(texture.layers)),
        ResourceDesc::Buffer(buffer) => (1, buffer.size),
    }
}

fn assign(work: &mut Work, parts: &[Part]) -> Result<(), CompileError> {
    for item in &mut work.uses {
        item.rect = work.grids[item.resource as usize].whole();
    }
    for part in parts {
        let item = &mut work.uses[part.access as usize];
        let grid = &work.grids[item.resource as usize];
        let place = |cuts: u32, count: u32, ends: [u64; 2]| {
            if cuts == u32::MAX {
                return [0, count];
            }
            let cuts = &work.cuts[cuts as usize..(cuts + count + 1) as usize];
            ends.map(|end| u32::try_from(cuts.partition_point(|cut| *cut < end)).unwrap_or(u32::MAX))
        };
        let mips = place(grid.mip_cuts, u32::from(grid.mips), part.mips);
        item.rect.mips = mips.map(|mip| u8::try_from(mip).unwrap_or(u8::MAX));
        item.rect.layers = place(grid.layer_cuts, grid.layers, part.layers);
        if grid.aspects == 2 {
            item.rect.aspects = match part.aspects {
                Aspects::DEPTH => [0, 1],
                Aspects::STENCIL => [1, 2],
                _ => [0, 2],
            };
        }
    }
    let visits: u64 = work.uses.iter().map(|item| item.rect.count()).sum();
    if visits > limits::CELL_VISITS {
        let limit = limits::CELL_VISITS;
        return Err(too_large(&format!("its accesses name {visits} pieces of resources (limit {limit})")));
    }
    Ok(())
}
