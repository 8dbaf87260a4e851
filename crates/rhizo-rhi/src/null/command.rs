//! Recorded commands as data, with a text form that tests compare.

use crate::backend::{
    BindPoint, BufferBarrierRef, BufferRef, ColorAttachmentRef, DepthStencilAttachmentRef, GlobalBarrierRef, HandOver,
    ObjectRef, SliceRef, TextureBarrierRef, TextureRef, TimestampRef,
};
use crate::pass::{IndexFormat, LoadOp, StoreOp, Viewport};
use crate::transfer::{BlitFilter, BufferCopy, BufferTextureCopy, TextureBlit, TextureCopy, TextureLayers};
use crate::vocab::{ACCESS_NAMES, BufferRange, Layout, STAGE_NAMES, Scope, TextureRange};
use smallvec::SmallVec;
use std::fmt::{self, Display, Formatter, Write};

/// A name stored in place, so that recording short names allocates nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Label(SmallVec<[u8; 40]>);

impl Label {
    pub(super) fn new(text: &str) -> Self {
        Self(SmallVec::from_slice(text.as_bytes()))
    }
}

impl Display for Label {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// A few values in place.
type List<T> = SmallVec<[T; 4]>;

/// One recorded command. Objects are named by their word, which counts from 1 on each null device.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each is the call of `RecorderBackend` of its name, with that call's arguments")]
#[allow(clippy::large_enum_variant, reason = "boxes would allocate while recording")]
pub enum NullCommand {
    PushGroup(Label),
    PopGroup,
    Barriers {
        global: List<GlobalBarrierRef>,
        buffers: List<BufferBarrierRef>,
        textures: List<TextureBarrierRef>,
    },
    CopyBuffer {
        source: BufferRef,
        destination: BufferRef,
        regions: List<BufferCopy>,
    },
    CopyBufferToTexture {
        source: BufferRef,
        destination: (TextureRef, Layout),
        regions: List<BufferTextureCopy>,
    },
    CopyTextureToBuffer {
        source: (TextureRef, Layout),
        destination: BufferRef,
        regions: List<BufferTextureCopy>,
    },
    CopyTexture {
        source: (TextureRef, Layout),
        destination: (TextureRef, Layout),
        regions: List<TextureCopy>,
    },
    Blit {
        source: (TextureRef, Layout),
        destination: (TextureRef, Layout),
        regions: List<TextureBlit>,
        filter: BlitFilter,
    },
    FillBuffer {
        buffer: BufferRef,
        range: BufferRange,
        value: u32,
    },
    ClearColor {
        texture: (TextureRef, Layout),
        range: TextureRange,
        value: [f32; 4],
    },
    Resolve {
        source: (TextureRef, Layout),
        destination: (TextureRef, Layout),
        regions: List<TextureCopy>,
    },
    ResetQueries {
        set: ObjectRef,
        first: u32,
        count: u32,
    },
    WriteTimestamp {
        set: ObjectRef,
        index: u32,
    },
    ResolveQueries {
        set: ObjectRef,
        first: u32,
        count: u32,
        destination: BufferRef,
        offset: u64,
    },
    BeginQuery {
        set: ObjectRef,
        index: u32,
    },
    EndQuery {
        set: ObjectRef,
        index: u32,
    },
    BeginRaster {
        label: Label,
        area: [u32; 4],
        layers: u32,
        view_mask: u32,
        samples: u32,
        colors: SmallVec<[Option<ColorAttachmentRef>; 4]>,
        depth_stencil: Option<DepthStencilAttachmentRef>,
        timestamps: Option<TimestampRef>,
        occlusion: Option<ObjectRef>,
    },
    EndRaster,
    BeginCompute {
        label: Label,
        timestamps: Option<TimestampRef>,
    },
    EndCompute,
    SetPipeline {
        point: BindPoint,
        pipeline: ObjectRef,
    },
    SetTables {
        point: BindPoint,
        first: u32,
        tables: List<ObjectRef>,
        offsets: SmallVec<[u32; 8]>,
    },
    PushConstants {
        point: BindPoint,
        offset: u32,
        data: SmallVec<[u8; 128]>,
    },
    SetVertexBuffer {
        slot: u32,
        slice: SliceRef,
    },
    SetIndexBuffer {
        slice: SliceRef,
        format: IndexFormat,
    },
    SetViewports(List<Viewport>),
    SetScissors(List<[u32; 4]>),
    SetStencilReference(u8),
    SetBlendConstants([f32; 4]),
    Draw {
        vertices: u32,
        instances: u32,
        first_vertex: u32,
        first_instance: u32,
    },
    DrawIndexed {
        indices: u32,
        instances: u32,
        first_index: u32,
        base_vertex: i32,
        first_instance: u32,
    },
    DrawIndirect {
        arguments: BufferRef,
        offset: u64,
        count: u32,
        stride: u32,
        indexed: bool,
    },
    Dispatch([u32; 3]),
    DispatchIndirect {
        arguments: BufferRef,
        offset: u64,
    },
    HostRead,
}

/// Gives an object's name from its word.
pub(super) type Names<'a> = &'a dyn Fn(u64) -> String;

impl Display for NullCommand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&|word| format!("#{word}")))
    }
}

