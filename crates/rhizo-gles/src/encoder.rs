//! Recording: commands become a list, which submission replays. Lists keep their memory, so a steady state allocates
//! nothing.

use crate::device::{lock, unsupported};
use rhizo_rhi::backend::{
    BindPoint, BufferBarrierRef, BufferRef, ColorAttachmentRef, DepthStencilAttachmentRef, GlobalBarrierRef, LayoutRef,
    ObjectRef, RasterPassRef, RecorderBackend, SliceRef, TextureBarrierRef, TextureRef, TimestampRef,
};
use rhizo_rhi::{
    BlitFilter, BufferCopy, BufferRange, BufferTextureCopy, Error, ErrorKind, IndexFormat, Layout, MAX_COLORS,
    MAX_TABLES, Result, TextureBlit, TextureCopy, TextureRange, Viewport,
};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Bytes of push constants: what the contract guarantees.
pub(crate) const PUSH_BYTES: usize = 128;

/// A span of one of the list's pools.
type Span = Range<u32>;

/// One recorded command; words name objects.
pub(crate) enum Command {
    PushGroup(Span),
    PopGroup,
    CopyBuffer { source: u64, destination: u64, region: BufferCopy },
    FillBuffer { buffer: u64, range: BufferRange, value: u32 },
    Upload { source: u64, destination: TextureRef, region: BufferTextureCopy },
    Download { source: TextureRef, destination: u64, region: BufferTextureCopy },
    BeginRaster(u32),
    EndRaster(u32),
    Pipeline(u64),
    Tables { first: u32, count: u32, tables: [u64; MAX_TABLES], offsets: Span },
    Push { offset: u32, data: Span },
    VertexBuffer(u32, SliceRef),
    IndexBuffer(SliceRef, IndexFormat),
    Viewport(Viewport),
    Scissor([u32; 4]),
    StencilReference(u8),
    BlendConstants([f32; 4]),
    Draw { vertices: u32, instances: u32, first_vertex: u32, first_instance: u32 },
    DrawIndexed { indices: u32, instances: u32, first_index: u32, base_vertex: i32, first_instance: u32 },
}

/// A raster pass.
pub(crate) struct Pass {
    pub(crate) label: Span,
    pub(crate) area: [u32; 4],
    pub(crate) colors: [Option<ColorAttachmentRef>; MAX_COLORS],
    pub(crate) depth_stencil: Option<DepthStencilAttachmentRef>,
}

/// The commands of one command buffer, with the pools their spans name.
#[derive(Default)]
pub(crate) struct List {
    pub(crate) label: String,
    pub(crate) commands: Vec<Command>,
    pub(crate) passes: Vec<Pass>,
    bytes: Vec<u8>,
    offsets: Vec<u32>,
}

impl List {
    fn begin(&mut self, label: &str) {
        self.label.clear();
        self.label.push_str(label);
        self.commands.clear();
        self.passes.clear();
        self.bytes.clear();
        self.offsets.clear();
    }

    fn keep(&mut self, data: &[u8]) -> Span {
        let first = self.bytes.len() as u32;
        self.bytes.extend_from_slice(data);
        first..self.bytes.len() as u32
    }

    pub(crate) fn bytes(&self, span: &Span) -> &[u8] {
        &self.bytes[span.start as usize..span.end as usize]
    }

    pub(crate) fn text(&self, span: &Span) -> &str {
        std::str::from_utf8(self.bytes(span)).unwrap_or_default() // it was kept from a `&str`
    }

    pub(crate) fn offsets(&self, span: &Span) -> &[u32] {
        &self.offsets[span.start as usize..span.end as usize]
    }
}

/// Finished lists by the words that submissions name.
#[derive(Default)]
pub(crate) struct Lists {
    by_word: Mutex<HashMap<u64, Arc<Mutex<List>>>>,
    next: AtomicU64,
}

impl Lists {
    pub(crate) fn get(&self, word: u64) -> Result<Arc<Mutex<List>>> {
        let found = lock(&self.by_word).get(&word).cloned();
        found.ok_or_else(|| Error::new(ErrorKind::InvalidState, "no recorded commands have this word"))
    }
}

/// Records one command buffer at a time.
pub(crate) struct GlesRecorder {
    list: List,
    finished: Arc<Mutex<List>>,
    word: u64,
    lists: Arc<Lists>,
    base_vertex: bool,
    error: Option<Error>,
}

