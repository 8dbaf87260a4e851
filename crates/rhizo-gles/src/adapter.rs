//! What the context says about itself: name, limits, formats by trial.

mod report;

pub(crate) use report::capabilities;

use crate::convert;
use crate::quirks;
use glow::HasContext;
use rhizo_rhi::{
    AdapterIdentity, AdapterInfo, DeviceLimits, Error, ErrorKind, Format, FormatClass, FormatSupport, QueueKind, Result,
};

/// What is asked once and then never again.
#[derive(Clone)]
pub(crate) struct Facts {
    pub(crate) info: AdapterInfo,
    pub(crate) limits: DeviceLimits,
    /// Version of the context, at least 3.0.
    pub(crate) version: (u32, u32),
    /// KHR_debug: groups, names, messages.
    pub(crate) debug: bool,
    /// In the order of [`Format::all`].
    formats: Vec<(FormatSupport, bool)>,
}

impl Facts {
    /// Asks the context that is current on this thread.
    pub(crate) fn read(gl: &glow::Context) -> Result<Self> {
        let version = gl.version();
        let version_number = (version.major, version.minor);
        if !version.is_embedded || version_number < (3, 0) {
            return Err(Error::new(ErrorKind::Unavailable, format!("OpenGL ES 3.0 is needed, this is {version:?}")));
        }
        let extensions = gl.supported_extensions();
        let has = |name: &str| extensions.contains(name);
        let formats = Format::all().iter().map(|row| probe(gl, row.format, &has)).collect();
        Ok(Self {
            info: info(gl),
            limits: limits(gl, has("GL_EXT_texture_filter_anisotropic")),
            version: version_number,
            debug: has("GL_KHR_debug") || version_number >= (3, 2),
            formats,
        })
    }

    pub(crate) fn format(&self, format: Format) -> FormatSupport {
        self.formats[format as usize].0
    }

    /// Whether `glReadPixels` gives the format's own bytes.
    pub(crate) fn readable(&self, format: Format) -> bool {
        self.formats[format as usize].1
    }
}

fn info(gl: &glow::Context) -> AdapterInfo {
    // SAFETY: the context is current on this thread; these names are in every version.
    let text = |name| unsafe { gl.get_parameter_string(name) };
    let (name, version) = (text(glow::RENDERER), text(glow::VERSION));
    AdapterInfo {
        kind: quirks::adapter_kind(&name),
        // OpenGL ES 3.0 reports no ids: 0 is "not known", and two such identities never match.
        identity: AdapterIdentity::default(),
        driver: format!("{}, {version}", text(glow::VENDOR)),
        api: version.split(' ').take(3).collect::<Vec<_>>().join(" "),
        queues: vec![(QueueKind::Graphics, 1)],
        unusable: None,
        name,
    }
}

fn limits(gl: &glow::Context, anisotropic: bool) -> DeviceLimits {
    // SAFETY: the context is current on this thread; these names are in ES 3.0, the last with its extension.
    let get = |name| u32::try_from(unsafe { gl.get_parameter_i32(name) }).unwrap_or(0);
    DeviceLimits {
        uniform_alignment_bytes: get(glow::UNIFORM_BUFFER_OFFSET_ALIGNMENT).max(16),
        storage_alignment_bytes: 256,
        texture_copy_alignment_bytes: 4,
        row_alignment_bytes: 1,
        max_samples: 1,
        max_bound_textures: get(glow::MAX_TEXTURE_IMAGE_UNITS),
        min_subgroup_size: 1,
        max_subgroup_size: 1,
        max_compute_threads: 0,
        max_compute_group: [0; 3],
        max_dispatch: [0; 3],
        max_group_shared_bytes: 0,
        max_vertex_bindings: get(glow::MAX_VERTEX_ATTRIBS).min(32),
        max_color_attachments: get(glow::MAX_COLOR_ATTACHMENTS).min(get(glow::MAX_DRAW_BUFFERS)),
        max_texture_2d: get(glow::MAX_TEXTURE_SIZE),
        max_texture_cube: get(glow::MAX_CUBE_MAP_TEXTURE_SIZE),
        max_texture_3d: get(glow::MAX_3D_TEXTURE_SIZE),
        max_texture_layers: get(glow::MAX_ARRAY_TEXTURE_LAYERS),
        max_push_constant_bytes: crate::encoder::PUSH_BYTES as u32,
        max_tables: rhizo_rhi::MAX_TABLES as u32,
        max_viewports: 1,
        max_constant_range_bytes: u64::from(get(glow::MAX_UNIFORM_BLOCK_SIZE)),
        max_storage_range_bytes: 0,
        // GL's sizes are signed; 16 bytes stay free for rounding constant ranges up.
        max_buffer_bytes: i32::MAX as u64 - 16,
        max_anisotropy: if anisotropic { get(glow::MAX_TEXTURE_MAX_ANISOTROPY_EXT).max(1) } else { 1 },
    }
}

