//! A frame as a render graph: which passes there are, what they draw into, and what they read.

use rhizo_graph::{
    AccessKind, BufferDesc, BufferId, ClearValue, Graph, LoadOp, PassId, PassKind, Plan, Policy, Profile, State,
    StoreOp, TextureDesc, TextureId, compile,
};
use rhizo_rhi::Stages;

use super::error::RenderError;
use super::pipelines::{DEPTH_FORMAT, HDR_FORMAT, OUTPUT_FORMAT};

/// Everything that decides how a frame's graph looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) samples: u32,
    /// Texels along the shadow map, `None` if no light casts shadows.
    pub(super) shadow: Option<u32>,
    /// Whether there is something transparent in view.
    pub(super) transparent: bool,
    /// Linear light where nothing is drawn.
    pub(super) clear: [f32; 4],
    /// Bytes from one row of the picture to the next in the readback buffer.
    pub(super) row_pitch: u32,
}

/// The compiled graph of a shape, with the handles of what it declares.
pub(super) struct FrameGraph {
    pub(super) shape: Shape,
    pub(super) graph: Graph,
    pub(super) plan: Plan,
    pub(super) shadow: Option<(PassId, TextureId)>,
    pub(super) main: PassId,
    pub(super) transparent: Option<PassId>,
    pub(super) post: PassId,
    pub(super) light: TextureId,
    pub(super) copy: PassId,
    pub(super) picture: TextureId,
    pub(super) readback: BufferId,
}

impl Shape {
    pub(super) fn readback_bytes(&self) -> u64 {
        u64::from(self.row_pitch) * u64::from(self.height)
    }

    fn texture(&self, format: rhizo_rhi::Format, samples: u32) -> TextureDesc {
        TextureDesc { samples, ..TextureDesc::d2(format, self.width, self.height) }
    }
}

/// Far away: depth is reversed.
const FAR: LoadOp = LoadOp::Clear(ClearValue::DepthStencil(0.0, 0));

impl FrameGraph {
    pub(super) fn new(shape: Shape) -> Result<Self, RenderError> {
        let mut graph = Graph::new("scene");
        let light = graph.texture("light", shape.texture(HDR_FORMAT, 1));
        let drawn = match shape.samples {
            1 => light,
            samples => graph.texture("light samples", shape.texture(HDR_FORMAT, samples)),
        };
        let depth = graph.texture("depth", shape.texture(DEPTH_FORMAT, shape.samples));
        let picture = graph.texture("picture", shape.texture(OUTPUT_FORMAT, 1));
        let readback = BufferDesc::new(shape.readback_bytes());
        let readback = graph.import_buffer("readback", readback, State::UNDEFINED);
        graph.output(readback);

        let shadow = shape.shadow.map(|size| {
            let map = graph.texture("shadow map", TextureDesc::d2(DEPTH_FORMAT, size, size));
            let pass = graph.pass("shadow", PassKind::Raster).depth(map, FAR, StoreOp::Store).id();
            (pass, map)
        });
        let target = Target { light, drawn, depth, shadow: shadow.map(|(_, map)| map) };
        let main = target.main(&mut graph, &shape);
        let transparent = shape.transparent.then(|| target.transparent(&mut graph));
        let post = graph
            .pass("post", PassKind::Raster)
            .sampled(light, Stages::FRAGMENT)
            .color(picture, LoadOp::Discard, StoreOp::Store)
            .id();
        let copy = graph
            .pass("readback", PassKind::Transfer)
            .uses(picture, AccessKind::CopyRead, Stages::empty())
            .uses(readback, AccessKind::CopyWrite, Stages::empty())
            .id();
        let plan = compile(&graph, &Profile::single_queue(), &Policy::default())?;
        Ok(Self { shape, graph, plan, shadow, main, transparent, post, light, copy, picture, readback })
    }
}

/// What the passes that draw light have in common.
struct Target {
    light: TextureId,
    /// Multisampled, or `light` itself.
    drawn: TextureId,
    depth: TextureId,
    shadow: Option<TextureId>,
}

impl Target {
    fn main(&self, graph: &mut Graph, shape: &Shape) -> PassId {
        let clear = LoadOp::Clear(ClearValue::Color(shape.clear));
        let last = !shape.transparent;
        let mut pass = graph.pass("main", PassKind::Raster);
        pass.color(self.drawn, clear, self.store(last)).depth(self.depth, FAR, self.keep(!last));
        if let Some(map) = self.shadow {
            pass.sampled(map, Stages::FRAGMENT);
        }
        if last && self.drawn != self.light {
            pass.resolve_to(self.light);
        }
        pass.id()
    }

    fn transparent(&self, graph: &mut Graph) -> PassId {
        let mut pass = graph.pass("transparent", PassKind::Raster);
        pass.color(self.drawn, LoadOp::Load, self.store(true)).depth_read(self.depth);
        if let Some(map) = self.shadow {
            pass.sampled(map, Stages::FRAGMENT);
        }
        if self.drawn != self.light {
            pass.resolve_to(self.light);
        }
        pass.id()
    }

    /// Samples are not needed once they are resolved.
    fn store(&self, last: bool) -> StoreOp {
        self.keep(!last || self.drawn == self.light)
    }

    fn keep(&self, keep: bool) -> StoreOp {
        if keep { StoreOp::Store } else { StoreOp::Discard }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(shape: Shape) -> Vec<String> {
        let frame = FrameGraph::new(shape).unwrap();
        frame.plan.passes.iter().map(|p| frame.plan.pass_label(p.pass).to_owned()).collect()
    }

    const SHAPE: Shape = Shape {
        width: 64,
        height: 32,
        samples: 4,
        shadow: None,
        transparent: false,
        clear: [0.18, 0.18, 0.18, 1.0],
        row_pitch: 256,
    };

    #[test]
    fn passes_exist_only_when_something_needs_them() {
        assert_eq!(passes(SHAPE), ["main", "post", "readback"]);
        assert_eq!(passes(Shape { transparent: true, ..SHAPE }), ["main", "transparent", "post", "readback"]);
        let all = Shape { shadow: Some(2048), transparent: true, ..SHAPE };
        assert_eq!(passes(all), ["shadow", "main", "transparent", "post", "readback"]);
        assert_eq!(passes(Shape { samples: 1, ..all }), ["shadow", "main", "transparent", "post", "readback"]);
    }
}
