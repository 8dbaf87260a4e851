//! The shared models import, and their boxes are those of the reference pictures.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap like the tests themselves")]

mod common;

use std::f32::consts::PI;

use glam::Vec3;
use rhizo_scene::camera::CameraChoice;
use rhizo_scene::hdr;
use rhizo_scene::import::{Limits, import, import_slice};
use rhizo_scene::scene::{AlphaMode, LightKind, Primitive, Scene};
use serde_json::Value;

fn floats(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap() as f32).collect()
}

#[test]
fn every_shared_model_imports() {
    let Some(shared) = common::shared_or_skip("every_shared_model_imports") else { return };
    let files = common::gltf_files(&shared.join("assets/gltf"));
    assert!(files.len() >= 20, "only {} files found", files.len());
    for file in files {
        let scene = import(&file, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
        assert!(!scene.instances.is_empty(), "{} shows nothing", file.display());
        for primitive in scene.meshes.iter().flat_map(|m| &m.primitives) {
            let count = primitive.positions.len();
            assert!(primitive.indices.iter().all(|i| (*i as usize) < count));
            assert_eq!(primitive.normals.len(), count, "{}", file.display());
            assert!(primitive.tangents.is_empty() || primitive.tangents.len() == count);
            let has_uv = !primitive.uv0.is_empty();
            let normal_mapped = scene.materials[primitive.material].normal_texture.is_some();
            assert!(!(normal_mapped && has_uv) || primitive.tangents.len() == count, "{}", file.display());
        }
    }
}

#[test]
fn boxes_equal_the_reference() {
    let Some(shared) = common::shared_or_skip("boxes_equal_the_reference") else { return };
    let cameras = std::fs::read(shared.join("assets/reference/cameras.json")).unwrap();
    let cameras: Value = serde_json::from_slice(&cameras).unwrap();
    let cameras = cameras.as_object().unwrap();
    assert!(cameras.len() >= 17);
    for (name, camera) in cameras {
        let file = shared.join("assets/gltf").join(camera["file"].as_str().unwrap());
        let scene = import(&file, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
        let found = scene.bounds().unwrap();
        let radius = camera["radius"].as_f64().unwrap() as f32;
        let near = |a: f32, b: f32| (a - b).abs() <= radius * 2e-6;
        assert!(near(found.radius(), radius), "{name}: radius {} should be {radius}", found.radius());
        let corners = [("aabb_min", found.min), ("aabb_max", found.max), ("target", found.center())];
        for (key, value) in corners {
            let wanted = floats(&camera[key]);
            let same = value.to_array().iter().zip(&wanted).all(|(a, b)| near(*a, *b));
            assert!(same, "{name}: {key} {value} should be {wanted:?}");
        }
    }
}

fn load(shared: &std::path::Path, file: &str) -> Scene {
    import(&shared.join("assets/gltf").join(file), &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn framed_view_equals_the_reference() {
    let Some(shared) = common::shared_or_skip("framed_view_equals_the_reference") else { return };
    let cameras = std::fs::read(shared.join("assets/reference/cameras.json")).unwrap();
    let helmet = &serde_json::from_slice::<Value>(&cameras).unwrap()["FlightHelmet"];
    let view = load(&shared, helmet["file"].as_str().unwrap()).view(&CameraChoice::Framed).unwrap();
    let eye = Vec3::from_slice(&floats(&helmet["eye"]));
    assert!(view.eye().abs_diff_eq(eye, 2e-6), "{} should be {eye}", view.eye());
}

/// What the reference's README says to look for, as far as it can be seen in data.
#[test]
fn features_of_the_models_arrive() {
    let Some(shared) = common::shared_or_skip("features_of_the_models_arrive") else { return };
    let lamp = load(&shared, "AnisotropyBarnLamp/AnisotropyBarnLamp.gltf");
    assert_eq!(lamp.images.len(), 4);
    assert_eq!(lamp.images.iter().filter(|i| !i.generate_mips).count(), 3, "three KTX2 files with one level");
    assert!(lamp.images.iter().all(|i| i.rgba8.len() == (i.width * i.height * 4) as usize));
    assert!(lamp.materials.iter().any(|m| m.anisotropy.is_some_and(|a| a.texture.is_some())));
    assert!(lamp.materials.iter().any(|m| m.clearcoat.is_some_and(|c| c.factor == 0.25 && c.normal_texture.is_some())));
    assert!(lamp.materials.iter().any(|m| m.transmission.is_some()));
    assert!(lamp.materials.iter().any(|m| m.emissive == Vec3::new(25.0, 12.5, 6.25)));
    assert!(lamp.unsupported.is_empty(), "{:?}", lamp.unsupported);

    let helmet = load(&shared, "FlightHelmet/FlightHelmet.gltf");
    assert_eq!(helmet.materials.iter().filter(|m| m.alpha_mode == AlphaMode::Blend).count(), 1);
    let cake = load(&shared, "Kenney/cakeBirthday.glb");
    assert!(cake.materials.iter().all(|m| !m.unlit && m.metallic == 1.0 && m.roughness == 1.0));
    let cubes = load(&shared, "bevy-contrib/Cubes.glb");
    assert!(matches!(cubes.lights[..], [ref l] if matches!(l.kind, LightKind::Point { .. })));
    let cornell = load(&shared, "bevy-contrib/CornellBox.glb");
    assert!(cornell.materials[1..].iter().all(|m| m.double_sided));
    assert!(cornell.materials.iter().any(|m| m.emissive.max_element() == 100.0));
    let stress = load(&shared, "MorphStressTest/MorphStressTest.gltf");
    assert!(stress.materials.iter().any(|m| m.occlusion_texture.is_some_and(|t| t.uv_set == 1)));
    let empty = load(&shared, "gltf-rs/non_sparse_accessor_without_buffer_view.gltf");
    assert_eq!(empty.meshes[0].primitives[0].indices.len(), 3);
}

/// The README on the fox: "skinned positions must equal the unskinned ones here".
#[test]
fn the_fox_at_rest_is_not_moved_by_its_skin() {
    let Some(shared) = common::shared_or_skip("the_fox_at_rest_is_not_moved_by_its_skin") else { return };
    let mut bytes = std::fs::read(shared.join("assets/gltf/Fox/Fox.glb")).unwrap();
    let positions = |bytes: &[u8]| {
        let scene = import_slice(bytes, None, &Limits::default()).unwrap();
        scene.meshes[0].primitives[0].positions.clone()
    };
    let skinned = positions(&bytes);
    let key = b"\"skin\"";
    let places: Vec<usize> = bytes.windows(key.len()).enumerate().filter(|(_, w)| w == key).map(|(i, _)| i).collect();
    assert_eq!(places.len(), 1, "one node has a skin");
    // A property of another name has no meaning.
    bytes[places[0] + 1] = b'S';
    let plain = positions(&bytes);
    assert_eq!(skinned.len(), plain.len());
    let apart = skinned.iter().zip(&plain).map(|(a, b)| Vec3::from(*a).distance(Vec3::from(*b))).fold(0.0, f32::max);
    assert!(apart < 1e-3, "{apart} apart, of a box of radius 88");
}

/// The share of corners whose generated tangent agrees with the file's in direction and in sign.
fn agreement(made: &Primitive, given: &Primitive) -> (f32, f32) {
    let (mut near, mut same_sign) = (0usize, 0usize);
    for (a, b) in made.indices.iter().zip(&given.indices) {
        let (a, b) = (made.tangents[*a as usize], given.tangents[*b as usize]);
        let cosine = Vec3::new(a[0], a[1], a[2]).dot(Vec3::new(b[0], b[1], b[2]).normalize());
        near += usize::from(cosine > 0.9);
        same_sign += usize::from(a[3] == b[3]);
    }
    let total = made.indices.len() as f32;
    (near as f32 / total, same_sign as f32 / total)
}

#[test]
fn generated_tangents_agree_with_those_in_the_file() {
    let Some(shared) = common::shared_or_skip("generated_tangents_agree_with_those_in_the_file") else { return };
    for file in ["FlightHelmet/FlightHelmet.gltf", "AnisotropyBarnLamp/AnisotropyBarnLamp.gltf"] {
        let path = shared.join("assets/gltf").join(file);
        let mut document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for mesh in document["meshes"].as_array_mut().unwrap() {
            for primitive in mesh["primitives"].as_array_mut().unwrap() {
                primitive["attributes"].as_object_mut().unwrap().remove("TANGENT");
            }
        }
        let given = load(&shared, file);
        let made = import_slice(document.to_string().as_bytes(), path.parent(), &Limits::default()).unwrap();
        let primitives = |s: &Scene| s.meshes.iter().flat_map(|m| m.primitives.clone()).collect::<Vec<_>>();
        let mut compared = 0;
        for (made, given) in primitives(&made).iter().zip(&primitives(&given)) {
            if !made.tangents.is_empty() && !given.tangents.is_empty() {
                let (near, same_sign) = agreement(made, given);
                // The lamp's tangents come from another tool; a wrong convention would give shares near zero.
                assert!(near > 0.9 && same_sign > 0.95, "{file}: {near} near, {same_sign} with the same sign");
                compared += 1;
            }
        }
        assert!(compared > 0, "{file}");
    }
}

/// The README's exact sums over the environment: E / pi for six normals and the sun.
#[test]
fn environment_has_the_reference_irradiance() {
    let Some(shared) = common::shared_or_skip("environment_has_the_reference_irradiance") else { return };
    let image = hdr::load(&shared.join("assets/environment/spiaggia_di_mondello_1k.hdr")).unwrap();
    let brightest = (0..image.rgb.len()).max_by(|a, b| image.rgb[*a][1].total_cmp(&image.rgb[*b][1])).unwrap() as u32;
    let sun = image.direction(brightest % image.width, brightest / image.width);
    assert!(sun.abs_diff_eq(Vec3::new(0.7288, 0.4248, 0.5371), 1e-3), "{sun}");
    let table = [
        (Vec3::X, [1.621, 1.705, 1.612]),
        (-Vec3::X, [0.433, 0.445, 0.548]),
        (Vec3::Y, [0.886, 1.051, 1.211]),
        (-Vec3::Y, [0.577, 0.457, 0.374]),
        (Vec3::Z, [1.306, 1.377, 1.350]),
        (-Vec3::Z, [0.398, 0.402, 0.485]),
        (sun, [2.043, 2.209, 2.137]),
    ];
    for (normal, wanted) in table {
        let mut sum = glam::DVec3::ZERO;
        for y in 0..image.height {
            for x in 0..image.width {
                let weight = image.direction(x, y).dot(normal).max(0.0) * image.solid_angle(y) / PI;
                let texel = image.rgb[(y * image.width + x) as usize];
                sum += (Vec3::from(texel) * weight).as_dvec3();
            }
        }
        let wanted = Vec3::from(wanted);
        assert!(sum.as_vec3().abs_diff_eq(wanted, 0.003), "{normal}: {sum} should be {wanted}");
    }
}
