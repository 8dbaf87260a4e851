//! Files with flipped, overwritten, removed and inserted bytes import or fail; nothing panics, hangs or eats memory.

mod common;

use std::sync::OnceLock;

use proptest::prelude::*;
use rhizo_scene::import::{Limits, import_slice};
use rhizo_scene::{camera::CameraChoice, hdr};
use serde_json::json;

/// A document that uses most of what the importer reads, with everything inside.
fn full_document() -> Vec<u8> {
    let mut png = Vec::new();
    let texels = image::RgbaImage::from_fn(4, 4, |x, y| image::Rgba([(x * 60) as u8, (y * 60) as u8, 128, 200]));
    texels.write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png).unwrap();
    let mut bin: Vec<u8> = Vec::new();
    let mut views = Vec::new();
    let mut add = |bytes: &[u8]| {
        bin.resize(bin.len().next_multiple_of(4), 0);
        views.push(json!({"buffer": 0, "byteOffset": bin.len(), "byteLength": bytes.len()}));
        bin.extend(bytes);
    };
    let floats = |v: &[f32]| v.iter().flat_map(|f| f.to_le_bytes()).collect::<Vec<u8>>();
    add(&floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]));
    add(&floats(&[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0]));
    add(&[0, 0, 1, 0, 2, 0, 3, 0]);
    add(&[0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0]);
    add(&[255, 0, 0, 0, 255, 0, 0, 0, 128, 127, 0, 0, 255, 0, 0, 0]);
    add(&[1, 3]);
    add(&floats(&[0.5, 0.0, 0.0, 0.0, 0.5, 0.0]));
    add(&png);
    let document = json!({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 1]}],
        "nodes": [
            {"mesh": 0, "skin": 0, "weights": [0.5]},
            {"translation": [1.0, 2.0, 3.0], "rotation": [0.0, 0.0, 0.0, 1.0], "scale": [1.0, -1.0, 1.0], "children": [2]},
            {"matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 4, 5, 6, 1], "camera": 0, "mesh": 0},
        ],
        "meshes": [{"weights": [0.25], "primitives": [{
            "attributes": {"POSITION": 0, "TEXCOORD_0": 1, "JOINTS_0": 3, "WEIGHTS_0": 4},
            "indices": 2, "mode": 5, "material": 0, "targets": [{"POSITION": 5}],
        }]}],
        "skins": [{"joints": [1, 2]}],
        "cameras": [{"type": "perspective", "perspective": {"yfov": 0.8, "znear": 0.1, "zfar": 10.0}}],
        "materials": [{
            "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": 0.5},
            "normalTexture": {"index": 0, "scale": 0.5}, "alphaMode": "MASK",
        }],
        "textures": [{"source": 0, "sampler": 0}], "samplers": [{"minFilter": 9987, "wrapS": 33071}],
        "images": [{"bufferView": 7, "mimeType": "image/png"}],
        "buffers": [{"byteLength": bin.len()}], "bufferViews": views,
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4},
            {"bufferView": 1, "componentType": 5126, "type": "VEC2", "count": 4},
            {"bufferView": 2, "componentType": 5123, "type": "SCALAR", "count": 4},
            {"bufferView": 3, "componentType": 5121, "type": "VEC4", "count": 4},
            {"bufferView": 4, "componentType": 5121, "type": "VEC4", "count": 4, "normalized": true},
            {"componentType": 5126, "type": "VEC3", "count": 4, "sparse": {
                "count": 2, "indices": {"bufferView": 5, "componentType": 5121}, "values": {"bufferView": 6}}},
        ],
    });
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    bin.resize(bin.len().next_multiple_of(4), 0);
    let mut out = b"glTF".to_vec();
    let words = [2, 28 + text.len() + bin.len(), text.len(), 0x4E4F_534A];
    words.iter().for_each(|w| out.extend((*w as u32).to_le_bytes()));
    out.extend(text);
    [bin.len(), 0x004E_4942].iter().for_each(|w| out.extend((*w as u32).to_le_bytes()));
    out.extend(bin);
    out
}

/// The built-in document, and three small shared ones where there are any.
fn seeds() -> &'static [Vec<u8>] {
    static SEEDS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let mut seeds = vec![full_document()];
        match common::shared_or_skip("mutations of shared files") {
            Some(shared) => {
                for file in ["Kenney/tile.glb", "SimpleSkin/SimpleSkin.gltf", "gltf-rs/box_sparse.glb"] {
                    seeds.push(std::fs::read(shared.join("assets/gltf").join(file)).unwrap());
                }
            }
            None => assert_eq!(seeds.len(), 1),
        }
        seeds
    })
}

/// One edit: a kind, a place (as a share of the length) and a value.
type Edit = (u8, f64, u8);

fn apply(bytes: &mut Vec<u8>, (kind, place, value): Edit) {
    if bytes.is_empty() {
        return;
    }
    let at = ((bytes.len() as f64 * place) as usize).min(bytes.len() - 1);
    match kind {
        0 => bytes[at] ^= 1 << (value % 8),
        1 => bytes[at] = value,
        2 => bytes[at] = b"0123456789[]{},:\"-.e "[value as usize % 21],
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(at..(at + 1 + value as usize % 8).min(bytes.len()))),
        5 => bytes.insert(at, value),
        // A digit of the document changed: the likeliest way past the parser.
        _ => {
            if let Some(digit) = bytes[at..].iter().position(u8::is_ascii_digit) {
                bytes[at + digit] = b'0' + value % 10;
            }
        }
    }
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_total_bytes = 1 << 24;
    limits.max_vertices = 1 << 16;
    limits
}

/// Imports and uses the result as a renderer would.
fn exercise(bytes: &[u8]) {
    let Ok(scene) = import_slice(bytes, None, &limits()) else { return };
    scene.view(&CameraChoice::Auto).expect("the automatic camera always exists");
    for instance in &scene.instances {
        let mesh = &scene.meshes[instance.mesh];
        for p in &mesh.primitives {
            assert!(p.indices.iter().all(|i| (*i as usize) < p.positions.len()));
            assert!(p.material < scene.materials.len());
            assert_eq!(p.interleaved().len(), p.positions.len());
        }
    }
}

#[test]
fn seeds_are_sound() {
    for seed in seeds() {
        let scene = import_slice(seed, None, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
        assert!(!scene.instances.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_never_panic(
        seed in 0usize..4,
        edits in prop::collection::vec((0u8..8, 0.0..1.0f64, any::<u8>()), 1..6),
    ) {
        let seeds = seeds();
        let mut bytes = seeds[seed % seeds.len()].clone();
        edits.into_iter().for_each(|edit| apply(&mut bytes, edit));
        exercise(&bytes);
        if let Some(peak) = common::peak_memory_bytes() {
            prop_assert!(peak < 1 << 29, "{} bytes at the peak", peak);
        }
    }

    #[test]
    fn mutated_environments_never_panic(edits in prop::collection::vec((0u8..8, 0.0..1.0f64, any::<u8>()), 1..6)) {
        let mut bytes = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 8\n".to_vec();
        bytes.extend([2, 2, 0, 8, 136, 9, 136, 9, 136, 9, 136, 128, 2, 2, 0, 8, 136, 9, 136, 9, 136, 9, 136, 128]);
        prop_assert!(hdr::decode(&bytes).is_ok());
        edits.into_iter().for_each(|edit| apply(&mut bytes, edit));
        let _ = hdr::decode(&bytes);
    }
}
