//! The renderer: uploads scenes, makes environments, draws pictures.

use rhizo_rhi::{
    Access, AddressMode, Barriers, Binding, BindingTable, Buffer, BufferCopy, BufferDesc, BufferRange,
    BufferTextureCopy, BufferUsage, ColorAttachment, CommandPool, CompareOp, ConstantBufferView, DepthOps,
    DepthStencilAttachment, Device, Extent, GlobalBarrier, Layout, LoadOp, ObjectId, Queue, QueueKind, RasterPassDesc,
    Recorder, Sampler, SamplerDesc, Scope, Stages, StorageMode, StoreOp, SubmissionIndex, TableDesc, TableWrite,
    Texture, TextureBarrier, TextureLayers, TextureRange, TextureReadView,
};

use super::environment::{self, Environment, EnvironmentPipelines};
use super::error::RenderError;
use super::frame::{self, FrameData, Prepared};
use super::gpu_scene::{self, GpuScene};
use super::options::{Background, RenderOptions};
use super::passes::{self, Run};
use super::pipelines::Pipelines;
use super::stats::RenderStats;
use super::targets::{ShadowMap, Targets};
use super::upload::Uploader;
use crate::camera::View;
use crate::hdr::Equirect;
use crate::scene::Scene;

/// Software drivers take their time; anything beyond this is a hang.
const WAIT_SECONDS: u64 = 600;

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
    pool: CommandPool,
    pipelines: Pipelines,
    environment_pipelines: EnvironmentPipelines,
    split_sum: TextureReadView,
    clamp_sampler: Sampler,
    shadow_sampler: Sampler,
    constants: Constants,
    targets: Option<Targets>,
    shadow_map: ShadowMap,
    tables: Option<FrameTables>,
}

/// The frame's constants: written by the CPU, copied, read by shaders.
struct Constants {
    staging: Buffer,
    buffer: Buffer,
    view: ConstantBufferView,
}

/// Tables of space 1, kept while what they name stays.
struct FrameTables {
    key: (ObjectId, ObjectId),
    frame: BindingTable,
    shadow: BindingTable,
}

/// Everything a frame records, resolved.
struct FrameWork<'a> {
    scene: &'a GpuScene,
    options: &'a RenderOptions,
    shadow: Option<Vec<Run>>,
    opaque: Vec<Run>,
    transparent: Option<Vec<Run>>,
    sky: Option<rhizo_rhi::RasterPipeline>,
}

pub(super) fn wait(queue: &Queue, submission: SubmissionIndex) -> Result<(), RenderError> {
    if queue.wait(submission, WAIT_SECONDS * 1_000_000_000)? {
        return Ok(());
    }
    Err(RenderError::TimedOut { seconds: WAIT_SECONDS })
}

