//! Where the same bytes lie in a program's buffers and in what a rank exchanges with the others on its
//! node.
//!
//! A node sends and receives data in node order and in pieces; a program's buffers are in rank order and
//! whole. Where the two differ, a rank sends from *staged* memory of its own, or receives into it, and
//! copies stretches between that and the program's buffer.

/// A stretch of a program's buffer, and where the same bytes lie in staged memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Where it begins in the program's buffer, in bytes. May be negative in an allgather of unequal
    /// blocks, as displacements of MPI may.
    pub user: isize,
    /// Where it begins in staged memory, in bytes.
    pub staged: usize,
    /// Its length in bytes.
    pub bytes: usize,
}

/// Staged memory: how much of it, and which stretches of the program's buffer it holds. What no stretch
/// covers is padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staging {
    /// The length of the staged memory.
    pub bytes: usize,
    /// Stretches, which do not overlap.
    pub stretches: Vec<Stretch>,
}

impl Staging {
    /// How far the stretches reach into the program's buffer, in bytes from its start.
    pub fn user_bytes(&self) -> usize {
        let end = |stretch: &Stretch| stretch.user as usize + stretch.bytes;
        self.stretches.iter().filter(|stretch| stretch.bytes > 0).map(end).max().unwrap_or(0)
    }

    /// The staged data of a program's buffer, with zeros as padding.
    ///
    /// # Panics
    /// If a stretch is not within the buffer.
    pub fn pack(&self, user: &[u8]) -> Vec<u8> {
        let mut staged = vec![0; self.bytes];
        for &Stretch { user: from, staged: to, bytes } in self.stretches.iter().filter(|s| s.bytes > 0) {
            let from = usize::try_from(from).expect("what is sent lies within the program's buffer");
            staged[to..to + bytes].copy_from_slice(&user[from..from + bytes]);
        }
        staged
    }

    /// Copies staged data to where they belong in a program's buffer.
    #[cfg(test)]
    pub(crate) fn unpack(&self, staged: &[u8], user: &mut [u8]) {
        assert_eq!(staged.len(), self.bytes);
        for &Stretch { user: to, staged: from, bytes } in self.stretches.iter().filter(|s| s.bytes > 0) {
            user[to as usize..][..bytes].copy_from_slice(&staged[from..from + bytes]);
        }
    }
}
