//! Materials and textures on the GPU.

use std::collections::HashMap;

use bytemuck::{Pod, Zeroable};
use rhizo_rhi::{
    AddressMode, Binding, BindingTable, Buffer, BufferRange, BufferUsage, ConstantBufferView, Device, Extent, Filter,
    Format, Sampler, SamplerDesc, TableDesc, TableLayout, TableWrite, TextureDesc, TextureReadView, TextureUsage,
    ViewDesc,
};

use super::error::RenderError;
use super::upload::Uploader;
use crate::scene::{self, AlphaMode, ColorSpace, Material, Scene, TextureSlot};

/// Textures a material table holds.
pub(super) const SLOTS: usize = 9;

// As in material.wgsl.
const UNLIT: u32 = 1;
const MASK: u32 = 2;
const BLEND: u32 = 4;
const CLEARCOAT: u32 = 8;
const ANISOTROPY: u32 = 16;
const TRANSMISSION: u32 = 32;
const DOUBLE_SIDED: u32 = 64;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct SlotData {
    linear: [f32; 4],
    offset: [f32; 2],
    uv_set: u32,
    present: u32,
}

/// The shader's `Material`, field by field.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct MaterialData {
    base_color: [f32; 4],
    emissive: [f32; 3],
    alpha_cutoff: f32,
    metallic: f32,
    roughness: f32,
    normal_scale: f32,
    occlusion_strength: f32,
    dielectric_f0: f32,
    clearcoat: f32,
    clearcoat_roughness: f32,
    clearcoat_normal_scale: f32,
    anisotropy: [f32; 3],
    transmission: f32,
    flags: u32,
    unused: [u32; 3],
    slots: [SlotData; SLOTS],
}

/// The textures of a material in the order of the table.
fn slots_of(m: &Material) -> [Option<TextureSlot>; SLOTS] {
    [
        m.base_color_texture,
        m.metallic_roughness_texture,
        m.normal_texture,
        m.occlusion_texture,
        m.emissive_texture,
        m.clearcoat.and_then(|c| c.texture),
        m.clearcoat.and_then(|c| c.roughness_texture),
        m.clearcoat.and_then(|c| c.normal_texture),
        m.anisotropy.and_then(|a| a.texture),
    ]
}

impl SlotData {
    fn new(slot: Option<TextureSlot>) -> Self {
        let Some(slot) = slot else { return Self::zeroed() };
        let affine = slot.transform.affine();
        let (x, y) = (affine.matrix2.x_axis, affine.matrix2.y_axis);
        Self { linear: [x.x, x.y, y.x, y.y], offset: affine.translation.to_array(), uv_set: slot.uv_set, present: 1 }
    }
}

impl MaterialData {
    fn new(m: &Material) -> Self {
        let (coat, bend) = (m.clearcoat, m.anisotropy);
        let mut flags = 0;
        let mut set = |on: bool, flag: u32| flags |= if on { flag } else { 0 };
        set(m.unlit, UNLIT);
        set(matches!(m.alpha_mode, AlphaMode::Mask { .. }), MASK);
        set(m.alpha_mode == AlphaMode::Blend, BLEND);
        set(coat.is_some_and(|c| c.factor > 0.0), CLEARCOAT);
        set(bend.is_some_and(|a| a.strength != 0.0), ANISOTROPY);
        set(m.transmission.is_some_and(|t| t.factor > 0.0), TRANSMISSION);
        set(m.double_sided, DOUBLE_SIDED);
        let (sin, cos) = bend.map_or((0.0, 1.0), |a| a.rotation.sin_cos());
        Self {
            base_color: m.base_color.to_array(),
            emissive: m.emissive.to_array(),
            alpha_cutoff: if let AlphaMode::Mask { cutoff } = m.alpha_mode { cutoff } else { 0.0 },
            metallic: m.metallic,
            roughness: m.roughness,
            normal_scale: m.normal_scale,
            occlusion_strength: m.occlusion_strength,
            dielectric_f0: ((m.ior - 1.0) / (m.ior + 1.0)).powi(2),
            clearcoat: coat.map_or(0.0, |c| c.factor),
            clearcoat_roughness: coat.map_or(0.0, |c| c.roughness),
            clearcoat_normal_scale: coat.map_or(1.0, |c| c.normal_scale),
            anisotropy: [cos, sin, bend.map_or(0.0, |a| a.strength)],
            transmission: m.transmission.map_or(0.0, |t| t.factor),
            flags,
            unused: [0; 3],
            slots: slots_of(m).map(SlotData::new),
        }
    }
}

