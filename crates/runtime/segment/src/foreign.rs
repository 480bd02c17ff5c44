//! The segment of a job, and the memory of its ranks, as another process of the same user reads them: a copy
//! of what is asked for, by `process_vm_readv`. The job notices nothing, and the kernel refuses other users.
//!
//! May use: cross-memory reads. Must never: map or write the memory of a job.

use crate::board::{Geometry, Seq};
use crate::call_line::{self, Glance, Sight};
use crate::cross_memory;
use crate::identity::{self, Identity, Stage};
use crate::layout::{BACKLOGS_AT, IDENTITY_AT, LAYOUT_AT, LINE, MAGIC_AT, MAX_PROCESSES, layout_number};
use crate::memory::MAGIC;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use thiserror::Error;

/// Why the segment of a job cannot be read.
#[derive(Debug, Error)]
pub enum ForeignError {
    /// The kernel does not let this process read the memory of that one.
    #[error("the kernel does not allow reading the memory of process {pid}: {cause}")]
    Refused {
        /// The process that maps the segment.
        pid: u32,
        /// What the kernel says.
        cause: io::Error,
    },
    /// It is of another version of evenkeel, which lays it out otherwise.
    #[error("process {pid} runs under another version of evenkeel")]
    OtherVersion {
        /// The process that maps the segment.
        pid: u32,
    },
}

/// Reads bytes of another process's memory.
pub fn read_bytes(pid: u32, address: u64, bytes: &mut [u8]) -> io::Result<()> {
    // SAFETY: a buffer of the stated length. What the other process has there does not matter.
    unsafe { cross_memory::read(pid, address, bytes.as_mut_ptr(), bytes.len()) }
}

/// Reads 64-bit words of another process's memory.
pub fn read_words(pid: u32, address: u64, words: &mut [u64]) -> io::Result<()> {
    let bytes = size_of_val(words);
    // SAFETY: a buffer of the stated length, in which any bits are valid.
    unsafe { cross_memory::read(pid, address, words.as_mut_ptr().cast(), bytes) }
}

/// A segment that process `pid` maps at an address.
#[derive(Clone, Debug)]
pub struct ForeignSegment {
    pid: u32,
    address: u64,
    /// Words that have been read, by their offsets, if they are to be read once only.
    remembered: Option<Rc<RefCell<HashMap<usize, u64>>>>,
}

impl ForeignSegment {
    /// Refuses what is no segment of this version.
    pub fn open(pid: u32, address: u64) -> Result<ForeignSegment, ForeignError> {
        let segment = ForeignSegment { pid, address, remembered: None };
        let mut head = [0; LAYOUT_AT / 8 + 1];
        segment.read(MAGIC_AT, &mut head).map_err(|cause| ForeignError::Refused { pid, cause })?;
        let is_ours = head[MAGIC_AT / 8] == MAGIC && head[LAYOUT_AT / 8] == layout_number();
        if is_ours { Ok(segment) } else { Err(ForeignError::OtherVersion { pid }) }
    }

    /// The same segment, of whose boards each word is read once: for looks at many ranks that wait for each
    /// other. What it says is true of some moment after this call.
    pub fn remembering(&self) -> ForeignSegment {
        ForeignSegment { remembered: Some(Rc::default()), ..*self }
    }

    /// Reads words at an offset.
    pub fn read(&self, offset: usize, words: &mut [u64]) -> io::Result<()> {
        read_words(self.pid, self.address + offset as u64, words)
    }

    /// Reads one word; None if the process has ended.
    pub fn word(&self, offset: usize) -> Option<u64> {
        if let Some(word) = self.remembered.as_ref().and_then(|words| words.borrow().get(&offset).copied()) {
            return Some(word);
        }
        let mut word = [0];
        self.read(offset, &mut word).ok()?;
        if let Some(words) = &self.remembered {
            words.borrow_mut().insert(offset, word[0]);
        }
        Some(word[0])
    }

