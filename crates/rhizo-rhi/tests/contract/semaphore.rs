//! RHZ-SEMAPHORE: alternation, reservations, timelines.

use crate::support::*;
use rhizo_rhi::*;

fn submit_signal(queue: &Queue, semaphore: &Semaphore, value: u64) -> Result<SubmissionIndex> {
    queue.submit(&Submission { signals: &[signal(semaphore, value)], ..Submission::default() })
}

fn submit_wait(queue: &Queue, semaphore: &Semaphore, value: u64) -> Result<SubmissionIndex> {
    queue.submit(&Submission { waits: &[wait(semaphore, value)], ..Submission::default() })
}

#[test]
fn binary_signals_and_waits_alternate() {
    let rig = Rig::new();
    let s = rig.binary("s");
    assert_eq!(broken(submit_wait(&rig.queue, &s, 0)), clause::SEMAPHORE_STATE.id);
    for _ in 0..2 {
        submit_signal(&rig.queue, &s, 0).unwrap();
        let error = submit_signal(&rig.queue, &s, 0).unwrap_err();
        assert_eq!(error.clause_id(), Some(clause::SEMAPHORE_STATE.id));
        assert_eq!((error.object(), error.detail()), (Some("s"), "Signal while Signalled"));
        submit_wait(&rig.queue, &s, 0).unwrap();
        assert_eq!(broken(submit_wait(&rig.queue, &s, 0)), clause::SEMAPHORE_STATE.id);
    }
}

#[test]
fn a_second_reservation_names_the_holder() {
    let rig = Rig::new();
    let s = rig.binary("s");
    let compute = rig.queue(QueueKind::Compute);
    let held = s.reserve_signal(&compute).unwrap();
    for refused in [s.reserve_signal(&rig.queue), s.reserve_wait(&rig.queue)] {
        let error = refused.unwrap_err();
        assert_eq!(error.clause_id(), Some(clause::SEMAPHORE_RESERVED.id));
        assert_eq!(error.detail(), format!("held by queue {}", compute.position()));
    }
    assert_eq!(broken(submit_signal(&rig.queue, &s, 0)), clause::SEMAPHORE_RESERVED.id);
    drop(held);
    submit_signal(&rig.queue, &s, 0).unwrap();
}

#[test]
fn a_dropped_reservation_rolls_back() {
    let rig = Rig::new();
    let s = rig.binary("s");
    drop(s.reserve_signal(&rig.queue).unwrap());
    assert_eq!(broken(s.reserve_wait(&rig.queue)), clause::SEMAPHORE_STATE.id, "the signal never happened");
    submit_signal(&rig.queue, &s, 0).unwrap();
    drop(s.reserve_wait(&rig.queue).unwrap());
    submit_wait(&rig.queue, &s, 0).unwrap();
}

#[test]
fn a_reservation_is_committed_by_the_submission_that_uses_it() {
    let rig = Rig::new();
    let s = rig.binary("s");
    let held = s.reserve_signal(&rig.queue).unwrap();
    let signals = [SemaphoreSignal { semaphore: &s, value: 0, reservation: Some(&held) }];
    let submission = Submission { signals: &signals, ..Submission::default() };
    rig.queue.submit(&submission).unwrap();
    assert_eq!(broken(rig.queue.submit(&submission)), clause::SEMAPHORE_RESERVED.id, "used up");
    let next = s.reserve_wait(&rig.queue).unwrap();
    drop(held);
    assert_eq!(broken(s.reserve_wait(&rig.queue)), clause::SEMAPHORE_RESERVED.id, "the old guard freed nothing");
    drop(next);
}

