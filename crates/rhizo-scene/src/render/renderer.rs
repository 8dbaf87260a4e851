//! The renderer: uploads scenes, makes environments, draws pictures.

use rhizo_frame::{FrameConfig, Frames, Ticket};
use rhizo_graph::run::{Imports, Run as GraphRun, Runner, Work};
use rhizo_graph::{Graph, Plan};
use rhizo_rhi::{
    Access, AddressMode, Barriers, BindingTable, Buffer, BufferTextureCopy, CommandPool, CompareOp, DepthOps,
    DepthStencilAttachment, Device, Extent, Layout, LoadOp, Queue, QueueKind, RasterPassDesc, RasterPipeline, Recorder,
    SamplerDesc, Scope, Stages, SubmissionIndex, TextureBarrier, TextureDesc, TextureLayers, TextureRange,
    TextureReadView, TextureUsage, ViewDesc,
};

use super::environment::{self, Environment, EnvironmentPipelines};
use super::error::RenderError;
use super::frame::{self, Prepared};
use super::frame_graph::{FrameGraph, Shape};
use super::gpu_scene::{self, GpuScene};
use super::options::{Background, RenderOptions};
use super::passes::{self, Bindings, Run};
use super::pipelines::{DEPTH_FORMAT, HDR_FORMAT, Pipelines};
use super::stats::RenderStats;
use super::tables::{Common, FrameTables, SlotTables};
use super::timing::PassClock;
use super::upload::Uploader;
use crate::camera::View;
use crate::hdr::Equirect;
use crate::scene::Scene;

/// Software drivers take their time; anything beyond this is a hang.
const WAIT_SECONDS: u64 = 600;
const WAIT_NS: u64 = WAIT_SECONDS * 1_000_000_000;
/// Frames whose constants can be in flight.
const FRAMES_IN_FLIGHT: u32 = 2;

/// A finished picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Texels per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// R, G, B, A bytes with the sRGB curve; rows from the top without padding.
    pub rgba8: Vec<u8>,
    /// What drawing it took.
    pub stats: RenderStats,
}

/// Draws scenes on one device.
///
/// Pictures are made one at a time: [`SceneRenderer::render`] waits for the GPU.
pub struct SceneRenderer {
    device: Device,
    queue: Queue,
    /// For uploads and environments; frames have pools of their own.
    pool: CommandPool,
    pipelines: Pipelines,
    environment_pipelines: EnvironmentPipelines,
    common: Common,
    /// Bound where no light casts shadows.
    no_shadow: TextureReadView,
    frames: Frames,
    runner: Runner,
    graph: Option<FrameGraph>,
    slots: Vec<SlotTables>,
    clock: Option<PassClock>,
}

/// What a frame draws, resolved to pipelines.
struct Lists {
    shadow: Vec<Run>,
    opaque: Vec<Run>,
    transparent: Vec<Run>,
    sky: Option<RasterPipeline>,
}

/// Counts of each pass, apart, because each pass's closure writes its own.
#[derive(Default)]
struct Counts {
    shadow: RenderStats,
    main: RenderStats,
    transparent: RenderStats,
    post: RenderStats,
}

pub(super) fn wait(queue: &Queue, submission: SubmissionIndex) -> Result<(), RenderError> {
    if queue.wait(submission, WAIT_NS)? {
        return Ok(());
    }
    Err(RenderError::TimedOut { seconds: WAIT_SECONDS })
}

