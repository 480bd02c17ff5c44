//! Who enters a barrier and goes on executes no fence; who sleeps for the barrier has the kernel
//! execute one for both (`membarrier`). No checker of memory models knows that call, so this is seen on
//! the machine itself: two threads meet at the same instant, again and again, and a wake-up counts as
//! lost if one went to sleep and the other did not ring. With the fence left out the same rounds lose
//! one within moments: a test that finds none with it says something.
#![cfg(not(loom))]

use evenkeel_segment::eventcount::{Fencing, Futex};
use evenkeel_segment::memory::register_for_fences;
use evenkeel_segment::sync::{AtomicU64, Ordering, Words};
use evenkeel_segment::{Board, Geometry};
use std::hint::spin_loop;
use std::thread;
use std::time::{Duration, Instant};

/// A block's words, and a futex that notes who sleeps and who rings.
struct Noting<'a> {
    words: &'a [AtomicU64],
    fences: bool,
    /// At least twice the round once the entry is announced.
    enterer: &'a AtomicU64,
    /// The last round in which somebody would sleep, and in which somebody rang.
    slept: &'a AtomicU64,
    rang: &'a AtomicU64,
    round: u64,
}

impl Words for Noting<'_> {
    fn word(&self, offset: usize) -> &AtomicU64 {
        &self.words[offset / 8]
    }
}

impl Futex for Noting<'_> {
    fn wait(&self, _seen: u64, _timeout_ns: u64) {
        self.slept.store(self.round, Ordering::SeqCst);
        // Asleep, and counted as such, until all is said that could have woken it.
        while self.enterer.load(Ordering::SeqCst) < 2 * self.round {
            thread::yield_now();
        }
    }
    fn wake_all(&self) {
        self.rang.store(self.round, Ordering::SeqCst);
    }
    fn membarrier(&self) {
        const GLOBAL_EXPEDITED: libc::c_int = 1 << 1;
        if self.fences {
            // SAFETY: no memory is passed.
            assert_eq!(unsafe { libc::syscall(libc::SYS_membarrier, GLOBAL_EXPEDITED, 0, 0) }, 0);
        }
    }
}

/// Rounds in which a wake-up is lost for certain where both threads have a core; a few hundred usually do.
const MANY: u64 = 500_000;

/// Both threads leave at once, as nearly as a machine can: spinning, unless the other is not running.
fn meet(mine: &AtomicU64, other: &AtomicU64, round: u64) {
    mine.store(round, Ordering::SeqCst);
    let mut looks = 0;
    while other.load(Ordering::SeqCst) < round {
        looks += 1;
        match looks % 10_000 {
            0 => thread::yield_now(),
            _ => spin_loop(),
        }
    }
}

/// Rounds played, and in how many of them a wake-up was lost; ends with the first of those.
fn lost_wake_ups(fences: bool, rounds: u64, limit: Duration) -> (u64, u64) {
    let geometry = Geometry::with(2, 4, 2, 64, 64);
    let words: Vec<AtomicU64> = (0..geometry.total_bytes / 8).map(|_| AtomicU64::new(0)).collect();
    let [slept, rang, first, second, last] = [(); 5].map(|()| AtomicU64::new(0));
    let board = |round| Board {
        memory: Noting { words: &words, fences, enterer: &first, slept: &slept, rang: &rang, round },
        geometry: geometry.clone(),
        fencing: Fencing::Both,
    };
    let started = Instant::now();
    thread::scope(|scope| {
        let (board, last, first, second) = (&board, &last, &first, &second);
        scope.spawn(move || {
            let mut mine = board(0);
            for round in 1.. {
                mine.memory.round = round;
                meet(first, second, 2 * round - 1);
                for _ in 0..round % 64 {
                    spin_loop(); // the instant moves against the other's
                }
                mine.enter_barrier_unfenced(0, round, 0);
                mine.notify_unfenced_entry(round);
                meet(first, second, 2 * round);
                if last.load(Ordering::SeqCst) == round {
                    break;
                }
            }
        });
        let mut mine = board(0);
        let mut played = (0, 0);
        for round in 1..=rounds {
            mine.memory.round = round;
            mine.enter_barrier(1, round, 0);
            meet(second, first, 2 * round - 1);
            for _ in 0..round / 64 % 64 {
                spin_loop();
            }
            mine.sleep_unless(Fencing::Sleeper, 0, || mine.has_entered(0, round));
            // `last` must be there before the other leaves this meeting, and whether it rang is known only
            // after: so both are one round apart.
            let over = round == rounds || played.1 > 0 || started.elapsed() > limit;
            if over {
                last.store(round, Ordering::SeqCst);
            }
            meet(second, first, 2 * round);
            let lost = slept.load(Ordering::SeqCst) == round && rang.load(Ordering::SeqCst) != round;
            played = (round, played.1 + u64::from(lost));
            if over {
                break;
            }
        }
        played
    })
}

#[test]
fn no_wake_up_is_lost() {
    if !register_for_fences() {
        println!("this kernel has no membarrier: fences are executed on both sides");
        return;
    }
    let (rounds, lost) = lost_wake_ups(true, 200_000, Duration::from_secs(3));
    assert_eq!(lost, 0, "of {rounds} rounds");
    if thread::available_parallelism().is_ok_and(|n| n.get() > 1) {
        let (rounds, lost) = lost_wake_ups(false, MANY, Duration::from_secs(30));
        println!("without the fence: {lost} lost in {rounds} rounds");
        // Where others keep the cores, the two hardly ever run at once, and there are few rounds.
        assert!(
            lost > 0 || rounds < MANY,
            "{rounds} rounds without the fence, and none was lost: the test above says nothing on this machine"
        );
    }
}
