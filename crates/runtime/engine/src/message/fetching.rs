//! Copies large messages: the receiver from their sender's memory, and the sender, while it waits, into its
//! pipeline.

use super::envelope::{Offer, Token};
use super::large::WORTH_SHARING;
use super::port::Port;
use super::request::Message;
use crate::copy::{copy, streaming};
use evenkeel_segment::pipeline::{CHUNK_BYTES, Part, Receiver, slot_offset};
use evenkeel_segment::{Mapped, cross_memory, eventcount};

/// How long a receiver waits for a chunk that the sender is copying, before it reads the chunk itself: some
/// five times as long as that takes.
const PATIENCE_NS: u64 = 30_000;

impl Port {
    /// Copies an offered message from its sender's memory. Returns false if the kernel does not allow that.
    pub(super) fn fetch(
        &mut self,
        sender: usize,
        token: Token,
        offer: Offer,
        buffer: *mut u8,
        bytes: usize,
    ) -> bool {
        if sender == self.node.local_rank {
            // SAFETY: the send is not complete, so its data is still there; the two buffers of a program do
            // not overlap.
            unsafe { copy(offer.address as *const u8, buffer, bytes) };
            return true;
        }
        let pid = self.node.neighbours[sender].pid;
        let read = |from: usize, bytes: usize| {
            // SAFETY: the receive's buffer has room for all bytes.
            let done = unsafe {
                cross_memory::read(pid, offer.address + from as u64, buffer.wrapping_add(from), bytes)
            };
            done.is_ok()
        };
        if !self.node.facts.direct_reads {
            return false;
        }
        let Some(large) = self.large.as_mut().filter(|_| bytes >= WORTH_SHARING) else {
            return read(0, bytes);
        };
        let opened = large.are_both_wanted(bytes).then(|| self.open_pipeline(sender, token, bytes)).flatten();
        let (began, both) = (self.node.clock().now(), opened.is_some());
        let is_read = match opened {
            Some((pipeline, receiver)) => self.fetch_with_sender(&pipeline, receiver, buffer, bytes, read),
            None => read(0, bytes),
        };
        let ticks = self.node.clock().now().0.saturating_sub(began.0);
        if let Some(large) = &mut self.large {
            large.choice(bytes).note(both, ticks, bytes);
        }
        is_read
    }

    /// Opens the sender's pipeline for this message, if it is free.
    fn open_pipeline(&self, sender: usize, token: Token, bytes: usize) -> Option<(Mapped, Receiver<Mapped>)> {
        let at = self.large.as_ref()?.pipelines.of(sender);
        let pipeline = || self.node.segment.at(at);
        let receiver = Receiver::begin(pipeline(), token.0, bytes.div_ceil(CHUNK_BYTES))?;
        // A sender that sleeps must wake for the answer anyway.
        eventcount::notify(&self.peers[sender].eventcount, eventcount::Fencing::Both);
        Some((pipeline(), receiver))
    }

    /// Copies a message together with its sender. Returns false if it cannot be read.
    fn fetch_with_sender(
        &self,
        pipeline: &Mapped,
        mut receiver: Receiver<Mapped>,
        buffer: *mut u8,
        bytes: usize,
        read: impl Fn(usize, usize) -> bool,
    ) -> bool {
        let clock = self.node.clock();
        let length = |from: usize, chunks: usize| (chunks * CHUNK_BYTES).min(bytes - from);
        loop {
            let mut began = None;
            let may_wait = || {
                std::hint::spin_loop();
                clock.ns_since(*began.get_or_insert_with(|| clock.now())) < PATIENCE_NS
            };
            match receiver.next(may_wait) {
                Some(Part::Slot { chunk, slot }) => {
                    let from = chunk * CHUNK_BYTES;
                    // SAFETY: the sender has filled the slot and leaves it alone until it is given back; the
                    // receive's buffer has room for all bytes.
                    unsafe {
                        copy(pipeline.pointer(slot_offset(slot)), buffer.add(from), length(from, 1));
                    }
                    receiver.taken();
                }
                Some(Part::Fetch { chunk, chunks }) => {
                    let from = chunk * CHUNK_BYTES;
                    if !read(from, length(from, chunks)) {
                        return false;
                    }
                }
                None => return true,
            }
        }
    }

    /// Copies a chunk of one of this process's large messages, if its receiver copies that message now.
    /// Returns how many chunks.
    pub(super) fn help_receiver(&mut self) -> usize {
        let Some(large) = &mut self.large else { return 0 };
        let Some(claimed) = large.own.claim() else { return 0 };
        // SAFETY: a chunk can be claimed only while the receiver has not answered, so the send is alive and
        // its data are in place. It stays so, since this process has not looked at answers since then.
        let m = unsafe { &*(claimed.token as *const Message) };
        let from = claimed.chunk * CHUNK_BYTES;
        let bytes = CHUNK_BYTES.min(m.capacity - from);
        let slot = large.own.memory().pointer(slot_offset(claimed.slot));
        // Always past the cache: the receiver has just read the last chunk from these lines. SAFETY: the
        // chunk begins within the data; only this process writes the slot, which starts on a page, and the
        // receiver does not read it before it is published.
        unsafe { streaming::stream(m.buffer.add(from).cast_const(), slot, bytes) };
        large.own.publish(&claimed);
        large.bytes_copied += bytes as u64;
        1
    }
}
