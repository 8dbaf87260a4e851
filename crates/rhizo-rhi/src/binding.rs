//! Samplers, table layouts, pipeline layouts and binding tables.

use crate::backend::{
    BufferRef, LayoutRef, NativeBinding, NativePipelineLayout, NativeTable, NativeWrite, ObjectKind, ObjectRef,
};
use crate::buffer::{BufferReadView, BufferSlice, BufferWriteView, ConstantBufferView};
use crate::clause;
use crate::error::{Error, Result};
use crate::handle::{DeviceKey, DeviceShared, Keep, Owned, lock};
use crate::pipeline::CompareOp;
use crate::shader::{BindingKind, SampleType, ShaderStages};
use crate::texture::{TextureReadView, TextureView, TextureWriteView};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;

/// Tables of a pipeline layout: spaces 0 bindless + static, 1 frame + pass, 2 material, 3 object + draw.
pub const MAX_TABLES: usize = 4;

/// How a sampler picks between texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Filter {
    /// Nearest.
    Nearest,
    /// Linear.
    #[default]
    Linear,
}

/// What a sampler does outside 0..1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum AddressMode {
    /// Repeats.
    #[default]
    Repeat,
    /// Repeats mirrored.
    MirrorRepeat,
    /// The edge texel.
    ClampToEdge,
}

/// Describes a sampler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplerDesc<'a> {
    /// Name in messages and captures.
    pub label: &'a str,
    /// Minification.
    pub min: Filter,
    /// Magnification.
    pub mag: Filter,
    /// Between mip levels.
    pub mip: Filter,
    /// Addressing of u, v and w.
    pub address: [AddressMode; 3],
    /// Least level of detail.
    pub lod_min: f32,
    /// Greatest level of detail.
    pub lod_max: f32,
    /// Added to the level of detail.
    pub lod_bias: f32,
    /// Samples along the axis of anisotropy; 1 is off.
    pub anisotropy: u32,
    /// Comparison instead of filtering of values.
    pub comparison: Option<CompareOp>,
}

impl Default for SamplerDesc<'_> {
    fn default() -> Self {
        Self {
            label: "",
            min: Filter::Linear,
            mag: Filter::Linear,
            mip: Filter::Linear,
            address: [AddressMode::Repeat; 3],
            lod_min: 0.0,
            lod_max: 1000.0,
            lod_bias: 0.0,
            anisotropy: 1,
            comparison: None,
        }
    }
}

/// A sampler.
#[derive(Clone, Debug)]
pub struct Sampler {
    raw: ObjectRef,
    key: DeviceKey,
    comparison: bool,
    owned: Keep,
}

impl Sampler {
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, desc: &SamplerDesc<'_>) -> Result<Self> {
        device.check_alive()?;
        let finite = [desc.lod_min, desc.lod_max, desc.lod_bias].iter().all(|v| v.is_finite());
        let max = device.limits.max_anisotropy;
        if !finite || desc.lod_min > desc.lod_max || desc.anisotropy == 0 || desc.anisotropy > max {
            let detail =
                format!("level of detail {}..{}, anisotropy {} of {max}", desc.lod_min, desc.lod_max, desc.anisotropy);
            return Err(Error::clause(clause::SAMPLER_DESC, detail).on(desc.label));
        }
        let native = device.create(|backend| backend.create_sampler(desc))?;
        let owned = Owned::new(device, ObjectKind::Sampler, desc.label, native, Vec::new());
        let raw = ObjectRef { word: native.word, aux: native.aux, id: owned.id };
        Ok(Self { raw, key: device.key, comparison: desc.comparison.is_some(), owned })
    }
}

/// One slot (or array of slots) of a table layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableEntry {
    /// Slot number, unique in the layout.
    pub slot: u32,
    /// Variable name in shaders, for messages.
    pub name: String,
    /// What is bound.
    pub kind: BindingKind,
    /// Shader stages that see it.
    pub stages: ShaderStages,
    /// Array length, 1 for a single binding.
    pub count: u32,
    /// Least size of a bound buffer range, bytes; 0 for others.
    pub min_size: u64,
}

