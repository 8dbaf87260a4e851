//! A steady frame of record and submit allocates nothing on the Rust side. A driver's own C allocations don't count.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use rhizo_rhi::*;
use rhizo_shader::Source;
use rhizo_testkit::drivers::{self, TestDriver};
use std::alloc::{GlobalAlloc, Layout as MemoryLayout, System};
use std::cell::Cell;

/// Counts the allocations of the thread that asks for it.
struct Counting;

thread_local! {
    static COUNT: Cell<Option<usize>> = const { Cell::new(None) };
}

fn count() {
    COUNT.with(|count| count.set(count.get().map(|n| n + 1)));
}

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: MemoryLayout) -> *mut u8 {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: MemoryLayout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) };
    }

    unsafe fn realloc(&self, at: *mut u8, layout: MemoryLayout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SHADER: &str = "
struct Push { offset: vec4f }
@group(0) @binding(0) var<uniform> color: vec4f;
var<immediate> push: Push;
@vertex fn vs(@location(0) at: vec2f) -> @builtin(position) vec4f { return vec4f(at, 0.0, 1.0) + push.offset; }
@fragment fn fs() -> @location(0) vec4f { return color; }";

struct Frame {
    pipeline: RasterPipeline,
    table: BindingTable,
    vertices: VertexBufferView,
    target: Texture,
    view: ColorTargetView,
    times: QuerySet,
    back: Buffer,
}

fn prepare(device: &Device) -> Frame {
    let function = |entry| {
        let artifact = rhizo_shader::compile(&Source::wgsl(entry, SHADER), entry, device.shader_target()).unwrap();
        device.create_function(&artifact).unwrap()
    };
    let attribute = VertexAttribute { location: 0, offset: 0, format: VertexFormat::Float32x2 };
    let buffers = [VertexBufferLayout { stride: 8, step: VertexStep::Vertex, attributes: &[attribute] }];
    let desc = RasterPipelineDesc {
        label: "frame",
        layout: None,
        vertex: &function("vs"),
        fragment: Some(&function("fs")),
        buffers: &buffers,
        state: RenderState::default(),
        targets: AttachmentFormats { colors: &[Some(Format::Rgba8Unorm)], ..AttachmentFormats::default() },
        cache: None,
    };
    let pipeline = device.create_raster_pipeline(&desc).unwrap();
    let buffer = |size_bytes, usage, storage| {
        device.create_buffer(&BufferDesc { label: "b", size_bytes, usage, storage }).unwrap()
    };
    let color = buffer(16, BufferUsage::CONSTANT, StorageMode::DeviceUpload);
    let color = color.constant_view(BufferRange::WHOLE).unwrap();
    let writes = [TableWrite::new(0, Binding::Constant(&color))];
    let layout = pipeline.layout().table(0).unwrap();
    let table = device.create_table(&TableDesc { label: "t", layout, writes: &writes }).unwrap();
    let vertices = buffer(64, BufferUsage::VERTEX, StorageMode::DeviceUpload).vertex_view(BufferRange::WHOLE).unwrap();
    let usage = TextureUsage::COLOR_TARGET | TextureUsage::COPY_SOURCE;
    let desc = TextureDesc { label: "target", extent: Extent::d2(16, 16), usage, ..TextureDesc::default() };
    let target = device.create_texture(&desc).unwrap();
    Frame {
        pipeline,
        table,
        vertices,
        view: target.color_target_view(TextureRange::WHOLE).unwrap(),
        target,
        times: device.create_query_set("times", QueryKind::Timestamp, 2).unwrap(),
        back: buffer(16 * 16 * 4, BufferUsage::COPY_DESTINATION, StorageMode::Readback),
    }
}

fn transition(target: &Texture, before: (Scope, Layout), after: (Scope, Layout)) -> TextureBarrier<'_> {
    let (before, before_layout, after, after_layout) = (before.0, before.1, after.0, after.1);
    TextureBarrier {
        texture: target,
        range: TextureRange::WHOLE,
        before,
        before_layout,
        after,
        after_layout,
        queues: None,
    }
}

