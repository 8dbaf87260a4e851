//! Lifetime by epoch: what a recording names stays until it has completed or was discarded, and no longer.
//!
//! The null device keeps a breach when an object is destroyed too early or twice; every test here ends without one.

use crate::support::*;
use rhizo_rhi::backend::ObjectKind;
use rhizo_rhi::null::{Op, Policy};
use rhizo_rhi::*;

fn fill(recorder: &mut Recorder<'_>, buffer: &Buffer) {
    recorder.transfer_pass("fill").fill_buffer(buffer, BufferRange::WHOLE, 7);
}

#[test]
fn an_object_dropped_while_recording_lives_until_completion() {
    let rig = Rig::manual();
    let buffer = rig.buffer("buffer", 64, BUFFER_COPIES);
    let mut pool = rig.queue.create_pool();
    let mut recorder = pool.begin("frame").unwrap();
    fill(&mut recorder, &buffer);
    drop(buffer);
    rig.device.collect();
    assert!(rig.control.is_alive("buffer"), "recording");
    let commands = recorder.finish().unwrap();
    rig.device.collect();
    assert!(rig.control.is_alive("buffer"), "executable");
    rig.queue.submit_commands(&[&commands]).unwrap();
    drop(commands);
    rig.device.collect();
    assert!(rig.control.is_alive("buffer"), "pending");
    let _ = rig.control.step(0);
    rig.device.collect();
    assert!(!rig.control.is_alive("buffer"), "complete");
}

#[test]
fn an_object_dropped_while_pending_lives_until_completion() {
    let rig = Rig::manual();
    let buffer = rig.buffer("buffer", 64, BUFFER_COPIES);
    let commands = rig.record(|r| fill(r, &buffer)).unwrap();
    rig.queue.submit_commands(&[&commands]).unwrap();
    drop(buffer);
    let later = rig.empty();
    rig.queue.submit_commands(&[&later]).unwrap();
    assert!(rig.control.is_alive("buffer"));
    assert_eq!(rig.device.memory_report().1.waiting_objects, 1);
    let _ = rig.control.step(0);
    rig.device.collect();
    assert!(!rig.control.is_alive("buffer"), "younger pending work does not hold it");
}

#[test]
fn a_held_command_buffer_pins_and_a_discarded_one_frees() {
    let rig = Rig::new();
    let buffer = rig.buffer("buffer", 64, BUFFER_COPIES);
    let commands = rig.record(|r| fill(r, &buffer)).unwrap();
    drop(buffer);
    for _ in 0..3 {
        rig.queue.submit_commands(&[&rig.empty()]).unwrap();
        assert!(rig.control.is_alive("buffer"));
    }
    assert_eq!(rig.device.memory_report().1.open_epochs, 1);
    drop(commands);
    rig.device.collect();
    assert!(!rig.control.is_alive("buffer"));
}

#[test]
fn a_dropped_recorder_and_a_failed_recording_free() {
    let rig = Rig::new();
    let mut pool = rig.queue.create_pool();
    let buffer = rig.buffer("a", 64, BUFFER_COPIES);
    let mut recorder = pool.begin("dropped").unwrap();
    fill(&mut recorder, &buffer);
    drop((buffer, recorder));
    let buffer = rig.buffer("b", 64, BUFFER_COPIES);
    let mut recorder = pool.begin("failed").unwrap();
    fill(&mut recorder, &buffer);
    rig.control.fail_next(Op::FinishRecording, ErrorKind::OutOfMemory);
    assert_eq!(recorder.finish().unwrap_err().kind(), ErrorKind::OutOfMemory);
    drop(buffer);
    rig.control.fail_next(Op::BeginRecording, ErrorKind::OutOfMemory);
    assert_eq!(pool.begin("refused").unwrap_err().kind(), ErrorKind::OutOfMemory);
    rig.device.collect();
    assert_eq!(rig.control.live(), []);
    assert_eq!(rig.device.memory_report().1, Reclamation::default());
}

#[test]
fn objects_dropped_by_other_threads_wait_as_well() {
    let rig = Rig::manual();
    let buffers: Vec<Buffer> = (0..8).map(|i| rig.buffer(&format!("b{i}"), 64, BUFFER_COPIES)).collect();
    let commands = rig.record(|r| buffers.iter().for_each(|b| fill(r, b))).unwrap();
    rig.queue.submit_commands(&[&commands]).unwrap();
    std::thread::scope(|scope| {
        for buffer in buffers {
            let device = &rig.device;
            scope.spawn(move || {
                drop(buffer);
                device.collect();
            });
        }
    });
    assert_eq!(rig.control.live_count(ObjectKind::Buffer), 8);
    rig.device.wait_idle().unwrap();
    assert_eq!(rig.control.live_count(ObjectKind::Buffer), 0);
}