impl Constants {
    fn new(device: &Device) -> Result<Self, RenderError> {
        let make = |label, usage, storage| {
            device.create_buffer(&BufferDesc { label, size_bytes: size_of::<FrameData>() as u64, usage, storage })
        };
        let staging = make("frame staging", BufferUsage::COPY_SOURCE, StorageMode::Upload)?;
        let usage = BufferUsage::CONSTANT | BufferUsage::COPY_DESTINATION;
        let buffer = make("frame", usage, StorageMode::DeviceLocal)?;
        let view = buffer.constant_view(BufferRange::WHOLE)?;
        Ok(Self { staging, buffer, view })
    }
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
        let shadow_map = ShadowMap::new(device, 1)?;
        let mut recorder = pool.begin("renderer")?;
        let split_sum = environment::record_split_sum(&mut recorder, device, &environment_pipelines)?;
        record_empty_shadow(&mut recorder, &shadow_map);
        let commands = recorder.finish()?;
        queue.submit_commands(&[&commands])?;
        let clamp = [AddressMode::ClampToEdge; 3];
        let clamp_sampler =
            device.create_sampler(&SamplerDesc { label: "clamp", address: clamp, ..SamplerDesc::default() })?;
        let shadow_sampler = device.create_sampler(&SamplerDesc {
            label: "shadow",
            address: clamp,
            comparison: Some(CompareOp::GreaterEqual),
            ..SamplerDesc::default()
        })?;
        Ok(Self {
            pipelines: Pipelines::new(device)?,
            constants: Constants::new(device)?,
            device: device.clone(),
            queue,
            pool,
            environment_pipelines,
            split_sum,
            clamp_sampler,
            shadow_sampler,
            targets: None,
            shadow_map,
            tables: None,
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
        let (pipelines, sampler) = (&self.environment_pipelines, &self.clamp_sampler);
        let out = environment::record(&mut recorder, &self.device, pipelines, sampler, image, &texture)?;
        let commands = recorder.finish()?;
        self.queue.submit_commands(&[&commands])?;
        Ok(out)
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
        let mut stats = RenderStats::default();
        let prepared = frame::prepare(scene, environment, view, options, &mut stats);
        self.fit(environment, options, &prepared, &mut stats)?;
        self.constants.staging.write(0, bytemuck::bytes_of(&prepared.data))?;
        let work = self.resolve(scene, options, &prepared, &mut stats)?;
        let submission = self.submit(&work, &mut stats)?;
        wait(&self.queue, submission)?;
        let targets = self.targets.as_ref().expect("made by fit");
        Ok(Picture { width: options.width, height: options.height, rgba8: targets.read()?, stats })
    }

    /// Makes targets, shadow map and tables anew where the last ones don't fit.
    fn fit(
        &mut self,
        environment: &Environment,
        options: &RenderOptions,
        prepared: &Prepared,
        stats: &mut RenderStats,
    ) -> Result<(), RenderError> {
        if !self.targets.as_ref().is_some_and(|t| t.fit(options)) {
            self.targets = None;
            let layout = self.pipelines.post.layout().table(1).expect("post.wgsl binds in space 1");
            let targets = Targets::new(&self.device, layout, options)?;
            stats.transient_allocations += targets.count();
            self.targets = Some(targets);
        }
        if prepared.shadow && self.shadow_map.size != options.shadow_size {
            self.shadow_map = ShadowMap::new(&self.device, options.shadow_size)?;
            stats.transient_allocations += 1;
        }
        let key = (environment.prefiltered.texture_id(), self.shadow_map.view.texture_id());
        if self.tables.as_ref().is_none_or(|t| t.key != key) {
            self.tables = Some(self.make_tables(environment, key)?);
        }
        Ok(())
    }

    fn make_tables(&self, environment: &Environment, key: (ObjectId, ObjectId)) -> Result<FrameTables, RenderError> {
        let constants = TableWrite::new(0, Binding::Constant(&self.constants.view));
        let writes = [
            constants,
            TableWrite::new(1, Binding::Texture(&environment.prefiltered)),
            TableWrite::new(2, Binding::Texture(&environment.irradiance)),
            TableWrite::new(3, Binding::Texture(&self.split_sum)),
            TableWrite::new(4, Binding::Sampler(&self.clamp_sampler)),
            TableWrite::new(5, Binding::Texture(&self.shadow_map.view)),
            TableWrite::new(6, Binding::Sampler(&self.shadow_sampler)),
        ];
        let layout = &self.pipelines.frame;
        let frame = self.device.create_table(&TableDesc { label: "frame", layout, writes: &writes })?;
        let layout = &self.pipelines.shadow_frame;
        let shadow = self.device.create_table(&TableDesc { label: "shadow frame", layout, writes: &[constants] })?;
        Ok(FrameTables { key, frame, shadow })
    }

    /// Finds or makes every pipeline the frame needs.
    fn resolve<'a>(
        &mut self,
        scene: &'a GpuScene,
        options: &'a RenderOptions,
        prepared: &Prepared,
        stats: &mut RenderStats,
    ) -> Result<FrameWork<'a>, RenderError> {
        let (pipelines, samples) = (&mut self.pipelines, options.samples);
        let shadow = prepared.shadow.then(|| passes::shadow_runs(pipelines, scene, stats)).transpose()?;
        let opaque = passes::surface_runs(pipelines, scene, &prepared.opaque, samples, stats)?;
        let transparent = (!prepared.transparent.is_empty())
            .then(|| passes::surface_runs(pipelines, scene, &prepared.transparent, samples, stats))
            .transpose()?;
        let sky = (options.background == Background::Environment).then(|| pipelines.sky(samples, stats)).transpose()?;
        Ok(FrameWork { scene, options, shadow, opaque, transparent, sky })
    }

    fn submit(&mut self, work: &FrameWork<'_>, stats: &mut RenderStats) -> Result<SubmissionIndex, RenderError> {
        let targets = self.targets.as_ref().expect("made by fit");
        let tables = self.tables.as_ref().expect("made by fit");
        let mut recorder = self.pool.begin("frame")?;
        recorder.push_group("FrameRendering");
        record_constants(&mut recorder, &self.constants);
        if let Some(runs) = &work.shadow {
            record_shadow(&mut recorder, &self.shadow_map, work.scene, runs, &tables.shadow, stats);
        }
        record_main(&mut recorder, targets, work, &tables.frame, stats);
        if let Some(runs) = &work.transparent {
            record_transparent(&mut recorder, targets, work.scene, runs, &tables.frame, stats);
        }
        record_post(&mut recorder, targets, &self.pipelines, work.options, stats);
        record_readback(&mut recorder, targets);
        recorder.pop_group();
        let commands = recorder.finish()?;
        Ok(self.queue.submit_commands(&[&commands])?)
    }
}

