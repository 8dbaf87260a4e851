//! Materials, textures, samplers and the images they use.

use std::collections::HashMap;
use std::path::Path;

use glam::{Vec2, Vec3, Vec4};

use super::Notes;
use super::accessor::Data;
use super::error::{Reason, Result};
use super::image::{Encoded, decode};
use super::json::Json;
use super::limits::Budget;
use super::resource::{self, Fetched, refused};
use crate::scene::{
    AlphaMode, Anisotropy, Clearcoat, ColorSpace, Filter, Image, Material, Sampler, Texture, TextureSlot, Transmission,
    UvTransform, Wrap,
};

/// A texture of the file: an image (if it names one we can read) and a sampler.
struct FileTexture {
    source: Option<usize>,
    sampler: Sampler,
    name: String,
}

/// Reads materials and collects the textures they use.
pub(super) struct Materials<'n> {
    file_textures: Vec<FileTexture>,
    notes: &'n mut Notes,
    known: HashMap<Texture, usize>,
    /// Images are indices into the *file's* images until [`load_images`] renumbers them.
    pub textures: Vec<Texture>,
}

impl<'n> Materials<'n> {
    pub fn new(root: &Json, image_count: usize, notes: &'n mut Notes) -> Result<Self> {
        let samplers = root.objects("samplers")?.iter().map(sampler).collect::<Result<Vec<_>>>()?;
        let mut file_textures = Vec::new();
        for j in &root.objects("textures")? {
            let source = j.index("source", "image", image_count)?;
            let sampler = j.index("sampler", "sampler", samplers.len())?;
            file_textures.push(FileTexture {
                source,
                sampler: sampler.map(|i| samplers[i]).unwrap_or_default(),
                name: j.path.clone(),
            });
        }
        Ok(Self { file_textures, notes, known: HashMap::new(), textures: Vec::new() })
    }

    /// The texture info `key` of `j`, `None` when absent or when its texture has no image we can read.
    fn slot(&mut self, j: &Json, key: &str, color_space: ColorSpace) -> Result<Option<TextureSlot>> {
        let Some(info) = j.get(key)? else { return Ok(None) };
        let index = info.need("index")?.as_index("texture", self.file_textures.len())?;
        let mut uv_set = info.uint("texCoord")?.unwrap_or(0);
        let mut transform = UvTransform::IDENTITY;
        if let Some(ext) = info.extension("KHR_texture_transform")? {
            transform.offset = ext.floats("offset")?.map_or(Vec2::ZERO, Vec2::from);
            transform.rotation = ext.f32("rotation")?.unwrap_or(0.0);
            transform.scale = ext.floats("scale")?.map_or(Vec2::ONE, Vec2::from);
            uv_set = ext.uint("texCoord")?.unwrap_or(uv_set);
        }
        let file_texture = &self.file_textures[index];
        let Some(image) = file_texture.source else {
            self.notes.add(format!("{} has no PNG, JPEG or KTX2 image; it is left out", file_texture.name));
            return Ok(None);
        };
        let Some(uv_set) = u32::try_from(uv_set).ok().filter(|set| *set < 2) else {
            self.notes.add(format!("{} uses texture coordinate set {uv_set}; only 0 and 1 are read", info.path));
            return Ok(None);
        };
        let texture = Texture { image, sampler: file_texture.sampler, color_space };
        let next = self.textures.len();
        let texture = *self.known.entry(texture).or_insert(next);
        if texture == next {
            self.textures.push(Texture { image, sampler: file_texture.sampler, color_space });
        }
        Ok(Some(TextureSlot { texture, uv_set, transform }))
    }

