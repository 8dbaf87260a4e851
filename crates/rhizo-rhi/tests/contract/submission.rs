//! RHZ-QUEUE: a submission is one transaction.

use crate::support::*;
use rhizo_rhi::null::Op;
use rhizo_rhi::*;

#[test]
fn an_empty_submission_is_refused_in_these_words() {
    let rig = Rig::new();
    let error = rig.queue.submit(&Submission::default()).unwrap_err();
    let rule = "a queue submission must contain work or a synchronization operation";
    assert!(error.to_string().contains(rule), "{error}");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(rig.queue.submit_commands(&[]).unwrap_err().clause_id(), Some(clause::SUBMIT_EMPTY.id));
}

/// Two of everything a submission can name.
struct All {
    commands: [CommandBuffer; 2],
    wait: Semaphore,
    signal: Semaphore,
    timeline: Semaphore,
    fence: Fence,
}

impl All {
    fn new(rig: &Rig) -> Self {
        let all = Self {
            commands: [rig.empty(), rig.empty()],
            wait: rig.binary("wait"),
            signal: rig.binary("signal"),
            timeline: rig.timeline("timeline", 0),
            fence: rig.device.create_fence("fence"),
        };
        let ready = [signal(&all.wait, 0)];
        rig.queue.submit(&Submission { signals: &ready, ..Submission::default() }).unwrap();
        all
    }

    fn submit(&self, rig: &Rig) -> Result<SubmissionIndex> {
        let waits = [wait(&self.wait, 0)];
        let signals = [signal(&self.timeline, 9), signal(&self.signal, 0)];
        let commands = [&self.commands[0], &self.commands[1]];
        let fence = Some(&self.fence);
        let all = Submission { commands: &commands, waits: &waits, signals: &signals, fence, after: &[] };
        rig.queue.submit(&all)
    }

    /// Everything is as before a submission was tried: free to reserve, raise and submit.
    fn assert_untouched(&self, rig: &Rig) {
        assert_eq!(self.fence.state(), FenceState::Ready);
        drop(self.wait.reserve_wait(&rig.queue).expect("the wait is still to be made"));
        drop(self.signal.reserve_signal(&rig.queue).expect("the signal is still to be made"));
        assert_eq!(self.timeline.value().unwrap(), 0);
        assert_eq!(rig.queue.completed(), 1, "nothing was enqueued");
    }

    fn assert_submits(&self, rig: &Rig) {
        let index = self.submit(rig).unwrap();
        assert_eq!(index.value(), 2);
        assert!(rig.queue.is_complete(index));
        assert_eq!(self.fence.state(), FenceState::Signaled);
        assert_eq!(self.timeline.value().unwrap(), 9);
        drop(self.signal.reserve_wait(&rig.queue).expect("the signal was made"));
        drop(self.wait.reserve_signal(&rig.queue).expect("the wait was made"));
        for commands in &self.commands {
            assert_eq!(broken(rig.queue.submit_commands(&[commands])), clause::SUBMIT_STATE.id);
        }
    }
}

#[test]
fn a_failure_while_validating_leaves_everything_as_it_was() {
    let rig = Rig::new();
    let all = All::new(&rig);
    let used = rig.empty();
    rig.queue.submit_commands(&[&used]).unwrap();
    let waits = [wait(&all.wait, 0)];
    let signals = [signal(&all.timeline, 9), signal(&all.signal, 0)];
    // The last command buffer was submitted before.
    let commands = [&all.commands[0], &all.commands[1], &used];
    let fence = Some(&all.fence);
    let refused = Submission { commands: &commands, waits: &waits, signals: &signals, fence, after: &[] };
    assert_eq!(broken(rig.queue.submit(&refused)), clause::SUBMIT_STATE.id);
    assert_eq!(all.fence.state(), FenceState::Ready);
    drop(all.wait.reserve_wait(&rig.queue).unwrap());
    drop(all.signal.reserve_signal(&rig.queue).unwrap());
    assert_eq!(rig.queue.completed(), 2);
    assert_eq!(all.submit(&rig).unwrap().value(), 3);
}

#[test]
fn a_failure_while_reserving_leaves_everything_as_it_was() {
    let rig = Rig::new();
    let all = All::new(&rig);
    // The last signal is reserved by another holder: the wait and the timeline before it are already held by then.
    let elsewhere = all.signal.reserve_signal(&rig.queue(QueueKind::Compute)).unwrap();
    assert_eq!(broken(all.submit(&rig)), clause::SEMAPHORE_RESERVED.id);
    drop(elsewhere);
    all.assert_untouched(&rig);
    all.assert_submits(&rig);
}

