//! Functions, fixed-function state and pipelines.

use crate::backend::{NativeComputePipeline, NativeFunction, NativeRasterPipeline, ObjectKind, ObjectRef};
use crate::binding::{
    LayoutFacts, MAX_TABLES, PipelineLayout, PipelineLayoutDesc, PushRange, TableEntry, TableLayout, TableLayoutDesc,
};
use crate::cache::PipelineCache;
use crate::clause;
use crate::error::{Error, Result};
use crate::format::{Format, FormatClass, VertexFormat};
use crate::handle::{DeviceKey, DeviceShared, Keep, Owned};
use crate::shader::{
    BindingKind, ScalarClass, ShaderArtifact, ShaderInterface, ShaderPayload, ShaderStage, ShaderStages, ShaderTarget,
};
use bitflags::bitflags;
use smallvec::SmallVec;
use std::sync::Arc;

/// How vertices become primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Topology {
    /// Points.
    Points,
    /// Separate lines.
    Lines,
    /// Connected lines.
    LineStrip,
    /// Separate triangles.
    #[default]
    Triangles,
    /// Connected triangles.
    TriangleStrip,
}

impl Topology {
    /// Whether index restart exists for it.
    #[must_use]
    pub const fn is_strip(self) -> bool {
        matches!(self, Self::LineStrip | Self::TriangleStrip)
    }
}

/// Which faces are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum CullMode {
    /// None.
    #[default]
    None,
    /// Front faces.
    Front,
    /// Back faces.
    Back,
}

/// Which winding is the front, seen with y up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum FrontFace {
    /// Counter-clockwise.
    #[default]
    CounterClockwise,
    /// Clockwise.
    Clockwise,
}

/// Filled or outlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum FillMode {
    /// Filled.
    #[default]
    Solid,
    /// Edges.
    Wireframe,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub enum CompareOp {
    Never,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    #[default]
    Always,
}

/// Stencil operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub enum StencilOp {
    #[default]
    Keep,
    Zero,
    Replace,
    IncrementClamp,
    DecrementClamp,
    Invert,
    IncrementWrap,
    DecrementWrap,
}

/// Stencil test of one face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct StencilFace {
    /// Comparison of the reference with the stored value.
    pub compare: CompareOp,
    /// When the stencil test fails.
    pub fail: StencilOp,
    /// When stencil passes and depth fails.
    pub depth_fail: StencilOp,
    /// When both pass.
    pub pass: StencilOp,
}

/// Stencil test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StencilState {
    /// Front faces.
    pub front: StencilFace,
    /// Back faces.
    pub back: StencilFace,
    /// Bits compared.
    pub read_mask: u8,
    /// Bits written.
    pub write_mask: u8,
}

/// Depth test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthState {
    /// Whether passing fragments write depth.
    pub write: bool,
    /// Comparison; reversed depth uses `Greater`.
    pub compare: CompareOp,
    /// Constant bias, in units of the format's resolution.
    pub bias: i32,
    /// Bias per slope.
    pub bias_slope: f32,
    /// Largest bias.
    pub bias_clamp: f32,
}

impl Default for DepthState {
    fn default() -> Self {
        Self { write: true, compare: CompareOp::Greater, bias: 0, bias_slope: 0.0, bias_clamp: 0.0 }
    }
}

/// Blend factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub enum BlendFactor {
    Zero,
    #[default]
    One,
    Source,
    OneMinusSource,
    SourceAlpha,
    OneMinusSourceAlpha,
    Destination,
    OneMinusDestination,
    DestinationAlpha,
    OneMinusDestinationAlpha,
    Constant,
    OneMinusConstant,
}

/// Blend operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub enum BlendOp {
    #[default]
    Add,
    Subtract,
    ReverseSubtract,
    Min,
    Max,
}

/// One blend equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlendEquation {
    /// Factor of the new value.
    pub source: BlendFactor,
    /// Factor of the stored value.
    pub destination: BlendFactor,
    /// Operation.
    pub op: BlendOp,
}

/// Blending of one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlendState {
    /// Colour components.
    pub color: BlendEquation,
    /// Alpha component.
    pub alpha: BlendEquation,
}

