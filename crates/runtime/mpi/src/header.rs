//! Tests that `shims/include/evenkeel.h` declares in C what this crate defines in Rust.

use crate::call_line::{CallLine, Inspection};
use crate::codes::{EK_DECLINED, EK_DONE, EK_INTERFACE, EK_LOST_MEMBER, EK_REVOKED};
use crate::communicator::SpanningReservation;
use crate::deferral::{Arming, Channel, DeferralMode, EK_CHANNELS};
use crate::message::{AlsoAwaited, FoundMessage, MessageState};
use crate::nodes::AgentInfo;
use crate::pause::Pause;
use crate::trace::calls::TraceReceive;
use crate::trace::checked_call::{CheckedCall, CheckedFunction};
use crate::trace::timed_call::{OpenCall, TimedCall, TimedFunction, TimedRequest, TimedShape};
use crate::world::ProcessInfo;
use evenkeel_engine::collective::call::{Call, CollectiveKind, Span};
use evenkeel_engine::record::host_messages::HostRequest;
use std::fmt::Write;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Modules in the order in which the header has their functions.
const MODULES: [&str; 19] = [
    "codes",
    "world",
    "nodes",
    "communicator",
    "collective",
    "request",
    "deferral",
    "message",
    "host_message",
    "type_map",
    "pause",
    "call_line",
    "trace/opening",
    "trace/calls",
    "trace/library_input",
    "trace/timed_call",
    "trace/times",
    "trace/checked_call",
    "trace/checks",
];

fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn header() -> PathBuf {
    here().join("../../../shims/include/evenkeel.h")
}

/// Finds the file below `folder` that contains this declaration.
fn file_with(folder: &Path, declaration: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("sources can be read");
    entries.map(|entry| entry.expect("sources can be read").path()).find_map(|path| {
        if path.is_dir() {
            return file_with(&path, declaration);
        }
        std::fs::read_to_string(&path).unwrap_or_default().contains(declaration).then_some(path)
    })
}

/// Files of the engine and of `spanning` that declare types of the interface.
fn shared_types() -> Vec<PathBuf> {
    let declared = [
        ("engine", "pub struct HostRequest {"),
        ("spanning", "pub enum CollectiveKind {"),
        ("spanning", "pub struct Span {"),
        ("engine", "pub struct Call {"),
    ];
    let find = |(name, declaration): (&str, &str)| {
        let folder = here().join("..").join(name).join("src");
        file_with(&folder, declaration).unwrap_or_else(|| panic!("crate {name} has no `{declaration}`"))
    };
    declared.map(find).to_vec()
}

/// The header as cbindgen generates it.
fn generated() -> String {
    let config = cbindgen::Config::from_file(here().join("cbindgen.toml")).expect("cbindgen.toml is valid");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in shared_types() {
        builder = builder.with_src(file);
    }
    for module in MODULES.iter().chain(&["record"]) {
        builder = builder.with_src(here().join("src").join(module).with_extension("rs"));
    }
    let mut bytes = Vec::new();
    builder.generate().expect("cbindgen understands the sources").write(&mut bytes);
    String::from_utf8(bytes).expect("sources are UTF-8")
}

#[test]
fn the_checked_in_header_is_up_to_date() {
    let text = generated();
    if std::env::var_os("EVENKEEL_WRITE_HEADER").is_some() {
        std::fs::write(header(), &text).expect("the header can be written");
    }
    let checked_in = std::fs::read_to_string(header()).expect("the header can be read");
    assert!(
        checked_in == text,
        "shims/include/evenkeel.h does not match the Rust sources; to generate it: \
         EVENKEEL_WRITE_HEADER=1 cargo test -p evenkeel-mpi header"
    );
}

/// One C assertion: an expression, and its value in Rust.
type Assertion = (String, isize);

