//! The frame transaction: frames in flight, uploads, readbacks.
//!
//! A [`Frames`] holds two or three slots. Each slot has its own part of the upload memory and its own command pool, reused
//! when its submission has completed and never "after a few frames". A [`Frame`] is a transaction: what was staged in
//! it is committed by [`Frame::submit`], and forgotten when the frame is dropped instead.
//!
//! # What it does not do
//! It blocks only where the name says so ([`Frames::wait_begin`], [`Frames::wait_readback`]); [`Frames::begin`] answers
//! [`Begin::Later`] when every slot is still in flight.
//!
//! Bounds are fixed at creation: a frame that stages more than its part, or asks for more readbacks than allowed, gets an
//! error that says the numbers, and loses nothing.
#![forbid(unsafe_code)]

mod readback;
mod upload;

pub use readback::{Readback, Ticket, TicketState};
pub use upload::{ConstantSlice, TextureUpload};

use readback::Readbacks;
use rhizo_rhi::{CommandBuffer, CommandPool, Device, Error as RhiError, Queue, Recorder, Submission, SubmissionIndex};
use upload::UploadSlot;

/// Constant slices start at multiples of this: the largest alignment any backend asks for.
pub const CONSTANT_ALIGNMENT: u64 = 256;

/// What a frame can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The contract refused a call, or the device failed.
    #[error(transparent)]
    Rhi(#[from] RhiError),
    /// The frame's part of the upload memory is full.
    #[error(
        "the frame staged {staged} bytes and asks for {asked} more; its bound is {bound}: raise FrameConfig::{field}"
    )]
    UploadFull {
        /// Bytes staged so far.
        staged: u64,
        /// Bytes asked for.
        asked: u64,
        /// Bytes a frame may stage.
        bound: u64,
        /// The field of the configuration that sets the bound.
        field: &'static str,
    },
    /// More readbacks are outstanding than allowed.
    #[error(
        "{tickets} readbacks of {bytes} bytes are outstanding and one of {asked} bytes is asked for; the bounds are {max_tickets} and {max_bytes}"
    )]
    ReadbackFull {
        /// Outstanding tickets.
        tickets: usize,
        /// Their bytes.
        bytes: u64,
        /// Bytes asked for.
        asked: u64,
        /// Tickets allowed.
        max_tickets: usize,
        /// Bytes allowed.
        max_bytes: u64,
    },
    /// A ticket was taken before, or is another's.
    #[error("the readback ticket was taken before or belongs to other frames")]
    UnknownTicket,
    /// A wait ran out of time.
    #[error("not within {timeout_ns} ns")]
    TimedOut {
        /// The time.
        timeout_ns: u64,
    },
}

/// Result of the frame layer.
pub type Result<T, E = FrameError> = std::result::Result<T, E>;

/// Sizes, fixed at creation.
#[derive(Clone, Copy, Debug)]
pub struct FrameConfig {
    /// Frames in flight, 2 or 3.
    pub frames_in_flight: u32,
    /// Bytes a frame may stage for buffers and textures.
    pub upload_bytes: u64,
    /// Bytes of constants a frame may write.
    pub constant_bytes: u64,
    /// Readbacks outstanding at once.
    pub max_readbacks: usize,
    /// Bytes of them.
    pub max_readback_bytes: u64,
}

impl Default for FrameConfig {
    fn default() -> Self {
        Self {
            frames_in_flight: 2,
            upload_bytes: 4 << 20,
            constant_bytes: 1 << 20,
            max_readbacks: 16,
            max_readback_bytes: 256 << 20,
        }
    }
}

struct Slot {
    upload: UploadSlot,
    pool: CommandPool,
    submission: Option<SubmissionIndex>,
}

/// Frames in flight on one queue.
pub struct Frames {
    queue: Queue,
    slots: Vec<Slot>,
    readbacks: Readbacks,
    /// Frames committed so far.
    number: u64,
}

/// Whether a frame could begin.
pub enum Begin<'a> {
    /// Here it is.
    Ready(Frame<'a>),
    /// Every slot is in flight: try again later.
    Later,
}

impl Frames {
    /// Makes the slots.
    ///
    /// # Errors
    /// Out of memory; `DEVICE_LOST`.
    pub fn new(device: &Device, queue: &Queue, config: &FrameConfig) -> Result<Self> {
        let count = config.frames_in_flight.clamp(1, 3);
        let slot = |_| -> Result<Slot> {
            let upload = UploadSlot::new(device, config)?;
            Ok(Slot { upload, pool: queue.create_pool(), submission: None })
        };
        let slots = (0..count).map(slot).collect::<Result<Vec<_>>>()?;
        let readbacks = Readbacks::new(device, config.max_readbacks, config.max_readback_bytes);
        Ok(Self { queue: queue.clone(), slots, readbacks, number: 0 })
    }

    /// The queue frames are submitted to.
    #[must_use]
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Frames committed so far.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    fn slot_index(&self) -> usize {
        (self.number % self.slots.len() as u64) as usize
    }

