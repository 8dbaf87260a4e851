//! Triangle meshes of simple bodies. All wind counter-clockwise seen from outside.

use std::f32::consts::TAU;

use glam::Vec3;

use crate::scene::{Primitive, Topology};
use crate::tangent;

/// A grid of `columns` x `rows` cells over (u, v) in 0..=1; `surface` gives position and normal.
/// `outward`: whether the u direction crossed with the v direction points outwards.
fn grid(columns: u32, rows: u32, outward: bool, surface: impl Fn(f32, f32) -> (Vec3, Vec3)) -> Primitive {
    let mut p = Primitive { topology: Topology::Triangles, ..Primitive::default() };
    append_grid(&mut p, columns, rows, outward, surface);
    p
}

fn append_grid(p: &mut Primitive, columns: u32, rows: u32, outward: bool, surface: impl Fn(f32, f32) -> (Vec3, Vec3)) {
    let first = p.positions.len() as u32;
    for (row, column) in (0..=rows).flat_map(|r| (0..=columns).map(move |c| (r, c))) {
        let (u, v) = (column as f32 / columns as f32, row as f32 / rows as f32);
        let (position, normal) = surface(u, v);
        p.positions.push(position.to_array());
        p.normals.push(normal.normalize_or(Vec3::Y).to_array());
        p.uv0.push([u, v]);
    }
    for (row, column) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
        let a = first + row * (columns + 1) + column;
        let (b, c, d) = (a + 1, a + columns + 1, a + columns + 2);
        let corners = if outward { [a, b, c, b, d, c] } else { [a, c, b, b, c, d] };
        p.indices.extend(corners);
    }
}

/// A sphere with `segments` around and half as many from pole to pole; v runs down from the top.
pub(super) fn sphere(radius: f32, segments: u32) -> Primitive {
    grid(segments, segments / 2, false, |u, v| {
        let (sin_lon, cos_lon) = (u * TAU).sin_cos();
        let (sin_lat, cos_lat) = (v * TAU * 0.5).sin_cos();
        // The seam must close exactly: sin and cos of a full turn are not those of zero.
        let (sin_lon, cos_lon) = if u == 1.0 { (0.0, 1.0) } else { (sin_lon, cos_lon) };
        let normal = Vec3::new(sin_lat * sin_lon, cos_lat, sin_lat * cos_lon);
        (normal * radius, normal)
    })
    .without_slivers()
}

/// A torus around the y axis.
pub(super) fn torus(ring: f32, tube: f32, around: u32, across: u32) -> Primitive {
    grid(around, across, true, |u, v| {
        let (sin_u, cos_u) = (u * TAU).sin_cos();
        let (sin_v, cos_v) = (v * TAU).sin_cos();
        let out = Vec3::new(sin_u, 0.0, cos_u);
        let normal = out * cos_v + Vec3::Y * sin_v;
        (out * ring + normal * tube, normal)
    })
}

/// A square of half edge `half` in the xz plane, facing +Y, with tangents; image up is -Z.
pub(super) fn plane(half: f32) -> Primitive {
    let point = |u: f32, v: f32| Vec3::new((u * 2.0 - 1.0) * half, 0.0, (v * 2.0 - 1.0) * half);
    let mut p = grid(1, 1, false, |u, v| (point(u, v), Vec3::Y));
    tangent::generate(&mut p, 0);
    p
}

/// A box by its half extents.
pub(super) fn cuboid(half: Vec3) -> Primitive {
    let mut p = Primitive { topology: Topology::Triangles, ..Primitive::default() };
    for normal in [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z] {
        let up = if normal.y == 0.0 { Vec3::Y } else { Vec3::Z };
        let right = up.cross(normal);
        append_grid(&mut p, 1, 1, false, |u, v| {
            let corner = normal + right * (u * 2.0 - 1.0) + up * (1.0 - v * 2.0);
            (corner * half, normal)
        });
    }
    p
}

impl Primitive {
    /// Drops triangles without area (at the poles of a sphere).
    fn without_slivers(mut self) -> Self {
        let positions = &self.positions;
        let has_area = |t: &&[u32; 3]| {
            let [a, b, c] = t.map(|i| Vec3::from(positions[i as usize]));
            (b - a).cross(c - a).length_squared() > 1e-14
        };
        self.indices = self.indices.as_chunks::<3>().0.iter().filter(has_area).flatten().copied().collect();
        self
    }
}
