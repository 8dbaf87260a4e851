//! Shader artifacts and their reflected interface: what pipelines are made of.

use crate::vocab::Stages;
use bitflags::bitflags;

/// What one entry point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShaderStage {
    /// Vertex shader.
    Vertex,
    /// Fragment shader.
    Fragment,
    /// Compute shader.
    Compute,
}

impl ShaderStage {
    /// The name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vertex => "vertex",
            Self::Fragment => "fragment",
            Self::Compute => "compute",
        }
    }

    /// As a visibility mask.
    #[must_use]
    pub const fn flag(self) -> ShaderStages {
        match self {
            Self::Vertex => ShaderStages::VERTEX,
            Self::Fragment => ShaderStages::FRAGMENT,
            Self::Compute => ShaderStages::COMPUTE,
        }
    }
}

bitflags! {
    /// The shader stages that see a binding or push-constant range.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct ShaderStages: u32 {
        /// Vertex.
        const VERTEX = 1 << 0;
        /// Fragment.
        const FRAGMENT = 1 << 1;
        /// Compute.
        const COMPUTE = 1 << 2;
        /// Vertex and fragment.
        const RASTER = Self::VERTEX.bits() | Self::FRAGMENT.bits();
        /// All stages listed above.
        const ALL = Self::RASTER.bits() | Self::COMPUTE.bits();
    }
}

impl ShaderStages {
    /// The pipeline stages these shaders run in.
    #[must_use]
    pub fn stages(self) -> Stages {
        let mut out = Stages::empty();
        out.set(Stages::VERTEX, self.contains(Self::VERTEX));
        out.set(Stages::FRAGMENT, self.contains(Self::FRAGMENT));
        out.set(Stages::COMPUTE, self.contains(Self::COMPUTE));
        out
    }
}

/// The language a backend takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShaderTarget {
    /// SPIR-V of this version (major, minor).
    Spirv {
        /// Highest SPIR-V version the device takes.
        version: (u8, u8),
    },
    /// WGSL.
    Wgsl,
    /// GLSL ES of this version, e.g. 300 or 310.
    GlslEs {
        /// Version number as in `#version`.
        version: u16,
    },
}

/// Code in a backend's language.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ShaderPayload {
    /// SPIR-V words.
    Spirv(Vec<u32>),
    /// WGSL source.
    Wgsl(String),
    /// GLSL ES source with the names that replace binding numbers there.
    GlslEs {
        /// Source text.
        source: String,
        /// For each binding: (group, binding, kind, name of the uniform block, buffer block or sampler). A sampled
        /// texture lists its combined sampler uniform here, with the sampler binding it is used with.
        names: Vec<GlslBinding>,
        /// The uniforms that carry push constants, in order of their offsets; empty if the shader has none.
        push_constants: Vec<GlslPushConstant>,
    },
}

/// One resource of a GLSL ES program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GlslBinding {
    /// Group and binding of the texture or buffer.
    pub binding: (u32, u32),
    /// Group and binding of the sampler a texture is combined with.
    pub sampler: Option<(u32, u32)>,
    /// The GLSL name.
    pub name: String,
    /// The slot fixed in the source by `layout(binding = n)`: storage buffers and storage textures have one, because
    /// GLSL ES cannot assign theirs by name. Slots count from 0 for each of the two kinds. The rest is assigned by name.
    pub slot: Option<u32>,
}

/// One scalar, vector or matrix of the push constants of a GLSL ES program: a plain uniform.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GlslPushConstant {
    /// Name to look the uniform's location up by, e.g. `_immediates_binding_vs.model` or `….lights[2]`.
    pub name: String,
    /// Byte offset inside the push constants.
    pub offset: u32,
    /// Columns of a matrix, else 1.
    pub columns: u8,
    /// Components of a scalar, vector or matrix column.
    pub rows: u8,
    /// Bytes from one column to the next: 16 for three and four rows of 32-bit scalars, else 8.
    pub column_stride: u8,
    /// Scalar class.
    pub scalar: ScalarClass,
}

/// A shader that has been validated: the only thing safe code can make a [`crate::Function`] from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShaderArtifact {
    pub(crate) label: String,
    pub(crate) entry: String,
    pub(crate) stage: ShaderStage,
    pub(crate) payload: ShaderPayload,
    pub(crate) interface: ShaderInterface,
}

