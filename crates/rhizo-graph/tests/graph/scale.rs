//! Cost grows about linearly with the size of a graph.

use std::time::{Duration, Instant};

use rhizo_graph::{
    AccessKind, Graph, LoadOp, OrderPolicy, PassKind, Policy, Profile, State, StoreOp, TextureDesc, compile,
};
use rhizo_rhi::Format;
use rhizo_rhi::{Layout, Stages, TextureRange};

/// Each pass samples the texture of the one before and draws its own.
fn chain(passes: usize) -> Graph {
    let mut graph = Graph::new("chain");
    let desc = TextureDesc::d2(Format::Rgba16Float, 64, 64);
    let mut last = graph.import_texture("input", desc, State::ready(Layout::ShaderReadOnly));
    for i in 0..passes {
        let next = graph.texture(&format!("t{i}"), desc);
        graph.pass(&format!("p{i}"), PassKind::Raster).sampled(last, Stages::FRAGMENT).color(
            next,
            LoadOp::Discard,
            StoreOp::Store,
        );
        last = next;
    }
    graph.output(last);
    graph
}

/// All passes share one resource of many layers, in parts and as a whole.
fn shared(passes: usize) -> Graph {
    let mut graph = Graph::new("shared");
    let desc = TextureDesc { layers: 64, ..TextureDesc::d2(Format::R32Float, 64, 64) };
    let atlas = graph.texture("atlas", desc);
    graph.output(atlas);
    for i in 0..passes {
        let mut pass = graph.pass(&format!("p{i}"), PassKind::Compute);
        pass.side_effect();
        let layer = u32::try_from(i % 64).unwrap();
        pass.uses_part(atlas, AccessKind::StorageWrite, Stages::COMPUTE, TextureRange::slice(0, layer));
    }
    graph
}

/// One writer and very many readers in different stages, then a writer again.
fn fan(passes: usize) -> Graph {
    let mut graph = Graph::new("fan");
    let desc = TextureDesc::d2(Format::Rgba8Unorm, 64, 64);
    let texture = graph.texture("t", desc);
    graph.output(texture);
    graph.pass("first", PassKind::Raster).color(texture, LoadOp::Discard, StoreOp::Store);
    for i in 0..passes {
        let stages = if i % 2 == 0 { Stages::FRAGMENT } else { Stages::VERTEX };
        graph.pass(&format!("p{i}"), PassKind::Raster).side_effect().sampled(texture, stages);
    }
    graph.pass("last", PassKind::Raster).color(texture, LoadOp::Discard, StoreOp::Store);
    graph
}

fn fastest(graph: &Graph, policy: OrderPolicy) -> Duration {
    let profile = Profile::single_queue();
    let run = || {
        let start = Instant::now();
        let plan = compile(graph, &profile, &Policy { order: policy }).unwrap();
        assert_eq!(plan.passes.len(), graph.passes().len());
        start.elapsed()
    };
    (0..5).map(|_| run()).min().unwrap()
}

#[test]
fn cost_is_near_linear_up_to_ten_thousand_passes() {
    let policies = [OrderPolicy::Declaration, OrderPolicy::Overlap, OrderPolicy::Memory, OrderPolicy::Random(1)];
    for (name, make) in [("chain", chain as fn(usize) -> Graph), ("shared", shared), ("fan", fan)] {
        for policy in policies {
            let (small, large) = (make(1000), make(10_000));
            // Ten times the passes: about ten times the cost, and a hundred if it were quadratic. Other work on the
            // machine can spoil a measurement, so one good attempt is enough; quadratic growth has none.
            let good = (0..12).any(|_| {
                let (small, large) = (fastest(&small, policy), fastest(&large, policy));
                let per_pass = large.as_nanos() / 10_000;
                println!("{name}, {policy}: {small:?} for 1,000, {large:?} for 10,000 passes ({per_pass} ns a pass)");
                large < small * 40
            });
            assert!(good, "{name}, {policy}");
        }
    }
}