    /// Whether [`Frames::begin`] would give a frame now. Ask this first where the other branch needs the frames too.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let slot = &self.slots[self.slot_index()];
        slot.submission.is_none_or(|submission| self.queue.is_complete(submission))
    }

    /// Begins a frame if the slot it would use is no longer in flight.
    ///
    /// # Errors
    /// `DEVICE_LOST`.
    pub fn begin(&mut self) -> Result<Begin<'_>> {
        Ok(if self.is_ready() { Begin::Ready(self.start()) } else { Begin::Later })
    }

    /// Begins a frame, waiting for its slot.
    ///
    /// # Errors
    /// `TimedOut`; `DEVICE_LOST`.
    pub fn wait_begin(&mut self, timeout_ns: u64) -> Result<Frame<'_>> {
        let slot = &self.slots[self.slot_index()];
        if let Some(submission) = slot.submission
            && !self.queue.wait(submission, timeout_ns)?
        {
            return Err(FrameError::TimedOut { timeout_ns });
        }
        Ok(self.start())
    }

    fn start(&mut self) -> Frame<'_> {
        let index = self.slot_index();
        let slot = &mut self.slots[index];
        slot.submission = None;
        slot.upload.reset();
        let mark = self.readbacks.mark();
        Frame { frames: self, index, mark, committed: false }
    }

    /// The state of a readback.
    ///
    /// # Errors
    /// `UnknownTicket`.
    pub fn poll_readback(&self, ticket: &Ticket) -> Result<TicketState> {
        self.readbacks.poll(ticket, &self.queue)
    }

    /// Takes a finished readback; `None` when it is not finished.
    ///
    /// # Errors
    /// `UnknownTicket`; `DEVICE_LOST`.
    pub fn take_readback(&mut self, ticket: &Ticket) -> Result<Option<Readback>> {
        self.readbacks.take(ticket, &self.queue)
    }

    /// Waits for a readback and takes it.
    ///
    /// # Errors
    /// `UnknownTicket`, `TimedOut`, `DEVICE_LOST`.
    pub fn wait_readback(&mut self, ticket: &Ticket, timeout_ns: u64) -> Result<Readback> {
        self.readbacks.wait(ticket, &self.queue, timeout_ns)
    }
}

/// A frame being made.
pub struct Frame<'a> {
    frames: &'a mut Frames,
    index: usize,
    mark: usize,
    committed: bool,
}

impl Frame<'_> {
    /// Frames committed before this one.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.frames.number
    }

    /// Starts a command buffer from the frame's pool.
    ///
    /// # Errors
    /// Out of memory; `DEVICE_LOST`.
    pub fn record(&mut self, label: &str) -> Result<Recorder<'_>> {
        Ok(self.frames.slots[self.index].pool.begin(label)?)
    }

    /// Writes constants of this frame: a slice at a multiple of [`CONSTANT_ALIGNMENT`], to be bound with a dynamic
    /// offset into [`Frame::constant_buffer`].
    ///
    /// # Errors
    /// `UploadFull`; `DEVICE_LOST`.
    pub fn constants(&mut self, data: &[u8]) -> Result<ConstantSlice> {
        self.frames.slots[self.index].upload.constants(data)
    }

    /// The device-local buffer constants of this frame end up in.
    #[must_use]
    pub fn constant_buffer(&self) -> &rhizo_rhi::Buffer {
        self.frames.slots[self.index].upload.constant_buffer()
    }

    /// Which of the frames in flight this is, from 0: the index of per-slot objects such as constant tables.
    #[must_use]
    pub fn slot(&self) -> usize {
        self.index
    }

    /// Stages bytes for a buffer with usage copy-destination.
    ///
    /// # Errors
    /// `UploadFull`; `DEVICE_LOST`.
    pub fn upload_buffer(&mut self, destination: &rhizo_rhi::Buffer, offset: u64, data: &[u8]) -> Result<()> {
        self.frames.slots[self.index].upload.buffer(destination, offset, data)
    }

    /// Stages texels for a texture with usage copy-destination.
    ///
    /// # Errors
    /// `UploadFull`; `DEVICE_LOST`.
    pub fn upload_texture(&mut self, upload: &TextureUpload<'_>, data: &[u8]) -> Result<()> {
        self.frames.slots[self.index].upload.texture(upload, data)
    }

    /// Records the staged copies into a command buffer of their own, ordered after earlier uses and before later ones:
    /// submit it first.
    ///
    /// # Errors
    /// Out of memory; `DEVICE_LOST`.
    pub fn record_uploads(&mut self, label: &str) -> Result<CommandBuffer> {
        let slot = &mut self.frames.slots[self.index];
        let mut recorder = slot.pool.begin(label)?;
        slot.upload.flush(&mut recorder);
        Ok(recorder.finish()?)
    }

    /// Makes room for a readback: copy into the buffer in this frame's commands; the ticket is good once the frame has
    /// been submitted.
    ///
    /// # Errors
    /// `ReadbackFull`; `DEVICE_LOST`.
    pub fn readback_target(&mut self, bytes: u64) -> Result<(Ticket, rhizo_rhi::Buffer)> {
        self.frames.readbacks.reserve(bytes)
    }

    /// Submits the frame's command buffers and commits it.
    ///
    /// # Errors
    /// As `Queue::submit`; the frame is then as if it had not been begun.
    pub fn submit(mut self, commands: &[&CommandBuffer]) -> Result<SubmissionIndex> {
        let submission = Submission { commands, ..Submission::default() };
        let index = self.frames.queue.submit(&submission)?;
        let frames = &mut *self.frames;
        frames.slots[self.index].submission = Some(index);
        frames.readbacks.commit(self.mark, index);
        frames.number += 1;
        self.committed = true;
        Ok(index)
    }
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        if !self.committed {
            self.frames.slots[self.index].upload.reset();
            self.frames.readbacks.roll_back(self.mark);
        }
    }
}
