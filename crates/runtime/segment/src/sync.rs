//! Atomics and fences: those of `std`, or loom's when the model checker runs the protocols.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Memory seen as 64-bit words.
pub trait Words {
    /// The word at `offset` bytes, a multiple of eight.
    fn word(&self, offset: usize) -> &AtomicU64;
}

/// Stores with release order, with a full fence behind the store.
#[inline(always)]
pub(crate) fn store_fenced(word: &AtomicU64, value: u64) {
    if cfg!(all(target_arch = "x86_64", not(loom))) {
        word.swap(value, Ordering::SeqCst); // an exchange is a full fence there, at half the price of one
    } else {
        word.store(value, Ordering::Release);
        fence(Ordering::SeqCst);
    }
}
