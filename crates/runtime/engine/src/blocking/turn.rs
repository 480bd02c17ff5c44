//! Whose turn it is to read what comes from other nodes. The words are in [`evenkeel_segment::datagrams`].
//!
//! Of the threads of a node that wait for other nodes one is the reader: it looks for datagrams, and sleeps
//! for them at the socket. The others sleep at the node's eventcount for that
//! ([`evenkeel_segment::waiters`]), where the reader wakes them when something has come for them, and one of
//! them when it goes.
//!
//! May use: the link to other nodes. Must never: know what is waited for.

use crate::job::direct_link::{DirectLink, monotonic_us};
use crate::job::node::Node;
use evenkeel_segment::Segment;
use evenkeel_segment::call_line::thread_number;
use evenkeel_segment::datagrams::{Datagrams, Thread};
use evenkeel_segment::waiters::Kind;
use std::sync::atomic::Ordering;

/// For how long a process does not count on others at the socket after it has found one stopped.
const DISTRUST_NS: u64 = 1_000_000_000;
/// A sleep that was shorter has not been in vain.
const SHORTEST_IN_VAIN_NS: u64 = 100_000;

/// Whether it is this thread's turn to read what comes from other nodes, while it waits for them.
pub(super) struct Turn<'a> {
    pub(super) node: &'a Node,
    pub(super) link: &'a DirectLink,
    datagrams: Datagrams<'a, Segment>,
    me: Thread,
    /// What it waits for.
    pub(super) kind: Kind,
    waits: bool,
    /// It has been the reader, or may have been woken to become it.
    owes_a_wake_up: bool,
    /// It has slept in vain, and counted on a thread at the socket meanwhile.
    counted_in_vain: bool,
}

impl<'a> Turn<'a> {
    pub(super) fn new(node: &'a Node, link: &'a DirectLink, communicator: u64) -> Self {
        Turn {
            node,
            link,
            datagrams: Datagrams::new(&node.segment),
            me: Thread::new(node.local_rank, thread_number()),
            kind: Kind::of(communicator),
            waits: false,
            owes_a_wake_up: false,
            counted_in_vain: false,
        }
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.waits, true) {
            self.datagrams.begin_waiting();
        }
    }

    /// Whether this thread, which is awake, is to read now.
    pub(super) fn reads(&mut self) -> bool {
        self.begin();
        if self.datagrams.is_nudged(monotonic_us) {
            return false;
        }
        let reads = self.datagrams.try_read_awake(self.me);
        self.owes_a_wake_up |= reads;
        reads
    }

    /// Whether this thread has to read before it may sleep: no other one does, nor sleeps at the socket.
    fn must_read(&mut self) -> bool {
        self.begin();
        let others_see_to_it = self.datagrams.any_at_socket() && !self.distrusts();
        let reads = !others_see_to_it && self.datagrams.try_read(self.me);
        self.owes_a_wake_up |= reads;
        reads
    }

    /// Whether those that sleep at the socket are not counted on, since some have been found stopped.
    fn distrusts(&self) -> bool {
        self.node.elapsed_ns() < self.link.distrusts_until_ns.load(Ordering::Relaxed)
    }

    /// This thread has found something that the reader, or one at the socket, should have seen long ago.
    pub(super) fn take_over(&mut self) {
        self.begin();
        self.datagrams.seize(self.me);
        self.owes_a_wake_up = true;
        if self.node.any_is_stopped() {
            self.link.distrusts_until_ns.store(self.node.elapsed_ns() + DISTRUST_NS, Ordering::Relaxed);
        }
    }

    /// Whether its last sleep has been in vain although a thread at the socket was counted on; once.
    pub(super) fn has_counted_in_vain(&mut self) -> bool {
        std::mem::take(&mut self.counted_in_vain)
    }

    /// Sleeps for `nap_ns` at most, or until something may have come. `has_come` looks whether what is waited
    /// for is there.
    pub(super) fn sleep(&mut self, nap_ns: u64, mut has_come: impl FnMut(&Turn<'_>) -> bool) {
        self.begin();
        let (link, kind) = (self.link, self.kind);
        // One at the socket is enough.
        let counts_on_others = self.datagrams.any_at_socket() && !self.distrusts();
        if counts_on_others {
            self.datagrams.stop_reading(self.me);
        } else if self.datagrams.try_read(self.me) {
            if self.datagrams.fall_asleep(self.me, kind) && !has_come(self) {
                link.sleep(nap_ns);
            }
            self.datagrams.wake_up(self.me, kind);
            self.owes_a_wake_up = true;
            return;
        }
        self.owes_a_wake_up = true;
        let asleep_since = self.node.clock().now();
        link.waiters.sleep_unless(kind, nap_ns, || has_come(self) || self.must_read());
        self.counted_in_vain = counts_on_others
            && nap_ns >= SHORTEST_IN_VAIN_NS
            && self.node.clock().ns_since(asleep_since) >= nap_ns;
    }

    /// Waits for other nodes no more. If no thread reads then, one that waits is woken, and reads.
    pub(super) fn end(&mut self) {
        if !std::mem::take(&mut self.waits) {
            debug_assert!(!self.owes_a_wake_up, "only a thread that waits reads or sleeps");
            return;
        }
        if !std::mem::take(&mut self.owes_a_wake_up) {
            self.datagrams.end_waiting_awake();
        } else if self.datagrams.end_waiting(self.me) {
            self.link.waiters.wake_one();
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
