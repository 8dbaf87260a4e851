//! Plans as text: what the compiler decides for one ordinary frame, line by line.

use rhizo_graph::{
    AccessKind, BufferDesc, ClearValue, Graph, LoadOp, PassKind, Policy, Profile, State, StoreOp, TextureDesc, compile,
    dump,
};
use rhizo_rhi::Format;
use rhizo_rhi::{Layout, Stages};

/// Shadow, main with a depth buffer and MSAA, post; a dead debug view; a buffer updated by compute.
fn frame() -> Graph {
    let mut graph = Graph::new("frame");
    let shadow = graph.texture("shadow", TextureDesc::d2(Format::Depth32Float, 1024, 1024));
    let color = |samples| TextureDesc { samples, ..TextureDesc::d2(Format::Rgba16Float, 640, 480) };
    let msaa = graph.texture("msaa", color(4));
    let depth = TextureDesc { samples: 4, ..TextureDesc::d2(Format::Depth32Float, 640, 480) };
    let depth = graph.texture("depth", depth);
    let hdr = graph.texture("hdr", color(1));
    let bloom = graph.texture("bloom", color(1));
    let blur = graph.texture("blur", color(1));
    let glow = graph.texture("glow", color(1));
    let particles = BufferDesc::new(65_536);
    let before = State { stages: Stages::VERTEX_INPUT, ..State::ready(Layout::Undefined) };
    let before = State { access: rhizo_rhi::Access::VERTEX_READ, ..before };
    let particles = graph.persistent_buffer("particles", particles, Some(before));
    let screen = TextureDesc::d2(Format::Bgra8UnormSrgb, 640, 480);
    let screen = graph.import_texture("screen", screen, State::acquired(Stages::FRAGMENT));
    graph.output(screen);
    graph.output(particles);
    graph.final_state(screen, State::PRESENT);

    let far = LoadOp::Clear(ClearValue::DepthStencil(0.0, 0));
    let black = LoadOp::Clear(ClearValue::Color([0.0; 4]));
    graph.pass("simulate", PassKind::Compute).uses(particles, AccessKind::StorageReadWrite, Stages::COMPUTE);
    graph.pass("shadow", PassKind::Raster).depth(shadow, far, StoreOp::Store);
    graph.pass("debug", PassKind::Compute).sampled(shadow, Stages::COMPUTE);
    graph
        .pass("main", PassKind::Raster)
        .sampled(shadow, Stages::FRAGMENT)
        .uses(particles, AccessKind::VertexRead, Stages::empty())
        .color(msaa, black, StoreOp::Store)
        .depth(depth, far, StoreOp::Store)
        .resolve_to(hdr);
    let pass = |graph: &mut Graph, name: &str, from, to| {
        graph.pass(name, PassKind::Raster).sampled(from, Stages::FRAGMENT).color(to, LoadOp::Discard, StoreOp::Store);
    };
    pass(&mut graph, "bloom", hdr, bloom);
    pass(&mut graph, "blur", bloom, blur);
    pass(&mut graph, "blur-again", blur, glow);
    graph.pass("post", PassKind::Raster).sampled(hdr, Stages::FRAGMENT).sampled(glow, Stages::FRAGMENT).color(
        screen,
        LoadOp::Discard,
        StoreOp::Store,
    );
    graph
}

/// Compares line by line, so that a failure reads as a change of the plan. With `RHIZO_BLESS` set the file is written
/// instead: look at what changed.
fn assert_text(found: &str, file: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graph").join(file);
    if std::env::var_os("RHIZO_BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = &std::fs::read_to_string(&path).unwrap();
    let lines = |text: &str| text.trim().lines().map(str::to_owned).collect::<Vec<_>>();
    let (found_lines, expected_lines) = (lines(found), lines(expected));
    for (i, line) in found_lines.iter().enumerate() {
        let wanted = expected_lines.get(i).map_or("(nothing)", String::as_str);
        assert_eq!(line, wanted, "line {} of:\n{found}", i + 1);
    }
    assert_eq!(found_lines.len(), expected_lines.len(), "{found}");
}

#[test]
fn plan_of_a_frame() {
    let graph = frame();
    let plan = compile(&graph, &Profile::single_queue(), &Policy::default()).unwrap();
    assert_text(&dump::text(&graph, &plan), "frame.txt");
}

#[test]
fn drawing_of_a_frame() {
    let graph = frame();
    let plan = compile(&graph, &Profile::single_queue(), &Policy::default()).unwrap();
    assert_text(&dump::dot(&graph, &plan), "frame.dot");
}

#[test]
fn labels_cannot_break_a_drawing() {
    let mut graph = Graph::new("a \"quoted\" name\n");
    graph.pass("back\\slash \"", PassKind::Compute).side_effect();
    let plan = compile(&graph, &Profile::single_queue(), &Policy::default()).unwrap();
    let dot = dump::dot(&graph, &plan);
    assert!(dot.starts_with("digraph \"a \\\"quoted\\\" name\\n\" {"), "{dot}");
    assert!(dot.contains("label=\"back\\\\slash \\\"\\ncompute\""), "{dot}");
}