/// How a material's surfaces reach the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Coverage {
    Opaque,
    Masked,
    /// Drawn after the opaque ones, back to front.
    Blended,
}

/// A material on the GPU.
#[derive(Debug, Clone)]
pub(super) struct GpuMaterial {
    pub(super) table: BindingTable,
    pub(super) coverage: Coverage,
    pub(super) double_sided: bool,
    /// Lets light through, so it casts no shadow.
    pub(super) translucent: bool,
}

/// Creates textures and samplers once each.
struct TextureStore<'a, 'u> {
    device: &'a Device,
    uploader: &'a mut Uploader<'u>,
    scene: &'a Scene,
    anisotropy: u32,
    views: HashMap<(usize, ColorSpace), TextureReadView>,
    samplers: HashMap<scene::Sampler, Sampler>,
    white: TextureReadView,
    plain: Sampler,
}

impl TextureStore<'_, '_> {
    fn view(&mut self, image: usize, space: ColorSpace) -> Result<TextureReadView, RenderError> {
        if let Some(view) = self.views.get(&(image, space)) {
            return Ok(view.clone());
        }
        let data = &self.scene.images[image];
        let format = match space {
            ColorSpace::Srgb => Format::Rgba8UnormSrgb,
            ColorSpace::Linear => Format::Rgba8Unorm,
        };
        let view = texture(self.device, self.uploader, data, format)?;
        self.views.insert((image, space), view.clone());
        Ok(view)
    }

    fn sampler(&mut self, desc: scene::Sampler) -> Result<Sampler, RenderError> {
        if let Some(sampler) = self.samplers.get(&desc) {
            return Ok(sampler.clone());
        }
        let sampler = sampler(self.device, &desc, self.anisotropy)?;
        self.samplers.insert(desc, sampler.clone());
        Ok(sampler)
    }

    fn slot(&mut self, slot: Option<TextureSlot>) -> Result<(TextureReadView, Sampler), RenderError> {
        let Some(slot) = slot else { return Ok((self.white.clone(), self.plain.clone())) };
        let texture = self.scene.textures[slot.texture];
        Ok((self.view(texture.image, texture.color_space)?, self.sampler(texture.sampler)?))
    }
}

fn texture(
    device: &Device,
    uploader: &mut Uploader<'_>,
    image: &scene::Image,
    format: Format,
) -> Result<TextureReadView, RenderError> {
    let extent = Extent::d2(image.width, image.height);
    let mips =
        if image.generate_mips && device.format_support(format).linear_mips { extent.max_mips(false) } else { 1 };
    let copied = if mips > 1 { TextureUsage::COPY_SOURCE } else { TextureUsage::empty() };
    let texture = device.create_texture(&TextureDesc {
        label: &image.name,
        format,
        extent,
        mips,
        usage: TextureUsage::SHADER_READ | TextureUsage::COPY_DESTINATION | copied,
        ..TextureDesc::default()
    })?;
    uploader.texture(&texture, &image.rgba8)?;
    Ok(texture.read_view(&ViewDesc::default())?)
}

fn sampler(device: &Device, desc: &scene::Sampler, anisotropy: u32) -> Result<Sampler, RenderError> {
    let filter = |f| match f {
        scene::Filter::Nearest => Filter::Nearest,
        scene::Filter::Linear => Filter::Linear,
    };
    let wrap = |w| match w {
        scene::Wrap::Repeat => AddressMode::Repeat,
        scene::Wrap::MirroredRepeat => AddressMode::MirrorRepeat,
        scene::Wrap::ClampToEdge => AddressMode::ClampToEdge,
    };
    let smooth =
        [desc.min, desc.mag].iter().all(|f| *f == scene::Filter::Linear) && desc.mip == Some(scene::Filter::Linear);
    Ok(device.create_sampler(&SamplerDesc {
        label: "material sampler",
        min: filter(desc.min),
        mag: filter(desc.mag),
        mip: desc.mip.map_or(Filter::Nearest, filter),
        address: [wrap(desc.wrap_u), wrap(desc.wrap_v), AddressMode::Repeat],
        // Only level 0, yet still telling minification from magnification (Vulkan, "Mapping of OpenGL to Vulkan
        // filter modes").
        lod_max: if desc.mip.is_some() { 1000.0 } else { 0.25 },
        anisotropy: if smooth { anisotropy.clamp(1, device.limits().max_anisotropy) } else { 1 },
        ..SamplerDesc::default()
    })?)
}

