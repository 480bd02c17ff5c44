//! Waiting: spin, yield or block, chosen while running.
//!
//! A rank that spins burns a core that another rank may need; one that yields offers it at every look
//! but is charged for the looking; one that blocks costs nothing but is woken late (some 10 µs across
//! cores). What is right depends on whether there is a core for every rank, on how long the wait will
//! be, for which the last waits are the best guess, and on whether anybody who is waited for runs at
//! all.

use crate::clock::Ticks;
use evenkeel_options as options;

/// What `--wait` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    Auto,
    Spin,
    Yield,
    Block,
}

impl Policy {
    pub fn from_environment() -> Result<Policy, String> {
        match options::WAIT.get().as_str() {
            "auto" => Ok(Policy::Auto),
            "spin" => Ok(Policy::Spin),
            "yield" => Ok(Policy::Yield),
            "block" => Ok(Policy::Block),
            other => Err(format!(
                "{}={other} is none of {}; waiting as with auto",
                options::WAIT.env,
                options::WAIT.values
            )),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Policy::Auto => "auto",
            Policy::Spin => "spin",
            Policy::Yield => "yield",
            Policy::Block => "block",
        }
    }
}

/// The policy with what is known about the machine.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub policy: Policy,
    /// Ranks of this node.
    pub ranks: usize,
    /// Cores they may use, no more than the CPU quota allows.
    pub cores: usize,
    /// Whether yielding hands the core to another rank. It does not where each rank is in a session of its
    /// own and the kernel groups processes by session (`sched_autogroup_enabled`): then it only blocks that
    /// lets others run.
    pub yield_works: bool,
}

/// What to do between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Spin,
    Yield,
    Block,
}

/// Spins before the first yield where cores are shared: about as long as a cache line takes to come
/// from another core.
const SHARED_CORE_SPINS: u32 = 4;
/// After so long a wait among shared cores it is worth finding out whether those waited for run: that
/// takes some microseconds.
const PEERS_NS: u64 = 200_000;
/// Spinning where every rank has a core: about what a wake-up would cost.
const OWN_CORE_SPIN_NS: u64 = 50_000;

impl Waiting {
    pub fn oversubscribed(&self) -> bool {
        self.ranks > self.cores
    }

    /// Looks without a pause at the start of a wait for something small.
    #[inline(always)]
    pub fn first_looks(&self) -> u32 {
        if self.oversubscribed() { 2 } else { 200 }
    }

    /// A wait longer than this is better slept through. It must lie well above what a round of all ranks
    /// takes that do sleep (wake-ups come one after another), or sleeping would go on confirming itself.
    pub fn worth_sleeping_ns(&self) -> u64 {
        if self.oversubscribed() { 300_000 + 30_000 * self.ranks as u64 } else { 100_000 }
    }

    /// The step at look number `looks` of a wait that has lasted `waited_ns` so far and is expected to last
    /// `expected_ns`; `peers_run`: whether one of the ranks it is for is running or ready to run.
    pub fn step(
        &self,
        looks: u32,
        waited_ns: impl FnOnce() -> u64,
        expected_ns: u64,
        mut peers_run: impl FnMut() -> bool,
    ) -> Step {
        let shared = self.oversubscribed();
        match self.policy {
            Policy::Spin => return Step::Spin,
            Policy::Yield => return if looks < SHARED_CORE_SPINS { Step::Spin } else { Step::Yield },
            Policy::Block => return if looks < SHARED_CORE_SPINS { Step::Spin } else { Step::Block },
            Policy::Auto => {}
        }
        if looks < SHARED_CORE_SPINS {
            return Step::Spin;
        }
        let long = self.worth_sleeping_ns();
        if shared && !self.yield_works {
            Step::Block
        } else if shared {
            // Somebody else wants the core. If this will be long, do not even ask again and again.
            if expected_ns > long {
                return Step::Block;
            }
            let waited = waited_ns();
            if waited > 2 * long || (waited > PEERS_NS && !peers_run()) { Step::Block } else { Step::Yield }
        } else if looks % 64 != 0 {
            Step::Spin
        } else {
            let waited = waited_ns();
            if waited < OWN_CORE_SPIN_NS.min(if expected_ns > 2 * long { 5_000 } else { u64::MAX }) {
                Step::Spin
            } else if expected_ns > 2 * long || waited > 5 * long || !peers_run() {
                Step::Block
            } else {
                Step::Yield
            }
        }
    }
}

/// One wait, from the first look that failed.
pub struct Wait {
    pub began: Ticks,
    pub looks: u32,
    /// Whether those waited for run, once that has been asked. They may have stopped or started since: this
    /// is about how to wait, and whoever sleeps is woken.
    peers_run: Option<bool>,
}

impl Wait {
    pub fn begin() -> Wait {
        Wait::resume(Ticks::now(), 0)
    }

    pub fn resume(began: Ticks, looks: u32) -> Wait {
        Wait { began, looks, peers_run: None }
    }

    /// Spins or yields as the policy says; true if the caller should block instead.
    #[inline]
    pub fn once(&mut self, waiting: &Waiting, expected_ns: u64, peers_run: impl Fn() -> bool) -> bool {
        let began = self.began;
        let known = &mut self.peers_run;
        let step = waiting.step(
            self.looks,
            || Ticks::now().ns_since(began),
            expected_ns,
            || *known.get_or_insert_with(&peers_run),
        );
        self.looks = self.looks.saturating_add(1);
        match step {
            Step::Spin => std::hint::spin_loop(),
            Step::Yield => offer_the_core(),
            Step::Block => return true,
        }
        false
    }
}

pub fn offer_the_core() {
    // SAFETY: no arguments.
    unsafe { libc::sched_yield() };
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: Waiting = Waiting { policy: Policy::Auto, ranks: 16, cores: 2, yield_works: true };

    fn steps(w: Waiting, expected: u64) -> Vec<Step> {
        [0, 30, 64, 64_000].map(|looks| w.step(looks, || looks as u64 * 100, expected, || true)).to_vec()
    }

    #[test]
    fn nobody_spins_long_on_a_shared_core() {
        use Step::*;
        assert_eq!(steps(SHARED, 0), [Spin, Yield, Yield, Block]);
        assert_eq!(steps(SHARED, 1_000_000), [Spin, Block, Block, Block]);
        assert_eq!(steps(Waiting { cores: 16, ..SHARED }, 0), [Spin, Spin, Spin, Block]);
        assert_eq!(steps(Waiting { policy: Policy::Spin, ..SHARED }, 1_000_000), [Spin; 4]);
    }

    #[test]
    fn nobody_stays_awake_for_ranks_that_do_not_run() {
        for w in [SHARED, Waiting { cores: 16, ..SHARED }] {
            let at = |ns: u64, peers: bool| w.step(64, || ns, 0, || peers);
            assert_eq!((at(250_000, false), at(250_000, true)), (Step::Block, Step::Yield));
            assert_ne!(at(20_000, false), Step::Block, "too early to ask");
        }
    }

    #[test]
    fn yielding_in_vain_is_not_tried() {
        use Step::*;
        assert_eq!(steps(Waiting { yield_works: false, ..SHARED }, 0), [Spin, Block, Block, Block]);
    }

    #[test]
    fn a_round_of_sleepers_is_not_taken_for_a_long_wait() {
        for ranks in [3, 16, 32, 128] {
            let w = Waiting { ranks, ..SHARED };
            let round_of_sleepers_ns = 16_000 * ranks as u64;
            assert_eq!(w.step(30, || 0, round_of_sleepers_ns, || true), Step::Yield, "{ranks} ranks");
        }
    }
}
