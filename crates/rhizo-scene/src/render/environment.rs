//! Image-based light: from an equirectangular image to the textures that shading reads, all on the GPU.

use bytemuck::{Pod, Zeroable};
use rhizo_rhi::{
    Access, Barriers, Binding, Buffer, BufferDesc, BufferRange, BufferUsage, ComputePass, ComputePassDesc,
    ComputePipeline, ComputePipelineDesc, Device, Extent, Format, Function, GlobalBarrier, Layout, Recorder, Sampler,
    Scope, Stages, StorageMode, TableDesc, TableWrite, Texture, TextureBarrier, TextureCopy, TextureDesc,
    TextureDimension, TextureLayers, TextureRange, TextureReadView, TextureUsage, TextureWriteView, ViewDesc,
    ViewDimension,
};

use super::error::RenderError;
use super::shaders::EnvironmentShaders;
use super::stats::RenderStats;
use super::upload::Uploader;
use crate::hdr::Equirect;

/// Half floats, because the storage formats every device has are few; 11 bits are plenty for light.
const FORMAT: Format = Format::Rgba16Float;
/// Brightest value that is stored, below the largest half float (65504).
const MAX_STORED: f32 = 32_768.0;
/// Texels along a face of the irradiance cube: a cosine lobe varies slowly.
const IRRADIANCE_SIZE: u32 = 16;
/// Texels along a face of the roughest level.
const ROUGHEST_SIZE: u32 = 8;
/// Largest face of the environment.
const MAX_FACE: u32 = 1024;
/// Samples along each axis of a cube texel; equirectangular texels are about as large as cube texels at the equator.
const FACE_SAMPLES: u32 = 4;
/// Cells per row and rows of the irradiance sum. Texels of smaller images are cut: four texels around a pole, summed as
/// they are, would give 1.4 times their light.
const MOMENT_CELLS: [u32; 2] = [128, 64];
/// Texels along the split-sum table.
const SPLIT_SUM_SIZE: u32 = 64;
/// Samples of each of its texels.
const SPLIT_SUM_SAMPLES: u32 = 1024;
/// Threads of a group along x and y, in all shaders here.
const GROUP: u32 = 8;

const SHADER_WROTE: Scope = Scope::new(Stages::COMPUTE, Access::SHADER_WRITE);
const SHADER_READS: Scope = Scope::new(Stages::COMPUTE.union(Stages::FRAGMENT), Access::SHADER_READ);

