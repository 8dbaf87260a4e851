//! The built-in demo scene: a row of spheres from smooth to rough, dielectric above metal, and what else shows a
//! renderer at work (glass, emission, cut-out, normal mapping, shadows), made from formulas alone.

mod shapes;
mod textures;

use glam::{Mat4, Quat, Vec2, Vec3, Vec4};

use crate::scene::{
    AlphaMode, Camera, Clearcoat, ColorSpace, Image, Instance, Light, LightKind, Material, Mesh, Node, Primitive,
    Projection, Sampler, Scene, Texture, TextureSlot, Transform, UvTransform,
};

/// Name of the demo scene's camera node.
pub const DEMO_CAMERA: &str = "hero";

/// Spheres in each row.
const ROW: usize = 6;
/// Their radius, metres.
const RADIUS: f32 = 0.5;
/// Half the ground's edge, metres.
const GROUND: f32 = 13.2;
/// Height of the step the metals stand on, metres.
const STEP: f32 = 0.62;

/// The demo scene: about 38 thousand triangles, 4 images, one directional light, one camera. The same every time.
#[must_use]
pub fn demo() -> Scene {
    let mut b = Builder::new();
    add_ground(&mut b);
    add_rows(&mut b);
    add_centrepieces(&mut b);
    add_boxes(&mut b);
    add_light_and_camera(&mut b);
    b.finish()
}

/// Collects parts; meshes are stored once and instanced.
struct Builder {
    scene: Scene,
}

impl Builder {
    fn new() -> Self {
        let materials = vec![Material { name: "default".to_owned(), ..Material::default() }];
        Self { scene: Scene { name: "demo".to_owned(), materials, ..Scene::default() } }
    }

    fn material(&mut self, name: &str, mut material: Material) -> usize {
        name.clone_into(&mut material.name);
        self.scene.materials.push(material);
        self.scene.materials.len() - 1
    }

    fn image(&mut self, image: Image, color_space: ColorSpace, repeat: Vec2) -> TextureSlot {
        let used_as_srgb = color_space == ColorSpace::Srgb;
        self.scene.images.push(Image { used_as_srgb, used_as_linear: !used_as_srgb, ..image });
        let image = self.scene.images.len() - 1;
        self.scene.textures.push(Texture { image, sampler: Sampler::default(), color_space });
        let transform = UvTransform { scale: repeat, ..UvTransform::IDENTITY };
        TextureSlot { texture: self.scene.textures.len() - 1, uv_set: 0, transform }
    }

    fn node(&mut self, name: String, transform: Transform) -> usize {
        self.scene.nodes.push(Node {
            name,
            parent: None,
            children: Vec::new(),
            transform,
            world: transform.matrix(),
            camera: None,
            light: None,
            in_scene: true,
        });
        self.scene.roots.push(self.scene.nodes.len() - 1);
        self.scene.nodes.len() - 1
    }

    /// Stores `shape` under `name` and places it.
    fn place(&mut self, name: &str, shape: Primitive, material: usize, transform: Transform) {
        let primitive = Primitive { material, ..shape };
        self.scene.meshes.push(Mesh { name: name.to_owned(), primitives: vec![primitive] });
        let node = self.node(name.to_owned(), transform);
        let mesh = self.scene.meshes.len() - 1;
        self.scene.instances.push(Instance { node, mesh, world: Mat4::IDENTITY, mirrored: false });
    }

    fn finish(mut self) -> Scene {
        self.scene.update_world();
        for instance in &mut self.scene.instances {
            instance.world = self.scene.nodes[instance.node].world;
            instance.mirrored = instance.world.determinant() < 0.0;
        }
        self.scene
    }
}

fn at(x: f32, y: f32, z: f32) -> Transform {
    turned(x, y, z, Quat::IDENTITY)
}

fn turned(x: f32, y: f32, z: f32, rotation: Quat) -> Transform {
    Transform::Trs { translation: Vec3::new(x, y, z), rotation, scale: Vec3::ONE }
}

fn dielectric(color: Vec3, roughness: f32) -> Material {
    Material { base_color: color.extend(1.0), metallic: 0.0, roughness, ..Material::default() }
}

