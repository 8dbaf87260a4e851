//! Many threads record from their own pools, submit to shared queues and drop what they used.

use crate::support::*;
use rhizo_rhi::null::{NullConfig, Policy};
use rhizo_rhi::*;

const THREADS: usize = 8;
const FRAMES: usize = 60;

fn frame(rig: &Rig, pool: &mut CommandPool, compute: &ComputePipeline, number: usize) {
    let label = format!("data {number}");
    let buffer = rig.buffer(&label, 256, BUFFER_COPIES | BufferUsage::SHADER_WRITE);
    let table = rig.table(compute, &buffer);
    let target = rig.target("target");
    let view = color_view(&target);
    let mut recorder = pool.begin("frame").unwrap();
    recorder.transfer_pass("fill").fill_buffer(&buffer, BufferRange::WHOLE, number as u32);
    drop(buffer);
    {
        let mut pass = recorder.compute_pass(&ComputePassDesc::default());
        let mut bound = pass.bind(compute);
        bound.set_tables(0, &[&table], &[]);
        bound.push_constants(0, &[0; 16]);
        bound.dispatch([1, 1, 1]);
    }
    in_pass(&mut recorder, &view, |_| {});
    drop((table, target));
    match number % 4 {
        0 => drop(recorder),
        1 => drop(recorder.finish().unwrap()),
        _ => {
            let commands = recorder.finish().unwrap();
            rig.queue.submit_commands(&[&commands]).unwrap();
        }
    }
}

fn run(policy: Policy) {
    let rig = Rig::with(NullConfig { policy, log: false, ..NullConfig::default() });
    let compute = rig.compute();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (rig, compute) = (&rig, &compute);
            scope.spawn(move || {
                let mut pool = rig.queue.create_pool();
                for number in 0..FRAMES {
                    frame(rig, &mut pool, compute, number + thread);
                    if number % 7 == 0 {
                        rig.device.collect();
                    }
                }
            });
        }
    });
    rig.device.wait_idle().unwrap();
    (0..4).for_each(|_| rig.device.collect());
    assert_eq!(rig.control.live_count(backend::ObjectKind::Buffer), 0);
    assert_eq!(rig.control.live_count(backend::ObjectKind::Texture), 0);
    assert_eq!(rig.device.memory_report().1, Reclamation::default());
}

#[test]
fn eight_threads_record_and_drop_while_work_runs_at_once() {
    run(Policy::Immediate);
}

#[test]
fn eight_threads_record_and_drop_while_work_lags() {
    run(Policy::Fifo);
    run(Policy::Random(7));
}

#[test]
fn eight_threads_record_and_drop_while_nothing_completes() {
    run(Policy::Manual);
}
