//! All limits by kind: name, unit, and where each API has it, from one table.

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum LimitUnit {
    Texels,
    Layers,
    Bytes,
    Count,
    Samples,
    Threads,
    Groups,
    Ratio,
    Bits,
    Levels,
}

impl LimitUnit {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Texels => "texels",
            Self::Layers => "layers",
            Self::Bytes => "bytes",
            Self::Count => "count",
            Self::Samples => "samples",
            Self::Threads => "threads",
            Self::Groups => "groups",
            Self::Ratio => "ratio",
            Self::Bits => "bits",
            Self::Levels => "levels",
        }
    }
}

/// Where each API has a limit: a query, a constant or a rule; `-` where it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct LimitSources {
    pub vulkan: &'static str,
    pub d3d12: &'static str,
    pub metal: &'static str,
    pub webgpu: &'static str,
    pub gles: &'static str,
}

macro_rules! limits {
    ($($kind:ident $name:literal $unit:ident $doc:literal
        [$vulkan:literal, $d3d12:literal, $metal:literal, $webgpu:literal, $gles:literal];)*) => {
        /// A limit of a device.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum LimitKind { $(#[doc = $doc] $kind,)* }

        impl LimitKind {
            /// Every kind, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// The stable name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// What is counted.
            #[must_use]
            pub const fn unit(self) -> LimitUnit {
                match self { $(Self::$kind => LimitUnit::$unit,)* }
            }

            /// What it means.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$kind => $doc,)* }
            }

            /// Where each API has it.
            #[must_use]
            pub const fn sources(self) -> LimitSources {
                match self { $(Self::$kind => LimitSources {
                    vulkan: $vulkan, d3d12: $d3d12, metal: $metal, webgpu: $webgpu, gles: $gles,
                },)* }
            }
        }
    };
}