/// An environment on the GPU.
#[derive(Debug, Clone)]
pub struct Environment {
    pub(super) prefiltered: TextureReadView,
    pub(super) irradiance: TextureReadView,
    /// Level of `prefiltered` at roughness 1.
    pub(super) max_level: f32,
    /// What stored values are multiplied with to give radiance.
    pub(super) unscale: f32,
    /// What making it took.
    pub stats: RenderStats,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct CubeParams {
    size: u32,
    samples: u32,
    scale: f32,
    unused: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct MomentParams {
    size: [u32; 2],
    cells: [u32; 2],
    parts: [u32; 2],
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct IrradianceParams {
    size: u32,
    cells: u32,
    scale: f32,
    unused: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct PrefilterParams {
    size: u32,
    samples: u32,
    roughness: f32,
    source_size: f32,
}

/// The pipelines that make environments.
pub(super) struct EnvironmentPipelines {
    to_cube: ComputePipeline,
    moments: ComputePipeline,
    irradiance: ComputePipeline,
    prefilter: ComputePipeline,
    split_sum: ComputePipeline,
}

impl EnvironmentPipelines {
    pub(super) fn new(device: &Device) -> Result<Self, RenderError> {
        let shaders = EnvironmentShaders::new(device)?;
        let make = |label, function: &Function| {
            let group_size = function.interface().group_size;
            device.create_compute_pipeline(&ComputePipelineDesc {
                label,
                layout: None,
                function,
                group_size,
                cache: None,
            })
        };
        Ok(Self {
            to_cube: make("equirect to cube", &shaders.to_cube)?,
            moments: make("irradiance cells", &shaders.moments)?,
            irradiance: make("irradiance", &shaders.irradiance)?,
            prefilter: make("prefilter", &shaders.prefilter)?,
            split_sum: make("split sum", &shaders.split_sum)?,
        })
    }
}

/// What an environment is made of while it is made.
struct Work<'a> {
    device: &'a Device,
    pipelines: &'a EnvironmentPipelines,
    sampler: &'a Sampler,
    equirect: TextureReadView,
    image: [u32; 2],
    base: Texture,
    prefiltered: Texture,
    irradiance: Texture,
    moments: Buffer,
    cells: [u32; 2],
    scale: f32,
    stats: RenderStats,
}

/// Records everything from upload to finished textures. The image must have been uploaded to `equirect`.
pub(super) fn record(
    recorder: &mut Recorder<'_>,
    device: &Device,
    pipelines: &EnvironmentPipelines,
    sampler: &Sampler,
    image: &Equirect,
    equirect: &Texture,
) -> Result<Environment, RenderError> {
    let mut work = Work::new(device, pipelines, sampler, image, equirect)?;
    work.resample(recorder)?;
    work.sum_irradiance(recorder)?;
    work.prefilter(recorder)?;
    work.finish(recorder)
}

/// Creates the image's texture and queues its upload.
pub(super) fn upload(device: &Device, uploader: &mut Uploader<'_>, image: &Equirect) -> Result<Texture, RenderError> {
    let texels = image.width as usize * image.height as usize;
    let sane = texels == image.rgb.len() && image.rgb.iter().flatten().all(|v| v.is_finite());
    if texels == 0 || !sane {
        return Err(RenderError::Option {
            option: "environment",
            value: format!("{}x{}", image.width, image.height),
            reason: "at least one texel, as many as its size says, all finite".to_owned(),
        });
    }
    let limit = device.limits().max_texture_2d;
    if image.width.max(image.height) > limit {
        let needed = u64::from(image.width.max(image.height));
        return Err(RenderError::Limit { what: "the environment image's edge", needed, limit: limit.into() });
    }
    let texture = device.create_texture(&TextureDesc {
        label: "environment image",
        format: Format::Rgba32Float,
        extent: Extent::d2(image.width, image.height),
        usage: TextureUsage::SHADER_READ | TextureUsage::COPY_DESTINATION,
        ..TextureDesc::default()
    })?;
    let texels: Vec<[f32; 4]> = image.rgb.iter().map(|c| [c[0], c[1], c[2], 1.0]).collect();
    uploader.texture(&texture, bytemuck::cast_slice(&texels))?;
    Ok(texture)
}

/// Texels along the environment's faces: about the image's resolution at the horizon.
fn face_size(image: &Equirect) -> u32 {
    (image.height / 2).next_power_of_two().clamp(2 * ROUGHEST_SIZE, MAX_FACE)
}

/// A power of two, so that scaling loses no bits.
fn stored_scale(image: &Equirect) -> f32 {
    let brightest = image.rgb.iter().flatten().fold(0.0f32, |a, b| a.max(*b));
    let mut scale = 1.0;
    while brightest * scale > MAX_STORED {
        scale *= 0.5;
    }
    scale
}

fn cube(device: &Device, label: &str, size: u32, mips: u32) -> Result<Texture, RenderError> {
    Ok(device.create_texture(&TextureDesc {
        label,
        dimension: TextureDimension::Cube,
        format: FORMAT,
        extent: Extent { x: size, y: size, z: 6 },
        mips,
        usage: TextureUsage::SHADER_READ
            | TextureUsage::SHADER_WRITE
            | TextureUsage::COPY_SOURCE
            | TextureUsage::COPY_DESTINATION,
        ..TextureDesc::default()
    })?)
}

/// A storage view of all faces of a level.
fn faces(texture: &Texture, level: u32) -> Result<TextureWriteView, RenderError> {
    let range = TextureRange::mip(level);
    let dimension = Some(ViewDimension::D2Array);
    Ok(texture.write_view(&ViewDesc { range, dimension, ..ViewDesc::default() })?)
}

fn transition<'a>(
    texture: &'a Texture,
    range: TextureRange,
    before: (Scope, Layout),
    after: (Scope, Layout),
) -> TextureBarrier<'a> {
    let ((before, before_layout), (after, after_layout)) = (before, after);
    TextureBarrier { texture, range, before, before_layout, after, after_layout, queues: None }
}

const NEW: (Scope, Layout) = (Scope::NONE, Layout::Undefined);
const WRITE: (Scope, Layout) = (SHADER_WROTE, Layout::General);
const READ: (Scope, Layout) = (SHADER_READS, Layout::ShaderReadOnly);

impl<'a> Work<'a> {
    fn new(
        device: &'a Device,
        pipelines: &'a EnvironmentPipelines,
        sampler: &'a Sampler,
        image: &Equirect,
        equirect: &Texture,
    ) -> Result<Self, RenderError> {
        let size = face_size(image);
        let cells = MOMENT_CELLS;
        let moments = device.create_buffer(&BufferDesc {
            label: "irradiance cells",
            size_bytes: u64::from(cells[0]) * u64::from(cells[1]) * 48,
            usage: BufferUsage::SHADER_READ | BufferUsage::SHADER_WRITE,
            storage: StorageMode::DeviceLocal,
        })?;
        let levels = (size / ROUGHEST_SIZE).ilog2() + 1;
        Ok(Self {
            device,
            pipelines,
            sampler,
            equirect: equirect.read_view(&ViewDesc::default())?,
            image: [image.width, image.height],
            base: cube(device, "environment", size, size.ilog2() + 1)?,
            prefiltered: cube(device, "prefiltered environment", size, levels)?,
            irradiance: cube(device, "irradiance", IRRADIANCE_SIZE, 1)?,
            moments,
            cells,
            scale: stored_scale(image),
            stats: RenderStats { transient_allocations: 1, ..RenderStats::default() },
        })
    }

