//! The memory that a simulation takes, estimated before it is taken.

use crate::outcome::Call;

/// The most memory that a simulation may take.
pub const MOST_BYTES: u64 = 6 << 30;

/// What is kept of each call, in bytes. The outcome has a copy.
const CALL_BYTES: u64 = 2 * size_of::<Call>() as u64;

/// The memory for so many ranks and calls, in GiB, if that is too much.
pub fn too_many_gib(ranks: u32, bytes_per_rank: u64, calls: u64) -> Option<u64> {
    let of_ranks = u64::from(ranks).saturating_mul(bytes_per_rank);
    let bytes = of_ranks.saturating_add(calls.saturating_mul(CALL_BYTES));
    (bytes > MOST_BYTES).then(|| bytes.div_ceil(1 << 30))
}
