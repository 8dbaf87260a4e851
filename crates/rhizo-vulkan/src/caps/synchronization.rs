//! Synchronization: queues, barriers, queries.

use super::missing;
use super::query::Query;
use super::write::{Extension, Writer, on};
use ash::vk::QueueFlags as Q;
use ash::{ext, khr, vk};
use rhizo_rhi::Fact;

pub(super) fn write(query: &Query<'_>, out: &mut Writer) {
    out.version(Fact::BinarySemaphores, "Vulkan 1.0: VkSemaphore");
    out.features(Fact::TimelineSemaphores, &[("timelineSemaphore", query.v12.timeline_semaphore)]);
    out.features(Fact::BlockingWaits, &[("timelineSemaphore", query.v12.timeline_semaphore)]);
    out.features(Fact::StageAccessBarriers, &[("synchronization2", query.v13.synchronization2)]);
    out.version(Fact::TextureLayouts, "Vulkan 1.0: VkImageLayout");
    out.features(Fact::SplitBarriers, &[("synchronization2", query.v13.synchronization2)]);
    let name = missing::UNIFIED_LAYOUTS;
    let unified: missing::UnifiedLayoutsFeatures = query.features(name);
    let set = on(unified.unified_image_layouts);
    let claim = Extension { name, answer: "unifiedImageLayouts", set, commands: &[] };
    out.extension(query, Fact::UnifiedLayouts, claim);
    queues(query, out);
    queries(query, out);
}

fn queues(query: &Query<'_>, out: &mut Writer) {
    let any = |fits: &dyn Fn(Q) -> bool| query.families.iter().any(|f| f.queue_count > 0 && fits(f.queue_flags));
    let several = query.families.iter().map(|family| family.queue_count).sum::<u32>() > 1;
    out.conditions(Fact::SeveralQueues, &[("second queue", several)]);
    let compute = any(&|flags| flags.contains(Q::COMPUTE) && !flags.contains(Q::GRAPHICS));
    out.conditions(Fact::AsyncComputeQueue, &[("queue family with compute and without graphics", compute)]);
    // Video and optical-flow families also copy, but are made for something else.
    let other = Q::GRAPHICS | Q::COMPUTE | Q::VIDEO_DECODE_KHR | Q::VIDEO_ENCODE_KHR | Q::OPTICAL_FLOW_NV;
    let transfer = any(&|flags| flags.contains(Q::TRANSFER) && !flags.intersects(other));
    out.conditions(Fact::TransferQueue, &[("queue family for transfer only", transfer)]);
    out.version(Fact::QueueHandOver, "Vulkan 1.0: queue family ownership transfer");
}

fn queries(query: &Query<'_>, out: &mut Writer) {
    let timed =
        query.families.iter().any(|f| f.timestamp_valid_bits > 0 && f.queue_flags.intersects(Q::GRAPHICS | Q::COMPUTE));
    let period = query.properties.limits.timestamp_period > 0.0;
    let conditions = [("timestampValidBits", timed), ("timestampPeriod", period)];
    out.conditions(Fact::TimestampQueries, &conditions);
    out.conditions(Fact::TimestampsBetweenPasses, &conditions);
    out.version(Fact::OcclusionQueries, "Vulkan 1.0: VK_QUERY_TYPE_OCCLUSION");
    out.features(Fact::PreciseOcclusion, &[("occlusionQueryPrecise", query.core.occlusion_query_precise)]);
    out.features(Fact::PipelineStatistics, &[("pipelineStatisticsQuery", query.core.pipeline_statistics_query)]);
    out.features(Fact::HostQueryReset, &[("hostQueryReset", query.v12.host_query_reset)]);
    let name = ext::mesh_shader::NAME;
    let mesh: vk::PhysicalDeviceMeshShaderFeaturesEXT<'_> = query.features(name);
    let claim = Extension { name, answer: "meshShaderQueries", set: on(mesh.mesh_shader_queries), commands: &[] };
    out.extension(query, Fact::MeshStatistics, claim);
    let khr_name = khr::calibrated_timestamps::NAME;
    let claim = if query.lists(khr_name) {
        let set = query.resolves(c"vkGetPhysicalDeviceCalibrateableTimeDomainsKHR");
        let commands = &[c"vkGetCalibratedTimestampsKHR"];
        Extension { name: khr_name, answer: "vkGetPhysicalDeviceCalibrateableTimeDomainsKHR", set, commands }
    } else {
        let set = query.resolves(c"vkGetPhysicalDeviceCalibrateableTimeDomainsEXT");
        let commands = &[c"vkGetCalibratedTimestampsEXT"];
        let name = ext::calibrated_timestamps::NAME;
        Extension { name, answer: "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT", set, commands }
    };
    out.extension(query, Fact::ClockCalibration, claim);
}
