//! A rank in one word with the number of what it did, so that a reader knows whether the word is about that.

/// Bits of a rank; the segment has room for no more processes than that.
const RANK_BITS: u32 = 12;
const _: () = assert!(crate::layout::MAX_PROCESSES <= 1 << RANK_BITS);

/// The word.
pub(super) fn tagged(number: u64, rank: usize) -> u64 {
    number << RANK_BITS | rank as u64
}

/// The rank in the word, if the word has this number.
pub(super) fn rank_in(word: u64, number: u64) -> Option<usize> {
    let rank = word & ((1 << RANK_BITS) - 1);
    (word == tagged(number, rank as usize)).then_some(rank as usize)
}
