//! What shaders may use beyond the core, and how that maps to naga's and SPIR-V's capabilities.

use bitflags::bitflags;
use naga::back::spv::Capability as Spv;
use naga::valid::Capabilities as Naga;

bitflags! {
    /// Things a shader may use beyond the core language. A shader that needs one that its [`crate::Source`] does not
    /// state is refused; a device that lacks one must not be given the shader.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ShaderFeatures: u64 {
        /// Push constants (`var<immediate>`).
        const PUSH_CONSTANTS = 1 << 0;
        /// Cube array textures.
        const CUBE_ARRAY_TEXTURES = 1 << 1;
        /// Per-sample shading: the sample index, sample interpolation.
        const SAMPLE_SHADING = 1 << 2;
        /// Forced early depth tests.
        const EARLY_DEPTH_TEST = 1 << 3;
        /// Arrays of sampled textures and samplers.
        const TEXTURE_ARRAYS = 1 << 4;
        /// … indexed differently by the invocations of one draw.
        const TEXTURE_ARRAYS_NON_UNIFORM = 1 << 5;
        /// Arrays of constant buffers.
        const CONSTANT_BUFFER_ARRAYS = 1 << 6;
        /// Arrays of storage buffers.
        const STORAGE_BUFFER_ARRAYS = 1 << 7;
        /// … indexed differently by the invocations of one draw.
        const STORAGE_BUFFER_ARRAYS_NON_UNIFORM = 1 << 8;
        /// Arrays of storage textures.
        const STORAGE_TEXTURE_ARRAYS = 1 << 9;
        /// … indexed differently by the invocations of one draw.
        const STORAGE_TEXTURE_ARRAYS_NON_UNIFORM = 1 << 10;
        /// 16-bit normalised storage texture formats.
        const STORAGE_NORM16_FORMATS = 1 << 11;
        /// Storage textures written without a format in the shader (`bgra8unorm`).
        const STORAGE_WRITE_WITHOUT_FORMAT = 1 << 12;
        /// Clip distances.
        const CLIP_DISTANCES = 1 << 13;
        /// The view index of multiview passes.
        const MULTIVIEW = 1 << 14;
        /// Two blend sources.
        const DUAL_SOURCE_BLENDING = 1 << 15;
        /// The primitive index in fragment shaders.
        const PRIMITIVE_INDEX = 1 << 16;
        /// Barycentric coordinates in fragment shaders.
        const BARYCENTRICS = 1 << 17;
        /// The draw index, base vertex and base instance.
        const DRAW_PARAMETERS = 1 << 18;
        /// 16-bit integers.
        const INT16 = 1 << 19;
        /// 64-bit integers.
        const INT64 = 1 << 20;
        /// 16-bit floats.
        const FLOAT16 = 1 << 21;
        /// 64-bit floats.
        const FLOAT64 = 1 << 22;
        /// Subgroup operations in fragment and compute shaders.
        const SUBGROUP = 1 << 23;
        /// Subgroup barriers.
        const SUBGROUP_BARRIER = 1 << 24;
        /// Subgroup operations in vertex shaders.
        const SUBGROUP_VERTEX = 1 << 25;
        /// 64-bit atomic minimum and maximum in storage buffers.
        const INT64_ATOMIC_MIN_MAX = 1 << 26;
        /// All 64-bit integer atomics.
        const INT64_ATOMICS = 1 << 27;
        /// 32-bit float atomics in storage buffers.
        const FLOAT32_ATOMICS = 1 << 28;
        /// Atomics on storage textures.
        const TEXTURE_ATOMICS = 1 << 29;
        /// 64-bit atomics on storage textures.
        const TEXTURE_INT64_ATOMICS = 1 << 30;
        /// The `@coherent` and `@volatile` memory decorations.
        const MEMORY_DECORATIONS = 1 << 31;

        /// What every backend offers for the stages it has.
        const PORTABLE = Self::PUSH_CONSTANTS.bits() | Self::CUBE_ARRAY_TEXTURES.bits()
            | Self::SAMPLE_SHADING.bits() | Self::EARLY_DEPTH_TEST.bits();
        /// What bindless materials need.
        const BINDLESS = Self::TEXTURE_ARRAYS.bits() | Self::TEXTURE_ARRAYS_NON_UNIFORM.bits()
            | Self::STORAGE_BUFFER_ARRAYS.bits() | Self::STORAGE_BUFFER_ARRAYS_NON_UNIFORM.bits();
    }
}

impl Default for ShaderFeatures {
    fn default() -> Self {
        Self::PORTABLE
    }
}