impl ShaderArtifact {
    /// Wraps code that has been validated, or that the caller vouches for.
    ///
    /// # Safety
    /// The payload must be valid for its language, have `entry` with exactly the bindings, push constants, inputs,
    /// outputs and group size stated in `interface`, and keep every memory access in bounds (given robust buffer
    /// access). `rhizo-shader` establishes this with naga; ready-made binaries rest on the caller's word.
    #[must_use]
    pub unsafe fn from_validated(
        label: impl Into<String>,
        entry: impl Into<String>,
        stage: ShaderStage,
        payload: ShaderPayload,
        interface: ShaderInterface,
    ) -> Self {
        Self { label: label.into(), entry: entry.into(), stage, payload, interface }
    }

    /// Name for messages.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Entry point, as named in the payload.
    #[must_use]
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// Stage.
    #[must_use]
    pub const fn stage(&self) -> ShaderStage {
        self.stage
    }

    /// Code.
    #[must_use]
    pub const fn payload(&self) -> &ShaderPayload {
        &self.payload
    }

    /// Reflection.
    #[must_use]
    pub const fn interface(&self) -> &ShaderInterface {
        &self.interface
    }
}

/// What one entry point reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ShaderInterface {
    /// Bindings the entry point uses, sorted by (group, slot).
    pub bindings: Vec<ShaderBinding>,
    /// Bytes of push constants the entry point uses, 0 if none.
    pub push_constant_size: u32,
    /// Vertex inputs or fragment inputs by location.
    pub inputs: Vec<ShaderVariable>,
    /// Vertex outputs or fragment outputs by location.
    pub outputs: Vec<ShaderVariable>,
    /// Threads per group of a compute shader, else zeros.
    pub group_size: [u32; 3],
    /// Bytes of group-shared memory.
    pub group_shared_size: u32,
    /// Whether a fragment shader writes depth.
    pub writes_depth: bool,
}

/// A binding in a shader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ShaderBinding {
    /// Group (set, space).
    pub group: u32,
    /// Slot inside the group.
    pub slot: u32,
    /// The variable's name.
    pub name: String,
    /// What is bound.
    pub kind: BindingKind,
    /// Array length; 0 for a run-time sized array.
    pub count: u32,
    /// Least size of a buffer binding in bytes, 0 for others.
    pub min_size: u64,
}

/// A located input or output.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ShaderVariable {
    /// Location.
    pub location: u32,
    /// Name, may be empty.
    pub name: String,
    /// Scalar class.
    pub scalar: ScalarClass,
    /// Number of components, 1 to 4.
    pub components: u8,
}

/// The class of a shader variable's scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarClass {
    /// Floating point (or normalised).
    Float,
    /// Signed integer.
    Sint,
    /// Unsigned integer.
    Uint,
}

/// What a table slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingKind {
    /// Constant (uniform) buffer; with `dynamic`, its offset is given when the table is set.
    Constant {
        /// Whether the offset is dynamic.
        dynamic: bool,
    },
    /// Read-only storage buffer.
    BufferRead,
    /// Storage buffer that shaders may write.
    BufferWrite,
    /// Sampled texture.
    Texture {
        /// What sampling returns.
        sample: SampleType,
        /// View dimension.
        dimension: ViewDimension,
        /// Whether the texture is multisampled.
        multisampled: bool,
    },
    /// Storage texture.
    StorageTexture {
        /// Format as the shader names it.
        format: crate::format::Format,
        /// View dimension.
        dimension: ViewDimension,
        /// Whether shaders read it.
        read: bool,
        /// Whether shaders write it.
        write: bool,
    },
    /// Sampler.
    Sampler {
        /// Whether it compares.
        comparison: bool,
    },
}

/// What sampling a texture returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleType {
    /// Float, filterable or not.
    Float,
    /// Signed integer.
    Sint,
    /// Unsigned integer.
    Uint,
    /// Depth.
    Depth,
}

/// The dimension a shader sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ViewDimension {
    /// 1D.
    D1,
    /// 2D.
    #[default]
    D2,
    /// 2D array.
    D2Array,
    /// Cube.
    Cube,
    /// Cube array.
    CubeArray,
    /// 3D.
    D3,
}