fn metal(color: Vec3, roughness: f32) -> Material {
    Material { base_color: color.extend(1.0), metallic: 1.0, roughness, ..Material::default() }
}

fn add_ground(b: &mut Builder) {
    let repeat = Vec2::splat(GROUND / 1.1);
    let color = b.image(textures::checker(512), ColorSpace::Srgb, repeat);
    let normal = b.image(textures::tile_normals(512), ColorSpace::Linear, repeat);
    let rough = b.image(textures::tile_roughness(512), ColorSpace::Linear, repeat);
    let ground = b.material(
        "ground",
        Material {
            metallic: 0.0,
            base_color_texture: Some(color),
            normal_texture: Some(normal),
            normal_scale: 0.8,
            metallic_roughness_texture: Some(rough),
            ..Material::default()
        },
    );
    b.place("ground", shapes::plane(GROUND), ground, Transform::IDENTITY);
}

/// Two rows: dielectrics in front, metals behind, roughness rising from left to right.
fn add_rows(b: &mut Builder) {
    // Linear reflectances of metals, rounded: gold, copper, silver.
    let metals = [Vec3::new(1.0, 0.77, 0.34), Vec3::new(0.95, 0.64, 0.54), Vec3::new(0.97, 0.96, 0.92)];
    let paints = [Vec3::new(0.55, 0.04, 0.03), Vec3::new(0.03, 0.22, 0.42), Vec3::new(0.05, 0.30, 0.10)];
    for i in 0..ROW {
        let share = i as f32 / (ROW - 1) as f32;
        let x = (i as f32 - (ROW - 1) as f32 * 0.5) * 1.25;
        let roughness = 0.04 + 0.96 * share;
        let paint = b.material(&format!("paint {i}"), dielectric(paints[i / 2], roughness));
        b.place(&format!("paint sphere {i}"), shapes::sphere(RADIUS, 48), paint, at(x, RADIUS, 1.15));
        let shine = b.material(&format!("metal {i}"), metal(metals[i / 2], roughness));
        b.place(&format!("metal sphere {i}"), shapes::sphere(RADIUS, 48), shine, at(x, STEP + RADIUS, -0.35));
    }
    let stone = b.material("stone", dielectric(Vec3::new(0.34, 0.32, 0.30), 0.7));
    b.place("step", shapes::cuboid(Vec3::new(4.0, STEP * 0.5, 0.62)), stone, at(0.0, STEP * 0.5, -0.35));
}

fn add_centrepieces(b: &mut Builder) {
    let lacquer = Material {
        clearcoat: Some(Clearcoat {
            factor: 1.0,
            texture: None,
            roughness: 0.05,
            roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
        }),
        ..dielectric(Vec3::new(0.48, 0.10, 0.02), 0.35)
    };
    let lacquer = b.material("lacquer", lacquer);
    let lean = Quat::from_rotation_y(0.5) * Quat::from_rotation_x(1.25);
    b.place("torus", shapes::torus(0.95, 0.32, 96, 40), lacquer, turned(0.1, 1.26, -2.4, lean));

    let glass = Material {
        base_color: Vec4::new(0.75, 0.92, 1.0, 0.22),
        alpha_mode: AlphaMode::Blend,
        ..dielectric(Vec3::ONE, 0.03)
    };
    let glass = b.material("glass", glass);
    b.place("glass sphere", shapes::sphere(0.7, 64), glass, at(3.15, 0.7, 2.75));

    let alpha = b.image(textures::lattice(256), ColorSpace::Srgb, Vec2::splat(3.0));
    let lattice = Material {
        base_color_texture: Some(alpha),
        alpha_mode: AlphaMode::Mask { cutoff: 0.5 },
        double_sided: true,
        ..dielectric(Vec3::ONE, 0.6)
    };
    let lattice = b.material("lattice", lattice);
    let upright = Quat::from_rotation_y(0.55) * Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    b.place("lattice", shapes::plane(1.4), lattice, turned(-3.0, 1.4, -2.5, upright));
}