/// What a capability asks of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapabilityNeed {
    /// Every device has it.
    Nothing,
    /// The source must state this feature.
    Feature(ShaderFeatures),
    /// It is refused in validated shaders, for this reason.
    Refused(&'static str),
}

const RAY: &str = "ray tracing has no place in vertex, fragment and compute interfaces yet";
const MESH: &str = "mesh and task shaders come as ready-made binaries";

/// Every naga capability and what it needs. A test holds this list against naga's own.
#[rustfmt::skip]
const NAGA: &[(Naga, CapabilityNeed)] = {
    use CapabilityNeed::{Feature, Nothing, Refused};
    use ShaderFeatures as F;
    &[
        (Naga::IMMEDIATES, Feature(F::PUSH_CONSTANTS)),
        (Naga::FLOAT64, Feature(F::FLOAT64)),
        (Naga::PRIMITIVE_INDEX, Feature(F::PRIMITIVE_INDEX)),
        (Naga::TEXTURE_AND_SAMPLER_BINDING_ARRAY, Feature(F::TEXTURE_ARRAYS)),
        (Naga::BUFFER_BINDING_ARRAY, Feature(F::CONSTANT_BUFFER_ARRAYS)),
        (Naga::STORAGE_TEXTURE_BINDING_ARRAY, Feature(F::STORAGE_TEXTURE_ARRAYS)),
        (Naga::STORAGE_BUFFER_BINDING_ARRAY, Feature(F::STORAGE_BUFFER_ARRAYS)),
        (Naga::CLIP_DISTANCES, Feature(F::CLIP_DISTANCES)),
        (Naga::CULL_DISTANCE, Refused("no back end writes cull distances")),
        (Naga::STORAGE_TEXTURE_16BIT_NORM_FORMATS, Feature(F::STORAGE_NORM16_FORMATS)),
        (Naga::MULTIVIEW, Feature(F::MULTIVIEW)),
        (Naga::EARLY_DEPTH_TEST, Feature(F::EARLY_DEPTH_TEST)),
        (Naga::MULTISAMPLED_SHADING, Feature(F::SAMPLE_SHADING)),
        (Naga::RAY_QUERY, Refused(RAY)),
        (Naga::DUAL_SOURCE_BLENDING, Feature(F::DUAL_SOURCE_BLENDING)),
        (Naga::CUBE_ARRAY_TEXTURES, Feature(F::CUBE_ARRAY_TEXTURES)),
        (Naga::SHADER_INT64, Feature(F::INT64)),
        (Naga::SUBGROUP, Feature(F::SUBGROUP)),
        (Naga::SUBGROUP_BARRIER, Feature(F::SUBGROUP_BARRIER)),
        (Naga::SUBGROUP_VERTEX_STAGE, Feature(F::SUBGROUP_VERTEX)),
        (Naga::SHADER_INT64_ATOMIC_MIN_MAX, Feature(F::INT64_ATOMIC_MIN_MAX)),
        (Naga::SHADER_INT64_ATOMIC_ALL_OPS, Feature(F::INT64_ATOMICS)),
        (Naga::SHADER_FLOAT32_ATOMIC, Feature(F::FLOAT32_ATOMICS)),
        (Naga::TEXTURE_ATOMIC, Feature(F::TEXTURE_ATOMICS)),
        (Naga::TEXTURE_INT64_ATOMIC, Feature(F::TEXTURE_INT64_ATOMICS)),
        (Naga::RAY_HIT_VERTEX_POSITION, Refused(RAY)),
        (Naga::SHADER_FLOAT16, Feature(F::FLOAT16)),
        (Naga::TEXTURE_EXTERNAL, Refused("external textures exist in no backend")),
        (Naga::SHADER_FLOAT16_IN_FLOAT32, Nothing),
        (Naga::SHADER_BARYCENTRICS, Feature(F::BARYCENTRICS)),
        (Naga::MESH_SHADER, Refused(MESH)),
        (Naga::MESH_SHADER_POINT_TOPOLOGY, Refused(MESH)),
        (Naga::TEXTURE_AND_SAMPLER_BINDING_ARRAY_NON_UNIFORM_INDEXING, Feature(F::TEXTURE_ARRAYS_NON_UNIFORM)),
        (Naga::BUFFER_BINDING_ARRAY_NON_UNIFORM_INDEXING,
            Refused("no back end writes non-uniform constant buffer indexing")),
        (Naga::STORAGE_TEXTURE_BINDING_ARRAY_NON_UNIFORM_INDEXING, Feature(F::STORAGE_TEXTURE_ARRAYS_NON_UNIFORM)),
        (Naga::STORAGE_BUFFER_BINDING_ARRAY_NON_UNIFORM_INDEXING, Feature(F::STORAGE_BUFFER_ARRAYS_NON_UNIFORM)),
        (Naga::COOPERATIVE_MATRIX, Refused("cooperative matrices come with the machine-learning domain")),
        (Naga::PER_VERTEX, Refused("per-vertex fragment inputs have no place in the reflected interface")),
        (Naga::RAY_TRACING_PIPELINE, Refused(RAY)),
        (Naga::DRAW_INDEX, Feature(F::DRAW_PARAMETERS)),
        (Naga::ACCELERATION_STRUCTURE_BINDING_ARRAY, Refused(RAY)),
        (Naga::MEMORY_DECORATION_COHERENT, Feature(F::MEMORY_DECORATIONS)),
        (Naga::MEMORY_DECORATION_VOLATILE, Feature(F::MEMORY_DECORATIONS)),
        (Naga::SHADER_INT16, Feature(F::INT16)),
    ]
};

