//! Recording what the program could not know, and giving it back in a repetition of the run (`--trace`,
//! `evenkeel replay`).
//!
//! One thread calls these functions: the one that has called `ek_trace_open`. Where a repetition differs from
//! the trace, a sentence is printed and the function given to `ek_trace_open` called, which must not return.

use crate::early_draws::EarlyDraws;
use crate::text;
use crate::trace_file::TraceFile;
use evenkeel_options as options;
use evenkeel_trace::choice::{self, Choice, Envelope};
use evenkeel_trace::divergence::Divergence;
use evenkeel_trace::format::{Ending, LibraryClock, LibrarySource, Start};
use evenkeel_trace::recorder::{Posted, Recorder};
use evenkeel_trace::replayer::{Answer, Replayer};
use evenkeel_trace::trace::{Resolution, Trace};
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is done with a trace.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceMode {
    /// There is none.
    Off,
    /// One is written.
    Records,
    /// The run repeats one.
    Replays,
}

/// What the trace says about a receive that is posted.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFate {
    /// Nothing: it named its source and tag and was not cancelled, or it never got a message; or a trace is
    /// written.
    Unknown,
    /// It got the message from this source with this tag.
    Matched,
    /// It was cancelled.
    Cancelled,
}

/// A receive that is posted.
#[repr(C)]
#[derive(Debug)]
pub struct TraceReceive {
    /// In the order of posting.
    pub number: u64,
    /// What became of it.
    pub fate: TraceFate,
    /// Where the message came from; EK_TRACE_NO_RANK for MPI_PROC_NULL.
    pub source: i32,
    /// The tag of the message.
    pub tag: i32,
}

/// Stands for MPI_PROC_NULL.
pub const EK_TRACE_NO_RANK: i32 = -1;

const _: () = assert!(EK_TRACE_NO_RANK == Envelope::NO_RANK);

#[derive(Debug)]
enum Tracing {
    Off,
    /// A trace will be written from `MPI_Init` on.
    WillRecord,
    Records(Box<Recorder<TraceFile>>),
    Replays(Box<Replayer>),
}

struct Shared {
    tracing: Tracing,
    rank: u32,
    /// The function that the program is in.
    name: &'static str,
    stop: Option<extern "C" fn()>,
    /// A receive that got no message, or a call that is not promised, has been told.
    told: bool,
    /// The program has asked the C library for more than the recorded run did, and this has been told.
    told_more: bool,
    /// It has told of other data, and goes on.
    told_difference: bool,
}

struct OneThread<T>(UnsafeCell<T>);

// SAFETY: only the thread that has called `ek_trace_open` calls the functions here, by the interface.
unsafe impl<T> Sync for OneThread<T> {}

static SHARED: OneThread<Shared> = OneThread(UnsafeCell::new(Shared {
    tracing: Tracing::Off,
    rank: 0,
    name: "MPI",
    stop: None,
    told: false,
    told_more: false,
    told_difference: false,
}));

fn shared() -> &'static mut Shared {
    // SAFETY: one thread calls, and none of the functions here calls another one while it holds this.
    unsafe { &mut *SHARED.0.get() }
}

/// Zeros at first, so that it takes no room in the file.
static EARLY: OneThread<EarlyDraws> = OneThread(UnsafeCell::new(EarlyDraws::NONE));

fn early() -> &'static mut EarlyDraws {
    // SAFETY: as in `shared`.
    unsafe { &mut *EARLY.0.get() }
}

