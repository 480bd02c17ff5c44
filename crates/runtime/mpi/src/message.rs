//! Point-to-point messages of contiguous bytes, on communicators that `ek_comm_is_on_one_node`.
//!
//! A message that follows a pending barrier is sent at once; the receiver decides when it may be seen
//! (`crates/runtime/engine/src/message/stamp.rs`). For programs with one thread in MPI.

use evenkeel_engine::comm::part::NodePart;
use evenkeel_engine::communicator::Communicator;
use evenkeel_engine::job::node::Node;
use evenkeel_engine::message::calls;
use evenkeel_engine::message::matching::Pattern;
use evenkeel_engine::message::request::{Matched, Message};
use evenkeel_engine::message::visibility::{Look, Strength};
use evenkeel_engine::message::waiting;
use evenkeel_engine::process::Process;
use evenkeel_options as options;
use std::ffi::{c_int, c_void};
use std::mem::offset_of;

/// A send or receive that has been started, as far as the shim may look into it.
#[repr(C)]
pub struct MessageState {
    /// How much was sent; of these no more than the buffer's capacity were received.
    pub bytes: usize,
    /// Rank of the sender; negative: not known.
    pub source: i32,
    pub tag: i32,
    /// More was sent than the buffer holds.
    pub truncated: bool,
    pub cancelled: bool,
    /// False: not complete. True: `ek_message_is_complete` decides.
    pub done: bool,
    /// Complete; no barrier decides who may know.
    pub plain: bool,
}

const _: () = {
    assert!(offset_of!(Message, bytes) == offset_of!(MessageState, bytes));
    assert!(offset_of!(Message, source) == offset_of!(MessageState, source));
    assert!(offset_of!(Message, tag) == offset_of!(MessageState, tag));
    assert!(offset_of!(Message, truncated) == offset_of!(MessageState, truncated));
    assert!(offset_of!(Message, cancelled) == offset_of!(MessageState, cancelled));
    assert!(offset_of!(Message, done) == offset_of!(MessageState, done));
    assert!(offset_of!(Message, plain) == offset_of!(MessageState, plain));
};

/// What a probe has found.
#[repr(C)]
pub struct FoundMessage {
    pub source: c_int,
    pub tag: c_int,
    pub bytes: usize,
    /// What `ek_message_receive_matched` takes, if the probe took the message out.
    pub matched: *mut c_void,
}

/// What a wait is for besides messages.
#[repr(C)]
#[allow(dead_code, reason = "the shim passes their numbers")]
pub enum AlsoAwaited {
    Nothing,
    /// A pending barrier: the message has come, and its sender had entered that barrier.
    Barrier,
    /// Something of the host library's.
    Host,
}

/// Whether this rank would carry messages; all must agree before any does.
#[unsafe(no_mangle)]
pub extern "C" fn ek_messages_are_wanted() -> bool {
    let Some(process) = Process::get() else { return false };
    let wanted = match options::MESSAGES.get().as_str() {
        "auto" | "own" => true,
        "host" => false,
        other => {
            process.notes.add(&format!(
                "{}={other} is none of {}; messages are the host library's",
                options::MESSAGES.env,
                options::MESSAGES.values
            ));
            false
        }
    };
    let can = |node: &Node| !node.threaded && node.ranks > 1 && node.channels().is_some();
    wanted && process.node().is_some_and(can)
}

fn strength(process: &Process) -> Strength {
    match options::ORDERING.get().as_str() {
        "weak" => Strength::Weak,
        "strong" => Strength::Strong,
        other => {
            process.notes.add(&format!(
                "{}={other} is none of {}; ordering is strong",
                options::ORDERING.env,
                options::ORDERING.values
            ));
            Strength::Strong
        }
    }
}

/// Messages are evenkeel's from now on.
#[unsafe(no_mangle)]
pub extern "C" fn ek_messages_open() {
    let Some(process) = Process::get() else { return };
    let found = process.node().and_then(|node| Some((node, node.channels()?)));
    if let Some((node, channels)) = found {
        process.messages.open(node, &process.deferral, &channels, strength(process));
    }
}

/// They are no longer. None may be under way.
#[unsafe(no_mangle)]
pub extern "C" fn ek_messages_close() {
    if let Some(process) = Process::get() {
        process.messages.close();
    }
}

/// This rank's part in a communicator that carries messages.
///
/// # Safety
/// An attached communicator for which `ek_comm_is_on_one_node` says yes.
#[inline(always)]
unsafe fn part<'a>(comm: *const Communicator) -> &'a NodePart {
    // SAFETY: the caller's promise.
    match unsafe { &*comm } {
        Communicator::Node(node) => &node.service.part,
        _ => unreachable!("messages are carried on one node only"),
    }
}

/// A source or tag that is negative stands for any.
fn pattern(source: c_int, tag: c_int) -> Pattern {
    Pattern { source: usize::try_from(source).ok(), tag: (tag >= 0).then_some(tag) }
}

