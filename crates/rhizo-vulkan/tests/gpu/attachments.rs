//! Depth, stencil, blending, multisampling, vertex and index buffers, dynamic state.

use crate::support::*;
use rhizo_rhi::*;

/// Quads of one colour and depth: a vertex is x, y, depth and the instance's colour.
const SHADER: &str = "
struct Out { @builtin(position) at: vec4f, @location(0) color: vec4f }
@vertex fn vs(@location(0) p: vec3f, @location(1) color: vec4f) -> Out {
    return Out(vec4f(p, 1.0), color);
}
@fragment fn fs(in: Out) -> @location(0) vec4f { return in.color; }";

const POSITION: VertexAttribute = VertexAttribute { location: 0, offset: 0, format: VertexFormat::Float32x3 };
const COLOR: VertexAttribute = VertexAttribute { location: 1, offset: 0, format: VertexFormat::Unorm8x4 };

const BUFFERS: [VertexBufferLayout<'static>; 2] = [
    VertexBufferLayout { stride: 12, step: VertexStep::Vertex, attributes: &[POSITION] },
    VertexBufferLayout { stride: 4, step: VertexStep::Instance, attributes: &[COLOR] },
];

fn pipeline(gpu: &Gpu, state: RenderState<'_>, targets: AttachmentFormats<'_>) -> RasterPipeline {
    let (vertex, fragment) = (gpu.function(SHADER, "vs"), gpu.function(SHADER, "fs"));
    let desc = RasterPipelineDesc {
        label: "quads",
        layout: None,
        vertex: &vertex,
        fragment: Some(&fragment),
        buffers: &BUFFERS,
        state,
        targets,
        cache: None,
    };
    gpu.device.create_raster_pipeline(&desc).unwrap()
}

struct Quads {
    vertices: Buffer,
    colors: Buffer,
    indices: Buffer,
}

/// One quad per rectangle (left, bottom, right, top, depth), drawn with 6 indices from `6 * i`.
fn quads(gpu: &Gpu, rects: &[[f32; 5]], colors: &[[u8; 4]]) -> Quads {
    let corners = |r: &[f32; 5]| {
        let [l, b, right, t, z] = *r;
        [[l, b, z], [right, b, z], [right, t, z], [l, t, z]]
    };
    let vertices: Vec<u8> = rects.iter().flat_map(corners).flatten().flat_map(f32::to_le_bytes).collect();
    let colors: Vec<u8> = colors.concat();
    let indices: Vec<u8> = (0..rects.len() as u16)
        .flat_map(|q| [0, 1, 2, 0, 2, 3].map(|i| q * 4 + i))
        .flat_map(u16::to_le_bytes)
        .collect();
    let make = |data: &[u8], usage| {
        let buffer = gpu.buffer(data.len() as u64, usage, StorageMode::DeviceUpload);
        buffer.write(0, data).unwrap();
        buffer
    };
    Quads {
        vertices: make(&vertices, BufferUsage::VERTEX),
        colors: make(&colors, BufferUsage::VERTEX),
        indices: make(&indices, BufferUsage::INDEX),
    }
}

impl Quads {
    fn draw(&self, pass: &mut RasterPass<'_>, pipeline: &RasterPipeline, quad: u32, instance: u32) {
        let mut bound = pass.bind(pipeline);
        bound.set_vertex_buffer(0, &self.vertices.vertex_view(BufferRange::WHOLE).unwrap());
        bound.set_vertex_buffer(1, &self.colors.vertex_view(BufferRange::WHOLE).unwrap());
        bound.set_index_buffer(&self.indices.index_view(BufferRange::WHOLE, IndexFormat::U16).unwrap());
        bound.draw_indexed(6, 1, 0, (quad * 4) as i32, instance);
    }
}

const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];
const ALL: [f32; 4] = [-1.0, -1.0, 1.0, 1.0];

fn at_depth(z: f32) -> [f32; 5] {
    [ALL[0], ALL[1], ALL[2], ALL[3], z]
}