/// The SPIR-V capabilities that written code may declare. Any other one is refused by the writer, or, where there are
/// two ways to write something (8-bit packing, integer dot products), makes it take the way that needs none.
#[rustfmt::skip]
const SPIRV: &[(Spv, CapabilityNeed)] = {
    use CapabilityNeed::{Feature, Nothing};
    use ShaderFeatures as F;
    &[
        (Spv::Matrix, Nothing),
        (Spv::Shader, Nothing),
        (Spv::Sampled1D, Nothing),
        (Spv::Image1D, Nothing),
        (Spv::ImageQuery, Nothing),
        (Spv::DerivativeControl, Nothing),
        // Devices without it are below the baseline: rg32, r16 and so on as storage textures.
        (Spv::StorageImageExtendedFormats, Nothing),
        (Spv::SampledCubeArray, Feature(F::CUBE_ARRAY_TEXTURES)),
        (Spv::ImageCubeArray, Feature(F::CUBE_ARRAY_TEXTURES)),
        (Spv::SampleRateShading, Feature(F::SAMPLE_SHADING)),
        (Spv::StorageImageWriteWithoutFormat, Feature(F::STORAGE_WRITE_WITHOUT_FORMAT)),
        (Spv::ClipDistance, Feature(F::CLIP_DISTANCES)),
        (Spv::MultiView, Feature(F::MULTIVIEW)),
        (Spv::Geometry, Feature(F::PRIMITIVE_INDEX)),
        (Spv::FragmentBarycentricKHR, Feature(F::BARYCENTRICS)),
        (Spv::DrawParameters, Feature(F::DRAW_PARAMETERS)),
        (Spv::Int16, Feature(F::INT16)),
        (Spv::Int64, Feature(F::INT64)),
        (Spv::Float16, Feature(F::FLOAT16)),
        (Spv::StorageBuffer16BitAccess, Feature(F::FLOAT16.union(F::INT16))),
        (Spv::UniformAndStorageBuffer16BitAccess, Feature(F::FLOAT16.union(F::INT16))),
        (Spv::Float64, Feature(F::FLOAT64)),
        (Spv::GroupNonUniform, Feature(F::SUBGROUP)),
        (Spv::GroupNonUniformVote, Feature(F::SUBGROUP)),
        (Spv::GroupNonUniformArithmetic, Feature(F::SUBGROUP)),
        (Spv::GroupNonUniformBallot, Feature(F::SUBGROUP)),
        (Spv::GroupNonUniformShuffle, Feature(F::SUBGROUP)),
        (Spv::GroupNonUniformShuffleRelative, Feature(F::SUBGROUP)),
        (Spv::GroupNonUniformQuad, Feature(F::SUBGROUP)),
        (Spv::Int64Atomics, Feature(F::INT64_ATOMIC_MIN_MAX.union(F::INT64_ATOMICS).union(F::TEXTURE_INT64_ATOMICS))),
        (Spv::AtomicFloat32AddEXT, Feature(F::FLOAT32_ATOMICS)),
        (Spv::Int64ImageEXT, Feature(F::TEXTURE_INT64_ATOMICS)),
        (Spv::ShaderNonUniform, Feature(F::TEXTURE_ARRAYS_NON_UNIFORM
            .union(F::STORAGE_BUFFER_ARRAYS_NON_UNIFORM).union(F::STORAGE_TEXTURE_ARRAYS_NON_UNIFORM))),
        (Spv::RuntimeDescriptorArray, Feature(F::TEXTURE_ARRAYS
            .union(F::STORAGE_BUFFER_ARRAYS).union(F::STORAGE_TEXTURE_ARRAYS))),
    ]
};

