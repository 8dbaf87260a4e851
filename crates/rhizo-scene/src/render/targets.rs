//! The textures a frame draws into, kept while the size stays.

use rhizo_rhi::{
    Binding, BindingTable, Buffer, BufferDesc, BufferUsage, ColorTargetView, DepthStencilTargetView, Device, Extent,
    Format, StorageMode, TableDesc, TableLayout, TableWrite, Texture, TextureDesc, TextureRange, TextureReadView,
    TextureUsage, ViewDesc,
};

use super::error::RenderError;
use super::options::RenderOptions;
use super::pipelines::{DEPTH_FORMAT, HDR_FORMAT, OUTPUT_FORMAT};

/// A texture with its view as a colour target.
pub(super) struct ColorTarget {
    pub(super) texture: Texture,
    pub(super) view: ColorTargetView,
}

/// A texture with its view as a depth target.
pub(super) struct DepthTarget {
    pub(super) texture: Texture,
    pub(super) view: DepthStencilTargetView,
}

/// All targets of one size and sample count.
pub(super) struct Targets {
    width: u32,
    height: u32,
    pub(super) samples: u32,
    /// Multisampled linear light; `None` with one sample.
    pub(super) multisampled: Option<ColorTarget>,
    /// Linear light, drawn to or resolved into.
    pub(super) hdr: ColorTarget,
    pub(super) depth: DepthTarget,
    pub(super) output: ColorTarget,
    pub(super) post_table: BindingTable,
    pub(super) readback: Buffer,
    /// Bytes from one row of the readback buffer to the next.
    pub(super) row_pitch: u32,
}

fn color(
    device: &Device,
    label: &str,
    format: Format,
    size: (u32, u32),
    samples: u32,
    usage: TextureUsage,
) -> Result<ColorTarget, RenderError> {
    let texture = device.create_texture(&TextureDesc {
        label,
        format,
        extent: Extent::d2(size.0, size.1),
        samples,
        usage: usage | TextureUsage::COLOR_TARGET,
        ..TextureDesc::default()
    })?;
    let view = texture.color_target_view(TextureRange::WHOLE)?;
    Ok(ColorTarget { texture, view })
}

fn depth(
    device: &Device,
    label: &str,
    size: (u32, u32),
    samples: u32,
    usage: TextureUsage,
) -> Result<DepthTarget, RenderError> {
    let texture = device.create_texture(&TextureDesc {
        label,
        format: DEPTH_FORMAT,
        extent: Extent::d2(size.0, size.1),
        samples,
        usage: usage | TextureUsage::DEPTH_STENCIL_TARGET,
        ..TextureDesc::default()
    })?;
    let view = texture.depth_stencil_target_view(TextureRange::WHOLE)?;
    Ok(DepthTarget { texture, view })
}

impl Targets {
    pub(super) fn new(device: &Device, post: &TableLayout, options: &RenderOptions) -> Result<Self, RenderError> {
        check(device, options)?;
        let (size, samples) = ((options.width, options.height), options.samples);
        let none = TextureUsage::empty();
        let multisampled =
            (samples > 1).then(|| color(device, "multisampled light", HDR_FORMAT, size, samples, none)).transpose()?;
        let hdr = color(device, "light", HDR_FORMAT, size, 1, TextureUsage::SHADER_READ)?;
        let source = hdr.texture.read_view(&ViewDesc::default())?;
        let writes = [TableWrite::new(0, Binding::Texture(&source))];
        let post_table = device.create_table(&TableDesc { label: "post", layout: post, writes: &writes })?;
        let row_pitch = (options.width * 4).next_multiple_of(device.limits().row_alignment_bytes.max(4));
        let readback = device.create_buffer(&BufferDesc {
            label: "picture readback",
            size_bytes: u64::from(row_pitch) * u64::from(options.height),
            usage: BufferUsage::COPY_DESTINATION,
            storage: StorageMode::Readback,
        })?;
        Ok(Self {
            width: options.width,
            height: options.height,
            samples,
            multisampled,
            hdr,
            depth: depth(device, "depth", size, samples, none)?,
            output: color(device, "picture", OUTPUT_FORMAT, size, 1, TextureUsage::COPY_SOURCE)?,
            post_table,
            readback,
            row_pitch,
        })
    }

    /// Whether these are the targets the options ask for.
    pub(super) fn fit(&self, options: &RenderOptions) -> bool {
        (self.width, self.height, self.samples) == (options.width, options.height, options.samples)
    }

    /// Textures held.
    pub(super) fn count(&self) -> u32 {
        3 + u32::from(self.multisampled.is_some())
    }

    /// The finished picture, rows from the top without padding. The frame must have completed.
    pub(super) fn read(&self) -> Result<Vec<u8>, RenderError> {
        let row = self.width as usize * 4;
        let mut out = vec![0; row * self.height as usize];
        if self.row_pitch as usize == row {
            self.readback.read_into(0, &mut out)?;
            return Ok(out);
        }
        for (y, line) in out.chunks_exact_mut(row).enumerate() {
            self.readback.read_into(y as u64 * u64::from(self.row_pitch), line)?;
        }
        Ok(out)
    }
}

fn check(device: &Device, options: &RenderOptions) -> Result<(), RenderError> {
    let limit = device.limits().max_texture_2d;
    let edge = options.width.max(options.height);
    if edge > limit {
        return Err(RenderError::Limit { what: "the picture's edge", needed: edge.into(), limit: limit.into() });
    }
    let formats = [HDR_FORMAT, DEPTH_FORMAT].map(|format| device.format_support(format));
    let fits = |samples: u32| formats.iter().all(|f| f.samples(samples));
    if !fits(options.samples) {
        let able: Vec<String> = [1, 2, 4, 8].into_iter().filter(|s| fits(*s)).map(|s| s.to_string()).collect();
        return Err(RenderError::Option {
            option: "samples",
            value: options.samples.to_string(),
            reason: format!("this device can do {}", able.join(", ")),
        });
    }
    Ok(())
}

/// The shadow map, with a view to sample it.
pub(super) struct ShadowMap {
    pub(super) target: DepthTarget,
    pub(super) view: TextureReadView,
    pub(super) size: u32,
}

impl ShadowMap {
    pub(super) fn new(device: &Device, size: u32) -> Result<Self, RenderError> {
        let limit = device.limits().max_texture_2d;
        if size > limit {
            return Err(RenderError::Limit { what: "the shadow map", needed: size.into(), limit: limit.into() });
        }
        let target = depth(device, "shadow map", (size, size), 1, TextureUsage::SHADER_READ)?;
        let view = target.texture.read_view(&ViewDesc::default())?;
        Ok(Self { target, view, size })
    }
}
