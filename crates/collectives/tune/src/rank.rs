//! The life of a rank of a measurement: a process that finds the others, makes a communicator for each
//! way, and takes its turns.

use crate::comparison::{self, Comparison, TimeLimits, VariantTimer};
use crate::handshake;
use evenkeel_engine::barrier::scheduled::ScheduledBarrier;
use evenkeel_engine::collective::call::{Call, CollectiveKind};
use evenkeel_engine::communicator::Communicator;
use evenkeel_engine::dispatch::Outcome;
use evenkeel_engine::process::Process;
use evenkeel_schedule::{Problem, Schedule};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Ranks of one measurement are of one program.
const INTERFACE: u32 = 0;
/// In place of a way: there is nothing more to do.
const END: u64 = u64::MAX;
/// Calls before the clock runs: flags and counters are touched, and all are there.
const WARM_UP: u32 = 2;

/// What is to be measured, as rank 0 and all others are told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasurementTask {
    pub rank: usize,
    pub ranks: u32,
    /// Names of the schedules.
    pub schedules: Vec<String>,
    pub screening_ms: u64,
    pub finals_ms: u64,
    /// Whether ways that are far behind drop out.
    pub drop_slow: bool,
    pub seed: u64,
}

/// Takes part in a measurement; what went wrong, without an end. See [`card`] for what is said.
pub fn run_rank(mut from: impl BufRead, mut to: impl Write) -> Result<(), String> {
    let process = Process::begin(INTERFACE, (String::new(), String::new()), false);
    let (info, _) = process.info().expect("the process has just begun");
    say(&mut to, &format!("process {}", handshake::format_process_info(&info)))?;
    let hear = |from: &mut dyn BufRead| {
        let mut line = String::new();
        match from.read_line(&mut line) {
            Ok(n) if n > 0 => Ok(line),
            _ => Err("whoever started this rank has gone".to_string()),
        }
    };
    let nonsense = |line: &str| format!("it was told `{}`, which makes no sense", line.trim_end());
    let line = hear(&mut from)?;
    let (me, infos) = line
        .split_once(' ')
        .and_then(|(me, infos)| Some((me.parse().ok()?, handshake::parse_process_infos(infos)?)))
        .ok_or_else(|| nonsense(&line))?;
    let joined = process.join(&infos, me);
    say(&mut to, &format!("joined {joined}"))?;
    let line = hear(&mut from)?;
    let answers: Vec<u8> = handshake::parse_numbers(&line)
        .filter(|a: &Vec<u8>| a.len() == infos.len())
        .ok_or_else(|| nonsense(&line))?;
    process.agree(&answers);
    let node = process.node().ok_or("the ranks could not share memory")?;
    let line = hear(&mut from)?;
    let task: MeasurementTask = serde_json::from_str(&line).map_err(|_| nonsense(&line))?;
    let variants = Variants::open(process, &task)?;
    if me == 0 {
        let limits = TimeLimits {
            screening: Duration::from_millis(task.screening_ms),
            finals: Duration::from_millis(task.finals_ms),
            drop_slow: task.drop_slow,
        };
        let mut leader = LeadRank { variants: &variants, began: Instant::now() };
        let mut told = 0.0;
        let comparison: Comparison =
            comparison::compare(&mut leader, task.schedules.len(), limits, task.seed, |share| {
                if share >= told {
                    told = share + 0.01;
                    // the findings cannot be told either, then
                    let _ = say(&mut to, &format!("progress {share}"));
                }
            });
        variants.command(END, 0);
        say(
            &mut to,
            &format!("found {}", serde_json::to_string(&comparison).expect("plain data has a JSON form")),
        )?;
    } else {
        variants.follow();
    }
    node.leave();
    // A rank that ended now would look like one that fails: the starter says when all is told.
    let _ = hear(&mut from);
    Ok(())
}

fn say(to: &mut impl Write, line: &str) -> Result<(), String> {
    writeln!(to, "{line}").and_then(|()| to.flush()).map_err(|e| e.to_string())
}

/// A communicator of all ranks for each way, and one to command by.
struct Variants {
    process: &'static Process,
    control: Arc<Communicator>,
    all: Vec<Arc<Communicator>>,
}

impl Variants {
    fn open(process: &'static Process, task: &MeasurementTask) -> Result<Variants, String> {
        let members: Vec<i32> = (0..task.ranks as i32).collect();
        let id = process.node().map_or(0, |node| node.world_comm_id());
        let control = process.attach_with(id, &members, task.rank, None);
        let duplicate = |schedule| process.duplicate_with(&control, &members, task.rank, schedule);
        let mut all = vec![duplicate(None)];
        for name in &task.schedules {
            let schedule = Schedule::parse(name, Problem::new(task.ranks)).map_err(|e| e.to_string())?;
            let scheduled = ScheduledBarrier::new(schedule).map_err(|e| format!("{name}: {e}"))?;
            all.push(duplicate(Some(scheduled)));
        }
        if control.service().is_none() || all.iter().any(|variant| variant.service().is_none()) {
            return Err("there is no room for all communicators in the shared memory".into());
        }
        Ok(Variants { process, control, all })
    }

    /// Rank 0 says what comes next; the others hear it.
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
        // Through the pointer that the call had: the compiler does not know that it was written through.
        let words = std::hint::black_box(words);
        (words[0], words[1] as u32)
    }

    fn barriers(&self, variant: usize, times: u32) {
        for _ in 0..times {
            let outcome = self.process.barrier(&self.all[variant], false);
            assert_eq!(outcome, Ok(Outcome::Done(())), "the communicator is served, and is not revoked");
        }
    }

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

/// Rank 0 of a measurement.
struct LeadRank<'a> {
    variants: &'a Variants,
    began: Instant,
}

impl VariantTimer for LeadRank<'_> {
    fn turn(&mut self, variant: usize, calls: u32) -> f64 {
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
