//! glTF 2.0 import: `.gltf` with files, data URIs or both, and `.glb`.
//!
//! The document is parsed with `serde_json` into a plain tree and read by our own small typed reader, not by the
//! `gltf` crate: that crate's accessor iterators slice buffers by unchecked numbers (they panic on malformed files
//! unless every number has been checked before), it refuses whole files for properties we never use, and its errors
//! carry no place. Here every value is checked where it is read, and every error has a JSON pointer.
//!
//! What is checked: all that is read. What is not read (animations, `min`/`max`, `extras`, unknown extensions that
//! are not required) is not judged; the tests list the rules of the Khronos validator that fall under this.
//!
//! Nothing here recurses over nodes, allocates by an unchecked number, follows a URI out of the file's folder, or
//! opens a network connection.

mod accessor;
mod bake;
mod error;
mod glb;
mod image;
mod json;
mod limits;
mod material;
mod mesh;
mod node;
mod resource;

#[cfg(test)]
mod tests;

use std::path::Path;

use glam::Mat4;
use serde_json::Value;

use self::accessor::{Container, Data};
use self::bake::{Pose, bake};
use self::error::{Fault, Result};
pub use self::error::{ImportError, Reason};
use self::json::Json;
use self::limits::Budget;
pub use self::limits::Limits;
use self::material::Materials;
use self::mesh::{MeshContext, MeshDecl, read_mesh};
use self::node::{Counts, NodeContent, Skin};
use crate::scene::{Instance, Material, Mesh, Scene};

/// Extensions that are read. A file that requires any other is refused; one that merely uses it gets a note.
pub const SUPPORTED_EXTENSIONS: &[&str] = &[
    "KHR_lights_punctual",
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_transmission",
    "KHR_materials_unlit",
    "KHR_materials_volume",
    "KHR_mesh_quantization",
    "KHR_texture_transform",
];

/// Imports the default scene of a `.gltf` or `.glb` file. The kind is recognised by content.
///
/// # Errors
/// [`ImportError`] with file, JSON pointer and reason. Files that the document names but that do not exist are errors.
pub fn import(file: &Path, limits: &Limits) -> std::result::Result<Scene, ImportError> {
    let mut budget = Budget::new(limits);
    let name = file.display().to_string();
    resource::read_file(file, &name, "", &mut budget)
        .and_then(|bytes| {
            let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            import_bytes(&bytes, Some(folder), &mut budget)
        })
        .map_err(|fault| fault.in_file(file))
}

/// Imports a document from memory. Relative URIs are looked up in `folder`; without one they are errors.
///
/// # Errors
/// As [`import`]; the error's file is `<memory>`.
pub fn import_slice(bytes: &[u8], folder: Option<&Path>, limits: &Limits) -> std::result::Result<Scene, ImportError> {
    let mut budget = Budget::new(limits);
    import_bytes(bytes, folder, &mut budget).map_err(|fault| fault.in_file(Path::new("<memory>")))
}

/// Sentences for [`Scene::unsupported`]: each once, and not without end.
#[derive(Default)]
pub(crate) struct Notes(Vec<String>);

const MAX_NOTES: usize = 100;

impl Notes {
    fn add(&mut self, note: String) {
        if self.0.len() < MAX_NOTES && !self.0.contains(&note) {
            self.0.push(note);
        }
    }
}

fn import_bytes(bytes: &[u8], folder: Option<&Path>, budget: &mut Budget) -> Result<Scene> {
    let (text, container) = if bytes.starts_with(b"glTF") {
        let glb = glb::split(bytes)?;
        (glb.json, Container::Glb(glb.bin))
    } else {
        (bytes, Container::Gltf)
    };
    check_value_count(text, budget.limits.max_json_values)?;
    let value: Value = serde_json::from_slice(text).map_err(|e| Fault::new("", Reason::Json(e.to_string())))?;
    let root = Json::root(&value);
    let mut notes = Notes::default();
    check_asset(&root)?;
    check_extensions(&root, &mut notes)?;
    let data = accessor::load(&root, container, folder, budget)?;
    read_document(&root, &data, folder, notes, budget)
}

/// Counts an upper bound of the document's values without parsing it, because a value of three bytes of text takes
/// some thirty bytes of memory.
fn check_value_count(text: &[u8], limit: u64) -> Result<()> {
    let (mut values, mut in_string, mut escaped) = (1u64, false, false);
    for byte in text {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b',' | b'[' | b'{') => values += 1,
            _ => {}
        }
    }
    if values > limit {
        let reason = Reason::Limit { what: "the number of JSON values", wanted: values, limit };
        return Err(Fault::new("", reason));
    }
    Ok(())
}

