//! The beginning and the end of a trace, and of a repetition.

use super::file::TraceFile;
use super::state::{Shared, Tracing, check_room, compared, early, say, shared};
use evenkeel_options as options;
use evenkeel_trace::format::{Ending, Start};
use evenkeel_trace::recorder::Recorder;
use evenkeel_trace::replayer::Replayer;
use evenkeel_trace::trace::Trace;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

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
    NotUsable { path: PathBuf, why: evenkeel_trace::rank_file::RankFileError },
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
