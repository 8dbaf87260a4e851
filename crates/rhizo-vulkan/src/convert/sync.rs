//! Stages, accesses and layouts.
//!
//! The contract's `fragment` stage covers fragment shading, depth tests and colour output; which of them is meant
//! follows from the accesses (9-decisions 24). What a queue family or a device without an optional feature cannot name is
//! masked out, with the accesses that only those stages make.

use ash::vk;
use rhizo_rhi::{Access, Aspects, Format, Layout, Scope, Stages};

type Stage = vk::PipelineStageFlags2;
type Flags = vk::AccessFlags2;

/// What a recorder's queue and device may name in a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    pub(crate) stages: Stages,
    /// Whether shading-rate attachments were enabled.
    pub(crate) shading_rate: bool,
}

impl Allowed {
    /// The stages of a queue family. Mesh, ray-tracing, acceleration-structure and machine-learning stages come with
    /// their features, none of which is enabled yet.
    pub(crate) fn of_family(flags: vk::QueueFlags) -> Self {
        let mut stages = Stages::TRANSFER;
        if flags.contains(vk::QueueFlags::COMPUTE) {
            stages |= Stages::COMPUTE | Stages::INDIRECT;
        }
        if flags.contains(vk::QueueFlags::GRAPHICS) {
            stages |= Stages::INDIRECT | Stages::INDEX_INPUT | Stages::VERTEX_INPUT | Stages::VERTEX | Stages::FRAGMENT;
        }
        Self { stages, shading_rate: false }
    }
}

/// The native stages and accesses of one side of a barrier.
#[inline]
pub(crate) fn scope(scope: Scope, allowed: Allowed) -> (Stage, Flags) {
    if scope.stages == Stages::ALL {
        return (Stage::ALL_COMMANDS, accesses(scope.access, allowed.stages, allowed));
    }
    let stages = scope.stages & allowed.stages;
    (self::stages(stages, scope.access, allowed), accesses(scope.access, stages, allowed))
}

/// The native stages of a semaphore wait.
pub(crate) fn wait_stages(stages: Stages, allowed: Allowed) -> Stage {
    let native = self::stages(stages & allowed.stages, Access::empty(), allowed);
    // A wait must block something: stages that this queue does not have leave everything.
    if stages == Stages::ALL || native.is_empty() { Stage::ALL_COMMANDS } else { native }
}

fn stages(stages: Stages, access: Access, allowed: Allowed) -> Stage {
    let mut out = Stage::NONE;
    let mut add = |stage: Stages, native: Stage| {
        if stages.contains(stage) {
            out |= native;
        }
    };
    add(Stages::TRANSFER, Stage::ALL_TRANSFER);
    add(Stages::INDIRECT, Stage::DRAW_INDIRECT);
    add(Stages::INDEX_INPUT, Stage::INDEX_INPUT);
    add(Stages::VERTEX_INPUT, Stage::VERTEX_ATTRIBUTE_INPUT);
    add(Stages::VERTEX, Stage::VERTEX_SHADER);
    add(Stages::FRAGMENT, fragment(access, allowed));
    add(Stages::COMPUTE, Stage::COMPUTE_SHADER);
    add(Stages::TASK, Stage::TASK_SHADER_EXT);
    add(Stages::MESH, Stage::MESH_SHADER_EXT);
    add(Stages::RAY_TRACING, Stage::RAY_TRACING_SHADER_KHR);
    add(Stages::ACCEL_STRUCT_BUILD, Stage::ACCELERATION_STRUCTURE_BUILD_KHR);
    add(Stages::ACCEL_STRUCT_COPY, Stage::ACCELERATION_STRUCTURE_COPY_KHR);
    // Machine learning has no stage in the headers of this ash version (VK_ARM_data_graph is younger): it runs in
    // compute until it has.
    add(Stages::MACHINE_LEARNING, Stage::COMPUTE_SHADER);
    out
}

/// `fragment`, narrowed by what is accessed; everything it covers when nothing narrows it.
fn fragment(access: Access, allowed: Allowed) -> Stage {
    const COLOR: Access = Access::RENDER_TARGET_READ
        .union(Access::RENDER_TARGET_WRITE)
        .union(Access::RESOLVE_READ)
        .union(Access::RESOLVE_WRITE);
    const DEPTH: Access = Access::DEPTH_STENCIL_READ.union(Access::DEPTH_STENCIL_WRITE);
    let tests = Stage::EARLY_FRAGMENT_TESTS | Stage::LATE_FRAGMENT_TESTS;
    let mut out = Stage::NONE;
    if access.intersects(COLOR) {
        // Attachment resolves, depth ones too, happen in colour output.
        out |= Stage::COLOR_ATTACHMENT_OUTPUT;
    }
    if access.intersects(DEPTH) {
        out |= tests;
    }
    if access.intersects(SHADER) {
        out |= Stage::FRAGMENT_SHADER;
    }
    if access.contains(Access::SHADING_RATE_READ) && allowed.shading_rate {
        out |= Stage::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR;
    }
    if out.is_empty() { Stage::FRAGMENT_SHADER | Stage::COLOR_ATTACHMENT_OUTPUT | tests } else { out }
}

