//! What shaders need to know about a frame, computed on the CPU.

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3, Vec4};

use super::environment::Environment;
use super::gpu_scene::{DrawItem, GpuScene, WorldLight};
use super::options::{Lights, RenderOptions};
use super::stats::RenderStats;
use crate::camera::View;
use crate::scene::{LightKind, Projection};

/// Punctual lights of a frame, as in frame.wgsl.
pub(super) const MAX_LIGHTS: usize = 64;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct LightData {
    position: [f32; 3],
    kind: u32,
    direction: [f32; 3],
    inverse_range: f32,
    color: [f32; 3],
    casts_shadow: f32,
    cone: [f32; 2],
    unused: [f32; 2],
}

/// The shader's `Frame`, field by field.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct FrameData {
    clip_from_world: [f32; 16],
    world_from_clip: [f32; 16],
    shadow_from_world: [f32; 16],
    eye: [f32; 3],
    light_count: u32,
    view_axis: [f32; 3],
    parallel: f32,
    environment_scale: f32,
    environment_max_level: f32,
    shadow_normal_offset: f32,
    shadow_texel: f32,
    split_sum_margin: f32,
    unused: [f32; 3],
    lights: [LightData; MAX_LIGHTS],
}

/// A frame, ready to be recorded.
pub(super) struct Prepared {
    pub(super) data: FrameData,
    /// Whether a light casts shadows.
    pub(super) shadow: bool,
    /// Indices of visible opaque items, in drawing order.
    pub(super) opaque: Vec<u32>,
    /// Indices of visible transparent items, back to front.
    pub(super) transparent: Vec<u32>,
}

/// Culls, sorts and fills in the constants.
pub(super) fn prepare(
    scene: &GpuScene,
    environment: &Environment,
    view: &View,
    options: &RenderOptions,
    stats: &mut RenderStats,
) -> Prepared {
    let aspect = options.width as f32 / options.height as f32;
    let clip_from_world = view.clip_from_world(aspect);
    let lights = lights_of(scene, options, stats);
    let caster = (options.shadow_size > 0 && !scene.items.is_empty())
        .then(|| lights.iter().position(|l| l.kind == LightKind::Directional && l.color.max_element() > 0.0))
        .flatten();
    let mut data = FrameData::zeroed();
    data.clip_from_world = clip_from_world.to_cols_array();
    data.world_from_clip = world_from_clip(view, aspect).to_cols_array();
    data.eye = view.eye().to_array();
    data.view_axis = view.world_from_view.z_axis.truncate().to_array();
    data.parallel = if matches!(view.projection, Projection::Orthographic { .. }) { 1.0 } else { 0.0 };
    data.environment_scale = environment.unscale * options.environment_intensity;
    data.environment_max_level = environment.max_level;
    data.split_sum_margin = options.split_sum_margin;
    data.light_count = lights.len() as u32;
    for (i, (slot, light)) in data.lights.iter_mut().zip(&lights).enumerate() {
        *slot = LightData::new(light, caster == Some(i));
    }
    if let Some(light) = caster {
        let (center, radius) = shadow_sphere(scene);
        data.shadow_from_world = shadow_matrix(lights[light].direction, center, radius).to_cols_array();
        data.shadow_texel = 1.0 / options.shadow_size as f32;
        // One and a half texels of the map in world units.
        data.shadow_normal_offset = 1.5 * 2.0 * radius / options.shadow_size as f32;
    }
    let (opaque, transparent) = visible(scene, &clip_from_world, view, stats);
    Prepared { data, shadow: caster.is_some(), opaque, transparent }
}

/// The inverse of the matrix to clip space, from its parts: the product of an infinite projection inverts badly.
fn world_from_clip(view: &View, aspect: f32) -> Mat4 {
    view.world_from_view * view.clip_from_view(aspect).inverse()
}

fn lights_of(scene: &GpuScene, options: &RenderOptions, stats: &mut RenderStats) -> Vec<WorldLight> {
    let mut lights = match options.lights {
        Lights::Off => Vec::new(),
        Lights::Scene => scene.lights.clone(),
        Lights::Directional { direction, irradiance } => vec![WorldLight {
            kind: LightKind::Directional,
            color: Vec3::splat(irradiance),
            position: Vec3::ZERO,
            direction: direction.normalize_or(Vec3::Y),
        }],
    };
    stats.dropped_lights = lights.len().saturating_sub(MAX_LIGHTS) as u32;
    lights.truncate(MAX_LIGHTS);
    stats.lights = lights.len() as u32;
    lights
}