impl BlendState {
    /// Straight alpha over.
    pub const ALPHA: Self = Self {
        color: BlendEquation {
            source: BlendFactor::SourceAlpha,
            destination: BlendFactor::OneMinusSourceAlpha,
            op: BlendOp::Add,
        },
        alpha: BlendEquation {
            source: BlendFactor::One,
            destination: BlendFactor::OneMinusSourceAlpha,
            op: BlendOp::Add,
        },
    };
    /// Sum.
    pub const ADDITIVE: Self = Self {
        color: BlendEquation { source: BlendFactor::One, destination: BlendFactor::One, op: BlendOp::Add },
        alpha: BlendEquation { source: BlendFactor::One, destination: BlendFactor::One, op: BlendOp::Add },
    };
}

bitflags! {
    /// Components written to a target.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct WriteMask: u8 {
        /// Red.
        const R = 1;
        /// Green.
        const G = 2;
        /// Blue.
        const B = 4;
        /// Alpha.
        const A = 8;
    }
}

/// Output merging of one colour target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TargetState {
    /// Blending; off if `None`.
    pub blend: Option<BlendState>,
    /// Components written.
    pub mask: WriteMask,
}

impl Default for TargetState {
    fn default() -> Self {
        Self { blend: None, mask: WriteMask::all() }
    }
}

/// All fixed-function state: one reusable descriptor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenderState<'a> {
    /// Topology.
    pub topology: Topology,
    /// Primitive restart with the largest index; strips only.
    pub restart: bool,
    /// Fill.
    pub fill: FillMode,
    /// Culling.
    pub cull: CullMode,
    /// Front face.
    pub front: FrontFace,
    /// Clamps depth instead of clipping.
    pub depth_clamp: bool,
    /// Depth test; off if `None`.
    pub depth: Option<DepthState>,
    /// Stencil test; off if `None`.
    pub stencil: Option<StencilState>,
    /// Blending and masks by colour target; missing ones are the default.
    pub targets: &'a [TargetState],
    /// Coverage from the first target's alpha.
    pub alpha_to_coverage: bool,
    /// Samples that may be written.
    pub sample_mask: u32,
}

impl Default for RenderState<'_> {
    fn default() -> Self {
        Self {
            topology: Topology::Triangles,
            restart: false,
            fill: FillMode::Solid,
            cull: CullMode::None,
            front: FrontFace::CounterClockwise,
            depth_clamp: false,
            depth: None,
            stencil: None,
            targets: &[],
            alpha_to_coverage: false,
            sample_mask: u32::MAX,
        }
    }
}

/// Per vertex or per instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum VertexStep {
    /// Per vertex.
    #[default]
    Vertex,
    /// Per instance.
    Instance,
}

/// One vertex attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VertexAttribute {
    /// Location in the vertex function.
    pub location: u32,
    /// Bytes from the start of the element.
    pub offset: u32,
    /// Format.
    pub format: VertexFormat,
}

/// One vertex buffer of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VertexBufferLayout<'a> {
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Step.
    pub step: VertexStep,
    /// Attributes.
    pub attributes: &'a [VertexAttribute],
}

/// The formats a pipeline draws into: its side of the attachment contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttachmentFormats<'a> {
    /// Colour targets by slot; `None` is an unused slot.
    pub colors: &'a [Option<Format>],
    /// Depth-stencil attachment.
    pub depth_stencil: Option<Format>,
    /// Samples.
    pub samples: u32,
    /// Multiview mask, 0 for none.
    pub view_mask: u32,
}

impl Default for AttachmentFormats<'_> {
    fn default() -> Self {
        Self { colors: &[], depth_stencil: None, samples: 1, view_mask: 0 }
    }
}

/// Colour attachments a pass can have.
pub const MAX_COLORS: usize = 8;

/// The attachment contract in a form that is compared in a few instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct AttachmentAbi {
    colors: [u8; MAX_COLORS],
    depth_stencil: u8,
    samples: u8,
    view_mask: u32,
}