const SHADER: Access =
    Access::CONSTANT_READ.union(Access::SHADER_READ).union(Access::SHADER_WRITE).union(Access::ACCEL_STRUCT_READ);

/// The native accesses that the given stages can make.
fn accesses(access: Access, stages: Stages, allowed: Allowed) -> Flags {
    let shading = stages.intersects(Stages::ALL_SHADING);
    let build = stages.contains(Stages::ACCEL_STRUCT_BUILD);
    let structures = build || stages.contains(Stages::ACCEL_STRUCT_COPY);
    let fragment = stages.contains(Stages::FRAGMENT);
    let transfer = stages.contains(Stages::TRANSFER);
    let mut out = Flags::NONE;
    let mut add = |one: Access, possible: bool, native: Flags| {
        if possible && access.contains(one) {
            out |= native;
        }
    };
    add(Access::INDIRECT_COMMAND_READ, stages.contains(Stages::INDIRECT), Flags::INDIRECT_COMMAND_READ);
    add(Access::INDEX_READ, stages.contains(Stages::INDEX_INPUT), Flags::INDEX_READ);
    add(Access::VERTEX_READ, stages.contains(Stages::VERTEX_INPUT), Flags::VERTEX_ATTRIBUTE_READ);
    add(Access::CONSTANT_READ, shading, Flags::UNIFORM_READ);
    add(Access::SHADER_READ, shading || build, Flags::SHADER_READ);
    add(Access::SHADER_WRITE, shading, Flags::SHADER_WRITE);
    add(Access::RENDER_TARGET_READ, fragment, Flags::COLOR_ATTACHMENT_READ);
    add(Access::RENDER_TARGET_WRITE, fragment, Flags::COLOR_ATTACHMENT_WRITE);
    add(Access::DEPTH_STENCIL_READ, fragment, Flags::DEPTH_STENCIL_ATTACHMENT_READ);
    add(Access::DEPTH_STENCIL_WRITE, fragment, Flags::DEPTH_STENCIL_ATTACHMENT_WRITE);
    add(Access::TRANSFER_READ, transfer, Flags::TRANSFER_READ);
    add(Access::TRANSFER_WRITE, transfer, Flags::TRANSFER_WRITE);
    add(Access::RESOLVE_READ, transfer, Flags::TRANSFER_READ);
    add(Access::RESOLVE_WRITE, transfer, Flags::TRANSFER_WRITE);
    add(Access::RESOLVE_READ, fragment, Flags::COLOR_ATTACHMENT_READ);
    add(Access::RESOLVE_WRITE, fragment, Flags::COLOR_ATTACHMENT_WRITE);
    // Presentation reads through its semaphore: no access of a barrier.
    add(Access::PRESENT, true, Flags::NONE);
    let rate = fragment && allowed.shading_rate;
    add(Access::SHADING_RATE_READ, rate, Flags::FRAGMENT_SHADING_RATE_ATTACHMENT_READ_KHR);
    let traced = structures || stages.contains(Stages::RAY_TRACING);
    add(Access::ACCEL_STRUCT_READ, traced, Flags::ACCELERATION_STRUCTURE_READ_KHR);
    add(Access::ACCEL_STRUCT_WRITE, structures, Flags::ACCELERATION_STRUCTURE_WRITE_KHR);
    out
}

