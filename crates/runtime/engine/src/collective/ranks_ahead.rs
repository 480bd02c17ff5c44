//! Enters instances in the place of ranks whose deposits are in their backlogs.

use crate::comm::backlog::backlog_at;
use crate::comm::part::NodePart;
use evenkeel_segment::board::backlog::Backlog;
use evenkeel_segment::layout::LINE;
use evenkeel_segment::sync::{Ordering, Words};
use evenkeel_segment::{Board, Mapped, Seq};
use std::cell::Cell;

/// Ranks that are further ahead than the window allows, as the reader of an instance sees them.
pub(crate) struct RanksAhead<'a> {
    part: &'a NodePart,
    seq: Seq,
    /// Of an instance with counted arrivals.
    round: u64,
    /// This rank has looked before. A deposit that it finds only later came after this rank.
    has_looked: Cell<bool>,
    came_last: Cell<bool>,
}

impl<'a> RanksAhead<'a> {
    /// For instance `seq`, which this rank has entered and reads. `round` is that of its window position, if
    /// there are more than two ranks.
    pub(crate) fn new(part: &'a NodePart, seq: Seq, round: u64, has_looked: bool) -> Self {
        RanksAhead { part, seq, round, has_looked: Cell::new(has_looked), came_last: Cell::new(false) }
    }

    /// Enters the instance for the ranks whose deposits are in their backlogs. Returns true if all deposits
    /// are there by that.
    #[inline(always)]
    pub(crate) fn enter(&self) -> bool {
        self.part.shared.board.has_backlogs() && self.enter_each()
    }

    /// Returns whether all others had deposited before this rank looked for the first time.
    pub(crate) fn came_last(&self) -> bool {
        self.came_last.get()
    }

    #[cold]
    fn enter_each(&self) -> bool {
        let RanksAhead { part, seq, .. } = *self;
        let board = &part.shared.board;
        let has_looked = self.has_looked.replace(true);
        let mut completes = false;
        for rank in (0..part.ranks).filter(|&rank| rank != part.me && !board.is_published(rank, seq)) {
            let Some(offset) = board.backlog_of(rank) else { continue };
            let backlog = backlog_at(&part.shared, offset);
            if backlog.holds(seq) {
                copy_cell(&backlog, board, rank, seq);
                board.publish(rank, seq);
                let last = if has_looked { rank } else { part.me };
                completes |= part.ranks == 2 || board.arrive_for(rank, last, seq, self.round);
            }
        }
        self.came_last.set(completes && !has_looked);
        completes
    }
}

/// Copies all but the flag.
fn copy_cell(backlog: &Backlog<Mapped>, board: &Board<Mapped>, rank: usize, seq: Seq) {
    let (from, to) = (backlog.cell(seq), board.geometry.cell(rank, seq.0));
    for offset in (8..LINE).step_by(8) {
        // Relaxed: the backlog's flag was loaded with acquire, the board's is stored with release.
        let word = backlog.memory.word(from + offset).load(Ordering::Relaxed);
        board.memory.word(to + offset).store(word, Ordering::Relaxed);
    }
}
