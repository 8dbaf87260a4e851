//! One ladder per domain: tiers as summaries over facts, as data.

use super::domains::{Domain, Fact};

/// How far up its ladder a domain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Tier {
    /// Not even the first rung.
    #[default]
    Unavailable,
    /// The first rung.
    Tier1,
    /// The first two rungs.
    Tier2,
    /// The first three rungs.
    Tier3,
    /// All four rungs.
    Tier4,
}

impl Tier {
    /// Every tier, upwards.
    pub const ALL: [Self; 5] = [Self::Unavailable, Self::Tier1, Self::Tier2, Self::Tier3, Self::Tier4];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::Tier1 => "tier 1",
            Self::Tier2 => "tier 2",
            Self::Tier3 => "tier 3",
            Self::Tier4 => "tier 4",
        }
    }
}

/// One rung: what must hold, in addition to the rungs below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    /// What the rung means, in words.
    pub meaning: &'static str,
    /// The facts that must all hold.
    pub facts: &'static [Fact],
}

/// The ladder of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// The domain.
    pub domain: Domain,
    /// Rungs from the lowest, one to four.
    pub rungs: &'static [Rung],
}

impl Ladder {
    /// The ladder of a domain.
    #[must_use]
    pub fn of(domain: Domain) -> &'static Self {
        &LADDERS[domain as usize]
    }

    /// The highest rung whose lower rungs all hold.
    #[must_use]
    pub fn tier(&self, has: impl Fn(Fact) -> bool) -> Tier {
        let held = self.rungs.iter().take_while(|rung| rung.facts.iter().all(|fact| has(*fact))).count();
        Tier::ALL[held.min(4)]
    }
}

macro_rules! ladders {
    ($($domain:ident { $($meaning:literal: $($fact:ident),+;)+ })*) => {
        /// The ladders of all domains, in the order of [`Domain::ALL`].
        pub static LADDERS: &[Ladder] = &[$(Ladder {
            domain: Domain::$domain,
            rungs: &[$(Rung { meaning: $meaning, facts: &[$(Fact::$fact),+] }),+],
        }),*];
    };
}

ladders! {
    Raster {
        "passes, each target with its own blend state": RasterPasses, IndependentBlend;
        "storage writes in fragment shaders, indirect draws": FragmentStorageWrites, DrawIndirect, AnisotropicFiltering;
        "GPU-driven drawing: many records, first instance, counts": MultiDrawIndirect, IndirectFirstInstance, DrawIndirectCount;
        "shading rate per draw and by attachment, barycentrics": ShadingRatePerDraw, ShadingRateAttachment, Barycentrics;
    }
    Binding {
        "tables and push constants": BindingTables, PushConstants;
        "arrays indexed freely, partially bound": RuntimeArrays, PartiallyBound, NonUniformIndexing;
        "bindless textures, samplers and buffers": UpdateAfterBind, BindlessTextures, BindlessSamplers, BindlessBuffers;
        "slots of any kind, descriptors as memory": MutableDescriptors, DescriptorBuffers;
    }
    Synchronization {
        "queue order, barriers, hand-over": BinarySemaphores, QueueHandOver;
        "timelines and timestamps": TimelineSemaphores, TimestampQueries, StageAccessBarriers;
        "asynchronous compute": AsyncComputeQueue, SplitBarriers;
        "a transfer queue too, clocks calibrated": TransferQueue, ClockCalibration;
    }
    Memory {
        "committed resources": CommittedResources;
        "placed and aliased resources": PlacedResources, AliasedResources;
        "sparse buffers and 2D textures": SparseBuffers, SparseTextures2d, SparseAliasing;
        "live budgets and residency control": MemoryBudget, ResidencyControl;
    }
    Storage {
        "asynchronous file reads through staging": StagedReads;
        "a file queue of the platform": NativeFileQueue;
        "decompression on the device": GpuDecompression;
    }
    PipelineCache {
        "export and import": CacheExport;
        "known hits: feedback, failing instead of compiling": CreationFeedback, FailOnMiss;
        "pipelines linked from parts": PipelineParts, FastLinking;
        "a binary per pipeline": PipelineBinaries;
    }
    Presentation {
        "swapchains": Swapchain;
        "known ends of presentations": PresentFence;
        "wide colour": WideColorSpaces;
        "paced presentation": PresentWait, PresentModeSwitch;
    }
    RayTracing {
        "inline queries": AccelerationStructures, InlineQueries;
        "pipelines": RayPipelines;
        "motion blur": RayMotionBlur;
        "newest generation: opacity micromaps, reordering": OpacityMicromaps, InvocationReordering;
    }
    Mesh {
        "mesh shaders": MeshShaders;
        "task shaders": TaskShaders;
        "indirect mesh dispatches": MeshIndirect;
        "multiview and shading rate": MeshMultiview, MeshShadingRate;
    }
    MachineLearning {
        "packed integer dot products, 16-bit floats": IntegerDotProduct, Float16Arithmetic;
        "cooperative matrices": CooperativeMatrices;
        "tensors as resources": Tensors;
        "models as pipelines": ModelPipelines;
    }
    WorkGraph {
        "graphs from CPU records": WorkGraphs;
        "graphs from GPU records": WorkGraphGpuInput;
        "mesh nodes": WorkGraphMeshNodes;
    }
    IndirectCommandBuffer {
        "segments recorded in parallel": ParallelSegments;
        "segments kept over frames": ReusableSegments;
        "draws and dispatches written by the device": DeviceGeneratedDraws, DeviceGeneratedDispatches;
        "device-written choice of pipelines": DeviceGeneratedPipelines;
    }
    Compute {
        "dispatch, storage buffers and textures": ComputePipelines, StorageBuffers, StorageTextures;
        "indirect dispatch, subgroup votes and ballots": DispatchIndirect, SubgroupBasic, SubgroupBallot;
        "subgroup arithmetic and shuffles": SubgroupArithmetic, SubgroupShuffle;
        "chosen subgroup size, 64-bit integers and atomics": SubgroupSizeControl, Int64Arithmetic, Int64Atomics;
    }
    FunctionLibrary {
        "entries picked by name": EntrySelection;
        "parts compiled before, linked later": LinkedParts;
        "dynamic linking": DynamicLinking;
        "function pointers and tables": FunctionTables;
    }
}