    pub fn read(&mut self, j: &Json) -> Result<Material> {
        let mut m = Material { name: j.name()?, ..Material::default() };
        if let Some(pbr) = j.get("pbrMetallicRoughness")? {
            m.base_color = color4(&pbr, "baseColorFactor")?;
            m.metallic = pbr.unit("metallicFactor", 1.0)?;
            m.roughness = pbr.unit("roughnessFactor", 1.0)?;
            m.base_color_texture = self.slot(&pbr, "baseColorTexture", ColorSpace::Srgb)?;
            m.metallic_roughness_texture = self.slot(&pbr, "metallicRoughnessTexture", ColorSpace::Linear)?;
        }
        if let Some(info) = j.get("normalTexture")? {
            m.normal_scale = info.f32("scale")?.unwrap_or(1.0);
            m.normal_texture = self.slot(j, "normalTexture", ColorSpace::Linear)?;
        }
        if let Some(info) = j.get("occlusionTexture")? {
            m.occlusion_strength = info.unit("strength", 1.0)?;
            m.occlusion_texture = self.slot(j, "occlusionTexture", ColorSpace::Linear)?;
        }
        m.emissive_texture = self.slot(j, "emissiveTexture", ColorSpace::Srgb)?;
        m.emissive = color3(j, "emissiveFactor", Vec3::ZERO)?;
        if let Some(ext) = j.extension("KHR_materials_emissive_strength")? {
            m.emissive *= ext.f32_at_least("emissiveStrength", 0.0, 1.0)?;
        }
        m.double_sided = j.bool("doubleSided")?.unwrap_or(false);
        m.alpha_mode = alpha_mode(j)?;
        m.unlit = j.extension("KHR_materials_unlit")?.is_some();
        self.read_extensions(j, &mut m)?;
        Ok(m)
    }

    fn read_extensions(&mut self, j: &Json, m: &mut Material) -> Result<()> {
        if let Some(ext) = j.extension("KHR_materials_ior")? {
            m.ior = ext.f32_at_least("ior", 0.0, 1.5)?;
        }
        if let Some(ext) = j.extension("KHR_materials_clearcoat")? {
            let normal = ext.get("clearcoatNormalTexture")?;
            m.clearcoat = Some(Clearcoat {
                factor: ext.unit("clearcoatFactor", 0.0)?,
                texture: self.slot(&ext, "clearcoatTexture", ColorSpace::Linear)?,
                roughness: ext.unit("clearcoatRoughnessFactor", 0.0)?,
                roughness_texture: self.slot(&ext, "clearcoatRoughnessTexture", ColorSpace::Linear)?,
                normal_texture: self.slot(&ext, "clearcoatNormalTexture", ColorSpace::Linear)?,
                normal_scale: normal.map(|n| n.f32("scale")).transpose()?.flatten().unwrap_or(1.0),
            });
        }
        if let Some(ext) = j.extension("KHR_materials_anisotropy")? {
            m.anisotropy = Some(Anisotropy {
                strength: ext.unit("anisotropyStrength", 0.0)?,
                rotation: ext.f32("anisotropyRotation")?.unwrap_or(0.0),
                texture: self.slot(&ext, "anisotropyTexture", ColorSpace::Linear)?,
            });
        }
        if let Some(ext) = j.extension("KHR_materials_transmission")? {
            let mut t = Transmission {
                factor: ext.unit("transmissionFactor", 0.0)?,
                texture: self.slot(&ext, "transmissionTexture", ColorSpace::Linear)?,
                thickness: 0.0,
                thickness_texture: None,
                attenuation_distance: f32::INFINITY,
                attenuation_color: Vec3::ONE,
            };
            if let Some(volume) = j.extension("KHR_materials_volume")? {
                t.thickness = volume.f32_at_least("thicknessFactor", 0.0, 0.0)?;
                t.thickness_texture = self.slot(&volume, "thicknessTexture", ColorSpace::Linear)?;
                t.attenuation_distance = volume.f32_at_least("attenuationDistance", 0.0, f32::INFINITY)?;
                t.attenuation_color = color3(&volume, "attenuationColor", Vec3::ONE)?;
            }
            m.transmission = Some(t);
        }
        Ok(())
    }
}

fn color3(j: &Json, key: &str, default: Vec3) -> Result<Vec3> {
    Ok(j.floats::<3>(key)?.map_or(default, |c| Vec3::from(c).max(Vec3::ZERO)))
}