/// Sends. NULL: complete already; else `data` must stay until it is. `synchronous`: complete when it
/// has been received.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_message_send(
    comm: *const Communicator,
    dest: c_int,
    tag: c_int,
    synchronous: bool,
    data: *const c_void,
    bytes: usize,
) -> *mut MessageState {
    // SAFETY: a communicator on one node, and data that stay, by the interface.
    unsafe {
        let process = Process::current();
        calls::send(process, part(comm), dest as usize, tag, synchronous, data.cast(), bytes).cast()
    }
}

/// Posts a receive. A source or tag of -1 means any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_message_receive(
    comm: *const Communicator,
    source: c_int,
    tag: c_int,
    buffer: *mut c_void,
    capacity: usize,
) -> *mut MessageState {
    // SAFETY: a communicator on one node, and a buffer that stays, by the interface.
    unsafe {
        let process = Process::current();
        calls::receive(process, part(comm), pattern(source, tag), buffer.cast(), capacity).cast()
    }
}

/// Whether there is a message that such a receive would get. `take`: it is taken out, and only
/// `ek_message_receive_matched` can receive it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_message_probe(
    comm: *const Communicator,
    source: c_int,
    tag: c_int,
    take: bool,
    found: *mut FoundMessage,
) -> bool {
    // SAFETY: a communicator on one node, by the interface.
    let probed = unsafe { calls::probe(Process::current(), part(comm), pattern(source, tag), take) };
    let Some(probed) = probed else { return false };
    let matched = probed.message.map_or(std::ptr::null_mut(), |m| Box::into_raw(m).cast());
    let answer =
        FoundMessage { source: probed.source as c_int, tag: probed.tag, bytes: probed.bytes, matched };
    // SAFETY: a place for the answer, by the interface.
    unsafe { found.write(answer) };
    true
}

/// Receives a message that a probe took out; `matched` is used once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_message_receive_matched(
    comm: *const Communicator,
    matched: *mut c_void,
    buffer: *mut c_void,
    capacity: usize,
) -> *mut MessageState {
    // SAFETY: a communicator on one node, a buffer that stays, and what `ek_message_probe` found, by
    // the interface.
    unsafe {
        let matched = Box::from_raw(matched.cast::<Matched>());
        calls::receive_matched(Process::current(), part(comm), *matched, buffer.cast(), capacity).cast()
    }
}

/// Whether a message that is `done` may be seen to be complete. `learns_order`: the program tests, or
/// waits for one of several, so it learns when or in which order things happened; otherwise it waits
/// for this one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_message_is_complete(message: *const MessageState, learns_order: bool) -> bool {
    let look = if learns_order { Look::Choose } else { Look::Wait };
    // SAFETY: not freed, by the interface.
    unsafe { calls::is_complete(Process::current(), &*message.cast::<Message>(), look) }
}

/// Takes back a receive; false if something has been received by it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_message_cancel(receive: *mut MessageState) -> bool {
    // SAFETY: not freed, by the interface.
    unsafe { calls::cancel(Process::current(), receive.cast()) }
}

/// Frees it, once. One that is not complete goes on, and its completion is not reported.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_message_free(message: *mut MessageState) {
    // SAFETY: freed once, by the interface.
    unsafe { calls::free(Process::current(), message.cast()) };
}

/// Moves all messages on; how much happened.
#[unsafe(no_mangle)]
pub extern "C" fn ek_messages_progress() -> usize {
    Process::get().map_or(0, |process| process.messages.progress())
}

/// Whether this rank must call `ek_messages_progress` now and then, for others to go on.
#[unsafe(no_mangle)]
pub extern "C" fn ek_messages_need_progress() -> bool {
    Process::get().is_some_and(|process| process.messages.is_busy())
}

/// Whether something that this rank has sent is not complete.
#[unsafe(no_mangle)]
pub extern "C" fn ek_messages_are_sending() -> bool {
    Process::get().is_some_and(|process| process.messages.is_sending())
}

/// A test or probe has found nothing. A program that loops over such calls waits, so the core may go to
/// another process.
#[unsafe(no_mangle)]
pub extern "C" fn ek_messages_found_nothing() {
    if let Some(process) = Process::get() {
        waiting::note_idle(process);
    }
}

/// Begins a wait: then look and `ek_message_wait_pause` by turns, then `ek_message_wait_end`.
#[unsafe(no_mangle)]
pub extern "C" fn ek_message_wait_begin() {
    if let Some(process) = Process::get() {
        waiting::begin(process);
    }
}

/// Between two looks: moves messages on; if none came, spins, yields or sleeps. `also` is an
/// ek_also_awaited.
#[unsafe(no_mangle)]
pub extern "C" fn ek_message_wait_pause(also: u32) {
    const NOTHING: u32 = AlsoAwaited::Nothing as u32;
    const BARRIER: u32 = AlsoAwaited::Barrier as u32;
    let Some(process) = Process::get() else { return };
    let also = match also {
        NOTHING => waiting::AlsoAwaited::Nothing,
        BARRIER => waiting::AlsoAwaited::Barrier,
        _ => waiting::AlsoAwaited::HostLibrary,
    };
    waiting::pause(process, also);
}

/// Ends a wait.
#[unsafe(no_mangle)]
pub extern "C" fn ek_message_wait_end() {
    if let Some(process) = Process::get() {
        waiting::end(process);
    }
}
