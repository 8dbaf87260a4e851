//! A scene as plain data: what a file or a generator produces and a renderer uploads.
//!
//! World space is right-handed, +Y up, in the file's units (glTF: metres). Matrices are column-major and multiply
//! column vectors. A [`Scene`] holds what its default scene shows, in rest pose: skins and morph weights are already
//! baked into vertices, so a renderer needs positions, a matrix per [`Instance`], and nothing else.

use glam::{Affine2, Mat3, Mat4, Quat, Vec2, Vec3, Vec4};

/// Everything one scene shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scene {
    /// The scene's name, empty if it has none.
    pub name: String,
    /// All nodes of the file, parents not necessarily before children.
    pub nodes: Vec<Node>,
    /// The nodes the scene starts from.
    pub roots: Vec<usize>,
    /// What to draw, in the order of a depth-first walk.
    pub instances: Vec<Instance>,
    /// Meshes, named by instances.
    pub meshes: Vec<Mesh>,
    /// Materials, named by primitives. Index 0 is always the default material of glTF.
    pub materials: Vec<Material>,
    /// Textures, named by materials.
    pub textures: Vec<Texture>,
    /// Decoded images, named by textures.
    pub images: Vec<Image>,
    /// Camera projections, named by nodes.
    pub cameras: Vec<Camera>,
    /// Punctual lights, named by nodes.
    pub lights: Vec<Light>,
    /// What the file asked for and the scene does not carry, one sentence each, for the user to see.
    pub unsupported: Vec<String>,
}

/// A node of the transform hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The node's name, empty if it has none.
    pub name: String,
    /// The node above, `None` for a root.
    pub parent: Option<usize>,
    /// The nodes below.
    pub children: Vec<usize>,
    /// To the parent's space.
    pub transform: Transform,
    /// To world space: the product of all transforms from the root down.
    pub world: Mat4,
    /// The camera here, looking along the node's -Z.
    pub camera: Option<usize>,
    /// The light here, shining along the node's -Z.
    pub light: Option<usize>,
    /// Whether the default scene contains this node.
    pub in_scene: bool,
}

/// A local transform, kept in the form the file gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Transform {
    /// Scale first, then rotation, then translation.
    Trs {
        /// Translation.
        translation: Vec3,
        /// Rotation, a unit quaternion.
        rotation: Quat,
        /// Scale per axis; may be negative or zero.
        scale: Vec3,
    },
    /// Any affine matrix.
    Matrix(Mat4),
}

impl Transform {
    /// Changes nothing.
    pub const IDENTITY: Self = Self::Trs { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };

    /// As a matrix.
    #[must_use]
    pub fn matrix(&self) -> Mat4 {
        match *self {
            Self::Trs { translation, rotation, scale } => {
                Mat4::from_scale_rotation_translation(scale, rotation, translation)
            }
            Self::Matrix(matrix) => matrix,
        }
    }
}

/// A mesh placed in the world.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// The node it hangs on.
    pub node: usize,
    /// What to draw.
    pub mesh: usize,
    /// Mesh to world space. The identity for skinned meshes, whose vertices are in world space already.
    pub world: Mat4,
    /// The world matrix mirrors (determinant < 0): front faces wind clockwise, so a renderer inverts the front face.
    pub mirrored: bool,
}

impl Instance {
    /// For normals: inverse transpose of the upper 3x3 of [`world`](Self::world). Where that matrix is singular
    /// (a scale of zero) the cofactor matrix, its limit up to a factor; normalise the result either way.
    #[must_use]
    pub fn normal_matrix(&self) -> Mat3 {
        normal_matrix(Mat3::from_mat4(self.world))
    }
}

/// The cofactor matrix times the determinant's sign: parallel to the inverse transpose, and defined where that is not.
pub(crate) fn normal_matrix(m: Mat3) -> Mat3 {
    let cofactor = Mat3::from_cols(m.y_axis.cross(m.z_axis), m.z_axis.cross(m.x_axis), m.x_axis.cross(m.y_axis));
    if m.determinant() < 0.0 { -cofactor } else { cofactor }
}

