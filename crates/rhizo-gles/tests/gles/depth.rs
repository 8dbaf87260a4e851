//! Depth and stencil: passes without colour, comparison sampling, stencil per face.

use crate::harness::*;
use rhizo_rhi::*;

const QUAD: &str = "
struct Push { scale: f32, depth: f32 };
var<immediate> push: Push;
@vertex fn vs(@builtin(vertex_index) vertex: u32) -> @builtin(position) vec4f {
    let corner = vec2f(f32(vertex & 1u), f32(vertex >> 1u)) * 2.0 - 1.0;
    return vec4f(corner * push.scale, push.depth, 1.0);
}
@fragment fn white() -> @location(0) vec4f { return vec4f(1.0); }
@group(1) @binding(0) var shadow: texture_depth_2d;
@group(1) @binding(1) var compare: sampler_comparison;
@fragment fn lit(@builtin(position) at: vec4f) -> @location(0) vec4f {
    return vec4f(vec3f(textureSampleCompareLevel(shadow, compare, at.xy / 8.0, 0.5)), 1.0);
}";

fn quad(scale: f32, depth: f32) -> Vec<u8> {
    floats(&[scale, depth])
}

fn pipeline(gpu: &Gpu, fragment: Option<&str>, state: RenderState<'_>, depth: Option<Format>) -> RasterPipeline {
    let module = module(QUAD);
    let vertex = gpu.function(&module, "vs");
    let fragment = fragment.map(|entry| gpu.function(&module, entry));
    let color = [fragment.as_ref().map(|_| Format::Rgba8Unorm)];
    let colors = if fragment.is_some() { &color[..] } else { &[] };
    gpu.device
        .create_raster_pipeline(&RasterPipelineDesc {
            label: "quad",
            layout: None,
            vertex: &vertex,
            fragment: fragment.as_ref(),
            buffers: &[],
            state: RenderState { topology: Topology::TriangleStrip, ..state },
            targets: AttachmentFormats { colors, depth_stencil: depth, ..AttachmentFormats::default() },
            cache: None,
        })
        .expect("a pipeline")
}

fn color_target(gpu: &Gpu) -> (Texture, ColorTargetView) {
    let target = gpu.texture(Format::Rgba8Unorm, (8, 8), TextureUsage::COLOR_TARGET | TextureUsage::COPY_SOURCE);
    let view = target.color_target_view(TextureRange::WHOLE).expect("a view");
    (target, view)
}

/// Which pixels are lit, as rows of `#` and `.`.
fn rows(pixels: &[u8]) -> Vec<String> {
    let mark = |x, y| if rgba(pixels, 8, x, y)[0] == 255 { '#' } else { '.' };
    (0..8).map(|y| (0..8).map(|x| mark(x, y)).collect()).collect()
}

const CENTRE: [&str; 8] =
    ["........", "........", "..####..", "..####..", "..####..", "..####..", "........", "........"];

