//! The record of one rank's run, and the report about all ranks.

use evenkeel_engine::clock;
use evenkeel_engine::job::cores;
use evenkeel_engine::job::node::Node;
use evenkeel_engine::process::Process;
use evenkeel_options as options;
use evenkeel_record::{PeerRecord, RankRecord, RunRecord, TrafficRecord};
use evenkeel_report::RunFacts;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int};
use std::io::IsTerminal;
use std::path::Path;

/// The length of a record is stored before it, so that a record can be freed by its address alone.
const LENGTH_BYTES: usize = size_of::<usize>();

/// Returns this rank's record as JSON and sets `*bytes` to its length. `ek_record_free` frees it. Returns
/// NULL if recording is off.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_record_json(bytes: *mut usize) -> *mut c_char {
    let Some(process) = Process::get() else { return std::ptr::null_mut() };
    let Some(node) = process.node().filter(|node| node.recording) else { return std::ptr::null_mut() };
    let why_strict = process.deferral.why_strict();
    let messages = message_record(process, node);
    let record = RankRecord {
        rank: node.me as u32,
        host: std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_string(),
        pid: std::process::id(),
        elapsed_ns: node.clock().ns_since(node.began),
        cpu_ns: clock::process_cpu_ns().saturating_sub(node.began_cpu_ns),
        cores: cores::allowed().into_iter().map(|c| c as u32).collect(),
        wait_policy: node.waiting.policy.name().to_string(),
        comms: process.registry.records(),
        timeline: node.timeline.record(),
        observers: process.deferral.observations.counts(),
        notes: process.notes.all().into_iter().chain(why_strict).collect(),
        ..messages
    };
    let json = serde_json::to_vec(&record).expect("a record is plain data");
    // SAFETY: a place for the length, by the interface.
    unsafe { bytes.write(json.len()) };
    let mut whole = Vec::with_capacity(LENGTH_BYTES + json.len());
    whole.extend_from_slice(&json.len().to_ne_bytes());
    whole.extend_from_slice(&json);
    Box::into_raw(whole.into_boxed_slice()).cast::<c_char>().wrapping_add(LENGTH_BYTES)
}

/// What the record says about messages: those that evenkeel carried, and those that the host did.
fn message_record(process: &Process, node: &Node) -> RankRecord {
    let (own, host) = (&process.messages, &node.host_messages);
    let mut waits: BTreeMap<u32, PeerRecord> = BTreeMap::new();
    for PeerRecord { rank, times, ns } in own.waited_for().into_iter().chain(host.waited_for()) {
        let peer = waits.entry(rank).or_insert(PeerRecord { rank, times: 0, ns: 0 });
        (peer.times, peer.ns) = (peer.times + times, peer.ns + ns);
    }
    let mut sent: BTreeMap<u32, TrafficRecord> = BTreeMap::new();
    let own_sent = own.sent_to();
    for &TrafficRecord { rank, messages, bytes } in own_sent.iter().chain(&host.sent_to()) {
        let peer = sent.entry(rank).or_insert(TrafficRecord { rank, messages: 0, bytes: 0 });
        (peer.messages, peer.bytes) = (peer.messages + messages, peer.bytes + bytes);
    }
    let (host_messages, host_message_bytes) = host.sent();
    RankRecord {
        messages: own_sent.iter().map(|peer| peer.messages).sum(),
        messages_ahead: own.sent_ahead(),
        message_bytes: own_sent.iter().map(|peer| peer.bytes).sum(),
        message_bytes_copied: own.bytes_copied(),
        host_messages,
        host_message_bytes,
        message_time_ns: host.call_ns(),
        message_wait_ns: waits.values().map(|peer| peer.ns).sum::<u64>() + host.wait_for_unknown_ns(),
        messages_waited_for: waits.into_values().collect(),
        messages_sent_to: sent.into_values().collect(),
        ..Default::default()
    }
}

/// Frees a record that `ek_record_json` has returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_record_free(json: *mut c_char) {
    if json.is_null() {
        return;
    }
    // SAFETY: returned by `ek_record_json`, by the interface, so its length is stored before it.
    unsafe {
        let start = json.cast::<u8>().sub(LENGTH_BYTES);
        let length = start.cast::<usize>().read_unaligned();
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, LENGTH_BYTES + length)));
    }
}

/// Called on rank 0 with every rank's record and its length: writes the report file and prints the summary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_write_report(json: *const *const c_char, bytes: *const usize, ranks: c_int) {
    let text = |rank: usize| -> &[u8] {
        // SAFETY: `ranks` pointers and lengths, by the interface.
        unsafe { std::slice::from_raw_parts((*json.add(rank)).cast(), *bytes.add(rank)) }
    };
    let ranks: Vec<RankRecord> =
        (0..ranks as usize).filter_map(|rank| serde_json::from_slice(text(rank)).ok()).collect();
    let elapsed_ns = ranks.iter().map(|r| r.elapsed_ns).max().unwrap_or(0);
    let (mpi, shim) = Process::get().map(|process| process.names.clone()).unwrap_or_default();
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
        let json = serde_json::to_vec(&run).expect("a record is plain data");
        if let Err(e) = evenkeel_output_file::write(Path::new(&file), &json) {
            let why = e.obstacle;
            eprintln!("evenkeel: cannot write the report {file}: {why} The run itself is not affected.");
        }
    }
    if !options::QUIET.is_on() {
        print_summary(&run);
    }
}

fn print_summary(run: &RunRecord) {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let columns = |name: &str| std::env::var(name).ok()?.parse().ok();
    let width = columns(options::TERMINAL_COLUMNS).or_else(|| columns("COLUMNS")).unwrap_or(80);
    eprint!("{}", evenkeel_report::summary(run, width, colour));
}

fn command_line() -> String {
    let bytes = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let words: Vec<String> = bytes
        .split(|&b| b == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    words.join(" ")
}

fn unix_ns() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
}

/// Adds a note to the record and, once per process, prints it to standard error ("evenkeel: …").
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_note(sentence: *const c_char) {
    if let Some(process) = Process::get() {
        // SAFETY: a terminated string, by the interface.
        process.notes.add(&unsafe { CStr::from_ptr(sentence) }.to_string_lossy());
    }
}