fn color4(j: &Json, key: &str) -> Result<Vec4> {
    Ok(j.floats::<4>(key)?.map_or(Vec4::ONE, |c| Vec4::from(c).max(Vec4::ZERO)))
}

fn alpha_mode(j: &Json) -> Result<AlphaMode> {
    let cutoff = j.f32_at_least("alphaCutoff", 0.0, 0.5)?;
    Ok(match j.str("alphaMode")? {
        None | Some("OPAQUE") => AlphaMode::Opaque,
        Some("MASK") => AlphaMode::Mask { cutoff },
        Some("BLEND") => AlphaMode::Blend,
        Some(other) => return Err(j.need("alphaMode")?.invalid(format!("unknown alpha mode {other:?}"))),
    })
}

fn sampler(j: &Json) -> Result<Sampler> {
    let mut s = Sampler::default();
    let unknown = |key: &'static str| -> Result<Sampler> { Err(j.need(key)?.invalid("unknown filter or wrap mode")) };
    s.mag = match j.uint("magFilter")? {
        None | Some(9729) => Filter::Linear,
        Some(9728) => Filter::Nearest,
        Some(_) => return unknown("magFilter"),
    };
    (s.min, s.mip) = match j.uint("minFilter")? {
        Some(9728) => (Filter::Nearest, None),
        Some(9729) => (Filter::Linear, None),
        Some(9984) => (Filter::Nearest, Some(Filter::Nearest)),
        Some(9985) => (Filter::Linear, Some(Filter::Nearest)),
        Some(9986) => (Filter::Nearest, Some(Filter::Linear)),
        None | Some(9987) => (Filter::Linear, Some(Filter::Linear)),
        Some(_) => return unknown("minFilter"),
    };
    let wrap = |key: &'static str| -> Result<Wrap> {
        Ok(match j.uint(key)? {
            None | Some(10497) => Wrap::Repeat,
            Some(33648) => Wrap::MirroredRepeat,
            Some(33071) => Wrap::ClampToEdge,
            Some(_) => return Err(j.need(key)?.invalid("unknown filter or wrap mode")),
        })
    };
    s.wrap_u = wrap("wrapS")?;
    s.wrap_v = wrap("wrapT")?;
    Ok(s)
}

/// Decodes the images that `textures` use and renumbers the textures' images accordingly.
pub(super) fn load_images(
    files: &[Json],
    textures: &mut [Texture],
    data: &Data,
    folder: Option<&Path>,
    budget: &mut Budget,
) -> Result<Vec<Image>> {
    let mut images = Vec::new();
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    for texture in textures {
        let number = match numbers.get(&texture.image) {
            Some(number) => *number,
            None => {
                images.push(load_image(&files[texture.image], data, folder, budget)?);
                numbers.insert(texture.image, images.len() - 1);
                images.len() - 1
            }
        };
        texture.image = number;
        match texture.color_space {
            ColorSpace::Srgb => images[number].used_as_srgb = true,
            ColorSpace::Linear => images[number].used_as_linear = true,
        }
    }
    Ok(images)
}

fn load_image(j: &Json, data: &Data, folder: Option<&Path>, budget: &mut Budget) -> Result<Image> {
    let name = j.name()?;
    if let Some(uri) = j.get("uri")? {
        return match resource::fetch(uri.as_str()?, &uri.path, folder, budget)? {
            Fetched::Data(found) => {
                let image = decode(&Encoded { bytes: &found.bytes, name: &found.name, path: &uri.path }, budget)?;
                // The encoded file is gone; the decoded image stays.
                budget.release_bytes(found.bytes.len() as u64);
                Ok(image)
            }
            Fetched::Remote => Err(refused(&uri.path, uri.as_str()?, "only files and data URIs are read")),
        };
    }
    let Some(view) = j.index("bufferView", "buffer view", data.view_count())? else {
        return Err(j.fault(Reason::Missing("uri")));
    };
    let name = if name.is_empty() { j.path.clone() } else { name };
    decode(&Encoded { bytes: data.view_bytes(view, &j.path)?, name: &name, path: &j.path }, budget)
}
