//! How long a thread has been ready to run without a core, by the scheduler's count.
//!
//! On a busy machine a thread runs some time after it was woken. Without that delay the time at which it runs
//! is the time at which it was woken.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The scheduler's count for a thread.
pub struct RunDelay {
    file: Option<File>,
}

impl RunDelay {
    /// Opens the count of the thread that calls this. Without one, no delay is known.
    pub fn of_this_thread() -> RunDelay {
        RunDelay { file: File::open("/proc/thread-self/schedstat").ok() }
    }

    /// The delay of that thread so far, in nanoseconds; 0 where the kernel does not count it.
    pub fn so_far_ns(&self) -> u64 {
        let mut text = [0; 96];
        let length = self.file.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
        second_number(&text[..length]).unwrap_or(0)
    }
}

/// Time on a core, time without one although ready, and time slices: `123 456 7`.
fn second_number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_is_the_second_number() {
        assert_eq!(second_number(b"123 456 7\n"), Some(456));
        assert_eq!((second_number(b""), second_number(b"123"), second_number(b"a b c")), (None, None, None));
        let delay = RunDelay::of_this_thread();
        assert!(delay.so_far_ns() <= delay.so_far_ns());
        assert_eq!(RunDelay { file: None }.so_far_ns(), 0);
    }
}