#[test]
fn a_table_keeps_what_it_names() {
    let rig = Rig::manual();
    let pipeline = rig.compute();
    let buffer = rig.buffer("data", 64, BufferUsage::SHADER_WRITE);
    let table = rig.table(&pipeline, &buffer);
    drop(buffer);
    rig.device.collect();
    assert!(rig.control.is_alive("data"), "the table names it");
    let commands = rig
        .record(|r| {
            let mut pass = r.compute_pass(&ComputePassDesc::default());
            let mut bound = pass.bind(&pipeline);
            bound.set_tables(0, &[&table], &[]);
            bound.push_constants(0, &[0; 16]);
            bound.dispatch([1, 1, 1]);
        })
        .unwrap();
    drop((table, pipeline));
    rig.queue.submit_commands(&[&commands]).unwrap();
    rig.device.collect();
    assert_eq!(rig.control.live_count(ObjectKind::Table), 1);
    let _ = rig.control.step(0);
    // A container is freed first; what it held entered the graveyard then.
    (0..4).for_each(|_| rig.device.collect());
    assert_eq!(rig.control.live(), []);
}

#[test]
fn a_view_keeps_its_texture_and_a_table_its_view() {
    let rig = Rig::new();
    let target = rig.target("target");
    let view = target.read_view(&ViewDesc::default()).unwrap();
    let kind = BindingKind::Texture { sample: SampleType::Float, dimension: ViewDimension::D2, multisampled: false };
    let entries =
        [TableEntry { slot: 0, name: "t".into(), kind, stages: ShaderStages::FRAGMENT, count: 1, min_size: 0 }];
    let layout = rig.device.create_table_layout(&TableLayoutDesc { label: "layout", entries: &entries }).unwrap();
    let writes = [TableWrite::new(0, Binding::Texture(&view))];
    let table = rig.device.create_table(&TableDesc { label: "table", layout: &layout, writes: &writes }).unwrap();
    drop((target, view, layout));
    (0..4).for_each(|_| rig.device.collect());
    let kinds = [(ObjectKind::Texture, 1), (ObjectKind::TextureView, 1), (ObjectKind::TableLayout, 1)];
    assert_eq!(rig.control.live(), [&kinds[..], &[(ObjectKind::Table, 1)]].concat());
    drop(table);
    (0..4).for_each(|_| rig.device.collect());
    assert_eq!(rig.control.live(), []);
}

#[test]
fn a_pipeline_keeps_its_functions_and_layouts() {
    let rig = Rig::new();
    let pipeline = rig.raster(ShaderInterface::default(), &[]);
    rig.device.collect();
    assert_eq!(rig.control.live_count(ObjectKind::Function), 2);
    drop(pipeline);
    (0..4).for_each(|_| rig.device.collect());
    assert_eq!(rig.control.live(), []);
}

#[test]
fn semaphores_of_a_submission_without_commands_live_until_it_completes() {
    let rig = Rig::manual();
    let (a, b) = (rig.timeline("a", 0), rig.binary("b"));
    let signals = [signal(&a, 1), signal(&b, 0)];
    rig.queue.submit(&Submission { signals: &signals, ..Submission::default() }).unwrap();
    let compute = rig.queue(QueueKind::Compute);
    compute.submit(&Submission { waits: &[wait(&a, 1), wait(&b, 0)], ..Submission::default() }).unwrap();
    drop((a, b));
    rig.device.collect();
    assert_eq!(rig.control.live_count(ObjectKind::Semaphore), 2);
    assert_eq!(rig.control.run(), 2);
    rig.device.collect();
    assert_eq!(rig.control.live_count(ObjectKind::Semaphore), 0);
}

#[test]
fn a_refused_submission_opens_no_epoch() {
    let rig = Rig::new();
    let a = rig.timeline("a", 0);
    rig.control.fail_next(Op::Submit, ErrorKind::Native);
    assert!(rig.queue.submit(&Submission { signals: &[signal(&a, 1)], ..Submission::default() }).is_err());
    drop(a);
    rig.device.collect();
    assert_eq!(rig.control.live(), []);
}

#[test]
fn out_of_memory_frees_the_graveyard_and_tries_once_more() {
    let rig = Rig::with(null::NullConfig { memory_bytes: 1024, ..null::NullConfig::default() });
    let first = rig.buffer("first", 1000, BUFFER_COPIES);
    drop(first);
    assert!(rig.control.is_alive("first"));
    let _second = rig.buffer("second", 1000, BUFFER_COPIES);
    assert!(!rig.control.is_alive("first"));
    let desc = BufferDesc { label: "third", size_bytes: 1000, usage: BUFFER_COPIES, ..BufferDesc::default() };
    assert_eq!(rig.device.create_buffer(&desc).unwrap_err().kind(), ErrorKind::OutOfMemory);
    rig.control.fail_next(Op::CreateQuerySet, ErrorKind::OutOfMemory);
    drop(rig.queries(QueryKind::Occlusion, 1));
}