    fn dispatch(
        &mut self,
        pass: &mut ComputePass<'_>,
        pipeline: &ComputePipeline,
        writes: &[TableWrite<'_>],
        push: &[u8],
        groups: [u32; 3],
    ) -> Result<(), RenderError> {
        let layout = pipeline.layout().table(1).expect("all shaders here bind in space 1");
        let table = self.device.create_table(&TableDesc { label: pipeline.label(), layout, writes })?;
        let mut bound = pass.bind(pipeline);
        bound.set_tables(1, &[&table], &[]);
        bound.push_constants(0, push);
        bound.dispatch(groups);
        self.stats.dispatches += 1;
        self.stats.workgroups += groups.iter().map(|n| u64::from(*n)).product::<u64>();
        Ok(())
    }

    /// The image as a cube with all its mip levels.
    fn resample(&mut self, recorder: &mut Recorder<'_>) -> Result<(), RenderError> {
        let base = self.base.clone();
        let size = base.extent().x;
        {
            let mut pass = recorder.compute_pass(&ComputePassDesc { label: "environment", timestamps: None });
            let begin = [transition(&base, TextureRange::mip(0), NEW, WRITE)];
            pass.barriers(&Barriers { textures: &begin, ..Barriers::default() });
            let out = faces(&base, 0)?;
            let equirect = self.equirect.clone();
            let writes =
                [TableWrite::new(0, Binding::Texture(&equirect)), TableWrite::new(1, Binding::StorageTexture(&out))];
            let params = CubeParams { size, samples: FACE_SAMPLES, scale: self.scale, unused: 0 };
            let pipeline = &self.pipelines.to_cube;
            let groups = [size.div_ceil(GROUP), size.div_ceil(GROUP), 6];
            self.dispatch(&mut pass, pipeline, &writes, bytemuck::bytes_of(&params), groups)?;
        }
        let mut pass = recorder.transfer_pass("environment levels");
        pass.generate_mips(&base, WRITE, SHADER_READS);
        Ok(())
    }

    /// Irradiance, which also is the roughest level of the prefiltered cube.
    fn sum_irradiance(&mut self, recorder: &mut Recorder<'_>) -> Result<(), RenderError> {
        let (irradiance, prefiltered) = (self.irradiance.clone(), self.prefiltered.clone());
        let mut pass = recorder.compute_pass(&ComputePassDesc { label: "irradiance", timestamps: None });
        let all = TextureRange::WHOLE;
        let begin = [transition(&irradiance, all, NEW, WRITE), transition(&prefiltered, all, NEW, WRITE)];
        pass.barriers(&Barriers { textures: &begin, ..Barriers::default() });
        let [columns, rows] = self.cells;
        let parts = [0, 1].map(|axis| self.cells[axis].div_ceil(self.image[axis]));
        let size = [0, 1].map(|axis| self.image[axis] * parts[axis]);
        let params = MomentParams { size, cells: self.cells, parts };
        let (equirect, view) = (self.equirect.clone(), self.moments.write_view(BufferRange::WHOLE)?);
        let writes = [TableWrite::new(0, Binding::Texture(&equirect)), TableWrite::new(1, Binding::BufferWrite(&view))];
        let groups = [columns.div_ceil(GROUP), rows.div_ceil(GROUP), 1];
        let pipelines = self.pipelines;
        self.dispatch(&mut pass, &pipelines.moments, &writes, bytemuck::bytes_of(&params), groups)?;
        let global = [GlobalBarrier { before: SHADER_WROTE, after: SHADER_READS }];
        pass.barriers(&Barriers { global: &global, ..Barriers::default() });
        let cells = self.moments.read_view(BufferRange::WHOLE)?;
        for (texture, level) in [(&irradiance, 0), (&prefiltered, prefiltered.mips() - 1)] {
            let out = faces(texture, level)?;
            let size = texture.extent().x >> level;
            let writes =
                [TableWrite::new(2, Binding::BufferRead(&cells)), TableWrite::new(3, Binding::StorageTexture(&out))];
            let params = IrradianceParams { size, cells: columns * rows, scale: self.scale, unused: 0 };
            let groups = [size.div_ceil(GROUP), size.div_ceil(GROUP), 6];
            self.dispatch(&mut pass, &pipelines.irradiance, &writes, bytemuck::bytes_of(&params), groups)?;
        }
        Ok(())
    }

    /// The levels between the mirror and the roughest one.
    fn prefilter(&mut self, recorder: &mut Recorder<'_>) -> Result<(), RenderError> {
        let (base, prefiltered) = (self.base.clone(), self.prefiltered.clone());
        let source = base.read_view(&ViewDesc { dimension: Some(ViewDimension::D2Array), ..ViewDesc::default() })?;
        let last = prefiltered.mips() - 1;
        let mut pass = recorder.compute_pass(&ComputePassDesc { label: "prefilter", timestamps: None });
        for level in 1..last {
            let out = faces(&prefiltered, level)?;
            let size = prefiltered.extent().x >> level;
            let writes = [
                TableWrite::new(0, Binding::Texture(&source)),
                TableWrite::new(1, Binding::Sampler(self.sampler)),
                TableWrite::new(2, Binding::StorageTexture(&out)),
            ];
            // level = last * r (2 - r), solved for the roughness r; see `environment_lobe` in pbr.wgsl.
            let roughness = 1.0 - (1.0 - level as f32 / last as f32).sqrt();
            // Wider lobes need more samples, and their levels are smaller.
            let samples = (64 << level).min(1024);
            let params = PrefilterParams { size, samples, roughness, source_size: base.extent().x as f32 };
            let groups = [size.div_ceil(GROUP), size.div_ceil(GROUP), 6];
            let pipeline = &self.pipelines.prefilter;
            self.dispatch(&mut pass, pipeline, &writes, bytemuck::bytes_of(&params), groups)?;
        }
        Ok(())
    }

    /// Copies the mirror level and leaves everything ready to be sampled.
    fn finish(self, recorder: &mut Recorder<'_>) -> Result<Environment, RenderError> {
        let mut pass = recorder.transfer_pass("environment mirror level");
        let from = (Scope::new(Stages::TRANSFER, Access::TRANSFER_READ), Layout::CopySource);
        let to = (Scope::new(Stages::TRANSFER, Access::TRANSFER_WRITE), Layout::CopyDestination);
        let mirror = TextureRange::mip(0);
        let begin = [transition(&self.base, mirror, READ, from), transition(&self.prefiltered, mirror, WRITE, to)];
        pass.barriers(&Barriers { textures: &begin, ..Barriers::default() });
        let layers = TextureLayers { layer_count: 6, ..TextureLayers::mip(0) };
        let size = self.base.extent().x;
        pass.copy_texture(
            &self.base,
            &self.prefiltered,
            &[TextureCopy {
                source: layers,
                source_origin: [0; 3],
                destination: layers,
                destination_origin: [0; 3],
                extent: Extent::d2(size, size),
            }],
        );
        let rest = TextureRange { base_mip: 1, ..TextureRange::WHOLE };
        let end = [
            transition(&self.prefiltered, mirror, to, READ),
            transition(&self.prefiltered, rest, WRITE, READ),
            transition(&self.irradiance, TextureRange::WHOLE, WRITE, READ),
        ];
        pass.barriers(&Barriers { textures: &end, ..Barriers::default() });
        Ok(Environment {
            prefiltered: self.prefiltered.read_view(&ViewDesc::default())?,
            irradiance: self.irradiance.read_view(&ViewDesc::default())?,
            max_level: (self.prefiltered.mips() - 1) as f32,
            unscale: self.scale.recip(),
            stats: self.stats,
        })
    }
}

/// Records the split-sum table, which no environment changes.
pub(super) fn record_split_sum(
    recorder: &mut Recorder<'_>,
    device: &Device,
    pipelines: &EnvironmentPipelines,
) -> Result<TextureReadView, RenderError> {
    let texture = device.create_texture(&TextureDesc {
        label: "split sum",
        format: FORMAT,
        extent: Extent::d2(SPLIT_SUM_SIZE, SPLIT_SUM_SIZE),
        usage: TextureUsage::SHADER_READ | TextureUsage::SHADER_WRITE,
        ..TextureDesc::default()
    })?;
    let out = texture.write_view(&ViewDesc::default())?;
    let pipeline = &pipelines.split_sum;
    let layout = pipeline.layout().table(1).expect("all shaders here bind in space 1");
    let writes = [TableWrite::new(0, Binding::StorageTexture(&out))];
    let table = device.create_table(&TableDesc { label: "split sum", layout, writes: &writes })?;
    let mut pass = recorder.compute_pass(&ComputePassDesc { label: "split sum", timestamps: None });
    let barrier = |before, after| [transition(&texture, TextureRange::WHOLE, before, after)];
    pass.barriers(&Barriers { textures: &barrier(NEW, WRITE), ..Barriers::default() });
    {
        let mut bound = pass.bind(pipeline);
        bound.set_tables(1, &[&table], &[]);
        bound.push_constants(0, bytemuck::cast_slice(&[SPLIT_SUM_SIZE, SPLIT_SUM_SAMPLES]));
        bound.dispatch([SPLIT_SUM_SIZE / GROUP, SPLIT_SUM_SIZE / GROUP, 1]);
    }
    pass.barriers(&Barriers { textures: &barrier(WRITE, READ), ..Barriers::default() });
    Ok(texture.read_view(&ViewDesc::default())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32, height: u32, value: f32) -> Equirect {
        Equirect { width, height, rgb: vec![[value; 3]; (width * height) as usize] }
    }

    #[test]
    fn faces_follow_the_image() {
        assert_eq!(face_size(&image(1024, 512, 1.0)), 256);
        assert_eq!(face_size(&image(8, 4, 1.0)), 16);
        assert_eq!(face_size(&image(1, 1 << 16, 1.0)), MAX_FACE);
    }

    #[test]
    fn the_sun_fits_half_floats() {
        assert_eq!(stored_scale(&image(2, 1, 1.0)), 1.0);
        let scale = stored_scale(&image(2, 1, 7e4));
        assert_eq!(scale, 0.25);
        assert!(7e4 * scale <= MAX_STORED);
    }
}
