//! The node hierarchy, scenes, skins, cameras and lights.

use glam::{Mat4, Quat, Vec3};

use super::Notes;
use super::accessor::{Data, Shape, Want};
use super::error::{Fault, Reason, Result};
use super::json::Json;
use super::limits::Budget;
use crate::scene::{Camera, Light, LightKind, Node, Projection, Transform};

/// What a node carries beside its transform.
pub(super) struct NodeContent {
    pub path: String,
    pub mesh: Option<usize>,
    pub skin: Option<usize>,
    pub weights: Option<Vec<f32>>,
}

/// How many of each kind a node may refer to.
pub(super) struct Counts {
    pub meshes: usize,
    pub skins: usize,
    pub cameras: usize,
    pub lights: usize,
}

/// How far the squared length of a rotation may be from 1.
const UNIT_TOLERANCE: f32 = 0.01;

/// Reads all nodes; checks that they form trees.
pub(super) fn read_nodes(root: &Json, counts: &Counts, budget: &Budget) -> Result<(Vec<Node>, Vec<NodeContent>)> {
    let items = root.objects("nodes")?;
    let limit = budget.limits.max_nodes;
    if items.len() as u64 > limit {
        let reason = Reason::Limit { what: "the number of nodes", wanted: items.len() as u64, limit };
        return Err(Fault::new("/nodes", reason));
    }
    let mut nodes = Vec::with_capacity(items.len());
    let mut contents = Vec::with_capacity(items.len());
    for j in &items {
        let (node, content) = read_node(j, items.len(), counts)?;
        nodes.push(node);
        contents.push(content);
    }
    link_parents(&mut nodes)?;
    check_cycles(&nodes)?;
    Ok((nodes, contents))
}

fn read_node(j: &Json, node_count: usize, counts: &Counts) -> Result<(Node, NodeContent)> {
    let children = match j.get("children")? {
        Some(list) => list.items()?.iter().map(|c| c.as_index("node", node_count)).collect::<Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    let light = match j.extension("KHR_lights_punctual")? {
        Some(ext) => Some(ext.need("light")?.as_index("light", counts.lights)?),
        None => None,
    };
    let node = Node {
        name: j.name()?,
        parent: None,
        children,
        transform: read_transform(j)?,
        world: Mat4::IDENTITY,
        camera: j.index("camera", "camera", counts.cameras)?,
        light,
        in_scene: false,
    };
    let content = NodeContent {
        path: j.path.clone(),
        mesh: j.index("mesh", "mesh", counts.meshes)?,
        skin: j.index("skin", "skin", counts.skins)?,
        weights: weights(j)?,
    };
    Ok((node, content))
}

/// Morph weights of a node or mesh.
pub(super) fn weights(j: &Json) -> Result<Option<Vec<f32>>> {
    let Some(list) = j.get("weights")? else { return Ok(None) };
    list.items()?.iter().map(Json::as_f32).collect::<Result<_>>().map(Some)
}

fn read_transform(j: &Json) -> Result<Transform> {
    let translation = j.floats::<3>("translation")?;
    let rotation = j.floats::<4>("rotation")?;
    let scale = j.floats::<3>("scale")?;
    let Some(matrix) = j.floats::<16>("matrix")? else {
        let rotation = Quat::from_array(rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]));
        if (rotation.length_squared() - 1.0).abs() > UNIT_TOLERANCE {
            return Err(j.need("rotation")?.invalid("the rotation is not a unit quaternion"));
        }
        return Ok(Transform::Trs {
            translation: translation.map_or(Vec3::ZERO, Vec3::from),
            rotation: rotation.normalize(),
            scale: scale.map_or(Vec3::ONE, Vec3::from),
        });
    };
    if translation.is_some() || rotation.is_some() || scale.is_some() {
        return Err(j.invalid("a node has either a matrix or translation, rotation and scale, not both"));
    }
    let matrix = Mat4::from_cols_array(&matrix);
    if matrix.row(3).abs_diff_eq(glam::Vec4::W, 1e-5) {
        Ok(Transform::Matrix(matrix))
    } else {
        Err(j.need("matrix")?.invalid("the matrix is not affine: its last row must be 0 0 0 1"))
    }
}

