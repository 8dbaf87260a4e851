//! A compute pass writes UVs into a texture; a raster pass draws a coloured triangle that samples it.

use crate::{module, on_each_driver, read, submit_and_wait};
use rhizo_rhi::*;

const UV: u32 = 16;
/// 25 texels of 4 bytes: no multiple of 256, and neither side is a power of two.
const SIZE: (u32, u32) = (25, 19);
const ALIGNED_PITCH: u32 = 256;
const WEIGHT: f32 = 0.25;
const CLEAR: [f32; 4] = [0.2, 0.4, 0.6, 1.0];

/// Position and colour; y points up.
const CORNERS: [([f32; 2], [f32; 3]); 3] =
    [([-0.1, 0.9], [1.0, 0.0, 0.0]), ([-0.8, -0.7], [0.0, 1.0, 0.0]), ([0.7, -0.4], [0.0, 0.0, 1.0])];

const COMPUTE: &str = "
@group(0) @binding(0) var uv: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = vec2<f32>(textureDimensions(uv));
    textureStore(uv, id.xy, vec4((vec2<f32>(id.xy) + 0.5) / size, 0.0, 1.0));
}";

const RASTER: &str = "
var<immediate> weight: f32;
@group(0) @binding(0) var uv: texture_2d<f32>;
@group(0) @binding(1) var nearest: sampler;
struct Corner { @builtin(position) position: vec4<f32>, @location(0) color: vec3<f32>, @location(1) at: vec2<f32> }
@vertex fn vs(@location(0) position: vec2<f32>, @location(1) color: vec3<f32>) -> Corner {
    return Corner(vec4(position, 0.5, 1.0), color, position * vec2(0.5, -0.5) + 0.5);
}
@fragment fn fs(in: Corner) -> @location(0) vec4<f32> {
    let sampled = textureSampleLevel(uv, nearest, in.at, 0.0).rgb;
    return vec4(mix(in.color, sampled, weight), 1.0);
}";

struct Scene {
    compute: ComputePipeline,
    compute_table: BindingTable,
    raster: RasterPipeline,
    raster_table: BindingTable,
    corners: Buffer,
    indices: Buffer,
    target: Texture,
    tight: Buffer,
    padded: Buffer,
    uv: Texture,
}

fn texture(device: &Device, label: &str, size: (u32, u32), usage: TextureUsage) -> Texture {
    let extent = Extent::d2(size.0, size.1);
    device.create_texture(&TextureDesc { label, extent, usage, ..TextureDesc::default() }).unwrap()
}

fn host_buffer(device: &Device, label: &str, usage: BufferUsage, bytes: &[u8]) -> Buffer {
    let desc = BufferDesc { label, size_bytes: bytes.len() as u64, usage, storage: StorageMode::DeviceUpload };
    let buffer = device.create_buffer(&desc).unwrap();
    buffer.write(0, bytes).unwrap();
    buffer
}

fn readback(device: &Device, label: &str, pitch: u32) -> Buffer {
    let size_bytes = u64::from(pitch) * u64::from(SIZE.1);
    let usage = BufferUsage::COPY_DESTINATION;
    device.create_buffer(&BufferDesc { label, size_bytes, usage, storage: StorageMode::Readback }).unwrap()
}

