//! Declaring through the API: handles, conveniences, what a plan gives a runner.

use rhizo_graph::{
    AccessKind, AccessKinds, BufferDesc, ClearValue, ErrorCode, Graph, LoadOp, PassKind, Policy, Profile, State,
    StoreOp, TextureDesc, compile,
};
use rhizo_rhi::Format;
use rhizo_rhi::{Aspects, Layout, Stages, TextureRange};

const CLEAR: LoadOp = LoadOp::Clear(ClearValue::Color([0.5; 4]));

fn code(graph: &Graph) -> ErrorCode {
    compile(graph, &Profile::single_queue(), &Policy::default()).unwrap_err().code
}

#[test]
fn handles_of_another_graph_are_refused() {
    let desc = TextureDesc::d2(Format::Rgba8Unorm, 8, 8);
    let mut other = Graph::new("other");
    let foreign = other.texture("t", desc);
    let pass = other.pass("p", PassKind::Compute).id();

    let mut graph = Graph::new("graph");
    graph.texture("t", desc);
    graph.pass("draw", PassKind::Raster).side_effect().color(foreign, CLEAR, StoreOp::Store);
    let error = compile(&graph, &Profile::single_queue(), &Policy::default()).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidHandle);
    assert_eq!(error.passes, ["draw"]);

    let mut graph = Graph::new("graph");
    graph.output(foreign);
    assert_eq!(code(&graph), ErrorCode::InvalidHandle);

    let mut graph = Graph::new("graph");
    graph.pass("a", PassKind::Compute);
    graph.pass("b", PassKind::Compute).after(pass);
    assert_eq!(code(&graph), ErrorCode::InvalidHandle);

    // Resetting makes old handles foreign too, and forgets the error.
    let mut graph = Graph::new("graph");
    let stale = graph.texture("t", desc);
    graph.reset();
    assert!(compile(&graph, &Profile::single_queue(), &Policy::default()).is_ok());
    graph.texture("t", desc);
    graph.pass("draw", PassKind::Raster).color(stale, CLEAR, StoreOp::Store);
    assert_eq!(code(&graph), ErrorCode::InvalidHandle);
}

#[test]
fn attachments_must_agree() {
    let mut graph = Graph::new("graph");
    let a = graph.texture("a", TextureDesc::d2(Format::Rgba8Unorm, 8, 8));
    let b = graph.texture("b", TextureDesc::d2(Format::Rgba8Unorm, 8, 4));
    graph.pass("draw", PassKind::Raster).side_effect().color(a, CLEAR, StoreOp::Store).color(b, CLEAR, StoreOp::Store);
    let error = compile(&graph, &Profile::single_queue(), &Policy::default()).unwrap_err();
    assert_eq!((error.code, error.resources), (ErrorCode::AttachmentMismatch, vec!["a".to_owned(), "b".to_owned()]));

    let mut graph = Graph::new("graph");
    let a = graph.texture("a", TextureDesc { samples: 4, ..TextureDesc::d2(Format::Rgba8Unorm, 8, 8) });
    let depth = graph.texture("depth", TextureDesc::d2(Format::Depth32Float, 8, 8));
    let far = LoadOp::Clear(ClearValue::DepthStencil(0.0, 0));
    graph.pass("draw", PassKind::Raster).side_effect().color(a, CLEAR, StoreOp::Store).depth(
        depth,
        far,
        StoreOp::Store,
    );
    assert_eq!(code(&graph), ErrorCode::AttachmentMismatch);
}

#[test]
fn imported_objects_are_used_as_they_were_created() {
    let mut graph = Graph::new("graph");
    let t = graph.import_texture("t", TextureDesc::d2(Format::Rgba8Unorm, 8, 8), State::ready(Layout::General));
    graph.usages(t, AccessKinds::from_iter([AccessKind::SampledRead]));
    graph.pass("dead", PassKind::Compute).uses(t, AccessKind::StorageWrite, Stages::empty());
    assert!(compile(&graph, &Profile::single_queue(), &Policy::default()).is_ok(), "a dead pass does not count");
    graph.pass("live", PassKind::Compute).side_effect().uses(t, AccessKind::StorageRead, Stages::empty());
    assert_eq!(code(&graph), ErrorCode::InvalidDescriptor);
}

