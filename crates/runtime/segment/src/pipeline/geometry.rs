//! Where the pipelines of a node's processes lie, and what lies in a pipeline.

use crate::layout::{LINE, PAGE};

/// Bytes of a chunk; only the last one of a message is shorter.
pub const CHUNK_BYTES: usize = 64 * 1024;
/// How many chunks of the sender's may wait for the receiver.
pub const SLOTS: usize = 8;

pub(super) const CLAIMS_AT: usize = 0;
pub(super) const TOKEN_AT: usize = LINE;
pub(super) const CHUNKS_AT: usize = LINE + 8;
pub(super) const TAKEN_AT: usize = 2 * LINE;
const FILLED_AT: usize = 3 * LINE;
const SLOTS_AT: usize = PAGE;
const _: () = assert!(FILLED_AT + SLOTS * LINE <= SLOTS_AT);

/// Offset in a pipeline of the word of this slot.
pub(super) fn filled_offset(slot: usize) -> usize {
    FILLED_AT + slot * LINE
}

/// Offset in a pipeline of the bytes of this slot.
pub fn slot_offset(slot: usize) -> usize {
    SLOTS_AT + slot * CHUNK_BYTES
}

/// The pipelines of a node's processes: one behind another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipelines {
    /// Offset in the segment.
    start: usize,
}

impl Pipelines {
    /// Bytes between two pipelines. The page behind the slots keeps equal lines of different pipelines out of
    /// one set of a cache.
    const STRIDE: usize = SLOTS_AT + SLOTS * CHUNK_BYTES + PAGE;

    /// The layout for so many processes in the part of a segment that ends at `end`. None if they would take
    /// more than a quarter of it.
    pub fn new(processes: usize, end: usize) -> Option<Pipelines> {
        let bytes = processes * Pipelines::STRIDE;
        (bytes <= end / 4).then(|| Pipelines { start: (end - bytes) / PAGE * PAGE })
    }

    /// Offset in the segment at which the pipelines start.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Offset in the segment of the pipeline for the messages that this process sends.
    pub fn of(&self, process: usize) -> usize {
        self.start + process * Pipelines::STRIDE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipelines_lie_below_the_end_one_behind_another() {
        let end = (1 << 30) + 8;
        let pipelines = Pipelines::new(16, end).unwrap();
        assert_eq!(pipelines.of(0), pipelines.start());
        assert_eq!(pipelines.start() % PAGE, 0);
        for process in 0..16 {
            let last = pipelines.of(process) + slot_offset(SLOTS - 1) + CHUNK_BYTES;
            assert!(last <= if process == 15 { end } else { pipelines.of(process + 1) });
        }
        assert_eq!(Pipelines::new(1024, end), None);
    }
}
