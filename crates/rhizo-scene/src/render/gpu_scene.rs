//! A scene on the GPU: one vertex and one index buffer, materials, and the list of what to draw.

use bytemuck::{Pod, Zeroable};
use glam::{Mat3, Mat4, Vec3};
use rhizo_rhi::{BufferRange, BufferUsage, Device, IndexBufferView, IndexFormat, TableLayout, VertexBufferView};

use super::error::RenderError;
use super::material::{self, Coverage, GpuMaterial};
use super::upload::Uploader;
use crate::scene::{Aabb, LightKind, Primitive, Scene, Topology};

/// One draw's transform, as push constants: see `Draw` in material.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct DrawConstants {
    world: [[f32; 4]; 3],
    normal: [[f32; 4]; 3],
    flags: u32,
    unused: [u32; 3],
}

const DRAW_UNLIT: u32 = 1;
const DRAW_MIRRORED: u32 = 2;

impl DrawConstants {
    fn new(world: &Mat4, normal: &Mat3, flags: u32) -> Self {
        let rows = world.transpose();
        let n = normal.transpose();
        let row = |v: Vec3| [v.x, v.y, v.z, 0.0];
        Self {
            world: [rows.x_axis.to_array(), rows.y_axis.to_array(), rows.z_axis.to_array()],
            normal: [row(n.x_axis), row(n.y_axis), row(n.z_axis)],
            flags,
            unused: [0; 3],
        }
    }
}

/// A primitive of an instance.
#[derive(Debug, Clone)]
pub(super) struct DrawItem {
    pub(super) constants: DrawConstants,
    pub(super) topology: Topology,
    pub(super) mirrored: bool,
    pub(super) material: usize,
    pub(super) indices: u32,
    pub(super) first_index: u32,
    pub(super) base_vertex: i32,
    /// A sphere around it, world space.
    pub(super) center: Vec3,
    pub(super) radius: f32,
    /// Where it sorts among transparent ones: the origin of its mesh, as authors place it.
    pub(super) origin: Vec3,
}

impl DrawItem {
    pub(super) fn triangles(&self) -> u64 {
        if self.topology == Topology::Triangles { u64::from(self.indices / 3) } else { 0 }
    }
}

/// A punctual light in world space.
#[derive(Debug, Clone, Copy)]
pub(super) struct WorldLight {
    pub(super) kind: LightKind,
    /// Colour times intensity.
    pub(super) color: Vec3,
    pub(super) position: Vec3,
    /// From the surface towards a directional light; backwards along a spot's axis.
    pub(super) direction: Vec3,
}

/// A scene on the GPU.
#[derive(Debug)]
pub struct GpuScene {
    pub(super) vertices: VertexBufferView,
    pub(super) indices: IndexBufferView,
    pub(super) materials: Vec<GpuMaterial>,
    /// Opaque ones first, by state and material; then transparent ones in scene order.
    pub(super) items: Vec<DrawItem>,
    /// How many of `items` are opaque.
    pub(super) opaque: usize,
    pub(super) lights: Vec<WorldLight>,
    /// World-space box over everything drawn.
    pub bounds: Option<Aabb>,
}

/// Where a primitive's data lies in the shared buffers.
#[derive(Clone, Copy)]
struct Place {
    first_index: u32,
    base_vertex: i32,
    center: Vec3,
    radius: f32,
}

#[derive(Default)]
struct Geometry {
    vertices: Vec<u8>,
    indices: Vec<u32>,
}

impl Geometry {
    fn add(&mut self, primitive: &Primitive) -> Result<Place, RenderError> {
        let base = self.vertices.len() / size_of::<crate::scene::Vertex>();
        let too_many = |what, needed: usize| RenderError::Limit { what, needed: needed as u64, limit: i32::MAX as u64 };
        let base_vertex = i32::try_from(base).map_err(|_| too_many("the number of vertices", base))?;
        let first_index = self.indices.len();
        if first_index + primitive.indices.len() > i32::MAX as usize {
            return Err(too_many("the number of indices", first_index + primitive.indices.len()));
        }
        self.vertices.extend_from_slice(bytemuck::cast_slice(&primitive.interleaved()));
        self.indices.extend_from_slice(&primitive.indices);
        let points = || primitive.positions.iter().map(|p| Vec3::from(*p));
        let low = points().fold(Vec3::splat(f32::INFINITY), Vec3::min);
        let high = points().fold(Vec3::splat(f32::NEG_INFINITY), Vec3::max);
        let center = if primitive.positions.is_empty() { Vec3::ZERO } else { low * 0.5 + high * 0.5 };
        let radius = points().map(|p| p.distance(center)).fold(0.0, f32::max);
        Ok(Place { first_index: first_index as u32, base_vertex, center, radius })
    }
}