fn table(device: &Device, layout: &PipelineLayout, writes: &[TableWrite<'_>]) -> BindingTable {
    device.create_table(&TableDesc { label: "table", layout: layout.table(0).unwrap(), writes }).unwrap()
}

fn raster_pipeline(device: &Device) -> RasterPipeline {
    let module = module("triangle", RASTER);
    let vertex = device.create_function(&module.compile("vs", device.shader_target()).unwrap()).unwrap();
    let fragment = device.create_function(&module.compile("fs", device.shader_target()).unwrap()).unwrap();
    let attributes = [
        VertexAttribute { location: 0, offset: 0, format: VertexFormat::Float32x2 },
        VertexAttribute { location: 1, offset: 8, format: VertexFormat::Float32x3 },
    ];
    device
        .create_raster_pipeline(&RasterPipelineDesc {
            label: "triangle",
            layout: None,
            vertex: &vertex,
            fragment: Some(&fragment),
            buffers: &[VertexBufferLayout { stride: 20, step: VertexStep::Vertex, attributes: &attributes }],
            // The corners run counter-clockwise with y up: a wrong orientation culls the triangle.
            state: RenderState { cull: CullMode::Back, ..RenderState::default() },
            targets: AttachmentFormats { colors: &[Some(Format::Rgba8Unorm)], ..AttachmentFormats::default() },
            cache: None,
        })
        .unwrap()
}

fn scene(device: &Device) -> Scene {
    let uv = texture(device, "uv", (UV, UV), TextureUsage::SHADER_READ | TextureUsage::SHADER_WRITE);
    let target = texture(device, "target", SIZE, TextureUsage::COLOR_TARGET | TextureUsage::COPY_SOURCE);
    let function = module("uv", COMPUTE).compile("main", device.shader_target()).unwrap();
    let function = device.create_function(&function).unwrap();
    let compute =
        ComputePipelineDesc { label: "uv", layout: None, function: &function, group_size: [8, 8, 1], cache: None };
    let compute = device.create_compute_pipeline(&compute).unwrap();
    let raster = raster_pipeline(device);
    let nearest =
        SamplerDesc { min: Filter::Nearest, mag: Filter::Nearest, mip: Filter::Nearest, ..SamplerDesc::default() };
    let sampler = device.create_sampler(&nearest).unwrap();
    let (write, read) = (uv.write_view(&ViewDesc::default()).unwrap(), uv.read_view(&ViewDesc::default()).unwrap());
    let write = TableWrite { slot: 0, index: 0, binding: Binding::StorageTexture(&write) };
    let reads = [
        TableWrite { slot: 0, index: 0, binding: Binding::Texture(&read) },
        TableWrite { slot: 1, index: 0, binding: Binding::Sampler(&sampler) },
    ];
    let corners: Vec<u8> =
        CORNERS.iter().flat_map(|(p, c)| p.iter().chain(c)).flat_map(|value| value.to_ne_bytes()).collect();
    let indices: Vec<u8> = [0_u16, 1, 2].iter().flat_map(|index| index.to_ne_bytes()).collect();
    Scene {
        compute_table: table(device, compute.layout(), &[write]),
        raster_table: table(device, raster.layout(), &reads),
        corners: host_buffer(device, "corners", BufferUsage::VERTEX, &corners),
        indices: host_buffer(device, "indices", BufferUsage::INDEX, &indices),
        tight: readback(device, "tight", SIZE.0 * 4),
        padded: readback(device, "padded", ALIGNED_PITCH),
        compute,
        raster,
        target,
        uv,
    }
}

fn transition(recorder: &mut Recorder<'_>, texture: &Texture, before: (Scope, Layout), after: (Scope, Layout)) {
    let barrier = TextureBarrier {
        texture,
        range: TextureRange::WHOLE,
        before: before.0,
        before_layout: before.1,
        after: after.0,
        after_layout: after.1,
        queues: None,
    };
    recorder.barriers(&Barriers { textures: &[barrier], ..Barriers::default() });
}

fn record(pool: &mut CommandPool, scene: &Scene) -> CommandBuffer {
    let mut recorder = pool.begin("frame").unwrap();
    let none = (Scope::NONE, Layout::Undefined);
    let write = (Scope::new(Stages::COMPUTE, Access::SHADER_WRITE), Layout::General);
    let draw = (Scope::new(Stages::FRAGMENT, Access::RENDER_TARGET_WRITE), Layout::RenderTarget);
    recorder.push_group("FrameRendering");
    transition(&mut recorder, &scene.uv, none, write);
    {
        let mut pass = recorder.compute_pass(&ComputePassDesc { label: "uv", timestamps: None });
        let mut bound = pass.bind(&scene.compute);
        bound.set_tables(0, &[&scene.compute_table], &[]);
        bound.dispatch([UV / 8, UV / 8, 1]);
    }
    let sample = (Scope::new(Stages::FRAGMENT, Access::SHADER_READ), Layout::ShaderReadOnly);
    transition(&mut recorder, &scene.uv, write, sample);
    transition(&mut recorder, &scene.target, none, draw);
    draw_triangle(&mut recorder, scene);
    recorder.pop_group();
    let copy = (Scope::new(Stages::TRANSFER, Access::TRANSFER_READ), Layout::CopySource);
    transition(&mut recorder, &scene.target, draw, copy);
    {
        let mut pass = recorder.transfer_pass("readback");
        for (buffer, row_pitch) in [(&scene.tight, 0), (&scene.padded, ALIGNED_PITCH)] {
            let region = BufferTextureCopy {
                buffer_offset: 0,
                row_pitch,
                rows_per_slice: 0,
                layers: TextureLayers::mip(0),
                origin: [0; 3],
                extent: Extent::d2(SIZE.0, SIZE.1),
            };
            pass.copy_texture_to_buffer(&scene.target, buffer, &[region]);
        }
    }
    recorder.finish().unwrap()
}

fn draw_triangle(recorder: &mut Recorder<'_>, scene: &Scene) {
    let view = scene.target.color_target_view(TextureRange::WHOLE).unwrap();
    let color = ColorAttachment { view: &view, load: LoadOp::Clear(CLEAR), store: StoreOp::Store, resolve: None };
    let mut pass =
        recorder.raster_pass(&RasterPassDesc { label: "triangle", colors: &[Some(color)], ..Default::default() });
    let mut bound = pass.bind(&scene.raster);
    bound.set_tables(0, &[&scene.raster_table], &[]);
    bound.push_constants(0, &WEIGHT.to_ne_bytes());
    bound.set_vertex_buffer(0, &scene.corners.vertex_view(BufferRange::WHOLE).unwrap());
    bound.set_index_buffer(&scene.indices.index_view(BufferRange::WHOLE, IndexFormat::U16).unwrap());
    bound.draw_indexed(3, 1, 0, 0, 0);
}

/// What the contract's conventions say about a pixel, or `None` on an edge, where drivers may round either way.
fn expected(x: u32, y: u32) -> Option<[u8; 4]> {
    let ndc = [(x as f32 + 0.5) / SIZE.0 as f32 * 2.0 - 1.0, 1.0 - (y as f32 + 0.5) / SIZE.1 as f32 * 2.0];
    let area = |a: [f32; 2], b: [f32; 2], c: [f32; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let [a, b, c] = CORNERS.map(|(position, _)| position);
    let weights = [area(ndc, b, c), area(a, ndc, c), area(a, b, ndc)].map(|part| part / area(a, b, c));
    if weights.iter().any(|w| w.abs() < 0.02) {
        return None;
    }
    if weights.iter().any(|w| *w < 0.0) {
        return Some(CLEAR.map(|value| (value * 255.0).round() as u8));
    }
    let texel = |ndc: f32, scale: f32| (((ndc * scale + 0.5) * UV as f32).floor() + 0.5) / UV as f32;
    let sampled = [texel(ndc[0], 0.5), texel(ndc[1], -0.5), 0.0];
    let mut pixel = [255; 4];
    for (i, value) in pixel.iter_mut().take(3).enumerate() {
        let color: f32 = weights.iter().zip(&CORNERS).map(|(w, (_, c))| w * c[i]).sum();
        *value = ((color + (sampled[i] - color) * WEIGHT) * 255.0).round() as u8;
    }
    Some(pixel)
}

#[test]
fn triangle_samples_what_compute_wrote() {
    on_each_driver(|device, queue| {
        let scene = scene(device);
        let mut pool = queue.create_pool();
        submit_and_wait(queue, &record(&mut pool, &scene));
        let (tight, padded) = (read(&scene.tight), read(&scene.padded));
        let row = SIZE.0 as usize * 4;
        let (mut inside, mut outside) = (0, 0);
        for y in 0..SIZE.1 {
            let from = y as usize * ALIGNED_PITCH as usize;
            let same = tight[y as usize * row..][..row] == padded[from..][..row];
            assert!(same, "row {y} differs between the direct copy and the lowered one");
            for x in 0..SIZE.0 {
                let Some(want) = expected(x, y) else { continue };
                let got = &tight[y as usize * row + x as usize * 4..][..4];
                let near = want.iter().zip(got).all(|(w, g)| w.abs_diff(*g) <= 4);
                assert!(near, "pixel {x}, {y} is {got:?}, expected {want:?}");
                *if want == CLEAR.map(|v| (v * 255.0).round() as u8) { &mut outside } else { &mut inside } += 1;
            }
        }
        assert!(inside > 80 && outside > 200, "{inside} pixels compared inside the triangle, {outside} outside");
    });
}

#[test]
fn recorders_are_reused_and_pictures_stay_the_same() {
    on_each_driver(|device, queue| {
        let scene = scene(device);
        let mut pool = queue.create_pool();
        submit_and_wait(queue, &record(&mut pool, &scene));
        let first = read(&scene.tight);
        for _ in 0..8 {
            drop(record(&mut pool, &scene)); // never submitted
            let commands = record(&mut pool, &scene);
            submit_and_wait(queue, &commands);
            assert_eq!(read(&scene.tight), first);
            let again = queue.submit_commands(&[&commands]).unwrap_err();
            assert_eq!(again.clause_id(), Some("RHZ-QUEUE-2"));
        }
    });
}