/// Describes a table layout.
#[derive(Clone, Copy, Debug)]
pub struct TableLayoutDesc<'a> {
    /// Name in messages and captures.
    pub label: &'a str,
    /// Entries in any order.
    pub entries: &'a [TableEntry],
}

/// Structurally equal layouts share one number, so that "same layout" is one comparison.
#[derive(Default)]
pub(crate) struct LayoutInterner {
    numbers: HashMap<Vec<TableEntry>, u32>,
    next: u32,
}

impl LayoutInterner {
    fn number(&mut self, entries: &[TableEntry], own: bool) -> u32 {
        let mut key = entries.to_vec();
        key.iter_mut().for_each(|entry| entry.name.clear());
        if !own && let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        self.next += 1;
        if !own {
            self.numbers.insert(key, self.next);
        }
        self.next
    }
}

/// The shape of a binding table.
#[derive(Clone, Debug)]
pub struct TableLayout {
    pub(crate) raw: ObjectRef,
    pub(crate) key: DeviceKey,
    pub(crate) number: u32,
    pub(crate) entries: Arc<[TableEntry]>,
    pub(crate) owned: Keep,
}

impl TableLayout {
    /// `own` makes a layout that is compatible only with itself (derived layouts).
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, desc: &TableLayoutDesc<'_>, own: bool) -> Result<Self> {
        device.check_alive()?;
        let mut entries = desc.entries.to_vec();
        entries.sort_by_key(|entry| entry.slot);
        for pair in entries.windows(2) {
            if pair[0].slot == pair[1].slot {
                let detail = format!("slot {} is both \"{}\" and \"{}\"", pair[0].slot, pair[0].name, pair[1].name);
                return Err(Error::clause(clause::TABLE_LAYOUT, detail).on(desc.label));
            }
        }
        if let Some(bad) = entries.iter().find(|e| e.count == 0 || e.count > 65_536 || e.stages.is_empty()) {
            let detail = format!("slot {} has {} elements and stages {:?}", bad.slot, bad.count, bad.stages);
            return Err(Error::clause(clause::TABLE_LAYOUT, detail).on(desc.label));
        }
        let native = TableLayoutDesc { label: desc.label, entries: &entries };
        let native = device.create(|backend| backend.create_table_layout(&native))?;
        let owned = Owned::new(device, ObjectKind::TableLayout, desc.label, native, Vec::new());
        let raw = ObjectRef { word: native.word, aux: native.aux, id: owned.id };
        let number = lock(&device.layouts).number(&entries, own);
        Ok(Self { raw, key: device.key, number, entries: entries.into(), owned })
    }

    /// Its entries by slot.
    #[must_use]
    pub fn entries(&self) -> &[TableEntry] {
        &self.entries
    }

    pub(crate) fn dynamic_count(&self) -> u32 {
        let dynamic = |e: &&TableEntry| matches!(e.kind, BindingKind::Constant { dynamic: true });
        self.entries.iter().filter(dynamic).map(|e| e.count).sum()
    }
}

/// Bytes of push constants and who sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PushRange {
    /// Shader stages.
    pub stages: ShaderStages,
    /// Bytes from offset 0, a multiple of 4.
    pub size_bytes: u32,
}

/// Describes a pipeline layout.
#[derive(Clone, Copy, Debug, Default)]
pub struct PipelineLayoutDesc<'a> {
    /// Name in messages and captures.
    pub label: &'a str,
    /// Table layouts by index, at most [`MAX_TABLES`].
    pub tables: &'a [Option<&'a TableLayout>],
    /// Push constants.
    pub push: Option<PushRange>,
    /// Local layouts belong to ray-tracing shader records.
    pub local: bool,
}

