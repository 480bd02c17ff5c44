//! What a schedule costs, counted in a run of it.

use super::error::CheckError;
use super::interleaving::{Interleaving, run};
use crate::schedule::Schedule;
use crate::step::{Rank, Step};

/// Of one epoch in which all ranks enter at once. Acknowledgements and the answers of counters are
/// messages too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Messages one after the other that the last rank to leave has to wait for.
    pub rounds: u32,
    /// Of all ranks; a multicast counts once for each rank it goes to, a write to all ranks as one.
    pub messages: u64,
    /// That one rank sends, at most.
    pub sent: u64,
    /// That one rank waits for, at most.
    pub received: u64,
    /// Elements that are moved between ranks.
    pub elements: u64,
    /// Elements that one rank sends, at most.
    pub sent_elements: u64,
    /// Others that must respond between a rank's entering and its leaving: of the rank with most of them.
    pub responders: u32,
    /// The same of the rank with fewest.
    pub least_responders: u32,
    /// Flags and counters of a rank, in all banks.
    pub flags: u64,
    /// Elements of scratch of a rank, in all banks.
    pub scratch: u64,
}

/// Runs a schedule twice over its banks, which also checks it, and counts the last epoch.
pub fn costs(schedule: &Schedule) -> Result<Costs, CheckError> {
    let banks = u64::from(schedule.resources.banks);
    let tally = run(schedule, 2 * banks, Interleaving::Prompt)?.tally;
    let most = |of: fn(&super::execution::Tally) -> u64| tally.iter().map(of).max().unwrap_or(0);
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

/// Whether a run's knowledge takes no more than so many bytes, about: what every rank knew of every
/// other is kept with each message.
pub fn fits_in_memory(schedule: &Schedule, bytes: u64) -> bool {
    let mut round = crate::Round::new();
    let (ranks, banks) = (u64::from(schedule.problem.ranks), u64::from(schedule.resources.banks));
    let cells = schedule.resources.scratch * banks + 2 * u64::from(schedule.problem.elements);
    let mut used = cells * 16 * ranks;
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