/// Sizes, alignments and offsets of the shared types.
fn layouts() -> Vec<Assertion> {
    let mut all = Vec::new();
    macro_rules! layout {
        ($type:ty as $c:literal: $($field:ident as $c_field:literal),*) => {
            all.push((format!("sizeof({})", $c), size_of::<$type>() as isize));
            all.push((format!("_Alignof({})", $c), align_of::<$type>() as isize));
            $(all.push((format!("offsetof({}, {})", $c, $c_field), offset_of!($type, $field) as isize));)*
        };
    }
    layout!(ProcessInfo as "ek_process_info": bytes as "bytes");
    layout!(AgentInfo as "ek_agent_info": bytes as "bytes");
    layout!(SpanningReservation as "ek_spanning_reservation": words as "words");
    layout!(Span as "ek_span": offset as "offset", bytes as "bytes");
    layout!(Call as "ek_call": kind as "kind", root as "root", bytes as "bytes", send as "send",
        recv as "recv", send_spans as "send_spans", recv_spans as "recv_spans", combine as "combine",
        combine_context as "combine_context", elem_bytes as "elem_bytes", materialize as "materialize",
        materialize_context as "materialize_context");
    layout!(MessageState as "ek_message": bytes as "bytes", source as "source", tag as "tag",
        truncated as "truncated", cancelled as "cancelled", done as "done", plain as "plain");
    layout!(FoundMessage as "ek_found_message": source as "source", tag as "tag", bytes as "bytes",
        matched as "matched");
    layout!(TraceReceive as "ek_trace_posted": number as "number", fate as "fate", source as "source",
        tag as "tag");
    layout!(CheckedFunction as "ek_checked_function": name as "name", arguments as "arguments",
        results as "results");
    layout!(CheckedCall as "ek_checked_call": function as "function", site as "site", script as "script",
        thread as "thread", words as "words", count as "count");
    layout!(TimedFunction as "ek_timed_function": name as "name");
    layout!(OpenCall as "ek_open_call": entry as "entry", peer as "peer", tag as "tag", name as "name");
    layout!(TimedRequest as "ek_timed_request": handle as "handle", receive as "receive", bytes as "bytes",
        source as "source", tag as "tag");
    layout!(TimedShape as "ek_timed_shape": comm as "comm", bytes as "bytes");
    layout!(TimedCall as "ek_timed_call": function as "function", site as "site", comm as "comm",
        datatype as "datatype", count as "count", second_bytes as "second_bytes", peer as "peer",
        tag as "tag", second_peer as "second_peer", second_tag as "second_tag", role as "role",
        marks as "marks", entry as "entry", posted as "posted", requests as "requests",
        request_count as "request_count", starts as "starts", thread as "thread");
    layout!(HostRequest as "ek_host_request": comm as "comm", peer as "peer", sends as "sends",
        bytes as "bytes");
    layout!(CallLine as "ek_call_line": version as "version", name as "name", comm as "comm", peer as "peer",
        tag as "tag", sends as "sends", receives as "receives", pending as "pending",
        traffic_marks as "traffic_marks", wait as "wait", caller as "caller");
    layout!(Inspection as "ek_inspection": entries as "entries", places as "places", world as "world",
        handle_at as "handle_at", size_at as "size_at", members_at as "members_at", name_at as "name_at",
        block_at as "block_at", host_collectives_at as "host_collectives_at",
        world_entry as "world_entry", count as "count",
        any_source as "any_source", any_tag as "any_tag", proc_null as "proc_null",
        host_threads as "host_threads", job as "job", node_count as "node_count", host_names as "host_names");
    layout!(Pause as "ek_pause": began_ticks as "began_ticks", polls as "polls",
        next_check_ns as "next_check_ns");
    all
}

