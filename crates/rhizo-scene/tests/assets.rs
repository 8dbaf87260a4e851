//! The shared models import, and their boxes are those of the reference pictures.

mod common;

use rhizo_scene::import::{Limits, import};
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
