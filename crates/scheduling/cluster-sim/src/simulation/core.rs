//! Which rank has a core. May use: run, events, levels.
//!
//! Of the ranks with the highest level the one with the least processor time runs, as in a fair scheduler of
//! an operating system. A rank is displaced only by one that has had less by a margin.

use super::events::Event;
use super::levels::OFF;
use super::run::{ClusterRun, RankDoes};

/// By how much less processor time a rank must have had to displace another.
const MARGIN_NS: u64 = 1_000_000;

impl ClusterRun<'_> {
    /// Counts what the current rank of a core has done until now.
    pub fn settle(&mut self, core: u32) {
        let run = &mut self.cores[core as usize];
        let Some(current) = run.current else { return };
        let ran_ns = self.now_ns.saturating_sub(run.counts_from_ns);
        run.counts_from_ns = run.counts_from_ns.max(self.now_ns);
        let rank = &mut self.ranks[current as usize];
        rank.used_ns += ran_ns;
        run.most_used_ns = run.most_used_ns.max(rank.used_ns);
        if rank.does == RankDoes::Computes {
            rank.left_ns = rank.left_ns.saturating_sub(ran_ns);
            if self.jobs[rank.job as usize].is_on {
                rank.sample.cpu_ns += ran_ns;
            }
        }
    }

    /// Gives a core to the rank that should have it, and announces when that changes.
    pub fn dispatch(&mut self, core: u32) {
        self.settle(core);
        let now_ns = self.now_ns;
        let run = &self.cores[core as usize];
        let mut best: Option<(u8, u64, u32)> = None;
        let mut rivals = 0;
        for rank in run.ranks.iter().copied() {
            let of = &self.ranks[rank as usize];
            let is_current = run.current == Some(rank);
            let spins = is_current && of.does == RankDoes::Waits && of.spins_until_ns > now_ns;
            if of.level == OFF || !(of.does == RankDoes::Computes || spins) {
                continue;
            }
            let used_ns = if is_current { of.used_ns.saturating_sub(MARGIN_NS) } else { of.used_ns };
            let is_better = best.is_none_or(|(level, least_ns, _)| {
                of.level > level || of.level == level && used_ns < least_ns
            });
            rivals = match best {
                Some((level, ..)) if of.level == level => rivals + 1,
                Some((level, ..)) if of.level < level => rivals,
                _ => 0,
            };
            if is_better {
                best = Some((of.level, used_ns, rank));
            }
        }
        self.give(core, best.map(|(_, _, rank)| rank), rivals > 0);
    }

    fn give(&mut self, core: u32, chosen: Option<u32>, has_rivals: bool) {
        let run = &mut self.cores[core as usize];
        if run.current != chosen {
            let switch_ns = if run.last == chosen { 0 } else { self.cluster.switch_ns };
            run.current = chosen;
            run.counts_from_ns = self.now_ns + switch_ns;
            run.last = chosen.or(run.last);
        }
        run.version += 1;
        let Some(chosen) = chosen else { return };
        let rank = &self.ranks[chosen as usize];
        let mut until_ns = match rank.does {
            RankDoes::Computes => run.counts_from_ns + rank.left_ns,
            _ => rank.spins_until_ns,
        };
        if has_rivals {
            until_ns = until_ns.min(run.counts_from_ns + self.cluster.local_quantum_ns);
        }
        if until_ns < u64::MAX {
            self.events.push(until_ns, Event::Core { core, version: run.version });
        }
    }

    /// The event of a core.
    pub fn core_event(&mut self, core: u32) {
        self.settle(core);
        if let Some(current) = self.cores[core as usize].current {
            let rank = &self.ranks[current as usize];
            if rank.does == RankDoes::Computes && rank.left_ns == 0 {
                self.finish_iteration(current);
            }
        }
        self.dispatch(core);
    }
}