    /// The number of the job's ranks, on all nodes.
    pub fn ranks(&self) -> Option<u64> {
        self.word(identity::RANKS)
    }

    /// The ranks of this node, by their places, which are counted from 0.
    pub fn processes(&self) -> Vec<(Stage, Identity)> {
        let one = |place| {
            // Its number is written last, and so read first.
            self.word(identity::line(place) + IDENTITY_AT).filter(|word| *word != 0)?;
            let mut line = [0; LINE / 8];
            self.read(identity::line(place), &mut line).ok()?;
            identity::of_line(&line)
        };
        (0..MAX_PROCESSES).map_while(one).collect()
    }

    /// The board of a communicator whose members are all on this node, by the offset of its block.
    pub fn board(&self, block: u64, ranks: usize) -> ForeignBoard<'_> {
        ForeignBoard { segment: self, block: block as usize, geometry: Geometry::new(ranks) }
    }

    /// What the process at a place is in; None if it writes all the time or the segment is gone.
    pub fn call(&self, place: usize) -> Option<Sight> {
        call_line::look(place, |offset, words| self.read(offset, words).ok())
    }

    /// What the processes at the first `places` places seem to be in, by one read; None if it fails.
    pub fn glances(&self, places: usize) -> Option<Vec<Glance>> {
        call_line::glance(places, |offset, words| self.read(offset, words).ok())
    }
}

/// The board of a communicator in a foreign segment. Each answer is None if it cannot be had.
pub struct ForeignBoard<'a> {
    segment: &'a ForeignSegment,
    block: usize,
    geometry: Geometry,
}

impl ForeignBoard<'_> {
    /// How many barriers a member has entered.
    pub fn entered(&self, member: usize) -> Option<u64> {
        self.segment.word(self.block + self.geometry.entered(member))
    }

    /// Whether a member has made its deposit for an instance, at the board.
    pub fn is_published(&self, member: usize, seq: Seq) -> Option<bool> {
        let flag = self.segment.word(self.block + self.geometry.cell(member, seq.0))?;
        Some(flag >= seq.epoch())
    }

    /// Whether members have made deposits elsewhere that are not at the board yet.
    pub fn has_backlogs(&self) -> Option<bool> {
        Some(self.segment.word(self.block + BACKLOGS_AT)? != 0)
    }
}

/// Ticks of the counter that processes with a scale of their own read; 0 where there is none.
pub fn ticks_now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reading the time-stamp counter has no precondition in user space on Linux.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    return 0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Segment;
    use crate::sync::{Ordering, Words};

    #[test]
    fn a_segment_is_read_as_it_is_written() {
        let segment = Segment::create(4 << 20, 1).unwrap();
        let identity = Identity { pid: 7, rank: 1, library: (2, 3), tick_scale: 4, inspection: 0 };
        identity::introduce(&segment, 0, 5, &identity);
        identity::introduce_inspection(&segment, 0, 6);
        let address = std::ptr::from_ref(segment.word(0)) as u64;
        let me = std::process::id();
        let seen = ForeignSegment::open(me, address).unwrap();
        assert_eq!(seen.processes(), [(Stage::Absent, Identity { inspection: 6, ..identity })]);
        assert_eq!((seen.ranks(), seen.call(0).unwrap().call), (Some(5), None));

        let once = seen.remembering();
        assert_eq!((once.word(8192), seen.word(8192)), (Some(0), Some(0)));
        segment.word(8192).store(3, Ordering::Relaxed);
        assert_eq!(
            (once.word(8192), seen.word(8192), seen.remembering().word(8192)),
            (Some(0), Some(3), Some(3))
        );

        segment.word(LAYOUT_AT).store(1, Ordering::Relaxed);
        let other = ForeignSegment::open(me, address).unwrap_err();
        assert!(matches!(other, ForeignError::OtherVersion { .. }), "{other}");
        let nowhere = ForeignSegment::open(me, 0).unwrap_err();
        assert!(matches!(nowhere, ForeignError::Refused { .. }), "{nowhere}");
    }
}