impl CapabilityNeed {
    /// Whether these features cover the need. Where several features lead to one capability, any of them does.
    #[must_use]
    pub const fn met_by(self, features: ShaderFeatures) -> bool {
        match self {
            Self::Nothing => true,
            Self::Feature(any) => features.intersects(any),
            Self::Refused(_) => false,
        }
    }
}

/// What a SPIR-V capability needs: its number as in `OpCapability`. `None` if validated shaders never declare it.
#[must_use]
pub fn spirv_capability_need(capability: u32) -> Option<CapabilityNeed> {
    SPIRV.iter().find(|(c, _)| *c as u32 == capability).map(|(_, need)| *need)
}

/// The naga capabilities that shaders with these features may use.
pub(crate) fn naga_capabilities(features: ShaderFeatures) -> Naga {
    NAGA.iter().filter(|(_, need)| need.met_by(features)).fold(Naga::empty(), |all, (c, _)| all | *c)
}

/// The SPIR-V capabilities that code written for these features may declare.
pub(crate) fn spirv_capabilities(features: ShaderFeatures) -> naga::FastHashSet<Spv> {
    SPIRV.iter().filter(|(_, need)| need.met_by(features)).map(|(c, _)| *c).collect()
}

/// What a list of missing naga capabilities means for the user, in words.
pub(crate) fn explain_missing(missing: Naga) -> String {
    let words: Vec<String> = NAGA
        .iter()
        .filter(|(c, _)| missing.intersects(*c))
        .map(|(c, need)| match need {
            CapabilityNeed::Nothing => format!("{c:?}"),
            CapabilityNeed::Feature(f) => format!("the feature {}", names(*f)),
            CapabilityNeed::Refused(why) => format!("{} ({why})", capability_name(*c)),
        })
        .collect();
    words.join(", ")
}

/// The names of SPIR-V features that would let a shader declare one of these capabilities.
pub(crate) fn explain_missing_spirv(missing: &[Spv]) -> String {
    let words: Vec<String> = missing
        .iter()
        .map(|c| match spirv_capability_need(*c as u32) {
            Some(CapabilityNeed::Feature(f)) => format!("the feature {}", names(f)),
            _ => format!("the SPIR-V capability {c:?}, which is not offered"),
        })
        .collect();
    words.join(" or ")
}

fn names(features: ShaderFeatures) -> String {
    features.iter_names().map(|(name, _)| name).collect::<Vec<_>>().join(" or ")
}

fn capability_name(capability: Naga) -> String {
    capability.iter_names().map(|(name, _)| name.to_lowercase().replace('_', " ")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_naga_capability_is_mapped_once() {
        for capability in Naga::all().iter() {
            let rows = NAGA.iter().filter(|(c, _)| *c == capability).count();
            assert_eq!(rows, 1, "{capability:?}");
        }
        assert_eq!(NAGA.len(), Naga::all().iter().count());
    }

    #[test]
    fn every_feature_opens_something() {
        for (name, feature) in ShaderFeatures::all().iter_names() {
            let naga = NAGA.iter().any(|(_, n)| matches!(n, CapabilityNeed::Feature(f) if f.intersects(feature)));
            let spirv = SPIRV.iter().any(|(_, n)| matches!(n, CapabilityNeed::Feature(f) if f.intersects(feature)));
            assert!(naga || spirv, "{name} opens nothing");
        }
    }

    #[test]
    fn what_naga_can_write_is_never_refused_without_a_reason() {
        let written = naga::back::spv::supported_capabilities();
        for (capability, need) in NAGA {
            if let CapabilityNeed::Refused(why) = need {
                assert!(why.len() > 10, "{capability:?} needs a real reason");
            } else {
                assert!(written.contains(*capability), "{capability:?} is offered but cannot be written");
            }
        }
    }

    #[test]
    fn refused_capabilities_stay_closed_with_every_feature() {
        let open = naga_capabilities(ShaderFeatures::all());
        assert!(!open.contains(Naga::RAY_QUERY) && open.contains(Naga::SHADER_FLOAT16));
        assert!(!naga_capabilities(ShaderFeatures::PORTABLE).contains(Naga::FLOAT64));
        assert!(!spirv_capabilities(ShaderFeatures::PORTABLE).contains(&Spv::Int8));
    }
}
