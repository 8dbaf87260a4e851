//! Feature levels: named, strictly nested floors over the core of the contract.

use super::domains::{Capabilities, Fact};
use super::limits::LimitKind;
use crate::format::Format;

/// A named profile a program can ask for. Each contains all the ones before it; what a level does not name is still
/// asked for by fact. Ray tracing, meshes, machine learning and work graphs are no levels: they come beside any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FeatureLevel {
    /// Raster passes, tables, queries: what GLES 3.0 and WebGL 2 reach.
    Raster,
    /// Compute and storage: what GLES 3.1 and WebGPU reach.
    Compute,
    /// Large arrays of resources indexed freely.
    Bindless,
    /// The device makes its own draws.
    GpuDriven,
    /// Compute and copies beside the graphics queue.
    MultiQueue,
}

/// What a format must be usable for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum FormatUse {
    Filterable,
    Blendable,
    Renderable,
    StorageWrite,
    Vertex,
}

impl FormatUse {
    /// The name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Filterable => "filterable",
            Self::Blendable => "blendable",
            Self::Renderable => "renderable",
            Self::StorageWrite => "written as storage",
            Self::Vertex => "a vertex format",
        }
    }

    fn holds(self, support: super::FormatSupport) -> bool {
        match self {
            Self::Filterable => support.filterable,
            Self::Blendable => support.blendable,
            Self::Renderable => support.renderable,
            Self::StorageWrite => support.storage_write,
            Self::Vertex => support.vertex,
        }
    }
}

/// A bound on a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The device's value is this or more.
    AtLeast(u64),
    /// The device's value is this or less (alignments).
    AtMost(u64),
}

/// What a level asks for beyond the one before it.
#[derive(Clone, Copy, Debug)]
pub struct LevelFloor {
    /// Facts that must be usable.
    pub facts: &'static [Fact],
    /// Bounds on limits; one that is not reported does not hold.
    pub limits: &'static [(LimitKind, Bound)],
    /// Uses of formats.
    pub formats: &'static [(Format, FormatUse)],
}

use Bound::{AtLeast, AtMost};
use Fact as F;
use LimitKind as L;

/// Values are the least that GLES 3.0 guarantees.
const RASTER: LevelFloor = LevelFloor {
    facts: &[
        F::RasterPasses,
        F::BindingTables,
        F::PushConstants,
        F::DynamicOffsets,
        F::RobustBuffers,
        F::CommittedResources,
        F::OcclusionQueries,
    ],
    limits: &[
        (L::Texture2dSize, AtLeast(2048)),
        (L::TextureCubeSize, AtLeast(2048)),
        (L::Texture3dSize, AtLeast(256)),
        (L::TextureLayers, AtLeast(256)),
        (L::ConstantRange, AtLeast(16 << 10)),
        (L::ConstantAlignment, AtMost(256)),
        (L::PushConstants, AtLeast(128)),
        (L::Tables, AtLeast(4)),
        (L::StageTextures, AtLeast(16)),
        (L::StageSamplers, AtLeast(16)),
        (L::VertexAttributes, AtLeast(16)),
        (L::ColorTargets, AtLeast(4)),
        (L::ColorSamples, AtLeast(4)),
    ],
    formats: &[
        (Format::R8Unorm, FormatUse::Filterable),
        (Format::Rgba8Unorm, FormatUse::Filterable),
        (Format::Rgba8Unorm, FormatUse::Blendable),
        (Format::Rgba8UnormSrgb, FormatUse::Filterable),
        (Format::Rgba8UnormSrgb, FormatUse::Blendable),
        (Format::Rgba16Float, FormatUse::Filterable),
        (Format::R32Uint, FormatUse::Renderable),
        (Format::Depth16, FormatUse::Renderable),
        (Format::Depth32Float, FormatUse::Renderable),
    ],
};

/// Values are the least that both GLES 3.1 and WebGPU guarantee.
const COMPUTE: LevelFloor = LevelFloor {
    facts: &[F::ComputePipelines, F::DispatchIndirect, F::StorageBuffers, F::StorageTextures, F::DrawIndirect],
    limits: &[
        (L::StorageRange, AtLeast(1 << 27)),
        (L::StorageAlignment, AtMost(256)),
        (L::StageStorage, AtLeast(4)),
        (L::StageStorageTextures, AtLeast(4)),
        (L::ComputeThreads, AtLeast(128)),
        (L::ComputeGroupX, AtLeast(128)),
        (L::ComputeGroupY, AtLeast(128)),
        (L::ComputeGroupZ, AtLeast(64)),
        (L::DispatchGroups, AtLeast(65535)),
        (L::GroupSharedBytes, AtLeast(16 << 10)),
    ],
    formats: &[
        (Format::Rgba16Float, FormatUse::Blendable),
        (Format::Rgba8Unorm, FormatUse::StorageWrite),
        (Format::Rgba16Float, FormatUse::StorageWrite),
        (Format::Rgba32Float, FormatUse::StorageWrite),
        (Format::R32Uint, FormatUse::StorageWrite),
    ],
};

