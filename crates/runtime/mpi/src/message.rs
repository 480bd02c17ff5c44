//! Point-to-point messages of contiguous bytes, on communicators for which `ek_comm_is_on_one_node` returns
//! true.
//!
//! A message that follows a pending barrier is sent at once, and its receiver decides when the program may
//! see it (`crates/runtime/engine/src/message/visibility.rs`). Only for programs with one thread in MPI.

use evenkeel_engine::comm::part::NodePart;
use evenkeel_engine::communicator::Communicator;
use evenkeel_engine::job::node::Node;
use evenkeel_engine::message::calls;
use evenkeel_engine::message::large::Copiers;
use evenkeel_engine::message::matching::Pattern;
use evenkeel_engine::message::request::{Matched, Message};
use evenkeel_engine::message::visibility::{QueryKind, Strength};
use evenkeel_engine::message::waiting;
use evenkeel_engine::process::Process;
use evenkeel_options as options;
use std::ffi::{c_int, c_void};
use std::mem::offset_of;

/// The fields that the shim may read of a send or receive that has been started.
#[repr(C)]
pub struct MessageState {
    /// Size of the message that was sent. No more than the buffer's capacity was received.
    pub bytes: usize,
    /// Rank of the sender; negative if it is not known.
    pub source: i32,
    pub tag: i32,
    /// The message was larger than the buffer.
    pub truncated: bool,
    pub cancelled: bool,
    /// False: not complete. True: `ek_message_is_complete` says whether the program may see that it is
    /// complete.
    pub done: bool,
    /// Complete, and no barrier delays that the program sees it.
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

/// The result of a probe.
#[repr(C)]
pub struct FoundMessage {
    pub source: c_int,
    pub tag: c_int,
    pub bytes: usize,
    /// Argument of `ek_message_receive_matched`, if the probe has taken the message out of the queue.
    pub matched: *mut c_void,
}

/// Something besides messages that a wait is for.
#[repr(C)]
#[allow(dead_code, reason = "the shim passes their numbers")]
pub enum AlsoAwaited {
    Nothing,
    /// A pending barrier: the message has arrived, and its sender had entered that barrier.
    Barrier,
    /// An operation of the host library.
    Host,
}

/// Returns whether this rank would carry messages. evenkeel carries messages only if all ranks would.
#[unsafe(no_mangle)]
pub extern "C" fn ek_messages_are_wanted() -> bool {
    let Some(process) = Process::get() else { return false };
    let wanted = match options::MESSAGES.get().as_str() {
        "auto" | "own" => true,
        "host" => false,
        other => {
            note_bad_value(process, &options::MESSAGES, other, "the host library carries messages");
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
            note_bad_value(process, &options::ORDERING, other, "ordering is strong");
            Strength::Strong
        }
    }
}

fn copiers(process: &Process, node: &Node) -> Copiers {
    // Where ranks share cores, a sender that copies may do so in the receiver's time.
    let by_default = if node.waiting.shares_cores() { Copiers::Receiver } else { Copiers::Faster };
    match options::LARGE.get().as_str() {
        "auto" => by_default,
        "both" => Copiers::Both,
        "receiver" => Copiers::Receiver,
        other => {
            note_bad_value(process, &options::LARGE, other, "evenkeel chooses");
            by_default
        }
    }
}

pub(crate) fn note_bad_value(
    process: &Process,
    option: &options::OptionSpec,
    value: &str,
    consequence: &str,
) {
    process.notes.add(&format!("{}={value} is not one of {}; {consequence}", option.env, option.values));
}

/// Lets evenkeel carry messages from now on.
#[unsafe(no_mangle)]
pub extern "C" fn ek_messages_open() {
    let Some(process) = Process::get() else { return };
    let found = process.node().and_then(|node| Some((node, node.channels()?)));
    if let Some((node, channels)) = found {
        let copiers = copiers(process, node);
        process.messages.open(node, &process.deferral, &channels, strength(process), copiers);
    }
}

/// Stops carrying messages. None may be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn ek_messages_close() {
    if let Some(process) = Process::get() {
        process.messages.close();
    }
}

