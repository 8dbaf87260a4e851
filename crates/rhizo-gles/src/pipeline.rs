//! Functions are compiled shaders; raster pipelines are linked programs with their state.

use crate::adapter::Facts;
use crate::device::{State, find, unsupported};
use glow::HasContext;
use rhizo_rhi::backend::{Native, NativeRasterPipeline};
use rhizo_rhi::{
    BindingKind, Error, ErrorKind, FillMode, GlslBinding, GlslPushConstant, RenderState, Result, ShaderArtifact,
    ShaderPayload, ShaderStage, TargetState, Topology, VertexAttribute, VertexStep,
};

/// The uniform naga's vertex shaders add to `gl_InstanceID`, which never includes the first instance.
const FIRST_INSTANCE: &str = "naga_vs_first_instance";
/// ES 3.0 links no program without a fragment shader; this one writes nothing.
const EMPTY_FRAGMENT: &str = "#version 300 es\nvoid main() {}\n";

/// What linking needs of a function.
pub(crate) struct FunctionPlan {
    label: String,
    stage: u32,
    source: String,
    resources: Resources,
}

/// The names a program's resources are found by.
#[derive(Clone, Default)]
struct Resources {
    blocks: Vec<GlslBinding>,
    textures: Vec<GlslBinding>,
    push: Vec<GlslPushConstant>,
}

/// A compiled shader.
pub(crate) struct Function {
    shader: glow::Shader,
    resources: Resources,
}

pub(crate) fn plan_function(artifact: &ShaderArtifact) -> Result<FunctionPlan> {
    let stage = match artifact.stage() {
        ShaderStage::Vertex => glow::VERTEX_SHADER,
        ShaderStage::Fragment => glow::FRAGMENT_SHADER,
        other => {
            let why = "compute shaders need OpenGL ES 3.1; this backend targets WebGL 2's level (ES 3.0)";
            return Err(unsupported(&format!("a {} shader", other.name()), why).on(artifact.label()));
        }
    };
    let ShaderPayload::GlslEs { source, names, push_constants } = artifact.payload() else {
        return Err(Error::new(ErrorKind::Mismatch, "the payload is not GLSL ES").on(artifact.label()));
    };
    let block = |name: &&GlslBinding| {
        let binding = artifact.interface().bindings.iter().find(|b| (b.group, b.slot) == name.binding);
        binding.is_some_and(|b| matches!(b.kind, BindingKind::Constant { .. }))
    };
    let (blocks, textures): (Vec<_>, Vec<_>) = names.iter().partition(block);
    let resources = Resources {
        blocks: blocks.into_iter().cloned().collect(),
        textures: textures.into_iter().cloned().collect(),
        push: push_constants.clone(),
    };
    Ok(FunctionPlan { label: artifact.label().to_owned(), stage, source: source.clone(), resources })
}

pub(crate) fn create_function(state: &mut State, plan: FunctionPlan) -> Result<Native> {
    let shader = compile(&state.context.gl, plan.stage, &plan.source).map_err(|e| e.on(plan.label.as_str()))?;
    state.label(glow::SHADER, shader.0, &plan.label);
    let word = state.word();
    state.functions.insert(word, Function { shader, resources: plan.resources });
    Ok(Native { word, aux: 0 })
}

fn compile(gl: &glow::Context, stage: u32, source: &str) -> Result<glow::Shader> {
    // SAFETY: the context is current on this thread; the driver compiles any text, and says so when it fails.
    unsafe {
        let shader = gl.create_shader(stage).map_err(|e| Error::new(ErrorKind::Native, e))?;
        gl.shader_source(shader, source);
        gl.compile_shader(shader);
        if gl.get_shader_compile_status(shader) {
            return Ok(shader);
        }
        let log = gl.get_shader_info_log(shader);
        gl.delete_shader(shader);
        Err(Error::new(ErrorKind::Native, format!("the driver does not compile the shader: {}", log.trim())))
    }
}

pub(crate) fn destroy_function(gl: &glow::Context, function: &Function) {
    // SAFETY: the context is current on this thread; programs linked from the shader keep their own code.
    unsafe { gl.delete_shader(function.shader) };
}

/// Attributes of one vertex buffer.
pub(crate) struct VertexBuffer {
    pub(crate) stride: u32,
    pub(crate) step: VertexStep,
    pub(crate) attributes: Vec<VertexAttribute>,
}