fn depth_texture(gpu: &Gpu, format: Format, samples: u32, more: TextureUsage) -> Texture {
    let usage = TextureUsage::DEPTH_STENCIL_TARGET | more;
    let extent = Extent::d2(8, 8);
    let desc = TextureDesc { label: "depth", format, extent, samples, usage, ..TextureDesc::default() };
    gpu.device.create_texture(&desc).unwrap()
}

const DEPTH_WRITE: Scope = Scope::new(Stages::FRAGMENT, Access::DEPTH_STENCIL_READ.union(Access::DEPTH_STENCIL_WRITE));

fn pixel(bytes: &[u8], x: usize, y: usize) -> [u8; 4] {
    let at = (y * 8 + x) * 4;
    bytes[at..at + 4].try_into().unwrap()
}

#[test]
fn reversed_depth_keeps_what_is_nearer() {
    on_each(|gpu| {
        let targets = AttachmentFormats {
            colors: &[Some(Format::Rgba8Unorm)],
            depth_stencil: Some(Format::Depth32Float),
            ..AttachmentFormats::default()
        };
        let state = RenderState { depth: Some(DepthState::default()), ..RenderState::default() };
        let pipeline = pipeline(gpu, state, targets);
        // Red fills the target at 0.5; green lies behind it (0.25) on the left and before it (0.75) on the right.
        let quads =
            quads(gpu, &[at_depth(0.5), [-1.0, -1.0, 0.0, 1.0, 0.25], [0.0, -1.0, 1.0, 1.0, 0.75]], &[RED, GREEN]);
        let target = gpu.target(Format::Rgba8Unorm, (8, 8), 1, TextureUsage::empty());
        let depth = depth_texture(gpu, Format::Depth32Float, 1, TextureUsage::COPY_SOURCE);
        let color_view = target.color_target_view(TextureRange::WHOLE).unwrap();
        let depth_view = depth.depth_stencil_target_view(TextureRange::WHOLE).unwrap();
        let (back, depth_back) = (gpu.readback(256), gpu.readback(256));
        gpu.run(|r| {
            r.barriers(&textures(&[
                discard_into(&target, COLOR_WRITE, Layout::RenderTarget),
                discard_into(&depth, DEPTH_WRITE, Layout::DepthStencilWrite),
            ]));
            let depth_stencil = Some(DepthStencilAttachment {
                view: &depth_view,
                depth: DepthOps::default(),
                stencil: DepthOps::default(),
            });
            let colors = [clear(&color_view, [0.0; 4])];
            let mut pass =
                r.raster_pass(&RasterPassDesc { label: "d", colors: &colors, depth_stencil, ..Default::default() });
            for (quad, instance) in [(0, 0), (1, 1), (2, 1)] {
                quads.draw(&mut pass, &pipeline, quad, instance);
            }
            drop(pass);
            read_target(r, &target, &back);
            let before = (DEPTH_WRITE, Layout::DepthStencilWrite);
            r.barriers(&textures(&[transition(&depth, before, (COPY_READ, Layout::CopySource))]));
            r.transfer_pass("depth").copy_texture_to_buffer(&depth, &depth_back, &[whole(&depth)]);
        });
        let (colors, depths) = (read(&back), read(&depth_back));
        for y in 0..8 {
            for x in 0..8 {
                let (color, z) = if x < 4 { (RED, 0.5f32) } else { (GREEN, 0.75) };
                assert_eq!(pixel(&colors, x, y), color, "{x} {y}");
                assert_eq!(pixel(&depths, x, y), z.to_le_bytes(), "{x} {y}");
            }
        }
    });
}

