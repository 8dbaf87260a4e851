//! What a frame records: a pipeline with push constants, a material table, frame constants with a dynamic offset and a vertex
//! buffer.

use rhizo::shader::{Module, Source};
use rhizo::*;

const SHADER: &str = "
struct Push { offset: vec2<f32>, scale: vec2<f32> }
var<immediate> push: Push;
struct Color { value: vec4<f32> }
@group(1) @binding(0) var<uniform> frame: Color;
@group(2) @binding(0) var<uniform> material: Color;

@vertex
fn vertex(@location(0) position: vec2<f32>) -> @builtin(position) vec4<f32> {
    return vec4<f32>(position * push.scale + push.offset, 0.0, 1.0);
}

@fragment
fn fragment() -> @location(0) vec4<f32> {
    return frame.value * material.value;
}
";

/// Draws of a pass.
const DRAWS: u32 = 64;
/// Every so many draws, the material changes.
const SWITCH: u32 = 8;
/// Edge of the target in texels.
pub(crate) const SIZE: u32 = 64;

const DRAWN: Scope = Scope::new(Stages::FRAGMENT, Access::RENDER_TARGET_WRITE);

/// Objects that outlive frames.
pub(crate) struct Work {
    pub(crate) target: Texture,
    view: ColorTargetView,
    pipeline: RasterPipeline,
    frame_layout: TableLayout,
    materials: [BindingTable; 2],
    pub(crate) vertices: Buffer,
    vertex_view: VertexBufferView,
    own_constants: Buffer,
}

fn buffer(device: &Device, label: &str, size_bytes: u64, usage: BufferUsage) -> Result<Buffer> {
    let usage = usage | BufferUsage::COPY_DESTINATION;
    device.create_buffer(&BufferDesc { label, size_bytes, usage, storage: StorageMode::DeviceLocal })
}

fn layout(device: &Device, label: &str, dynamic: bool) -> Result<TableLayout> {
    let entry = TableEntry {
        slot: 0,
        name: label.to_owned(),
        kind: BindingKind::Constant { dynamic },
        stages: ShaderStages::FRAGMENT,
        count: 1,
        min_size: 16,
    };
    device.create_table_layout(&TableLayoutDesc { label, entries: &[entry] })
}

fn table(device: &Device, layout: &TableLayout, constants: &Buffer) -> Result<BindingTable> {
    let view = constants.constant_view(BufferRange::new(0, 16))?;
    let writes = [TableWrite::new(0, Binding::Constant(&view))];
    device.create_table(&TableDesc { label: "constants", layout, writes: &writes })
}

fn pipeline(device: &Device, layout: &PipelineLayout) -> Result<RasterPipeline> {
    let module = Module::parse(&Source::wgsl("frame.wgsl", SHADER)).unwrap();
    let function = |entry| device.create_function(&module.compile(entry, device.shader_target()).unwrap());
    let (vertex, fragment) = (function("vertex")?, function("fragment")?);
    let attributes = [VertexAttribute { location: 0, offset: 0, format: VertexFormat::Float32x2 }];
    device.create_raster_pipeline(&RasterPipelineDesc {
        label: "draws",
        layout: Some(layout),
        vertex: &vertex,
        fragment: Some(&fragment),
        buffers: &[VertexBufferLayout { stride: 8, step: VertexStep::Vertex, attributes: &attributes }],
        state: RenderState::default(),
        targets: AttachmentFormats { colors: &[Some(Format::Rgba8Unorm)], ..AttachmentFormats::default() },
        cache: None,
    })
}

impl Work {
    pub(crate) fn new(device: &Device) -> Result<Self> {
        let (frame_layout, material_layout) = (layout(device, "frame", true)?, layout(device, "material", false)?);
        let pipeline_layout = device.create_pipeline_layout(&PipelineLayoutDesc {
            label: "draws",
            tables: &[None, Some(&frame_layout), Some(&material_layout)],
            push: Some(PushRange { stages: ShaderStages::VERTEX, size_bytes: 16 }),
            local: false,
        })?;
        let target = device.create_texture(&TextureDesc {
            label: "target",
            extent: Extent::d2(SIZE, SIZE),
            usage: TextureUsage::COLOR_TARGET,
            ..TextureDesc::default()
        })?;
        let material = || table(device, &material_layout, &buffer(device, "material", 16, BufferUsage::CONSTANT)?);
        let vertices = buffer(device, "vertices", 24, BufferUsage::VERTEX)?;
        Ok(Self {
            view: target.color_target_view(TextureRange::WHOLE)?,
            pipeline: pipeline(device, &pipeline_layout)?,
            materials: [material()?, material()?],
            vertex_view: vertices.vertex_view(BufferRange::WHOLE)?,
            own_constants: buffer(device, "constants", 512, BufferUsage::CONSTANT)?,
            target,
            frame_layout,
            vertices,
        })
    }

    /// A table over a buffer of frame constants, for [`Work::draw`].
    pub(crate) fn frame_table(&self, device: &Device, constants: &Buffer) -> Result<BindingTable> {
        table(device, &self.frame_layout, constants)
    }

    /// The same over constants that never change.
    pub(crate) fn own_table(&self, device: &Device) -> Result<BindingTable> {
        self.frame_table(device, &self.own_constants)
    }

    /// One pass over the target, with its barrier.
    pub(crate) fn record(&self, recorder: &mut Recorder<'_>, table: &BindingTable, offset: u32) {
        let barrier = TextureBarrier {
            texture: &self.target,
            range: TextureRange::WHOLE,
            before: DRAWN,
            before_layout: Layout::Undefined,
            after: DRAWN,
            after_layout: Layout::RenderTarget,
            queues: None,
        };
        recorder.barriers(&Barriers { textures: &[barrier], ..Barriers::default() });
        let load = LoadOp::Clear([0.0; 4]);
        let color = ColorAttachment { view: &self.view, load, store: StoreOp::Store, resolve: None };
        let desc = RasterPassDesc { label: "draws", colors: &[Some(color)], ..RasterPassDesc::default() };
        self.draw(&mut recorder.raster_pass(&desc), table, offset);
    }

    /// The draws.
    pub(crate) fn draw(&self, pass: &mut RasterPass<'_>, table: &BindingTable, offset: u32) {
        let mut bound = pass.bind(&self.pipeline);
        bound.set_tables(1, &[table], &[offset]);
        for i in 0..DRAWS {
            if i % SWITCH == 0 {
                bound.set_tables(2, &[&self.materials[(i / SWITCH % 2) as usize]], &[]);
                bound.set_vertex_buffer(0, &self.vertex_view);
            }
            bound.push_constants(0, bytemuck::bytes_of(&[i as f32, 0.0, 1.0, 1.0]));
            bound.draw(3, 1, 0, 0);
        }
    }
}