#[test]
fn a_reservation_serves_its_queue_and_operation_only() {
    let rig = Rig::new();
    let (s, other) = (rig.binary("s"), rig.binary("other"));
    let held = s.reserve_signal(&rig.queue).unwrap();
    let compute = rig.queue(QueueKind::Compute);
    let with = |semaphore| [SemaphoreSignal { semaphore, value: 0, reservation: Some(&held) }];
    let wrong = compute.submit(&Submission { signals: &with(&s), ..Submission::default() });
    assert_eq!(broken(wrong), clause::SEMAPHORE_RESERVED.id);
    let wrong = rig.queue.submit(&Submission { signals: &with(&other), ..Submission::default() });
    assert_eq!(broken(wrong), clause::SEMAPHORE_RESERVED.id);
    let waits = [SemaphoreWait { reservation: Some(&held), ..wait(&s, 0) }];
    let wrong = rig.queue.submit(&Submission { waits: &waits, ..Submission::default() });
    assert_eq!(broken(wrong), clause::SEMAPHORE_RESERVED.id);
    rig.queue.submit(&Submission { signals: &with(&s), ..Submission::default() }).unwrap();
}

#[test]
fn timelines_only_grow() {
    let rig = Rig::new();
    let t = rig.timeline("t", 5);
    assert_eq!(broken(t.signal(5)), clause::TIMELINE_VALUE.id);
    submit_signal(&rig.queue, &t, 7).unwrap();
    assert_eq!(broken(submit_signal(&rig.queue, &t, 7)), clause::TIMELINE_VALUE.id);
    assert_eq!(broken(t.signal(6)), clause::TIMELINE_VALUE.id);
    t.signal(8).unwrap();
    assert_eq!(t.value().unwrap(), 8);
    submit_wait(&rig.queue, &t, 3).unwrap();
}

#[test]
fn kinds_are_not_mixed() {
    let rig = Rig::new();
    let (b, t) = (rig.binary("b"), rig.timeline("t", 0));
    assert_eq!(broken(b.value()), clause::SEMAPHORE_KIND.id);
    assert_eq!(broken(b.signal(1)), clause::SEMAPHORE_KIND.id);
    assert_eq!(broken(b.wait(1, 0)), clause::SEMAPHORE_KIND.id);
    assert_eq!(broken(t.reserve_signal(&rig.queue)), clause::SEMAPHORE_KIND.id);
    let held = b.reserve_signal(&rig.queue).unwrap();
    let signals = [SemaphoreSignal { semaphore: &t, value: 1, reservation: Some(&held) }];
    let refused = rig.queue.submit(&Submission { signals: &signals, ..Submission::default() });
    assert_eq!(broken(refused), clause::SEMAPHORE_KIND.id);
}

#[test]
fn a_submission_names_each_semaphore_once() {
    let rig = Rig::new();
    let (b, t) = (rig.binary("b"), rig.timeline("t", 0));
    let twice = [signal(&t, 1), signal(&t, 2)];
    let refused = rig.queue.submit(&Submission { signals: &twice, ..Submission::default() });
    assert_eq!(broken(refused), clause::SUBMIT_DUPLICATE.id);
    let twice = [wait(&t, 0), wait(&t, 0)];
    let refused = rig.queue.submit(&Submission { waits: &twice, ..Submission::default() });
    assert_eq!(broken(refused), clause::SUBMIT_DUPLICATE.id);
    submit_signal(&rig.queue, &b, 0).unwrap();
    let both = Submission { waits: &[wait(&b, 0)], signals: &[signal(&b, 0)], ..Submission::default() };
    assert_eq!(broken(rig.queue.submit(&both)), clause::SUBMIT_DUPLICATE.id);
    let both = Submission { waits: &[wait(&t, 0)], signals: &[signal(&t, 1)], ..Submission::default() };
    rig.queue.submit(&both).unwrap();
}

#[test]
fn waiting_on_the_cpu_sees_the_value() {
    let rig = Rig::manual();
    let t = rig.timeline("t", 0);
    submit_signal(&rig.queue, &t, 4).unwrap();
    assert!(!t.wait(4, 0).unwrap());
    assert_eq!(t.value().unwrap(), 0);
    assert!(t.wait(4, u64::MAX).unwrap());
    assert_eq!(t.value().unwrap(), 4);
}
