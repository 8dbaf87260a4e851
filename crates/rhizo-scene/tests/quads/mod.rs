//! Quads facing +Z in front of a camera, and the numbers they should give.

use glam::{Mat4, Vec2, Vec3};
use rhizo_scene::camera::{self, Orbit};
use rhizo_scene::hdr::Equirect;
use rhizo_scene::render::{Background, Environment, Picture, Preset, RenderOptions, SceneRenderer};
use rhizo_scene::scene::{
    ColorSpace, Filter, Image, Instance, Light, LightKind, Material, Mesh, Node, Primitive, Sampler, Scene, Texture,
    Topology, Transform,
};
use rhizo_testkit::gpu::Gpu;
use std::f32::consts::PI;

/// Texels along a picture.
pub const SIZE: u32 = 64;
/// Linear background.
pub const BACKGROUND: f32 = 0.18;

/// No lights, clamped, a constant background.
pub fn options() -> RenderOptions {
    RenderOptions {
        width: SIZE,
        height: SIZE,
        background: Background::Constant(Vec3::splat(BACKGROUND)),
        split_sum_margin: 0.0,
        ..Preset::ReferenceEnv.options()
    }
}

/// The same radiance from everywhere.
pub fn uniform(radiance: f32) -> Equirect {
    Equirect { width: 32, height: 16, rgb: vec![[radiance; 3]; 512] }
}

/// No light from the environment.
pub fn black() -> Equirect {
    uniform(0.0)
}

/// Linear 0..1 to 8 bits.
pub fn srgb(linear: f32) -> u8 {
    let c = linear.clamp(0.0, 1.0);
    let c = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
    (c * 255.0).round() as u8
}

/// 8 bits to linear.
pub fn linear(code: u8) -> f32 {
    let c = f32::from(code) / 255.0;
    if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// Sum of channels.
pub fn brightness(pixel: [u8; 3]) -> u32 {
    pixel.iter().map(|c| u32::from(*c)).sum()
}

/// Channels may differ by `tolerance` levels.
pub fn near(pixel: [u8; 3], expected: [u8; 3], tolerance: u8, what: &str) {
    let far = pixel.iter().zip(expected).any(|(a, b)| a.abs_diff(b) > tolerance);
    assert!(!far, "{what}: {pixel:?} instead of {expected:?}");
}

/// Radiance per irradiance perpendicular to `l`: a dielectric of F0 0.04 (glTF 2.0, appendix B).
pub fn lambert_and_ggx(color: Vec3, roughness: f32, n: Vec3, l: Vec3, v: Vec3) -> Vec3 {
    let (a2, h) = (roughness.powi(4), (l + v).normalize());
    let (nl, nv, nh, vh) = (n.dot(l).max(0.0), n.dot(v).max(0.0), n.dot(h), v.dot(h));
    let d = a2 / (PI * (nh * nh * (a2 - 1.0) + 1.0).powi(2));
    let g = 0.5 / (nl * (a2 + (1.0 - a2) * nv * nv).sqrt() + nv * (a2 + (1.0 - a2) * nl * nl).sqrt());
    let f = 0.04 + 0.96 * (1.0 - vh).powi(5);
    (Vec3::splat(d * g * f) + color * ((1.0 - f) / PI)) * nl
}

/// A camera around the origin.
#[derive(Clone, Copy)]
pub struct View(camera::View);

impl View {
    /// Yaw in degrees from +Z towards +X.
    pub fn orbit(yaw_degrees: f32, distance: f32) -> Self {
        Self::orbit_pitched(yaw_degrees, 0.0, distance)
    }

    /// Pitch in degrees upwards.
    pub fn orbit_pitched(yaw_degrees: f32, pitch_degrees: f32, distance: f32) -> Self {
        Self(Orbit { target: Vec3::ZERO, yaw_degrees, pitch_degrees, distance, yfov_degrees: 45.0 }.view())
    }

    pub fn toward_eye(&self, point: Vec3) -> Vec3 {
        (self.0.eye() - point).normalize()
    }
}

/// A finished picture that knows its camera.
pub struct Drawn {
    picture: Picture,
    view: View,
}

impl std::ops::Deref for Drawn {
    type Target = Picture;

    fn deref(&self) -> &Picture {
        &self.picture
    }
}

impl Drawn {
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let at = ((y * self.picture.width + x) * 4) as usize;
        [self.picture.rgba8[at], self.picture.rgba8[at + 1], self.picture.rgba8[at + 2]]
    }

    pub fn center(&self) -> [u8; 3] {
        self.pixel(self.picture.width / 2, self.picture.height / 2)
    }

    /// The pixel that shows a point.
    pub fn at_world(&self, point: Vec3) -> [u8; 3] {
        let ndc = self.view.0.clip_from_world(1.0).project_point3(point);
        let scale = |c: f32| ((c * 0.5 + 0.5) * SIZE as f32) as u32;
        self.pixel(scale(ndc.x), scale(-ndc.y))
    }
}

/// A scene of quads from -1 to 1.
pub struct Quads {
    pub scene: Scene,
    pub view: View,
}

/// Texture coordinates of a point of the quad; set 1 runs the other way along u.
pub fn uv_of(point: Vec2, set: u32) -> Vec2 {
    let u = point.x * 0.5 + 0.5;
    Vec2::new(if set == 0 { u } else { 1.0 - u }, 0.5 - point.y * 0.5)
}

