//! Raster passes: orientation, winding, depth, multisampling.

use crate::support::*;
use rhizo_rhi::*;

/// A triangle over the upper left half: counter-clockwise with y up.
const TRIANGLE: &str = "
@vertex fn vs(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    var p = array(vec2f(-1.0, 1.0), vec2f(-1.0, -1.0), vec2f(1.0, 1.0));
    return vec4f(p[i], 0.5, 1.0);
}
@fragment fn fs(@builtin(position) p: vec4f) -> @location(0) vec4f {
    return vec4f(floor(p.xy) / 255.0, 1.0, 1.0);
}";

fn triangle(gpu: &Gpu, state: RenderState<'_>) -> RasterPipeline {
    let (vertex, fragment) = (gpu.function(TRIANGLE, "vs"), gpu.function(TRIANGLE, "fs"));
    let desc = RasterPipelineDesc {
        label: "triangle",
        layout: None,
        vertex: &vertex,
        fragment: Some(&fragment),
        buffers: &[],
        state,
        targets: AttachmentFormats { colors: &[Some(Format::Rgba8Unorm)], ..AttachmentFormats::default() },
        cache: None,
    };
    gpu.device.create_raster_pipeline(&desc).unwrap()
}

/// The pixels, row by row from the top.
fn draw(gpu: &Gpu, pipeline: &RasterPipeline) -> Vec<[u8; 4]> {
    let target = gpu.target(Format::Rgba8Unorm, (16, 16), 1, TextureUsage::empty());
    let view = target.color_target_view(TextureRange::WHOLE).unwrap();
    let back = gpu.readback(16 * 16 * 4);
    gpu.run(|r| {
        r.barriers(&textures(&[discard_into(&target, COLOR_WRITE, Layout::RenderTarget)]));
        let colors = [clear(&view, [0.0, 0.0, 0.0, 1.0])];
        let mut pass = r.raster_pass(&RasterPassDesc { label: "draw", colors: &colors, ..RasterPassDesc::default() });
        pass.bind(pipeline).draw(3, 1, 0, 0);
        drop(pass);
        read_target(r, &target, &back);
    });
    read(&back).chunks_exact(4).map(|p| [p[0], p[1], p[2], p[3]]).collect()
}

#[test]
fn y_is_up_and_the_origin_of_pixels_is_top_left() {
    on_each(|gpu| {
        let pixels = draw(gpu, &triangle(gpu, RenderState::default()));
        for (i, pixel) in pixels.iter().enumerate() {
            let (x, y) = (i % 16, i / 16);
            // The hypotenuse runs from bottom left to top right: above it x + y < 15.
            if x + y < 15 {
                assert_eq!(*pixel, [x as u8, y as u8, 255, 255], "{x} {y}, inside");
            } else if x + y > 15 {
                assert_eq!(*pixel, [0, 0, 0, 255], "{x} {y}, outside");
            }
        }
    });
}

#[test]
fn counter_clockwise_with_y_up_is_the_front() {
    on_each(|gpu| {
        for (front, cull, seen) in [
            (FrontFace::CounterClockwise, CullMode::Back, true),
            (FrontFace::CounterClockwise, CullMode::Front, false),
            (FrontFace::Clockwise, CullMode::Back, false),
            (FrontFace::Clockwise, CullMode::Front, true),
        ] {
            let pixels = draw(gpu, &triangle(gpu, RenderState { front, cull, ..RenderState::default() }));
            assert_eq!(pixels[0][2] == 255, seen, "{front:?} is the front, {cull:?} culled");
        }
    });
}