/// Geometry, one part per material.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mesh {
    /// The mesh's name, empty if it has none.
    pub name: String,
    /// The parts.
    pub primitives: Vec<Primitive>,
}

/// How indices form primitives. Strips, loops and fans have been rewritten as lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Topology {
    /// One vertex each.
    Points,
    /// Two vertices each.
    Lines,
    /// Three vertices each, counter-clockwise seen from the front.
    #[default]
    Triangles,
}

/// Vertices, indices and a material. Attribute arrays are either empty or as long as `positions`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Primitive {
    /// How to read `indices`.
    pub topology: Topology,
    /// Positions in mesh space.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals. Always there for triangles; empty for points and lines without (they are drawn unlit).
    pub normals: Vec<[f32; 3]>,
    /// Unit tangents; w is the sign of the bitangent, `cross(normal, tangent.xyz) * tangent.w`.
    /// There when the file has them, or when the material has a normal texture.
    pub tangents: Vec<[f32; 4]>,
    /// Texture coordinates, set 0; (0, 0) is the top-left corner of the image.
    pub uv0: Vec<[f32; 2]>,
    /// Texture coordinates, set 1.
    pub uv1: Vec<[f32; 2]>,
    /// Linear colour and alpha, multiplied with the base colour.
    pub colors: Vec<[f32; 4]>,
    /// Indices into the vertex arrays, all below `positions.len()`; a whole number of primitives.
    pub indices: Vec<u32>,
    /// The material.
    pub material: usize,
}

/// One vertex of [`Primitive::interleaved`]: 72 bytes, tightly packed.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Vertex {
    /// Position in mesh space; byte 0.
    pub position: [f32; 3],
    /// Unit normal, or zero where there is none; byte 12.
    pub normal: [f32; 3],
    /// Unit tangent and bitangent sign, or zero where there is none; byte 24.
    pub tangent: [f32; 4],
    /// Texture coordinates, set 0; byte 40.
    pub uv0: [f32; 2],
    /// Texture coordinates, set 1; byte 48.
    pub uv1: [f32; 2],
    /// Linear colour, white where there is none; byte 56.
    pub color: [f32; 4],
}

impl Primitive {
    /// All attributes in one buffer, absent ones filled in: zero, white for the colour.
    #[must_use]
    pub fn interleaved(&self) -> Vec<Vertex> {
        let vertex = |(i, position): (usize, &[f32; 3])| Vertex {
            position: *position,
            normal: self.normals.get(i).copied().unwrap_or_default(),
            tangent: self.tangents.get(i).copied().unwrap_or_default(),
            uv0: self.uv0.get(i).copied().unwrap_or_default(),
            uv1: self.uv1.get(i).copied().unwrap_or_default(),
            color: self.colors.get(i).copied().unwrap_or([1.0; 4]),
        };
        self.positions.iter().enumerate().map(vertex).collect()
    }
}

/// How alpha is used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum AlphaMode {
    /// Ignored; the surface is opaque.
    #[default]
    Opaque,
    /// Fragments with less alpha than the cutoff are discarded, the others opaque.
    Mask {
        /// The cutoff.
        cutoff: f32,
    },
    /// Blended over what is behind, straight alpha.
    Blend,
}

/// A metallic-roughness material. Factors multiply their textures.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// The material's name, empty if it has none.
    pub name: String,
    /// Linear base colour and alpha.
    pub base_color: Vec4,
    /// Base colour (RGB, sRGB) and alpha (A).
    pub base_color_texture: Option<TextureSlot>,
    /// Metalness, 0..=1.
    pub metallic: f32,
    /// Perceptual roughness, 0..=1 (alpha of GGX is its square).
    pub roughness: f32,
    /// Roughness (G) and metalness (B), linear.
    pub metallic_roughness_texture: Option<TextureSlot>,
    /// Tangent-space normals (linear), +Y up.
    pub normal_texture: Option<TextureSlot>,
    /// Scales x and y of the normal texture.
    pub normal_scale: f32,
    /// Ambient occlusion (R, linear).
    pub occlusion_texture: Option<TextureSlot>,
    /// How much of the occlusion applies, 0..=1.
    pub occlusion_strength: f32,
    /// Emitted linear radiance, emissive strength already multiplied in.
    pub emissive: Vec3,
    /// Emission (RGB, sRGB).
    pub emissive_texture: Option<TextureSlot>,
    /// How alpha is used.
    pub alpha_mode: AlphaMode,
    /// Back faces are drawn too, with flipped normals.
    pub double_sided: bool,
    /// Base colour is shown as it is, without lighting.
    pub unlit: bool,
    /// Index of refraction; 1.5 gives the usual F0 of 0.04.
    pub ior: f32,
    /// A second, dielectric specular layer on top.
    pub clearcoat: Option<Clearcoat>,
    /// Stretched highlights.
    pub anisotropy: Option<Anisotropy>,
    /// Light passes through.
    pub transmission: Option<Transmission>,
}