fn say(rank: u32, sentence: &str) {
    // In one piece: the ranks share their standard error.
    let line = format!("evenkeel: rank {rank}: {sentence}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// How long a rank that only has received something else leaves the word to the one that has sent it.
const CAUSE_MAY_SPEAK: Duration = Duration::from_secs(1);

fn stop(shared: &mut Shared, why: &Divergence) -> ! {
    let Tracing::Replays(replayer) = &shared.tracing else { unreachable!("only a repetition differs") };
    let mut text = format!("the repetition stops: {why}.");
    if !matches!(why, Divergence::EndOfTrace { .. }) {
        text += " Outside MPI, files that the program reads may have changed, or the environment, addresses, \
                 or the turns of threads.";
        if let Some(first) = replayer.trace().unpromised.first() {
            text += &format!(" Equality was not promised from call {} on: {}.", first.calls + 1, first.name);
        }
    }
    say(shared.rank, &text);
    if matches!(why, Divergence::OtherData { sent: None, .. }) {
        // Another rank has sent something else. It may name the cause before the launcher ends it.
        std::thread::sleep(CAUSE_MAY_SPEAK);
    }
    if let Some(stop) = shared.stop {
        stop();
    }
    std::process::abort()
}

fn checked<T>(shared: &mut Shared, result: Result<T, Divergence>) -> T {
    match result {
        Ok(value) => value,
        Err(why) => stop(shared, &why),
    }
}

/// The end of a call: stops, or only tells of other data, as the user wishes.
fn compared(shared: &mut Shared, result: Result<(), Divergence>) {
    let Err(why) = result else { return };
    if !matches!(why, Divergence::OtherData { .. }) || options::REPLAY_DIFFERENCES.get() != "tell" {
        stop(shared, &why);
    }
    if !shared.told_difference {
        shared.told_difference = true;
        say(shared.rank, &format!("{why}; the repetition goes on, as --replay-differences says"));
    }
}

/// Of the recorder that has just written: says so if there was no room.
fn check_room(shared: &mut Shared) {
    let Tracing::Records(recorder) = &shared.tracing else { return };
    if recorder.is_full() && !shared.told {
        shared.told = true;
        let file = recorder.store();
        let why = file.error().map_or_else(String::new, |error| format!(" ({error})"));
        let path = file.path().display();
        let calls = recorder.calls();
        say(
            shared.rank,
            &format!(
                "the trace {path} ends after call {calls}, because it cannot grow{why}; the run goes on \
                 without it"
            ),
        );
    }
}

/// Returns what the environment asks for. It must be the same on all ranks.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_wanted() -> TraceMode {
    if !options::REPLAY.get().is_empty() {
        TraceMode::Replays
    } else if !options::TRACE.get().is_empty() {
        TraceMode::Records
    } else {
        TraceMode::Off
    }
}

/// Returns a number that identifies the run: a new one, or that of the trace to be repeated; 0 if there is
/// none.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_run(rank: u32) -> u64 {
    match ek_trace_wanted() {
        TraceMode::Records => {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            now.map_or(1, |now| now.as_nanos() as u64) ^ u64::from(std::process::id()) << 40
        }
        _ => match &shared().tracing {
            Tracing::Replays(begun) if begun.trace().start.rank == rank => begun.trace().start.run,
            _ => trace_of(rank).map_or(0, |trace| trace.start.run),
        },
    }
}

fn file_of(folder: &str, rank: u32) -> PathBuf {
    Path::new(folder).join(format!("rank-{rank}.trace"))
}

/// To be called before the program runs: what it draws before `MPI_Init` is kept, or repeated. Returns what
/// is done until then.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_before_init() -> TraceMode {
    let shared = shared();
    match ek_trace_wanted() {
        TraceMode::Records => {
            shared.tracing = Tracing::WillRecord;
            TraceMode::Records
        }
        TraceMode::Replays if !is_started_by_rank() => {
            // If the launcher says no rank, or there is no such trace, `ek_trace_open` has to say so.
            let Some(Ok(trace)) = rank_from_launcher().map(trace_of) else { return TraceMode::Off };
            shared.tracing = Tracing::Replays(Box::new(Replayer::new(trace)));
            TraceMode::Replays
        }
        _ => TraceMode::Off,
    }
}

