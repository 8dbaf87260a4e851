//! The frame transaction on the null device: its queues are logical clocks, so "in flight" lasts as long as a test wants.
#![allow(clippy::unwrap_used, reason = "a test's fixture may panic like the test itself")]

use rhizo_frame::{Begin, Frame, FrameConfig, FrameError, Frames, TicketState};
use rhizo_rhi::null::{self, NullConfig, NullControl, Op, Policy, Step};
use rhizo_rhi::{
    Buffer, BufferCopy, BufferDesc, BufferUsage, CommandBuffer, Device, DeviceDesc, ErrorKind, QueueKind, StorageMode,
};

const CONFIG: FrameConfig = FrameConfig {
    frames_in_flight: 2,
    upload_bytes: 1024,
    constant_bytes: 1024,
    max_readbacks: 2,
    max_readback_bytes: 256,
};

struct Fixture {
    device: Device,
    control: NullControl,
    frames: Frames,
}

fn fixture(policy: Policy) -> Fixture {
    let (instance, control) = null::instance_with_control(NullConfig { policy, ..NullConfig::default() });
    let device = instance.open(0, &DeviceDesc { label: "test", queues: None }).unwrap();
    let queue = device.queue(QueueKind::Graphics, 0).unwrap();
    let frames = Frames::new(&device, &queue, &CONFIG).unwrap();
    Fixture { device, control, frames }
}

fn buffer(device: &Device) -> Buffer {
    let usage = BufferUsage::COPY_DESTINATION | BufferUsage::COPY_SOURCE;
    device
        .create_buffer(&BufferDesc { label: "data", size_bytes: 64, usage, storage: StorageMode::DeviceLocal })
        .unwrap()
}

fn ready(frames: &mut Frames) -> Frame<'_> {
    match frames.begin().unwrap() {
        Begin::Ready(frame) => frame,
        Begin::Later => panic!("a slot is free"),
    }
}

/// Copies `data` into a command buffer that reads it back.
fn copy(frame: &mut Frame<'_>, source: &Buffer, into: &Buffer) -> CommandBuffer {
    let mut recorder = frame.record("copy").unwrap();
    let region = BufferCopy { source_offset: 0, destination_offset: 0, size: 64 };
    recorder.transfer_pass("copy").copy_buffer(source, into, &[region]);
    recorder.finish().unwrap()
}

#[test]
fn uploads_arrive_and_come_back_through_a_ticket() {
    let Fixture { device, control, mut frames } = fixture(Policy::Immediate);
    let data = buffer(&device);
    let mut frame = ready(&mut frames);
    frame.upload_buffer(&data, 0, &[7; 64]).unwrap();
    let uploads = frame.record_uploads("uploads").unwrap();
    let (ticket, target) = frame.readback_target(64).unwrap();
    let commands = copy(&mut frame, &data, &target);
    frame.submit(&[&uploads, &commands]).unwrap();
    assert_eq!(frames.wait_readback(&ticket, 0).unwrap().bytes(), [7; 64]);
    assert!(matches!(frames.poll_readback(&ticket), Err(FrameError::UnknownTicket)), "taken once");
    drop((frames, uploads, commands, target, data, device));
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn a_frame_waits_for_its_slot_and_not_for_a_count() {
    let Fixture { device: _device, control, mut frames } = fixture(Policy::Manual);
    for _ in 0..CONFIG.frames_in_flight {
        let mut frame = ready(&mut frames);
        frame.constants(&[1; 16]).unwrap();
        let commands = frame.record_uploads("uploads").unwrap();
        frame.submit(&[&commands]).unwrap();
    }
    assert!(!frames.is_ready());
    assert!(matches!(frames.begin().unwrap(), Begin::Later), "both slots are in flight");
    assert!(matches!(control.step(0), Step::Ran(_)), "the oldest submission runs");
    assert!(frames.is_ready(), "the first slot's work has completed");
    assert_eq!(ready(&mut frames).number(), 2);
}

#[test]
fn a_frame_that_is_dropped_was_never_there() {
    let Fixture { device, mut frames, .. } = fixture(Policy::Immediate);
    let data = buffer(&device);
    let mut frame = ready(&mut frames);
    frame.upload_buffer(&data, 0, &[9; 64]).unwrap();
    let (ticket, _) = frame.readback_target(64).unwrap();
    drop(frame);
    assert_eq!(frames.number(), 0);
    assert!(matches!(frames.poll_readback(&ticket), Err(FrameError::UnknownTicket)), "its ticket went with it");
    let mut frame = ready(&mut frames);
    let uploads = frame.record_uploads("uploads").unwrap();
    let (ticket, target) = frame.readback_target(64).unwrap();
    let commands = copy(&mut frame, &data, &target);
    frame.submit(&[&uploads, &commands]).unwrap();
    assert_eq!(frames.wait_readback(&ticket, 0).unwrap().bytes(), [0; 64], "the dropped upload was not carried out");
}

#[test]
fn a_failed_submission_leaves_the_frame_unmade() {
    let Fixture { device, control, mut frames } = fixture(Policy::Immediate);
    let data = buffer(&device);
    let mut frame = ready(&mut frames);
    frame.upload_buffer(&data, 0, &[5; 64]).unwrap();
    let uploads = frame.record_uploads("uploads").unwrap();
    let (ticket, _) = frame.readback_target(64).unwrap();
    control.fail_next(Op::Submit, ErrorKind::OutOfMemory);
    let error = frame.submit(&[&uploads]).unwrap_err();
    assert!(matches!(error, FrameError::Rhi(e) if e.kind() == ErrorKind::OutOfMemory));
    assert_eq!(frames.number(), 0);
    assert!(matches!(frames.poll_readback(&ticket), Err(FrameError::UnknownTicket)));
    let frame = ready(&mut frames);
    frame.submit(&[&uploads]).expect("the command buffer was not consumed");
    assert_eq!(frames.number(), 1);
}

#[test]
fn bounds_are_errors_with_numbers_and_lose_nothing() {
    let Fixture { device, mut frames, .. } = fixture(Policy::Manual);
    let data = buffer(&device);
    let mut frame = ready(&mut frames);
    frame.upload_buffer(&data, 0, &[1; 64]).unwrap();
    let error = frame.upload_buffer(&data, 0, &[0; 1024]).unwrap_err().to_string();
    assert!(error.contains("1024") && error.contains("upload_bytes"), "{error}");
    let error = frame.constants(&[0; 2000]).unwrap_err().to_string();
    assert!(error.contains("2000") && error.contains("constant_bytes"), "{error}");
    let first = frame.constants(&[1; 300]).unwrap();
    let second = frame.constants(&[2; 4]).unwrap();
    assert_eq!((first.offset, second.offset), (0, 512), "slices start at multiples of 256");
    let tickets: Vec<_> = (0..2).map(|_| frame.readback_target(64).unwrap()).collect();
    assert!(matches!(frame.readback_target(64), Err(FrameError::ReadbackFull { tickets: 2, .. })));
    let uploads = frame.record_uploads("uploads").unwrap();
    frame.submit(&[&uploads]).unwrap();
    assert_eq!(frames.poll_readback(&tickets[0].0).unwrap(), TicketState::Pending);
    assert!(frames.take_readback(&tickets[0].0).unwrap().is_none(), "not finished yet");
}
