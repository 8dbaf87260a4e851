//! Functions, pipelines and the pipeline cache.

use crate::convert;
use crate::device::Shared;
use crate::memory::check;
use ash::vk;
use rhizo_rhi::backend::{Native, NativeComputePipeline, NativeFunction, NativeRasterPipeline, ObjectRef};
use rhizo_rhi::{
    Aspects, BlendState, Error, ErrorKind, FillMode, MAX_COLORS, Result, ShaderArtifact, ShaderPayload, StencilState,
    TargetState,
};
use smallvec::SmallVec;
use std::ffi::CString;

const SPIRV_MAGIC: u32 = 0x0723_0203;
/// SPIR-V 1.6 is part of Vulkan 1.3.
pub(crate) const SPIRV_VERSION: (u8, u8) = (1, 6);

pub(crate) fn create_function(device: &Shared, artifact: &ShaderArtifact) -> Result<Native> {
    let ShaderPayload::Spirv(words) = artifact.payload() else {
        return Err(Error::new(ErrorKind::Mismatch, "Vulkan takes SPIR-V").on(artifact.label()));
    };
    check_header(words).map_err(|detail| Error::new(ErrorKind::InvalidArgument, detail).on(artifact.label()))?;
    crate::device::shaders::missing_capability(words, &device.features)
        .map_err(|detail| Error::new(ErrorKind::Unsupported, detail).on(artifact.label()))?;
    let info = vk::ShaderModuleCreateInfo::default().code(words);
    // SAFETY: an artifact holds SPIR-V that was validated or vouched for.
    let module = unsafe { device.raw.create_shader_module(&info, None) };
    let module = check(module, "vkCreateShaderModule", artifact.label())?;
    device.name(module, artifact.label());
    Ok(Native { word: vk::Handle::as_raw(module), aux: 0 })
}

fn check_header(words: &[u32]) -> Result<(), String> {
    let [magic, version, _, bound, ..] = words else {
        return Err(format!("{} words are no SPIR-V module", words.len()));
    };
    let (major, minor) = ((version >> 16) as u8, (version >> 8) as u8);
    if *magic != SPIRV_MAGIC || *bound == 0 {
        return Err(format!("no SPIR-V module: it begins with {magic:#010x}"));
    }
    if (major, minor) > SPIRV_VERSION {
        return Err(format!("SPIR-V {major}.{minor}, the device takes {}.{}", SPIRV_VERSION.0, SPIRV_VERSION.1));
    }
    Ok(())
}

fn entry_name(function: &NativeFunction<'_>, label: &str) -> Result<CString> {
    CString::new(function.entry)
        .map_err(|_| Error::new(ErrorKind::InvalidArgument, "the entry point's name holds a NUL").on(label))
}

fn stage<'a>(
    flag: vk::ShaderStageFlags,
    function: &NativeFunction<'_>,
    name: &'a CString,
) -> vk::PipelineShaderStageCreateInfo<'a> {
    vk::PipelineShaderStageCreateInfo::default()
        .stage(flag)
        .module(vk::Handle::from_raw(function.function.word))
        .name(name)
}

fn cache_of(cache: Option<ObjectRef>) -> vk::PipelineCache {
    cache.map_or(vk::PipelineCache::null(), |c| vk::Handle::from_raw(c.word))
}

pub(crate) fn create_compute(device: &Shared, desc: &NativeComputePipeline<'_>) -> Result<Native> {
    let name = entry_name(&desc.function, desc.label)?;
    let info = vk::ComputePipelineCreateInfo::default()
        .stage(stage(vk::ShaderStageFlags::COMPUTE, &desc.function, &name))
        .layout(vk::Handle::from_raw(desc.layout.word));
    // SAFETY: module, layout and cache are alive and of this device.
    let made = unsafe { device.raw.create_compute_pipelines(cache_of(desc.cache), &[info], None) };
    finish(device, made, "vkCreateComputePipelines", desc.label)
}

fn finish(
    device: &Shared,
    made: Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>,
    call: &str,
    label: &str,
) -> Result<Native> {
    match made {
        Ok(pipelines) => {
            device.name(pipelines[0], label);
            Ok(Native { word: vk::Handle::as_raw(pipelines[0]), aux: 0 })
        }
        Err((pipelines, error)) => {
            for pipeline in pipelines.into_iter().filter(|p| *p != vk::Pipeline::null()) {
                // SAFETY: the pipeline was just made and is named nowhere.
                unsafe { device.raw.destroy_pipeline(pipeline, None) };
            }
            Err(convert::error(error, call).on(label))
        }
    }
}

/// Vertex buffers and attributes, native.
struct VertexInput {
    bindings: SmallVec<[vk::VertexInputBindingDescription; 8]>,
    attributes: SmallVec<[vk::VertexInputAttributeDescription; 16]>,
}

