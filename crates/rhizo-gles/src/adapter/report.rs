//! The capability report: what is claimed is what the tests of this crate use.

use super::Facts;
use rhizo_rhi::{
    Capabilities, CapabilitiesBuilder, Capability, Fact as F, Format, LimitKind as L, Provenance, Support,
};

const CORE: &str = "OpenGL ES 3.0";
const ONE_QUEUE: &str = "OpenGL ES has one queue";
const LEVEL: &str = "this backend targets WebGL 2's level (ES 3.0)";
const NOT_YET: &str = "the OpenGL ES backend does not translate it yet";

/// The report of a context.
pub(crate) fn capabilities(facts: &Facts) -> Capabilities {
    let mut report = CapabilitiesBuilder::new();
    offered(&mut report, facts);
    by_version(&mut report, facts.version);
    absent(&mut report);
    limits(&mut report, facts);
    for row in Format::all() {
        report.format(row.format, facts.format(row.format));
    }
    report.finish()
}

fn offered(report: &mut CapabilitiesBuilder, facts: &Facts) {
    let core = || Support::core(Provenance::ApiVersion, CORE);
    let robust = || Support::core(Provenance::RuntimeObjectProbe, "EGL_CONTEXT_OPENGL_ROBUST_ACCESS");
    for fact in [F::RasterPasses, F::DynamicOffsets, F::CommittedResources, F::BlockingWaits] {
        report.set(fact, Capability::direct(core()));
    }
    for fact in [F::RobustBuffers, F::RobustTextures] {
        report.set(fact, Capability::direct(robust()));
    }
    report.set(F::BindingTables, Capability::helper(core(), "a list of binds, replayed when a draw needs it"));
    report.set(F::PushConstants, Capability::helper(core(), "uniforms, written before the first draw after a change"));
    report.set(F::BinarySemaphores, Capability::helper(core(), "the order of the one queue"));
    report.set(F::DeviceUpload, Capability::helper(core(), "glBufferSubData"));
    let name = "GL_EXT_texture_filter_anisotropic";
    let anisotropic = if facts.limits.max_anisotropy > 1 {
        Support::extension(Provenance::NativeExtensionQuery, name)
    } else {
        Support::unavailable(Provenance::NativeExtensionQuery, name, "the driver does not offer the extension")
    };
    report.set(F::AnisotropicFiltering, Capability::direct(anisotropic));
    report.set(F::OcclusionQueries, Capability::native_only(core(), NOT_YET));
    report.set(F::CompressionEtc2, Capability::native_only(core(), NOT_YET));
}

/// What later versions have, and this backend leaves out.
fn by_version(report: &mut CapabilitiesBuilder, version: (u32, u32)) {
    let (major, minor) = version;
    let own = format!("OpenGL ES {major}.{minor}");
    let later = [
        (F::ComputePipelines, 1),
        (F::DispatchIndirect, 1),
        (F::StorageBuffers, 1),
        (F::StorageTextures, 1),
        (F::DrawIndirect, 1),
        (F::IndependentBlend, 2),
        (F::SampleRateShading, 2),
        (F::CubeArrays, 2),
    ];
    for (fact, needed) in later {
        let support = if version >= (3, needed) {
            Support::core(Provenance::ApiVersion, own.clone())
        } else {
            Support::unavailable(Provenance::ApiVersion, own.clone(), format!("it needs OpenGL ES 3.{needed}"))
        };
        report.set(fact, Capability::native_only(support, LEVEL));
    }
}

/// What no version has.
fn absent(report: &mut CapabilitiesBuilder) {
    let no_layouts = "OpenGL ES orders accesses itself; barriers are dropped";
    let one_object = "OpenGL ES gives every resource memory of its own";
    let reasons = [
        (F::TimelineSemaphores, ONE_QUEUE),
        (F::SeveralQueues, ONE_QUEUE),
        (F::AsyncComputeQueue, ONE_QUEUE),
        (F::TransferQueue, ONE_QUEUE),
        (F::QueueHandOver, ONE_QUEUE),
        (F::StageAccessBarriers, no_layouts),
        (F::TextureLayouts, no_layouts),
        (F::SplitBarriers, no_layouts),
        (F::PlacedResources, one_object),
        (F::AliasedResources, one_object),
        (F::Memoryless, "OpenGL ES has no such memory; its drivers decide"),
        (F::Wireframe, "OpenGL ES has no polygon mode"),
        (F::DepthClamp, "OpenGL ES has none in its core"),
        (F::DepthBiasClamp, "OpenGL ES has none in its core"),
        (F::LogicOp, "OpenGL ES has none"),
        (F::MultipleViewports, "OpenGL ES has one viewport"),
        (F::TimestampQueries, "OpenGL ES has no timestamps in its core"),
        (F::PreciseOcclusion, "OpenGL ES tells only whether any sample passed"),
        (F::PipelineStatistics, "OpenGL ES counts none"),
        (F::ClockCalibration, "OpenGL ES has no GPU clock in its core"),
        (F::BindlessTextures, "OpenGL ES cannot index textures freely"),
        (F::CacheExport, "OpenGL ES and WebGL 2 have no portable program binaries"),
        (F::AccelerationStructures, "OpenGL ES has no ray tracing"),
        (F::MeshShaders, "OpenGL ES has none"),
        (F::WorkGraphs, "OpenGL ES has none"),
    ];
    for (fact, reason) in reasons {
        report.set(fact, Capability::direct(Support::unavailable(Provenance::BackendContract, CORE, reason)));
    }
}

/// What is true of this backend, not of the driver behind it: a limit is a promise like a fact.
fn limits(report: &mut CapabilitiesBuilder, facts: &Facts) {
    let l = &facts.limits;
    let values = [
        (L::Texture2dSize, u64::from(l.max_texture_2d)),
        (L::BufferSize, l.max_buffer_bytes),
        (L::ConstantRange, l.max_constant_range_bytes),
        (L::ConstantAlignment, u64::from(l.uniform_alignment_bytes)),
        (L::CopyOffsetAlignment, u64::from(l.texture_copy_alignment_bytes)),
        (L::CopyRowAlignment, u64::from(l.row_alignment_bytes)),
        (L::PushConstants, u64::from(l.max_push_constant_bytes)),
        (L::Tables, u64::from(l.max_tables)),
        (L::StageTextures, u64::from(l.max_bound_textures)),
        (L::StageSamplers, u64::from(l.max_bound_textures)),
        (L::VertexBuffers, u64::from(l.max_vertex_bindings)),
        (L::VertexAttributes, u64::from(l.max_vertex_bindings)),
        (L::ColorTargets, u64::from(l.max_color_attachments)),
        (L::ColorSamples, u64::from(l.max_samples)),
        (L::DepthSamples, u64::from(l.max_samples)),
        (L::Viewports, u64::from(l.max_viewports)),
        (L::Anisotropy, u64::from(l.max_anisotropy)),
    ];
    for (kind, value) in values {
        report.limit(kind, value);
    }
}