impl NullCommand {
    /// One line.
    pub(super) fn text(&self, names: Names<'_>) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out, names);
        out
    }

    fn write(&self, f: &mut String, names: Names<'_>) -> fmt::Result {
        match self {
            Self::PushGroup(label) => write!(f, "push-group {label:?}"),
            Self::PopGroup => f.write_str("pop-group"),
            Self::Barriers { global, buffers, textures } => write_barriers(f, names, global, buffers, textures),
            Self::FillBuffer { buffer, range, value } => {
                write!(f, "fill-buffer {} {} {value:#010x}", names(buffer.word), bytes(*range))
            }
            Self::ClearColor { texture, range, value } => {
                write!(f, "clear-color {} {} {value:?}", names(texture.0.word), subresources(*range))
            }
            Self::HostRead => f.write_str("host-read"),
            Self::CopyBuffer { .. }
            | Self::CopyBufferToTexture { .. }
            | Self::CopyTextureToBuffer { .. }
            | Self::CopyTexture { .. }
            | Self::Blit { .. }
            | Self::Resolve { .. } => self.write_copy(f, names),
            Self::ResetQueries { .. }
            | Self::WriteTimestamp { .. }
            | Self::ResolveQueries { .. }
            | Self::BeginQuery { .. }
            | Self::EndQuery { .. } => self.write_query(f, names),
            Self::BeginRaster { .. } | Self::EndRaster | Self::BeginCompute { .. } | Self::EndCompute => {
                self.write_pass(f, names)
            }
            _ => self.write_state(f, names),
        }
    }

    fn write_copy(&self, f: &mut String, names: Names<'_>) -> fmt::Result {
        match self {
            Self::CopyBuffer { source, destination, regions } => {
                write!(f, "copy-buffer {} -> {}", names(source.word), names(destination.word))?;
                regions
                    .iter()
                    .try_for_each(|r| write!(f, " [{}+{} -> {}]", r.source_offset, r.size, r.destination_offset))
            }
            Self::CopyBufferToTexture { source, destination, regions } => {
                write!(f, "copy-buffer-to-texture {} -> {}", names(source.word), names(destination.0.word))?;
                regions.iter().try_for_each(|r| write_linear(f, r))
            }
            Self::CopyTextureToBuffer { source, destination, regions } => {
                write!(f, "copy-texture-to-buffer {} -> {}", names(source.0.word), names(destination.word))?;
                regions.iter().try_for_each(|r| write_linear(f, r))
            }
            Self::CopyTexture { source, destination, regions } => {
                write!(f, "copy-texture {} -> {}", names(source.0.word), names(destination.0.word))?;
                regions.iter().try_for_each(|r| write_box(f, r))
            }
            Self::Resolve { source, destination, regions } => {
                write!(f, "resolve {} -> {}", names(source.0.word), names(destination.0.word))?;
                regions.iter().try_for_each(|r| write_box(f, r))
            }
            Self::Blit { source, destination, regions, filter } => {
                let filter = if *filter == BlitFilter::Linear { "linear" } else { "nearest" };
                write!(f, "blit {} -> {} {filter}", names(source.0.word), names(destination.0.word))?;
                regions.iter().try_for_each(|r| {
                    let (a, b) = (layers(r.source), layers(r.destination));
                    write!(f, " [{a} {:?} -> {b} {:?}]", r.source_box, r.destination_box)
                })
            }
            _ => Ok(()),
        }
    }