/// Tries a format: creates a texture, attaches it, asks in which form it is read.
fn probe(gl: &glow::Context, format: Format, has: &dyn Fn(&str) -> bool) -> (FormatSupport, bool) {
    let Some(native) = convert::format(format) else { return (FormatSupport::default(), false) };
    let depth = format.is_depth_stencil();
    // SAFETY: the context is current on this thread; both objects are made and deleted here.
    let (sampled, renderable, read) = unsafe {
        let (Ok(texture), Ok(framebuffer)) = (gl.create_texture(), gl.create_framebuffer()) else {
            return (FormatSupport::default(), false);
        };
        gl.bind_texture(glow::TEXTURE_2D, Some(texture));
        gl.tex_storage_2d(glow::TEXTURE_2D, 1, native.internal, 4, 4);
        let sampled = gl.get_error() == glow::NO_ERROR;
        gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
        let point = crate::texture::attachment_point(format, 0);
        gl.framebuffer_texture_2d(glow::FRAMEBUFFER, point, glow::TEXTURE_2D, Some(texture), 0);
        let complete = gl.check_framebuffer_status(glow::FRAMEBUFFER) == glow::FRAMEBUFFER_COMPLETE;
        let renderable = sampled && complete;
        let get = |name| gl.get_parameter_i32(name) as u32;
        let read = (renderable && !depth)
            .then(|| (get(glow::IMPLEMENTATION_COLOR_READ_FORMAT), get(glow::IMPLEMENTATION_COLOR_READ_TYPE)));
        gl.delete_framebuffer(framebuffer);
        gl.delete_texture(texture);
        let _ = crate::device::drain(gl); // of the trial itself
        (sampled, renderable, read)
    };
    let own = (native.format, native.ty);
    let universal = match format.info().class {
        FormatClass::Unorm => (glow::RGBA, glow::UNSIGNED_BYTE),
        FormatClass::Float | FormatClass::Snorm => (glow::RGBA, glow::FLOAT),
        FormatClass::Uint => (glow::RGBA_INTEGER, glow::UNSIGNED_INT),
        FormatClass::Sint => (glow::RGBA_INTEGER, glow::INT),
        FormatClass::Depth => (0, 0),
    };
    let readable = read.is_some_and(|read| own == universal || own == read);
    (support(format, native.ty, sampled, renderable, has), readable)
}

fn support(format: Format, ty: u32, sampled: bool, renderable: bool, has: &dyn Fn(&str) -> bool) -> FormatSupport {
    let class = format.info().class;
    let integer = matches!(class, FormatClass::Uint | FormatClass::Sint);
    let depth = format.is_depth_stencil();
    let wide = ty == glow::FLOAT && !depth;
    FormatSupport {
        sampled,
        filterable: sampled && !integer && !depth && (!wide || has("GL_OES_texture_float_linear")),
        renderable,
        blendable: renderable && !integer && !depth && (!wide || has("GL_EXT_float_blend")),
        copy: sampled && !depth,
        sample_mask: 1,
        ..FormatSupport::default()
    }
}
