//! From declarations to drawable geometry: read, morph, skin, turn into lists, fill in normals and tangents.

use glam::{Mat3, Mat4, Vec3};

use super::accessor::Data;
use super::error::{Fault, Result};
use super::limits::Budget;
use super::mesh::{Attributes, Mode, PrimitiveDecl};
use crate::scene::{Primitive, Topology, normal_matrix};
use crate::tangent;

/// How to pose a primitive.
#[derive(Clone, Copy)]
pub(super) struct Pose<'p> {
    /// One weight per morph target.
    pub weights: &'p [f32],
    /// Bind space to world space for each joint; `None` for a mesh without skin.
    pub joints: Option<&'p [Mat4]>,
}

/// Bytes of all attributes of a vertex, for the budget.
const VERTEX_BYTES: u64 = size_of::<crate::scene::Vertex>() as u64;

/// Reads a primitive and poses it. `tangent_uv`: the material needs tangents along this texture coordinate set.
pub(super) fn bake(
    decl: &PrimitiveDecl,
    data: &Data,
    pose: Pose,
    tangent_uv: Option<u32>,
    budget: &mut Budget,
) -> Result<Primitive> {
    budget.vertices(decl.vertex_count as u64, &decl.path)?;
    let mut p = read_vertices(decl, data, budget)?;
    (p.topology, p.indices) = read_indices(decl, data, budget)?;
    // Not memory, but the same bound keeps many nodes with many idle targets from taking for ever.
    budget.bytes(decl.targets.len() as u64 * 4, &decl.path)?;
    for (target, weight) in decl.targets.iter().zip(pose.weights) {
        if *weight != 0.0 {
            apply_target(&mut p, target, *weight, data, budget)?;
        }
    }
    if let Some(joints) = pose.joints {
        apply_skin(&mut p, decl, joints, data, budget)?;
    }
    if let Some(at) = p.positions.iter().position(|v| !Vec3::from(*v).is_finite()) {
        let message = format!("vertex {at} is no longer finite after morphing and skinning");
        return Err(Fault::value(&decl.path, message));
    }
    p.normals.iter_mut().for_each(|n| *n = Vec3::from(*n).normalize_or(Vec3::Z).to_array());
    if p.normals.is_empty() && p.topology == Topology::Triangles {
        budget.vertices(p.indices.len() as u64, &decl.path)?;
        budget.bytes(p.indices.len() as u64 * VERTEX_BYTES, &decl.path)?;
        unshare(&mut p);
        flat_normals(&mut p);
    }
    if let Some(set) = tangent_uv.filter(|_| p.tangents.is_empty() && p.topology == Topology::Triangles) {
        budget.bytes(p.indices.len() as u64 * tangent::WORK_BYTES_PER_INDEX, &decl.path)?;
        tangent::generate(&mut p, set);
        budget.vertices(p.positions.len().saturating_sub(decl.vertex_count) as u64, &decl.path)?;
    }
    Ok(p)
}

/// Groups of `N` floats.
fn groups<const N: usize>(floats: &[f32]) -> Vec<[f32; N]> {
    floats.as_chunks::<N>().0.to_vec()
}

fn read<const N: usize>(accessor: Option<usize>, data: &Data, budget: &mut Budget) -> Result<Vec<[f32; N]>> {
    accessor.map_or(Ok(Vec::new()), |a| Ok(groups(&data.floats(a, budget)?)))
}

/// Colours as RGBA: a missing alpha is 1.
fn read_colors(accessor: Option<usize>, missing_alpha: f32, data: &Data, budget: &mut Budget) -> Result<Vec<[f32; 4]>> {
    let Some(accessor) = accessor else { return Ok(Vec::new()) };
    let floats = data.floats(accessor, budget)?;
    if floats.len() == data.accessors[accessor].count * 4 {
        return Ok(groups(&floats));
    }
    budget.bytes(data.accessors[accessor].count as u64 * 16, data.path(accessor))?;
    Ok(floats.as_chunks::<3>().0.iter().map(|&[r, g, b]| [r, g, b, missing_alpha]).collect())
}

