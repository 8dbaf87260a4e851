//! Images from formulas: floor tiles and a lattice.

use glam::Vec3;

use crate::scene::Image;

/// Tiles along an edge of the image; even, so that the checker repeats.
const TILES: f32 = 2.0;
/// Half the width of a joint, in tiles.
const JOINT: f32 = 0.025;

fn image(name: &str, size: u32, texel: impl Fn(f32, f32) -> [u8; 4]) -> Image {
    let at = |i: u32| (i as f32 + 0.5) / size as f32;
    let texels = (0..size).flat_map(|y| (0..size).map(move |x| (x, y)));
    Image {
        name: name.to_owned(),
        width: size,
        height: size,
        rgba8: texels.flat_map(|(x, y)| texel(at(x), at(y))).collect(),
        generate_mips: true,
        used_as_srgb: false,
        used_as_linear: false,
    }
}

fn unorm(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// Distance to the nearest joint, in tiles.
fn joint_distance(x: f32) -> f32 {
    let t = (x * TILES).fract();
    t.min(1.0 - t)
}

/// A cheap repeatable hash of a texel position to 0..1.
fn noise(x: f32, y: f32) -> f32 {
    let mix = |h: u32, v: f32| (h ^ (v * 4096.0) as u32).wrapping_mul(0x9E37_79B1).rotate_left(13);
    (mix(mix(0x85EB_CA6B, x), y) >> 8) as f32 / (1 << 24) as f32
}

/// Light and dark tiles with darker joints, sRGB.
pub(super) fn checker(size: u32) -> Image {
    image("checker", size, |u, v| {
        let odd = ((u * TILES) as u32 + (v * TILES) as u32) % 2 == 1;
        let joint = joint_distance(u).min(joint_distance(v)) < JOINT;
        let base = match (joint, odd) {
            (true, _) => Vec3::new(0.30, 0.29, 0.28),
            (false, true) => Vec3::new(0.44, 0.47, 0.50),
            (false, false) => Vec3::new(0.78, 0.76, 0.72),
        };
        let c = base * (0.97 + 0.06 * noise(u, v));
        [unorm(c.x), unorm(c.y), unorm(c.z), 255]
    })
}

/// Tangent-space normals of bevelled tiles: x to the right, y up in the image.
pub(super) fn tile_normals(size: u32) -> Image {
    let slope = |x: f32| {
        let t = (x * TILES).fract();
        let edge = (1.0 - (t.min(1.0 - t) / (2.0 * JOINT)).min(1.0)).powi(2);
        // Near its left edge a tile's bevel faces left, near its right edge right.
        if t < 0.5 { -edge } else { edge }
    };
    image("tile normals", size, |u, v| {
        let n = Vec3::new(slope(u), -slope(v), 1.0).normalize() * 0.5 + 0.5;
        [unorm(n.x), unorm(n.y), unorm(n.z), 255]
    })
}

/// Roughness in G, no metal in B: polished tiles, rough joints.
pub(super) fn tile_roughness(size: u32) -> Image {
    image("tile roughness", size, |u, v| {
        let joint = joint_distance(u).min(joint_distance(v)) < JOINT;
        let roughness = if joint { 0.95 } else { 0.28 + 0.08 * noise(v, u) };
        [255, unorm(roughness), 0, 255]
    })
}

/// A lattice of bars with round-cornered holes in alpha, sRGB.
pub(super) fn lattice(size: u32) -> Image {
    image("lattice", size, |u, v| {
        let fold = |x: f32| ((x * TILES).fract() - 0.5).abs();
        let (x, y) = (fold(u), fold(v));
        let hole = (x.powi(4) + y.powi(4)).powf(0.25);
        // Alpha crosses the cutoff of one half at the hole's edge, softly, so that smaller levels keep the outline.
        let alpha = ((hole - 0.36) * 12.0 + 0.5).clamp(0.0, 1.0);
        [unorm(0.82), unorm(0.66), unorm(0.35), unorm(alpha)]
    })
}
