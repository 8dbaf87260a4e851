//! Queues as logical clocks: order, waits between queues, policies, deadlocks, timestamps.

use crate::support::*;
use rhizo_rhi::null::{NullConfig, Policy, Step};
use rhizo_rhi::*;

fn with_policy(policy: Policy) -> Rig {
    Rig::with(NullConfig { policy, ..NullConfig::default() })
}

/// Positions of the queues whose submissions ran, in order.
fn order(rig: &Rig) -> Vec<String> {
    let log = rig.control.take_log();
    log.iter().filter_map(|l| l.strip_prefix("queue ")).map(|l| l.replace(" submission ", "#")).collect()
}

#[test]
fn submission_indices_count_from_one_on_each_queue() {
    let rig = Rig::new();
    let compute = rig.queue(QueueKind::Compute);
    assert_eq!(rig.queue.submit_commands(&[&rig.empty()]).unwrap().value(), 1);
    assert_eq!(rig.queue.submit_commands(&[&rig.empty()]).unwrap().value(), 2);
    let fence = rig.device.create_fence("fence");
    let empty = Submission { fence: Some(&fence), ..Submission::default() };
    assert_eq!(compute.submit(&empty).unwrap().value(), 1);
    assert_eq!((rig.queue.completed(), compute.completed()), (2, 1));
}

#[test]
fn work_waits_for_submissions_of_other_queues() {
    let rig = Rig::manual();
    let transfer = rig.queue(QueueKind::Transfer);
    let upload = rig.record_on(&transfer, |_| {}).unwrap();
    let index = transfer.submit_commands(&[&upload]).unwrap();
    let frame = rig.empty();
    let waits = [after(index)];
    let frame = rig.queue.submit(&Submission { commands: &[&frame], after: &waits, ..Submission::default() }).unwrap();
    assert_eq!(rig.control.step(rig.queue.position()), Step::Blocked);
    assert!(!rig.queue.is_complete(frame));
    assert_eq!(rig.control.step(transfer.position()), Step::Ran(1));
    assert_eq!(rig.control.step(rig.queue.position()), Step::Ran(1));
    assert_eq!(rig.control.step(rig.queue.position()), Step::Idle);
    assert!(rig.queue.is_complete(frame));
}

/// Two submissions on each of two queues, no dependencies.
fn two_by_two(rig: &Rig) {
    let compute = rig.queue(QueueKind::Compute);
    for _ in 0..2 {
        rig.queue.submit_commands(&[&rig.empty()]).unwrap();
        compute.submit_commands(&[&rig.record_on(&compute, |_| {}).unwrap()]).unwrap();
    }
}

#[test]
fn policies_choose_the_order() {
    let immediate = with_policy(Policy::Immediate);
    two_by_two(&immediate);
    assert_eq!(order(&immediate), ["0#1", "1#1", "0#2", "1#2"]);
    let starved = with_policy(Policy::Manual);
    two_by_two(&starved);
    assert_eq!(order(&starved), Vec::<String>::new());
    starved.control.set_policy(Policy::Starve(0));
    starved.device.wait_idle().unwrap();
    assert_eq!(order(&starved), ["1#1", "1#2", "0#1", "0#2"]);
    let mut seen = std::collections::HashSet::new();
    for seed in 0..16 {
        let run = || {
            let random = with_policy(Policy::Manual);
            two_by_two(&random);
            random.control.set_policy(Policy::Random(seed * 1000 + 1));
            random.device.wait_idle().unwrap();
            order(&random)
        };
        let (first, second) = (run(), run());
        assert_eq!(first, second, "a seed always gives the same order");
        let place = |what: &str| first.iter().position(|l| l == what).unwrap();
        assert!(place("0#1") < place("0#2") && place("1#1") < place("1#2"), "each queue keeps its order: {first:?}");
        seen.insert(first);
    }
    assert!(seen.len() > 1, "seeds give different orders");
}

#[test]
fn polls_advance_fifo_queues() {
    let rig = with_policy(Policy::Fifo);
    let index = rig.queue.submit_commands(&[&rig.empty()]).unwrap();
    let polls = (0..10).take_while(|_| !rig.queue.is_complete(index)).count();
    assert!(polls < 10);
}

#[test]
fn a_deadlock_is_a_named_error() {
    let rig = Rig::manual();
    let (a, b) = (rig.timeline("a", 0), rig.timeline("b", 0));
    let compute = rig.queue(QueueKind::Compute);
    let first = Submission { waits: &[wait(&b, 1)], signals: &[signal(&a, 1)], ..Submission::default() };
    let second = Submission { waits: &[wait(&a, 1)], signals: &[signal(&b, 1)], ..Submission::default() };
    let index = rig.queue.submit(&first).unwrap();
    compute.submit(&second).unwrap();
    for refused in [rig.queue.wait(index, u64::MAX).map(|_| ()), rig.device.wait_idle(), a.wait(1, 5_000).map(|_| ())] {
        let error = refused.unwrap_err();
        assert_eq!(error.clause_id(), Some(clause::DEADLOCK.id));
        for part in ["queue 0 submission 1 waits for semaphore \"b\" at 1", "queue 1 submission 1 waits for"] {
            assert!(error.detail().contains(part), "{error}");
        }
    }
    assert_eq!(broken(b.signal(1)), clause::TIMELINE_VALUE.id, "1 is promised by the second submission");
}