fn read_vertices(decl: &PrimitiveDecl, data: &Data, budget: &mut Budget) -> Result<Primitive> {
    let a = &decl.attributes;
    let normals = read(a.normal, data, budget)?;
    // Without normals, tangents of the file must be ignored (glTF 2.0, section 3.7.2.1).
    let tangents = if normals.is_empty() { Vec::new() } else { read(a.tangent, data, budget)? };
    Ok(Primitive {
        topology: Topology::Triangles,
        positions: read(a.position, data, budget)?,
        normals,
        tangents,
        uv0: read(a.uv[0], data, budget)?,
        uv1: read(a.uv[1], data, budget)?,
        colors: read_colors(a.color, 1.0, data, budget)?,
        indices: Vec::new(),
        material: decl.material,
    })
}

fn read_indices(decl: &PrimitiveDecl, data: &Data, budget: &mut Budget) -> Result<(Topology, Vec<u32>)> {
    let source = match decl.indices {
        Some(accessor) => {
            budget.indices(data.accessors[accessor].count as u64, data.path(accessor))?;
            let source = data.uints(accessor, budget)?;
            if let Some((at, index)) = source.iter().enumerate().find(|(_, i)| **i as usize >= decl.vertex_count) {
                let message = format!("index {at} is {index}, but there are {} vertices", decl.vertex_count);
                return Err(Fault::range(data.path(accessor), message));
            }
            source
        }
        None => {
            let count = u32::try_from(decl.vertex_count).map_err(|_| Fault::range(&decl.path, "too many vertices"))?;
            budget.indices(u64::from(count), &decl.path)?;
            (0..count).collect()
        }
    };
    // The worst case of a list made from a strip or fan.
    budget.indices(source.len() as u64 * 2, &decl.path)?;
    budget.bytes(source.len() as u64 * 12, &decl.path)?;
    Ok(to_list(decl.mode, source))
}

/// Rewrites strips, loops and fans as lists, keeping the winding; drops what does not make a whole primitive.
pub(super) fn to_list(mode: Mode, mut source: Vec<u32>) -> (Topology, Vec<u32>) {
    match mode {
        Mode::Points => (Topology::Points, source),
        Mode::Lines => {
            source.truncate(source.len() / 2 * 2);
            (Topology::Lines, source)
        }
        Mode::LineStrip => (Topology::Lines, source.windows(2).flatten().copied().collect()),
        Mode::LineLoop => {
            let mut list: Vec<u32> = source.windows(2).flatten().copied().collect();
            if let [first, _, .., last] = source[..] {
                list.extend([last, first]);
            }
            (Topology::Lines, list)
        }
        Mode::Triangles => {
            source.truncate(source.len() / 3 * 3);
            (Topology::Triangles, source)
        }
        // Triangle i is (i, i + 1 + i % 2, i + 2 - i % 2): glTF 2.0, section 3.7.2.1.
        Mode::TriangleStrip => {
            let turn = |(i, w): (usize, &[u32])| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[0], w[2], w[1]] };
            (Topology::Triangles, source.windows(3).enumerate().flat_map(turn).collect())
        }
        // Triangle i is (i + 1, i + 2, 0).
        Mode::TriangleFan => {
            let hub = source.first().copied().unwrap_or(0);
            let spokes = source.get(1..).unwrap_or_default();
            (Topology::Triangles, spokes.windows(2).flat_map(|w| [w[0], w[1], hub]).collect())
        }
    }
}

fn add<const N: usize, const M: usize>(base: &mut [[f32; N]], difference: &[[f32; M]], weight: f32) {
    for (b, d) in base.iter_mut().zip(difference) {
        for (b, d) in b.iter_mut().zip(d) {
            *b += weight * d;
        }
    }
}

