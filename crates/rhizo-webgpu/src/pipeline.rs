//! Functions and pipelines.

use crate::convert;
use crate::device::Shared;
use crate::memory;
use rhizo_rhi::backend::{NativeComputePipeline, NativeRasterPipeline};
use rhizo_rhi::{
    CullMode, DepthState, Error, ErrorKind, FillMode, Format, FrontFace, RenderState, Result, ShaderArtifact,
    ShaderPayload, StencilState, TargetState, VertexAttribute, VertexStep,
};
use std::borrow::Cow;
use wgpu::Features;

/// A raster pipeline and what draws must know of it.
pub(crate) struct RasterPipeline {
    pub(crate) raw: wgpu::RenderPipeline,
    /// Strips: indexed draws would need the width of indices in the pipeline.
    pub(crate) strip: bool,
}

pub(crate) fn create_function(shared: &Shared, artifact: &ShaderArtifact) -> Result<wgpu::ShaderModule> {
    let ShaderPayload::Wgsl(source) = artifact.payload() else {
        return Err(Error::new(ErrorKind::Mismatch, "WebGPU takes WGSL").on(artifact.label()));
    };
    let source = wgpu::ShaderSource::Wgsl(Cow::Borrowed(source));
    let native = wgpu::ShaderModuleDescriptor { label: Some(artifact.label()), source };
    shared
        .scoped("createShaderModule", || shared.device.create_shader_module(native))
        .map_err(|error| error.on(artifact.label()))
}

pub(crate) fn create_compute(shared: &Shared, desc: &NativeComputePipeline<'_>) -> Result<wgpu::ComputePipeline> {
    let native = wgpu::ComputePipelineDescriptor {
        label: Some(desc.label),
        layout: Some(memory::pipeline_layout(&desc.layout)),
        module: memory::function(&desc.function.function),
        entry_point: Some(desc.function.entry),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    };
    shared
        .scoped("createComputePipeline", || shared.device.create_compute_pipeline(&native))
        .map_err(|error| error.on(desc.label))
}

pub(crate) fn create_raster(shared: &Shared, desc: &NativeRasterPipeline<'_>) -> Result<RasterPipeline> {
    check(shared, desc).map_err(|reason| Error::new(ErrorKind::Unsupported, reason).on(desc.label))?;
    let state = desc.state;
    let attributes: Vec<Vec<_>> =
        desc.buffers.iter().map(|buffer| buffer.attributes.iter().map(attribute).collect()).collect();
    let buffers: Vec<_> = desc
        .buffers
        .iter()
        .zip(&attributes)
        .map(|(buffer, attributes)| {
            let step_mode = match buffer.step {
                VertexStep::Vertex => wgpu::VertexStepMode::Vertex,
                VertexStep::Instance => wgpu::VertexStepMode::Instance,
            };
            let array_stride = u64::from(buffer.stride);
            (!attributes.is_empty()).then_some(wgpu::VertexBufferLayout { array_stride, step_mode, attributes })
        })
        .collect();
    let targets: Vec<_> =
        desc.targets.colors.iter().enumerate().map(|(slot, format)| format.map(|f| target(state, slot, f))).collect();
    let fragment = desc.fragment.as_ref().map(|fragment| wgpu::FragmentState {
        module: memory::function(&fragment.function),
        entry_point: Some(fragment.entry),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        targets: &targets,
    });
    let native = wgpu::RenderPipelineDescriptor {
        label: Some(desc.label),
        layout: Some(memory::pipeline_layout(&desc.layout)),
        vertex: wgpu::VertexState {
            module: memory::function(&desc.vertex.function),
            entry_point: Some(desc.vertex.entry),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &buffers,
        },
        primitive: primitive(state),
        depth_stencil: desc.targets.depth_stencil.map(|format| depth_stencil(state, format)),
        multisample: wgpu::MultisampleState {
            count: desc.targets.samples,
            mask: u64::from(state.sample_mask),
            alpha_to_coverage_enabled: state.alpha_to_coverage,
        },
        fragment,
        multiview_mask: None,
        cache: None,
    };
    let raw = shared
        .scoped("createRenderPipeline", || shared.device.create_render_pipeline(&native))
        .map_err(|error| error.on(desc.label))?;
    Ok(RasterPipeline { raw, strip: state.topology.is_strip() })
}

