//! Small documents for what no shared file covers.

use std::time::{Duration, Instant};

use glam::{Vec2, Vec3};
use serde_json::{Value, json};

use super::bake::to_list;
use super::mesh::Mode;
use super::*;
use crate::scene::{AlphaMode, ColorSpace, Primitive, Topology};

/// A GLB file from a document and its binary chunk.
fn glb(document: &Value, bin: &[u8]) -> Vec<u8> {
    let mut text = serde_json::to_vec(document).unwrap();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut bin = bin.to_vec();
    bin.resize(bin.len().next_multiple_of(4), 0);
    let mut out = b"glTF".to_vec();
    for word in [2, 12 + 8 + text.len() + 8 + bin.len(), text.len(), 0x4E4F_534A] {
        out.extend((word as u32).to_le_bytes());
    }
    out.extend(text);
    out.extend((bin.len() as u32).to_le_bytes());
    out.extend(0x004E_4942u32.to_le_bytes());
    out.extend(bin);
    out
}

/// Accessors over one binary chunk, in the order added.
#[derive(Default)]
struct Bin {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Bin {
    fn view(&mut self, bytes: &[u8]) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views.push(json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()}));
        self.bytes.extend(bytes);
        self.views.len() - 1
    }

    fn accessor(&mut self, bytes: &[u8], accessor: Value) -> usize {
        let mut accessor = accessor;
        accessor["bufferView"] = self.view(bytes).into();
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn floats(&mut self, kind: &str, width: usize, values: &[f32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.accessor(&bytes, json!({"componentType": 5126, "type": kind, "count": values.len() / width}))
    }

    fn triangle(&mut self) -> usize {
        self.floats("VEC3", 3, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    }

    /// The file with the rest of the document given.
    fn file(&self, rest: &Value) -> Vec<u8> {
        let mut document = rest.clone();
        document["asset"] = json!({"version": "2.0"});
        document["buffers"] = json!([{"byteLength": self.bytes.len()}]);
        document["bufferViews"] = self.views.clone().into();
        document["accessors"] = self.accessors.clone().into();
        glb(&document, &self.bytes)
    }

    fn import(&self, rest: &Value) -> std::result::Result<Scene, ImportError> {
        import_slice(&self.file(rest), None, &Limits::default())
    }
}

fn only_primitive(scene: &Scene) -> &Primitive {
    assert_eq!((scene.meshes.len(), scene.meshes[0].primitives.len()), (1, 1));
    &scene.meshes[0].primitives[0]
}

/// A document that shows one primitive.
fn showing(primitive: &Value) -> Value {
    json!({"scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}], "meshes": [{"primitives": [primitive]}]})
}

/// A PNG of one texel, 1 x 1 RGBA.
fn tiny_png() -> Vec<u8> {
    let mut bytes = Vec::new();
    let texel = ::image::RgbaImage::from_pixel(1, 1, ::image::Rgba([10, 20, 30, 40]));
    texel.write_to(&mut std::io::Cursor::new(&mut bytes), ::image::ImageFormat::Png).unwrap();
    bytes
}

#[test]
fn mask_material_and_texture_transform() {
    let mut bin = Bin::default();
    let position = bin.triangle();
    let png = bin.view(&tiny_png());
    let mut document = showing(&json!({"attributes": {"POSITION": position}, "material": 0}));
    document["images"] = json!([{"bufferView": png, "mimeType": "image/png"}]);
    document["textures"] = json!([{"source": 0}]);
    let transform =
        json!({"offset": [0.5, 0.25], "rotation": std::f32::consts::FRAC_PI_2, "scale": [2.0, 3.0], "texCoord": 1});
    document["materials"] = json!([{
        "alphaMode": "MASK", "alphaCutoff": 0.3,
        "pbrMetallicRoughness": {
            "baseColorTexture": {"index": 0, "extensions": {"KHR_texture_transform": transform}},
            "metallicRoughnessTexture": {"index": 0},
        },
    }]);
    let scene = bin.import(&document).unwrap();
    let material = &scene.materials[only_primitive(&scene).material];
    assert_eq!(material.alpha_mode, AlphaMode::Mask { cutoff: 0.3 });
    let slot = material.base_color_texture.unwrap();
    assert_eq!(slot.uv_set, 1);
    // Scaled to (2, 0), turned counter-clockwise on screen (v points down, so towards -v), then moved.
    let turned = slot.transform.affine().transform_point2(Vec2::new(1.0, 0.0));
    assert!(turned.abs_diff_eq(Vec2::new(0.5, 0.25 - 2.0), 1e-6), "{turned}");
    let turned = slot.transform.affine().transform_point2(Vec2::new(0.0, 1.0));
    assert!(turned.abs_diff_eq(Vec2::new(0.5 + 3.0, 0.25), 1e-6), "{turned}");
    // One file texture used as colour and as data.
    let spaces: Vec<_> = scene.textures.iter().map(|t| (t.image, t.color_space)).collect();
    assert_eq!(spaces, [(0, ColorSpace::Srgb), (0, ColorSpace::Linear)]);
    assert_eq!((scene.images.len(), &scene.images[0].rgba8[..]), (1, &[10, 20, 30, 40][..]));
    assert!(scene.images[0].used_as_srgb && scene.images[0].used_as_linear);
}

#[test]
fn sparse_positions_replace_zeros() {
    let mut bin = Bin::default();
    let indices = bin.view(&[1, 2]);
    let values: Vec<u8> = [1.0f32, 0.0, 0.0, 0.0, 2.0, 0.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let values = bin.view(&values);
    let sparse = |count: usize| json!({"count": count, "indices": {"bufferView": indices, "componentType": 5121}, "values": {"bufferView": values}});
    bin.accessors.push(json!({"componentType": 5126, "type": "VEC3", "count": 3, "sparse": sparse(2)}));
    let scene = bin.import(&showing(&json!({"attributes": {"POSITION": 0}}))).unwrap();
    assert_eq!(only_primitive(&scene).positions, [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]);
    // Index 2 names no element of two.
    bin.accessors[0]["count"] = 2.into();
    let error = bin.import(&showing(&json!({"attributes": {"POSITION": 0}}))).unwrap_err();
    assert_eq!(error.json_path, "/accessors/0/sparse/indices");
    assert!(matches!(*error.reason, Reason::Range(_)), "{error}");
}

#[test]
fn strips_loops_and_fans_become_lists() {
    let list = |mode, count: u32| to_list(mode, (0..count).collect());
    assert_eq!(list(Mode::TriangleStrip, 5), (Topology::Triangles, vec![0, 1, 2, 1, 3, 2, 2, 3, 4]));
    assert_eq!(list(Mode::TriangleFan, 5), (Topology::Triangles, vec![1, 2, 0, 2, 3, 0, 3, 4, 0]));
    assert_eq!(list(Mode::Triangles, 5), (Topology::Triangles, vec![0, 1, 2]));
    assert_eq!(list(Mode::LineStrip, 3), (Topology::Lines, vec![0, 1, 1, 2]));
    assert_eq!(list(Mode::LineLoop, 3), (Topology::Lines, vec![0, 1, 1, 2, 2, 0]));
    assert_eq!(list(Mode::Lines, 3), (Topology::Lines, vec![0, 1]));
    assert_eq!(list(Mode::Points, 2), (Topology::Points, vec![0, 1]));
    for mode in [Mode::TriangleStrip, Mode::TriangleFan, Mode::LineStrip, Mode::LineLoop, Mode::Lines] {
        assert_eq!(list(mode, 1).1, [] as [u32; 0], "{mode:?}");
        assert_eq!(list(mode, 0).1, [] as [u32; 0], "{mode:?}");
    }
}

#[test]
fn strip_in_a_file_faces_one_way() {
    let mut bin = Bin::default();
    let position = bin.floats("VEC3", 3, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]);
    let scene = bin.import(&showing(&json!({"attributes": {"POSITION": position}, "mode": 5}))).unwrap();
    let p = only_primitive(&scene);
    assert_eq!((p.indices.len(), p.positions.len()), (6, 6), "flat-shaded corners are not shared");
    assert!(p.normals.iter().all(|n| *n == [0.0, 0.0, 1.0]), "{:?}", p.normals);
}

#[test]
fn points_and_lines_have_no_normals() {
    let mut bin = Bin::default();
    let position = bin.triangle();
    let scene = bin.import(&showing(&json!({"attributes": {"POSITION": position}, "mode": 0}))).unwrap();
    let p = only_primitive(&scene);
    assert_eq!((p.topology, p.normals.len(), p.positions.len()), (Topology::Points, 0, 3));
}

#[test]
fn negative_scale_is_mirrored() {
    let mut bin = Bin::default();
    let position = bin.triangle();
    let mut document = showing(&json!({"attributes": {"POSITION": position}}));
    document["nodes"] =
        json!([{"mesh": 0, "scale": [-2.0, 1.0, 1.0], "children": [1]}, {"mesh": 0, "scale": [1.0, -1.0, 1.0]}]);
    let scene = bin.import(&document).unwrap();
    assert_eq!(scene.meshes.len(), 1, "both instances share the mesh");
    let mirrored: Vec<bool> = scene.instances.iter().map(|i| i.mirrored).collect();
    assert_eq!(mirrored, [true, false], "two mirrors make a turn");
    let bounds = scene.bounds().unwrap();
    assert_eq!((bounds.min, bounds.max), (Vec3::new(-2.0, -1.0, 0.0), Vec3::new(0.0, 1.0, 0.0)));
    let normal = scene.instances[0].normal_matrix() * Vec3::new(1.0, 0.0, 1.0);
    assert!(normal.normalize().abs_diff_eq(Vec3::new(-0.5, 0.0, 1.0).normalize(), 1e-6), "{normal}");
}

#[test]
fn morph_weights_are_baked() {
    let mut bin = Bin::default();
    let base = bin.triangle();
    let up = bin.floats("VEC3", 3, &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    let mut document = showing(&json!({"attributes": {"POSITION": base}, "targets": [{"POSITION": up}]}));
    document["meshes"][0]["weights"] = json!([0.5]);
    document["nodes"] = json!([{"mesh": 0}, {"mesh": 0, "weights": [2.0]}, {"mesh": 0}]);
    document["scenes"] = json!([{"nodes": [0, 1, 2]}]);
    let scene = bin.import(&document).unwrap();
    let heights: Vec<f32> =
        scene.instances.iter().map(|i| scene.meshes[i.mesh].primitives[0].positions[0][2]).collect();
    assert_eq!(heights, [0.5, 2.0, 0.5]);
    assert_eq!(scene.meshes.len(), 2, "equal poses share a mesh");
    document["meshes"][0]["weights"] = json!([0.5, 0.1]);
    assert_eq!(bin.import(&document).unwrap_err().json_path, "/meshes/0/weights");
}

/// A triangle whose third corner follows the second joint.
fn skinned(bin: &mut Bin) -> Value {
    let position = bin.triangle();
    let joints =
        bin.accessor(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0], json!({"componentType": 5121, "type": "VEC4", "count": 3}));
    let weights = bin.floats("VEC4", 4, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0]);
    let mut down = [0.0f32; 32];
    for (i, value) in down.iter_mut().enumerate() {
        *value = if i % 16 % 5 == 0 { 1.0 } else { 0.0 };
    }
    down[16 + 13] = -1.0; // The second joint was bound one unit up.
    let inverse_bind = bin.floats("MAT4", 16, &down);
    let attributes = json!({"POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights});
    let mut document = showing(&json!({"attributes": attributes}));
    let half_turn = [0.0, 0.0, 1.0, 0.0];
    document["nodes"] = json!([
        {"mesh": 0, "skin": 0, "translation": [100.0, 0.0, 0.0]},
        {"translation": [0.0, 0.0, 5.0], "children": [2]},
        {"translation": [0.0, 3.0, 0.0], "rotation": half_turn},
    ]);
    document["scenes"] = json!([{"nodes": [0, 1]}]);
    document["skins"] = json!([{"joints": [1, 2], "inverseBindMatrices": inverse_bind}]);
    document
}

#[test]
fn posed_skin_moves_with_its_joints_only() {
    let mut bin = Bin::default();
    let document = skinned(&mut bin);
    let scene = bin.import(&document).unwrap();
    assert_eq!(scene.instances[0].world, Mat4::IDENTITY, "the node's own translation does not count");
    let p = only_primitive(&scene);
    let at = |i: usize| Vec3::from(p.positions[i]);
    assert!(at(0).abs_diff_eq(Vec3::new(0.0, 0.0, 5.0), 1e-6));
    assert!(at(1).abs_diff_eq(Vec3::new(1.0, 0.0, 5.0), 1e-6));
    // (0, 1, 0) is the joint's origin in bind space; its weight of one half is normalised.
    assert!(at(2).abs_diff_eq(Vec3::new(0.0, 3.0, 5.0), 1e-6), "{}", at(2));
}

#[test]
fn skins_are_checked() {
    let mut bin = Bin::default();
    let mut document = skinned(&mut bin);
    document["skins"][0]["joints"] = json!([1]);
    let error = bin.import(&document).unwrap_err();
    assert!(error.to_string().contains("follows joint 1 of 1"), "{error}");
    document["skins"][0]["joints"] = json!([1, 2, 1]);
    let error = bin.import(&document).unwrap_err();
    assert_eq!(error.json_path, "/skins/0");
}

#[test]
fn colours_and_normalised_integers() {
    let mut bin = Bin::default();
    let position = bin.triangle();
    let rgb = json!({"componentType": 5121, "type": "VEC3", "count": 3, "normalized": true});
    let color = bin.accessor(&[255, 0, 51, 0, 255, 0, 0, 0, 255], rgb);
    let scene = bin.import(&showing(&json!({"attributes": {"POSITION": position, "COLOR_0": color}}))).unwrap();
    assert_eq!(only_primitive(&scene).colors[0], [1.0, 0.0, 0.2, 1.0]);
    assert_eq!(only_primitive(&scene).interleaved()[1].color, [0.0, 1.0, 0.0, 1.0]);
    // Quantised positions: legal only with the extension; -128 and -127 are both -1.
    let quantised = json!({"componentType": 5120, "type": "VEC3", "count": 3, "normalized": true});
    let position = bin.accessor(&[128, 0, 0, 127, 0, 0, 129, 127, 0], quantised);
    let mut document = showing(&json!({"attributes": {"POSITION": position}}));
    let error = bin.import(&document).unwrap_err();
    assert_eq!(error.json_path, "/meshes/0/primitives/0/attributes/POSITION");
    document["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    document["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let scene = bin.import(&document).unwrap();
    assert_eq!(only_primitive(&scene).positions, [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [-1.0, 1.0, 0.0]]);
}

#[test]
fn indices_are_checked() {
    let mut bin = Bin::default();
    let position = bin.triangle();
    let indices = bin.accessor(&[0, 0, 1, 0, 3, 0], json!({"componentType": 5123, "type": "SCALAR", "count": 3}));
    let error = bin.import(&showing(&json!({"attributes": {"POSITION": position}, "indices": indices}))).unwrap_err();
    assert_eq!(error.to_string(), "<memory> at /accessors/1: out of range: index 2 is 3, but there are 3 vertices");
}

#[test]
fn not_a_number_is_refused() {
    let mut bin = Bin::default();
    let position = bin.floats("VEC3", 3, &[0.0, 0.0, 0.0, f32::NAN, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let error = bin.import(&showing(&json!({"attributes": {"POSITION": position}}))).unwrap_err();
    assert!(error.to_string().contains("element 1 is not a finite number"), "{error}");
}

#[test]
fn missing_tangents_are_generated_for_normal_maps() {
    let mut bin = Bin::default();
    let position = bin.triangle();
    let uv = bin.floats("VEC2", 2, &[0.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    let png = bin.view(&tiny_png());
    let mut document = showing(&json!({"attributes": {"POSITION": position, "TEXCOORD_0": uv}, "material": 0}));
    document["images"] = json!([{"bufferView": png}]);
    document["textures"] = json!([{"source": 0}]);
    document["materials"] = json!([{"normalTexture": {"index": 0, "scale": 0.5}}]);
    let scene = bin.import(&document).unwrap();
    // u grows along +X; the image's up is +Y, and so is cross(normal, tangent) * w.
    assert_eq!(only_primitive(&scene).tangents, [[1.0, 0.0, 0.0, 1.0]; 3]);
    assert_eq!(scene.materials[1].normal_scale, 0.5);
}

#[test]
fn degenerate_meshes_get_tangents_in_time() {
    let count = 150_000;
    let mut p = Primitive {
        positions: vec![[0.0; 3]; count],
        normals: vec![[0.0, 0.0, 1.0]; count],
        uv0: vec![[0.5; 2]; count],
        indices: (0..count as u32).collect(),
        ..Primitive::default()
    };
    let started = Instant::now();
    crate::tangent::generate(&mut p, 0);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert!(p.tangents.iter().all(|t| Vec3::new(t[0], t[1], t[2]).is_normalized()));
}

#[test]
fn cameras_and_lights_stand_at_their_nodes() {
    let document = json!({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [
            {"translation": [0.0, 0.0, 7.0], "scale": [2.0, 2.0, 2.0], "camera": 0, "name": "front", "children": [1]},
            {"extensions": {"KHR_lights_punctual": {"light": 0}}},
        ],
        "cameras": [{"type": "perspective", "perspective": {"yfov": 1.0, "znear": 0.1}}],
        "extensions": {"KHR_lights_punctual": {"lights": [{"type": "spot", "intensity": 3.0, "range": 4.0}]}},
        "extensionsRequired": ["KHR_lights_punctual"], "extensionsUsed": ["KHR_lights_punctual"],
    });
    let scene = import_slice(document.to_string().as_bytes(), None, &Limits::default()).unwrap();
    let lights = scene.placed_lights();
    assert_eq!((lights.len(), lights[0].light), (1, 0));
    assert_eq!((lights[0].position, lights[0].direction), (Vec3::new(0.0, 0.0, 7.0), Vec3::NEG_Z));
    for choice in ["auto", "front", "0"] {
        let view = scene.view(&choice.parse().unwrap()).unwrap();
        assert_eq!(view.eye(), Vec3::new(0.0, 0.0, 7.0));
        assert_eq!(view.view_from_world().transform_point3(Vec3::ZERO), Vec3::new(0.0, 0.0, -7.0), "without scale");
    }
    let error = scene.view(&"back".parse().unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "the scene has no camera \"back\"; it has 0 (front)");
}

fn error_of(document: &Value) -> ImportError {
    import_slice(document.to_string().as_bytes(), None, &Limits::default()).unwrap_err()
}

#[test]
fn hierarchies_that_are_no_trees_are_refused() {
    let asset = json!({"version": "2.0"});
    let error = error_of(&json!({"asset": asset, "nodes": [{}, {"children": [2]}, {"children": [1]}]}));
    assert_eq!(error.json_path, "/nodes/1");
    let error = error_of(&json!({"asset": asset, "nodes": [{"children": [2]}, {"children": [2]}, {}]}));
    assert_eq!(error.json_path, "/nodes/1/children/0");
    let error = error_of(&json!({"asset": asset, "nodes": [{"children": [0]}]}));
    assert_eq!(error.json_path, "/nodes/0");
}

#[test]
fn transforms_that_overflow_are_refused() {
    let node = json!({"scale": [1e30, 1e30, 1e30]});
    let nodes = json!([{"scale": [1e30, 1.0, 1.0], "children": [1]}, node]);
    let error = error_of(&json!({"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": nodes}));
    assert_eq!(error.to_string(), "<memory> at /nodes/1: the node's world matrix is not finite");
}

#[test]
fn a_very_deep_hierarchy_does_not_recurse() {
    let count = 200_000;
    let node = |i: usize| if i + 1 < count { json!({"children": [i + 1]}) } else { json!({}) };
    let nodes: Vec<Value> = (0..count).map(node).collect();
    let document = json!({"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": nodes});
    let scene = import_slice(document.to_string().as_bytes(), None, &Limits::default()).unwrap();
    assert!(scene.nodes.iter().all(|n| n.in_scene));
    let deep = "[".repeat(1_000_000);
    let error = import_slice(deep.as_bytes(), None, &Limits::default()).unwrap_err();
    assert!(matches!(*error.reason, Reason::Json(_)), "{error}");
}

fn limit_of(error: &ImportError) -> &'static str {
    match *error.reason {
        Reason::Limit { what, .. } => what,
        ref other => panic!("a limit was expected: {other:?}"),
    }
}

#[test]
fn claims_are_checked_before_memory_is_taken() {
    let mut bin = Bin::default();
    bin.view(&[0; 4]);
    // No bufferView: zeros, as many as the file likes to claim.
    bin.accessors.push(json!({"componentType": 5126, "type": "VEC3", "count": 1u64 << 50}));
    let error = bin.import(&showing(&json!({"attributes": {"POSITION": 0}}))).unwrap_err();
    assert_eq!(limit_of(&error), "the number of vertices");
    bin.accessors[0]["count"] = (1 << 27).into();
    let limits = Limits { max_total_bytes: 1 << 20, ..Limits::default() };
    let file = bin.file(&showing(&json!({"attributes": {"POSITION": 0}})));
    assert_eq!(limit_of(&import_slice(&file, None, &limits).unwrap_err()), "the bytes in memory");
    let many = json!({"asset": {"version": "2.0"}, "nodes": [{}, {}, {}]}).to_string();
    let limits = Limits { max_nodes: 2, ..Limits::default() };
    assert_eq!(limit_of(&import_slice(many.as_bytes(), None, &limits).unwrap_err()), "the number of nodes");
    let limits = Limits { max_json_values: 4, ..Limits::default() };
    assert_eq!(limit_of(&import_slice(many.as_bytes(), None, &limits).unwrap_err()), "the number of JSON values");
}

/// A KTX2 file of format `vk_format` whose header and level index claim what they are told.
fn ktx2(vk_format: u32, size: u32, levels: u32, scheme: u32, level: &[u8], level_length: u64) -> Vec<u8> {
    let mut out = b"\xABKTX 20\xBB\r\n\x1A\n".to_vec();
    // No data format descriptor, key-value data or global data.
    for word in [vk_format, 1, size, size, 0, 0, 1, levels, scheme, 0, 0, 0, 0, 0, 0, 0, 0] {
        out.extend(u32::to_le_bytes(word));
    }
    assert_eq!(out.len(), 80);
    out.extend(104u64.to_le_bytes());
    out.extend(level_length.to_le_bytes());
    out.extend(level_length.to_le_bytes());
    out.extend(level);
    out
}

fn decode(bytes: &[u8], limits: &Limits) -> Result<crate::scene::Image> {
    image::decode(&image::Encoded { bytes, name: "test", path: "/images/0" }, &mut Budget::new(limits))
}

#[test]
fn ktx2_images() {
    let limits = Limits::default();
    let rgb: Vec<u8> = (0..12).collect();
    let good = decode(&ktx2(23, 2, 1, 0, &rgb, 12), &limits).unwrap();
    assert_eq!((good.width, good.height, good.generate_mips), (2, 2, false));
    assert_eq!(good.rgba8[..8], [0, 1, 2, 255, 3, 4, 5, 255]);
    assert!(decode(&ktx2(23, 2, 0, 0, &rgb, 12), &limits).unwrap().generate_mips);
    let broken = [
        ktx2(23, 2, 1, 0, &rgb, 13),       // behind the end of the file
        ktx2(23, 2, 1, 0, &rgb[..11], 11), // too few bytes
        ktx2(23, 2, 1, 0, &rgb, u64::MAX), // overflow
        ktx2(23, 2, 1, 2, &rgb, 12),       // not zstd
        ktx2(23, 0, 1, 0, &rgb, 12),       // no texels
        ktx2(131, 2, 1, 0, &rgb, 12),      // block-compressed
        ktx2(0, 2, 1, 1, &rgb, 12),        // Basis
        ktx2(23, 2, 1, 0, &rgb, 12)[..90].to_vec(),
        ktx2(23, 2, 1, 0, &rgb, 12)[..40].to_vec(),
    ];
    for (i, file) in broken.iter().enumerate() {
        let fault = decode(file, &limits).unwrap_err();
        assert!(matches!(*fault.reason, Reason::Image { .. }), "{i}: {:?}", fault.reason);
    }
    let huge = decode(&ktx2(23, 16384, 1, 0, &rgb, 12), &Limits { max_image_pixels: 1 << 20, ..limits }).unwrap_err();
    assert!(matches!(*huge.reason, Reason::Limit { what: "the texels of an image", .. }));
}

#[test]
fn png_claims_are_checked_first() {
    let mut png = tiny_png();
    // Width in the IHDR chunk; the checksum behind it no longer fits either, which is fine.
    png[16..20].copy_from_slice(&60_000u32.to_be_bytes());
    assert!(decode(&png, &Limits::default()).is_err());
    assert!(decode(b"\x89PNG\r\n\x1a\n", &Limits::default()).is_err());
    assert!(decode(b"GIF89a", &Limits::default()).is_err());
}

mod uris {
    use super::*;

    fn buffer(uri: &str) -> Vec<u8> {
        let document = json!({
            "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
            "buffers": [{"byteLength": 3, "uri": uri}], "bufferViews": [{"buffer": 0, "byteLength": 3}],
            "accessors": [
                {"bufferView": 0, "componentType": 5121, "type": "SCALAR", "count": 3},
                {"componentType": 5126, "type": "VEC3", "count": 3},
            ],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 1}, "indices": 0, "mode": 0}]}],
        });
        document.to_string().into_bytes()
    }

    fn indices(uri: &str, folder: Option<&Path>) -> std::result::Result<Vec<u32>, ImportError> {
        let scene = import_slice(&buffer(uri), folder, &Limits::default())?;
        Ok(only_primitive(&scene).indices.clone())
    }

    #[test]
    fn data_uris() {
        for uri in ["data:application/octet-stream;base64,AgEA", "data:;base64,AgEA", "DATA:,%02%01%00"] {
            assert_eq!(indices(uri, None).unwrap(), [2, 1, 0], "{uri}");
        }
        // Missing padding is no harm.
        assert_eq!(indices("data:;base64,AgEAAA", None).unwrap(), [2, 1, 0]);
        for uri in ["data:", "data:;base64", "data:;base64,A*EA", "data:;;base64,AgEA"] {
            let error = indices(uri, None).unwrap_err();
            assert!(matches!(*error.reason, Reason::Uri { .. }), "{uri}: {error}");
            assert_eq!(error.json_path, "/buffers/0/uri");
        }
        assert!(matches!(*indices("data:;base64,AgE", None).unwrap_err().reason, Reason::Range(_)), "too short");
    }

    #[test]
    fn files_stay_in_their_folder() {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("model");
        std::fs::create_dir_all(inner.join("sub dir")).unwrap();
        std::fs::write(outer.path().join("secret.bin"), [0, 0, 0]).unwrap();
        std::fs::write(inner.join("sub dir/ä.bin"), [2, 1, 0]).unwrap();
        for uri in ["sub%20dir/%C3%A4.bin", "sub dir/ä.bin", "./sub%20dir/../sub%20dir/ä.bin"] {
            assert_eq!(indices(uri, Some(&inner)).unwrap(), [2, 1, 0], "{uri}");
        }
        let absolute = outer.path().join("secret.bin").display().to_string();
        for uri in
            ["../secret.bin", "sub%20dir/../../secret.bin", "%2e%2e/secret.bin", &absolute, "..%5csecret.bin", "", "."]
        {
            let error = indices(uri, Some(&inner)).unwrap_err();
            assert!(matches!(*error.reason, Reason::Uri { .. }), "{uri}: {error}");
        }
        assert!(matches!(*indices("nothing.bin", Some(&inner)).unwrap_err().reason, Reason::Io { .. }));
        assert!(matches!(*indices("sub%20dir", Some(&inner)).unwrap_err().reason, Reason::Io { .. }), "a folder");
        assert!(matches!(*indices("a.bin", None).unwrap_err().reason, Reason::Uri { .. }), "no folder");
        let error = indices("https://example.invalid/a.bin", Some(&inner)).unwrap_err();
        assert!(error.to_string().contains("is not a file or data URI"), "{error}");
    }
}
