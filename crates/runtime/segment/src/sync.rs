//! Atomics and fences: std's, or loom's when a model checker drives the protocols.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Memory seen as 64-bit words. Offsets are in bytes and multiples of eight.
pub trait Words {
    fn word(&self, offset: usize) -> &AtomicU64;
}