fn check(shared: &Shared, desc: &NativeRasterPipeline<'_>) -> Result<(), String> {
    let state = desc.state;
    let has = |feature| shared.device.features().contains(feature);
    if desc.targets.view_mask != 0 {
        return Err("multiview is not lowered to WebGPU yet".into());
    }
    if state.restart {
        return Err("WebGPU fixes the width of indices in pipelines with primitive restart: not lowered yet".into());
    }
    if desc.fragment.is_none() && desc.targets.colors.iter().any(Option::is_some) {
        return Err("WebGPU has no colour targets without a fragment function".into());
    }
    if state.fill == FillMode::Wireframe && !has(Features::POLYGON_MODE_LINE) {
        return Err("the adapter has no wireframe fill".into());
    }
    if state.depth_clamp && !has(Features::DEPTH_CLIP_CONTROL) {
        return Err("the adapter lacks the feature depth-clip-control".into());
    }
    Ok(())
}

fn attribute(attribute: &VertexAttribute) -> wgpu::VertexAttribute {
    wgpu::VertexAttribute {
        format: convert::vertex_format(attribute.format),
        offset: u64::from(attribute.offset),
        shader_location: attribute.location,
    }
}

fn target(state: &RenderState<'_>, slot: usize, format: Format) -> wgpu::ColorTargetState {
    let TargetState { blend, mask } = state.targets.get(slot).copied().unwrap_or_default();
    let equation = |e| convert::blend_component(e);
    wgpu::ColorTargetState {
        format: convert::format(format),
        blend: blend.map(|b| wgpu::BlendState { color: equation(b.color), alpha: equation(b.alpha) }),
        // Both masks are red, green, blue, alpha from bit 0.
        write_mask: wgpu::ColorWrites::from_bits_truncate(u32::from(mask.bits())),
    }
}

fn primitive(state: &RenderState<'_>) -> wgpu::PrimitiveState {
    wgpu::PrimitiveState {
        topology: convert::topology(state.topology),
        strip_index_format: None,
        front_face: match state.front {
            FrontFace::CounterClockwise => wgpu::FrontFace::Ccw,
            FrontFace::Clockwise => wgpu::FrontFace::Cw,
        },
        cull_mode: match state.cull {
            CullMode::None => None,
            CullMode::Front => Some(wgpu::Face::Front),
            CullMode::Back => Some(wgpu::Face::Back),
        },
        unclipped_depth: state.depth_clamp,
        polygon_mode: match state.fill {
            FillMode::Solid => wgpu::PolygonMode::Fill,
            FillMode::Wireframe => wgpu::PolygonMode::Line,
        },
        conservative: false,
    }
}

fn depth_stencil(state: &RenderState<'_>, format: Format) -> wgpu::DepthStencilState {
    let off = DepthState { write: false, compare: rhizo_rhi::CompareOp::Always, ..DepthState::default() };
    let depth = state.depth.unwrap_or(off);
    let native = convert::format(format);
    wgpu::DepthStencilState {
        format: native,
        depth_write_enabled: native.has_depth_aspect().then_some(depth.write),
        depth_compare: native.has_depth_aspect().then(|| convert::compare(depth.compare)),
        stencil: state.stencil.map(stencil).unwrap_or_default(),
        bias: wgpu::DepthBiasState { constant: depth.bias, slope_scale: depth.bias_slope, clamp: depth.bias_clamp },
    }
}

fn stencil(state: StencilState) -> wgpu::StencilState {
    wgpu::StencilState {
        front: convert::stencil_face(state.front),
        back: convert::stencil_face(state.back),
        read_mask: u32::from(state.read_mask),
        write_mask: u32::from(state.write_mask),
    }
}