/// Left of the middle of pixel 3's samples: half of its area is covered.
#[test]
fn multisampled_edges_resolve_to_averages() {
    on_each(|gpu| {
        let formats = [Some(Format::Rgba8Unorm)];
        let targets = AttachmentFormats { colors: &formats, samples: 4, ..AttachmentFormats::default() };
        let pipeline = pipeline(gpu, RenderState::default(), targets);
        // Of 8 pixels: the edge at x = 3.5.
        let quads = quads(gpu, &[[-1.0, -1.0, -0.125, 1.0, 0.5]], &[RED]);
        let many = gpu.target(Format::Rgba8Unorm, (8, 8), 4, TextureUsage::empty());
        let one = gpu.target(Format::Rgba8Unorm, (8, 8), 1, TextureUsage::COPY_DESTINATION);
        let views = [&many, &one].map(|t| t.color_target_view(TextureRange::WHOLE).unwrap());
        let (in_pass, by_copy) = (gpu.readback(256), gpu.readback(256));
        let resolve = Scope::new(Stages::FRAGMENT, Access::RESOLVE_WRITE);
        gpu.run(|r| {
            r.barriers(&textures(&[
                discard_into(&many, COLOR_WRITE, Layout::RenderTarget),
                discard_into(&one, resolve, Layout::ResolveDestination),
            ]));
            let color = ColorAttachment { resolve: Some(&views[1]), ..clear(&views[0], [0.0, 0.0, 0.0, 1.0]).unwrap() };
            let colors = [Some(color)];
            let mut pass = r.raster_pass(&RasterPassDesc { label: "msaa", colors: &colors, ..Default::default() });
            quads.draw(&mut pass, &pipeline, 0, 0);
            drop(pass);
            let read = (COPY_READ, Layout::CopySource);
            r.barriers(&textures(&[transition(&one, (resolve, Layout::ResolveDestination), read)]));
            r.transfer_pass("read back").copy_texture_to_buffer(&one, &in_pass, &[whole(&one)]);
            // The same again with a copy.
            let to = (Scope::new(Stages::TRANSFER, Access::RESOLVE_WRITE), Layout::ResolveDestination);
            let from = (Scope::new(Stages::TRANSFER, Access::RESOLVE_READ), Layout::ResolveSource);
            r.barriers(&textures(&[
                transition(&one, (COPY_READ, Layout::Undefined), to),
                transition(&many, (COLOR_WRITE, Layout::RenderTarget), from),
            ]));
            let mut pass = r.transfer_pass("resolve");
            let layers = TextureLayers::mip(0);
            let region = TextureCopy {
                source: layers,
                source_origin: [0; 3],
                destination: layers,
                destination_origin: [0; 3],
                extent: Extent::d2(8, 8),
            };
            pass.resolve(&many, &one, &[region]);
            pass.barriers(&textures(&[transition(&one, to, read)]));
            pass.copy_texture_to_buffer(&one, &by_copy, &[whole(&one)]);
        });
        let (in_pass, by_copy) = (read(&in_pass), read(&by_copy));
        for y in 0..8 {
            for x in 0..8 {
                let red = pixel(&in_pass, x, y)[0];
                match x {
                    0..3 => assert_eq!(red, 255),
                    3 => assert!((64..=192).contains(&red), "{red}"),
                    _ => assert_eq!(red, 0),
                }
            }
        }
        assert_eq!(in_pass, by_copy);
    });
}

