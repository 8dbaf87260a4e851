//! Textures and their typed views.

use crate::backend::{NativeView, ObjectKind, ObjectRef, TextureRef};
use crate::buffer::StorageMode;
use crate::caps::FormatSupport;
use crate::clause;
use crate::error::{Error, Located, Result};
use crate::format::Format;
use crate::handle::{DeviceKey, DeviceShared, Keep, ObjectId, Owned};
use crate::shader::ViewDimension;
use crate::vocab::{Aspects, Extent, Layout, TextureRange};
use bitflags::bitflags;
use std::sync::Arc;

bitflags! {
    /// What a texture may be used for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct TextureUsage: u32 {
        /// Source of copies and blits.
        const COPY_SOURCE = 1 << 0;
        /// Destination of copies, blits and clears.
        const COPY_DESTINATION = 1 << 1;
        /// Sampled in shaders.
        const SHADER_READ = 1 << 2;
        /// Storage texture.
        const SHADER_WRITE = 1 << 3;
        /// Colour attachment and resolve destination of a pass.
        const COLOR_TARGET = 1 << 4;
        /// Depth-stencil attachment.
        const DEPTH_STENCIL_TARGET = 1 << 5;
    }
}

/// Texture dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum TextureDimension {
    /// 1D and 1D arrays.
    D1,
    /// 2D and 2D arrays.
    #[default]
    D2,
    /// 3D.
    D3,
    /// Cubes and cube arrays: six layers per cube.
    Cube,
}

/// Describes a texture.
#[derive(Clone, Copy, Debug)]
pub struct TextureDesc<'a> {
    /// Name in messages and captures.
    pub label: &'a str,
    /// Dimension.
    pub dimension: TextureDimension,
    /// Format.
    pub format: Format,
    /// Width, height, and depth or layers (a cube counts six per cube).
    pub extent: Extent,
    /// Mip levels.
    pub mips: u32,
    /// Samples per texel: 1, 2, 4, 8, 16.
    pub samples: u32,
    /// Uses.
    pub usage: TextureUsage,
    /// Other formats that views may have (the sRGB or linear twin).
    pub view_formats: &'a [Format],
    /// Memory.
    pub storage: StorageMode,
}

impl Default for TextureDesc<'_> {
    fn default() -> Self {
        Self {
            label: "",
            dimension: TextureDimension::D2,
            format: Format::Rgba8Unorm,
            extent: Extent::d2(1, 1),
            mips: 1,
            samples: 1,
            usage: TextureUsage::empty(),
            view_formats: &[],
            storage: StorageMode::DeviceLocal,
        }
    }
}

/// What a native view is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewKind {
    /// Sampled.
    Read,
    /// Storage.
    Write,
    /// Colour attachment.
    ColorTarget,
    /// Depth-stencil attachment.
    DepthStencilTarget,
}

/// Where a component of a sampled view comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Component {
    R,
    G,
    B,
    A,
    Zero,
    One,
}

/// Component mapping of a sampled view.
pub type Swizzle = [Component; 4];

/// No mapping.
pub const IDENTITY: Swizzle = [Component::R, Component::G, Component::B, Component::A];

/// Describes a sampled view; `Default` is the whole texture in its own format and dimension.
#[derive(Clone, Copy, Debug)]
pub struct ViewDesc {
    /// Dimension; `None` is the texture's own.
    pub dimension: Option<ViewDimension>,
    /// Sub-resources; one aspect of depth-stencil formats, depth if none is named.
    pub range: TextureRange,
    /// Format; `None` is the texture's own, others must stand in its `view_formats`.
    pub format: Option<Format>,
    /// Component mapping.
    pub swizzle: Swizzle,
    /// Layout the texture is in when shaders read it; `None` is shader-read-only, or depth-stencil-read-only for
    /// depth formats.
    pub layout: Option<Layout>,
}