/// Values are the least of Vulkan's descriptor indexing and of Metal's argument buffers, tier 2.
const BINDLESS: LevelFloor = LevelFloor {
    facts: &[
        F::RuntimeArrays,
        F::PartiallyBound,
        F::NonUniformIndexing,
        F::UpdateAfterBind,
        F::BindlessTextures,
        F::BindlessSamplers,
        F::BindlessBuffers,
        F::FragmentStorageWrites,
    ],
    limits: &[
        (L::BindlessTextures, AtLeast(500_000)),
        (L::BindlessSamplers, AtLeast(1024)),
        (L::BindlessBuffers, AtLeast(500_000)),
    ],
    formats: &[],
};

const GPU_DRIVEN: LevelFloor = LevelFloor {
    facts: &[
        F::MultiDrawIndirect,
        F::DrawIndirectCount,
        F::IndirectFirstInstance,
        F::DrawParameters,
        F::SubgroupBasic,
        F::SubgroupBallot,
        F::SubgroupArithmetic,
    ],
    limits: &[
        (L::IndirectDraws, AtLeast(65535)),
        (L::ComputeThreads, AtLeast(256)),
        (L::GroupSharedBytes, AtLeast(32 << 10)),
        (L::SubgroupMin, AtLeast(4)),
    ],
    formats: &[],
};

const MULTI_QUEUE: LevelFloor = LevelFloor {
    facts: &[F::TimelineSemaphores, F::SeveralQueues, F::AsyncComputeQueue, F::TransferQueue, F::QueueHandOver],
    limits: &[],
    formats: &[],
};

impl FeatureLevel {
    /// Every level, upwards.
    pub const ALL: [Self; 5] = [Self::Raster, Self::Compute, Self::Bindless, Self::GpuDriven, Self::MultiQueue];

    /// The name in reports and arguments.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raster => "raster",
            Self::Compute => "compute",
            Self::Bindless => "bindless",
            Self::GpuDriven => "gpu-driven",
            Self::MultiQueue => "multi-queue",
        }
    }

    /// The level of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// What it asks for beyond the level before it.
    #[must_use]
    pub const fn floor(self) -> &'static LevelFloor {
        match self {
            Self::Raster => &RASTER,
            Self::Compute => &COMPUTE,
            Self::Bindless => &BINDLESS,
            Self::GpuDriven => &GPU_DRIVEN,
            Self::MultiQueue => &MULTI_QUEUE,
        }
    }
}

/// Which column a level is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Native,
    Lowered,
}

impl Capabilities {
    /// The highest level whose floor, and every floor below it, a program can use; None if not even the first.
    #[must_use]
    pub fn feature_level(&self) -> Option<FeatureLevel> {
        self.level_by(Column::Lowered)
    }

    /// The highest level the driver reaches, whether or not the backend offers all of it.
    #[must_use]
    pub fn native_feature_level(&self) -> Option<FeatureLevel> {
        self.level_by(Column::Native)
    }

    /// What keeps a program from a level: every item of its floor and of those below that does not hold. Empty exactly
    /// when `feature_level()` is that level or higher.
    #[must_use]
    pub fn missing_for(&self, level: FeatureLevel) -> Vec<String> {
        self.missing_by(level, Column::Lowered)
    }

    fn level_by(&self, column: Column) -> Option<FeatureLevel> {
        let holds = |level: &FeatureLevel| self.missing_from_floor(level.floor(), column).is_empty();
        FeatureLevel::ALL.into_iter().take_while(holds).last()
    }

    fn missing_by(&self, level: FeatureLevel, column: Column) -> Vec<String> {
        let upto = FeatureLevel::ALL.into_iter().filter(|lower| *lower <= level);
        upto.flat_map(|lower| self.missing_from_floor(lower.floor(), column)).collect()
    }

    fn missing_from_floor(&self, floor: &LevelFloor, column: Column) -> Vec<String> {
        let facts = floor.facts.iter().filter_map(|fact| match column {
            Column::Lowered => self.missing(*fact),
            Column::Native => {
                self.support(*fact).reason().map(|reason| format!("{} is unavailable: {reason}", fact.name()))
            }
        });
        let limits = floor.limits.iter().filter_map(|(kind, bound)| self.missing_limit(*kind, *bound));
        let formats = floor.formats.iter().filter(|(format, usage)| !usage.holds(self.format(*format)));
        let formats = formats.map(|(format, usage)| format!("{} is not {}", format.name(), usage.name()));
        facts.chain(limits).chain(formats).collect()
    }

    fn missing_limit(&self, kind: LimitKind, bound: Bound) -> Option<String> {
        let name = kind.name();
        let Some(value) = self.limit(kind) else {
            return Some(format!("limit {name} is not reported"));
        };
        match bound {
            AtLeast(least) => (value < least).then(|| format!("limit {name} is {value}, less than {least}")),
            AtMost(most) => (value > most).then(|| format!("limit {name} is {value}, more than {most}")),
        }
    }
}