#[test]
fn a_deadlocked_device_can_be_dropped() {
    let rig = Rig::new();
    let buffer = rig.buffer("buffer", 64, BUFFER_COPIES);
    let never = rig.timeline("never", 0);
    let commands = rig.record(|r| r.transfer_pass("t").fill_buffer(&buffer, BufferRange::WHOLE, 1)).unwrap();
    let waits = [wait(&never, 1)];
    rig.queue.submit(&Submission { commands: &[&commands], waits: &waits, ..Submission::default() }).unwrap();
}

#[test]
fn limited_waits_time_out() {
    let rig = with_policy(Policy::Manual);
    for _ in 0..4 {
        rig.queue.submit_commands(&[&rig.empty()]).unwrap();
    }
    let last = rig.queue.submit_commands(&[&rig.empty()]).unwrap();
    assert!(!rig.queue.wait(last, 1_000_000).unwrap(), "manual queues advance by steps only");
    rig.control.set_policy(Policy::Fifo);
    assert!(!rig.queue.wait(last, 2 * null::STEP_NS).unwrap(), "five steps are needed, two fit");
    assert!(rig.queue.wait(last, 100 * null::STEP_NS).unwrap());
}

#[test]
fn timestamps_are_the_logical_clock() {
    let rig = Rig::manual();
    let set = rig.queries(QueryKind::Timestamp, 4);
    let before = rig.device.calibrate(&rig.queue).unwrap();
    let commands = rig
        .record(|r| {
            r.write_timestamp(&set, 0);
            let timestamps = Some(PassTimestamps { set: &set, begin: Some(1), end: Some(2) });
            drop(r.compute_pass(&ComputePassDesc { label: "timed", timestamps }));
        })
        .unwrap();
    rig.queue.submit_commands(&[&commands]).unwrap();
    assert_eq!(set.try_get_timestamp(0).unwrap(), None, "not ready");
    rig.device.wait_idle().unwrap();
    let ticks: Vec<u64> = (0..3).map(|i| set.try_get_timestamp(i).unwrap().unwrap()).collect();
    assert!(before.gpu_ticks < ticks[0] && ticks[0] < ticks[1] && ticks[1] < ticks[2], "{ticks:?}");
    assert_eq!(set.try_get_timestamp(3).unwrap(), None, "never written");
    let after = rig.device.calibrate(&rig.queue).unwrap();
    assert_eq!(before.cpu_ns_at(after.gpu_ticks), i128::from(after.cpu_ns));
}

#[test]
fn queues_without_timestamps_say_so() {
    let families = [(QueueKind::Graphics, 64), (QueueKind::Compute, 0)];
    let families = families.map(|(kind, timestamp_bits)| null::NullFamily { kind, count: 1, timestamp_bits });
    let rig = Rig::with(NullConfig { families: families.to_vec(), ..NullConfig::default() });
    let set = rig.queries(QueryKind::Timestamp, 1);
    let compute = rig.queue(QueueKind::Compute);
    assert_eq!(broken(rig.record_on(&compute, |r| r.write_timestamp(&set, 0))), clause::CAPABILITY.id);
    let timestamps = Some(PassTimestamps { set: &set, begin: Some(0), end: None });
    let desc = ComputePassDesc { label: "timed", timestamps };
    assert_eq!(broken(rig.record_on(&compute, |r| drop(r.compute_pass(&desc)))), clause::CAPABILITY.id);
    assert_eq!(rig.device.calibrate(&compute).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn queues_are_granted_up_to_what_there_is() {
    let queues = QueueRequest { graphics: 9, compute: 1, transfer: 0 };
    let rig = Rig::with(NullConfig { queues, ..NullConfig::default() });
    let counts = QueueKind::ALL.map(|kind| rig.device.queue_count(kind));
    assert_eq!(counts, [2, 1, 0], "two graphics queues exist, no transfer queue was asked for");
    assert_eq!(broken(rig.device.queue(QueueKind::Transfer, 0)), clause::QUEUE_EXISTS.id);
    assert_eq!(broken(rig.device.queue(QueueKind::Graphics, 2)), clause::QUEUE_EXISTS.id);
}

#[test]
fn the_null_device_qualifies_nothing() {
    let rig = Rig::new();
    assert_eq!(*rig.device.capabilities(), Capabilities::default());
    assert_eq!(rig.device.toggle_gpu_capture(true).unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(broken_kind(rig.instance.choose_adapter(PowerPreference::High, false)), ErrorKind::Unavailable);
    assert_eq!(rig.instance.choose_adapter(PowerPreference::High, true).unwrap(), 0);
}

fn broken_kind<T: std::fmt::Debug>(result: Result<T>) -> ErrorKind {
    result.unwrap_err().kind()
}
