//! What a rank does between two polls: spin, yield or block, chosen at run time.
//!
//! A rank that spins occupies a core that another rank may need. A rank that yields gives other ranks the
//! core after every poll, but pays for the polls. A rank that blocks costs nothing, but is woken late: some
//! 10 µs later across cores. Which is best depends on whether there is a core for every rank, on how long
//! the wait will be (the last waits are the best estimate), and on whether any of the awaited ranks is
//! running at all.

use crate::clock::Clock;
use evenkeel_options as options;
use thiserror::Error;

/// The value of `--wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Choose between two polls.
    Auto,
    /// Keep the core.
    Spin,
    /// Yield the core after every poll.
    Yield,
    /// Keep the core for about as long as a wake-up takes, then sleep: implicit coscheduling (Arpaci-Dusseau,
    /// 1998). Ranks that run at the same time stay awake for each other.
    SpinBlock,
    /// Sleep until woken.
    Block,
}

/// `EVENKEEL_WAIT` has a value that is no policy.
#[derive(Debug, Error)]
#[error("{}={value} is not one of {}; waiting as with auto", options::WAIT.env, options::WAIT.values)]
pub struct WaitPolicyError {
    value: String,
}

impl WaitPolicy {
    /// The policy that the environment sets.
    pub fn from_environment() -> Result<WaitPolicy, WaitPolicyError> {
        match options::WAIT.get().as_str() {
            "auto" => Ok(WaitPolicy::Auto),
            "spin" => Ok(WaitPolicy::Spin),
            "yield" => Ok(WaitPolicy::Yield),
            "spin-block" => Ok(WaitPolicy::SpinBlock),
            "block" => Ok(WaitPolicy::Block),
            other => Err(WaitPolicyError { value: other.to_string() }),
        }
    }

    /// The value of `--wait` for this policy.
    pub fn name(self) -> &'static str {
        match self {
            WaitPolicy::Auto => "auto",
            WaitPolicy::Spin => "spin",
            WaitPolicy::Yield => "yield",
            WaitPolicy::SpinBlock => "spin-block",
            WaitPolicy::Block => "block",
        }
    }
}

/// The policy, and facts about the node that it depends on.
#[derive(Clone, Copy, Debug)]
pub struct WaitSettings {
    /// The policy that the user has chosen.
    pub policy: WaitPolicy,
    /// How many ranks this node has.
    pub ranks: usize,
    /// How many cores they may use, but no more than the CPU quota covers.
    pub cores: usize,
    /// The awaited ranks may need this core, however many cores there are, because they depend on another
    /// process, such as the node's agent.
    pub needs_this_core: bool,
    /// Whether `sched_yield` gives the core to another rank. It does not if each rank is in a session of
    /// its own and the kernel groups processes by session (`sched_autogroup_enabled`). A rank must then
    /// block to let others run.
    pub yield_works: bool,
    /// The clock that times the waits.
    pub clock: Clock,
}

/// What to do between two polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStep {
    /// Poll again at once.
    Spin,
    /// Yield the core, then poll again.
    Yield,
    /// Sleep until woken.
    Block,
}

/// How many polls come before the first yield if cores are shared: about as long as a cache line takes to
/// come from another core.
const SHARED_CORE_SPINS: u32 = 4;
/// After this long a wait on shared cores it is worth checking whether the awaited ranks run, which takes
/// some microseconds.
const PEERS_NS: u64 = 200_000;
/// How long a wake-up takes, about. A rank spins for so long if every rank has a core.
pub(crate) const WAKE_UP_NS: u64 = 50_000;

impl WaitSettings {
    /// Returns whether ranks share cores with each other or with a process that they depend on.
    #[inline(always)]
    pub fn shares_cores(&self) -> bool {
        self.ranks > self.cores || self.needs_this_core
    }

    /// Returns whether a rank that waits may yield in place of sleeping, and others get its core.
    pub fn may_yield(&self) -> bool {
        self.policy == WaitPolicy::Auto && self.yield_works
    }

    /// How many polls without a pause come at the start of a short wait.
    #[inline(always)]
    pub fn first_polls(&self) -> u32 {
        if self.shares_cores() { 2 } else { 200 }
    }

    /// A rank should sleep in a wait that is longer than this. The value must be well above the time of one
    /// round in which all ranks sleep, because wake-ups come one after another. Otherwise sleeping would
    /// make waits long enough to justify sleeping.
    pub fn worth_sleeping_ns(&self) -> u64 {
        if !self.shares_cores() {
            return 100_000;
        }
        300_000 + 30_000 * self.ranks.max(if self.needs_this_core { self.cores + 1 } else { 0 }) as u64
    }