/// This process's rank, as launchers tell it before `MPI_Init`.
fn rank_from_launcher() -> Option<u32> {
    options::LAUNCHERS_RANK.iter().find_map(|name| std::env::var(name).ok()?.parse().ok())
}

/// Whether a rank has started this process, as a shell or by `system`. Its environment says the same as the
/// rank's, but it is no rank.
fn is_started_by_rank() -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", std::os::unix::process::parent_id()));
    maps.is_ok_and(|maps| maps.contains("/libevenkeel-"))
}

/// Opens this rank's trace. `run`: that of rank 0. `stop` must end the job. Returns what is done from now on;
/// if a repetition is impossible, a sentence has been printed and `stop` called.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_open(rank: u32, ranks: u32, run: u64, stop: extern "C" fn()) -> TraceMode {
    let shared = shared();
    shared.rank = rank;
    shared.stop = Some(stop);
    let has_begun = matches!(shared.tracing, Tracing::Replays(_));
    match ek_trace_wanted() {
        TraceMode::Off => TraceMode::Off,
        TraceMode::Records => record(shared, rank, ranks, run),
        TraceMode::Replays => match replayer(&mut shared.tracing, rank, ranks, run) {
            Ok(mut replayer) => {
                if !has_begun && replayer.trace().has_draws_before_init() {
                    say(
                        rank,
                        "another process has started this one, a shell perhaps, so clocks and random numbers \
                         before MPI_Init are not the recorded ones",
                    );
                }
                replayer.init();
                tell_at_the_start(&replayer, rank);
                shared.tracing = Tracing::Replays(replayer);
                TraceMode::Replays
            }
            Err(why) => {
                say(rank, &why.to_string());
                stop();
                std::process::abort()
            }
        },
    }
}

fn record(shared: &mut Shared, rank: u32, ranks: u32, run: u64) -> TraceMode {
    let _ = std::fs::create_dir_all(options::TRACE.get()); // or the file cannot be made either
    let path = file_of(&options::TRACE.get(), rank);
    let interval = options::TRACE_CHECKS.get().parse().ok().filter(|&calls| calls > 0).unwrap_or(64);
    let (program, program_bytes, program_changed_ns) = program();
    let start = Start { ranks, rank, interval, program_bytes, program_changed_ns, run, program };
    match TraceFile::create(&path, &start) {
        Ok(file) => {
            let mut recorder = Recorder::new(file, interval);
            early().note(&mut recorder);
            recorder.init();
            if early().is_full {
                recorder.unpromised("very many clocks or random numbers before MPI_Init");
            }
            shared.tracing = Tracing::Records(Box::new(recorder));
            check_room(shared);
            TraceMode::Records
        }
        Err(error) => {
            say(
                rank,
                &format!(
                    "the trace {} cannot be written ({error}), so this rank is not recorded; give a folder \
                     that all ranks can write, and that has no trace yet",
                    path.display()
                ),
            );
            TraceMode::Off
        }
    }
}

/// Name, size and time of change of this process's program.
fn program() -> (String, u64, u64) {
    let path = std::env::current_exe().unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let found = std::fs::metadata(&path);
    let changed = |m: &std::fs::Metadata| m.mtime() as u64 * 1_000_000_000 + m.mtime_nsec() as u64;
    found.map_or((name.clone(), 0, 0), |m| (name, m.len(), changed(&m)))
}

/// Why a repetition cannot begin.
#[derive(Debug, thiserror::Error)]
enum ReplayError {
    #[error("the trace {path} cannot be read ({why}), so the run cannot be repeated")]
    NotReadable { path: PathBuf, why: std::io::Error },
    #[error("the trace {path} cannot be repeated: {why}")]
    NotUsable { path: PathBuf, why: evenkeel_trace::trace::TraceError },
    #[error(
        "the trace {path} is of rank {recorded_rank} of {recorded_ranks}, and this is rank {rank} of \
         {ranks}; start as many ranks as were recorded"
    )]
    OtherRank { path: PathBuf, recorded_rank: u32, recorded_ranks: u32, rank: u32, ranks: u32 },
    #[error("the trace {path} is of another run than that of rank 0; all ranks must have traces of one run")]
    OtherRun { path: PathBuf },
}

