//! Pictures: orientation, winding, state, what shaders are given.

use crate::harness::*;
use rhizo_rhi::*;

const TARGET: TextureUsage = TextureUsage::COLOR_TARGET.union(TextureUsage::COPY_SOURCE);
const SIZE: usize = 64;

const TEXTURED: &str = "
struct Out { @builtin(position) position: vec4f, @location(0) color: vec3f, @location(1) uv: vec2f };
@group(1) @binding(0) var image: texture_2d<f32>;
@group(1) @binding(1) var state: sampler;
@vertex fn vs(@location(0) position: vec2f, @location(1) color: vec3f) -> Out {
    return Out(vec4f(position, 0.5, 1.0), color, vec2f(position.x + 1.0, 1.0 - position.y) * 0.5);
}
@fragment fn fs(in: Out) -> @location(0) vec4f {
    return vec4f(in.color * 0.5 + textureSample(image, state, in.uv).rgb * 0.5, 1.0);
}";

fn clear(view: &ColorTargetView, value: [f32; 4]) -> Option<ColorAttachment<'_>> {
    Some(ColorAttachment { view, load: LoadOp::Clear(value), store: StoreOp::Store, resolve: None })
}

/// A triangle over the top-left half: red at the top left, green at the top right, blue at the bottom left.
fn corner_triangle() -> Vec<u8> {
    let corners = [[-1.0, 1.0, 1.0, 0.0, 0.0], [-1.0, -1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 1.0, 0.0]];
    floats(corners.as_flattened())
}

const CORNER_LAYOUT: VertexBufferLayout<'_> = VertexBufferLayout {
    stride: 20,
    step: VertexStep::Vertex,
    attributes: &[
        VertexAttribute { location: 0, offset: 0, format: VertexFormat::Float32x2 },
        VertexAttribute { location: 1, offset: 8, format: VertexFormat::Float32x3 },
    ],
};

fn uv_texture(gpu: &Gpu) -> Texture {
    let usage = TextureUsage::SHADER_READ | TextureUsage::COPY_DESTINATION;
    let texture = gpu.texture(Format::Rgba8Unorm, (SIZE as u32, SIZE as u32), usage);
    let texel = |i: usize| [(i % SIZE * 4) as u8, (i / SIZE * 4) as u8, 0, 255];
    gpu.upload(&texture, 0, &(0..SIZE * SIZE).flat_map(texel).collect::<Vec<_>>());
    texture
}

