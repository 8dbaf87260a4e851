//! Layouts and raster pipelines, one per variant, made when first needed.

use std::collections::HashMap;

use rhizo_rhi::{
    AttachmentFormats, BindingKind, BlendEquation, BlendFactor, BlendOp, BlendState, CompareOp, CullMode, DepthState,
    Device, Format, FrontFace, Function, PipelineLayout, PipelineLayoutDesc, PushRange, RasterPipeline,
    RasterPipelineDesc, RenderState, ShaderStages, TableEntry, TableLayout, TableLayoutDesc, TargetState,
    VertexAttribute, VertexBufferLayout, VertexFormat, VertexStep,
};

use super::error::RenderError;
use super::gpu_scene::DrawConstants;
use super::material::Coverage;
use super::shaders::DrawShaders;
use super::stats::RenderStats;
use crate::scene::{Topology, Vertex};

/// Linear light, before tone mapping.
pub(super) const HDR_FORMAT: Format = Format::Rgba16Float;
/// Depth of the view and of the shadow map.
pub(super) const DEPTH_FORMAT: Format = Format::Depth32Float;
/// The finished picture; the shader applies the sRGB curve.
pub(super) const OUTPUT_FORMAT: Format = Format::Rgba8Unorm;

/// Premultiplied alpha over.
const PREMULTIPLIED: BlendState = {
    let equation =
        BlendEquation { source: BlendFactor::One, destination: BlendFactor::OneMinusSourceAlpha, op: BlendOp::Add };
    BlendState { color: equation, alpha: equation }
};

/// What tells one pipeline of the main pass from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Variant {
    pub(super) topology: Topology,
    pub(super) coverage: Coverage,
    pub(super) double_sided: bool,
    pub(super) mirrored: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Surface(Variant, u32),
    Shadow(Variant),
    Sky(u32),
}

/// Layouts, functions and the pipelines made so far.
pub(super) struct Pipelines {
    device: Device,
    shaders: DrawShaders,
    /// Space 1.
    pub(super) frame: TableLayout,
    /// Space 2.
    pub(super) material: TableLayout,
    /// Space 1 of the shadow pass: the same constants, but not the shadow map that is being drawn.
    pub(super) shadow_frame: TableLayout,
    surface: PipelineLayout,
    shadow: PipelineLayout,
    /// The post pass; its layout is its own.
    pub(super) post: RasterPipeline,
    made: HashMap<Key, RasterPipeline>,
}

/// The entries of a space over several functions.
fn entries(functions: &[&Function], stages: &[ShaderStages], space: u32) -> Vec<TableEntry> {
    let mut out: Vec<TableEntry> = Vec::new();
    for (function, stage) in functions.iter().zip(stages) {
        for b in function.interface().bindings.iter().filter(|b| b.group == space) {
            match out.iter_mut().find(|e| e.slot == b.slot) {
                Some(entry) => entry.stages |= *stage,
                None => out.push(TableEntry {
                    slot: b.slot,
                    name: b.name.clone(),
                    // A frame's constants lie somewhere in a shared buffer.
                    kind: match b.kind {
                        BindingKind::Constant { .. } if space == 1 => BindingKind::Constant { dynamic: true },
                        kind => kind,
                    },
                    stages: *stage,
                    count: b.count,
                    min_size: b.min_size,
                }),
            }
        }
    }
    out
}

/// Attributes of [`Vertex`], at the locations of pbr.wgsl.
const ATTRIBUTES: [VertexAttribute; 6] = {
    const fn at(location: u32, offset: usize, format: VertexFormat) -> VertexAttribute {
        VertexAttribute { location, offset: offset as u32, format }
    }
    [
        at(0, std::mem::offset_of!(Vertex, position), VertexFormat::Float32x3),
        at(1, std::mem::offset_of!(Vertex, normal), VertexFormat::Float32x3),
        at(2, std::mem::offset_of!(Vertex, tangent), VertexFormat::Float32x4),
        at(3, std::mem::offset_of!(Vertex, uv0), VertexFormat::Float32x2),
        at(4, std::mem::offset_of!(Vertex, uv1), VertexFormat::Float32x2),
        at(5, std::mem::offset_of!(Vertex, color), VertexFormat::Float32x4),
    ]
};

const BUFFERS: [VertexBufferLayout<'static>; 1] =
    [VertexBufferLayout { stride: size_of::<Vertex>() as u32, step: VertexStep::Vertex, attributes: &ATTRIBUTES }];

impl Variant {
    fn state(self) -> RenderState<'static> {
        const BLENDED: [TargetState; 1] =
            [TargetState { blend: Some(PREMULTIPLIED), mask: rhizo_rhi::WriteMask::all() }];
        let blended = self.coverage == Coverage::Blended;
        let topology = match self.topology {
            Topology::Points => rhizo_rhi::Topology::Points,
            Topology::Lines => rhizo_rhi::Topology::Lines,
            Topology::Triangles => rhizo_rhi::Topology::Triangles,
        };
        RenderState {
            topology,
            cull: if self.double_sided { CullMode::None } else { CullMode::Back },
            front: if self.mirrored { FrontFace::Clockwise } else { FrontFace::CounterClockwise },
            depth: Some(DepthState { write: !blended, compare: CompareOp::GreaterEqual, ..DepthState::default() }),
            targets: if blended { &BLENDED } else { &[] },
            ..RenderState::default()
        }
    }
}