impl SceneRenderer {
    /// Compiles shaders and makes what all scenes share.
    ///
    /// # Errors
    /// [`RenderError`] when the device has no graphics queue or refuses a resource.
    pub fn new(device: &Device) -> Result<Self, RenderError> {
        let queue = device.queue(QueueKind::Graphics, 0)?;
        let mut pool = queue.create_pool();
        let environment_pipelines = EnvironmentPipelines::new(device)?;
        let mut recorder = pool.begin("renderer")?;
        let split_sum = environment::record_split_sum(&mut recorder, device, &environment_pipelines)?;
        let no_shadow = record_no_shadow(&mut recorder, device)?;
        let commands = recorder.finish()?;
        queue.submit_commands(&[&commands])?;
        let clamp = SamplerDesc { label: "clamp", address: [AddressMode::ClampToEdge; 3], ..SamplerDesc::default() };
        let comparison = Some(CompareOp::GreaterEqual);
        let common = Common {
            split_sum,
            clamp_sampler: device.create_sampler(&clamp)?,
            shadow_sampler: device.create_sampler(&SamplerDesc { label: "shadow", comparison, ..clamp })?,
        };
        let config = FrameConfig {
            frames_in_flight: FRAMES_IN_FLIGHT,
            upload_bytes: 0,
            constant_bytes: 16 << 10,
            max_readbacks: FRAMES_IN_FLIGHT as usize,
            max_readback_bytes: device.limits().max_buffer_bytes,
        };
        Ok(Self {
            pipelines: Pipelines::new(device)?,
            frames: Frames::new(device, &queue, &config)?,
            runner: Runner::new(device),
            clock: PassClock::new(device, &queue)?,
            device: device.clone(),
            queue,
            pool,
            environment_pipelines,
            common,
            no_shadow,
            graph: None,
            slots: (0..FRAMES_IN_FLIGHT).map(|_| SlotTables::default()).collect(),
        })
    }

    /// Uploads a scene; `anisotropy` is what its trilinear textures are sampled with (1 turns it off).
    ///
    /// # Errors
    /// [`RenderError`] when it does not fit the device.
    pub fn upload(&mut self, scene: &Scene, anisotropy: u32) -> Result<GpuScene, RenderError> {
        let mut uploader = Uploader::new(&self.device, &self.queue, &mut self.pool);
        let out = gpu_scene::upload(&self.device, &mut uploader, &self.pipelines.material, scene, anisotropy)?;
        uploader.finish()?;
        Ok(out)
    }

    /// Makes an environment from an equirectangular image, on the GPU.
    ///
    /// # Errors
    /// [`RenderError`] when the image is empty, not finite or too large.
    pub fn environment(&mut self, image: &Equirect) -> Result<Environment, RenderError> {
        let mut uploader = Uploader::new(&self.device, &self.queue, &mut self.pool);
        let texture = environment::upload(&self.device, &mut uploader, image)?;
        uploader.finish()?;
        let mut recorder = self.pool.begin("environment")?;
        let (pipelines, sampler) = (&self.environment_pipelines, &self.common.clamp_sampler);
        let out = environment::record(&mut recorder, &self.device, pipelines, sampler, image, &texture)?;
        let commands = recorder.finish()?;
        self.queue.submit_commands(&[&commands])?;
        Ok(out)
    }

    /// The graph and plan of the last frame, for tools.
    #[must_use]
    pub fn last_plan(&self) -> Option<(&Graph, &Plan)> {
        self.graph.as_ref().map(|frame| (&frame.graph, &frame.plan))
    }

    /// Draws a picture and waits for it.
    ///
    /// # Errors
    /// [`RenderError`] for options out of range or beyond the device, and failures of the device.
    pub fn render(
        &mut self,
        scene: &GpuScene,
        environment: &Environment,
        view: &View,
        options: &RenderOptions,
    ) -> Result<Picture, RenderError> {
        options.check()?;
        check_device(&self.device, options)?;
        let mut stats = RenderStats::default();
        let prepared = frame::prepare(scene, environment, view, options, &mut stats);
        self.fit_graph(options, &prepared, &mut stats)?;
        let lists = self.lists(scene, options, &prepared, &mut stats)?;
        let ticket = self.submit(scene, environment, options, &prepared, &lists, &mut stats)?;
        let bytes = self.frames.wait_readback(&ticket, WAIT_NS)?.into_bytes();
        if let (Some(clock), Some(planned)) = (&self.clock, &self.graph) {
            stats.pass_times_ns = clock.read(planned.plan.passes.len() as u32)?;
        }
        let rgba8 = unpadded(bytes, options, row_pitch(&self.device, options));
        Ok(Picture { width: options.width, height: options.height, rgba8, stats })
    }

