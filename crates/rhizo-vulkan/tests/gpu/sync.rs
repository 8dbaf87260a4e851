//! Fences, semaphores, hand-overs, and objects dropped while in use.

use crate::support::*;
use rhizo_rhi::*;
use rhizo_testkit::drivers::TestDriver;

const LONG: u64 = 20_000_000_000;

/// Fills `buffer` with `value`.
fn fill(pool: &mut CommandPool, buffer: &Buffer, value: u32) -> CommandBuffer {
    let mut recorder = pool.begin("fill").unwrap();
    recorder.transfer_pass("fill").fill_buffer(buffer, BufferRange::WHOLE, value);
    recorder.finish().unwrap()
}

#[test]
fn fences_go_through_their_cycle() {
    on_each(|gpu| {
        let (fence, back) = (gpu.device.create_fence("fence"), gpu.readback(16));
        assert_eq!(fence.wait(LONG).unwrap(), FenceWait::NotSubmitted);
        let mut pool = gpu.queue.create_pool();
        for round in 1..=3 {
            let commands = fill(&mut pool, &back, round);
            let submission = Submission { commands: &[&commands], fence: Some(&fence), ..Submission::default() };
            gpu.queue.submit(&submission).unwrap();
            assert_eq!(fence.wait(LONG).unwrap(), FenceWait::Signaled);
            assert_eq!(read(&back)[..4], round.to_le_bytes());
            fence.reset().unwrap();
            assert_eq!(fence.state(), FenceState::Ready);
        }
    });
}

#[test]
fn submissions_count_up_and_complete_in_order() {
    on_each(|gpu| {
        let back = gpu.readback(16);
        let mut pool = gpu.queue.create_pool();
        for n in 1..=5u64 {
            let commands = fill(&mut pool, &back, n as u32);
            let submitted = gpu.queue.submit_commands(&[&commands]).unwrap();
            assert_eq!(submitted.value(), n);
            assert!(gpu.queue.wait(submitted, LONG).unwrap());
            assert_eq!(gpu.queue.completed(), n);
        }
    });
}

#[test]
fn binary_semaphores_order_submissions() {
    on_each(|gpu| {
        let semaphore = gpu.device.create_semaphore("binary", SemaphoreKind::Binary).unwrap();
        let back = gpu.readback(16);
        let mut pool = gpu.queue.create_pool();
        for value in [5, 6] {
            let (first, second) = (fill(&mut pool, &back, 1), fill(&mut pool, &back, value));
            let signal = SemaphoreSignal { semaphore: &semaphore, value: 0, reservation: None };
            let wait = SemaphoreWait { semaphore: &semaphore, value: 0, stages: Stages::TRANSFER, reservation: None };
            gpu.queue.submit(&Submission { commands: &[&first], signals: &[signal], ..Default::default() }).unwrap();
            let last = Submission { commands: &[&second], waits: &[wait], ..Default::default() };
            let last = gpu.queue.submit(&last).unwrap();
            assert!(gpu.queue.wait(last, LONG).unwrap());
            assert_eq!(read(&back)[..4], value.to_le_bytes());
        }
    });
}

#[test]
fn timelines_are_signalled_and_waited_for_on_both_sides() {
    on_each(|gpu| {
        let timeline = |initial| gpu.device.create_semaphore("t", SemaphoreKind::Timeline { initial }).unwrap();
        let (gate, done) = (timeline(3), timeline(0));
        assert_eq!(gate.value().unwrap(), 3);
        let back = gpu.readback(16);
        let mut pool = gpu.queue.create_pool();
        let commands = fill(&mut pool, &back, 8);
        let wait = SemaphoreWait { semaphore: &gate, value: 5, stages: Stages::ALL, reservation: None };
        let signal = SemaphoreSignal { semaphore: &done, value: 9, reservation: None };
        let submission =
            Submission { commands: &[&commands], waits: &[wait], signals: &[signal], ..Submission::default() };
        let submitted = gpu.queue.submit(&submission).unwrap();
        assert!(!gpu.queue.wait(submitted, 1_000_000).unwrap(), "it waits for the CPU's signal");
        assert!(!done.wait(9, 1_000_000).unwrap());
        gate.signal(5).unwrap();
        assert!(done.wait(9, LONG).unwrap());
        assert!(gpu.queue.wait(submitted, LONG).unwrap());
        assert_eq!(read(&back)[..4], 8u32.to_le_bytes());
        assert_eq!(done.value().unwrap(), 9);
    });
}

/// A program that drops everything while its work waits for a value that it never signalled ends all the same.
#[test]
fn dropping_a_device_whose_work_waits_for_nobody_ends() {
    on_each(|gpu| {
        let gate = gpu.device.create_semaphore("gate", SemaphoreKind::Timeline { initial: 0 }).unwrap();
        let device = gpu.device.recreate().unwrap();
        drop(gate);
        let gate = device.create_semaphore("gate", SemaphoreKind::Timeline { initial: 0 }).unwrap();
        let queue = device.queue(QueueKind::Graphics, 0).unwrap();
        let wait = SemaphoreWait { semaphore: &gate, value: 4, stages: Stages::ALL, reservation: None };
        queue.submit(&Submission { waits: &[wait], ..Submission::default() }).unwrap();
        drop((device, queue));
        drop(gate);
    });
}