/// What a runner needs: passes and accesses by position, clear values, layouts of views, memory, end states.
#[test]
fn a_plan_carries_what_a_runner_needs() {
    let mut graph = Graph::new("frame");
    let depth_desc = TextureDesc::d2(Format::Depth24Stencil8, 64, 64);
    let depth = graph.texture("depth", depth_desc);
    let screen = TextureDesc::d2(Format::Bgra8Unorm, 64, 64);
    let screen = graph.import_texture("screen", screen, State::acquired(Stages::FRAGMENT));
    graph.output(screen);
    graph.final_state(screen, State::PRESENT);
    let far = LoadOp::Clear(ClearValue::DepthStencil(0.0, 3));
    let depth_pass = graph.pass("depth", PassKind::Raster).depth(depth, far, StoreOp::Store).id();
    let just_depth = TextureRange { aspects: Aspects::DEPTH, ..TextureRange::WHOLE };
    let draw = graph
        .pass("draw", PassKind::Raster)
        .uses_part(depth, AccessKind::SampledRead, Stages::FRAGMENT, just_depth)
        .color(screen, CLEAR, StoreOp::Store)
        .id();
    let plan = compile(&graph, &Profile::single_queue(), &Policy::default()).unwrap();
    let order: Vec<usize> = plan.passes.iter().map(|pass| pass.pass as usize).collect();
    assert_eq!(order, [depth_pass.index(), draw.index()]);
    // Stencil is never read, so it need not be stored; depth is.
    let first = &plan.attachments[0];
    assert_eq!((first.load, first.store, first.stencil_store), (far, StoreOp::Store, StoreOp::Discard));
    assert_eq!(plan.access_layouts(&graph, 1), [Layout::ShaderReadOnly, Layout::RenderTarget]);
    assert_eq!(plan.memory.slots.len(), 1);
    let end = plan.end_states.iter().find(|end| end.resource as usize == rhizo_graph::ResourceId::from(screen).index());
    assert!(matches!(end.unwrap().range, rhizo_graph::plan::BarrierRange::Texture(_, Layout::Present, _)));
}

/// A swapchain image is waited for at the stage it was acquired for, before its first transition.
#[test]
fn acquired_images_are_waited_for() {
    let mut graph = Graph::new("frame");
    let screen = TextureDesc::d2(Format::Bgra8Unorm, 64, 64);
    let screen = graph.import_texture("screen", screen, State::acquired(Stages::FRAGMENT));
    graph.output(screen);
    graph.pass("draw", PassKind::Raster).color(screen, CLEAR, StoreOp::Store);
    let plan = compile(&graph, &Profile::single_queue(), &Policy::default()).unwrap();
    assert_eq!(plan.barriers[0].before.stages, Stages::FRAGMENT);
}

/// A swapchain image whose drawing is conditional: an extracted transient keeps its memory to the end of the frame.
#[test]
fn extracted_memory_is_not_reused() {
    let mut graph = Graph::new("frame");
    let make = |graph: &mut Graph, name: &str| graph.buffer(name, BufferDesc::new(1024));
    let kept = make(&mut graph, "kept");
    let gone = make(&mut graph, "gone");
    let later = make(&mut graph, "later");
    graph.output(kept);
    for (name, buffer) in [("a", kept), ("b", gone), ("c", later)] {
        graph.pass(name, PassKind::Compute).side_effect().uses(buffer, AccessKind::StorageWrite, Stages::empty());
    }
    let plan = compile(&graph, &Profile::single_queue(), &Policy::default()).unwrap();
    let slots: Vec<u32> = plan.resources.iter().map(|resource| resource.slot).collect();
    assert_eq!(slots, [0, 1, 1]);
    assert_eq!((plan.memory.unaliased, plan.memory.lower_bound), (3072, 2048));
    let activation = plan.barriers.iter().find(|barrier| barrier.activates).unwrap();
    assert_eq!(activation.deactivates.as_slice(), [1]);
}
