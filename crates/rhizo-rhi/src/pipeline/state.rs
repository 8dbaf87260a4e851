//! Fixed-function state, vertex layouts and the attachment contract.

use crate::format::{Format, VertexFormat};
use bitflags::bitflags;

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