    fn write_query(&self, f: &mut String, names: Names<'_>) -> fmt::Result {
        match self {
            Self::ResetQueries { set, first, count } => {
                write!(f, "reset-queries {} {first}+{count}", names(set.word))
            }
            Self::WriteTimestamp { set, index } => write!(f, "write-timestamp {} {index}", names(set.word)),
            Self::ResolveQueries { set, first, count, destination, offset } => {
                let (set, to) = (names(set.word), names(destination.word));
                write!(f, "resolve-queries {set} {first}+{count} -> {to} {offset}")
            }
            Self::BeginQuery { set, index } => write!(f, "begin-query {} {index}", names(set.word)),
            Self::EndQuery { set, index } => write!(f, "end-query {} {index}", names(set.word)),
            _ => Ok(()),
        }
    }

    fn write_pass(&self, f: &mut String, names: Names<'_>) -> fmt::Result {
        match self {
            Self::BeginRaster {
                label, area, samples, layers, view_mask, colors, depth_stencil, timestamps, ..
            } => {
                write!(f, "begin-raster {label:?} area {area:?} layers {layers} samples {samples}")?;
                if *view_mask != 0 {
                    write!(f, " views {view_mask:#x}")?;
                }
                for (slot, color) in colors.iter().enumerate() {
                    let Some(c) = color else { continue };
                    write!(f, " color{slot} {} {}", names(c.view.word), ops(c.load, c.store))?;
                    if let Some(resolve) = c.resolve {
                        write!(f, " resolve {}", names(resolve.word))?;
                    }
                }
                if let Some(d) = depth_stencil {
                    write!(f, " depth-stencil {}", names(d.view.word))?;
                    for (load, store, read_only) in [d.depth, d.stencil].into_iter().flatten() {
                        write!(f, " {}{}", ops(load, store), if read_only { " read-only" } else { "" })?;
                    }
                }
                write_timestamps(f, names, timestamps.as_ref())
            }
            Self::BeginCompute { label, timestamps } => {
                write!(f, "begin-compute {label:?}")?;
                write_timestamps(f, names, timestamps.as_ref())
            }
            Self::EndRaster => f.write_str("end-raster"),
            Self::EndCompute => f.write_str("end-compute"),
            _ => Ok(()),
        }
    }

    fn write_state(&self, f: &mut String, names: Names<'_>) -> fmt::Result {
        match self {
            Self::SetPipeline { pipeline, .. } => write!(f, "set-pipeline {}", names(pipeline.word)),
            Self::SetTables { first, tables, offsets, .. } => {
                let tables: Vec<String> = tables.iter().map(|t| names(t.word)).collect();
                write!(f, "set-tables {first} [{}] offsets {offsets:?}", tables.join(", "))
            }
            Self::PushConstants { offset, data, .. } => write!(f, "push-constants {offset}+{}", data.len()),
            Self::SetVertexBuffer { slot, slice } => {
                write!(f, "set-vertex-buffer {slot} {} {}+{}", names(slice.buffer.word), slice.offset, slice.size)
            }
            Self::SetIndexBuffer { slice, format } => {
                let (name, bits) = (names(slice.buffer.word), format.size_bytes() * 8);
                write!(f, "set-index-buffer {name} {}+{} u{bits}", slice.offset, slice.size)
            }
            Self::SetViewports(viewports) => write!(f, "set-viewports {}", viewports.len()),
            Self::SetScissors(scissors) => write!(f, "set-scissors {:?}", scissors.as_slice()),
            Self::SetStencilReference(reference) => write!(f, "set-stencil-reference {reference}"),
            Self::SetBlendConstants(constants) => write!(f, "set-blend-constants {constants:?}"),
            Self::Draw { vertices, instances, first_vertex, first_instance } => {
                write!(f, "draw {vertices}x{instances} from {first_vertex} {first_instance}")
            }
            Self::DrawIndexed { indices, instances, first_index, base_vertex, first_instance } => {
                write!(f, "draw-indexed {indices}x{instances} from {first_index} {base_vertex:+} {first_instance}")
            }
            Self::DrawIndirect { arguments, offset, count, stride, indexed } => {
                let name = if *indexed { "draw-indexed-indirect" } else { "draw-indirect" };
                write!(f, "{name} {} {offset} x{count} stride {stride}", names(arguments.word))
            }
            Self::Dispatch([x, y, z]) => write!(f, "dispatch {x} {y} {z}"),
            Self::DispatchIndirect { arguments, offset } => {
                write!(f, "dispatch-indirect {} {offset}", names(arguments.word))
            }
            _ => Ok(()),
        }
    }
}