impl Default for ViewDesc {
    fn default() -> Self {
        Self { dimension: None, range: TextureRange::WHOLE, format: None, swizzle: IDENTITY, layout: None }
    }
}

/// A texture. Cheap to clone; the last clone's drop retires it.
#[derive(Clone)]
pub struct Texture {
    pub(crate) raw: TextureRef,
    pub(crate) key: DeviceKey,
    pub(crate) facts: TextureFacts,
    pub(crate) owned: Keep,
    view_formats: Arc<[Format]>,
}

/// The facts checks need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureFacts {
    pub(crate) dimension: TextureDimension,
    pub(crate) format: Format,
    pub(crate) extent: Extent,
    pub(crate) mips: u32,
    pub(crate) samples: u32,
    pub(crate) usage: TextureUsage,
}

impl TextureFacts {
    pub(crate) fn layers(self) -> u32 {
        if self.dimension == TextureDimension::D3 { 1 } else { self.extent.z }
    }

    pub(crate) fn mip_extent(self, level: u32) -> Extent {
        self.extent.mip(level, self.dimension == TextureDimension::D3)
    }
}

impl std::fmt::Debug for Texture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let e = self.facts.extent;
        write!(f, "{:?}, {} {}x{}x{}", self.owned, self.facts.format, e.x, e.y, e.z)
    }
}