fn trace_of(rank: u32) -> Result<Trace, ReplayError> {
    let path = file_of(&options::REPLAY.get(), rank);
    let bytes = std::fs::read(&path).map_err(|why| ReplayError::NotReadable { path: path.clone(), why })?;
    Trace::parse(&bytes).map_err(|why| ReplayError::NotUsable { path, why })
}

/// The one that has begun before `MPI_Init`, if it is this rank's, or a new one.
fn replayer(begun: &mut Tracing, rank: u32, ranks: u32, run: u64) -> Result<Box<Replayer>, ReplayError> {
    let replayer = match std::mem::replace(begun, Tracing::Off) {
        Tracing::Replays(begun) if begun.trace().start.rank == rank => begun,
        _ => Box::new(Replayer::new(trace_of(rank)?)),
    };
    let path = file_of(&options::REPLAY.get(), rank);
    let start = &replayer.trace().start;
    if (start.rank, start.ranks) != (rank, ranks) {
        let (recorded_rank, recorded_ranks) = (start.rank, start.ranks);
        return Err(ReplayError::OtherRank { path, recorded_rank, recorded_ranks, rank, ranks });
    }
    if start.run != run {
        return Err(ReplayError::OtherRun { path });
    }
    Ok(replayer)
}

/// What the user has to know before the repetition: what the trace does not promise, and another program.
fn tell_at_the_start(replayer: &Replayer, rank: u32) {
    let trace = replayer.trace();
    for unpromised in &trace.unpromised {
        let call = unpromised.calls + 1;
        say(rank, &format!("equality is not promised from call {call} on: {}", unpromised.name));
    }
    let now = program();
    let start = &trace.start;
    if rank == 0 && now != (start.program.clone(), start.program_bytes, start.program_changed_ns) {
        say(
            rank,
            &format!(
                "{} is another program than the recorded one, or has changed since (recorded: {}, {} bytes; \
                 now: {} bytes)",
                now.0, start.program, start.program_bytes, now.1
            ),
        );
    }
    if trace.live.ending == Ending::NoRoom {
        say(rank, &format!("the trace ends after call {}: there was no more room", trace.live.calls));
    }
}

/// Says that a call of the program begins. `asks`: it may find nothing. `name` must stay as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_trace_call_begins(name: *const c_char, asks: bool) {
    let shared = shared();
    if let Tracing::Replays(replayer) = &shared.tracing {
        // SAFETY: a terminated string that is never changed, by the interface.
        shared.name = unsafe { CStr::from_ptr::<'static>(name) }.to_str().unwrap_or("MPI");
        let begins = replayer.call_begins(shared.name, asks);
        checked(shared, begins);
    }
}

/// Says that a call is over. Not to be called for tests and probes that have found nothing.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_call_over() {
    let shared = shared();
    match &mut shared.tracing {
        Tracing::Off | Tracing::WillRecord => {}
        Tracing::Records(recorder) => {
            recorder.call_over();
            check_room(shared);
        }
        Tracing::Replays(replayer) => {
            let over = replayer.call_over();
            compared(shared, over);
        }
    }
}

/// Numbers a receive that is posted, and says what the trace knows about it.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_post() -> TraceReceive {
    let (posted, resolution) = match &mut shared().tracing {
        Tracing::Off | Tracing::WillRecord => (Posted(0), None),
        Tracing::Records(recorder) => (recorder.post(), None),
        Tracing::Replays(replayer) => replayer.post(),
    };
    let unknown = TraceReceive { number: posted.0, fate: TraceFate::Unknown, source: 0, tag: 0 };
    match resolution {
        None => unknown,
        Some(Resolution::Cancelled) => TraceReceive { fate: TraceFate::Cancelled, ..unknown },
        Some(Resolution::Matched(Envelope { source, tag })) => {
            TraceReceive { fate: TraceFate::Matched, source, tag, ..unknown }
        }
    }
}

