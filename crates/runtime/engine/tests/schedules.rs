//! Runs programs made of schedules in threads on shared memory, with random stalls. No rank may leave a
//! barrier before all ranks have entered it, in any epoch, and no rank may sleep on after its flag was
//! raised. The crate `schedule` tests that the steps of schedules are right. These tests are about the
//! engine's programs: places of words, flags that share a word, fences, wake-ups, jumps.

use evenkeel_engine::barrier::flag_layout::FlagLayout;
use evenkeel_engine::barrier::program::BarrierProgram;

use evenkeel_schedule::{Algorithm, Collective, CombiningOrder, Problem, Rank, Schedule, Step, algorithms};
use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::membarrier;
use evenkeel_segment::{Flags, Mapped, Segment};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// No rank sleeps or waits for this long unless something is wrong, not even on a busy machine.
const LONG_NS: u64 = 120_000_000_000;

/// A small random generator, so that every run stalls at the same places.
struct Chance(u64);

impl Chance {
    fn one_in(&mut self, n: u64) -> bool {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n == 0
    }
}

/// The oracle: how many epochs each rank has entered. A rank adds one before it enters.
struct Entered(Vec<AtomicU64>);

impl Entered {
    /// The ranks that had not entered an epoch at the time of the call.
    fn missing(&self, epoch: u64) -> Vec<usize> {
        (0..self.0.len()).filter(|rank| self.0[*rank].load(Ordering::SeqCst) < epoch).collect()
    }
}

/// A run of one schedule's programs.
struct ScheduleRun<'a> {
    segment: &'a Segment,
    layout: &'a FlagLayout,
    programs: &'a [BarrierProgram],
    entered: &'a Entered,
    fencing: Fencing,
    epochs: u64,
    /// Whether ranks sleep now and then while they wait.
    asleep: bool,
    /// The first thing that went wrong.
    wrong: Mutex<Option<String>>,
}

impl ScheduleRun<'_> {
    /// Records what is wrong, unless something else was wrong before.
    fn fail(&self, why: String) {
        self.wrong.lock().unwrap().get_or_insert(why);
    }

    /// Runs all epochs of one rank. Returns `None` if it stopped early because something is wrong.
    fn run_rank(&self, me: usize) -> Option<()> {
        let at = |offset: usize| self.segment.at(4096 + offset);
        let eventcounts: Vec<Mapped> =
            (0..self.programs.len()).map(|rank| at(self.layout.geometry.eventcount(rank))).collect();
        let flags = Flags { memory: at(0), eventcounts, fencing: self.fencing };
        let mut chance = Chance(me as u64 + 1);
        for epoch in 1..=self.epochs {
            if chance.one_in(8) {
                std::thread::sleep(Duration::from_micros(50));
            }
            self.entered.0[me].store(epoch, Ordering::SeqCst);
            let began = Instant::now();
            let outcome = self.programs[me].run(&flags, epoch, |word, value| {
                while !flags.has_reached(word, value) {
                    if self.asleep && chance.one_in(4) {
                        flags.sleep_unless(me, LONG_NS, || flags.has_reached(word, value));
                    } else {
                        std::thread::yield_now();
                    }
                    if began.elapsed() > Duration::from_nanos(LONG_NS) {
                        self.fail(format!("rank {me} was not woken, or not released, in epoch {epoch}"));
                    }
                    if self.wrong.lock().unwrap().is_some() {
                        return Err(());
                    }
                }
                Ok(())
            });
            outcome.ok()?;
            let missing = self.entered.missing(epoch);
            if !missing.is_empty() {
                self.fail(format!("rank {me} left epoch {epoch} before {missing:?} had entered"));
                return None;
            }
        }
        Some(())
    }
}