impl Texture {
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, desc: &TextureDesc<'_>) -> Result<Self> {
        device.check_alive()?;
        validate_shape(device, desc).map_err(|detail| Error::clause(clause::TEXTURE_DESC, detail).on(desc.label))?;
        validate_usage(device, desc).map_err(|detail| Error::clause(clause::TEXTURE_FORMAT, detail).on(desc.label))?;
        let native = device.create(|backend| backend.create_texture(desc))?;
        let owned = Owned::new(device, ObjectKind::Texture, desc.label, native, Vec::new());
        let raw = TextureRef { word: native.word, aux: native.aux, id: owned.id, format: desc.format };
        let facts = TextureFacts {
            dimension: desc.dimension,
            format: desc.format,
            extent: desc.extent,
            mips: desc.mips,
            samples: desc.samples,
            usage: desc.usage,
        };
        Ok(Self { raw, key: device.key, facts, owned, view_formats: desc.view_formats.into() })
    }

    /// Name.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.owned.label
    }

    /// Identity.
    #[must_use]
    pub fn id(&self) -> ObjectId {
        self.raw.id
    }

    /// Dimension.
    #[must_use]
    pub fn dimension(&self) -> TextureDimension {
        self.facts.dimension
    }

    /// Format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.facts.format
    }

    /// Extent of the first mip level.
    #[must_use]
    pub fn extent(&self) -> Extent {
        self.facts.extent
    }

    /// Mip levels.
    #[must_use]
    pub fn mips(&self) -> u32 {
        self.facts.mips
    }

    /// Array layers (1 for 3D textures).
    #[must_use]
    pub fn layers(&self) -> u32 {
        self.facts.layers()
    }

    /// Samples.
    #[must_use]
    pub fn samples(&self) -> u32 {
        self.facts.samples
    }

    /// Uses.
    #[must_use]
    pub fn usage(&self) -> TextureUsage {
        self.facts.usage
    }

    #[track_caller]
    pub(crate) fn resolve(&self, range: TextureRange) -> Result<TextureRange> {
        let facts = &self.facts;
        range.resolve(facts.mips, facts.layers(), facts.format.aspects()).ok_or_else(|| {
            let detail =
                format!("{range:?} of {} mips, {} layers, {:?}", facts.mips, facts.layers(), facts.format.aspects());
            Error::clause(clause::TEXTURE_RANGE, detail).on(self.label())
        })
    }

    #[cold]
    #[track_caller]
    pub(crate) fn lacks(&self, usage: TextureUsage) -> Error {
        let detail = format!("needs {usage:?}, the texture has {:?}", self.facts.usage);
        Error::clause(clause::TEXTURE_USAGE, detail).on(self.label())
    }

    fn own_dimension(&self, layers: u32) -> ViewDimension {
        match self.facts.dimension {
            TextureDimension::D1 => ViewDimension::D1,
            TextureDimension::D2 if layers > 1 => ViewDimension::D2Array,
            TextureDimension::D2 => ViewDimension::D2,
            TextureDimension::D3 => ViewDimension::D3,
            TextureDimension::Cube if layers > 6 => ViewDimension::CubeArray,
            TextureDimension::Cube if layers == 6 => ViewDimension::Cube,
            TextureDimension::Cube => ViewDimension::D2Array,
        }
    }

    #[track_caller]
    fn make_view(&self, kind: ViewKind, usage: TextureUsage, desc: &ViewDesc) -> Result<TextureView> {
        let device = &self.owned.device;
        device.check_alive()?;
        if !self.facts.usage.contains(usage) {
            return Err(self.lacks(usage));
        }
        let mut range = self.resolve(desc.range)?;
        if kind == ViewKind::Read && range.aspects == Aspects::DEPTH_STENCIL {
            range.aspects = Aspects::DEPTH;
        }
        let format = desc.format.unwrap_or(self.facts.format);
        let dimension = desc.dimension.unwrap_or_else(|| self.own_dimension(range.layer_count));
        let bad = |detail: String| Error::clause(clause::TEXTURE_VIEW, detail).on(self.label());
        if format != self.facts.format && !self.view_formats.contains(&format) {
            return Err(bad(format!("format {format} is not among the texture's view formats")));
        }
        let lacking = if format == self.facts.format {
            TextureUsage::empty()
        } else {
            missing_usage(&device.backend.format_support(format), usage, format)
        };
        if !lacking.is_empty() {
            return Err(bad(format!("{format} cannot be {lacking:?} here")));
        }
        if !dimension_fits(dimension, self.facts.dimension, range.layer_count) {
            return Err(bad(format!(
                "{dimension:?} over {} layers of a {:?} texture",
                range.layer_count, self.facts.dimension
            )));
        }
        if kind != ViewKind::Read && range.mip_count != 1 {
            return Err(bad(format!("a target or storage view has one mip level, not {}", range.mip_count)));
        }
        let native = NativeView { label: self.label(), kind, dimension, format, range, swizzle: desc.swizzle };
        let native = device.create(|backend| backend.create_view(self.raw, &native))?;
        let owned = Owned::new(device, ObjectKind::TextureView, self.label(), native, vec![self.owned.clone()]);
        let raw = ObjectRef { word: native.word, aux: native.aux, id: owned.id };
        let layout = desc.layout.unwrap_or(if kind == ViewKind::Write {
            Layout::General
        } else if self.facts.format.is_depth_stencil() {
            Layout::DepthStencilReadOnly
        } else {
            Layout::ShaderReadOnly
        });
        let extent = self.facts.mip_extent(range.base_mip);
        Ok(TextureView {
            raw,
            key: self.key,
            owned,
            texture: self.owned.id,
            format,
            dimension,
            extent,
            range,
            samples: self.facts.samples,
            layout,
        })
    }

    /// A view that shaders sample.
    ///
    /// # Errors
    /// `TEXTURE_USAGE`, `TEXTURE_RANGE`, `TEXTURE_VIEW`.
    #[track_caller]
    pub fn read_view(&self, desc: &ViewDesc) -> Result<TextureReadView> {
        self.make_view(ViewKind::Read, TextureUsage::SHADER_READ, desc).located().map(TextureReadView)
    }

    /// A storage view of one mip level.
    ///
    /// # Errors
    /// `TEXTURE_USAGE`, `TEXTURE_RANGE`, `TEXTURE_VIEW`.
    #[track_caller]
    pub fn write_view(&self, desc: &ViewDesc) -> Result<TextureWriteView> {
        self.make_view(ViewKind::Write, TextureUsage::SHADER_WRITE, desc).located().map(TextureWriteView)
    }

    /// A colour-attachment view of one mip level; several layers for layered passes.
    ///
    /// # Errors
    /// `TEXTURE_USAGE`, `TEXTURE_RANGE`, `TEXTURE_VIEW`.
    #[track_caller]
    pub fn color_target_view(&self, range: TextureRange) -> Result<ColorTargetView> {
        let desc = self.target_desc(range);
        self.make_view(ViewKind::ColorTarget, TextureUsage::COLOR_TARGET, &desc).located().map(ColorTargetView)
    }

    /// A depth-stencil-attachment view of one mip level.
    ///
    /// # Errors
    /// `TEXTURE_USAGE`, `TEXTURE_RANGE`, `TEXTURE_VIEW`.
    #[track_caller]
    pub fn depth_stencil_target_view(&self, range: TextureRange) -> Result<DepthStencilTargetView> {
        let desc = self.target_desc(range);
        self.make_view(ViewKind::DepthStencilTarget, TextureUsage::DEPTH_STENCIL_TARGET, &desc)
            .located()
            .map(DepthStencilTargetView)
    }

    fn target_desc(&self, range: TextureRange) -> ViewDesc {
        let one = range.layer_count == 1 || (range.layer_count == TextureRange::REST && self.layers() == 1);
        let dimension = match (self.facts.dimension, one) {
            (TextureDimension::D1, _) => ViewDimension::D1,
            (TextureDimension::D3, _) => ViewDimension::D3,
            (_, true) => ViewDimension::D2,
            (_, false) => ViewDimension::D2Array,
        };
        ViewDesc { dimension: Some(dimension), range, ..ViewDesc::default() }
    }
}

