//! The record and the report, for C.

use crate::world::NAMES;
use evenkeel_engine::clock::{self, Ticks};
use evenkeel_engine::job::node::world;
use evenkeel_engine::{
    communicator::node as communicator, communicator::registry, deferral::pending as deferral, job::cores,
    job::node as engine_world, message,
};
use evenkeel_options as options;
use evenkeel_record::{RankRecord, RunRecord};
use evenkeel_report::RunFacts;
use std::ffi::{CStr, c_char, c_int};
use std::io::IsTerminal;

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_record_json(bytes: *mut usize) -> *mut c_char {
    let Some(world) = world().filter(|w| w.recording) else { return std::ptr::null_mut() };
    let record = RankRecord {
        rank: world.me as u32,
        host: std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_string(),
        pid: std::process::id(),
        elapsed_ns: Ticks::now().ns_since(world.began),
        cpu_ns: clock::process_cpu_ns().saturating_sub(world.began_cpu_ns),
        cores: cores::allowed().into_iter().map(|c| c as u32).collect(),
        wait_policy: world.waiting.policy.name().to_string(),
        comms: registry::records(),
        timeline: world.timeline.record(),
        observers: deferral::observers(),
        messages: message::sent().0,
        messages_ahead: message::sent().1,
        notes: engine_world::notes().into_iter().chain(deferral::why_strict(world.threaded)).collect(),
    };
    let json = serde_json::to_vec(&record).expect("a record is plain data").into_boxed_slice();
    // SAFETY: a place for the length, by the interface.
    unsafe { *bytes = json.len() };
    // The length travels in front, so that the string can be freed by its address alone.
    let mut whole = Vec::with_capacity(8 + json.len());
    whole.extend_from_slice(&json.len().to_ne_bytes());
    whole.extend_from_slice(&json);
    Box::into_raw(whole.into_boxed_slice()).cast::<c_char>().wrapping_add(8)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_string_free(text: *mut c_char) {
    if text.is_null() {
        return;
    }
    // SAFETY: from `ek_record_json`: eight bytes of length stand in front.
    unsafe {
        let start = text.cast::<u8>().sub(8);
        let length = start.cast::<usize>().read_unaligned();
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, 8 + length)));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_report(json: *const *const u8, bytes: *const usize, ranks: c_int) {
    let text = |r: usize| -> &[u8] {
        // SAFETY: `ranks` pointers and lengths, by the interface.
        unsafe { std::slice::from_raw_parts(*json.add(r), *bytes.add(r)) }
    };
    let ranks: Vec<RankRecord> =
        (0..ranks as usize).filter_map(|r| serde_json::from_slice(text(r)).ok()).collect();
    let (mpi, shim) = communicator::lock(&NAMES).clone();
    let elapsed_ns = ranks.iter().map(|r| r.elapsed_ns).max().unwrap_or(0);
    let facts = RunFacts {
        version: env!("CARGO_PKG_VERSION").to_string(),
        program: command_line(),
        mpi,
        shim,
        started_unix_ns: unix_ns().saturating_sub(elapsed_ns),
    };
    let run = evenkeel_report::merge(ranks, facts);
    let file = options::REPORT.get();
    if !file.is_empty() {
        if let Err(e) = write(&file, &run) {
            eprintln!("evenkeel: cannot write the report {file}: {e}; the run itself is not affected");
        }
    }
    if !options::QUIET.is_on() {
        let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let width = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).unwrap_or(80).clamp(60, 160);
        eprint!("{}", evenkeel_report::summary(&run, width, colour));
    }
}

/// A reader never sees half a file.
fn write(file: &str, run: &RunRecord) -> std::io::Result<()> {
    let unfinished = format!("{file}.unfinished");
    std::fs::write(&unfinished, serde_json::to_vec(run)?)?;
    std::fs::rename(&unfinished, file)
}

fn command_line() -> String {
    let bytes = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let words: Vec<String> = bytes
        .split(|&b| b == 0)
        .filter(|w| !w.is_empty())
        .map(|w| String::from_utf8_lossy(w).into_owned())
        .collect();
    words.join(" ")
}

fn unix_ns() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_note(sentence: *const c_char) {
    // SAFETY: a terminated string.
    engine_world::note(&unsafe { CStr::from_ptr(sentence) }.to_string_lossy());
}
