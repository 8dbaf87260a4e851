//! Ray tracing, meshes, machine learning, work graphs.

use super::missing;
use super::query::Query;
use super::write::{Extension, Writer, on};
use ash::{amdx, ext, khr, nv, vk};
use rhizo_rhi::{CooperativeMatrix, ElementType, Fact, MatrixScope};

pub(super) fn write(query: &Query<'_>, out: &mut Writer) {
    acceleration(query, out);
    rays(query, out);
    ray_extras(query, out);
    mesh(query, out);
    arithmetic(query, out);
    matrices(query, out);
    tensors(query, out);
    work_graphs(query, out);
}

fn acceleration(query: &Query<'_>, out: &mut Writer) {
    let name = khr::acceleration_structure::NAME;
    let features: vk::PhysicalDeviceAccelerationStructureFeaturesKHR<'_> = query.features(name);
    let set = on(features.acceleration_structure);
    let commands = &[
        c"vkCreateAccelerationStructureKHR",
        c"vkGetAccelerationStructureBuildSizesKHR",
        c"vkCmdBuildAccelerationStructuresKHR",
        c"vkGetAccelerationStructureDeviceAddressKHR",
    ];
    let claim = Extension { name, answer: "accelerationStructure", set, commands };
    out.extension(query, Fact::AccelerationStructures, claim);
    if set {
        // The extension knows bottom and top level, and no more.
        out.builder().values().ray_tracing.levels = Some(2);
    }
    let set = on(features.acceleration_structure_indirect_build);
    let commands = &[c"vkCmdBuildAccelerationStructuresIndirectKHR"];
    let claim = Extension { name, answer: "accelerationStructureIndirectBuild", set, commands };
    out.extension(query, Fact::IndirectBuilds, claim);
    let name = khr::ray_query::NAME;
    let rays: vk::PhysicalDeviceRayQueryFeaturesKHR<'_> = query.features(name);
    let claim = Extension { name, answer: "rayQuery", set: on(rays.ray_query), commands: &[] };
    out.extension(query, Fact::InlineQueries, claim);
}

fn rays(query: &Query<'_>, out: &mut Writer) {
    let name = khr::ray_tracing_pipeline::NAME;
    let features: vk::PhysicalDeviceRayTracingPipelineFeaturesKHR<'_> = query.features(name);
    let commands = &[c"vkCreateRayTracingPipelinesKHR", c"vkGetRayTracingShaderGroupHandlesKHR", c"vkCmdTraceRaysKHR"];
    let claim = Extension { name, answer: "rayTracingPipeline", set: on(features.ray_tracing_pipeline), commands };
    out.extension(query, Fact::RayPipelines, claim);
    let set = on(features.ray_tracing_pipeline_trace_rays_indirect);
    let commands = &[c"vkCmdTraceRaysIndirectKHR"];
    let claim = Extension { name, answer: "rayTracingPipelineTraceRaysIndirect", set, commands };
    out.extension(query, Fact::IndirectTraces, claim);
    let set = on(features.ray_traversal_primitive_culling);
    let claim = Extension { name, answer: "rayTraversalPrimitiveCulling", set, commands: &[] };
    out.extension(query, Fact::RayPrimitiveCulling, claim);
}

fn ray_extras(query: &Query<'_>, out: &mut Writer) {
    let name = khr::ray_tracing_position_fetch::NAME;
    let fetch: vk::PhysicalDeviceRayTracingPositionFetchFeaturesKHR<'_> = query.features(name);
    let set = on(fetch.ray_tracing_position_fetch);
    let claim = Extension { name, answer: "rayTracingPositionFetch", set, commands: &[] };
    out.extension(query, Fact::PositionFetch, claim);

    let name = nv::ray_tracing_motion_blur::NAME;
    let motion: vk::PhysicalDeviceRayTracingMotionBlurFeaturesNV<'_> = query.features(name);
    let set = on(motion.ray_tracing_motion_blur);
    let claim = Extension { name, answer: "rayTracingMotionBlur", set, commands: &[] };
    out.extension(query, Fact::RayMotionBlur, claim);

    let name = ext::opacity_micromap::NAME;
    let micromap: vk::PhysicalDeviceOpacityMicromapFeaturesEXT<'_> = query.features(name);
    let commands = &[c"vkCreateMicromapEXT", c"vkCmdBuildMicromapsEXT"];
    let claim = Extension { name, answer: "micromap", set: on(micromap.micromap), commands };
    out.extension(query, Fact::OpacityMicromaps, claim);

    let name = nv::ray_tracing_invocation_reorder::NAME;
    let reorder: vk::PhysicalDeviceRayTracingInvocationReorderFeaturesNV<'_> = query.features(name);
    let set = on(reorder.ray_tracing_invocation_reorder);
    let claim = Extension { name, answer: "rayTracingInvocationReorder", set, commands: &[] };
    out.extension(query, Fact::InvocationReordering, claim);
}

