//! Mesh declarations: which accessors make which attributes, checked but not yet read.

use super::Notes;
use super::accessor::{Component, Data, Shape, Want};
use super::error::{Fault, Result};
use super::json::Json;
use super::node::weights;

/// Accessors of a primitive's vertices or of a morph target's differences.
#[derive(Default, Clone)]
pub(super) struct Attributes {
    pub position: Option<usize>,
    pub normal: Option<usize>,
    pub tangent: Option<usize>,
    pub uv: [Option<usize>; 2],
    pub color: Option<usize>,
    /// Pairs of JOINTS_n and WEIGHTS_n.
    pub influences: Vec<(usize, usize)>,
}

/// `primitive.mode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    Points,
    Lines,
    LineLoop,
    LineStrip,
    Triangles,
    TriangleStrip,
    TriangleFan,
}

pub(super) struct PrimitiveDecl {
    pub path: String,
    pub mode: Mode,
    pub indices: Option<usize>,
    /// Into the scene's materials, where 0 is the default one.
    pub material: usize,
    pub attributes: Attributes,
    pub targets: Vec<Attributes>,
    pub vertex_count: usize,
}

pub(super) struct MeshDecl {
    pub name: String,
    pub primitives: Vec<PrimitiveDecl>,
    pub weights: Option<Vec<f32>>,
    pub target_count: usize,
    /// The first primitive that no skin can move.
    pub unskinned: Option<String>,
}

/// What mesh reading needs to know of the rest of the file.
pub(super) struct MeshContext<'c> {
    pub data: &'c Data,
    pub material_count: usize,
    /// KHR_mesh_quantization widens the formats of attributes.
    pub quantized: bool,
}

const INTEGERS: &[Component] = &[Component::I8, Component::U8, Component::I16, Component::U16];
const SIGNED: &[Component] = &[Component::I8, Component::I16];
const UNSIGNED: &[Component] = &[Component::U8, Component::U16];

/// The formats of glTF 2.0, section 3.7.2.1, and those KHR_mesh_quantization adds.
fn wanted(semantic: &str, in_target: bool, quantized: bool) -> Option<Want<'static>> {
    let floats = |what, shapes| Want { what, shapes, floats: true, normalized: &[], integers: &[] };
    let base = semantic.rsplit_once('_').filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit()) && !n.is_empty());
    let mut want = match (semantic, base.map(|(name, _)| name)) {
        ("POSITION", _) => floats("positions", &[Shape::Vec3]),
        ("NORMAL", _) => floats("normals", &[Shape::Vec3]),
        ("TANGENT", _) if in_target => floats("tangent differences", &[Shape::Vec3]),
        ("TANGENT", _) => floats("tangents", &[Shape::Vec4]),
        (_, Some("TEXCOORD")) => Want { normalized: UNSIGNED, ..floats("texture coordinates", &[Shape::Vec2]) },
        (_, Some("COLOR")) => Want { normalized: UNSIGNED, ..floats("colours", &[Shape::Vec3, Shape::Vec4]) },
        (_, Some("WEIGHTS")) => Want { normalized: UNSIGNED, ..floats("joint weights", &[Shape::Vec4]) },
        (_, Some("JOINTS")) => Want { floats: false, integers: UNSIGNED, ..floats("joints", &[Shape::Vec4]) },
        _ => return None,
    };
    match (quantized, semantic, base.map(|(name, _)| name)) {
        (true, "POSITION", _) | (true, _, Some("TEXCOORD")) => {
            want.normalized = INTEGERS;
            want.integers = INTEGERS;
        }
        (true, "NORMAL" | "TANGENT", _) => want.normalized = SIGNED,
        _ => {}
    }
    Some(want)
}

/// Morph targets may hold signed differences of texture coordinates and colours.
fn widen_for_target(want: &mut Want<'static>) {
    if want.what == "texture coordinates" || want.what == "colours" {
        want.normalized = INTEGERS;
    }
}

