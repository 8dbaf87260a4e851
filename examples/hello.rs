//! A compute pass writes texture coordinates into a texture; a raster pass draws a coloured triangle that samples it. Both
//! are inside one debug group, `FrameRendering`. Where there are no compute shaders (OpenGL ES 3.0) the CPU uploads the
//! same texture.
//!
//!     cargo run -p rhizo-examples --bin hello -- --out hello.png --backend vulkan
//!
//! Under RenderDoc, `--capture` brackets the work, as there is no presentation to tell where a frame ends:
//!
//!     renderdoccmd capture -w -c hello target/debug/hello --capture
#![forbid(unsafe_code)]

use anyhow::{Context, Result, bail};
use rhizo::shader::{Source, compile};
use rhizo::*;

const SIZE: u32 = 256;
const UV_SIZE: u32 = 64;
const TIMEOUT_NS: u64 = 20_000_000_000;

const COMPUTE: &str = "
@group(1) @binding(0) var uv: texture_storage_2d<rgba8unorm, write>;

@compute @workgroup_size(8, 8)
fn write_uv(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(uv);
    if (id.x < size.x && id.y < size.y) {
        let coordinate = (vec2<f32>(id.xy) + 0.5) / vec2<f32>(size);
        textureStore(uv, id.xy, vec4<f32>(coordinate, 0.0, 1.0));
    }
}
";

const RASTER: &str = "
struct Vertex {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec3<f32>,
    @location(1) uv: vec2<f32>,
}

@vertex
fn triangle(@location(0) position: vec2<f32>, @location(1) color: vec3<f32>) -> Vertex {
    // Texture coordinates have their origin at the top left, clip space has y up.
    let uv = vec2<f32>(position.x * 0.5 + 0.5, 0.5 - position.y * 0.5);
    return Vertex(vec4<f32>(position, 0.5, 1.0), color, uv);
}

@group(1) @binding(0) var uv_texture: texture_2d<f32>;
@group(1) @binding(1) var uv_sampler: sampler;

@fragment
fn shade(in: Vertex) -> @location(0) vec4<f32> {
    let sampled = textureSample(uv_texture, uv_sampler, in.uv).rgb;
    return vec4<f32>(mix(in.color, sampled, 0.5), 1.0);
}
";

/// x, y, red, green, blue.
const VERTICES: [[f32; 5]; 3] = [[0.0, 0.8, 1.0, 0.0, 0.0], [-0.8, -0.8, 0.0, 1.0, 0.0], [0.8, -0.8, 0.0, 0.0, 1.0]];

const COPY_WRITE: Scope = Scope::new(Stages::TRANSFER, Access::TRANSFER_WRITE);
const COPY_READ: Scope = Scope::new(Stages::TRANSFER, Access::TRANSFER_READ);
const SAMPLED: Scope = Scope::new(Stages::FRAGMENT, Access::SHADER_READ);
const DRAWN: Scope = Scope::new(Stages::FRAGMENT, Access::RENDER_TARGET_WRITE);

/// Draws the picture: `SIZE` x `SIZE` RGBA8 rows, top first.
pub fn draw(device: &Device) -> Result<Vec<u8>> {
    let queue = device.queue(QueueKind::Graphics, 0)?;
    let compute = compute_pipeline(device);
    let uv = uv_texture(device, compute.is_ok())?;
    let target = device.create_texture(&TextureDesc {
        label: "target",
        extent: Extent::d2(SIZE, SIZE),
        usage: TextureUsage::COLOR_TARGET | TextureUsage::COPY_SOURCE,
        ..TextureDesc::default()
    })?;
    let readback = device.create_buffer(&BufferDesc {
        label: "readback",
        size_bytes: u64::from(SIZE * SIZE * 4),
        usage: BufferUsage::COPY_DESTINATION,
        storage: StorageMode::Readback,
    })?;
    let mut pool = queue.create_pool();
    let mut recorder = pool.begin("hello")?;
    let (vertices, staging) = vertex_buffer(device, &mut recorder)?;
    // Kept until the work is submitted: what a command names must be alive when it is recorded, not longer.
    let texels = if compute.is_err() { Some(upload_uv(device, &uv, &mut recorder)?) } else { None };

    recorder.push_group("FrameRendering");
    if let Ok(pipeline) = &compute {
        write_uv(device, &uv, pipeline, &mut recorder)?;
    }
    draw_triangle(device, &uv, &target, &vertices, &mut recorder)?;
    recorder.pop_group();

    read_back(&target, &readback, &mut recorder);
    let commands = recorder.finish()?;
    drop((staging, texels));
    let submission = queue.submit_commands(&[&commands])?;
    if !queue.wait(submission, TIMEOUT_NS)? {
        bail!("the GPU did not finish within {TIMEOUT_NS} ns");
    }
    let mut pixels = vec![0; (SIZE * SIZE * 4) as usize];
    readback.read_into(0, &mut pixels)?;
    Ok(pixels)
}