fn mesh(query: &Query<'_>, out: &mut Writer) {
    let name = ext::mesh_shader::NAME;
    let features: vk::PhysicalDeviceMeshShaderFeaturesEXT<'_> = query.features(name);
    let both = &[c"vkCmdDrawMeshTasksEXT"];
    let indirect = &[c"vkCmdDrawMeshTasksIndirectEXT", c"vkCmdDrawMeshTasksIndirectCountEXT"];
    let claims: [(Fact, &'static str, vk::Bool32, &'static [_]); 5] = [
        (Fact::MeshShaders, "meshShader", features.mesh_shader, both),
        (Fact::TaskShaders, "taskShader", features.task_shader, both),
        (Fact::MeshIndirect, "meshShader", features.mesh_shader, indirect),
        (Fact::MeshMultiview, "multiviewMeshShader", features.multiview_mesh_shader, both),
        (
            Fact::MeshShadingRate,
            "primitiveFragmentShadingRateMeshShader",
            features.primitive_fragment_shading_rate_mesh_shader,
            both,
        ),
    ];
    for (fact, answer, set, commands) in claims {
        out.extension(query, fact, Extension { name, answer, set: on(set), commands });
    }
    if on(features.mesh_shader) {
        let properties: vk::PhysicalDeviceMeshShaderPropertiesEXT<'_> = query.props(name);
        let values = &mut out.builder().values().mesh;
        values.max_vertices = Some(properties.max_mesh_output_vertices.into());
        values.max_primitives = Some(properties.max_mesh_output_primitives.into());
        values.max_payload_bytes = Some(properties.max_task_payload_size.into());
    }
}

fn arithmetic(query: &Query<'_>, out: &mut Writer) {
    out.features(Fact::Float16Arithmetic, &[("shaderFloat16", query.v12.shader_float16)]);
    out.features(Fact::Int8Arithmetic, &[("shaderInt8", query.v12.shader_int8)]);
    out.features(Fact::IntegerDotProduct, &[("shaderIntegerDotProduct", query.v13.shader_integer_dot_product)]);
    let fast = query.p13.integer_dot_product4x8_bit_packed_signed_accelerated;
    out.features(Fact::DotProductHardware, &[("integerDotProduct4x8BitPackedSignedAccelerated", fast)]);
}

fn matrices(query: &Query<'_>, out: &mut Writer) {
    let name = khr::cooperative_matrix::NAME;
    let features: vk::PhysicalDeviceCooperativeMatrixFeaturesKHR<'_> = query.features(name);
    let claimed = on(features.cooperative_matrix);
    let matrices = if claimed { matrix_shapes(query) } else { Vec::new() };
    let answer = if claimed { "cooperativeMatrix with at least one configuration" } else { "cooperativeMatrix" };
    let claim = Extension { name, answer, set: !matrices.is_empty(), commands: &[] };
    out.extension(query, Fact::CooperativeMatrices, claim);
    let mut types: Vec<ElementType> = matrices.iter().flat_map(|m| [m.a, m.b, m.c, m.result]).collect();
    types.sort_unstable();
    types.dedup();
    let values = &mut out.builder().values().machine_learning;
    values.element_types = types;
    values.matrices = matrices;

    let name = missing::COOPERATIVE_VECTOR;
    let vector: missing::CooperativeVectorFeatures = query.features(name);
    let claim = Extension { name, answer: "cooperativeVector", set: on(vector.cooperative_vector), commands: &[] };
    out.extension(query, Fact::CooperativeVectors, claim);
}