#[test]
fn what_is_dropped_while_pending_lives_until_its_work_has_completed() {
    on_each(|gpu| {
        let gate = gpu.device.create_semaphore("gate", SemaphoreKind::Timeline { initial: 0 }).unwrap();
        let back = gpu.readback(64);
        let source = gpu.upload(&[7; 64]);
        let mut pool = gpu.queue.create_pool();
        let mut recorder = pool.begin("late").unwrap();
        let all = BufferCopy { source_offset: 0, destination_offset: 0, size: 64 };
        recorder.transfer_pass("copy").copy_buffer(&source, &back, &[all]);
        let commands = recorder.finish().unwrap();
        let wait = SemaphoreWait { semaphore: &gate, value: 1, stages: Stages::ALL, reservation: None };
        let submission = Submission { commands: &[&commands], waits: &[wait], ..Submission::default() };
        let submitted = gpu.queue.submit(&submission).unwrap();
        drop((source, commands, pool));
        gpu.device.collect();
        assert!(gpu.device.memory_report().1.waiting_objects >= 1, "the source waits in the graveyard");
        gate.signal(1).unwrap();
        assert!(gpu.queue.wait(submitted, LONG).unwrap());
        assert!(read(&back).iter().all(|b| *b == 7));
        gpu.device.collect();
        assert_eq!(gpu.device.memory_report().1.waiting_objects, 0);
    });
}

/// Queues of one family, here even one native queue: the hand-over is recorded on both sides, and made once.
#[test]
fn hand_overs_within_a_family_change_the_layout_once() {
    for driver in TestDriver::SOFTWARE {
        let gpu = Gpu::open(driver, QueueRequest::EACH);
        let transfer = gpu.device.queue(QueueKind::Transfer, 0).unwrap();
        let (own, other) = (gpu.queue.info(), transfer.info());
        assert_eq!(own.family, other.family);
        assert_eq!(other.shared_with, Some(gpu.queue.position()), "one native queue serves both, and it is said");
        let usage = TextureUsage::COPY_SOURCE | TextureUsage::COPY_DESTINATION;
        let desc = TextureDesc { label: "handed over", extent: Extent::d2(2, 2), usage, ..TextureDesc::default() };
        let texture = gpu.device.create_texture(&desc).unwrap();
        let source = gpu.upload(&(0..16).collect::<Vec<u8>>());
        let back = gpu.readback(16);
        let queues = Some(HandOver { source: transfer.position(), destination: gpu.queue.position() });
        let hand_over = TextureBarrier {
            queues,
            ..transition(&texture, (COPY_WRITE, Layout::CopyDestination), (COPY_READ, Layout::CopySource))
        };
        let mut upload_pool = transfer.create_pool();
        let mut recorder = upload_pool.begin("upload").unwrap();
        recorder.barriers(&textures(&[discard_into(&texture, COPY_WRITE, Layout::CopyDestination)]));
        recorder.transfer_pass("upload").copy_buffer_to_texture(&source, &texture, &[whole(&texture)]);
        recorder.barriers(&textures(&[hand_over]));
        let upload = recorder.finish().unwrap();
        let uploaded = transfer.submit_commands(&[&upload]).unwrap();
        let mut pool = gpu.queue.create_pool();
        let mut recorder = pool.begin("use").unwrap();
        recorder.barriers(&textures(&[hand_over]));
        recorder.transfer_pass("use").copy_texture_to_buffer(&texture, &back, &[whole(&texture)]);
        let used = recorder.finish().unwrap();
        let after = SubmissionWait { submission: uploaded, stages: Stages::TRANSFER };
        let submission = Submission { commands: &[&used], after: &[after], ..Submission::default() };
        let last = gpu.queue.submit(&submission).unwrap();
        assert!(gpu.queue.wait(last, LONG).unwrap());
        assert_eq!(read(&back), (0..16).collect::<Vec<u8>>());
        drop((upload_pool, upload, pool, used, texture, source, back, transfer));
        gpu.finish();
    }
}

#[test]
fn many_threads_record_and_submit_to_one_queue() {
    on_each(|gpu| {
        std::thread::scope(|scope| {
            for thread in 0..4u32 {
                scope.spawn(move || {
                    let back = gpu.readback(16);
                    let mut pool = gpu.queue.create_pool();
                    for round in 0..20 {
                        let value = thread * 100 + round;
                        let commands = fill(&mut pool, &back, value);
                        let submitted = gpu.queue.submit_commands(&[&commands]).unwrap();
                        assert!(gpu.queue.wait(submitted, LONG).unwrap());
                        assert_eq!(read(&back)[..4], value.to_le_bytes());
                    }
                });
            }
        });
        assert_eq!(gpu.queue.completed(), 80);
    });
}