/// A pipeline to be made.
pub(crate) struct Plan {
    label: String,
    vertex: u64,
    fragment: Option<u64>,
    buffers: Vec<VertexBuffer>,
    state: RenderState<'static>,
    target: TargetState,
}

/// Checks what ES 3.0 lacks, before any GL call.
pub(crate) fn plan(desc: &NativeRasterPipeline<'_>, facts: &Facts) -> Result<Plan> {
    let state = desc.state;
    let slots = desc.targets.colors.iter().zip(0..).filter(|(format, _)| format.is_some());
    let mut targets = slots.map(|(_, slot): (_, usize)| state.targets.get(slot).copied().unwrap_or_default());
    let target = targets.next().unwrap_or_default();
    let differ = targets.any(|other| other != target);
    let locations = desc.buffers.iter().flat_map(|b| b.attributes).map(|a| a.location);
    let bias_clamp = state.depth.is_some_and(|d| d.bias_clamp != 0.0);
    let refusals = [
        (state.fill == FillMode::Wireframe, "wireframe", "OpenGL ES has no polygon mode"),
        (state.depth_clamp, "depth clamping", "OpenGL ES 3.0 has none"),
        (bias_clamp, "a clamp of the depth bias", "OpenGL ES 3.0 has none"),
        (state.sample_mask != u32::MAX, "a sample mask", "sample masks need OpenGL ES 3.1"),
        (state.topology == Topology::Points, "points", "the point size is undefined unless the shader writes it"),
        (desc.targets.view_mask != 0, "multiview", "OpenGL ES 3.0 has none"),
        (desc.targets.samples > 1, "multisampling", "the OpenGL ES backend does not translate it yet"),
        (differ, "blending or masks that differ between targets", "they need OpenGL ES 3.2"),
        (
            locations.max().is_some_and(|l| l >= facts.limits.max_vertex_bindings),
            "a vertex attribute location",
            "it is beyond the context's GL_MAX_VERTEX_ATTRIBS",
        ),
    ];
    if let Some((_, what, why)) = refusals.iter().find(|(refused, ..)| *refused) {
        return Err(unsupported(what, why).on(desc.label));
    }
    let buffer = |b: &rhizo_rhi::VertexBufferLayout<'_>| VertexBuffer {
        stride: b.stride,
        step: b.step,
        attributes: b.attributes.to_vec(),
    };
    Ok(Plan {
        label: desc.label.to_owned(),
        vertex: desc.vertex.function.word,
        fragment: desc.fragment.map(|f| f.function.word),
        buffers: desc.buffers.iter().map(buffer).collect(),
        state: RenderState { targets: &[], ..*state },
        target,
    })
}

/// Which table slot feeds which uniform-buffer binding point.
pub(crate) struct Block {
    pub(crate) place: (u32, u32),
    pub(crate) point: u32,
}

/// Which table slots feed which texture unit.
pub(crate) struct Unit {
    pub(crate) texture: (u32, u32),
    pub(crate) sampler: Option<(u32, u32)>,
    pub(crate) unit: u32,
}

/// A linked program with its state.
pub(crate) struct Pipeline {
    pub(crate) program: glow::Program,
    pub(crate) blocks: Vec<Block>,
    pub(crate) units: Vec<Unit>,
    pub(crate) push: Vec<(glow::UniformLocation, GlslPushConstant)>,
    pub(crate) first_instance: Option<glow::UniformLocation>,
    pub(crate) buffers: Vec<VertexBuffer>,
    pub(crate) state: RenderState<'static>,
    /// Shared by all targets.
    pub(crate) target: TargetState,
}