impl AttachmentAbi {
    /// The contract of these formats.
    #[must_use]
    pub fn new(formats: &AttachmentFormats<'_>) -> Self {
        let code = |format: Option<Format>| format.map_or(0, |f| f as u8 + 1);
        let mut colors = [0; MAX_COLORS];
        for (slot, format) in colors.iter_mut().zip(formats.colors) {
            *slot = code(*format);
        }
        let samples = formats.samples.min(255) as u8;
        Self { colors, depth_stencil: code(formats.depth_stencil), samples, view_mask: formats.view_mask }
    }

    /// The canonical text, version 1: equal texts are equal contracts.
    #[must_use]
    pub fn text(&self) -> String {
        let name = |code: u8| code.checked_sub(1).map_or("none", |code| Format::all()[usize::from(code)].name);
        let last = self.colors.iter().rposition(|c| *c != 0).map_or(0, |i| i + 1);
        let colors: Vec<&str> = self.colors[..last].iter().map(|c| name(*c)).collect();
        format!(
            "attachments v1\ncolors: [{}]\ndepth-stencil: {}\nsamples: {}\nviews: {:#x}\n",
            colors.join(", "),
            name(self.depth_stencil),
            self.samples,
            self.view_mask
        )
    }

    /// SHA-256 of the text, 64 hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> String {
        use sha2::Digest;
        sha2::Sha256::digest(self.text()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A shader entry point on a device.
#[derive(Clone, Debug)]
pub struct Function {
    pub(crate) raw: ObjectRef,
    pub(crate) key: DeviceKey,
    pub(crate) stage: ShaderStage,
    pub(crate) entry: Arc<str>,
    pub(crate) interface: Arc<ShaderInterface>,
    pub(crate) owned: Keep,
}

impl Function {
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, artifact: &ShaderArtifact) -> Result<Self> {
        device.check_alive()?;
        let target = device.backend.shader_target();
        let fits = matches!(
            (&artifact.payload, target),
            (ShaderPayload::Spirv(_), ShaderTarget::Spirv { .. })
                | (ShaderPayload::Wgsl(_), ShaderTarget::Wgsl)
                | (ShaderPayload::GlslEs { .. }, ShaderTarget::GlslEs { .. })
        );
        if !fits {
            let detail = format!("the device takes {target:?}");
            return Err(Error::clause(clause::FUNCTION_TARGET, detail).on(artifact.label()));
        }
        let native = device.backend.create_function(artifact)?;
        let owned = Owned::new(device, ObjectKind::Function, artifact.label(), native, Vec::new());
        let raw = ObjectRef { word: native.word, aux: native.aux, id: owned.id };
        let (entry, interface) = (artifact.entry().into(), Arc::new(artifact.interface.clone()));
        Ok(Self { raw, key: device.key, stage: artifact.stage, entry, interface, owned })
    }

    /// What the entry point reads and writes.
    #[must_use]
    pub fn interface(&self) -> &ShaderInterface {
        &self.interface
    }

    #[track_caller]
    fn check(&self, device: &DeviceShared, stage: ShaderStage) -> Result<()> {
        device.check(self.key, &self.owned)?;
        if self.stage != stage {
            let detail = format!("a {} function given as {}", self.stage.name(), stage.name());
            return Err(Error::clause(clause::FUNCTION_STAGE, detail).on(&*self.owned.label));
        }
        Ok(())
    }

    fn native(&self) -> NativeFunction<'_> {
        NativeFunction { function: self.raw, entry: &self.entry }
    }
}

/// Describes a raster pipeline.
#[derive(Clone, Copy, Debug)]
pub struct RasterPipelineDesc<'a> {
    /// Name in messages and captures.
    pub label: &'a str,
    /// Layout; `None` derives one from the functions, compatible only with itself.
    pub layout: Option<&'a PipelineLayout>,
    /// Vertex function.
    pub vertex: &'a Function,
    /// Fragment function; `None` writes depth only.
    pub fragment: Option<&'a Function>,
    /// Vertex buffers by slot.
    pub buffers: &'a [VertexBufferLayout<'a>],
    /// Fixed-function state.
    pub state: RenderState<'a>,
    /// Attachments.
    pub targets: AttachmentFormats<'a>,
    /// Cache to look in and add to.
    pub cache: Option<&'a PipelineCache>,
}

