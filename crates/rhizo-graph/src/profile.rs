//! Device profiles: what the compiler must know about a device, as plain data (files: `profiles/*.json`).

use std::collections::HashMap;

use rhizo_rhi::QueueKind;

use crate::declare::ResourceDesc;

/// One queue of the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueProfile {
    /// Kind.
    pub kind: QueueKind,
    /// Family; resources change owner between families.
    pub family: u32,
    /// Number of queues.
    pub count: u32,
}

/// A class of memory and what may be placed in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeapClass {
    /// Name in plans.
    pub name: String,
    /// Buffers may be placed there.
    pub buffers: bool,
    /// Textures that are no attachments may be placed there.
    pub textures: bool,
    /// Attachments may be placed there.
    pub attachments: bool,
    /// Memory kind.
    pub memory: HeapMemory,
}

/// Memory kinds of heaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeapMemory {
    /// Device-local.
    Default,
    /// Written by the CPU.
    Upload,
    /// Read by the CPU.
    Readback,
}

/// Size and alignment that a device reported for a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryNeed {
    /// Bytes.
    pub bytes: u64,
    /// Placement alignment, a power of two.
    pub alignment: u64,
}

/// How the sizes of textures are known.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum TextureSizes {
    /// Tight texels and rows, which any reader can recompute.
    #[default]
    Tight,
    /// As queried; shapes that are not listed count as tight.
    Table(HashMap<ResourceDesc, MemoryNeed>),
}

/// What the compiler must know about a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Name in plans.
    pub name: String,
    /// Queues.
    pub queues: Vec<QueueProfile>,
    /// Resources used by several families need ownership transfers.
    pub exclusive_needed: bool,
    /// Classes of memory, the preferred one first.
    pub heap_classes: Vec<HeapClass>,
    /// Placement alignment in bytes where neither resource nor table says.
    pub alignment: u64,
    /// Bytes that buffers and textures must keep apart in one heap (1: none).
    pub granularity: u64,
    /// Texture sizes.
    pub texture_sizes: TextureSizes,
    /// The GPU renders in tiles.
    pub tiler: bool,
    /// Attachments can live in tile memory alone.
    pub memoryless: bool,
    /// Split barriers exist.
    pub split: bool,
    /// `general` costs nothing, also for attachments.
    pub unified_layouts: bool,
}

impl Profile {
    /// The built-in profile `portable`: one family per queue kind, tight sizes, 64 KiB placement alignment.
    #[must_use]
    pub fn portable() -> Self {
        let queue = |kind, family| QueueProfile { kind, family, count: 1 };
        Self {
            name: "portable".to_owned(),
            queues: vec![queue(QueueKind::Graphics, 0), queue(QueueKind::Compute, 1), queue(QueueKind::Transfer, 2)],
            exclusive_needed: true,
            heap_classes: vec![HeapClass {
                name: "default".to_owned(),
                buffers: true,
                textures: true,
                attachments: true,
                memory: HeapMemory::Default,
            }],
            alignment: 65_536,
            granularity: 1,
            texture_sizes: TextureSizes::Tight,
            tiler: false,
            memoryless: false,
            split: true,
            unified_layouts: false,
        }
    }

    /// The built-in profile `single-queue`: `portable` with its graphics queue alone.
    #[must_use]
    pub fn single_queue() -> Self {
        let mut profile = Self::portable();
        "single-queue".clone_into(&mut profile.name);
        profile.queues.truncate(1);
        profile
    }

    /// A built-in profile by name.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        match name {
            "portable" => Some(Self::portable()),
            "single-queue" => Some(Self::single_queue()),
            _ => None,
        }
    }
}