fn dimension_fits(view: ViewDimension, texture: TextureDimension, layers: u32) -> bool {
    match view {
        ViewDimension::D1 => texture == TextureDimension::D1 && layers == 1,
        ViewDimension::D3 => texture == TextureDimension::D3,
        ViewDimension::D2 => matches!(texture, TextureDimension::D2 | TextureDimension::Cube) && layers == 1,
        ViewDimension::D2Array => matches!(texture, TextureDimension::D2 | TextureDimension::Cube),
        ViewDimension::Cube => texture == TextureDimension::Cube && layers == 6,
        ViewDimension::CubeArray => texture == TextureDimension::Cube && layers.is_multiple_of(6),
    }
}

fn validate_shape(device: &DeviceShared, desc: &TextureDesc<'_>) -> Result<(), String> {
    let e = desc.extent;
    let is_3d = desc.dimension == TextureDimension::D3;
    let limits = &device.limits;
    let (edge, depth) = match desc.dimension {
        TextureDimension::D1 | TextureDimension::D2 => (limits.max_texture_2d, limits.max_texture_layers),
        TextureDimension::Cube => (limits.max_texture_cube, limits.max_texture_layers),
        TextureDimension::D3 => (limits.max_texture_3d, limits.max_texture_3d),
    };
    if e.x == 0 || e.y == 0 || e.z == 0 || e.x > edge || e.y > edge || e.z > depth {
        return Err(format!("extent {}x{}x{}, the limits are {edge}x{edge}x{depth}", e.x, e.y, e.z));
    }
    if desc.dimension == TextureDimension::D1 && e.y != 1 {
        return Err(format!("a 1D texture has height 1, not {}", e.y));
    }
    if desc.dimension == TextureDimension::Cube && (e.x != e.y || !e.z.is_multiple_of(6)) {
        return Err(format!("a cube has square faces and six layers per cube, not {}x{}x{}", e.x, e.y, e.z));
    }
    if desc.mips == 0 || desc.mips > e.max_mips(is_3d) {
        return Err(format!("{} mips, the extent allows {}", desc.mips, e.max_mips(is_3d)));
    }
    if !desc.samples.is_power_of_two() || desc.samples > 64 {
        return Err(format!("{} samples", desc.samples));
    }
    if desc.samples > 1 && (desc.dimension != TextureDimension::D2 || desc.mips != 1) {
        return Err("a multisampled texture is 2D with one mip level".into());
    }
    let targets = TextureUsage::COLOR_TARGET | TextureUsage::DEPTH_STENCIL_TARGET;
    if desc.storage == StorageMode::Memoryless && !targets.contains(desc.usage) {
        return Err(format!("a memoryless texture is only a target, not {:?}", desc.usage));
    }
    if desc.storage != StorageMode::DeviceLocal && desc.storage != StorageMode::Memoryless {
        return Err(format!("textures are device-local or memoryless, not {:?}", desc.storage));
    }
    Ok(())
}