/// The compute pipeline, or the reason why there is none.
fn compute_pipeline(device: &Device) -> Result<ComputePipeline> {
    let function =
        device.create_function(&compile(&Source::wgsl("uv.wgsl", COMPUTE), "write_uv", device.shader_target())?)?;
    Ok(device.create_compute_pipeline(&ComputePipelineDesc {
        label: "write uv",
        layout: None,
        function: &function,
        group_size: [8, 8, 1],
        cache: None,
    })?)
}

fn uv_texture(device: &Device, storage: bool) -> Result<Texture> {
    let written = if storage { TextureUsage::SHADER_WRITE } else { TextureUsage::COPY_DESTINATION };
    Ok(device.create_texture(&TextureDesc {
        label: "uv",
        extent: Extent::d2(UV_SIZE, UV_SIZE),
        usage: TextureUsage::SHADER_READ | written,
        ..TextureDesc::default()
    })?)
}

fn vertex_buffer(device: &Device, recorder: &mut Recorder<'_>) -> Result<(Buffer, Buffer)> {
    let bytes: &[u8] = bytemuck::cast_slice(&VERTICES);
    let size_bytes = bytes.len() as u64;
    let (usage, storage) = (BufferUsage::COPY_SOURCE, StorageMode::Upload);
    let staging = device.create_buffer(&BufferDesc { label: "staging", size_bytes, usage, storage })?;
    staging.write(0, bytes)?;
    let (usage, storage) = (BufferUsage::VERTEX | BufferUsage::COPY_DESTINATION, StorageMode::DeviceLocal);
    let vertices = device.create_buffer(&BufferDesc { label: "vertices", size_bytes, usage, storage })?;
    let mut pass = recorder.transfer_pass("upload vertices");
    pass.copy_buffer(&staging, &vertices, &[BufferCopy { source_offset: 0, destination_offset: 0, size: size_bytes }]);
    let barrier = BufferBarrier {
        buffer: &vertices,
        range: BufferRange::WHOLE,
        before: COPY_WRITE,
        after: Scope::new(Stages::VERTEX_INPUT, Access::VERTEX_READ),
        queues: None,
    };
    pass.barriers(&Barriers { buffers: &[barrier], ..Barriers::default() });
    drop(pass);
    Ok((vertices, staging))
}

fn transition<'a>(texture: &'a Texture, before: (Scope, Layout), after: (Scope, Layout)) -> TextureBarrier<'a> {
    let (range, queues) = (TextureRange::WHOLE, None);
    TextureBarrier {
        texture,
        range,
        before: before.0,
        before_layout: before.1,
        after: after.0,
        after_layout: after.1,
        queues,
    }
}

fn copy_region(width: u32, height: u32) -> BufferTextureCopy {
    BufferTextureCopy {
        buffer_offset: 0,
        row_pitch: 0,
        rows_per_slice: 0,
        layers: TextureLayers::mip(0),
        origin: [0; 3],
        extent: Extent::d2(width, height),
    }
}

/// What the compute pass would write, from the CPU.
fn upload_uv(device: &Device, uv: &Texture, recorder: &mut Recorder<'_>) -> Result<Buffer> {
    let unorm = |i: u32| ((i as f32 + 0.5) / UV_SIZE as f32 * 255.0).round() as u8;
    let texels: Vec<u8> =
        (0..UV_SIZE).flat_map(|y| (0..UV_SIZE).flat_map(move |x| [unorm(x), unorm(y), 0, 255])).collect();
    let staging = device.create_buffer(&BufferDesc {
        label: "uv staging",
        size_bytes: texels.len() as u64,
        usage: BufferUsage::COPY_SOURCE,
        storage: StorageMode::Upload,
    })?;
    staging.write(0, &texels)?;
    let mut pass = recorder.transfer_pass("upload uv");
    let start = transition(uv, (Scope::NONE, Layout::Undefined), (COPY_WRITE, Layout::CopyDestination));
    pass.barriers(&Barriers { textures: &[start], ..Barriers::default() });
    pass.copy_buffer_to_texture(&staging, uv, &[copy_region(UV_SIZE, UV_SIZE)]);
    let end = transition(uv, (COPY_WRITE, Layout::CopyDestination), (SAMPLED, Layout::ShaderReadOnly));
    pass.barriers(&Barriers { textures: &[end], ..Barriers::default() });
    drop(pass);
    Ok(staging)
}

fn write_uv(device: &Device, uv: &Texture, pipeline: &ComputePipeline, recorder: &mut Recorder<'_>) -> Result<()> {
    let view = uv.write_view(&ViewDesc::default())?;
    let layout = pipeline.layout().table(1).context("the compute shader has a table at 1")?;
    let writes = [TableWrite::new(0, Binding::StorageTexture(&view))];
    let table = device.create_table(&TableDesc { label: "uv out", layout, writes: &writes })?;
    let written = Scope::new(Stages::COMPUTE, Access::SHADER_WRITE);
    let start = transition(uv, (Scope::NONE, Layout::Undefined), (written, Layout::General));
    recorder.barriers(&Barriers { textures: &[start], ..Barriers::default() });
    let mut pass = recorder.compute_pass(&ComputePassDesc { label: "write uv", timestamps: None });
    let mut bound = pass.bind(pipeline);
    bound.set_tables(1, &[&table], &[]);
    bound.dispatch([UV_SIZE / 8, UV_SIZE / 8, 1]);
    drop(pass);
    let end = transition(uv, (written, Layout::General), (SAMPLED, Layout::ShaderReadOnly));
    recorder.barriers(&Barriers { textures: &[end], ..Barriers::default() });
    Ok(())
}