fn read_attributes(
    j: &Json,
    in_target: bool,
    context: &MeshContext,
    notes: &mut Notes,
) -> Result<(Attributes, Option<usize>)> {
    let data = context.data;
    let mut out = Attributes::default();
    let mut count: Option<usize> = None;
    let (mut joints, mut joint_weights) = (Vec::new(), Vec::new());
    for (name, value) in j.members()? {
        let accessor = value.as_index("accessor", data.accessors.len())?;
        let this = data.accessors[accessor].count;
        if *count.get_or_insert(this) != this {
            return Err(value.invalid(format!("{this} elements, but other attributes have {}", count.unwrap_or(0))));
        }
        if name.starts_with('_') {
            continue; // The application's own attributes are not for us.
        }
        let Some(mut want) = wanted(name, in_target, context.quantized) else {
            notes.add(format!("{} is no attribute of glTF 2.0; it is ignored", value.path));
            continue;
        };
        if in_target {
            widen_for_target(&mut want);
        }
        data.check_format(accessor, &want).map_err(|f| Fault { path: value.path.clone(), ..f })?;
        match name {
            "POSITION" => out.position = Some(accessor),
            "NORMAL" => out.normal = Some(accessor),
            "TANGENT" => out.tangent = Some(accessor),
            "TEXCOORD_0" => out.uv[0] = Some(accessor),
            "TEXCOORD_1" => out.uv[1] = Some(accessor),
            "COLOR_0" => out.color = Some(accessor),
            _ if name.starts_with("JOINTS_") => joints.push((name.trim_start_matches("JOINTS_"), accessor)),
            _ if name.starts_with("WEIGHTS_") => joint_weights.push((name.trim_start_matches("WEIGHTS_"), accessor)),
            _ => notes.add(format!("{} is not read; texture coordinates 0 and 1 and colour 0 are", value.path)),
        }
    }
    out.influences = pair_influences(j, joints, joint_weights)?;
    Ok((out, count))
}

fn pair_influences<'a>(
    j: &Json,
    mut joints: Vec<(&'a str, usize)>,
    mut joint_weights: Vec<(&'a str, usize)>,
) -> Result<Vec<(usize, usize)>> {
    joints.sort_unstable();
    joint_weights.sort_unstable();
    if !joints.iter().map(|(set, _)| set).eq(joint_weights.iter().map(|(set, _)| set)) {
        return Err(j.invalid("every JOINTS_n needs its WEIGHTS_n and the other way round"));
    }
    Ok(joints.iter().zip(&joint_weights).map(|((_, a), (_, b))| (*a, *b)).collect())
}

fn read_mode(j: &Json) -> Result<Mode> {
    Ok(match j.uint("mode")?.unwrap_or(4) {
        0 => Mode::Points,
        1 => Mode::Lines,
        2 => Mode::LineLoop,
        3 => Mode::LineStrip,
        4 => Mode::Triangles,
        5 => Mode::TriangleStrip,
        6 => Mode::TriangleFan,
        other => return Err(j.need("mode")?.invalid(format!("unknown primitive mode {other}"))),
    })
}

/// `None` for a primitive without positions, which is legal and draws nothing.
fn read_primitive(j: &Json, context: &MeshContext, notes: &mut Notes) -> Result<Option<PrimitiveDecl>> {
    let data = context.data;
    let (attributes, count) = read_attributes(&j.need("attributes")?, false, context, notes)?;
    let indices = j.index("indices", "accessor", data.accessors.len())?;
    if let Some(indices) = indices {
        let want = Want {
            what: "indices",
            shapes: &[Shape::Scalar],
            floats: false,
            normalized: &[],
            integers: &[Component::U8, Component::U16, Component::U32],
        };
        data.check_format(indices, &want)?;
        data.check_packed(indices)?;
    }
    // Index 0 of the scene is the default material, so the file's are one further on.
    let material = j.index("material", "material", context.material_count)?.map_or(0, |m| m + 1);
    let mode = read_mode(j)?;
    let mut targets = Vec::new();
    for target in j.objects("targets")? {
        let (attributes, target_count) = read_attributes(&target, true, context, notes)?;
        if target_count.is_some() && target_count != count {
            return Err(target.invalid("a morph target must have as many elements as its base attributes"));
        }
        targets.push(attributes);
    }
    if attributes.position.is_none() {
        notes.add(format!("{} has no positions; it is left out", j.path));
        return Ok(None);
    }
    let vertex_count = count.unwrap_or(0);
    Ok(Some(PrimitiveDecl { path: j.path.clone(), mode, indices, material, attributes, targets, vertex_count }))
}

pub(super) fn read_mesh(j: &Json, context: &MeshContext, notes: &mut Notes) -> Result<MeshDecl> {
    let list = j.need("primitives")?;
    let mut target_count = None;
    let mut primitives = Vec::new();
    for item in list.items()? {
        let declared = item.get("targets")?.map(|t| t.items()).transpose()?.unwrap_or_default().len();
        if *target_count.get_or_insert(declared) != declared {
            return Err(item.invalid("all primitives of a mesh must have the same number of morph targets"));
        }
        primitives.extend(read_primitive(&item, context, notes)?);
    }
    let target_count = target_count.unwrap_or(0);
    let weights = weights(j)?;
    if weights.as_ref().is_some_and(|w| w.len() != target_count) {
        return Err(j.need("weights")?.invalid(format!("there must be one weight for each of {target_count} targets")));
    }
    let unskinned = primitives.iter().find(|p: &&PrimitiveDecl| p.attributes.influences.is_empty());
    let unskinned = unskinned.map(|p| p.path.clone());
    Ok(MeshDecl { name: j.name()?, primitives, weights, target_count, unskinned })
}