/// Says which message a receive from any source, or with any tag, has got.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_matched(number: u64, source: i32, tag: i32) {
    if let Tracing::Records(recorder) = &mut shared().tracing {
        recorder.matched(Posted(number), Envelope { source, tag });
    }
}

/// Says that a receive was cancelled before a message came.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_cancelled(number: u64) {
    if let Tracing::Records(recorder) = &mut shared().tracing {
        recorder.cancelled(Posted(number));
    }
}

fn choice_of(number: u8) -> Choice {
    choice::ALL[usize::from(number)]
}

/// Says that a test or probe has found nothing.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_missed() {
    if let Tracing::Records(recorder) = &mut shared().tracing {
        recorder.missed();
    }
}

/// Says what a test, probe or wait has found. `choice` and `values`: see the crate `trace`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_trace_outcome(choice: u8, values: *const i64, count: usize) {
    if let Tracing::Records(recorder) = &mut shared().tracing {
        // SAFETY: so many values, by the interface.
        let values = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(values, count) } };
        recorder.outcome(choice_of(choice), values);
    }
}

/// Asks what a test, probe or wait found. Returns how many values that has, or -1: nothing was found.
/// `may_miss`: it is a test or a probe. There is room for so many values; if there are more, the repetition
/// stops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_trace_ask(choice: u8, may_miss: bool, values: *mut i64, room: usize) -> i64 {
    let shared = shared();
    let Tracing::Replays(replayer) = &mut shared.tracing else { return -1 };
    let answer = replayer.ask(choice_of(choice), may_miss);
    match checked(shared, answer) {
        Answer::Missed => -1,
        Answer::Found(found) if found.len() <= room => {
            // SAFETY: there is room for so many values, by the interface.
            unsafe { std::ptr::copy_nonoverlapping(found.as_ptr(), values, found.len()) };
            found.len() as i64
        }
        Answer::Found(_) => {
            ek_trace_outcome_does_not_fit();
            -1
        }
    }
}

/// Stops a repetition: what the trace says does not fit the arguments of the call.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_outcome_does_not_fit() {
    let shared = shared();
    if let Tracing::Replays(replayer) = &shared.tracing {
        let why = Divergence::OutcomeDoesNotFit { call: replayer.calls() + 1, found: shared.name };
        stop(shared, &why);
    }
}

/// Stops a repetition: the program waits for a receive that never got a message.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_never_complete(was_cancelled: bool) {
    let shared = shared();
    if let Tracing::Replays(replayer) = &shared.tracing {
        let why = if !was_cancelled && replayer.trace().live.ending != Ending::Finalized {
            replayer.end_of_trace(shared.name)
        } else {
            let what = if was_cancelled { "cancelled" } else { "never complete" };
            Divergence::NeverComplete { call: replayer.calls() + 1, found: shared.name, what }
        };
        stop(shared, &why);
    }
}

/// Passes the value of a clock: notes it, or replaces it.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_clock(value: f64) -> f64 {
    let shared = shared();
    match &mut shared.tracing {
        Tracing::Off | Tracing::WillRecord => value,
        Tracing::Records(recorder) => {
            recorder.clock(value.to_bits());
            check_room(shared);
            value
        }
        Tracing::Replays(replayer) => {
            let bits = replayer.clock();
            f64::from_bits(checked(shared, bits))
        }
    }
}

/// Passes the value of a clock of the C library: notes it, or replaces it. `clock`: see the crate `trace`.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_library_clock(clock: u8, value: i64) -> i64 {
    let shared = shared();
    let Some(clock) = LibraryClock::new(u64::from(clock)) else { return value };
    match &mut shared.tracing {
        Tracing::Off => value,
        Tracing::WillRecord => {
            early().keep_clock(clock, value);
            value
        }
        Tracing::Records(recorder) => {
            recorder.library_clock(clock, value);
            check_room(shared);
            value
        }
        Tracing::Replays(replayer) => match replayer.library_clock(clock) {
            Some(recorded) => recorded,
            None => {
                tell_more(shared, "reads a clock");
                value
            }
        },
    }
}