impl VertexInput {
    fn new(desc: &NativeRasterPipeline<'_>) -> Self {
        let mut out = Self { bindings: SmallVec::new(), attributes: SmallVec::new() };
        for (binding, buffer) in (0..).zip(desc.buffers).filter(|(_, b)| !b.attributes.is_empty()) {
            out.bindings.push(vk::VertexInputBindingDescription {
                binding,
                stride: buffer.stride,
                input_rate: convert::step(buffer.step),
            });
            out.attributes.extend(buffer.attributes.iter().map(|a| vk::VertexInputAttributeDescription {
                location: a.location,
                binding,
                format: convert::vertex_format(a.format),
                offset: a.offset,
            }));
        }
        out
    }

    fn info(&self) -> vk::PipelineVertexInputStateCreateInfo<'_> {
        vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&self.bindings)
            .vertex_attribute_descriptions(&self.attributes)
    }
}

/// What the state needs of the device's optional features.
fn check_features(device: &Shared, desc: &NativeRasterPipeline<'_>) -> Result<()> {
    let (state, core) = (desc.state, &device.features.core);
    let depth = state.depth.unwrap_or_default();
    let first = state.targets.first().copied().unwrap_or_default();
    let target = |i: usize| state.targets.get(i).copied().unwrap_or_default();
    let differ = (0..desc.targets.colors.len()).any(|i| target(i) != first);
    let needs = [
        (state.fill == FillMode::Wireframe, core.fill_mode_non_solid, "fillModeNonSolid"),
        (state.depth_clamp, core.depth_clamp, "depthClamp"),
        (state.depth.is_some() && depth.bias_clamp != 0.0, core.depth_bias_clamp, "depthBiasClamp"),
        (differ, core.independent_blend, "independentBlend"),
        (desc.targets.view_mask != 0, device.features.v11.multiview, "multiview"),
    ];
    for (needed, there, name) in needs {
        if needed && there != vk::TRUE {
            return Err(Error::new(ErrorKind::Unsupported, format!("the device lacks {name}")).on(desc.label));
        }
    }
    Ok(())
}

