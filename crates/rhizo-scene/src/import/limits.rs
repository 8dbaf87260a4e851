//! Bounds on what one file may make us allocate.

use super::error::{Fault, Reason, Result};

/// Bounds on what one file may make the importer allocate or compute. Every one is checked before the allocation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes allocated for file, buffers, decoded images and vertex data together, counted up over the import.
    pub max_total_bytes: u64,
    /// Values in the JSON document (each costs some tens of bytes once parsed).
    pub max_json_values: u64,
    /// Texels of one image.
    pub max_image_pixels: u64,
    /// Texels along one edge of an image.
    pub max_image_edge: u32,
    /// Vertices of all meshes after expansion, and, separately, indices.
    pub max_vertices: u64,
    /// Nodes of the file.
    pub max_nodes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_total_bytes: 4 << 30,
            max_json_values: 8 << 20,
            max_image_pixels: 1 << 28,
            max_image_edge: 16384,
            max_vertices: 1 << 27,
            max_nodes: 1 << 20,
        }
    }
}

/// What has been spent of the limits.
pub(super) struct Budget<'l> {
    pub limits: &'l Limits,
    bytes: u64,
    vertices: u64,
    indices: u64,
}

fn spend(used: &mut u64, more: u64, limit: u64, what: &'static str, path: &str) -> Result<()> {
    let wanted = used.saturating_add(more);
    if wanted > limit {
        return Err(Fault::new(path, Reason::Limit { what, wanted, limit }));
    }
    *used = wanted;
    Ok(())
}

impl<'l> Budget<'l> {
    pub fn new(limits: &'l Limits) -> Self {
        Self { limits, bytes: 0, vertices: 0, indices: 0 }
    }

    pub fn bytes(&mut self, more: u64, path: &str) -> Result<()> {
        spend(&mut self.bytes, more, self.limits.max_total_bytes, "the bytes in memory", path)
    }

    pub fn release_bytes(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    pub fn vertices(&mut self, more: u64, path: &str) -> Result<()> {
        spend(&mut self.vertices, more, self.limits.max_vertices, "the number of vertices", path)
    }

    pub fn indices(&mut self, more: u64, path: &str) -> Result<()> {
        spend(&mut self.indices, more, self.limits.max_vertices, "the number of indices", path)
    }
}