impl Default for Material {
    /// The default material of glTF 2.0: white, metallic 1, roughness 1.
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: Vec4::ONE,
            base_color_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
            occlusion_texture: None,
            occlusion_strength: 1.0,
            emissive: Vec3::ZERO,
            emissive_texture: None,
            alpha_mode: AlphaMode::Opaque,
            double_sided: false,
            unlit: false,
            ior: 1.5,
            clearcoat: None,
            anisotropy: None,
            transmission: None,
        }
    }
}

/// KHR_materials_clearcoat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clearcoat {
    /// Strength, 0..=1.
    pub factor: f32,
    /// Strength (R, linear).
    pub texture: Option<TextureSlot>,
    /// Perceptual roughness, 0..=1.
    pub roughness: f32,
    /// Roughness (G, linear).
    pub roughness_texture: Option<TextureSlot>,
    /// Its own tangent-space normals (linear).
    pub normal_texture: Option<TextureSlot>,
    /// Scales x and y of the normal texture.
    pub normal_scale: f32,
}

/// KHR_materials_anisotropy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anisotropy {
    /// Strength, 0..=1.
    pub strength: f32,
    /// Rotation of the direction, radians counter-clockwise from the tangent.
    pub rotation: f32,
    /// Direction (RG, mapped from 0..1 to -1..1) and strength (B), linear.
    pub texture: Option<TextureSlot>,
}

/// KHR_materials_transmission with KHR_materials_volume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transmission {
    /// Share of light that passes, 0..=1.
    pub factor: f32,
    /// That share (R, linear).
    pub texture: Option<TextureSlot>,
    /// Thickness of the volume below the surface in mesh units; 0 is thin-walled.
    pub thickness: f32,
    /// Thickness (G, linear).
    pub thickness_texture: Option<TextureSlot>,
    /// Distance in world units after which white light has the attenuation colour; infinite: no attenuation.
    pub attenuation_distance: f32,
    /// Linear attenuation colour.
    pub attenuation_color: Vec3,
}

/// A texture as a material uses it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextureSlot {
    /// Into [`Scene::textures`].
    pub texture: usize,
    /// Texture coordinate set, 0 or 1.
    pub uv_set: u32,
    /// KHR_texture_transform; the identity without.
    pub transform: UvTransform,
}

/// KHR_texture_transform: scale first, then rotation, then offset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UvTransform {
    /// Added last.
    pub offset: Vec2,
    /// Radians, counter-clockwise around the origin of the texture coordinates.
    pub rotation: f32,
    /// Applied first.
    pub scale: Vec2,
}

impl UvTransform {
    /// Changes nothing.
    pub const IDENTITY: Self = Self { offset: Vec2::ZERO, rotation: 0.0, scale: Vec2::ONE };

    /// As an affine map of column vectors. In uv space, v pointing down, the extension's counter-clockwise rotation
    /// is `u' = cos u + sin v`, `v' = -sin u + cos v` (the matrix printed in its specification, read column-major).
    #[must_use]
    pub fn affine(&self) -> Affine2 {
        let (sin, cos) = self.rotation.sin_cos();
        Affine2::from_cols(Vec2::new(cos, -sin) * self.scale.x, Vec2::new(sin, cos) * self.scale.y, self.offset)
    }
}