/// Describes a compute pipeline.
#[derive(Clone, Copy, Debug)]
pub struct ComputePipelineDesc<'a> {
    /// Name in messages and captures.
    pub label: &'a str,
    /// Layout; `None` derives one from the function, compatible only with itself.
    pub layout: Option<&'a PipelineLayout>,
    /// Function.
    pub function: &'a Function,
    /// Threads per group, checked against the function's.
    pub group_size: [u32; 3],
    /// Cache to look in and add to.
    pub cache: Option<&'a PipelineCache>,
}

/// What binding and drawing check, inline in the pipeline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PipelineFacts {
    pub(crate) layout: crate::backend::LayoutRef,
    pub(crate) tables: LayoutFacts,
    /// Tables the functions use, as a mask.
    pub(crate) needs_tables: u8,
    /// Vertex buffer slots with attributes, as a mask.
    pub(crate) needs_buffers: u32,
    pub(crate) abi: AttachmentAbi,
    pub(crate) writes_depth: bool,
    pub(crate) writes_stencil: bool,
}

/// A raster pipeline.
#[derive(Clone, Debug)]
pub struct RasterPipeline {
    pub(crate) raw: ObjectRef,
    pub(crate) key: DeviceKey,
    pub(crate) facts: PipelineFacts,
    pub(crate) layout: PipelineLayout,
    pub(crate) owned: Keep,
}

/// A compute pipeline.
#[derive(Clone, Debug)]
pub struct ComputePipeline {
    pub(crate) raw: ObjectRef,
    pub(crate) key: DeviceKey,
    pub(crate) facts: PipelineFacts,
    pub(crate) layout: PipelineLayout,
    group_size: [u32; 3],
    pub(crate) owned: Keep,
}

impl RasterPipeline {
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, desc: &RasterPipelineDesc<'_>) -> Result<Self> {
        device.check_alive()?;
        desc.vertex.check(device, ShaderStage::Vertex)?;
        if let Some(fragment) = desc.fragment {
            fragment.check(device, ShaderStage::Fragment)?;
        }
        check_vertex(device, desc)?;
        check_targets(device, desc)?;
        check_state(desc)?;
        let functions: SmallVec<[&Function; 2]> = [Some(desc.vertex), desc.fragment].into_iter().flatten().collect();
        let layout = layout_for(device, desc.label, desc.layout, &functions)?;
        let native = NativeRasterPipeline {
            label: desc.label,
            layout: ObjectRef { word: layout.raw.word, aux: layout.raw.aux, id: layout.owned.id },
            vertex: desc.vertex.native(),
            fragment: desc.fragment.map(Function::native),
            buffers: desc.buffers,
            state: &desc.state,
            targets: &desc.targets,
            cache: cache_ref(device, desc.cache)?,
        };
        let native = device.backend.create_raster_pipeline(&native)?;
        let mut keep = vec![layout.owned.clone()];
        keep.extend(functions.iter().map(|f| f.owned.clone()));
        let owned = Owned::new(device, ObjectKind::RasterPipeline, desc.label, native, keep);
        let raw = ObjectRef { word: native.word, aux: native.aux, id: owned.id };
        let used = |i: usize| u32::from(!desc.buffers[i].attributes.is_empty()) << i;
        let facts = PipelineFacts {
            needs_buffers: (0..desc.buffers.len()).map(used).sum(),
            abi: AttachmentAbi::new(&desc.targets),
            writes_depth: desc.state.depth.is_some_and(|d| d.write),
            writes_stencil: desc.state.stencil.is_some_and(|s| s.write_mask != 0),
            ..facts_of(&layout, &functions)
        };
        Ok(Self { raw, key: device.key, facts, layout, owned })
    }

    /// Name.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.owned.label
    }

    /// Its layout, stated or derived.
    #[must_use]
    pub fn layout(&self) -> &PipelineLayout {
        &self.layout
    }

    /// Its side of the attachment contract.
    #[must_use]
    pub fn attachment_abi(&self) -> AttachmentAbi {
        self.facts.abi
    }
}