fn version(j: &Json, text: &str) -> Result<(u32, u32)> {
    let digits = |s: &str| if s.bytes().all(|b| b.is_ascii_digit()) { s.parse::<u32>().ok() } else { None };
    let parsed = text.split_once('.').and_then(|(major, minor)| Some((digits(major)?, digits(minor)?)));
    parsed.ok_or_else(|| j.invalid(format!("{text:?} is not a version such as \"2.0\"")))
}

fn check_asset(root: &Json) -> Result<()> {
    let asset = root.need("asset")?;
    let declared = asset.need("version")?;
    let number = version(&declared, declared.as_str()?)?;
    if number.0 != 2 {
        return Err(declared.fault(Reason::Unsupported(format!("glTF version {}.{}; 2.x is read", number.0, number.1))));
    }
    if let Some(min) = asset.get("minVersion")? {
        let needed = version(&min, min.as_str()?)?;
        if needed > number {
            return Err(min.invalid("minVersion is greater than version"));
        }
        if needed > (2, 0) {
            let message = format!("the file needs glTF {}.{}; 2.0 is known", needed.0, needed.1);
            return Err(min.fault(Reason::Unsupported(message)));
        }
    }
    Ok(())
}

fn check_extensions(root: &Json, notes: &mut Notes) -> Result<()> {
    for item in root.get("extensionsRequired")?.map(|l| l.items()).transpose()?.unwrap_or_default() {
        let name = item.as_str()?;
        if !SUPPORTED_EXTENSIONS.contains(&name) {
            return Err(item.fault(Reason::Unsupported(format!("the file requires the extension {name}"))));
        }
    }
    for item in root.get("extensionsUsed")?.map(|l| l.items()).transpose()?.unwrap_or_default() {
        let name = item.as_str()?;
        if !SUPPORTED_EXTENSIONS.contains(&name) {
            notes.add(format!("the extension {name} is not read"));
        }
    }
    if let Some(extensions) = root.get("extensions")? {
        extensions.members()?.iter().try_for_each(|(_, extension)| extension.check_object())?;
    }
    let animations = root.objects("animations")?.len();
    if animations > 0 {
        notes.add(format!("animations are not read ({animations} in the file); the scene is in rest pose"));
    }
    Ok(())
}

fn uses(root: &Json, extension: &str) -> Result<bool> {
    let list = root.get("extensionsUsed")?.map(|l| l.items()).transpose()?.unwrap_or_default();
    Ok(list.iter().any(|e| e.value.as_str() == Some(extension)))
}

fn read_document(
    root: &Json,
    data: &Data,
    folder: Option<&Path>,
    mut notes: Notes,
    budget: &mut Budget,
) -> Result<Scene> {
    let mut scene = Scene { materials: vec![Material::default()], ..Scene::default() };
    let image_files = root.objects("images")?;
    let mut materials = Materials::new(root, image_files.len(), &mut notes)?;
    for j in root.objects("materials")? {
        scene.materials.push(materials.read(&j)?);
    }
    scene.textures = std::mem::take(&mut materials.textures);
    let material_count = scene.materials.len() - 1;
    let context = MeshContext { data, material_count, quantized: uses(root, "KHR_mesh_quantization")? };
    let mesh_files = root.objects("meshes")?;
    let meshes = mesh_files.iter().map(|j| read_mesh(j, &context, &mut notes)).collect::<Result<Vec<_>>>()?;
    scene.cameras = root.objects("cameras")?.iter().map(node::read_camera).collect::<Result<_>>()?;
    scene.lights = node::read_lights(root)?;
    let counts = Counts {
        meshes: meshes.len(),
        skins: root.objects("skins")?.len(),
        cameras: scene.cameras.len(),
        lights: scene.lights.len(),
    };
    let (nodes, contents) = node::read_nodes(root, &counts, budget)?;
    scene.nodes = nodes;
    let skins = node::read_skins(root, scene.nodes.len(), data, budget)?;
    check_node_weights(&contents, &meshes)?;
    match node::read_scenes(root, &scene.nodes, &mut notes)? {
        Some(found) => (scene.name, scene.roots) = (found.name, found.roots),
        None => {
            scene.roots = (0..scene.nodes.len()).filter(|&i| scene.nodes[i].parent.is_none()).collect();
            notes.add("the file has no scene; all nodes are shown".to_owned());
        }
    }
    scene.update_world();
    let mut builder = Builder {
        scene: &mut scene,
        data,
        meshes: &meshes,
        skins: &skins,
        budget,
        baked: vec![None; meshes.len()],
        joints: vec![None; skins.len()],
    };
    builder.instantiate(&contents)?;
    scene.images = material::load_images(&image_files, &mut scene.textures, data, folder, budget)?;
    scene.unsupported = notes.0;
    Ok(scene)
}