/// How the channels of a texture are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColorSpace {
    /// RGB is sRGB-encoded and decoded before filtering; alpha is linear.
    Srgb,
    /// As stored.
    Linear,
}

/// An image with a way of sampling it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Texture {
    /// Into [`Scene::images`].
    pub image: usize,
    /// How to sample.
    pub sampler: Sampler,
    /// How to read the image. One texture of the file used both ways becomes two.
    pub color_space: ColorSpace,
}

/// Texel filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Filter {
    /// The nearest texel.
    Nearest,
    /// Linear interpolation.
    #[default]
    Linear,
}

/// What happens outside of 0..1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Wrap {
    /// Starts over.
    #[default]
    Repeat,
    /// Starts over, every other time mirrored.
    MirroredRepeat,
    /// Stays at the edge.
    ClampToEdge,
}

/// How a texture is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// When magnified.
    pub mag: Filter,
    /// When minified, within a level.
    pub min: Filter,
    /// Between levels; `None`: only level 0 is sampled.
    pub mip: Option<Filter>,
    /// Along u.
    pub wrap_u: Wrap,
    /// Along v.
    pub wrap_v: Wrap,
}

impl Default for Sampler {
    /// Trilinear, repeating: what glTF leaves to the renderer.
    fn default() -> Self {
        Self {
            mag: Filter::Linear,
            min: Filter::Linear,
            mip: Some(Filter::Linear),
            wrap_u: Wrap::Repeat,
            wrap_v: Wrap::Repeat,
        }
    }
}

/// A decoded image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The image's name or URI.
    pub name: String,
    /// Texels per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// R, G, B, A bytes; rows from the top without padding: `width * height * 4` bytes.
    pub rgba8: Vec<u8>,
    /// Whether smaller levels are to be generated. False for a KTX2 file that says it has exactly one level.
    pub generate_mips: bool,
    /// Some texture reads it as sRGB.
    pub used_as_srgb: bool,
    /// Some texture reads it as linear.
    pub used_as_linear: bool,
}

/// A camera's projection; where it stands is its node's matter.
#[derive(Debug, Clone, PartialEq)]
pub struct Camera {
    /// The camera's name, empty if it has none.
    pub name: String,
    /// The projection.
    pub projection: Projection,
}

/// A projection in the file's terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Projection {
    /// Central perspective.
    Perspective {
        /// Vertical field of view, radians.
        yfov: f32,
        /// Width over height the author had in mind; a renderer uses its own picture's.
        aspect: Option<f32>,
        /// Distance of the near plane.
        znear: f32,
        /// Distance of the far plane; `None`: infinitely far.
        zfar: Option<f32>,
    },
    /// Parallel projection.
    Orthographic {
        /// Half the width of the view.
        xmag: f32,
        /// Half the height of the view.
        ymag: f32,
        /// Distance of the near plane.
        znear: f32,
        /// Distance of the far plane.
        zfar: f32,
    },
}

/// A light of KHR_lights_punctual, at its node, shining along the node's -Z.
#[derive(Debug, Clone, PartialEq)]
pub struct Light {
    /// The light's name, empty if it has none.
    pub name: String,
    /// Linear colour.
    pub color: Vec3,
    /// Lux for directional lights, candela for point and spot lights.
    pub intensity: f32,
    /// The kind and its own numbers.
    pub kind: LightKind,
}

/// The kinds of punctual lights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LightKind {
    /// Parallel light.
    Directional,
    /// In all directions.
    Point {
        /// Where the light ends; `None`: never.
        range: Option<f32>,
    },
    /// A cone.
    Spot {
        /// Where the light ends; `None`: never.
        range: Option<f32>,
        /// Angle from the axis where the falloff begins, radians.
        inner_cone: f32,
        /// Angle from the axis where the light ends, radians.
        outer_cone: f32,
    },
}

/// A light of the scene in world space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedLight {
    /// Into [`Scene::lights`].
    pub light: usize,
    /// Where it is; without meaning for directional lights.
    pub position: Vec3,
    /// The unit direction it shines in; without meaning for point lights.
    pub direction: Vec3,
}

