//! Raster.

use super::query::Query;
use super::write::{Extension, Writer, on};
use ash::{ext, khr, vk};
use rhizo_rhi::Fact;

pub(super) fn write(query: &Query<'_>, out: &mut Writer) {
    targets(query, out);
    samplers(query, out);
    draws(query, out);
    shading_rate(query, out);
    fragments(query, out);
}

fn targets(query: &Query<'_>, out: &mut Writer) {
    let (core, v12, v13) = (&query.core, &query.v12, &query.v13);
    out.features(Fact::RasterPasses, &[("dynamicRendering", v13.dynamic_rendering)]);
    out.version(Fact::DepthReadOnlySampling, "Vulkan 1.0: depth-stencil read-only layouts");
    let separate = [("separateDepthStencilLayouts", v12.separate_depth_stencil_layouts)];
    out.features(Fact::IndependentAspectLayouts, &separate);
    let resolves = !query.p12.supported_depth_resolve_modes.is_empty();
    out.conditions(Fact::DepthStencilResolve, &[("supportedDepthResolveModes", resolves)]);
    out.features(Fact::IndependentBlend, &[("independentBlend", core.independent_blend)]);
    out.features(Fact::DualSourceBlend, &[("dualSrcBlend", core.dual_src_blend)]);
    out.features(Fact::LogicOp, &[("logicOp", core.logic_op)]);
    out.features(Fact::DepthClamp, &[("depthClamp", core.depth_clamp)]);
    out.features(Fact::DepthBiasClamp, &[("depthBiasClamp", core.depth_bias_clamp)]);
    out.features(Fact::DepthBounds, &[("depthBounds", core.depth_bounds)]);
    out.features(Fact::Wireframe, &[("fillModeNonSolid", core.fill_mode_non_solid)]);
    out.features(Fact::SampleRateShading, &[("sampleRateShading", core.sample_rate_shading)]);
    out.features(Fact::ClipDistances, &[("shaderClipDistance", core.shader_clip_distance)]);
    out.features(Fact::Multiview, &[("multiview", query.v11.multiview)]);
    out.features(Fact::MultipleViewports, &[("multiViewport", core.multi_viewport)]);
    let layer = ("shaderOutputLayer", v12.shader_output_layer);
    let viewport = ("shaderOutputViewportIndex", v12.shader_output_viewport_index);
    out.features(Fact::ViewportLayerOutput, &[viewport, layer]);
}

fn samplers(query: &Query<'_>, out: &mut Writer) {
    let core = &query.core;
    out.features(Fact::AnisotropicFiltering, &[("samplerAnisotropy", core.sampler_anisotropy)]);
    out.features(Fact::MinMaxFiltering, &[("samplerFilterMinmax", query.v12.sampler_filter_minmax)]);
    out.features(Fact::CubeArrays, &[("imageCubeArray", core.image_cube_array)]);
    out.features(Fact::CompressionBc, &[("textureCompressionBC", core.texture_compression_bc)]);
    out.features(Fact::CompressionEtc2, &[("textureCompressionETC2", core.texture_compression_etc2)]);
    out.features(Fact::CompressionAstc, &[("textureCompressionASTC_LDR", core.texture_compression_astc_ldr)]);
    let name = ext::custom_border_color::NAME;
    let border: vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'_> = query.features(name);
    let set = on(border.custom_border_colors);
    let claim = Extension { name, answer: "customBorderColors", set, commands: &[] };
    out.extension(query, Fact::CustomBorderColor, claim);
    out.absent(Fact::SamplerFeedback, "Vulkan has no sampler feedback");
}