impl GlesRecorder {
    pub(crate) fn new(lists: Arc<Lists>, version: (u32, u32)) -> Self {
        let word = lists.next.fetch_add(1, Ordering::Relaxed) + 1;
        let finished = Arc::<Mutex<List>>::default();
        lock(&lists.by_word).insert(word, finished.clone());
        Self { list: List::default(), finished, word, lists, base_vertex: version >= (3, 2), error: None }
    }

    fn add(&mut self, command: Command) {
        self.list.commands.push(command);
    }

    /// Keeps the first refusal, which `finish` returns.
    #[cold]
    #[track_caller]
    fn refuse(&mut self, what: &str, why: &str) {
        self.error.get_or_insert_with(|| unsupported(what, why));
    }
}

impl Drop for GlesRecorder {
    fn drop(&mut self) {
        lock(&self.lists.by_word).remove(&self.word);
    }
}

const NO_COMPUTE: &str = "compute shaders need OpenGL ES 3.1; this backend targets WebGL 2's level (ES 3.0)";
const NO_INDIRECT: &str = "indirect draws need OpenGL ES 3.1";
const NOT_YET: &str = "the OpenGL ES backend does not translate it yet";
const NO_QUERIES: &str = "no query set can be made in OpenGL ES 3.0";

impl RecorderBackend for GlesRecorder {
    fn begin(&mut self, label: &str) -> Result<()> {
        self.list.begin(label);
        self.error = None;
        Ok(())
    }

