//! How long this process has waited for others in all.

use crate::clock::Ticks;
use std::sync::atomic::{AtomicU64, Ordering};

/// How long this process has waited for others in all.
#[derive(Debug, Default)]
pub struct Waited(AtomicU64);

impl Waited {
    /// Adds a wait that began and ended at these times.
    pub fn add(&self, began: Ticks, ended: Ticks) {
        self.0.fetch_add(ended.0.saturating_sub(began.0), Ordering::Relaxed);
    }

    /// The sum.
    pub fn so_far(&self) -> Ticks {
        Ticks(self.0.load(Ordering::Relaxed))
    }
}