#[test]
fn a_second_semaphore_in_the_wrong_state_rolls_the_first_back() {
    let rig = Rig::new();
    let (first, second) = (rig.binary("first"), rig.binary("second"));
    let ready = [signal(&first, 0)];
    rig.queue.submit(&Submission { signals: &ready, ..Submission::default() }).unwrap();
    let waits = [wait(&first, 0), wait(&second, 0)];
    let submission = Submission { waits: &waits, ..Submission::default() };
    assert_eq!(broken(rig.queue.submit(&submission)), clause::SEMAPHORE_STATE.id);
    rig.queue.submit(&Submission { signals: &[signal(&second, 0)], ..Submission::default() }).unwrap();
    rig.queue.submit(&submission).unwrap();
}

#[test]
fn a_native_failure_leaves_everything_as_it_was() {
    let rig = Rig::new();
    let all = All::new(&rig);
    for kind in [ErrorKind::OutOfMemory, ErrorKind::Native] {
        rig.control.fail_next(Op::Submit, kind);
        assert_eq!(all.submit(&rig).unwrap_err().kind(), kind);
        all.assert_untouched(&rig);
    }
    all.assert_submits(&rig);
}

#[test]
fn a_native_failure_keeps_the_users_reservation() {
    let rig = Rig::new();
    let s = rig.binary("s");
    let held = s.reserve_signal(&rig.queue).unwrap();
    let signals = [SemaphoreSignal { semaphore: &s, value: 0, reservation: Some(&held) }];
    let submission = Submission { signals: &signals, ..Submission::default() };
    rig.control.fail_next(Op::Submit, ErrorKind::Native);
    assert_eq!(rig.queue.submit(&submission).unwrap_err().kind(), ErrorKind::Native);
    assert_eq!(broken(s.reserve_signal(&rig.queue)), clause::SEMAPHORE_RESERVED.id);
    rig.queue.submit(&submission).unwrap();
}

#[test]
fn a_loss_at_submission_is_remembered() {
    let rig = Rig::new();
    let all = All::new(&rig);
    rig.control.fail_next(Op::Submit, ErrorKind::DeviceLost);
    assert_eq!(all.submit(&rig).unwrap_err().kind(), ErrorKind::DeviceLost);
    assert_eq!(rig.device.state(), DeviceState::Lost);
    assert_eq!(broken(all.submit(&rig)), clause::DEVICE_LOST.id);
    assert_eq!(all.fence.state(), FenceState::Ready);
}

#[test]
fn a_loss_at_creation_is_remembered() {
    let rig = Rig::new();
    rig.control.fail_next(Op::CreateSampler, ErrorKind::DeviceLost);
    assert!(rig.device.create_sampler(&SamplerDesc::default()).is_err());
    assert_eq!(rig.device.state(), DeviceState::Lost);
}

#[test]
fn a_command_buffer_is_submitted_once() {
    let rig = Rig::new();
    let commands = rig.empty();
    let twice = rig.queue.submit_commands(&[&commands, &commands]);
    assert_eq!(broken(twice), clause::SUBMIT_DUPLICATE.id);
    rig.queue.submit_commands(&[&commands]).unwrap();
    assert_eq!(broken(rig.queue.submit_commands(&[&commands])), clause::SUBMIT_STATE.id);
}

#[test]
fn racing_threads_submit_a_command_buffer_once() {
    let rig = Rig::new();
    for _ in 0..50 {
        let commands = rig.empty();
        let wins = std::thread::scope(|scope| {
            let race = || rig.queue.submit_commands(&[&commands]).is_ok();
            let threads = [scope.spawn(race), scope.spawn(race)];
            threads.into_iter().filter(|_| true).map(|t| t.join().unwrap()).filter(|won| *won).count()
        });
        assert_eq!(wins, 1);
    }
}

#[test]
fn command_buffers_go_to_queues_of_their_family() {
    let rig = Rig::with(null::NullConfig {
        queues: QueueRequest { graphics: 2, compute: 1, transfer: 1 },
        ..null::NullConfig::default()
    });
    let commands = rig.empty();
    let refused = rig.queue(QueueKind::Transfer).submit_commands(&[&commands]);
    assert_eq!(broken(refused), clause::SUBMIT_QUEUE.id);
    rig.device.queue(QueueKind::Graphics, 1).unwrap().submit_commands(&[&commands]).unwrap();
}

#[test]
fn waits_name_stages() {
    let rig = Rig::new();
    let index = rig.queue.submit_commands(&[&rig.empty()]).unwrap();
    let compute = rig.queue(QueueKind::Compute);
    let none = [SubmissionWait { submission: index, stages: Stages::empty() }];
    let refused = compute.submit(&Submission { after: &none, ..Submission::default() });
    assert_eq!(broken(refused), clause::SUBMIT_STAGES.id);
    compute.submit(&Submission { after: &[after(index)], ..Submission::default() }).unwrap();
}