/// A store with its fallback: a white texel.
fn store<'a, 'u>(
    device: &'a Device,
    uploader: &'a mut Uploader<'u>,
    scene: &'a Scene,
    anisotropy: u32,
) -> Result<TextureStore<'a, 'u>, RenderError> {
    let white = scene::Image {
        name: "white".to_owned(),
        width: 1,
        height: 1,
        rgba8: vec![255; 4],
        generate_mips: false,
        used_as_srgb: false,
        used_as_linear: true,
    };
    let white = texture(device, uploader, &white, Format::Rgba8Unorm)?;
    let plain = sampler(device, &scene::Sampler::default(), 1)?;
    let (views, samplers) = (HashMap::new(), HashMap::new());
    Ok(TextureStore { device, uploader, scene, anisotropy, views, samplers, white, plain })
}

/// Uploads all materials of a scene and what they use.
pub(super) fn upload(
    device: &Device,
    uploader: &mut Uploader<'_>,
    layout: &TableLayout,
    scene: &Scene,
    anisotropy: u32,
) -> Result<Vec<GpuMaterial>, RenderError> {
    let (constants, stride) = constants(device, uploader, scene)?;
    let mut store = store(device, uploader, scene, anisotropy)?;
    let size = size_of::<MaterialData>() as u64;
    let mut out = Vec::with_capacity(scene.materials.len());
    for (i, material) in scene.materials.iter().enumerate() {
        let data = constants.constant_view(BufferRange::new(i as u64 * stride, size))?;
        let mut slots = Vec::with_capacity(SLOTS);
        for slot in slots_of(material) {
            slots.push(store.slot(slot)?);
        }
        let translucent = material.transmission.is_some_and(|t| t.factor > 0.0);
        let coverage = match material.alpha_mode {
            AlphaMode::Opaque if translucent => Coverage::Blended,
            AlphaMode::Opaque => Coverage::Opaque,
            AlphaMode::Mask { .. } => Coverage::Masked,
            AlphaMode::Blend => Coverage::Blended,
        };
        let table = table(device, layout, &material.name, &data, &slots)?;
        out.push(GpuMaterial { table, coverage, double_sided: material.double_sided, translucent });
    }
    Ok(out)
}

fn constants(device: &Device, uploader: &mut Uploader<'_>, scene: &Scene) -> Result<(Buffer, u64), RenderError> {
    let stride = size_of::<MaterialData>().next_multiple_of(device.limits().uniform_alignment_bytes.max(1) as usize);
    let mut bytes = vec![0; stride * scene.materials.len()];
    for (chunk, material) in bytes.chunks_exact_mut(stride).zip(&scene.materials) {
        chunk[..size_of::<MaterialData>()].copy_from_slice(bytemuck::bytes_of(&MaterialData::new(material)));
    }
    Ok((uploader.create_buffer("materials", BufferUsage::CONSTANT, &bytes)?, stride as u64))
}

fn table(
    device: &Device,
    layout: &TableLayout,
    name: &str,
    data: &ConstantBufferView,
    slots: &[(TextureReadView, Sampler)],
) -> Result<BindingTable, RenderError> {
    let mut writes = vec![TableWrite::new(0, Binding::Constant(data))];
    for (i, (view, sampler)) in slots.iter().enumerate() {
        writes.push(TableWrite::new(1 + i as u32, Binding::Texture(view)));
        writes.push(TableWrite::new(1 + (SLOTS + i) as u32, Binding::Sampler(sampler)));
    }
    Ok(device.create_table(&TableDesc { label: name, layout, writes: &writes })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shader_sees_the_same_layout() {
        // Sizes and offsets as WGSL computes them for material.wgsl.
        assert_eq!(size_of::<SlotData>(), 32);
        assert_eq!(size_of::<MaterialData>(), 96 + SLOTS * 32);
        assert_eq!(std::mem::offset_of!(MaterialData, anisotropy), 64);
        assert_eq!(std::mem::offset_of!(MaterialData, flags), 80);
        assert_eq!(std::mem::offset_of!(MaterialData, slots), 96);
    }

    #[test]
    fn glass_is_f0_of_four_percent() {
        let data = MaterialData::new(&Material::default());
        assert!((data.dielectric_f0 - 0.04).abs() < 1e-6);
        assert_eq!(data.flags, 0);
    }
}