/// This rank's part in a communicator that carries messages.
///
/// # Safety
/// An attached communicator for which `ek_comm_is_on_one_node` returns true.
#[inline(always)]
unsafe fn part<'a>(comm: *const Communicator) -> &'a NodePart {
    // SAFETY: the caller's promise.
    match unsafe { &*comm } {
        Communicator::Node(node) => &node.service.part,
        _ => unreachable!("evenkeel carries messages on one node only"),
    }
}

/// A negative source or tag stands for any.
fn pattern(source: c_int, tag: c_int) -> Pattern {
    Pattern { source: usize::try_from(source).ok(), tag: (tag >= 0).then_some(tag) }
}

/// Sends a message. Returns NULL if the send is complete already; otherwise `data` must stay valid until it
/// is. A `synchronous` send is complete when the message has been received.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_message_send(
    comm: *const Communicator,
    dest: c_int,
    tag: c_int,
    synchronous: bool,
    data: *const c_void,
    bytes: usize,
) -> *mut MessageState {
    // SAFETY: a communicator on one node, and data that stay valid, by the interface.
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
    // SAFETY: a communicator on one node, and a buffer that stays valid, by the interface.
    unsafe {
        let process = Process::current();
        calls::receive(process, part(comm), pattern(source, tag), buffer.cast(), capacity).cast()
    }
}

/// Returns whether there is a message that a receive with this source and tag would get. With `take` the
/// message is also taken out of the queue, and only `ek_message_receive_matched` can receive it.
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

/// Receives a message that a probe has taken out. `matched` may be used only once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_message_receive_matched(
    comm: *const Communicator,
    matched: *mut c_void,
    buffer: *mut c_void,
    capacity: usize,
) -> *mut MessageState {
    // SAFETY: a communicator on one node, a buffer that stays valid, and a result of `ek_message_probe`, by
    // the interface.
    unsafe {
        let matched = Box::from_raw(matched.cast::<Matched>());
        calls::receive_matched(Process::current(), part(comm), *matched, buffer.cast(), capacity).cast()
    }
}

/// Returns whether the program may see that a message that is `done` is complete. `learns_order` says that
/// the program tests, or waits for one of several, so that it learns when or in which order events
/// happened. Otherwise it waits for this message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_message_is_complete(message: *const MessageState, learns_order: bool) -> bool {
    let query = if learns_order { QueryKind::Choose } else { QueryKind::Wait };
    // SAFETY: not freed, by the interface.
    unsafe { calls::is_complete(Process::current(), &*message.cast::<Message>(), query) }
}

/// Cancels a receive. Returns false if it has been matched already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_message_cancel(receive: *mut MessageState) -> bool {
    // SAFETY: not freed, by the interface.
    unsafe { calls::cancel(Process::current(), receive.cast()) }
}

/// Frees a message, once. If it is not complete, it continues, and its completion is not reported.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_message_free(message: *mut MessageState) {
    // SAFETY: freed once, by the interface.
    unsafe { calls::free(Process::current(), message.cast()) };
}

/// Makes progress on all messages. Returns how many records were processed or sent.
#[unsafe(no_mangle)]
pub extern "C" fn ek_messages_progress() -> usize {
    Process::get().map_or(0, |process| process.messages.progress())
}

/// Returns whether this rank must call `ek_messages_progress` now and then, because other ranks may need
/// it.
#[unsafe(no_mangle)]
pub extern "C" fn ek_messages_need_progress() -> bool {
    Process::get().is_some_and(|process| process.messages.is_busy())
}

/// Returns whether some send of this rank is not complete.
#[unsafe(no_mangle)]
pub extern "C" fn ek_messages_are_sending() -> bool {
    Process::get().is_some_and(|process| process.messages.is_sending())
}

/// Called when a test or probe has found nothing. A program that does nothing but such calls in a loop is
/// waiting, so the core may go to another process.
#[unsafe(no_mangle)]
pub extern "C" fn ek_messages_found_nothing() {
    if let Some(process) = Process::get() {
        waiting::note_idle(process);
    }
}

/// Begins a wait. The shim then polls and calls `ek_message_wait_pause` alternately, and ends with
/// `ek_message_wait_end`.
#[unsafe(no_mangle)]
pub extern "C" fn ek_message_wait_begin() {
    if let Some(process) = Process::get() {
        waiting::begin(process);
    }
}

/// Called between two polls of the shim: makes progress on messages. If no record came, it spins, yields or
/// sleeps. `also` is an ek_also_awaited.
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