const COLOR_WRITTEN: Scope =
    Scope::new(Stages::FRAGMENT, Access::RENDER_TARGET_WRITE.union(Access::RENDER_TARGET_READ));
const DEPTH_WRITTEN: Scope =
    Scope::new(Stages::FRAGMENT, Access::DEPTH_STENCIL_WRITE.union(Access::DEPTH_STENCIL_READ));
const SAMPLED: Scope = Scope::new(Stages::FRAGMENT, Access::SHADER_READ);
const COPIED_FROM: Scope = Scope::new(Stages::TRANSFER, Access::TRANSFER_READ);
const COPIED_TO: Scope = Scope::new(Stages::TRANSFER, Access::TRANSFER_WRITE);
const CONSTANTS_READ: Scope = Scope::new(Stages::VERTEX.union(Stages::FRAGMENT), Access::CONSTANT_READ);

/// The contents so far are dropped; earlier accesses of the same kind still come first.
fn fresh(texture: &Texture, after: Scope, after_layout: Layout) -> TextureBarrier<'_> {
    barrier(texture, (after, Layout::Undefined), (after, after_layout))
}

fn barrier(texture: &Texture, before: (Scope, Layout), after: (Scope, Layout)) -> TextureBarrier<'_> {
    let ((before, before_layout), (after, after_layout)) = (before, after);
    TextureBarrier { texture, range: TextureRange::WHOLE, before, before_layout, after, after_layout, queues: None }
}

fn textures(recorder: &mut Recorder<'_>, textures: &[TextureBarrier<'_>]) {
    recorder.barriers(&Barriers { textures, ..Barriers::default() });
}

fn record_constants(recorder: &mut Recorder<'_>, constants: &Constants) {
    let size = constants.buffer.size_bytes();
    let mut pass = recorder.transfer_pass("constants");
    pass.copy_buffer(
        &constants.staging,
        &constants.buffer,
        &[BufferCopy { source_offset: 0, destination_offset: 0, size }],
    );
    let global = [GlobalBarrier { before: COPIED_TO, after: CONSTANTS_READ }];
    pass.barriers(&Barriers { global: &global, ..Barriers::default() });
}

fn shadow_desc(map: &ShadowMap) -> RasterPassDesc<'_> {
    let clear = DepthOps { load: LoadOp::Clear([0.0; 4]), ..DepthOps::default() };
    let depth_stencil =
        Some(DepthStencilAttachment { view: &map.target.view, depth: clear, stencil: DepthOps::default() });
    RasterPassDesc { label: "shadow", depth_stencil, ..RasterPassDesc::default() }
}

const SHADOW_DRAWN: (Scope, Layout) = (DEPTH_WRITTEN, Layout::DepthStencilWrite);
const SHADOW_SAMPLED: (Scope, Layout) = (SAMPLED, Layout::DepthStencilReadOnly);

/// A shadow map without shadows, for frames that cast none.
fn record_empty_shadow(recorder: &mut Recorder<'_>, map: &ShadowMap) {
    let texture = &map.target.texture;
    textures(recorder, &[fresh(texture, DEPTH_WRITTEN, Layout::DepthStencilWrite)]);
    drop(recorder.raster_pass(&shadow_desc(map)));
    textures(recorder, &[barrier(texture, SHADOW_DRAWN, SHADOW_SAMPLED)]);
}

fn record_shadow(
    recorder: &mut Recorder<'_>,
    map: &ShadowMap,
    scene: &GpuScene,
    runs: &[Run],
    frame: &BindingTable,
    stats: &mut RenderStats,
) {
    let texture = &map.target.texture;
    textures(recorder, &[barrier(texture, (SAMPLED, Layout::Undefined), SHADOW_DRAWN)]);
    {
        let mut pass = recorder.raster_pass(&shadow_desc(map));
        passes::record_items(&mut pass, scene, runs, frame, stats);
    }
    textures(recorder, &[barrier(texture, SHADOW_DRAWN, SHADOW_SAMPLED)]);
    stats.passes.push("shadow");
    stats.clears += 1;
}

