//! The messages of this process: the port, if evenkeel carries messages, and a list of freed communicators.

use super::large::Copiers;
use super::port::{NEEDING, Port};
use super::visibility::Strength;
use crate::deferral::gate::OpenGate;
use crate::deferral::pending::Deferral;
use crate::job::node::Node;
use evenkeel_record::{PeerRecord, TrafficRecord};
use evenkeel_segment::channel::Channels;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// The point-to-point messages of this process, if evenkeel carries them.
pub struct Messages {
    port: AtomicPtr<UnsafeCell<Port>>,
    /// Ids of freed communicators whose queues still exist. They are removed at the next opportunity,
    /// because a progress thread may be using the port now.
    freed: Mutex<Vec<u64>>,
    any_freed: AtomicBool,
}

impl Default for Messages {
    fn default() -> Messages {
        Messages {
            port: AtomicPtr::new(std::ptr::null_mut()),
            freed: Mutex::default(),
            any_freed: AtomicBool::new(false),
        }
    }
}

impl Messages {
    /// Lets evenkeel carry messages from now on. All ranks must have agreed to that. `copiers` says who
    /// copies large ones.
    pub fn open(
        &self,
        node: &'static Node,
        deferral: &'static Deferral,
        channels: &Channels,
        strength: Strength,
        copiers: Copiers,
    ) {
        let port = Port::new(node, deferral, channels, strength, copiers);
        self.port.store(Box::leak(Box::new(UnsafeCell::new(port))), Ordering::Release);
    }

    /// Stops carrying messages: at the end, and in a forked child.
    pub fn close(&self) {
        self.port.store(std::ptr::null_mut(), Ordering::Release);
        NEEDING.store(0, Ordering::Relaxed);
    }

    /// Returns whether evenkeel carries messages.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        !self.port.load(Ordering::Relaxed).is_null()
    }

    /// # Safety
    /// Only one thread at a time uses the port, and no other reference to it is in use.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "one thread, by the caller's promise")]
    pub(super) unsafe fn port(&self) -> Option<&mut Port> {
        // SAFETY: set once to a leaked box, or back to null; exclusive by the caller's promise.
        unsafe { self.port.load(Ordering::Relaxed).as_ref().map(|port| &mut *port.get()) }
    }

    /// Processes arrived records, and sends records for which there was no room before. Returns how many
    /// records that were.
    #[inline]
    pub fn progress(&self) -> usize {
        let _open = OpenGate::new(); // it wakes other ranks
        // SAFETY: the port calls nothing that calls this function again, as no system call of it is caught.
        let Some(port) = (unsafe { self.port() }) else { return 0 };
        if self.any_freed.load(Ordering::Relaxed) {
            self.forget_freed(port);
        }
        port.progress()
    }

    #[cold]
    fn forget_freed(&self, port: &mut Port) {
        self.any_freed.store(false, Ordering::Relaxed);
        for comm in self.freed.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            port.forget(comm);
        }
    }

    /// Records that a communicator has been freed.
    pub fn forget(&self, comm: u64) {
        if self.is_open() {
            self.freed.lock().unwrap_or_else(PoisonError::into_inner).push(comm);
            self.any_freed.store(true, Ordering::Release);
        }
    }

    /// How many sends and receives are not complete.
    pub fn incomplete(&self) -> usize {
        // SAFETY: only reads one field.
        unsafe { self.port() }.map_or(0, |port| port.incomplete)
    }

    /// Returns whether other processes may need this one to make progress on messages.
    pub fn is_busy(&self) -> bool {
        // SAFETY: only reads some fields.
        unsafe { self.port() }.is_some_and(|port| port.incomplete > 0 || port.is_outbound())
    }

    /// Returns whether some send of this process is not complete.
    pub fn is_sending(&self) -> bool {
        // SAFETY: only reads some fields.
        unsafe { self.port() }.is_some_and(|port| port.sending > 0 || port.is_outbound())
    }

    /// How long this process has waited in point-to-point calls, by world rank.
    pub fn waited_for(&self) -> Vec<PeerRecord> {
        // SAFETY: only reads one field.
        let Some(port) = (unsafe { self.port() }) else { return Vec::new() };
        let world = |local: u32| port.node.neighbours[local as usize].world_rank as u32;
        port.waited_for.record().into_iter().map(|p| PeerRecord { rank: world(p.rank), ..p }).collect()
    }

    /// What this process has sent, by world rank.
    pub fn sent_to(&self) -> Vec<TrafficRecord> {
        // SAFETY: only reads one field.
        let Some(port) = (unsafe { self.port() }) else { return Vec::new() };
        let used = port.node.neighbours.iter().zip(&port.sent_to).filter(|(_, sent)| sent.messages > 0);
        used.map(|(neighbour, sent)| TrafficRecord {
            rank: neighbour.world_rank as u32,
            messages: sent.messages,
            bytes: sent.bytes,
        })
        .collect()
    }

    /// How many bytes of its large messages this process has copied for their receivers.
    pub fn bytes_copied(&self) -> u64 {
        // SAFETY: only reads one field.
        unsafe { self.port() }.and_then(|port| port.large.as_ref()).map_or(0, |large| large.bytes_copied)
    }

    /// How many messages this process has sent while a barrier was pending.
    pub fn sent_ahead(&self) -> u64 {
        // SAFETY: only reads one field.
        unsafe { self.port() }.map_or(0, |port| port.sent_ahead)
    }
}