#[test]
fn stencil_masks_and_blending_adds() {
    on_each(|gpu| {
        let format = [Format::Depth24Stencil8, Format::Depth32FloatStencil8]
            .into_iter()
            .find(|f| gpu.device.format_support(*f).renderable)
            .unwrap();
        let formats = [Some(Format::Rgba8Unorm)];
        let targets =
            AttachmentFormats { colors: &formats, depth_stencil: Some(format), ..AttachmentFormats::default() };
        let replace = StencilFace { compare: CompareOp::Always, pass: StencilOp::Replace, ..StencilFace::default() };
        let equal = StencilFace { compare: CompareOp::Equal, ..StencilFace::default() };
        let stencil = |face, write_mask| Some(StencilState { front: face, back: face, read_mask: 0xff, write_mask });
        let write = RenderState { stencil: stencil(replace, 0xff), ..RenderState::default() };
        let added = [TargetState { blend: Some(BlendState::ADDITIVE), mask: WriteMask::all() }];
        let test = RenderState { stencil: stencil(equal, 0), targets: &added, ..RenderState::default() };
        let (write, test) = (pipeline(gpu, write, targets), pipeline(gpu, test, targets));
        // The lower half is marked and red; then green is added where marked.
        let quads = quads(gpu, &[[-1.0, -1.0, 1.0, 0.0, 0.5], at_depth(0.5)], &[RED, GREEN]);
        let target = gpu.target(Format::Rgba8Unorm, (8, 8), 1, TextureUsage::empty());
        let depth = depth_texture(gpu, format, 1, TextureUsage::empty());
        let color_view = target.color_target_view(TextureRange::WHOLE).unwrap();
        let depth_view = depth.depth_stencil_target_view(TextureRange::WHOLE).unwrap();
        let back = gpu.readback(256);
        gpu.run(|r| {
            r.barriers(&textures(&[
                discard_into(&target, COLOR_WRITE, Layout::RenderTarget),
                discard_into(&depth, DEPTH_WRITE, Layout::DepthStencilWrite),
            ]));
            let ops = DepthOps { load: LoadOp::Clear([0.0; 4]), store: StoreOp::Discard, read_only: false };
            let depth_stencil = Some(DepthStencilAttachment { view: &depth_view, depth: ops, stencil: ops });
            let colors = [clear(&color_view, [0.0; 4])];
            let mut pass =
                r.raster_pass(&RasterPassDesc { label: "s", colors: &colors, depth_stencil, ..Default::default() });
            pass.set_stencil_reference(7);
            quads.draw(&mut pass, &write, 0, 0);
            quads.draw(&mut pass, &test, 1, 1);
            drop(pass);
            read_target(r, &target, &back);
        });
        let bytes = read(&back);
        for y in 0..8 {
            let expected = if y < 4 { [0; 4] } else { [255, 255, 0, 255] };
            assert_eq!(pixel(&bytes, 5, y), expected, "row {y}");
        }
    });
}

#[test]
fn viewports_and_scissors_count_from_the_top_left() {
    on_each(|gpu| {
        let formats = [Some(Format::Rgba8Unorm)];
        let targets = AttachmentFormats { colors: &formats, ..AttachmentFormats::default() };
        let pipeline = pipeline(gpu, RenderState::default(), targets);
        let quads = quads(gpu, &[at_depth(0.5)], &[RED, GREEN]);
        let target = gpu.target(Format::Rgba8Unorm, (8, 8), 1, TextureUsage::empty());
        let view = target.color_target_view(TextureRange::WHOLE).unwrap();
        let back = gpu.readback(256);
        gpu.run(|r| {
            r.barriers(&textures(&[discard_into(&target, COLOR_WRITE, Layout::RenderTarget)]));
            let colors = [clear(&view, [0.0; 4])];
            let mut pass = r.raster_pass(&RasterPassDesc { label: "v", colors: &colors, ..Default::default() });
            let viewport = Viewport { x: 1.0, y: 2.0, width: 2.0, height: 3.0, min_depth: 0.0, max_depth: 1.0 };
            pass.set_viewports(&[viewport]);
            quads.draw(&mut pass, &pipeline, 0, 0);
            pass.set_viewports(&[Viewport { x: 0.0, y: 0.0, width: 8.0, height: 8.0, ..viewport }]);
            pass.set_scissors(&[[5, 6, 3, 1]]);
            quads.draw(&mut pass, &pipeline, 0, 1);
            drop(pass);
            read_target(r, &target, &back);
        });
        let bytes = read(&back);
        for y in 0..8 {
            for x in 0..8 {
                let expected = match (x, y) {
                    (1..3, 2..5) => RED,
                    (5.., 6) => GREEN,
                    _ => [0; 4],
                };
                assert_eq!(pixel(&bytes, x, y), expected, "{x} {y}");
            }
        }
    });
}

