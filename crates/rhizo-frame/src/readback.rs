//! Readback tickets.

use crate::{FrameError, Result};
use rhizo_rhi::{Buffer, BufferDesc, BufferUsage, Device, Queue, StorageMode, SubmissionIndex};

/// Names a readback.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Ticket(u64);

/// Where a readback is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TicketState {
    /// Its frame was not submitted yet.
    Recording,
    /// In flight.
    Pending,
    /// Ready to be taken.
    Ready,
}

/// Bytes that came back; owns the memory it was read from.
#[derive(Debug)]
pub struct Readback {
    bytes: Vec<u8>,
}

impl Readback {
    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, by value.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

struct Entry {
    id: u64,
    bytes: u64,
    buffer: Buffer,
    submission: Option<SubmissionIndex>,
}

/// All outstanding readbacks, bounded in number and bytes.
pub(crate) struct Readbacks {
    device: Device,
    entries: Vec<Entry>,
    /// Buffers of taken readbacks, for reuse.
    spare: Vec<Buffer>,
    next: u64,
    max_tickets: usize,
    max_bytes: u64,
}

impl Readbacks {
    pub(crate) fn new(device: &Device, max_tickets: usize, max_bytes: u64) -> Self {
        Self { device: device.clone(), entries: Vec::new(), spare: Vec::new(), next: 1, max_tickets, max_bytes }
    }

    pub(crate) fn reserve(&mut self, bytes: u64) -> Result<(Ticket, Buffer)> {
        let held: u64 = self.entries.iter().map(|e| e.bytes).sum();
        let (tickets, max_tickets, max_bytes) = (self.entries.len(), self.max_tickets, self.max_bytes);
        if tickets >= max_tickets || held.saturating_add(bytes) > max_bytes {
            return Err(FrameError::ReadbackFull { tickets, bytes: held, asked: bytes, max_tickets, max_bytes });
        }
        let buffer = match self.spare.iter().position(|b| b.size_bytes() >= bytes && b.size_bytes() <= bytes * 2) {
            Some(at) => self.spare.swap_remove(at),
            None => self.device.create_buffer(&BufferDesc {
                label: "readback",
                size_bytes: bytes,
                usage: BufferUsage::COPY_DESTINATION,
                storage: StorageMode::Readback,
            })?,
        };
        let id = self.next;
        self.next += 1;
        self.entries.push(Entry { id, bytes, buffer: buffer.clone(), submission: None });
        Ok((Ticket(id), buffer))
    }

    /// The entries a frame adds start here.
    pub(crate) fn mark(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn commit(&mut self, mark: usize, submission: SubmissionIndex) {
        for entry in &mut self.entries[mark..] {
            entry.submission = Some(submission);
        }
    }

    pub(crate) fn roll_back(&mut self, mark: usize) {
        self.spare.extend(self.entries.drain(mark..).map(|e| e.buffer));
    }

    fn find(&self, ticket: &Ticket) -> Result<usize> {
        self.entries.iter().position(|e| e.id == ticket.0).ok_or(FrameError::UnknownTicket)
    }

    pub(crate) fn poll(&self, ticket: &Ticket, queue: &Queue) -> Result<TicketState> {
        let entry = &self.entries[self.find(ticket)?];
        Ok(match entry.submission {
            None => TicketState::Recording,
            Some(s) if queue.is_complete(s) => TicketState::Ready,
            Some(_) => TicketState::Pending,
        })
    }

    pub(crate) fn take(&mut self, ticket: &Ticket, queue: &Queue) -> Result<Option<Readback>> {
        if self.poll(ticket, queue)? != TicketState::Ready {
            return Ok(None);
        }
        let at = self.find(ticket)?;
        let entry = &self.entries[at];
        let mut bytes = vec![0; entry.bytes as usize];
        entry.buffer.read_into(0, &mut bytes)?;
        let entry = self.entries.remove(at);
        if self.spare.len() < self.max_tickets {
            self.spare.push(entry.buffer);
        }
        Ok(Some(Readback { bytes }))
    }

    pub(crate) fn wait(&mut self, ticket: &Ticket, queue: &Queue, timeout_ns: u64) -> Result<Readback> {
        let entry = &self.entries[self.find(ticket)?];
        let Some(submission) = entry.submission else { return Err(FrameError::UnknownTicket) };
        if !queue.wait(submission, timeout_ns)? {
            return Err(FrameError::TimedOut { timeout_ns });
        }
        self.take(ticket, queue)?.ok_or(FrameError::TimedOut { timeout_ns })
    }
}