fn bytes(range: BufferRange) -> String {
    format!("{}+{}", range.offset, range.size)
}

fn subresources(r: TextureRange) -> String {
    format!("mips {}+{} layers {}+{}", r.base_mip, r.mip_count, r.base_layer, r.layer_count)
}

fn layers(l: TextureLayers) -> String {
    format!("mip {} layers {}+{}", l.mip, l.base_layer, l.layer_count)
}

fn write_linear(f: &mut String, r: &BufferTextureCopy) -> fmt::Result {
    let e = r.extent;
    write!(f, " [{} ~ {} {:?} {}x{}x{}]", r.buffer_offset, layers(r.layers), r.origin, e.x, e.y, e.z)
}

fn write_box(f: &mut String, r: &TextureCopy) -> fmt::Result {
    let (a, b, e) = (layers(r.source), layers(r.destination), r.extent);
    write!(f, " [{a} {:?} -> {b} {:?} {}x{}x{}]", r.source_origin, r.destination_origin, e.x, e.y, e.z)
}

fn ops(load: LoadOp, store: StoreOp) -> String {
    let store = if store == StoreOp::Store { "store" } else { "discard" };
    match load {
        LoadOp::Load => format!("load {store}"),
        LoadOp::Clear(value) => format!("clear {value:?} {store}"),
        LoadOp::Discard => format!("discard {store}"),
    }
}

fn write_timestamps(f: &mut String, names: Names<'_>, t: Option<&TimestampRef>) -> fmt::Result {
    let Some(t) = t else { return Ok(()) };
    write!(f, " timestamps {} {:?} {:?}", names(t.set.word), t.begin, t.end)
}

fn scope(scope: Scope) -> String {
    let stages = STAGE_NAMES.iter().filter(|(bit, _)| scope.stages.contains(*bit)).map(|(_, name)| *name);
    let stages: Vec<&str> = if scope.stages == crate::vocab::Stages::ALL { vec!["all"] } else { stages.collect() };
    let access = ACCESS_NAMES.iter().filter(|(bit, _)| scope.access.contains(*bit)).map(|(_, name)| *name);
    let access: Vec<&str> = access.collect();
    format!("{}:{}", stages.join("|"), access.join("|"))
}

fn hand_over(queues: Option<HandOver>) -> String {
    queues.map_or_else(String::new, |q| format!(" queue {} -> {}", q.source, q.destination))
}

fn write_barriers(
    f: &mut String,
    names: Names<'_>,
    global: &[GlobalBarrierRef],
    buffers: &[BufferBarrierRef],
    textures: &[TextureBarrierRef],
) -> fmt::Result {
    f.write_str("barriers")?;
    for b in global {
        write!(f, " [{} => {}]", scope(b.before), scope(b.after))?;
    }
    for b in buffers {
        let (name, queues) = (names(b.buffer.word), hand_over(b.queues));
        write!(f, " [{name} {} {} => {}{queues}]", bytes(b.range), scope(b.before), scope(b.after))?;
    }
    for b in textures {
        let (name, queues) = (names(b.texture.word), hand_over(b.queues));
        let (before, after) = (b.before_layout.name(), b.after_layout.name());
        let (from, to) = (scope(b.before), scope(b.after));
        write!(f, " [{name} {} {from} {before} => {to} {after}{queues}]", subresources(b.range))?;
    }
    Ok(())
}