fn record_main(
    recorder: &mut Recorder<'_>,
    targets: &Targets,
    work: &FrameWork<'_>,
    frame: &BindingTable,
    stats: &mut RenderStats,
) {
    let mut begin = vec![
        barrier(&targets.hdr.texture, (SAMPLED, Layout::Undefined), (COLOR_WRITTEN, Layout::RenderTarget)),
        fresh(&targets.depth.texture, DEPTH_WRITTEN, Layout::DepthStencilWrite),
    ];
    begin.extend(targets.multisampled.as_ref().map(|t| fresh(&t.texture, COLOR_WRITTEN, Layout::RenderTarget)));
    textures(recorder, &begin);
    let clear = match work.options.background {
        Background::Constant(c) => [c.x, c.y, c.z, 1.0],
        Background::Environment => [0.0, 0.0, 0.0, 1.0],
    };
    let last = work.transparent.is_none();
    let color = [Some(color_attachment(targets, LoadOp::Clear(clear), last))];
    let depth = DepthOps {
        load: LoadOp::Clear([0.0; 4]),
        store: if last { StoreOp::Discard } else { StoreOp::Store },
        read_only: false,
    };
    let mut pass = recorder.raster_pass(&RasterPassDesc {
        label: "main",
        colors: &color,
        depth_stencil: Some(depth_attachment(targets, depth)),
        ..RasterPassDesc::default()
    });
    passes::record_items(&mut pass, work.scene, &work.opaque, frame, stats);
    if let Some(sky) = &work.sky {
        passes::record_sky(&mut pass, sky, frame, stats);
    }
    stats.passes.push("main");
    stats.clears += 2;
}

fn record_transparent(
    recorder: &mut Recorder<'_>,
    targets: &Targets,
    scene: &GpuScene,
    runs: &[Run],
    frame: &BindingTable,
    stats: &mut RenderStats,
) {
    let color = (COLOR_WRITTEN, Layout::RenderTarget);
    let depth = (DEPTH_WRITTEN, Layout::DepthStencilWrite);
    let drawn = targets.multisampled.as_ref().unwrap_or(&targets.hdr);
    textures(recorder, &[barrier(&drawn.texture, color, color), barrier(&targets.depth.texture, depth, depth)]);
    let colors = [Some(color_attachment(targets, LoadOp::Load, true))];
    let depth = DepthOps { load: LoadOp::Load, store: StoreOp::Discard, read_only: false };
    let mut pass = recorder.raster_pass(&RasterPassDesc {
        label: "transparent",
        colors: &colors,
        depth_stencil: Some(depth_attachment(targets, depth)),
        ..RasterPassDesc::default()
    });
    passes::record_items(&mut pass, scene, runs, frame, stats);
    stats.passes.push("transparent");
}

/// The colour attachment of the passes that draw light; the last one resolves samples.
fn color_attachment(targets: &Targets, load: LoadOp, last: bool) -> ColorAttachment<'_> {
    match &targets.multisampled {
        None => ColorAttachment { view: &targets.hdr.view, load, store: StoreOp::Store, resolve: None },
        Some(target) => ColorAttachment {
            view: &target.view,
            load,
            store: if last { StoreOp::Discard } else { StoreOp::Store },
            resolve: last.then_some(&targets.hdr.view),
        },
    }
}

fn depth_attachment(targets: &Targets, depth: DepthOps) -> DepthStencilAttachment<'_> {
    DepthStencilAttachment { view: &targets.depth.view, depth, stencil: DepthOps::default() }
}

fn record_post(
    recorder: &mut Recorder<'_>,
    targets: &Targets,
    pipelines: &Pipelines,
    options: &RenderOptions,
    stats: &mut RenderStats,
) {
    let read = (SAMPLED, Layout::ShaderReadOnly);
    let target = (COLOR_WRITTEN, Layout::RenderTarget);
    textures(
        recorder,
        &[
            barrier(&targets.hdr.texture, target, read),
            barrier(&targets.output.texture, (COPIED_FROM, Layout::Undefined), target),
        ],
    );
    let view = &targets.output.view;
    let colors = [Some(ColorAttachment { view, load: LoadOp::Discard, store: StoreOp::Store, resolve: None })];
    let mut pass =
        recorder.raster_pass(&RasterPassDesc { label: "post", colors: &colors, ..RasterPassDesc::default() });
    passes::record_post(&mut pass, &pipelines.post, &targets.post_table, options, stats);
    stats.passes.push("post");
}

fn record_readback(recorder: &mut Recorder<'_>, targets: &Targets) {
    let texture = &targets.output.texture;
    let extent = texture.extent();
    textures(recorder, &[barrier(texture, (COLOR_WRITTEN, Layout::RenderTarget), (COPIED_FROM, Layout::CopySource))]);
    let mut pass = recorder.transfer_pass("readback");
    pass.copy_texture_to_buffer(
        texture,
        &targets.readback,
        &[BufferTextureCopy {
            buffer_offset: 0,
            row_pitch: targets.row_pitch,
            rows_per_slice: 0,
            layers: TextureLayers::mip(0),
            origin: [0; 3],
            extent: Extent::d2(extent.x, extent.y),
        }],
    );
}