fn frame(queue: &Queue, pool: &mut CommandPool, f: &Frame) {
    let draw = Scope::new(Stages::FRAGMENT, Access::RENDER_TARGET_WRITE);
    let copy = Scope::new(Stages::TRANSFER, Access::TRANSFER_READ);
    let mut recorder = pool.begin("frame").unwrap();
    let start = transition(&f.target, (copy, Layout::Undefined), (draw, Layout::RenderTarget));
    recorder.barriers(&Barriers { textures: &[start], ..Barriers::default() });
    let color = ColorAttachment { view: &f.view, load: LoadOp::Clear([0.0; 4]), store: StoreOp::Store, resolve: None };
    let timestamps = Some(PassTimestamps { set: &f.times, begin: Some(0), end: Some(1) });
    let mut pass = recorder.raster_pass(&RasterPassDesc {
        label: "main",
        colors: &[Some(color)],
        timestamps,
        ..RasterPassDesc::default()
    });
    let mut bound = pass.bind(&f.pipeline);
    for i in 0..1000u32 {
        if i % 8 == 0 {
            bound.set_tables(0, &[&f.table], &[]);
            bound.set_vertex_buffer(0, &f.vertices);
        }
        bound.push_constants(0, &[(i % 256) as u8; 16]);
        bound.draw(3, 1, 0, 0);
    }
    drop(pass);
    let end = transition(&f.target, (draw, Layout::RenderTarget), (copy, Layout::CopySource));
    recorder.barriers(&Barriers { textures: &[end], ..Barriers::default() });
    let region = BufferTextureCopy {
        buffer_offset: 0,
        row_pitch: 0,
        rows_per_slice: 0,
        layers: TextureLayers::mip(0),
        origin: [0; 3],
        extent: Extent::d2(16, 16),
    };
    recorder.transfer_pass("read back").copy_texture_to_buffer(&f.target, &f.back, &[region]);
    let commands = recorder.finish().unwrap();
    let submitted = queue.submit_commands(&[&commands]).unwrap();
    assert!(queue.wait(submitted, 20_000_000_000).unwrap());
}

fn allocations(driver: &TestDriver) -> usize {
    let instance = rhizo_vulkan::instance(&InstanceDesc::new(Backend::Vulkan)).unwrap();
    let part = driver.adapter_name_contains().unwrap();
    let adapter = instance.adapters().iter().position(|a| a.name.contains(part));
    let adapter = adapter.unwrap_or_else(|| panic!("no adapter of {driver}: run `cargo xtask setup`"));
    let device = instance.open(adapter, &DeviceDesc::default()).unwrap();
    let queue = device.queue(QueueKind::Graphics, 0).unwrap();
    let mut pool = queue.create_pool();
    let prepared = prepare(&device);
    (0..4).for_each(|_| frame(&queue, &mut pool, &prepared));
    COUNT.with(|count| count.set(Some(0)));
    (0..16).for_each(|_| frame(&queue, &mut pool, &prepared));
    COUNT.with(|count| count.take()).unwrap()
}

#[test]
fn a_steady_frame_allocates_nothing() {
    if std::env::var_os("VK_DRIVER_FILES").is_none() {
        let list = drivers::driver_files(&drivers::installed_drivers()).expect("no driver: run `cargo xtask setup`");
        // SAFETY: this is the only test of the binary, and no instance exists yet.
        unsafe {
            std::env::set_var("VK_DRIVER_FILES", &list);
            std::env::set_var("VK_ICD_FILENAMES", &list);
        }
    }
    COUNT.with(|count| count.set(Some(0)));
    drop(vec![1u8; 100]);
    assert_eq!(COUNT.with(Cell::take), Some(1), "the counter counts");
    for driver in TestDriver::SOFTWARE {
        assert_eq!(allocations(&driver), 0, "{driver}: allocations in 16 frames");
    }
}
