//! What a schedule costs, counted in an execution of it.

use super::error::CheckError;
use super::execution::Tally;
use super::interleaving::{Interleaving, run};
use crate::round::Round;
use crate::schedule::Schedule;
use crate::step::{Rank, Step};

/// The costs of one epoch that all ranks enter at once. Acknowledgements and the answers of counters
/// count as messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// The length of the longest chain of messages that a rank has to wait for.
    pub rounds: u32,
    /// Messages of all ranks. A multicast counts once for each receiver, a write to all ranks counts as
    /// one.
    pub messages: u64,
    /// Messages that one rank sends, at most.
    pub sent: u64,
    /// Messages that one rank waits for, at most.
    pub received: u64,
    /// Elements that are moved between ranks.
    pub elements: u64,
    /// Elements that one rank sends, at most.
    pub sent_elements: u64,
    /// Other ranks that must respond between a rank's entering and its leaving, for the rank with most.
    pub responders: u32,
    /// The same for the rank with fewest.
    pub least_responders: u32,
    /// Flags and counters of a rank, in all banks.
    pub flags: u64,
    /// Elements of scratch of a rank, in all banks.
    pub scratch: u64,
}

/// Executes a schedule twice over its banks, which also checks it, and counts the last epoch.
pub fn costs(schedule: &Schedule) -> Result<Costs, CheckError> {
    let banks = u64::from(schedule.resources.banks);
    let tally = run(schedule, 2 * banks, Interleaving::Prompt)?.tally;
    let most = |of: fn(&Tally) -> u64| tally.iter().map(of).max().unwrap_or(0);
    Ok(Costs {
        rounds: most(|t| t.depth.into()) as u32,
        messages: tally.iter().map(|t| t.sent + t.answers).sum(),
        sent: most(|t| t.sent),
        received: most(|t| t.received),
        elements: tally.iter().map(|t| t.elements).sum(),
        sent_elements: most(|t| t.elements),
        responders: most(|t| t.responders.into()) as u32,
        least_responders: tally.iter().map(|t| t.responders).min().unwrap_or(0),
        flags: u64::from(schedule.resources.flags + schedule.resources.counters) * banks,
        scratch: schedule.resources.scratch * banks,
    })
}

/// Whether an execution takes no more than about so many bytes. Each message keeps a vector clock: what
/// its sender knew of every rank.
pub fn fits_in_memory(schedule: &Schedule, bytes: u64) -> bool {
    let mut round = Round::new();
    let (ranks, banks) = (u64::from(schedule.problem.ranks), u64::from(schedule.resources.banks));
    let elements = schedule.resources.scratch * banks + 2 * u64::from(schedule.problem.elements);
    let mut used = elements * 16 * ranks;
    for rank in 0..schedule.problem.ranks {
        for number in 0..schedule.rounds() {
            if used > bytes {
                return false;
            }
            schedule.round(Rank(rank), number, &mut round);
            let raises: u64 = round
                .steps
                .iter()
                .map(|step| if let Step::Multicast { to, .. } = step { to.count.into() } else { 1 })
                .sum();
            used += raises * banks * 4 * ranks;
        }
    }
    used <= bytes
}