#[test]
fn indirect_draws_take_their_arguments_from_a_buffer() {
    on_each(|gpu| {
        let formats = [Some(Format::Rgba8Unorm)];
        let targets = AttachmentFormats { colors: &formats, ..AttachmentFormats::default() };
        let pipeline = pipeline(gpu, RenderState::default(), targets);
        let quads = quads(gpu, &[[-1.0, -1.0, 0.0, 1.0, 0.5], [0.0, -1.0, 1.0, 1.0, 0.5]], &[RED]);
        // Indices, instances, first index, base vertex, first instance: both quads, with an unused word between.
        let arguments = [6u32, 1, 0, 0, 0, 99, 6, 1, 6, 0, 0].map(u32::to_le_bytes).concat();
        let buffer = gpu.buffer(arguments.len() as u64, BufferUsage::INDIRECT, StorageMode::DeviceUpload);
        buffer.write(0, &arguments).unwrap();
        let target = gpu.target(Format::Rgba8Unorm, (8, 8), 1, TextureUsage::empty());
        let view = target.color_target_view(TextureRange::WHOLE).unwrap();
        let back = gpu.readback(256);
        gpu.run(|r| {
            r.barriers(&textures(&[discard_into(&target, COLOR_WRITE, Layout::RenderTarget)]));
            let colors = [clear(&view, [0.0; 4])];
            let mut pass = r.raster_pass(&RasterPassDesc { label: "i", colors: &colors, ..Default::default() });
            let mut bound = pass.bind(&pipeline);
            bound.set_vertex_buffer(0, &quads.vertices.vertex_view(BufferRange::WHOLE).unwrap());
            bound.set_vertex_buffer(1, &quads.colors.vertex_view(BufferRange::WHOLE).unwrap());
            bound.set_index_buffer(&quads.indices.index_view(BufferRange::WHOLE, IndexFormat::U16).unwrap());
            bound.draw_indexed_indirect(&buffer, 0, 2, 24);
            drop(pass);
            read_target(r, &target, &back);
        });
        assert!(read(&back).chunks_exact(4).all(|p| p == RED));
    });
}

const SAMPLE_DEPTH: &str = "
@group(0) @binding(0) var depth: texture_depth_2d;
@vertex fn vs(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i / 2u) * 4.0 - 1.0, f32(i % 2u) * 4.0 - 1.0, 0.625, 1.0);
}
@fragment fn fs(@builtin(position) p: vec4f) -> @location(0) vec4f {
    return vec4f(textureLoad(depth, vec2i(p.xy), 0), 0.0, 0.0, 1.0);
}";