fn triangle_pipeline(device: &Device) -> Result<RasterPipeline> {
    let source = Source::wgsl("triangle.wgsl", RASTER);
    let vertex = device.create_function(&compile(&source, "triangle", device.shader_target())?)?;
    let fragment = device.create_function(&compile(&source, "shade", device.shader_target())?)?;
    let attributes = [
        VertexAttribute { location: 0, offset: 0, format: VertexFormat::Float32x2 },
        VertexAttribute { location: 1, offset: 8, format: VertexFormat::Float32x3 },
    ];
    Ok(device.create_raster_pipeline(&RasterPipelineDesc {
        label: "triangle",
        layout: None,
        vertex: &vertex,
        fragment: Some(&fragment),
        buffers: &[VertexBufferLayout { stride: 20, step: VertexStep::Vertex, attributes: &attributes }],
        state: RenderState { cull: CullMode::Back, ..RenderState::default() },
        targets: AttachmentFormats { colors: &[Some(Format::Rgba8Unorm)], ..AttachmentFormats::default() },
        cache: None,
    })?)
}

fn draw_triangle(
    device: &Device,
    uv: &Texture,
    target: &Texture,
    vertices: &Buffer,
    recorder: &mut Recorder<'_>,
) -> Result<()> {
    let pipeline = triangle_pipeline(device)?;
    let sampler =
        device.create_sampler(&SamplerDesc { address: [AddressMode::ClampToEdge; 3], ..SamplerDesc::default() })?;
    let view = uv.read_view(&ViewDesc::default())?;
    let layout = pipeline.layout().table(1).context("the fragment shader has a table at 1")?;
    let writes = [TableWrite::new(0, Binding::Texture(&view)), TableWrite::new(1, Binding::Sampler(&sampler))];
    let table = device.create_table(&TableDesc { label: "uv in", layout, writes: &writes })?;
    let start = transition(target, (Scope::NONE, Layout::Undefined), (DRAWN, Layout::RenderTarget));
    recorder.barriers(&Barriers { textures: &[start], ..Barriers::default() });
    let view = target.color_target_view(TextureRange::WHOLE)?;
    let load = LoadOp::Clear([0.1, 0.1, 0.1, 1.0]);
    let color = ColorAttachment { view: &view, load, store: StoreOp::Store, resolve: None };
    let mut pass = recorder.raster_pass(&RasterPassDesc {
        label: "draw triangle",
        colors: &[Some(color)],
        ..RasterPassDesc::default()
    });
    let mut bound = pass.bind(&pipeline);
    bound.set_tables(1, &[&table], &[]);
    bound.set_vertex_buffer(0, &vertices.vertex_view(BufferRange::WHOLE)?);
    bound.draw(3, 1, 0, 0);
    Ok(())
}

fn read_back(target: &Texture, readback: &Buffer, recorder: &mut Recorder<'_>) {
    let mut pass = recorder.transfer_pass("read back");
    let drawn = transition(target, (DRAWN, Layout::RenderTarget), (COPY_READ, Layout::CopySource));
    pass.barriers(&Barriers { textures: &[drawn], ..Barriers::default() });
    pass.copy_texture_to_buffer(target, readback, &[copy_region(SIZE, SIZE)]);
}

const USAGE: &str = "usage: hello [--out FILE] [--backend NAME] [--capture]";

fn main() -> Result<()> {
    let (mut out, mut desc) = (String::from("hello.png"), OpenDesc::from_env(recommended(false))?);
    let mut capture = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value; {USAGE}"));
        match arg.as_str() {
            "--out" => out = value()?,
            "--backend" => {
                let name = value()?;
                desc.backend = Backend::from_name(&name).with_context(|| format!("no backend is called {name}"))?;
            }
            "--capture" => capture = true,
            _ => bail!("unknown argument {arg}; {USAGE}"),
        }
    }
    let device = open(&OpenDesc { allow_software: true, ..desc })?;
    let pixels = if capture { captured(&device)? } else { draw(&device)? };
    image::save_buffer(&out, &pixels, SIZE, SIZE, image::ColorType::Rgba8)
        .with_context(|| format!("cannot write {out}"))?;
    println!("{out}: drawn by {} ({})", device.adapter().name, device.instance().backend().name());
    Ok(())
}

/// Draws the picture inside one capture.
pub fn captured(device: &Device) -> Result<Vec<u8>> {
    device.toggle_gpu_capture(true)?;
    let pixels = draw(device);
    device.toggle_gpu_capture(false)?;
    pixels
}