pub(crate) fn create(state: &mut State, plan: Plan) -> Result<Native> {
    let vertex = find(&state.functions, plan.vertex)?;
    let fragment = plan.fragment.map(|word| find(&state.functions, word)).transpose()?;
    let gl = &state.context.gl;
    let program = link(gl, vertex, fragment).map_err(|e| e.on(plan.label.as_str()))?;
    let mut resources = vertex.resources.clone();
    if let Some(fragment) = fragment {
        resources.blocks.extend_from_slice(&fragment.resources.blocks);
        resources.textures.extend_from_slice(&fragment.resources.textures);
        resources.push.extend_from_slice(&fragment.resources.push);
    }
    // SAFETY: the context is current on this thread and the program is linked.
    let first_instance = unsafe { gl.get_uniform_location(program, FIRST_INSTANCE) };
    let pipeline = Pipeline {
        program,
        blocks: assign_blocks(gl, program, &resources.blocks),
        units: assign_units(gl, program, &resources.textures),
        push: locate_push(gl, program, resources.push),
        first_instance,
        buffers: plan.buffers,
        state: plan.state,
        target: plan.target,
    };
    state.label(glow::PROGRAM, program.0, &plan.label);
    let word = state.word();
    state.pipelines.insert(word, pipeline.into());
    Ok(Native { word, aux: 0 })
}

fn link(gl: &glow::Context, vertex: &Function, fragment: Option<&Function>) -> Result<glow::Program> {
    let empty = if fragment.is_none() { Some(compile(gl, glow::FRAGMENT_SHADER, EMPTY_FRAGMENT)?) } else { None };
    let shaders = [Some(vertex.shader), fragment.map(|f| f.shader), empty];
    // SAFETY: the context is current on this thread; the shaders are compiled ones of it.
    unsafe {
        let program = gl.create_program().map_err(|e| Error::new(ErrorKind::Native, e))?;
        for shader in shaders.into_iter().flatten() {
            gl.attach_shader(program, shader);
        }
        gl.link_program(program);
        for shader in shaders.into_iter().flatten() {
            gl.detach_shader(program, shader);
        }
        if let Some(empty) = empty {
            gl.delete_shader(empty);
        }
        if gl.get_program_link_status(program) {
            return Ok(program);
        }
        let log = gl.get_program_info_log(program);
        gl.delete_program(program);
        Err(Error::new(ErrorKind::Native, format!("the driver does not link the program: {}", log.trim())))
    }
}

/// One binding point per table slot: both stages may see it, under different block names.
fn assign_blocks(gl: &glow::Context, program: glow::Program, names: &[GlslBinding]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for name in names {
        // SAFETY: the context is current on this thread and the program is linked.
        let Some(index) = (unsafe { gl.get_uniform_block_index(program, &name.name) }) else { continue };
        let known = blocks.iter().find(|b| b.place == name.binding).map(|b| b.point);
        let point = known.unwrap_or(blocks.len() as u32);
        // SAFETY: as above; the index was just given, and linking bounds the number of blocks by that of points.
        unsafe { gl.uniform_block_binding(program, index, point) };
        if known.is_none() {
            blocks.push(Block { place: name.binding, point });
        }
    }
    blocks
}

/// One unit per pair of texture and sampler.
fn assign_units(gl: &glow::Context, program: glow::Program, names: &[GlslBinding]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    // SAFETY: the context is current on this thread and the program is linked.
    unsafe { gl.use_program(Some(program)) };
    for name in names {
        // SAFETY: as above.
        let Some(location) = (unsafe { gl.get_uniform_location(program, &name.name) }) else { continue };
        let known = units.iter().find(|u| (u.texture, u.sampler) == (name.binding, name.sampler)).map(|u| u.unit);
        let unit = known.unwrap_or(units.len() as u32);
        // SAFETY: as above; the location is a sampler's, and linking bounds the number of units.
        unsafe { gl.uniform_1_i32(Some(&location), unit as i32) };
        if known.is_none() {
            units.push(Unit { texture: name.binding, sampler: name.sampler, unit });
        }
    }
    units
}

fn locate_push(
    gl: &glow::Context,
    program: glow::Program,
    leaves: Vec<GlslPushConstant>,
) -> Vec<(glow::UniformLocation, GlslPushConstant)> {
    // SAFETY: the context is current on this thread and the program is linked.
    let locate = |leaf: &GlslPushConstant| unsafe { gl.get_uniform_location(program, &leaf.name) };
    // A leaf the driver found unused has no location.
    leaves.into_iter().filter_map(|leaf| Some((locate(&leaf)?, leaf))).collect()
}

pub(crate) fn destroy(gl: &glow::Context, pipeline: &Pipeline) {
    // SAFETY: the context is current on this thread; the caller says nothing uses the program any more.
    unsafe { gl.delete_program(pipeline.program) };
}