#[test]
fn a_pass_without_colours_fills_a_map_that_is_compared_with() {
    let gpu = Gpu::new();
    let usage = TextureUsage::DEPTH_STENCIL_TARGET | TextureUsage::SHADER_READ;
    let map = gpu.texture(Format::Depth32Float, (8, 8), usage);
    let map_view = map.depth_stencil_target_view(TextureRange::WHOLE).expect("a view");
    let (target, view) = color_target(&gpu);
    let state = RenderState { depth: Some(DepthState::default()), ..RenderState::default() };
    let fill = pipeline(&gpu, None, state, Some(Format::Depth32Float));
    let lit = pipeline(&gpu, Some("lit"), RenderState::default(), None);
    let layout = lit.layout().table(1).expect("group 1").clone();
    let compare =
        SamplerDesc { min: Filter::Nearest, mag: Filter::Nearest, mip: Filter::Nearest, ..SamplerDesc::default() };
    let compare = SamplerDesc { comparison: Some(CompareOp::Less), ..compare };
    let sampler = gpu.device.create_sampler(&compare).expect("a sampler");
    let read = map.read_view(&ViewDesc::default()).expect("a view");
    let writes = [TableWrite::new(0, Binding::Texture(&read)), TableWrite::new(1, Binding::Sampler(&sampler))];
    let table = gpu.device.create_table(&TableDesc { label: "t", layout: &layout, writes: &writes }).expect("a table");
    gpu.run(|r| {
        let depth = DepthOps { load: LoadOp::Clear([0.25; 4]), ..DepthOps::default() };
        let attached = DepthStencilAttachment { view: &map_view, depth, stencil: DepthOps::default() };
        {
            let desc = RasterPassDesc { label: "map", depth_stencil: Some(attached), ..RasterPassDesc::default() };
            let mut pass = r.raster_pass(&desc);
            let mut bound = pass.bind(&fill);
            bound.push_constants(0, &quad(0.5, 0.75));
            bound.draw(4, 1, 0, 0);
        }
        let color = ColorAttachment { view: &view, load: LoadOp::Discard, store: StoreOp::Store, resolve: None };
        let desc = RasterPassDesc { label: "lit", colors: &[Some(color)], ..RasterPassDesc::default() };
        let mut pass = r.raster_pass(&desc);
        let mut bound = pass.bind(&lit);
        bound.set_tables(1, &[&table], &[]);
        bound.push_constants(0, &quad(1.0, 0.5));
        bound.draw(4, 1, 0, 0);
    });
    // 0.5 < 0.75 in the middle, and not < 0.25 around it.
    assert_eq!(rows(&gpu.download(&target, 0)), CENTRE);
    gpu.clean();
}

#[test]
fn stencil_counts_fronts_and_is_compared_with_its_reference() {
    let gpu = Gpu::new();
    let format = Format::Depth24Stencil8;
    let stencil = gpu.texture(format, (8, 8), TextureUsage::DEPTH_STENCIL_TARGET);
    let stencil_view = stencil.depth_stencil_target_view(TextureRange::WHOLE).expect("a view");
    let (target, view) = color_target(&gpu);
    let keep = StencilFace { compare: CompareOp::Always, ..StencilFace::default() };
    let count = StencilFace { pass: StencilOp::IncrementClamp, ..keep };
    let mark = StencilState { front: count, back: keep, read_mask: 0xff, write_mask: 0xff };
    let equal = StencilFace { compare: CompareOp::Equal, ..keep };
    let test = StencilState { front: equal, back: equal, read_mask: 0x0f, write_mask: 0 };
    let none = [TargetState { mask: WriteMask::empty(), blend: None }];
    let marking = RenderState { stencil: Some(mark), targets: &none, ..RenderState::default() };
    let marking = pipeline(&gpu, Some("white"), marking, Some(format));
    let testing = RenderState { stencil: Some(test), ..RenderState::default() };
    let testing = pipeline(&gpu, Some("white"), testing, Some(format));
    gpu.run(|r| {
        let clear = |value| DepthOps { load: LoadOp::Clear([value; 4]), store: StoreOp::Discard, read_only: false };
        let attached = DepthStencilAttachment { view: &stencil_view, depth: clear(0.0), stencil: clear(16.0) };
        let load = LoadOp::Clear([0.0, 0.0, 0.0, 1.0]);
        let color = ColorAttachment { view: &view, load, store: StoreOp::Store, resolve: None };
        let colors = [Some(color)];
        let desc =
            RasterPassDesc { label: "s", colors: &colors, depth_stencil: Some(attached), ..RasterPassDesc::default() };
        let mut pass = r.raster_pass(&desc);
        {
            let mut bound = pass.bind(&marking);
            bound.push_constants(0, &quad(1.0, 0.5));
            bound.draw(4, 1, 0, 0);
            bound.push_constants(0, &quad(0.5, 0.5));
            bound.draw(4, 1, 0, 0);
        }
        // 16 + 2 in the middle, whose upper bits the mask hides.
        pass.set_stencil_reference(2);
        let mut bound = pass.bind(&testing);
        bound.push_constants(0, &quad(1.0, 0.5));
        bound.draw(4, 1, 0, 0);
    });
    assert_eq!(rows(&gpu.download(&target, 0)), CENTRE);
    gpu.clean();
}
