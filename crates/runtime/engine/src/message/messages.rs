//! The messages of this process: the port once they are carried here, and communicators to be forgotten.

use super::port::{NEEDING, Port};
use super::visibility::Strength;
use crate::deferral::pending::Deferral;
use crate::job::node::Node;
use evenkeel_segment::channel::Channels;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// The point-to-point messages of this process, if evenkeel carries them.
pub struct Messages {
    port: AtomicPtr<UnsafeCell<Port>>,
    /// Ids of communicators that are gone. They are forgotten at the next opportunity: a progress thread
    /// may be moving messages on just now.
    gone: Mutex<Vec<u64>>,
    any_gone: AtomicBool,
}

impl Default for Messages {
    fn default() -> Messages {
        Messages {
            port: AtomicPtr::new(std::ptr::null_mut()),
            gone: Mutex::default(),
            any_gone: AtomicBool::new(false),
        }
    }
}

impl Messages {
    /// Carries messages from now on; all ranks must have agreed to it.
    pub fn open(
        &self,
        node: &'static Node,
        deferral: &'static Deferral,
        channels: &Channels,
        strength: Strength,
    ) {
        let port = Port::new(node, deferral, channels, strength);
        self.port.store(Box::leak(Box::new(UnsafeCell::new(port))), Ordering::Release);
    }

    /// Carries none any more: at the end, and in a child after fork.
    pub fn close(&self) {
        self.port.store(std::ptr::null_mut(), Ordering::Release);
        NEEDING.store(0, Ordering::Relaxed);
    }

    /// Whether messages are carried here.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        !self.port.load(Ordering::Relaxed).is_null()
    }

    /// # Safety
    /// One thread at a time moves messages, and no other reference to the port is in use.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "one thread, by the caller's promise")]
    pub(super) unsafe fn port(&self) -> Option<&mut Port> {
        // SAFETY: set once to a leaked box, or back to null; exclusive by the caller's promise.
        unsafe { self.port.load(Ordering::Relaxed).as_ref().map(|port| &mut *port.get()) }
    }

    /// Takes in what has come, and sends on what found no room; how much that was.
    #[inline]
    pub fn progress(&self) -> usize {
        // SAFETY: the port calls nothing that comes back here.
        let Some(port) = (unsafe { self.port() }) else { return 0 };
        if self.any_gone.load(Ordering::Relaxed) {
            self.forget_gone(port);
        }
        port.progress()
    }

    #[cold]
    fn forget_gone(&self, port: &mut Port) {
        self.any_gone.store(false, Ordering::Relaxed);
        for comm in self.gone.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            port.forget(comm);
        }
    }

    /// The communicator is gone.
    pub fn forget(&self, comm: u64) {
        if self.is_open() {
            self.gone.lock().unwrap_or_else(PoisonError::into_inner).push(comm);
            self.any_gone.store(true, Ordering::Release);
        }
    }

    /// Sends and receives that are not complete.
    pub fn incomplete(&self) -> usize {
        // SAFETY: a look at one field.
        unsafe { self.port() }.map_or(0, |port| port.incomplete)
    }

    /// Whether this process has something to do now and then, for others to go on.
    pub fn is_busy(&self) -> bool {
        // SAFETY: a look at some fields.
        unsafe { self.port() }.is_some_and(|port| port.incomplete > 0 || port.is_outbound())
    }

    /// Whether something that this process has sent is not complete.
    pub fn is_sending(&self) -> bool {
        // SAFETY: a look at some fields.
        unsafe { self.port() }.is_some_and(|port| port.sending > 0 || port.is_outbound())
    }

    /// Messages that this process has sent, and how many of them overtook a pending barrier.
    pub fn sent(&self) -> (u64, u64) {
        // SAFETY: a look at one field.
        unsafe { self.port() }.map_or((0, 0), |port| port.sent)
    }
}