/// Uploads geometry, textures and materials.
pub(super) fn upload(
    device: &Device,
    uploader: &mut Uploader<'_>,
    materials: &TableLayout,
    scene: &Scene,
    anisotropy: u32,
) -> Result<GpuScene, RenderError> {
    let mut geometry = Geometry::default();
    let mut places = Vec::with_capacity(scene.meshes.len());
    for mesh in &scene.meshes {
        let parts: Result<Vec<Place>, RenderError> = mesh.primitives.iter().map(|p| geometry.add(p)).collect();
        places.push(parts?);
    }
    let vertices = uploader.create_buffer("vertices", BufferUsage::VERTEX, &geometry.vertices)?;
    let indices = uploader.create_buffer("indices", BufferUsage::INDEX, bytemuck::cast_slice(&geometry.indices))?;
    let materials = material::upload(device, uploader, materials, scene, anisotropy)?;
    let (items, opaque) = items(scene, &places, &materials);
    Ok(GpuScene {
        vertices: vertices.vertex_view(BufferRange::WHOLE)?,
        indices: indices.index_view(BufferRange::WHOLE, IndexFormat::U32)?,
        materials,
        items,
        opaque,
        lights: lights(scene),
        bounds: scene.bounds(),
    })
}

fn items(scene: &Scene, places: &[Vec<Place>], materials: &[GpuMaterial]) -> (Vec<DrawItem>, usize) {
    let mut items = Vec::new();
    for instance in &scene.instances {
        let normal = instance.normal_matrix();
        let largest = (0..3).map(|i| instance.world.col(i).truncate().length()).fold(0.0, f32::max);
        for (primitive, place) in scene.meshes[instance.mesh].primitives.iter().zip(&places[instance.mesh]) {
            if primitive.indices.is_empty() {
                continue;
            }
            let unlit = if primitive.normals.is_empty() { DRAW_UNLIT } else { 0 };
            let mirrored = if instance.mirrored { DRAW_MIRRORED } else { 0 };
            items.push(DrawItem {
                constants: DrawConstants::new(&instance.world, &normal, unlit | mirrored),
                topology: primitive.topology,
                mirrored: instance.mirrored,
                material: primitive.material,
                indices: primitive.indices.len() as u32,
                first_index: place.first_index,
                base_vertex: place.base_vertex,
                center: instance.world.transform_point3(place.center),
                radius: place.radius * largest,
                origin: instance.world.w_axis.truncate(),
            });
        }
    }
    let blended = |item: &DrawItem| materials[item.material].coverage == Coverage::Blended;
    // A stable sort: transparent ones keep the scene's order, which decides between equal distances.
    items.sort_by_key(|item| match blended(item) {
        true => (true, Coverage::Blended, false, false, 0, 0),
        false => {
            let m = &materials[item.material];
            (false, m.coverage, m.double_sided, item.mirrored, item.topology as u32, item.material)
        }
    });
    let opaque = items.partition_point(|item| !blended(item));
    (items, opaque)
}

fn lights(scene: &Scene) -> Vec<WorldLight> {
    let mut out = Vec::new();
    for node in scene.nodes.iter().filter(|node| node.in_scene) {
        let Some(light) = node.light.map(|i| &scene.lights[i]) else { continue };
        out.push(WorldLight {
            kind: light.kind,
            color: light.color * light.intensity,
            position: node.world.w_axis.truncate(),
            direction: node.world.z_axis.truncate().normalize_or(Vec3::Z),
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn push_constants_hold_rows() {
        let world = Mat4::from_translation(Vec3::new(1.0, 2.0, 3.0));
        let constants = DrawConstants::new(&world, &Mat3::IDENTITY, DRAW_MIRRORED);
        assert_eq!(constants.world[1], [0.0, 1.0, 0.0, 2.0]);
        assert_eq!(constants.flags, DRAW_MIRRORED);
        assert_eq!(size_of::<DrawConstants>(), 112);
    }
}