/// An axis-aligned box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aabb {
    /// The lowest corner.
    pub min: Vec3,
    /// The highest corner.
    pub max: Vec3,
}

impl Aabb {
    /// The middle.
    #[must_use]
    pub fn center(&self) -> Vec3 {
        // Halved first, so that huge coordinates do not overflow.
        self.min * 0.5 + self.max * 0.5
    }

    /// Half the diagonal: the radius of the sphere around all corners.
    #[must_use]
    pub fn radius(&self) -> f32 {
        (self.max * 0.5 - self.min * 0.5).length()
    }
}

/// Above this many vertices over all instances the box is taken from the corners of each mesh's own box.
const EXACT_BOX_VERTICES: usize = 1 << 26;

impl Scene {
    /// Recomputes all [`Node::world`] from the local transforms, without recursion. Instances keep their matrices.
    pub(crate) fn update_world(&mut self) {
        let mut stack: Vec<usize> = (0..self.nodes.len()).filter(|&i| self.nodes[i].parent.is_none()).collect();
        while let Some(i) = stack.pop() {
            let above = self.nodes[i].parent.map_or(Mat4::IDENTITY, |p| self.nodes[p].world);
            self.nodes[i].world = above * self.nodes[i].transform.matrix();
            stack.extend_from_slice(&self.nodes[i].children);
        }
    }

    /// The lights of the scene, where they stand and shine.
    #[must_use]
    pub fn placed_lights(&self) -> Vec<PlacedLight> {
        let placed = |node: &Node| {
            let light = node.light.filter(|_| node.in_scene)?;
            let direction = (-node.world.z_axis.truncate()).normalize_or(Vec3::NEG_Z);
            Some(PlacedLight { light, position: node.world.w_axis.truncate(), direction })
        };
        self.nodes.iter().filter_map(placed).collect()
    }

    /// World-space box over all vertices drawn, exact per vertex (a conservative box from mesh boxes when instances
    /// multiply to more than 67 million vertices). `None` when nothing is drawn.
    #[must_use]
    pub fn bounds(&self) -> Option<Aabb> {
        let count = |m: &Mesh| m.primitives.iter().map(|p| p.positions.len()).sum::<usize>();
        let counts: Vec<usize> = self.meshes.iter().map(count).collect();
        let total = self.instances.iter().map(|i| counts[i.mesh]).fold(0, usize::saturating_add);
        let exact = total <= EXACT_BOX_VERTICES;
        let local: Vec<Option<Aabb>> = if exact { Vec::new() } else { self.meshes.iter().map(Mesh::bounds).collect() };
        let mut all = BoxBuilder::default();
        for instance in &self.instances {
            if exact {
                for primitive in &self.meshes[instance.mesh].primitives {
                    primitive.positions.iter().for_each(|p| all.add(instance.world.transform_point3((*p).into())));
                }
            } else if let Some(b) = local[instance.mesh] {
                for corner in 0..8u8 {
                    let pick = |bit: u8, low: f32, high: f32| if corner & (1 << bit) == 0 { low } else { high };
                    let p = Vec3::new(pick(0, b.min.x, b.max.x), pick(1, b.min.y, b.max.y), pick(2, b.min.z, b.max.z));
                    all.add(instance.world.transform_point3(p));
                }
            }
        }
        all.finish()
    }
}

impl Mesh {
    /// Box over all vertices in mesh space.
    #[must_use]
    pub fn bounds(&self) -> Option<Aabb> {
        let mut all = BoxBuilder::default();
        self.primitives.iter().flat_map(|p| &p.positions).for_each(|p| all.add((*p).into()));
        all.finish()
    }
}

/// Grows a box point by point.
#[derive(Default)]
struct BoxBuilder(Option<Aabb>);

impl BoxBuilder {
    fn add(&mut self, p: Vec3) {
        self.0 = Some(match self.0 {
            Some(b) => Aabb { min: b.min.min(p), max: b.max.max(p) },
            None => Aabb { min: p, max: p },
        });
    }

    fn finish(self) -> Option<Aabb> {
        self.0.filter(|b| b.min.is_finite() && b.max.is_finite())
    }
}
