//! Clocks and random numbers.

use super::state::{Shared, Tracing, check_room, checked, early, say, shared};
use evenkeel_trace::format::{Ending, LibraryClock, LibrarySource};

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