    fn finish(&mut self, _host_read: bool) -> Result<u64> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        // The old finished list has completed: its memory serves the next recording.
        std::mem::swap(&mut self.list, &mut *lock(&self.finished));
        Ok(self.word)
    }

    fn push_group(&mut self, label: &str) {
        let label = self.list.keep(label.as_bytes());
        self.add(Command::PushGroup(label));
    }

    fn pop_group(&mut self) {
        self.add(Command::PopGroup);
    }

    /// Dropped: everything recorded here is ordered by GL itself.
    fn barriers(&mut self, _: &[GlobalBarrierRef], _: &[BufferBarrierRef], _: &[TextureBarrierRef]) {}

    fn copy_buffer(&mut self, source: BufferRef, destination: BufferRef, regions: &[BufferCopy]) {
        for region in regions {
            self.add(Command::CopyBuffer { source: source.word, destination: destination.word, region: *region });
        }
    }

    fn copy_buffer_to_texture(&mut self, s: BufferRef, d: TextureRef, _: Layout, regions: &[BufferTextureCopy]) {
        for region in regions {
            self.add(Command::Upload { source: s.word, destination: d, region: *region });
        }
    }

    fn copy_texture_to_buffer(&mut self, s: TextureRef, _: Layout, d: BufferRef, regions: &[BufferTextureCopy]) {
        for region in regions {
            self.add(Command::Download { source: s, destination: d.word, region: *region });
        }
    }

    fn copy_texture(&mut self, _: (TextureRef, Layout), _: (TextureRef, Layout), _: &[TextureCopy]) {
        self.refuse("a copy between textures", NOT_YET);
    }

    fn blit(&mut self, _: (TextureRef, Layout), _: (TextureRef, Layout), _: &[TextureBlit], _: BlitFilter) {
        self.refuse("a blit", NOT_YET);
    }

    fn fill_buffer(&mut self, buffer: BufferRef, range: BufferRange, value: u32) {
        self.add(Command::FillBuffer { buffer: buffer.word, range, value });
    }

    fn clear_color(&mut self, _: (TextureRef, Layout), _: TextureRange, _: [f32; 4]) {
        self.refuse("a clear outside passes", NOT_YET);
    }

    fn resolve(&mut self, _: (TextureRef, Layout), _: (TextureRef, Layout), _: &[TextureCopy]) {
        self.refuse("a resolve", NOT_YET);
    }

    fn reset_queries(&mut self, _: ObjectRef, _: u32, _: u32) {
        self.refuse("a query", NO_QUERIES);
    }

    fn write_timestamp(&mut self, _: ObjectRef, _: u32) {
        self.refuse("a timestamp", NO_QUERIES);
    }

    fn resolve_queries(&mut self, _: ObjectRef, _: u32, _: u32, _: BufferRef, _: u64) {
        self.refuse("a query", NO_QUERIES);
    }

    fn begin_query(&mut self, _: ObjectRef, _: u32) {
        self.refuse("a query", NO_QUERIES);
    }

    fn end_query(&mut self, _: ObjectRef, _: u32) {
        self.refuse("a query", NO_QUERIES);
    }

    fn begin_raster(&mut self, pass: &RasterPassRef<'_>) {
        if pass.view_mask != 0 {
            self.refuse("multiview", "OpenGL ES 3.0 has none");
        }
        let mut colors = [None; MAX_COLORS];
        colors[..pass.colors.len()].copy_from_slice(pass.colors);
        let label = self.list.keep(pass.label.as_bytes());
        self.list.passes.push(Pass { label, area: pass.area, colors, depth_stencil: pass.depth_stencil });
        self.add(Command::BeginRaster(self.list.passes.len() as u32 - 1));
    }

    fn end_raster(&mut self) {
        // Passes don't nest: the last one is the open one.
        let last = self.list.passes.len().saturating_sub(1) as u32;
        self.add(Command::EndRaster(last));
    }

    fn begin_compute(&mut self, _: &str, _: Option<TimestampRef>) {
        self.refuse("a compute pass", NO_COMPUTE);
    }

    fn end_compute(&mut self) {}

    fn set_pipeline(&mut self, point: BindPoint, pipeline: ObjectRef) {
        match point {
            BindPoint::Raster => self.add(Command::Pipeline(pipeline.word)),
            BindPoint::Compute => self.refuse("a compute pipeline", NO_COMPUTE),
        }
    }

    fn set_tables(&mut self, _: BindPoint, _: LayoutRef, first: u32, tables: &[ObjectRef], offsets: &[u32]) {
        let start = self.list.offsets.len() as u32;
        self.list.offsets.extend_from_slice(offsets);
        let mut words = [0; MAX_TABLES];
        words.iter_mut().zip(tables).for_each(|(word, table)| *word = table.word);
        let offsets = start..self.list.offsets.len() as u32;
        self.add(Command::Tables { first, count: tables.len() as u32, tables: words, offsets });
    }

    fn push_constants(&mut self, _: BindPoint, _: LayoutRef, offset: u32, data: &[u8]) {
        let data = self.list.keep(data);
        self.add(Command::Push { offset, data });
    }

    fn set_vertex_buffer(&mut self, slot: u32, slice: SliceRef) {
        self.add(Command::VertexBuffer(slot, slice));
    }

    fn set_index_buffer(&mut self, slice: SliceRef, format: IndexFormat) {
        self.add(Command::IndexBuffer(slice, format));
    }

    fn set_viewports(&mut self, viewports: &[Viewport]) {
        // The limit is one.
        for v in viewports {
            if [v.x, v.y, v.width, v.height].iter().any(|n| n.fract() != 0.0) {
                return self.refuse("a viewport between pixels", "OpenGL ES viewports are whole numbers");
            }
            self.add(Command::Viewport(*v));
        }
    }

    fn set_scissors(&mut self, scissors: &[[u32; 4]]) {
        scissors.iter().for_each(|s| self.add(Command::Scissor(*s)));
    }

    fn set_stencil_reference(&mut self, reference: u8) {
        self.add(Command::StencilReference(reference));
    }

    fn set_blend_constants(&mut self, constants: [f32; 4]) {
        self.add(Command::BlendConstants(constants));
    }

    fn draw(&mut self, vertices: u32, instances: u32, first_vertex: u32, first_instance: u32) {
        // GL counts in signed numbers.
        if [vertices, instances, first_vertex].iter().any(|n| *n > i32::MAX as u32) {
            return self
                .refuse("a draw of more than 2^31 - 1 vertices or instances", "OpenGL ES counts in signed numbers");
        }
        self.add(Command::Draw { vertices, instances, first_vertex, first_instance });
    }

    fn draw_indexed(&mut self, indices: u32, instances: u32, first_index: u32, base_vertex: i32, first_instance: u32) {
        if base_vertex != 0 && !self.base_vertex {
            return self.refuse("a base vertex", "it needs OpenGL ES 3.2");
        }
        if [indices, instances].iter().any(|n| *n > i32::MAX as u32) {
            return self
                .refuse("a draw of more than 2^31 - 1 indices or instances", "OpenGL ES counts in signed numbers");
        }
        self.add(Command::DrawIndexed { indices, instances, first_index, base_vertex, first_instance });
    }

    fn draw_indirect(&mut self, _: BufferRef, _: u64, _: u32, _: u32) {
        self.refuse("an indirect draw", NO_INDIRECT);
    }

    fn draw_indexed_indirect(&mut self, _: BufferRef, _: u64, _: u32, _: u32) {
        self.refuse("an indirect draw", NO_INDIRECT);
    }

    fn dispatch(&mut self, _: [u32; 3]) {
        self.refuse("a dispatch", NO_COMPUTE);
    }

    fn dispatch_indirect(&mut self, _: BufferRef, _: u64) {
        self.refuse("a dispatch", NO_COMPUTE);
    }
}
