//! Profile files: `{version, name, queues, exclusive_needed, heap_classes, alignment, granularity, texture_size, …}`.

use std::collections::HashMap;

use rhizo_rhi::Format;
use rhizo_rhi::QueueKind;
use serde::{Deserialize, Serialize};

use super::graph::DimensionName;
use super::names::Name;
use super::{FileError, check_version, field_error, parse};
use crate::declare::{ResourceDesc, TextureDesc};
use crate::profile::{HeapClass, HeapMemory, MemoryNeed, Profile, QueueProfile, TextureSizes};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    version: u64,
    name: String,
    queues: Vec<Queue>,
    exclusive_needed: bool,
    heap_classes: Vec<Class>,
    alignment: u64,
    granularity: u64,
    texture_size: Sizes,
    tiler: bool,
    memoryless: bool,
    split: bool,
    unified_layouts: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Queue {
    kind: Name<QueueKind>,
    family: u32,
    count: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    name: String,
    kinds: Vec<Kind>,
    memory: MemoryName,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Buffer,
    Texture,
    Attachment,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum MemoryName {
    Default,
    Upload,
    Readback,
}

/// `"tight"`, or `{"table": […]}` with what the device reported.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Sizes {
    Tight,
    Table(Vec<SizeRow>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SizeRow {
    dimension: DimensionName,
    format: Name<Format>,
    extent: [u32; 3],
    mips: u32,
    layers: u32,
    samples: u32,
    bytes: u64,
    alignment: u64,
}

/// Reads a profile.
///
/// # Errors
///
/// [`FileError`] with line and field.
pub fn parse_profile(text: &str) -> Result<Profile, FileError> {
    let file: ProfileFile = parse(text)?;
    check_version(text, file.version)?;
    let power = |field: String, value: u64| {
        if value.is_power_of_two() && value <= 1 << 30 {
            return Ok(value);
        }
        Err(field_error(text, field, format!("{value} is not a power of two up to 2^30")))
    };
    let texture_sizes = match file.texture_size {
        Sizes::Tight => TextureSizes::Tight,
        Sizes::Table(rows) => {
            let mut table = HashMap::new();
            for (i, row) in rows.into_iter().enumerate() {
                let place = |field: &str| format!("texture_size.table[{i}].{field}");
                let alignment = power(place("alignment"), row.alignment)?;
                let desc = row.desc();
                if desc.tight_bytes().is_none_or(|tight| row.bytes < tight) {
                    return Err(field_error(text, place("bytes"), "below the bytes of its contents"));
                }
                table.insert(ResourceDesc::Texture(desc), MemoryNeed { bytes: row.bytes, alignment });
            }
            TextureSizes::Table(table)
        }
    };
    Ok(Profile {
        alignment: power("alignment".to_owned(), file.alignment)?,
        granularity: power("granularity".to_owned(), file.granularity)?,
        name: file.name,
        queues: file
            .queues
            .into_iter()
            .map(|queue| QueueProfile { kind: queue.kind.0, family: queue.family, count: queue.count })
            .collect(),
        exclusive_needed: file.exclusive_needed,
        heap_classes: file.heap_classes.into_iter().map(Class::into_class).collect(),
        texture_sizes,
        tiler: file.tiler,
        memoryless: file.memoryless,
        split: file.split,
        unified_layouts: file.unified_layouts,
    })
}

impl SizeRow {
    fn desc(&self) -> TextureDesc {
        TextureDesc {
            dimension: self.dimension.into(),
            format: self.format.0,
            extent: self.extent,
            mips: self.mips,
            layers: self.layers,
            samples: self.samples,
        }
    }
}

impl Class {
    fn into_class(self) -> HeapClass {
        HeapClass {
            buffers: self.kinds.contains(&Kind::Buffer),
            textures: self.kinds.contains(&Kind::Texture),
            attachments: self.kinds.contains(&Kind::Attachment),
            name: self.name,
            memory: match self.memory {
                MemoryName::Default => HeapMemory::Default,
                MemoryName::Upload => HeapMemory::Upload,
                MemoryName::Readback => HeapMemory::Readback,
            },
        }
    }

    fn of(class: &HeapClass) -> Self {
        let kinds =
            [(class.buffers, Kind::Buffer), (class.textures, Kind::Texture), (class.attachments, Kind::Attachment)];
        Self {
            name: class.name.clone(),
            kinds: kinds.into_iter().filter(|(takes, _)| *takes).map(|(_, kind)| kind).collect(),
            memory: match class.memory {
                HeapMemory::Default => MemoryName::Default,
                HeapMemory::Upload => MemoryName::Upload,
                HeapMemory::Readback => MemoryName::Readback,
            },
        }
    }
}

/// Writes a profile: the same text for equal profiles.
#[must_use]
pub fn profile_json(profile: &Profile) -> String {
    let texture_size = match &profile.texture_sizes {
        TextureSizes::Tight => Sizes::Tight,
        TextureSizes::Table(table) => {
            let mut rows: Vec<SizeRow> = table
                .iter()
                .filter_map(|(desc, need)| match desc {
                    ResourceDesc::Texture(desc) => Some(SizeRow {
                        dimension: desc.dimension.into(),
                        format: Name(desc.format),
                        extent: desc.extent,
                        mips: desc.mips,
                        layers: desc.layers,
                        samples: desc.samples,
                        bytes: need.bytes,
                        alignment: need.alignment,
                    }),
                    ResourceDesc::Buffer(_) => None,
                })
                .collect();
            rows.sort_by_key(|row| {
                let dimension = crate::declare::TextureDimension::from(row.dimension) as u8;
                (row.format.0.name(), dimension, row.extent, row.mips, row.layers, row.samples)
            });
            Sizes::Table(rows)
        }
    };
    let queue = |queue: &QueueProfile| Queue { kind: Name(queue.kind), family: queue.family, count: queue.count };
    super::plan::to_json(&ProfileFile {
        version: 1,
        name: profile.name.clone(),
        queues: profile.queues.iter().map(queue).collect(),
        exclusive_needed: profile.exclusive_needed,
        heap_classes: profile.heap_classes.iter().map(Class::of).collect(),
        alignment: profile.alignment,
        granularity: profile.granularity,
        texture_size,
        tiler: profile.tiler,
        memoryless: profile.memoryless,
        split: profile.split,
        unified_layouts: profile.unified_layouts,
    })
}