fn draws(query: &Query<'_>, out: &mut Writer) {
    let core = &query.core;
    let stores = ("vertexPipelineStoresAndAtomics", core.vertex_pipeline_stores_and_atomics);
    out.features(Fact::VertexStorageWrites, &[stores]);
    let stores = ("fragmentStoresAndAtomics", core.fragment_stores_and_atomics);
    out.features(Fact::FragmentStorageWrites, &[stores]);
    out.version(Fact::DrawIndirect, "Vulkan 1.0: vkCmdDrawIndirect");
    out.features(Fact::MultiDrawIndirect, &[("multiDrawIndirect", core.multi_draw_indirect)]);
    out.features(Fact::DrawIndirectCount, &[("drawIndirectCount", query.v12.draw_indirect_count)]);
    let first = ("drawIndirectFirstInstance", core.draw_indirect_first_instance);
    out.features(Fact::IndirectFirstInstance, &[first]);
    out.features(Fact::DrawParameters, &[("shaderDrawParameters", query.v11.shader_draw_parameters)]);
    let name = query.listed_name(&[khr::vertex_attribute_divisor::NAME, ext::vertex_attribute_divisor::NAME]);
    let divisor: vk::PhysicalDeviceVertexAttributeDivisorFeaturesKHR<'_> = query.features(name);
    let set = on(divisor.vertex_attribute_instance_rate_divisor);
    let claim = Extension { name, answer: "vertexAttributeInstanceRateDivisor", set, commands: &[] };
    out.extension(query, Fact::VertexDivisor, claim);
}

fn shading_rate(query: &Query<'_>, out: &mut Writer) {
    let name = khr::fragment_shading_rate::NAME;
    let rate: vk::PhysicalDeviceFragmentShadingRateFeaturesKHR<'_> = query.features(name);
    let facts = [
        (Fact::ShadingRatePerDraw, "pipelineFragmentShadingRate", rate.pipeline_fragment_shading_rate),
        (Fact::ShadingRatePerPrimitive, "primitiveFragmentShadingRate", rate.primitive_fragment_shading_rate),
        (Fact::ShadingRateAttachment, "attachmentFragmentShadingRate", rate.attachment_fragment_shading_rate),
    ];
    for (fact, answer, set) in facts {
        let commands = &[c"vkCmdSetFragmentShadingRateKHR"];
        out.extension(query, fact, Extension { name, answer, set: on(set), commands });
    }
}

fn fragments(query: &Query<'_>, out: &mut Writer) {
    let name = khr::fragment_shader_barycentric::NAME;
    let barycentric: vk::PhysicalDeviceFragmentShaderBarycentricFeaturesKHR<'_> = query.features(name);
    let set = on(barycentric.fragment_shader_barycentric);
    let claim = Extension { name, answer: "fragmentShaderBarycentric", set, commands: &[] };
    out.extension(query, Fact::Barycentrics, claim);

    let name = ext::fragment_shader_interlock::NAME;
    let interlock: vk::PhysicalDeviceFragmentShaderInterlockFeaturesEXT<'_> = query.features(name);
    let set = on(interlock.fragment_shader_pixel_interlock);
    let claim = Extension { name, answer: "fragmentShaderPixelInterlock", set, commands: &[] };
    out.extension(query, Fact::RasterOrderedAccess, claim);

    let name = khr::dynamic_rendering_local_read::NAME;
    let local: vk::PhysicalDeviceDynamicRenderingLocalReadFeaturesKHR<'_> = query.features(name);
    let set = on(local.dynamic_rendering_local_read);
    let commands = &[c"vkCmdSetRenderingAttachmentLocationsKHR", c"vkCmdSetRenderingInputAttachmentIndicesKHR"];
    out.extension(query, Fact::TileLocalReads, Extension { name, answer: "dynamicRenderingLocalRead", set, commands });

    let name = ext::sample_locations::NAME;
    let locations: vk::PhysicalDeviceSampleLocationsPropertiesEXT<'_> = query.props(name);
    let set = !locations.sample_location_sample_counts.is_empty();
    let commands = &[c"vkCmdSetSampleLocationsEXT"];
    out.extension(
        query,
        Fact::SamplePositions,
        Extension { name, answer: "sampleLocationSampleCounts", set, commands },
    );

    // No feature bit and no command: the registry makes the name the promise.
    let claim = Extension { name: ext::conservative_rasterization::NAME, answer: "", set: true, commands: &[] };
    out.extension(query, Fact::ConservativeRaster, claim);
}