impl ComputePipeline {
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, desc: &ComputePipelineDesc<'_>) -> Result<Self> {
        device.check_alive()?;
        desc.function.check(device, ShaderStage::Compute)?;
        check_group(device, desc)?;
        let functions = [desc.function];
        let layout = layout_for(device, desc.label, desc.layout, &functions)?;
        let native = NativeComputePipeline {
            label: desc.label,
            layout: ObjectRef { word: layout.raw.word, aux: layout.raw.aux, id: layout.owned.id },
            function: desc.function.native(),
            cache: cache_ref(device, desc.cache)?,
        };
        let native = device.backend.create_compute_pipeline(&native)?;
        let keep = vec![layout.owned.clone(), desc.function.owned.clone()];
        let owned = Owned::new(device, ObjectKind::ComputePipeline, desc.label, native, keep);
        let raw = ObjectRef { word: native.word, aux: native.aux, id: owned.id };
        Ok(Self {
            raw,
            key: device.key,
            facts: facts_of(&layout, &functions),
            layout,
            group_size: desc.group_size,
            owned,
        })
    }

    /// Name.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.owned.label
    }

    /// Its layout, stated or derived.
    #[must_use]
    pub fn layout(&self) -> &PipelineLayout {
        &self.layout
    }

    /// Threads per group.
    #[must_use]
    pub fn group_size(&self) -> [u32; 3] {
        self.group_size
    }
}

fn facts_of(layout: &PipelineLayout, functions: &[&Function]) -> PipelineFacts {
    let mut needs_tables = 0;
    for binding in functions.iter().flat_map(|f| &f.interface.bindings) {
        needs_tables |= 1 << binding.group;
    }
    PipelineFacts {
        layout: layout.raw,
        tables: layout.facts,
        needs_tables,
        needs_buffers: 0,
        abi: AttachmentAbi::default(),
        writes_depth: false,
        writes_stencil: false,
    }
}

#[track_caller]
fn cache_ref(device: &DeviceShared, cache: Option<&PipelineCache>) -> Result<Option<ObjectRef>> {
    let Some(cache) = cache else { return Ok(None) };
    device.check(cache.key, &cache.owned)?;
    Ok(Some(cache.raw))
}

#[track_caller]
fn check_group(device: &DeviceShared, desc: &ComputePipelineDesc<'_>) -> Result<()> {
    let (stated, shader) = (desc.group_size, desc.function.interface.group_size);
    let limits = &device.limits;
    let threads = shader.iter().map(|n| u64::from(*n)).product::<u64>();
    let inside = shader.iter().zip(limits.max_compute_group).all(|(n, max)| *n >= 1 && *n <= max)
        && threads <= u64::from(limits.max_compute_threads)
        && desc.function.interface.group_shared_size <= limits.max_group_shared_bytes;
    if stated == shader && inside {
        return Ok(());
    }
    let detail = format!(
        "stated {stated:?}, the shader has {shader:?} and {} bytes of group-shared memory; limits {:?}, {} threads, {} bytes",
        desc.function.interface.group_shared_size,
        limits.max_compute_group,
        limits.max_compute_threads,
        limits.max_group_shared_bytes
    );
    Err(Error::clause(clause::GROUP_SIZE, detail).on(desc.label))
}

#[track_caller]
fn check_vertex(device: &DeviceShared, desc: &RasterPipelineDesc<'_>) -> Result<()> {
    let bad = |detail: String| Err(Error::clause(clause::PIPELINE_VERTEX, detail).on(desc.label));
    if desc.buffers.len() > (device.limits.max_vertex_bindings as usize).min(32) {
        return bad(format!(
            "{} vertex buffers, the limit is {}",
            desc.buffers.len(),
            device.limits.max_vertex_bindings
        ));
    }
    for (slot, buffer) in desc.buffers.iter().enumerate() {
        for a in buffer.attributes {
            let end = u64::from(a.offset) + u64::from(a.format.size_bytes());
            if end > u64::from(buffer.stride) || a.offset % 4 != 0 || buffer.stride % 4 != 0 || buffer.stride > 2048 {
                return bad(format!(
                    "buffer {slot}: location {} at {} with stride {}",
                    a.location, a.offset, buffer.stride
                ));
            }
        }
    }
    for input in &desc.vertex.interface.inputs {
        let attributes = || desc.buffers.iter().flat_map(|b| b.attributes);
        let mut matching = attributes().filter(|a| a.location == input.location);
        match (matching.next(), matching.next()) {
            (None, _) => return bad(format!("no attribute for location {} (\"{}\")", input.location, input.name)),
            (Some(_), Some(_)) => return bad(format!("two attributes for location {}", input.location)),
            (Some(a), None) if a.format.scalar() != input.scalar => {
                return bad(format!(
                    "location {} (\"{}\") is {:?}, the attribute {:?}",
                    input.location, input.name, input.scalar, a.format
                ));
            }
            (Some(_), None) => {}
        }
    }
    Ok(())
}