fn quad(material: usize) -> Primitive {
    let corners = [Vec2::new(-1.0, -1.0), Vec2::new(1.0, -1.0), Vec2::new(1.0, 1.0), Vec2::new(-1.0, 1.0)];
    let uv = |set| corners.map(|c| uv_of(c, set).to_array()).to_vec();
    Primitive {
        topology: Topology::Triangles,
        positions: corners.map(|c| [c.x, c.y, 0.0]).to_vec(),
        normals: vec![[0.0, 0.0, 1.0]; 4],
        tangents: vec![[1.0, 0.0, 0.0, 1.0]; 4],
        uv0: uv(0),
        uv1: uv(1),
        colors: Vec::new(),
        indices: vec![0, 1, 2, 0, 2, 3],
        material,
    }
}

const FOUR: [[u8; 4]; 4] = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255]];

/// The texel of [`Quads::four_colors`] at texture coordinates, which repeat.
pub fn four_colors_at(uv: Vec2) -> [u8; 3] {
    let cell = |c: f32| usize::from(c.rem_euclid(1.0) >= 0.5);
    let texel = FOUR[cell(uv.y) * 2 + cell(uv.x)];
    [texel[0], texel[1], texel[2]]
}

impl Quads {
    pub fn empty() -> Self {
        Self { scene: Scene::default(), view: View::orbit(0.0, 3.0) }
    }

    /// One quad.
    pub fn new(material: Material) -> Self {
        let mut quads = Self::empty();
        quads.add(material, Mat4::IDENTITY);
        quads
    }

    /// Adds a quad of a new material.
    pub fn add(&mut self, material: Material, world: Mat4) {
        self.scene.materials.push(material);
        let primitive = quad(self.scene.materials.len() - 1);
        self.scene.meshes.push(Mesh { name: String::new(), primitives: vec![primitive] });
        self.instance(self.scene.meshes.len() - 1, world);
    }

    /// Places a mesh once more.
    pub fn place(&mut self, mesh: usize, world: Mat4) {
        self.instance(mesh, world);
    }

    /// Places a mesh, and nothing else.
    pub fn place_only(&mut self, mesh: usize, world: Mat4) {
        self.scene.instances.clear();
        self.instance(mesh, world);
    }

    fn node(&mut self, world: Mat4, light: Option<usize>) -> usize {
        self.scene.nodes.push(Node {
            name: String::new(),
            parent: None,
            children: Vec::new(),
            transform: Transform::Matrix(world),
            world,
            camera: None,
            light,
            in_scene: true,
        });
        self.scene.roots.push(self.scene.nodes.len() - 1);
        self.scene.nodes.len() - 1
    }

    fn instance(&mut self, mesh: usize, world: Mat4) {
        let node = self.node(world, None);
        self.scene.instances.push(Instance { node, mesh, world, mirrored: world.determinant() < 0.0 });
    }

    pub fn light(&mut self, kind: LightKind, intensity: f32, world: Mat4) {
        self.scene.lights.push(Light { name: String::new(), color: Vec3::ONE, intensity, kind });
        self.node(world, Some(self.scene.lights.len() - 1));
    }

    pub fn colors(&mut self, color: [f32; 4]) {
        self.scene.meshes[0].primitives[0].colors = vec![color; 4];
    }

    fn texture(&mut self, width: u32, texels: &[[u8; 4]], color_space: ColorSpace) -> usize {
        self.scene.images.push(Image {
            name: "test".to_owned(),
            width,
            height: texels.len() as u32 / width,
            rgba8: texels.concat(),
            generate_mips: false,
            used_as_srgb: color_space == ColorSpace::Srgb,
            used_as_linear: color_space == ColorSpace::Linear,
        });
        let nearest = Sampler { mag: Filter::Nearest, min: Filter::Nearest, mip: None, ..Sampler::default() };
        self.scene.textures.push(Texture { image: self.scene.images.len() - 1, sampler: nearest, color_space });
        self.scene.textures.len() - 1
    }

    /// Red, green; blue, white.
    pub fn four_colors(&mut self) -> usize {
        self.texture(2, &FOUR, ColorSpace::Srgb)
    }

    /// The same normal everywhere.
    pub fn flat_normal(&mut self, normal: Vec3) -> usize {
        let code = |c: f32| ((c * 0.5 + 0.5) * 255.0).round() as u8;
        self.texture(1, &[[code(normal.x), code(normal.y), code(normal.z), 255]], ColorSpace::Linear)
    }

    pub fn draw(&self, gpu: &Gpu, environment: &Equirect, options: &RenderOptions) -> Drawn {
        let mut renderer = SceneRenderer::new(&gpu.device).expect("a renderer");
        let environment = renderer.environment(environment).expect("an environment");
        self.draw_in(&mut renderer, &environment, options)
    }

    pub fn draw_in(&self, renderer: &mut SceneRenderer, environment: &Environment, options: &RenderOptions) -> Drawn {
        let scene = renderer.upload(&self.scene, 1).expect("an upload");
        let picture = renderer.render(&scene, environment, &self.view.0, options).expect("a picture");
        Drawn { picture, view: self.view }
    }
}