/// Depth is tested and sampled in one pass, read-only.
#[test]
fn read_only_depth_is_sampled_in_the_pass_that_tests_it() {
    on_each(|gpu| {
        let (vertex, fragment) = (gpu.function(SAMPLE_DEPTH, "vs"), gpu.function(SAMPLE_DEPTH, "fs"));
        let depth_state = DepthState { write: false, ..DepthState::default() };
        let desc = RasterPipelineDesc {
            label: "sample depth",
            layout: None,
            vertex: &vertex,
            fragment: Some(&fragment),
            buffers: &[],
            state: RenderState { depth: Some(depth_state), ..RenderState::default() },
            targets: AttachmentFormats {
                colors: &[Some(Format::Rgba8Unorm)],
                depth_stencil: Some(Format::Depth32Float),
                ..AttachmentFormats::default()
            },
            cache: None,
        };
        let pipeline = gpu.device.create_raster_pipeline(&desc).unwrap();
        let target = gpu.target(Format::Rgba8Unorm, (8, 8), 1, TextureUsage::empty());
        let depth = depth_texture(gpu, Format::Depth32Float, 1, TextureUsage::SHADER_READ);
        let color_view = target.color_target_view(TextureRange::WHOLE).unwrap();
        let depth_view = depth.depth_stencil_target_view(TextureRange::WHOLE).unwrap();
        let read_view = depth.read_view(&ViewDesc::default()).unwrap();
        let writes = [TableWrite::new(0, Binding::Texture(&read_view))];
        let layout = pipeline.layout().table(0).unwrap();
        let table = gpu.device.create_table(&TableDesc { label: "depth", layout, writes: &writes }).unwrap();
        let back = gpu.readback(256);
        gpu.run(|r| {
            r.barriers(&textures(&[
                discard_into(&target, COLOR_WRITE, Layout::RenderTarget),
                discard_into(&depth, DEPTH_WRITE, Layout::DepthStencilWrite),
            ]));
            let ops = DepthOps { load: LoadOp::Clear([0.2, 0.0, 0.0, 0.0]), ..DepthOps::default() };
            let attachment = |depth| Some(DepthStencilAttachment { view: &depth_view, depth, stencil: depth });
            drop(r.raster_pass(&RasterPassDesc {
                label: "clear",
                depth_stencil: attachment(ops),
                ..RasterPassDesc::default()
            }));
            let both = Scope::new(Stages::FRAGMENT, Access::DEPTH_STENCIL_READ | Access::SHADER_READ);
            let before = (DEPTH_WRITE, Layout::DepthStencilWrite);
            r.barriers(&textures(&[transition(&depth, before, (both, Layout::DepthStencilReadOnly))]));
            let read_only = DepthOps { load: LoadOp::Load, store: StoreOp::Store, read_only: true };
            let colors = [clear(&color_view, [0.0; 4])];
            let mut pass = r.raster_pass(&RasterPassDesc {
                label: "read",
                colors: &colors,
                depth_stencil: attachment(read_only),
                ..RasterPassDesc::default()
            });
            let mut bound = pass.bind(&pipeline);
            bound.set_tables(0, &[&table], &[]);
            bound.draw(3, 1, 0, 0);
            drop(pass);
            read_target(r, &target, &back);
        });
        assert!(read(&back).chunks_exact(4).all(|p| p == [51, 0, 0, 255]));
    });
}