#[track_caller]
fn check_targets(device: &DeviceShared, desc: &RasterPipelineDesc<'_>) -> Result<()> {
    let targets = &desc.targets;
    let bad = |detail: String| Err(Error::clause(clause::PIPELINE_TARGETS, detail).on(desc.label));
    if targets.colors.len() > MAX_COLORS.min(device.limits.max_color_attachments as usize) {
        return bad(format!("{} colour targets", targets.colors.len()));
    }
    let wrong = |format: &Format, depth: bool| format.is_depth_stencil() != depth;
    if let Some(format) = targets.colors.iter().flatten().find(|f| wrong(f, false)) {
        return bad(format!("{format} as a colour target"));
    }
    if let Some(format) = targets.depth_stencil.filter(|f| wrong(f, true)) {
        return bad(format!("{format} as depth-stencil target"));
    }
    let Some(fragment) = desc.fragment else { return Ok(()) };
    for output in &fragment.interface.outputs {
        let Some(format) = targets.colors.get(output.location as usize).copied().flatten() else { continue };
        let class = match format.info().class {
            FormatClass::Uint => ScalarClass::Uint,
            FormatClass::Sint => ScalarClass::Sint,
            _ => ScalarClass::Float,
        };
        if class != output.scalar {
            return bad(format!("output {} is {:?}, the target is {format}", output.location, output.scalar));
        }
    }
    for (slot, format) in targets.colors.iter().enumerate() {
        let masked = desc.state.targets.get(slot).is_some_and(|t| t.mask.is_empty());
        let written = fragment.interface.outputs.iter().any(|o| o.location as usize == slot);
        if let Some(format) = format.filter(|_| !masked && !written) {
            return bad(format!(
                "the fragment function has no output {slot} for the {format} target; mask it or write it"
            ));
        }
    }
    Ok(())
}

#[track_caller]
fn check_state(desc: &RasterPipelineDesc<'_>) -> Result<()> {
    let state = &desc.state;
    let bad = |detail: &str| Err(Error::clause(clause::PIPELINE_STATE, detail).on(desc.label));
    if state.restart && !state.topology.is_strip() {
        return bad("primitive restart exists for strips only");
    }
    let depth = desc.targets.depth_stencil;
    if state.depth.is_some() && !depth.is_some_and(|f| f.aspects().contains(crate::vocab::Aspects::DEPTH)) {
        return bad("a depth test without a depth target");
    }
    if state.stencil.is_some() && !depth.is_some_and(|f| f.aspects().contains(crate::vocab::Aspects::STENCIL)) {
        return bad("a stencil test without a stencil target");
    }
    if !desc.targets.samples.is_power_of_two() || desc.targets.samples > 64 {
        return bad("the sample count is not 1, 2, 4, 8, 16, 32 or 64");
    }
    if state.targets.len() > desc.targets.colors.len() {
        return bad("more target states than colour targets");
    }
    Ok(())
}

/// The stated layout checked against the functions, or one derived from them.
#[track_caller]
fn layout_for(
    device: &Arc<DeviceShared>,
    label: &str,
    stated: Option<&PipelineLayout>,
    functions: &[&Function],
) -> Result<PipelineLayout> {
    let Some(layout) = stated else { return derive_layout(device, label, functions) };
    device.check(layout.key, &layout.owned)?;
    for function in functions {
        check_layout(layout, function).map_err(|detail| {
            Error::clause(clause::PIPELINE_BINDING, format!("{}: {detail}", function.owned.label)).on(label)
        })?;
    }
    Ok(layout.clone())
}