fn check_node_weights(contents: &[NodeContent], meshes: &[MeshDecl]) -> Result<()> {
    for content in contents {
        if let (Some(mesh), Some(weights)) = (content.mesh, &content.weights) {
            let wanted = meshes[mesh].target_count;
            if weights.len() != wanted {
                let message = format!("{} weights, but mesh {mesh} has {wanted} morph targets", weights.len());
                return Err(Fault::value(format!("{}/weights", content.path), message));
            }
        }
        if let (Some(mesh), Some(_)) = (content.mesh, content.skin)
            && let Some(primitive) = &meshes[mesh].unskinned
        {
            let message = format!("the node has a skin, but {primitive} has no joints and weights");
            return Err(Fault::value(&content.path, message));
        }
    }
    Ok(())
}

/// Places meshes: walks the default scene and bakes what it shows.
struct Builder<'b, 'l> {
    scene: &'b mut Scene,
    data: &'b Data,
    meshes: &'b [MeshDecl],
    skins: &'b [Skin],
    budget: &'b mut Budget<'l>,
    /// Where a mesh of the file went in its own pose, so that instances share it.
    baked: Vec<Option<usize>>,
    /// Joint matrices of skins met so far: they do not depend on the node that carries the skin.
    joints: Vec<Option<Vec<Mat4>>>,
}

impl Builder<'_, '_> {
    fn instantiate(&mut self, contents: &[NodeContent]) -> Result<()> {
        let mut stack: Vec<usize> = self.scene.roots.iter().rev().copied().collect();
        while let Some(i) = stack.pop() {
            // A scene that lists a node and one below it meets the latter twice.
            if std::mem::replace(&mut self.scene.nodes[i].in_scene, true) {
                continue;
            }
            if !self.scene.nodes[i].world.is_finite() {
                return Err(Fault::value(&contents[i].path, "the node's world matrix is not finite"));
            }
            if let Some(mesh) = contents[i].mesh {
                self.place(i, mesh, &contents[i])?;
            }
            stack.extend(self.scene.nodes[i].children.iter().rev());
        }
        Ok(())
    }

    fn place(&mut self, node: usize, mesh: usize, content: &NodeContent) -> Result<()> {
        let declared = &self.meshes[mesh];
        if declared.primitives.is_empty() {
            return Ok(());
        }
        let shared = content.skin.is_none() && content.weights.is_none();
        let index = match self.baked[mesh].filter(|_| shared) {
            Some(index) => index,
            None => self.bake_mesh(mesh, content)?,
        };
        if shared {
            self.baked[mesh] = Some(index);
        }
        // The node's own transform does not move a skinned mesh: its joints do (glTF 2.0, section 3.7.3.3).
        let world = if content.skin.is_some() { Mat4::IDENTITY } else { self.scene.nodes[node].world };
        let mirrored = world.determinant() < 0.0;
        self.scene.instances.push(Instance { node, mesh: index, world, mirrored });
        Ok(())
    }

    fn bake_mesh(&mut self, mesh: usize, content: &NodeContent) -> Result<usize> {
        let declared = &self.meshes[mesh];
        let weights = content.weights.as_ref().or(declared.weights.as_ref()).map_or(&[][..], Vec::as_slice);
        let nodes = &self.scene.nodes;
        let joints = content.skin.map(|index| {
            let skin = &self.skins[index];
            let matrix = |(joint, bind): (&usize, &Mat4)| nodes[*joint].world * *bind;
            &*self.joints[index].get_or_insert_with(|| skin.joints.iter().zip(&skin.inverse_bind).map(matrix).collect())
        });
        let pose = Pose { weights, joints: joints.map(Vec::as_slice) };
        let mut out = Mesh { name: declared.name.clone(), primitives: Vec::with_capacity(declared.primitives.len()) };
        for primitive in &declared.primitives {
            let tangent_uv = tangent_uv(&self.scene.materials[primitive.material]);
            out.primitives.push(bake(primitive, self.data, pose, tangent_uv, self.budget)?);
        }
        self.scene.meshes.push(out);
        Ok(self.scene.meshes.len() - 1)
    }
}

/// The texture coordinate set tangents must follow, `None` where nothing needs tangents.
fn tangent_uv(material: &Material) -> Option<u32> {
    let coat = material.clearcoat.and_then(|c| c.normal_texture);
    let brushed = material.anisotropy.and_then(|a| a.texture);
    let slot = material.normal_texture.or(coat).or(brushed);
    slot.map(|s| s.uv_set).or(material.anisotropy.map(|_| 0))
}
