//! A rank of a measurement: it finds the other ranks, makes a communicator for each variant, and takes its
//! turns.

use crate::comparison;
use crate::error::RankError;
use crate::handshake::StarterConnection;
use crate::task::MeasurementTask;
use crate::variant_timer::VariantTimer;
use evenkeel_engine::barrier::scheduled::ScheduledBarrier;
use evenkeel_engine::collective::call::{Call, CollectiveKind};
use evenkeel_engine::communicator::Communicator;
use evenkeel_engine::dispatch::Outcome;
use evenkeel_engine::process::Process;
use evenkeel_schedule::{Problem, Schedule};
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of the interface between shim and engine. It is the same for all, as the ranks of one
/// measurement run one program.
const INTERFACE: u32 = 0;
/// In place of a variant: the measurement has ended.
const END: u64 = u64::MAX;
/// Barriers of a turn before the clock starts. They touch flags and counters, and all ranks have arrived
/// then.
const WARM_UP: u32 = 2;
/// Rank 0 reports its progress when this share of the time has passed since the last report.
const PROGRESS_STEP: f64 = 0.01;

/// Takes part in a measurement as one of its ranks. `from` and `to` connect it to the process that has
/// started it. They carry what the module `handshake` lists.
pub fn run_rank(from: impl BufRead, to: impl Write) -> Result<(), RankError> {
    let mut starter = StarterConnection::new(from, to);
    let process = Process::begin(INTERFACE, (String::new(), String::new()), false);
    let (info, _) = process.info().expect("the process has just begun");
    starter.send_process_info(&info)?;
    let (me, infos) = starter.receive_introductions()?;
    starter.send_joined(process.join(&infos, me))?;
    let answers = starter.receive_answers(infos.len())?;
    process.agree(&answers);
    let node = process.node().ok_or(RankError::NoSharedMemory)?;
    let task = starter.receive_task()?;
    let variants = Variants::open(process, &task)?;
    if me == 0 {
        lead(&variants, &task, &mut starter)?;
    } else {
        variants.follow();
    }
    node.leave();
    // The starter takes a rank that ends before the result is there for one that has failed.
    starter.wait_for_end();
    Ok(())
}

/// Measures as rank 0, and sends the result.
fn lead(
    variants: &Variants,
    task: &MeasurementTask,
    starter: &mut StarterConnection<impl BufRead, impl Write>,
) -> Result<(), RankError> {
    let mut timer = LeadRank { variants, began: Instant::now() };
    let mut next_report = 0.0;
    let progress = |share| {
        if share >= next_report {
            next_report = share + PROGRESS_STEP;
            // If this fails, sending the result fails too.
            let _ = starter.send_progress(share);
        }
    };
    let result = comparison::compare(&mut timer, task.schedules.len(), task.limits(), task.seed, progress);
    variants.command(END, 0);
    starter.send_result(&result)
}

/// A communicator of all ranks for each variant, and one for commands.
struct Variants {
    process: &'static Process,
    control: Arc<Communicator>,
    all: Vec<Arc<Communicator>>,
}

impl Variants {
    fn open(process: &'static Process, task: &MeasurementTask) -> Result<Variants, RankError> {
        let members: Vec<i32> = (0..task.ranks as i32).collect();
        let id = process.node().map_or(0, |node| node.world_comm_id());
        let control = process.attach_with(id, &members, task.rank, None);
        let duplicate = |schedule| process.duplicate_with(&control, &members, task.rank, schedule);
        let mut all = vec![duplicate(None)];
        for name in &task.schedules {
            let schedule = Schedule::parse(name, Problem::new(task.ranks)).map_err(RankError::Schedule)?;
            let scheduled = ScheduledBarrier::new(schedule)
                .map_err(|error| RankError::NotRunnable { name: name.clone(), error })?;
            all.push(duplicate(Some(scheduled)));
        }
        if control.service().is_none() || all.iter().any(|variant| variant.service().is_none()) {
            return Err(RankError::SegmentFull);
        }
        Ok(Variants { process, control, all })
    }

    /// Broadcasts a variant and a number of barriers from rank 0. Returns them at every rank.
    fn command(&self, variant: u64, calls: u32) -> (u64, u32) {
        let mut words = [variant, u64::from(calls)];
        let bytes = words.as_mut_ptr().cast::<u8>();
        let mut call = Call {
            bytes: size_of::<[u64; 2]>(),
            send: bytes,
            recv: bytes,
            ..Call::empty(CollectiveKind::Bcast)
        };
        // SAFETY: both buffers hold two words.
        let outcome = unsafe { self.process.run(&self.control, &mut call) };
        assert_eq!(outcome, Ok(Outcome::Done(())), "the communicator is served, and is not revoked");
        // The call wrote through its pointer, which the compiler does not know.
        let words = std::hint::black_box(words);
        (words[0], words[1] as u32)
    }

    fn barriers(&self, variant: usize, times: u32) {
        for _ in 0..times {
            let outcome = self.process.barrier(&self.all[variant], false);
            assert_eq!(outcome, Ok(Outcome::Done(())), "the communicator is served, and is not revoked");
        }
    }

    /// Takes part in turns until rank 0 sends [`END`].
    fn follow(&self) {
        loop {
            let (variant, calls) = self.command(END, 0);
            if variant == END {
                return;
            }
            self.barriers(variant as usize, WARM_UP);
            self.barriers(variant as usize, calls);
        }
    }
}

/// Rank 0 of a measurement, which decides what is run and takes the times.
struct LeadRank<'a> {
    variants: &'a Variants,
    began: Instant,
}

impl VariantTimer for LeadRank<'_> {
    fn time_turn(&mut self, variant: usize, calls: u32) -> f64 {
        self.variants.command(variant as u64, calls);
        self.variants.barriers(variant, WARM_UP);
        let began = Instant::now();
        self.variants.barriers(variant, calls);
        began.elapsed().as_nanos() as f64 / f64::from(calls)
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}