    /// Compiles the frame's graph unless the last one has the same shape.
    fn fit_graph(
        &mut self,
        options: &RenderOptions,
        prepared: &Prepared,
        stats: &mut RenderStats,
    ) -> Result<(), RenderError> {
        let clear = match options.background {
            Background::Constant(c) => [c.x, c.y, c.z, 1.0],
            Background::Environment => [0.0, 0.0, 0.0, 1.0],
        };
        let shape = Shape {
            width: options.width,
            height: options.height,
            samples: options.samples,
            shadow: prepared.shadow.then_some(options.shadow_size),
            transparent: !prepared.transparent.is_empty(),
            clear,
            row_pitch: row_pitch(&self.device, options),
        };
        if self.graph.as_ref().is_none_or(|frame| frame.shape != shape) {
            self.graph = Some(FrameGraph::new(shape)?);
            stats.plan_misses += 1;
        } else {
            stats.plan_hits += 1;
        }
        Ok(())
    }

    /// Finds or makes every pipeline the frame needs.
    fn lists(
        &mut self,
        scene: &GpuScene,
        options: &RenderOptions,
        prepared: &Prepared,
        stats: &mut RenderStats,
    ) -> Result<Lists, RenderError> {
        let (pipelines, samples) = (&mut self.pipelines, options.samples);
        let shadow = if prepared.shadow { passes::shadow_runs(pipelines, scene, stats)? } else { Vec::new() };
        let opaque = passes::surface_runs(pipelines, scene, &prepared.opaque, samples, stats)?;
        let transparent = passes::surface_runs(pipelines, scene, &prepared.transparent, samples, stats)?;
        let visible = options.background == Background::Environment;
        let sky = visible.then(|| pipelines.sky(samples, stats)).transpose()?;
        Ok(Lists { shadow, opaque, transparent, sky })
    }

    /// The frame transaction: constants, uploads, the graph's passes, submission.
    fn submit(
        &mut self,
        scene: &GpuScene,
        environment: &Environment,
        options: &RenderOptions,
        prepared: &Prepared,
        lists: &Lists,
        stats: &mut RenderStats,
    ) -> Result<Ticket, RenderError> {
        let planned = self.graph.as_ref().expect("made by fit_graph");
        let mut frame = self.frames.wait_begin(WAIT_NS)?;
        let offset = frame.constants(bytemuck::bytes_of(&prepared.data))?.offset;
        let constants = frame.constant_buffer().clone();
        let (ticket, readback) = frame.readback_target(planned.shape.readback_bytes())?;
        let mut imports = Imports::default();
        imports.buffer(planned.readback, &readback);
        let slot = &mut self.slots[frame.slot()];
        let shadow_table = slot.shadow.get(&self.device, &self.pipelines.shadow_frame, &constants)?;
        let mut counts = Counts::default();
        let tables = FrameTables::default();
        let what = FrameWork {
            planned,
            scene,
            environment,
            options,
            lists,
            pipelines: &self.pipelines,
            common: &self.common,
            no_shadow: &self.no_shadow,
            constants: &constants,
            offset,
            shadow_table: &shadow_table,
            tables: &tables,
        };
        let work = what.work(slot, &mut counts);
        let uploads = frame.record_uploads("constants")?;
        let mut recorder = frame.record("frame")?;
        recorder.push_group("FrameRendering");
        let run = GraphRun {
            plan: &planned.plan,
            graph: &planned.graph,
            imports: &imports,
            timestamps: self.clock.as_ref().map(|c| &c.set),
        };
        let ran = self.runner.run(&run, work, &mut recorder)?;
        recorder.pop_group();
        let commands = recorder.finish()?;
        frame.submit(&[&uploads, &commands])?;
        counts.add_to(stats, planned);
        stats.transient_allocations += ran.transients_created;
        stats.barriers += ran.barriers;
        stats.barrier_batches += ran.batches;
        Ok(ticket)
    }
}

