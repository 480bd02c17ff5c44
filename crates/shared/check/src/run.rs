//! A run: what its ranks have done, and how that belongs together.

use crate::communicators::Communicators;
use crate::finding::Place;
use crate::history::{CallIndex, History};
use crate::matching::{Matching, NO_PARTNER};
use evenkeel_trace::checks::file::Checks;

/// What all ranks have done.
pub struct Run<'a> {
    /// The files, by rank.
    pub files: &'a [Checks],
    /// By rank.
    pub ranks: Vec<History>,
    /// Which communicators are one.
    pub communicators: Communicators,
    /// Which receive took which message.
    pub matching: Matching,
    /// Calls are in an order on each rank: one thread has called MPI.
    pub is_ordered: bool,
}

impl<'a> Run<'a> {
    /// Of the files of all ranks, in their order.
    pub fn new(files: &'a [Checks]) -> Run<'a> {
        let ranks: Vec<History> = files.iter().map(crate::reading::read).collect();
        let communicators = Communicators::new(&ranks);
        let is_ordered = ranks.iter().all(|history| !history.has_threads);
        let matching = Matching::new(&ranks, &communicators);
        Run { files, ranks, communicators, matching, is_ordered }
    }

    /// The place of a call.
    pub fn place(&self, rank: u32, call: CallIndex) -> Place {
        self.ranks[rank as usize].place(call)
    }

    /// The send of the message that a receive has got: rank and number.
    pub fn send_of(&self, rank: u32, receive: u32) -> Option<(u32, u32)> {
        let send = self.matching.of_receives[rank as usize][receive as usize];
        let source = self.ranks[rank as usize].receives[receive as usize].source?;
        (send != NO_PARTNER && (source as usize) < self.ranks.len()).then_some((source, send))
    }

    /// The receive of a message.
    pub fn receive_of(&self, rank: u32, send: u32) -> Option<(u32, u32)> {
        let receive = self.matching.of_sends[rank as usize][send as usize];
        let dest = self.ranks[rank as usize].sends[send as usize].dest;
        (receive != NO_PARTNER && (dest as usize) < self.ranks.len()).then_some((dest, receive))
    }

    /// Whether it cannot be known which receive has got a message.
    pub fn is_vague_send(&self, rank: u32, send: u32) -> bool {
        let send = &self.ranks[rank as usize].sends[send as usize];
        self.matching.vague.contains(&(self.communicators.number(rank, send.comm), send.dest))
    }

    /// Whether it cannot be known which message a receive has got.
    pub fn is_vague_receive(&self, rank: u32, receive: u32) -> bool {
        let comm = self.ranks[rank as usize].receives[receive as usize].comm;
        self.matching.vague.contains(&(self.communicators.number(rank, comm), rank))
    }

    /// Whether a rank's calls are all known, until it has entered MPI_Finalize.
    pub fn is_whole(&self, rank: u32) -> bool {
        let history = &self.ranks[rank as usize];
        history.finalized.is_some() && history.ends_at.is_none()
    }
}