fn link_parents(nodes: &mut [Node]) -> Result<()> {
    for i in 0..nodes.len() {
        for (c, child) in nodes[i].children.clone().into_iter().enumerate() {
            if let Some(other) = nodes[child].parent {
                let message = format!("node {child} already has a parent, node {other}");
                return Err(Fault::value(format!("/nodes/{i}/children/{c}"), message));
            }
            nodes[child].parent = Some(i);
        }
    }
    Ok(())
}

/// With at most one parent each, a node is on or below a cycle if and only if no root reaches it.
fn check_cycles(nodes: &[Node]) -> Result<()> {
    let mut reached = vec![false; nodes.len()];
    let mut stack: Vec<usize> = (0..nodes.len()).filter(|&i| nodes[i].parent.is_none()).collect();
    while let Some(i) = stack.pop() {
        reached[i] = true;
        stack.extend_from_slice(&nodes[i].children);
    }
    match reached.iter().position(|r| !r) {
        Some(i) => Err(Fault::value(format!("/nodes/{i}"), "the node is its own ancestor, or below one that is")),
        None => Ok(()),
    }
}

/// A scene's name and root nodes.
pub(super) struct SceneRoots {
    pub name: String,
    pub roots: Vec<usize>,
}

/// The default scene (`scene`, else 0), after checking all. `None` when the file has none.
pub(super) fn read_scenes(root: &Json, nodes: &[Node], notes: &mut Notes) -> Result<Option<SceneRoots>> {
    let mut scenes = Vec::new();
    for j in &root.objects("scenes")? {
        let list = j.get("nodes")?.map(|l| l.items()).transpose()?.unwrap_or_default();
        let mut roots = Vec::with_capacity(list.len());
        let mut seen = vec![];
        for item in &list {
            let node = item.as_index("node", nodes.len())?;
            if nodes[node].parent.is_some() {
                // Some exporters leave their own root out. The place of the node stays below its parents.
                notes.add(format!("{} names node {node}, which is no root node", item.path));
            }
            seen.push(node);
            roots.push(node);
        }
        seen.sort_unstable();
        if seen.windows(2).any(|w| w[0] == w[1]) {
            return Err(j.invalid("a node is listed twice"));
        }
        scenes.push(SceneRoots { name: j.name()?, roots });
    }
    let default = root.index("scene", "scene", scenes.len())?.unwrap_or(0);
    Ok((default < scenes.len()).then(|| scenes.swap_remove(default)))
}

/// Joints and their inverse bind matrices.
pub(super) struct Skin {
    pub joints: Vec<usize>,
    /// As many as joints.
    pub inverse_bind: Vec<Mat4>,
}

pub(super) fn read_skins(root: &Json, node_count: usize, data: &Data, budget: &mut Budget) -> Result<Vec<Skin>> {
    root.objects("skins")?.iter().map(|j| read_skin(j, node_count, data, budget)).collect()
}

fn read_skin(j: &Json, node_count: usize, data: &Data, budget: &mut Budget) -> Result<Skin> {
    let list = j.need("joints")?;
    let joints = list.items()?.iter().map(|n| n.as_index("node", node_count)).collect::<Result<Vec<_>>>()?;
    if joints.is_empty() {
        return Err(list.invalid("a skin needs at least one joint"));
    }
    j.index("skeleton", "node", node_count)?;
    let Some(accessor) = j.index("inverseBindMatrices", "accessor", data.accessors.len())? else {
        let inverse_bind = vec![Mat4::IDENTITY; joints.len()];
        return Ok(Skin { joints, inverse_bind });
    };
    let want =
        Want { what: "inverse bind matrices", shapes: &[Shape::Mat4], floats: true, normalized: &[], integers: &[] };
    data.check_format(accessor, &want)?;
    let floats = data.floats(accessor, budget)?;
    let mut inverse_bind = Vec::with_capacity(joints.len());
    for (i, m) in floats.chunks_exact(16).take(joints.len()).enumerate() {
        if [m[3], m[7], m[11], m[15]] != [0.0, 0.0, 0.0, 1.0] {
            return Err(j.invalid(format!("the last row of inverse bind matrix {i} is not 0 0 0 1")));
        }
        inverse_bind.push(Mat4::from_cols_slice(m));
    }
    if inverse_bind.len() < joints.len() {
        return Err(j.invalid(format!("{} inverse bind matrices for {} joints", inverse_bind.len(), joints.len())));
    }
    Ok(Skin { joints, inverse_bind })
}

