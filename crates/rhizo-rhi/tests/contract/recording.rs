//! RHZ-COMMAND and RHZ-PASS: recorders, passes, and how a failed check is reported.

use crate::support::*;
use rhizo_rhi::*;

#[test]
fn a_forgotten_pass_poisons() {
    let rig = Rig::new();
    let error = rig
        .record(|r| {
            std::mem::forget(r.transfer_pass("forgotten"));
            r.push_group("next");
        })
        .unwrap_err();
    assert_eq!(error.clause_id(), Some(clause::PASS_OPEN.id));
    assert_eq!(error.pass(), Some("forgotten"));
}

#[test]
fn every_kind_of_forgotten_pass_is_closed_by_the_next_call() {
    let rig = Rig::new();
    let target = rig.target("target");
    let view = color_view(&target);
    let colors = [color(&view)];
    let desc = RasterPassDesc { colors: &colors, ..RasterPassDesc::default() };
    let forget: [&dyn Fn(&mut Recorder<'_>); 3] = [
        &|r| std::mem::forget(r.raster_pass(&desc)),
        &|r| std::mem::forget(r.compute_pass(&ComputePassDesc::default())),
        &|r| std::mem::forget(r.transfer_pass("t")),
    ];
    for forget in forget {
        // At finish, at the next pass, and at a drop without finish.
        assert_eq!(broken(rig.record(forget)), clause::PASS_OPEN.id);
        let next = rig.record(|r| {
            forget(r);
            drop(r.compute_pass(&ComputePassDesc::default()));
        });
        assert_eq!(broken(next), clause::PASS_OPEN.id);
        let mut pool = rig.queue.create_pool();
        let mut recorder = pool.begin("dropped").unwrap();
        forget(&mut recorder);
    }
}

#[test]
fn a_poisoned_recorder_reports_the_first_error_with_its_call_site() {
    let rig = Rig::new();
    let buffer = rig.buffer("buffer", 64, BufferUsage::COPY_SOURCE);
    let mut line = 0;
    let error = rig
        .record(|r| {
            let mut pass = r.transfer_pass("upload");
            line = line!() + 1;
            pass.fill_buffer(&buffer, BufferRange::WHOLE, 0);
            pass.fill_buffer(&buffer, BufferRange::new(1, 1), 0);
            drop(pass);
            r.pop_group();
        })
        .unwrap_err();
    assert_eq!(error.clause_id(), Some(clause::BUFFER_USAGE.id));
    assert_eq!((error.object(), error.pass()), (Some("buffer"), Some("upload")));
    assert_eq!((error.site().file(), error.site().line()), (file!(), line));
}

#[test]
fn the_call_site_is_the_callers_for_every_recording_call() {
    let rig = Rig::new();
    let target = rig.target("target");
    let view = color_view(&target);
    let pipeline = rig.raster(ShaderInterface::default(), &[]);
    let compute = rig.compute();
    let nothing = Barriers { global: &[BAD_BARRIER], ..Barriers::default() };
    let calls: [&dyn Fn(&mut Recorder<'_>); 8] = [
        &|r| r.pop_group(),
        &|r| r.barriers(&nothing),
        &|r| drop(r.raster_pass(&RasterPassDesc::default())),
        &|r| in_pass(r, &view, |pass| pass.bind(&pipeline).push_constants(0, &[0; 4])),
        &|r| in_pass(r, &view, |pass| pass.bind(&pipeline).draw_indexed(3, 1, 0, 0, 0)),
        &|r| in_pass(r, &view, |pass| pass.set_viewports(&[])),
        &|r| r.compute_pass(&ComputePassDesc::default()).bind(&compute).dispatch([1; 3]),
        &|r| r.transfer_pass("t").clear_color(&target, TextureRange::mip(9), [0.0; 4]),
    ];
    for (i, call) in calls.iter().enumerate() {
        let error = rig.record(call).unwrap_err();
        assert_eq!(error.site().file(), file!(), "call {i}: {error:?}");
    }
}

const BAD_BARRIER: GlobalBarrier =
    GlobalBarrier { before: Scope::new(Stages::COMPUTE, Access::TRANSFER_WRITE), after: Scope::NONE };

#[test]
fn debug_groups_balance() {
    let rig = Rig::new();
    assert_eq!(broken(rig.record(|r| r.pop_group())), clause::GROUP_BALANCE.id);
    let error = rig.record(|r| r.push_group("open")).unwrap_err();
    assert_eq!((error.clause_id(), error.detail()), (Some(clause::GROUP_BALANCE.id), "1 groups are still open"));
    let commands = rig
        .record(|r| {
            r.push_group("FrameRendering");
            drop(r.transfer_pass("upload"));
            r.pop_group();
        })
        .unwrap();
    let expected = ["push-group \"FrameRendering\"", "push-group \"upload\"", "pop-group", "pop-group"];
    assert_eq!(rig.control.text(&commands), expected);
}

#[test]
fn commands_after_a_failure_are_skipped() {
    let rig = Rig::new();
    let buffer = rig.buffer("buffer", 64, BUFFER_COPIES);
    let mut pool = rig.queue.create_pool();
    let mut recorder = pool.begin("poisoned").unwrap();
    recorder.pop_group();
    recorder.transfer_pass("skipped").fill_buffer(&buffer, BufferRange::WHOLE, 1);
    assert_eq!(broken(recorder.finish()), clause::GROUP_BALANCE.id);
    // The same recorder serves the next recording, clean.
    let commands = pool.begin("clean").unwrap().finish().unwrap();
    assert_eq!(rig.control.text(&commands), Vec::<String>::new());
    assert_eq!(rig.control.live_recorders(), 1);
}

#[test]
fn recorded_commands_are_data_with_a_text() {
    let rig = Rig::new();
    let target = rig.target("target");
    let view = color_view(&target);
    let attribute = VertexAttribute { location: 0, offset: 0, format: VertexFormat::Float32x4 };
    let layout = VertexBufferLayout { stride: 16, step: VertexStep::Vertex, attributes: &[attribute] };
    let interface = ShaderInterface { inputs: vec![variable(0, ScalarClass::Float)], ..Default::default() };
    let pipeline = rig.raster(interface, &[layout]);
    let vertices = rig.buffer("vertices", 64, BufferUsage::VERTEX).vertex_view(BufferRange::WHOLE).unwrap();
    let commands = rig
        .record(|r| {
            in_pass(r, &view, |pass| {
                let mut bound = pass.bind(&pipeline);
                bound.set_vertex_buffer(0, &vertices);
                bound.draw(3, 1, 0, 0);
            });
        })
        .unwrap();
    let expected = [
        "begin-raster \"main\" area [0, 0, 4, 4] layers 1 samples 1 color0 \"target\" clear [1.0, 0.0, 0.0, 1.0] store",
        "set-pipeline \"raster\"",
        "set-vertex-buffer 0 \"vertices\" 0+64",
        "draw 3x1 from 0 0",
        "end-raster",
    ];
    assert_eq!(rig.control.text(&commands), expected);
    assert!(matches!(rig.control.commands(&commands)[3], null::NullCommand::Draw { vertices: 3, .. }));
}

#[test]
fn tables_last_while_the_layout_is_the_same() {
    let rig = Rig::new();
    let (a, b) = (rig.compute(), rig.compute());
    let buffer = rig.buffer("data", 64, BufferUsage::SHADER_WRITE);
    let table = rig.table(&a, &buffer);
    let twice = |second: &ComputePipeline| {
        rig.record(|r| {
            let mut pass = r.compute_pass(&ComputePassDesc::default());
            let mut bound = pass.bind(&a);
            bound.set_tables(0, &[&table], &[]);
            bound.dispatch([1; 3]);
            pass.bind(second).dispatch([1; 3]);
        })
    };
    twice(&a).unwrap();
    assert_eq!(broken(twice(&b)), clause::DRAW_BOUND.id, "derived layouts fit only themselves");
}

#[test]
fn nothing_is_bound_at_the_begin_of_a_pass() {
    let rig = Rig::new();
    let pipeline = rig.compute();
    let table = rig.table(&pipeline, &rig.buffer("data", 64, BufferUsage::SHADER_WRITE));
    let second_pass = rig.record(|r| {
        r.compute_pass(&ComputePassDesc::default()).bind(&pipeline).set_tables(0, &[&table], &[]);
        r.compute_pass(&ComputePassDesc::default()).bind(&pipeline).dispatch([1; 3]);
    });
    assert_eq!(broken(second_pass), clause::DRAW_BOUND.id);
}

#[test]
fn dynamic_state_is_recorded_and_bounded() {
    let rig = Rig::new();
    let target = rig.target("target");
    let view = color_view(&target);
    let viewport = Viewport { x: 0.0, y: 0.0, width: 4.0, height: 4.0, min_depth: 0.0, max_depth: 1.0 };
    let commands = rig
        .record(|r| {
            in_pass(r, &view, |pass| {
                pass.set_viewports(&[viewport]);
                pass.set_scissors(&[[0, 0, 4, 4]]);
                pass.set_stencil_reference(3);
                pass.set_blend_constants([0.5; 4]);
            });
        })
        .unwrap();
    let text = rig.control.text(&commands);
    assert_eq!(
        text[1..5].iter().map(|l| l.split(' ').next().unwrap()).collect::<Vec<_>>(),
        ["set-viewports", "set-scissors", "set-stencil-reference", "set-blend-constants"]
    );
    for bad in [Viewport { width: f32::NAN, ..viewport }, Viewport { max_depth: 1.5, ..viewport }] {
        let refused = rig.record(|r| in_pass(r, &view, |pass| pass.set_viewports(&[bad])));
        assert_eq!(broken(refused), clause::VIEWPORT.id, "{bad:?}");
    }
    let refused = rig.record(|r| in_pass(r, &view, |pass| pass.set_scissors(&[[u32::MAX, 0, 2, 1]])));
    assert_eq!(broken(refused), clause::VIEWPORT.id);
}

#[test]
fn statistics_are_begun_and_ended_in_pairs_on_queues_that_have_them() {
    let rig = Rig::new();
    let set = rig.queries(QueryKind::Statistics(Statistics::COMPUTE_INVOCATIONS), 2);
    let broken_by = |commands: &dyn Fn(&mut Recorder<'_>)| broken(rig.record(commands));
    assert_eq!(broken_by(&|r| r.begin_statistics(&set, 0)), clause::QUERY_NESTING.id);
    assert_eq!(broken_by(&|r| r.end_statistics()), clause::QUERY_NESTING.id);
    assert_eq!(broken_by(&|r| r.begin_statistics(&set, 2)), clause::QUERY_RANGE.id);
    let nested = |r: &mut Recorder<'_>| {
        r.begin_statistics(&set, 0);
        r.begin_statistics(&set, 1);
    };
    assert_eq!(broken_by(&nested), clause::QUERY_NESTING.id);
    let transfer = rig.queue(QueueKind::Transfer);
    assert_eq!(broken(rig.record_on(&transfer, |r| r.begin_statistics(&set, 0))), clause::POOL_QUEUE.id);
    let count = |r: &mut Recorder<'_>| {
        r.begin_statistics(&set, 0);
        drop(r.compute_pass(&ComputePassDesc::default()));
        r.end_statistics();
    };
    rig.queue.submit_commands(&[&rig.record(count).unwrap()]).unwrap();
    assert_eq!(set.try_get_statistics(0).unwrap(), Some(vec![(Statistics::COMPUTE_INVOCATIONS, 0)]));
    assert_eq!(set.try_get_statistics(1).unwrap(), None);
}

#[test]
fn occlusion_queries_nest_in_their_pass() {
    let rig = Rig::new();
    let (set, target) = (rig.queries(QueryKind::Occlusion, 2), rig.target("target"));
    let view = color_view(&target);
    let colors = [color(&view)];
    let desc = RasterPassDesc { colors: &colors, occlusion: Some(&set), ..RasterPassDesc::default() };
    let with = |commands: &dyn Fn(&mut RasterPass<'_>)| rig.record(|r| commands(&mut r.raster_pass(&desc)));
    let twice = |pass: &mut RasterPass<'_>| (0..2).for_each(|i| pass.begin_occlusion(i));
    assert_eq!(broken(with(&twice)), clause::QUERY_NESTING.id);
    assert_eq!(broken(with(&|pass| pass.begin_occlusion(0))), clause::QUERY_NESTING.id, "not ended");
    assert_eq!(broken(with(&|pass| pass.end_occlusion())), clause::QUERY_NESTING.id);
    assert_eq!(broken(with(&|pass| pass.begin_occlusion(2))), clause::QUERY_RANGE.id);
    let paired = |pass: &mut RasterPass<'_>| {
        pass.begin_occlusion(1);
        pass.end_occlusion();
    };
    rig.queue.submit_commands(&[&with(&paired).unwrap()]).unwrap();
    assert_eq!(set.try_get_occlusion(1).unwrap(), Some(0));
    assert_eq!(set.try_get_occlusion(0).unwrap(), None);
}