/// What a pipeline's functions are given.
#[derive(Clone, Debug)]
pub struct PipelineLayout {
    pub(crate) raw: LayoutRef,
    pub(crate) key: DeviceKey,
    pub(crate) facts: LayoutFacts,
    pub(crate) tables: [Option<TableLayout>; MAX_TABLES],
    pub(crate) owned: Keep,
}

/// The facts that recording compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LayoutFacts {
    /// Layout numbers by index, 0 for none.
    pub(crate) numbers: [u32; MAX_TABLES],
    pub(crate) push_bytes: u32,
    pub(crate) push_stages: ShaderStages,
}

impl PipelineLayout {
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, desc: &PipelineLayoutDesc<'_>) -> Result<Self> {
        device.check_alive()?;
        let push_bytes = desc.push.map_or(0, |push| push.size_bytes);
        let bad = |detail: String| Error::clause(clause::PIPELINE_LAYOUT, detail).on(desc.label);
        if desc.local {
            return Err(bad("local layouts exist for ray tracing only".into()));
        }
        if desc.tables.len() > MAX_TABLES.min(device.limits.max_tables as usize) {
            return Err(bad(format!("{} tables", desc.tables.len())));
        }
        if desc.push.is_some_and(|push| push.size_bytes > 0 && push.stages.is_empty()) {
            return Err(bad("push constants that no stage sees".into()));
        }
        if !push_bytes.is_multiple_of(4) || push_bytes > device.limits.max_push_constant_bytes {
            let max = device.limits.max_push_constant_bytes;
            return Err(bad(format!("{push_bytes} bytes of push constants, the limit is {max}")));
        }
        let mut tables: [Option<TableLayout>; MAX_TABLES] = Default::default();
        let mut numbers = [0; MAX_TABLES];
        for (i, table) in desc.tables.iter().enumerate() {
            if let Some(table) = table {
                device.check(table.key, &table.owned)?;
                numbers[i] = table.number;
                tables[i] = Some((*table).clone());
            }
        }
        let raw_tables: SmallVec<[_; MAX_TABLES]> = desc.tables.iter().map(|t| t.map(|t| t.raw)).collect();
        let push = desc.push.filter(|push| push.size_bytes > 0);
        let native = NativePipelineLayout { label: desc.label, tables: &raw_tables, push };
        let native = device.create(|backend| backend.create_pipeline_layout(&native))?;
        let keep = tables.iter().flatten().map(|t| t.owned.clone()).collect();
        let owned = Owned::new(device, ObjectKind::PipelineLayout, desc.label, native, keep);
        let push_stages = push.map_or(ShaderStages::empty(), |push| push.stages);
        let facts = LayoutFacts { numbers, push_bytes, push_stages };
        let raw = LayoutRef { word: native.word, aux: native.aux };
        Ok(Self { raw, key: device.key, facts, tables, owned })
    }

    /// The table layout at an index.
    #[must_use]
    pub fn table(&self, index: usize) -> Option<&TableLayout> {
        self.tables.get(index)?.as_ref()
    }
}