fn check_layout(layout: &PipelineLayout, function: &Function) -> Result<(), String> {
    let interface = &function.interface;
    for b in &interface.bindings {
        let entry = layout.table(b.group as usize).and_then(|t| t.entries.iter().find(|e| e.slot == b.slot));
        let Some(entry) = entry else {
            return Err(format!("\"{}\" (group {}, slot {}) is not in the layout", b.name, b.group, b.slot));
        };
        if !kinds_agree(entry.kind, b.kind) || entry.count < b.count {
            return Err(format!(
                "\"{}\" (group {}, slot {}) is {:?} x{}, the layout has {:?} x{}",
                b.name, b.group, b.slot, b.kind, b.count, entry.kind, entry.count
            ));
        }
        if !entry.stages.contains(function.stage.flag()) {
            return Err(format!("\"{}\" is not visible to the {} stage", b.name, function.stage.name()));
        }
        if entry.min_size < b.min_size && entry.min_size != 0 {
            return Err(format!("\"{}\" needs {} bytes, the layout promises {}", b.name, b.min_size, entry.min_size));
        }
    }
    let sees_push = layout.facts.push_stages.contains(function.stage.flag());
    if interface.push_constant_size > 0 && (!sees_push || interface.push_constant_size > layout.facts.push_bytes) {
        return Err(format!(
            "{} bytes of push constants, the layout has {} for {:?}",
            interface.push_constant_size, layout.facts.push_bytes, layout.facts.push_stages
        ));
    }
    Ok(())
}

/// Whether a layout's kind serves a shader's; a dynamic offset is the layout's own business.
fn kinds_agree(layout: BindingKind, shader: BindingKind) -> bool {
    match (layout, shader) {
        (BindingKind::Constant { .. }, BindingKind::Constant { .. }) => true,
        (a, b) => a == b,
    }
}

#[track_caller]
fn derive_layout(device: &Arc<DeviceShared>, label: &str, functions: &[&Function]) -> Result<PipelineLayout> {
    let mut groups: [Vec<TableEntry>; MAX_TABLES] = Default::default();
    let mut push = PushRange { stages: ShaderStages::empty(), size_bytes: 0 };
    for function in functions {
        for b in &function.interface.bindings {
            merge_binding(&mut groups, function, b)
                .map_err(|detail| Error::clause(clause::PIPELINE_BINDING, detail).on(label))?;
        }
        if function.interface.push_constant_size > 0 {
            push.stages |= function.stage.flag();
            push.size_bytes = push.size_bytes.max(function.interface.push_constant_size.next_multiple_of(4));
        }
    }
    let count = groups.iter().rposition(|g| !g.is_empty()).map_or(0, |i| i + 1);
    let mut tables: SmallVec<[Option<TableLayout>; MAX_TABLES]> = SmallVec::new();
    for entries in &groups[..count] {
        let make = || TableLayout::create(device, &TableLayoutDesc { label, entries }, true);
        tables.push(if entries.is_empty() { None } else { Some(make()?) });
    }
    let refs: SmallVec<[Option<&TableLayout>; MAX_TABLES]> = tables.iter().map(Option::as_ref).collect();
    let push = (push.size_bytes > 0).then_some(push);
    PipelineLayout::create(device, &PipelineLayoutDesc { label, tables: &refs, push, local: false })
}

fn merge_binding(
    groups: &mut [Vec<TableEntry>; MAX_TABLES],
    function: &Function,
    b: &crate::shader::ShaderBinding,
) -> Result<(), String> {
    let Some(group) = groups.get_mut(b.group as usize) else {
        return Err(format!("\"{}\" is in group {}, there are {MAX_TABLES}", b.name, b.group));
    };
    if b.count == 0 {
        return Err(format!("\"{}\" is a run-time sized array: state a layout", b.name));
    }
    if let Some(entry) = group.iter_mut().find(|e| e.slot == b.slot) {
        if entry.kind != b.kind {
            return Err(format!(
                "group {} slot {} is {:?} (\"{}\") and {:?} (\"{}\")",
                b.group, b.slot, entry.kind, entry.name, b.kind, b.name
            ));
        }
        entry.stages |= function.stage.flag();
        entry.count = entry.count.max(b.count);
        entry.min_size = entry.min_size.max(b.min_size);
        return Ok(());
    }
    group.push(TableEntry {
        slot: b.slot,
        name: b.name.clone(),
        kind: b.kind,
        stages: function.stage.flag(),
        count: b.count,
        min_size: b.min_size,
    });
    Ok(())
}
