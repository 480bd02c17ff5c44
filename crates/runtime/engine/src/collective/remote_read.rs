//! Reading what other ranks offer in their own memory: directly, or through a relay where the kernel does
//! not allow that any more.
//!
//! Whether ranks may read each other's memory is agreed on at the start. Later a rank may change its user,
//! forbid reads of its memory, or give up the system call. A rank whose read fails then asks the depositor
//! for the bytes. The depositor stays in the call until its readers have left, and gives them in parts.

use super::piece::Piece;
use crate::comm::part::NodePart;
use crate::copy::copy;
use crate::job::node::Node;
use evenkeel_segment::relay::{Relay, Relays, Wanted};
use evenkeel_segment::{Mapped, Seq, cross_memory};

/// How far a rank is with reading the deposits of one instance. It reads them one after the other.
#[derive(Default)]
pub struct ReadProgress {
    /// This many have been read, if any read went through a relay.
    done: usize,
    /// The next one goes through this relay.
    relay: Option<Relay<Mapped>>,
}

/// Reads the deposits of one instance. After a read that is not complete, all reads are repeated in the same
/// order; those that are complete cost nothing.
pub struct Reads<'a> {
    part: &'a NodePart,
    seq: Seq,
    progress: &'a mut ReadProgress,
    begun: usize,
}

impl<'a> Reads<'a> {
    /// The reads of instance `seq`.
    pub(crate) fn new(part: &'a NodePart, seq: Seq, progress: &'a mut ReadProgress) -> Reads<'a> {
        Reads { part, seq, progress, begun: 0 }
    }

    /// Copies `bytes` of `piece`, starting at offset `from`, to `to`. Returns false if they have been asked
    /// for, but have not all come.
    ///
    /// # Safety
    /// `rank` has published the piece and this rank has not left the instance; `to` must have room.
    #[inline]
    pub(crate) unsafe fn fetch(
        &mut self,
        piece: &Piece,
        rank: usize,
        from: usize,
        to: *mut u8,
        bytes: usize,
    ) -> bool {
        self.begun += 1;
        if bytes == 0 || self.begun <= self.progress.done {
            return true;
        }
        let Some(address) = piece.address() else {
            // SAFETY: the caller's promise; blocks and user buffers do not overlap.
            unsafe { copy(piece.pointer.wrapping_add(from), to, bytes) };
            return true;
        };
        // SAFETY: the caller's promise.
        unsafe { self.fetch_from_memory(rank, address + from as u64, to, bytes) }
    }

    /// # Safety
    /// `to` must have room for `bytes`.
    unsafe fn fetch_from_memory(&mut self, rank: usize, address: u64, to: *mut u8, bytes: usize) -> bool {
        let shared = &self.part.shared;
        if self.progress.relay.is_none() {
            // SAFETY: `to` has room; the depositor keeps its buffer until this rank has left.
            let Err(error) = (unsafe { cross_memory::read(shared.pid_of(rank), address, to, bytes) }) else {
                return true;
            };
            if self.part.is_revoked() || self.part.has_lost_members() {
                return true; // the depositor has left the call; the wait for this instance finds that out
            }
            let giver = shared.local_ranks[rank];
            shared.node.check_alive(std::iter::once(giver), "collective");
            let Some(relay) = shared.node.take_relay() else {
                let (me, other) = (shared.node.me, shared.node.neighbours[giver].world_rank);
                shared.node.end(&format!(
                    "rank {me} could not read {bytes} bytes from rank {other}: {error}. Such reads worked \
                     when the job started, and the shared memory has no room left for another way; \
                     EVENKEEL_CMA=off avoids them"
                ));
            };
            let comm = self.part.id();
            relay.ask(&Wanted { giver: giver as u64, comm, seq: self.seq.0, address, bytes: bytes as u64 });
            self.progress.done = self.begun - 1;
            self.progress.relay = Some(relay);
            shared.board.notify(); // the depositor may sleep until its readers have left
        }
        // SAFETY: as above.
        unsafe { self.take_from_relay(to) }
    }

    /// # Safety
    /// `to` must have room for all bytes that were asked for.
    unsafe fn take_from_relay(&mut self, to: *mut u8) -> bool {
        let relay = self.progress.relay.take().expect("a relay has been asked");
        let taken = relay.take(|part| {
            let from = relay.memory().pointer(part.place);
            // SAFETY: the caller's promise; the giver has published these bytes.
            unsafe { copy(from, to.wrapping_add(part.offset), part.bytes) };
        });
        if taken > 0 {
            self.part.shared.board.notify(); // there is room again
        }
        if !relay.is_over() {
            self.progress.relay = Some(relay);
            return false;
        }
        self.part.shared.node.give_back(relay);
        self.progress.done = self.begun;
        true
    }
}

/// Gives ranks that cannot read this rank's memory what they ask for in instance `seq`.
pub(super) fn give(part: &NodePart, seq: Seq) {
    let (shared, me) = (&part.shared, part.shared.node.local_rank as u64);
    let node = shared.node;
    let relays = Relays::new(&node.segment);
    let waits = |rank: &usize| *rank != part.me && shared.board.left(*rank) <= seq.0;
    let mut given = 0;
    for rank in (0..part.ranks).filter(waits) {
        for at in relays.of(shared.local_ranks[rank]) {
            let relay = Relay::new(node.segment.at(at));
            given += relay.give(
                |wanted| (wanted.giver, wanted.comm, wanted.seq) == (me, part.id(), seq.0),
                |wanted, part| {
                    let from = (wanted.address as usize + part.offset) as *const u8;
                    // SAFETY: this rank has offered these bytes, and stays in the call until the reader has
                    // left; the relay's ring has room.
                    unsafe { copy(from, relay.memory().pointer(part.place), part.bytes) };
                },
            );
        }
    }
    if given > 0 {
        shared.board.notify();
    }
}

impl Node {
    /// A relay of this process's that is not in use. None if the segment has no room for another one.
    fn take_relay(&self) -> Option<Relay<Mapped>> {
        let mut idle = self.idle_relays();
        if let Some(relay) = idle.pop() {
            return Some(relay);
        }
        let block = Relays::new(&self.segment).make(&self.allocator(), self.local_rank)?;
        Some(Relay::new(self.segment.at(block.offset())))
    }

    fn give_back(&self, relay: Relay<Mapped>) {
        self.idle_relays().push(relay);
    }
}
