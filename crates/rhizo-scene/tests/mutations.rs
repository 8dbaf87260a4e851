//! Files with flipped, overwritten, removed and inserted bytes import or fail; nothing panics, hangs or eats memory.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap like the tests themselves")]

mod common;

use std::cell::Cell;
use std::sync::OnceLock;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use rhizo_scene::import::{Limits, import_slice};
use rhizo_scene::{camera::CameraChoice, hdr};
use serde_json::{Value, json};

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
    glb(&document, bin)
}

fn glb(document: &Value, mut bin: Vec<u8>) -> Vec<u8> {
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

/// Imports and uses the result as a renderer would; says whether there was one.
fn exercise(bytes: &[u8]) -> bool {
    let Ok(scene) = import_slice(bytes, None, &limits()) else { return false };
    scene.view(&CameraChoice::Auto).expect("the automatic camera always exists");
    for instance in &scene.instances {
        let mesh = &scene.meshes[instance.mesh];
        for p in &mesh.primitives {
            assert!(p.indices.iter().all(|i| (*i as usize) < p.positions.len()));
            assert!(p.material < scene.materials.len());
            assert_eq!(p.interleaved().len(), p.positions.len());
        }
    }
    true
}

#[test]
fn seeds_are_sound() {
    for seed in seeds() {
        let scene = import_slice(seed, None, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
        assert!(!scene.instances.is_empty());
    }
}

/// Runs `cases` random inputs; at least a share of one in `one_in` must import, or the edits test the parser alone.
fn run<S: Strategy>(cases: u32, one_in: usize, strategy: S, make: impl Fn(S::Value) -> Vec<u8>) {
    let imported = Cell::new(0);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let result = TestRunner::new(config).run(&strategy, |input| {
        imported.set(imported.get() + usize::from(exercise(&make(input))));
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
    assert!(imported.get() * one_in > cases as usize, "only {} of {cases} imported", imported.get());
    if let Some(peak) = common::peak_memory_bytes() {
        assert!(peak < 1 << 29, "{peak} bytes at the peak");
    }
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec((0u8..8, 0.0..1.0f64, any::<u8>()), 1..4)
}

#[test]
fn mutated_files_never_panic() {
    run(20_000, 20, (any::<prop::sample::Index>(), edits()), |(seed, edits)| {
        let mut bytes = seed.get(seeds()).clone();
        edits.into_iter().for_each(|edit| apply(&mut bytes, edit));
        bytes
    });
}

/// All JSON pointers of a document, of leaves and of what holds them.
fn pointers(value: &Value, here: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| pointers(v, &format!("{here}/{k}"), out)),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, v)| pointers(v, &format!("{here}/{i}"), out)),
        _ => {}
    }
    out.push(here.to_owned());
}

/// Values at which readers tend to break.
fn awkward(choice: u8) -> Value {
    let values = json!([
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        12,
        16,
        255,
        256,
        65535,
        4294967295u32,
        9007199254740993u64,
        u64::MAX,
        i64::MIN,
        -1,
        0.5,
        1e38,
        -1e38,
        3e-39,
        1e300,
        null,
        true,
        "",
        "SCALAR",
        "VEC4",
        "MAT4",
        "BLEND",
        [],
        {},
        [0],
        5120,
        5121,
        5122,
        5123,
        5125,
        5126,
        "data:,AAAA",
        "data:;base64,AAAA",
    ]);
    let values = values.as_array().unwrap();
    values[choice as usize % values.len()].clone()
}

/// Replaces values of the document, and bytes of its binary chunk.
#[test]
fn mutated_documents_never_panic() {
    let seed = full_document();
    let text_length = u32::from_le_bytes(*seed[12..].first_chunk().unwrap()) as usize;
    let document: Value = serde_json::from_slice(&seed[20..20 + text_length]).unwrap();
    let bin = &seed[28 + text_length..];
    let mut places = Vec::new();
    pointers(&document, "", &mut places);
    let value_edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    let byte_edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    run(20_000, 10, (value_edits, byte_edits), |(value_edits, byte_edits)| {
        let mut document = document.clone();
        for (place, choice) in value_edits {
            // An earlier edit may have removed the place.
            if let Some(value) = document.pointer_mut(place.get::<String>(&places)) {
                *value = awkward(choice);
            }
        }
        let mut bin = bin.to_vec();
        byte_edits.into_iter().for_each(|(place, value)| *place.get_mut(&mut bin) = value);
        glb(&document, bin)
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_environments_never_panic(edits in edits()) {
        let mut bytes = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 8\n".to_vec();
        bytes.extend([2, 2, 0, 8, 136, 9, 136, 9, 136, 9, 136, 128, 2, 2, 0, 8, 136, 9, 136, 9, 136, 9, 136, 128]);
        prop_assert!(hdr::decode(&bytes).is_ok());
        edits.into_iter().for_each(|edit| apply(&mut bytes, edit));
        let _ = hdr::decode(&bytes);
    }
}