fn matrix_shapes(query: &Query<'_>) -> Vec<CooperativeMatrix> {
    if !query.resolves(c"vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR") {
        return Vec::new();
    }
    let instance = khr::cooperative_matrix::Instance::new(query.entry, query.instance);
    // SAFETY: the command resolves, and the physical device belongs to the instance and lists the extension.
    let shapes = unsafe { instance.get_physical_device_cooperative_matrix_properties(query.physical) };
    let shape = |s: &vk::CooperativeMatrixPropertiesKHR<'_>| CooperativeMatrix {
        m: s.m_size,
        n: s.n_size,
        k: s.k_size,
        a: element(s.a_type),
        b: element(s.b_type),
        c: element(s.c_type),
        result: element(s.result_type),
        saturating: on(s.saturating_accumulation),
        scope: scope(s.scope),
    };
    shapes.unwrap_or_default().iter().map(shape).collect()
}

fn element(component: vk::ComponentTypeKHR) -> ElementType {
    match component {
        vk::ComponentTypeKHR::FLOAT64 => ElementType::F64,
        vk::ComponentTypeKHR::FLOAT32 => ElementType::F32,
        vk::ComponentTypeKHR::FLOAT16 => ElementType::F16,
        vk::ComponentTypeKHR::SINT64 => ElementType::I64,
        vk::ComponentTypeKHR::SINT32 => ElementType::I32,
        vk::ComponentTypeKHR::SINT16 => ElementType::I16,
        vk::ComponentTypeKHR::SINT8 => ElementType::I8,
        vk::ComponentTypeKHR::UINT64 => ElementType::U64,
        vk::ComponentTypeKHR::UINT32 => ElementType::U32,
        vk::ComponentTypeKHR::UINT16 => ElementType::U16,
        vk::ComponentTypeKHR::UINT8 => ElementType::U8,
        other => match other.as_raw() {
            missing::COMPONENT_BF16 => ElementType::Bf16,
            missing::COMPONENT_F8_E4M3 => ElementType::F8E4m3,
            missing::COMPONENT_F8_E5M2 => ElementType::F8E5m2,
            number => ElementType::Other(number.unsigned_abs()),
        },
    }
}

fn scope(scope: vk::ScopeKHR) -> MatrixScope {
    match scope {
        vk::ScopeKHR::SUBGROUP => MatrixScope::Subgroup,
        vk::ScopeKHR::WORKGROUP => MatrixScope::Workgroup,
        vk::ScopeKHR::QUEUE_FAMILY => MatrixScope::QueueFamily,
        vk::ScopeKHR::DEVICE => MatrixScope::Device,
        other => MatrixScope::Other(other.as_raw().unsigned_abs()),
    }
}

fn tensors(query: &Query<'_>, out: &mut Writer) {
    let name = missing::TENSORS;
    let features: missing::TensorFeatures = query.features(name);
    let set = on(features.tensors);
    let commands = &[c"vkCreateTensorARM"];
    out.extension(query, Fact::Tensors, Extension { name, answer: "tensors", set, commands });
    if set {
        let properties: missing::TensorProperties = query.props(name);
        let values = &mut out.builder().values().machine_learning;
        values.max_tensor_rank = Some(properties.max_tensor_dimension_count.into());
        values.max_tensor_bytes = Some(properties.max_tensor_size);
    }
    let name = missing::DATA_GRAPH;
    let graph: missing::DataGraphFeatures = query.features(name);
    let commands = &[c"vkCreateDataGraphPipelinesARM", c"vkCreateDataGraphPipelineSessionARM"];
    let claim = Extension { name, answer: "dataGraph", set: on(graph.data_graph), commands };
    out.extension(query, Fact::ModelPipelines, claim);
}

fn work_graphs(query: &Query<'_>, out: &mut Writer) {
    let name = amdx::shader_enqueue::NAME;
    let features: missing::ShaderEnqueueFeatures = query.features(name);
    let set = on(features.shader_enqueue);
    let graphs = &[c"vkCreateExecutionGraphPipelinesAMDX", c"vkCmdDispatchGraphAMDX"];
    out.extension(query, Fact::WorkGraphs, Extension { name, answer: "shaderEnqueue", set, commands: graphs });
    let indirect = &[c"vkCmdDispatchGraphIndirectAMDX", c"vkCmdDispatchGraphIndirectCountAMDX"];
    out.extension(query, Fact::WorkGraphGpuInput, Extension { name, answer: "shaderEnqueue", set, commands: indirect });
    let set = on(features.shader_mesh_enqueue);
    let claim = Extension { name, answer: "shaderMeshEnqueue", set, commands: graphs };
    out.extension(query, Fact::WorkGraphMeshNodes, claim);
}