/// Adds a weighted morph target. Differences of attributes the base does not have change nothing.
fn apply_target(p: &mut Primitive, t: &Attributes, weight: f32, data: &Data, budget: &mut Budget) -> Result<()> {
    add(&mut p.positions, &read::<3>(t.position, data, budget)?, weight);
    add(&mut p.normals, &read::<3>(t.normal, data, budget)?, weight);
    add(&mut p.tangents, &read::<3>(t.tangent, data, budget)?, weight);
    add(&mut p.uv0, &read::<2>(t.uv[0], data, budget)?, weight);
    add(&mut p.uv1, &read::<2>(t.uv[1], data, budget)?, weight);
    add(&mut p.colors, &read_colors(t.color, 0.0, data, budget)?, weight);
    // Colours are clamped after morphing (glTF 2.0, section 3.7.2.2).
    p.colors.iter_mut().flatten().for_each(|c| *c = c.clamp(0.0, 1.0));
    Ok(())
}

/// Moves vertices to world space by their joints. Weights are normalised; a vertex without any follows joint 0.
fn apply_skin(
    p: &mut Primitive,
    decl: &PrimitiveDecl,
    joints: &[Mat4],
    data: &Data,
    budget: &mut Budget,
) -> Result<()> {
    if decl.attributes.influences.is_empty() {
        return Err(Fault::value(&decl.path, "the node has a skin, but the mesh has no joints and weights"));
    }
    let mut blended = vec![Mat4::ZERO; p.positions.len()];
    let mut sums = vec![0.0f32; p.positions.len()];
    budget.bytes(p.positions.len() as u64 * 68, &decl.path)?;
    for (joint_accessor, weight_accessor) in &decl.attributes.influences {
        let indices = data.uints(*joint_accessor, budget)?;
        let weights = data.floats(*weight_accessor, budget)?;
        for (i, (joint, weight)) in indices.iter().zip(&weights).enumerate() {
            if *weight == 0.0 {
                continue; // Unused slots may hold any joint.
            }
            let Some(matrix) = joints.get(*joint as usize) else {
                let message = format!("vertex {} follows joint {joint} of {}", i / 4, joints.len());
                return Err(Fault::range(data.path(*joint_accessor), message));
            };
            blended[i / 4] += *matrix * *weight;
            sums[i / 4] += *weight;
        }
    }
    for (i, (matrix, sum)) in blended.iter().zip(&sums).enumerate() {
        let matrix = if *sum == 0.0 { joints[0] } else { *matrix * sum.recip() };
        p.positions[i] = matrix.transform_point3(p.positions[i].into()).to_array();
        let linear = Mat3::from_mat4(matrix);
        if let Some(n) = p.normals.get_mut(i) {
            *n = (normal_matrix(linear) * Vec3::from(*n)).to_array();
        }
        if let Some([x, y, z, _]) = p.tangents.get_mut(i) {
            [*x, *y, *z] = (linear * Vec3::new(*x, *y, *z)).normalize_or(Vec3::X).to_array();
        }
    }
    Ok(())
}

fn pick<T: Copy>(values: &mut Vec<T>, indices: &[u32]) {
    if !values.is_empty() {
        *values = indices.iter().map(|i| values[*i as usize]).collect();
    }
}

/// Gives every corner its own vertex.
pub(super) fn unshare(p: &mut Primitive) {
    pick(&mut p.positions, &p.indices);
    pick(&mut p.normals, &p.indices);
    pick(&mut p.tangents, &p.indices);
    pick(&mut p.uv0, &p.indices);
    pick(&mut p.uv1, &p.indices);
    pick(&mut p.colors, &p.indices);
    let count = p.indices.len();
    p.indices.clear();
    p.indices.extend((0..count).map(|i| i as u32)); // No more than the u32 indices there were.
}

/// Face normals for unshared triangles. Worked out in f64, where no finite f32 input overflows or vanishes.
fn flat_normals(p: &mut Primitive) {
    let corner = |v: [f32; 3]| Vec3::from(v).as_dvec3();
    let face = |[a, b, c]: &[[f32; 3]; 3]| {
        let (a, b, c) = (corner(*a), corner(*b), corner(*c));
        // A triangle without area shows no pixel; any unit vector will do.
        let normal = (b - a).cross(c - a).normalize_or(glam::DVec3::Z).as_vec3().to_array();
        [normal; 3]
    };
    p.normals = p.positions.as_chunks::<3>().0.iter().flat_map(face).collect();
}