limits! {
    // Textures.
    Texture1dSize "texture-1d-size" Texels "Width of a 1D texture."
        ["maxImageDimension1D", "16384", "16384", "maxTextureDimension1D", "-"];
    Texture2dSize "texture-2d-size" Texels "Width and height of a 2D texture."
        ["maxImageDimension2D", "16384", "16384", "maxTextureDimension2D", "MAX_TEXTURE_SIZE"];
    Texture3dSize "texture-3d-size" Texels "Edge of a 3D texture."
        ["maxImageDimension3D", "2048", "2048", "maxTextureDimension3D", "MAX_3D_TEXTURE_SIZE"];
    TextureCubeSize "texture-cube-size" Texels "Edge of a cube face."
        ["maxImageDimensionCube", "16384", "16384", "maxTextureDimension2D", "MAX_CUBE_MAP_TEXTURE_SIZE"];
    TextureLayers "texture-layers" Layers "Array layers of a texture."
        ["maxImageArrayLayers", "2048", "2048", "maxTextureArrayLayers", "MAX_ARRAY_TEXTURE_LAYERS"];
    TexelBufferElements "texel-buffer-elements" Count "Elements of a formatted buffer view."
        ["maxTexelBufferElements", "2^27", "256 Mi", "-", "MAX_TEXTURE_BUFFER_SIZE (3.2)"];
    // Buffers and their alignments.
    BufferSize "buffer-size" Bytes "Size of a buffer."
        ["maxBufferSize", "budget of the heap", "maxBufferLength", "maxBufferSize", "-"];
    ConstantRange "constant-range" Bytes "One constant-buffer binding."
        ["maxUniformBufferRange", "65536", "maxBufferLength", "maxUniformBufferBindingSize", "MAX_UNIFORM_BLOCK_SIZE"];
    StorageRange "storage-range" Bytes "One storage-buffer binding."
        ["maxStorageBufferRange", "2^27 elements", "maxBufferLength", "maxStorageBufferBindingSize",
         "MAX_SHADER_STORAGE_BLOCK_SIZE (3.1)"];
    ConstantAlignment "constant-alignment" Bytes "Alignment of constant-buffer offsets."
        ["minUniformBufferOffsetAlignment", "256", "256 on macOS, 4 on iOS", "minUniformBufferOffsetAlignment",
         "UNIFORM_BUFFER_OFFSET_ALIGNMENT"];
    StorageAlignment "storage-alignment" Bytes "Alignment of storage-buffer offsets."
        ["minStorageBufferOffsetAlignment", "16", "4", "minStorageBufferOffsetAlignment",
         "SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT (3.1)"];
    TexelAlignment "texel-alignment" Bytes "Alignment of formatted buffer views."
        ["minTexelBufferOffsetAlignment", "size of the format", "minimumLinearTextureAlignmentForPixelFormat", "-",
         "TEXTURE_BUFFER_OFFSET_ALIGNMENT (3.2)"];
    CopyOffsetAlignment "copy-offset-alignment" Bytes "Best alignment of texture data in buffers."
        ["optimalBufferCopyOffsetAlignment", "512", "size of the block", "size of the block", "4"];
    CopyRowAlignment "copy-row-alignment" Bytes "Best alignment of rows of texture data in buffers."
        ["optimalBufferCopyRowPitchAlignment", "256", "size of the block", "256", "UNPACK_ALIGNMENT"];
    MapAlignment "map-alignment" Bytes "Alignment of mapped pointers."
        ["minMemoryMapAlignment", "256", "page size", "8", "-"];
    NonCoherentAtom "non-coherent-atom" Bytes "Granularity of flushes of mapped memory that is not coherent."
        ["nonCoherentAtomSize", "-", "-", "-", "-"];
    // Push constants, tables and descriptors.
    PushConstants "push-constants" Bytes "Push constants of a pipeline layout."
        ["maxPushConstantsSize", "root signature, 256 together", "4096 (setBytes)", "a constant buffer", "uniforms"];
    Tables "tables" Count "Tables of a pipeline layout."
        ["maxBoundDescriptorSets", "root signature, 64 words", "31 buffers", "maxBindGroups", "4 (emulated by units)"];
    DynamicConstants "dynamic-constants" Count "Constant buffers with dynamic offsets in a pipeline layout."
        ["maxDescriptorSetUniformBuffersDynamic", "root signature", "31 buffers",
         "maxDynamicUniformBuffersPerPipelineLayout", "MAX_UNIFORM_BUFFER_BINDINGS"];
    DynamicStorage "dynamic-storage" Count "Storage buffers with dynamic offsets in a pipeline layout."
        ["maxDescriptorSetStorageBuffersDynamic", "root signature", "31 buffers",
         "maxDynamicStorageBuffersPerPipelineLayout", "MAX_SHADER_STORAGE_BUFFER_BINDINGS (3.1)"];
    StageSamplers "stage-samplers" Count "Samplers one stage may use."
        ["maxPerStageDescriptorSamplers", "2048 (tier 2)", "16", "maxSamplersPerShaderStage", "MAX_TEXTURE_IMAGE_UNITS"];
    StageTextures "stage-textures" Count "Sampled textures one stage may use."
        ["maxPerStageDescriptorSampledImages", "heap (tier 2)", "31 to 128", "maxSampledTexturesPerShaderStage",
         "MAX_TEXTURE_IMAGE_UNITS"];
    StageStorageTextures "stage-storage-textures" Count "Storage textures one stage may use."
        ["maxPerStageDescriptorStorageImages", "64 (tier 2)", "31 to 128", "maxStorageTexturesPerShaderStage",
         "MAX_IMAGE_UNITS (3.1)"];
    StageConstants "stage-constants" Count "Constant buffers one stage may use."
        ["maxPerStageDescriptorUniformBuffers", "14 (tier 2)", "31", "maxUniformBuffersPerShaderStage",
         "MAX_FRAGMENT_UNIFORM_BLOCKS"];
    StageStorage "stage-storage" Count "Storage buffers one stage may use."
        ["maxPerStageDescriptorStorageBuffers", "64 (tier 2)", "31", "maxStorageBuffersPerShaderStage",
         "MAX_FRAGMENT_SHADER_STORAGE_BLOCKS (3.1)"];
    StageResources "stage-resources" Count "Resources of all kinds one stage may use."
        ["maxPerStageResources", "heap (tier 2)", "-", "-", "MAX_COMBINED_TEXTURE_IMAGE_UNITS"];
    Samplers "samplers" Count "Samplers of a device."
        ["maxSamplerAllocationCount", "4000", "maxArgumentBufferSamplerCount", "-", "-"];
    BindlessTextures "bindless-textures" Count "Sampled textures of a table that is written while bound."
        ["maxDescriptorSetUpdateAfterBindSampledImages", "1000000", "500000 (tier 2)", "-", "-"];
    BindlessSamplers "bindless-samplers" Count "Samplers of a table that is written while bound."
        ["maxDescriptorSetUpdateAfterBindSamplers", "2048", "maxArgumentBufferSamplerCount", "-", "-"];
    BindlessStorageTextures "bindless-storage-textures" Count "Storage textures of a table that is written while bound."
        ["maxDescriptorSetUpdateAfterBindStorageImages", "1000000 (tier 3)", "500000 (tier 2)", "-", "-"];
    BindlessBuffers "bindless-buffers" Count "Storage buffers of a table that is written while bound."
        ["maxDescriptorSetUpdateAfterBindStorageBuffers", "1000000 (tier 3)", "500000 (tier 2)", "-", "-"];
    BindlessPool "bindless-pool" Count "Descriptors of all tables that are written while bound."
        ["maxUpdateAfterBindDescriptorsInAllPools", "1000000", "-", "-", "-"];
    // Vertices and attachments.
    VertexBuffers "vertex-buffers" Count "Vertex-buffer slots."
        ["maxVertexInputBindings", "32", "31", "maxVertexBuffers", "MAX_VERTEX_ATTRIB_BINDINGS (3.1)"];
    VertexAttributes "vertex-attributes" Count "Vertex attributes."
        ["maxVertexInputAttributes", "32", "31", "maxVertexAttributes", "MAX_VERTEX_ATTRIBS"];
    VertexStride "vertex-stride" Bytes "Stride of a vertex buffer."
        ["maxVertexInputBindingStride", "2048", "-", "maxVertexBufferArrayStride", "MAX_VERTEX_ATTRIB_STRIDE (3.1)"];
    InterStageComponents "inter-stage-components" Count "Scalars from vertex to fragment shader."
        ["maxVertexOutputComponents", "128", "124", "maxInterStageShaderVariables * 4", "MAX_VARYING_COMPONENTS"];
    ColorTargets "color-targets" Count "Colour targets of a pass."
        ["maxColorAttachments", "8", "8 (4 before Apple2)", "maxColorAttachments", "MAX_COLOR_ATTACHMENTS"];
    DualSourceTargets "dual-source-targets" Count "Colour targets of a pass with dual-source blending."
        ["maxFragmentDualSrcAttachments", "1", "1", "1", "MAX_DUAL_SOURCE_DRAW_BUFFERS (extension)"];
    TargetSize "target-size" Texels "Width and height of a pass."
        ["maxFramebufferWidth, -Height", "16384", "16384", "maxTextureDimension2D", "MAX_RENDERBUFFER_SIZE"];
    TargetLayers "target-layers" Layers "Layers of a pass."
        ["maxFramebufferLayers", "2048", "2048", "1", "MAX_FRAMEBUFFER_LAYERS (3.2)"];
    MultiviewViews "multiview-views" Count "Views of a pass."
        ["maxMultiviewViewCount", "4", "maxVertexAmplificationCount", "-", "MAX_VIEWS_OVR"];
    ColorSamples "color-samples" Samples "Samples of a colour target, at most."
        ["framebufferColorSampleCounts", "CheckFeatureSupport(MULTISAMPLE_QUALITY_LEVELS)", "supportsTextureSampleCount",
         "4", "MAX_SAMPLES"];
    DepthSamples "depth-samples" Samples "Samples of a depth target, at most."
        ["framebufferDepthSampleCounts", "CheckFeatureSupport(MULTISAMPLE_QUALITY_LEVELS)", "supportsTextureSampleCount",
         "4", "MAX_SAMPLES"];
    Viewports "viewports" Count "Viewports of a pass."
        ["maxViewports", "16", "16", "1", "1"];
    ViewportSize "viewport-size" Texels "Width and height of a viewport."
        ["maxViewportDimensions", "32768", "-", "maxTextureDimension2D", "MAX_VIEWPORT_DIMS"];
    ClipDistances "clip-distances" Count "Clip distances."
        ["maxClipDistances", "8", "8", "8 (feature)", "MAX_CLIP_DISTANCES_EXT"];
    Anisotropy "anisotropy" Ratio "Anisotropy of a sampler."
        ["maxSamplerAnisotropy", "16", "16", "16", "MAX_TEXTURE_MAX_ANISOTROPY_EXT"];
    ShadingRateTile "shading-rate-tile" Texels "Least edge of the tile of a shading-rate attachment."
        ["minFragmentShadingRateAttachmentTexelSize", "ShadingRateImageTileSize", "-", "-", "-"];
    // Draws and dispatches.
    IndirectDraws "indirect-draws" Count "Argument records of one indirect draw."
        ["maxDrawIndirectCount", "2^32 - 1", "1 (more through indirect command buffers)", "1", "1"];
    IndexValue "index-value" Count "Largest index."
        ["maxDrawIndexedIndexValue", "2^32 - 1", "2^32 - 1", "2^32 - 1", "MAX_ELEMENT_INDEX"];
    ComputeThreads "compute-threads" Threads "Threads of a compute group."
        ["maxComputeWorkGroupInvocations", "1024", "maxTotalThreadsPerThreadgroup",
         "maxComputeInvocationsPerWorkgroup", "MAX_COMPUTE_WORK_GROUP_INVOCATIONS (3.1)"];
    ComputeGroupX "compute-group-x" Threads "Threads of a compute group in x."
        ["maxComputeWorkGroupSize[0]", "1024", "maxThreadsPerThreadgroup.width", "maxComputeWorkgroupSizeX",
         "MAX_COMPUTE_WORK_GROUP_SIZE (3.1)"];
    ComputeGroupY "compute-group-y" Threads "Threads of a compute group in y."
        ["maxComputeWorkGroupSize[1]", "1024", "maxThreadsPerThreadgroup.height", "maxComputeWorkgroupSizeY",
         "MAX_COMPUTE_WORK_GROUP_SIZE (3.1)"];
    ComputeGroupZ "compute-group-z" Threads "Threads of a compute group in z."
        ["maxComputeWorkGroupSize[2]", "64", "maxThreadsPerThreadgroup.depth", "maxComputeWorkgroupSizeZ",
         "MAX_COMPUTE_WORK_GROUP_SIZE (3.1)"];
    DispatchGroups "dispatch-groups" Groups "Groups of a dispatch in each dimension."
        ["min of maxComputeWorkGroupCount", "65535", "-", "maxComputeWorkgroupsPerDimension",
         "MAX_COMPUTE_WORK_GROUP_COUNT (3.1)"];
    GroupSharedBytes "group-shared-bytes" Bytes "Memory the threads of a group share."
        ["maxComputeSharedMemorySize", "32768", "maxThreadgroupMemoryLength", "maxComputeWorkgroupStorageSize",
         "MAX_COMPUTE_SHARED_MEMORY_SIZE (3.1)"];
    SubgroupMin "subgroup-min" Threads "Threads of the smallest subgroup."
        ["minSubgroupSize", "WaveLaneCountMin", "threadExecutionWidth", "subgroupMinSize (adapter info)", "-"];
    SubgroupMax "subgroup-max" Threads "Threads of the largest subgroup."
        ["maxSubgroupSize", "WaveLaneCountMax", "threadExecutionWidth", "subgroupMaxSize (adapter info)", "-"];
    MeshGroupThreads "mesh-group-threads" Threads "Threads of a mesh group."
        ["maxMeshWorkGroupInvocations", "128", "maxTotalThreadsPerThreadgroup", "-", "-"];
    TaskGroupThreads "task-group-threads" Threads "Threads of a task group."
        ["maxTaskWorkGroupInvocations", "128", "maxTotalThreadsPerThreadgroup", "-", "-"];
    MeshGroups "mesh-groups" Groups "Mesh groups of a dispatch, in all."
        ["maxMeshWorkGroupTotalCount", "2^22", "-", "-", "-"];
    // Ray tracing.
    RayRecursion "ray-recursion" Levels "Nested traces of a ray pipeline."
        ["maxRayRecursionDepth", "31", "-", "-", "-"];
    RayDispatchThreads "ray-dispatch-threads" Threads "Threads of a ray dispatch."
        ["maxRayDispatchInvocationCount", "2^30", "-", "-", "-"];
    ShaderTableHandle "shader-table-handle" Bytes "Size of a shader-group handle."
        ["shaderGroupHandleSize", "32", "-", "-", "-"];
    ShaderTableAlignment "shader-table-alignment" Bytes "Alignment of a shader table."
        ["shaderGroupBaseAlignment", "64", "-", "-", "-"];
    AccelStructInstances "accel-struct-instances" Count "Instances of a top-level structure."
        ["maxInstanceCount", "2^24", "2^24 (2^30 extended)", "-", "-"];
    AccelStructPrimitives "accel-struct-primitives" Count "Primitives of a bottom-level structure."
        ["maxPrimitiveCount", "2^29", "2^28 (2^30 extended)", "-", "-"];
    AccelStructScratchAlignment "accel-struct-scratch-alignment" Bytes "Alignment of build scratch memory."
        ["minAccelerationStructureScratchOffsetAlignment", "256", "256", "-", "-"];
    // Memory and time.
    MemoryHeaps "memory-heaps" Count "Memory heaps."
        ["memoryHeapCount", "2 segments", "1", "-", "-"];
    DeviceLocalBytes "device-local-bytes" Bytes "Device-local memory, all heaps together."
        ["sizes of DEVICE_LOCAL heaps", "DedicatedVideoMemory", "recommendedMaxWorkingSetSize", "-", "-"];
    MemoryAllocations "memory-allocations" Count "Native allocations alive at once."
        ["maxMemoryAllocationCount", "-", "-", "-", "-"];
    AllocationSize "allocation-size" Bytes "Size of one native allocation."
        ["maxMemoryAllocationSize", "-", "maxBufferLength", "-", "-"];
    PlacementGranularity "placement-granularity" Bytes "Distance between buffers and textures in one heap."
        ["bufferImageGranularity", "65536", "heapTextureSizeAndAlign", "-", "-"];
    SparseAddressSpace "sparse-address-space" Bytes "Address space of sparse resources."
        ["sparseAddressSpaceSize", "MaxGPUVirtualAddressBitsPerResource", "-", "-", "-"];
    SparsePageBytes "sparse-page-bytes" Bytes "Page of a sparse resource in the standard shapes."
        ["65536 with residencyStandard2DBlockShape", "65536", "sparseTileSizeInBytes", "-", "-"];
    TimestampBits "timestamp-bits" Bits "Valid bits of a timestamp, least of the queues that have them."
        ["timestampValidBits", "64", "64", "64", "QUERY_COUNTER_BITS_EXT"];
    TimestampPeriodPs "timestamp-period-ps" Count "Picoseconds of one timestamp tick."
        ["timestampPeriod", "GetTimestampFrequency", "sampleTimestamps", "1000", "1000"];
}

/// The values of all kinds, where reported.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Limits([Option<u64>; LimitKind::ALL.len()]);

impl Default for Limits {
    fn default() -> Self {
        Self([None; LimitKind::ALL.len()])
    }
}

impl std::fmt::Debug for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let set = LimitKind::ALL.iter().filter_map(|kind| self.get(*kind).map(|value| (kind.name(), value)));
        f.debug_map().entries(set).finish()
    }
}

impl Limits {
    pub(crate) fn get(&self, kind: LimitKind) -> Option<u64> {
        self.0[kind as usize]
    }

    pub(crate) fn set(&mut self, kind: LimitKind, value: u64) {
        self.0[kind as usize] = Some(value);
    }
}