fn rasterization(desc: &NativeRasterPipeline<'_>) -> vk::PipelineRasterizationStateCreateInfo<'static> {
    let state = desc.state;
    let depth = state.depth.unwrap_or_default();
    let biased = state.depth.is_some() && (depth.bias != 0 || depth.bias_slope != 0.0);
    vk::PipelineRasterizationStateCreateInfo::default()
        .depth_clamp_enable(state.depth_clamp)
        .polygon_mode(match state.fill {
            FillMode::Solid => vk::PolygonMode::FILL,
            FillMode::Wireframe => vk::PolygonMode::LINE,
        })
        .cull_mode(convert::cull(state.cull))
        .front_face(convert::front_face(state.front))
        .depth_bias_enable(biased)
        .depth_bias_constant_factor(depth.bias as f32)
        .depth_bias_slope_factor(depth.bias_slope)
        .depth_bias_clamp(if biased { depth.bias_clamp } else { 0.0 })
        .line_width(1.0)
}

fn depth_stencil(desc: &NativeRasterPipeline<'_>) -> vk::PipelineDepthStencilStateCreateInfo<'static> {
    let mut info = vk::PipelineDepthStencilStateCreateInfo::default();
    if let Some(depth) = desc.state.depth {
        info = info
            .depth_test_enable(true)
            .depth_write_enable(depth.write)
            .depth_compare_op(convert::compare(depth.compare));
    }
    if let Some(stencil) = &desc.state.stencil {
        let StencilState { front, back, .. } = *stencil;
        info = info
            .stencil_test_enable(true)
            .front(convert::stencil(stencil, front))
            .back(convert::stencil(stencil, back));
    }
    info
}

fn blend(target: TargetState) -> vk::PipelineColorBlendAttachmentState {
    let out = vk::PipelineColorBlendAttachmentState::default().color_write_mask(convert::write_mask(target.mask));
    let Some(BlendState { color, alpha }) = target.blend else { return out };
    out.blend_enable(true)
        .src_color_blend_factor(convert::blend_factor(color.source, false))
        .dst_color_blend_factor(convert::blend_factor(color.destination, false))
        .color_blend_op(convert::blend_op(color.op))
        .src_alpha_blend_factor(convert::blend_factor(alpha.source, true))
        .dst_alpha_blend_factor(convert::blend_factor(alpha.destination, true))
        .alpha_blend_op(convert::blend_op(alpha.op))
}

const DYNAMIC: [vk::DynamicState; 4] = [
    vk::DynamicState::VIEWPORT_WITH_COUNT,
    vk::DynamicState::SCISSOR_WITH_COUNT,
    vk::DynamicState::STENCIL_REFERENCE,
    vk::DynamicState::BLEND_CONSTANTS,
];

pub(crate) fn create_raster(device: &Shared, desc: &NativeRasterPipeline<'_>) -> Result<Native> {
    check_features(device, desc)?;
    let vertex_name = entry_name(&desc.vertex, desc.label)?;
    let fragment_name = desc.fragment.as_ref().map(|f| entry_name(f, desc.label)).transpose()?;
    let mut stages: SmallVec<[vk::PipelineShaderStageCreateInfo<'_>; 2]> = SmallVec::new();
    stages.push(stage(vk::ShaderStageFlags::VERTEX, &desc.vertex, &vertex_name));
    if let (Some(fragment), Some(name)) = (&desc.fragment, &fragment_name) {
        stages.push(stage(vk::ShaderStageFlags::FRAGMENT, fragment, name));
    }
    let input = VertexInput::new(desc);
    let input = input.info();
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(convert::topology(desc.state.topology))
        .primitive_restart_enable(desc.state.restart);
    let viewport = vk::PipelineViewportStateCreateInfo::default();
    let rasterization = rasterization(desc);
    let mask = [desc.state.sample_mask, u32::MAX];
    let multisample = vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(vk::SampleCountFlags::from_raw(desc.targets.samples))
        .sample_mask(&mask[..desc.targets.samples.div_ceil(32).max(1) as usize])
        .alpha_to_coverage_enable(desc.state.alpha_to_coverage);
    let depth_stencil = depth_stencil(desc);
    let blends: SmallVec<[_; MAX_COLORS]> =
        (0..desc.targets.colors.len()).map(|i| blend(desc.state.targets.get(i).copied().unwrap_or_default())).collect();
    let color_blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&DYNAMIC);
    let colors: SmallVec<[vk::Format; MAX_COLORS]> =
        desc.targets.colors.iter().map(|f| f.map_or(vk::Format::UNDEFINED, convert::format)).collect();
    let mut targets = rendering(desc, &colors);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&rasterization)
        .multisample_state(&multisample)
        .depth_stencil_state(&depth_stencil)
        .color_blend_state(&color_blend)
        .dynamic_state(&dynamic)
        .layout(vk::Handle::from_raw(desc.layout.word))
        .push_next(&mut targets);
    // SAFETY: modules, layout and cache are alive and of this device; every structure lives until the call returns.
    let made = unsafe { device.raw.create_graphics_pipelines(cache_of(desc.cache), &[info], None) };
    finish(device, made, "vkCreateGraphicsPipelines", desc.label)
}

fn rendering<'a>(desc: &NativeRasterPipeline<'_>, colors: &'a [vk::Format]) -> vk::PipelineRenderingCreateInfo<'a> {
    let part = |aspect: Aspects| match desc.targets.depth_stencil {
        Some(format) if format.aspects().contains(aspect) => convert::format(format),
        _ => vk::Format::UNDEFINED,
    };
    vk::PipelineRenderingCreateInfo::default()
        .view_mask(desc.targets.view_mask)
        .color_attachment_formats(colors)
        .depth_attachment_format(part(Aspects::DEPTH))
        .stencil_attachment_format(part(Aspects::STENCIL))
}

pub(crate) fn create_cache(device: &Shared, initial: &[u8]) -> Result<Native> {
    let info = vk::PipelineCacheCreateInfo::default().initial_data(initial);
    // SAFETY: the bytes came from this very driver: the front compared key and hash. Drivers check their header again.
    let cache = unsafe { device.raw.create_pipeline_cache(&info, None) };
    let cache = check(cache, "vkCreatePipelineCache", "pipeline cache")?;
    Ok(Native { word: vk::Handle::as_raw(cache), aux: 0 })
}

pub(crate) fn cache_data(device: &Shared, cache: ObjectRef) -> Result<Vec<u8>> {
    // SAFETY: the cache is alive.
    let data = unsafe { device.raw.get_pipeline_cache_data(vk::Handle::from_raw(cache.word)) };
    check(data, "vkGetPipelineCacheData", "pipeline cache")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_modules_are_refused_before_the_driver_sees_them() {
        assert!(check_header(&[]).is_err());
        assert!(check_header(&[SPIRV_MAGIC, 0x0001_0000, 0, 0, 0]).is_err(), "a bound of 0");
        assert!(check_header(&[0x0302_2307, 0x0001_0000, 0, 9, 0]).is_err(), "the other byte order");
        assert!(check_header(&[SPIRV_MAGIC, 0x0001_0700, 0, 9, 0]).is_err_and(|e| e.contains("1.7")));
        assert_eq!(check_header(&[SPIRV_MAGIC, 0x0001_0600, 0, 9, 0]), Ok(()));
    }
}
