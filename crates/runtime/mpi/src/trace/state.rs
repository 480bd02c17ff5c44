//! The trace of this process, for the one thread that records or repeats.

use super::early_draws::EarlyDraws;
use super::file::TraceFile;
use evenkeel_options as options;
use evenkeel_trace::divergence::Divergence;
use evenkeel_trace::recorder::Recorder;
use evenkeel_trace::replayer::Replayer;
use std::cell::UnsafeCell;
use std::io::Write;
use std::time::Duration;

#[derive(Debug)]
pub(super) enum Tracing {
    Off,
    /// A trace will be written from `MPI_Init` on.
    WillRecord,
    Records(Box<Recorder<TraceFile>>),
    Replays(Box<Replayer>),
}

pub(super) struct Shared {
    pub(super) tracing: Tracing,
    pub(super) rank: u32,
    /// The function that the program is in.
    pub(super) name: &'static str,
    pub(super) stop: Option<extern "C" fn()>,
    /// A receive that got no message, or a call that is not promised, has been told.
    pub(super) told: bool,
    /// The program has asked the C library for more than the recorded run did, and this has been told.
    pub(super) told_more: bool,
    /// It has told of other data, and goes on.
    pub(super) told_difference: bool,
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

pub(super) fn shared() -> &'static mut Shared {
    // SAFETY: one thread calls, and none of the functions here calls another one while it holds this.
    unsafe { &mut *SHARED.0.get() }
}

/// Zeros at first, so that it takes no room in the file.
static EARLY: OneThread<EarlyDraws> = OneThread(UnsafeCell::new(EarlyDraws::NONE));

pub(super) fn early() -> &'static mut EarlyDraws {
    // SAFETY: as in `shared`.
    unsafe { &mut *EARLY.0.get() }
}

pub(super) fn say(rank: u32, sentence: &str) {
    // In one piece: the ranks share their standard error.
    let line = format!("evenkeel: rank {rank}: {sentence}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// How long a rank that only has received something else leaves the word to the one that has sent it.
const CAUSE_MAY_SPEAK: Duration = Duration::from_secs(1);

pub(super) fn stop(shared: &mut Shared, why: &Divergence) -> ! {
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

pub(super) fn checked<T>(shared: &mut Shared, result: Result<T, Divergence>) -> T {
    match result {
        Ok(value) => value,
        Err(why) => stop(shared, &why),
    }
}

/// The end of a call: stops, or only tells of other data, as the user wishes.
pub(super) fn compared(shared: &mut Shared, result: Result<(), Divergence>) {
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
pub(super) fn check_room(shared: &mut Shared) {
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
