//! The fourteen domains: one table makes their structs, the [`Fact`]s, their names and iteration.

use super::limits::Limits;
use super::support::Capability;
use super::values::{CooperativeMatrix, ElementType, MemoryHeap, Value};
use crate::caps::FormatSupport;
use crate::format::Format;

/// What a domain holds besides facts: its name, and one value's name and text.
pub type DomainValue = (Domain, &'static str, String);

macro_rules! domains {
    ($(
        $(#[doc = $domain_doc:literal])*
        $domain:ident $field:ident $struct:ident $domain_name:literal {
            $($fact:ident $fact_field:ident $fact_name:literal $fact_doc:literal;)*
            $(@values { $(#[doc = $value_doc:literal] $value:ident $value_name:literal: $value_type:ty;)* })?
        }
    )*) => {
        /// An area of what devices can do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Domain { $($(#[doc = $domain_doc])* $domain,)* }

        impl Domain {
            /// Every domain.
            pub const ALL: &'static [Self] = &[$(Self::$domain),*];

            /// The name in reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$domain => $domain_name,)* }
            }

            /// The facts of the domain.
            #[must_use]
            pub const fn facts(self) -> &'static [Fact] {
                match self { $(Self::$domain => &[$(Fact::$fact),*],)* }
            }
        }

        /// One independent thing a device can or cannot do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Fact { $($(#[doc = $fact_doc] $fact,)*)* }

        impl Fact {
            /// Every fact, by domain.
            pub const ALL: &'static [Self] = &[$($(Self::$fact,)*)*];

            /// The stable name: `domain.fact`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($(Self::$fact => concat!($domain_name, ".", $fact_name),)*)* }
            }

            /// What it means, in one sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $($(Self::$fact => $fact_doc,)*)* }
            }

            /// The domain it belongs to.
            #[must_use]
            pub const fn domain(self) -> Domain {
                match self { $($(Self::$fact => Domain::$domain,)*)* }
            }

            /// The fact of a stable name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|fact| fact.name() == name)
            }
        }

        $(
            $(#[doc = $domain_doc])*
            #[derive(Clone, Debug, PartialEq, Eq, Default)]
            #[non_exhaustive]
            pub struct $struct {
                $(#[doc = $fact_doc] pub $fact_field: Capability,)*
                $($(#[doc = $value_doc] pub $value: $value_type,)*)?
            }
        )*

        /// The capability report of an adapter.
        ///
        /// The default has nothing: every fact unavailable as "not reported by this backend", no limits, no formats.
        /// Made by a [`CapabilitiesBuilder`](super::CapabilitiesBuilder).
        #[derive(Clone, Debug, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub struct Capabilities {
            $($(#[doc = $domain_doc])* pub $field: $struct,)*
            pub(crate) limits: Limits,
            pub(crate) formats: Vec<(Format, FormatSupport)>,
        }

        impl Capabilities {
            /// The three columns of a fact.
            #[must_use]
            pub fn capability(&self, fact: Fact) -> &Capability {
                match fact { $($(Fact::$fact => &self.$field.$fact_field,)*)* }
            }

            pub(crate) fn capability_mut(&mut self, fact: Fact) -> &mut Capability {
                match fact { $($(Fact::$fact => &mut self.$field.$fact_field,)*)* }
            }

            /// The reported values of the domains: heaps, matrix shapes, counts.
            #[must_use]
            pub fn domain_values(&self) -> Vec<DomainValue> {
                let mut out = Vec::new();
                $($($(
                    if let Some(text) = self.$field.$value.text() {
                        out.push((Domain::$domain, $value_name, text));
                    }
                )*)?)*
                out
            }
        }
    };
}

domains! {
    /// The raster pipeline and what it reads and writes.
    Raster raster RasterCapabilities "raster" {
        RasterPasses raster_passes "passes" "Raster passes whose attachments state load, store and resolve.";
        DepthReadOnlySampling depth_read_only_sampling "depth-read-only-sampling" "A depth attachment that is only tested may be sampled in the same pass.";
        IndependentAspectLayouts independent_aspect_layouts "independent-aspect-layouts" "Depth and stencil of one texture may have different layouts.";
        DepthStencilResolve depth_stencil_resolve "depth-stencil-resolve" "Multisampled depth and stencil resolve at the end of a pass.";
        IndependentBlend independent_blend "independent-blend" "Each colour target has its own blend state and write mask.";
        DualSourceBlend dual_source_blend "dual-source-blend" "Blend factors may use a second fragment output.";
        LogicOp logic_op "logic-op" "Logic operations between fragment output and colour target.";
        DepthClamp depth_clamp "depth-clamp" "Depth is clamped instead of clipped.";
        DepthBiasClamp depth_bias_clamp "depth-bias-clamp" "Depth bias has an upper bound.";
        DepthBounds depth_bounds "depth-bounds" "A test of the stored depth against a range.";
        Wireframe wireframe "wireframe" "Polygons drawn as their edges.";
        SampleRateShading sample_rate_shading "sample-rate-shading" "The fragment shader runs once per sample.";
        ConservativeRaster conservative_raster "conservative-raster" "Every pixel a primitive touches is covered.";
        ClipDistances clip_distances "clip-distances" "Vertex shaders write clip distances.";
        VertexDivisor vertex_divisor "vertex-divisor" "Instance attributes advance every n instances.";
        AnisotropicFiltering anisotropic_filtering "anisotropic-filtering" "Samplers filter anisotropically.";
        MinMaxFiltering min_max_filtering "min-max-filtering" "Samplers return the least or greatest texel instead of an average.";
        CustomBorderColor custom_border_color "custom-border-color" "Samplers have a border of any colour.";
        CubeArrays cube_arrays "cube-arrays" "Views of arrays of cubes.";
        CompressionBc compression_bc "compression-bc" "All BC block-compressed formats.";
        CompressionEtc2 compression_etc2 "compression-etc2" "All ETC2 and EAC block-compressed formats.";
        CompressionAstc compression_astc "compression-astc" "All low-dynamic-range ASTC block-compressed formats.";
        VertexStorageWrites vertex_storage_writes "vertex-storage-writes" "Vertex shaders write storage buffers and textures.";
        FragmentStorageWrites fragment_storage_writes "fragment-storage-writes" "Fragment shaders write storage buffers and textures.";
        DrawIndirect draw_indirect "draw-indirect" "Draw arguments come from a buffer.";
        MultiDrawIndirect multi_draw_indirect "multi-draw-indirect" "One call draws many argument records.";
        DrawIndirectCount draw_indirect_count "draw-indirect-count" "The number of argument records comes from a buffer.";
        IndirectFirstInstance indirect_first_instance "indirect-first-instance" "Indirect draws may start at any instance.";
        DrawParameters draw_parameters "draw-parameters" "Shaders see the draw's index and its base vertex and instance.";
        MultipleViewports multiple_viewports "multiple-viewports" "A pass has several viewports and scissors.";
        ViewportLayerOutput viewport_layer_output "viewport-layer-output" "Vertex shaders choose viewport and layer.";
        Multiview multiview "multiview" "One draw renders several views.";
        Barycentrics barycentrics "barycentrics" "Fragment shaders read barycentric coordinates.";
        ShadingRatePerDraw shading_rate_per_draw "shading-rate-per-draw" "A shading rate per draw.";
        ShadingRatePerPrimitive shading_rate_per_primitive "shading-rate-per-primitive" "A shading rate per primitive, written by shaders.";
        ShadingRateAttachment shading_rate_attachment "shading-rate-attachment" "A shading rate per tile, read from a texture.";
        SamplePositions sample_positions "sample-positions" "Sample positions are set by the program.";
        RasterOrderedAccess raster_ordered_access "raster-ordered-access" "Reads and writes of the same pixel follow primitive order.";
        TileLocalReads tile_local_reads "tile-local-reads" "Fragment shaders read their own pixel of the pass's attachments.";
        SamplerFeedback sampler_feedback "sampler-feedback" "The device records which texels sampling touched.";
    }

    /// How shaders find resources.
    Binding binding BindingCapabilities "binding" {
        BindingTables binding_tables "tables" "Immutable binding tables by layout.";
        PushConstants push_constants "push-constants" "Small constants recorded into the command buffer.";
        DynamicOffsets dynamic_offsets "dynamic-offsets" "Offsets of bound buffers are given when the table is set.";
        StaticSamplers static_samplers "static-samplers" "Samplers baked into the pipeline layout.";
        PushDescriptors push_descriptors "push-descriptors" "Descriptors recorded into the command buffer.";
        RobustBuffers robust_buffers "robust-buffers" "Accesses outside a bound buffer are harmless.";
        RobustTextures robust_textures "robust-textures" "Accesses outside a bound texture are harmless.";
        NullDescriptors null_descriptors "null-descriptors" "Empty slots read zero and ignore writes.";
        RuntimeArrays runtime_arrays "runtime-arrays" "Arrays of descriptors whose length the shader does not state.";
        PartiallyBound partially_bound "partially-bound" "Slots that no invocation uses may be empty.";
        NonUniformIndexing non_uniform_indexing "non-uniform-indexing" "Invocations index descriptor arrays differently.";
        UpdateAfterBind update_after_bind "update-after-bind" "Descriptors not in use are written while their table is bound.";
        VariableCounts variable_counts "variable-counts" "The length of a table's last array is chosen when it is created.";
        BindlessTextures bindless_textures "bindless-textures" "Sampled textures in one large array, written while bound and indexed freely.";
        BindlessSamplers bindless_samplers "bindless-samplers" "Samplers in one large array, written while bound and indexed freely.";
        BindlessStorageTextures bindless_storage_textures "bindless-storage-textures" "Storage textures in one large array, written while bound and indexed freely.";
        BindlessBuffers bindless_buffers "bindless-buffers" "Storage buffers in one large array, written while bound, indexed freely and still bounds-checked.";
        MutableDescriptors mutable_descriptors "mutable-descriptors" "A slot takes descriptors of several kinds.";
        DescriptorBuffers descriptor_buffers "descriptor-buffers" "Descriptors live in buffers that the program fills.";
        HeapIndexing heap_indexing "heap-indexing" "Shaders index the descriptor heap itself.";
        BufferAddresses buffer_addresses "buffer-addresses" "Shaders follow 64-bit addresses into buffers.";
        @values {
            /// D3D12 resource-binding tier, 1 to 3.
            resource_binding_tier "resource-binding-tier": Option<u64>;
            /// D3D12 root-signature version times ten: 10, 11 or 12.
            root_signature_version "root-signature-version": Option<u64>;
        }
    }

    /// Ordering of work on and between queues and the CPU, and queries.
    Synchronization synchronization SynchronizationCapabilities "synchronization" {
        BinarySemaphores binary_semaphores "binary-semaphores" "Semaphores with alternating signal and wait.";
        TimelineSemaphores timeline_semaphores "timeline-semaphores" "Semaphores that carry a growing value.";
        BlockingWaits blocking_waits "blocking-waits" "The CPU can wait for the device.";
        StageAccessBarriers stage_access_barriers "stage-access-barriers" "Barriers that name stages and accesses natively.";
        TextureLayouts texture_layouts "texture-layouts" "Textures have layouts that barriers change.";
        UnifiedLayouts unified_layouts "unified-layouts" "The general layout is as good as any other.";
        SplitBarriers split_barriers "split-barriers" "A barrier in two halves with work between them.";
        SeveralQueues several_queues "several-queues" "More than one queue.";
        AsyncComputeQueue async_compute_queue "async-compute-queue" "A compute queue beside the graphics queue.";
        TransferQueue transfer_queue "transfer-queue" "A queue for copies only.";
        QueueHandOver queue_hand_over "queue-hand-over" "Resources move between queues with their contents.";
        TimestampQueries timestamp_queries "timestamp-queries" "Device time at the begin and end of passes.";
        TimestampsBetweenPasses timestamps_between_passes "timestamps-between-passes" "Device time between passes.";
        OcclusionQueries occlusion_queries "occlusion-queries" "Whether any sample of the draws passed.";
        PreciseOcclusion precise_occlusion "precise-occlusion" "How many samples of the draws passed.";
        PipelineStatistics pipeline_statistics "pipeline-statistics" "Counters of the raster and compute pipeline.";
        MeshStatistics mesh_statistics "mesh-statistics" "Counters of task and mesh shaders.";
        HostQueryReset host_query_reset "host-query-reset" "The CPU resets queries.";
        ClockCalibration clock_calibration "clock-calibration" "Device and CPU time read together.";
    }

    /// Memory and how resources are put into it.
    Memory memory MemoryCapabilities "memory" {
        CommittedResources committed "committed" "Resources with memory of their own.";
        PersistentMapping persistent_mapping "persistent-mapping" "Buffers stay mapped while the device uses them.";
        DeviceUpload device_upload "device-upload" "Device-local memory that the CPU writes.";
        UnifiedMemory unified "unified" "All memory is as near to the CPU as to the device.";
        PlacedResources placed "placed" "Resources placed at an offset of a heap.";
        AliasedResources aliased "aliased" "Placed resources that share memory.";
        DedicatedAllocations dedicated "dedicated" "The driver says which resources want memory of their own.";
        SparseBuffers sparse_buffers "sparse-buffers" "Buffers bound to memory page by page.";
        SparseTextures2d sparse_textures_2d "sparse-textures-2d" "2D textures bound to memory tile by tile.";
        SparseTextures3d sparse_textures_3d "sparse-textures-3d" "3D textures bound to memory tile by tile.";
        SparseTexturesMsaa sparse_textures_msaa "sparse-textures-msaa" "Multisampled textures bound to memory tile by tile.";
        SparseAliasing sparse_aliasing "sparse-aliasing" "Sparse pages that share memory.";
        SparseResidencyFeedback sparse_residency_feedback "sparse-residency-feedback" "Shaders learn whether a sparse texel is resident.";
        Memoryless memoryless "memoryless" "Attachments that never leave the tile have no memory.";
        MemoryBudget budget "budget" "Budget and use of each heap, live.";
        ResidencyControl residency "residency" "The program evicts and restores batches of resources.";
        MemoryPriority priority "priority" "Allocations have a priority for the driver's own eviction.";
        HostTextureCopies host_texture_copies "host-texture-copies" "The CPU copies texture contents without a command.";
        ImportHostMemory import_host_memory "import-host-memory" "CPU memory becomes device memory.";
        ExternalMemory external "external" "Memory shared with other APIs and processes.";
        @values {
            /// Memory heaps.
            heaps "heaps": Vec<MemoryHeap>;
        }
    }

    /// Files straight to GPU resources.
    Storage storage StorageCapabilities "storage" {
        StagedReads staged_reads "staged-reads" "File ranges read on the CPU and copied by a queue.";
        NativeFileQueue native_file_queue "native-file-queue" "A file queue of the platform (DirectStorage, Metal IO).";
        GpuDecompression gpu_decompression "gpu-decompression" "The device decompresses what was read.";
        IndirectCopies indirect_copies "indirect-copies" "Copy commands take their ranges from a buffer.";
    }

    /// Keeping compiled pipelines.
    PipelineCache pipeline_cache PipelineCacheCapabilities "pipeline-cache" {
        CacheExport export "export" "Compiled pipelines are exported and imported as bytes.";
        CreationFeedback creation_feedback "creation-feedback" "A pipeline says whether it came from the cache.";
        FailOnMiss fail_on_miss "fail-on-miss" "Creation fails instead of compiling.";
        PipelineParts pipeline_parts "pipeline-parts" "Pipelines linked from separately compiled parts.";
        FastLinking fast_linking "fast-linking" "Linking parts is fast enough for the frame.";
        PipelineBinaries binaries "binaries" "Each pipeline's binary is exported on its own, with a key.";
        AsyncCreation async_creation "async-creation" "Pipelines are created on worker threads.";
    }

    /// Showing images.
    Presentation presentation PresentationCapabilities "presentation" {
        Swapchain swapchain "swapchain" "Swapchains.";
        SurfaceX11 surface_x11 "surface-x11" "Surfaces of X11 windows.";
        SurfaceWayland surface_wayland "surface-wayland" "Surfaces of Wayland windows.";
        SurfaceWin32 surface_win32 "surface-win32" "Surfaces of Win32 windows.";
        SurfaceCocoa surface_cocoa "surface-cocoa" "Surfaces of Cocoa views.";
        SurfaceCanvas surface_canvas "surface-canvas" "Surfaces of web canvases.";
        PresentFence present_fence "present-fence" "A presentation says when its resources are free again.";
        PresentWait present_wait "present-wait" "The CPU waits until a given image was shown.";
        PresentModeSwitch present_mode_switch "present-mode-switch" "The present mode changes without a new swapchain.";
        WideColorSpaces wide_color_spaces "wide-color-spaces" "Colour spaces beyond sRGB.";
        HdrMetadata hdr_metadata "hdr-metadata" "Mastering metadata of HDR content.";
        MutableSwapchainFormats mutable_formats "mutable-formats" "Views of swapchain images in other formats.";
        PresentRegions present_regions "present-regions" "Only changed rectangles are presented.";
    }

    /// Ray tracing.
    RayTracing ray_tracing RayTracingCapabilities "ray-tracing" {
        AccelerationStructures acceleration_structures "acceleration-structures" "Acceleration structures are built on the device.";
        InlineQueries inline_queries "inline-queries" "Any shader traces rays inline.";
        RayPipelines pipelines "pipelines" "Ray-tracing pipelines with shader tables.";
        IndirectTraces indirect_traces "indirect-traces" "Ray dispatches take their size from a buffer.";
        IndirectBuilds indirect_builds "indirect-builds" "Builds take their counts from a buffer.";
        RayPrimitiveCulling primitive_culling "primitive-culling" "Rays skip all triangles or all boxes.";
        PositionFetch position_fetch "position-fetch" "Hit shaders read the triangle's positions.";
        RayMotionBlur motion_blur "motion-blur" "Geometry moves during a ray's time.";
        OpacityMicromaps opacity_micromaps "opacity-micromaps" "Opacity per micro-triangle without shaders.";
        InvocationReordering invocation_reordering "invocation-reordering" "Shaders regroup threads by what they hit.";
        @values {
            /// Levels of acceleration structures.
            levels "levels": Option<u64>;
        }
    }

    /// Mesh shading.
    Mesh mesh MeshCapabilities "mesh" {
        MeshShaders mesh_shaders "mesh-shaders" "Mesh shaders feed the rasteriser.";
        TaskShaders task_shaders "task-shaders" "Task shaders launch mesh shaders.";
        MeshIndirect indirect "indirect" "Mesh dispatches take their size, and with a count their number, from a buffer.";
        MeshMultiview multiview "multiview" "Mesh shaders with multiview.";
        MeshShadingRate shading_rate "shading-rate" "Mesh shaders write a shading rate per primitive.";
        @values {
            /// Vertices one mesh group may output.
            max_vertices "max-vertices": Option<u64>;
            /// Primitives one mesh group may output.
            max_primitives "max-primitives": Option<u64>;
            /// Bytes a task group hands to its mesh groups.
            max_payload_bytes "max-payload-bytes": Option<u64>;
        }
    }

    /// Matrix hardware and tensors.
    MachineLearning machine_learning MachineLearningCapabilities "machine-learning" {
        Float16Arithmetic float16 "float16" "16-bit floating-point arithmetic in shaders.";
        Int8Arithmetic int8 "int8" "8-bit integer arithmetic in shaders.";
        IntegerDotProduct integer_dot_product "integer-dot-product" "Dot products of packed integers.";
        DotProductHardware dot_product_hardware "dot-product-hardware" "Dot products of packed 8-bit integers are faster than written out.";
        CooperativeMatrices cooperative_matrices "cooperative-matrices" "Matrix products that a subgroup computes together (tensor units).";
        CooperativeVectors cooperative_vectors "cooperative-vectors" "Matrix-vector products per thread on tensor units.";
        Tensors tensors "tensors" "Tensors as resources.";
        ModelPipelines model_pipelines "model-pipelines" "Whole models as pipelines.";
        @values {
            /// Cooperative-matrix configurations as the device reports them.
            matrices "matrices": Vec<CooperativeMatrix>;
            /// Element types that matrices or tensors can have.
            element_types "element-types": Vec<ElementType>;
            /// Largest rank of a tensor.
            max_tensor_rank "max-tensor-rank": Option<u64>;
            /// Largest tensor, bytes.
            max_tensor_bytes "max-tensor-bytes": Option<u64>;
        }
    }

    /// Work that makes work.
    WorkGraph work_graph WorkGraphCapabilities "work-graph" {
        WorkGraphs graphs "graphs" "Work graphs dispatched from CPU records.";
        WorkGraphGpuInput gpu_input "gpu-input" "Work graphs dispatched from records in buffers.";
        WorkGraphMeshNodes mesh_nodes "mesh-nodes" "Nodes that draw meshes.";
    }

    /// Draw lists recorded apart from the pass that executes them.
    IndirectCommandBuffer indirect_command_buffer IndirectCommandBufferCapabilities "indirect-command-buffer" {
        ParallelSegments parallel_segments "parallel-segments" "Many threads record segments of one pass.";
        ReusableSegments reusable_segments "reusable-segments" "A segment is recorded once and executed in many frames.";
        DeviceGeneratedDraws device_generated_draws "device-generated-draws" "The device writes draws with their own push constants and buffers.";
        DeviceGeneratedDispatches device_generated_dispatches "device-generated-dispatches" "The device writes dispatches with their own push constants.";
        DeviceGeneratedPipelines device_generated_pipelines "device-generated-pipelines" "Device-written commands choose their pipeline.";
        @values {
            /// Largest number of device-generated commands of one execution.
            max_sequences "max-sequences": Option<u64>;
        }
    }

    /// Compute pipelines and what shaders of every kind can do.
    Compute compute ComputeCapabilities "compute" {
        ComputePipelines pipelines "pipelines" "Compute pipelines and dispatches.";
        DispatchIndirect dispatch_indirect "dispatch-indirect" "The number of groups comes from a buffer.";
        StorageBuffers storage_buffers "storage-buffers" "Shaders read and write storage buffers.";
        StorageTextures storage_textures "storage-textures" "Shaders write storage textures.";
        StorageTexturesNoFormat storage_textures_no_format "storage-textures-no-format" "Shaders read and write storage textures without naming a format.";
        SubgroupBasic subgroup_basic "subgroup-basic" "Subgroups: size, index, election, barriers.";
        SubgroupBallot subgroup_ballot "subgroup-ballot" "Votes and ballots in a subgroup.";
        SubgroupArithmetic subgroup_arithmetic "subgroup-arithmetic" "Reductions and scans in a subgroup.";
        SubgroupShuffle subgroup_shuffle "subgroup-shuffle" "Any exchange of values in a subgroup.";
        SubgroupQuad subgroup_quad "subgroup-quad" "Exchanges in a quad.";
        SubgroupSizeControl subgroup_size_control "subgroup-size-control" "The pipeline chooses its subgroup size.";
        ComputeDerivatives derivatives "derivatives" "Derivatives in compute shaders.";
        Int64Arithmetic int64 "int64" "64-bit integers.";
        Float64Arithmetic float64 "float64" "64-bit floating point.";
        Int64Atomics int64_atomics "int64-atomics" "64-bit atomics on buffers.";
        Float32AtomicAdd float32_atomic_add "float32-atomic-add" "Atomic addition of 32-bit floats in buffers.";
        Storage16Bit storage_16bit "storage-16bit" "16-bit values in buffers.";
        Storage8Bit storage_8bit "storage-8bit" "8-bit values in buffers.";
        MemoryModel memory_model "memory-model" "A formal memory model with device scope.";
        ShaderClock shader_clock "shader-clock" "Shaders read a clock.";
    }

    /// Functions compiled once and used by many pipelines.
    FunctionLibrary function_library FunctionLibraryCapabilities "function-library" {
        EntrySelection entry_selection "entry-selection" "One binary holds many entries; pipelines pick by name.";
        LinkedParts linked_parts "linked-parts" "Pipelines are linked from parts compiled before.";
        DynamicLinking dynamic_linking "dynamic-linking" "Compiled functions are combined when bound, without a pipeline.";
        FunctionTables function_tables "function-tables" "Shaders call through tables of functions.";
    }
}
