//! The running hashes of what a rank has sent and received.
//!
//! Of each message, the hash takes in: the other rank (of a receive: the one that it came from), the tag, the
//! number of bytes, and, if the elements lie in a row, the bytes themselves. Of data with holes, and of data
//! that may be in a device's memory, only the first three.
//!
//! Of each collective, the hash of what was sent takes in its kind, its root, and then, like messages, the
//! blocks that the rank contributes; that of what was received the blocks that it gets. The kind stands in
//! the place of the rank, the number of the block in that of the tag.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A running hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(pub u64);

impl Digest {
    /// Takes a message in. `data`: its bytes, or nothing if they are not to be read.
    pub fn add(&mut self, peer: i32, tag: i32, bytes: u64, data: &[u8]) {
        let mut head = [0; 16];
        head[..4].copy_from_slice(&peer.to_le_bytes());
        head[4..8].copy_from_slice(&tag.to_le_bytes());
        head[8..].copy_from_slice(&bytes.to_le_bytes());
        self.0 = xxh3_64_with_seed(&head, self.0);
        if !data.is_empty() {
            self.0 = xxh3_64_with_seed(data, self.0);
        }
    }

    /// The part of it that a check holds.
    pub fn short(self) -> u32 {
        self.0 as u32
    }
}

/// The hash of bytes that follow those with this hash.
pub fn of_bytes(before: u64, bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, before)
}