impl Pipelines {
    pub(super) fn new(device: &Device) -> Result<Self, RenderError> {
        let shaders = DrawShaders::new(device)?;
        let (v, f) = (ShaderStages::VERTEX, ShaderStages::FRAGMENT);
        let drawing =
            [&shaders.vertex, &shaders.fragment, &shaders.sky_vertex, &shaders.sky_fragment, &shaders.shadow_mask];
        let table = |label, entries: &[TableEntry]| device.create_table_layout(&TableLayoutDesc { label, entries });
        let frame = table("frame", &entries(&drawing[..4], &[v, f, v, f], 1))?;
        let material = table("material", &entries(&drawing, &[v, f, v, f, f], 2))?;
        let casting = [&shaders.shadow_vertex, &shaders.shadow_mask];
        let shadow_frame = table("shadow frame", &entries(&casting, &[v, f], 1))?;
        let push = Some(PushRange { stages: v | f, size_bytes: size_of::<DrawConstants>() as u32 });
        let layout = |label, frame: &TableLayout| {
            let tables = [None, Some(frame), Some(&material)];
            device.create_pipeline_layout(&PipelineLayoutDesc { label, tables: &tables, push, local: false })
        };
        let (surface, shadow) = (layout("surface", &frame)?, layout("shadow", &shadow_frame)?);
        let post = device.create_raster_pipeline(&RasterPipelineDesc {
            label: "post",
            layout: None,
            vertex: &shaders.post_vertex,
            fragment: Some(&shaders.post_fragment),
            buffers: &[],
            state: RenderState::default(),
            targets: AttachmentFormats { colors: &[Some(OUTPUT_FORMAT)], ..AttachmentFormats::default() },
            cache: None,
        })?;
        let (device, made) = (device.clone(), HashMap::new());
        Ok(Self { device, shaders, frame, material, shadow_frame, surface, shadow, post, made })
    }

    /// The pipeline that draws surfaces of a variant into a target with `samples`.
    pub(super) fn surface(
        &mut self,
        variant: Variant,
        samples: u32,
        stats: &mut RenderStats,
    ) -> Result<RasterPipeline, RenderError> {
        // Masked ones differ from opaque ones in a material flag only.
        let coverage = if variant.coverage == Coverage::Masked { Coverage::Opaque } else { variant.coverage };
        let variant = Variant { coverage, ..variant };
        self.get(Key::Surface(variant, samples), stats, |device, shaders, this| {
            device.create_raster_pipeline(&RasterPipelineDesc {
                label: "surface",
                layout: Some(this.0),
                vertex: &shaders.vertex,
                fragment: Some(&shaders.fragment),
                buffers: &BUFFERS,
                state: variant.state(),
                targets: scene_targets(samples),
                cache: None,
            })
        })
    }

    /// The pipeline that draws a variant's shadow.
    pub(super) fn shadow(&mut self, variant: Variant, stats: &mut RenderStats) -> Result<RasterPipeline, RenderError> {
        self.get(Key::Shadow(variant), stats, |device, shaders, this| {
            // Away from the light, which is towards smaller depth; about one texel of slope.
            let depth = DepthState { bias: -1, bias_slope: -1.5, ..variant.state().depth.unwrap_or_default() };
            device.create_raster_pipeline(&RasterPipelineDesc {
                label: "shadow",
                layout: Some(this.1),
                vertex: &shaders.shadow_vertex,
                fragment: (variant.coverage == Coverage::Masked).then_some(&shaders.shadow_mask),
                buffers: &BUFFERS,
                // Thin and open surfaces cast shadows from both sides.
                state: RenderState { cull: CullMode::None, depth: Some(depth), targets: &[], ..variant.state() },
                targets: AttachmentFormats { depth_stencil: Some(DEPTH_FORMAT), ..AttachmentFormats::default() },
                cache: None,
            })
        })
    }

    /// The pipeline that draws the environment behind everything.
    pub(super) fn sky(&mut self, samples: u32, stats: &mut RenderStats) -> Result<RasterPipeline, RenderError> {
        self.get(Key::Sky(samples), stats, |device, shaders, this| {
            // Equal to the cleared depth: only where nothing was drawn.
            let depth = DepthState { write: false, compare: CompareOp::GreaterEqual, ..DepthState::default() };
            device.create_raster_pipeline(&RasterPipelineDesc {
                label: "sky",
                layout: Some(this.0),
                vertex: &shaders.sky_vertex,
                fragment: Some(&shaders.sky_fragment),
                buffers: &[],
                state: RenderState { depth: Some(depth), ..RenderState::default() },
                targets: scene_targets(samples),
                cache: None,
            })
        })
    }

    fn get(
        &mut self,
        key: Key,
        stats: &mut RenderStats,
        make: impl FnOnce(
            &Device,
            &DrawShaders,
            (&PipelineLayout, &PipelineLayout),
        ) -> Result<RasterPipeline, rhizo_rhi::Error>,
    ) -> Result<RasterPipeline, RenderError> {
        if let Some(pipeline) = self.made.get(&key) {
            stats.pipeline_hits += 1;
            return Ok(pipeline.clone());
        }
        stats.pipeline_misses += 1;
        let pipeline = make(&self.device, &self.shaders, (&self.surface, &self.shadow))?;
        self.made.insert(key, pipeline.clone());
        Ok(pipeline)
    }
}

fn scene_targets(samples: u32) -> AttachmentFormats<'static> {
    AttachmentFormats { colors: &[Some(HDR_FORMAT)], depth_stencil: Some(DEPTH_FORMAT), samples, view_mask: 0 }
}