/// Passes other bytes that the C library has given: notes them, or replaces them. `source`: see the crate
/// `trace`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_trace_library_bytes(source: u8, given: *mut u8, count: usize) {
    let shared = shared();
    let Some(source) = LibrarySource::new(u64::from(source)) else { return };
    // SAFETY: so many bytes, by the interface.
    let given = unsafe { std::slice::from_raw_parts_mut(given, count) };
    match &mut shared.tracing {
        Tracing::Off => {}
        Tracing::WillRecord => early().keep_bytes(source, given),
        Tracing::Records(recorder) => {
            recorder.library_bytes(source, given);
            check_room(shared);
        }
        Tracing::Replays(replayer) => {
            if !replayer.library_bytes(source, given) {
                tell_more(shared, "draws random numbers, or asks for its computing time,");
            }
        }
    }
}

/// The recorded run has ended before, or the program does something else. It goes on with what there is now:
/// whether that makes a difference to others the hashes will tell.
fn tell_more(shared: &mut Shared, what: &str) {
    let Tracing::Replays(replayer) = &shared.tracing else { return };
    let has_ended =
        replayer.trace().live.ending != Ending::Finalized && replayer.calls() >= replayer.trace().live.calls;
    // Before MPI_Init this may be a shell that starts the program.
    if !shared.told_more && !has_ended && shared.stop.is_some() {
        shared.told_more = true;
        let call = replayer.calls() + 1;
        let sentence = format!(
            "before call {call} the program {what} where the recorded run did not; equality is not promised \
             from here on"
        );
        say(shared.rank, &sentence);
    }
}

/// Says that equality is not promised from this call on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_trace_unpromised(name: *const c_char) {
    if let Tracing::Records(recorder) = &mut shared().tracing {
        // SAFETY: a terminated string, by the interface.
        recorder.unpromised(&unsafe { text::string(name) });
    }
}

/// Takes in a message that is sent (`receives` false) or was received. `data`: its bytes, or NULL if they are
/// not to be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_trace_message(receives: bool, peer: i32, tag: i32, bytes: u64, data: *const u8) {
    let mut read: &[u8] = &[];
    if !data.is_null() {
        // SAFETY: so many bytes, by the interface.
        read = unsafe { std::slice::from_raw_parts(data, bytes as usize) };
    }
    match (&mut shared().tracing, receives) {
        (Tracing::Off | Tracing::WillRecord, _) => {}
        (Tracing::Records(recorder), true) => recorder.received(peer, tag, bytes, read),
        (Tracing::Records(recorder), false) => recorder.sent(peer, tag, bytes, read),
        (Tracing::Replays(replayer), true) => replayer.received(peer, tag, bytes, read),
        (Tracing::Replays(replayer), false) => replayer.sent(peer, tag, bytes, read),
    }
}

/// Ends the trace, or the repetition, in MPI_Finalize.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_finish() {
    let shared = shared();
    match std::mem::replace(&mut shared.tracing, Tracing::Off) {
        Tracing::Off | Tracing::WillRecord => {}
        Tracing::Records(recorder) => recorder.finish().close(),
        Tracing::Replays(replayer) => {
            let finished = replayer.finish();
            shared.tracing = Tracing::Replays(replayer);
            compared(shared, finished);
            shared.tracing = Tracing::Off;
        }
    }
}

/// Forgets the trace, in a child that was forked.
#[unsafe(no_mangle)]
pub extern "C" fn ek_trace_forget() {
    std::mem::forget(std::mem::replace(&mut shared().tracing, Tracing::Off));
}