/// Runs a schedule's programs. The error says what went wrong.
fn run(schedule: &Schedule, fencing: Fencing, epochs: u64, asleep: bool) -> Result<(), String> {
    let ranks = schedule.problem.ranks;
    let layout = FlagLayout::of(schedule).map_err(|why| why.to_string())?;
    let programs: Vec<BarrierProgram> =
        (0..ranks).map(|rank| BarrierProgram::of(schedule, &layout, Rank(rank))).collect();
    let entered = Entered((0..ranks).map(|_| AtomicU64::new(0)).collect());
    let segment = Segment::create(4096 + layout.geometry.total_bytes, 1).expect("a segment");
    let run = ScheduleRun {
        segment: &segment,
        layout: &layout,
        programs: &programs,
        entered: &entered,
        fencing,
        epochs,
        asleep,
        wrong: Mutex::new(None),
    };
    std::thread::scope(|scope| {
        (0..ranks as usize).for_each(|me| {
            _ = scope.spawn({
                let run = &run;
                move || run.run_rank(me)
            })
        });
    });
    run.wrong.into_inner().unwrap().map_or(Ok(()), Err)
}

fn fencings() -> Vec<Fencing> {
    let mut all = vec![Fencing::Both];
    if membarrier::register() {
        all.push(Fencing::Sleeper);
    }
    all
}

/// Parameters worth running: the defaults, and values that change the shape of the schedule.
fn variants(algorithm: &'static Algorithm) -> Vec<String> {
    let mut names = vec![algorithm.name.to_string()];
    for parameter in algorithm.parameters {
        let values: Vec<u32> =
            if parameter.choices.is_empty() { vec![2, 3] } else { (parameter.min..=parameter.max).collect() };
        let fits = |v: &u32| (parameter.min..=parameter.max).contains(v) && *v != parameter.default;
        names.extend(
            values
                .iter()
                .filter(|v| fits(v))
                .map(|v| format!("{}:{}={}", algorithm.name, parameter.name, parameter.show(*v))),
        );
    }
    names
}

#[test]
fn no_rank_leaves_before_all_have_entered() {
    for algorithm in algorithms::for_collective(Collective::Barrier) {
        for name in variants(algorithm) {
            for ranks in 1..=16 {
                let schedule = Schedule::parse(&name, Problem::new(ranks)).unwrap();
                run(&schedule, Fencing::Both, 6, true)
                    .unwrap_or_else(|why| panic!("{name}, {ranks} ranks: {why}"));
            }
        }
    }
}

#[test]
fn many_epochs_run_with_either_kind_of_fencing() {
    for fencing in fencings() {
        for name in [
            "central-counter",
            "climbing-tree:n=2",
            "n-way-dissemination:n=2",
            "n-wise-exchange:n=2",
            "flag-groups:r=2",
            "hierarchical:node=2",
            "mcs:release=binomial",
        ] {
            for ranks in [2, 3, 7] {
                let schedule = Schedule::parse(name, Problem::new(ranks)).unwrap();
                run(&schedule, fencing, 300, true)
                    .unwrap_or_else(|why| panic!("{name}, {ranks} ranks: {why}"));
            }
        }
    }
}

fn dissemination() -> &'static Algorithm {
    algorithms::find("dissemination").expect("it is listed")
}

/// Dissemination that does not wait in its last round.
static HASTY: Algorithm = Algorithm {
    name: "hasty",
    collective: Collective::Barrier,
    order: CombiningOrder::Nothing,
    about: "",
    source: "",
    cost: "",
    parameters: &[],
    resources: |problem| (dissemination().resources)(problem),
    round: |problem, rank, round, out| {
        (dissemination().round)(problem, rank, round, out);
        if round + 1 == (dissemination().resources)(problem).rounds {
            out.steps.retain(|step| !matches!(step, Step::Wait { .. }));
        }
    },
};

#[test]
fn a_barrier_that_releases_ranks_too_early_is_found() {
    for ranks in [2, 3, 8] {
        let schedule = Schedule::new(&HASTY, Problem::new(ranks), &[]).unwrap();
        let error = run(&schedule, Fencing::Both, 300, false).unwrap_err();
        assert!(error.contains("had entered"), "{error}");
    }
}