/// What a table slot is given.
#[derive(Clone, Copy, Debug)]
pub enum Binding<'a> {
    /// Constant data.
    Constant(&'a ConstantBufferView),
    /// Storage buffer, read.
    BufferRead(&'a BufferReadView),
    /// Storage buffer, read and written.
    BufferWrite(&'a BufferWriteView),
    /// Sampled texture.
    Texture(&'a TextureReadView),
    /// Storage texture.
    StorageTexture(&'a TextureWriteView),
    /// Sampler.
    Sampler(&'a Sampler),
}

/// One write of a table.
#[derive(Clone, Copy, Debug)]
pub struct TableWrite<'a> {
    /// Slot.
    pub slot: u32,
    /// Array index.
    pub index: u32,
    /// Contents.
    pub binding: Binding<'a>,
}

impl<'a> TableWrite<'a> {
    /// Writes the first element of a slot.
    #[must_use]
    pub const fn new(slot: u32, binding: Binding<'a>) -> Self {
        Self { slot, index: 0, binding }
    }
}

/// Describes a table: every element of every slot is written.
#[derive(Clone, Copy, Debug)]
pub struct TableDesc<'a> {
    /// Name in messages and captures.
    pub label: &'a str,
    /// Layout.
    pub layout: &'a TableLayout,
    /// Contents.
    pub writes: &'a [TableWrite<'a>],
}

/// An immutable set of bindings that keeps what it names alive.
#[derive(Clone, Debug)]
pub struct BindingTable {
    pub(crate) raw: ObjectRef,
    pub(crate) key: DeviceKey,
    pub(crate) number: u32,
    /// For each dynamic slot in order: bytes from the bound range's start that an offset may move.
    pub(crate) dynamic: SmallVec<[u64; 4]>,
    layout: TableLayout,
    pub(crate) owned: Keep,
}

impl BindingTable {
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, desc: &TableDesc<'_>) -> Result<Self> {
        device.check_alive()?;
        device.check(desc.layout.key, &desc.layout.owned)?;
        let mut keep = vec![desc.layout.owned.clone()];
        let mut writes = Vec::with_capacity(desc.writes.len());
        for write in desc.writes {
            writes.push(native_write(device, desc, write, &mut keep)?);
        }
        writes.sort_by_key(|w| (w.slot, w.index));
        check_complete(desc, &writes)?;
        let dynamic = dynamic_room(desc, &writes);
        let native = NativeTable { label: desc.label, layout: desc.layout.raw, writes: &writes };
        let native = device.create(|backend| backend.create_table(&native))?;
        let owned = Owned::new(device, ObjectKind::Table, desc.label, native, keep);
        let raw = ObjectRef { word: native.word, aux: native.aux, id: owned.id };
        let layout = desc.layout.clone();
        Ok(Self { raw, key: device.key, number: layout.number, dynamic, layout, owned })
    }

    /// Name.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.owned.label
    }

    /// The layout's entries, for tools.
    #[must_use]
    pub fn entries(&self) -> &[TableEntry] {
        self.layout.entries()
    }
}

#[track_caller]
fn check_complete(desc: &TableDesc<'_>, writes: &[NativeWrite]) -> Result<()> {
    let mut given = writes.iter();
    for entry in desc.layout.entries.iter() {
        for index in 0..entry.count {
            let write = given.next();
            if write.is_none_or(|w| (w.slot, w.index) != (entry.slot, index)) {
                let detail =
                    format!("slot {} (\"{}\") element {index} is not written exactly once", entry.slot, entry.name);
                return Err(Error::clause(clause::TABLE_COMPLETE, detail).on(desc.label));
            }
        }
    }
    match given.next() {
        None => Ok(()),
        Some(extra) => {
            let detail = format!("slot {} element {} is not in the layout", extra.slot, extra.index);
            Err(Error::clause(clause::TABLE_WRITE, detail).on(desc.label))
        }
    }
}

fn dynamic_room(desc: &TableDesc<'_>, writes: &[NativeWrite]) -> SmallVec<[u64; 4]> {
    let dynamic = |w: &&NativeWrite| matches!(w.kind, BindingKind::Constant { dynamic: true });
    let room = |w: &NativeWrite| match w.resource {
        NativeBinding::Buffer { buffer: BufferRef { size: all, .. }, offset, size } => all - offset - size,
        _ => 0,
    };
    debug_assert!(desc.layout.dynamic_count() as usize == writes.iter().filter(dynamic).count());
    writes.iter().filter(dynamic).map(room).collect()
}