fn add_boxes(b: &mut Builder) {
    let chalk = b.material("chalk", dielectric(Vec3::splat(0.72), 0.9));
    let box_shape = |x, y, z| shapes::cuboid(Vec3::new(x, y, z));
    b.place("tall box", box_shape(0.45, 1.35, 0.45), chalk, turned(3.1, 1.35, -2.6, Quat::from_rotation_y(0.4)));
    b.place("flat box", box_shape(0.55, 0.3, 0.55), chalk, turned(-3.0, 0.3, 2.7, Quat::from_rotation_y(-0.35)));
    let lamp = Material { emissive: Vec3::new(6.0, 2.6, 0.7), ..dielectric(Vec3::splat(0.02), 0.5) };
    let lamp = b.material("lamp", lamp);
    b.place("lamp", box_shape(0.22, 0.22, 0.22), lamp, turned(-3.0, 0.82, 2.7, Quat::from_rotation_y(0.3)));
}

fn add_light_and_camera(b: &mut Builder) {
    let toward_light = Vec3::new(0.45, 0.8, 0.4).normalize();
    // Lights and cameras look along -Z.
    let shine = Quat::from_rotation_arc(Vec3::Z, toward_light);
    let sun = b.node("sun".to_owned(), turned(0.0, 0.0, 0.0, shine));
    let kind = LightKind::Directional;
    b.scene.lights.push(Light { name: "sun".to_owned(), color: Vec3::new(1.0, 0.95, 0.87), intensity: 3.4, kind });
    b.scene.nodes[sun].light = Some(0);

    let eye = Vec3::new(1.7, 3.7, 9.2);
    let target = Vec3::new(0.0, 0.95, 0.0);
    let back = (eye - target).normalize();
    let right = Vec3::Y.cross(back).normalize();
    let rotation = Quat::from_mat3(&glam::Mat3::from_cols(right, back.cross(right), back));
    let hero = b.node(DEMO_CAMERA.to_owned(), turned(eye.x, eye.y, eye.z, rotation));
    let projection = Projection::Perspective { yfov: 38f32.to_radians(), aspect: None, znear: 0.1, zfar: None };
    b.scene.cameras.push(Camera { name: DEMO_CAMERA.to_owned(), projection });
    b.scene.nodes[hero].camera = Some(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::CameraChoice;

    #[test]
    fn demo_is_sound_and_the_same_every_time() {
        let scene = demo();
        assert_eq!(scene, demo());
        for p in scene.meshes.iter().flat_map(|m| &m.primitives) {
            let count = p.positions.len();
            assert!(p.indices.iter().all(|i| (*i as usize) < count) && p.indices.len() % 3 == 0);
            assert_eq!((p.normals.len(), p.uv0.len()), (count, count));
            assert!(p.normals.iter().all(|n| (Vec3::from(*n).length() - 1.0).abs() < 1e-5));
            let mapped = scene.materials[p.material].normal_texture.is_some();
            assert!(p.tangents.len() == count || (!mapped && p.tangents.is_empty()));
        }
        for image in &scene.images {
            assert_eq!(image.rgba8.len(), (image.width * image.height * 4) as usize);
        }
    }

    #[test]
    fn triangles_face_along_their_normals() {
        for p in demo().meshes.iter().flat_map(|m| &m.primitives) {
            for t in p.indices.as_chunks::<3>().0 {
                let [a, b, c] = t.map(|i| Vec3::from(p.positions[i as usize]));
                let face = (b - a).cross(c - a);
                let normal: Vec3 = t.iter().map(|i| Vec3::from(p.normals[*i as usize])).sum();
                assert!(face.length() < 1e-7 || face.dot(normal) > 0.0);
            }
        }
    }

    #[test]
    fn the_hero_camera_sees_every_part() {
        let scene = demo();
        let view = scene.view(&CameraChoice::Named(DEMO_CAMERA.to_owned())).unwrap();
        let clip = view.clip_from_world(16.0 / 9.0);
        for instance in &scene.instances {
            let name = &scene.nodes[instance.node].name;
            let centre = clip.project_point3(instance.world.transform_point3(Vec3::ZERO));
            assert!(centre.x.abs() < 0.9 && centre.y.abs() < 0.9, "{name} is at {centre}");
        }
    }
}