#[test]
fn a_triangle_samples_an_uploaded_texture_and_the_top_row_comes_first() {
    let gpu = Gpu::new();
    let image = uv_texture(&gpu);
    let target = gpu.texture(Format::Rgba8Unorm, (SIZE as u32, SIZE as u32), TARGET);
    let view = target.color_target_view(TextureRange::WHOLE).expect("a view");
    let module = module(TEXTURED);
    let (vertex, fragment) = (gpu.function(&module, "vs"), gpu.function(&module, "fs"));
    let pipeline = gpu
        .device
        .create_raster_pipeline(&RasterPipelineDesc {
            label: "textured",
            layout: None,
            vertex: &vertex,
            fragment: Some(&fragment),
            buffers: &[CORNER_LAYOUT],
            state: RenderState { cull: CullMode::Back, ..RenderState::default() },
            targets: AttachmentFormats { colors: &[Some(Format::Rgba8Unorm)], ..AttachmentFormats::default() },
            cache: None,
        })
        .expect("a pipeline");
    let layout = pipeline.layout().table(1).expect("group 1").clone();
    let sampler = gpu.device.create_sampler(&SamplerDesc { label: "sampler", ..SamplerDesc::default() }).expect("ok");
    let read = image.read_view(&ViewDesc::default()).expect("a view");
    let writes = [TableWrite::new(0, Binding::Texture(&read)), TableWrite::new(1, Binding::Sampler(&sampler))];
    let table =
        gpu.device.create_table(&TableDesc { label: "table", layout: &layout, writes: &writes }).expect("a table");
    let vertices = gpu.filled(&corner_triangle(), BufferUsage::VERTEX);
    gpu.run(|r| {
        r.push_group("FrameRendering");
        {
            let colors = [clear(&view, [0.0, 0.0, 0.25, 1.0])];
            let mut pass =
                r.raster_pass(&RasterPassDesc { label: "main", colors: &colors, ..RasterPassDesc::default() });
            let mut bound = pass.bind(&pipeline);
            bound.set_tables(1, &[&table], &[]);
            bound.set_vertex_buffer(0, &vertices.vertex_view(BufferRange::WHOLE).expect("a view"));
            bound.draw(3, 1, 0, 0);
        }
        r.pop_group();
    });
    let pixels = gpu.download(&target, 0);
    for y in 0..SIZE {
        for x in 0..SIZE {
            let found = rgba(&pixels, SIZE, x, y);
            let (u, v) = ((x as f32 + 0.5) / 64.0, (y as f32 + 0.5) / 64.0);
            let what = format!("pixel {x}, {y}");
            match (x + y).cmp(&(SIZE - 1)) {
                std::cmp::Ordering::Less => {
                    let texel = [x as f32 * 4.0 / 255.0, y as f32 * 4.0 / 255.0, 0.0];
                    let color = [1.0 - u - v, u, v];
                    let mixed: [f32; 3] = std::array::from_fn(|i| 0.5 * color[i] + 0.5 * texel[i]);
                    near(found, [mixed[0], mixed[1], mixed[2], 1.0], &what);
                }
                std::cmp::Ordering::Equal => {} // on the edge: either rule is right here
                std::cmp::Ordering::Greater => near(found, [0.0, 0.0, 0.25, 1.0], &what),
            }
        }
    }
    gpu.clean();
}

/// Pulls positions from indices, so that pipelines without buffers can draw; colours come from push constants.
const PLAIN: &str = "
struct Push { matrix: mat3x3f, color: vec3f, alpha: f32, shift: vec2f, depth: f32, level: u32 };
var<immediate> push: Push;
@vertex fn vs(@builtin(vertex_index) vertex: u32) -> @builtin(position) vec4f {
    let corner = vec2f(f32(vertex & 1u), f32(vertex >> 1u)) * 2.0 - 1.0;
    let at = push.matrix * vec3f(corner, 1.0);
    return vec4f(at.xy + push.shift, push.depth, 1.0);
}
@fragment fn fs() -> @location(0) vec4f {
    return vec4f(push.color * (f32(push.level) / 255.0), push.alpha);
}";

struct Plain {
    scale: [f32; 2],
    shift: [f32; 2],
    depth: f32,
    color: [f32; 3],
    alpha: f32,
}

impl Plain {
    const WHOLE: Self = Self { scale: [1.0; 2], shift: [0.0; 2], depth: 0.5, color: [1.0; 3], alpha: 1.0 };

