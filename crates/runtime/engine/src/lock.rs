//! Taking a lock of this process's own.
//!
//! May use: nothing. Must never: panic because another thread has.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes the lock, also if a thread has panicked while it held it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
