//! Tangents by MikkTSpace, the convention glTF prescribes where a file has none.

use std::collections::HashMap;

use bevy_mikktspace::{Geometry, TangentSpace, generate_tangents};
use glam::Vec3;

use crate::scene::Primitive;

/// What [`generate`] and the library below it allocate at most for each index, by its structures; for the budget.
pub(crate) const WORK_BYTES_PER_INDEX: u64 = 256;

struct Corners<'p> {
    primitive: &'p Primitive,
    uv: &'p [[f32; 2]],
    tangents: Vec<[f32; 4]>,
}

impl Corners<'_> {
    fn index(&self, face: usize, vert: usize) -> usize {
        self.primitive.indices[face * 3 + vert] as usize
    }
}

impl Geometry for Corners<'_> {
    fn num_faces(&self) -> usize {
        self.primitive.indices.len() / 3
    }

    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }

    fn position(&self, face: usize, vert: usize) -> [f32; 3] {
        self.primitive.positions[self.index(face, vert)]
    }

    fn normal(&self, face: usize, vert: usize) -> [f32; 3] {
        self.primitive.normals[self.index(face, vert)]
    }

    fn tex_coord(&self, face: usize, vert: usize) -> [f32; 2] {
        let [u, v] = self.uv[self.index(face, vert)];
        // MikkTSpace counts v upwards; glTF's texture origin is the top-left corner.
        [u, 1.0 - v]
    }

    fn set_tangent(&mut self, tangent_space: Option<TangentSpace>, face: usize, vert: usize) {
        if let Some(space) = tangent_space {
            self.tangents[face * 3 + vert] = space.tangent_encoded();
        }
    }
}

/// Generates tangents along a texture coordinate set. Corners that share a vertex but not a tangent are split.
/// Without that set, or without faces, the primitive stays as it is.
pub(crate) fn generate(p: &mut Primitive, uv_set: u32) {
    let uv = if uv_set == 0 { &p.uv0 } else { &p.uv1 };
    if uv.is_empty() || p.normals.is_empty() || p.indices.is_empty() {
        return;
    }
    // Corners the library has no answer for keep a zero here and get a perpendicular below.
    let mut corners = Corners { primitive: p, uv, tangents: vec![[0.0; 4]; p.indices.len()] };
    // The library's error has no values in this version; if one appears, there are simply no tangents.
    if generate_tangents(&mut corners).is_err() {
        return;
    }
    let tangents = corners.tangents;
    split_by_tangent(p, &tangents);
}

fn split_by_tangent(p: &mut Primitive, corner_tangents: &[[f32; 4]]) {
    let mut known: HashMap<(u32, [u32; 4]), u32> = HashMap::with_capacity(p.positions.len());
    let mut sources: Vec<u32> = Vec::with_capacity(p.positions.len());
    let mut tangents = Vec::with_capacity(p.positions.len());
    let mut indices = Vec::with_capacity(p.indices.len());
    for (index, tangent) in p.indices.iter().zip(corner_tangents) {
        let tangent = usable(*tangent, p.normals[*index as usize].into());
        let next = sources.len() as u32; // At most one per u32 index.
        let vertex = *known.entry((*index, tangent.map(f32::to_bits))).or_insert(next);
        if vertex == next {
            sources.push(*index);
            tangents.push(tangent);
        }
        indices.push(vertex);
    }
    let mut out = Primitive { topology: p.topology, material: p.material, indices, tangents, ..Primitive::default() };
    let pick = |i: &u32| *i as usize;
    out.positions = sources.iter().map(|i| p.positions[pick(i)]).collect();
    out.normals = sources.iter().map(|i| p.normals[pick(i)]).collect();
    if !p.uv0.is_empty() {
        out.uv0 = sources.iter().map(|i| p.uv0[pick(i)]).collect();
    }
    if !p.uv1.is_empty() {
        out.uv1 = sources.iter().map(|i| p.uv1[pick(i)]).collect();
    }
    if !p.colors.is_empty() {
        out.colors = sources.iter().map(|i| p.colors[pick(i)]).collect();
    }
    *p = out;
}

/// The tangent itself, or some unit vector perpendicular to the normal where it has no direction.
fn usable(tangent: [f32; 4], normal: Vec3) -> [f32; 4] {
    let [x, y, z, w] = tangent;
    let t = Vec3::new(x, y, z).try_normalize().unwrap_or_else(|| normal.any_orthonormal_vector());
    [t.x, t.y, t.z, if w < 0.0 { -1.0 } else { 1.0 }]
}
