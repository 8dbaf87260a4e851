//! What each pass records. A pass is given open: whoever runs it decides on attachments and barriers.

use rhizo_rhi::{BindingTable, RasterPass, RasterPipeline};

use super::error::RenderError;
use super::gpu_scene::GpuScene;
use super::options::RenderOptions;
use super::pipelines::{Pipelines, Variant};
use super::stats::RenderStats;

/// Consecutive draws with one pipeline.
pub(super) struct Run {
    pipeline: RasterPipeline,
    items: Vec<u32>,
}

/// Groups items by the pipeline that draws them, keeping their order.
pub(super) fn runs(
    scene: &GpuScene,
    items: &[u32],
    mut pipeline: impl FnMut(Variant) -> Result<RasterPipeline, RenderError>,
) -> Result<Vec<Run>, RenderError> {
    let mut out: Vec<Run> = Vec::new();
    let mut last = None;
    for &index in items {
        let item = &scene.items[index as usize];
        let material = &scene.materials[item.material];
        let variant = Variant {
            topology: item.topology,
            coverage: material.coverage,
            double_sided: material.double_sided,
            mirrored: item.mirrored,
        };
        match out.last_mut() {
            Some(run) if last == Some(variant) => run.items.push(index),
            _ => out.push(Run { pipeline: pipeline(variant)?, items: vec![index] }),
        }
        last = Some(variant);
    }
    Ok(out)
}

/// The runs of a pass that draws surfaces.
pub(super) fn surface_runs(
    pipelines: &mut Pipelines,
    scene: &GpuScene,
    items: &[u32],
    samples: u32,
    stats: &mut RenderStats,
) -> Result<Vec<Run>, RenderError> {
    runs(scene, items, |variant| pipelines.surface(variant, samples, stats))
}

/// The runs of the shadow pass: everything solid, in view or not.
pub(super) fn shadow_runs(
    pipelines: &mut Pipelines,
    scene: &GpuScene,
    stats: &mut RenderStats,
) -> Result<Vec<Run>, RenderError> {
    let casts = |i: &u32| !scene.materials[scene.items[*i as usize].material].translucent;
    let items: Vec<u32> = (0..scene.items.len() as u32).filter(casts).collect();
    runs(scene, &items, |variant| pipelines.shadow(variant, stats))
}

/// The table of space 1 and where this frame's constants begin in it.
#[derive(Clone, Copy)]
pub(super) struct Bindings<'a> {
    pub(super) table: &'a BindingTable,
    pub(super) offset: u32,
}

/// Draws runs: shadow, opaque and transparent passes differ only in what is bound.
pub(super) fn record_items(
    pass: &mut RasterPass<'_>,
    scene: &GpuScene,
    runs: &[Run],
    frame: Bindings<'_>,
    stats: &mut RenderStats,
) {
    let mut material = None;
    for (i, run) in runs.iter().enumerate() {
        let mut bound = pass.bind(&run.pipeline);
        stats.pipeline_switches += 1;
        stats.commands += 1;
        if i == 0 {
            // Tables and buffers outlast the pipeline: all pipelines of a pass have one layout.
            bound.set_tables(1, &[frame.table], &[frame.offset]);
            bound.set_vertex_buffer(0, &scene.vertices);
            bound.set_index_buffer(&scene.indices);
            stats.table_switches += 1;
            stats.buffer_switches += 2;
            stats.commands += 3;
        }
        for &index in &run.items {
            let item = &scene.items[index as usize];
            if material != Some(item.material) {
                bound.set_tables(2, &[&scene.materials[item.material].table], &[]);
                material = Some(item.material);
                stats.table_switches += 1;
                stats.commands += 1;
            }
            bound.push_constants(0, bytemuck::bytes_of(&item.constants));
            bound.draw_indexed(item.indices, 1, item.first_index, item.base_vertex, 0);
            stats.draws += 1;
            stats.commands += 2;
            stats.triangles += item.triangles();
        }
    }
}

/// Fills what is still at the far plane with the environment.
pub(super) fn record_sky(
    pass: &mut RasterPass<'_>,
    pipeline: &RasterPipeline,
    frame: Bindings<'_>,
    stats: &mut RenderStats,
) {
    let mut bound = pass.bind(pipeline);
    bound.set_tables(1, &[frame.table], &[frame.offset]);
    bound.draw(3, 1, 0, 0);
    stats.pipeline_switches += 1;
    stats.table_switches += 1;
    stats.draws += 1;
    stats.triangles += 1;
    stats.commands += 3;
}

/// Exposure, tone mapping and the sRGB curve over the whole picture.
pub(super) fn record_post(
    pass: &mut RasterPass<'_>,
    pipeline: &RasterPipeline,
    source: &BindingTable,
    options: &RenderOptions,
    stats: &mut RenderStats,
) {
    let mut bound = pass.bind(pipeline);
    bound.set_tables(1, &[source], &[]);
    let constants = [options.exposure.to_bits(), options.tone_mapping.code()];
    bound.push_constants(0, bytemuck::cast_slice(&constants));
    bound.draw(3, 1, 0, 0);
    stats.pipeline_switches += 1;
    stats.table_switches += 1;
    stats.draws += 1;
    stats.triangles += 1;
    stats.commands += 4;
}