pub(super) fn read_camera(j: &Json) -> Result<Camera> {
    let kind = j.need("type")?;
    let both = j.get("perspective")?.is_some() && j.get("orthographic")?.is_some();
    if both {
        return Err(j.invalid("a camera has either \"perspective\" or \"orthographic\", not both"));
    }
    let projection = match kind.as_str()? {
        "perspective" => read_perspective(&j.need("perspective")?)?,
        "orthographic" => read_orthographic(&j.need("orthographic")?)?,
        other => return Err(kind.invalid(format!("unknown camera type {other:?}"))),
    };
    Ok(Camera { name: j.name()?, projection })
}

fn positive(j: &Json, key: &'static str) -> Result<f32> {
    let value = j.need(key)?;
    let number = value.as_f32()?;
    if number > 0.0 { Ok(number) } else { Err(value.invalid(format!("{key} must be greater than zero"))) }
}

fn read_perspective(j: &Json) -> Result<Projection> {
    // The format only recommends less than pi; beyond that there is no picture, so stop just short of it.
    let yfov = positive(j, "yfov")?.min(179f32.to_radians());
    let znear = positive(j, "znear")?;
    let zfar = j.get("zfar")?.map(|_| positive(j, "zfar")).transpose()?;
    let aspect = j.get("aspectRatio")?.map(|_| positive(j, "aspectRatio")).transpose()?;
    if zfar.is_some_and(|zfar| zfar <= znear) {
        return Err(j.invalid("zfar must be greater than znear"));
    }
    Ok(Projection::Perspective { yfov, aspect, znear, zfar })
}

fn read_orthographic(j: &Json) -> Result<Projection> {
    let mag = |key: &'static str| -> Result<f32> {
        let value = j.need(key)?;
        let number = value.as_f32()?;
        if number == 0.0 { Err(value.invalid(format!("{key} must not be zero"))) } else { Ok(number) }
    };
    let (xmag, ymag) = (mag("xmag")?, mag("ymag")?);
    let znear = j.need("znear")?.as_f32()?;
    let zfar = j.need("zfar")?.as_f32()?;
    if znear < 0.0 || zfar <= znear {
        return Err(j.invalid("zfar must be greater than znear, and znear not negative"));
    }
    Ok(Projection::Orthographic { xmag, ymag, znear, zfar })
}

/// The lights of KHR_lights_punctual.
pub(super) fn read_lights(root: &Json) -> Result<Vec<Light>> {
    match root.extension("KHR_lights_punctual")? {
        Some(ext) => ext.objects("lights")?.iter().map(read_light).collect(),
        None => Ok(Vec::new()),
    }
}

fn read_light(j: &Json) -> Result<Light> {
    let kind = j.need("type")?;
    let range = j.get("range")?.map(|_| positive(j, "range")).transpose()?;
    let kind = match kind.as_str()? {
        "directional" => LightKind::Directional,
        "point" => LightKind::Point { range },
        "spot" => {
            let (mut inner_cone, mut outer_cone) = (0.0, std::f32::consts::FRAC_PI_4);
            if let Some(spot) = j.get("spot")? {
                inner_cone = spot.f32_at_least("innerConeAngle", 0.0, inner_cone)?;
                outer_cone = spot.f32_at_least("outerConeAngle", 0.0, outer_cone)?;
            }
            // A small excess is what pi/2 becomes when written with few digits.
            if inner_cone >= outer_cone || outer_cone > std::f32::consts::FRAC_PI_2 + 1e-4 {
                return Err(j.invalid("a spot light needs 0 <= innerConeAngle < outerConeAngle <= pi/2"));
            }
            LightKind::Spot { range, inner_cone, outer_cone }
        }
        other => return Err(kind.invalid(format!("unknown light type {other:?}"))),
    };
    let color = j.floats::<3>("color")?.map_or(Vec3::ONE, |c| Vec3::from(c).max(Vec3::ZERO));
    Ok(Light { name: j.name()?, color, intensity: j.f32_at_least("intensity", 0.0, 1.0)?, kind })
}