/// Everything the passes of a frame read.
struct FrameWork<'f> {
    planned: &'f FrameGraph,
    scene: &'f GpuScene,
    environment: &'f Environment,
    options: &'f RenderOptions,
    lists: &'f Lists,
    pipelines: &'f Pipelines,
    common: &'f Common,
    no_shadow: &'f TextureReadView,
    constants: &'f Buffer,
    offset: u32,
    shadow_table: &'f BindingTable,
    tables: &'f FrameTables,
}

impl<'f> FrameWork<'f> {
    /// What each pass does, for the graph's runner.
    fn work(self, slot: &'f mut SlotTables, counts: &'f mut Counts) -> Work<'f> {
        let mut work = Work::new();
        let Self { planned, scene, lists, tables, offset, .. } = self;
        let Counts { shadow, main, transparent, post } = counts;
        if let Some((pass, _)) = planned.shadow {
            let frame = Bindings { table: self.shadow_table, offset };
            work.raster(pass, move |pass, _| {
                passes::record_items(pass, scene, &lists.shadow, frame, shadow);
                Ok(())
            });
        }
        self.prepare_tables(slot, &mut work);
        let shading = move || Bindings { table: tables.frame.get().expect("set in prepare"), offset };
        work.raster(planned.main, move |pass, _| {
            passes::record_items(pass, scene, &lists.opaque, shading(), main);
            if let Some(sky) = &lists.sky {
                passes::record_sky(pass, sky, shading(), main);
            }
            Ok(())
        });
        if let Some(pass) = planned.transparent {
            work.raster(pass, move |pass, _| {
                passes::record_items(pass, scene, &lists.transparent, shading(), transparent);
                Ok(())
            });
        }
        let (pipeline, options) = (&self.pipelines.post, self.options);
        work.raster(planned.post, move |pass, _| {
            let table = tables.post.get().expect("set in prepare");
            passes::record_post(pass, pipeline, table, options, post);
            Ok(())
        });
        work.transfer(planned.copy, move |pass, resolved| {
            let (picture, buffer) = (resolved.texture(planned.picture)?, resolved.buffer(planned.readback)?);
            pass.copy_texture_to_buffer(picture, buffer, &[picture_copy(&planned.shape)]);
            Ok(())
        });
        work
    }

    /// Tables name the graph's textures, so they are found or made when those exist.
    fn prepare_tables(&self, slot: &'f mut SlotTables, work: &mut Work<'f>) {
        let Self { planned, pipelines, common, environment, constants, no_shadow, tables, .. } = *self;
        let SlotTables { shading, post, .. } = slot;
        work.prepare(planned.main, move |device, resolved| {
            let map = match planned.shadow {
                Some((_, map)) => resolved.texture(map)?.read_view(&SHADOW_VIEW)?,
                None => no_shadow.clone(),
            };
            let table = shading.get(device, &pipelines.frame, constants, environment, &map, common)?;
            tables.frame.get_or_init(|| table);
            Ok(())
        });
        work.prepare(planned.post, move |device, resolved| {
            let layout = pipelines.post.layout().table(1).expect("post.wgsl binds in space 1");
            let light = resolved.texture(planned.light)?;
            let table = post.get(device, layout, light)?;
            tables.post.get_or_init(|| table);
            Ok(())
        });
    }
}

impl Counts {
    fn add_to(self, stats: &mut RenderStats, planned: &FrameGraph) {
        let passes = planned.plan.passes.iter().map(|p| planned.plan.pass_label(p.pass).to_owned());
        stats.passes = passes.collect();
        stats.clears = 2 + u32::from(planned.shadow.is_some());
        for counts in [self.shadow, self.main, self.transparent, self.post] {
            stats.add_draws(&counts);
        }
        stats.commands += 1; // the copy of the picture
    }
}