#[test]
fn recorders_are_reused_once_their_work_has_completed() {
    let rig = Rig::manual();
    let mut pool = rig.queue.create_pool();
    let submit = |pool: &mut CommandPool| {
        let commands = pool.begin("frame").unwrap().finish().unwrap();
        rig.queue.submit_commands(&[&commands]).unwrap();
    };
    submit(&mut pool);
    submit(&mut pool);
    assert_eq!(rig.control.live_recorders(), 2, "the first is pending");
    rig.control.run();
    for _ in 0..10 {
        submit(&mut pool);
        rig.control.run();
    }
    assert_eq!(rig.control.live_recorders(), 2);
}

#[test]
fn a_recorder_is_not_reused_while_pending_on_another_queue_of_its_family() {
    let queues = QueueRequest { graphics: 2, ..QueueRequest::ONE };
    let rig = Rig::with(null::NullConfig { queues, policy: Policy::Manual, ..null::NullConfig::default() });
    let second = rig.device.queue(QueueKind::Graphics, 1).unwrap();
    for _ in 0..3 {
        rig.queue.submit_commands(&[&rig.empty()]).unwrap();
        let _ = rig.control.step(0);
    }
    let mut pool = rig.queue.create_pool();
    let commands = pool.begin("elsewhere").unwrap().finish().unwrap();
    second.submit_commands(&[&commands]).unwrap();
    drop(commands);
    // Submission 1 of the second queue is pending; the first queue has completed 3.
    drop(pool.begin("next").unwrap());
    assert_eq!(rig.control.pending(1), 1);
}

#[test]
fn command_buffers_outlive_their_pool() {
    let rig = Rig::manual();
    let mut pool = rig.queue.create_pool();
    let commands = pool.begin("frame").unwrap().finish().unwrap();
    drop(pool);
    rig.queue.submit_commands(&[&commands]).unwrap();
    drop(commands);
    rig.device.collect();
    assert_eq!(rig.control.live_recorders(), 1);
    rig.control.run();
    rig.device.collect();
    assert_eq!(rig.control.live_recorders(), 0);
}

#[test]
fn more_command_buffers_than_a_pool_keeps_are_destroyed_after_their_work() {
    let rig = Rig::manual();
    let mut pool = rig.queue.create_pool();
    let many: Vec<CommandBuffer> = (0..200).map(|_| pool.begin("one").unwrap().finish().unwrap()).collect();
    let all: Vec<&CommandBuffer> = many.iter().collect();
    rig.queue.submit_commands(&all).unwrap();
    drop(many);
    rig.device.collect();
    assert_eq!(rig.control.live_recorders(), 200);
    rig.control.run();
    rig.device.collect();
    assert!(rig.control.live_recorders() < 200);
}

#[test]
fn the_last_drop_waits_for_work_in_flight() {
    let rig = Rig::manual();
    let buffer = rig.buffer("buffer", 64, BUFFER_COPIES);
    let commands = rig.record(|r| fill(r, &buffer)).unwrap();
    rig.queue.submit_commands(&[&commands]).unwrap();
    drop(commands);
    drop(buffer);
    assert_eq!(rig.control.pending(0), 1);
    drop(rig);
}

#[test]
fn resources_may_outlive_their_device() {
    let rig = Rig::new();
    let buffer = rig.stored("buffer", 64, BufferUsage::COPY_DESTINATION, StorageMode::Readback);
    let target = rig.target("target");
    let view = color_view(&target);
    let control = rig.control.clone();
    let mut rig = rig;
    rig.expect_leaks(); // counted below, when the resources have gone as well
    drop(rig);
    let mut bytes = [1; 4];
    buffer.read_into(0, &mut bytes).unwrap();
    drop((buffer, target, view));
    assert_eq!(control.live(), []);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn recreating_a_device_waits_before_what_is_in_flight_is_freed() {
    let rig = Rig::manual();
    let buffer = rig.buffer("buffer", 64, BUFFER_COPIES);
    let commands = rig.record(|r| fill(r, &buffer)).unwrap();
    rig.queue.submit_commands(&[&commands]).unwrap();
    drop(buffer);
    let old = rig.control.device(0);
    let next = rig.device.recreate().unwrap();
    assert_eq!(next.generation(), 2);
    rig.device.collect();
    assert!(!old.is_alive("buffer"));
}

#[test]
fn a_lost_device_counts_as_complete() {
    let rig = Rig::manual();
    let buffer = rig.buffer("buffer", 64, BUFFER_COPIES);
    let commands = rig.record(|r| fill(r, &buffer)).unwrap();
    let index = rig.queue.submit_commands(&[&commands]).unwrap();
    drop((buffer, commands));
    rig.control.lose_device();
    assert_eq!(rig.device.wait_idle().unwrap_err().kind(), ErrorKind::DeviceLost);
    assert!(rig.queue.is_complete(index));
    rig.device.collect();
    assert!(!rig.control.is_alive("buffer"));
}
