//! Calls of MPI: the choices that they make, and what the hashes take in.

use super::state::{Tracing, check_room, checked, compared, shared, stop};
use crate::text;
use evenkeel_trace::choice::{self, Choice, Envelope};
use evenkeel_trace::divergence::Divergence;
use evenkeel_trace::format::Ending;
use evenkeel_trace::recorder::Posted;
use evenkeel_trace::replayer::Answer;
use evenkeel_trace::trace::Resolution;
use std::ffi::{CStr, c_char};

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