/// The graph leaves what shaders sample in this layout, depth or not.
const SHADOW_VIEW: ViewDesc = ViewDesc {
    dimension: None,
    range: TextureRange::WHOLE,
    format: None,
    swizzle: rhizo_rhi::IDENTITY,
    layout: Some(Layout::ShaderReadOnly),
};

fn check_device(device: &Device, options: &RenderOptions) -> Result<(), RenderError> {
    let limit = device.limits().max_texture_2d;
    for (what, edge) in
        [("the picture's edge", options.width.max(options.height)), ("the shadow map", options.shadow_size)]
    {
        if edge > limit {
            return Err(RenderError::Limit { what, needed: edge.into(), limit: limit.into() });
        }
    }
    let formats = [HDR_FORMAT, DEPTH_FORMAT].map(|format| device.format_support(format));
    let fits = |samples: u32| formats.iter().all(|f| f.samples(samples));
    if !fits(options.samples) {
        let able: Vec<String> = [1, 2, 4, 8].into_iter().filter(|s| fits(*s)).map(|s| s.to_string()).collect();
        return Err(RenderError::Option {
            option: "samples",
            value: options.samples.to_string(),
            reason: format!("this device can do {}", able.join(", ")),
        });
    }
    Ok(())
}

fn row_pitch(device: &Device, options: &RenderOptions) -> u32 {
    (options.width * 4).next_multiple_of(device.limits().row_alignment_bytes.max(4))
}

/// Rows without what aligns them.
fn unpadded(bytes: Vec<u8>, options: &RenderOptions, row_pitch: u32) -> Vec<u8> {
    let row = options.width as usize * 4;
    if row_pitch as usize == row {
        return bytes;
    }
    bytes.chunks(row_pitch as usize).take(options.height as usize).flat_map(|line| &line[..row]).copied().collect()
}

fn picture_copy(shape: &Shape) -> BufferTextureCopy {
    BufferTextureCopy {
        buffer_offset: 0,
        row_pitch: shape.row_pitch,
        rows_per_slice: 0,
        layers: TextureLayers::mip(0),
        origin: [0; 3],
        extent: Extent::d2(shape.width, shape.height),
    }
}

/// A shadow map of one texel, far away from everything: bound where no light casts shadows.
fn record_no_shadow(recorder: &mut Recorder<'_>, device: &Device) -> Result<TextureReadView, RenderError> {
    let texture = device.create_texture(&TextureDesc {
        label: "no shadow",
        format: DEPTH_FORMAT,
        extent: Extent::d2(1, 1),
        usage: TextureUsage::SHADER_READ | TextureUsage::DEPTH_STENCIL_TARGET,
        ..TextureDesc::default()
    })?;
    let view = texture.depth_stencil_target_view(TextureRange::WHOLE)?;
    let drawn = Scope::new(Stages::FRAGMENT, Access::DEPTH_STENCIL_WRITE);
    let sampled = Scope::new(Stages::FRAGMENT, Access::SHADER_READ);
    let mut barrier = TextureBarrier {
        texture: &texture,
        range: TextureRange::WHOLE,
        before: Scope::NONE,
        before_layout: Layout::Undefined,
        after: drawn,
        after_layout: Layout::DepthStencilWrite,
        queues: None,
    };
    recorder.barriers(&Barriers { textures: &[barrier], ..Barriers::default() });
    let depth = DepthOps { load: LoadOp::Clear([0.0; 4]), ..DepthOps::default() };
    let depth_stencil = Some(DepthStencilAttachment { view: &view, depth, stencil: DepthOps::default() });
    drop(recorder.raster_pass(&RasterPassDesc { label: "no shadow", depth_stencil, ..RasterPassDesc::default() }));
    (barrier.before, barrier.before_layout) = (drawn, Layout::DepthStencilWrite);
    (barrier.after, barrier.after_layout) = (sampled, Layout::ShaderReadOnly);
    recorder.barriers(&Barriers { textures: &[barrier], ..Barriers::default() });
    Ok(texture.read_view(&SHADOW_VIEW)?)
}