    /// What to do after poll number `polls` of a wait that has lasted `waited_ns` so far and is expected to
    /// last `expected_ns`. `peers_run` says whether one of the awaited ranks is running or ready to run.
    pub fn step(
        &self,
        polls: u32,
        waited_ns: impl FnOnce() -> u64,
        expected_ns: u64,
        mut peers_run: impl FnMut() -> bool,
    ) -> WaitStep {
        if polls < SHARED_CORE_SPINS {
            return WaitStep::Spin;
        }
        match self.policy {
            WaitPolicy::Spin => return WaitStep::Spin,
            WaitPolicy::Yield => return WaitStep::Yield,
            WaitPolicy::Block => return WaitStep::Block,
            WaitPolicy::SpinBlock => {
                let spins = polls % 64 != 0 || waited_ns() < WAKE_UP_NS;
                return if spins { WaitStep::Spin } else { WaitStep::Block };
            }
            WaitPolicy::Auto => {}
        }
        let long = self.worth_sleeping_ns();
        if self.shares_cores() {
            // Another process wants the core. If the wait is expected to be long, the rank sleeps from the
            // start.
            if !self.yield_works || expected_ns > long {
                return WaitStep::Block;
            }
            let waited = waited_ns();
            let block = waited > 2 * long || (waited > PEERS_NS && !peers_run());
            return if block { WaitStep::Block } else { WaitStep::Yield };
        }
        if polls % 64 != 0 {
            return WaitStep::Spin;
        }
        let waited = waited_ns();
        let is_long = expected_ns > 2 * long;
        if waited < WAKE_UP_NS.min(if is_long { 5_000 } else { u64::MAX }) {
            WaitStep::Spin
        } else if is_long || waited > 5 * long || !peers_run() {
            WaitStep::Block
        } else {
            WaitStep::Yield
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: WaitSettings = WaitSettings {
        policy: WaitPolicy::Auto,
        ranks: 16,
        cores: 2,
        needs_this_core: false,
        yield_works: true,
        clock: Clock::MONOTONIC,
    };

    fn steps(w: WaitSettings, expected: u64) -> Vec<WaitStep> {
        [0, 30, 64, 64_000].map(|polls| w.step(polls, || polls as u64 * 100, expected, || true)).to_vec()
    }

    #[test]
    fn a_rank_on_a_shared_core_spins_briefly() {
        use WaitStep::*;
        assert_eq!(steps(SHARED, 0), [Spin, Yield, Yield, Block]);
        assert_eq!(steps(SHARED, 1_000_000), [Spin, Block, Block, Block]);
        assert_eq!(steps(WaitSettings { cores: 16, ..SHARED }, 0), [Spin, Spin, Spin, Block]);
        assert_eq!(steps(WaitSettings { policy: WaitPolicy::Spin, ..SHARED }, 1_000_000), [Spin; 4]);
    }

    #[test]
    fn implicit_coscheduling_spins_for_one_wake_up_and_then_sleeps() {
        for cores in [2, 16] {
            let w = WaitSettings { policy: WaitPolicy::SpinBlock, cores, ..SHARED };
            let at = |ns: u64, expected_ns: u64| w.step(64, || ns, expected_ns, || unreachable!());
            for expected_ns in [0, 10_000_000] {
                assert_eq!(
                    (at(40_000, expected_ns), at(60_000, expected_ns)),
                    (WaitStep::Spin, WaitStep::Block)
                );
            }
        }
    }

    #[test]
    fn a_rank_sleeps_when_the_ranks_it_waits_for_do_not_run() {
        for w in [SHARED, WaitSettings { cores: 16, ..SHARED }] {
            let at = |ns: u64, peers: bool| w.step(64, || ns, 0, || peers);
            assert_eq!((at(250_000, false), at(250_000, true)), (WaitStep::Block, WaitStep::Yield));
            assert_ne!(at(20_000, false), WaitStep::Block, "too early to check");
        }
    }

    #[test]
    fn a_rank_blocks_where_yielding_does_not_work() {
        use WaitStep::*;
        assert_eq!(steps(WaitSettings { yield_works: false, ..SHARED }, 0), [Spin, Block, Block, Block]);
    }

    #[test]
    fn a_round_of_sleeping_ranks_is_not_mistaken_for_a_long_wait() {
        for ranks in [3, 16, 32, 128] {
            let w = WaitSettings { ranks, ..SHARED };
            let round_of_sleepers_ns = 16_000 * ranks as u64;
            assert_eq!(w.step(30, || 0, round_of_sleepers_ns, || true), WaitStep::Yield, "{ranks} ranks");
        }
    }
}