fn validate_usage(device: &DeviceShared, desc: &TextureDesc<'_>) -> Result<(), String> {
    if desc.usage.is_empty() {
        return Err("no usage is stated".into());
    }
    let support = device.backend.format_support(desc.format);
    let missing = missing_usage(&support, desc.usage, desc.format);
    if !missing.is_empty() {
        return Err(format!("{} cannot be {missing:?} here", desc.format));
    }
    if !support.samples(desc.samples) {
        return Err(format!("{} has no {} samples here", desc.format, desc.samples));
    }
    for format in desc.view_formats {
        let (own, other) = (desc.format.info(), format.info());
        if own.block_bytes != other.block_bytes || own.block != other.block || own.aspects != other.aspects {
            return Err(format!("views of {} cannot be {format}: the blocks differ", desc.format));
        }
    }
    Ok(())
}

/// The uses among `wanted` that the format does not have here.
fn missing_usage(support: &FormatSupport, wanted: TextureUsage, format: Format) -> TextureUsage {
    let mut missing = TextureUsage::empty();
    let need = |usage, ok: bool| if wanted.contains(usage) && !ok { usage } else { TextureUsage::empty() };
    missing |= need(TextureUsage::SHADER_READ, support.sampled);
    missing |= need(TextureUsage::SHADER_WRITE, support.storage_write || support.storage_read);
    missing |= need(TextureUsage::COLOR_TARGET, support.renderable && !format.is_depth_stencil());
    missing |= need(TextureUsage::DEPTH_STENCIL_TARGET, support.renderable && format.is_depth_stencil());
    missing |= need(TextureUsage::COPY_SOURCE, support.copy);
    missing |= need(TextureUsage::COPY_DESTINATION, support.copy);
    missing
}

/// What every texture view carries.
#[derive(Clone, Debug)]
pub(crate) struct TextureView {
    pub(crate) raw: ObjectRef,
    pub(crate) key: DeviceKey,
    pub(crate) owned: Keep,
    pub(crate) texture: ObjectId,
    pub(crate) format: Format,
    pub(crate) dimension: ViewDimension,
    pub(crate) extent: Extent,
    pub(crate) range: TextureRange,
    pub(crate) samples: u32,
    pub(crate) layout: Layout,
}

macro_rules! texture_views {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(pub(crate) TextureView);

        impl $name {
            /// Format of the view.
            #[must_use]
            pub fn format(&self) -> Format {
                self.0.format
            }

            /// Extent of the view's first mip level.
            #[must_use]
            pub fn extent(&self) -> Extent {
                self.0.extent
            }

            /// Resolved sub-resources.
            #[must_use]
            pub fn range(&self) -> TextureRange {
                self.0.range
            }

            /// Identity of the texture.
            #[must_use]
            pub fn texture_id(&self) -> ObjectId {
                self.0.texture
            }
        }
    )*};
}

texture_views! {
    /// A view that shaders sample.
    TextureReadView;
    /// A view that shaders write (and read, as a storage texture).
    TextureWriteView;
    /// A view that a raster pass draws colour into.
    ColorTargetView;
    /// A view that a raster pass tests depth and stencil against.
    DepthStencilTargetView;
}