/// The native layout of a sub-resource range with these aspects of a texture of this format.
///
/// Resolve destinations are `GENERAL`: the contract has one layout for resolves by a pass and by a copy, and Vulkan allows
/// `TRANSFER_DST_OPTIMAL` for the latter only.
pub(crate) fn layout(layout: Layout, format: Format, aspects: Aspects) -> vk::ImageLayout {
    use vk::ImageLayout as L;
    let part = aspects != Aspects::DEPTH_STENCIL && format.aspects() == Aspects::DEPTH_STENCIL;
    match layout {
        Layout::Undefined => L::UNDEFINED,
        Layout::General | Layout::Common | Layout::ResolveDestination => L::GENERAL,
        Layout::CopySource | Layout::ResolveSource => L::TRANSFER_SRC_OPTIMAL,
        Layout::CopyDestination => L::TRANSFER_DST_OPTIMAL,
        Layout::ShaderReadOnly => L::SHADER_READ_ONLY_OPTIMAL,
        Layout::RenderTarget => L::COLOR_ATTACHMENT_OPTIMAL,
        Layout::DepthStencilReadOnly if part && aspects == Aspects::DEPTH => L::DEPTH_READ_ONLY_OPTIMAL,
        Layout::DepthStencilReadOnly if part => L::STENCIL_READ_ONLY_OPTIMAL,
        Layout::DepthStencilReadOnly => L::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
        Layout::DepthStencilWrite if part && aspects == Aspects::DEPTH => L::DEPTH_ATTACHMENT_OPTIMAL,
        Layout::DepthStencilWrite if part => L::STENCIL_ATTACHMENT_OPTIMAL,
        Layout::DepthStencilWrite => L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        Layout::Present => L::PRESENT_SRC_KHR,
        Layout::ShadingRateSurface => L::FRAGMENT_SHADING_RATE_ATTACHMENT_OPTIMAL_KHR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graphics() -> Allowed {
        Allowed::of_family(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER)
    }

    #[test]
    fn fragment_is_narrowed_by_access() {
        let of = |access| scope(Scope::new(Stages::FRAGMENT, access), graphics()).0;
        assert_eq!(of(Access::RENDER_TARGET_WRITE), Stage::COLOR_ATTACHMENT_OUTPUT);
        assert_eq!(of(Access::DEPTH_STENCIL_WRITE), Stage::EARLY_FRAGMENT_TESTS | Stage::LATE_FRAGMENT_TESTS);
        assert_eq!(of(Access::SHADER_READ), Stage::FRAGMENT_SHADER);
        assert_eq!(of(Access::RESOLVE_WRITE), Stage::COLOR_ATTACHMENT_OUTPUT);
        let all = Stage::FRAGMENT_SHADER
            | Stage::COLOR_ATTACHMENT_OUTPUT
            | Stage::EARLY_FRAGMENT_TESTS
            | Stage::LATE_FRAGMENT_TESTS;
        assert_eq!(of(Access::empty()), all);
    }

    #[test]
    fn stages_of_features_and_queues_that_are_not_there_are_masked_with_their_accesses() {
        let mesh = Scope::new(Stages::MESH, Access::SHADER_READ);
        assert_eq!(scope(mesh, graphics()), (Stage::NONE, Flags::NONE));
        let transfer = Allowed::of_family(vk::QueueFlags::TRANSFER);
        let both = Scope::new(Stages::TRANSFER | Stages::FRAGMENT, Access::TRANSFER_WRITE | Access::SHADER_READ);
        assert_eq!(scope(both, transfer), (Stage::ALL_TRANSFER, Flags::TRANSFER_WRITE));
        assert_eq!(wait_stages(Stages::FRAGMENT, transfer), Stage::ALL_COMMANDS);
    }

    #[test]
    fn groups_cover_their_stages() {
        let (all, access) = scope(Scope::new(Stages::ALL, Access::all()), graphics());
        assert_eq!(all, Stage::ALL_COMMANDS);
        assert!(access.contains(Flags::SHADER_WRITE | Flags::TRANSFER_WRITE | Flags::COLOR_ATTACHMENT_WRITE));
        let (graphics_stages, _) = scope(Scope::new(Stages::ALL_GRAPHICS, Access::empty()), graphics());
        assert!(graphics_stages.contains(Stage::VERTEX_SHADER | Stage::DRAW_INDIRECT | Stage::COLOR_ATTACHMENT_OUTPUT));
        assert!(!graphics_stages.intersects(Stage::COMPUTE_SHADER | Stage::MESH_SHADER_EXT));
    }

    #[test]
    fn parts_of_depth_stencil_textures_have_their_own_layouts() {
        let of = |layout_, aspects| layout(layout_, Format::Depth24Stencil8, aspects);
        let write = Layout::DepthStencilWrite;
        assert_eq!(of(write, Aspects::DEPTH_STENCIL), vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL);
        assert_eq!(of(write, Aspects::DEPTH), vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL);
        assert_eq!(of(write, Aspects::STENCIL), vk::ImageLayout::STENCIL_ATTACHMENT_OPTIMAL);
        let depth = layout(write, Format::Depth32Float, Aspects::DEPTH);
        assert_eq!(depth, vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL);
    }
}
