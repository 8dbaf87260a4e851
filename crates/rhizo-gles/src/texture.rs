//! Textures and views: single-sampled 2D ones in this slice.

use crate::convert::{self, GlFormat};
use crate::device::{State, check, find, translated, unsupported};
use glow::HasContext;
use rhizo_rhi::backend::{Native, NativeView, TextureRef};
use rhizo_rhi::{
    Aspects, Error, ErrorKind, Extent, Format, Result, StorageMode, TextureDesc, TextureDimension, TextureUsage,
    ViewDimension, ViewKind,
};

/// A texture to be made, or with its name one that is.
pub(crate) struct Texture {
    name: Option<glow::Texture>,
    pub(crate) gl: GlFormat,
    extent: Extent,
    mips: u32,
    bytes: u64,
}

impl Texture {
    pub(crate) fn name(&self) -> Option<glow::Texture> {
        self.name
    }
}

/// A view: the texture with a range of levels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) texture: Option<glow::Texture>,
    pub(crate) base_mip: u32,
    mip_count: u32,
    swizzle: [u32; 4],
}

/// Where a format is attached: a colour slot, or by its aspects.
pub(crate) const fn attachment_point(format: Format, slot: u32) -> u32 {
    let aspects = format.aspects();
    if aspects.contains(Aspects::DEPTH_STENCIL) {
        glow::DEPTH_STENCIL_ATTACHMENT
    } else if aspects.contains(Aspects::DEPTH) {
        glow::DEPTH_ATTACHMENT
    } else if aspects.contains(Aspects::STENCIL) {
        glow::STENCIL_ATTACHMENT
    } else {
        glow::COLOR_ATTACHMENT0 + slot
    }
}

/// Checks what this backend does not do, before any GL call.
pub(crate) fn plan(desc: &TextureDesc<'_>, readable: bool) -> Result<Texture> {
    let no = |what: &str, why: &str| Err(unsupported(what, why).on(desc.label));
    if desc.dimension != TextureDimension::D2 || desc.extent.z != 1 {
        return no(
            "1D, 3D, cube and array textures",
            "the OpenGL ES backend translates single 2D textures only so far",
        );
    }
    if desc.usage.contains(TextureUsage::SHADER_WRITE) {
        return no("a storage texture", "storage textures need OpenGL ES 3.1");
    }
    if desc.samples > 1 {
        return no("a multisampled texture", "the OpenGL ES backend does not translate multisampling yet");
    }
    if desc.storage == StorageMode::Memoryless {
        return no("a memoryless texture", "OpenGL ES has no such memory; its drivers decide");
    }
    if !desc.view_formats.is_empty() {
        return no("views in another format", "OpenGL ES 3.0 textures have one format");
    }
    if desc.usage.contains(TextureUsage::COPY_SOURCE) && !readable {
        return no(
            &format!("{} as source of copies", desc.format),
            "glReadPixels gives this format in another form here",
        );
    }
    let gl = translated(desc.format).map_err(|e| e.on(desc.label))?;
    let level = |mip| {
        let e = desc.extent.mip(mip, false);
        desc.format.row_bytes(e.x) * u64::from(desc.format.rows(e.y))
    };
    let bytes = (0..desc.mips).map(level).sum();
    Ok(Texture { name: None, gl, extent: desc.extent, mips: desc.mips, bytes })
}

pub(crate) fn create(state: &mut State, label: &str, mut texture: Texture) -> Result<Native> {
    let gl = &state.context.gl;
    let nearest = glow::NEAREST as i32;
    // SAFETY: the context is current on this thread; sizes are inside its limits, by the contract.
    let name = unsafe {
        let name = gl.create_texture().map_err(|e| Error::new(ErrorKind::Native, e).on(label))?;
        gl.active_texture(glow::TEXTURE0);
        gl.bind_texture(glow::TEXTURE_2D, Some(name));
        let (width, height) = (texture.extent.x as i32, texture.extent.y as i32);
        gl.tex_storage_2d(glow::TEXTURE_2D, texture.mips as i32, texture.gl.internal, width, height);
        // For texel loads without a sampler: linear filtering would make integer textures incomplete.
        gl.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MIN_FILTER, glow::NEAREST_MIPMAP_NEAREST as i32);
        gl.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MAG_FILTER, nearest);
        name
    };
    texture.name = Some(name);
    if let Err(error) = check(gl, "creating a texture") {
        destroy(gl, &texture);
        return Err(error.on(label));
    }
    state.label(glow::TEXTURE, name.0, label);
    let (word, aux) = (state.word(), texture.bytes);
    state.textures.insert(word, texture);
    Ok(Native { word, aux })
}

pub(crate) fn destroy(gl: &glow::Context, texture: &Texture) {
    if let Some(name) = texture.name {
        // SAFETY: the context is current on this thread; the caller says nothing uses the texture any more.
        unsafe { gl.delete_texture(name) };
    }
}

/// Checks a view before any GL call.
pub(crate) fn plan_view(texture: TextureRef, desc: &NativeView<'_>) -> Result<View> {
    let no = |what: &str, why: &str| Err(unsupported(what, why).on(desc.label));
    if desc.format != texture.format {
        return no(&format!("a {} view of {}", desc.format, texture.format), "OpenGL ES 3.0 textures have one format");
    }
    if desc.dimension != ViewDimension::D2 {
        return no(&format!("a {:?} view", desc.dimension), "the OpenGL ES backend translates 2D views only so far");
    }
    if desc.kind == ViewKind::Read && desc.range.aspects == Aspects::STENCIL {
        return no("a stencil view", "sampling stencil needs OpenGL ES 3.1");
    }
    Ok(View {
        texture: None,
        base_mip: desc.range.base_mip,
        mip_count: desc.range.mip_count,
        swizzle: desc.swizzle.map(convert::component),
    })
}

pub(crate) fn create_view(state: &mut State, texture: u64, view: View) -> Result<Native> {
    let texture = find(&state.textures, texture)?.name;
    let word = state.word();
    state.views.insert(word, View { texture, ..view });
    Ok(Native { word, aux: 0 })
}

/// Levels and components belong to the texture in GL, so one draw sees each texture through one view.
pub(crate) fn check_together(views: &[View]) -> Result<()> {
    let clash = |(i, view): (usize, &View)| views[..i].iter().any(|v| v.texture == view.texture && v != view);
    if views.iter().enumerate().any(clash) {
        let why = "OpenGL ES 3.0 keeps levels and components in the texture, not in a view";
        return Err(unsupported("one texture bound through two different views", why));
    }
    Ok(())
}

/// Binds a view to a texture unit.
pub(crate) fn bind(gl: &glow::Context, unit: u32, view: &View) {
    let parameters = [
        (glow::TEXTURE_BASE_LEVEL, view.base_mip),
        (glow::TEXTURE_MAX_LEVEL, view.base_mip + view.mip_count - 1),
        (glow::TEXTURE_SWIZZLE_R, view.swizzle[0]),
        (glow::TEXTURE_SWIZZLE_G, view.swizzle[1]),
        (glow::TEXTURE_SWIZZLE_B, view.swizzle[2]),
        (glow::TEXTURE_SWIZZLE_A, view.swizzle[3]),
    ];
    // SAFETY: the context is current on this thread; the command buffer's epoch keeps the texture alive.
    unsafe {
        gl.active_texture(glow::TEXTURE0 + unit);
        gl.bind_texture(glow::TEXTURE_2D, view.texture);
        for (name, value) in parameters {
            gl.tex_parameter_i32(glow::TEXTURE_2D, name, value as i32);
        }
    }
}
