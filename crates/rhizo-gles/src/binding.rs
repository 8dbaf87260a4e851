//! Samplers and tables: a table is a list of what is bound.

use crate::buffer;
use crate::convert;
use crate::device::{State, check, unsupported};
use glow::HasContext;
use rhizo_rhi::backend::{Native, NativeBinding, NativeWrite};
use rhizo_rhi::{BindingKind, Error, ErrorKind, Result, SamplerDesc, TableLayoutDesc};
use std::num::NonZeroU32;

pub(crate) fn refuse_sampler(desc: &SamplerDesc<'_>) -> Result<()> {
    if desc.lod_bias != 0.0 {
        return Err(unsupported("a bias of the level of detail", "OpenGL ES samplers have none").on(desc.label));
    }
    Ok(())
}

pub(crate) fn create_sampler(state: &State, label: &str, desc: &SamplerDesc<'_>) -> Result<Native> {
    let gl = &state.context.gl;
    let mut integers = vec![
        (glow::TEXTURE_MIN_FILTER, convert::min_filter(desc.min, desc.mip)),
        (glow::TEXTURE_MAG_FILTER, convert::mag_filter(desc.mag)),
        (glow::TEXTURE_WRAP_S, convert::address(desc.address[0])),
        (glow::TEXTURE_WRAP_T, convert::address(desc.address[1])),
        (glow::TEXTURE_WRAP_R, convert::address(desc.address[2])),
    ];
    if let Some(op) = desc.comparison {
        integers.push((glow::TEXTURE_COMPARE_MODE, glow::COMPARE_REF_TO_TEXTURE));
        integers.push((glow::TEXTURE_COMPARE_FUNC, convert::compare(op)));
    }
    let mut floats = vec![(glow::TEXTURE_MIN_LOD, desc.lod_min), (glow::TEXTURE_MAX_LOD, desc.lod_max)];
    if desc.anisotropy > 1 {
        floats.push((glow::TEXTURE_MAX_ANISOTROPY_EXT, desc.anisotropy as f32)); // the limit is 1 without the extension
    }
    // SAFETY: the context is current on this thread; all values are translated ones.
    let made = unsafe {
        let made = gl.create_sampler().map_err(|e| Error::new(ErrorKind::Native, e).on(label))?;
        for (name, value) in integers {
            gl.sampler_parameter_i32(made, name, value as i32);
        }
        for (name, value) in floats {
            gl.sampler_parameter_f32(made, name, value);
        }
        made
    };
    check(gl, "creating a sampler").map_err(|e| e.on(label))?;
    state.label(glow::SAMPLER, made.0, label);
    Ok(Native { word: u64::from(made.0.get()), aux: 0 })
}

fn sampler(word: u64) -> Option<glow::Sampler> {
    u32::try_from(word).ok().and_then(NonZeroU32::new).map(glow::NativeSampler)
}

pub(crate) fn destroy_sampler(gl: &glow::Context, word: u64) {
    if let Some(sampler) = sampler(word) {
        // SAFETY: the context is current on this thread; the caller says nothing uses the sampler any more.
        unsafe { gl.delete_sampler(sampler) };
    }
}

pub(crate) fn refuse_layout(desc: &TableLayoutDesc<'_>) -> Result<()> {
    for entry in desc.entries {
        let slot = format!("slot {} (\"{}\")", entry.slot, entry.name);
        let why = match entry.kind {
            BindingKind::BufferRead | BindingKind::BufferWrite | BindingKind::StorageTexture { .. } => {
                "storage buffers and textures need OpenGL ES 3.1"
            }
            BindingKind::Texture { multisampled: true, .. } => "multisampled textures need OpenGL ES 3.1",
            _ if entry.count > 1 => "OpenGL ES cannot index arrays of bindings freely",
            BindingKind::Constant { .. } | BindingKind::Texture { .. } | BindingKind::Sampler { .. } => continue,
        };
        return Err(unsupported(&slot, why).on(desc.label));
    }
    Ok(())
}

/// What a table binds, by slot.
pub(crate) struct Table {
    writes: Vec<NativeWrite>,
}

impl Table {
    pub(crate) fn new(writes: &[NativeWrite]) -> Self {
        Self { writes: writes.to_vec() }
    }

    /// The words of all views.
    pub(crate) fn views(&self) -> impl Iterator<Item = u64> + '_ {
        self.writes.iter().filter_map(|w| match w.resource {
            NativeBinding::View { view, .. } => Some(view.word),
            NativeBinding::Buffer { .. } | NativeBinding::Sampler(_) => None,
        })
    }

    fn position(&self, slot: u32) -> Option<usize> {
        self.writes.iter().position(|w| w.slot == slot)
    }

    fn dynamic(write: &NativeWrite) -> bool {
        matches!(write.kind, BindingKind::Constant { dynamic: true })
    }

    /// Number of dynamic offsets it takes.
    pub(crate) fn dynamic_count(&self) -> usize {
        self.writes.iter().filter(|w| Self::dynamic(w)).count()
    }

    /// Binds the constant range of a slot to a block's point.
    pub(crate) fn bind_constant(&self, gl: &glow::Context, slot: u32, offsets: &[u32], point: u32) -> Result<()> {
        let at = self.position(slot).ok_or_else(missing)?;
        let NativeBinding::Buffer { buffer, offset, size } = self.writes[at].resource else { return Err(missing()) };
        let before = self.writes[..at].iter().filter(|w| Self::dynamic(w)).count();
        let moved = if Self::dynamic(&self.writes[at]) { offsets.get(before).copied().unwrap_or(0) } else { 0 };
        let name = buffer::name(buffer.word)?;
        // Blocks are whole multiples of 16 bytes; the buffer was made large enough for that.
        let size = size.next_multiple_of(buffer::BLOCK_BYTES);
        let first = offset + u64::from(moved);
        // SAFETY: the context is current on this thread; the contract checked range and alignment.
        unsafe { gl.bind_buffer_range(glow::UNIFORM_BUFFER, point, Some(name), first as i32, size as i32) };
        Ok(())
    }

    /// The word of the view in a slot.
    pub(crate) fn view(&self, slot: u32) -> Result<u64> {
        match self.position(slot).map(|at| self.writes[at].resource) {
            Some(NativeBinding::View { view, .. }) => Ok(view.word),
            _ => Err(missing()),
        }
    }

    /// The sampler in a slot.
    pub(crate) fn sampler(&self, slot: u32) -> Result<Option<glow::Sampler>> {
        match self.position(slot).map(|at| self.writes[at].resource) {
            Some(NativeBinding::Sampler(object)) => Ok(sampler(object.word)),
            _ => Err(missing()),
        }
    }
}

fn missing() -> Error {
    Error::new(ErrorKind::InvalidState, "a table lacks a slot that its layout has")
}