#[track_caller]
fn native_write(
    device: &DeviceShared,
    desc: &TableDesc<'_>,
    write: &TableWrite<'_>,
    keep: &mut Vec<Keep>,
) -> Result<NativeWrite> {
    let entry = desc.layout.entries.iter().find(|e| e.slot == write.slot && write.index < e.count);
    let Some(entry) = entry else {
        let detail = format!("slot {} element {} is not in the layout", write.slot, write.index);
        return Err(Error::clause(clause::TABLE_WRITE, detail).on(desc.label));
    };
    let mismatch = |what: String| {
        let detail = format!("slot {} (\"{}\") is {:?}, given {what}", entry.slot, entry.name, entry.kind);
        Error::clause(clause::TABLE_WRITE, detail).on(desc.label)
    };
    let mut buffer = |slice: &BufferSlice| -> Result<NativeBinding> {
        device.check(slice.buffer.key, &slice.buffer.owned)?;
        if slice.range.size < entry.min_size {
            return Err(mismatch(format!("{} bytes where the shader needs {}", slice.range.size, entry.min_size)));
        }
        keep.push(slice.buffer.owned.clone());
        Ok(NativeBinding::Buffer { buffer: slice.buffer.raw, offset: slice.range.offset, size: slice.range.size })
    };
    let resource = match (entry.kind, write.binding) {
        (BindingKind::Constant { .. }, Binding::Constant(view)) => buffer(&view.0)?,
        (BindingKind::BufferRead, Binding::BufferRead(view)) => buffer(&view.0)?,
        (BindingKind::BufferWrite, Binding::BufferWrite(view)) => buffer(&view.0)?,
        (BindingKind::Texture { .. }, Binding::Texture(view)) if texture_fits(entry.kind, &view.0) => {
            view_binding(device, &view.0, keep)?
        }
        (BindingKind::StorageTexture { format, dimension, .. }, Binding::StorageTexture(view))
            if view.0.format == format && view.0.dimension == dimension =>
        {
            view_binding(device, &view.0, keep)?
        }
        (BindingKind::Sampler { comparison }, Binding::Sampler(sampler)) if sampler.comparison == comparison => {
            device.check(sampler.key, &sampler.owned)?;
            keep.push(sampler.owned.clone());
            NativeBinding::Sampler(sampler.raw)
        }
        (_, binding) => return Err(mismatch(describe(binding))),
    };
    Ok(NativeWrite { slot: write.slot, index: write.index, kind: entry.kind, resource })
}

#[track_caller]
fn view_binding(device: &DeviceShared, view: &TextureView, keep: &mut Vec<Keep>) -> Result<NativeBinding> {
    device.check(view.key, &view.owned)?;
    keep.push(view.owned.clone());
    Ok(NativeBinding::View { view: view.raw, layout: view.layout })
}

fn texture_fits(kind: BindingKind, view: &TextureView) -> bool {
    use crate::format::FormatClass as C;
    let BindingKind::Texture { sample, dimension, multisampled } = kind else { return false };
    let class = view.format.info().class;
    let sampled = match sample {
        SampleType::Float => matches!(class, C::Unorm | C::Snorm | C::Float | C::Depth),
        SampleType::Depth => class == C::Depth,
        SampleType::Uint => class == C::Uint,
        SampleType::Sint => class == C::Sint,
    };
    sampled && dimension == view.dimension && multisampled == (view.samples > 1)
}

fn describe(binding: Binding<'_>) -> String {
    match binding {
        Binding::Constant(_) => "constant data".into(),
        Binding::BufferRead(_) => "a read buffer view".into(),
        Binding::BufferWrite(_) => "a write buffer view".into(),
        Binding::Texture(view) => {
            format!("a {:?} view of {} with {} samples", view.0.dimension, view.0.format, view.0.samples)
        }
        Binding::StorageTexture(view) => format!("a {:?} storage view of {}", view.0.dimension, view.0.format),
        Binding::Sampler(sampler) => format!("a sampler with comparison {}", sampler.comparison),
    }
}