    fn bytes(&self) -> Vec<u8> {
        let [x, y] = self.scale;
        let mut all = vec![x, 0.0, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        all.extend(self.color);
        all.extend([self.alpha, self.shift[0], self.shift[1], self.depth]);
        let mut bytes = floats(&all);
        bytes.extend(255_u32.to_ne_bytes());
        bytes
    }
}

fn plain_pipeline(
    gpu: &Gpu,
    state: RenderState<'_>,
    colors: &[Option<Format>],
    depth: Option<Format>,
) -> RasterPipeline {
    let module = module(PLAIN);
    let (vertex, fragment) = (gpu.function(&module, "vs"), gpu.function(&module, "fs"));
    let state = RenderState { topology: Topology::TriangleStrip, ..state };
    gpu.device
        .create_raster_pipeline(&RasterPipelineDesc {
            label: "plain",
            layout: None,
            vertex: &vertex,
            fragment: Some(&fragment),
            buffers: &[],
            state,
            targets: AttachmentFormats { colors, depth_stencil: depth, ..AttachmentFormats::default() },
            cache: None,
        })
        .expect("a pipeline")
}

/// Draws rectangles with one pipeline into a black target of 8 by 8.
fn draw_plain(
    gpu: &Gpu,
    state: RenderState<'_>,
    depth: bool,
    set: &dyn Fn(&mut RasterPass<'_>),
    all: &[Plain],
) -> Vec<u8> {
    draw_plain_over(gpu, state, depth.then_some(0.0), set, all)
}

/// The same over a depth target cleared to a value, if one is given.
fn draw_plain_over(
    gpu: &Gpu,
    state: RenderState<'_>,
    depth: Option<f32>,
    set: &dyn Fn(&mut RasterPass<'_>),
    all: &[Plain],
) -> Vec<u8> {
    let target = gpu.texture(Format::Rgba8Unorm, (8, 8), TARGET);
    let view = target.color_target_view(TextureRange::WHOLE).expect("a view");
    let depth_texture = gpu.texture(Format::Depth32Float, (8, 8), TextureUsage::DEPTH_STENCIL_TARGET);
    let depth_view = depth_texture.depth_stencil_target_view(TextureRange::WHOLE).expect("a view");
    let attached = depth.map(|value| {
        let ops = DepthOps { load: LoadOp::Clear([value; 4]), ..DepthOps::default() };
        DepthStencilAttachment { view: &depth_view, depth: ops, stencil: DepthOps::default() }
    });
    let depth_format = depth.map(|_| Format::Depth32Float);
    let pipeline = plain_pipeline(gpu, state, &[Some(Format::Rgba8Unorm)], depth_format);
    gpu.run(|r| {
        let colors = [clear(&view, [0.0, 0.0, 0.0, 1.0])];
        let desc =
            RasterPassDesc { label: "plain", colors: &colors, depth_stencil: attached, ..RasterPassDesc::default() };
        let mut pass = r.raster_pass(&desc);
        set(&mut pass);
        let mut bound = pass.bind(&pipeline);
        for rectangle in all {
            bound.push_constants(0, &rectangle.bytes());
            bound.draw(4, 1, 0, 0);
        }
    });
    gpu.download(&target, 0)
}

#[test]
fn push_constants_keep_their_layout_and_y_points_up() {
    let gpu = Gpu::new();
    // The upper right quarter, in clip space.
    let quarter = Plain { scale: [0.5; 2], shift: [0.5; 2], color: [0.2, 0.4, 0.6], alpha: 0.8, ..Plain::WHOLE };
    let pixels = draw_plain(&gpu, RenderState::default(), false, &|_| {}, &[quarter]);
    for (x, y) in (0..8).flat_map(|y| (0..8).map(move |x| (x, y))) {
        let expected = if x >= 4 && y < 4 { [0.2, 0.4, 0.6, 0.8] } else { [0.0, 0.0, 0.0, 1.0] };
        near(rgba(&pixels, 8, x, y), expected, &format!("pixel {x}, {y}"));
    }
    gpu.clean();
}

#[test]
fn push_constants_outlast_a_pipeline_of_the_same_layout() {
    let gpu = Gpu::new();
    let push = Some(PushRange { stages: ShaderStages::RASTER, size_bytes: 80 });
    let layout = PipelineLayoutDesc { label: "shared", push, ..PipelineLayoutDesc::default() };
    let layout = gpu.device.create_pipeline_layout(&layout).expect("a layout");
    let module = module(PLAIN);
    let (vertex, fragment) = (gpu.function(&module, "vs"), gpu.function(&module, "fs"));
    let pipelines = [CullMode::None, CullMode::Back].map(|cull| {
        let desc = RasterPipelineDesc {
            label: "plain",
            layout: Some(&layout),
            vertex: &vertex,
            fragment: Some(&fragment),
            buffers: &[],
            state: RenderState { topology: Topology::TriangleStrip, cull, ..RenderState::default() },
            targets: AttachmentFormats { colors: &[Some(Format::Rgba8Unorm)], ..AttachmentFormats::default() },
            cache: None,
        };
        gpu.device.create_raster_pipeline(&desc).expect("a pipeline")
    });
    let target = gpu.texture(Format::Rgba8Unorm, (8, 8), TARGET);
    let view = target.color_target_view(TextureRange::WHOLE).expect("a view");
    gpu.run(|r| {
        let colors = [clear(&view, [0.0; 4])];
        let mut pass = r.raster_pass(&RasterPassDesc { label: "two", colors: &colors, ..RasterPassDesc::default() });
        pass.set_scissors(&[[0, 0, 4, 8]]);
        {
            let mut bound = pass.bind(&pipelines[0]);
            bound.push_constants(0, &Plain::WHOLE.bytes());
            bound.draw(4, 1, 0, 0);
        }
        pass.set_scissors(&[[4, 0, 4, 8]]);
        pass.bind(&pipelines[1]).draw(4, 1, 0, 0);
    });
    let pixels = gpu.download(&target, 0);
    assert!(pixels.chunks(4).all(|p| p == [255; 4]), "{:?}", rgba(&pixels, 8, 6, 3));
    gpu.clean();
}

#[test]
fn culling_sees_windings_with_y_up() {
    let gpu = Gpu::new();
    // The strip's first triangle is (-1,-1), (1,-1), (-1,1): counter-clockwise with y up.
    for (cull, front, drawn) in [
        (CullMode::None, FrontFace::CounterClockwise, true),
        (CullMode::Back, FrontFace::CounterClockwise, true),
        (CullMode::Front, FrontFace::CounterClockwise, false),
        (CullMode::Back, FrontFace::Clockwise, false),
        (CullMode::Front, FrontFace::Clockwise, true),
    ] {
        let state = RenderState { cull, front, ..RenderState::default() };
        let pixels = draw_plain(&gpu, state, false, &|_| {}, &[Plain::WHOLE]);
        let expected = if drawn { 255 } else { 0 };
        assert!(pixels.chunks(4).all(|p| p[0] == expected), "{cull:?} {front:?}");
    }
    gpu.clean();
}

#[test]
fn reversed_depth_keeps_the_nearer_and_clip_z_runs_from_zero_to_one() {
    let gpu = Gpu::new();
    let state = RenderState { depth: Some(DepthState::default()), ..RenderState::default() };
    let at = |depth, color| Plain { depth, color, ..Plain::WHOLE };
    let all = [at(0.9, [1.0, 0.0, 0.0]), at(0.1, [0.0, 1.0, 0.0]), at(-0.5, [0.0, 0.0, 1.0]), at(1.5, [0.0, 0.0, 1.0])];
    let pixels = draw_plain(&gpu, state, true, &|_| {}, &all);
    assert!(pixels.chunks(4).all(|p| p == [255, 0, 0, 255]), "{:?}", rgba(&pixels, 8, 0, 0));
    // A viewport's depth range squeezes 0.9 to 0.45, which is below 0.5.
    let squeeze = |pass: &mut RasterPass<'_>| {
        let viewport = Viewport { x: 0.0, y: 0.0, width: 8.0, height: 8.0, min_depth: 0.0, max_depth: 0.5 };
        pass.set_viewports(&[viewport]);
    };
    let only_below = DepthState { compare: CompareOp::Less, ..DepthState::default() };
    let state_below = RenderState { depth: Some(only_below), ..RenderState::default() };
    let clear_at = 0.5;
    let pixels = draw_plain_over(&gpu, state_below, Some(clear_at), &squeeze, &[at(0.9, [0.0, 0.0, 1.0])]);
    assert!(pixels.chunks(4).all(|p| p == [0, 0, 255, 255]), "{:?}", rgba(&pixels, 8, 0, 0));
    // The other order gives the same picture.
    let all = [at(0.1, [0.0, 1.0, 0.0]), at(0.9, [1.0, 0.0, 0.0])];
    let pixels = draw_plain(&gpu, state, true, &|_| {}, &all);
    assert!(pixels.chunks(4).all(|p| p == [255, 0, 0, 255]), "{:?}", rgba(&pixels, 8, 0, 0));
    gpu.clean();
}

#[test]
fn blending_masks_and_constants_hold() {
    let gpu = Gpu::new();
    let targets = [TargetState { blend: Some(BlendState::ALPHA), mask: WriteMask::R | WriteMask::G | WriteMask::A }];
    let state = RenderState { targets: &targets, ..RenderState::default() };
    let half = |color| Plain { color, alpha: 0.5, ..Plain::WHOLE };
    let all = [half([1.0, 0.0, 1.0]), half([0.0, 1.0, 1.0])];
    let pixels = draw_plain(&gpu, state, false, &|_| {}, &all);
    near(rgba(&pixels, 8, 3, 3), [0.25, 0.5, 0.0, 1.0], "two layers of half alpha, blue masked");

    let equation = |source| BlendEquation { source, destination: BlendFactor::Zero, op: BlendOp::Add };
    let constant = equation(BlendFactor::Constant);
    let targets =
        [TargetState { blend: Some(BlendState { color: constant, alpha: constant }), ..TargetState::default() }];
    let state = RenderState { targets: &targets, ..RenderState::default() };
    let set = |pass: &mut RasterPass<'_>| pass.set_blend_constants([0.25, 0.5, 0.75, 0.5]);
    let pixels = draw_plain(&gpu, state, false, &set, &[Plain::WHOLE]);
    near(rgba(&pixels, 8, 3, 3), [0.25, 0.5, 0.75, 0.5], "the constant factor");
    gpu.clean();
}

#[test]
fn viewports_and_scissors_count_from_the_top() {
    let gpu = Gpu::new();
    let viewport = Viewport { x: 1.0, y: 1.0, width: 4.0, height: 2.0, min_depth: 0.0, max_depth: 1.0 };
    let set = |pass: &mut RasterPass<'_>| pass.set_viewports(&[viewport]);
    let inside = |pixels: &[u8], x: usize, y: usize, w: usize, h: usize| {
        for (px, py) in (0..8).flat_map(|py| (0..8).map(move |px| (px, py))) {
            let lit = (x..x + w).contains(&px) && (y..y + h).contains(&py);
            assert_eq!(rgba(pixels, 8, px, py)[0] == 255, lit, "pixel {px}, {py}");
        }
    };
    inside(&draw_plain(&gpu, RenderState::default(), false, &set, &[Plain::WHOLE]), 1, 1, 4, 2);
    let set = |pass: &mut RasterPass<'_>| pass.set_scissors(&[[2, 1, 100, 2]]);
    inside(&draw_plain(&gpu, RenderState::default(), false, &set, &[Plain::WHOLE]), 2, 1, 6, 2);
    gpu.clean();
}

const INSTANCED: &str = "
struct Tint { color: vec4f };
@group(3) @binding(0) var<uniform> tint: Tint;
struct Out { @builtin(position) position: vec4f, @location(0) @interpolate(flat) instance: u32 };
@vertex fn vs(@builtin(instance_index) instance: u32, @location(0) corner: vec2f, @location(1) x: f32) -> Out {
    return Out(vec4f(corner.x * 0.25 + x, corner.y, 0.5, 1.0), instance);
}
struct Targets { @location(0) color: vec4f, @location(1) number: vec2u };
@fragment fn fs(in: Out) -> Targets {
    return Targets(tint.color, vec2u(in.instance, 7u));
}";

fn instanced_pipeline(gpu: &Gpu) -> (TableLayout, RasterPipeline) {
    let module = module(INSTANCED);
    let (vertex, fragment) = (gpu.function(&module, "vs"), gpu.function(&module, "fs"));
    let entry = TableEntry {
        slot: 0,
        name: "tint".into(),
        kind: BindingKind::Constant { dynamic: true },
        stages: ShaderStages::FRAGMENT,
        count: 1,
        min_size: 16,
    };
    let table_layout =
        gpu.device.create_table_layout(&TableLayoutDesc { label: "object", entries: &[entry] }).expect("a layout");
    let tables = [None, None, None, Some(&table_layout)];
    let layout = PipelineLayoutDesc { label: "layout", tables: &tables, ..PipelineLayoutDesc::default() };
    let layout = gpu.device.create_pipeline_layout(&layout).expect("a layout");
    let corner = [VertexAttribute { location: 0, offset: 0, format: VertexFormat::Float32x2 }];
    let place = [VertexAttribute { location: 1, offset: 4, format: VertexFormat::Float32 }];
    let formats = [Some(Format::Rgba8Unorm), Some(Format::Rg32Uint)];
    let desc = RasterPipelineDesc {
        label: "instanced",
        layout: Some(&layout),
        vertex: &vertex,
        fragment: Some(&fragment),
        buffers: &[
            VertexBufferLayout { stride: 8, step: VertexStep::Vertex, attributes: &corner },
            VertexBufferLayout { stride: 8, step: VertexStep::Instance, attributes: &place },
        ],
        state: RenderState::default(),
        targets: AttachmentFormats { colors: &formats, ..AttachmentFormats::default() },
        cache: None,
    };
    let pipeline = gpu.device.create_raster_pipeline(&desc).expect("a pipeline");
    (table_layout, pipeline)
}

#[test]
fn indices_instances_dynamic_offsets_and_two_targets_work_together() {
    let gpu = Gpu::new();
    let (table_layout, pipeline) = instanced_pipeline(&gpu);
    let step = u64::from(gpu.device.limits().uniform_alignment_bytes);
    let tints = gpu.buffer(step * 2 + 16, BufferUsage::CONSTANT, StorageMode::DeviceUpload);
    tints.write(step * 2, &floats(&[0.5, 0.25, 1.0, 1.0])).expect("written");
    let range = tints.constant_view(BufferRange::new(step, 16)).expect("a view");
    let writes = [TableWrite::new(0, Binding::Constant(&range))];
    let table = TableDesc { label: "table", layout: &table_layout, writes: &writes };
    let table = gpu.device.create_table(&table).expect("a table");

    // Two vertices that nothing may touch come first, and two indices; base vertex and first index step over them.
    let far = 9.0;
    let corners = floats(&[far, far, far, far, -1.0, -1.0, 1.0, -1.0, -1.0, 1.0, 1.0, 1.0]);
    let corners = gpu.filled(&corners, BufferUsage::VERTEX);
    let indices: Vec<u8> = [0_u16, 0, 0, 1, 2, 2, 1, 3].iter().flat_map(|i| i.to_ne_bytes()).collect();
    let indices = gpu.filled(&indices, BufferUsage::INDEX);
    let places = gpu.filled(&floats(&[0.0, far, 0.0, -0.75, 0.0, 0.25]), BufferUsage::VERTEX);
    let color = gpu.texture(Format::Rgba8Unorm, (8, 1), TARGET);
    let number = gpu.texture(Format::Rg32Uint, (8, 1), TextureUsage::COLOR_TARGET | TextureUsage::SHADER_READ);
    let views = [&color, &number].map(|t| t.color_target_view(TextureRange::WHOLE).expect("a view"));
    gpu.run(|r| {
        let colors = [clear(&views[0], [0.0; 4]), clear(&views[1], [3.0, 4.0, 0.0, 0.0])];
        let mut pass = r.raster_pass(&RasterPassDesc { label: "main", colors: &colors, ..RasterPassDesc::default() });
        let mut bound = pass.bind(&pipeline);
        bound.set_tables(3, &[&table], &[step as u32]);
        bound.set_vertex_buffer(0, &corners.vertex_view(BufferRange::WHOLE).expect("a view"));
        bound.set_vertex_buffer(1, &places.vertex_view(BufferRange::WHOLE).expect("a view"));
        bound.set_index_buffer(&indices.index_view(BufferRange::WHOLE, IndexFormat::U16).expect("a view"));
        bound.draw_indexed(6, 2, 2, 2, 1);
    });
    let pixels = gpu.download(&color, 0);
    for x in 0..8 {
        let lit = (0..2).contains(&x) || (4..6).contains(&x);
        let expected = if lit { [0.5, 0.25, 1.0, 1.0] } else { [0.0; 4] };
        near(rgba(&pixels, 8, x, 0), expected, &format!("pixel {x}"));
    }
    // The integers cannot be read back here, so a second pass looks at them.
    assert_eq!(numbers(&gpu, &number), [[1, 7], [1, 7], [3, 4], [3, 4], [2, 7], [2, 7], [3, 4], [3, 4]]);
    gpu.clean();
}

/// Reads small integers through a pass, with texel loads.
fn numbers(gpu: &Gpu, texture: &Texture) -> [[u8; 2]; 8] {
    let module = module(
        "@group(1) @binding(0) var image: texture_2d<u32>;
        @vertex fn vs(@builtin(vertex_index) v: u32) -> @builtin(position) vec4f {
            return vec4f(f32(v & 1u) * 4.0 - 1.0, f32(v >> 1u) * 4.0 - 1.0, 0.5, 1.0);
        }
        @fragment fn fs(@builtin(position) at: vec4f) -> @location(0) vec4f {
            return vec4f(vec2f(textureLoad(image, vec2i(at.xy), 0).xy) / 255.0, 0.0, 1.0);
        }",
    );
    let (vertex, fragment) = (gpu.function(&module, "vs"), gpu.function(&module, "fs"));
    let pipeline = gpu
        .device
        .create_raster_pipeline(&RasterPipelineDesc {
            label: "numbers",
            layout: None,
            vertex: &vertex,
            fragment: Some(&fragment),
            buffers: &[],
            state: RenderState::default(),
            targets: AttachmentFormats { colors: &[Some(Format::Rgba8Unorm)], ..AttachmentFormats::default() },
            cache: None,
        })
        .expect("a pipeline");
    let read = texture.read_view(&ViewDesc::default()).expect("a view");
    let layout = pipeline.layout().table(1).expect("group 1").clone();
    let writes = [TableWrite::new(0, Binding::Texture(&read))];
    let table =
        gpu.device.create_table(&TableDesc { label: "table", layout: &layout, writes: &writes }).expect("a table");
    let target = gpu.texture(Format::Rgba8Unorm, (8, 1), TARGET);
    let view = target.color_target_view(TextureRange::WHOLE).expect("a view");
    gpu.run(|r| {
        let colors = [clear(&view, [0.0; 4])];
        let mut pass =
            r.raster_pass(&RasterPassDesc { label: "numbers", colors: &colors, ..RasterPassDesc::default() });
        let mut bound = pass.bind(&pipeline);
        bound.set_tables(1, &[&table], &[]);
        bound.draw(3, 1, 0, 0);
    });
    let pixels = gpu.download(&target, 0);
    std::array::from_fn(|x| [rgba(&pixels, 8, x, 0)[0], rgba(&pixels, 8, x, 0)[1]])
}

const TWO_TEXTURES: &str = "
@group(1) @binding(0) var a: texture_2d<f32>;
@group(1) @binding(1) var b: texture_2d<f32>;
@group(1) @binding(2) var state: sampler;
@vertex fn vs(@builtin(vertex_index) v: u32) -> @builtin(position) vec4f {
    return vec4f(f32(v & 1u) * 4.0 - 1.0, f32(v >> 1u) * 4.0 - 1.0, 0.5, 1.0);
}
@fragment fn fs(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let uv = at.xy / 8.0;
    return vec4f(textureSampleLevel(a, state, uv, 0.0).r, textureSampleLevel(b, state, uv, 0.0).r, 0.0, 1.0);
}";

#[test]
fn views_pick_levels_and_components_and_textures_keep_apart() {
    let gpu = Gpu::new();
    let usage = TextureUsage::SHADER_READ | TextureUsage::COPY_DESTINATION;
    let desc = TextureDesc { label: "mips", extent: Extent::d2(2, 2), mips: 2, usage, ..TextureDesc::default() };
    let texture = gpu.device.create_texture(&desc).expect("a texture");
    gpu.upload(&texture, 0, &[10, 20, 30, 40].repeat(4));
    gpu.upload(&texture, 1, &[50, 60, 70, 80]);
    let level = texture.read_view(&ViewDesc { range: TextureRange::mip(1), ..ViewDesc::default() }).expect("a view");
    let swizzle = [Component::B, Component::G, Component::R, Component::One];
    let swizzled = texture.read_view(&ViewDesc { swizzle, ..ViewDesc::default() }).expect("a view");
    let module = module(TWO_TEXTURES);
    let (vertex, fragment) = (gpu.function(&module, "vs"), gpu.function(&module, "fs"));
    let pipeline = gpu
        .device
        .create_raster_pipeline(&RasterPipelineDesc {
            label: "two",
            layout: None,
            vertex: &vertex,
            fragment: Some(&fragment),
            buffers: &[],
            state: RenderState::default(),
            targets: AttachmentFormats { colors: &[Some(Format::Rgba8Unorm)], ..AttachmentFormats::default() },
            cache: None,
        })
        .expect("a pipeline");
    let sampler = gpu.device.create_sampler(&SamplerDesc::default()).expect("a sampler");
    let layout = pipeline.layout().table(1).expect("group 1").clone();
    let writes = [
        TableWrite::new(0, Binding::Texture(&level)),
        TableWrite::new(1, Binding::Texture(&swizzled)),
        TableWrite::new(2, Binding::Sampler(&sampler)),
    ];
    let error = gpu.device.create_table(&TableDesc { label: "t", layout: &layout, writes: &writes });
    let error = error.expect_err("one texture through two views");
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    let other = gpu.texture(Format::R8Unorm, (1, 1), usage);
    gpu.upload(&other, 0, &[90]);
    let plain = other.read_view(&ViewDesc::default()).expect("a view");
    for (view_a, expected) in [(&level, [50, 90]), (&swizzled, [30, 90])] {
        let writes = [
            TableWrite::new(0, Binding::Texture(view_a)),
            TableWrite::new(1, Binding::Texture(&plain)),
            TableWrite::new(2, Binding::Sampler(&sampler)),
        ];
        let table = TableDesc { label: "t", layout: &layout, writes: &writes };
        let table = gpu.device.create_table(&table).expect("a table");
        let target = gpu.texture(Format::Rgba8Unorm, (8, 8), TARGET);
        let view = target.color_target_view(TextureRange::WHOLE).expect("a view");
        gpu.run(|r| {
            let colors = [clear(&view, [0.0; 4])];
            let mut pass =
                r.raster_pass(&RasterPassDesc { label: "two", colors: &colors, ..RasterPassDesc::default() });
            let mut bound = pass.bind(&pipeline);
            bound.set_tables(1, &[&table], &[]);
            bound.draw(3, 1, 0, 0);
        });
        let found = rgba(&gpu.download(&target, 0), 8, 4, 4);
        assert_eq!(found[..2], expected);
    }
    gpu.clean();
}
