//! Words that several processes may write, some of them late: 32 bits of data beside a tag that says what
//! they are about. A word only replaces an older one. Tags are compared around their wrap: those of one half
//! of the range are later than a tag, those of the other half are earlier.
//!
//! Must never: wait.

use crate::sync::{AtomicU64, Ordering};

pub(crate) fn tagged(tag: u32, value: u32) -> u64 {
    u64::from(tag) << 32 | u64::from(value)
}

/// The value of a word that has this tag.
pub(crate) fn value_of(word: u64, tag: u32) -> Option<u32> {
    ((word >> 32) as u32 == tag).then_some(word as u32)
}

/// Whether a word has a later tag than this one.
pub(crate) fn is_later(word: u64, tag: u32) -> bool {
    let ahead = ((word >> 32) as u32).wrapping_sub(tag);
    ahead != 0 && ahead < 1 << 31
}

/// Writes a value, unless the word has this tag or a later one.
pub(crate) fn replace_older(word: &AtomicU64, tag: u32, value: u32) {
    let mut seen = word.load(Ordering::Relaxed);
    while (seen >> 32) as u32 != tag && !is_later(seen, tag) {
        // Release: pairs with the loads of those who read the word, so that they know of what the writer has
        // done before. Each word says by itself what it is about.
        let exchanged =
            word.compare_exchange_weak(seen, tagged(tag, value), Ordering::Release, Ordering::Relaxed);
        match exchanged {
            Ok(_) => return,
            Err(now) => seen = now,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_word_replaces_older_ones_only_also_around_the_wrap() {
        for tag in [1, 1 << 31, u32::MAX] {
            let word = AtomicU64::new(tagged(tag.wrapping_sub(5), 1));
            replace_older(&word, tag, 2);
            replace_older(&word, tag, 3);
            replace_older(&word, tag.wrapping_sub(1), 4);
            assert_eq!(value_of(word.load(Ordering::Relaxed), tag), Some(2));
            assert!(is_later(word.load(Ordering::Relaxed), tag.wrapping_sub(1)));
            assert!(!is_later(word.load(Ordering::Relaxed), tag));
            replace_older(&word, tag.wrapping_add(1), 5);
            assert_eq!(value_of(word.load(Ordering::Relaxed), tag), None);
        }
    }
}
