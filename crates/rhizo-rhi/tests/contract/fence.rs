//! RHZ-FENCE: ready, pending, signaled, resetting, ready.

use crate::support::*;
use rhizo_rhi::null::Op;
use rhizo_rhi::*;

fn submit(rig: &Rig, fence: &Fence) -> Result<SubmissionIndex> {
    rig.queue.submit(&Submission { fence: Some(fence), ..Submission::default() })
}

#[test]
fn goes_round_its_cycle() {
    let rig = Rig::manual();
    let fence = rig.device.create_fence("fence");
    for round in 1..=2 {
        assert_eq!(fence.state(), FenceState::Ready);
        submit(&rig, &fence).unwrap();
        assert_eq!(fence.state(), FenceState::Pending, "round {round}");
        assert_eq!(fence.wait(0).unwrap(), FenceWait::TimedOut);
        let _ = rig.control.step(0);
        assert_eq!(fence.state(), FenceState::Signaled);
        assert_eq!(fence.wait(0).unwrap(), FenceWait::Signaled);
        fence.reset().unwrap();
    }
}

#[test]
fn waiting_on_a_ready_fence_returns_not_submitted_at_once() {
    let rig = Rig::manual();
    let fence = rig.device.create_fence("fence");
    let begin = std::time::Instant::now();
    assert_eq!(fence.wait(u64::MAX).unwrap(), FenceWait::NotSubmitted);
    assert!(begin.elapsed() < std::time::Duration::from_secs(1));
}

#[test]
fn pending_and_signaled_fences_are_not_submitted() {
    let rig = Rig::manual();
    let fence = rig.device.create_fence("fence");
    submit(&rig, &fence).unwrap();
    let error = submit(&rig, &fence).unwrap_err();
    assert_eq!(error.clause_id(), Some(clause::FENCE_STATE.id));
    assert_eq!((error.object(), error.detail()), (Some("fence"), "submitted while Pending"));
    let _ = rig.control.step(0);
    assert_eq!(submit(&rig, &fence).unwrap_err().detail(), "submitted while Signaled");
    assert_eq!(rig.control.pending(0), 0, "nothing refused was enqueued");
}

#[test]
fn reset_while_pending_is_refused_and_changes_nothing() {
    let rig = Rig::manual();
    let fence = rig.device.create_fence("fence");
    fence.reset().unwrap();
    submit(&rig, &fence).unwrap();
    assert_eq!(broken(fence.reset()), clause::FENCE_STATE.id);
    assert_eq!(fence.state(), FenceState::Pending);
    assert_eq!(fence.wait(u64::MAX).unwrap(), FenceWait::Signaled);
    fence.reset().unwrap();
    fence.reset().unwrap();
    assert_eq!(fence.state(), FenceState::Ready);
}

#[test]
fn signals_only_when_everything_before_it_has_run() {
    let rig = Rig::manual();
    let gate = rig.timeline("gate", 0);
    let fence = rig.device.create_fence("fence");
    let commands = rig.empty();
    let waits = [wait(&gate, 1)];
    let work = Submission { commands: &[&commands], waits: &waits, fence: Some(&fence), ..Submission::default() };
    rig.queue.submit(&work).unwrap();
    assert_eq!(rig.control.step(0), null::Step::Blocked);
    assert_eq!(fence.state(), FenceState::Pending);
    gate.signal(1).unwrap();
    assert_eq!(rig.control.step(0), null::Step::Ran(1));
    assert_eq!(fence.state(), FenceState::Signaled);
}

#[test]
fn a_lost_device_signals_it() {
    let rig = Rig::manual();
    let fence = rig.device.create_fence("fence");
    submit(&rig, &fence).unwrap();
    rig.control.fail_next(Op::Wait, ErrorKind::DeviceLost);
    assert_eq!(fence.wait(u64::MAX).unwrap_err().kind(), ErrorKind::DeviceLost);
    assert_eq!(rig.device.state(), DeviceState::Lost);
    assert_eq!(fence.state(), FenceState::Signaled, "a lost device counts as complete");
}