/// Each aspect in a layout of its own: depth read-only, stencil written.
#[test]
fn aspects_may_have_different_layouts() {
    on_each(|gpu| {
        let format = Format::Depth32FloatStencil8;
        let formats = [Some(Format::Rgba8Unorm)];
        let targets =
            AttachmentFormats { colors: &formats, depth_stencil: Some(format), ..AttachmentFormats::default() };
        let face = StencilFace { compare: CompareOp::Always, pass: StencilOp::Replace, ..StencilFace::default() };
        let state = RenderState {
            depth: Some(DepthState { write: false, ..DepthState::default() }),
            stencil: Some(StencilState { front: face, back: face, read_mask: 0xff, write_mask: 0xff }),
            ..RenderState::default()
        };
        let pipeline = pipeline(gpu, state, targets);
        let quads = quads(gpu, &[at_depth(0.5)], &[RED]);
        let target = gpu.target(Format::Rgba8Unorm, (8, 8), 1, TextureUsage::empty());
        let depth = depth_texture(gpu, format, 1, TextureUsage::COPY_SOURCE);
        let color_view = target.color_target_view(TextureRange::WHOLE).unwrap();
        let depth_view = depth.depth_stencil_target_view(TextureRange::WHOLE).unwrap();
        let back = gpu.readback(64);
        gpu.run(|r| {
            let write = Layout::DepthStencilWrite;
            r.barriers(&textures(&[
                discard_into(&target, COLOR_WRITE, Layout::RenderTarget),
                discard_into(&depth, DEPTH_WRITE, write),
            ]));
            let ops = DepthOps::default();
            let clear_both = Some(DepthStencilAttachment { view: &depth_view, depth: ops, stencil: ops });
            drop(r.raster_pass(&RasterPassDesc { label: "c", depth_stencil: clear_both, ..Default::default() }));
            let part = |aspects, layout| TextureBarrier {
                range: TextureRange { aspects, ..TextureRange::WHOLE },
                ..transition(&depth, (DEPTH_WRITE, write), (DEPTH_WRITE, layout))
            };
            r.barriers(&textures(&[
                part(Aspects::DEPTH, Layout::DepthStencilReadOnly),
                part(Aspects::STENCIL, Layout::DepthStencilWrite),
            ]));
            let keep = DepthOps { load: LoadOp::Load, store: StoreOp::Store, read_only: true };
            let mixed = Some(DepthStencilAttachment {
                view: &depth_view,
                depth: keep,
                stencil: DepthOps { read_only: false, ..keep },
            });
            let colors = [clear(&color_view, [0.0; 4])];
            let mut pass = r.raster_pass(&RasterPassDesc {
                label: "m",
                colors: &colors,
                depth_stencil: mixed,
                ..Default::default()
            });
            pass.set_stencil_reference(42);
            quads.draw(&mut pass, &pipeline, 0, 0);
            drop(pass);
            let stencil = TextureRange { aspects: Aspects::STENCIL, ..TextureRange::WHOLE };
            let after = (COPY_READ, Layout::CopySource);
            let barrier = TextureBarrier { range: stencil, ..transition(&depth, (DEPTH_WRITE, write), after) };
            r.barriers(&textures(&[barrier]));
            let layers = TextureLayers { aspects: Aspects::STENCIL, ..TextureLayers::mip(0) };
            let region = BufferTextureCopy { layers, ..whole(&depth) };
            r.transfer_pass("stencil").copy_texture_to_buffer(&depth, &back, &[region]);
        });
        assert!(read(&back).iter().all(|s| *s == 42));
    });
}

/// How many of the 64 pixels a red quad at this depth covers.
fn covered(gpu: &Gpu, state: RenderState<'_>, z: f32) -> usize {
    let formats = [Some(Format::Rgba8Unorm)];
    let pipeline = pipeline(gpu, state, AttachmentFormats { colors: &formats, ..AttachmentFormats::default() });
    let quads = quads(gpu, &[[-0.75, -0.75, 0.75, 0.75, z]], &[RED]);
    let target = gpu.target(Format::Rgba8Unorm, (8, 8), 1, TextureUsage::empty());
    let view = target.color_target_view(TextureRange::WHOLE).unwrap();
    let back = gpu.readback(256);
    gpu.run(|r| {
        r.barriers(&textures(&[discard_into(&target, COLOR_WRITE, Layout::RenderTarget)]));
        let colors = [clear(&view, [0.0; 4])];
        let mut pass = r.raster_pass(&RasterPassDesc { label: "covered", colors: &colors, ..Default::default() });
        quads.draw(&mut pass, &pipeline, 0, 0);
        drop(pass);
        read_target(r, &target, &back);
    });
    read(&back).chunks_exact(4).filter(|pixel| *pixel == RED).count()
}

#[test]
fn wireframe_draws_edges_and_solid_draws_areas() {
    on_each(|gpu| {
        let solid = covered(gpu, RenderState::default(), 0.5);
        let edges = covered(gpu, RenderState { fill: FillMode::Wireframe, ..RenderState::default() }, 0.5);
        assert_eq!(solid, 36, "6 x 6 pixels");
        assert!(edges > 0 && edges < solid, "{edges} of {solid}");
    });
}

#[test]
fn depth_clamp_keeps_what_clipping_drops() {
    on_each(|gpu| {
        let clamp = RenderState { depth_clamp: true, ..RenderState::default() };
        assert_eq!(covered(gpu, RenderState::default(), 1.5), 0, "beyond the far plane");
        assert_eq!(covered(gpu, clamp, 1.5), 36);
        assert_eq!(covered(gpu, clamp, -0.5), 36);
    });
}