impl LightData {
    fn new(light: &WorldLight, casts_shadow: bool) -> Self {
        let (kind, range, cone) = match light.kind {
            LightKind::Directional => (0, None, [0.0, 0.0]),
            LightKind::Point { range } => (1, range, [0.0, 0.0]),
            LightKind::Spot { range, inner_cone, outer_cone } => {
                // KHR_lights_punctual, "Inner and outer cone angles".
                let scale = 1.0 / (inner_cone.cos() - outer_cone.cos()).max(0.001);
                (2, range, [scale, -outer_cone.cos() * scale])
            }
        };
        Self {
            position: light.position.to_array(),
            kind,
            direction: light.direction.to_array(),
            inverse_range: range.filter(|r| *r > 0.0).map_or(0.0, f32::recip),
            color: light.color.to_array(),
            casts_shadow: f32::from(u8::from(casts_shadow)),
            cone,
            unused: [0.0; 2],
        }
    }
}

/// A sphere around everything that casts or receives shadows.
fn shadow_sphere(scene: &GpuScene) -> (Vec3, f32) {
    let bounds = scene.bounds.map_or((Vec3::ZERO, 1.0), |b| (b.center(), b.radius()));
    (bounds.0, bounds.1.max(1e-6))
}

/// World to the shadow map's clip space: parallel, reversed depth, fitted to a sphere.
fn shadow_matrix(toward_light: Vec3, center: Vec3, radius: f32) -> Mat4 {
    let z = toward_light.normalize_or(Vec3::Y);
    let x = z.any_orthonormal_vector();
    let y = z.cross(x);
    let scale = radius.recip();
    // x and y from -radius..radius to -1..1; depth 1 nearest to the light, 0 farthest.
    let row = |axis: Vec3, scale: f32, add: f32| (axis * scale).extend(add - axis.dot(center) * scale);
    let rows = [row(x, scale, 0.0), row(y, scale, 0.0), row(z, 0.5 * scale, 0.5), Vec4::W];
    Mat4::from_cols(rows[0], rows[1], rows[2], rows[3]).transpose()
}

/// The planes of the view volume, pointing inwards; the far plane of an infinite projection is degenerate and skipped.
fn planes(clip_from_world: &Mat4) -> Vec<Vec4> {
    let m = clip_from_world.transpose();
    let w = m.w_axis;
    let all = [w + m.x_axis, w - m.x_axis, w + m.y_axis, w - m.y_axis, w - m.z_axis, m.z_axis];
    let unit = |p: Vec4| {
        let length = p.truncate().length();
        (length > 1e-12).then(|| p / length)
    };
    all.into_iter().filter_map(unit).collect()
}

fn visible(scene: &GpuScene, clip_from_world: &Mat4, view: &View, stats: &mut RenderStats) -> (Vec<u32>, Vec<u32>) {
    let planes = planes(clip_from_world);
    let inside = |item: &DrawItem| planes.iter().all(|p| p.dot(item.center.extend(1.0)) >= -item.radius);
    let mut seen = |range: std::ops::Range<usize>| {
        let all = range.len();
        let out: Vec<u32> = range.filter(|i| inside(&scene.items[*i])).map(|i| i as u32).collect();
        stats.culled_draws += (all - out.len()) as u32;
        out
    };
    let opaque = seen(0..scene.opaque);
    let mut transparent = seen(scene.opaque..scene.items.len());
    let back = view.world_from_view.z_axis.truncate();
    let distance = |i: &u32| -(scene.items[*i as usize].origin - view.eye()).dot(back);
    transparent.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
    (opaque, transparent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::Orbit;

    #[test]
    fn the_shader_sees_the_same_layout() {
        assert_eq!(size_of::<LightData>(), 64);
        assert_eq!(std::mem::offset_of!(FrameData, eye), 192);
        assert_eq!(std::mem::offset_of!(FrameData, lights), 256);
        assert_eq!(size_of::<FrameData>(), 256 + 64 * MAX_LIGHTS);
    }

    #[test]
    fn the_shadow_map_holds_the_sphere() {
        let m = shadow_matrix(Vec3::new(0.4, 0.8, 0.45), Vec3::new(1.0, 2.0, 3.0), 4.0);
        let center = m.project_point3(Vec3::new(1.0, 2.0, 3.0));
        assert!(center.abs_diff_eq(Vec3::new(0.0, 0.0, 0.5), 1e-6), "{center}");
        let toward = Vec3::new(0.4, 0.8, 0.45).normalize();
        let near = m.project_point3(Vec3::new(1.0, 2.0, 3.0) + toward * 4.0);
        assert!(near.abs_diff_eq(Vec3::new(0.0, 0.0, 1.0), 1e-5), "{near}");
    }

    #[test]
    fn planes_keep_what_is_in_front_and_drop_what_is_behind() {
        let view = Orbit::around(None).view();
        let planes = planes(&view.clip_from_world(1.0));
        let inside = |p: Vec3| planes.iter().all(|plane| plane.dot(p.extend(1.0)) >= 0.0);
        assert!(inside(Vec3::ZERO));
        assert!(!inside(view.eye() * 2.0), "behind the camera");
        assert!(!inside(Vec3::new(50.0, 0.0, 0.0)), "far to the side");
    }
}