/// Values of the shared constants, and sizes of the variables that the engine exports besides functions.
fn values() -> Vec<Assertion> {
    let mut all = Vec::new();
    let mut equal = |what: String, value: isize| all.push((what, value));
    for kind in CollectiveKind::ALL {
        equal(format!("EK_KIND_{}", kind.name().to_uppercase()), kind as isize);
    }
    let channels = [
        ("THREADS", Channel::Threads),
        ("SHARED_MEMORY", Channel::SharedMemory),
        ("SIGNALS", Channel::Signals),
        ("WINDOWS", Channel::Windows),
        ("FAULTS", Channel::Faults),
        ("MEMORY", Channel::Memory),
        ("LOST_GATE", Channel::LostGate),
        ("BLOCKED_FAULTS", Channel::BlockedFaults),
    ];
    for (name, number) in channels {
        equal(format!("EK_CHANNEL_{name}"), number as isize);
    }
    equal("EK_CHANNELS".into(), EK_CHANNELS as isize);
    equal("EK_ARMING_ON".into(), Arming::On as isize);
    equal("EK_ARMING_LOOK".into(), Arming::Look as isize);
    equal("EK_ARMING_AGAIN".into(), Arming::Again as isize);
    equal("EK_DEFERRAL_MODE_STRICT".into(), DeferralMode::Strict as isize);
    equal("EK_DEFERRAL_MODE_GATED".into(), DeferralMode::Gated as isize);
    equal("EK_DEFERRAL_MODE_ALWAYS".into(), DeferralMode::Always as isize);
    equal("EK_ALSO_AWAITED_NOTHING".into(), AlsoAwaited::Nothing as isize);
    equal("EK_ALSO_AWAITED_BARRIER".into(), AlsoAwaited::Barrier as isize);
    equal("EK_ALSO_AWAITED_HOST".into(), AlsoAwaited::Host as isize);
    for (number, name) in [
        "BYTES",
        "CONTIGUOUS",
        "VECTOR",
        "HVECTOR",
        "INDEXED",
        "HINDEXED",
        "INDEXED_BLOCK",
        "HINDEXED_BLOCK",
        "STRUCT",
        "SUBARRAY",
        "DARRAY",
        "RESIZED",
        "ALIGNED",
    ]
    .into_iter()
    .enumerate()
    {
        equal(format!("EK_TYPE_CONSTRUCTOR_{name}"), number as isize);
    }
    equal("EK_INTERFACE".into(), EK_INTERFACE as isize);
    equal("EK_DONE".into(), EK_DONE as isize);
    equal("EK_DECLINED".into(), EK_DECLINED as isize);
    equal("EK_LOST_MEMBER".into(), EK_LOST_MEMBER as isize);
    equal("EK_REVOKED".into(), EK_REVOKED as isize);
    equal("sizeof(ek_gate)".into(), size_of::<std::sync::atomic::AtomicU8>() as isize);
    equal("sizeof(ek_deferred)".into(), size_of::<std::sync::atomic::AtomicU32>() as isize);
    equal("sizeof(ek_messages_needing)".into(), size_of::<std::sync::atomic::AtomicUsize>() as isize);
    equal("sizeof(ek_deferred_fast_path)".into(), size_of::<*const ()>() as isize);
    all
}

/// C assertions that all shared types and values are the same as in Rust.
fn assertions() -> String {
    let mut text = String::from("#include \"evenkeel.h\"\n");
    for (what, value) in layouts().into_iter().chain(values()) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "_Static_assert({what} == {value}, \"{what}\");");
    }
    text
}

/// Compiles this text with the C compiler; the error is what the compiler prints.
fn compiles(name: &str, text: &str) -> Result<(), String> {
    let file = std::env::temp_dir().join(format!("evenkeel-{}-{name}.c", std::process::id()));
    std::fs::write(&file, text).expect("a temporary file can be written");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let include = header().parent().expect("it is in a directory").to_path_buf();
    let output = Command::new(compiler)
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-fmax-errors=5", "-I"])
        .args([&include, &file])
        .output()
        .expect("a C compiler can be started");
    let _ = std::fs::remove_file(&file);
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

#[test]
fn types_and_numbers_are_the_same_in_c_and_rust() {
    compiles("layout", &assertions()).unwrap();
}

#[test]
fn a_wrong_layout_would_be_found() {
    let wrong = assertions().replace("offsetof(ek_call, bytes) == 8", "offsetof(ek_call, bytes) == 16");
    let error = compiles("wrong", &wrong).unwrap_err();
    assert!(error.contains("offsetof(ek_call, bytes)"), "{error}");
}
