//! The work through Rhizo.

use crate::{DRAWS, SHADER, SWITCH, Side};
use anyhow::Result;
use rhizo::shader::{Module, Source};
use rhizo::*;

/// Everything recorded against.
pub struct Through {
    pool: CommandPool,
    pipeline: RasterPipeline,
    tables: [BindingTable; 2],
    vertices: [VertexBufferView; 2],
    target: ColorTargetView,
}

impl Through {
    pub fn new(driver: &str) -> Result<Self> {
        let device = open(&OpenDesc {
            adapter: Some(driver.to_owned()),
            allow_software: true,
            ..OpenDesc::new(Backend::Vulkan)
        })?;
        let queue = device.queue(QueueKind::Graphics, 0)?;
        let target = device.create_texture(&TextureDesc {
            label: "target",
            extent: Extent::d2(64, 64),
            usage: TextureUsage::COLOR_TARGET,
            ..TextureDesc::default()
        })?;
        let pipeline = pipeline(&device)?;
        let tables = [table(&device, &pipeline)?, table(&device, &pipeline)?];
        let vertices = [vertices(&device)?, vertices(&device)?];
        Ok(Self {
            pool: queue.create_pool(),
            pipeline,
            tables,
            vertices,
            target: target.color_target_view(TextureRange::WHOLE)?,
        })
    }
}

fn pipeline(device: &Device) -> Result<RasterPipeline> {
    let module = Module::parse(&Source::wgsl("draws.wgsl", SHADER))?;
    let vertex = device.create_function(&module.compile("vertex", device.shader_target())?)?;
    let fragment = device.create_function(&module.compile("fragment", device.shader_target())?)?;
    let attributes = [VertexAttribute { location: 0, offset: 0, format: VertexFormat::Float32x2 }];
    Ok(device.create_raster_pipeline(&RasterPipelineDesc {
        label: "draws",
        layout: None,
        vertex: &vertex,
        fragment: Some(&fragment),
        buffers: &[VertexBufferLayout { stride: 8, step: VertexStep::Vertex, attributes: &attributes }],
        state: RenderState::default(),
        targets: AttachmentFormats { colors: &[Some(Format::Rgba8Unorm)], ..AttachmentFormats::default() },
        cache: None,
    })?)
}

fn buffer(device: &Device, label: &str, size_bytes: u64, usage: BufferUsage) -> Result<Buffer> {
    Ok(device.create_buffer(&BufferDesc { label, size_bytes, usage, storage: StorageMode::DeviceLocal })?)
}

fn table(device: &Device, pipeline: &RasterPipeline) -> Result<BindingTable> {
    let constants = buffer(device, "material", 16, BufferUsage::CONSTANT)?.constant_view(BufferRange::WHOLE)?;
    let layout = pipeline.layout().table(2).expect("the fragment function uses table 2");
    let writes = [TableWrite::new(0, Binding::Constant(&constants))];
    Ok(device.create_table(&TableDesc { label: "material", layout, writes: &writes })?)
}

fn vertices(device: &Device) -> Result<VertexBufferView> {
    Ok(buffer(device, "vertices", 24, BufferUsage::VERTEX)?.vertex_view(BufferRange::WHOLE)?)
}

impl Side for Through {
    fn record(&mut self) -> Result<()> {
        let mut recorder = self.pool.begin("draws")?;
        let load = LoadOp::Clear([0.0; 4]);
        let color = ColorAttachment { view: &self.target, load, store: StoreOp::Store, resolve: None };
        let mut pass = recorder.raster_pass(&RasterPassDesc {
            label: "draws",
            colors: &[Some(color)],
            ..RasterPassDesc::default()
        });
        let mut bound = pass.bind(&self.pipeline);
        for i in 0..DRAWS {
            if i % SWITCH == 0 {
                let which = (i / SWITCH % 2) as usize;
                bound.set_tables(2, &[&self.tables[which]], &[]);
                bound.set_vertex_buffer(0, &self.vertices[which]);
            }
            let push = [i as f32, 0.0, 1.0, 1.0];
            bound.push_constants(0, bytemuck::bytes_of(&push));
            bound.draw(3, 1, 0, 0);
        }
        drop(pass);
        drop(recorder.finish()?);
        Ok(())
    }
}
